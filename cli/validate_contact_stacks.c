// validate_contact_stacks.c - what stands, what keeps still, and what contact must never do.
//
// Three logs. Two lie side by side and touch, the third on top of them, its weight W. By symmetry
// each lower log carries W/2 from above; moments about its own axis ask for the same friction T
// above and below, moments about its contact with the ground for a resultant above that points at
// it: it leans by 15 deg from the normal of the contact, whose direction is 30 deg from the
// vertical. So
//     mu (log on log) >= tan 15 deg = 0.26795,
// and on the ground T / (3/2 W) = tan(15 deg) / 3 = 0.08932. Both are bisected: it stands if the
// top has not sunk by 1e-9 m after 0.1 s. Just below the limit it sinks by a t^2 / 2 with a = O(g
// (mu_c - mu)): the threshold is seen to 1e-7.
//
// At rest. A friction solve ends with a residual of tol |b|, b being the velocities that the step
// would bring, about g dt each: velocities of tol g dt sqrt(n), and of some hundred times that
// where W is ill-conditioned, are what the tolerance allows. They are 1e-10 * 9.81 * 1e-3 * 10 *
// 100 = 1e-9 m/s for 100 contacts: 5e-19 J per kg.
//
// In every step of a heap that falls: friction takes energy, sum r_T . u_T <= 0; and so does
// contact, sum r . u <= 0, restitution being 0; to the solve's tolerance of |u|, 1e-10 g dt.
// Overlaps: at most a twentieth of the radius while it falls, as docs/world.md promises, and 1 % at
// rest.
#include "validate_contact.h"

#include <math.h>
#include <string.h>

// --- three logs ----------------------------------------------------------------------------------

