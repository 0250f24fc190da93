// camera.c - where to look from.
//
// Fit. Along given axes (right, up, forward) a ball (x, y, z, r) lies between the planes through
// the eye that make the edges of the picture, x = +-t z with t = tan(half the angle of view), if
//     x - ex <= t (z - ez) - w,   ex - x <= t (z - ez) - w,   w = r sqrt(1 + t^2),
// so with A = max(x - t z + w) and B = max(-x - t z + w) over all balls the eye must have
//     ex - t ez >= A,   -ex - t ez >= B:   ez <= -(A + B) / 2t, and ex = (A - B) / 2 there.
// The same for y; the smaller ez wins. That is exact, and one pass over the balls.
//
// Direction. Of a few directions around, that wins which shows most: the largest area of the
// ellipse of the projected balls' second moments, with a bonus for the usual three-quarter view.
#include "camera.h"

#include "base/error.h"
#include "math/rotation.h"
#include "math/vec3.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double degree = 3.14159265358979323846 / 180.0;
static const double margin = 0.90;          // of the picture that the fitted things fill
static const double largest_number = 1e9;   // of any coordinate, m: rays are floats
static const double largest_obstacle = 4.0; // times the size of all else

FilCamera fil_camera_default(void) {
    return (FilCamera){.up = {0.0, 0.0, 1.0}, .fov = 30.0, .zoom = 1.0};
}

// --- reading -------------------------------------------------------------------------------------

static bool read_numbers(const char *text, size_t length, double *out, int count) {
    const char *end = text + length;
    for (int k = 0; k < count; k++) {
        char *after = NULL;
        out[k] = strtod(text, &after);
        if (after == text || after > end || !isfinite(out[k])) {
            return false;
        }
        if (k < count - 1 && *after != ',') {
            return false;
        }
        text = after + (k < count - 1);
    }
    return text == end;
}

typedef enum Word { EYE, TARGET, FROM, UP, FOV, ZOOM, WORD_COUNT } Word;

static FilStatus read_word(const char *word, size_t length, FilCamera *camera,
                           bool seen[WORD_COUNT], FilError *error) {
    const struct {
        const char *name;
        double *numbers;
        int count;
        bool *has;
    } keys[WORD_COUNT] = {
        [EYE] = {"eye=", camera->eye, 3, &camera->has_eye},
        [TARGET] = {"target=", camera->target, 3, &camera->has_target},
        [FROM] = {"from=", camera->from, 3, &camera->has_from},
        [UP] = {"up=", camera->up, 3, NULL},
        [FOV] = {"fov=", &camera->fov, 1, NULL},
        [ZOOM] = {"zoom=", &camera->zoom, 1, NULL},
    };
    for (size_t k = 0; k < WORD_COUNT; k++) {
        const size_t name = strlen(keys[k].name);
        if (length < name || strncmp(word, keys[k].name, name) != 0) {
            continue;
        }
        if (!read_numbers(word + name, length - name, keys[k].numbers, keys[k].count)) {
            break;
        }
        if (seen[k]) {
            return fil_fail(error, FIL_E_ARGUMENT, "the camera has %.*s twice", (int)name - 1,
                            keys[k].name);
        }
        seen[k] = true;
        if (keys[k].has != NULL) {
            *keys[k].has = true;
        }
        return FIL_OK;
    }
    return fil_fail(error, FIL_E_ARGUMENT,
                    "the camera has \"%.*s\"; it must be eye=x,y,z, target=x,y,z, from=x,y,z, "
                    "up=x,y,z, fov=degrees or zoom=factor",
                    (int)(length < 40 ? length : 40), word);
}

// From and zoom are for cameras that are fitted; one that stands somewhere is not.
static FilStatus check_words(const bool seen[WORD_COUNT], FilError *error) {
    if (seen[EYE] && seen[FROM]) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "the camera has eye and from; give the place of the eye or the direction "
                        "to look from");
    }
    if (seen[EYE] && seen[ZOOM]) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "the camera has eye and zoom; from a place of your own a smaller fov "
                        "shows things larger");
    }
    return FIL_OK;
}

