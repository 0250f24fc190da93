// hdf_check.c - a walk through the structure of an HDF5 file, before HDF5 opens it.
//
// HDF5 1.10.8 trusts much of what it reads: a group whose heap has no address makes it copy to
// NULL, a free list that bites its tail never ends. Fuzzing our reader found the first within a
// minute. So the skeleton of the file is walked first, as the format specification (version 3.0,
// The HDF Group) lays it out:
//
//     superblock -> root entry -> object header -> messages -> ... group: B-tree + local heap
//                                                                  -> nodes of entries -> headers
//                                              -> ... dataset: dataspace, type, layout, B-tree
//
// Checked are: all addresses and lengths lie in the file, signatures and versions are right, names
// end inside their heap, free lists end, trees lose a level at every step, and only kinds of
// messages occur that plain files have. A budget and a depth bound the walk, whatever the links.
//
// Files of the newer format (superblock 2 and 3, headers "OHDR") carry checksums over their
// metadata, which HDF5 verifies; they are passed on. What this cannot give is safety against a file
// made to attack that newer path: whoever opens files from enemies should do so in a sandbox.
#include "hdf_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NOWHERE UINT64_MAX // HDF5's undefined address

enum {
    DEPTH_MAX = 24,
    VISITS_MAX = 1 << 16,
    CHUNKS_MAX = 64, // of one object header
    RANK_MAX = 32
};

enum { // kinds of messages
    MESSAGE_NIL = 0x00,
    MESSAGE_DATASPACE = 0x01,
    MESSAGE_LINKS = 0x02,
    MESSAGE_DATATYPE = 0x03,
    MESSAGE_OLD_FILL = 0x04,
    MESSAGE_FILL = 0x05,
    MESSAGE_LINK = 0x06,
    MESSAGE_EXTERNAL = 0x07,
    MESSAGE_LAYOUT = 0x08,
    MESSAGE_GROUP_INFO = 0x0a,
    MESSAGE_FILTERS = 0x0b,
    MESSAGE_ATTRIBUTE = 0x0c,
    MESSAGE_COMMENT = 0x0d,
    MESSAGE_OLD_TIME = 0x0e,
    MESSAGE_CONTINUATION = 0x10,
    MESSAGE_GROUP = 0x11,
    MESSAGE_TIME = 0x12,
};

typedef struct Walk {
    const uint8_t *bytes; // from the superblock on: addresses count from there
    uint64_t size;
    int visits;
    int group_width, leaf_width, chunk_width; // most children of a node
    FilHdfReason reason;
} Walk;

typedef struct Heap {
    uint64_t data, size;
} Heap;

static bool fail(Walk *w, uint64_t where, const char *fault) {
    if (w->reason.text[0] == '\0') { // the first fault counts
        (void)snprintf(w->reason.text, sizeof w->reason.text, "%s (byte %" PRIu64 ")", fault,
                       where);
    }
    return false;
}

static bool is_inside(const Walk *w, uint64_t at, uint64_t length) {
    return at <= w->size && length <= w->size - at;
}

static uint64_t get(const Walk *w, uint64_t at, int count) {
    uint64_t value = 0;
    for (int k = count - 1; k >= 0; k--) {
        value = value << 8 | w->bytes[at + (uint64_t)k];
    }
    return value;
}

static bool has_sign(const Walk *w, uint64_t at, const char *sign) {
    return is_inside(w, at, 4) && memcmp(w->bytes + at, sign, 4) == 0;
}

// One more structure is visited; false when there have been too many.
static bool visit(Walk *w, uint64_t at, int depth) {
    return (depth <= DEPTH_MAX && w->visits++ < VISITS_MAX) ||
           fail(w, at, "its links go in circles");
}

static bool check_header(Walk *w, uint64_t at, int depth);

// ------------------------------------------------------------------------------------------ groups

// The free list: every block says where the next is and how large it is; offset 1 ends it.
static bool check_free_list(Walk *w, const Heap *heap, uint64_t next) {
    for (uint64_t steps = 0; next != 1; steps++) {
        if (next >= heap->size || heap->size - next < 16 || steps > heap->size / 16) {
            return fail(w, heap->data, "the free list of a heap is damaged");
        }
        const uint64_t length = get(w, heap->data + next + 8, 8);
        if (length < 16 || length > heap->size - next) {
            return fail(w, heap->data + next, "the free list of a heap is damaged");
        }
        next = get(w, heap->data + next, 8);
    }
    return true;
}

