// Pictures: cameras, silhouettes, colours, and that threads do not show.
#include "check.h"

#include "base/random.h"
#include "render/film.h"
#include "render/rays.h"
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

// --- light ---------------------------------------------------------------------------------------

// 256 samples of a source make 16 x 16 fields of the unit square, one in each, and another source
// has others.
static void random_numbers_are_even(void) {
    const FilModel model = {.plane_count = 0};
    int changed = 0;
    for (uint32_t pair = 0; pair < 3; pair++) {
        FilSource source = fil_source_make(&model, 5, 256), other = fil_source_make(&model, 6, 256);
        int seen[256] = {0};
        for (source.query.sample = 0; source.query.sample < 256; source.query.sample++) {
            float u[2], v[2];
            other.query.sample = source.query.sample;
            fil_draw_pair(&source, pair, 1, u);
            fil_draw_pair(&other, pair, 1, v);
            seen[(int)(16.0f * u[0]) * 16 + (int)(16.0f * u[1])]++;
            changed += u[0] != v[0] && u[1] != v[1];
        }
        for (int k = 0; k < 256; k++) {
            CHECK(seen[k] == 1);
        }
    }
    CHECK(changed > 700);
    FilSource few = fil_source_make(&model, 5, 7);
    float last[2], next[2];
    for (few.query.sample = 0; few.query.sample < 7; few.query.sample++) {
        fil_draw_pair(&few, 0, 1, next);
        for (uint32_t k = 0; k < few.query.sample; k++) {
            FilSource earlier = few;
            earlier.query.sample = k;
            fil_draw_pair(&earlier, 0, 1, last);
            CHECK(last[0] != next[0]);
        }
    }
}

// Of directions weighed by the cosine its mean is 2/3; over a disc that is evenly filled the mean
// of the distance squared is half of the radius squared.
static void light_comes_from_a_disc_and_from_all_of_the_sky(void) {
    const V3 up = v3_unit(v3(0.3f, -0.5f, 0.8f));
    const FilModel model = {.light = up};
    FilSource source = fil_source_make(&model, 1, 1024);
    V3 sky = v3(0, 0, 0), light = v3(0, 0, 0);
    double wide = 0.0;
    for (source.query.sample = 0; source.query.sample < 1024; source.query.sample++) {
        const V3 a = fil_towards_sky(&source, 1, up), b = fil_towards_light(&source);
        CHECK_NEAR(v3_norm(a), 1.0, 1e-5, 0.0);
        CHECK_NEAR(v3_norm(b), 1.0, 1e-5, 0.0);
        CHECK(v3_dot(a, up) >= 0.0f);
        sky = v3_more(sky, 1.0f / 1024, a);
        light = v3_more(light, 1.0f / 1024, b);
        wide += (1.0 / pow(v3_dot(b, up), 2) - 1.0) / 1024; // tangent squared
    }
    CHECK(v3_norm(v3_more(sky, -2.0f / 3, up)) < 0.01f);
    CHECK(v3_norm(v3_sub(v3_unit(light), up)) < 0.001f);
    CHECK_NEAR(wide, 0.5 * FIL_LIGHT_RADIUS * FIL_LIGHT_RADIUS, 0.01, 0.0);
    source = fil_source_make(&model, 1, 1);
    CHECK_NEAR(v3_dot(fil_towards_light(&source), up), 1.0, 1e-6, 0.0); // one sample: its middle
}

static void a_ray_is_near_a_box_when_it_goes_through_it(void) {
    const FilModel model = {.box = {{1, 2}, {3, 5}, {-7, -6}}};
    for (int k = 0; k < 3; k++) {
        float from[3] = {1.5f, 4.0f, -6.5f}, way[3] = {0, 0, 0};
        from[k] -= 4.0f;
        way[k] = 1.0f;
        const V3 a = v3(from[0], from[1], from[2]), b = v3(way[0], way[1], way[2]);
        const float near = 4.0f - 0.5f * (model.box[k][1] - model.box[k][0]);
        CHECK(fil_is_near(&model, a, b, INFINITY) && fil_is_near(&model, a, b, near + 0.01f));
        CHECK(!fil_is_near(&model, a, b, near - 0.01f)); // it does not get there
        CHECK(!fil_is_near(&model, a, v3_scale(-1.0f, b), INFINITY));
        from[(k + 1) % 3] += 3.0f; // past it
        CHECK(!fil_is_near(&model, v3(from[0], from[1], from[2]), b, INFINITY));
    }
    CHECK(fil_is_near(&model, v3(1.5f, 4.0f, -6.5f), v3(0, 0, 1), 1e-3f)); // from inside
}