FilStatus fil_camera_read(const char *text, FilCamera *camera, FilError *error) {
    bool seen[WORD_COUNT] = {false};
    for (const char *word = text + strspn(text, " \t"); *word != '\0';
         word += strspn(word, " \t")) {
        const size_t length = strcspn(word, " \t");
        FIL_TRY(read_word(word, length, camera, seen, error));
        word += length;
    }
    FIL_TRY(check_words(seen, error));
    const double *const places[] = {camera->eye, camera->target, camera->from, camera->up};
    for (int k = 0; k < 12; k++) {
        const double x = places[k / 3][k % 3];
        if (!(fabs(x) <= largest_number)) {
            return fil_fail(error, FIL_E_ARGUMENT,
                            "the camera has a coordinate of %g; it must be at most %g", x,
                            largest_number);
        }
    }
    if (!(camera->fov >= 1.0 && camera->fov <= 150.0)) {
        return fil_fail(error, FIL_E_ARGUMENT, "fov is %g; it must be between 1 and 150 degrees",
                        camera->fov);
    }
    if (!(camera->zoom >= 0.01 && camera->zoom <= 1000.0)) {
        return fil_fail(error, FIL_E_ARGUMENT, "zoom is %g; it must be between 0.01 and 1000",
                        camera->zoom);
    }
    return FIL_OK;
}

// --- extent --------------------------------------------------------------------------------------

static bool grow(FilExtent *extent, int more) {
    if (extent->count + more <= extent->room) {
        return true;
    }
    const int room = 2 * (extent->count + more);
    double(*balls)[4] = realloc(extent->balls, sizeof *balls * (size_t)room);
    if (balls == NULL) {
        return false;
    }
    extent->balls = balls;
    extent->room = room;
    return true;
}

static void add_ball(FilExtent *extent, const double place[3], double radius) {
    if (!isfinite(place[0] + place[1] + place[2] + radius)) {
        return;
    }
    double *ball = extent->balls[extent->count];
    for (int k = 0; k < 3; k++) {
        ball[k] = place[k];
        const double low = place[k] - radius, high = place[k] + radius;
        extent->low[k] = extent->count == 0 ? low : fmin(extent->low[k], low);
        extent->high[k] = extent->count == 0 ? high : fmax(extent->high[k], high);
    }
    ball[3] = radius;
    extent->count++;
}

// A ball around a solid's middle, in its own axes; meshes may lie anywhere.
static double find_reach(const FilResultDef *def, const FilResultSolid *solid, double centre[3]) {
    centre[0] = centre[1] = centre[2] = 0.0;
    double reach = solid->radius;
    if (solid->shape == FIL_SHAPE_BOX) {
        reach = 0.5 * fil_norm3(solid->size);
    } else if (solid->shape == FIL_SHAPE_CAPSULE) {
        reach += 0.5 * solid->length;
    } else if (solid->shape == FIL_SHAPE_CYLINDER) {
        reach = hypot(solid->radius, 0.5 * solid->length);
    } else if (solid->shape == FIL_SHAPE_MESH) {
        if (solid->mesh < 0 || solid->mesh >= def->mesh_count) {
            return -1.0;
        }
        const FilResultMesh *mesh = &def->meshes[solid->mesh];
        double low[3] = {DBL_MAX, DBL_MAX, DBL_MAX}, high[3] = {-DBL_MAX, -DBL_MAX, -DBL_MAX};
        for (int i = 0; i < 3 * mesh->vertex_count; i++) {
            low[i % 3] = fmin(low[i % 3], mesh->vertices[i]);
            high[i % 3] = fmax(high[i % 3], mesh->vertices[i]);
        }
        double half[3];
        for (int k = 0; k < 3; k++) {
            centre[k] = 0.5 * (low[k] + high[k]);
            half[k] = 0.5 * (high[k] - low[k]);
        }
        reach = mesh->vertex_count > 0 ? fil_norm3(half) : -1.0;
    }
    return reach;
}

