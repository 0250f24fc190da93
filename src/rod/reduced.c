// reduced.c - rods whose unknowns are curvatures: state, kinematics and forces.
//
// Kinematics. Element by element from the root: the end of an element (element.c), turned by the
// joint, is the start of the next. Velocity and spin go along, and so does the acceleration that is
// known beforehand: minus gravity, what the present velocities bring, and a given push.
//
// Root. A clamped root goes where it is held; a pinned one has three degrees of freedom (spin), a
// free or sliding one six.
#include "reduced.h"

#include <float.h>
#include <string.h>

#include "base/error.h"
#include "math/rotation.h"
#include "math/vec3.h"

// --- creation ------------------------------------------------------------------------------------

static const int root_dofs[FIL_END_COUNT] = {
    [FIL_END_FREE] = 6, [FIL_END_PINNED] = 3, [FIL_END_SLIDING] = 6, [FIL_END_CLAMPED] = 0};

static void build_tree(const FilRod *rod, FilReduced *data) {
    data->first = -1;
    for (int i = 0; i < rod->element_count; i++) {
        data->parent[i] = rod->joints != NULL ? rod->joints[i].parent : i - 1;
        data->child[i] = -1;
    }
    for (int i = rod->element_count - 1; i >= 0; i--) {
        int p = data->parent[i];
        int *list = p >= 0 ? &data->child[p] : &data->first;
        data->sibling[i] = *list;
        *list = i;
    }
}

// Helix: the mean of both ends of the element. Clothoid: at a joint the mean of both sides.
static void place_curvatures(const FilRod *rod, const double *start, FilReduced *data) {
    int n = rod->element_count;
    if (data->d == 3) {
        for (int k = 0; k < 3 * n; k++) {
            const double *ends = start + 6 * (size_t)(k / 3) + k % 3;
            data->kappa[k] = 0.5 * (ends[0] + ends[3]);
        }
        return;
    }
    for (int k = 0; k < 3 * (n + 1); k++) {
        int node = k / 3, c = k % 3;
        double before = start[6 * (size_t)(node > 0 ? node - 1 : 0) + (node > 0 ? 3 : 0) + c];
        double after = start[6 * (size_t)(node < n ? node : n - 1) + (node < n ? 0 : 3) + c];
        data->kappa[k] = 0.5 * (before + after);
    }
}

static FilStatus check_turns(const FilRod *rod, const FilReduced *data, FilError *error) {
    for (int i = 0; i < rod->element_count; i++) {
        for (int a = 0; a < data->d; a += 3) {
            double turn = fil_norm3(data->kappa + 3 * (size_t)i + a) * rod->lengths[i];
            if (!(turn <= FIL_ELEMENT_TURN)) {
                return fil_fail(error, FIL_E_ARGUMENT,
                                "element %d turns by %g rad; it must be at most %g: take more "
                                "elements or less curvature",
                                i, turn, FIL_ELEMENT_TURN);
            }
        }
    }
    return FIL_OK;
}

void fil_reduced_view(FilReduced *data, bool ahead) {
    double *state = ahead ? data->ahead_state : data->here_state;
    data->root_place = state;
    data->root_turn = state + 3;
    data->root_rate = state + 12;
    data->kappa = state + 18;
    data->rate = data->kappa + data->kappas;
}

static void place_root(const FilRod *rod, FilReduced *data) {
    fil_copy3(rod->root_start.position, data->root_place);
    for (int k = 0; k < 9; k++) {
        data->root_turn[k] = rod->root_start.axis[k % 3][k / 3];
    }
}

// Where the passing arrays of small rods are: up to 84 elements of a helix, 46 of a clothoid.
enum { SHARED_ROOM = 8192 };
static _Thread_local _Alignas(FIL_CACHE_LINE) double shared_room[SHARED_ROOM];

static size_t passing_count(size_t d) {
    size_t m = d + 3, sum = 0;
#define X(name, count) sum += (count);
    FIL_REDUCED_PASSING(X)
#undef X
    return sum;
}

