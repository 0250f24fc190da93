// picture.c - pictures in memory and as PNG files.
#include "picture.h"

#include "base/error.h"
#include "io/atomic.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

FilStatus fil_picture_create(int width, int height, FilPicture *out, FilError *error) {
    FIL_ASSERT(width > 0 && height > 0);
    unsigned char *pixels = calloc((size_t)width * (size_t)height, 4);
    if (pixels == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "a picture of %d x %d does not fit into memory",
                        width, height);
    }
    *out = (FilPicture){.width = width, .height = height, .pixels = pixels};
    return FIL_OK;
}

void fil_picture_destroy(FilPicture *picture) {
    free(picture->pixels);
    *picture = (FilPicture){.pixels = NULL};
}

static bool is_covered(const FilPicture *picture) {
    const size_t count = (size_t)picture->width * (size_t)picture->height;
    for (size_t k = 0; k < count; k++) {
        if (picture->pixels[4 * k + 3] != 255) {
            return false;
        }
    }
    return true;
}

// The pixels without coverage, to be freed; NULL when there is no memory.
static unsigned char *drop_coverage(const FilPicture *picture) {
    const size_t count = (size_t)picture->width * (size_t)picture->height;
    unsigned char *rgb = malloc(3 * count);
    for (size_t k = 0; rgb != NULL && k < count; k++) {
        memcpy(rgb + 3 * k, picture->pixels + 4 * k, 3);
    }
    return rgb;
}

FilStatus fil_picture_write(const FilPicture *picture, const char *path, bool force,
                            FilError *error) {
    const bool covered = is_covered(picture);
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)picture->width,
                       .height = (png_uint_32)picture->height,
                       .format = covered ? PNG_FORMAT_RGB : PNG_FORMAT_RGBA,
                       .flags = PNG_IMAGE_FLAG_FAST};
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    unsigned char *rgb = covered ? drop_coverage(picture) : NULL, *bytes = malloc(size);
    FilStatus status = FIL_OK;
    if (bytes == NULL || (covered && rgb == NULL)) {
        status =
            fil_fail(error, FIL_E_NO_MEMORY, "%s: there is not enough memory to write it", path);
    } else if (png_image_write_to_memory(&image, bytes, &size, 0, covered ? rgb : picture->pixels,
                                         0, NULL) == 0) {
        status = fil_fail(error, FIL_E_IO, "%s: cannot write it: %s", path, image.message);
    } else {
        status = fil_write_file(path, bytes, size, force, error);
    }
    png_image_free(&image);
    free(bytes);
    free(rgb);
    return status;
}

static unsigned char blend(unsigned char under, unsigned char over, double cover) {
    return (unsigned char)(under + (over - under) * cover + 0.5);
}

void fil_picture_fill(FilPicture *picture, const int corner[2], const int size[2], FilPaint paint) {
    for (int y = corner[1] < 0 ? 0 : corner[1]; y < corner[1] + size[1] && y < picture->height;
         y++) {
        for (int x = corner[0] < 0 ? 0 : corner[0]; x < corner[0] + size[0] && x < picture->width;
             x++) {
            unsigned char *pixel =
                picture->pixels + 4 * ((size_t)y * (size_t)picture->width + (size_t)x);
            const double under = pixel[3] / 255.0 * (1.0 - paint.cover);
            const double both = under + paint.cover;
            for (int k = 0; k < 3 && both > 0.0; k++) {
                pixel[k] = blend(pixel[k], paint.rgb[k], paint.cover / both);
            }
            pixel[3] = (unsigned char)(255.0 * both + 0.5);
        }
    }
}
