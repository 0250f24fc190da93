// Pictures: cameras, silhouettes, colours, and that threads do not show.
#include "check.h"

#include "base/random.h"
#include "render/film.h"
#include "render/render.h"

#include <stdlib.h>

// --- scenes --------------------------------------------------------------------------------------

enum { POINTS = 9 };

// One straight rod along x, or one solid, or both.
typedef struct Stage {
    FilResultRod rod;
    FilResultLine line;
    FilResultPoint points[POINTS];
    double position[POINTS][3], quaternion[POINTS][4], numbers[3 * POINTS];
    FilResultSolid solid;
    double solid_position[3], solid_quaternion[4];
    FilResultDef def;
    FilFrame frame;
} Stage;

static void stage_make(Stage *stage, double radius, bool rod, bool solid) {
    *stage = (Stage){
        .rod = {.length = 0.4, .radius = radius, .contact_radius = radius, .point_count = POINTS},
        .line = {.point_count = POINTS},
        .solid = {.shape = FIL_SHAPE_CAPSULE, .radius = 0.05, .length = 0.2, .mesh = -1},
        .solid_quaternion = {1, 0, 0, 0}};
    for (int i = 0; i < POINTS; i++) {
        stage->points[i].s = 0.4 * i / (POINTS - 1);
        stage->position[i][0] = stage->points[i].s - 0.2;
        stage->quaternion[i][0] = 1.0;
    }
    stage->def = (FilResultDef){.rods = &stage->rod,
                                .lines = &stage->line,
                                .points = stage->points,
                                .rigids = &stage->solid,
                                .rod_count = rod,
                                .line_count = rod,
                                .point_count = rod ? POINTS : 0,
                                .rigid_count = solid};
    stage->frame = (FilFrame){.position = stage->position[0],
                              .quaternion = stage->quaternion[0],
                              .velocity = stage->numbers,
                              .curvature = stage->numbers,
                              .rigid_position = stage->solid_position,
                              .rigid_quaternion = stage->solid_quaternion};
}

// Seen from far along y, without ground, on nothing.
static FilRenderOptions stage_options(const Stage *stage, int width, int height) {
    FilRenderOptions options = fil_render_options_default();
    FilExtent extent = {.balls = NULL};
    options.width = width;
    options.height = height;
    options.background = FIL_BACKGROUND_NONE;
    options.floor = false;
    CHECK(fil_camera_read("from=0,-1,0 fov=2", &options.camera, NULL) == FIL_OK);
    CHECK(fil_extent_add(&extent, &stage->def, &stage->frame, 1, NULL) == FIL_OK);
    CHECK(fil_render_fit(&options, &extent, NULL) == FIL_OK);
    fil_extent_destroy(&extent);
    return options;
}

static FilPicture draw(const FilRenderOptions *options, const Stage *stage) {
    FilPicture picture = {.pixels = NULL};
    CHECK(fil_picture_create(options->width, options->height, &picture, NULL) == FIL_OK);
    CHECK(fil_render_frame(options, &stage->def, &stage->frame, &picture, NULL) == FIL_OK);
    return picture;
}

// What is covered, m^2 at the depth of the target.
static double measure_area(const FilRenderOptions *options, const FilPicture *picture) {
    double sum = 0.0, away[3], pixel[3], other[3];
    for (int k = 0; k < picture->width * picture->height; k++) {
        sum += picture->pixels[4 * k + 3] / 255.0;
    }
    const int size[2] = {options->width, options->height};
    for (int k = 0; k < 3; k++) {
        away[k] = options->camera.target[k] + (k == 2 ? 0.01 : 0.0);
    }
    fil_camera_project(&options->camera, size, options->camera.target, pixel);
    fil_camera_project(&options->camera, size, away, other);
    const double metre = (pixel[1] - other[1]) / 0.01;
    return sum / (metre * metre);
}

// --- silhouettes ---------------------------------------------------------------------------------

static void a_capsule_covers_its_projection(void) {
    Stage stage;
    stage_make(&stage, 1e-3, false, true);
    const FilRenderOptions options = stage_options(&stage, 320, 180);
    FilPicture picture = draw(&options, &stage);
    CHECK_NEAR(measure_area(&options, &picture), 2 * 0.05 * 0.2 + 3.14159265 * 0.05 * 0.05, 0.01,
               0);
    fil_picture_destroy(&picture);
}

static void a_rod_covers_its_projection(void) {
    Stage stage;
    stage_make(&stage, 0.02, true, false);
    const FilRenderOptions options = stage_options(&stage, 320, 180);
    FilPicture picture = draw(&options, &stage);
    CHECK_NEAR(measure_area(&options, &picture), 2 * 0.02 * 0.4 + 3.14159265 * 0.02 * 0.02, 0.01,
               0);
    fil_picture_destroy(&picture);
}

