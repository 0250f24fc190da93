// rods.c - random rods, and what is wrong with how they move.
//
// A rod is drawn from a seed: sections over eight decades of area, stiffness over many more, any
// natural shape, ends held, driven or free, loads, launched at up to 100 m/s and 1000 rad/s, steps
// from a microsecond to a second. It is stepped by itself with fil_rod_step().
//
// Energy. Without torques and growth all that acts has a potential, or takes energy away, so that
// the sum H of all energies must not grow while the ends rest. An end that is driven does work. Let
// it be moved by d in a step of dt without turning, alone or together with the other end: seen from
// a frame that goes along with U = d / dt nothing is driven, and in that frame
//     H' = H - U . P + M U^2 / 2
// before the step, with P the momentum and M the mass; after it, where the frame has gone on by d,
// (M g + sum F) . d is added. H' must not grow, and no reaction has to be measured. It is exact for
// any motion with theta = 1, where the end has the velocity U in the step, and for constant U with
// any theta. Elsewhere (ends that turn, or one of two that moves, or that change their velocity in
// a step that is taken in parts, or air drag, which knows who is at rest) the energy is not looked
// at.
//
// Momentum. That of a rod with free ends, without drag, changes by dt (M g + sum F); its angular
// momentum about the origin does not change where nothing acts. Both are relative to what its mass
// would have at its kinetic energy. Energy that a step releases and damps away was motion in its
// parts: a rod that stops from there is known to round-off of that motion.
#include "torture.h"

#include "filum/scene.h"
#include "writer.h"

#include <math.h>
#include <string.h>

#include "math/vec3.h"
#include "math/vector.h"

static const double most_gain = 1e-9, most_off = 1e-9, most_astray = 1e-7;
static const double round_off = 1e-15;
static const double pi = 3.14159265358979323846;

#define ROD_FAULT_NAME(code, name, text) name,
#define ROD_FAULT_TEXT(code, name, text) text,
const char *fil_rod_fault_name(int fault) {
    static const char *const names[] = {FIL_ROD_FAULT_TABLE(ROD_FAULT_NAME)};
    return names[fault];
}

const char *fil_rod_fault_text(int fault) {
    static const char *const texts[] = {FIL_ROD_FAULT_TABLE(ROD_FAULT_TEXT)};
    return texts[fault];
}

uint64_t fil_torture_seed(uint64_t series, int k) {
    FilRandom random = fil_random_make(series);
    return fil_random_bits(&random) + (uint64_t)k;
}

// --- drawing a rod -------------------------------------------------------------------------------

typedef struct Drawn {
    FilRodModel model;
    int elements;
    double length, radius, young, density, step;
    double weight, stiff; // N: what gravity of the earth does to it, what bends it as a whole
    const char *root, *tip;
} Drawn;

static void put_section(FilSceneWriter *w, Drawn *d) {
    const double area = pi * d->radius * d->radius;
    const double bend = d->young * area * d->radius * d->radius / 4.0;
    put(w, ",\n  ");
    put_number(w, "radius", d->radius);
    d->weight = 9.81 * d->density * area * d->length;
    d->stiff = bend / (d->length * d->length);
    if (d->model == FIL_ROD_CHAIN || chance(w, 0.7)) {
        return;
    }
    if (chance(w, 0.5)) {
        put(w, ", \"section\": {\"kind\": \"elliptic\", \"radii\": [%.7g, %.7g]}", d->radius,
            d->radius * spread(w, 0.03, 1.0));
    } else if (chance(w, 0.5)) {
        put(w, ", \"section\": {\"kind\": \"hollow\", \"inner_radius\": %.7g}",
            d->radius * pick(w, 0.1, 0.95));
    } else {
        put(w, ", \"section\": {\"kind\": \"given\", \"bend\": [%.7g, %.7g], \"twist\": %.7g, ",
            bend, bend * spread(w, 1e-2, 1e2), bend * spread(w, 1e-2, 1e2));
        put_number(w, "mass", d->density * area);
        put(w, "}");
    }
}

// (twist, kappa1, kappa2), so that an element turns by up to `angle`.
static void put_curvatures(FilSceneWriter *w, const Drawn *d, double angle) {
    const double size = angle * d->elements / d->length / 1.7320508;
    put(w, "[%.7g, %.7g, %.7g]", pick(w, -size, size), pick(w, -size, size), pick(w, -size, size));
}

