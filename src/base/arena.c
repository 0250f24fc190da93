// arena.c - chunked scratch memory.
//
// An arena is a list of chunks. The one in use is filled from the front; when a request does not
// fit, the next chunk is tried, and a new one is taken when none fits. Releasing to a mark only
// moves the mark; chunks go back to the allocator when the arena is destroyed. Chunks double in
// size, so their number stays small.
#include "arena.h"

#include <stdlib.h>
#include <string.h>

struct FilArenaChunk {
    FilArenaChunk *next;
    size_t size; // of the whole block, header included
    size_t used; // bytes from the start of the block
};

enum { FIRST_CHUNK = 1 << 16 };

static void *libc_resize(void *user, void *block, size_t old_size, size_t new_size) {
    (void)user;
    (void)old_size;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, new_size);
}

const FilAllocator fil_libc_allocator = {.resize = libc_resize};

FilArena fil_arena_make(const FilAllocator *allocator) {
    return (FilArena){.allocator = allocator != NULL ? *allocator : fil_libc_allocator};
}

void fil_arena_destroy(FilArena *arena) {
    FilArenaChunk *chunk = arena->first;
    while (chunk != NULL) {
        FilArenaChunk *next = chunk->next;
        arena->allocator.resize(arena->allocator.user, chunk, chunk->size, 0);
        chunk = next;
    }
    arena->first = arena->last = NULL;
}

// Offset in the chunk at which a block of `bytes` could start, or 0 when it does not fit.
static size_t find_room(const FilArenaChunk *chunk, size_t bytes) {
    const uintptr_t base = (uintptr_t)chunk;
    const uintptr_t at =
        (base + chunk->used + FIL_CACHE_LINE - 1) & ~(uintptr_t)(FIL_CACHE_LINE - 1);
    const size_t offset = (size_t)(at - base);
    return offset <= chunk->size && bytes <= chunk->size - offset ? offset : 0;
}

static FilArenaChunk *add_chunk(FilArena *arena, size_t bytes) {
    size_t size = arena->last != NULL ? 2 * arena->last->size : FIRST_CHUNK;
    const size_t need = bytes + sizeof(FilArenaChunk) + FIL_CACHE_LINE;
    if (size < need) {
        size = need;
    }
    FilArenaChunk *chunk = arena->allocator.resize(arena->allocator.user, NULL, 0, size);
    if (chunk == NULL) {
        return NULL;
    }
    *chunk = (FilArenaChunk){.size = size, .used = sizeof(FilArenaChunk)};
    if (arena->last != NULL) {
        chunk->next = arena->last->next;
        arena->last->next = chunk;
    } else {
        arena->first = chunk;
    }
    return chunk;
}

void *fil_arena_get(FilArena *arena, size_t count, size_t size) {
    if (size != 0 && count > (SIZE_MAX / 2 - 4096) / size) {
        arena->failed = true;
        return NULL;
    }
    const size_t bytes = count * size;
    FilArenaChunk *chunk = arena->last;
    size_t offset = chunk != NULL ? find_room(chunk, bytes) : 0;
    while (chunk != NULL && offset == 0 && chunk->next != NULL) {
        chunk = chunk->next;
        chunk->used = sizeof(FilArenaChunk);
        offset = find_room(chunk, bytes);
        arena->last = chunk;
    }
    if (offset == 0) {
        chunk = add_chunk(arena, bytes);
        if (chunk == NULL) {
            arena->failed = true;
            return NULL;
        }
        arena->last = chunk;
        offset = find_room(chunk, bytes);
    }
    chunk->used = offset + bytes;
    return (char *)chunk + offset;
}

void *fil_arena_get_zeroed(FilArena *arena, size_t count, size_t size) {
    void *block = fil_arena_get(arena, count, size);
    if (block != NULL) {
        memset(block, 0, count * size);
    }
    return block;
}

FilArenaMark fil_arena_mark(const FilArena *arena) {
    return (FilArenaMark){.chunk = arena->last,
                          .used = arena->last != NULL ? arena->last->used : 0};
}

void fil_arena_release(FilArena *arena, FilArenaMark mark) {
    if (mark.chunk != NULL) {
        arena->last = mark.chunk;
        mark.chunk->used = mark.used;
    } else if (arena->first != NULL) {
        arena->last = arena->first;
        arena->first->used = sizeof(FilArenaChunk);
    }
}

void fil_arena_reset(FilArena *arena) {
    fil_arena_release(arena, (FilArenaMark){0});
    arena->failed = false;
}