// A solid is its ball, except long and flat ones, which are balls at the corners.
static void add_solid(FilExtent *extent, const FilResultDef *def, const FilResultSolid *solid,
                      const double position[3], const double quaternion[4]) {
    double R[9], centre[3], place[3];
    const double reach = find_reach(def, solid, centre);
    fil_rotation_from_quaternion(quaternion, R);
    const bool box = solid->shape == FIL_SHAPE_BOX;
    const double half = 0.5 * solid->length;
    const bool axis = solid->shape == FIL_SHAPE_CAPSULE || solid->shape == FIL_SHAPE_CYLINDER;
    for (int corner = 0; reach >= 0.0 && corner < (box ? 8 : axis ? 2 : 1); corner++) {
        double local[3];
        fil_copy3(centre, local);
        for (int k = 0; box && k < 3; k++) {
            local[k] = (corner >> k & 1) != 0 ? 0.5 * solid->size[k] : -0.5 * solid->size[k];
        }
        if (axis) {
            local[0] = corner == 0 ? -half : half;
        }
        fil_apply3(R, local, place);
        fil_add3(1.0, position, place);
        add_ball(extent, place, box ? 0.0 : axis ? solid->radius : reach);
    }
}

// Small ones first: what they make of the extent tells which of the others are too large.
static void add_obstacles(FilExtent *extent, const FilResultDef *def, const FilFrame *frame) {
    enum { ROUNDS = 8 };
    double done = -1.0;
    for (int round = 0; round < ROUNDS; round++) {
        const double limit =
            extent->count > 0 ? largest_obstacle * fil_extent_size(extent) : DBL_MAX;
        for (int k = 0; k < def->obstacle_count; k++) {
            const FilResultSolid *solid = &def->obstacles[k];
            double centre[3];
            const double across = 2.0 * find_reach(def, solid, centre);
            if (solid->shape != FIL_SHAPE_PLANE && across > done && across <= limit) {
                add_solid(extent, def, solid, frame->obstacle_position + 3 * (size_t)k,
                          frame->obstacle_quaternion + 4 * (size_t)k);
            }
        }
        if (!(limit > done)) {
            break;
        }
        done = limit;
    }
}

FilStatus fil_extent_add(FilExtent *extent, const FilResultDef *def, const FilFrame *frame,
                         int stride, FilError *error) {
    if (!grow(extent, def->point_count + 8 * (def->rigid_count + def->obstacle_count))) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is not enough memory to fit the camera");
    }
    for (int r = 0; r < def->rod_count; r++) {
        const FilResultRod *rod = &def->rods[r];
        for (int i = 0; i < rod->point_count; i++) {
            if (i % stride == 0 || i == rod->point_count - 1) {
                add_ball(extent, frame->position + 3 * (size_t)(rod->first_point + i), rod->radius);
            }
        }
    }
    for (int k = 0; k < def->rigid_count; k++) {
        add_solid(extent, def, &def->rigids[k], frame->rigid_position + 3 * (size_t)k,
                  frame->rigid_quaternion + 4 * (size_t)k);
    }
    add_obstacles(extent, def, frame);
    return FIL_OK;
}

void fil_extent_destroy(FilExtent *extent) {
    free(extent->balls);
    *extent = (FilExtent){.balls = NULL};
}

double fil_extent_size(const FilExtent *extent) {
    double diagonal[3];
    fil_subtract3(extent->high, extent->low, diagonal);
    const double size = fil_norm3(diagonal);
    return extent->count > 0 && size > 1e-9 ? size : 1.0;
}

// --- axes and fit --------------------------------------------------------------------------------

static bool normalize(double a[3]) {
    const double length = fil_norm3(a);
    for (int k = 0; k < 3; k++) {
        a[k] /= length;
    }
    return length > 0.0 && isfinite(length);
}

// Right, up and forward for a view along `forward`. Where up is along it, another up will do.
static void set_axes(const double forward[3], const double up[3], double axes[3][3]) {
    fil_copy3(forward, axes[2]);
    (void)normalize(axes[2]);
    fil_cross3(axes[2], up, axes[0]);
    if (!(fil_norm3(axes[0]) > 1e-6 * fil_norm3(up))) {
        const double y[3] = {0.0, 1.0, 0.0}, x[3] = {1.0, 0.0, 0.0};
        fil_cross3(axes[2], fabs(axes[2][1]) < 0.9 ? y : x, axes[0]);
    }
    (void)normalize(axes[0]);
    fil_cross3(axes[0], axes[2], axes[1]);
}

