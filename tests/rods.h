#ifndef FIL_TESTS_RODS_H
#define FIL_TESTS_RODS_H

// What the tests of rods share: rods that can be made and stepped, their energies, memory that runs
// out.

#include <stdlib.h>

#include "check.h"
#include "failing_allocator.h"
#include "rod/rod.h"

static inline void must(FilStatus status, const FilError *error) {
    if (status != FIL_OK) {
        (void)fprintf(stderr, "%s\n", error->text);
        abort();
    }
}

static inline FilRod *make_rod(const FilRodDef *def) {
    FilRod *rod = NULL;
    FilError error;
    must(fil_rod_create(def, NULL, &rod, &error), &error);
    return rod;
}

static inline void take_step(FilRod *rod, double dt, FilRodStepInfo *info) {
    FilError error;
    must(fil_rod_step(rod, dt, info, &error), &error);
}

// 1 m of a section whose stiffness is given; all else as by default.
static inline FilRodDef metre_def(FilRodModel model, int elements, FilSection section) {
    FilRodDef def = fil_rod_def_default();
    def.model = model;
    def.element_count = elements;
    def.length = 1.0;
    def.section = section;
    def.section.kind = FIL_SECTION_GIVEN;
    return def;
}

static inline FilStaticsInfo settle(FilRod *rod) {
    FilStaticsInfo info;
    FilError error;
    must(fil_rod_equilibrium(rod, NULL, &info, &error), &error);
    CHECK(info.converged && info.stable && info.residual <= 1e-10);
    if (!info.converged) {
        (void)fprintf(stderr, "  %s: %d iterations, residual %g, eigenvalue %g\n", rod->table->name,
                      info.iterations, info.residual, info.smallest_eigenvalue);
    }
    return info;
}

static inline double potential(const FilRod *rod) {
    FilRodEnergy e;
    fil_rod_energy(rod, &e);
    return e.bend + e.twist + e.stretch + e.gravity + e.loads;
}

static inline double total(const FilRod *rod) {
    FilRodEnergy e;
    fil_rod_energy(rod, &e);
    return e.kinetic + e.bend + e.twist + e.stretch + e.gravity + e.loads;
}

// A torque of 0.5 N m at the tip turns it by 0.5 L / GJ, evenly along the rod.
static inline void check_twist(FilRodDef def) {
    const double angle = 0.5 * def.length / def.section.twist;
    def.loads = &(FilRodLoad){.s = def.length, .torque = {0.5, 0.0, 0.0}};
    def.load_count = 1;
    FilRod *rod = make_rod(&def);
    settle(rod);
    FilPose tip;
    double kappa[3];
    fil_rod_at(rod, def.length, &tip, NULL);
    CHECK_NEAR(atan2(tip.axis[1][2], tip.axis[1][1]), angle, 1e-9, 0.0);
    for (int j = 0; j < def.element_count; j++) {
        fil_rod_curvature_at(rod, j, 0.5, kappa);
        CHECK_NEAR(kappa[0], angle / def.length, 1e-9, 0.0);
    }
    fil_rod_destroy(rod);
}

// Fail the 1st, 2nd, ... allocation until the rod is made; its steps then allocate nothing.
static inline void check_allocations(FilRodDef def) {
    for (int n = 1;; n++) {
        FailingAllocator memory = {.fail_at = n};
        const FilAllocator allocator = failing_allocator(&memory);
        FilRod *rod = NULL;
        FilStatus status = fil_rod_create(&def, &allocator, &rod, NULL);
        if (status == FIL_OK) {
            int requests = memory.requests;
            for (int i = 0; i < 5; i++) {
                take_step(rod, 1e-3, NULL);
            }
            CHECK(memory.requests == requests);
        }
        CHECK((status == FIL_OK) == (rod != NULL));
        fil_rod_destroy(rod);
        CHECK(failing_allocator_is_clean(&memory));
        CHECK(status == (memory.failures == 0 ? FIL_OK : FIL_E_NO_MEMORY));
        if (memory.failures == 0) {
            return;
        }
    }
}

#endif
