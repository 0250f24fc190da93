// font.c - letters for what is written into pictures: names, units and numbers.
//
// A letter is drawn by a round pen along lines and arcs, and a pixel takes as much of the paint as
// the pen covers of it: with d the distance of its middle from the stroke and r half the pen's
// width, r - d + 1/2, kept within 0 and 1. Coordinates are tenths of a dot, y up from the line that
// letters stand on; capitals are 70 high, small letters 50, and what hangs goes down to -21. A path
// is a list of strokes:
//   l x y x y ...              a line through these points; a dot where they are one
//   a x y rx ry from to        an arc about (x, y), from one angle to another, in degrees
// A letter that is not here, in UTF-8 of whatever length, is one empty box: it is missed, not lost.
#include "picture.h"

#include <math.h>
#include <stdlib.h>

enum { CAPITAL = 70, LOWEST = -21, GAP = 15, STEP = 12, SEGMENTS = 160 };

typedef struct Letter {
    int width; // tenths of a dot
    const char *path;
} Letter;

// clang-format off
static const Letter letters[128] = {
    [' '] = {22, ""},
    ['!'] = {8, "l4 70 4 22l4 2 4 2"},
    ['"'] = {18, "l3 70 3 54l15 70 15 54"},
    ['%'] = {58, "a13 56 12 14 0 360a45 14 12 14 0 360l48 70 10 0"},
    ['&'] = {50, "l47 0 10 47a21 56 13 14 220 -35l32 48 9 31a20 17 19 17 125 335l37 10 47 32"},
    ['\''] = {6, "l3 70 3 54"},
    ['('] = {16, "a34 28 32 46 130 230"},
    [')'] = {16, "a-18 28 32 46 50 -50"},
    ['*'] = {36, "l18 64 18 40l7 58 29 46l29 58 7 46"},
    ['+'] = {44, "l22 12 22 52l2 32 42 32"},
    [','] = {9, "l6 3 2 -12"},
    ['-'] = {28, "l2 28 26 28"},
    ['.'] = {8, "l4 2 4 2"},
    ['/'] = {28, "l0 -8 28 74"},
    ['0'] = {42, "a21 35 20 35 0 360"},
    ['1'] = {42, "l10 56 26 70 26 0"},
    ['2'] = {42, "a21 50 20 20 168 -35l37 38 1 0 41 0"},
    ['3'] = {42, "a20 53 18 17 150 -90a20 18 20 18 90 -150"},
    ['4'] = {42, "l32 0 32 70 0 18 42 18"},
    ['5'] = {42, "l38 70 7 70 4 38a20 23 21 23 140 -145"},
    ['6'] = {42, "a21 22 20 22 0 360a45 22 44 48 180 103"},
    ['7'] = {42, "l1 70 41 70 14 0"},
    ['8'] = {42, "a21 53 17 17 0 360a21 18 20 18 0 360"},
    ['9'] = {42, "a21 48 20 22 0 360a-3 48 44 48 0 -77"},
    [':'] = {8, "l4 2 4 2l4 42 4 42"},
    [';'] = {9, "l6 3 2 -12l6 42 6 42"},
    ['<'] = {44, "l40 54 4 32 40 10"},
    ['='] = {44, "l4 42 40 42l4 22 40 22"},
    ['>'] = {44, "l4 54 40 32 4 10"},
    ['?'] = {36, "a18 52 17 18 165 -50l29 38 18 26 18 20l18 2 18 2"},
    ['A'] = {50, "l0 0 25 70 50 0l9 24 41 24"},
    ['B'] = {43, "l22 70 0 70 0 0 24 0a22 53 17 17 90 -90l0 36 24 36a24 18 19 18 90 -90"},
    ['C'] = {47, "a29 35 28 35 50 310"},
    ['D'] = {46, "l20 0 0 0 0 70 20 70a20 35 26 35 90 -90"},
    ['E'] = {38, "l38 70 0 70 0 0 38 0l0 36 33 36"},
    ['F'] = {37, "l37 70 0 70 0 0l0 36 32 36"},
    ['G'] = {48, "a29 35 28 35 50 305l45 6 48 12 48 33 29 33"},
    ['H'] = {46, "l0 0 0 70l46 0 46 70l0 36 46 36"},
    ['I'] = {8, "l4 0 4 70"},
    ['J'] = {32, "l32 70 32 18a16 18 16 18 0 -165"},
    ['K'] = {44, "l0 0 0 70l42 70 0 26l14 41 44 0"},
    ['L'] = {36, "l0 70 0 0 36 0"},
    ['M'] = {56, "l0 0 0 70 28 18 56 70 56 0"},
    ['N'] = {48, "l0 0 0 70 48 0 48 70"},
    ['O'] = {54, "a27 35 27 35 0 360"},
    ['P'] = {42, "l0 0 0 70 22 70a22 51 19 19 90 -90l22 32 0 32"},
    ['Q'] = {54, "a27 35 27 35 0 360l34 16 54 -4"},
    ['R'] = {43, "l0 0 0 70 22 70a22 51 19 19 90 -90l0 32 22 32 43 0"},
    ['S'] = {42, "a21 53 19 17 35 270a21 18 20 18 90 -148"},
    ['T'] = {46, "l0 70 46 70l23 70 23 0"},
    ['U'] = {46, "l0 70 0 23a23 23 23 23 180 360l46 23 46 70"},
    ['V'] = {48, "l0 70 24 0 48 70"},
    ['W'] = {70, "l0 70 17 0 35 60 53 0 70 70"},
    ['X'] = {46, "l0 0 46 70l0 70 46 0"},
    ['Y'] = {46, "l0 70 23 34 46 70l23 34 23 0"},
    ['Z'] = {44, "l1 70 43 70 0 0 44 0"},
    ['['] = {16, "l14 74 2 74 2 -14 14 -14"},
    [']'] = {16, "l2 74 14 74 14 -14 2 -14"},
    ['^'] = {40, "l4 46 20 70 36 46"},
    ['_'] = {40, "l0 -6 40 -6"},
    ['a'] = {38, "a19 25 19 25 0 360l38 50 38 0"},
    ['b'] = {40, "l0 72 0 0a20 25 20 25 0 360"},
    ['c'] = {38, "a22 25 21 25 48 312"},
    ['d'] = {38, "a19 25 19 25 0 360l38 72 38 0"},
    ['e'] = {41, "l2 26 40 26a21 25 20 25 2 318"},
    ['f'] = {26, "l10 0 10 56a24 56 14 16 180 95l0 48 24 48"},
    ['g'] = {38, "a19 25 19 25 0 360l38 50 38 -4a19 -4 19 17 0 -150"},
    ['h'] = {36, "l0 0 0 72a18 31 18 19 180 0l36 31 36 0"},
    ['i'] = {8, "l4 0 4 50l4 67 4 67"},
    ['j'] = {14, "l10 50 10 -8a-2 -8 12 13 0 -90l10 67 10 67"},
    ['k'] = {34, "l0 0 0 72l32 50 0 18l12 29 34 0"},
    ['l'] = {8, "l4 72 4 0"},
    ['m'] = {60, "l0 0 0 50a15 33 15 17 180 0l30 33 30 0a45 33 15 17 180 0l60 33 60 0"},
    ['n'] = {36, "l0 0 0 50a18 31 18 19 180 0l36 31 36 0"},
    ['o'] = {40, "a20 25 20 25 0 360"},
    ['p'] = {40, "l0 50 0 -21a20 25 20 25 0 360"},
    ['q'] = {38, "a19 25 19 25 0 360l38 50 38 -21"},
    ['r'] = {24, "l0 0 0 50a20 28 20 22 180 80"},
    ['s'] = {34, "a17 37 15 13 35 270a17 12 16 12 90 -148"},
    ['t'] = {26, "l10 66 10 14a24 14 14 14 180 275l0 50 24 50"},
    ['u'] = {36, "l0 50 0 19a18 19 18 19 180 360l36 50 36 0"},
    ['v'] = {38, "l0 50 19 0 38 50"},
    ['w'] = {56, "l0 50 14 0 28 44 42 0 56 50"},
    ['x'] = {36, "l0 0 36 50l0 50 36 0"},
    ['y'] = {38, "l0 50 19 2l38 50 15 -12 8 -20 1 -20"},
    ['z'] = {34, "l1 50 33 50 0 0 34 0"},
    ['|'] = {6, "l3 74 3 -14"},
};
// clang-format on

