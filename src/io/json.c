// json.c - a reader of JSON with comments that remembers where every value stood.
//
// Why not a library: jansson and its like keep no positions, so that "radius must be positive"
// could not say where without a second scan of the text. This is that scan, and nothing more.
//
//   1. the whole text is checked to be UTF-8 without zero bytes; afterwards bytes are only compared
//   2. one descent, at most FIL_JSON_DEPTH_MAX deep, makes nodes in blocks from the arena
//   3. texts and numbers are copied, ended by zero, into one buffer of the size of the input: a
//      token is never longer decoded than written
//
// Refused, each with one sentence: keys given twice, commas before a closing bracket, numbers
// beyond the range of doubles, control characters in texts, \u0000, anything after the end.
#include "json.h"

#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum { NODE_BLOCK = 64 };

typedef struct Reader {
    FilJsonDocument *document;
    const char *at, *end;
    int line, column;
    int depth;
    char *texts; // where the next copied text goes
    bool placed; // positions are those of a file, not of a change
    FilError *error;
} Reader;

static FilStatus fail_here(const Reader *r, const char *format, ...) FIL_PRINTF(2, 3);

static FilStatus fail_here(const Reader *r, const char *format, ...) {
    char text[200];
    va_list args;
    va_start(args, format);
    fil_text_format(text, sizeof text, format, args);
    va_end(args);
    return fil_fail_at(r->error, FIL_E_FORMAT, r->line, r->column, "%s:%d:%d: %s",
                       r->document->name, r->line, r->column, text);
}

static FilStatus fail_memory(const FilJsonDocument *document, FilError *error) {
    return fil_fail(error, FIL_E_NO_MEMORY, "%s: not enough memory to read it", document->name);
}

static void advance(Reader *r) {
    const char c = *r->at++;
    if (c == '\n') {
        r->line++;
        r->column = 1;
    } else if (((unsigned char)c & 0xC0) != 0x80) { // a character counts once
        r->column++;
    }
}

static char peek(const Reader *r) {
    static const char nothing = '\0';
    return *(r->at < r->end ? r->at : &nothing);
}

// Bytes of the UTF-8 character at `p`, 0 when it is none (overlong, surrogate, too large, cut).
static int character_size(const unsigned char *p, size_t left) {
    if (p[0] < 0x80) {
        return p[0] != 0;
    }
    const int size = p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
    if (p[0] < 0xC2 || p[0] > 0xF4 || left < (size_t)size) {
        return 0;
    }
    for (int k = 1; k < size; k++) {
        if ((p[k] & 0xC0) != 0x80) {
            return 0;
        }
    }
    const bool bad = (p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F) ||
                     (p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] > 0x8F);
    return bad ? 0 : size;
}

static FilStatus check_characters(Reader r) {
    while (r.at < r.end) {
        const int size = character_size((const unsigned char *)r.at, (size_t)(r.end - r.at));
        if (size == 0) {
            return fail_here(&r, "byte 0x%02x is no UTF-8 text", (unsigned char)*r.at);
        }
        for (int k = 0; k < size; k++) {
            advance(&r);
        }
    }
    return FIL_OK;
}

// ------------------------------------------------------------------------------------ the descent

static FilStatus skip_comment(Reader *r) {
    const Reader start = *r;
    advance(r);
    if (peek(r) == '/') {
        while (r->at < r->end && *r->at != '\n') {
            advance(r);
        }
        return FIL_OK;
    }
    if (peek(r) != '*') {
        return fail_here(&start, "a comment starts with // or /*, not with a single /");
    }
    advance(r);
    while (r->end - r->at >= 2 && !(r->at[0] == '*' && r->at[1] == '/')) {
        advance(r);
    }
    if (r->end - r->at < 2) {
        return fail_here(&start, "this comment is never closed");
    }
    advance(r);
    advance(r);
    return FIL_OK;
}

static FilStatus skip_space(Reader *r) {
    FilStatus status = FIL_OK;
    while (status == FIL_OK && r->at < r->end && strchr(" \t\n\r/", *r->at) != NULL) {
        if (*r->at == '/') {
            status = skip_comment(r);
        } else {
            advance(r);
        }
    }
    return status;
}

