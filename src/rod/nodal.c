// nodal.c - rods of nodes and edges: creation, ends, looking at them, gradient and Hessian.
#include "nodal.h"

#include <float.h>
#include <string.h>

#include "base/error.h"
#include "lengths.h"
#include "math/vec3.h"

static bool holds_frame(FilEndKind kind) {
    return kind == FIL_END_CLAMPED || kind == FIL_END_SLIDING;
}

// --- unknowns ------------------------------------------------------------------------------------

// The node at the root or the tip.
static int end_node(const FilNodal *nodal, int end) {
    return end == 0 ? nodal->ghosts[0] : nodal->edge_count - nodal->ghosts[1];
}

static const FilRodEnd *end_of(const FilRod *rod, int end) {
    return end == 0 ? &rod->root_end : &rod->tip_end;
}

void fil_nodal_axes(const FilRod *rod, double time, double axes[2][3]) {
    for (int end = 0; end < 2; end++) {
        axes[end][0] = axes[end][1] = axes[end][2] = 0.0;
        if (end_of(rod, end)->kind == FIL_END_SLIDING) {
            FilPose pose;
            fil_rod_end_pose(rod, end_of(rod, end), time, &pose);
            fil_copy3(pose.axis[0], axes[end]);
        }
    }
}

void fil_nodal_gather(const FilRod *rod, double axes[2][3], const double *full, double *free) {
    const FilNodal *nodal = rod->data;
    int count = nodal->last - nodal->first;
    memcpy(free, full + nodal->first, sizeof(double) * (size_t)count);
    for (int end = 0; end < 2; end++) {
        if (end_of(rod, end)->kind == FIL_END_SLIDING) {
            const double *x = full + (ptrdiff_t)nodal->stride * end_node(nodal, end);
            free[end == 0 ? 0 : count - 1] = fil_dot3(axes[end], x);
        }
    }
}

void fil_nodal_scatter(const FilRod *rod, double axes[2][3], const double *free, double *full) {
    const FilNodal *nodal = rod->data;
    int count = nodal->last - nodal->first;
    memset(full, 0, sizeof(double) * (size_t)nodal->full_count);
    memcpy(full + nodal->first, free, sizeof(double) * (size_t)count);
    for (int end = 0; end < 2; end++) {
        if (end_of(rod, end)->kind == FIL_END_SLIDING) {
            double *x = full + (ptrdiff_t)nodal->stride * end_node(nodal, end);
            for (int k = 0; k < 3; k++) {
                x[k] = axes[end][k] * free[end == 0 ? 0 : count - 1];
            }
        }
    }
}

// --- placing -------------------------------------------------------------------------------------

// Bring an end and its ghost to where they are held.
static void hold_end(const FilRod *rod, int end, double time, const FilShape *from, FilShape *to) {
    const FilNodal *nodal = rod->data;
    FilEndKind kind = end_of(rod, end)->kind;
    if (kind == FIL_END_FREE) {
        return;
    }
    FilPose pose;
    fil_rod_end_pose(rod, end_of(rod, end), time, &pose);
    double *x = to->x + 3 * (ptrdiff_t)end_node(nodal, end);
    double along = 0.0;
    for (int k = 0; k < 3 && kind == FIL_END_SLIDING; k++) {
        along += pose.axis[0][k] * (x[k] - pose.position[k]);
    }
    for (int k = 0; k < 3; k++) {
        x[k] = pose.position[k] + along * pose.axis[0][k];
    }
    if (nodal->ghosts[end] == 0) {
        return;
    }
    int ghost = end == 0 ? 0 : nodal->edge_count - 1;
    FilEdge *edge = &to->edges[ghost];
    edge->length = from->edges[ghost].length;
    fil_copy3(pose.axis[0], edge->t);
    fil_copy3(pose.axis[1], edge->n1);
    edge->spin = from->edges[ghost].spin + fil_edge_turn(&from->edges[ghost], edge->t, edge->n1);
    double *beyond = x + (end == 0 ? -3 : 3);
    for (int k = 0; k < 3; k++) {
        beyond[k] = x[k] + (end == 0 ? -edge->length : edge->length) * edge->t[k];
    }
}

