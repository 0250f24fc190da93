#ifndef FIL_TESTS_FUZZ_H
#define FIL_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/// What a fuzz target defines: read the input as its reader would, and return 0. It must not crash,
/// leak or hang, whatever the bytes.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
