// measure.c - one claim, frame by frame: places, speeds, what adds up along the way, and how the
// values of many frames become one. Contacts, shapes and neighbours have files of their own.
#include "claim/measure.h"

#include <math.h>
#include <string.h>

#include "math/rotation.h"
#include "math/vec3.h"

static const double TURN = 6.283185307179586;

bool fil_measure_is_of_contacts(FilMeasure measure) {
    return measure == FIL_MEASURE_STICKING || measure == FIL_MEASURE_SLIP ||
           measure == FIL_MEASURE_CONTACTS || measure == FIL_MEASURE_PRESSING ||
           measure == FIL_MEASURE_TOUCHING || measure == FIL_MEASURE_PUSH ||
           measure == FIL_MEASURE_OVERLAP;
}

bool fil_measure_is_of_rods(FilMeasure measure) {
    switch (measure) {
    case FIL_MEASURE_ALIGNED:
    case FIL_MEASURE_STRAIGHT:
    case FIL_MEASURE_CURVATURE:
    case FIL_MEASURE_KINK:
    case FIL_MEASURE_TURNS:
    case FIL_MEASURE_PITCH:
    case FIL_MEASURE_WRITHE:
    case FIL_MEASURE_NEAREST:
    case FIL_MEASURE_CLUMPED:
        return true;
    default:
        return false;
    }
}

// --------------------------------------------------------------------------------------- beginning

static void mark_things(int *const marks[3], const FilClaimThing *things, int count) {
    for (int k = 0; k < count; k++) {
        marks[things[k].kind - FIL_BODY_ROD][things[k].index] = k + 1;
    }
}

static bool make_marks(const FilSceneWords *words, const FilScene *scene, const FilResultDef *def,
                       FilArena *arena, int *marks[3]) {
    const char *unknown = NULL;
    FilClaimThing *things = NULL;
    int count = 0;
    if (!fil_claim_find(scene, words, arena, &things, &count, &unknown)) {
        return false;
    }
    marks[0] = FIL_NEW_ZEROED(arena, int, def->rod_count + 1);
    marks[1] = FIL_NEW_ZEROED(arena, int, def->rigid_count + 1);
    marks[2] = FIL_NEW_ZEROED(arena, int, def->obstacle_count + 1);
    if (arena->failed) {
        return false;
    }
    mark_things(marks, things, count);
    return true;
}

bool fil_measuring_make(const FilSceneClaim *claim, const FilScene *scene, const FilResultDef *def,
                        FilArena *arena, FilMeasuring *out) {
    const char *unknown = NULL;
    FilClaimThing *things = NULL;
    int count = 0;
    *out = (FilMeasuring){.claim = claim, .least = (double)INFINITY, .most = -(double)INFINITY};
    if (!fil_claim_find(scene, &claim->of, arena, &things, &count, &unknown) ||
        !fil_cloud_make(def, things, count, claim, arena, &out->cloud)) {
        return false;
    }
    const size_t n = (size_t)count + 1;
    out->touched = FIL_NEW(arena, bool, n);
    out->length = FIL_NEW(arena, double, n);
    out->root = FIL_NEW(arena, double, 3 * n);
    out->angle = FIL_NEW(arena, double, n);
    out->gone = FIL_NEW_ZEROED(arena, double, n);
    out->pointed = FIL_NEW(arena, double, 3 * n);
    out->was = FIL_NEW(arena, double, 3 * ((size_t)out->cloud.point_count + 1));
    out->pieces = FIL_NEW(arena, FilNearPiece, out->cloud.point_count + 1);
    return !arena->failed && make_marks(&claim->of, scene, def, arena, out->of) &&
           (claim->on.count == 0 || make_marks(&claim->on, scene, def, arena, out->on));
}

// ------------------------------------------------------------------------ what adds up on the way

// Two directions that make a right-handed frame with the axis.
static void across(const double axis[3], double e1[3], double e2[3]) {
    double any[3] = {0.0, 0.0, 0.0};
    any[fabs(axis[0]) < 0.6 ? 0 : 1] = 1.0;
    fil_cross3(axis, any, e1);
    const double length = fil_norm3(e1);
    for (int c = 0; c < 3; c++) {
        e1[c] /= length;
    }
    fil_cross3(axis, e1, e2);
}

// The angle of a place about the line of the claim.
static double angle_of(const FilSceneClaim *claim, const double x[3]) {
    double from[3], e1[3], e2[3];
    fil_subtract3(x, claim->through, from);
    across(claim->axis, e1, e2);
    return atan2(fil_dot3(from, e2), fil_dot3(from, e1));
}

