// mesh_obj.c - Wavefront OBJ: the lines "v x y z" and "f a b c ...".
//
// Three passes over the text: count, read the vertices, read the faces (which may name vertices
// that come later). Corners are "a", "a/b", "a//c" or "a/b/c"; only a counts, from 1 on, or below 0
// from the last vertex so far backwards. Other lines are left alone when they start like OBJ.
#include "mesh_input.h"

#include <limits.h>
#include <string.h>

#include "base/error.h"

static void rewind_input(FilMeshInput *input) {
    input->at = 0;
    input->line = 1;
}

// At most this much of a word is shown in an error.
static int shown(FilWord word) {
    return word.length < 40 ? (int)word.length : 40;
}

static FilStatus count_lines(FilMeshInput *input) {
    size_t vertices = 0, triangles = 0, longest = 0;
    rewind_input(input);
    do {
        FilWord word;
        if (!fil_mesh_next_word(input, &word) || word.text[0] == '#') {
            continue;
        }
        const char c = word.text[0];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) {
            return fil_mesh_input_fail(input, "'%.*s' is not the start of a line of an OBJ file",
                                       shown(word), word.text);
        }
        vertices += fil_word_is(word, "v");
        if (fil_word_is(word, "f")) {
            size_t corners = 0;
            while (fil_mesh_next_word(input, &word) && word.text[0] != '#') {
                corners++;
            }
            longest = corners > longest ? corners : longest;
            triangles += corners > 2 ? corners - 2 : 0;
        }
    } while (fil_mesh_next_line(input));
    input->line = 0;
    if (vertices == 0 || triangles == 0) {
        return fil_mesh_input_fail(input, "there are no %s in this OBJ file",
                                   vertices == 0 ? "vertices" : "faces");
    }
    if (vertices > INT_MAX / 4 || triangles > INT_MAX / 4 || longest > INT_MAX / 4) {
        return fil_mesh_input_fail(input, "the mesh is too large");
    }
    input->vertices = FIL_NEW(&input->scratch, double, 3 * vertices);
    input->triangles = FIL_NEW(&input->scratch, int, 3 * triangles);
    input->corners = FIL_NEW(&input->scratch, int, longest);
    return input->scratch.failed ? fil_mesh_input_no_memory(input) : FIL_OK;
}

static FilStatus read_vertices(FilMeshInput *input) {
    rewind_input(input);
    do {
        FilWord word;
        if (!fil_mesh_next_word(input, &word) || !fil_word_is(word, "v")) {
            continue;
        }
        double *x = &input->vertices[3 * (size_t)input->vertex_count++];
        for (int k = 0; k < 3; k++) {
            if (!fil_mesh_next_word(input, &word)) {
                return fil_mesh_input_fail(input, "a vertex has %d coordinates; it must have 3", k);
            }
            if (!fil_word_number(word, &x[k])) {
                return fil_mesh_input_fail(input, "'%.*s' is not a finite number", shown(word),
                                           word.text);
            }
        }
    } while (fil_mesh_next_line(input));
    return FIL_OK;
}

static FilStatus read_face(FilMeshInput *input, int seen) {
    FilWord word;
    int count = 0;
    while (fil_mesh_next_word(input, &word) && word.text[0] != '#') {
        int index;
        if (!fil_word_int(word, &index)) {
            return fil_mesh_input_fail(input, "'%.*s' is not a corner of a face", shown(word),
                                       word.text);
        }
        const int64_t at = index < 0 ? (int64_t)seen + index : (int64_t)index - 1;
        if (index == 0 || at < 0 || at >= input->vertex_count) {
            return fil_mesh_input_fail(input, "a face has vertex %d; there are %d, counted from 1",
                                       index, index < 0 ? seen : input->vertex_count);
        }
        input->corners[count++] = (int)at;
    }
    if (count < 3) {
        return fil_mesh_input_fail(input, "a face has %d corners; it must have at least 3", count);
    }
    fil_mesh_add_polygon(input, count);
    return FIL_OK;
}

FilStatus fil_mesh_parse_obj(FilMeshInput *input) {
    FIL_TRY(count_lines(input));
    FIL_TRY(read_vertices(input));
    rewind_input(input);
    int seen = 0;
    do {
        FilWord word;
        if (!fil_mesh_next_word(input, &word)) {
            continue;
        }
        seen += fil_word_is(word, "v");
        if (fil_word_is(word, "f")) {
            FIL_TRY(read_face(input, seen));
        }
    } while (fil_mesh_next_line(input));
    return FIL_OK;
}