// The strokes of a letter as line segments: x0, y0, x1, y1 in tenths of a dot.
typedef struct Strokes {
    double segment[SEGMENTS][4];
    int count;
} Strokes;

static void add_segment(Strokes *strokes, const double from[2], const double to[2]) {
    if (strokes->count < SEGMENTS) {
        double *segment = strokes->segment[strokes->count++];
        segment[0] = from[0];
        segment[1] = from[1];
        segment[2] = to[0];
        segment[3] = to[1];
    }
}

static void add_arc(Strokes *strokes, const double arc[6]) {
    const double degree = 3.14159265358979323846 / 180.0;
    const int pieces = (int)ceil(fabs(arc[5] - arc[4]) / STEP);
    double from[2] = {0.0, 0.0};
    for (int k = 0; k <= pieces; k++) {
        const double angle = degree * (arc[4] + (arc[5] - arc[4]) * k / pieces);
        const double to[2] = {arc[0] + arc[2] * cos(angle), arc[1] + arc[3] * sin(angle)};
        if (k > 0) {
            add_segment(strokes, from, to);
        }
        from[0] = to[0];
        from[1] = to[1];
    }
}

// The numbers that follow in a path; returns where they end.
static const char *read_numbers(const char *path, double *numbers, int most, int *count) {
    *count = 0;
    char *end = NULL;
    for (long value = strtol(path, &end, 10); end != path && *count < most;
         value = strtol(path, &end, 10)) {
        numbers[(*count)++] = (double)value;
        path = end;
    }
    return path;
}