static FilJson *make_node(FilJsonDocument *document) {
    if (document->spare_count == 0) {
        document->spare = FIL_NEW_ZEROED(document->arena, FilJson, NODE_BLOCK);
        document->spare_count = document->spare != NULL ? NODE_BLOCK : 0;
    }
    return document->spare_count > 0 ? &document->spare[--document->spare_count] : NULL;
}

static void append(FilJson *parent, FilJson *child) {
    child->parent = parent;
    child->index = parent->count++;
    *(parent->first == NULL ? &parent->first : &parent->last->next) = child;
    parent->last = child;
}

static int hex_digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

// Four hexadecimal digits, or -1.
static long read_hex(Reader *r) {
    long code = 0;
    for (int k = 0; k < 4; k++) {
        const int digit = hex_digit(peek(r));
        if (digit < 0) {
            return -1;
        }
        code = 16 * code + digit;
        advance(r);
    }
    return code;
}

static void write_utf8(char **out, long code) {
    char *p = *out;
    if (code < 0x80) {
        *p++ = (char)code;
    } else if (code < 0x800) {
        *p++ = (char)(0xC0 | code >> 6);
        *p++ = (char)(0x80 | (code & 0x3F));
    } else {
        if (code < 0x10000) {
            *p++ = (char)(0xE0 | code >> 12);
        } else {
            *p++ = (char)(0xF0 | code >> 18);
            *p++ = (char)(0x80 | (code >> 12 & 0x3F));
        }
        *p++ = (char)(0x80 | (code >> 6 & 0x3F));
        *p++ = (char)(0x80 | (code & 0x3F));
    }
    *out = p;
}

static FilStatus read_escape(Reader *r) {
    static const char names[] = "\"\\/bfnrt", codes[] = "\"\\/\b\f\n\r\t";
    const Reader start = *r;
    advance(r);
    const char c = peek(r);
    const char *found = c != '\0' ? strchr(names, c) : NULL;
    if (found != NULL) {
        *r->texts++ = codes[found - names];
        advance(r);
        return FIL_OK;
    }
    if (c != 'u') {
        return fail_here(&start, "there is no such escape; write \\\\ for a backslash");
    }
    advance(r);
    long code = read_hex(r);
    if (code >= 0xD800 && code < 0xDC00 && peek(r) == '\\') { // half of a pair
        advance(r);
        const long low = peek(r) == 'u' ? (advance(r), read_hex(r)) : -1;
        code =
            low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00) : -1;
    }
    if (code <= 0 || (code >= 0xD800 && code < 0xE000)) {
        return fail_here(&start, "\\u must be followed by four digits of a character");
    }
    write_utf8(&r->texts, code);
    return FIL_OK;
}

static FilStatus read_text(Reader *r, const char **out) {
    const Reader start = *r;
    *out = r->texts;
    advance(r);
    FilStatus status = FIL_OK;
    while (status == FIL_OK && peek(r) != '"') {
        if (r->at >= r->end || *r->at == '\n') {
            return fail_here(&start, "this text is never closed by a quote");
        }
        const char c = *r->at;
        if (c == '\\') {
            status = read_escape(r);
        } else if ((unsigned char)c < 0x20) {
            return fail_here(r, "a text may not hold the control character 0x%02x", c);
        } else {
            *r->texts++ = c;
            advance(r);
        }
    }
    FIL_TRY(status);
    *r->texts++ = '\0';
    advance(r);
    return FIL_OK;
}

static int skip_digits(Reader *r) {
    int count = 0;
    for (; peek(r) >= '0' && peek(r) <= '9'; count++) {
        advance(r);
    }
    return count;
}

// The grammar of JSON: no leading +, no 007, no 1., no .5, no NaN.
static bool skip_number(Reader *r) {
    if (peek(r) == '-') {
        advance(r);
    }
    const bool zero = peek(r) == '0';
    const int whole = skip_digits(r);
    if (whole == 0 || (zero && whole > 1)) {
        return false;
    }
    if (peek(r) == '.') {
        advance(r);
        if (skip_digits(r) == 0) {
            return false;
        }
    }
    if (peek(r) == 'e' || peek(r) == 'E') {
        advance(r);
        if (peek(r) == '+' || peek(r) == '-') {
            advance(r);
        }
        return skip_digits(r) > 0;
    }
    return true;
}

