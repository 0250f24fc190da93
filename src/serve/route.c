// route.c - what is asked for.
//
// An address is compared with a table, byte by byte. Nothing in it is ever a path of a file, so
// there is nothing to climb out of. Of %xx only the comma is known, which browsers write as %2C.
#include "route.h"

#include <stdio.h>
#include <string.h>

#define NAME(code, name) [code] = name,
static const char *const paths[FIL_ROUTE_COUNT] = {FIL_ROUTE_TABLE(NAME)};
static const char *const arrays[FIL_ARRAY_COUNT] = {FIL_FRAME_ARRAYS(NAME)};

typedef struct Part {
    const char *at;
    size_t size;
} Part;

static bool is_word(Part part, const char *word) {
    return part.size == strlen(word) && memcmp(part.at, word, part.size) == 0;
}

// Split off what comes before the first `mark`.
static Part cut(Part *rest, char mark) {
    const char *end = rest->size > 0 ? memchr(rest->at, mark, rest->size) : NULL;
    Part part = {rest->at, end != NULL ? (size_t)(end - rest->at) : rest->size};
    const size_t used = end != NULL ? part.size + 1 : part.size;
    rest->at += used;
    rest->size -= used;
    return part;
}

// 1 to 15 digits, and nothing else.
static bool read_count(Part part, int64_t *value) {
    *value = 0;
    for (size_t k = 0; k < part.size; k++) {
        if (part.at[k] < '0' || part.at[k] > '9') {
            return false;
        }
        *value = 10 * *value + (part.at[k] - '0');
        if (k >= 15) {
            return false;
        }
    }
    return part.size > 0;
}

// Whether an address begins with / and the token: in the same time wherever they differ.
static bool has_token(Part address, const char *token) {
    unsigned differ = 0;
    if (address.size < FIL_TOKEN_SIZE + 1 || address.at[0] != '/') {
        return false;
    }
    for (size_t k = 0; k < FIL_TOKEN_SIZE; k++) {
        differ |= (unsigned char)address.at[k + 1] ^ (unsigned char)token[k];
    }
    return differ == 0;
}

// The next of the names in a list, which commas or %2C separate.
static Part cut_name(Part *list) {
    for (size_t k = 0; k < list->size; k++) {
        const bool coded = k + 2 < list->size && list->at[k] == '%' && list->at[k + 1] == '2' &&
                           (list->at[k + 2] | 0x20) == 'c';
        if (list->at[k] == ',' || coded) {
            const Part name = {list->at, k};
            const size_t used = k + (coded ? 3 : 1);
            list->at += used;
            list->size -= used;
            return name;
        }
    }
    const Part name = *list;
    list->at += list->size;
    list->size = 0;
    return name;
}

static bool read_mask(Part list, uint32_t *mask) {
    *mask = 0;
    while (list.size > 0) {
        const Part name = cut_name(&list);
        int found = -1;
        for (int k = 0; k < FIL_ARRAY_COUNT; k++) {
            found = is_word(name, arrays[k]) ? k : found;
        }
        if (found < 0) {
            return false;
        }
        *mask |= 1U << found;
    }
    return true;
}

static int read_query(Part query, FilRoute *route, const char **why) {
    while (query.size > 0) {
        Part value = cut(&query, '&');
        const Part name = cut(&value, '=');
        if (is_word(name, "from")    ? !read_count(value, &route->from)
            : is_word(name, "count") ? !read_count(value, &route->count)
                                     : is_word(name, "with") && !read_mask(value, &route->mask)) {
            *why = is_word(name, "with") ? "with= names an array that frames do not have"
                                         : "from= and count= must be whole numbers";
            return 400;
        }
    }
    return 200;
}

static bool has_index(FilRouteKind kind) {
    return kind == FIL_ROUTE_MESH || kind == FIL_ROUTE_FRAME;
}

int fil_route_read(const char *address, size_t size, const char *token, FilRoute *route,
                   const char **why) {
    Part rest = {address, size};
    *route = (FilRoute){.count = -1, .mask = FIL_ARRAY_ALL};
    *why = "there is nothing here";
    if (!has_token(rest, token)) {
        return 404;
    }
    rest.at += FIL_TOKEN_SIZE + 1;
    rest.size -= FIL_TOKEN_SIZE + 1;
    if (rest.size == 0 || rest.at[0] == '?') {
        *why = "the address of the page ends with a /";
        return 302;
    }
    if (rest.at[0] != '/') {
        return 404;
    }
    rest.at++;
    rest.size--;
    const Part path = cut(&rest, '?');
    for (int k = 0; k < FIL_ROUTE_COUNT; k++) {
        const size_t length = strlen(paths[k]);
        const bool numbered = has_index((FilRouteKind)k);
        if (numbered ? path.size < length || memcmp(path.at, paths[k], length) != 0
                     : !is_word(path, paths[k])) {
            continue;
        }
        route->kind = (FilRouteKind)k;
        const Part number = {path.at + length, path.size - length};
        if (numbered && !read_count(number, &route->index)) {
            *why = "after mesh/ and frame/ there must be a whole number";
            return 400;
        }
        return read_query(rest, route, why);
    }
    return 404;
}

// A port after a name: nothing, or a colon and 1 to 5 digits.
static bool is_port(const char *text) {
    const size_t digits = text[0] == ':' ? strspn(text + 1, "0123456789") : 0;
    return text[0] == '\0' || (digits >= 1 && digits <= 5 && text[1 + digits] == '\0');
}

bool fil_route_is_host(const char *host) {
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
    for (int k = 0; k < 3 && host != NULL; k++) {
        const size_t length = strlen(names[k]);
        if (strncmp(host, names[k], length) == 0 && is_port(host + length)) {
            return true;
        }
    }
    return false;
}

bool fil_route_is_origin(const char *origin, const char *host) {
    static const char scheme[] = "http://";
    const size_t length = sizeof scheme - 1;
    return host != NULL && strncmp(origin, scheme, length) == 0 &&
           strcmp(origin + length, host) == 0;
}