static void trace(const char *path, Strokes *strokes) {
    strokes->count = 0;
    while (path != NULL && *path != '\0') {
        double numbers[16] = {0.0};
        int count = 0;
        const char kind = *path;
        path = read_numbers(path + 1, numbers, 16, &count);
        if (kind == 'a' && count == 6) {
            add_arc(strokes, numbers);
        }
        for (int k = 0; kind == 'l' && k + 3 < count; k += 2) {
            add_segment(strokes, numbers + k, numbers + k + 2);
        }
    }
}

// The distance of a point from the nearest segment.
static double distance_to(const Strokes *strokes, double x, double y) {
    double least = INFINITY;
    for (int k = 0; k < strokes->count; k++) {
        const double *s = strokes->segment[k];
        const double dx = s[2] - s[0], dy = s[3] - s[1], length = dx * dx + dy * dy;
        const double along = length > 0.0 ? ((x - s[0]) * dx + (y - s[1]) * dy) / length : 0.0;
        const double t = fmin(fmax(along, 0.0), 1.0);
        least = fmin(least, hypot(x - s[0] - t * dx, y - s[1] - t * dy));
    }
    return least;
}

// NULL for the bytes of a letter after its first.
static const Letter *letter_of(char byte) {
    static const Letter missing = {38, "l4 0 4 70 34 70 34 0 4 0"};
    const unsigned char code = (unsigned char)byte;
    if ((code & 0xC0U) == 0x80U) {
        return NULL;
    }
    return code < 128 && letters[code].path != NULL ? &letters[code] : &missing;
}

int fil_picture_text_width(int scale, const char *text) {
    int width = 0;
    for (int k = 0; text[k] != '\0'; k++) {
        const Letter *letter = letter_of(text[k]);
        width += letter != NULL ? letter->width + (width > 0 ? GAP : 0) : 0;
    }
    return (width * scale + 9) / 10;
}

// One letter, `left` tenths of a dot to the right of the corner.
static void print_letter(FilPicture *picture, const int corner[2], int scale, int left,
                         const Letter *letter, FilPaint paint) {
    Strokes strokes;
    trace(letter->path, &strokes);
    const double unit = scale / 10.0, pen = fmax(0.43 * scale, 0.55);
    const int rim = scale + 1, first = (int)floor(left * unit) - rim;
    const int last = (int)ceil((left + letter->width) * unit) + rim;
    for (int y = -rim; strokes.count > 0 && y < (CAPITAL - LOWEST) * scale / 10 + rim; y++) {
        for (int x = first; x < last; x++) {
            const double d =
                distance_to(&strokes, (x + 0.5) / unit - left, CAPITAL - (y + 0.5) / unit);
            const double cover = fmin(fmax(pen - d * unit + 0.5, 0.0), 1.0);
            if (cover > 0.0) {
                fil_picture_fill(picture, (const int[2]){corner[0] + x, corner[1] + y},
                                 (const int[2]){1, 1},
                                 (FilPaint){.rgb = {paint.rgb[0], paint.rgb[1], paint.rgb[2]},
                                            .cover = paint.cover * cover});
            }
        }
    }
}

void fil_picture_print(FilPicture *picture, const int corner[2], int scale, const char *text,
                       FilPaint paint) {
    int left = 0;
    for (int k = 0; text[k] != '\0'; k++) {
        const Letter *letter = letter_of(text[k]);
        if (letter != NULL) {
            print_letter(picture, corner, scale, left, letter, paint);
            left += letter->width + GAP;
        }
    }
}