// strtod() with a decimal point, whatever the locale says.
static double to_double(const char *text, size_t size) {
    char copy[FIL_JSON_NUMBER_MAX + 8];
    memcpy(copy, text, size);
    copy[size] = '\0';
    char *point = strchr(copy, '.');
    const char *local = localeconv()->decimal_point;
    if (point != NULL && local[0] != '\0' && local[1] == '\0') {
        *point = local[0];
    }
    return strtod(copy, NULL);
}

static FilStatus read_number(Reader *r, FilJson *node) {
    const Reader start = *r;
    const bool fine = skip_number(r);
    const size_t size = (size_t)(r->at - start.at);
    const char next = peek(r);
    if (!fine || isalnum((unsigned char)next) || next == '.' || next == '+') {
        return fail_here(&start, "this is no number; write it as 12, -0.5 or 1.5e-3");
    }
    if (size > FIL_JSON_NUMBER_MAX) {
        return fail_here(&start, "a number has %zu characters; %d are allowed", size,
                         FIL_JSON_NUMBER_MAX);
    }
    memcpy(r->texts, start.at, size);
    r->texts[size] = '\0';
    node->kind = FIL_JSON_NUMBER;
    node->text = r->texts;
    node->number = to_double(start.at, size);
    r->texts += size + 1;
    if (!isfinite(node->number)) {
        return fail_here(&start, "the number %.30s is too large", node->text);
    }
    return FIL_OK;
}

static FilStatus read_word(Reader *r, FilJson *node) {
    static const char *const words[] = {"null", "false", "true"};
    for (int k = 0; k < 3; k++) {
        const size_t size = strlen(words[k]);
        if ((size_t)(r->end - r->at) >= size && memcmp(r->at, words[k], size) == 0) {
            node->kind = k == 0 ? FIL_JSON_NULL : FIL_JSON_BOOL;
            node->truth = k == 2;
            r->at += size;
            r->column += (int)size;
            return FIL_OK;
        }
    }
    if (r->at >= r->end) {
        return fail_here(r, "the text ends where a value is expected");
    }
    if (*r->at == ']' || *r->at == '}') {
        return fail_here(r, "a value is expected before %c", *r->at);
    }
    return fail_here(r, "a value is expected: a number, a \"text\", a [list] or an {object}");
}

static FilStatus read_value(Reader *r, FilJson *parent, const FilJson *key, FilJson **out);

// After a child: true when another one follows.
static FilStatus read_comma(Reader *r, char close, bool *more) {
    FIL_TRY(skip_space(r));
    *more = peek(r) == ',';
    if (*more) {
        const Reader comma = *r;
        advance(r);
        FIL_TRY(skip_space(r));
        if (peek(r) == close) {
            return fail_here(&comma, "nothing follows this comma; take it away");
        }
        return FIL_OK;
    }
    if (peek(r) != close || r->at >= r->end) {
        return r->at >= r->end ? fail_here(r, "the text ends before a closing %c", close)
                               : fail_here(r, "a comma or a closing %c is expected here", close);
    }
    advance(r);
    return FIL_OK;
}

static FilStatus read_list(Reader *r, FilJson *list) {
    FIL_TRY(skip_space(r));
    bool more = peek(r) != ']';
    if (!more) {
        advance(r);
    }
    while (more) {
        FilJson *child = NULL;
        FIL_TRY(read_value(r, list, NULL, &child));
        FIL_TRY(read_comma(r, ']', &more));
    }
    return FIL_OK;
}

static FilStatus read_key(Reader *r, const FilJson *object, FilJson *key) {
    key->key_line = r->line;
    key->key_column = r->column;
    if (peek(r) != '"') {
        return fail_here(r, "a key in quotes is expected here");
    }
    const Reader start = *r;
    FIL_TRY(read_text(r, &key->key));
    const FilJson *before = fil_json_find(object, key->key);
    if (before != NULL) {
        return fail_here(&start, "the key \"%.60s\" is given twice, first in line %d", key->key,
                         before->key_line);
    }
    if (object->count >= FIL_JSON_KEYS_MAX) {
        return fail_here(&start, "an object has more than %d keys", FIL_JSON_KEYS_MAX);
    }
    FIL_TRY(skip_space(r));
    if (peek(r) != ':') {
        return fail_here(r, "a colon is expected after the key \"%.60s\"", key->key);
    }
    advance(r);
    return skip_space(r);
}

