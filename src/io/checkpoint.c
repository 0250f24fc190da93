// checkpoint.c - checkpoints as plain bytes.
//
//     header    magic, format, version of the library, scene, counts, hash of all that follows it
//     state     double[state_count]
//     events    char[events_size]
//
// The numbers are the machine's own: a checkpoint continues a run where it ran, bit for bit, which
// another machine or version would not do anyway. Its byte order shows in the magic number.
//
// The hash is FNV-1a (Fowler, Noll, Vo) taken over words of 8 bytes, with the high half folded in
// after every word, because multiplication carries upwards only.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "filum/checkpoint.h"

#include "base/arena.h"
#include "base/error.h"
#include "io/atomic.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC UINT64_C(0x3150434d554c4946) // "FILUMCP1"

typedef struct Header {
    uint64_t magic;
    char version[24]; // of the library, padded with zeros
    uint64_t scene;
    int64_t step_count, frame_count, state_count, events_size;
    uint64_t hash; // of the header with this at 0, then of what follows
} Header;

// What is read: one block.
typedef struct Block {
    FilCheckpoint checkpoint;
    size_t size;
} Block;

uint64_t fil_scene_hash(const void *bytes, size_t size, uint64_t start) {
    const uint64_t prime = UINT64_C(0x100000001b3);
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ start;
    const char *next = bytes;
    for (size_t left = size; left > 0;) {
        uint64_t word = 0;
        const size_t part = left < sizeof word ? left : sizeof word;
        memcpy(&word, next, part);
        hash = (hash ^ word) * prime;
        hash ^= hash >> 32;
        next += part;
        left -= part;
    }
    return (hash ^ size) * prime; // texts that differ in zeros at their end
}

static Header make_header(const FilCheckpoint *checkpoint) {
    Header header = {.magic = MAGIC,
                     .scene = checkpoint->scene,
                     .step_count = checkpoint->step_count,
                     .frame_count = checkpoint->frame_count,
                     .state_count = checkpoint->state_count,
                     .events_size = checkpoint->events_size};
    (void)snprintf(header.version, sizeof header.version, "%s", fil_version());
    return header;
}

static uint64_t hash_all(Header header, const void *body, size_t body_size) {
    header.hash = 0;
    return fil_scene_hash(body, body_size, fil_scene_hash(&header, sizeof header, 0));
}

FilStatus fil_checkpoint_write(const char *path, const FilCheckpoint *checkpoint, FilError *error) {
    const size_t state_size = (size_t)checkpoint->state_count * sizeof(double);
    const size_t events_size = (size_t)checkpoint->events_size;
    const size_t size = sizeof(Header) + state_size + events_size;
    char *bytes = malloc(size);
    if (bytes == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "%s: a checkpoint needs %zu bytes", path, size);
    }
    char *body = bytes + sizeof(Header);
    if (state_size > 0) {
        memcpy(body, checkpoint->state, state_size);
    }
    if (events_size > 0) {
        memcpy(body + state_size, checkpoint->events, events_size);
    }
    Header header = make_header(checkpoint);
    header.hash = hash_all(header, body, state_size + events_size);
    memcpy(bytes, &header, sizeof header);
    const FilStatus status = fil_write_file(path, bytes, size, true, error);
    free(bytes);
    return status;
}

// --- reading -------------------------------------------------------------------------------------

static bool read_all(int descriptor, void *bytes, size_t size) {
    char *next = bytes;
    errno = 0;
    while (size > 0) {
        const ssize_t got = read(descriptor, next, size);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return false;
        }
        next += got;
        size -= (size_t)got;
    }
    return true;
}

