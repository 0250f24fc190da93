// Chains: implicit masses and springs.
#include "nodal_checks.h"

static void derivatives_converge_at_second_order(void) {
    const FilEndKind ends[][2] = {{FIL_END_FREE, FIL_END_FREE},
                                  {FIL_END_CLAMPED, FIL_END_PINNED},
                                  {FIL_END_SLIDING, FIL_END_CLAMPED},
                                  {FIL_END_PINNED, FIL_END_SLIDING}};
    for (int k = 0; k < 4; k++) {
        FilRodDef def = unit_def(FIL_ROD_CHAIN, 4);
        def.root_end.kind = ends[k][0];
        def.tip_end.kind = ends[k][1];
        check_derivatives(def);
        check_step_matrix(def);
    }
}

static void jacobian_rows_are_those_of_the_pose(void) {
    FilRodDef def = unit_def(FIL_ROD_CHAIN, 4);
    def.tip_end.kind = FIL_END_SLIDING;
    check_jacobian(def, 0, 0.4);
    check_jacobian(def, 3, 1.0);
}

static void cantilever_frequency_converges_at_second_order(void) {
    check_frequencies(FIL_ROD_CHAIN);
}

static void heavy_cantilever_converges_at_second_order(void) {
    check_heavy_cantilever(FIL_ROD_CHAIN);
}

static void stiff_stretch_is_stable(void) {
    check_stiff_stretch(FIL_ROD_CHAIN, 1.0);
}

static void momentum_of_a_free_chain_is_kept(void) {
    check_momentum(unit_def(FIL_ROD_CHAIN, 8));
}

static void a_chain_turned_as_a_whole_does_the_same(void) {
    check_turned(unit_def(FIL_ROD_CHAIN, 8));
}

static void every_allocation_may_fail_and_steps_make_none(void) {
    check_allocations(unit_def(FIL_ROD_CHAIN, 4));
}

static void check_refused(FilRodDef def, const char *text) {
    FilRod *rod = NULL;
    FilError error = {.text = ""};
    CHECK(fil_rod_create(&def, NULL, &rod, &error) == FIL_E_ARGUMENT);
    CHECK(rod == NULL && strcmp(error.text, text) == 0);
    if (strcmp(error.text, text) != 0) {
        (void)fprintf(stderr, "%s\n", error.text);
    }
}

static void what_needs_a_frame_is_refused_by_name(void) {
    FilRodDef def = unit_def(FIL_ROD_CHAIN, 4);
    def.natural_curvature[0] = 2.0;
    check_refused(def, "natural_curvature has twist = 2 in element 0; the model chain has no "
                       "frames, it must be 0");
    def = unit_def(FIL_ROD_CHAIN, 4);
    def.natural_curvature[2] = 3.0;
    check_refused(def, "natural_curvature has kappa2 = 3 in element 0; the model chain has no "
                       "frames, it must be 0");
    def = unit_def(FIL_ROD_CHAIN, 4);
    def.section.bend[1] = 2.0;
    check_refused(def, "section of element 0 has EI1 = 1 and EI2 = 2; the model chain has no "
                       "frames, they must be equal");
    def = unit_def(FIL_ROD_CHAIN, 4);
    FilRodLoad load = {.s = 1.0, .torque = {1.0, 0.0, 0.0}};
    def.loads = &load;
    def.load_count = 1;
    check_refused(def, "loads[0].torque is not 0; the model chain has no frames to turn");
    def = unit_def(FIL_ROD_CHAIN, 1);
    def.tip_end.kind = FIL_END_CLAMPED;
    check_refused(def, "element_count is 1; with both ends held the model chain needs more");
    def = unit_def(FIL_ROD_CHAIN, 2);
    FilRod *rod = make_rod(&def);
    const double natural[6] = {0.0, 0.0, 0.0, 0.0, 1.0, 0.0};
    FilError error;
    CHECK(fil_rod_set_natural(rod, natural, 2, &error) == FIL_E_ARGUMENT);
    fil_rod_destroy(rod);
}

static void a_chain_slides_freely_as_any_body_falls(void) {
    check_free_sliding(FIL_ROD_CHAIN);
}

#define TESTS(X)                                      \
    X(derivatives_converge_at_second_order)           \
    X(jacobian_rows_are_those_of_the_pose)            \
    X(cantilever_frequency_converges_at_second_order) \
    X(heavy_cantilever_converges_at_second_order)     \
    X(stiff_stretch_is_stable)                        \
    X(momentum_of_a_free_chain_is_kept)               \
    X(a_chain_slides_freely_as_any_body_falls)        \
    X(a_chain_turned_as_a_whole_does_the_same)        \
    X(every_allocation_may_fail_and_steps_make_none)  \
    X(what_needs_a_frame_is_refused_by_name)

CHECK_MAIN(TESTS)
