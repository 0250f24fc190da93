// nodal_create.c - rods of nodes and edges: how they are made and what they are made of.
//
// An edge stretches as its element does. A bend stands for the cell around a node, half an element
// to either side (at a held frame the one half that there is): the halves are springs in series,
// and its angle at rest is the integral of the natural curvature over both.
#include "nodal.h"

#include <string.h>

#include "base/error.h"
#include "lengths.h"
#include "math/vec3.h"

static bool holds_frame(FilEndKind kind) {
    return kind == FIL_END_CLAMPED || kind == FIL_END_SLIDING;
}

// --- parameters ----------------------------------------------------------------------------------

// Half an element's part in a bend: `side` 0 its first half, 1 its second.
static void add_half(const FilRod *rod, const double *natural, int element, int side,
                     double angle[3], double compliance[3]) {
    if (element < 0) {
        return;
    }
    const double *kappa = natural + 6 * (ptrdiff_t)element;
    double half = 0.5 * rod->lengths[element], far = side == 0 ? 0.25 : 0.75;
    for (int k = 0; k < 3; k++) {
        angle[k] += half * ((1.0 - far) * kappa[k] + far * kappa[3 + k]);
        compliance[k] += half / rod->sections[element].kappa[k];
    }
}

// Strains at rest of the bend j and its stiffness: the two halves are springs in series.
static void make_bend(const FilRod *rod, const double *natural, int j, FilBendSpring *spring) {
    double angle[3] = {0.0}, compliance[3] = {0.0};
    add_half(rod, natural, fil_nodal_element(rod, j), 1, angle, compliance);
    add_half(rod, natural, fil_nodal_element(rod, j + 1), 0, angle, compliance);
    fil_bend_strain(angle, spring->rest);
    for (int k = 0; k < 3; k++) {
        spring->k[k] = 1.0 / compliance[k];
    }
}

void fil_nodal_refresh(FilRod *rod) {
    FilNodal *nodal = rod->data;
    memset(nodal->mass, 0, sizeof(double) * (size_t)(nodal->edge_count + 1));
    memset(nodal->drag, 0, sizeof(double) * (size_t)(nodal->edge_count + 1));
    for (int j = 0; j < nodal->edge_count; j++) {
        int element = fil_nodal_element(rod, j);
        if (element < 0) {
            nodal->stretch[j] = (FilEdgeSpring){.k = 0.0, .rest = nodal->start.edges[j].length};
            nodal->inertia[j] = 0.0;
            continue;
        }
        const FilStiffness *section = &rod->sections[element];
        double length = rod->lengths[element];
        nodal->stretch[j] = (FilEdgeSpring){.k = section->stretch / length, .rest = length};
        nodal->inertia[j] = section->spin_inertia * length;
        for (int k = 0; k < 2; k++) {
            nodal->mass[j + k] += 0.5 * section->mass * length;
            nodal->drag[j + k] += 0.5 * rod->drag * length;
        }
    }
    for (int j = 0; j + 1 < nodal->edge_count; j++) {
        int before = fil_nodal_element(rod, j), after = fil_nodal_element(rod, j + 1);
        nodal->cell[j] = 0.5 * ((before >= 0 ? rod->lengths[before] : 0.0) +
                                (after >= 0 ? rod->lengths[after] : 0.0));
        make_bend(rod, rod->natural, j, &nodal->bend[j]);
        if (nodal->stride == 3) {
            nodal->bend[j].k[0] = 0.0;
        }
    }
    fil_nodal_load(nodal);
}
// --- creation ------------------------------------------------------------------------------------

static FilStatus allocate_shape(FilArena *arena, int n, FilShape *shape) {
    shape->x = FIL_NEW_ZEROED(arena, double, 3 * (n + 1));
    shape->edges = FIL_NEW_ZEROED(arena, FilEdge, n);
    shape->bends = FIL_NEW_ZEROED(arena, FilBend, n);
    return arena->failed ? FIL_E_NO_MEMORY : FIL_OK;
}

