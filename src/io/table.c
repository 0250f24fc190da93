// table.c - decoding JSON objects by tables of fields.
//
// 1. The defaults of a table are decoded, once, from the same JSON texts that the reference shows:
//    what is documented is what happens.
// 2. An object starts as a copy of the defaults; every key is looked up and its value checked for
//    type, unit and range; then the required fields are asked for.
// 3. A message is "file:line:column: path is value; it must be ... (unit)".
#include "table.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/text.h"
#include "io/units.h"

enum { SHOWN = 60 };

static FilStatus fail_memory(const FilDecoder *d) {
    (void)fil_fail(d->error, FIL_E_NO_MEMORY, "%s: not enough memory to read it",
                   d->document->name);
    return FIL_E_NO_MEMORY;
}

// ----------------------------------------------------------------------------- did you mean

enum { WORD_MAX = 40 };

// Edit distance with swaps of neighbours (restricted Damerau-Levenshtein); WORD_MAX when long.
static int distance(const char *a, const char *b) {
    const int m = (int)strlen(a), n = (int)strlen(b);
    if (m >= WORD_MAX || n >= WORD_MAX) {
        return WORD_MAX;
    }
    int rows[3][WORD_MAX + 1];
    for (int j = 0; j <= n; j++) {
        rows[0][j] = j;
    }
    for (int i = 1; i <= m; i++) {
        int *row = rows[i % 3];
        const int *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            int best = above[j - 1] + (a[i - 1] != b[j - 1]);
            best = above[j] + 1 < best ? above[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < best) {
                best = before[j - 2] + 1;
            }
            row[j] = best;
        }
    }
    return rows[m % 3][n];
}

const char *fil_nearest_name(const char *word, const void *names, size_t stride, int count) {
    const int length = (int)strlen(word);
    const char *best = NULL;
    int least = length <= 3 ? 2 : length / 3 + 1; // one edit for short words, then one for three
    for (int k = 0; k < count; k++) {
        const char *name = NULL;
        memcpy(&name, (const char *)names + (size_t)k * stride, sizeof name);
        const int steps = distance(word, name);
        if (steps < least) {
            least = steps;
            best = name;
        }
    }
    return best;
}

// ----------------------------------------------------------------------------------- messages

typedef struct Text {
    char text[200];
} Text;

static Text show(const FilJson *json) {
    Text text = {""};
    fil_json_show(json, text.text, SHOWN);
    return text;
}

static Text rule_of(const FilField *field) {
    Text rule = {"it must be finite"};
    if (field->range == FIL_RANGE_POSITIVE) {
        (void)snprintf(rule.text, sizeof rule.text, "it must be positive");
    } else if (field->range == FIL_RANGE_NOT_NEGATIVE) {
        (void)snprintf(rule.text, sizeof rule.text, "it must not be negative");
    } else if (field->range == FIL_RANGE_BETWEEN) {
        (void)snprintf(rule.text, sizeof rule.text, "it must be between %.10g and %.10g",
                       field->low, field->high);
    }
    if (field->unit != NULL) {
        const size_t used = strlen(rule.text);
        (void)snprintf(rule.text + used, sizeof rule.text - used, " (%s)", field->unit);
    }
    return rule;
}

static Text join_names(const char *const *names) {
    Text list = {""};
    size_t used = 0;
    for (int k = 0; names[k] != NULL && used + 1 < sizeof list.text; k++) {
        const char *glue = k == 0 ? "" : names[k + 1] == NULL ? " or " : ", ";
        const int written =
            snprintf(list.text + used, sizeof list.text - used, "%s%s", glue, names[k]);
        used += written > 0 ? (size_t)written : 0;
    }
    return list;
}

static bool in_range(const FilField *field, double value) {
    switch (field->range) {
    case FIL_RANGE_POSITIVE:
        return value > 0.0;
    case FIL_RANGE_NOT_NEGATIVE:
        return value >= 0.0;
    case FIL_RANGE_BETWEEN:
        return value >= field->low && value <= field->high;
    default:
        return isfinite(value);
    }
}

