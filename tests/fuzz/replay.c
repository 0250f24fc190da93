// replay.c - runs a fuzz target without a fuzzer: on the files of a folder, and on a few inputs
// that every reader must survive.
#define _POSIX_C_SOURCE 200809L
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int replay_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return 1;
    }
    uint8_t *data = NULL;
    size_t size = 0, room = 0;
    do {
        room = 2 * room + 4096;
        uint8_t *more = realloc(data, room);
        if (more == NULL) {
            break;
        }
        data = more;
        size += fread(data + size, 1, room - size, file);
    } while (size == room);
    const int unread = ferror(file) != 0 || data == NULL || size == room;
    (void)fclose(file);
    if (!unread) {
        (void)LLVMFuzzerTestOneInput(data, size);
    }
    free(data);
    return unread;
}

static void replay_simple_inputs(void) {
    uint8_t *data = malloc(4096);
    if (data != NULL) {
        for (size_t size = 0; size <= 4096; size = 2 * size + (size == 0)) {
            memset(data, 0, size);
            (void)LLVMFuzzerTestOneInput(data, size);
            memset(data, 0xff, size);
            (void)LLVMFuzzerTestOneInput(data, size);
        }
        free(data);
    }
}

int main(int argc, char **argv) {
    replay_simple_inputs();
    int passed = 1, failed = 0;
    DIR *folder = argc > 1 ? opendir(argv[1]) : NULL; // no folder: no seeds yet
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.') {
            continue;
        }
        char path[4096];
        (void)snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
        const int unread = replay_file(path);
        *(unread ? &failed : &passed) += 1;
        (void)printf("%s %s\n", unread ? "FAIL" : "ok  ", path);
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    (void)printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed != 0;
}