// A hair along x, a millimetre thick, from near: a pixel is a third of a millimetre.
static FilRenderOptions hair_options(Stage *stage, const char *camera) {
    stage_make(stage, 4.9e-4, true, true);
    FilRenderOptions options = stage_options(stage, 320, 60);
    options.camera = fil_camera_default();
    options.samples = 64;
    CHECK(fil_camera_read(camera, &options.camera, NULL) == FIL_OK);
    CHECK(fil_render_fit(&options, &(FilExtent){.balls = NULL}, NULL) == FIL_OK);
    options.size = 0.4;
    return options;
}

static const unsigned char *pixel_at(const FilRenderOptions *options, const FilPicture *picture,
                                     double x, double y, double z) {
    const int size[2] = {picture->width, picture->height};
    double at[3];
    fil_camera_project(&options->camera, size, (const double[3]){x, y, z}, at);
    return picture->pixels + 4 * ((size_t)at[1] * (size_t)picture->width + (size_t)at[0]);
}

static double hair_light(const FilRenderOptions *options, const FilPicture *picture, double x) {
    const unsigned char *pixel = pixel_at(options, picture, x, 0.0, 0.0);
    return (pixel[0] + pixel[1] + pixel[2]) / 3.0;
}

// Light comes from (-0.42, -0.34, 0.84), above the left shoulder of who looks; a ball is in its
// way.
static void a_shadow_falls_on_hair_where_it_should_and_ends_evenly(void) {
    Stage stage;
    const FilRenderOptions options = hair_options(&stage, "eye=0,-1.17,0 target=0,0,0 fov=1");
    stage.solid.shape = FIL_SHAPE_SPHERE;
    stage.solid.radius = 0.012;
    memcpy(stage.solid_position, (const double[3]){0.01 - 0.042, -0.034, 0.084}, sizeof(double[3]));
    FilPicture picture = draw(&options, &stage);
    const double lit = hair_light(&options, &picture, 0.05);
    double jump = 0.0, last = hair_light(&options, &picture, -0.05);
    for (int k = -150; k <= 150; k++) { // a third of a millimetre from each to the next
        const double here = hair_light(&options, &picture, k / 3000.0);
        jump = fmax(jump, fabs(here - last));
        last = here;
    }
    CHECK(hair_light(&options, &picture, 0.01) < 0.6 * lit);
    CHECK(hair_light(&options, &picture, -0.02) > 0.95 * lit);
    CHECK(hair_light(&options, &picture, 0.04) > 0.95 * lit);
    CHECK(jump < 5.0);
    fil_picture_destroy(&picture);
}

// The fibres of a wisp lie side by side in the light, and none is dark because of another.
static void the_fibres_of_a_wisp_do_not_shade_each_other(void) {
    Stage stage;
    FilRenderOptions options = hair_options(&stage, "eye=0,-1.17,0 target=0,0,0 fov=1");
    stage.def.rigid_count = 0;
    stage.rod.contact_radius = 4e-3;
    options.wisps = true;
    FilPicture picture = draw(&options, &stage);
    int seen = 0, dark = 0;
    for (int k = 0; k < picture.width * picture.height; k++) {
        const unsigned char *pixel = picture.pixels + 4 * (size_t)k;
        seen += pixel[0] > pixel[2] + 15; // brown
        dark += pixel[0] > pixel[2] + 15 && pixel[0] < 110;
    }
    CHECK(seen > 3000 && dark < seen / 4); // those that turn away from it
    fil_picture_destroy(&picture);
}

static double light_beside_box(double x, double y, double z) {
    Stage stage;
    const FilRenderOptions options = hair_options(&stage, "eye=0,-1.17,0 target=0,0,0 fov=1");
    stage.solid.shape = FIL_SHAPE_BOX;
    memcpy(stage.solid.size, (const double[3]){0.4, 0.4, 0.1}, sizeof(double[3]));
    memcpy(stage.solid_position, (const double[3]){x, y, z}, sizeof(double[3]));
    FilPicture picture = draw(&options, &stage);
    const double light = hair_light(&options, &picture, 0.0);
    fil_picture_destroy(&picture);
    return light;
}

