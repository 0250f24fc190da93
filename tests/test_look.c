// What there is to see of a frame: fields and scales.
#include "check.h"
#include "failing_allocator.h"

#include "filum/look.h"
#include "look/between.h"

#include <math.h>
#include <stddef.h>
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

// --- between frames ------------------------------------------------------------------------------

// Two frames of a rod of two points, and a body that turns by 90 degrees about z.
static const FilResultDef pair_def = {.point_count = 2, .rigid_count = 1};
static const double pair_position[2][6] = {{0, 0, 0, 1, 0, 0}, {0, 0, 2, 1, 4, 0}};
static const double pair_quaternion[2][8] = {{1, 0, 0, 0, 0, 1, 0, 0}, {1, 0, 0, 0, 0, -1, 0, 0}};
static const double pair_turn[2][4] = {{1, 0, 0, 0},
                                       {0.70710678118654752, 0, 0, 0.70710678118654752}};
static const FilContact pair_contacts[2] = {{.gap = 1.0}, {.gap = 2.0}};

static FilFrame pair_frame(int k) {
    return (FilFrame){.time = k,
                      .step = 10 * k,
                      .position = pair_position[k],
                      .quaternion = pair_quaternion[k],
                      .rigid_quaternion = pair_turn[k],
                      .contacts = &pair_contacts[k],
                      .contact_count = 1};
}

static void the_middle_of_two_frames_lies_half_way(void) {
    const FilFrame a = pair_frame(0), b = pair_frame(1);
    FilArena memory = fil_arena_make(NULL);
    FilFrame middle, late;
    CHECK(fil_frame_mix(&pair_def, &a, &b, 0.5, &memory, &middle));
    CHECK(middle.time == 0.5);
    const double position[6] = {0, 0, 1, 1, 2, 0};
    for (int k = 0; k < 6; k++) {
        CHECK(middle.position[k] == position[k]);
    }
    for (int k = 0; k < 8; k++) { // q and -q are the same turn
        CHECK(middle.quaternion[k] == pair_quaternion[0][k]);
    }
    const double angle = 3.14159265358979323846 / 8.0; // half of 45 degrees
    CHECK_NEAR(middle.rigid_quaternion[0], cos(angle), 1e-15, 0.0);
    CHECK_NEAR(middle.rigid_quaternion[3], sin(angle), 1e-15, 0.0);
    CHECK(middle.velocity == NULL && middle.tension == NULL); // what is not known stays so
    CHECK(fil_frame_mix(&pair_def, &a, &b, 0.75, &memory, &late));
    CHECK(late.position[4] == 3.0 && late.contacts == &pair_contacts[1] && late.step == 10);
    fil_arena_destroy(&memory);
}

// The arrays of a frame: where they are, how many numbers of a rod of 2 points, 2 bodies and 2
// obstacles.
static const struct {
    size_t at;
    int count;
    bool turns;
} frame_arrays[] = {
    {offsetof(FilFrame, position), 6, false},
    {offsetof(FilFrame, velocity), 6, false},
    {offsetof(FilFrame, curvature), 6, false},
    {offsetof(FilFrame, tension), 2, false},
    {offsetof(FilFrame, elastic), 2, false},
    {offsetof(FilFrame, reaction_force), 6, false},
    {offsetof(FilFrame, reaction_moment), 6, false},
    {offsetof(FilFrame, quaternion), 8, true},
    {offsetof(FilFrame, rigid_position), 6, false},
    {offsetof(FilFrame, rigid_velocity), 6, false},
    {offsetof(FilFrame, rigid_spin), 6, false},
    {offsetof(FilFrame, rigid_quaternion), 8, true},
    {offsetof(FilFrame, obstacle_position), 6, false},
    {offsetof(FilFrame, obstacle_quaternion), 8, true},
};
enum { FRAME_ARRAYS = sizeof frame_arrays / sizeof *frame_arrays };

static const double **frame_array(FilFrame *frame, int k) {
    return (const double **)(void *)((char *)frame + frame_arrays[k].at);
}