// A pixel here is 1.4 mm; the rod is a tenth of it wide.
static void a_hair_thinner_than_a_pixel_covers_as_much_as_it_should(void) {
    Stage stage;
    stage_make(&stage, 7e-5, true, false);
    FilRenderOptions options = stage_options(&stage, 320, 180);
    options.samples = 64;
    FilPicture picture = draw(&options, &stage);
    CHECK_NEAR(measure_area(&options, &picture), 2 * 7e-5 * 0.4, 0.10, 0);
    fil_picture_destroy(&picture);
}

// Seen along its third axis a ribbon is wide, along its second one thin.
static void a_ribbon_is_flat(void) {
    for (int side = 0; side < 2; side++) {
        Stage stage;
        stage_make(&stage, 0.02, true, false);
        stage.rod.width = side == 0 ? 4e-3 : 0.06;
        stage.rod.thickness = side == 0 ? 0.06 : 4e-3;
        const FilRenderOptions options = stage_options(&stage, 320, 180);
        FilPicture picture = draw(&options, &stage);
        CHECK_NEAR(measure_area(&options, &picture), 0.4 * (side == 0 ? 0.06 : 4e-3), 0.02, 0);
        fil_picture_destroy(&picture);
    }
}

static void a_wisp_is_wider_than_its_hair(void) {
    Stage stage;
    stage_make(&stage, 1e-4, true, false);
    stage.rod.contact_radius = 4e-3;
    FilRenderOptions options = stage_options(&stage, 320, 180);
    FilPicture wisp = draw(&options, &stage);
    options.wisps = false;
    FilPicture hair = draw(&options, &stage);
    const double area = measure_area(&options, &wisp);
    CHECK(area > 4.0 * measure_area(&options, &hair));
    CHECK(area < 1.5 * 2 * 4e-3 * 0.4);
    fil_picture_destroy(&wisp);
    fil_picture_destroy(&hair);
}

static void every_solid_shows_where_it_is(void) {
    static const FilShapeKind shapes[] = {FIL_SHAPE_SPHERE, FIL_SHAPE_CAPSULE, FIL_SHAPE_CYLINDER,
                                          FIL_SHAPE_BOX};
    static const double areas[] = {3.14159265 * 0.05 * 0.05, 0.02 + 3.14159265 * 0.05 * 0.05, 0.02,
                                   0.1 * 0.3};
    for (int k = 0; k < 4; k++) {
        Stage stage;
        stage_make(&stage, 1e-3, false, true);
        stage.solid.shape = shapes[k];
        for (int a = 0; a < 3; a++) {
            stage.solid.size[a] = a == 1 ? 1e-3 : 0.1 * (a + 1); // seen along the second axis
            stage.solid_position[a] = 5.0 + a;
        }
        const FilRenderOptions options = stage_options(&stage, 320, 180);
        FilPicture picture = draw(&options, &stage);
        CHECK_NEAR(measure_area(&options, &picture), areas[k], 0.01, 0);
        fil_picture_destroy(&picture);
    }
}

static void what_is_not_a_number_is_not_drawn(void) {
    Stage stage;
    stage_make(&stage, 0.02, true, true);
    const FilRenderOptions options = stage_options(&stage, 64, 36);
    stage.position[4][1] = (double)NAN;
    stage.solid_position[2] = (double)INFINITY;
    FilPicture picture = draw(&options, &stage);
    CHECK_NEAR(measure_area(&options, &picture), 0.0, 0, 1e-12);
    fil_picture_destroy(&picture);
}

static void threads_do_not_show(void) {
    Stage stage;
    stage_make(&stage, 3e-4, true, true);
    FilRenderOptions options = stage_options(&stage, 200, 120);
    options.floor = true;
    options.background = FIL_BACKGROUND_LIGHT;
    options.colour = FIL_FIELD_SPEED;
    options.range[1] = 1.0;
    FilPicture one = draw(&options, &stage);
    for (int threads = 2; threads <= 4; threads++) {
        options.threads = threads;
        FilPicture more = draw(&options, &stage);
        CHECK(check_same_bits(one.pixels, more.pixels, (size_t)4 * 200 * 120));
        fil_picture_destroy(&more);
    }
    fil_picture_destroy(&one);
}

static bool stop_at_once(void *user) {
    (void)user;
    return true;
}

static void a_picture_can_be_stopped(void) {
    Stage stage;
    stage_make(&stage, 0.02, true, false);
    FilRenderOptions options = stage_options(&stage, 64, 36);
    options.stop = stop_at_once;
    FilPicture picture = draw(&options, &stage);
    CHECK_NEAR(measure_area(&options, &picture), 0.0, 0, 1e-12);
    fil_picture_destroy(&picture);
}

