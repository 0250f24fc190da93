#include "check.h"
#include "filum/rod.h"

#include <math.h>
#include <string.h>

// A definition with one mistake, and what the sentence must say.
typedef struct Mistake {
    void (*make)(FilRodDef *def);
    const char *field, *value, *rule;
} Mistake;

static FilSection bad_sections[10];
static double table[3 * 11];
static FilRodLoad load;
static FilRodJoint joints[10];

static void zero_length(FilRodDef *def) {
    def->length = 0.0;
}
static void negative_length(FilRodDef *def) {
    def->length = -1.0;
}
static void nan_length(FilRodDef *def) {
    def->length = (double)NAN;
}
static void zero_radius(FilRodDef *def) {
    def->section.radius = 0.0;
}
static void negative_young(FilRodDef *def) {
    def->section.young = -3e9;
}
static void zero_density(FilRodDef *def) {
    def->section.density = 0.0;
}
static void large_poisson(FilRodDef *def) {
    def->section.poisson = 0.7;
}
static void thick_hole(FilRodDef *def) {
    def->section.kind = FIL_SECTION_HOLLOW;
    def->section.inner_radius = def->section.radius;
}
static void flat_section(FilRodDef *def) {
    def->section.kind = FIL_SECTION_ELLIPTIC;
}
static void no_stiffness(FilRodDef *def) {
    def->section.kind = FIL_SECTION_GIVEN;
    def->section.bend[0] = 1.0;
}
static void bad_seventh_section(FilRodDef *def) {
    for (int k = 0; k < 10; k++) {
        bad_sections[k] = def->section;
    }
    bad_sections[7].radius = -1.0;
    def->sections = bad_sections;
}
static void no_elements(FilRodDef *def) {
    def->element_count = 0;
}
static void wrong_table(FilRodDef *def) {
    def->natural_curvatures = table;
    def->natural_count = 9;
}
static void nan_in_table(FilRodDef *def) {
    def->start_curvatures = table;
    def->start_count = 11;
    table[4] = (double)NAN;
}
static void infinite_gravity(FilRodDef *def) {
    def->gravity[1] = HUGE_VAL;
}
static void skew_root(FilRodDef *def) {
    def->root.axis[1][0] = 0.1;
}
static void mirrored_root(FilRodDef *def) {
    def->root.axis[2][2] = -1.0;
}
static void negative_damping(FilRodDef *def) {
    def->damping = -1.0;
}
static void small_theta(FilRodDef *def) {
    def->theta = 0.4;
}
static void far_load(FilRodDef *def) {
    load = (FilRodLoad){.s = 1.0};
    def->loads = &load;
    def->load_count = 1;
}
static void torque_on_a_chain(FilRodDef *def) {
    load = (FilRodLoad){.s = 0.1, .torque = {1.0, 0.0, 0.0}};
    def->model = FIL_ROD_CHAIN;
    def->loads = &load;
    def->load_count = 1;
}
static void tree_of_clothoids(FilRodDef *def) {
    def->joints = joints;
}
static void explicit_helix(FilRodDef *def) {
    def->model = FIL_ROD_HELIX;
    def->step_kind = FIL_ROD_STEP_EXPLICIT;
}
static void no_radius_at_all(FilRodDef *def) {
    def->section.radius = 1e-200; // whose powers are 0 / 0
}
static void endless_ellipse(FilRodDef *def) {
    def->section.kind = FIL_SECTION_ELLIPTIC;
    def->section.radii[0] = 1e-3;
    def->section.radii[1] = 1e200;
}
static void nan_poisson(FilRodDef *def) {
    def->section.poisson = -(double)NAN;
}
static void tiny_stiffness(FilRodDef *def) {
    def->section.radius = 1e-30;
}

static const Mistake mistakes[] = {
    {zero_length, "length", "0", "positive"},
    {negative_length, "length", "-1", "positive"},
    {nan_length, "length", "nan", "positive"},
    {zero_radius, "section.radius", "0", "positive"},
    {negative_young, "section.young", "-3e+09", "positive"},
    {zero_density, "section.density", "0", "positive"},
    {large_poisson, "section.poisson", "0.7", "at most 0.5"},
    {thick_hole, "section.inner_radius", "5e-05", "below the radius"},
    {flat_section, "section.radii", "0 and 0", "flat in both"},
    {no_stiffness, "section.bend[1]", "0", "positive"},
    {bad_seventh_section, "sections[7]", "-1", "positive"},
    {no_elements, "element_count", "0", "1 to"},
    {wrong_table, "natural_curvatures", "9 places", "10, one an element, or 11"},
    {nan_in_table, "start_curvatures[4]", "nan", "finite"},
    {infinite_gravity, "gravity[1]", "inf", "finite"},
    {skew_root, "root.axis", "0.1", "orthonormal"},
    {mirrored_root, "root.axis", "", "right-handed"},
    {negative_damping, "damping", "-1", "at least 0"},
    {small_theta, "theta", "0.4", "between 0.5 and 1"},
    {far_load, "loads[0].s", "1", "between 0 and the length"},
    {torque_on_a_chain, "loads[0].torque", "not 0", "no frames"},
    {tree_of_clothoids, "joints", "clothoid", "only helix"},
    {explicit_helix, "step_kind", "", "helix has no such step"},
    {no_radius_at_all, "section.radius", "1e-200", "at least 1e-40"},
    {endless_ellipse, "section.radii[1]", "1e+200", "at most 1e40 m"},
    {nan_poisson, "section.poisson", "is nan", "at most 0.5"},
    {tiny_stiffness, "section gives GJ", "", "between"},
};

static void every_mistake_gets_a_sentence_with_field_value_and_rule(void) {
    for (size_t k = 0; k < sizeof mistakes / sizeof *mistakes; k++) {
        FilRodDef def = fil_rod_def_default();
        FilRod *rod = NULL;
        FilError error = {0};
        memset(table, 0, sizeof table);
        mistakes[k].make(&def);
        CHECK(fil_rod_create(&def, NULL, &rod, &error) == FIL_E_ARGUMENT);
        CHECK(strstr(error.text, "-nan") == NULL);
        CHECK(rod == NULL && error.status == FIL_E_ARGUMENT);
        bool says = strstr(error.text, mistakes[k].field) != NULL &&
                    strstr(error.text, mistakes[k].value) != NULL &&
                    strstr(error.text, mistakes[k].rule) != NULL;
        CHECK(says);
        if (!says) {
            (void)fprintf(stderr, "  said: %s\n", error.text);
        }
    }
}

#define TESTS(X) X(every_mistake_gets_a_sentence_with_field_value_and_rule)
CHECK_MAIN(TESTS)