static FilStatus fail_type(const FilDecoder *d, const FilJson *json, const char *wanted) {
    return fil_json_fail(d->document, json, d->error, "is %s; it must be %s", show(json).text,
                         wanted);
}

// -------------------------------------------------------------------------------- single values

static FilStatus decode_number(const FilDecoder *d, const FilField *field, const FilJson *json,
                               double *out) {
    const char *unit = field->unit != NULL ? field->unit : "1";
    double value = json->number;
    if (json->kind == FIL_JSON_TEXT) {
        switch (fil_quantity_read(json->text, unit, &value)) {
        case FIL_QUANTITY_NO_NUMBER:
            return fil_json_fail(d->document, json, d->error,
                                 "is %s; it must be a number, or a text such as \"2 %s\"",
                                 show(json).text, strcmp(unit, "1") == 0 ? "%" : unit);
        case FIL_QUANTITY_NO_UNIT:
            return fil_json_fail(d->document, json, d->error,
                                 "is %s, whose unit is not known; the unit here is %s",
                                 show(json).text, unit);
        case FIL_QUANTITY_WRONG_UNIT:
            return fil_json_fail(d->document, json, d->error,
                                 "is %s, whose unit measures something else; the unit here is %s",
                                 show(json).text, unit);
        case FIL_QUANTITY_OK:
            break;
        }
    } else if (json->kind != FIL_JSON_NUMBER) {
        return fail_type(d, json, "a number");
    }
    if (!in_range(field, value)) {
        return fil_json_fail(d->document, json, d->error, "is %s; %s", show(json).text,
                             rule_of(field).text);
    }
    *out = value;
    return FIL_OK;
}

static FilStatus decode_count(const FilDecoder *d, const FilField *field, const FilJson *json,
                              int *out) {
    const double value = json->number;
    if (json->kind != FIL_JSON_NUMBER || value != floor(value) || fabs(value) > INT_MAX) {
        return fail_type(d, json, "a whole number");
    }
    if (!in_range(field, value)) {
        return fil_json_fail(d->document, json, d->error, "is %s; %s", show(json).text,
                             rule_of(field).text);
    }
    *out = (int)value;
    return FIL_OK;
}

static FilStatus decode_text(const FilDecoder *d, const FilJson *json, const char **out) {
    if (json->kind != FIL_JSON_TEXT) {
        return fail_type(d, json, "a text");
    }
    *out = json->text;
    return FIL_OK;
}

static int count_names(const char *const *names) {
    int count = 0;
    while (names[count] != NULL) {
        count++;
    }
    return count;
}

static FilStatus decode_name(const FilDecoder *d, const FilField *field, const FilJson *json,
                             int *out) {
    const char *word = NULL;
    const Text names = join_names(field->names);
    if (json->kind != FIL_JSON_TEXT) {
        return fail_type(d, json, names.text);
    }
    FIL_TRY(decode_text(d, json, &word));
    const int count = count_names(field->names);
    for (int k = 0; k < count; k++) {
        if (strcmp(word, field->names[k]) == 0) {
            *out = k;
            return FIL_OK;
        }
    }
    const char *near = fil_nearest_name(word, field->names, sizeof *field->names, count);
    if (near != NULL) {
        return fil_json_fail(d->document, json, d->error, "is %s; did you mean %s? It must be %s",
                             show(json).text, near, names.text);
    }
    return fail_type(d, json, names.text);
}

// ---------------------------------------------------------------------------------------- lists

static FilStatus check_list(const FilDecoder *d, const FilField *field, const FilJson *json,
                            const char *what) {
    char wanted[60];
    if (field->size > 0) {
        (void)snprintf(wanted, sizeof wanted, "a list of %d %s", field->size, what);
    } else {
        (void)snprintf(wanted, sizeof wanted, "a list of %s", what);
    }
    if (json->kind != FIL_JSON_LIST || (field->size > 0 && json->count != field->size)) {
        return fail_type(d, json, wanted);
    }
    return FIL_OK;
}