// --- cameras -------------------------------------------------------------------------------------

static void add_random_balls(FilExtent *extent, double (*balls)[4], int count, FilRandom *random) {
    *extent = (FilExtent){.balls = balls, .count = count, .room = count};
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) {
            balls[i][k] = fil_random_uniform(random, -1.0, 1.0) * (k + 1) + 3.0;
            extent->low[k] = i == 0 ? balls[i][k] : fmin(extent->low[k], balls[i][k]);
            extent->high[k] = i == 0 ? balls[i][k] : fmax(extent->high[k], balls[i][k]);
        }
        balls[i][3] = 0.0;
    }
}

// All points are inside the picture, and some are at the margin, so that no nearer eye would do.
static void a_fitted_camera_sees_everything_and_is_as_near_as_can_be(void) {
    FilRandom random = fil_random_make(3);
    for (int trial = 0; trial < 50; trial++) {
        double balls[40][4], widest = 0.0;
        FilExtent extent;
        add_random_balls(&extent, balls, 40, &random);
        FilCamera camera = fil_camera_default();
        camera.fov = fil_random_uniform(&random, 5.0, 90.0);
        camera.has_from = trial % 2 == 0;
        for (int k = 0; k < 3; k++) {
            camera.from[k] = fil_random_normal(&random);
        }
        const int size[2] = {400 + 20 * trial, 500};
        CHECK(fil_camera_fit(&camera, &extent, (double)size[0] / size[1], NULL) == FIL_OK);
        for (int i = 0; i < 40; i++) {
            double at[3];
            fil_camera_project(&camera, size, balls[i], at);
            CHECK(at[2] > 0.0);
            widest = fmax(widest, fabs(2.0 * at[0] / size[0] - 1.0));
            widest = fmax(widest, fabs(2.0 * at[1] / size[1] - 1.0));
        }
        CHECK_NEAR(widest, 0.9, 1e-9, 0.0);
    }
}

static void a_flat_thing_is_not_seen_edge_on(void) {
    for (int flat = 0; flat < 3; flat++) {
        double balls[100][4];
        FilRandom random = fil_random_make(5);
        FilExtent extent;
        add_random_balls(&extent, balls, 100, &random);
        for (int i = 0; i < 100; i++) {
            balls[i][flat] = 0.0;
        }
        extent.low[flat] = extent.high[flat] = 0.0;
        FilCamera camera = fil_camera_default();
        double axes[3][3];
        CHECK(fil_camera_fit(&camera, &extent, 1.5, NULL) == FIL_OK);
        fil_camera_axes(&camera, axes);
        CHECK(fabs(axes[2][flat]) > 0.4);
    }
}

static void a_camera_is_read_word_by_word(void) {
    FilCamera camera = fil_camera_default();
    FilError error;
    CHECK(fil_camera_read("eye=1,-2,3e0  target=0,0,0.5 fov=40 up=0,1,0", &camera, &error) ==
          FIL_OK);
    CHECK(camera.has_eye && camera.has_target && !camera.has_from);
    CHECK_NEAR(camera.eye[1], -2.0, 0, 0);
    CHECK_NEAR(camera.fov, 40.0, 0, 0);
    static const char *const bad[] = {
        "eye=1,2",   "eye=1,2,3,4", "fov=",       "fov=200",           "eye",
        "eye=1,2,x", "zoom=0",      "up=nan,0,0", "fov=30 eyes=1,2,3", "eye=1e19,0,0"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        camera = fil_camera_default();
        CHECK(fil_camera_read(bad[k], &camera, &error) == FIL_E_ARGUMENT);
    }
    const FilExtent nothing = {.balls = NULL};
    camera = fil_camera_default();
    CHECK(fil_camera_read("eye=1,1,1 target=1,1,1", &camera, &error) == FIL_OK);
    CHECK(fil_camera_fit(&camera, &nothing, 1.0, &error) == FIL_E_ARGUMENT);
    CHECK(strcmp(error.text, "eye and target are the same place") == 0);
}

static void nothing_can_be_looked_at(void) {
    const FilExtent nothing = {.balls = NULL};
    FilCamera camera = fil_camera_default();
    CHECK(fil_camera_fit(&camera, &nothing, 1.0, NULL) == FIL_OK);
    CHECK(isfinite(camera.eye[0] + camera.eye[1] + camera.eye[2]));
}

// --- colours and text ----------------------------------------------------------------------------