static void all_that_a_frame_holds_is_copied_and_mixed(void) {
    const FilResultDef def = {
        .rod_count = 1, .point_count = 2, .rigid_count = 2, .obstacle_count = 2};
    double numbers[2][8];
    FilFrame frames[2] = {{.time = 1.0}, {.time = 5.0}}, copy, early;
    for (int f = 0; f < 2; f++) {
        for (int k = 0; k < 8; k++) {
            numbers[f][k] = 1.0 + k + 16.0 * f; // quaternions need not be of unit length here
        }
        for (int k = 0; k < FRAME_ARRAYS; k++) {
            *frame_array(&frames[f], k) = numbers[f];
        }
    }
    FilArena memory = fil_arena_make(NULL);
    CHECK(fil_frame_copy(&def, &frames[0], &memory, &copy));
    CHECK(fil_frame_mix(&def, &frames[0], &frames[1], 0.25, &memory, &early));
    CHECK(early.time == 2.0);
    for (int k = 0; k < FRAME_ARRAYS; k++) {
        const double *same = *frame_array(&copy, k), *mixed = *frame_array(&early, k);
        CHECK(same != numbers[0] && mixed != numbers[0]);
        for (int c = 0; c < frame_arrays[k].count; c++) {
            const int q = c / 4 * 4;
            const double length = sqrt((5.0 + q) * (5.0 + q) + (6.0 + q) * (6.0 + q) +
                                       (7.0 + q) * (7.0 + q) + (8.0 + q) * (8.0 + q));
            CHECK(same[c] == numbers[0][c]);
            CHECK_NEAR(mixed[c], (5.0 + c) / (frame_arrays[k].turns ? length : 1.0), 1e-15, 0.0);
        }
    }
    fil_arena_destroy(&memory);
}

// Four turns, and the opposites of what they go on to; the fifth is 0, no turn at all, and stays
// so.
static void turns_go_the_short_way(void) {
    const FilResultDef def = {.point_count = 5};
    double turns[2][20] = {{0.0}};
    for (int k = 0; k < 4; k++) {
        turns[0][4 * k + k] = 1.0;
        turns[1][4 * k + k] = -0.8;
        turns[1][4 * k + (k + 1) % 4] = -0.6;
    }
    const FilFrame a = {.quaternion = turns[0], .contacts = &pair_contacts[0]};
    const FilFrame b = {.quaternion = turns[1], .contacts = &pair_contacts[1]};
    FilArena memory = fil_arena_make(NULL);
    FilFrame early;
    CHECK(fil_frame_mix(&def, &a, &b, 0.25, &memory, &early));
    CHECK(early.contacts == a.contacts); // those of the nearer frame
    for (int k = 0; k < 4; k++) {
        CHECK_NEAR(early.quaternion[4 * k + k], 0.95 / hypot(0.95, 0.15), 1e-15, 0.0);
        CHECK_NEAR(early.quaternion[4 * k + (k + 1) % 4], 0.15 / hypot(0.95, 0.15), 1e-15, 0.0);
        CHECK(early.quaternion[16 + k] == 0.0);
    }
    fil_arena_destroy(&memory);
}

static void a_copy_of_a_frame_outlives_it(void) {
    double position[6] = {1, 2, 3, 4, 5, 6};
    FilContact contact = {.gap = 7.0};
    FilFrame frame = pair_frame(1), copy;
    frame.position = position;
    frame.contacts = &contact;
    FilArena memory = fil_arena_make(NULL);
    CHECK(fil_frame_copy(&pair_def, &frame, &memory, &copy));
    position[5] = contact.gap = 0.0;
    CHECK(copy.position[5] == 6.0 && copy.contacts[0].gap == 7.0 && copy.velocity == NULL);
    CHECK(copy.quaternion != pair_quaternion[1] && copy.quaternion[5] == -1.0);
    fil_arena_destroy(&memory);
}

static void frames_between_tell_when_there_is_no_memory(void) {
    const FilFrame a = pair_frame(0), b = pair_frame(1);
    FailingAllocator nothing = {.fail_at = 1};
    const FilAllocator allocator = failing_allocator(&nothing);
    FilArena memory = fil_arena_make(&allocator);
    FilFrame out;
    CHECK(!fil_frame_mix(&pair_def, &a, &b, 0.5, &memory, &out));
    CHECK(!fil_frame_copy(&pair_def, &a, &memory, &out));
    fil_arena_destroy(&memory);
    CHECK(failing_allocator_is_clean(&nothing));
}

#define TESTS(X)                                                  \
    X(fields_are_those_of_the_frame)                              \
    X(contact_forces_go_to_the_points_next_to_them)               \
    X(what_a_run_does_not_hold_is_not_known)                      \
    X(scales_leave_out_what_lies_far_off_and_are_even_about_zero) \
    X(the_middle_of_two_frames_lies_half_way)                     \
    X(all_that_a_frame_holds_is_copied_and_mixed)                 \
    X(turns_go_the_short_way)                                     \
    X(a_copy_of_a_frame_outlives_it)                              \
    X(frames_between_tell_when_there_is_no_memory)
CHECK_MAIN(TESTS)