void fil_nodal_place(const FilRod *rod, double time, const FilShape *from, FilShape *to) {
    const FilNodal *nodal = rod->data;
    hold_end(rod, 0, time, from, to);
    hold_end(rod, 1, time, from, to);
    int last = nodal->edge_count - nodal->ghosts[1];
    for (int j = nodal->ghosts[0]; j < last; j++) {
        const double *x = to->x + 3 * (ptrdiff_t)j;
        fil_edge_place(&from->edges[j], x, x + 3, &to->edges[j]);
    }
    for (int j = 0; j + 1 < nodal->edge_count; j++) {
        const FilEdge *e = &to->edges[j], *old = &from->edges[j];
        double twist =
            from->bends[j].kappa[0] + (e[1].spin - old[1].spin) - (e[0].spin - old[0].spin);
        fil_bend_place(e, e + 1, twist, &to->bends[j]);
    }
}

void fil_nodal_copy(const FilNodal *nodal, const FilShape *from, FilShape *to) {
    size_t n = (size_t)nodal->edge_count;
    memcpy(to->x, from->x, sizeof(double) * 3 * (n + 1));
    memcpy(to->edges, from->edges, sizeof(FilEdge) * n);
    memcpy(to->bends, from->bends, sizeof(FilBend) * (n - 1));
    for (size_t j = 0; j < n; j++) {
        to->edges[j].spin = 0.0;
    }
}

// The shape of the state: places, directors and, up to round-off, twists are what they are.
static void load_state(FilNodal *nodal) {
    FilShape *shape = &nodal->start;
    memcpy(shape->x, nodal->x, sizeof(double) * 3 * (size_t)(nodal->edge_count + 1));
    for (int j = 0; j < nodal->edge_count; j++) {
        FilEdge as_is = {.spin = 0.0};
        const double *x = shape->x + 3 * (ptrdiff_t)j;
        fil_subtract3(x + 3, x, as_is.t);
        double inverse = 1.0 / fil_norm3(as_is.t);
        for (int k = 0; k < 3; k++) {
            as_is.t[k] *= inverse;
        }
        fil_copy3(nodal->director + 3 * (ptrdiff_t)j, as_is.n1);
        shape->edges[j].spin = 0.0;
        fil_edge_place(&as_is, x, x + 3, &shape->edges[j]);
    }
    for (int j = 0; j + 1 < nodal->edge_count; j++) {
        fil_bend_place(&shape->edges[j], &shape->edges[j + 1], nodal->twist[j], &shape->bends[j]);
    }
    nodal->begun = nodal->tried = nodal->known = false;
}

// The other way: the state of nodal->start.
void fil_nodal_store(FilNodal *nodal) {
    const FilShape *shape = &nodal->start;
    memcpy(nodal->x, shape->x, sizeof(double) * 3 * (size_t)(nodal->edge_count + 1));
    for (int j = 0; j < nodal->edge_count; j++) {
        fil_copy3(shape->edges[j].n1, nodal->director + 3 * (ptrdiff_t)j);
    }
    for (int j = 0; j + 1 < nodal->edge_count; j++) {
        nodal->twist[j] = shape->bends[j].kappa[0];
    }
    nodal->begun = nodal->tried = nodal->known = false;
}

// --- parameters ----------------------------------------------------------------------------------