static void place_passing(const FilRod *rod, FilReduced *data, double *room) {
    size_t n = (size_t)rod->element_count, d = (size_t)data->d, m = d + 3, at = 0;
#define X(name, count)      \
    data->name = room + at; \
    at += n * (count);
    FIL_REDUCED_PASSING(X)
#undef X
}

static size_t geometry_count(size_t d) {
    size_t sum = 0;
#define X(name, count) sum += (count);
    FIL_REDUCED_GEOMETRY(X)
#undef X
    return sum;
}

void fil_reduced_use(const FilRod *rod, bool ahead) {
    FilReduced *data = fil_reduced(rod);
    double *room = ahead ? data->ahead : data->here;
    size_t n = (size_t)rod->element_count, d = (size_t)data->d, at = 0;
#define X(name, count)      \
    data->name = room + at; \
    at += n * (count);
    FIL_REDUCED_GEOMETRY(X)
#undef X
}

static bool allocate(FilRod *rod, FilReduced *data) {
    size_t n = (size_t)rod->element_count, d = (size_t)data->d, m = d + 3;
    data->parent = FIL_NEW(&rod->arena, int, n);
    data->child = FIL_NEW(&rod->arena, int, n);
    data->sibling = FIL_NEW(&rod->arena, int, n);
    data->here = FIL_NEW_ZEROED(&rod->arena, double, n *geometry_count(d));
    data->ahead = FIL_NEW_ZEROED(&rod->arena, double, n *geometry_count(d));
    data->ahead_state = FIL_NEW(&rod->arena, double, 18 + 2 * (size_t)data->kappas);
    data->after = FIL_NEW(&rod->arena, double, 6 + (size_t)data->kappas);
    data->push = FIL_NEW_ZEROED(&rod->arena, double, 6 + (size_t)data->kappas);
    if (rod->arena.failed) {
        return false;
    }
    fil_reduced_use(rod, false);
#define X(name, count) data->name = FIL_NEW_ZEROED(&rod->arena, double, n *(count));
    FIL_REDUCED_FACTORS(X)
#undef X
    data->shares = n * passing_count(d) <= SHARED_ROOM;
    if (!data->shares) {
        double *room = FIL_NEW_ZEROED(&rod->arena, double, n *passing_count(d));
        if (room != NULL) {
            place_passing(rod, data, room);
        }
    }
    data->forces = FIL_NEW(&rod->arena, double, rod->dof_count);
    if (rod->row_count > 0) {
        data->end_jacobian = FIL_NEW(&rod->arena, double, 6 * (size_t)rod->dof_count);
    }
    if (!data->recursive) {
        data->dense = FIL_NEW(&rod->arena, double, (size_t)rod->dof_count *(size_t)rod->dof_count);
        data->dense_first = FIL_NEW(&rod->arena, int, rod->dof_count);
    }
    return !rod->arena.failed;
}

FilStatus fil_reduced_create(FilRod *rod, int d, const double *start, FilError *error) {
    FilReduced *data = FIL_NEW_ZEROED(&rod->arena, FilReduced, 1);
    if (data == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for a rod of %d elements",
                        rod->element_count);
    }
    rod->data = data;
    data->d = d;
    data->kernels = fil_element_kernels(d);
    data->root = root_dofs[rod->root_end.kind];
    data->kappas = 3 * rod->element_count + d - 3;
    data->stale = true;
    // elimination is as fast as the dense matrix from one element on (filum bench rods)
    data->recursive = rod->step_kind != FIL_ROD_STEP_DENSE;
    rod->dof_count = data->root + data->kappas;
    rod->row_count = fil_rod_count_rows(rod);
    double *state = fil_rod_new_state(rod, 18 + 2 * data->kappas);
    if (state == NULL || !allocate(rod, data)) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for a rod of %d elements",
                        rod->element_count);
    }
    data->here_state = state;
    fil_reduced_view(data, false);
    place_root(rod, data);
    build_tree(rod, data);
    place_curvatures(rod, start, data);
    return check_turns(rod, data, error);
}

// --- kinematics ----------------------------------------------------------------------------------

// Lane l of `out` from element first + l; the last element fills what is left.
static int lane_element(const FilRod *rod, int first, int lane) {
    int last = rod->element_count - 1;
    return first + lane < last ? first + lane : last;
}

