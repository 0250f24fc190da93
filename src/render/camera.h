#ifndef FIL_RENDER_CAMERA_H
#define FIL_RENDER_CAMERA_H

#include "filum/result.h"

/// A pinhole. What is not set is fitted: see fil_camera_fit().
typedef struct FilCamera {
    double eye[3], target[3], up[3]; ///< m; up need not be at right angles to the view
    double from[3];                  ///< direction to look from, where no eye is set
    double fov;                      ///< degrees, from the lower to the upper edge
    double zoom;                     ///< 2: the fitted things twice as large
    bool has_eye, has_target, has_from;
} FilCamera;

FilCamera fil_camera_default(void);

/// Read "eye=x,y,z target=x,y,z up=x,y,z from=x,y,z fov=degrees zoom=factor", any of them, on top
/// of what `camera` holds.
FilStatus fil_camera_read(const char *text, FilCamera *camera, FilError *error) FIL_MUST_CHECK;

/// What a camera is fitted to, collected over any number of frames: balls, that is, places with a
/// radius around them.
typedef struct FilExtent {
    double (*balls)[4]; ///< x, y, z, radius: m
    int count, room;
    double low[3], high[3]; ///< m, a box around them
} FilExtent;

/// Add the rods, rigid bodies and obstacles of a frame; planes have no extent, and obstacles much
/// larger than all else do not count. Only every `stride`th point of a rod, and its last, is added.
FilStatus fil_extent_add(FilExtent *extent, const FilResultDef *def, const FilFrame *frame,
                         int stride, FilError *error) FIL_MUST_CHECK;
void fil_extent_destroy(FilExtent *extent);
double fil_extent_size(const FilExtent *extent); ///< m, diagonal of the box, never 0

/// Set what is not set: the direction from which most is to be seen, and the nearest eye from
/// which all of the extent is inside a picture of that aspect (width / height), with a margin. Both
/// are rounded, to a part in 1e5 of the distance.
/// Fails when what was set allows no view.
FilStatus fil_camera_fit(FilCamera *camera, const FilExtent *extent, double aspect,
                         FilError *error) FIL_MUST_CHECK;

#define FIL_CAMERA_TEXT 320 // bytes, with the 0 at its end

/// A camera that is set, as fil_camera_read() reads it: to the bit, for what fil_camera_fit() sets
/// are round numbers.
void fil_camera_write(const FilCamera *camera, char text[FIL_CAMERA_TEXT]);

/// The axes of a camera that is set: right, up, forward.
void fil_camera_axes(const FilCamera *camera, double axes[3][3]);

/// Where a place lies in a picture: x to the right, y downwards, in pixels, and its depth in m.
void fil_camera_project(const FilCamera *camera, const int size[2], const double place[3],
                        double out[3]);

#endif
