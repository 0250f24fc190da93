// arena.c - chunked scratch memory.
//
// An arena is a list of chunks. The one in use is filled from the front; when a request does not
// fit, the next chunk is tried, and a new one is taken when none fits. Releasing to a mark only
// moves the mark; chunks go back to the allocator when the arena is destroyed. Chunks double in
// size, so their number stays small; those of a small arena are all as small as its grain.
//
// Invariants: (1) chunks after `last` hold nothing in use, whatever their `used` says; (2) a
// request that fails leaves the arena as it was, but for `failed`; (3) the chunks taken depend on
// the sequence of requests and releases alone, so that the same sequence, done again after a
// reset, finds them all.
//
// Under AddressSanitizer whatever is not handed out is poisoned, and blocks are kept a line
// apart: writing past an array, or into one that was released, stops the program.
#include "arena.h"

#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) // gcc
#define HAVE_ASAN 1
#elif defined(__has_feature)
#define HAVE_ASAN __has_feature(address_sanitizer) // clang
#else
#define HAVE_ASAN 0
#endif

#if HAVE_ASAN
#include <sanitizer/asan_interface.h>
enum { RED_ZONE = FIL_CACHE_LINE };
#else
#define ASAN_POISON_MEMORY_REGION(start, size) ((void)(start), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(start, size) ((void)(start), (void)(size))
enum { RED_ZONE = 0 };
#endif

struct FilArenaChunk {
    FilArenaChunk *next;
    size_t size; // of the whole block, header included
    size_t used; // bytes from the start of the block
};

static const size_t first_chunk = (size_t)1 << 16;
static const size_t doubling_ends = (size_t)1 << 26; // larger chunks only for larger requests

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

FilArena fil_arena_make_small(const FilAllocator *allocator, size_t grain) {
    FilArena arena = fil_arena_make(allocator);
    arena.grain = grain;
    return arena;
}

void fil_arena_destroy(FilArena *arena) {
    FilArenaChunk *chunk = arena->first;
    while (chunk != NULL) {
        FilArenaChunk *next = chunk->next;
        ASAN_UNPOISON_MEMORY_REGION(chunk, chunk->size);
        arena->allocator.resize(arena->allocator.user, chunk, chunk->size, 0);
        chunk = next;
    }
    arena->first = arena->last = NULL;
}

// Offset in the chunk, `used` bytes of which are taken, at which a block of `bytes` could start;
// 0 when it does not fit.
static size_t find_room(const FilArenaChunk *chunk, size_t used, size_t bytes) {
    const uintptr_t base = (uintptr_t)chunk;
    const uintptr_t at = (base + used + FIL_CACHE_LINE - 1) & ~(uintptr_t)(FIL_CACHE_LINE - 1);
    const size_t offset = (size_t)(at - base);
    return offset <= chunk->size && bytes <= chunk->size - offset ? offset : 0;
}

// Take a chunk with room for `bytes` from the allocator and put it at the end, after `tail`.
static FilArenaChunk *add_chunk(FilArena *arena, FilArenaChunk *tail, size_t bytes) {
    size_t size = arena->grain != 0 ? arena->grain : first_chunk;
    if (tail != NULL && arena->grain == 0) {
        size = tail->size < doubling_ends / 2 ? 2 * tail->size : doubling_ends;
    }
    const size_t need = sizeof(FilArenaChunk) + FIL_CACHE_LINE + bytes;
    if (size < need) {
        size = need;
    }
    FilArenaChunk *chunk = arena->allocator.resize(arena->allocator.user, NULL, 0, size);
    if (chunk == NULL) {
        return NULL;
    }
    *chunk = (FilArenaChunk){.size = size, .used = sizeof(FilArenaChunk)};
    ASAN_POISON_MEMORY_REGION(chunk + 1, size - sizeof(FilArenaChunk));
    *(tail != NULL ? &tail->next : &arena->first) = chunk;
    return chunk;
}

void *fil_arena_get(FilArena *arena, size_t count, size_t size) {
    if (size != 0 && count > (SIZE_MAX / 2 - 4096) / size) {
        arena->failed = true;
        return NULL;
    }
    const size_t bytes = count * size;
    FilArenaChunk *chunk = arena->last, *tail = NULL;
    size_t offset = 0;
    while (chunk != NULL && offset == 0) {
        const size_t used = tail == NULL ? chunk->used : sizeof(FilArenaChunk);
        offset = find_room(chunk, used, bytes + RED_ZONE);
        tail = chunk;
        chunk = offset == 0 ? chunk->next : chunk;
    }
    if (chunk == NULL) {
        chunk = add_chunk(arena, tail, bytes + RED_ZONE);
        if (chunk == NULL) {
            arena->failed = true;
            return NULL;
        }
        offset = find_room(chunk, chunk->used, bytes + RED_ZONE);
    }
    arena->last = chunk;
    chunk->used = offset + bytes + RED_ZONE;
    ASAN_UNPOISON_MEMORY_REGION((char *)chunk + offset, bytes);
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

// Poison all that lies after `used` in the chunk and in those that follow it.
static void poison_after(FilArenaChunk *chunk, size_t used) {
    while (RED_ZONE > 0 && chunk != NULL) {
        ASAN_POISON_MEMORY_REGION((char *)chunk + used, chunk->size - used);
        used = sizeof(FilArenaChunk);
        chunk = chunk->next;
    }
}

void fil_arena_release(FilArena *arena, FilArenaMark mark) {
    if (mark.chunk == NULL) {
        // made before the first chunk was: go back to its start
        mark = (FilArenaMark){.chunk = arena->first, .used = sizeof(FilArenaChunk)};
    }
    arena->last = mark.chunk;
    if (mark.chunk != NULL) {
        mark.chunk->used = mark.used;
        poison_after(mark.chunk, mark.used);
    }
}

void fil_arena_reset(FilArena *arena) {
    fil_arena_release(arena, (FilArenaMark){0});
    arena->failed = false;
}