// The element of an edge, or -1 for a ghost.
static int element_of(const FilRod *rod, int edge) {
    const FilNodal *nodal = rod->data;
    int element = edge - nodal->ghosts[0];
    return element < rod->element_count ? element : -1;
}

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
    add_half(rod, natural, element_of(rod, j), 1, angle, compliance);
    add_half(rod, natural, element_of(rod, j + 1), 0, angle, compliance);
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
        int element = element_of(rod, j);
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
        int before = element_of(rod, j), after = element_of(rod, j + 1);
        nodal->cell[j] = 0.5 * ((before >= 0 ? rod->lengths[before] : 0.0) +
                                (after >= 0 ? rod->lengths[after] : 0.0));
        make_bend(rod, rod->natural, j, &nodal->bend[j]);
        if (nodal->stride == 3) {
            nodal->bend[j].k[0] = 0.0;
        }
    }
    load_state(nodal);
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
    nodal->step_inertia = FIL_NEW(arena, double, n);
    nodal->anchor_velocity = FIL_NEW_ZEROED(arena, double, full);
    nodal->trial_velocity = FIL_NEW_ZEROED(arena, double, full);
    nodal->kicked = FIL_NEW_ZEROED(arena, double, full);
    nodal->push = FIL_NEW_ZEROED(arena, double, full);
    nodal->pulls = FIL_NEW_ZEROED(arena, double, 4 * (size_t)n);
    nodal->gradient = FIL_NEW_ZEROED(arena, double, full);
    nodal->work = FIL_NEW_ZEROED(arena, double, full);
    nodal->rest = FIL_NEW_ZEROED(arena, double, full);
    nodal->own = FIL_NEW_ZEROED(arena, double, 16 * (size_t)(n + 2));
    nodal->between = FIL_NEW_ZEROED(arena, double, 16 * (size_t)(n + 2));
    nodal->band = FIL_NEW_ZEROED(arena, double, (size_t)full *(size_t)(fil_nodal_width(nodal) + 1));
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
        int element = element_of(rod, j);
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
    return check_bend(rod, "natural_curvatures", element, kappa, error);
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
    int held[2];
    for (int end = 0; end < 2; end++) {
        FilEndKind kind = end_of(rod, end)->kind;
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
    load_state(nodal);
    fil_nodal_refresh(rod);
    return FIL_OK;
}

// A start shape whose driven ends are not where they are held at time 0 is fitted between them.
void fil_nodal_place_ends(FilRod *rod) {
    FilNodal *nodal = rod->data;
    FilShape *to = &nodal->trial;
    double place[2][3], sum = 0.0;
    bool driven = false;
    fil_nodal_copy(nodal, &nodal->start, to);
    for (int end = 0; end < 2; end++) {
        const FilRodEnd *held = end_of(rod, end);
        fil_copy3(to->x + 3 * (ptrdiff_t)end_node(nodal, end), place[end]);
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
                    to->x + 3 * (ptrdiff_t)nodal->ghosts[0], nodal->own);
    fil_nodal_place(rod, 0.0, &nodal->start, to);
    fil_nodal_copy(nodal, to, &nodal->start);
    fil_nodal_store(nodal);
}

// --- looking -------------------------------------------------------------------------------------

// The edge of a section and the fraction of it; at an end whose frame is held, the ghost's end.
static int find_edge(const FilRod *rod, int element, double *u) {
    const FilNodal *nodal = rod->data;
    if (element == 0 && *u <= 0.0 && nodal->ghosts[0] == 1) {
        *u = 1.0;
        return 0;
    }
    if (element == rod->element_count - 1 && *u >= 1.0 && nodal->ghosts[1] == 1) {
        *u = 0.0;
        return nodal->edge_count - 1;
    }
    return element + nodal->ghosts[0];
}

void fil_nodal_at(const FilRod *rod, int element, double u, FilPose *pose, FilRate *rate) {
    const FilNodal *nodal = rod->data;
    int j = find_edge(rod, element, &u);
    const FilEdge *edge = &nodal->start.edges[j];
    const double *x = nodal->x + 3 * (ptrdiff_t)j;
    const double *v = nodal->v + (ptrdiff_t)nodal->stride * j, *w = v + nodal->stride;
    for (int k = 0; k < 3; k++) {
        pose->position[k] = (1.0 - u) * x[k] + u * x[3 + k];
    }
    fil_copy3(edge->t, pose->axis[0]);
    fil_copy3(edge->n1, pose->axis[1]);
    fil_cross3(edge->t, edge->n1, pose->axis[2]);
    if (rate == NULL) {
        return;
    }
    double change[3];
    for (int k = 0; k < 3; k++) {
        rate->velocity[k] = (1.0 - u) * v[k] + u * w[k];
        change[k] = (w[k] - v[k]) / edge->length;
    }
    fil_cross3(edge->t, change, rate->spin);
    if (nodal->stride == 4) {
        fil_add3(v[3], edge->t, rate->spin);
    }
}