static FilStatus check_header(const char *path, const Header *header, uint64_t scene, size_t size,
                              FilError *error) {
    if (header->magic != MAGIC) {
        return fil_fail(error, FIL_E_FORMAT, "%s is not a checkpoint", path);
    }
    const Header mine = make_header(&(FilCheckpoint){.scene = scene});
    if (memcmp(header->version, mine.version, sizeof mine.version) != 0) {
        return fil_fail(error, FIL_E_FORMAT,
                        "%s was written by filum %.23s; this is filum %s, which cannot resume it",
                        path, header->version, mine.version);
    }
    if (header->scene != scene) {
        return fil_fail(error, FIL_E_FORMAT,
                        "%s belongs to another scene or other options; the run cannot be resumed",
                        path);
    }
    const uint64_t body = size - sizeof *header;
    if (header->state_count < 0 || header->events_size < 0 || header->step_count < 0 ||
        header->frame_count < 0 || (uint64_t)header->events_size > body ||
        (uint64_t)header->state_count > body / sizeof(double) ||
        (uint64_t)header->state_count * sizeof(double) + (uint64_t)header->events_size != body) {
        return fil_fail(error, FIL_E_FORMAT, "%s is damaged: its sizes are inconsistent", path);
    }
    return FIL_OK;
}

static FilStatus read_body(const char *path, int descriptor, const Header *header,
                           const FilAllocator *memory, FilCheckpoint **out, FilError *error) {
    const size_t state_size = (size_t)header->state_count * sizeof(double);
    const size_t body_size = state_size + (size_t)header->events_size;
    const size_t size = sizeof(Block) + body_size + 1;
    Block *block = memory->resize(memory->user, NULL, 0, size);
    if (block == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "%s: it needs %zu bytes of memory", path, size);
    }
    char *body = (char *)(block + 1);
    body[body_size] = '\0'; // the events are a text
    FilStatus status = FIL_OK;
    if (!read_all(descriptor, body, body_size)) {
        status = fil_fail(error, FIL_E_IO, "%s: cannot read it: %s", path,
                          errno != 0 ? strerror(errno) : "it is cut off");
    } else if (hash_all(*header, body, body_size) != header->hash) {
        status = fil_fail(error, FIL_E_FORMAT, "%s is damaged: its checksum is wrong", path);
    }
    if (status != FIL_OK) {
        memory->resize(memory->user, block, size, 0);
        return status;
    }
    *block = (Block){.checkpoint = {.scene = header->scene,
                                    .step_count = header->step_count,
                                    .frame_count = header->frame_count,
                                    .state = (const double *)(const void *)body,
                                    .state_count = header->state_count,
                                    .events = body + state_size,
                                    .events_size = header->events_size},
                     .size = size};
    *out = &block->checkpoint;
    return FIL_OK;
}

FilStatus fil_checkpoint_read(const char *path, uint64_t scene, const FilAllocator *allocator,
                              FilCheckpoint **out, FilError *error) {
    const FilAllocator *memory = allocator != NULL ? allocator : &fil_libc_allocator;
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about = {.st_size = 0};
    if (descriptor < 0 || fstat(descriptor, &about) != 0) {
        const int reason = errno;
        if (descriptor >= 0) {
            (void)close(descriptor);
        }
        return fil_fail(error, FIL_E_IO, "%s: cannot read it: %s", path, strerror(reason));
    }
    Header header = {0};
    FilStatus status = FIL_OK;
    if (!S_ISREG(about.st_mode) || about.st_size < (off_t)sizeof header ||
        !read_all(descriptor, &header, sizeof header)) {
        status = fil_fail(error, FIL_E_FORMAT, "%s is not a checkpoint", path);
    } else {
        status = check_header(path, &header, scene, (size_t)about.st_size, error);
    }
    if (status == FIL_OK) {
        status = read_body(path, descriptor, &header, memory, out, error);
    }
    (void)close(descriptor);
    return status;
}

void fil_checkpoint_destroy(FilCheckpoint *checkpoint, const FilAllocator *allocator) {
    const FilAllocator *memory = allocator != NULL ? allocator : &fil_libc_allocator;
    if (checkpoint != NULL) {
        Block *block = (Block *)(void *)checkpoint;
        memory->resize(memory->user, block, block->size, 0);
    }
}
