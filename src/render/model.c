// model.c - a frame as Embree's scene.
//
// Embree builds its tree on one thread, so that the tree, and with it which of two surfaces at the
// same place is hit, never depends on the number of threads.
//
// Faded strands. Whether a ray meets a strand of cover c or passes it is decided by a number that
// belongs to pixel, strand and sample: those of n samples are spread evenly over 0 .. 1, so that c
// n are met, give or take one, in an order of each strand's own, so that strands behind each other
// cover as much as they should together.
#include "model.h"

#include "base/error.h"
#include "math/vec3.h"

static double decode(double encoded) {
    const double c = fmin(fmax(encoded, 0.0), 1.0);
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

V3 fil_colour_linear(const double rgb[3]) {
    return v3((float)decode(rgb[0]), (float)decode(rgb[1]), (float)decode(rgb[2]));
}

float fil_model_pixel(const FilModel *model, V3 place) {
    const float depth = v3_dot(v3_sub(place, model->eye), model->forward);
    return model->pixel * fmaxf(fabsf(depth), 1e-6f);
}

static void filter_strand(const struct RTCFilterFunctionNArguments *args) {
    FilQuery *query = (FilQuery *)args->context;
    const struct RTCHit *hit = (const struct RTCHit *)args->hit; // rays go one by one
    const struct RTCRay *ray = (const struct RTCRay *)args->ray;
    const FilPiece *piece = &query->model->strands.pieces[hit->primID];
    const float cover = piece->cover[0] + hit->u * (piece->cover[1] - piece->cover[0]);
    const uint32_t bits = fil_hash2(query->seed, piece->name);
    const uint32_t at = fil_shuffle(query->sample, query->mask, bits);
    query->touched = true;
    if (fil_unit_float(fil_reverse(at) ^ bits) >= cover * (piece->hair ? query->thin : 1.0f) ||
        (piece->line == query->own && ray->tfar < piece->thick)) {
        args->valid[0] = 0;
    }
}

static void attach(FilModel *model, RTCGeometry geometry, FilPart part) {
    rtcCommitGeometry(geometry);
    rtcAttachGeometryByID(model->scene, geometry, (unsigned)part);
    rtcReleaseGeometry(geometry);
}

static void attach_curves(FilModel *model, const FilCurves *curves, FilPart part) {
    if (curves->piece_count == 0) {
        return;
    }
    const bool balls = part == FIL_PART_BALLS, flat = part == FIL_PART_STRANDS && !curves->round;
    RTCGeometry geometry =
        rtcNewGeometry(model->device, balls  ? RTC_GEOMETRY_TYPE_SPHERE_POINT
                                      : flat ? RTC_GEOMETRY_TYPE_FLAT_LINEAR_CURVE
                                             : RTC_GEOMETRY_TYPE_ROUND_LINEAR_CURVE);
    rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT4,
                               curves->vertex, 0, sizeof *curves->vertex,
                               (size_t)curves->vertex_count);
    if (!balls) {
        rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT,
                                   curves->first, 0, sizeof *curves->first,
                                   (size_t)curves->piece_count);
        rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_FLAGS, 0, RTC_FORMAT_UCHAR,
                                   curves->flags, 0, 1, (size_t)curves->piece_count);
    }
    if (curves->filtered) {
        rtcSetGeometryIntersectFilterFunction(geometry, filter_strand);
        rtcSetGeometryOccludedFilterFunction(geometry, filter_strand);
    }
    attach(model, geometry, part);
}

static void attach_triangles(FilModel *model, const FilTriangles *triangles) {
    if (triangles->count == 0) {
        return;
    }
    RTCGeometry geometry = rtcNewGeometry(model->device, RTC_GEOMETRY_TYPE_TRIANGLE);
    rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3,
                               triangles->vertex, 0, sizeof *triangles->vertex,
                               (size_t)triangles->vertex_count);
    rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3,
                               triangles->corner, 0, sizeof *triangles->corner,
                               (size_t)triangles->count);
    attach(model, geometry, FIL_PART_TRIANGLES);
}