static FilStatus read_object(Reader *r, FilJson *object) {
    FIL_TRY(skip_space(r));
    bool more = peek(r) != '}';
    if (!more) {
        advance(r);
    }
    while (more) {
        FilJson key = {0}, *child = NULL;
        FIL_TRY(read_key(r, object, &key));
        FIL_TRY(read_value(r, object, &key, &child));
        FIL_TRY(read_comma(r, '}', &more));
    }
    return FIL_OK;
}

static FilStatus read_inside(Reader *r, FilJson *node, FilJsonKind kind) {
    if (r->depth >= FIL_JSON_DEPTH_MAX) {
        return fail_here(r, "lists and objects are nested more than %d deep", FIL_JSON_DEPTH_MAX);
    }
    node->kind = kind;
    advance(r);
    r->depth++;
    const FilStatus status = kind == FIL_JSON_LIST ? read_list(r, node) : read_object(r, node);
    r->depth--;
    return status;
}

// NOLINTNEXTLINE(misc-no-recursion): no deeper than FIL_JSON_DEPTH_MAX
static FilStatus read_value(Reader *r, FilJson *parent, const FilJson *key, FilJson **out) {
    FIL_TRY(skip_space(r));
    FilJson *node = make_node(r->document);
    if (node == NULL) {
        return fail_memory(r->document, r->error);
    }
    node->line = r->placed ? r->line : 0;
    node->column = r->placed ? r->column : r->document->change_count;
    if (key != NULL) {
        node->key = key->key;
        node->key_line = r->placed ? key->key_line : 0;
        node->key_column = r->placed ? key->key_column : node->column;
    }
    if (parent != NULL) {
        append(parent, node);
    }
    *out = node;
    const char c = peek(r);
    switch (c) {
    case '"':
        node->kind = FIL_JSON_TEXT;
        return read_text(r, &node->text);
    case '[':
        return read_inside(r, node, FIL_JSON_LIST);
    case '{':
        return read_inside(r, node, FIL_JSON_OBJECT);
    default:
        return c == '-' || (c >= '0' && c <= '9') ? read_number(r, node) : read_word(r, node);
    }
}

static FilStatus read_all(Reader *r, size_t size, FilJson **root) {
    r->texts = FIL_NEW(r->document->arena, char, size + 2);
    if (r->texts == NULL) {
        return fail_memory(r->document, r->error);
    }
    FIL_TRY(check_characters(*r));
    if (size >= 3 && memcmp(r->at, "\xEF\xBB\xBF", 3) == 0) { // the mark that some editors write
        r->at += 3;
    }
    FIL_TRY(skip_space(r));
    if (r->at >= r->end) {
        return fail_here(r, "the file is empty");
    }
    FIL_TRY(read_value(r, NULL, NULL, root));
    FIL_TRY(skip_space(r));
    return r->at < r->end ? fail_here(r, "something follows the end of the value") : FIL_OK;
}

FilStatus fil_json_read(const char *name, const char *bytes, size_t size, FilArena *arena,
                        FilJsonDocument *out, FilError *error) {
    FilJsonDocument document = {.arena = arena, .name = name};
    if (size > FIL_JSON_SIZE_MAX) {
        return fil_fail(error, FIL_E_FORMAT, "%s has %zu bytes; at most %d are read", name, size,
                        FIL_JSON_SIZE_MAX);
    }
    Reader reader = {.document = &document,
                     .at = bytes,
                     .end = bytes + size,
                     .line = 1,
                     .column = 1,
                     .placed = true,
                     .error = error};
    FIL_TRY(read_all(&reader, size, &document.root));
    *out = document;
    return FIL_OK;
}

// ---------------------------------------------------------------------------------------- changes

FilJson *fil_json_find(const FilJson *object, const char *key) {
    if (object->kind == FIL_JSON_OBJECT) {
        for (FilJson *child = object->first; child != NULL; child = child->next) {
            if (strcmp(child->key, key) == 0) {
                return child;
            }
        }
    }
    return NULL;
}

// A change being made: `at` is what is left of its path.
typedef struct Change {
    FilJsonDocument *document;
    const char *text, *at, *equals;
    FilError *error;
} Change;

static FilStatus fail_change(const Change *c, const char *format, ...) FIL_PRINTF(2, 3);