static FilStatus allocate(FilRod *rod, FilNodal *nodal) {
    FilArena *arena = &rod->arena;
    int n = nodal->edge_count, full = nodal->full_count;
    nodal->mass = FIL_NEW(arena, double, n + 1);
    nodal->drag = FIL_NEW(arena, double, n + 1);
    nodal->inertia = FIL_NEW(arena, double, n);
    nodal->cell = FIL_NEW(arena, double, n);
    nodal->stretch = FIL_NEW(arena, FilEdgeSpring, n);
    nodal->bend = FIL_NEW(arena, FilBendSpring, n);
    nodal->step_stretch = FIL_NEW(arena, FilEdgeSpring, n);
    nodal->step_bend = FIL_NEW(arena, FilBendSpring, n);
    nodal->step_inertia = FIL_NEW_ZEROED(arena, double, full);
    nodal->step_drag = FIL_NEW_ZEROED(arena, double, full);
    nodal->weight = FIL_NEW_ZEROED(arena, double, full);
    nodal->tension = FIL_NEW_ZEROED(arena, double, n);
    nodal->anchor_velocity = FIL_NEW_ZEROED(arena, double, full);
    nodal->trial_velocity = FIL_NEW_ZEROED(arena, double, full);
    nodal->kicked = FIL_NEW_ZEROED(arena, double, full);
    nodal->push = FIL_NEW_ZEROED(arena, double, full);
    nodal->load = FIL_NEW_ZEROED(arena, double, full);
    nodal->ghost_pull = FIL_NEW_ZEROED(arena, double, 6);
    nodal->ghost_push = FIL_NEW_ZEROED(arena, double, 6);
    nodal->outside = FIL_NEW_ZEROED(arena, double, (size_t)nodal->full_count + 1);
    nodal->lean = FIL_NEW_ZEROED(arena, double, 3 * (size_t)(n + 1));
    nodal->pulls = FIL_NEW_ZEROED(arena, double, 4 * (size_t)n);
    nodal->gradient = FIL_NEW_ZEROED(arena, double, full);
    nodal->work = FIL_NEW_ZEROED(arena, double, full);
    nodal->rest = FIL_NEW_ZEROED(arena, double, full);
    nodal->scratch = FIL_NEW_ZEROED(arena, double, 16 * (size_t)(n + 1));
    nodal->band = FIL_NEW_ZEROED(arena, double, fil_band_room(n, nodal->stride));
    (void)allocate_shape(arena, n, &nodal->start);
    (void)allocate_shape(arena, n, &nodal->anchor);
    return allocate_shape(arena, n, &nodal->trial);
}

// Lay the state out as the curve that leaves the root's pose with the curvatures `start`.
static void build(FilRod *rod, const double *start) {
    FilNodal *nodal = rod->data;
    double axis[3][3], next[3][3], angle[3] = {0.0}, unused[3] = {0.0}, kappa[3];
    const FilPose *root = &rod->root_start;
    memcpy(axis, root->axis, sizeof axis);
    double *x = nodal->x;
    fil_copy3(root->position, x);
    if (nodal->ghosts[0] == 1) {
        fil_add3(-rod->lengths[0], axis[0], x);
        fil_copy3(axis[1], nodal->director);
        fil_copy3(root->position, x + 3);
    }
    add_half(rod, start, 0, 0, angle, unused);
    fil_bend_strain(angle, kappa);
    for (int j = nodal->ghosts[0]; j < nodal->edge_count; j++) {
        int element = fil_nodal_element(rod, j);
        if (j > 0) {
            if (j > nodal->ghosts[0]) {
                FilBendSpring spring;
                make_bend(rod, start, j - 1, &spring);
                fil_copy3(spring.rest, kappa);
            }
            nodal->twist[j - 1] = kappa[0];
        }
        fil_bend_follow(axis, kappa, next);
        memcpy(axis, next, sizeof axis);
        fil_copy3(axis[1], nodal->director + 3 * (ptrdiff_t)j);
        double *y = x + 3 * (ptrdiff_t)(j + 1);
        fil_copy3(y - 3, y);
        fil_add3(rod->lengths[element >= 0 ? element : rod->element_count - 1], axis[0], y);
    }
}

static FilStatus check_bend(const FilRod *rod, const char *name, int element, const double kappa[3],
                            FilError *error) {
    double turn = rod->lengths[element] * sqrt(kappa[1] * kappa[1] + kappa[2] * kappa[2]);
    if (!(turn < 2.8)) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "%s bends element %d by %.3g rad; the model %s needs less than 2.8 rad an "
                        "element, take more of them",
                        name, element, turn, rod->table->name);
    }
    return FIL_OK;
}

FilStatus fil_nodal_check_natural(const FilRod *rod, int element, const double kappa[3],
                                  FilError *error) {
    return check_bend(rod, rod->natural_name, element, kappa, error);
}