static void put_shape(FilSceneWriter *w, const Drawn *d) {
    const bool chain = d->model == FIL_ROD_CHAIN;
    if (!chain && chance(w, 0.6)) {
        const double size = spread(w, 1e-2, 1.5) * d->elements / d->length / 1.7320508;
        put(w, ",\n  \"natural\": {\"curvature\": [%.7g, %.7g], \"twist\": %.7g}",
            pick(w, -size, size), pick(w, -size, size), pick(w, -size, size));
    }
    if (chance(w, 0.2)) {
        put(w, ", \"start\": \"straight\"");
    } else if (!chain && chance(w, 0.4)) {
        const double angle = spread(w, 1e-3, 1.5);
        put(w, ",\n  \"start\": \"curvatures\", \"curvatures\": [");
        for (int k = 0; k < d->elements; k++) {
            put(w, "%s", k > 0 ? ", " : "");
            put_curvatures(w, d, angle);
        }
        put(w, "]");
    }
}

// How a held end moves; the text is kept, so that the other end may move in the same way.
// NOLINTNEXTLINE(readability-non-const-parameter): it is written through the writer
static void draw_motion(FilSceneWriter *w, const Drawn *d, char *text) {
    FilSceneWriter copy = {.random = w->random, .text = text};
    FilSceneWriter *m = &copy;
    put(m, ", \"motion\": {");
    if (chance(m, 0.5)) {
        put_vector(m, "velocity", spread(m, 1e-2, 30.0));
    } else if (chance(m, 0.5)) {
        put(m, "\"swing\": {");
        put_vector(m, "at", spread(m, 1e-3, 1.0) * d->length);
        put(m, ", ");
        put_number(m, "period", d->step * spread(m, 2.0, 50.0));
        put(m, "}");
    } else {
        put_vector(m, "spin", spread(m, 0.1, 100.0));
    }
    put(m, "}");
    w->random = copy.random;
}

static void put_ends(FilSceneWriter *w, Drawn *d) {
    static const char *const kinds[] = {"free", "pinned", "clamped", "sliding"};
    char motion[FIL_SCENE_TEXT] = "";
    const int most = d->model == FIL_ROD_CHAIN ? 2 : 4;
    d->root = chance(w, 0.3) ? "free" : chance(w, 0.5) ? "clamped" : kinds[below(w, most)];
    d->tip = chance(w, 0.7) ? "free" : kinds[below(w, most)];
    if (d->model == FIL_ROD_CHAIN && strcmp(d->root, "clamped") == 0) {
        d->root = "pinned";
    }
    const bool held[2] = {strcmp(d->root, "free") != 0, strcmp(d->tip, "free") != 0};
    const bool driven = (held[0] || held[1]) && chance(w, 0.35);
    const bool both = chance(w, 0.6);
    if (driven) {
        draw_motion(w, d, motion);
    }
    put(w, ",\n  \"root\": {");
    put_vector(w, "at", d->length);
    put(w, ", ");
    put_point(w, "along", pick(w, -1.0, 1.0), pick(w, -1.0, 1.0), pick(w, -1.0, 1.0));
    put(w, ", \"held\": \"%s\"%s}", d->root, held[0] ? motion : "");
    put(w, ", \"tip\": {\"held\": \"%s\"%s}", d->tip, held[1] && (!held[0] || both) ? motion : "");
}

static void put_loads(FilSceneWriter *w, const Drawn *d) {
    const double size = chance(w, 0.5) ? d->weight : d->stiff;
    if (chance(w, 0.15)) {
        put(w, ",\n  ");
        put_vector(w, "line_load", size * spread(w, 1e-2, 1e2) / d->length);
    }
    if (!chance(w, 0.4)) {
        return;
    }
    const int count = 1 + below(w, 2);
    put(w, ",\n  \"loads\": [");
    for (int k = 0; k < count; k++) {
        put(w, "%s{\"at\": %.7g, ", k > 0 ? ", " : "",
            chance(w, 0.5) ? d->length : d->length * pick(w, 0.0, 1.0));
        put_vector(w, "force", size * spread(w, 1e-2, 1e3));
        if (d->model != FIL_ROD_CHAIN && chance(w, 0.15)) {
            put(w, ", ");
            put_vector(w, "torque", size * d->length * spread(w, 1e-3, 10.0));
        }
        put(w, "}");
    }
    put(w, "]");
}

