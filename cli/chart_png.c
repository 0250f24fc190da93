// chart_png.c - a chart as dots: two for each pixel of the chart, either way.
//
// A polyline covers a dot by how much of it lies within half its width of the nearest piece; the
// pieces of one line do not add up where they meet, so that it is as dark there as elsewhere.
#include "chart.h"

#include "render/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SCALE = 2, LETTER = 3, LETTER_HEIGHT = 7 }; // dots a pixel, dots a dot of a letter

typedef struct Canvas {
    FilPicture picture;
    float *cover; // [height][width], of the line at hand
} Canvas;

static FilPaint paint_of(int colour, double cover) {
    FilPaint paint = {.cover = cover};
    const unsigned long rgb = strtoul(cli_chart_colour(colour) + 1, NULL, 16);
    for (int k = 0; k < 3; k++) {
        paint.rgb[k] = (unsigned char)(rgb >> (16 - 8 * k) & 255UL);
    }
    return paint;
}

static double distance_to(const double a[2], const double b[2], double x, double y) {
    const double u[2] = {b[0] - a[0], b[1] - a[1]}, v[2] = {x - a[0], y - a[1]};
    const double square = u[0] * u[0] + u[1] * u[1];
    const double along = square > 0.0 ? (u[0] * v[0] + u[1] * v[1]) / square : 0.0;
    const double t = fmin(fmax(along, 0.0), 1.0);
    return hypot(v[0] - t * u[0], v[1] - t * u[1]);
}

static int clamp(double x, int most) {
    return (int)fmin(fmax(x, 0.0), most);
}

// What one piece covers; half: half of its width.
static void cover_piece(Canvas *canvas, const double a[2], const double b[2], double half) {
    const int width = canvas->picture.width, height = canvas->picture.height;
    const double reach = half + 1.0;
    const int x1 = clamp(fmax(a[0], b[0]) + reach, width - 1);
    const int y1 = clamp(fmax(a[1], b[1]) + reach, height - 1);
    for (int y = clamp(fmin(a[1], b[1]) - reach, height - 1); y <= y1; y++) {
        for (int x = clamp(fmin(a[0], b[0]) - reach, width - 1); x <= x1; x++) {
            const double apart = distance_to(a, b, x + 0.5, y + 0.5);
            const double cover = fmin(fmax(half + 0.5 - apart, 0.0), 1.0);
            float *at = &canvas->cover[(ptrdiff_t)y * width + x];
            *at = fmaxf(*at, (float)cover);
        }
    }
}

static void draw_line(void *self, int colour, const double *points, int count) {
    Canvas *canvas = self;
    const int width = canvas->picture.width, height = canvas->picture.height;
    memset(canvas->cover, 0, sizeof(float) * (size_t)width * (size_t)height);
    for (int k = 0; k + 1 < count; k++) {
        const double *p = points + 2 * (ptrdiff_t)k;
        const double a[2] = {SCALE * p[0], SCALE * p[1]}, b[2] = {SCALE * p[2], SCALE * p[3]};
        cover_piece(canvas, a, b, colour < 0 ? 0.5 * SCALE : 0.8 * SCALE);
    }
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            const float cover = canvas->cover[(ptrdiff_t)y * width + x];
            if (cover > 0.0F) {
                fil_picture_fill(&canvas->picture, (const int[]){x, y}, (const int[]){1, 1},
                                 paint_of(colour, (double)cover));
            }
        }
    }
}

static void draw_text(void *self, double x, double y, int anchor, bool strong, const char *text) {
    Canvas *canvas = self;
    const int scale = strong ? LETTER + 2 : LETTER, width = fil_picture_text_width(scale, text);
    const int corner[2] = {(int)(SCALE * x) - (anchor + 1) * width / 2,
                           (int)(SCALE * y) - LETTER_HEIGHT * scale};
    fil_picture_print(&canvas->picture, corner, scale, text, paint_of(strong ? 0 : -2, 1.0));
}

CliStatus cli_chart_write_png(const CliSeries *series, const char *title, const char *path,
                              bool force) {
    const int size[2] = {SCALE * CLI_CHART_WIDTH, SCALE * CLI_CHART_HEIGHT};
    Canvas canvas = {.cover = calloc((size_t)size[0] * (size_t)size[1], sizeof(float))};
    FilError error = {.text = "there is not enough memory"};
    bool done = canvas.cover != NULL &&
                fil_picture_create(size[0], size[1], &canvas.picture, &error) == FIL_OK;
    if (done) {
        const FilPaint paper = {{252, 251, 248}, 1.0};
        const CliPainter painter = {.self = &canvas, .line = draw_line, .text = draw_text};
        fil_picture_fill(&canvas.picture, (const int[]){0, 0}, size, paper);
        cli_chart_draw(series, title, &painter);
        done = fil_picture_write(&canvas.picture, path, force, &error) == FIL_OK;
    }
    if (!done) {
        cli_say("%s", error.text);
    }
    fil_picture_destroy(&canvas.picture);
    free(canvas.cover);
    return done ? CLI_FINE : CLI_BAD_FILE;
}
