#ifndef FIL_IO_MESH_INPUT_H
#define FIL_IO_MESH_INPUT_H

// What the readers of OBJ and PLY share: words and numbers of a text in memory, and the polygons
// that they find.

#include "base/arena.h"

typedef struct FilMeshInput {
    const char *bytes;
    size_t size, at;
    int line; // counted from 1; 0 in the binary part
    const char *name;
    FilArena scratch;
    FilError *error;

    // what was read
    double *vertices; // [vertex_count][3], in the file's unit
    int *triangles;   // [triangle_count][3]
    int vertex_count, triangle_count;
    int *corners; // room for the largest polygon
} FilMeshInput;

typedef struct FilWord {
    const char *text; // not terminated
    size_t length;
} FilWord;

/// Fail with "<file>: line <n>: <sentence>", FIL_E_FORMAT.
FilStatus fil_mesh_input_fail(const FilMeshInput *input, const char *format, ...) FIL_PRINTF(2, 3);
FilStatus fil_mesh_input_no_memory(const FilMeshInput *input);

/// The next word of this line; false at its end.
bool fil_mesh_next_word(FilMeshInput *input, FilWord *word);
/// Go to the next line; false at the end of the text.
bool fil_mesh_next_line(FilMeshInput *input);
bool fil_word_is(FilWord word, const char *text);
/// A finite number; a whole number that fits an int. The number ends where the word does, or, for a
/// whole number, at a '/'.
bool fil_word_number(FilWord word, double *value);
bool fil_word_int(FilWord word, int *value);

/// Cut a polygon of `count` corners (at least 3, in input->corners) into count - 2 triangles, which
/// go to input->triangles.
void fil_mesh_add_polygon(FilMeshInput *input, int count);

FilStatus fil_mesh_parse_obj(FilMeshInput *input) FIL_MUST_CHECK;
FilStatus fil_mesh_parse_ply(FilMeshInput *input) FIL_MUST_CHECK;

#endif