static void load_lanes(const FilRod *rod, const FilReducedPass *pass, int first, FilElementIn *in) {
    const FilReduced *data = fil_reduced(rod);
    for (int lane = 0; lane < FIL_LANES; lane++) {
        int i = lane_element(rod, first, lane);
        const FilStiffness *section = &rod->sections[i];
        const double *kappa = data->kappa + 3 * (size_t)i, *rate = data->rate + 3 * (size_t)i;
        const double *push = data->push + 6 + 3 * (size_t)i;
        for (int a = 0; a < data->d; a++) {
            in->kappa[a][lane] = kappa[a];
            in->rate[a][lane] = pass->moving ? rate[a] : 0.0;
            in->push[a][lane] = pass->pushed ? push[a] : 0.0;
        }
        double J = section->spin_inertia;
        in->length[lane] = rod->lengths[i];
        in->mass[lane] = section->mass + pass->drag * rod->drag;
        in->spin[lane] = J;
        in->momentum[lane] = pass->momentum * section->mass - pass->resist * rod->drag;
        in->spin_momentum[lane] = pass->momentum * J;
        in->force[lane] = pass->dt * section->mass;
        in->spin_force[lane] = pass->dt * J;
        in->calm[lane] = pass->calm;
    }
}

static void store_lane(const FilLanes *from, int lane, int count, double *to) {
    const double *x = (const double *)from + lane;
    for (int k = 0; k < count; k++) {
        to[k] = x[4 * k];
    }
}

static void store_end(FilReduced *data, const FilElementEnd *end, int lane, int element) {
    size_t i = (size_t)element, d = (size_t)data->d;
    store_lane(end->turn, lane, 9, data->end_turn + 9 * i);
    store_lane(end->place, lane, 3, data->end_place + 3 * i);
    store_lane(end->theta[0], lane, 3 * data->d, data->theta + 3 * d * i);
    store_lane(end->travel[0], lane, 3 * data->d, data->travel + 3 * d * i);
    store_lane(end->acceleration, lane, 3, data->end_bias + 6 * i);
    store_lane(end->alpha, lane, 3, data->end_bias + 6 * i + 3);
}

static void store_rigid(FilReduced *data, const FilElementSums *sums, int lane, int element) {
    size_t i = (size_t)element;
    store_lane(&sums->mass, lane, 1, data->mass + i);
    store_lane(sums->moment, lane, 3, data->moment + 3 * i);
    store_lane(sums->ww, lane, 6, data->ww + 6 * i);
}

static void store_sums(FilReduced *data, const FilElementSums *sums, int lane, int element) {
    size_t i = (size_t)element, d = (size_t)data->d;
    store_lane(sums->vk[0], lane, 3 * data->d, data->vk + 3 * d * i);
    store_lane(sums->wk[0], lane, 3 * data->d, data->wk + 3 * d * i);
    store_lane(sums->kk, lane, data->d * (data->d + 1) / 2, data->kk + d * (d + 1) / 2 * i);
}

static void store_forces(FilReduced *data, const FilElementSums *sums, int lane, int element) {
    double *h = data->h + (6 + (size_t)data->d) * (size_t)element;
    store_lane(sums->hv, lane, 3, h);
    store_lane(sums->hw, lane, 3, h + 3);
    store_lane(sums->hk, lane, data->d, h + 6);
    store_lane(sums->pull, lane, 3, data->pull + 3 * (size_t)element);
}

// out = sum_a columns[a] k[a].
static void combine(int d, const double *columns, const double *k, double out[3]) {
    out[0] = out[1] = out[2] = 0.0;
    for (int a = 0; a < d; a++) {
        fil_add3(k[a], columns + 3 * (size_t)a, out);
    }
}

