#ifndef FIL_TESTS_FAILING_ALLOCATOR_H
#define FIL_TESTS_FAILING_ALLOCATOR_H

// Memory that runs out on demand. It fails the n-th request, or the n-th and all later ones, counts
// what is live, and checks the sizes that the library says it gives back. What it lends is filled
// with junk.
//
//     for (int n = 1;; n++) {
//         FailingAllocator memory = {.fail_at = n};
//         const FilAllocator allocator = failing_allocator(&memory);
//         const FilStatus status = fil_thing_create(&def, &allocator, &thing, &error);
//         fil_thing_destroy(thing);
//         CHECK(failing_allocator_is_clean(&memory));
//         if (memory.failures == 0) { CHECK(status == FIL_OK); break; }
//         CHECK(status == FIL_E_NO_MEMORY);
//     }

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "filum/base.h"

typedef struct FailingAllocator {
    int fail_at;    // which request fails, counted from 1; 0: none
    bool fail_once; // later requests succeed again
    int requests;   // blocks asked for or resized so far
    int failures;
    int live;          // blocks not given back
    size_t live_bytes; // in those
    size_t peak_bytes;
    int wrong_sizes; // times that old_size was not the size of the block
} FailingAllocator;

// The size of a block is kept in front of it, in a slot that keeps malloc's alignment.
typedef union FailingHeader {
    size_t size;
    max_align_t align;
} FailingHeader;

static inline void *failing_resize(void *user, void *block, size_t old_size, size_t new_size) {
    FailingAllocator *memory = user;
    FailingHeader *header = block != NULL ? (FailingHeader *)block - 1 : NULL;
    const size_t size = header != NULL ? header->size : 0;
    memory->wrong_sizes += size != old_size;
    if (new_size > 0) {
        memory->requests++;
        const bool reached = memory->fail_at > 0 && memory->requests >= memory->fail_at;
        if (reached && (!memory->fail_once || memory->requests == memory->fail_at)) {
            memory->failures++;
            return NULL;
        }
        FailingHeader *moved = realloc(header, sizeof *header + new_size);
        if (moved == NULL) {
            memory->failures++;
            return NULL;
        }
        header = moved;
        header->size = new_size;
        if (new_size > size) { // what nobody wrote is no sensible number or index
            memset((char *)(header + 1) + size, 0x5a, new_size - size);
        }
    } else {
        free(header);
        header = NULL;
    }
    memory->live += (header != NULL) - (block != NULL);
    memory->live_bytes += new_size - size;
    if (memory->peak_bytes < memory->live_bytes) {
        memory->peak_bytes = memory->live_bytes;
    }
    return header != NULL ? header + 1 : NULL;
}

static inline FilAllocator failing_allocator(FailingAllocator *memory) {
    return (FilAllocator){.resize = failing_resize, .user = memory};
}

// Everything was given back, with the right sizes.
static inline bool failing_allocator_is_clean(const FailingAllocator *memory) {
    return memory->live == 0 && memory->live_bytes == 0 && memory->wrong_sizes == 0;
}

#endif
