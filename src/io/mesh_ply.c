// mesh_ply.c - PLY: a header that says what the elements are made of, then the elements, as text or
// in binary of either byte order.
//
// Wanted are the properties x, y, z of the element "vertex" and the list "vertex_indices" (or
// "vertex_index") of the element "face"; all else is read over. Faces are read twice, to count and
// to keep. Counts in the header are believed only as far as the rest of the file can hold them.
#include "mesh_input.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/error.h"

enum { MOST_ELEMENTS = 16, MOST_PROPERTIES = 64 };

// One table: the types, their two names and their sizes.
#define PLY_TYPES(X)                  \
    X(INT8, "char", "int8", 1)        \
    X(UINT8, "uchar", "uint8", 1)     \
    X(INT16, "short", "int16", 2)     \
    X(UINT16, "ushort", "uint16", 2)  \
    X(INT32, "int", "int32", 4)       \
    X(UINT32, "uint", "uint32", 4)    \
    X(FLOAT32, "float", "float32", 4) \
    X(FLOAT64, "double", "float64", 8)

#define PLY_ENUM(code, name, other, size) code,
typedef enum Type { PLY_TYPES(PLY_ENUM) TYPE_COUNT } Type;

static const struct {
    const char *name, *other;
    int size;
} types[] = {
#define PLY_ENTRY(code, first, second, bytes) {first, second, bytes},
    PLY_TYPES(PLY_ENTRY)
#undef PLY_ENTRY
};

typedef struct Property {
    bool list;
    Type count_type, type;
    int role; // vertex: 0 1 2 for x y z; face: 0 for the corners; -1: read over
} Property;

typedef struct Element {
    bool vertex, face;
    int count, property_count;
    Property property[MOST_PROPERTIES];
} Element;

typedef struct Ply {
    FilMeshInput *input;
    Element element[MOST_ELEMENTS];
    int element_count;
    bool binary, big_endian;
} Ply;

static int shown(FilWord word) {
    return word.length < 40 ? (int)word.length : 40;
}

// ------------------------------------------------------------------------------------- header

static FilStatus read_type(Ply *ply, Type *type) {
    FilWord word;
    if (!fil_mesh_next_word(ply->input, &word)) {
        return fil_mesh_input_fail(ply->input, "a property has no type");
    }
    for (int t = 0; t < TYPE_COUNT; t++) {
        if (fil_word_is(word, types[t].name) || fil_word_is(word, types[t].other)) {
            *type = (Type)t;
            return FIL_OK;
        }
    }
    return fil_mesh_input_fail(ply->input, "'%.*s' is not a type of a property", shown(word),
                               word.text);
}

static FilStatus read_format(Ply *ply) {
    FilWord word;
    if (!fil_mesh_next_word(ply->input, &word)) {
        return fil_mesh_input_fail(ply->input, "the format is missing");
    }
    ply->big_endian = fil_word_is(word, "binary_big_endian");
    ply->binary = ply->big_endian || fil_word_is(word, "binary_little_endian");
    if (!ply->binary && !fil_word_is(word, "ascii")) {
        return fil_mesh_input_fail(ply->input,
                                   "the format is '%.*s'; it must be ascii, binary_little_endian "
                                   "or binary_big_endian",
                                   shown(word), word.text);
    }
    return FIL_OK;
}

static FilStatus read_element(Ply *ply) {
    FilWord name, count;
    if (ply->element_count == MOST_ELEMENTS) {
        return fil_mesh_input_fail(ply->input, "there are more than %d elements", MOST_ELEMENTS);
    }
    Element *element = &ply->element[ply->element_count++];
    *element = (Element){0};
    if (!fil_mesh_next_word(ply->input, &name) || !fil_mesh_next_word(ply->input, &count)) {
        return fil_mesh_input_fail(ply->input, "an element needs a name and a count");
    }
    if (!fil_word_int(count, &element->count) || element->count < 0) {
        return fil_mesh_input_fail(ply->input, "'%.*s' is not a count of elements", shown(count),
                                   count.text);
    }
    element->vertex = fil_word_is(name, "vertex");
    element->face = fil_word_is(name, "face");
    return FIL_OK;
}

static int find_role(const Element *element, const Property *property, FilWord name) {
    static const char *const axes[] = {"x", "y", "z"};
    for (int k = 0; k < 3 && element->vertex && !property->list; k++) {
        if (fil_word_is(name, axes[k])) {
            return k;
        }
    }
    const bool corners = fil_word_is(name, "vertex_indices") || fil_word_is(name, "vertex_index");
    return element->face && property->list && corners ? 0 : -1;
}