// One column of a Jacobian of unknowns, where the unknown is free.
static void put_column(const FilRod *rod, int unknown, const double *values, int row, int rows,
                       double *jacobian) {
    const FilNodal *nodal = rod->data;
    if (unknown < nodal->first || unknown >= nodal->last) {
        return;
    }
    double *to = jacobian + unknown - nodal->first;
    for (int k = 0; k < rows; k++) {
        to[(ptrdiff_t)(row + k) * rod->dof_count] = values[k];
    }
}

// The place of node i enters the rows with the matrix m (columns are world axes).
static void put_node(const FilRod *rod, int i, const double m[9], int row, double axes[2][3],
                     double *jacobian) {
    const FilNodal *nodal = rod->data;
    for (int end = 0; end < 2; end++) {
        if (i == end_node(nodal, end) && end_of(rod, end)->kind == FIL_END_SLIDING) {
            double along[3];
            fil_apply3(m, axes[end], along);
            put_column(rod, end == 0 ? nodal->first : nodal->last - 1, along, row, 3, jacobian);
            return;
        }
    }
    for (int k = 0; k < 3; k++) {
        const double column[3] = {m[k], m[3 + k], m[6 + k]};
        put_column(rod, nodal->stride * i + k, column, row, 3, jacobian);
    }
}

void fil_nodal_jacobian(const FilRod *rod, int element, double u, double *jacobian) {
    const FilNodal *nodal = rod->data;
    int j = find_edge(rod, element, &u);
    const FilEdge *edge = &nodal->start.edges[j];
    double axes[2][3], turn[9];
    fil_nodal_axes(rod, rod->state[0], axes);
    memset(jacobian, 0, sizeof(double) * 6 * (size_t)rod->dof_count);
    for (int side = 0; side < 2; side++) {
        double part = side == 0 ? 1.0 - u : u;
        const double m[9] = {part, 0.0, 0.0, 0.0, part, 0.0, 0.0, 0.0, part};
        put_node(rod, j + side, m, 0, axes, jacobian);
    }
    if (element_of(rod, j) < 0) {
        return; // a ghost turns as it is driven
    }
    for (int side = 0; side < 2; side++) {
        fil_cross_matrix3(edge->t, turn);
        for (int k = 0; k < 9; k++) {
            turn[k] *= (side == 0 ? -1.0 : 1.0) / edge->length;
        }
        put_node(rod, j + side, turn, 3, axes, jacobian);
    }
    if (nodal->stride == 4) {
        put_column(rod, 4 * j + 3, edge->t, 3, 3, jacobian);
    }
}

// The mean curvature of the cell of a bend, and where along the rod its middle is.
static double cell_curvature(const FilRod *rod, int bend, double kappa[3]) {
    const FilNodal *nodal = rod->data;
    fil_bend_angle(nodal->start.bends[bend].kappa, kappa);
    double s = 0.0;
    for (int k = 0; k < 3; k++) {
        kappa[k] /= nodal->cell[bend];
    }
    for (int e = 0; e <= bend - nodal->ghosts[0] && e < rod->element_count; e++) {
        s += rod->lengths[e];
    }
    if (element_of(rod, bend) < 0) {
        return s + 0.5 * nodal->cell[bend];
    }
    return element_of(rod, bend + 1) < 0 ? s - 0.5 * nodal->cell[bend] : s;
}

