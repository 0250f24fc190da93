// check.c - a definition that makes no sense is refused before anything is made of it.
#include "rod.h"

#include <float.h>

#include "base/error.h"
#include "math/vec3.h"

#define MAX_ELEMENTS 10000000

static double show(double x) {
    return isnan(x) ? (double)NAN : x;
}

static FilStatus check_finite(const double *x, int count, const char *name, FilError *error) {
    for (int k = 0; k < count; k++) {
        if (!isfinite(x[k])) {
            return fil_fail(error, FIL_E_ARGUMENT, "%s[%d] is %g; it must be finite", name, k,
                            show(x[k]));
        }
    }
    return FIL_OK;
}

static FilStatus check_least(double x, double least, const char *name, FilError *error) {
    if (!(x >= least && isfinite(x))) {
        return fil_fail(error, FIL_E_ARGUMENT, "%s is %g; it must be at least %g and finite", name,
                        show(x), least);
    }
    return FIL_OK;
}

static FilStatus check_size(const FilRodDef *def, FilError *error) {
    if ((unsigned)def->model >= FIL_ROD_MODEL_COUNT) {
        return fil_fail(error, FIL_E_ARGUMENT, "model is %d; there are %d models", (int)def->model,
                        FIL_ROD_MODEL_COUNT);
    }
    if (def->element_count < 1 || def->element_count > MAX_ELEMENTS) {
        return fil_fail(error, FIL_E_ARGUMENT, "element_count is %d; it must be 1 to %d",
                        def->element_count, MAX_ELEMENTS);
    }
    if (!(def->length > 0.0 && def->length <= FIL_ROD_LENGTH)) {
        return fil_fail(error, FIL_E_ARGUMENT, "length is %g; it must be positive and at most %g m",
                        show(def->length), FIL_ROD_LENGTH);
    }
    if (def->element_lengths == NULL) {
        return FIL_OK;
    }
    double sum = 0.0;
    for (int i = 0; i < def->element_count; i++) {
        double length = def->element_lengths[i];
        if (!(length > 0.0 && isfinite(length))) {
            return fil_fail(error, FIL_E_ARGUMENT,
                            "element_lengths[%d] is %g; it must be positive and finite", i,
                            show(length));
        }
        sum += length;
    }
    if (!(fabs(sum - def->length) <= 1e-9 * def->length)) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "element_lengths add up to %g; they must add up to the length, %g", sum,
                        def->length);
    }
    return FIL_OK;
}

FilStatus fil_rod_table_check(const double *table, int count, int elements, const char *name,
                              FilError *error) {
    if (table == NULL) {
        return FIL_OK;
    }
    if (count != elements && count != elements + 1) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "%s has %d places; it must have %d, one an element, or %d, one a joint",
                        name, count, elements, elements + 1);
    }
    return check_finite(table, 3 * count, name, error);
}

FilStatus fil_rod_axes_check(const double axis[3][3], const char *name, FilError *error) {
    FIL_TRY(check_finite(axis[0], 9, name, error));
    double worst = 0.0, normal[3];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j <= i; j++) {
            worst = fmax(worst, fabs(fil_dot3(axis[i], axis[j]) - (i == j ? 1.0 : 0.0)));
        }
    }
    fil_cross3(axis[0], axis[1], normal);
    if (!(worst <= 1e-9) || fil_dot3(normal, axis[2]) < 0.0) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "%s is off by %g; the axes must be orthonormal and right-handed", name,
                        worst);
    }
    return FIL_OK;
}

static FilStatus check_joints(const FilRodDef *def, FilError *error) {
    if (def->joints == NULL) {
        return FIL_OK;
    }
    if (def->model != FIL_ROD_HELIX) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "joints are given to the model %s; only helix has trees",
                        fil_rod_model_name(def->model));
    }
    if (def->tip_end.kind != FIL_END_FREE) {
        return fil_fail(error, FIL_E_ARGUMENT, "tip_end is held; the tips of a tree must be free");
    }
    for (int i = 0; i < def->element_count; i++) {
        if (def->joints[i].parent < -1 || def->joints[i].parent >= i) {
            return fil_fail(error, FIL_E_ARGUMENT,
                            "joints[%d].parent is %d; it must be -1 or an earlier element", i,
                            def->joints[i].parent);
        }
        FIL_TRY(fil_rod_axes_check(def->joints[i].axis, "joints.axis", error));
    }
    return FIL_OK;
}