static FilStatus read_property(Ply *ply) {
    FilMeshInput *input = ply->input;
    if (ply->element_count == 0) {
        return fil_mesh_input_fail(input, "a property comes before the first element");
    }
    Element *element = &ply->element[ply->element_count - 1];
    if (element->property_count == MOST_PROPERTIES) {
        return fil_mesh_input_fail(input, "an element has more than %d properties",
                                   MOST_PROPERTIES);
    }
    Property *property = &element->property[element->property_count++];
    const size_t before = input->at;
    FilWord word;
    *property = (Property){.list = fil_mesh_next_word(input, &word) && fil_word_is(word, "list")};
    if (property->list) {
        FIL_TRY(read_type(ply, &property->count_type));
        if (property->count_type >= FLOAT32) {
            return fil_mesh_input_fail(input, "the count of a list must be a whole number");
        }
    } else {
        input->at = before;
    }
    FIL_TRY(read_type(ply, &property->type));
    if (!fil_mesh_next_word(input, &word)) {
        return fil_mesh_input_fail(input, "a property has no name");
    }
    property->role = find_role(element, property, word);
    return FIL_OK;
}

static FilStatus read_header(Ply *ply) {
    FilMeshInput *input = ply->input;
    bool formatted = false;
    while (fil_mesh_next_line(input)) { // the first line is "ply"
        FilWord word;
        if (!fil_mesh_next_word(input, &word) || fil_word_is(word, "comment") ||
            fil_word_is(word, "obj_info")) {
            continue;
        }
        if (fil_word_is(word, "end_header")) {
            if (!formatted) {
                return fil_mesh_input_fail(input, "the header has no format");
            }
            (void)fil_mesh_next_line(input);
            return FIL_OK;
        }
        if (fil_word_is(word, "format")) {
            FIL_TRY(read_format(ply));
            formatted = true;
        } else if (fil_word_is(word, "element")) {
            FIL_TRY(read_element(ply));
        } else if (fil_word_is(word, "property")) {
            FIL_TRY(read_property(ply));
        } else {
            return fil_mesh_input_fail(input, "'%.*s' does not belong in the header of a PLY file",
                                       shown(word), word.text);
        }
    }
    return fil_mesh_input_fail(input, "the header has no end");
}

// --------------------------------------------------------------------------------------- data

static double decode(Type type, const unsigned char *bytes, bool big_endian) {
    uint64_t bits = 0;
    const int size = types[type].size;
    for (int k = 0; k < size; k++) {
        bits |= (uint64_t)bytes[k] << 8 * (big_endian ? size - 1 - k : k);
    }
    if (type == FLOAT64) {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    if (type == FLOAT32) {
        const uint32_t half = (uint32_t)bits;
        float value;
        memcpy(&value, &half, sizeof value);
        return value;
    }
    const bool is_signed = type == INT8 || type == INT16 || type == INT32;
    const uint64_t sign = (uint64_t)1 << (8 * size - 1);
    return is_signed && (bits & sign) != 0 ? -(double)(2 * sign - bits) : (double)bits;
}

static FilStatus read_value(Ply *ply, Type type, double *value) {
    FilMeshInput *input = ply->input;
    if (ply->binary) {
        const size_t size = (size_t)types[type].size;
        if (input->size - input->at < size) {
            return fil_mesh_input_fail(input, "the file ends in the middle of its data");
        }
        *value = decode(type, (const unsigned char *)input->bytes + input->at, ply->big_endian);
        input->at += size;
        return FIL_OK;
    }
    FilWord word;
    while (!fil_mesh_next_word(input, &word)) { // numbers may go over several lines
        if (!fil_mesh_next_line(input)) {
            return fil_mesh_input_fail(input, "the file ends in the middle of its data");
        }
    }
    if (!fil_word_number(word, value)) {
        return fil_mesh_input_fail(input, "'%.*s' is not a finite number", shown(word), word.text);
    }
    return FIL_OK;
}

// The least bytes that an element takes, for counts that cannot be true.
static size_t get_least_size(const Ply *ply, const Element *element) {
    size_t size = 0;
    for (int k = 0; k < element->property_count; k++) {
        const Property *p = &element->property[k];
        size += ply->binary ? (size_t)types[p->list ? p->count_type : p->type].size : 2;
    }
    return size;
}

static FilStatus read_count(Ply *ply, const Property *property, int *count) {
    double value;
    FIL_TRY(read_value(ply, property->count_type, &value));
    const size_t least = ply->binary ? (size_t)types[property->type].size : 1;
    const size_t left = (ply->input->size - ply->input->at) / least;
    if (!(value >= 0.0 && value <= (double)left && value < INT_MAX / 4 && value == floor(value))) {
        return fil_mesh_input_fail(ply->input,
                                   "a list has %g values, of which the file has no more than %zu",
                                   value, left);
    }
    *count = (int)value;
    return FIL_OK;
}

// One element that is read over, or a vertex, whose coordinates go to x.
static FilStatus read_plain(Ply *ply, const Element *element, double *x) {
    for (int k = 0; k < element->property_count; k++) {
        const Property *property = &element->property[k];
        int count = 1;
        double value;
        if (property->list) {
            FIL_TRY(read_count(ply, property, &count));
        }
        for (int i = 0; i < count; i++) {
            FIL_TRY(read_value(ply, property->type, &value));
        }
        if (x != NULL && property->role >= 0) {
            x[property->role] = value;
        }
    }
    return FIL_OK;
}

static FilStatus read_vertices(Ply *ply, const Element *element) {
    FilMeshInput *input = ply->input;
    int axes = 0;
    for (int k = 0; k < element->property_count; k++) {
        axes |= element->property[k].role >= 0 ? 1 << element->property[k].role : 0;
    }
    if (axes != 7) {
        return fil_mesh_input_fail(input, "the vertices lack one of the properties x, y, z");
    }
    if (input->vertices != NULL) {
        return fil_mesh_input_fail(input, "there are two elements called vertex");
    }
    input->vertices = FIL_NEW(&input->scratch, double, 3 * (size_t)element->count);
    if (input->vertices == NULL) {
        return fil_mesh_input_no_memory(input);
    }
    for (; input->vertex_count < element->count; input->vertex_count++) {
        double *x = &input->vertices[3 * (size_t)input->vertex_count];
        FIL_TRY(read_plain(ply, element, x));
        if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2])) {
            return fil_mesh_input_fail(input, "vertex %d is not finite", input->vertex_count);
        }
    }
    return FIL_OK;
}

