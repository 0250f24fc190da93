#ifndef FIL_SERVE_FRAMES_H
#define FIL_SERVE_FRAMES_H

// Frames as bytes: docs/viewer.md says what lies where.

#include "bytes.h"
#include "filum/look.h"
#include "route.h"

#define FIL_FRAME_HEADER 64
#define FIL_FRAME_NOW 0xffffffffU // index of a frame that is not recorded
#define FIL_CONTACT_NUMBERS 20

/// Append a frame with the arrays of `mask` that it knows. `scratch` has room for point_count.
void fil_frame_encode(const FilResultDef *def, const FilFrame *frame, uint32_t mask, uint32_t index,
                      double *scratch, FilBytes *out);

/// Append a copy of an encoded frame with those arrays only that `mask` has.
void fil_frame_select(const char *frame, size_t size, uint32_t mask, FilBytes *out);

/// Bytes of an array in a frame, with its padding.
size_t fil_frame_array_size(FilFrameArray array, uint32_t points, uint32_t rigids,
                            uint32_t obstacles, uint32_t contacts);

#endif