static void put_motion(FilSceneWriter *w, const Drawn *d) {
    if (strcmp(d->root, "sliding") == 0 || strcmp(d->tip, "sliding") == 0 || !chance(w, 0.6)) {
        return;
    }
    put(w, ",\n  ");
    put_vector(w, "velocity", spread(w, 1e-2, 100.0));
    put(w, ", ");
    put_vector(w, "spin", spread(w, 0.1, 1000.0));
}

// NOLINTNEXTLINE(readability-non-const-parameter): it is written through the writer
void fil_torture_rod_scene(FilRodModel model, uint64_t seed, char *text) {
    FilSceneWriter writer = {.random = fil_random_make(seed), .text = text};
    FilSceneWriter *w = &writer;
    Drawn d = {.model = model};
    d.elements = chance(w, 0.05) ? 20 + below(w, 41) : 1 + below(w, 12);
    d.elements += model == FIL_ROD_CHAIN ? 1 : 0;
    d.length = spread(w, 1e-3, 10.0);
    d.radius = fmin(spread(w, 1e-6, 1e-2), 0.1 * d.length);
    d.young = spread(w, 1e5, 1e12);
    d.density = spread(w, 50.0, 2e4);
    d.step = spread(w, 1e-6, 1.0);
    const double theta = chance(w, 0.4) ? 1.0 : chance(w, 0.4) ? 0.5 : pick(w, 0.5, 1.0);
    put(w, "{\"duration\": %.7g, \"step\": %.7g, \"theta\": %.7g, ", FIL_ROD_TORTURE_STEPS * d.step,
        d.step, theta);
    if (chance(w, 0.3)) {
        put_point(w, "gravity", 0.0, 0.0, 0.0);
    } else if (chance(w, 0.2)) {
        put_vector(w, "gravity", spread(w, 0.1, 1000.0));
    } else {
        put_point(w, "gravity", 0.0, 0.0, -9.81);
    }
    put(w, ",\n \"materials\": {\"m\": {\"young\": %.7g, \"density\": %.7g}},\n", d.young,
        d.density);
    put(w, " \"rods\": [{\"model\": \"%s\", \"elements\": %d, \"length\": %.7g",
        fil_rod_model_name(model), d.elements, d.length);
    put_section(w, &d);
    put_shape(w, &d);
    put_ends(w, &d);
    put_loads(w, &d);
    put_motion(w, &d);
    if (chance(w, 0.25)) {
        put(w, ",\n  \"damping\": %.7g", spread(w, 1e-6, 1.0));
    }
    if (chance(w, 0.15)) {
        put(w, ",\n  \"drag\": %.7g", d.weight / 9.81 / d.length * spread(w, 1e-2, 1e2));
    }
    put(w, "}]}\n");
}

// --- what acts on it -----------------------------------------------------------------------------

typedef struct Acting {
    const FilRodDef *def;
    double mass;     // kg
    double force[3]; // N: loads and weight together
    double size;     // N: of all of them, one by one
    double noise; // J/m^2: what places that are all wrong by so much do to a rod, by straining it
    bool free, alone;  // both ends; and nothing acts at all
    bool conservative; // what is not the work of driven ends has a potential, or takes energy
    int driven;        // ends
    FilPose starts[2]; // of root and tip
} Acting;

double fil_torture_mass(const FilSection *section) {
    switch (section->kind) {
    case FIL_SECTION_HOLLOW:
        return pi * section->density *
               (section->radius * section->radius - section->inner_radius * section->inner_radius);
    case FIL_SECTION_ELLIPTIC:
        return pi * section->density * section->radii[0] * section->radii[1];
    case FIL_SECTION_GIVEN:
        return section->mass;
    default:
        return pi * section->density * section->radius * section->radius;
    }
}

