// mesh_input.c - words, numbers and polygons of mesh files.
//
// Numbers are read here and not by strtod(), which obeys the locale and needs a terminator. The
// digits go to a 64-bit integer (19 of them, the rest only count), which is scaled by a power of
// ten in long double: within a unit in the last place of the double, and the same text is always
// the same number, which is what joins the vertices of a mesh.
//
// Polygons are cut by clipping ears (a corner that is convex and has no other corner within), seen
// along the polygon's mean normal. Where there is no ear, or for very many corners, the fan from
// the first corner is used: the surface stays closed in any case.
#include "mesh_input.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "math/vec3.h"

enum { LARGEST_CLIPPED = 256 };

FilStatus fil_mesh_input_fail(const FilMeshInput *input, const char *format, ...) {
    char text[200];
    va_list args;
    va_start(args, format);
    fil_text_format(text, sizeof text, format, args);
    va_end(args);
    if (input->line > 0) {
        return fil_fail_at(input->error, FIL_E_FORMAT, input->line, 0, "%s: line %d: %s",
                           input->name, input->line, text);
    }
    return fil_fail(input->error, FIL_E_FORMAT, "%s: %s", input->name, text);
}

FilStatus fil_mesh_input_no_memory(const FilMeshInput *input) {
    return fil_fail(input->error, FIL_E_NO_MEMORY, "%s: there is no memory for the mesh",
                    input->name);
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// Over blanks, and over a line end that a backslash takes back.
static void skip_blanks(FilMeshInput *input) {
    const char *b = input->bytes;
    while (input->at < input->size) {
        const size_t at = input->at;
        if (is_blank(b[at])) {
            input->at++;
        } else if (b[at] == '\\' && at + 1 < input->size && b[at + 1] == '\n') {
            input->at += 2;
            input->line++;
        } else if (b[at] == '\\' && at + 2 < input->size && b[at + 1] == '\r' &&
                   b[at + 2] == '\n') {
            input->at += 3;
            input->line++;
        } else {
            return;
        }
    }
}

bool fil_mesh_next_word(FilMeshInput *input, FilWord *word) {
    skip_blanks(input);
    const size_t from = input->at;
    while (input->at < input->size && !is_blank(input->bytes[input->at]) &&
           input->bytes[input->at] != '\n') {
        input->at++;
    }
    *word = (FilWord){input->bytes + from, input->at - from};
    return word->length > 0;
}

bool fil_mesh_next_line(FilMeshInput *input) {
    while (input->at < input->size && input->bytes[input->at] != '\n') {
        input->at++;
    }
    if (input->at >= input->size) {
        return false;
    }
    input->at++;
    input->line += input->line < INT_MAX;
    return input->at < input->size;
}

bool fil_word_is(FilWord word, const char *text) {
    return word.length == strlen(text) && memcmp(word.text, text, word.length) == 0;
}

// Digits from `at` on; those beyond the 19th only raise `dropped`. Returns how many there are.
static int read_digits(FilWord word, size_t *at, uint64_t *value, int *kept, int *dropped) {
    int count = 0;
    for (; *at < word.length && is_digit(word.text[*at]) && count < 100000; (*at)++, count++) {
        if (*kept < 19) {
            *value = 10 * *value + (uint64_t)(word.text[*at] - '0');
            *kept += *value > 0;
        } else {
            (*dropped)++;
        }
    }
    return count;
}

static bool read_exponent(FilWord word, size_t *at, int *exponent) {
    uint64_t value = 0;
    int kept = 0, dropped = 0;
    (*at)++;
    const bool negative = *at < word.length && word.text[*at] == '-';
    *at += *at < word.length && (word.text[*at] == '-' || word.text[*at] == '+');
    if (read_digits(word, at, &value, &kept, &dropped) == 0) {
        return false;
    }
    const int size = value > 100000 ? 100000 : (int)value;
    *exponent = negative ? -size : size;
    return true;
}

static double scale_by_ten(uint64_t digits, int exponent) {
    long double value = (long double)digits;
    const int size = exponent < 0 ? -exponent : exponent;
    if (digits == 0 || exponent < -400) {
        return 0.0;
    }
    if (exponent > 400) {
        return (double)INFINITY;
    }
    long double power = 1.0L;
    for (int k = 0; k < size; k++) {
        power *= 10.0L; // exact up to 10^27
    }
    return (double)(exponent < 0 ? value / power : value * power);
}

bool fil_word_number(FilWord word, double *value) {
    uint64_t digits = 0;
    size_t at = word.length > 0 && (word.text[0] == '-' || word.text[0] == '+');
    int kept = 0, dropped = 0, ignored = 0, exponent = 0;
    int count = read_digits(word, &at, &digits, &kept, &dropped);
    if (at < word.length && word.text[at] == '.') {
        at++;
        const int behind = read_digits(word, &at, &digits, &kept, &ignored);
        count += behind;
        dropped -= behind - ignored;
    }
    if (count == 0) {
        return false;
    }
    if (at < word.length && (word.text[at] == 'e' || word.text[at] == 'E') &&
        !read_exponent(word, &at, &exponent)) {
        return false;
    }
    if (at != word.length) {
        return false;
    }
    *value = scale_by_ten(digits, dropped + exponent);
    *value = word.text[0] == '-' ? -*value : *value;
    return isfinite(*value);
}

bool fil_word_int(FilWord word, int *value) {
    uint64_t digits = 0;
    size_t at = word.length > 0 && (word.text[0] == '-' || word.text[0] == '+');
    int kept = 0, dropped = 0;
    if (read_digits(word, &at, &digits, &kept, &dropped) == 0 || dropped > 0 || digits > INT_MAX ||
        (at != word.length && word.text[at] != '/')) {
        return false;
    }
    *value = word.text[0] == '-' ? -(int)digits : (int)digits;
    return true;
}

// ----------------------------------------------------------------------------------- polygons

typedef struct Polygon {
    const double *vertices;
    int corner[LARGEST_CLIPPED];
    int count;
    double normal[3];
} Polygon;

static const double *get_corner(const Polygon *p, int i) {
    return &p->vertices[3 * (size_t)p->corner[i]];
}

// Twice the area of the triangle a b c, seen along the normal.
static double get_turn(const Polygon *p, const double *a, const double *b, const double *c) {
    double e[3], f[3], n[3];
    fil_subtract3(b, a, e);
    fil_subtract3(c, b, f);
    fil_cross3(e, f, n);
    return fil_dot3(n, p->normal);
}

static bool is_ear(const Polygon *p, int i) {
    const int before = (i + p->count - 1) % p->count, after = (i + 1) % p->count;
    const double *a = get_corner(p, before), *b = get_corner(p, i), *c = get_corner(p, after);
    if (!(get_turn(p, a, b, c) > 0.0)) {
        return false;
    }
    for (int k = 0; k < p->count; k++) {
        const double *x = get_corner(p, k);
        if (k != before && k != i && k != after && get_turn(p, a, b, x) >= 0.0 &&
            get_turn(p, b, c, x) >= 0.0 && get_turn(p, c, a, x) >= 0.0) {
            return false;
        }
    }
    return true;
}

static void add_triangle(FilMeshInput *input, int a, int b, int c) {
    int *to = &input->triangles[3 * (size_t)input->triangle_count++];
    to[0] = a;
    to[1] = b;
    to[2] = c;
}

static void clip_ears(FilMeshInput *input, Polygon *p) {
    while (p->count > 3) {
        int ear = 0;
        while (ear < p->count && !is_ear(p, ear)) {
            ear++;
        }
        ear = ear < p->count ? ear : 1; // none: the fan
        add_triangle(input, p->corner[(ear + p->count - 1) % p->count], p->corner[ear],
                     p->corner[(ear + 1) % p->count]);
        memmove(&p->corner[ear], &p->corner[ear + 1],
                (size_t)(p->count - ear - 1) * sizeof *p->corner);
        p->count--;
    }
    add_triangle(input, p->corner[0], p->corner[1], p->corner[2]);
}

void fil_mesh_add_polygon(FilMeshInput *input, int count) {
    const int *corner = input->corners;
    if (count == 3 || count > LARGEST_CLIPPED) {
        for (int k = 1; k + 1 < count; k++) {
            add_triangle(input, corner[0], corner[k], corner[k + 1]);
        }
        return;
    }
    Polygon p = {.vertices = input->vertices, .count = count};
    memcpy(p.corner, corner, (size_t)count * sizeof *corner);
    const double *from = get_corner(&p, 0);
    for (int k = 1; k + 1 < count; k++) { // Newell's sums
        double e[3], f[3], c[3];
        fil_subtract3(get_corner(&p, k), from, e);
        fil_subtract3(get_corner(&p, k + 1), from, f);
        fil_cross3(e, f, c);
        fil_add3(1.0, c, p.normal);
    }
    clip_ears(input, &p);
}