static double linear(double c) {
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static double luminance(bool diverging, double t) {
    double rgb[3];
    fil_colour_scale(diverging, t, rgb);
    return 0.2126 * linear(rgb[0]) + 0.7152 * linear(rgb[1]) + 0.0722 * linear(rgb[2]);
}

static void scales_are_monotone_in_lightness(void) {
    for (int k = 0; k < 256; k++) {
        const double t = k / 256.0, next = (k + 1) / 256.0;
        CHECK(luminance(false, next) > luminance(false, t));
        CHECK((luminance(true, next) > luminance(true, t)) == (k < 128));
    }
}

static void what_is_no_number_is_grey_and_what_is_outside_has_the_colour_of_the_end(void) {
    const double range[2] = {0.0, 2.0};
    double a[3], b[3];
    fil_colour_value(FIL_FIELD_SPEED, range, 5.0, a);
    fil_colour_value(FIL_FIELD_SPEED, range, 2.0, b);
    CHECK(check_same_bits(a, b, sizeof a));
    fil_colour_value(FIL_FIELD_SPEED, range, (double)NAN, a);
    CHECK_NEAR(a[0], a[2], 0.01, 0);
}

static void neighbours_have_different_colours(void) {
    for (int k = 0; k < 24; k++) {
        for (int other = k + 1; other < k + 5; other++) {
            double a[3], b[3];
            fil_colour_number(k, a);
            fil_colour_number(other, b);
            CHECK(fabs(a[0] - b[0]) + fabs(a[1] - b[1]) + fabs(a[2] - b[2]) > 0.12);
        }
    }
}

// Every letter that names and units of fields need is in the font: none is empty, nor the box that
// stands for letters that are not there.
static void all_that_is_written_can_be_read(void) {
    FilPicture picture = {.pixels = NULL}, box = {.pixels = NULL};
    CHECK(fil_picture_create(16, 16, &picture, NULL) == FIL_OK);
    CHECK(fil_picture_create(16, 16, &box, NULL) == FIL_OK);
    memset(box.pixels, 0, (size_t)4 * 16 * 16);
    fil_picture_print(&box, (const int[2]){2, 2}, 1, "\x7f", (FilPaint){.cover = 1.0});
#define FIELD_LETTERS(code, name, unit, text) name unit
    static const char all[] = "0123456789.,-+e" FIL_FIELDS(FIELD_LETTERS);
    for (const char *c = all; *c != '\0'; c++) {
        const char letter[2] = {*c, '\0'};
        memset(picture.pixels, 0, (size_t)4 * 16 * 16);
        fil_picture_print(&picture, (const int[2]){2, 2}, 1, letter, (FilPaint){.cover = 1.0});
        bool seen = false;
        for (int k = 0; k < 16 * 16; k++) {
            seen = seen || picture.pixels[4 * k + 3] != 0;
        }
        CHECK(seen || *c == ' ');
        CHECK(memcmp(picture.pixels, box.pixels, (size_t)4 * 16 * 16) != 0);
    }
    fil_picture_destroy(&box);
    fil_picture_print(&picture, (const int[2]){-9, 12}, 3, "cut at the edges",
                      (FilPaint){.cover = 1.0});
    fil_picture_destroy(&picture);
}

static void films_are_known_by_their_names(void) {
    CHECK(fil_film_is_known("a/b.mp4") && fil_film_is_known("x.gif") &&
          fil_film_is_known("x.webm"));
    CHECK(!fil_film_is_known("mp4") && !fil_film_is_known(".mp4") && !fil_film_is_known("x.png"));
}

#define TESTS(X)                                                               \
    X(a_capsule_covers_its_projection)                                         \
    X(a_rod_covers_its_projection)                                             \
    X(a_hair_thinner_than_a_pixel_covers_as_much_as_it_should)                 \
    X(a_ribbon_is_flat)                                                        \
    X(a_wisp_is_wider_than_its_hair)                                           \
    X(every_solid_shows_where_it_is)                                           \
    X(what_is_not_a_number_is_not_drawn)                                       \
    X(threads_do_not_show)                                                     \
    X(a_picture_can_be_stopped)                                                \
    X(a_fitted_camera_sees_everything_and_is_as_near_as_can_be)                \
    X(a_flat_thing_is_not_seen_edge_on)                                        \
    X(a_camera_is_read_word_by_word)                                           \
    X(nothing_can_be_looked_at)                                                \
    X(scales_are_monotone_in_lightness)                                        \
    X(what_is_no_number_is_grey_and_what_is_outside_has_the_colour_of_the_end) \
    X(neighbours_have_different_colours)                                       \
    X(all_that_is_written_can_be_read)                                         \
    X(films_are_known_by_their_names)

CHECK_MAIN(TESTS)