static bool check_heap(Walk *w, uint64_t at, Heap *heap) {
    if (!has_sign(w, at, "HEAP") || !is_inside(w, at, 32) || w->bytes[at + 4] != 0) {
        return fail(w, at, "a group has no heap of names");
    }
    *heap = (Heap){.size = get(w, at + 8, 8), .data = get(w, at + 24, 8)};
    if (!is_inside(w, heap->data, heap->size)) {
        return fail(w, at, "a heap of names is outside the file");
    }
    return check_free_list(w, heap, get(w, at + 16, 8));
}

static bool check_name(Walk *w, const Heap *heap, uint64_t offset) {
    return (offset < heap->size &&
            memchr(w->bytes + heap->data + offset, 0, (size_t)(heap->size - offset)) != NULL) ||
           fail(w, heap->data, "a name is outside its heap");
}

// What an entry remembers of the object: nothing, a group's tree and heap, or a soft link's path.
static bool check_cached(Walk *w, uint64_t at, const Heap *heap) {
    const uint64_t kind = get(w, at + 16, 4);
    if (kind == 1) {
        Heap cached;
        return has_sign(w, get(w, at + 24, 8), "TREE")
                   ? check_heap(w, get(w, at + 32, 8), &cached)
                   : fail(w, at, "a group has no tree of entries");
    }
    if (kind == 2) {
        return heap != NULL ? check_name(w, heap, get(w, at + 24, 4))
                            : fail(w, at, "the root is a link");
    }
    return kind == 0 || fail(w, at, "an entry is of unknown kind");
}

// One entry of a group, or the root (`heap` NULL).
static bool check_entry(Walk *w, uint64_t at, const Heap *heap, int depth) {
    if ((heap != NULL && !check_name(w, heap, get(w, at, 8))) || !check_cached(w, at, heap)) {
        return false;
    }
    return get(w, at + 16, 4) == 2 || check_header(w, get(w, at + 8, 8), depth + 1);
}

static bool check_entries(Walk *w, uint64_t at, const Heap *heap, int depth) {
    const uint64_t room = 8 + 40 * (uint64_t)w->leaf_width;
    if (!has_sign(w, at, "SNOD") || !is_inside(w, at, room) || w->bytes[at + 4] != 1 ||
        get(w, at + 6, 2) > (uint64_t)w->leaf_width) {
        return fail(w, at, "a node of a group is damaged");
    }
    const uint64_t count = get(w, at + 6, 2);
    for (uint64_t k = 0; k < count; k++) {
        if (!check_entry(w, at + 8 + 40 * k, heap, depth)) {
            return false;
        }
    }
    return true;
}

// A B-tree of a group (with `heap`) or of chunks (of `rank`, without). `level` -1: any.
typedef struct Tree {
    const Heap *heap;
    int rank;
} Tree;

static bool check_tree(Walk *w, uint64_t at, const Tree *tree, int level, int depth) {
    const bool group = tree->heap != NULL;
    const uint64_t key = group ? 8 : 8 + 8 * (uint64_t)tree->rank;
    const uint64_t width = (uint64_t)(group ? w->group_width : w->chunk_width);
    if (!visit(w, at, depth)) {
        return false;
    }
    if (!has_sign(w, at, "TREE") || !is_inside(w, at, 24 + width * (key + 8) + key) ||
        w->bytes[at + 4] != (group ? 0 : 1) || get(w, at + 6, 2) > width ||
        (level >= 0 && w->bytes[at + 5] != level)) {
        return fail(w, at, "a tree is damaged");
    }
    const uint64_t count = get(w, at + 6, 2);
    for (uint64_t k = 0; k < count; k++) {
        const uint64_t entry = at + 24 + k * (key + 8), child = get(w, entry + key, 8);
        bool good = false;
        if (w->bytes[at + 5] > 0) {
            good = check_tree(w, child, tree, w->bytes[at + 5] - 1, depth + 1);
        } else if (group) {
            good = check_name(w, tree->heap, get(w, entry, 8)) &&
                   check_entries(w, child, tree->heap, depth);
        } else {
            good = is_inside(w, child, get(w, entry, 4)) ||
                   fail(w, entry, "a chunk is outside the file");
        }
        if (!good) {
            return false;
        }
    }
    return true;
}

static bool check_group(Walk *w, uint64_t tree, uint64_t heap_at, int depth) {
    Heap heap;
    return check_heap(w, heap_at, &heap) && check_tree(w, tree, &(Tree){.heap = &heap}, -1, depth);
}

// ---------------------------------------------------------------------------------------- messages