// A line through the curvatures of the two nearest cells, also beyond the last one: the end of a
// rod may carry a torque. With a single cell it is the same everywhere, with none the natural one.
void fil_nodal_curvature_at(const FilRod *rod, int element, double u, double kappa[3]) {
    const FilNodal *nodal = rod->data;
    int last = nodal->edge_count - 2, a = element + nodal->ghosts[0] - 1;
    const double *natural = rod->natural + 6 * (ptrdiff_t)element;
    for (int k = 0; k < 3; k++) {
        kappa[k] = (1.0 - u) * natural[k] + u * natural[3 + k];
    }
    a = a < 0 ? 0 : a > last - 1 ? last - 1 : a;
    if (last <= 0) {
        (void)(last == 0 ? cell_curvature(rod, 0, kappa) : 0.0);
        return;
    }
    double first[3], second[3], s = u * rod->lengths[element];
    double from = cell_curvature(rod, a, first), to = cell_curvature(rod, a + 1, second);
    for (int e = 0; e < element; e++) {
        s += rod->lengths[e];
    }
    double part = (s - from) / (to - from);
    for (int k = 0; k < 3; k++) {
        kappa[k] = (1.0 - part) * first[k] + part * second[k];
    }
}

void fil_nodal_get_velocity(const FilRod *rod, double *velocity) {
    const FilNodal *nodal = rod->data;
    double axes[2][3];
    fil_nodal_axes(rod, rod->state[0], axes);
    fil_nodal_gather(rod, axes, nodal->v, velocity);
}

void fil_nodal_energy(const FilRod *rod, FilRodEnergy *energy) {
    const FilNodal *nodal = rod->data;
    for (int i = 0; i <= nodal->edge_count; i++) {
        const double *v = nodal->v + (ptrdiff_t)nodal->stride * i, *x = nodal->x + 3 * (ptrdiff_t)i;
        energy->kinetic += 0.5 * nodal->mass[i] * fil_dot3(v, v);
        energy->gravity -= nodal->mass[i] * fil_dot3(rod->gravity, x);
        if (nodal->stride == 4 && i < nodal->edge_count) {
            energy->kinetic += 0.5 * nodal->inertia[i] * v[3] * v[3];
        }
    }
    for (int j = 0; j < nodal->edge_count; j++) {
        energy->stretch += fil_stretch_energy(&nodal->start.edges[j], &nodal->stretch[j]);
    }
    for (int j = 0; j + 1 < nodal->edge_count; j++) {
        FilBendSpring twist = nodal->bend[j], bend = nodal->bend[j];
        bend.k[0] = twist.k[1] = twist.k[2] = 0.0;
        energy->bend += fil_bend_energy(&nodal->start.bends[j], &bend);
        energy->twist += fil_bend_energy(&nodal->start.bends[j], &twist);
    }
    for (int k = 0; k < rod->load_count; k++) {
        FilPose pose;
        fil_rod_at(rod, rod->loads[k].s, &pose, NULL);
        energy->loads -= fil_dot3(rod->loads[k].force, pose.position);
    }
}

double fil_nodal_largest_step(const FilRod *rod) {
    const FilNodal *nodal = rod->data;
    double rate = sqrt(fil_norm3(rod->gravity) / rod->state[1]);
    for (int j = 0; j < nodal->edge_count; j++) {
        const double *v = nodal->v + (ptrdiff_t)nodal->stride * j;
        double change[3];
        fil_subtract3(v + nodal->stride, v, change);
        rate = fmax(rate, fil_norm3(change) / nodal->start.edges[j].length);
    }
    return rate > 1e-3 ? 1.0 / rate : 1e3;
}

// --- forces --------------------------------------------------------------------------------------

static void add_torque(const FilNodal *nodal, int j, const double torque[3], double *full) {
    const FilEdge *edge = &nodal->start.edges[j];
    double pull[3];
    fil_cross3(torque, edge->t, pull);
    fil_add3(-1.0 / edge->length, pull, full + (ptrdiff_t)nodal->stride * j);
    fil_add3(1.0 / edge->length, pull, full + (ptrdiff_t)nodal->stride * (j + 1));
    if (nodal->stride == 4) {
        full[4 * (ptrdiff_t)j + 3] += fil_dot3(torque, edge->t);
    }
}