void fil_camera_axes(const FilCamera *camera, double axes[3][3]) {
    double forward[3];
    fil_subtract3(camera->target, camera->eye, forward);
    set_axes(forward, camera->up, axes);
}

// How much the balls spread over the picture, seen along these axes, m^2.
static double measure_spread(const FilExtent *extent, double axes[3][3]) {
    double sum[2] = {0.0, 0.0}, moment[3] = {0.0, 0.0, 0.0}, round = 0.0;
    const int stride = 1 + extent->count / 4096;
    int count = 0;
    for (int i = 0; i < extent->count; i += stride, count++) {
        double from[3];
        fil_subtract3(extent->balls[i], extent->low, from);
        const double x = fil_dot3(from, axes[0]), y = fil_dot3(from, axes[1]);
        sum[0] += x;
        sum[1] += y;
        moment[0] += x * x;
        moment[1] += y * y;
        moment[2] += x * y;
        round += 0.25 * extent->balls[i][3] * extent->balls[i][3];
    }
    const double n = count > 0 ? count : 1.0;
    const double xx = (moment[0] + round) / n - sum[0] * sum[0] / (n * n);
    const double yy = (moment[1] + round) / n - sum[1] * sum[1] / (n * n);
    const double xy = moment[2] / n - sum[0] * sum[1] / (n * n);
    return sqrt(fmax(xx * yy - xy * xy, 0.0));
}

static void choose_direction(const FilExtent *extent, const double up[3], double from[3]) {
    static const double rises[] = {16.0, 35.0, 60.0}, worth[] = {1.0, 0.8, 0.5};
    enum { AROUND = 12, USUAL = 10 }; // 30 degrees apart; the usual one is at -60
    double best = -1.0;
    fil_copy3((const double[3]){0.5, -0.8, 0.3}, from);
    for (int k = 0; k < 3 * AROUND; k++) {
        const double turn = 360.0 / AROUND * (k % AROUND) * degree,
                     rise = rises[k / AROUND] * degree;
        const double towards[3] = {cos(rise) * cos(turn), cos(rise) * sin(turn), sin(rise)};
        const double forward[3] = {-towards[0], -towards[1], -towards[2]};
        double axes[3][3];
        set_axes(forward, up, axes);
        const double score =
            measure_spread(extent, axes) * worth[k / AROUND] * (k % AROUND == USUAL ? 1.35 : 1.0);
        if (score > best) {
            best = score;
            fil_copy3(towards, from);
        }
    }
}

// The eye from which the extent fits, and the depth of the extent's middle.
static void place_eye(FilCamera *camera, const FilExtent *extent, double aspect,
                      const double forward[3]) {
    double axes[3][3], middle[3], most[2][2] = {{-DBL_MAX, -DBL_MAX}, {-DBL_MAX, -DBL_MAX}};
    set_axes(forward, camera->up, axes);
    const double tall = tan(0.5 * degree * camera->fov) * margin;
    const double slope[2] = {tall * aspect, tall};
    for (int k = 0; k < 3; k++) {
        middle[k] = 0.5 * (extent->low[k] + extent->high[k]);
    }
    double farthest = DBL_MAX;
    for (int side = 0; side < 2; side++) {
        const double t = slope[side], slant = sqrt(1.0 + t * t);
        for (int i = 0; i < extent->count; i++) {
            double from[3];
            fil_subtract3(extent->balls[i], middle, from);
            const double x = fil_dot3(from, axes[side]), z = fil_dot3(from, axes[2]);
            const double w = extent->balls[i][3] * slant;
            most[side][0] = fmax(most[side][0], x - t * z + w);
            most[side][1] = fmax(most[side][1], -x - t * z + w);
        }
        farthest = fmin(farthest, -(most[side][0] + most[side][1]) / (2.0 * t));
    }
    // a point alone is seen from a little way off
    const double depth = fmax(-farthest, 1e-3 * fil_extent_size(extent)) / camera->zoom;
    fil_copy3(middle, camera->eye);
    fil_add3(0.5 * (most[0][0] - most[0][1]), axes[0], camera->eye);
    fil_add3(0.5 * (most[1][0] - most[1][1]), axes[1], camera->eye);
    fil_copy3(camera->eye, camera->target);
    fil_add3(-depth, axes[2], camera->eye);
}

