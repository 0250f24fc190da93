#ifndef FIL_RENDER_RENDER_H
#define FIL_RENDER_RENDER_H

/// Pictures of frames, ray-traced.

#include "camera.h"
#include "filum/look.h"
#include "picture.h"

// One table: what is behind everything.
#define FIL_BACKGROUNDS(X)                           \
    X(FIL_BACKGROUND_LIGHT, "light", "nearly white") \
    X(FIL_BACKGROUND_DARK, "dark", "nearly black")   \
    X(FIL_BACKGROUND_NONE, "none", "transparent, but for shadows on the ground")

#define FIL_BACKGROUND_ENUM(code, name, text) code,
typedef enum FilBackground {
    FIL_BACKGROUNDS(FIL_BACKGROUND_ENUM) FIL_BACKGROUND_COUNT
} FilBackground;

enum { FIL_COLOUR_NATURAL = -1 }; ///< the colour of hair and of rope, instead of a field

typedef struct FilRenderOptions {
    int width, height; ///< pixels
    int samples;       ///< a pixel, at most; where nothing is to be seen, four are enough
    int threads;       ///< as fil_thread_count() gives it
    int colour;        ///< FilField or FIL_COLOUR_NATURAL
    double range[2];   ///< of the field's scale
    FilBackground background;
    bool wisps;               ///< hair that touches as a wisp is drawn as one
    bool floor;               ///< catch shadows below, where no obstacle is a plane
    double floor_z;           ///< m
    double size;              ///< m, of what is to be seen
    FilCamera camera;         ///< fitted
    bool (*stop)(void *user); ///< asked by any thread now and then; NULL: never
    void *user;
} FilRenderOptions;

/// "Embree 3.13.5, libpng 1.6.39": those that it was built with.
const char *fil_render_libraries(void);

/// 1280 x 720, 16 samples, light.
FilRenderOptions fil_render_options_default(void);

/// The colouring that shows most where none was asked for.
int fil_render_choose_colour(const FilResultDef *def);

/// Set camera, size and floor to what an extent needs.
FilStatus fil_render_fit(FilRenderOptions *options, const FilExtent *extent,
                         FilError *error) FIL_MUST_CHECK;

/// Draw a frame; `picture` has the size of the options. The same bytes for any number of threads.
/// When stopped, what is not drawn stays as it was.
FilStatus fil_render_frame(const FilRenderOptions *options, const FilResultDef *def,
                           const FilFrame *frame, FilPicture *picture,
                           FilError *error) FIL_MUST_CHECK;

/// Draw the scale of a field, with its name, unit and ends, into a corner.
void fil_render_scale(const FilRenderOptions *options, FilPicture *picture);

#endif
