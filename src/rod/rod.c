// rod.c - a rod's life: definition, creation, state, questions and changes. What depends on the
// model goes through its table (rod.h).
#include "rod.h"

#include <string.h>

#include "base/error.h"
#include "math/vec3.h"

FilRodDef fil_rod_def_default(void) {
    return (FilRodDef){
        .model = FIL_ROD_CLOTHOID,
        .element_count = 10,
        .length = 0.2,
        .section = {.kind = FIL_SECTION_ROUND,
                    .radius = 50e-6,
                    .young = 3.9e9,
                    .poisson = 0.4,
                    .density = 1300.0},
        .root = {.axis = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}},
        .root_end = {.kind = FIL_END_CLAMPED},
        .tip_end = {.kind = FIL_END_FREE},
        .gravity = {0.0, 0.0, -9.81},
        .theta = 1.0,
    };
}

void fil_rod_spread(const double *curvatures, int count, int element_count, double *out) {
    int next = count == element_count ? 0 : 1;
    for (int i = 0; i < element_count; i++) {
        for (int k = 0; k < 3; k++) {
            out[6 * i + k] = curvatures[3 * i + k];
            out[6 * i + 3 + k] = curvatures[3 * (i + next) + k];
        }
    }
}

static void spread_uniform(const double kappa[3], int element_count, double *out) {
    for (int i = 0; i < 2 * element_count; i++) {
        fil_copy3(kappa, out + 3 * (size_t)i);
    }
}

static FilStatus resolve_sections(FilRod *rod, const FilRodDef *def, FilError *error) {
    FilStiffness common;
    if (def->sections == NULL) {
        FIL_TRY(fil_section_resolve(&def->section, &common, error));
    }
    for (int i = 0; i < def->element_count; i++) {
        if (def->sections == NULL) {
            rod->sections[i] = common;
            continue;
        }
        FilError cause;
        if (fil_section_resolve(&def->sections[i], &rod->sections[i], &cause) != FIL_OK) {
            return fil_fail(error, FIL_E_ARGUMENT, "sections[%d]: %s", i, cause.text);
        }
    }
    return FIL_OK;
}

static void copy_scalars(FilRod *rod, const FilRodDef *def) {
    rod->table = fil_rod_table(def->model);
    rod->element_count = def->element_count;
    rod->model = def->model;
    rod->step_kind = def->step_kind;
    rod->quasistatic_twist = def->quasistatic_twist;
    rod->theta = def->theta;
    rod->root_end = def->root_end;
    rod->tip_end = def->tip_end;
    rod->root_start = def->root;
    rod->start_length = def->length;
    rod->growth = def->growth;
    fil_copy3(def->gravity, rod->gravity);
    rod->damping = def->damping;
    rod->drag = def->drag;
}

static FilStatus fail_memory(const FilRod *rod, FilError *error) {
    return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for a rod of %d elements",
                    rod->element_count);
}

// A model without frames is straight at rest. What round-off in points and directions leaves of a
// curvature, where a start shape is made the natural one, is 0.
static void forget_round_off(FilRod *rod) {
    for (int k = 0; !rod->table->framed && k < 6 * rod->element_count; k++) {
        if (fabs(rod->natural[k]) * rod->lengths[k / 6] <= FIL_ROD_ROUND_OFF) {
            rod->natural[k] = 0.0;
        }
    }
}

static FilStatus copy_arrays(FilRod *rod, const FilRodDef *def, FilError *error) {
    int n = def->element_count;
    rod->sections = FIL_NEW(&rod->arena, FilStiffness, n);
    rod->lengths = FIL_NEW(&rod->arena, double, n);
    rod->start_lengths = FIL_NEW(&rod->arena, double, n);
    rod->natural = FIL_NEW(&rod->arena, double, 6 * (size_t)n);
    rod->load_room = def->load_count;
    rod->loads = FIL_NEW(&rod->arena, FilRodLoad, def->load_count + 1);
    rod->load_parts = FIL_NEW(&rod->arena, double, def->load_count + 1);
    if (def->joints != NULL) {
        rod->joints = FIL_NEW(&rod->arena, FilRodJoint, n);
    }
    if (rod->arena.failed) {
        return fail_memory(rod, error);
    }
    for (int i = 0; i < n; i++) {
        double length = def->element_lengths != NULL ? def->element_lengths[i] : def->length / n;
        rod->start_lengths[i] = rod->lengths[i] = length;
    }
    if (def->joints != NULL) {
        memcpy(rod->joints, def->joints, sizeof(FilRodJoint) * (size_t)n);
    }
    if (def->load_count > 0) {
        memcpy(rod->loads, def->loads, sizeof(FilRodLoad) * (size_t)def->load_count);
    }
    for (int k = 0; k < def->load_count; k++) {
        rod->load_parts[k] = def->loads[k].s / def->length;
    }
    rod->load_count = def->load_count;
    spread_uniform(def->natural_curvature, n, rod->natural);
    rod->natural_name =
        def->natural_curvatures != NULL ? "natural_curvatures" : "natural_curvature";
    if (def->natural_curvatures != NULL) {
        fil_rod_spread(def->natural_curvatures, def->natural_count, n, rod->natural);
    }
    forget_round_off(rod);
    return resolve_sections(rod, def, error);
}