static void place_camera(FilModel *model, const FilRenderOptions *options) {
    double axes[3][3], eye[3];
    const FilCamera *camera = &options->camera;
    fil_camera_axes(camera, axes);
    fil_subtract3(camera->eye, camera->target, eye);
    const double tall = tan(0.5 * camera->fov * (3.14159265358979323846 / 180.0));
    model->eye = v3_of(eye);
    model->forward = v3_of(axes[2]);
    model->right = v3_scale((float)(tall * options->width / options->height), v3_of(axes[0]));
    model->up = v3_scale((float)tall, v3_of(axes[1]));
    model->pixel = (float)(2.0 * tall / options->height);
    // the light comes from above, over the left shoulder of who looks
    V3 light = v3(0.0f, 0.0f, 0.75f);
    light = v3_more(light, -0.55f, v3_of(axes[0]));
    light = v3_more(light, 0.35f, v3_of(axes[1]));
    model->light = v3_unit(v3_more(light, -0.45f, v3_of(axes[2])));
}

static bool set_values(FilModel *model, const FilRenderOptions *options, const FilResultDef *def,
                       const FilFrame *frame) {
    if (options->colour == FIL_COLOUR_NATURAL) {
        return true;
    }
    model->values = FIL_NEW_ZEROED(&model->arena, double, def->point_count + 1);
    if (model->values != NULL) {
        fil_field_compute((FilField)options->colour, def, frame, model->values);
    }
    return model->values != NULL;
}

// A little wider than all that is in it, so that rays along its walls are inside.
static void set_box(FilModel *model) {
    const float far_off = 1e30f; // where there is nothing at all
    struct RTCBounds bounds;
    rtcGetSceneBounds(model->scene, &bounds);
    const bool empty = bounds.lower_x > bounds.upper_x;
    const float walls[3][2] = {{bounds.lower_x, bounds.upper_x},
                               {bounds.lower_y, bounds.upper_y},
                               {bounds.lower_z, bounds.upper_z}};
    for (int k = 0; k < 3; k++) {
        const float more = 1e-4f * (walls[k][1] - walls[k][0]) + 1e-30f;
        model->box[k][0] = empty ? far_off : walls[k][0] - more;
        model->box[k][1] = empty ? far_off : walls[k][1] + more;
    }
}

FilStatus fil_model_build(FilModel *model, const FilRenderOptions *options, const FilResultDef *def,
                          const FilFrame *frame, FilError *error) {
    *model = (FilModel){.arena = fil_arena_make(NULL)};
    model->device = rtcNewDevice("threads=1,set_affinity=0");
    model->scene = model->device != NULL ? rtcNewScene(model->device) : NULL;
    if (model->scene == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "Embree does not start on this machine");
    }
    place_camera(model, options);
    if (!set_values(model, options, def, frame) ||
        !fil_model_add_strands(model, options, def, frame) ||
        !fil_model_add_solids(model, options, def, frame)) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is not enough memory to draw a frame");
    }
    attach_curves(model, &model->strands, FIL_PART_STRANDS);
    attach_curves(model, &model->capsules, FIL_PART_CAPSULES);
    attach_curves(model, &model->balls, FIL_PART_BALLS);
    attach_triangles(model, &model->triangles);
    rtcCommitScene(model->scene);
    set_box(model);
    if (rtcGetDeviceError(model->device) != RTC_ERROR_NONE) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is not enough memory to draw a frame");
    }
    return FIL_OK;
}

void fil_model_destroy(FilModel *model) {
    if (model->scene != NULL) {
        rtcReleaseScene(model->scene);
    }
    if (model->device != NULL) {
        rtcReleaseDevice(model->device);
    }
    fil_arena_destroy(&model->arena);
}
