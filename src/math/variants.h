// variants.h - the kernels of one file for every set of instructions, and the choice between them.
// A template: a source file includes it once, where its kernels belong, after
//     #define FIL_KERNEL_FILE "rod/der_kernels.h"
// That file is compiled once for each variant. It sees
//     FIL_KERNEL(name)   the variant's name of a function
//     FIL_TARGET         the attribute that lets the compiler use its instructions
//     FIL_VARIANT        its name
//     FIL_WIDTH          doubles in its vectors, 2 or 4
// and defines FIL_KERNEL(kernels), the table of what the variant can do.
//
// The variants are chosen by hand and not by ifunc (target_clones), whose resolvers run before the
// sanitizers are ready.

#define FIL_KERNEL(name) portable_##name
#define FIL_TARGET
#define FIL_VARIANT "portable"
#define FIL_WIDTH 2
#include FIL_KERNEL_FILE
#undef FIL_KERNEL
#undef FIL_TARGET
#undef FIL_VARIANT
#undef FIL_WIDTH

#if defined(__x86_64__)
#define FIL_KERNEL(name) avx2_##name
#define FIL_TARGET __attribute__((target("avx2")))
#define FIL_VARIANT "avx2"
#define FIL_WIDTH 4
#include FIL_KERNEL_FILE
#undef FIL_KERNEL
#undef FIL_TARGET
#undef FIL_VARIANT
#undef FIL_WIDTH
#endif
#undef FIL_KERNEL_FILE

// How many of the variants this processor runs; the last is the fastest.
static int count_variants(void) {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") ? 2 : 1;
#else
    return 1;
#endif
}

// Variant `index` of `table`, which is kernels or begins with it: kernels[1]. NULL past the last.
#if defined(__x86_64__)
#define CHOOSE_VARIANT(index, table)                                \
    ((index) < 0 || (index) >= count_variants() ? NULL              \
     : (index) == 0                             ? &portable_##table \
                                                : &avx2_##table)
#else
#define CHOOSE_VARIANT(index, table) ((index) == 0 ? &portable_##table : NULL)
#endif
