// scene_strands.c - strands of .hair files as rods.
//
// A point p of the file is at + R(turn) S p in the world, where S scales and, when y is up in the
// file, turns a quarter about x: (x, y, z) becomes (x, -z, y). Points that lie where the one before
// them does are dropped; a strand whose length is not above `shortest` is left out, so that those
// without any length always are. What remains is the business of rods through points
// (scene_rods.c): a curve is laid through them and the rod fitted to it.
//
// The files are read before the scene is counted and given back when it is made.
#include "scene_build.h"

#include <math.h>
#include <stdio.h>

#include "math/rotation.h"
#include "math/vec3.h"

#define FAIL(build, record, member, ...)                                                         \
    fil_table_fail(&(build)->decoder, &fil_spec_strand, record, offsetof(FilStrandSpec, member), \
                   __VA_ARGS__)

typedef struct Placing {
    double axis[3][3]; // what the axes of the file become, scaled
    double at[3];
} Placing;

static Placing place_file(const FilStrandSpec *spec) {
    Placing placing = {.at = {spec->at[0], spec->at[1], spec->at[2]}};
    const bool y_up = spec->up == FIL_STRAND_UP_Y;
    double R[9];
    fil_rotation_exp(spec->turn, R);
    for (int k = 0; k < 3; k++) {
        const int from = !y_up || k == 0 ? k : 3 - k;
        const double sign = y_up && k == 2 ? -1.0 : 1.0; // y becomes z, z becomes -y
        for (int i = 0; i < 3; i++) {
            placing.axis[k][i] = sign * spec->scale * R[3 * i + from];
        }
    }
    return placing;
}

// The points of a strand in the world, without those that repeat the one before; `*length` of them.
static int place_strand(const FilHair *hair, int strand, const Placing *placing, FilVec3 *points,
                        double *length) {
    const int count = hair->first[strand + 1] - hair->first[strand];
    const float *from = hair->points + 3 * (size_t)hair->first[strand];
    double whole = 0.0;
    for (int i = 0; i < count; i++) {
        fil_copy3(placing->at, points[i]);
        for (int k = 0; k < 3; k++) {
            fil_add3((double)from[3 * i + k], placing->axis[k], points[i]);
        }
    }
    for (int i = 0; i + 1 < count; i++) {
        double step[3];
        fil_subtract3(points[i + 1], points[i], step);
        whole += fil_norm3(step);
    }
    int kept = 1;
    for (int i = 1; i < count; i++) {
        double step[3];
        fil_subtract3(points[i], points[kept - 1], step);
        if (fil_norm3(step) > 1e-6 * whole) {
            fil_copy3(points[i], points[kept++]);
        }
    }
    *length = whole;
    return kept;
}

static int longest_strand(const FilHair *hair) {
    int most = 0;
    for (int k = 0; k < hair->strand_count; k++) {
        const int count = hair->first[k + 1] - hair->first[k];
        most = count > most ? count : most;
    }
    return most;
}

// --------------------------------------------------------------------------------------- loading

static FilStatus choose_strands(FilSceneBuild *build, const FilStrandSpec *spec,
                                FilSceneStrands *strands) {
    const FilHair *hair = strands->hair;
    const Placing placing = place_file(spec);
    strands->taken = FIL_NEW(build->arena, int, hair->strand_count);
    FilVec3 *points = FIL_NEW(build->arena, FilVec3, longest_strand(hair));
    if (build->arena->failed) {
        return fil_scene_no_memory(build);
    }
    for (long long k = 0; k < hair->strand_count; k += spec->every) {
        double length = 0.0;
        const int count = place_strand(hair, (int)k, &placing, points, &length);
        if (!isfinite(length)) {
            return FAIL(build, spec, scale, "is %g m; strand %lld becomes too long", spec->scale,
                        k);
        }
        if (count > 1 && length > spec->shortest) {
            strands->taken[strands->count++] = (int)k;
            strands->length += length;
        }
    }
    if (strands->count == 0) {
        return FAIL(build, spec, file, "has no strand longer than %g m", spec->shortest);
    }
    return FIL_OK;
}