static FilStatus fail_change(const Change *c, const char *format, ...) {
    char text[160];
    va_list args;
    va_start(args, format);
    fil_text_format(text, sizeof text, format, args);
    va_end(args);
    return fil_fail(c->error, FIL_E_FORMAT, "--set %s: %s", c->text, text);
}

// The value as JSON; what is none is a text.
static FilStatus read_change(const Change *c, FilJson *node) {
    const char *value = c->equals + 1;
    const size_t size = strlen(value);
    FilError unused;
    Reader reader = {.document = c->document,
                     .at = value,
                     .end = value + size,
                     .line = 1,
                     .column = 1,
                     .error = &unused};
    FilJson *read = NULL;
    const FilStatus status = read_all(&reader, size, &read);
    if (status == FIL_E_NO_MEMORY) {
        return fail_memory(c->document, c->error);
    }
    if (status == FIL_OK) {
        node->kind = read->kind;
        node->truth = read->truth;
        node->number = read->number;
        node->text = read->text;
        node->count = read->count;
        node->first = read->first;
        node->last = read->last;
        for (FilJson *child = node->first; child != NULL; child = child->next) {
            child->parent = node;
        }
    } else {
        *node = (FilJson){.kind = FIL_JSON_TEXT,
                          .text = value,
                          .index = node->index,
                          .key = node->key,
                          .key_line = node->key_line,
                          .key_column = node->key_column,
                          .parent = node->parent,
                          .next = node->next};
    }
    node->line = 0;
    node->column = c->document->change_count;
    return FIL_OK;
}

static FilJson *add_child(const Change *c, FilJson *object, const char *key) {
    FilJson *child = make_node(c->document);
    if (child != NULL) {
        child->key = key;
        child->column = child->key_column = c->document->change_count;
        append(object, child);
    }
    return child;
}

static FilStatus change_at(Change c, FilJson *node);

static FilStatus change_item(Change c, const FilJson *list) {
    char *end = NULL;
    const bool all = c.at[1] == '*';
    const long index = all ? 0 : strtol(c.at + 1, &end, 10);
    if (all) {
        end = (char *)c.at + 2;
    }
    if (end == c.at + 1 || *end != ']' || (!all && !isdigit((unsigned char)c.at[1]))) {
        return fail_change(&c, "[ must be followed by an index or * and a ]");
    }
    if (list->kind != FIL_JSON_LIST) {
        return fail_change(&c, "%.*s is no list", (int)(c.at - c.text), c.text);
    }
    if (!all && index >= list->count) {
        return fail_change(&c, "the list has %d entries; the first is [0]", list->count);
    }
    c.at = end + 1;
    FilStatus status = FIL_OK;
    for (FilJson *child = list->first; child != NULL && status == FIL_OK; child = child->next) {
        if (all || child->index == index) {
            status = change_at(c, child);
        }
    }
    return status;
}

static FilStatus change_key(Change c, FilJson *object) {
    const size_t size = strcspn(c.at, ".[=");
    if (size == 0) {
        return fail_change(&c, "a name is missing in the path");
    }
    if (object->kind != FIL_JSON_OBJECT) {
        return fail_change(&c, "%.*s is no object", (int)(c.at - c.text), c.text);
    }
    char *key = FIL_NEW(c.document->arena, char, size + 1);
    if (key == NULL) {
        return fail_memory(c.document, c.error);
    }
    memcpy(key, c.at, size);
    key[size] = '\0';
    FilJson *child = fil_json_find(object, key);
    if (child == NULL) {
        child = add_child(&c, object, key);
        if (child == NULL) {
            return fail_memory(c.document, c.error);
        }
        child->kind = c.at[size] == '.' ? FIL_JSON_OBJECT : FIL_JSON_NULL;
    }
    c.at += size;
    return change_at(c, child);
}

static FilStatus change_at(Change c, FilJson *node) {
    if (c.at == c.equals) {
        return read_change(&c, node);
    }
    if (*c.at == '[') {
        return change_item(c, node);
    }
    if (*c.at == '.' || c.at == c.text) {
        c.at += *c.at == '.';
        return change_key(c, node);
    }
    return fail_change(&c, "the path must be like rods[3].radius");
}

