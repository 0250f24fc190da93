// What there is to see of a frame: fields and scales.
#include "check.h"

#include "filum/look.h"

#include <math.h>
#include <string.h>

enum { POINTS = 5 };

typedef struct Case {
    FilResultRod rods[2];
    FilResultPoint points[POINTS];
    double velocity[3 * POINTS], curvature[3 * POINTS];
    FilContact contact;
    FilResultDef def;
    FilFrame frame;
} Case;

// Two rods of 3 and 2 points, 1 m apart along each; a contact at s = 0.25 of the first and 0.9 of
// the second presses with 2 N.
static void make(Case *it) {
    *it = (Case){
        .rods = {{.first_point = 0, .point_count = 3}, {.first_point = 3, .point_count = 2}}};
    for (int i = 0; i < POINTS; i++) {
        it->points[i].s = i < 3 ? i : i - 3;
        it->velocity[3 * i] = 3.0 * i;
        it->velocity[3 * i + 2] = 4.0 * i;
        it->curvature[3 * i] = -i;
        it->curvature[3 * i + 1] = 6.0;
        it->curvature[3 * i + 2] = 8.0;
    }
    it->contact = (FilContact){.a = {.kind = FIL_BODY_ROD, .index = 0, .s = 0.25},
                               .b = {.kind = FIL_BODY_ROD, .index = 1, .s = 0.9},
                               .impulse = {0.0, 0.0, 2e-3},
                               .state = FIL_CONTACT_SLIDE};
    it->def = (FilResultDef){.step = 1e-3,
                             .rods = it->rods,
                             .points = it->points,
                             .rod_count = 2,
                             .point_count = POINTS};
    it->frame = (FilFrame){.velocity = it->velocity,
                           .curvature = it->curvature,
                           .contacts = &it->contact,
                           .contact_count = 1};
}

static void fields_are_those_of_the_frame(void) {
    Case it;
    double values[POINTS];
    make(&it);
    for (int i = 0; i < POINTS; i++) {
        fil_field_compute(FIL_FIELD_SPEED, &it.def, &it.frame, values);
        CHECK_NEAR(values[i], 5.0 * i, 1e-15, 0.0);
        fil_field_compute(FIL_FIELD_CURVATURE, &it.def, &it.frame, values);
        CHECK_NEAR(values[i], 10.0, 1e-15, 0.0);
        fil_field_compute(FIL_FIELD_TWIST, &it.def, &it.frame, values);
        CHECK(values[i] == -i);
        fil_field_compute(FIL_FIELD_ROD, &it.def, &it.frame, values);
        CHECK(values[i] == (i < 3 ? 0 : 1));
    }
}

static void contact_forces_go_to_the_points_next_to_them(void) {
    const double force[POINTS] = {1.5, 0.5, 0.0, 0.2, 1.8}, state[POINTS] = {2, 0, 0, 0, 2};
    Case it;
    double values[POINTS];
    make(&it);
    fil_field_compute(FIL_FIELD_FORCE, &it.def, &it.frame, values);
    for (int i = 0; i < POINTS; i++) {
        CHECK_NEAR(values[i], force[i], 1e-14, 1e-14);
    }
    fil_field_compute(FIL_FIELD_STATE, &it.def, &it.frame, values);
    for (int i = 0; i < POINTS; i++) {
        CHECK(values[i] == state[i]);
    }
}

static void what_a_run_does_not_hold_is_not_known(void) {
    Case it;
    make(&it);
    CHECK(!fil_field_is_known(FIL_FIELD_TENSION, &it.frame));
    CHECK(!fil_field_is_known(FIL_FIELD_ELASTIC, &it.frame));
    CHECK(fil_field_is_known(FIL_FIELD_SPEED, &it.frame));
    CHECK(fil_field_name(FIL_FIELD_COUNT) == NULL);
    CHECK(strcmp(fil_field_unit(FIL_FIELD_TENSION), "N") == 0);
}

static void scales_leave_out_what_lies_far_off_and_are_even_about_zero(void) {
    enum { COUNT = 1000 };
    static double values[COUNT], scratch[COUNT];
    double range[2];
    for (int i = 0; i < COUNT; i++) {
        values[i] = i;
    }
    values[3] = 1e9;
    values[4] = (double)NAN;
    fil_field_range(values, COUNT, scratch, range);
    CHECK(range[0] >= 0.0 && range[0] < 20.0);
    CHECK(range[1] > 980.0 && range[1] < 1000.0);
    values[5] = -1.0;
    fil_field_range(values, COUNT, scratch, range);
    CHECK(range[0] == -range[1] && range[1] > 980.0);
    fil_field_range(values, 0, scratch, range);
    CHECK(range[0] == 0.0 && range[1] == 0.0);
}

#define TESTS(X)                                    \
    X(fields_are_those_of_the_frame)                \
    X(contact_forces_go_to_the_points_next_to_them) \
    X(what_a_run_does_not_hold_is_not_known)        \
    X(scales_leave_out_what_lies_far_off_and_are_even_about_zero)
CHECK_MAIN(TESTS)
