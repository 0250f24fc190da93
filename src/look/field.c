// field.c - one number for each point of the rods: see filum/look.h. What contacts do to points is
// found where exports find it, too (io/point_contacts.h).
#include "filum/look.h"

#include "io/point_contacts.h"

#include <math.h>
#include <stdlib.h>

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
    if (field == FIL_FIELD_FORCE) {
        fil_point_contact_forces(def, frame, values);
        return;
    }
    if (field == FIL_FIELD_STATE) {
        fil_point_contact_states(def, frame, values);
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