// Round a place to decimals that make a part in 1e5 of `distance`: as text does, so that reading it
// back gives the same number.
static void round_place(double place[3], double distance) {
    const int decimals = (int)fmin(fmax(5.0 - floor(log10(distance)), 0.0), 15.0);
    for (int k = 0; k < 3; k++) {
        char text[64];
        (void)snprintf(text, sizeof text, "%.*f", decimals, place[k]);
        place[k] = strtod(text, NULL) + 0.0; // no -0
    }
}

static void round_fit(FilCamera *camera) {
    double view[3];
    fil_subtract3(camera->target, camera->eye, view);
    const double distance = fil_norm3(view);
    if (!camera->has_eye && distance > 0.0) {
        round_place(camera->eye, distance);
    }
    if (!camera->has_target && distance > 0.0) {
        round_place(camera->target, distance);
    }
}

void fil_camera_write(const FilCamera *camera, char text[FIL_CAMERA_TEXT]) {
    const double *const e = camera->eye, *const t = camera->target, *const u = camera->up;
    (void)snprintf(text, FIL_CAMERA_TEXT,
                   "eye=%.15g,%.15g,%.15g target=%.15g,%.15g,%.15g up=%.15g,%.15g,%.15g fov=%.15g",
                   e[0], e[1], e[2], t[0], t[1], t[2], u[0], u[1], u[2], camera->fov);
}

FilStatus fil_camera_fit(FilCamera *camera, const FilExtent *extent, double aspect,
                         FilError *error) {
    if (!(fil_norm3(camera->up) > 0.0)) {
        return fil_fail(error, FIL_E_ARGUMENT, "up is 0,0,0; it must be a direction");
    }
    const double nothing[1][4] = {{0.0, 0.0, 0.0, 0.5}};
    FilExtent use = *extent;
    if (use.count == 0) {
        use = (FilExtent){.balls = (double(*)[4])nothing,
                          .count = 1,
                          .low = {-0.5, -0.5, -0.5},
                          .high = {0.5, 0.5, 0.5}};
    }
    if (!camera->has_target) {
        for (int k = 0; k < 3; k++) {
            camera->target[k] = 0.5 * (use.low[k] + use.high[k]);
        }
    }
    if (!camera->has_eye) {
        double from[3];
        if (camera->has_from) {
            fil_copy3(camera->from, from);
        } else {
            choose_direction(&use, camera->up, from);
        }
        const double forward[3] = {-from[0], -from[1], -from[2]};
        double target[3];
        fil_copy3(camera->target, target);
        if (!(fil_norm3(from) > 0.0)) {
            return fil_fail(error, FIL_E_ARGUMENT, "from is 0,0,0; it must be a direction");
        }
        place_eye(camera, &use, aspect, forward);
        if (camera->has_target) { // as far off, but over there
            double shift[3];
            fil_subtract3(target, camera->target, shift);
            fil_add3(1.0, shift, camera->eye);
            fil_copy3(target, camera->target);
        }
    }
    round_fit(camera);
    double view[3];
    fil_subtract3(camera->target, camera->eye, view);
    if (!(fil_norm3(view) > 0.0)) {
        return fil_fail(error, FIL_E_ARGUMENT, "eye and target are the same place");
    }
    return FIL_OK;
}

void fil_camera_project(const FilCamera *camera, const int size[2], const double place[3],
                        double out[3]) {
    double axes[3][3], from[3];
    fil_camera_axes(camera, axes);
    fil_subtract3(place, camera->eye, from);
    const double depth = fil_dot3(from, axes[2]);
    const double scale = 0.5 * size[1] / (tan(0.5 * degree * camera->fov) * depth);
    out[0] = 0.5 * size[0] + scale * fil_dot3(from, axes[0]);
    out[1] = 0.5 * size[1] - scale * fil_dot3(from, axes[1]);
    out[2] = depth;
}