// Motion and bias at the end of element i, in the axes of its start.
static void move_end(const FilReduced *data, int i, const double *rate, double whirl,
                     double motion[6], double bias[6]) {
    size_t n = (size_t)i, d = (size_t)data->d;
    const double *v = data->motion + 6 * n, *w = v + 3, *b = data->bias + 6 * n;
    const double *r = data->end_place + 3 * n, *local = data->end_bias + 6 * n;
    double drift[3], spin[3], wr[3], twice[3], swing[3], br[3], ws[3];
    combine(data->d, data->travel + 3 * d * n, rate, drift);
    combine(data->d, data->theta + 3 * d * n, rate, spin);
    fil_cross3(w, r, wr);
    fil_cross3(b + 3, r, br);
    fil_cross3(w, spin, ws);
    for (int c = 0; c < 3; c++) {
        twice[c] = wr[c] + 2.0 * drift[c];
    }
    fil_cross3(w, twice, swing);
    for (int c = 0; c < 3; c++) {
        motion[c] = v[c] + wr[c] + drift[c];
        motion[3 + c] = w[c] + spin[c];
        bias[c] = b[c] + br[c] + whirl * swing[c] + local[c];
        bias[3 + c] = b[3 + c] + whirl * ws[c] + local[3 + c];
    }
}

static void turn_joint(const FilRod *rod, int i, const double *before, double *turn) {
    if (rod->joints == NULL) {
        memcpy(turn, before, 9 * sizeof(double));
        return;
    }
    double joint[9];
    for (int k = 0; k < 9; k++) {
        joint[k] = rod->joints[i].axis[k % 3][k / 3];
    }
    fil_multiply3(before, joint, turn);
}

static void turn_back(const double *turn, const double in[6], double out[6]) {
    fil_apply_transposed3(turn, in, out);
    fil_apply_transposed3(turn, in + 3, out + 3);
}

