// render.c - frames to pictures, tile by tile.
#include "render.h"

#include "base/error.h"
#include "base/parallel.h"
#include "model.h"

#include <stdio.h>

enum { TILE = 16, MANY_RODS = 60 };

FilRenderOptions fil_render_options_default(void) {
    return (FilRenderOptions){.width = 1280,
                              .height = 720,
                              .samples = 16,
                              .threads = 1,
                              .colour = FIL_COLOUR_NATURAL,
                              .background = FIL_BACKGROUND_LIGHT,
                              .wisps = true,
                              .floor = true,
                              .size = 1.0,
                              .camera = fil_camera_default()};
}

// A rod alone, and hair, look like what they are; a few rods are told apart.
int fil_render_choose_colour(const FilResultDef *def) {
    return def->rod_count > 1 && def->rod_count <= MANY_RODS ? FIL_FIELD_ROD : FIL_COLOUR_NATURAL;
}

FilStatus fil_render_fit(FilRenderOptions *options, const FilExtent *extent, FilError *error) {
    options->size = fil_extent_size(extent);
    options->floor_z = (extent->count > 0 ? extent->low[2] : -0.5) - 0.02 * options->size;
    return fil_camera_fit(&options->camera, extent, (double)options->width / options->height,
                          error);
}

// --- from light to bytes -------------------------------------------------------------------------

// What is brighter than most is pressed together rather than cut off.
static float compress(float c) {
    const float knee = 0.70f;
    return c <= knee ? fmaxf(c, 0.0f)
                     : knee + (1.0f - knee) * (1.0f - expf((knee - c) / (1.0f - knee)));
}

// `dither`, -0.5 .. 0.5, keeps slow changes of colour from showing as steps.
static unsigned char encode(float linear, float dither) {
    const float c = compress(linear);
    const float s = c <= 0.0031308f ? 12.92f * c : 1.055f * powf(c, 1.0f / 2.4f) - 0.055f;
    return (unsigned char)fminf(fmaxf(255.0f * s + dither + 0.5f, 0.0f), 255.0f);
}

static void put_pixel(const FilPixel *from, uint32_t seed, unsigned char *out) {
    const float dither = (float)(seed >> 8) * 0x1p-24f - 0.5f;
    const float cover = fminf(from->cover, 1.0f), back = cover > 0.0f ? 1.0f / cover : 0.0f;
    out[0] = encode(back * from->colour.x, dither);
    out[1] = encode(back * from->colour.y, dither);
    out[2] = encode(back * from->colour.z, dither);
    out[3] = (unsigned char)(255.0f * cover + 0.5f);
}

// --- tiles ---------------------------------------------------------------------------------------

typedef struct Work {
    const FilRenderOptions *options;
    FilModel model;
    FilPicture *picture;
    int across; // tiles
} Work;

static void draw_tile(void *context, int tile) {
    const Work *work = context;
    const FilRenderOptions *options = work->options;
    if (options->stop != NULL && options->stop(options->user)) {
        return;
    }
    const int left = TILE * (tile % work->across), top = TILE * (tile / work->across);
    for (int y = top; y < top + TILE && y < options->height; y++) {
        for (int x = left; x < left + TILE && x < options->width; x++) {
            const FilPixel pixel = fil_shade_pixel(&work->model, options, x, y);
            put_pixel(&pixel, fil_hash2((uint32_t)y, (uint32_t)x),
                      work->picture->pixels + 4 * ((size_t)y * (size_t)options->width + (size_t)x));
        }
    }
}

FilStatus fil_render_frame(const FilRenderOptions *options, const FilResultDef *def,
                           const FilFrame *frame, FilPicture *picture, FilError *error) {
    FIL_ASSERT(picture->width == options->width && picture->height == options->height);
    Work work = {
        .options = options, .picture = picture, .across = (options->width + TILE - 1) / TILE};
    const FilStatus status = fil_model_build(&work.model, options, def, frame, error);
    if (status == FIL_OK) {
        const int down = (options->height + TILE - 1) / TILE;
        fil_parallel_for(work.across * down, options->threads, draw_tile, &work);
        if (options->colour != FIL_COLOUR_NATURAL && options->colour != FIL_FIELD_ROD) {
            fil_render_scale(options, picture);
        }
    }
    fil_model_destroy(&work.model);
    return status;
}

// --- the scale -----------------------------------------------------------------------------------

static FilPaint paint_of(const double rgb[3], double cover) {
    FilPaint paint = {.cover = cover};
    for (int k = 0; k < 3; k++) {
        paint.rgb[k] = (unsigned char)(255.0 * rgb[k] + 0.5);
    }
    return paint;
}

static FilPaint ink_of(const FilRenderOptions *options) {
    const bool dark = options->background == FIL_BACKGROUND_DARK;
    const double ink = dark ? 0.88 : 0.20;
    return paint_of((double[3]){ink, ink, ink}, 1.0);
}

// Names of the three states, each beside its colour.
static void draw_states(const FilRenderOptions *options, FilPicture *picture, int left, int scale) {
    static const char *const names[] = {"nothing presses", "sticks", "slides"};
    for (int k = 0; k < 3; k++) {
        double rgb[3];
        const int top = options->height - scale * (14 + 14 * k);
        fil_colour_value(FIL_FIELD_STATE, options->range, k, rgb);
        fil_picture_fill(picture, (int[2]){left, top}, (int[2]){8 * scale, 7 * scale},
                         paint_of(rgb, 1.0));
        fil_picture_print(picture, (int[2]){left + 12 * scale, top}, scale, names[k],
                          ink_of(options));
    }
}

void fil_render_scale(const FilRenderOptions *options, FilPicture *picture) {
    const FilField field = (FilField)options->colour;
    const int scale = options->height >= 540 ? options->height / 360 : 1;
    const int left = 12 * scale, wide = 120 * scale, tall = 8 * scale;
    const int top = options->height - 32 * scale;
    if (field == FIL_FIELD_STATE) {
        draw_states(options, picture, left, scale);
        return;
    }
    for (int x = 0; x < wide; x++) {
        double rgb[3];
        fil_colour_scale(options->range[0] < 0.0, (x + 0.5) / wide, rgb);
        fil_picture_fill(picture, (int[2]){left + x, top}, (int[2]){1, tall}, paint_of(rgb, 1.0));
    }
    char text[64];
    (void)snprintf(text, sizeof text, "%s, %s", fil_field_name(field), fil_field_unit(field));
    fil_picture_print(picture, (int[2]){left, top - 12 * scale}, scale, text, ink_of(options));
    for (int k = 0; k < 3; k++) {
        const double value = options->range[0] + 0.5 * k * (options->range[1] - options->range[0]);
        (void)snprintf(text, sizeof text, "%.3g", fabs(value) < 1e-300 ? 0.0 : value);
        const int width = fil_picture_text_width(scale, text);
        const int at[2] = {left + k * (wide - width) / 2, top + tall + 5 * scale};
        fil_picture_print(picture, at, scale, text, ink_of(options));
    }
}
