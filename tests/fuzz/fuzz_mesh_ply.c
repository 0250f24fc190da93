// Fuzz the PLY reader. Whatever comes: no crash, no leak, no hang, a sentence for what is refused;
// and what is accepted is a mesh that can be asked.
#include "fuzz_mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_mesh(data, size, "ply\nformat ");
}
