// scene_claims.c - what a scene is said to show.
//
// Whether the names of a claim are there is looked at by those who judge it (src/claim): a change
// of the scene that takes a rod away must not keep it from being run.
#include "scene_build.h"

#include <math.h>

#include "math/vec3.h"

#define MEASURE_NAME(code, name, unit, text) name,
#define MEASURE_UNIT(code, name, unit, text) unit,
#define MEASURE_TEXT(code, name, unit, text) text,
#define TAKE_NAME(code, name) name,
static const char *const takes[] = {FIL_TAKE_TABLE(TAKE_NAME)};
static const char *const names[] = {FIL_MEASURE_TABLE(MEASURE_NAME)};
static const char *const units[] = {FIL_MEASURE_TABLE(MEASURE_UNIT)};
static const char *const texts[] = {FIL_MEASURE_TABLE(MEASURE_TEXT)};

const char *fil_measure_name(FilMeasure measure) {
    return (unsigned)measure < FIL_MEASURE_COUNT ? names[measure] : NULL;
}

const char *fil_measure_unit(FilMeasure measure) {
    return (unsigned)measure < FIL_MEASURE_COUNT ? units[measure] : NULL;
}

void fil_scene_measures_write(FILE *out) {
    (void)fprintf(out, "\n## measures\n\nWhat a claim may measure.\n\n"
                       "| measure | unit | |\n|---|---|---|\n");
    for (int k = 0; k < FIL_MEASURE_COUNT; k++) {
        (void)fprintf(out, "| `%s` | %s | %s |\n", names[k], units[k], texts[k]);
    }
}

// Fail at a field of a claim.
#define FAIL(build, spec, member, ...)                                                         \
    fil_table_fail(&(build)->decoder, &fil_spec_claim, (spec), offsetof(FilClaimSpec, member), \
                   __VA_ARGS__)

static FilStatus copy_bounds(FilSceneBuild *build, const FilClaimSpec *spec, FilSceneClaim *claim) {
    const bool low = GIVEN(claim, spec, FilClaimSpec, at_least);
    const bool high = GIVEN(claim, spec, FilClaimSpec, at_most);
    claim->at_least = low ? spec->at_least : -(double)INFINITY;
    claim->at_most = high ? spec->at_most : (double)INFINITY;
    if (!low && !high) {
        return FAIL(build, spec, at_least,
                    "is missing, and so is at_most; one of them must be "
                    "given");
    }
    if (!(claim->at_least <= claim->at_most)) {
        return FAIL(build, spec, at_least, "is %g; it must not be above at_most, %g",
                    claim->at_least, claim->at_most);
    }
    const double size = fmax(low ? fabs(spec->at_least) : 0.0, high ? fabs(spec->at_most) : 0.0);
    claim->margin = GIVEN(claim, spec, FilClaimSpec, margin) ? spec->margin : 0.1 * size;
    return FIL_OK;
}

static FilStatus copy_times(FilSceneBuild *build, const FilClaimSpec *spec, FilSceneClaim *claim) {
    const bool interval = GIVEN(claim, spec, FilClaimSpec, from);
    claim->at = GIVEN(claim, spec, FilClaimSpec, at) ? spec->at : build->spec.duration;
    claim->from = interval ? spec->from : claim->at;
    claim->take = (FilTake)spec->take;
    if (!(claim->from <= claim->at)) {
        return FAIL(build, spec, from, "is %g s; it must not be after `at`, %g s", claim->from,
                    claim->at);
    }
    if (claim->measure == FIL_MEASURE_MOVED) {
        return interval ? FIL_OK
                        : FAIL(build, spec, from, "is missing; moved is how far since then");
    }
    if (interval && claim->take == FIL_TAKE_LAST) {
        return FAIL(build, spec, take, "is \"last\"; with `from` it must be mean, least or most");
    }
    if (!interval && claim->take != FIL_TAKE_LAST) {
        return FAIL(build, spec, take, "is \"%s\"; it needs `from`, when its frames begin",
                    takes[claim->take]);
    }
    return FIL_OK;
}

static FilStatus copy_places(FilSceneBuild *build, const FilClaimSpec *spec, FilSceneClaim *claim) {
    const double length = fil_norm3(spec->axis);
    if (!(length > 0.0)) {
        return FAIL(build, spec, axis, "is [0, 0, 0]; it must have a direction");
    }
    for (int k = 0; k < 3; k++) {
        claim->axis[k] = spec->axis[k] / length;
    }
    fil_copy3(spec->through, claim->through);
    claim->part[0] = spec->part[0];
    claim->part[1] = spec->part[1];
    if (!(claim->part[0] <= claim->part[1])) {
        return FAIL(build, spec, part, "is [%g, %g]; it must go from the root towards the tip",
                    claim->part[0], claim->part[1]);
    }
    const bool thick = GIVEN(claim, spec, FilClaimSpec, radius);
    claim->radius[0] = thick ? spec->radius[0] : 0.0;
    claim->radius[1] = thick ? spec->radius[1] : (double)INFINITY;
    if (!(claim->radius[0] <= claim->radius[1])) {
        return FAIL(build, spec, radius,
                    "is [%g, %g]; it must go from the thinnest to the thickest", claim->radius[0],
                    claim->radius[1]);
    }
    claim->near = spec->near;
    if (claim->measure == FIL_MEASURE_CLUMPED && !(claim->near > 0.0)) {
        return FAIL(build, spec, near, "is missing; clumped rods are those within it of another");
    }
    return FIL_OK;
}

static FilStatus build_claim(FilSceneBuild *build, const FilClaimSpec *spec, FilSceneClaim *claim) {
    *claim = (FilSceneClaim){.origin = fil_scene_origin(&spec->head),
                             .says = spec->says,
                             .measure = (FilMeasure)spec->measure,
                             .relative = (FilRelative)spec->relative,
                             .beside = spec->beside,
                             .of = {spec->of.items, spec->of.count},
                             .on = {spec->on.items, spec->on.count},
                             .with = {spec->with.items, spec->with.count},
                             .unless = {spec->unless.items, spec->unless.count},
                             .holds_with = {spec->holds_with.items, spec->holds_with.count}};
    if (claim->beside != NULL && claim->measure != FIL_MEASURE_APART) {
        return FAIL(build, spec, beside, "is for `apart`; %s looks at one scene",
                    names[claim->measure]);
    }
    FIL_TRY(copy_bounds(build, spec, claim));
    FIL_TRY(copy_times(build, spec, claim));
    return copy_places(build, spec, claim);
}

FilStatus fil_scene_build_claims(FilSceneBuild *build) {
    const int count = build->spec.claims.count;
    FilSceneClaim *claims = FIL_NEW(build->arena, FilSceneClaim, count + 1);
    if (claims == NULL) {
        return fil_scene_no_memory(build);
    }
    for (int k = 0; k < count; k++) {
        FIL_TRY(build_claim(build, &build->spec.claims.items[k], &claims[k]));
    }
    build->holder->scene.claims = claims;
    build->holder->scene.claim_count = count;
    return FIL_OK;
}