// By how much the top of the stack sinks in 0.1 s.
static double sunk(Trial *t, double mu_logs, double mu_ground) {
    static const double top_height = 0.05 + 0.05 * 1.7320508075688772;
    FilWorldDef def = trial_world_def(1e-3);
    trial_world(t, &def, mu_logs, 0.0);
    int ground = 0, index;
    FilObstacleDef floor = {.shape = {.kind = FIL_SHAPE_PLANE},
                            .pose = {.axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
    FilSurface surface = fil_surface_default();
    if (t->status == FIL_OK) {
        t->status = fil_world_add_material(t->world, 0.0, &ground, &t->error);
    }
    if (t->status == FIL_OK) {
        t->status = fil_world_set_friction(t->world, 0, ground, mu_ground, &t->error);
    }
    surface.material = ground;
    if (t->status == FIL_OK) {
        t->status = fil_world_add_obstacle(t->world, &floor, &surface, &index, &t->error);
    }
    const FilRigidDef logs[3] = {trial_roller(-0.05, 0.05), trial_roller(0.05, 0.05),
                                 trial_roller(0.0, top_height)};
    (void)trial_rigid(t, &logs[0]);
    (void)trial_rigid(t, &logs[1]);
    const FilRigid *top = trial_rigid(t, &logs[2]);
    double centre[3] = {0.0, 0.0, top_height};
    if (trial_run(t, 100)) {
        fil_rigid_centre(top, centre);
    }
    return top_height - centre[2];
}

static void validate_logs(Validation *v) {
    const char *names[2] = {"three logs: least mu, log on log",
                            "three logs: least mu, log on ground"};
    const double limit = 0.2679491924311227; // tan 15 deg
    for (int k = 0; k < 2 && !v->stopped(); k++) {
        const double expected = k == 0 ? limit : limit / 3.0;
        double low = 0.9 * expected, high = 1.1 * expected;
        bool fine = true;
        for (int i = 0; i < 22 && fine; i++) {
            double middle = 0.5 * (low + high);
            Trial t = trial_begin(v, names[k], "cylinder", 0);
            double by = k == 0 ? sunk(&t, middle, 0.5) : sunk(&t, 0.5, middle);
            fine = trial_holds(&t);
            trial_end(&t);
            *(by > 1e-9 ? &low : &high) = middle;
        }
        if (fine) {
            validate_ratio(v, names[k], "cylinder", 0, expected, 0.5 * (low + high), 1e-6);
        }
    }
}

// --- at rest -------------------------------------------------------------------------------------

// Crates in a wall, every other row shifted: far more contacts than degrees of freedom.
static void validate_wall(Validation *v) {
    const char *name = "wall of 20 cubes: kinetic energy at rest (J)";
    Trial t = trial_begin(v, name, "cube", 20);
    FilWorldDef def = trial_world_def(1e-3);
    trial_world(&t, &def, 0.5, 0.0);
    trial_floor(&t);
    for (int k = 0; k < 20; k++) {
        const int row = k / 4;
        FilRigidDef cube = trial_cube(0.1, 0.1002 * (k % 4) + 0.03 * (row % 2), 0.05 + 0.1 * row);
        (void)trial_rigid(&t, &cube);
    }
    double most = 0.0;
    for (int k = 0; k < 300 && trial_step(&t); k++) {
        most = k < 100 ? 0.0 : fmax(most, trial_kinetic(&t));
    }
    if (trial_holds(&t)) {
        validate_below(v, name, "cube", 20, most, 1e-17);
        validate_below(v, "wall of 20 cubes: steps not converged", "cube", 20, t.unconverged, 0.0);
    }
    trial_end(&t);
}

// --- a heap --------------------------------------------------------------------------------------

// Crossed rods of all models that fall on each other and a floor.
static void build_heap(Trial *t, int count) {
    FilWorldDef def = trial_world_def(2e-3);
    trial_world(t, &def, 0.3, 0.0);
    trial_floor(t);
    for (int i = 0; i < count; i++) {
        FilRodDef rod = trial_log((FilRodModel)(i % FIL_ROD_MODEL_COUNT), 0.03 + 0.03 * i, false);
        double angle = 0.7 * i;
        const double axes[3][3] = {
            {cos(angle), sin(angle), 0.0}, {-sin(angle), cos(angle), 0.0}, {0.0, 0.0, 1.0}};
        memcpy(rod.root.axis, axes, sizeof axes);
        rod.root.position[0] = -0.5 * cos(angle) + 0.02 * (i % 3);
        rod.root.position[1] = -0.5 * sin(angle);
        rod.element_count = 5;
        rod.section.young = 1e8;
        rod.natural_curvature[2] = rod.model == FIL_ROD_CHAIN ? 0.0 : 1.5; // lest it roll
        rod.damping = 0.05;
        rod.drag = 10.0;
        (void)trial_rod(t, &rod, 2, false);
    }
}

// r_T . u_T and r . u summed over the contacts, relative to the sum of |r| times 1 m/s.
static void contact_work(const Trial *t, double *slip, double *all) {
    int count;
    const FilContact *contacts = fil_world_contacts(t->world, &count);
    double scale = 1e-12;
    *slip = *all = 0.0;
    for (int i = 0; i < count; i++) {
        const FilContact *c = &contacts[i];
        double r = 0.0, u = 0.0;
        for (int k = 0; k < 3; k++) {
            r += c->impulse[k] * c->normal[k];
            u += c->velocity[k] * c->normal[k];
            *all += c->impulse[k] * c->velocity[k];
            scale += fabs(c->impulse[k]);
        }
        *slip -= r * u;
    }
    *slip = (*slip + *all) / scale;
    *all /= scale;
}

static void validate_heap(Validation *v) {
    enum { RODS = 10 };
    const char *name = "heap of rods: most r_T . u_T in a step";
    Trial t = trial_begin(v, name, "all", RODS);
    build_heap(&t, RODS);
    double slip = -INFINITY, all = -INFINITY;
    for (int k = 0; k < 900 && trial_step(&t); k++) {
        double work[2];
        contact_work(&t, &work[0], &work[1]);
        slip = fmax(slip, work[0]);
        all = fmax(all, work[1]);
    }
    double falling = t.penetration / 0.01, fast = 0.0;
    t.penetration = 0.0;
    for (int k = 0; k < 200 && trial_step(&t); k++) {
        fast = fmax(fast, trial_kinetic(&t));
    }
    if (trial_holds(&t)) {
        validate_below(v, name, "all", RODS, fmax(slip, 0.0), 1e-12);
        validate_below(v, "heap of rods: most r . u in a step", "all", RODS, fmax(all, 0.0), 1e-12);
        validate_below(v, "heap of rods: penetration, falling (radii)", "all", RODS, falling, 0.05);
        validate_below(v, "heap of rods: penetration, at rest (radii)", "all", RODS,
                       t.penetration / 0.01, 0.01);
        validate_below(v, "heap of rods: kinetic energy at rest (J)", "all", RODS, fast, 1e-17);
        validate_below(v, "heap of rods: pairs missed", "all", RODS, t.missed, 0.0);
    }
    trial_end(&t);
}

void validate_contact_stacks(Validation *v) {
    validate_logs(v);
    validate_wall(v);
    validate_heap(v);
}
