// measure_contacts.c - what contacts between the things of a claim do.
#include "claim/measure.h"

#include <math.h>
#include <string.h>

#include "math/vec3.h"

// 1 + the number of the thing, 0: none of them.
static int find_thing(int *const marks[3], const FilContactSide *side) {
    return side->kind >= FIL_BODY_ROD && side->kind <= FIL_BODY_OBSTACLE
               ? marks[side->kind - FIL_BODY_ROD][side->index]
               : 0;
}

// Whether a place of a rod lies in the part that the claim names, of its length as it is now.
static bool is_in_part(const FilMeasuring *m, const FilContactSide *side, int thing) {
    const double *part = m->claim->part, slack = 1e-9;
    if (side->kind != FIL_BODY_ROD || (part[0] <= 0.0 && part[1] >= 1.0)) {
        return true;
    }
    const double here = side->s / m->length[thing - 1];
    return here >= part[0] - slack && (here <= part[1] + slack || part[1] >= 1.0);
}

// The thing of the claim on the side `a`, where `b` is what it is to touch.
static int find_toucher(const FilMeasuring *m, const FilContactSide *a, const FilContactSide *b) {
    const int thing = m->on[0] == NULL || find_thing(m->on, b) > 0 ? find_thing(m->of, a) : 0;
    return thing > 0 && is_in_part(m, a, thing) ? thing : 0;
}

// Rods may grow: how long they are now, along their points.
static void measure_lengths(FilMeasuring *m, const FilResultDef *def, const FilFrame *frame) {
    for (int k = 0; k < m->cloud.thing_count; k++) {
        const FilClaimThing *thing = &m->cloud.things[k];
        m->length[k] = 0.0;
        if (thing->kind == FIL_BODY_ROD) {
            const FilResultRod *rod = &def->rods[thing->index];
            for (int i = rod->first_point + 1; i < rod->first_point + rod->point_count; i++) {
                const double *x = frame->position + 3 * (ptrdiff_t)i;
                double s[3];
                fil_subtract3(x, x - 3, s);
                m->length[k] += fil_norm3(s);
            }
        }
    }
}

// What was seen of the contacts that are meant.
typedef struct Seen {
    int contacts, pressing, sticking;
    double overlap;     // m
    double force, slip; // N s: how hard they press; the same times how fast they slide
    double push;        // N s: along the claim's axis, on the claim's things
} Seen;

static void see_press(const FilContact *contact, Seen *seen) {
    const double force = fil_dot3(contact->impulse, contact->normal);
    double slip[3];
    fil_copy3(contact->velocity, slip);
    fil_add3(-fil_dot3(slip, contact->normal), contact->normal, slip);
    seen->pressing++;
    seen->sticking += contact->state == FIL_CONTACT_STICK;
    seen->force += force;
    seen->slip += force * fil_norm3(slip);
}

static void see_contact(FilMeasuring *m, const FilContact *contact, Seen *seen) {
    const int sides[2] = {find_toucher(m, &contact->a, &contact->b),
                          find_toucher(m, &contact->b, &contact->a)};
    if (sides[0] == 0 && sides[1] == 0) {
        return;
    }
    seen->contacts++;
    seen->overlap = fmax(seen->overlap, -contact->gap);
    if (contact->state == FIL_CONTACT_OPEN) {
        return;
    }
    see_press(contact, seen);
    for (int s = 0; s < 2; s++) {
        if (sides[s] > 0) {
            m->touched[sides[s] - 1] = true;
            seen->push += (s == 0 ? 1.0 : -1.0) * fil_dot3(contact->impulse, m->claim->axis);
        }
    }
}

static double count_touched(const FilMeasuring *m) {
    int count = 0;
    for (int k = 0; k < m->cloud.thing_count; k++) {
        count += m->touched[k];
    }
    return count;
}

double fil_measure_contacts(FilMeasuring *m, const FilResultDef *def, const FilFrame *frame) {
    Seen seen = {0};
    measure_lengths(m, def, frame);
    memset(m->touched, 0, sizeof *m->touched * (size_t)m->cloud.thing_count);
    for (int k = 0; k < frame->contact_count; k++) {
        see_contact(m, &frame->contacts[k], &seen);
    }
    switch (m->claim->measure) {
    case FIL_MEASURE_STICKING:
        return seen.pressing > 0 ? (double)seen.sticking / seen.pressing : 0.0;
    case FIL_MEASURE_SLIP:
        return seen.force > 0.0 ? seen.slip / seen.force : (double)NAN;
    case FIL_MEASURE_TOUCHING:
        return count_touched(m) / m->cloud.thing_count;
    case FIL_MEASURE_PUSH:
        return seen.push / def->step;
    case FIL_MEASURE_OVERLAP:
        return seen.overlap;
    case FIL_MEASURE_CONTACTS:
        return seen.contacts;
    default:
        return seen.pressing;
    }
}
