// Solids of all kinds on solids of all kinds: what lies on two bars comes to rest there, and what
// is shot at them stays on its side.
#include "check.h"
#include "mesh_shapes.h"
#include "world_bench.h"

#include "base/random.h"

enum { SPHERE, CAPSULE, CYLINDER, BOX, MESH, KINDS };

static const char *const names[KINDS] = {"sphere", "capsule", "cylinder", "box", "mesh"};

// What the shapes of a world need while it lives.
typedef struct Cast {
    FilWorld *world;
    FilMesh *meshes[2];
} Cast;

static void finish(Cast *cast) {
    fil_world_destroy(cast->world);
    fil_mesh_destroy(cast->meshes[0]);
    fil_mesh_destroy(cast->meshes[1]);
}

// A body about 0.1 m wide, and half as high as `*half`.
static FilShape thrown_shape(Cast *cast, int kind, double *half) {
    static const FilShape shapes[KINDS] = {
        [SPHERE] = {.kind = FIL_SHAPE_SPHERE, .radius = 0.05},
        [CAPSULE] = {.kind = FIL_SHAPE_CAPSULE, .radius = 0.03, .length = 0.15},
        [CYLINDER] = {.kind = FIL_SHAPE_CYLINDER, .radius = 0.03, .length = 0.2},
        [BOX] = {.kind = FIL_SHAPE_BOX, .size = {0.14, 0.12, 0.06}},
        [MESH] = {.kind = FIL_SHAPE_MESH},
    };
    FilShape shape = shapes[kind];
    if (kind == MESH) {
        cast->meshes[0] = mesh_box(0.14, 0.12, 0.06);
        shape.mesh = cast->meshes[0];
    }
    *half = kind == SPHERE ? 0.05 : 0.03;
    return shape;
}

// Bars along x, 1 m long, side by side, whose tops are at z = 0: obstacles.
static void add_bars(Cast *cast, int kind, double radius, int count, double apart) {
    const FilShape shapes[KINDS] = {
        [CAPSULE] = {.kind = FIL_SHAPE_CAPSULE, .radius = radius, .length = 1.0},
        [CYLINDER] = {.kind = FIL_SHAPE_CYLINDER, .radius = radius, .length = 1.0},
        [BOX] = {.kind = FIL_SHAPE_BOX, .size = {1.0, 2.0 * radius, 2.0 * radius}},
        [MESH] = {.kind = FIL_SHAPE_MESH},
    };
    const FilSurface surface = fil_surface_default();
    FilShape shape = shapes[kind];
    if (kind == MESH) {
        cast->meshes[1] = mesh_box(1.0, 2.0 * radius, 2.0 * radius);
        shape.mesh = cast->meshes[1];
    }
    for (int i = 0; i < count; i++) {
        const double y = (i - 0.5 * (count - 1)) * apart;
        FilObstacleDef def = {.shape = shape, .pose = pose_at(0.0, y, -radius)};
        FilError error;
        int obstacle;
        must(fil_world_add_obstacle(cast->world, &def, &surface, &obstacle, &error), &error);
    }
}

// Rods, held at both ends, in place of the bars.
static void add_cords(const Cast *cast, double radius, int count, double apart) {
    for (int i = 0; i < count; i++) {
        FilRodDef def = log_def(FIL_ROD_DER, -radius);
        def.section.radius = radius;
        def.root.position[0] = -0.5;
        def.root.position[1] = (i - 0.5 * (count - 1)) * apart;
        def.root_end.kind = def.tip_end.kind = FIL_END_CLAMPED;
        (void)add_rod(cast->world, &def, 2);
    }
}

static Cast begin(double step) {
    Cast cast = {0};
    FilWorldDef def = fil_world_def_default();
    def.step = step;
    def.solver.tolerance = 1e-10;
    def.solver.thread_count = 1;
    cast.world = make_world(&def, 0.5, 0.0);
    return cast;
}

// Turned about z, and rolled about its own first axis.
static void turn(FilPose *pose, double angle, double roll) {
    const double c = cos(angle), s = sin(angle), cr = cos(roll), sr = sin(roll);
    const double axes[3][3] = {{c, s, 0.0}, {-s * cr, c * cr, sr}, {s * sr, -c * sr, cr}};
    memcpy(pose->axis, axes, sizeof axes);
}

