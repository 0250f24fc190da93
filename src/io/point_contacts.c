// point_contacts.c - what contacts do to the points of rods.
//
// Contacts act between recorded points. The force of one at arc length s, |impulse| / dt, goes to
// the points before and after it in the parts by which s lies between them; a point that contacts
// of both kinds act on slides.
#include "point_contacts.h"

#include <math.h>
#include <string.h>

// Where a contact is: the last point of the rod at or before it that has another one after it, and
// the part of the way to that one.
typedef struct Place {
    int point;
    double part;
} Place;

// False where it is not at a rod.
static bool find_place(const FilResultDef *def, const FilContactSide *side, Place *place) {
    if (side->kind != FIL_BODY_ROD || side->index < 0 || side->index >= def->rod_count ||
        def->rods[side->index].point_count < 2) {
        return false;
    }
    const FilResultRod *rod = &def->rods[side->index];
    int low = rod->first_point, high = rod->first_point + rod->point_count - 1;
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (def->points[middle].s <= side->s) {
            low = middle;
        } else {
            high = middle;
        }
    }
    const double from = def->points[low].s, length = def->points[low + 1].s - from;
    const double part = length > 0.0 ? fmin(fmax((side->s - from) / length, 0.0), 1.0) : 0.0;
    *place = (Place){.point = low, .part = part};
    return true;
}

void fil_point_contact_forces(const FilResultDef *def, const FilFrame *frame, double *values) {
    const double step = def->step > 0.0 ? def->step : 1.0;
    memset(values, 0, sizeof(double) * (size_t)def->point_count);
    for (int k = 0; k < 2 * frame->contact_count; k++) {
        const FilContact *contact = &frame->contacts[k / 2];
        const double *r = contact->impulse;
        const double force = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]) / step;
        Place place;
        if (find_place(def, k % 2 == 0 ? &contact->a : &contact->b, &place)) {
            values[place.point] += (1.0 - place.part) * force;
            values[place.point + 1] += place.part * force;
        }
    }
}

void fil_point_contact_states(const FilResultDef *def, const FilFrame *frame, double *values) {
    memset(values, 0, sizeof(double) * (size_t)def->point_count);
    for (int k = 0; k < 2 * frame->contact_count; k++) {
        const FilContact *contact = &frame->contacts[k / 2];
        Place place;
        if (find_place(def, k % 2 == 0 ? &contact->a : &contact->b, &place)) {
            double *value = &values[place.part < 0.5 ? place.point : place.point + 1];
            *value = fmax(*value, (double)contact->state);
        }
    }
}