static FilStatus check_bends(const FilRod *rod, const double *start, FilError *error) {
    for (int i = 0; i < 2 * rod->element_count; i++) {
        ptrdiff_t at = 3 * (ptrdiff_t)i;
        FIL_TRY(rod->table->check_natural(rod, i / 2, rod->natural + at, error));
        FIL_TRY(check_bend(rod, "start_curvatures", i / 2, start + at, error));
    }
    return FIL_OK;
}

FilStatus fil_nodal_create(FilRod *rod, int stride, const double *start, FilError *error) {
    FIL_TRY(check_bends(rod, start, error));
    FilNodal *nodal = FIL_NEW_ZEROED(&rod->arena, FilNodal, 1);
    if (nodal == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for a rod of %d elements",
                        rod->element_count);
    }
    rod->data = nodal;
    nodal->stride = stride;
    nodal->kernels = fil_der_kernels();
    int held[2];
    for (int end = 0; end < 2; end++) {
        FilEndKind kind = fil_nodal_end(rod, end)->kind;
        nodal->ghosts[end] = holds_frame(kind);
        held[end] = kind == FIL_END_FREE ? 0 : kind == FIL_END_PINNED ? 3 : stride + 3;
        held[end] -= kind == FIL_END_SLIDING;
    }
    nodal->edge_count = rod->element_count + nodal->ghosts[0] + nodal->ghosts[1];
    nodal->full_count = stride * nodal->edge_count + 3;
    nodal->first = held[0];
    nodal->last = nodal->full_count - held[1];
    if (nodal->last <= nodal->first) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "element_count is %d; with both ends held the model %s needs more",
                        rod->element_count, rod->table->name);
    }
    rod->dof_count = nodal->last - nodal->first;
    rod->row_count = 0;
    int n = nodal->edge_count;
    double *state = fil_rod_new_state(rod, 3 * (n + 1) + 3 * n + n - 1 + nodal->full_count);
    if (state == NULL || allocate(rod, nodal) != FIL_OK) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for a rod of %d elements",
                        rod->element_count);
    }
    nodal->x = state;
    nodal->director = nodal->x + 3 * (ptrdiff_t)(n + 1);
    nodal->twist = nodal->director + 3 * (ptrdiff_t)n;
    nodal->v = nodal->twist + (n - 1);
    build(rod, start);
    fil_nodal_load(nodal);
    fil_nodal_refresh(rod);
    return FIL_OK;
}

// Ghost edges are all that differs: nodes and edges of the rod are those after the root's.
void fil_nodal_adopt(FilRod *rod, const FilRod *from) {
    FilNodal *to = rod->data;
    const FilNodal *of = from->data;
    ptrdiff_t skip = of->ghosts[0] - to->ghosts[0];
    size_t n = (size_t)to->edge_count, bytes = sizeof(double);
    memcpy(rod->state, from->state, bytes * FIL_ROD_STATE);
    memcpy(to->x, of->x + 3 * skip, bytes * 3 * (n + 1));
    memcpy(to->director, of->director + 3 * skip, bytes * 3 * n);
    memcpy(to->twist, of->twist + skip, bytes * (n - 1));
    memcpy(to->v, of->v + to->stride * skip, bytes * (size_t)to->full_count);
}

// A start shape whose driven ends are not where they are held at time 0 is fitted between them.
void fil_nodal_place_ends(FilRod *rod) {
    FilNodal *nodal = rod->data;
    FilShape *to = &nodal->trial;
    double place[2][3], sum = 0.0;
    bool driven = false;
    fil_nodal_copy(nodal, &nodal->start, to);
    for (int end = 0; end < 2; end++) {
        const FilRodEnd *held = fil_nodal_end(rod, end);
        fil_copy3(to->x + 3 * (ptrdiff_t)fil_nodal_end_node(nodal, end), place[end]);
        if (held->motion != NULL && held->kind != FIL_END_FREE) {
            FilPose pose;
            fil_rod_end_pose(rod, held, 0.0, &pose);
            fil_copy3(pose.position, place[end]);
            sum += fil_norm3(pose.position) + fil_norm3(pose.axis[0]) + fil_norm3(pose.axis[1]);
            driven = true;
        }
    }
    if (!driven || !isfinite(sum)) { // what is not finite, the first step says
        return;
    }
    fil_lengths_fit(rod->element_count, rod->lengths, place[0], place[1],
                    to->x + 3 * (ptrdiff_t)nodal->ghosts[0], nodal->scratch);
    fil_nodal_place(rod, 0.0, &nodal->start, to);
    fil_nodal_copy(nodal, to, &nodal->start);
    fil_nodal_store(nodal);
}
