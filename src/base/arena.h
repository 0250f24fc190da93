#ifndef FIL_BASE_ARENA_H
#define FIL_BASE_ARENA_H

// Scratch memory: allocate by moving a mark, give all back by moving it home. An arena keeps its
// chunks, so that work of the same size, done again, allocates nothing.

#include "filum/base.h"

#define FIL_CACHE_LINE 64

typedef struct FilArenaChunk FilArenaChunk;

typedef struct FilArena {
    FilAllocator allocator;
    FilArenaChunk *first; // chunks in order of use
    FilArenaChunk *last;  // the one in use
    size_t grain; // size of its chunks; 0: the first has 64 KiB, each next one is twice as large
    bool failed;  // an allocation failed since the last reset
} FilArena;

/// A place to return to: everything allocated after it is given back at once.
typedef struct FilArenaMark {
    FilArenaChunk *chunk;
    size_t used;
} FilArenaMark;

extern const FilAllocator fil_libc_allocator;

/// Empty arena on `allocator` (NULL: libc's). No memory is taken yet.
FilArena fil_arena_make(const FilAllocator *allocator);
/// The same for one of many small things, which is filled once: chunks of `grain` bytes, so that
/// little is taken that is not used.
FilArena fil_arena_make_small(const FilAllocator *allocator, size_t grain);
void fil_arena_destroy(FilArena *arena);

/// `size` bytes, aligned to a cache line, not cleared. NULL, and arena->failed set, when there is
/// no memory or count * size overflows; so a caller may allocate many arrays and check once.
void *fil_arena_get(FilArena *arena, size_t count, size_t size);
void *fil_arena_get_zeroed(FilArena *arena, size_t count, size_t size);

/// Remember where the arena stands, and go back there.
FilArenaMark fil_arena_mark(const FilArena *arena);
void fil_arena_release(FilArena *arena, FilArenaMark mark);

/// Give everything back, keep the chunks for the next use, forget failures.
void fil_arena_reset(FilArena *arena);

#define FIL_NEW(arena, type, count) ((type *)fil_arena_get((arena), (size_t)(count), sizeof(type)))
#define FIL_NEW_ZEROED(arena, type, count) \
    ((type *)fil_arena_get_zeroed((arena), (size_t)(count), sizeof(type)))

#endif