static double kinetic_of(const FilRigid *rigid) {
    FilRigidEnergy energy;
    fil_rigid_energy(rigid, &energy);
    return energy.translation + energy.rotation;
}

// Whatever the solids, and however they are turned, a body that falls a millimetre onto two bars
// lies still there.
static void every_solid_comes_to_rest_on_two_bars_of_every_kind(void) {
    FilRandom random = fil_random_make(41);
    for (int trial = 0; trial < 3 * KINDS * (KINDS - 1); trial++) {
        const int kind = trial % KINDS, on = 1 + trial / KINDS % (KINDS - 1);
        const double step = fil_random_uniform(&random, 1e-3, 1e-2);
        Cast cast = begin(step);
        FilRigidDef body = fil_rigid_def_default();
        double half;
        body.shape = thrown_shape(&cast, kind, &half);
        add_bars(&cast, on, 0.01, 2, 0.06);
        // what is long lies across the bars, within 0.6 rad
        const double roll =
            kind == BOX || kind == MESH ? 0.0 : fil_random_uniform(&random, 0.0, 6.0);
        turn(&body.pose, 1.5707963 + fil_random_uniform(&random, -0.6, 0.6), roll);
        const double sunk = kind == SPHERE ? 0.01 : 0.0; // it sinks in between them
        body.pose.position[2] = half - sunk + fil_random_uniform(&random, 0.0, 1e-3);
        FilRigid *rigid = add_rigid(cast.world, &body);
        FilStepInfo info = {0};
        for (int k = 0; k * step < 1.5; k++) {
            info = take_step(cast.world);
            CHECK(info.outcome == FIL_CONVERGED && info.missed_count == 0);
        }
        const double weight = 9.81 * fil_rigid_mass(rigid);
        if (!(kinetic_of(rigid) < 1e-9 * weight * half) || info.penetration > 1e-4) {
            printf("  %s on %s, step %g s: %g of m g h, overlap %g m\n", names[kind], names[on],
                   step, kinetic_of(rigid) / (weight * half), info.penetration);
        }
        CHECK(kinetic_of(rigid) < 1e-9 * weight * half);
        CHECK(info.penetration < 1e-4);
        double centre[3]; // it lies on top, and has not sunk in unseen
        fil_rigid_centre(rigid, centre);
        CHECK(kind == SPHERE || fabs(centre[2] - half) < 2e-4);
        finish(&cast);
    }
}

// Shot at a grid that it cannot slip through, at up to 50 m/s and turning, a body stays on its
// side, whatever the step, and sinks in by a fifth of a bar's radius at most. Cords give way.
static void no_solid_passes_through_bars_of_any_kind(void) {
    FilRandom random = fil_random_make(42);
    for (int trial = 0; trial < 6 * KINDS * KINDS; trial++) {
        const int kind = trial % KINDS, on = trial / KINDS % KINDS;
        const double step = 1e-3 * pow(20.0, fil_random_uniform(&random, 0.0, 1.0));
        // cords are thick: thin ones would give way and let it slip through between them
        const double radius = (on == 0 ? 6e-3 : 1e-3) *
                              pow(on == 0 ? 2.0 : 10.0, fil_random_uniform(&random, 0.0, 1.0));
        const double speed = pow(50.0, fil_random_uniform(&random, 0.0, 1.0));
        Cast cast = begin(step);
        FilRigidDef body = fil_rigid_def_default();
        double half;
        body.shape = thrown_shape(&cast, kind, &half);
        if (on == 0) {
            add_cords(&cast, radius, 9, 0.03);
        } else {
            add_bars(&cast, on, radius, 9, 0.03);
        }
        turn(&body.pose, fil_random_uniform(&random, -3.0, 3.0), 0.0);
        body.pose.position[2] = 0.12 + fil_random_uniform(&random, 0.0, 0.3);
        body.rate.velocity[2] = -speed;
        for (int k = 0; k < 3; k++) {
            body.rate.spin[k] = fil_random_uniform(&random, -50.0, 50.0);
        }
        FilRigid *rigid = add_rigid(cast.world, &body);
        FilError error;
        must(fil_world_set_gravity(cast.world, (const double[3]){0.0, 0.0, 0.0}, &error), &error);
        int missed = 0, pressed = 0;
        const double start = kinetic_of(rigid);
        double deepest = 0.0, energy = start;
        for (int k = 0; k * step < 0.5 / speed + 2.0 * step; k++) {
            const FilStepInfo info = take_step(cast.world);
            missed += info.missed_count;
            pressed += info.pressed_count;
            deepest = fmax(deepest, info.penetration);
            // cords throw it back; the inertia of what turns is that of free flight
            CHECK(on == 0 || kinetic_of(rigid) <= energy + 2e-3 * start);
            energy = kinetic_of(rigid);
        }
        double centre[3];
        fil_rigid_centre(rigid, centre);
        const bool through = !(centre[2] > (on == 0 ? -0.3 : 0.0));
        if (through || missed > 0 || pressed > 0 || !(deepest <= 0.2 * radius)) {
            printf("  %s on %s of %g m, step %g s, %g m/s: at %g m, missed %d, pressed %d, overlap "
                   "%g m\n",
                   names[kind], on == 0 ? "cords" : names[on], radius, step, speed, centre[2],
                   missed, pressed, deepest);
        }
        CHECK(!through && missed == 0 && pressed == 0);
        CHECK(deepest <= 0.2 * radius);
        finish(&cast);
    }
}