FilStatus fil_json_set(FilJsonDocument *document, const char *change, FilError *error) {
    Change c = {.document = document,
                .text = change,
                .at = change,
                .equals = strchr(change, '='),
                .error = error};
    if (c.equals == NULL || c.equals == change) {
        return fail_change(&c, "it must be path=value, for example rods[3].radius=2mm");
    }
    const size_t length = strlen(change);
    const Reader text = {.document = document, .at = change, .end = change + length, .error = NULL};
    if (length > FIL_JSON_SIZE_MAX || check_characters(text) != FIL_OK) {
        return fil_fail(error, FIL_E_FORMAT, "a change given by --set is no UTF-8 text");
    }
    const char **changes = FIL_NEW(document->arena, const char *, document->change_count + 1);
    if (changes == NULL) {
        return fail_memory(document, error);
    }
    for (int k = 0; k < document->change_count; k++) {
        changes[k] = document->changes[k];
    }
    char *copy = FIL_NEW(document->arena, char, length + 1); // texts of the document point into it
    if (copy == NULL) {
        return fail_memory(document, error);
    }
    memcpy(copy, change, length + 1);
    changes[document->change_count] = copy;
    document->changes = changes;
    c.equals = copy + (c.equals - change);
    c.text = c.at = copy;
    FIL_TRY(change_at(c, document->root));
    document->change_count++;
    return FIL_OK;
}

// --------------------------------------------------------------------------------------- messages

void fil_json_path(const FilJson *node, char *path, size_t size) {
    const FilJson *line[FIL_JSON_DEPTH_MAX + 2];
    int depth = 0;
    for (; node != NULL && node->parent != NULL && depth < FIL_JSON_DEPTH_MAX + 2;
         node = node->parent) {
        line[depth++] = node;
    }
    size_t used = 0;
    path[0] = '\0';
    while (depth-- > 0 && used + 1 < size) {
        const FilJson *step = line[depth];
        const int written =
            step->key != NULL
                ? snprintf(path + used, size - used, "%s%.60s", used > 0 ? "." : "", step->key)
                : snprintf(path + used, size - used, "[%d]", step->index);
        used += written > 0 ? (size_t)written : 0;
    }
}

static void format_text(char *out, size_t size, const char *format, ...) FIL_PRINTF(3, 4);

static void format_text(char *out, size_t size, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fil_text_format(out, size, format, args);
    va_end(args);
}

void fil_json_show(const FilJson *node, char *text, size_t size) {
    switch (node->kind) {
    case FIL_JSON_NULL:
        format_text(text, size, "null");
        break;
    case FIL_JSON_BOOL:
        format_text(text, size, "%s", node->truth ? "true" : "false");
        break;
    case FIL_JSON_NUMBER:
        format_text(text, size, "%s", node->text);
        break;
    case FIL_JSON_TEXT:
        format_text(text, size, "\"%s\"", node->text);
        break;
    case FIL_JSON_LIST:
        format_text(text, size, "a list of %d", node->count);
        break;
    case FIL_JSON_OBJECT:
        format_text(text, size, "an object");
        break;
    }
}

static FilStatus fail_at(const FilJsonDocument *document, const FilJson *node, const int place[2],
                         const char *text, FilError *error) {
    char path[120];
    fil_json_path(node, path, sizeof path);
    const char *what = path[0] != '\0' ? path : "the scene";
    if (place[0] == 0) {
        const bool known = place[1] >= 0 && place[1] < document->change_count;
        return fil_fail(error, FIL_E_FORMAT, "--set %s: %s %s",
                        known ? document->changes[place[1]] : "", what, text);
    }
    return fil_fail_at(error, FIL_E_FORMAT, place[0], place[1], "%s:%d:%d: %s %s", document->name,
                       place[0], place[1], what, text);
}

FilStatus fil_json_fail(const FilJsonDocument *document, const FilJson *node, FilError *error,
                        const char *format, ...) {
    char text[240];
    va_list args;
    va_start(args, format);
    fil_text_format(text, sizeof text, format, args);
    va_end(args);
    return fail_at(document, node, (int[2]){node->line, node->column}, text, error);
}

FilStatus fil_json_fail_key(const FilJsonDocument *document, const FilJson *node, FilError *error,
                            const char *format, ...) {
    char text[240];
    va_list args;
    va_start(args, format);
    fil_text_format(text, sizeof text, format, args);
    va_end(args);
    return fail_at(document, node, (int[2]){node->key_line, node->key_column}, text, error);
}