static void begin_things(FilMeasuring *m, const FilResultDef *def, const FilFrame *frame) {
    const FilCloud *cloud = &m->cloud;
    fil_cloud_take(&m->cloud, frame);
    for (int k = 0; k < cloud->thing_count; k++) {
        const FilClaimThing *thing = &cloud->things[k];
        double middle[3], R[9];
        fil_cloud_middle(cloud, k, middle);
        m->angle[k] = angle_of(m->claim, middle);
        m->gone[k] = 0.0;
        fil_rotation_from_quaternion(fil_cloud_turn(cloud, frame, thing->first), R);
        fil_apply_transposed3(R, m->claim->axis, m->pointed + 3 * (ptrdiff_t)k);
        const double *root =
            thing->kind == FIL_BODY_ROD
                ? frame->position + 3 * (ptrdiff_t)def->rods[thing->index].first_point
                : cloud->x + 3 * (ptrdiff_t)thing->first;
        fil_copy3(root, m->root + 3 * (ptrdiff_t)k);
    }
}

void fil_measuring_follow(FilMeasuring *m, const FilFrame *frame) {
    if (m->claim->measure != FIL_MEASURE_TURNED) {
        return;
    }
    fil_cloud_take(&m->cloud, frame);
    for (int k = 0; k < m->cloud.thing_count; k++) {
        double middle[3];
        fil_cloud_middle(&m->cloud, k, middle);
        const double angle = angle_of(m->claim, middle);
        m->gone[k] += remainder(angle - m->angle[k], TURN);
        m->angle[k] = angle;
    }
}

// ---------------------------------------------------------------------------------- places, speeds

static double place_of(const FilSceneClaim *claim, const double x[3]) {
    double from[3];
    fil_subtract3(x, claim->through, from);
    return fil_dot3(from, claim->axis);
}

static double measure_places(const FilMeasuring *m) {
    const FilCloud *cloud = &m->cloud;
    double sum = 0.0, least = (double)INFINITY, most = -(double)INFINITY;
    for (int p = 0; p < cloud->point_count; p++) {
        const double place = place_of(m->claim, cloud->x + 3 * (ptrdiff_t)p);
        sum += place;
        least = fmin(least, place);
        most = fmax(most, place);
    }
    return m->claim->measure == FIL_MEASURE_LOWEST    ? least
           : m->claim->measure == FIL_MEASURE_HIGHEST ? most
                                                      : sum / cloud->point_count;
}

static double count_beyond(const FilMeasuring *m) {
    int count = 0;
    for (int k = 0; k < m->cloud.thing_count; k++) {
        double middle[3];
        fil_cloud_middle(&m->cloud, k, middle);
        count += place_of(m->claim, middle) > 0.0;
    }
    return count;
}

static double measure_spread(const FilMeasuring *m) {
    const FilCloud *cloud = &m->cloud;
    double middle[3] = {0.0, 0.0, 0.0}, sum = 0.0;
    for (int p = 0; p < cloud->point_count; p++) {
        fil_add3(1.0 / cloud->point_count, cloud->x + 3 * (ptrdiff_t)p, middle);
    }
    for (int p = 0; p < cloud->point_count; p++) {
        double from[3];
        fil_subtract3(cloud->x + 3 * (ptrdiff_t)p, middle, from);
        fil_add3(-fil_dot3(from, m->claim->axis), m->claim->axis, from);
        sum += fil_dot3(from, from);
    }
    return sqrt(sum / cloud->point_count);
}

static double measure_moved(FilMeasuring *m) {
    const FilCloud *cloud = &m->cloud;
    const size_t size = 3 * (size_t)cloud->point_count;
    if (m->taken == 0) {
        memcpy(m->was, cloud->x, size * sizeof *m->was);
    }
    double sum = 0.0;
    for (size_t i = 0; i < size; i++) {
        sum += (cloud->x[i] - m->was[i]) * (cloud->x[i] - m->was[i]);
    }
    return sqrt(sum / cloud->point_count);
}

static double measure_speeds(const FilMeasuring *m) {
    const FilCloud *cloud = &m->cloud;
    double sum = 0.0, most = 0.0;
    for (int p = 0; p < cloud->point_count; p++) {
        const double *v = cloud->v + 3 * (ptrdiff_t)p;
        sum += fil_dot3(v, v);
        most = fmax(most, fil_norm3(v));
    }
    return m->claim->measure == FIL_MEASURE_FASTEST ? most : sqrt(sum / cloud->point_count);
}

// ------------------------------------------------------------------------------------ turns of all

static double measure_turned(const FilMeasuring *m) {
    double sum = 0.0;
    for (int k = 0; k < m->cloud.thing_count; k++) {
        sum += m->gone[k];
    }
    return sum / TURN / m->cloud.thing_count;
}

static double measure_tilted(const FilMeasuring *m, const FilFrame *frame) {
    double most = 0.0;
    for (int k = 0; k < m->cloud.thing_count; k++) {
        double R[9], now[3], turn[3];
        fil_rotation_from_quaternion(fil_cloud_turn(&m->cloud, frame, m->cloud.things[k].first), R);
        fil_apply3(R, m->pointed + 3 * (ptrdiff_t)k, now);
        fil_cross3(now, m->claim->axis, turn);
        most = fmax(most, atan2(fil_norm3(turn), fil_dot3(now, m->claim->axis)));
    }
    return most;
}

// ----------------------------------------------------------------------------------- how far apart