static bool check_dataspace(Walk *w, uint64_t at, uint64_t size) {
    const uint64_t version = size >= 4 ? w->bytes[at] : 0, rank = size >= 4 ? w->bytes[at + 1] : 0;
    const uint64_t lists = size >= 4 && (w->bytes[at + 2] & 1) != 0 ? 2 : 1;
    const uint64_t head = version == 1 ? 8 : 4;
    return ((version == 1 || version == 2) && rank <= RANK_MAX &&
            size >= head + 8 * rank * lists) ||
           fail(w, at, "a dataspace is damaged");
}

// Integers and reals have a fixed description; other types are left to HDF5.
static bool check_datatype(Walk *w, uint64_t at, uint64_t size) {
    const int kind = size >= 8 ? w->bytes[at] & 15 : -1;
    return (kind >= 0 &&
            size >= (kind == 0   ? 12u
                     : kind == 1 ? 20u
                                 : 8u) &&
            get(w, at + 4, 4) > 0) ||
           fail(w, at, "a datatype is damaged");
}

static bool check_layout(Walk *w, uint64_t at, uint64_t size, int depth) {
    if (size < 4 || w->bytes[at] != 3) {
        return fail(w, at, "a dataset has a layout of unknown version");
    }
    const int kind = w->bytes[at + 1];
    if (kind == 0) { // compact: here
        return get(w, at + 2, 2) <= size - 4 || fail(w, at, "a compact dataset is too long");
    }
    if (kind == 1 && size >= 18) { // contiguous: one stretch, or nothing yet
        const uint64_t data = get(w, at + 2, 8);
        return data == NOWHERE || is_inside(w, data, get(w, at + 10, 8)) ||
               fail(w, at, "the data of a dataset are outside the file");
    }
    if (kind == 2 && size >= 11) { // chunks: a tree of them, or none yet
        const int rank = w->bytes[at + 2];
        const uint64_t tree = get(w, at + 3, 8);
        if (rank < 2 || rank > RANK_MAX + 1 || size < 11 + 4 * (uint64_t)rank) {
            return fail(w, at, "the chunks of a dataset are damaged");
        }
        return tree == NOWHERE || check_tree(w, tree, &(Tree){.rank = rank}, -1, depth + 1);
    }
    return fail(w, at, "a dataset has a layout of unknown kind");
}

// A link kept in the header of its group: flags say which fields there are.
static bool check_link(Walk *w, uint64_t at, uint64_t size, int depth) {
    const uint64_t end = at + size;
    const int flags = size >= 4 && w->bytes[at] == 1 ? w->bytes[at + 1] : -1;
    if (flags < 0 || flags > 31) {
        return fail(w, at, "a link is damaged");
    }
    uint64_t next = at + 2;
    const bool hard = (flags & 8) == 0 || w->bytes[next] == 0;
    next += ((flags & 8) != 0 ? 1 : 0) + ((flags & 4) != 0 ? 8 : 0) + ((flags & 16) != 0 ? 1 : 0);
    const int width = 1 << (flags & 3);
    if (next > end || end - next < (uint64_t)width) {
        return fail(w, at, "a link is damaged");
    }
    const uint64_t length = get(w, next, width);
    next += (uint64_t)width;
    if (length == 0 || length > end - next || end - next - length < (hard ? 8 : 2)) {
        return fail(w, at, "a link is damaged");
    }
    next += length;
    if (hard) {
        return check_header(w, get(w, next, 8), depth + 1);
    }
    return get(w, next, 2) <= end - next - 2 || fail(w, at, "a link is damaged");
}

static bool check_message(Walk *w, int kind, uint64_t at, uint64_t size, int depth) {
    switch (kind) {
    case MESSAGE_DATASPACE:
        return check_dataspace(w, at, size);
    case MESSAGE_DATATYPE:
        return check_datatype(w, at, size);
    case MESSAGE_LAYOUT:
        return check_layout(w, at, size, depth);
    case MESSAGE_LINK:
        return check_link(w, at, size, depth);
    case MESSAGE_GROUP:
        return size >= 16 ? check_group(w, get(w, at, 8), get(w, at + 8, 8), depth)
                          : fail(w, at, "a group is damaged");
    case MESSAGE_NIL:
    case MESSAGE_LINKS:
    case MESSAGE_GROUP_INFO:
    case MESSAGE_OLD_FILL:
    case MESSAGE_FILL:
    case MESSAGE_EXTERNAL: // refused later, with the name of the dataset
    case MESSAGE_FILTERS:
    case MESSAGE_ATTRIBUTE:
    case MESSAGE_COMMENT:
    case MESSAGE_OLD_TIME:
    case MESSAGE_TIME:
        return true;
    default:
        return fail(w, at, "an object has a property that friction problems do not have");
    }
}

