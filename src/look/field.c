// field.c - one number for each point of the rods: see filum/look.h.
//
// Contacts act between recorded points. The force of one at arc length s, |impulse| / dt, goes to
// the points before and after it in the parts by which s lies between them; a point that contacts
// of both kinds act on slides.
#include "filum/look.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIL_FIELD_NAME(code, name, unit, text) name,
#define FIL_FIELD_UNIT(code, name, unit, text) unit,
static const char *const names[] = {FIL_FIELDS(FIL_FIELD_NAME)};
static const char *const units[] = {FIL_FIELDS(FIL_FIELD_UNIT)};

const char *fil_field_name(FilField field) {
    return (int)field >= 0 && field < FIL_FIELD_COUNT ? names[field] : NULL;
}

const char *fil_field_unit(FilField field) {
    return (int)field >= 0 && field < FIL_FIELD_COUNT ? units[field] : NULL;
}

bool fil_field_is_known(FilField field, const FilFrame *frame) {
    switch (field) {
    case FIL_FIELD_TENSION:
        return frame->tension != NULL;
    case FIL_FIELD_ELASTIC:
        return frame->elastic != NULL;
    default:
        return true;
    }
}

static double norm(const double *v, int count) {
    double sum = 0.0;
    for (int k = 0; k < count; k++) {
        sum += v[k] * v[k];
    }
    return sqrt(sum);
}

// --- contacts ------------------------------------------------------------------------------------

// The last point of a rod at or before s that has another one after it.
static int find_point(const FilResultDef *def, const FilResultRod *rod, double s) {
    int low = rod->first_point, high = rod->first_point + rod->point_count - 1;
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (def->points[middle].s <= s) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static void add_side(FilField field, const FilResultDef *def, const FilContact *contact,
                     const FilContactSide *side, double *values) {
    if (side->kind != FIL_BODY_ROD || side->index < 0 || side->index >= def->rod_count) {
        return;
    }
    const FilResultRod *rod = &def->rods[side->index];
    if (rod->point_count < 2) {
        return;
    }
    const int at = find_point(def, rod, side->s);
    const double from = def->points[at].s, length = def->points[at + 1].s - from;
    const double part = length > 0.0 ? fmin(fmax((side->s - from) / length, 0.0), 1.0) : 0.0;
    if (field == FIL_FIELD_STATE) {
        double *value = &values[part < 0.5 ? at : at + 1];
        *value = fmax(*value, (double)contact->state);
        return;
    }
    const double force = norm(contact->impulse, 3);
    values[at] += (1.0 - part) * force;
    values[at + 1] += part * force;
}

static void add_contacts(FilField field, const FilResultDef *def, const FilFrame *frame,
                         double *values) {
    memset(values, 0, sizeof(double) * (size_t)def->point_count);
    for (int k = 0; k < frame->contact_count; k++) {
        const FilContact *contact = &frame->contacts[k];
        add_side(field, def, contact, &contact->a, values);
        add_side(field, def, contact, &contact->b, values);
    }
    for (int i = 0; field == FIL_FIELD_FORCE && i < def->point_count; i++) {
        values[i] /= def->step > 0.0 ? def->step : 1.0;
    }
}

// --- all fields ----------------------------------------------------------------------------------

static double value_at(FilField field, const FilFrame *frame, int i) {
    const size_t at = 3 * (size_t)i;
    switch (field) {
    case FIL_FIELD_TENSION:
        return frame->tension[i];
    case FIL_FIELD_ELASTIC:
        return frame->elastic[i];
    case FIL_FIELD_CURVATURE:
        return norm(frame->curvature + at + 1, 2);
    case FIL_FIELD_TWIST:
        return frame->curvature[at];
    default:
        return norm(frame->velocity + at, 3);
    }
}

void fil_field_compute(FilField field, const FilResultDef *def, const FilFrame *frame,
                       double *values) {
    if (field == FIL_FIELD_FORCE || field == FIL_FIELD_STATE) {
        add_contacts(field, def, frame, values);
        return;
    }
    for (int r = 0; r < def->rod_count; r++) {
        const FilResultRod *rod = &def->rods[r];
        for (int i = rod->first_point; i < rod->first_point + rod->point_count; i++) {
            values[i] = field == FIL_FIELD_ROD ? r : value_at(field, frame, i);
        }
    }
}

// --- scales --------------------------------------------------------------------------------------

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void fil_field_range(const double *values, int count, double *scratch, double range[2]) {
    int kept = 0;
    for (int i = 0; i < count; i++) {
        if (isfinite(values[i])) {
            scratch[kept++] = values[i];
        }
    }
    range[0] = range[1] = 0.0;
    if (kept == 0) {
        return;
    }
    qsort(scratch, (size_t)kept, sizeof *scratch, compare);
    range[0] = scratch[kept / 100];
    range[1] = scratch[kept - 1 - kept / 100];
    if (scratch[0] < 0.0) {
        range[1] = fmax(fabs(range[0]), fabs(range[1]));
        range[0] = -range[1];
    }
}
