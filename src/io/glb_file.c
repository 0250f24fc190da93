// glb_file.c - glTF 2.0 in its binary form (Khronos, ISO/IEC 12113).
//
//     "glTF", version 2, length of the file      3 words of 32 bits
//     length, "JSON", text, spaces up to 4 bytes
//     length, "BIN\0", data, zeros up to 4 bytes
//
// Every accessor has a view of its own. All words are little-endian.
#include "glb_file.h"

#include "base/error.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FLOATS = 5126, WORDS = 5125, FOR_VERTICES = 34962, FOR_INDICES = 34963 };
enum { CHUNK_JSON = 0x4E4F534A, CHUNK_DATA = 0x004E4942 };

// --- bytes ---------------------------------------------------------------------------------------

static char *make_room(FilGlbBytes *to, size_t more) {
    if (!to->failed && more > to->room - to->size) {
        const size_t room = 2 * to->room + more + 256;
        char *bytes =
            room > to->room ? fil_libc_allocator.resize(NULL, to->bytes, to->room, room) : NULL;
        to->failed = bytes == NULL;
        to->bytes = bytes != NULL ? bytes : to->bytes;
        to->room = bytes != NULL ? room : to->room;
    }
    return to->failed ? NULL : to->bytes + to->size;
}

static void add_bytes(FilGlbBytes *to, const void *bytes, size_t size) {
    char *place = make_room(to, size);
    if (place != NULL && size > 0) {
        memcpy(place, bytes, size);
        to->size += size;
    }
}

void fil_glb_print(FilGlbBytes *text, const char *format, ...) {
    char line[512];
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    FIL_ASSERT(length >= 0 && length < (int)sizeof line);
    add_bytes(text, line, (size_t)length);
}

void fil_glb_next(FilGlbBytes *text) {
    add_bytes(text, ",", text->size > 0 ? 1 : 0);
}

void fil_glb_print_text(FilGlbBytes *text, const char *value) {
    add_bytes(text, "\"", 1);
    for (const char *c = value; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') {
            add_bytes(text, "\\", 1);
        }
        add_bytes(text, (unsigned char)*c < 32 ? " " : c, 1);
    }
    add_bytes(text, "\"", 1);
}

static void add_word(FilGlbBytes *to, uint32_t word) {
    const unsigned char bytes[4] = {(unsigned char)(word & 255), (unsigned char)(word >> 8 & 255),
                                    (unsigned char)(word >> 16 & 255), (unsigned char)(word >> 24)};
    add_bytes(to, bytes, sizeof bytes);
}

// --- accessors -----------------------------------------------------------------------------------

static void add_view(FilGlb *glb, size_t size, int target) {
    fil_glb_next(&glb->views);
    fil_glb_print(&glb->views, "{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu",
                  glb->data.size - size, size);
    if (target != 0) {
        fil_glb_print(&glb->views, ",\"target\":%d", target);
    }
    fil_glb_print(&glb->views, "}");
    glb->view_count++;
}

static int add_accessor(FilGlb *glb, size_t count, int kind, const char *type) {
    fil_glb_next(&glb->accessors);
    fil_glb_print(&glb->accessors,
                  "{\"bufferView\":%d,\"componentType\":%d,\"count\":%zu,\"type\":\"%s\"",
                  glb->view_count - 1, kind, count, type);
    return glb->accessor_count++;
}

static void print_bounds(FilGlb *glb, const float *values, size_t count, int width) {
    for (int side = 0; side < 2; side++) {
        fil_glb_print(&glb->accessors, side == 0 ? ",\"min\":[" : "],\"max\":[");
        for (int c = 0; c < width; c++) {
            float most = values[c];
            for (size_t k = 1; k < count; k++) {
                const float value = values[k * (size_t)width + (size_t)c];
                most = side == 0 ? fminf(most, value) : fmaxf(most, value);
            }
            fil_glb_print(&glb->accessors, "%s%.9g", c > 0 ? "," : "", (double)most);
        }
    }
    fil_glb_print(&glb->accessors, "]");
}