static FilStatus load_file(FilSceneBuild *build, const FilStrandSpec *spec,
                           FilSceneStrands *strands) {
    const char *path = fil_scene_path(build, spec->file);
    if (path == NULL) {
        return fil_scene_no_memory(build);
    }
    const FilStatus status =
        fil_hair_read(path, &build->holder->allocator, &strands->hair, build->error);
    if (status == FIL_E_NO_MEMORY) {
        return status;
    }
    if (status != FIL_OK) {
        char why[200];
        (void)snprintf(why, sizeof why, "%.199s", build->error->text);
        return FAIL(build, spec, file, "cannot be used: %s", why);
    }
    return choose_strands(build, spec, strands);
}

FilStatus fil_scene_load_strands(FilSceneBuild *build) {
    const int count = build->spec.strands.count;
    build->strands = FIL_NEW_ZEROED(build->arena, FilSceneStrands, count + 1);
    if (build->strands == NULL) {
        return fil_scene_no_memory(build);
    }
    for (int k = 0; k < count; k++) {
        FIL_TRY(load_file(build, &build->spec.strands.items[k], &build->strands[k]));
    }
    return FIL_OK;
}

void fil_scene_drop_strands(FilSceneBuild *build) {
    for (int k = 0; build->strands != NULL && k < build->spec.strands.count; k++) {
        fil_hair_destroy(build->strands[k].hair);
        build->strands[k].hair = NULL;
    }
}

// -------------------------------------------------------------------------------------- building

static FilStatus check_pattern(FilSceneBuild *build, const FilRodSpec *rod) {
    FilPose unused;
    FIL_TRY(fil_scene_pattern(build, rod, "strands", &unused));
    if (GIVEN(rod, rod, FilRodSpec, length)) {
        return fil_table_fail(&build->decoder, &fil_spec_rod, rod, offsetof(FilRodSpec, length),
                              "is given, but strands have lengths of their own");
    }
    if (rod->root.head.json != NULL &&
        (GIVEN(root, &rod->root, FilRootSpec, at) || GIVEN(root, &rod->root, FilRootSpec, along))) {
        return fil_table_fail(&build->decoder, &fil_spec_rod, rod, offsetof(FilRodSpec, root),
                              "says where rods start, and so do the strands");
    }
    return FIL_OK;
}

// The error of a rod, with the strand that it comes from.
static FilStatus fail_strand(const FilSceneBuild *build, FilStatus status, int strand,
                             const char *file) {
    FilError *error = build->error;
    if (status != FIL_E_FORMAT) {
        return status;
    }
    return fil_fail_at(error, status, error->line, error->column, "%.160s (strand %d of %.50s)",
                       error->text, strand, file);
}

static FilStatus add_strands(FilSceneBuild *build, const FilStrandSpec *spec,
                             const FilSceneStrands *strands) {
    const Placing placing = place_file(spec);
    FilRodSpec rod = spec->rod;
    FIL_TRY(check_pattern(build, &rod));
    if (rod.natural.head.json == NULL) {
        rod.natural.shape = FIL_NATURAL_START;
    }
    FilVec3 *points = FIL_NEW(build->arena, FilVec3, longest_strand(strands->hair));
    if (points == NULL) {
        return fil_scene_no_memory(build);
    }
    for (int k = 0; k < strands->count; k++) {
        double length = 0.0;
        const int count = place_strand(strands->hair, strands->taken[k], &placing, points, &length);
        const FilStatus status = fil_scene_rod_along(build, &rod, points, count, 0.0,
                                                     fil_scene_item_name(build, spec->name, k));
        if (status != FIL_OK) {
            return fail_strand(build, status, strands->taken[k], spec->file);
        }
    }
    return FIL_OK;
}

FilStatus fil_scene_build_strands(FilSceneBuild *build) {
    for (int k = 0; k < build->spec.strands.count; k++) {
        FIL_TRY(add_strands(build, &build->spec.strands.items[k], &build->strands[k]));
    }
    return FIL_OK;
}
