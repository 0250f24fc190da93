#ifndef FIL_RENDER_PICTURE_H
#define FIL_RENDER_PICTURE_H

#include "filum/base.h"

/// A picture: rows from above, four bytes a pixel, sRGB and coverage (not multiplied into it).
typedef struct FilPicture {
    int width, height;
    unsigned char *pixels; ///< [height][width][4]; belongs to the picture
} FilPicture;

FilStatus fil_picture_create(int width, int height, FilPicture *out,
                             FilError *error) FIL_MUST_CHECK;
void fil_picture_destroy(FilPicture *picture); // one of zeros is fine

/// Write a PNG file that appears complete or not at all. Pictures that are covered everywhere are
/// written without coverage.
FilStatus fil_picture_write(const FilPicture *picture, const char *path, bool force,
                            FilError *error) FIL_MUST_CHECK;

/// Lay a colour over a rectangle of the picture; what lies outside is left out.
typedef struct FilPaint {
    unsigned char rgb[3];
    double cover; ///< 0 .. 1
} FilPaint;
void fil_picture_fill(FilPicture *picture, const int corner[2], const int size[2], FilPaint paint);

/// Text in capitals of `7 * scale` pixels; `corner` is above and left of it.
/// What the font does not have is left out.
void fil_picture_print(FilPicture *picture, const int corner[2], int scale, const char *text,
                       FilPaint paint);
int fil_picture_text_width(int scale, const char *text); ///< in pixels

#endif