FilStatus fil_rod_loads_check(const FilRodLoad *loads, int count, double length, bool framed,
                              FilError *error) {
    if (count < 0 || (count > 0 && loads == NULL)) {
        return fil_fail(error, FIL_E_ARGUMENT, "load_count is %d; it must fit the loads given",
                        count);
    }
    for (int k = 0; k < count; k++) {
        const FilRodLoad *load = &loads[k];
        if (!(load->s >= 0.0 && load->s <= length * (1.0 + 1e-12))) {
            return fil_fail(error, FIL_E_ARGUMENT,
                            "loads[%d].s is %g; it must be between 0 and the length, %g", k,
                            show(load->s), length);
        }
        FIL_TRY(check_finite(load->force, 3, "loads.force", error));
        FIL_TRY(check_finite(load->torque, 3, "loads.torque", error));
        if (!framed && fil_norm3(load->torque) > 0.0) {
            return fil_fail(error, FIL_E_ARGUMENT,
                            "loads[%d].torque is not 0; the model chain has no frames to turn", k);
        }
    }
    return FIL_OK;
}

static FilStatus check_ends(const FilRodDef *def, FilError *error) {
    if ((unsigned)def->root_end.kind >= FIL_END_COUNT ||
        (unsigned)def->tip_end.kind >= FIL_END_COUNT) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "root_end.kind and tip_end.kind are %d and %d; there are %d kinds",
                        (int)def->root_end.kind, (int)def->tip_end.kind, FIL_END_COUNT);
    }
    FIL_TRY(check_finite(def->root.position, 3, "root.position", error));
    return fil_rod_axes_check(def->root.axis, "root.axis", error);
}

static FilStatus check_scheme(const FilRodDef *def, FilError *error) {
    if (!(def->theta >= 0.5 && def->theta <= 1.0)) {
        return fil_fail(error, FIL_E_ARGUMENT, "theta is %g; it must be between 0.5 and 1",
                        show(def->theta));
    }
    bool reduced = def->model == FIL_ROD_HELIX || def->model == FIL_ROD_CLOTHOID;
    FilRodStepKind kind = def->step_kind;
    bool fits = kind == FIL_ROD_STEP_AUTO ||
                (reduced && (kind == FIL_ROD_STEP_DENSE || kind == FIL_ROD_STEP_RECURSIVE)) ||
                (!reduced && kind == FIL_ROD_STEP_IMPLICIT) ||
                (def->model == FIL_ROD_CORDE && kind == FIL_ROD_STEP_EXPLICIT);
    if (!fits) {
        return fil_fail(error, FIL_E_ARGUMENT, "step_kind is %d; the model %s has no such step",
                        (int)kind, fil_rod_model_name(def->model));
    }
    return FIL_OK;
}

FilStatus fil_rod_def_check(const FilRodDef *def, FilError *error) {
    FIL_TRY(check_size(def, error));
    FIL_TRY(check_finite(def->natural_curvature, 3, "natural_curvature", error));
    FIL_TRY(fil_rod_table_check(def->natural_curvatures, def->natural_count, def->element_count,
                                "natural_curvatures", error));
    FIL_TRY(fil_rod_table_check(def->start_curvatures, def->start_count, def->element_count,
                                "start_curvatures", error));
    FIL_TRY(check_joints(def, error));
    FIL_TRY(check_ends(def, error));
    FIL_TRY(check_finite(def->gravity, 3, "gravity", error));
    FIL_TRY(check_least(def->damping, 0.0, "damping", error));
    FIL_TRY(check_least(def->drag, 0.0, "drag", error));
    if (!isfinite(def->growth)) {
        return fil_fail(error, FIL_E_ARGUMENT, "growth is %g; it must be finite",
                        show(def->growth));
    }
    FIL_TRY(fil_rod_loads_check(def->loads, def->load_count, def->length,
                                def->model != FIL_ROD_CHAIN, error));
    return check_scheme(def, error);
}