// The stretches of one object header, which continuation messages add to.
typedef struct Stretches {
    uint64_t at[CHUNKS_MAX], size[CHUNKS_MAX];
    int count;
} Stretches;

static bool add_stretch(Walk *w, Stretches *list, uint64_t at, uint64_t size) {
    if (list->count >= CHUNKS_MAX || !is_inside(w, at, size)) {
        return fail(w, at, "an object header is outside the file");
    }
    list->at[list->count] = at;
    list->size[list->count++] = size;
    return true;
}

static bool check_stretch(Walk *w, Stretches *list, int which, int depth) {
    uint64_t at = list->at[which];
    const uint64_t end = at + list->size[which];
    while (end - at >= 8) {
        const int kind = (int)get(w, at, 2);
        const uint64_t size = get(w, at + 2, 2), data = at + 8;
        if (size > end - data || (w->bytes[at + 4] & 2) != 0) {
            return fail(w, at, "an object header is damaged");
        }
        if (kind == MESSAGE_CONTINUATION) {
            if (size < 16 || !add_stretch(w, list, get(w, data, 8), get(w, data + 8, 8))) {
                return fail(w, at, "an object header is damaged");
            }
        } else if (!check_message(w, kind, data, size, depth)) {
            return false;
        }
        at = data + size;
    }
    return true;
}

static bool check_header(Walk *w, uint64_t at, int depth) {
    if (!visit(w, at, depth)) {
        return false;
    }
    if (has_sign(w, at, "OHDR")) {
        return true; // the newer format: HDF5 verifies its checksum
    }
    if (!is_inside(w, at, 16) || w->bytes[at] != 1) {
        return fail(w, at, "an object header is damaged");
    }
    Stretches list = {.count = 0};
    if (!add_stretch(w, &list, at + 16, get(w, at + 8, 4))) {
        return false;
    }
    for (int k = 0; k < list.count; k++) {
        if (!check_stretch(w, &list, k, depth)) {
            return false;
        }
    }
    return true;
}

// --------------------------------------------------------------------------------------- the file

// Superblock 0 or 1: 24 or 28 bytes, then four addresses and the entry of the root.
static bool check_old_file(Walk *w, uint64_t position) {
    const uint64_t head = w->size > 8 && w->bytes[8] == 1 ? 28 : 24;
    if (!is_inside(w, 0, head + 72)) {
        return fail(w, w->size, "it is truncated");
    }
    const uint64_t base = get(w, head, 8); // 0 too where a user block was put in front later
    w->leaf_width = 2 * (int)get(w, 16, 2);
    w->group_width = 2 * (int)get(w, 18, 2);
    w->chunk_width = 2 * (head == 28 ? (int)get(w, 24, 2) : 32);
    if (w->bytes[13] != 8 || w->bytes[14] != 8 || (base != 0 && base != position) ||
        w->leaf_width == 0 || w->group_width == 0 || w->chunk_width == 0 ||
        get(w, head + 8, 8) != NOWHERE || get(w, head + 24, 8) != NOWHERE) {
        return fail(w, 0, "its superblock is damaged");
    }
    const uint64_t end = get(w, head + 16, 8), whole = end + (position - base);
    if (end > UINT64_MAX / 2 || whole > position + w->size) {
        (void)snprintf(w->reason.text, sizeof w->reason.text,
                       "it is truncated: it has %" PRIu64 " of %" PRIu64 " bytes",
                       position + w->size, whole);
        return false;
    }
    return check_entry(w, head + 32, NULL, 0);
}

bool fil_hdf_check(const void *bytes, size_t size, FilHdfReason *reason) {
    static const char sign[] = "\211HDF\r\n\032\n";
    *reason = (FilHdfReason){.text = "it is not an HDF5 file"};
    // HDF5 looks for its signature at byte 0, 512, 1024, 2048, ...
    for (size_t at = 0; at < size && size - at >= 9; at = at == 0 ? 512 : 2 * at) {
        if (memcmp((const char *)bytes + at, sign, 8) == 0) {
            Walk walk = {.bytes = (const uint8_t *)bytes + at, .size = size - at};
            const bool good = walk.bytes[8] > 1 || check_old_file(&walk, at);
            *reason = walk.reason;
            return good;
        }
    }
    return false;
}
