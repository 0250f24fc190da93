#ifndef FIL_IO_JSON_H
#define FIL_IO_JSON_H

// JSON with comments, every value with its place in the text.
//
// A document is a tree in an arena. Children are linked, so that a value can be put in afterwards
// (fil_json_set(), behind `--set path=value`). Texts are UTF-8, without zeros inside.

#include "base/arena.h"
#include "base/error.h"

/// Most bytes of a document, levels of nesting, keys of an object, characters of a number.
#define FIL_JSON_SIZE_MAX (16 << 20)
#define FIL_JSON_DEPTH_MAX 64
#define FIL_JSON_KEYS_MAX 1024
#define FIL_JSON_NUMBER_MAX 200

typedef enum FilJsonKind {
    FIL_JSON_NULL,
    FIL_JSON_BOOL,
    FIL_JSON_NUMBER,
    FIL_JSON_TEXT,
    FIL_JSON_LIST,
    FIL_JSON_OBJECT,
} FilJsonKind;

typedef struct FilJson FilJson;
struct FilJson {
    FilJsonKind kind;
    int line, column; // from 1, in characters; line 0: from change number `column` of the document
    int index;        // place in the list or object around it
    int count;        // of children
    bool truth;
    double number;    // finite
    const char *text; // of a text; of a number as it was written
    const char *key;  // within an object; else NULL
    int key_line, key_column;
    FilJson *parent, *first, *last, *next;
};

typedef struct FilJsonDocument {
    FilArena *arena;
    const char *name; // of the file, for messages
    FilJson *root;
    const char *const *changes; // those of fil_json_set(), by number
    int change_count;
    FilJson *spare; // nodes not used yet
    int spare_count;
} FilJsonDocument;

/// Read `size` bytes. The document and its texts live in `arena`, `name` is borrowed. A failure is
/// FIL_E_FORMAT with the sentence "name:line:column: ..." or FIL_E_NO_MEMORY.
FilStatus fil_json_read(const char *name, const char *bytes, size_t size, FilArena *arena,
                        FilJsonDocument *out, FilError *error) FIL_MUST_CHECK;

/// Change or add one value before the document is used: "rods[3].radius=2 mm", "rods[*].model=der".
/// What follows = is JSON, or else a text. Objects on the way that are missing are made.
FilStatus fil_json_set(FilJsonDocument *document, const char *change,
                       FilError *error) FIL_MUST_CHECK;

/// The child of this key, or NULL.
FilJson *fil_json_find(const FilJson *object, const char *key);

/// "rods[3].radius"; "" for the root. `size` at least 4.
void fil_json_path(const FilJson *node, char *path, size_t size);

/// A short text for a message: 0.5, "clay", [...].
void fil_json_show(const FilJson *node, char *text, size_t size);

/// FIL_E_FORMAT: "name:line:column: path sentence".
FilStatus fil_json_fail(const FilJsonDocument *document, const FilJson *node, FilError *error,
                        const char *format, ...) FIL_PRINTF(4, 5);
/// The same at the node's key.
FilStatus fil_json_fail_key(const FilJsonDocument *document, const FilJson *node, FilError *error,
                            const char *format, ...) FIL_PRINTF(4, 5);

#endif