static FilStatus decode_vector(const FilDecoder *d, const FilField *field, const FilJson *json,
                               double *out) {
    FIL_TRY(check_list(d, field, json, "numbers"));
    for (const FilJson *child = json->first; child != NULL; child = child->next) {
        FIL_TRY(decode_number(d, field, child, &out[child->index]));
    }
    return FIL_OK;
}

// One entry of a list of counts, texts or names.
static FilStatus decode_entry(const FilDecoder *d, const FilField *field, const FilJson *json,
                              void *out) {
    if (field->type == FIL_FIELD_COUNTS) {
        return decode_count(d, field, json, (int *)out + json->index);
    }
    if (field->type == FIL_FIELD_TEXTS) {
        return decode_text(d, json, (const char **)out + json->index);
    }
    int bit = 0;
    FIL_TRY(decode_name(d, field, json, &bit));
    *(unsigned *)out |= 1U << bit;
    return FIL_OK;
}

static FilStatus decode_simple_list(const FilDecoder *d, const FilField *field, const FilJson *json,
                                    void *out) {
    if (field->type == FIL_FIELD_VECTOR) {
        return decode_vector(d, field, json, out);
    }
    FIL_TRY(check_list(d, field, json,
                       field->type == FIL_FIELD_COUNTS  ? "whole numbers"
                       : field->type == FIL_FIELD_TEXTS ? "texts"
                                                        : "names"));
    if (field->type == FIL_FIELD_NAMES) {
        *(unsigned *)out = 0;
    }
    for (const FilJson *child = json->first; child != NULL; child = child->next) {
        FIL_TRY(decode_entry(d, field, child, out));
    }
    return FIL_OK;
}

// Numbers, or vectors of `size` numbers each, as many as are given.
static FilStatus decode_numbers(const FilDecoder *d, const FilField *field, const FilJson *json,
                                FilItems *out) {
    const bool vectors = field->type == FIL_FIELD_VECTORS;
    if (json->kind != FIL_JSON_LIST) {
        return fail_type(d, json, vectors ? "a list of lists of numbers" : "a list of numbers");
    }
    const int width = vectors ? field->size : 1;
    double *items = FIL_NEW(d->arena, double, (size_t)json->count *(size_t)width + 1);
    if (items == NULL) {
        return fail_memory(d);
    }
    for (const FilJson *child = json->first; child != NULL; child = child->next) {
        double *place = items + (ptrdiff_t)child->index * width;
        FIL_TRY(vectors ? decode_vector(d, field, child, place)
                        : decode_number(d, field, child, place));
    }
    *out = (FilItems){.count = json->count, .items = items};
    return FIL_OK;
}

// Texts, as many as are given.
static FilStatus decode_words(const FilDecoder *d, const FilJson *json, FilItems *out) {
    if (json->kind != FIL_JSON_LIST) {
        return fail_type(d, json, "a list of texts");
    }
    const char **items = FIL_NEW(d->arena, const char *, (size_t)json->count + 1);
    if (items == NULL) {
        return fail_memory(d);
    }
    for (const FilJson *child = json->first; child != NULL; child = child->next) {
        FIL_TRY(decode_text(d, child, &items[child->index]));
    }
    *out = (FilItems){.count = json->count, .items = items};
    return FIL_OK;
}

static FilStatus decode_objects(FilDecoder *d, const FilField *field, const FilJson *json,
                                FilItems *out) {
    const bool map = field->type == FIL_FIELD_MAP;
    if (json->kind != (map ? FIL_JSON_OBJECT : FIL_JSON_LIST)) {
        return fail_type(d, json, map ? "an object of objects" : "a list of objects");
    }
    const size_t size = field->table->size;
    char *items = fil_arena_get(d->arena, (size_t)json->count + 1, size);
    if (items == NULL) {
        return fail_memory(d);
    }
    for (const FilJson *child = json->first; child != NULL; child = child->next) {
        FIL_TRY(fil_table_decode(d, field->table, child, items + (size_t)child->index * size));
    }
    *out = (FilItems){.count = json->count, .items = items};
    return FIL_OK;
}

