// shape.c - names, checks and moments of solid shapes.
//
// About the centre, for a cylinder of mass m, radius r and length l: m r^2 / 2 about the axis,
// m (r^2 / 4 + l^2 / 12) across. A capsule is a cylinder and a sphere cut in half, the halves moved
// out by l / 2: half a sphere has its centre at 3 r / 8 from the cut, so that the two halves add
// m_s (2 r^2 / 5 + 3 r l / 8 + l^2 / 4) across.
#include "filum/shape.h"

#include <math.h>

#include "base/error.h"
#include "collide/mesh.h"

static const double pi = 3.14159265358979323846;

const char *fil_shape_name(FilShapeKind kind) {
    static const char *const names[] = {
#define NAME(code, name, text) [code] = (name),
        FIL_SHAPE_TABLE(NAME)
#undef NAME
    };
    return (unsigned)kind < FIL_SHAPE_COUNT ? names[kind] : "unknown shape";
}

static FilStatus check_length(const FilShape *shape, const char *name, double value,
                              FilError *error) {
    if (!(value > 0.0 && value < 1e50)) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "the %s of a %s is %g; it must be positive and finite", name,
                        fil_shape_name(shape->kind), value);
    }
    return FIL_OK;
}

FilStatus fil_shape_check(const FilShape *shape, FilError *error) {
    switch (shape->kind) {
    case FIL_SHAPE_PLANE:
        return FIL_OK;
    case FIL_SHAPE_SPHERE:
        return check_length(shape, "radius", shape->radius, error);
    case FIL_SHAPE_CAPSULE:
    case FIL_SHAPE_CYLINDER:
        FIL_TRY(check_length(shape, "radius", shape->radius, error));
        return check_length(shape, "length", shape->length, error);
    case FIL_SHAPE_BOX:
        for (int k = 0; k < 3; k++) {
            FIL_TRY(check_length(shape, "size", shape->size[k], error));
        }
        return FIL_OK;
    case FIL_SHAPE_MESH:
        if (shape->mesh == NULL) {
            return fil_fail(error, FIL_E_ARGUMENT, "a shape of kind mesh has no mesh");
        }
        return FIL_OK;
    default:
        return fil_fail(error, FIL_E_ARGUMENT, "there is no shape of kind %d", (int)shape->kind);
    }
}

static void set_diagonal(FilSolidMoments *m, double along, double across) {
    m->inertia[0][0] = along;
    m->inertia[1][1] = m->inertia[2][2] = across;
}

void fil_shape_moments(const FilShape *shape, FilSolidMoments *moments) {
    const double r = shape->radius, l = shape->length;
    const double rod = pi * r * r * l, ball = 4.0 / 3.0 * pi * r * r * r; // volumes
    *moments = (FilSolidMoments){0};
    switch (shape->kind) {
    case FIL_SHAPE_SPHERE:
        moments->volume = ball;
        set_diagonal(moments, 0.4 * ball * r * r, 0.4 * ball * r * r);
        break;
    case FIL_SHAPE_CAPSULE:
        moments->volume = rod + ball;
        set_diagonal(moments, (0.5 * rod + 0.4 * ball) * r * r,
                     rod * (r * r / 4.0 + l * l / 12.0) +
                         ball * (0.4 * r * r + 0.375 * r * l + 0.25 * l * l));
        break;
    case FIL_SHAPE_CYLINDER:
        moments->volume = rod;
        set_diagonal(moments, 0.5 * rod * r * r, rod * (r * r / 4.0 + l * l / 12.0));
        break;
    case FIL_SHAPE_BOX: {
        const double *s = shape->size;
        moments->volume = s[0] * s[1] * s[2];
        for (int k = 0; k < 3; k++) {
            const double x = s[(k + 1) % 3], y = s[(k + 2) % 3];
            moments->inertia[k][k] = moments->volume * (x * x + y * y) / 12.0;
        }
        break;
    }
    case FIL_SHAPE_MESH:
        *moments = shape->mesh->moments;
        break;
    default: // a plane has none
        break;
    }
}
