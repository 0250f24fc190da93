#ifndef FIL_CLI_VALIDATE_H
#define FIL_CLI_VALIDATE_H

// The list of physics that Filum is checked against: each case compares a number that the library
// computes with one that is known otherwise. What a case is worth, where its expected value comes
// from and why it is allowed what it is: validate_grounds.c.

#include "filum/rod.h"

#include <stdbool.h>

// What a case is worth: how it is called, whether it is evidence, and what that means.
#define VALIDATION_KINDS(X)                                                               \
    X(CLOSED, "closed", true, "theory gives the expected value in closed form")           \
    X(LAW, "law", true, "a law of mechanics asks it of every motion")                     \
    X(PUBLISHED, "published", true, "the expected value is printed in the source")        \
    X(COMPUTED, "computed", true, "a program that shares no code with Filum computed it") \
    X(CONSISTENCY, "consistency", false, "Filum is compared with itself")                 \
    X(COMPARATOR, "comparator", false, "an approximation that other codes make, and what it costs")
#define VALIDATION_KIND(name, word, is_evidence, meaning) VALIDATION_##name,
typedef enum ValidationKind {
    VALIDATION_KINDS(VALIDATION_KIND) VALIDATION_KIND_COUNT
} ValidationKind;

// The grounds of all cases whose names begin with `name`, of one model or of all (NULL).
typedef struct ValidationGrounds {
    const char *name, *model;
    ValidationKind kind;
    const char *source; // where the expected value comes from
    const char *why;    // what allows more than five times the error; "" where nothing does
} ValidationGrounds;

/// The grounds of a case; NULL: nobody gave any.
const ValidationGrounds *validation_grounds(const char *name, const char *model);

typedef struct Validation {
    void (*row)(struct Validation *validation, const char *name, const char *model, int resolution,
                const double value[4], bool pass); // expected, got, error, allowed
    bool (*stopped)(void);                         // no more cases are wanted
    int passed, failed;
    int count[VALIDATION_KIND_COUNT];
    bool json;
} Validation;

/// One case: |got - expected| <= allowed.
void validate_near(Validation *v, const char *name, const char *model, int resolution,
                   double expected, double got, double allowed);
/// The same relative to the expected value.
void validate_ratio(Validation *v, const char *name, const char *model, int resolution,
                    double expected, double got, double allowed);
/// A number that must not be above `allowed`; what is expected is 0.
void validate_below(Validation *v, const char *name, const char *model, int resolution, double got,
                    double allowed);
/// A number that must be at least `least`; what it lacks is the error.
void validate_above(Validation *v, const char *name, const char *model, int resolution,
                    double least, double got);
/// A case that could not be computed at all.
void validate_fail(Validation *v, const char *name, const char *model, int resolution,
                   const FilError *error);

void validate_rod_geometry(Validation *v);
void validate_rod_statics(Validation *v);
void validate_rod_buckling(Validation *v);
void validate_rod_dynamics(Validation *v);
void validate_rod_models(Validation *v);
void validate_contact_laws(Validation *v);
void validate_contact_stacks(Validation *v);
void validate_contact_capstan(Validation *v);
void validate_contact_knots(Validation *v);
void validate_contact_momentum(Validation *v);
void validate_contact_orbit(Validation *v);
void validate_contact_twining(Validation *v);
void validate_contact_plectoneme(Validation *v);
void validate_contact_spaghetti(Validation *v);
void validate_contact_hair(Validation *v);

/// Places at s = k / count, k = 0 to count, of a rod like validate_rod() of the given weight per
/// length (along -z) and natural curvature, by shooting: none of Filum's code. False: not found.
bool validate_kirchhoff(double weight, const double natural[3], int count, double (*point)[3]);

// --- rods of the cases ---------------------------------------------------------------------------

/// A rod of length 1 m with EI1 = EI2 = 1 N m^2, GJ = 2/3, 1 kg/m, thin (radius 1 mm), root clamped
/// at the origin along x, tip free, no gravity.
FilRodDef validate_rod(FilRodModel model, int elements);

/// Create, or report the case as failed and return NULL.
FilRod *validate_create(Validation *v, const char *name, const FilRodDef *def);

/// Bring it to equilibrium, or report the case as failed and return false.
bool validate_equilibrium(Validation *v, const char *name, const FilRodDef *def, FilRod *rod);

#endif
