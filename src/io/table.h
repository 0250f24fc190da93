#ifndef FIL_IO_TABLE_H
#define FIL_IO_TABLE_H

// Tables of fields: the one place where a kind of object in a scene is described. From a table come
// the decoder into a C struct, its defaults and messages, the reference page and the JSON Schema.

#include "io/json.h"

#include <stdio.h>

/// How every decoded struct starts.
typedef struct FilRecord {
    const FilJson *json; // what it was decoded from; NULL: nothing was given, all is default
    uint64_t given;      // bit k: field k of the table was given
} FilRecord;

/// How every list is kept: `struct { int count; T *items; }` with the items' own type.
typedef struct FilItems {
    int count;
    void *items;
} FilItems;

// What a value is, and what it becomes at its offset.
#define FIL_FIELD_TYPES(X)                                                        \
    X(FIL_FIELD_NUMBER, "number", "double")                                       \
    X(FIL_FIELD_COUNT, "whole number", "int")                                     \
    X(FIL_FIELD_FLAG, "true or false", "bool")                                    \
    X(FIL_FIELD_TEXT, "text", "const char *")                                     \
    X(FIL_FIELD_NAME, "name", "int, the place in `names`")                        \
    X(FIL_FIELD_NAMES, "list of names", "unsigned, a bit each")                   \
    X(FIL_FIELD_TEXTS, "list of texts", "const char *[size]")                     \
    X(FIL_FIELD_WORDS, "list of any number of texts", "FilItems of const char *") \
    X(FIL_FIELD_VECTOR, "list of numbers", "double [size]")                       \
    X(FIL_FIELD_COUNTS, "list of whole numbers", "int [size]")                    \
    X(FIL_FIELD_NUMBERS, "list of any number of numbers", "FilItems of double")   \
    X(FIL_FIELD_VECTORS, "list of lists of numbers", "FilItems of double [size]") \
    X(FIL_FIELD_OBJECT, "object", "the struct of `table`")                        \
    X(FIL_FIELD_LIST, "list of objects", "FilItems of that struct")               \
    X(FIL_FIELD_MAP, "objects by name", "FilItems of that struct; key is json->key")

#define FIL_FIELD_ENUM(code, text, c) code,
typedef enum FilFieldType { FIL_FIELD_TYPES(FIL_FIELD_ENUM) FIL_FIELD_TYPE_COUNT } FilFieldType;

typedef enum FilFieldRange {
    FIL_RANGE_ANY,
    FIL_RANGE_POSITIVE,
    FIL_RANGE_NOT_NEGATIVE,
    FIL_RANGE_BETWEEN // low and high belong to it
} FilFieldRange;

typedef struct FilTable FilTable;

typedef struct FilField {
    const char *name;
    size_t offset;
    const char *text;         // one line: what it is
    const char *unit;         // SI, NULL: none
    const char *standard;     // the default, as JSON; NULL: none
    double low, high;         // of FIL_RANGE_BETWEEN
    const char *const *names; // of names, ended by NULL
    const FilTable *table;    // of objects
    FilFieldType type;
    FilFieldRange range;
    int size; // of vectors
    bool required;
} FilField;

struct FilTable {
    const char *name; // "rod": what it is called in the reference
    const char *text;
    size_t size; // of the struct
    const FilField *fields;
    int field_count; // at most 64
};

enum { FIL_TABLES_MAX = 64 };

typedef struct FilDecoder {
    const FilJsonDocument *document;
    FilArena *arena; // what is decoded lives here
    FilError *error;
    int table_count; // defaults made so far
    const FilTable *tables[FIL_TABLES_MAX];
    void *standards[FIL_TABLES_MAX];
} FilDecoder;

/// Decode an object into the struct `out` of the table. Its texts are those of the document.
FilStatus fil_table_decode(FilDecoder *decoder, const FilTable *table, const FilJson *json,
                           void *out) FIL_MUST_CHECK;

/// Whether the field at this offset was given.
bool fil_table_given(const FilTable *table, const void *record, size_t offset);

/// Say that it was, for structs that are changed after decoding.
void fil_table_mark(const FilTable *table, void *record, size_t offset);

/// Fail at the field of `record` at `offset`: at its value when it was given, else at the object.
/// The sentence starts after the path: "is 3; it must ...".
FilStatus fil_table_fail(const FilDecoder *decoder, const FilTable *table, const void *record,
                         size_t offset, const char *format, ...) FIL_PRINTF(5, 6);

/// The text in `names` that `word` was probably meant to be, or NULL. `stride` bytes lie between
/// one pointer to a name and the next.
const char *fil_nearest_name(const char *word, const void *names, size_t stride, int count);

/// Write the table as a section of Markdown, and as an entry of "$defs" of a JSON Schema.
void fil_table_write_markdown(const FilTable *table, FILE *out);
void fil_table_write_schema(const FilTable *table, FILE *out);

#endif
