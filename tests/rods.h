#ifndef FIL_TESTS_RODS_H
#define FIL_TESTS_RODS_H

// What the tests of rods share: rods that can be made and stepped, their energies, memory that runs
// out.

#include <stdlib.h>

#include "check.h"
#include "failing_allocator.h"
#include "filum/rod.h"

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