static void rise(void *user, double time, FilPose *pose) {
    pose->position[2] += time * *(const double *)user;
}

// A plate of 4 mm that flies up, freely or driven, strikes a body that turns: the body is above it
// ever after.
static void a_thin_plate_does_not_fly_through_a_body(void) {
    const FilShape plate = {.kind = FIL_SHAPE_BOX, .size = {2.0, 2.0, 0.004}};
    FilRandom random = fil_random_make(43);
    for (int trial = 0; trial < 12 * KINDS; trial++) {
        const int kind = trial % KINDS;
        const bool driven = trial / KINDS % 2 == 0;
        const double step = 1e-3 * pow(20.0, fil_random_uniform(&random, 0.0, 1.0));
        double speed = 2.0 * pow(30.0, fil_random_uniform(&random, 0.0, 1.0)), half;
        const FilSurface surface = fil_surface_default();
        Cast cast = begin(step);
        FilRigidDef body = fil_rigid_def_default(), other = fil_rigid_def_default();
        FilObstacleDef def = {.shape = plate, .motion = rise, .user = &speed};
        FilError error;
        FilRigid *second = NULL;
        int obstacle = 0;
        must(fil_world_set_gravity(cast.world, (const double[3]){0.0, 0.0, 0.0}, &error), &error);
        body.shape = thrown_shape(&cast, kind, &half);
        body.pose.position[2] = fil_random_uniform(&random, 0.2, 0.4);
        turn(&body.pose, fil_random_uniform(&random, -3.0, 3.0),
             fil_random_uniform(&random, 0.0, 6.0));
        for (int k = 0; k < 3; k++) {
            body.rate.spin[k] = fil_random_uniform(&random, -20.0, 20.0);
        }
        const FilRigid *first = add_rigid(cast.world, &body);
        def.pose = pose_at(0.0, 0.0, 0.0);
        other.shape = plate;
        other.rate.velocity[2] = speed;
        if (driven) {
            must(fil_world_add_obstacle(cast.world, &def, &surface, &obstacle, &error), &error);
        } else {
            second = add_rigid(cast.world, &other);
        }
        int bad = 0;
        for (int k = 0; k * step < 0.5 / speed + 3.0 * step; k++) {
            const FilStepInfo info = take_step(cast.world);
            bad += info.missed_count + info.pressed_count;
        }
        double centre[3];
        FilPose pose;
        fil_rigid_centre(first, centre);
        if (driven) {
            fil_world_obstacle_at(cast.world, obstacle, &pose, NULL);
        } else {
            fil_rigid_pose(second, &pose);
        }
        double height = 0.0; // of the body above the plate
        for (int k = 0; k < 3; k++) {
            height += (centre[k] - pose.position[k]) * pose.axis[2][k];
        }
        CHECK(height > 0.01 && bad == 0);
        finish(&cast);
    }
}

#define TESTS(X)                                           \
    X(every_solid_comes_to_rest_on_two_bars_of_every_kind) \
    X(no_solid_passes_through_bars_of_any_kind)            \
    X(a_thin_plate_does_not_fly_through_a_body)

CHECK_MAIN(TESTS)