static void hair_sees_the_sky_on_the_side_that_is_seen(void) {
    const double open = light_beside_box(0, 9, 9), before = light_beside_box(0, 0.205, 0);
    const double shaded = light_beside_box(-0.42, -0.34, 0.84);
    const double nearer = light_beside_box(-0.1, -0.08, 0.2), under = light_beside_box(0, 0, 0.06);
    CHECK_NEAR(before, open, 0.02, 0.0); // what is behind it takes nothing away
    CHECK(shaded < 0.6 * open);
    CHECK_NEAR(nearer, shaded, 0.04, 0.0); // light alone, while it is not near
    CHECK(under < 0.92 * shaded);          // and then of the sky, too
}

static void a_hair_is_lit_up_to_its_ends(void) {
    for (int end = -1; end <= 1; end += 2) {
        Stage stage;
        const FilRenderOptions options =
            hair_options(&stage, end < 0 ? "eye=-0.17,-1.17,0 target=-0.17,0,0 fov=1"
                                         : "eye=0.17,-1.17,0 target=0.17,0,0 fov=1");
        stage.def.rigid_count = 0;
        FilPicture picture = draw(&options, &stage);
        CHECK_NEAR(hair_light(&options, &picture, end * 0.1996),
                   hair_light(&options, &picture, end * 0.19), 0.04, 0.0);
        fil_picture_destroy(&picture);
    }
}