// N m^2: how hard a section is to bend.
static double find_bend(const FilSection *section) {
    const double square =
        section->kind == FIL_SECTION_ELLIPTIC
            ? fmax(section->radii[0] * section->radii[0], section->radii[1] * section->radii[1])
            : section->radius * section->radius;
    const double hollow = section->kind == FIL_SECTION_HOLLOW ? 2.0 : 1.0; // at most
    return section->kind == FIL_SECTION_GIVEN ? fmax(section->bend[0], section->bend[1])
                                              : 0.25 * hollow * square * section->young *
                                                    fil_torture_mass(section) / section->density;
}

// N: how hard a section is to stretch; one that is given is taken for a round one, as all models
// do. (Twist was taken for a stiffness to stretch here, and the 4 of a round section was missing,
// so that round-off of places gave more energy than it was thought to be able to.)
static double find_stretch(const FilSection *section) {
    return section->kind == FIL_SECTION_GIVEN
               ? 4.0 * find_bend(section) / (section->radius * section->radius)
               : section->young * fil_torture_mass(section) / section->density;
}

// N: how hard an element is to strain: along, and in corde across, too, where frames are held to
// the tangents by a spring of their own.
static double find_strain(const FilRodDef *def) {
    const double l = def->length / def->element_count, stretch = find_stretch(&def->section);
    return stretch +
           (def->model == FIL_ROD_CORDE ? 12.0 * find_bend(&def->section) / (l * l) : 0.0);
}

static Acting find_acting(const FilRodDef *def, const FilRod *rod) {
    Acting acting = {.def = def, .mass = def->length * fil_torture_mass(&def->section)};
    bool torque = false;
    fil_add3(acting.mass, def->gravity, acting.force);
    acting.size = acting.mass * fil_norm3(def->gravity);
    for (int k = 0; k < def->load_count; k++) {
        fil_add3(1.0, def->loads[k].force, acting.force);
        acting.size += fil_norm3(def->loads[k].force);
        torque = torque || fil_norm3(def->loads[k].torque) > 0.0;
    }
    const double n = def->element_count;
    acting.noise = 0.5 * find_strain(def) * n * n / def->length;
    acting.driven = (def->root_end.motion != NULL) + (def->tip_end.motion != NULL);
    acting.free =
        def->root_end.kind == FIL_END_FREE && def->tip_end.kind == FIL_END_FREE && def->drag == 0.0;
    acting.alone = acting.free && acting.size == 0.0 && !torque;
    acting.conservative = !torque && def->growth == 0.0 && (acting.driven == 0 || def->drag == 0.0);
    fil_rod_at(rod, 0.0, &acting.starts[0], NULL);
    fil_rod_at(rod, def->length, &acting.starts[1], NULL);
    return acting;
}

static void place_end(const Acting *acting, bool tip, double time, FilPose *pose) {
    const FilRodEnd *end = tip ? &acting->def->tip_end : &acting->def->root_end;
    *pose = acting->starts[tip];
    if (end->motion != NULL) {
        end->motion(end->user, time, pose);
    }
}

static bool are_same(const double *a, const double *b, int count) {
    bool same = true;
    for (int k = 0; k < count; k++) {
        same = same && a[k] == b[k];
    }
    return same;
}

// How far all that is held goes from one time to the other, without turning; false where it turns,
// or not all of it goes together.
static bool find_way(const Acting *acting, double from, double to, double way[3]) {
    bool any = false;
    memset(way, 0, 3 * sizeof *way);
    for (int tip = 0; tip < 2; tip++) {
        const FilRodEnd *end = tip ? &acting->def->tip_end : &acting->def->root_end;
        FilPose before, after;
        double went[3];
        if (end->kind == FIL_END_FREE) {
            continue;
        }
        place_end(acting, tip, from, &before);
        place_end(acting, tip, to, &after);
        fil_subtract3(after.position, before.position, went);
        if (!are_same(before.axis[0], after.axis[0], 9) || (any && !are_same(way, went, 3))) {
            return false;
        }
        fil_copy3(went, way);
        any = true;
    }
    return true;
}

// --- looking at a step ---------------------------------------------------------------------------

typedef struct Look {
    double time;
    double energy, size; // J: their sum, and that of their absolute values
    double kinetic;
    double linear[3], angular[3];
    double far; // m: how far away from the origin it is, and how long
    bool finite;
} Look;