// One face; its corners go to input->corners when that is there. Writes how many.
static FilStatus read_face(Ply *ply, const Element *element, int *corners) {
    FilMeshInput *input = ply->input;
    for (int k = 0; k < element->property_count; k++) {
        const Property *property = &element->property[k];
        int count = 1;
        if (property->list) {
            FIL_TRY(read_count(ply, property, &count));
        }
        for (int i = 0; i < count; i++) {
            double value;
            FIL_TRY(read_value(ply, property->type, &value));
            if (property->role < 0) {
                continue;
            }
            if (!(value >= 0.0 && value < input->vertex_count && value == floor(value))) {
                return fil_mesh_input_fail(input,
                                           "a face has vertex %g; there are %d, counted from 0",
                                           value, input->vertex_count);
            }
            if (input->corners != NULL) {
                input->corners[i] = (int)value;
            }
        }
        *corners = property->role == 0 ? count : *corners;
    }
    return FIL_OK;
}

static FilStatus read_faces(Ply *ply, const Element *element) {
    FilMeshInput *input = ply->input;
    int lists = 0;
    for (int k = 0; k < element->property_count; k++) {
        lists += element->property[k].role == 0;
    }
    if (lists != 1 || input->vertices == NULL || input->triangles != NULL) {
        return fil_mesh_input_fail(input, lists != 1 ? "faces need one list vertex_indices"
                                          : input->vertices == NULL
                                              ? "the faces come before the vertices"
                                              : "there are two elements called face");
    }
    const size_t at = input->at;
    const int line = input->line;
    size_t triangles = 0;
    int longest = 0, corners = 0;
    for (int i = 0; i < element->count; i++) {
        FIL_TRY(read_face(ply, element, &corners));
        if (corners < 3) {
            return fil_mesh_input_fail(input, "face %d has %d corners; it must have at least 3", i,
                                       corners);
        }
        triangles += (size_t)corners - 2;
        longest = corners > longest ? corners : longest;
    }
    if (triangles > INT_MAX / 4) {
        return fil_mesh_input_fail(input, "the mesh is too large");
    }
    input->at = at;
    input->line = line;
    input->triangles = FIL_NEW(&input->scratch, int, 3 * triangles);
    input->corners = FIL_NEW(&input->scratch, int, longest);
    if (input->scratch.failed) {
        return fil_mesh_input_no_memory(input);
    }
    for (int i = 0; i < element->count; i++) {
        FIL_TRY(read_face(ply, element, &corners));
        fil_mesh_add_polygon(input, corners);
    }
    return FIL_OK;
}

FilStatus fil_mesh_parse_ply(FilMeshInput *input) {
    Ply ply = {.input = input};
    input->line = 1;
    FIL_TRY(read_header(&ply));
    input->line = ply.binary ? 0 : input->line;
    for (int k = 0; k < ply.element_count; k++) {
        const Element *element = &ply.element[k];
        const size_t least = get_least_size(&ply, element), left = input->size - input->at + 1;
        if (least > 0 && (size_t)element->count > left / least) {
            return fil_mesh_input_fail(input, "the header says %d %s, more than the file holds",
                                       element->count,
                                       element->vertex ? "vertices"
                                       : element->face ? "faces"
                                                       : "elements");
        }
        if (element->vertex) {
            FIL_TRY(read_vertices(&ply, element));
        } else if (element->face) {
            FIL_TRY(read_faces(&ply, element));
        } else {
            for (int i = 0; i < element->count && least > 0; i++) {
                FIL_TRY(read_plain(&ply, element, NULL));
            }
        }
    }
    input->line = 0;
    if (input->triangle_count == 0) {
        return fil_mesh_input_fail(input, "there are no faces in this PLY file");
    }
    return FIL_OK;
}