static void start_at_root(const FilRod *rod, const FilReducedPass *pass, int i) {
    FilReduced *data = fil_reduced(rod);
    static const double straight[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
    double still[6] = {0.0}, fall[6] = {0.0};
    size_t n = (size_t)i;
    for (int c = 0; c < 3; c++) {
        fall[c] = -rod->gravity[c];
    }
    for (int c = 0; pass->pushed && c < 6; c++) {
        fall[c] += data->push[c];
    }
    turn_joint(rod, i, straight, data->turn + 9 * n);
    fil_multiply3(data->root_turn, data->turn + 9 * n, data->frame + 9 * n);
    fil_copy3(data->root_place, data->place + 3 * n);
    turn_back(data->frame + 9 * n, pass->moving ? data->root_rate : still, data->motion + 6 * n);
    turn_back(data->frame + 9 * n, fall, data->bias + 6 * n);
}

// Where element i starts and how it moves, from the end of its parent.
static void start_element(const FilRod *rod, const FilReducedPass *pass, int i) {
    FilReduced *data = fil_reduced(rod);
    if (data->parent[i] < 0) {
        start_at_root(rod, pass, i);
        return;
    }
    static const double still[6] = {0.0};
    size_t n = (size_t)i, p = (size_t)data->parent[i];
    double motion[6], bias[6], way[3];
    turn_joint(rod, i, data->end_turn + 9 * p, data->turn + 9 * n);
    fil_multiply3(data->frame + 9 * p, data->turn + 9 * n, data->frame + 9 * n);
    fil_apply3(data->frame + 9 * p, data->end_place + 3 * p, way);
    fil_copy3(data->place + 3 * p, data->place + 3 * n);
    fil_add3(1.0, way, data->place + 3 * n);
    move_end(data, data->parent[i], pass->moving ? data->rate + 3 * p : still, 1.0 - pass->calm,
             motion, bias);
    turn_back(data->turn + 9 * n, motion, data->motion + 6 * n);
    turn_back(data->turn + 9 * n, bias, data->bias + 6 * n);
}

static void load_start(const FilRod *rod, int first, FilElementStart *start) {
    const FilReduced *data = fil_reduced(rod);
    for (int lane = 0; lane < FIL_LANES; lane++) {
        size_t i = (size_t)lane_element(rod, first, lane);
        for (int c = 0; c < 3; c++) {
            start->v[c][lane] = data->motion[6 * i + c];
            start->w[c][lane] = data->motion[6 * i + 3 + c];
            start->bv[c][lane] = data->bias[6 * i + c];
            start->bw[c][lane] = data->bias[6 * i + 3 + c];
        }
    }
}

void fil_reduced_pass(const FilRod *rod, const FilReducedPass *pass) {
    FilReduced *data = fil_reduced(rod);
    int n = rod->element_count;
    FilElementIn in;
    FilElementWork work;
    FilElementEnd end;
    FilElementStart start;
    FilElementSums sums;
    data->sane = true;
    if (data->shares) {
        place_passing(rod, data, shared_room);
    }
    for (int first = 0; first < n; first += FIL_LANES) {
        int count = n - first < FIL_LANES ? n - first : FIL_LANES;
        load_lanes(rod, pass, first, &in);
        if (!fil_element_plan(data->d, &in, &work)) {
            data->sane = false; // straight instead, so that what is shown is finite
            memset(in.kappa, 0, sizeof in.kappa);
            work.segments = 1;
        }
        work.parts = pass->parts;
        data->kernels->end(&in, &work, &end);
        for (int lane = 0; lane < count; lane++) {
            store_end(data, &end, lane, first + lane);
            start_element(rod, pass, first + lane);
        }
        if (!pass->sums) {
            continue;
        }
        load_start(rod, first, &start);
        data->kernels->sums(&in, &start, &work, &sums);
        for (int lane = 0; lane < count; lane++) {
            store_forces(data, &sums, lane, first + lane);
            if (pass->parts != FIL_ELEMENT_FORCES) {
                store_rigid(data, &sums, lane, first + lane);
            }
            if (pass->parts == FIL_ELEMENT_ALL) {
                store_sums(data, &sums, lane, first + lane);
            }
        }
    }
    data->stale = !pass->moving;
}

void fil_reduced_update(const FilRod *rod) {
    if (fil_reduced(rod)->stale) {
        fil_reduced_pass(rod, &(FilReducedPass){.moving = true});
    }
}

void fil_reduced_refresh(FilRod *rod) {
    fil_reduced(rod)->stale = true;
    fil_reduced(rod)->measured = false;
}

double fil_reduced_spin(const FilRod *rod) {
    const FilReduced *data = fil_reduced(rod);
    double fastest = 0.0;
    for (size_t i = 0; i < (size_t)rod->element_count; i++) {
        double end[3];
        const double *start = data->motion + 6 * i + 3;
        combine(data->d, data->theta + 3 * (size_t)data->d * i, data->rate + 3 * i, end);
        fil_add3(1.0, start, end);
        fastest = fmax(fastest, fmax(fil_dot3(start, start), fil_dot3(end, end)));
    }
    return sqrt(fastest);
}

double fil_reduced_swing(const FilRod *rod) {
    const FilReduced *data = fil_reduced(rod);
    double fastest = 0.0;
    for (size_t i = 0; i < (size_t)rod->element_count; i++) {
        double end[3];
        const double *start = data->motion + 6 * i + 3, *turn = data->end_turn + 9 * i;
        const double t[3] = {turn[0], turn[3], turn[6]};
        combine(data->d, data->theta + 3 * (size_t)data->d * i, data->rate + 3 * i, end);
        fil_add3(1.0, start, end);
        fil_add3(-fil_dot3(t, end), t, end);
        fastest = fmax(fastest, start[1] * start[1] + start[2] * start[2]);
        fastest = fmax(fastest, fil_dot3(end, end));
    }
    return sqrt(fastest);
}

// --- a section inside an element -----------------------------------------------------------------

static const FilReducedSection no_section = {.turn = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}};

// What lane `lane` of a cut found of element i at the fraction u.
static void store_section(const FilReduced *data, const FilElementEnd *end, int lane, double u,
                          FilReducedSection *section) {
    store_lane(end->turn, lane, 9, section->turn);
    store_lane(end->place, lane, 3, section->place);
    store_lane(end->theta[0], lane, 3 * data->d, section->theta[0]);
    store_lane(end->travel[0], lane, 3 * data->d, section->travel[0]);
    for (int a = 3; a < data->d; a++) {
        for (int c = 0; c < 3; c++) {
            section->theta[a - 3][c] += (1.0 - u) * section->theta[a][c];
            section->travel[a - 3][c] += (1.0 - u) * section->travel[a][c];
            section->theta[a][c] *= u;
            section->travel[a][c] *= u;
        }
    }
}