// Seen from above; of the ground only shadows are drawn, and they are at most 0.75 * 0.58 dark.
static void light_goes_through_hair_and_eyes_do_not(void) {
    for (int hair = 0; hair < 2; hair++) {
        Stage stage;
        FilRenderOptions options = hair_options(&stage, "eye=0,-0.8,0.8 target=0,0,0 fov=1");
        stage.def.rigid_count = 0;
        stage.rod.radius = hair != 0 ? 4.9e-4 : 5.1e-4; // of a length of 0.4 m
        options.floor_z = -0.006;
        FilPicture bare = draw(&options, &stage);
        options.floor = true;
        FilPicture picture = draw(&options, &stage);
        const int shadow = pixel_at(&options, &picture, 0.0, 0.0002, -0.006)[3];
        CHECK(hair != 0 ? shadow > 45 && shadow < 80 : shadow > 85 && shadow < 115);
        CHECK(pixel_at(&options, &picture, 0.0, -0.003, -0.006)[3] < 10);
        int cover[2] = {0, 0};
        for (int k = -10; k <= 10; k++) {
            cover[0] += pixel_at(&options, &bare, 0.0, 0.0, 1e-4 * k)[3];
            cover[1] += pixel_at(&options, &picture, 0.0, 0.0, 1e-4 * k)[3];
        }
        CHECK_NEAR(cover[1], cover[0], 0.03, 0.0);
        fil_picture_destroy(&bare);
        fil_picture_destroy(&picture);
    }
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

// All points are inside the picture, and some are at the margin, so that no nearer eye would do:
// but for the rounding of the eye.
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
        CHECK_NEAR(widest, 0.9, 5e-5, 0.0);
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

enum { LETTERS_WIDE = 240, LETTERS_TALL = 60 };

// A text at (8, 8), 4 pixels a dot; to be destroyed.
static FilPicture print_text(const char *text, double cover) {
    FilPicture picture = {.pixels = NULL};
    CHECK(fil_picture_create(LETTERS_WIDE, LETTERS_TALL, &picture, NULL) == FIL_OK);
    memset(picture.pixels, 0, (size_t)4 * LETTERS_WIDE * LETTERS_TALL);
    fil_picture_print(&picture, (const int[2]){8, 8}, 4, text,
                      (FilPaint){.rgb = {230, 120, 20}, .cover = cover});
    return picture;
}

// What is printed at tenths of a dot to the right of the text's beginning and above its line.
static int ink_at(const FilPicture *picture, int x, int y) {
    return picture->pixels[4 * ((8 + (70 - y) * 4 / 10) * LETTERS_WIDE + 8 + x * 4 / 10) + 3];
}

// Places where they have ink, and where the letter that they could be taken for has it.
static void letters_look_like_themselves(void) {
    static const struct {
        const char *letter;
        int on[4][2], off[3][2];
    } all[] = {
        {"0", {{1, 35}, {40, 25}, {21, 70}, {21, 1}}, {{21, 35}, {1, 68}, {41, 2}}},
        {"1", {{26, 35}, {26, 68}, {18, 63}, {26, 2}}, {{10, 35}, {2, 2}, {40, 2}}},
        {"2", {{21, 70}, {41, 50}, {19, 19}, {30, 1}}, {{2, 22}, {40, 20}, {20, 40}}},
        {"3", {{20, 70}, {38, 53}, {40, 18}, {20, 1}}, {{2, 45}, {2, 25}, {20, 53}}},
        {"4", {{32, 60}, {16, 44}, {20, 18}, {32, 4}}, {{2, 60}, {2, 2}, {20, 32}}},
        {"5", {{20, 70}, {6, 55}, {41, 23}, {20, 1}}, {{40, 55}, {2, 28}, {20, 25}}},
        {"6", {{1, 22}, {41, 22}, {21, 1}, {7, 50}}, {{40, 48}, {21, 22}, {40, 62}}},
        {"7", {{20, 70}, {28, 35}, {15, 3}, {40, 68}}, {{4, 35}, {2, 2}, {40, 20}}},
        {"8", {{4, 53}, {38, 53}, {1, 18}, {41, 18}}, {{21, 53}, {21, 18}, {2, 68}}},
        {"9", {{1, 48}, {41, 48}, {21, 69}, {35, 20}}, {{1, 22}, {21, 48}, {2, 8}}},
        {"b", {{0, 68}, {0, 10}, {40, 25}, {20, 1}}, {{39, 65}, {39, -15}, {20, 25}}},
        {"d", {{38, 68}, {38, 10}, {0, 25}, {19, 1}}, {{1, 65}, {1, -15}, {20, 25}}},
        {"p", {{0, -18}, {0, 40}, {40, 25}, {20, 50}}, {{39, -15}, {1, 65}, {20, 25}}},
        {"q", {{38, -18}, {38, 40}, {0, 25}, {19, 50}}, {{1, -15}, {39, 65}, {20, 25}}},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        FilPicture picture = print_text(all[k].letter, 1.0);
        for (int i = 0; i < 4; i++) {
            CHECK(ink_at(&picture, all[k].on[i][0], all[k].on[i][1]) > 128);
        }
        for (int i = 0; i < 3; i++) {
            CHECK(ink_at(&picture, all[k].off[i][0], all[k].off[i][1]) < 32);
        }
        fil_picture_destroy(&picture);
    }
}

static void letters_stand_beside_each_other_and_text_is_as_wide_as_it_says(void) {
    FilPicture one = print_text("b", 1.0), two = print_text("bb", 0.5);
    const int wide = fil_picture_text_width(4, "bb") - fil_picture_text_width(4, "b");
    CHECK(wide == 22); // a letter and a gap
    int last = 0, unlike = 0;
    for (int k = 0; k < LETTERS_WIDE * LETTERS_TALL; k++) {
        const int x = k % LETTERS_WIDE, cover = two.pixels[4 * k + 3];
        last = cover != 0 && x > last ? x : last;
        unlike += x >= wide + 6 && abs(2 * cover - one.pixels[4 * (k - wide) + 3]) > 2;
    }
    CHECK(unlike == 0); // the second is the first, at half its cover
    CHECK(abs(last + 1 - 8 - fil_picture_text_width(4, "bb")) <= 3);     // the pen is round
    const unsigned char *ink = one.pixels + 4 * (32 * LETTERS_WIDE + 8); // of the stem
    CHECK(ink[0] > ink[1] + 50 && ink[1] > ink[2] + 50);
    CHECK(fil_picture_text_width(4, "\xc3\xa9") == fil_picture_text_width(4, "\x7f"));
    fil_picture_destroy(&one);
    fil_picture_destroy(&two);
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
    X(random_numbers_are_even)                                                 \
    X(light_comes_from_a_disc_and_from_all_of_the_sky)                         \
    X(a_ray_is_near_a_box_when_it_goes_through_it)                             \
    X(a_shadow_falls_on_hair_where_it_should_and_ends_evenly)                  \
    X(the_fibres_of_a_wisp_do_not_shade_each_other)                            \
    X(hair_sees_the_sky_on_the_side_that_is_seen)                              \
    X(a_hair_is_lit_up_to_its_ends)                                            \
    X(light_goes_through_hair_and_eyes_do_not)                                 \
    X(a_fitted_camera_sees_everything_and_is_as_near_as_can_be)                \
    X(a_flat_thing_is_not_seen_edge_on)                                        \
    X(a_camera_is_read_word_by_word)                                           \
    X(nothing_can_be_looked_at)                                                \
    X(scales_are_monotone_in_lightness)                                        \
    X(what_is_no_number_is_grey_and_what_is_outside_has_the_colour_of_the_end) \
    X(neighbours_have_different_colours)                                       \
    X(all_that_is_written_can_be_read)                                         \
    X(letters_look_like_themselves)                                            \
    X(letters_stand_beside_each_other_and_text_is_as_wide_as_it_says)          \
    X(films_are_known_by_their_names)

CHECK_MAIN(TESTS)