double *fil_rod_new_state(FilRod *rod, int count) {
    rod->state_count = FIL_ROD_STATE + count;
    rod->state = FIL_NEW_ZEROED(&rod->arena, double, rod->state_count);
    if (rod->state == NULL) {
        return NULL;
    }
    rod->state[1] = rod->start_length;
    return rod->state + FIL_ROD_STATE;
}

FilStatus fil_rod_reserve_step(FilRod *rod, FilError *error) {
    size_t n = (size_t)rod->dof_count, rows = (size_t)rod->row_count;
    rod->rhs = FIL_NEW_ZEROED(&rod->arena, double, n + 1);
    rod->velocity = FIL_NEW_ZEROED(&rod->arena, double, n + 1);
    rod->before = FIL_NEW_ZEROED(&rod->arena, double, n + 1);
    rod->trial = FIL_NEW_ZEROED(&rod->arena, double, n + 1);
    rod->mend = FIL_NEW_ZEROED(&rod->arena, double, n + 1);
    rod->rows = FIL_NEW_ZEROED(&rod->arena, double, rows *n + 1);
    rod->columns = FIL_NEW_ZEROED(&rod->arena, double, rows *n + 1);
    rod->row_inverse = FIL_NEW_ZEROED(&rod->arena, double, rows *rows + 1);
    rod->saved = FIL_NEW(&rod->arena, double, rod->state_count);
    rod->origin = FIL_NEW(&rod->arena, double, rod->state_count);
    return rod->arena.failed ? fail_memory(rod, error) : FIL_OK;
}

static FilStatus build(FilRod *rod, const FilRodDef *def, FilError *error) {
    FIL_TRY(copy_arrays(rod, def, error));
    double *start = FIL_NEW(&rod->arena, double, 6 * (size_t)rod->element_count);
    if (start == NULL) {
        return fail_memory(rod, error);
    }
    memcpy(start, rod->natural, sizeof(double) * 6 * (size_t)rod->element_count);
    if (def->start_curvatures != NULL) {
        fil_rod_spread(def->start_curvatures, def->start_count, rod->element_count, start);
    }
    FIL_TRY(rod->table->create(rod, start, error));
    FIL_TRY(fil_rod_reserve_step(rod, error));
    rod->table->at(rod, rod->element_count - 1, 1.0, &rod->tip_start, NULL);
    FIL_TRY(fil_rod_motions_check(rod, 0.0, error));
    if (rod->table->place_ends != NULL) {
        rod->table->place_ends(rod);
    }
    return FIL_OK;
}

FilStatus fil_rod_create(const FilRodDef *def, const FilAllocator *allocator, FilRod **out,
                         FilError *error) {
    FIL_TRY(fil_rod_def_check(def, error));
    const FilAllocator *memory = allocator != NULL ? allocator : &fil_libc_allocator;
    FilRod *rod = memory->resize(memory->user, NULL, 0, sizeof *rod);
    if (rod == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for a rod");
    }
    memset(rod, 0, sizeof *rod);
    rod->arena = fil_arena_make_small(memory, FIL_ROD_GRAIN);
    copy_scalars(rod, def);
    FilStatus status = build(rod, def, error);
    if (status != FIL_OK) {
        fil_rod_destroy(rod);
        return status;
    }
    *out = rod;
    return FIL_OK;
}

void fil_rod_destroy(FilRod *rod) {
    if (rod == NULL) {
        return;
    }
    FilAllocator memory = rod->arena.allocator;
    fil_arena_destroy(&rod->arena);
    memory.resize(memory.user, rod, sizeof *rod, 0);
}