static Look look_at(const FilRod *rod) {
    static const double origin[3] = {0.0, 0.0, 0.0};
    FilRodEnergy e;
    Look look = {.time = fil_rod_time(rod)};
    fil_rod_energy(rod, &e);
    fil_rod_momentum(rod, origin, look.linear, look.angular);
    look.kinetic = e.kinetic;
    FilPose root;
    fil_rod_at(rod, 0.0, &root, NULL);
    look.far = fil_norm3(root.position) + fil_rod_length(rod);
    look.energy = e.kinetic + e.bend + e.twist + e.stretch + e.gravity + e.loads;
    look.size = fabs(e.kinetic) + fabs(e.bend) + fabs(e.twist) + fabs(e.stretch) + fabs(e.gravity) +
                fabs(e.loads);
    look.finite =
        isfinite(look.size) && fil_all_finite(look.linear, 3) && fil_all_finite(look.angular, 3);
    return look;
}

// Whether half of the way is gone in half of the time.
static bool is_even(const Acting *acting, double from, double to, const double way[3]) {
    double half[3];
    if (!find_way(acting, from, 0.5 * (from + to), half)) {
        return false;
    }
    fil_add3(-0.5, way, half);
    return fil_norm3(half) <= 1e-12 * fil_norm3(way);
}

// J: what round-off of places may add.
static double find_noise(const Acting *acting, const Look *before, const Look *after) {
    const double place = 2e-15 * fmax(before->far, after->far);
    return acting->noise * place * place;
}

// The energy that a step gained beyond the work done, of all energies in it; false where nobody
// knows the work.
static bool find_gain(const Acting *acting, const Look *before, const Look *after, int parts,
                      double *gain) {
    double way[3], speed[3];
    if (!acting->conservative) {
        return false;
    }
    memset(way, 0, 3 * sizeof *way);
    if (acting->driven > 0 && !find_way(acting, before->time, after->time, way)) {
        return false;
    }
    if (acting->driven > 0 && parts > 1 && !is_even(acting, before->time, after->time, way)) {
        return false;
    }
    const double dt = after->time - before->time;
    for (int k = 0; k < 3; k++) {
        speed[k] = way[k] / dt;
    }
    if (acting->driven > 0 && acting->def->theta < 1.0) { // U must have been the same before
        double earlier[3], change[3];
        if (before->time < dt || !find_way(acting, before->time - dt, before->time, earlier)) {
            return false;
        }
        fil_subtract3(earlier, way, change);
        if (fil_norm3(change) > 1e-12 * fil_norm3(way)) {
            return false;
        }
    }
    const double own = 0.5 * acting->mass * fil_dot3(speed, speed);
    const double first = before->energy - fil_dot3(speed, before->linear);
    const double last =
        after->energy - fil_dot3(speed, after->linear) + fil_dot3(acting->force, way);
    const double size = before->size + after->size + own + fabs(fil_dot3(speed, before->linear)) +
                        fabs(fil_dot3(speed, after->linear)) + acting->size * fil_norm3(way);
    *gain = size > 0.0 ? (last - first - find_noise(acting, before, after)) / size : 0.0;
    return true;
}

static void check_momentum(const Acting *acting, const Look *before, const Look *after,
                           FilRodTorture *out) {
    const double dt = after->time - before->time;
    const double noise = find_noise(acting, before, after);
    const double released = fmax(0.0, before->size - after->size);
    const double size =
        sqrt(2.0 * acting->mass * (before->kinetic + after->kinetic + noise / most_off)) +
        round_off / most_off * sqrt(2.0 * acting->mass * released) + dt * acting->size;
    double change[3];
    if (!acting->free || size == 0.0) {
        return;
    }
    fil_subtract3(after->linear, before->linear, change);
    fil_add3(-dt, acting->force, change);
    const double linear = fil_norm3(change) / size;
    out->linear = fmax(out->linear, linear);
    out->faults |= linear > most_off ? 1U << FIL_ROD_LINEAR : 0U;
    if (acting->alone) {
        fil_subtract3(after->angular, before->angular, change);
        const double angular = fil_norm3(change) / (size * acting->def->length);
        out->angular = fmax(out->angular, angular);
        out->faults |= angular > most_off ? 1U << FIL_ROD_ANGULAR : 0U;
    }
}