void fil_nodal_add_loads(const FilRod *rod, double *full) {
    const FilNodal *nodal = rod->data;
    for (int i = 0; i <= nodal->edge_count; i++) {
        fil_add3(nodal->mass[i], rod->gravity, full + (ptrdiff_t)nodal->stride * i);
    }
    for (int k = 0; k < rod->load_count; k++) {
        const FilRodLoad *load = &rod->loads[k];
        double u;
        int j = fil_rod_locate(rod, load->s, &u) + nodal->ghosts[0];
        fil_add3(1.0 - u, load->force, full + (ptrdiff_t)nodal->stride * j);
        fil_add3(u, load->force, full + (ptrdiff_t)nodal->stride * (j + 1));
        add_torque(nodal, j, load->torque, full);
    }
}

void fil_nodal_pull(const FilNodal *nodal, const FilShape *shape, const FilEdgeSpring *stretch,
                    const FilBendSpring *bend, double *full) {
    int n = nodal->edge_count, stride = nodal->stride;
    double *g = nodal->pulls;
    memset(g, 0, sizeof(double) * 4 * (size_t)n);
    for (int j = 0; stretch != NULL && j < n; j++) {
        fil_stretch_gradient(&shape->edges[j], &stretch[j], g + 4 * (ptrdiff_t)j);
    }
    for (int j = 0; j + 1 < n; j++) {
        const FilEdge *e = &shape->edges[j];
        fil_bend_gradient(e, e + 1, &shape->bends[j], &bend[j], g + 4 * (ptrdiff_t)j,
                          g + 4 * (ptrdiff_t)(j + 1));
    }
    for (int end = 0; end < 2; end++) { // the vector of a ghost edge is given
        for (int k = 0; k < 3 && nodal->ghosts[end] == 1; k++) {
            g[4 * (ptrdiff_t)(end == 0 ? 0 : n - 1) + k] = 0.0;
        }
    }
    for (int k = 0; k < 3; k++) {
        full[k] = -g[k];
        full[stride * (ptrdiff_t)n + k] = g[4 * (ptrdiff_t)(n - 1) + k];
    }
    for (int i = 1; i < n; i++) {
        fil_subtract3(g + 4 * (ptrdiff_t)(i - 1), g + 4 * (ptrdiff_t)i,
                      full + (ptrdiff_t)stride * i);
    }
    for (int j = 0; stride == 4 && j < n; j++) {
        full[4 * (ptrdiff_t)j + 3] = g[4 * (ptrdiff_t)j + 3];
    }
}

void fil_nodal_gradient(const FilRod *rod, double *gradient) {
    const FilNodal *nodal = rod->data;
    double axes[2][3];
    fil_nodal_axes(rod, rod->state[0], axes);
    memset(nodal->work, 0, sizeof(double) * (size_t)nodal->full_count);
    fil_nodal_add_loads(rod, nodal->work);
    fil_nodal_pull(nodal, &nodal->start, nodal->stretch, nodal->bend, nodal->gradient);
    for (int k = 0; k < nodal->full_count; k++) {
        nodal->gradient[k] -= nodal->work[k];
    }
    fil_nodal_gather(rod, axes, nodal->gradient, gradient);
}

// --- the Hessian ---------------------------------------------------------------------------------

static void fill_blocks(const FilNodal *nodal, const FilShape *shape, const FilEdgeSpring *stretch,
                        const FilBendSpring *bend, FilHessianPart part) {
    int n = nodal->edge_count;
    double *own = nodal->own + 16, *between = nodal->between + 16;
    memset(nodal->own, 0, sizeof(double) * 16 * (size_t)(n + 2));
    memset(nodal->between, 0, sizeof(double) * 16 * (size_t)(n + 2));
    for (int j = 0; j < n; j++) {
        fil_stretch_hessian(&shape->edges[j], &stretch[j], part, own + 16 * (ptrdiff_t)j);
    }
    fil_bends_hessian(n - 1, shape->edges, shape->bends, bend, part, own, between);
    if (nodal->ghosts[0] == 1) {
        memset(own, 0, sizeof(double) * 16);
        memset(between, 0, sizeof(double) * 16);
    }
    if (nodal->ghosts[1] == 1) {
        memset(own + 16 * (ptrdiff_t)(n - 1), 0, sizeof(double) * 16);
        memset(between + 16 * (ptrdiff_t)(n - 2), 0, sizeof(double) * 16);
    }
}