// --- questions -----------------------------------------------------------------------------------

double fil_rod_time(const FilRod *rod) {
    return rod->state[0];
}

double fil_rod_length(const FilRod *rod) {
    return rod->state[1];
}

int fil_rod_element_count(const FilRod *rod) {
    return rod->element_count;
}

int fil_rod_dof_count(const FilRod *rod) {
    return rod->dof_count;
}

double fil_rod_largest_step(const FilRod *rod) {
    return rod->table->largest_step(rod);
}

int fil_rod_locate(const FilRod *rod, double s, double *u) {
    int last = rod->element_count - 1;
    double start = 0.0;
    for (int i = 0; i < last; i++) {
        if (s < start + rod->lengths[i]) {
            *u = fmax(0.0, (s - start) / rod->lengths[i]);
            return i;
        }
        start += rod->lengths[i];
    }
    *u = fmin(1.0, fmax(0.0, (s - start) / rod->lengths[last]));
    return last;
}

void fil_rod_element_at(const FilRod *rod, int element, double u, FilPose *pose, FilRate *rate) {
    FilPose unused;
    rod->table->at(rod, element, u, pose != NULL ? pose : &unused, rate);
}

void fil_rod_at(const FilRod *rod, double s, FilPose *pose, FilRate *rate) {
    double u;
    int element = fil_rod_locate(rod, s, &u);
    fil_rod_element_at(rod, element, u, pose, rate);
}

void fil_rod_curvature_at(const FilRod *rod, int element, double u, double kappa[3]) {
    rod->table->curvature_at(rod, element, u, kappa);
}

void fil_rod_natural_at(const FilRod *rod, int element, double u, double kappa[3]) {
    const double *ends = rod->natural + 6 * (size_t)element;
    for (int k = 0; k < 3; k++) {
        kappa[k] = (1.0 - u) * ends[k] + u * ends[3 + k];
    }
}

double fil_rod_elastic_density(const FilRod *rod, int element, double u, const double kappa[3]) {
    const double *K = rod->sections[element].kappa;
    double natural[3], sum = 0.0;
    fil_rod_natural_at(rod, element, u, natural);
    for (int k = 0; k < 3; k++) {
        sum += 0.5 * K[k] * (kappa[k] - natural[k]) * (kappa[k] - natural[k]);
    }
    return sum;
}

double fil_rod_elastic_at(const FilRod *rod, int element, double u) {
    return rod->table->elastic_at(rod, element, u);
}

void fil_rod_energy(const FilRod *rod, FilRodEnergy *energy) {
    *energy = (FilRodEnergy){0};
    rod->table->energy(rod, energy);
}

int fil_rod_state_count(const FilRod *rod) {
    return rod->state_count;
}

void fil_rod_get_state(const FilRod *rod, double *state) {
    memcpy(state, rod->state, sizeof(double) * (size_t)rod->state_count);
}

// --- changes -------------------------------------------------------------------------------------

// From the lengths at the start, so that they do not depend on the way that led to this one.
static void scale_lengths(FilRod *rod, double length) {
    double factor = length / rod->start_length;
    for (int i = 0; i < rod->element_count; i++) {
        rod->lengths[i] = factor * rod->start_lengths[i];
    }
    rod->state[1] = length;
    for (int k = 0; k < rod->load_count - rod->air_count; k++) {
        rod->loads[k].s = rod->load_parts[k] * length;
    }
    fil_rod_place_air(rod);
}

FilStatus fil_rod_set_state(FilRod *rod, const double *state, FilError *error) {
    for (int k = 0; k < rod->state_count; k++) {
        if (!isfinite(state[k])) {
            return fil_fail(error, FIL_E_ARGUMENT, "state[%d] is %g; it must be finite", k,
                            isnan(state[k]) ? (double)NAN : state[k]);
        }
    }
    if (!(state[1] > 0.0 && state[1] <= FIL_ROD_LENGTH)) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "state[1], the length, is %g; it must be positive and at most %g m",
                        state[1], FIL_ROD_LENGTH);
    }
    if (state[1] != rod->state[1]) {
        scale_lengths(rod, state[1]);
    }
    memcpy(rod->state, state, sizeof(double) * (size_t)rod->state_count);
    rod->revision++;
    rod->table->refresh(rod);
    return FIL_OK;
}