int fil_glb_add_floats(FilGlb *glb, const float *values, size_t count, int width, FilGlbUse use) {
    static const char *const types[] = {"SCALAR", "VEC2", "VEC3", "VEC4"};
    FIL_ASSERT(count > 0 && width >= 1 && width <= 4);
    for (size_t k = 0; k < count * (size_t)width; k++) {
        uint32_t word;
        memcpy(&word, &values[k], sizeof word);
        add_word(&glb->data, word);
        glb->not_finite = glb->not_finite || !isfinite(values[k]);
    }
    const bool drawn = use == FIL_GLB_VERTICES || use == FIL_GLB_POSITIONS;
    add_view(glb, 4 * (size_t)width * count, drawn ? FOR_VERTICES : 0);
    const int accessor = add_accessor(glb, count, FLOATS, types[width - 1]);
    if (use == FIL_GLB_POSITIONS || use == FIL_GLB_TIMES) {
        print_bounds(glb, values, count, width);
    }
    fil_glb_print(&glb->accessors, "}");
    return accessor;
}

int fil_glb_add_indices(FilGlb *glb, const uint32_t *values, size_t count) {
    for (size_t k = 0; k < count; k++) {
        add_word(&glb->data, values[k]);
    }
    add_view(glb, 4 * count, FOR_INDICES);
    const int accessor = add_accessor(glb, count, WORDS, "SCALAR");
    fil_glb_print(&glb->accessors, "}");
    return accessor;
}

// --- the file ------------------------------------------------------------------------------------

static void print_array(FilGlbBytes *json, const char *name, const FilGlbBytes *items) {
    if (items->size > 0) {
        fil_glb_print(json, ",\"%s\":[", name);
        add_bytes(json, items->bytes, items->size);
        fil_glb_print(json, "]");
    }
    json->failed = json->failed || items->failed;
}

static void print_json(const FilGlb *glb, const char *generator, FilGlbBytes *json) {
    fil_glb_print(json, "{\"asset\":{\"version\":\"2.0\",\"generator\":");
    fil_glb_print_text(json, generator);
    fil_glb_print(json, "},\"scene\":0,\"scenes\":[{\"nodes\":[");
    for (int k = 0; k < glb->node_count; k++) {
        fil_glb_print(json, "%s%d", k > 0 ? "," : "", k);
    }
    fil_glb_print(json, "]}]");
    print_array(json, "nodes", &glb->nodes);
    print_array(json, "meshes", &glb->meshes);
    print_array(json, "materials", &glb->materials);
    if (glb->channels.size > 0) {
        fil_glb_print(json, ",\"animations\":[{\"name\":\"run\"");
        print_array(json, "channels", &glb->channels);
        print_array(json, "samplers", &glb->samplers);
        fil_glb_print(json, "}]");
    }
    print_array(json, "accessors", &glb->accessors);
    print_array(json, "bufferViews", &glb->views);
    fil_glb_print(json, ",\"buffers\":[{\"byteLength\":%zu}]}", glb->data.size);
    while (!json->failed && json->size % 4 != 0) {
        fil_glb_print(json, " ");
    }
    json->failed = json->failed || glb->data.failed;
}

bool fil_glb_put(FilGlb *glb, const char *generator, FilFileWriter *writer) {
    FilGlbBytes json = {.size = 0}, head = {.size = 0};
    print_json(glb, generator, &json);
    FIL_ASSERT(glb->data.size % 4 == 0); // all items are words
    const bool done = !json.failed;
    if (done) {
        add_bytes(&head, "glTF", 4);
        add_word(&head, 2);
        add_word(&head, (uint32_t)(12 + 8 + json.size + 8 + glb->data.size));
        add_word(&head, (uint32_t)json.size);
        add_word(&head, CHUNK_JSON);
    }
    const bool enough = done && !head.failed;
    if (enough) {
        fil_file_put(writer, head.bytes, head.size);
        fil_file_put(writer, json.bytes, json.size);
        head.size = 0;
        add_word(&head, (uint32_t)glb->data.size);
        add_word(&head, CHUNK_DATA);
        fil_file_put(writer, head.bytes, head.size);
        fil_file_put(writer, glb->data.bytes, glb->data.size);
    }
    fil_libc_allocator.resize(NULL, json.bytes, json.room, 0);
    fil_libc_allocator.resize(NULL, head.bytes, head.room, 0);
    return enough;
}

void fil_glb_free(FilGlb *glb) {
    enum { PARTS = 8 };
    FilGlbBytes *const parts[PARTS] = {&glb->data,   &glb->views, &glb->accessors, &glb->materials,
                                       &glb->meshes, &glb->nodes, &glb->samplers,  &glb->channels};
    for (int k = 0; k < PARTS; k++) {
        fil_libc_allocator.resize(NULL, parts[k]->bytes, parts[k]->room, 0);
    }
    *glb = (FilGlb){.view_count = 0};
}