// Rows of the unknowns of node i and its edge in the upper half of the band, from the blocks of the
// edges around: x_i ends edge i - 1 and begins edge i.
static void map_node(const FilNodal *nodal, int i, double factor, double *rows) {
    const double *before = nodal->own + 16 * (ptrdiff_t)i, *own = before + 16;
    const double *into = nodal->between + 16 * (ptrdiff_t)i, *out = into + 16;
    int stride = nodal->stride, count = fil_nodal_width(nodal) + 1;
    double line[12];
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            int ab = 4 * a + b;
            line[b] = before[ab] + own[ab] - into[ab] - into[4 * b + a];
            line[stride + b] = into[ab] - own[ab] + out[ab];
            line[2 * stride + b] = -out[ab];
        }
        if (stride == 4) {
            line[3] = into[4 * a + 3] - own[4 * a + 3];
            line[7] = -out[4 * a + 3];
        }
        double *row = rows + (ptrdiff_t)a * count;
        for (int k = 0; k < count; k++) {
            row[k] = k + a < count ? factor * line[k + a] : 0.0;
        }
    }
    if (stride == 4) {
        double *row = rows + 3 * (ptrdiff_t)count;
        row[0] = factor * own[15];
        for (int b = 0; b < 3; b++) {
            row[1 + b] = factor * (own[12 + b] - out[12 + b]);
            row[5 + b] = factor * out[12 + b];
        }
        row[4] = factor * out[15];
        row[8] = row[9] = row[10] = 0.0;
    }
}

static void map_blocks(const FilNodal *nodal, double factor) {
    ptrdiff_t step = (ptrdiff_t)nodal->stride * (fil_nodal_width(nodal) + 1);
    for (int i = 0; i < nodal->edge_count; i++) {
        map_node(nodal, i, factor, nodal->band + step * i);
    }
    // the last node has no edge after it
    int n = nodal->edge_count, count = fil_nodal_width(nodal) + 1;
    const double *before = nodal->own + 16 * (ptrdiff_t)n;
    for (int a = 0; a < 3; a++) {
        double *row = nodal->band + step * n + (ptrdiff_t)a * count;
        for (int k = 0; k < count; k++) {
            row[k] = k + a < 3 ? factor * before[5 * a + k] : 0.0;
        }
    }
}

void fil_nodal_stiffen(const FilNodal *nodal, const FilShape *shape, const FilEdgeSpring *stretch,
                       const FilBendSpring *bend, FilHessianPart part, double factor) {
    fill_blocks(nodal, shape, stretch, bend, part);
    map_blocks(nodal, factor);
}

static double *entry(const FilNodal *nodal, int row, int column) {
    int low = row < column ? row : column, high = row < column ? column : row;
    return nodal->band + (ptrdiff_t)low * (fil_nodal_width(nodal) + 1) + (high - low);
}

// The one unknown that is left of the place of an end, `slot`, is the way along its axis.
static void turn_end(const FilNodal *nodal, int node, int slot, const double axis[3]) {
    int at = nodal->stride * node, width = fil_nodal_width(nodal);
    double own = 0.0;
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            own += axis[a] * axis[b] * *entry(nodal, at + a, at + b);
        }
    }
    int begin = slot == at + 2 ? at + 3 : at - width + 2,
        end = slot == at + 2 ? at + width + 1 : at;
    for (int k = begin; k < end; k++) {
        if (k < 0 || k >= nodal->full_count) {
            continue;
        }
        double sum = 0.0;
        for (int a = 0; a < 3; a++) {
            int gap = k > at + a ? k - at - a : at + a - k;
            sum += gap <= width ? axis[a] * *entry(nodal, at + a, k) : 0.0;
        }
        int gap = k > slot ? k - slot : slot - k;
        if (gap <= width) {
            *entry(nodal, slot, k) = sum;
        }
    }
    *entry(nodal, slot, slot) = own;
}