// -------------------------------------------------------------------------------------- objects

static FilStatus decode_items(FilDecoder *d, const FilField *field, const FilJson *json,
                              char *place) {
    FilItems items = {0};
    if (field->type == FIL_FIELD_LIST || field->type == FIL_FIELD_MAP) {
        FIL_TRY(decode_objects(d, field, json, &items));
    } else if (field->type == FIL_FIELD_WORDS) {
        FIL_TRY(decode_words(d, json, &items));
    } else {
        FIL_TRY(decode_numbers(d, field, json, &items));
    }
    memcpy(place, &items, sizeof items);
    return FIL_OK;
}

static FilStatus decode_field(FilDecoder *d, const FilField *field, const FilJson *json,
                              void *place) {
    switch (field->type) {
    case FIL_FIELD_NUMBER:
        return decode_number(d, field, json, place);
    case FIL_FIELD_COUNT:
        return decode_count(d, field, json, place);
    case FIL_FIELD_FLAG:
        *(bool *)place = json->truth;
        return json->kind == FIL_JSON_BOOL ? FIL_OK : fail_type(d, json, "true or false");
    case FIL_FIELD_TEXT:
        return decode_text(d, json, place);
    case FIL_FIELD_NAME:
        return decode_name(d, field, json, place);
    case FIL_FIELD_OBJECT:
        return fil_table_decode(d, field->table, json, place);
    case FIL_FIELD_NAMES:
    case FIL_FIELD_TEXTS:
    case FIL_FIELD_VECTOR:
    case FIL_FIELD_COUNTS:
        return decode_simple_list(d, field, json, place);
    default:
        return decode_items(d, field, json, place);
    }
}

static FilStatus make_standard(FilDecoder *d, const FilTable *table, void **out);

// Fill one field with its default.
static FilStatus decode_standard(FilDecoder *d, const FilField *field, char *place) {
    if (field->type == FIL_FIELD_OBJECT) {
        void *inner = NULL;
        FIL_TRY(make_standard(d, field->table, &inner));
        memcpy(place, inner, field->table->size);
        return FIL_OK;
    }
    if (field->standard == NULL) {
        return FIL_OK;
    }
    FilJsonDocument document;
    FIL_TRY(fil_json_read("default", field->standard, strlen(field->standard), d->arena, &document,
                          d->error));
    return decode_field(d, field, document.root, place);
}

// The struct that an empty object gives, made once.
static FilStatus make_standard(FilDecoder *d, const FilTable *table, void **out) {
    for (int k = 0; k < d->table_count; k++) {
        if (d->tables[k] == table) {
            *out = d->standards[k];
            return FIL_OK;
        }
    }
    char *record = fil_arena_get_zeroed(d->arena, 1, table->size);
    if (record == NULL) {
        return fail_memory(d);
    }
    for (int k = 0; k < table->field_count; k++) {
        FIL_TRY(decode_standard(d, &table->fields[k], record + table->fields[k].offset));
    }
    FIL_ASSERT(d->table_count < FIL_TABLES_MAX);
    d->tables[d->table_count] = table;
    d->standards[d->table_count++] = record;
    *out = record;
    return FIL_OK;
}

static const FilField *find_field(const FilTable *table, const char *name) {
    for (int k = 0; k < table->field_count; k++) {
        if (strcmp(table->fields[k].name, name) == 0) {
            return &table->fields[k];
        }
    }
    return NULL;
}