FilStatus fil_rod_set_loads(FilRod *rod, const FilRodLoad *loads, int count, FilError *error) {
    FIL_TRY(fil_rod_loads_check(loads, count, rod->state[1], rod->table->framed, error));
    FIL_TRY(fil_rod_reserve_loads(rod, count + rod->air_count, error));
    if (count > 0) {
        memmove(rod->loads, loads, sizeof(FilRodLoad) * (size_t)count);
    }
    for (int k = 0; k < count; k++) {
        rod->load_parts[k] = rod->loads[k].s / rod->state[1];
    }
    rod->load_count = count + rod->air_count;
    rod->revision++;
    fil_rod_place_air(rod);
    return FIL_OK;
}

FilStatus fil_rod_set_load_parts(FilRod *rod, const FilRodLoad *loads, int count, FilError *error) {
    FIL_TRY(fil_rod_loads_check(loads, count, 1.0, rod->table->framed, error));
    FIL_TRY(fil_rod_reserve_loads(rod, count + rod->air_count, error));
    for (int k = 0; k < count; k++) {
        rod->loads[k] = loads[k];
        rod->loads[k].s = loads[k].s * rod->state[1];
        rod->load_parts[k] = loads[k].s;
    }
    rod->load_count = count + rod->air_count;
    rod->revision++;
    fil_rod_place_air(rod);
    return FIL_OK;
}

FilStatus fil_rod_set_gravity(FilRod *rod, const double gravity[3], FilError *error) {
    for (int k = 0; k < 3; k++) {
        if (!isfinite(gravity[k])) {
            return fil_fail(error, FIL_E_ARGUMENT, "gravity[%d] is %g; it must be finite", k,
                            isnan(gravity[k]) ? (double)NAN : gravity[k]);
        }
    }
    fil_copy3(gravity, rod->gravity);
    rod->revision++;
    return FIL_OK;
}

FilStatus fil_rod_launch(FilRod *rod, const double velocity[3], const double spin[3],
                         FilError *error) {
    for (int k = 0; k < 3; k++) {
        if (!isfinite(velocity[k]) || !isfinite(spin[k])) {
            return fil_fail(error, FIL_E_ARGUMENT, "velocity and spin must be finite");
        }
    }
    if (rod->root_end.kind == FIL_END_SLIDING || rod->tip_end.kind == FIL_END_SLIDING) {
        return fil_fail(error, FIL_E_ARGUMENT, "a rod with an end that slides cannot be launched");
    }
    rod->table->launch(rod, velocity, spin);
    rod->revision++;
    return FIL_OK;
}

FilStatus fil_rod_set_natural(FilRod *rod, const double *curvatures, int count, FilError *error) {
    if (curvatures == NULL) {
        return fil_fail(error, FIL_E_ARGUMENT, "natural_curvatures is NULL; it must be a table");
    }
    FIL_TRY(
        fil_rod_table_check(curvatures, count, rod->element_count, "natural_curvatures", error));
    rod->natural_name = "natural_curvatures";
    for (int i = 0; i < count && rod->table->check_natural != NULL; i++) {
        int element = i < rod->element_count ? i : i - 1;
        FIL_TRY(rod->table->check_natural(rod, element, curvatures + 3 * (size_t)i, error));
    }
    fil_rod_spread(curvatures, count, rod->element_count, rod->natural);
    forget_round_off(rod);
    rod->revision++;
    rod->table->refresh(rod);
    return FIL_OK;
}

FilStatus fil_rod_set_length(FilRod *rod, double length, FilError *error) {
    if (!(length > 0.0 && length <= FIL_ROD_LENGTH)) {
        return fil_fail(error, FIL_E_ARGUMENT, "length is %g; it must be positive and at most %g m",
                        isnan(length) ? (double)NAN : length, FIL_ROD_LENGTH);
    }
    fil_rod_grow_to(rod, length);
    rod->revision++;
    return FIL_OK;
}

void fil_rod_grow_to(FilRod *rod, double length) {
    scale_lengths(rod, length);
    rod->table->refresh(rod);
}

FilStatus fil_rod_hold_shape(FilRod *rod, FilError *error) {
    if (rod->table->hold_shape == NULL) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "model is %s; only helix and clothoid can choose a natural shape",
                        rod->table->name);
    }
    rod->table->hold_shape(rod);
    rod->revision++;
    return FIL_OK;
}