// The first part of an element is an element; its end curvature is (1 - u) k0 + u k1. As many as
// there are lanes are cut at once, `which` of the places asked for.
static void cut_elements(const FilRod *rod, const FilRodPlace *places, const int *which, int count,
                         FilReducedSection *sections) {
    const FilReduced *data = fil_reduced(rod);
    FilElementIn in;
    FilElementWork work;
    FilElementEnd end;
    memset(&in, 0, sizeof in);
    for (int lane = 0; lane < FIL_LANES; lane++) {
        const FilRodPlace *place = &places[which[lane < count ? lane : 0]];
        const double *kappa = data->kappa + 3 * (size_t)place->element;
        double u = place->u;
        for (int c = 0; c < 3; c++) {
            in.kappa[c][lane] = kappa[c];
            in.kappa[3 + c][lane] = data->d == 3 ? 0.0 : (1.0 - u) * kappa[c] + u * kappa[3 + c];
        }
        in.length[lane] = u * rod->lengths[place->element];
    }
    bool sane = fil_element_plan(data->d, &in, &work);
    if (sane) {
        data->kernels->end(&in, &work, &end);
    }
    for (int lane = 0; lane < count; lane++) {
        FilReducedSection *section = &sections[which[lane]];
        *section = no_section;
        if (sane) {
            store_section(data, &end, lane, places[which[lane]].u, section);
        }
    }
}

// The end of an element, as it is kept.
static void copy_end(const FilReduced *data, int element, FilReducedSection *section) {
    size_t i = (size_t)element, columns = 3 * (size_t)data->d;
    memcpy(section->turn, data->end_turn + 9 * i, sizeof section->turn);
    memcpy(section->place, data->end_place + 3 * i, sizeof section->place);
    memcpy(section->theta, data->theta + columns * i, columns * sizeof(double));
    memcpy(section->travel, data->travel + columns * i, columns * sizeof(double));
}

void fil_reduced_sections(const FilRod *rod, const FilRodPlace *places, int count,
                          FilReducedSection *sections) {
    int which[FIL_LANES], inside = 0;
    fil_reduced_update(rod);
    for (int k = 0; k < count; k++) {
        sections[k] = no_section;
        if (places[k].u >= 1.0) {
            copy_end(fil_reduced(rod), places[k].element, &sections[k]);
        } else if (places[k].u > 0.0) {
            which[inside++] = k;
        }
        if (inside == FIL_LANES || (inside > 0 && k + 1 == count)) {
            cut_elements(rod, places, which, inside, sections);
            inside = 0;
        }
    }
}

void fil_reduced_section(const FilRod *rod, int element, double u, FilReducedSection *section) {
    fil_reduced_sections(rod, &(FilRodPlace){element, u}, 1, section);
}

// --- forces --------------------------------------------------------------------------------------

void fil_reduced_add_load(const FilRod *rod, double dt, const FilRodLoad *load) {
    FilReduced *data = fil_reduced(rod);
    double u, force[3], torque[3], arm[3];
    int i = fil_rod_locate(rod, load->s, &u);
    FilReducedSection section;
    fil_reduced_section(rod, i, u, &section);
    const double *frame = data->frame + 9 * (size_t)i;
    double *h = data->h + (6 + (size_t)data->d) * (size_t)i;
    fil_apply_transposed3(frame, load->force, force);
    fil_apply_transposed3(frame, load->torque, torque);
    fil_cross3(section.place, force, arm);
    fil_add3(dt, force, h);
    fil_add3(dt, force, data->pull + 3 * (size_t)i);
    fil_add3(dt, arm, h + 3);
    fil_add3(dt, torque, h + 3);
    for (int a = 0; a < data->d; a++) {
        h[6 + a] += dt * (fil_dot3(section.travel[a], force) + fil_dot3(section.theta[a], torque));
    }
}

void fil_reduced_add_loads(const FilRod *rod, double dt) {
    for (int k = 0; k < rod->load_count; k++) {
        fil_reduced_add_load(rod, dt, &rod->loads[k]);
    }
}