// Where a thing is at a part of its length, counted from `root`.
static void sample(const FilCloud *cloud, int thing, double part, const double root[3],
                   double out[3]) {
    const FilClaimThing *from = &cloud->things[thing];
    const int last = from->first + from->count - 1;
    int p = from->first;
    while (p < last - 1 && cloud->part[p + 1] < part) {
        p++;
    }
    const int next = p < last ? p + 1 : p;
    const double length = cloud->part[next] - cloud->part[p];
    const double t = length > 0.0 ? fmin(fmax((part - cloud->part[p]) / length, 0.0), 1.0) : 0.0;
    for (int c = 0; c < 3; c++) {
        out[c] = (1.0 - t) * cloud->x[3 * (ptrdiff_t)p + c] +
                 t * cloud->x[3 * (ptrdiff_t)next + c] - root[c];
    }
}

// The largest distance between thing `a` and thing `b` of another cloud or the same.
static double compare(const FilCloud *cloud, int a, const double root_a[3], const FilCloud *other,
                      int b, const double root_b[3]) {
    const FilClaimThing *thing = &cloud->things[a];
    double most = 0.0;
    for (int p = thing->first; p < thing->first + thing->count; p++) {
        double here[3], there[3], apart[3];
        fil_subtract3(cloud->x + 3 * (ptrdiff_t)p, root_a, here);
        sample(other, b, cloud->part[p], root_b, there);
        fil_subtract3(here, there, apart);
        most = fmax(most, fil_norm3(apart));
    }
    return most;
}

static double measure_apart(FilMeasuring *m, const FilFrame *beside) {
    const double none[3] = {0.0, 0.0, 0.0};
    const FilCloud *cloud = &m->cloud;
    double most = 0.0;
    if (beside != NULL) {
        fil_cloud_take(&m->beside, beside);
        const bool same = m->beside.thing_count == cloud->thing_count;
        for (int k = 0; k < cloud->thing_count; k++) {
            most = fmax(most, same ? compare(cloud, k, none, &m->beside, k, none) : 0.0);
        }
        return same ? most : (double)NAN;
    }
    for (int a = 0; a < cloud->thing_count; a++) {
        for (int b = 0; b < a; b++) {
            most = fmax(most, compare(cloud, a, m->root + 3 * (ptrdiff_t)a, cloud, b,
                                      m->root + 3 * (ptrdiff_t)b));
        }
    }
    return most;
}

// ---------------------------------------------------------------------------------------- all of
// it

static double measure(FilMeasuring *m, const FilResultDef *def, const FilFrame *frame,
                      const FilFrame *beside) {
    switch (m->claim->measure) {
    case FIL_MEASURE_MISSED:
        return m->missed;
    case FIL_MEASURE_PLACE:
    case FIL_MEASURE_LOWEST:
    case FIL_MEASURE_HIGHEST:
        return measure_places(m);
    case FIL_MEASURE_MOVED:
        return measure_moved(m);
    case FIL_MEASURE_BEYOND:
        return count_beyond(m);
    case FIL_MEASURE_SPREAD:
        return measure_spread(m);
    case FIL_MEASURE_SPEED:
    case FIL_MEASURE_FASTEST:
        return measure_speeds(m);
    case FIL_MEASURE_TURNED:
        return measure_turned(m);
    case FIL_MEASURE_TILTED:
        return measure_tilted(m, frame);
    case FIL_MEASURE_APART:
        return measure_apart(m, beside);
    case FIL_MEASURE_NEAREST:
    case FIL_MEASURE_CLUMPED:
        return fil_measure_near(m);
    default:
        return fil_measure_is_of_contacts(m->claim->measure) ? fil_measure_contacts(m, def, frame)
                                                             : fil_measure_shape(m, frame);
    }
}

void fil_measuring_begin(FilMeasuring *m, const FilResultDef *def, const FilFrame *frame) {
    begin_things(m, def, frame);
    m->start = m->claim->relative != FIL_RELATIVE_NO ? measure(m, def, frame, NULL) : 0.0;
}

static double relate(const FilMeasuring *m, double value) {
    switch (m->claim->relative) {
    case FIL_RELATIVE_CHANGE:
        return value - m->start;
    case FIL_RELATIVE_RATIO:
        return value / m->start;
    default:
        return value;
    }
}

void fil_measuring_take(FilMeasuring *m, const FilResultDef *def, const FilFrame *frame,
                        const FilFrame *beside) {
    fil_cloud_take(&m->cloud, frame);
    const double value = measure(m, def, frame, beside);
    m->last = relate(m, value);
    m->sum += m->last;
    m->least = fmin(m->least, m->last);
    m->most = fmax(m->most, m->last);
    m->taken++;
}

double fil_measuring_value(const FilMeasuring *m) {
    if (m->taken == 0) {
        return (double)NAN;
    }
    switch (m->claim->take) {
    case FIL_TAKE_MEAN:
        return m->sum / m->taken;
    case FIL_TAKE_LEAST:
        return m->least;
    case FIL_TAKE_MOST:
        return m->most;
    default:
        return m->last;
    }
}