static FilStatus fail_unknown(const FilDecoder *d, const FilTable *table, const FilJson *json) {
    const char *near = fil_nearest_name(json->key, &table->fields->name, sizeof *table->fields,
                                        table->field_count);
    if (near != NULL) {
        return fil_json_fail_key(d->document, json, d->error, "is not known; did you mean %s?",
                                 near);
    }
    Text names = {""};
    size_t used = 0;
    for (int k = 0; k < table->field_count && used + 1 < sizeof names.text; k++) {
        const int written = snprintf(names.text + used, sizeof names.text - used, "%s%s",
                                     k == 0 ? "" : ", ", table->fields[k].name);
        used += written > 0 ? (size_t)written : 0;
    }
    return fil_json_fail_key(d->document, json, d->error, "is not known; it may be %s", names.text);
}

static FilStatus check_required(const FilDecoder *d, const FilTable *table, const FilJson *json,
                                uint64_t given) {
    for (int k = 0; k < table->field_count; k++) {
        const FilField *field = &table->fields[k];
        if (field->required && (given >> k & 1) == 0) {
            return fil_json_fail(d->document, json, d->error, "has no %s; it must be given: %s",
                                 field->name, field->text);
        }
    }
    return FIL_OK;
}

// NOLINTNEXTLINE(misc-no-recursion): tables do not contain themselves
FilStatus fil_table_decode(FilDecoder *d, const FilTable *table, const FilJson *json, void *out) {
    if (json->kind != FIL_JSON_OBJECT) {
        return fail_type(d, json, "an object");
    }
    void *standard = NULL;
    FIL_TRY(make_standard(d, table, &standard));
    memcpy(out, standard, table->size);
    uint64_t given = 0;
    for (const FilJson *child = json->first; child != NULL; child = child->next) {
        const FilField *field = find_field(table, child->key);
        if (field == NULL) {
            return fail_unknown(d, table, child);
        }
        FIL_TRY(decode_field(d, field, child, (char *)out + field->offset));
        given |= (uint64_t)1 << (field - table->fields);
    }
    FIL_TRY(check_required(d, table, json, given));
    const FilRecord record = {.json = json, .given = given};
    memcpy(out, &record, sizeof record);
    return FIL_OK;
}

static const FilField *field_at(const FilTable *table, size_t offset) {
    for (int k = 0; k < table->field_count; k++) {
        if (table->fields[k].offset == offset) {
            return &table->fields[k];
        }
    }
    FIL_ASSERT(false);
    return table->fields;
}

bool fil_table_given(const FilTable *table, const void *record, size_t offset) {
    FilRecord head;
    memcpy(&head, record, sizeof head);
    return (head.given >> (field_at(table, offset) - table->fields) & 1) != 0;
}

void fil_table_mark(const FilTable *table, void *record, size_t offset) {
    FilRecord head;
    memcpy(&head, record, sizeof head);
    head.given |= (uint64_t)1 << (field_at(table, offset) - table->fields);
    memcpy(record, &head, sizeof head);
}

FilStatus fil_table_fail(const FilDecoder *d, const FilTable *table, const void *record,
                         size_t offset, const char *format, ...) {
    char text[240];
    va_list args;
    va_start(args, format);
    fil_text_format(text, sizeof text, format, args);
    va_end(args);
    FilRecord head;
    memcpy(&head, record, sizeof head);
    const FilField *field = field_at(table, offset);
    const FilJson *json = head.json != NULL ? head.json : d->document->root;
    const FilJson *value = fil_json_find(json, field->name);
    if (value != NULL) {
        return fil_json_fail(d->document, value, d->error, "%s", text);
    }
    // nothing was written: point at the object, and name the field that has the default
    char path[80];
    fil_json_path(json, path, sizeof path);
    if (json->line == 0) { // an object that a change has made
        return fil_fail(d->error, FIL_E_FORMAT, "%s: %s.%s %s", d->document->name, path,
                        field->name, text);
    }
    return fil_fail_at(d->error, FIL_E_FORMAT, json->line, json->column, "%s:%d:%d: %s%s%s %s",
                       d->document->name, json->line, json->column, path,
                       path[0] != '\0' ? "." : "", field->name, text);
}
