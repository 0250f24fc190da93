// section.c - the stiffness and inertia of a cross-section.
//
// Round of radius a: I = pi a^4 / 4, J = 2 I. Hollow: the same of the outer minus the inner radius.
// Elliptic with half-axes a1, a2 along n1, n2: I1 = pi a1 a2^3 / 4, I2 = pi a1^3 a2 / 4 (about n1
// and n2), J = pi a1^3 a2^3 / (a1^2 + a2^2) (Saint-Venant). The inertia about the tangent is
// density (I1 + I2) in all cases.
#include "rod.h"

#include "base/error.h"
#include "math/vec3.h"

static const double pi = 3.14159265358979323846;

static FilStatus check_positive(double value, const char *name, FilError *error) {
    if (!(value > 0.0 && isfinite(value))) {
        return fil_fail(error, FIL_E_ARGUMENT, "%s is %g; it must be positive and finite", name,
                        isnan(value) ? (double)NAN : value);
    }
    return FIL_OK;
}

// So that no power of a size that is used here leaves the range of numbers.
static FilStatus check_size(double value, const char *name, FilError *error) {
    if (!(value >= 1e-40 && value <= 1e40)) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "%s is %g; it must be positive, at least 1e-40 and at most 1e40 m", name,
                        isnan(value) ? (double)NAN : value);
    }
    return FIL_OK;
}

static FilStatus check_material(const FilSection *section, FilError *error) {
    FIL_TRY(check_positive(section->young, "section.young", error));
    FIL_TRY(check_positive(section->density, "section.density", error));
    if (!(section->poisson > -1.0 && section->poisson <= 0.5)) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "section.poisson is %g; it must be above -1 and at most 0.5",
                        isnan(section->poisson) ? (double)NAN : section->poisson);
    }
    return FIL_OK;
}

static FilStatus check_shape(const FilSection *section, FilError *error) {
    if (section->kind == FIL_SECTION_ELLIPTIC) {
        if (section->radii[0] == 0.0 && section->radii[1] == 0.0) {
            return fil_fail(error, FIL_E_ARGUMENT,
                            "section.radii are 0 and 0; a section must not be flat in both "
                            "directions");
        }
        FIL_TRY(check_size(section->radii[0], "section.radii[0]", error));
        return check_size(section->radii[1], "section.radii[1]", error);
    }
    FIL_TRY(check_size(section->radius, "section.radius", error));
    if (section->kind == FIL_SECTION_HOLLOW &&
        !(section->inner_radius >= 0.0 && section->inner_radius < section->radius)) {
        return fil_fail(
            error, FIL_E_ARGUMENT,
            "section.inner_radius is %g; it must be at least 0 and below the radius, %g",
            isnan(section->inner_radius) ? (double)NAN : section->inner_radius, section->radius);
    }
    return FIL_OK;
}

static void use_shape(const FilSection *section, FilStiffness *out) {
    bool round = section->kind != FIL_SECTION_ELLIPTIC;
    double a = round ? section->radius : section->radii[0];
    double b = round ? section->radius : section->radii[1];
    double area = pi * a * b;
    double I1 = 0.25 * pi * a * b * b * b;
    double I2 = 0.25 * pi * a * a * a * b;
    double J = pi * (a * a * a) * (b * b * b) / (a * a + b * b);
    if (section->kind == FIL_SECTION_HOLLOW) {
        double c = section->inner_radius / section->radius;
        area *= 1.0 - c * c;
        I1 *= 1.0 - c * c * c * c;
        I2 = I1;
        J = I1 + I2;
    }
    double shear = section->young / (2.0 * (1.0 + section->poisson));
    out->kappa[0] = shear * J;
    out->kappa[1] = section->young * I1;
    out->kappa[2] = section->young * I2;
    out->stretch = section->young * area;
    out->mass = section->density * area;
    out->spin_inertia = section->density * (I1 + I2);
    out->radius = fmax(a, b);
    out->size[0] = a != b ? 2.0 * a : 0.0;
    out->size[1] = a != b ? 2.0 * b : 0.0;
}

static FilStatus use_given(const FilSection *section, FilStiffness *out, FilError *error) {
    FIL_TRY(check_positive(section->bend[0], "section.bend[0]", error));
    FIL_TRY(check_positive(section->bend[1], "section.bend[1]", error));
    FIL_TRY(check_positive(section->twist, "section.twist", error));
    FIL_TRY(check_positive(section->mass, "section.mass", error));
    FIL_TRY(check_size(section->radius, "section.radius", error));
    if (section->stretch != 0.0) {
        FIL_TRY(check_positive(section->stretch, "section.stretch", error));
    }
    if (section->spin_inertia != 0.0) {
        FIL_TRY(check_positive(section->spin_inertia, "section.spin_inertia", error));
    }
    double square = section->radius * section->radius;
    out->kappa[0] = section->twist;
    out->kappa[1] = section->bend[0];
    out->kappa[2] = section->bend[1];
    out->mass = section->mass;
    out->stretch = section->stretch > 0.0 ? section->stretch
                                          : 4.0 * fmax(section->bend[0], section->bend[1]) / square;
    out->spin_inertia =
        section->spin_inertia > 0.0 ? section->spin_inertia : 0.5 * section->mass * square;
    out->radius = section->radius;
    out->size[0] = out->size[1] = 0.0;
    return FIL_OK;
}

// Products of legal numbers may still leave the range of numbers.
static FilStatus check_range(const FilStiffness *s, FilError *error) {
    const double values[] = {s->kappa[0], s->kappa[1], s->kappa[2],
                             s->stretch,  s->mass,     s->spin_inertia};
    static const char *const names[] = {"GJ",          "EI1", "EI2", "EA", "mass per length",
                                        "spin inertia"};
    for (int k = 0; k < 6; k++) {
        if (!(values[k] > 1e-100 && values[k] < 1e100)) {
            return fil_fail(error, FIL_E_ARGUMENT,
                            "section gives %s = %g; it must be between 1e-100 and 1e100", names[k],
                            values[k]);
        }
    }
    return FIL_OK;
}

FilStatus fil_section_resolve(const FilSection *section, FilStiffness *out, FilError *error) {
    if ((unsigned)section->kind >= FIL_SECTION_COUNT) {
        return fil_fail(error, FIL_E_ARGUMENT, "section.kind is %d; there are %d kinds",
                        (int)section->kind, FIL_SECTION_COUNT);
    }
    if (section->kind == FIL_SECTION_GIVEN) {
        FIL_TRY(use_given(section, out, error));
    } else {
        FIL_TRY(check_shape(section, error));
        FIL_TRY(check_material(section, error));
        use_shape(section, out);
    }
    return check_range(out, error);
}