void fil_nodal_turn_ends(const FilRod *rod, double axes[2][3]) {
    const FilNodal *nodal = rod->data;
    for (int end = 0; end < 2; end++) {
        if (end_of(rod, end)->kind == FIL_END_SLIDING) {
            turn_end(nodal, end_node(nodal, end), end == 0 ? nodal->first : nodal->last - 1,
                     axes[end]);
        }
    }
}

static void add_torque_hessians(const FilRod *rod) {
    const FilNodal *nodal = rod->data;
    for (int k = 0; k < rod->load_count; k++) {
        double u;
        int j = fil_rod_locate(rod, rod->loads[k].s, &u) + nodal->ghosts[0];
        fil_torque_hessian(&nodal->start.edges[j], rod->loads[k].torque,
                           nodal->own + 16 * (ptrdiff_t)(j + 1));
    }
}

static void spread_band(const FilRod *rod, FilHessianPart part, double *dense) {
    const FilNodal *nodal = rod->data;
    int n = rod->dof_count, width = fil_nodal_width(nodal);
    double axes[2][3];
    fil_nodal_axes(rod, rod->state[0], axes);
    fill_blocks(nodal, &nodal->start, nodal->stretch, nodal->bend, part);
    if (part == FIL_HESSIAN_FULL) {
        add_torque_hessians(rod);
    }
    map_blocks(nodal, 1.0);
    fil_nodal_turn_ends(rod, axes);
    memset(dense, 0, sizeof(double) * (size_t)n * (size_t)n);
    for (int i = 0; i < n; i++) {
        for (int j = i; j < n && j <= i + width; j++) {
            double value = *entry(nodal, nodal->first + i, nodal->first + j);
            dense[(ptrdiff_t)i * n + j] = value;
            dense[(ptrdiff_t)j * n + i] = value;
        }
    }
}

void fil_nodal_hessian(const FilRod *rod, double *hessian) {
    spread_band(rod, FIL_HESSIAN_FULL, hessian);
}

void fil_nodal_stiffness(const FilRod *rod, double *stiffness) {
    spread_band(rod, FIL_HESSIAN_STRESSFREE, stiffness);
}

void fil_nodal_mass(const FilRod *rod, double *mass) {
    const FilNodal *nodal = rod->data;
    int n = rod->dof_count;
    memset(mass, 0, sizeof(double) * (size_t)n * (size_t)n);
    for (int k = 0; k < n; k++) {
        int i = (nodal->first + k) / nodal->stride, part = (nodal->first + k) % nodal->stride;
        mass[(ptrdiff_t)k * n + k] = part < 3 ? nodal->mass[i] : nodal->inertia[i];
    }
}

// --- moving --------------------------------------------------------------------------------------

void fil_nodal_stop(FilRod *rod) {
    FilNodal *nodal = rod->data;
    memset(nodal->v, 0, sizeof(double) * (size_t)nodal->full_count);
    nodal->begun = nodal->tried = nodal->known = false;
}

void fil_nodal_move(FilRod *rod, const double *dx) {
    FilNodal *nodal = rod->data;
    double axes[2][3];
    fil_nodal_axes(rod, rod->state[0], axes);
    fil_nodal_scatter(rod, axes, dx, nodal->work);
    for (int i = 0; i <= nodal->edge_count; i++) {
        const double *way = nodal->work + (ptrdiff_t)nodal->stride * i;
        for (int k = 0; k < 3; k++) {
            nodal->trial.x[3 * i + k] = nodal->start.x[3 * i + k] + way[k];
        }
        if (i < nodal->edge_count) {
            nodal->trial.edges[i].spin = nodal->stride == 4 ? way[3] : 0.0;
        }
    }
    fil_nodal_place(rod, rod->state[0], &nodal->start, &nodal->trial);
    fil_nodal_copy(nodal, &nodal->trial, &nodal->start);
    fil_nodal_store(nodal);
}
