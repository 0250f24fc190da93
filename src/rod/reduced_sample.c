// reduced_sample.c - where many sections of a reduced rod are and how they move.
//
// The part of an element between two sections is an element itself, with curvatures (and rates)
// that are linear between those of its ends. So the sections of an element, from its start on, are
// the joints of a chain of short elements: each is integrated from its own start, four at a time,
// with few nodes because it turns little, and then they are put one behind the other:
//
//     x+ = x + R r,    R+ = R Q,
//     v+ = Q^T (v + w x r + D k),    w+ = Q^T (w + theta k),
//
// where r, Q, D and theta are those of the part (element.h), k its rates, and the motion v, w is
// seen in the axes R of its start.
//
// Along a helix all parts of an element that are as long as each other are the same, and are
// integrated once: lengths that differ by the round-off of fractions, 1e-15 of the element, are the
// same length. A part of no length, where an element begins, is none.
#include <math.h>
#include <string.h>

#include "math/vec3.h"
#include "reduced.h"

// Where the chain has come to.
typedef struct Joint {
    double x[3], R[9], v[3], w[3];
    int element;
    double u;
} Joint;

// A part of an element, what it does to a joint.
typedef struct Part {
    double turn[9], place[3], drift[3], spin[3];
} Part;

static void start_joint(const FilReduced *data, int element, Joint *joint) {
    size_t i = (size_t)element;
    *joint = (Joint){.element = element};
    fil_copy3(data->place + 3 * i, joint->x);
    memcpy(joint->R, data->frame + 9 * i, sizeof joint->R);
    fil_copy3(data->motion + 6 * i, joint->v);
    fil_copy3(data->motion + 6 * i + 3, joint->w);
}

static void pass_part(const Part *part, double u, Joint *joint) {
    double way[3], swing[3], v[3], w[3], R[9];
    fil_apply3(joint->R, part->place, way);
    fil_add3(1.0, way, joint->x);
    fil_cross3(joint->w, part->place, swing);
    for (int c = 0; c < 3; c++) {
        v[c] = joint->v[c] + swing[c] + part->drift[c];
        w[c] = joint->w[c] + part->spin[c];
    }
    fil_apply_transposed3(part->turn, v, joint->v);
    fil_apply_transposed3(part->turn, w, joint->w);
    fil_multiply3(joint->R, part->turn, R);
    memcpy(joint->R, R, sizeof R);
    joint->u = u;
}

// What `values` of an element, [d], are at the fraction u of it: its first three numbers, and the
// next three where it has them.
static double at_fraction(const FilReduced *data, const double *values, int c, double u) {
    return data->d == 3 ? values[c] : (1.0 - u) * values[c] + u * values[3 + c];
}

static void load_part(const FilRod *rod, const FilRodPlace *place, double from, int lane,
                      FilElementIn *in) {
    const FilReduced *data = fil_reduced(rod);
    const size_t i = 3 * (size_t)place->element;
    for (int c = 0; c < 3; c++) {
        in->kappa[c][lane] = at_fraction(data, data->kappa + i, c, from);
        in->kappa[3 + c][lane] = at_fraction(data, data->kappa + i, c, place->u);
        in->rate[c][lane] = at_fraction(data, data->rate + i, c, from);
        in->rate[3 + c][lane] = at_fraction(data, data->rate + i, c, place->u);
    }
    in->length[lane] = (place->u - from) * rod->lengths[place->element];
}

static void store_parts(const FilReduced *data, const FilElementIn *in, const FilElementEnd *end,
                        Part parts[FIL_LANES]) {
    FilLanes drift[3] = {0}, spin[3] = {0};
    for (int a = 0; a < data->d; a++) {
        for (int c = 0; c < 3; c++) {
            drift[c] += in->rate[a] * end->travel[a][c];
            spin[c] += in->rate[a] * end->theta[a][c];
        }
    }
    for (int lane = 0; lane < FIL_LANES; lane++) {
        for (int k = 0; k < 9; k++) {
            parts[lane].turn[k] = end->turn[k][lane];
        }
        for (int c = 0; c < 3; c++) {
            parts[lane].place[c] = end->place[c][lane];
            parts[lane].drift[c] = drift[c][lane];
            parts[lane].spin[c] = spin[c][lane];
        }
    }
}

// Places in a row, and the part that leads to each of them.
enum { MOST_PLACES = 64 };
typedef struct Window {
    const FilRodPlace *places;
    int count;
    int part[MOST_PLACES]; // -1: none, it is where its element begins
    Part parts[FIL_LANES];
} Window;

// The next places, as many as there are lanes for. A part begins where the place before ends, or
// where its element does.
static void load_window(const FilRod *rod, const FilRodPlace *places, int count,
                        FilRodPlace *before, FilElementIn *in, Window *window) {
    static const double same_length = 1e-15;
    const bool helix = fil_reduced(rod)->d == 3;
    int lanes = 0, element = -1;
    double length = 0.0; // of the last part, as a fraction of that element
    window->places = places;
    for (window->count = 0; window->count < count && window->count < MOST_PLACES; window->count++) {
        const FilRodPlace *place = &places[window->count];
        const bool behind = before->element == place->element && before->u <= place->u;
        const double from = behind ? before->u : 0.0, next = place->u - from;
        const bool same = helix && element == place->element && fabs(next - length) <= same_length;
        if (next != 0.0 && !same) {
            if (lanes == FIL_LANES) {
                return;
            }
            load_part(rod, place, from, lanes++, in);
            element = place->element;
            length = next;
        }
        window->part[window->count] = next != 0.0 ? lanes - 1 : -1;
        *before = *place;
    }
}

static void integrate_parts(const FilReduced *data, const FilElementIn *in, Window *window) {
    FilElementWork work;
    FilElementEnd end;
    if (!fil_element_plan(data->d, in, &work)) {
        for (int k = 0; k < window->count; k++) {
            window->part[k] = -1; // nowhere to go
        }
        return;
    }
    data->kernels->end(in, &work, &end);
    store_parts(data, in, &end, window->parts);
}

void fil_reduced_sample(const FilRod *rod, const FilRodPlace *places, int count, double *points,
                        double *rates) {
    const FilReduced *data = fil_reduced(rod);
    FilRodPlace before = {.element = -1};
    Joint joint = {.element = -1};
    fil_reduced_update(rod);
    for (int first = 0; first < count;) {
        FilElementIn in;
        Window window;
        memset(&in, 0, sizeof in);
        load_window(rod, places + first, count - first, &before, &in, &window);
        integrate_parts(data, &in, &window);
        for (int k = 0; k < window.count; k++) {
            const FilRodPlace *place = &window.places[k];
            ptrdiff_t at = 3 * (ptrdiff_t)(first + k);
            if (joint.element != place->element || joint.u > place->u) {
                start_joint(data, place->element, &joint);
            }
            if (window.part[k] >= 0) {
                pass_part(&window.parts[window.part[k]], place->u, &joint);
            }
            fil_copy3(joint.x, points + at);
            if (rates != NULL) {
                fil_apply3(joint.R, joint.v, rates + at);
            }
        }
        first += window.count;
    }
}