static void check_ends(const Acting *acting, const FilRod *rod, FilRodTorture *out) {
    for (int tip = 0; tip < 2; tip++) {
        const FilRodEnd *end = tip ? &acting->def->tip_end : &acting->def->root_end;
        FilPose pose, held;
        double off[3];
        if (end->kind != FIL_END_PINNED && end->kind != FIL_END_CLAMPED) {
            continue;
        }
        place_end(acting, tip, fil_rod_time(rod), &held);
        fil_rod_at(rod, tip ? acting->def->length : 0.0, &pose, NULL);
        fil_subtract3(pose.position, held.position, off);
        const double size = acting->def->length + fil_norm3(held.position);
        out->faults |= fil_norm3(off) > most_astray * size ? 1U << FIL_ROD_ASTRAY : 0U;
    }
}

static void check_step(const Acting *acting, const FilRod *rod, const FilRodStepInfo *info,
                       const Look looks[2], FilRodTorture *out) {
    double gain;
    out->iterations += info->iterations;
    out->unconverged += !info->converged;
    out->faults |= info->iterations > FIL_ROD_MOST_ITERATIONS ? 1U << FIL_ROD_SLOW : 0U;
    out->faults |= !info->converged ? 1U << FIL_ROD_UNCONVERGED : 0U;
    if (!looks[1].finite || isnan(info->residual)) {
        out->faults |= 1U << FIL_ROD_INFINITE;
        return;
    }
    if (!info->converged) {
        return;
    }
    check_momentum(acting, &looks[0], &looks[1], out);
    check_ends(acting, rod, out);
    if (find_gain(acting, &looks[0], &looks[1], info->parts, &gain)) {
        out->checked++;
        out->gain = fmax(out->gain, gain);
        out->faults |= gain > most_gain ? 1U << FIL_ROD_GAINED : 0U;
    }
}

// --- a rod from start to end ---------------------------------------------------------------------

bool fil_torture_is_sentence(const char *text) {
    static const char *const bad[] = {"nan", "inf"};
    for (int k = 0; k < 2; k++) {
        for (const char *at = text; (at = strstr(at, bad[k])) != NULL; at++) {
            const bool begins = at == text || strchr(" -=(,[", at[-1]) != NULL;
            if (begins && strchr(" ;,.)]", at[3]) != NULL) {
                return false;
            }
        }
    }
    return strlen(text) > 10 && text[strlen(text) - 1] != '\n';
}

static void fault(FilRodTorture *out, int which) {
    out->faults |= 1U << which;
    out->faults |= fil_torture_is_sentence(out->error.text) ? 0U : 1U << FIL_ROD_SPEECHLESS;
}

static void step_rod(const FilScene *scene, FilRod *rod, FilRodTorture *out) {
    const Acting acting = find_acting(&scene->rods[0].def, rod);
    Look looks[2] = {look_at(rod)};
    for (int k = 1; k <= FIL_ROD_TORTURE_STEPS && looks[0].finite; k++) {
        FilRodStepInfo info;
        const unsigned before = out->faults;
        if (fil_rod_step(rod, scene->step, &info, &out->error) != FIL_OK) {
            fault(out, FIL_ROD_FAILED);
            looks[0].finite = false;
        } else {
            looks[1] = look_at(rod);
            out->steps++;
            check_step(&acting, rod, &info, looks, out);
            looks[0] = looks[1];
        }
        out->fault_step = out->fault_step == 0 && out->faults != before ? k : out->fault_step;
    }
}

FilRodTorture fil_torture_rod(const char *where, const char *text) {
    FilRodTorture out = {0};
    FilScene *scene = NULL;
    FilRod *rod = NULL;
    FilStatus status =
        fil_scene_read_text(where, text, strlen(text), NULL, NULL, &scene, &out.error);
    if (status == FIL_OK) {
        status = fil_rod_create(&scene->rods[0].def, NULL, &rod, &out.error);
    }
    if (status == FIL_OK &&
        fil_norm3(scene->rods[0].velocity) + fil_norm3(scene->rods[0].spin) > 0.0) {
        status = fil_rod_launch(rod, scene->rods[0].velocity, scene->rods[0].spin, &out.error);
    }
    if (status != FIL_OK) {
        fault(&out, FIL_ROD_REFUSED);
    } else {
        step_rod(scene, rod, &out);
    }
    fil_rod_destroy(rod);
    fil_scene_destroy(scene);
    return out;
}
