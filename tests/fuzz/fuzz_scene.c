// Fuzz the scene reader: JSON, units, tables, generators. Whatever comes: no crash, no leak, no
// endless work, and a refusal is one sentence. A change (--set) is taken from the first line when
// it starts with an exclamation mark.
#include "fuzz.h"

#include "filum/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long live; // bytes that the reader holds

static void *count_resize(void *user, void *block, size_t old_size, size_t new_size) {
    (void)user;
    live += (long)new_size - (long)old_size;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, new_size);
}

static void insist(bool condition, const char *what) {
    if (!condition) {
        (void)fprintf(stderr, "fuzz_scene: %s\n", what);
        abort();
    }
}

// What was accepted can be used.
static void use(const FilScene *scene) {
    insist(scene->rod_count == scene->estimate.rods, "rods were miscounted");
    insist(scene->body_count == scene->estimate.bodies, "bodies were miscounted");
    for (int k = 0; k < scene->rod_count && k < 4; k++) {
        if (scene->rods[k].def.element_count <= 1000) {
            FilRod *rod = NULL;
            FilError error;
            insist(fil_rod_create(&scene->rods[k].def, NULL, &rod, &error) == FIL_OK,
                   "an accepted rod cannot be made");
            fil_rod_destroy(rod);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char change[200];
    const char *const changes[] = {change};
    FilSceneOptions options = {.changes = changes, .memory_limit = 100000000};
    const uint8_t *end = size > 0 && data[0] == '!' ? memchr(data, '\n', size) : NULL;
    if (end != NULL && (size_t)(end - data) < sizeof change) {
        memcpy(change, data + 1, (size_t)(end - data) - 1);
        change[end - data - 1] = '\0';
        options.change_count = 1;
        size -= (size_t)(end - data) + 1;
        data = end + 1;
    }
    const FilAllocator allocator = {.resize = count_resize};
    FilError error = {0};
    FilScene *scene = NULL;
    const FilStatus status =
        fil_scene_read_text("fuzz", (const char *)data, size, &options, &allocator, &scene, &error);
    insist((status == FIL_OK) == (scene != NULL), "status and result disagree");
    insist(status == FIL_OK || (error.status == status && error.text[0] != '\0'),
           "an error without a sentence");
    if (scene != NULL) {
        use(scene);
    }
    fil_scene_destroy(scene);
    insist(live == 0, "something leaks");
    return 0;
}
