#ifndef FIL_RENDER_MODEL_H
#define FIL_RENDER_MODEL_H

// What a frame looks like to a ray: curves and triangles in Embree's scene, planes beside it.
// All places are floats relative to the camera's target, so that fine hair far from the origin of
// the world keeps its shape.

#include "base/arena.h"
#include "bits.h"
#include "io/section.h"
#include "render.h"
#include "v3.h"

#include <embree3/rtcore.h>
#include <stdatomic.h>

// Kinds of geometry; their numbers are those in Embree's scene.
typedef enum FilPart {
    FIL_PART_STRANDS,
    FIL_PART_CAPSULES,
    FIL_PART_BALLS,
    FIL_PART_TRIANGLES
} FilPart;

// A piece of a strand: what rays on their way ask for, side by side.
typedef struct FilPiece {
    float cover[2]; // at its ends: below 1 where a rod thinner than a pixel was widened
    float thick;    // m: nearer than this its line, with all its fibres, is itself
    int line;
    uint32_t name; // of its fibre, in any frame
    uint32_t step; // of its fibre's sites, the first of this piece
    bool hair;     // shaded as hair
} FilPiece;

// Round curves, piece by piece between vertices that follow each other: rods and capsules. Balls
// are vertices alone; solids have a colour a piece.
typedef struct FilCurves {
    int vertex_count, piece_count;
    float (*vertex)[4];     // x, y, z, radius
    V3 *tangent, *colour;   // of vertices; colours are linear
    unsigned *first;        // vertex of a piece
    unsigned char *flags;   // of a piece: Embree's
    FilPiece *pieces;       // of strands
    size_t *site;           // of a piece of hair: its first one, for light (sites.h)
    _Atomic uint64_t *seen; // of a site
    bool filtered;          // some cover is below 1, or light goes through
    bool round;             // some are not hair, or wide enough that one sees that they are round
} FilCurves;

typedef struct FilTriangles {
    int vertex_count, count;
    float (*vertex)[3];
    unsigned (*corner)[3];
    V3 (*normal)[3]; // of corners
    V3 *colour;      // of triangles, linear
} FilTriangles;

typedef struct FilPlane {
    V3 place, axis[3]; // all that lies below axis[2]
    float grid;        // m between the lines on it, 0: none
} FilPlane;

typedef struct FilModel {
    FilArena arena;
    RTCDevice device;
    RTCScene scene;
    double *values; // of the points, for colours; NULL: natural ones
    FilCurves strands, capsules, balls;
    FilTriangles triangles;
    FilPlane *planes;
    int plane_count;
    // the camera
    V3 eye, right, up, forward; // right and up as long as half a picture at depth 1
    float pixel;                // m at depth 1 m
    V3 light;                   // direction to it
    float box[3][2];            // around all but planes
} FilModel;

/// Make the model of a frame; fil_model_destroy() in any case.
FilStatus fil_model_build(FilModel *model, const FilRenderOptions *options, const FilResultDef *def,
                          const FilFrame *frame, FilError *error) FIL_MUST_CHECK;
void fil_model_destroy(FilModel *model);

/// Parts of it: false when there is no memory.
bool fil_model_add_strands(FilModel *model, const FilRenderOptions *options,
                           const FilResultDef *def, const FilFrame *frame);
bool fil_model_add_solids(FilModel *model, const FilRenderOptions *options, const FilResultDef *def,
                          const FilFrame *frame);

/// Colour of a recorded point: that of the field, or else the natural one.
V3 fil_model_colour(const FilModel *model, const FilRenderOptions *options, int point, V3 natural);

/// Are there more than a few hairs among the strands?
bool fil_model_has_hair(const FilModel *model);

/// How wide a pixel is at a place, m; behind the eye as in front of it.
float fil_model_pixel(const FilModel *model, V3 place);

/// Linear colour of one in sRGB.
V3 fil_colour_linear(const double rgb[3]);

// --- rays ----------------------------------------------------------------------------------------

#define FIL_HAIR_OPACITY 0.70f // of a hair, to light
#define FIL_LIGHT_RADIUS 0.10f // tangent of half the angle of the key light

// A ray on its way: Embree's context, and what the filter for faded strands needs.
typedef struct FilQuery {
    struct RTCIntersectContext context;
    const FilModel *model;
    uint32_t seed;   // of the pixel or site
    uint32_t sample; // this one,
    uint32_t mask;   // of a power of two, less one
    float thin;      // multiplies the cover of hair: light goes through it
    int own;         // line that does not shade itself where it is near; -1: none
    bool touched;    // something was there, even if the ray went on
} FilQuery;

/// Colour and coverage of a pixel, linear, multiplied by coverage.
typedef struct FilPixel {
    V3 colour;
    float cover;
} FilPixel;
FilPixel fil_shade_pixel(const FilModel *model, const FilRenderOptions *options, int x, int y);

#endif