// Add the wrench on the start of element i to its parent: on what bends it, and on its start.
static void hand_to_parent(FilReduced *data, int i) {
    size_t n = (size_t)i, d = (size_t)data->d;
    const double *w = data->wrench + 6 * n;
    double force[3], torque[3], arm[3];
    fil_apply3(data->turn + 9 * n, w, force);
    fil_apply3(data->turn + 9 * n, w + 3, torque);
    if (data->parent[i] < 0) {
        fil_add3(1.0, force, data->root_wrench);
        fil_add3(1.0, torque, data->root_wrench + 3);
        return;
    }
    size_t p = (size_t)data->parent[i];
    double *h = data->h + (6 + d) * p, *up = data->wrench + 6 * p;
    for (size_t a = 0; a < d; a++) {
        h[6 + a] += fil_dot3(data->travel + 3 * (d * p + a), force) +
                    fil_dot3(data->theta + 3 * (d * p + a), torque);
    }
    fil_cross3(data->end_place + 3 * p, force, arm);
    fil_add3(1.0, force, up);
    fil_add3(1.0, arm, up + 3);
    fil_add3(1.0, torque, up + 3);
}

void fil_reduced_gather(const FilRod *rod, double *x) {
    FilReduced *data = fil_reduced(rod);
    size_t n = (size_t)rod->element_count, d = (size_t)data->d;
    memset(x, 0, sizeof(double) * (size_t)rod->dof_count);
    memset(data->root_wrench, 0, sizeof data->root_wrench);
    for (size_t i = 0; i < n; i++) {
        memcpy(data->wrench + 6 * i, data->h + (6 + d) * i, 6 * sizeof(double));
    }
    for (size_t i = n; i-- > 0;) {
        hand_to_parent(data, (int)i);
        const double *h = data->h + (6 + d) * i;
        for (size_t a = 0; a < d; a++) {
            x[(size_t)data->root + 3 * i + a] += h[6 + a];
        }
    }
    if (data->root == 6) {
        fil_apply3(data->root_turn, data->root_wrench, x);
    }
    if (data->root > 0) {
        fil_apply3(data->root_turn, data->root_wrench + 3, x + data->root - 3);
    }
}

double fil_reduced_hat(const FilRod *rod, int i, int p, int q) {
    if (fil_reduced(rod)->d == 3) {
        return rod->lengths[i];
    }
    return rod->lengths[i] / (p == q ? 3.0 : 6.0);
}

void fil_reduced_natural(const FilRod *rod, int i, int a, double natural[3]) {
    const double *ends = rod->natural + 6 * (size_t)i;
    for (int c = 0; c < 3; c++) {
        natural[c] = fil_reduced(rod)->d == 3 ? 0.5 * (ends[c] + ends[3 + c]) : ends[a + c];
    }
}

// The natural curvature is linear in the element, as the table of natural curvatures says.
void fil_reduced_elastic(const FilRod *rod, int i, double *force) {
    const FilReduced *data = fil_reduced(rod);
    const double *K = rod->sections[i].kappa, *natural = rod->natural + 6 * (size_t)i;
    const double *kappa = data->kappa + 3 * (size_t)i;
    for (int c = 0; c < 3; c++) {
        double l = rod->lengths[i];
        if (data->d == 3) {
            force[c] = l * K[c] * (kappa[c] - 0.5 * (natural[c] + natural[3 + c]));
            continue;
        }
        double e0 = kappa[c] - natural[c], e1 = kappa[3 + c] - natural[3 + c];
        force[c] = l * K[c] * (2.0 * e0 + e1) / 6.0;
        force[3 + c] = l * K[c] * (e0 + 2.0 * e1) / 6.0;
    }
}

void fil_reduced_stiffen(const FilRod *rod, int i, const double *rate, double *force) {
    int d = fil_reduced(rod)->d;
    const double *K = rod->sections[i].kappa;
    double l = rod->lengths[i];
    for (int c = 0; c < 3; c++) {
        if (d == 3) {
            force[c] = l * K[c] * rate[c];
            continue;
        }
        force[c] = l * K[c] * (2.0 * rate[c] + rate[3 + c]) / 6.0;
        force[3 + c] = l * K[c] * (rate[c] + 2.0 * rate[3 + c]) / 6.0;
    }
}
