// bench_world_pulls.c - filum bench world --pulls N: hands that pull at random, hard and far.
//
// The pulls go round the scenes that have rods. In each some place of some rod is held for a few
// steps, while the target moves as a mouse does that somebody plays with: within reach, far beyond
// it, or jumping by metres from step to step; every third one twists, too. After a pull the world
// goes on from where that left it.
//
// A pull explodes when a step fails, or when the world has more energy after it than before it and
// what the hand did, by more than a tenth of what moved; the latter is not asked of scenes in which
// obstacles, held ends or events move something.
#include "bench_world.h"

#include "base/random.h"
#include "templates.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PULL_STEPS = 20, KINDS = 3 };

static const double most_gain = 0.1; // of the work done and the kinetic energy
static const double far_lengths = 100.0, jump = 5.0 /* m */;

// The pulls of one scene.
typedef struct Pulls {
    const char *scene;
    FilScene *of;
    FilStage *stage;
    bool closed; // nothing but the hand puts energy in
    int count, steps, exploded, gained, unconverged, halved;
    double strongest; // force or torque, of the most that it may be
    double slowest;   // s, of a step
    double moved;     // J: what the hand did, without its sign
    char why[256];    // the first that failed
} Pulls;

// Where a pull stands.
typedef struct Pull {
    int kind, rod;
    FilGrab grab;
    double begin[3]; // where it began, m
    double energy;   // J, when it began
    double work;     // J, of the hand since then
    double moved;    // J, the same without its sign
} Pull;

static double norm(const double x[3]) {
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

static CliStatus fail(const FilError *error) {
    cli_say("%s", error->text);
    return CLI_BAD_FILE;
}

// --- a scene -------------------------------------------------------------------------------------

static bool is_closed(const FilScene *scene) {
    bool closed = scene->event_count == 0 && norm(scene->wind) == 0.0;
    for (int k = 0; k < scene->obstacle_count; k++) {
        closed = closed && scene->obstacles[k].motion == NULL;
    }
    for (int k = 0; k < scene->rod_count; k++) {
        const FilRodDef *def = &scene->rods[k].def;
        closed = closed && def->root_end.motion == NULL && def->tip_end.motion == NULL &&
                 def->growth == 0.0;
    }
    for (int k = 0; k < scene->joint_count; k++) {
        closed = closed && scene->joints[k].a.motion == NULL && scene->joints[k].b.motion == NULL;
    }
    for (int k = 0; k < scene->body_count; k++) {
        const FilSceneBody *body = &scene->bodies[k];
        closed = closed && norm(body->force) + norm(body->force_rate) + norm(body->torque) == 0.0;
    }
    return closed;
}

static CliStatus open_stage(Pulls *pulls, int threads) {
    FilError error;
    fil_stage_destroy(pulls->stage);
    pulls->stage = NULL;
    return fil_stage_create(pulls->of, threads, NULL, NULL, &pulls->stage, &error) == FIL_OK
               ? CLI_FINE
               : fail(&error);
}

static CliStatus open_scene(const CliTemplate *from, const BenchOptions *options, Pulls *pulls) {
    FilError error;
    *pulls = (Pulls){.scene = from->name};
    if (fil_scene_read_text(from->name, from->text, from->size, NULL, NULL, &pulls->of, &error) !=
        FIL_OK) {
        return fail(&error);
    }
    pulls->closed = is_closed(pulls->of);
    return open_stage(pulls, options->threads);
}

static void close_scene(Pulls *pulls) {
    fil_stage_destroy(pulls->stage);
    fil_scene_destroy(pulls->of);
}

// --- a pull --------------------------------------------------------------------------------------

static double energy_of(const FilWorld *world, double *kinetic) {
    FilRodEnergy energy;
    fil_world_energy(world, &energy);
    *kinetic = energy.kinetic;
    return energy.kinetic + energy.bend + energy.twist + energy.stretch + energy.gravity +
           energy.loads;
}

static void find_place(FilWorld *world, const Pull *pull, double place[3]) {
    const FilRod *rod = fil_world_rod(world, pull->rod);
    FilPose pose;
    fil_rod_at(rod, pull->grab.part * fil_rod_length(rod), &pose, NULL);
    memcpy(place, pose.position, sizeof pose.position);
}

static FilStatus begin_pull(Pulls *pulls, int kind, FilRandom *random, Pull *pull,
                            FilError *error) {
    FilWorld *world = fil_stage_world(pulls->stage);
    double kinetic;
    *pull = (Pull){.kind = kind % KINDS};
    pull->rod = fil_random_int(random, fil_world_rod_count(world));
    const double part = fil_random_uniform(random, 0.0, 1.0);
    const FilStatus status =
        fil_world_grab_make(world, pull->rod, kind % 2 == 0 ? part : 1.0, &pull->grab, error);
    pull->grab.turning = fil_random_int(random, 3) == 0;
    find_place(world, pull, pull->begin);
    pull->energy = energy_of(world, &kinetic);
    return status;
}

// Where the mouse is now.
static FilStatus move_target(Pulls *pulls, Pull *pull, FilRandom *random, FilError *error) {
    FilWorld *world = fil_stage_world(pulls->stage);
    FilChange change = {.kind = FIL_CHANGE_GRAB};
    const double length = fil_rod_length(fil_world_rod(world, pull->rod));
    const double reaches[KINDS] = {length, far_lengths * length, jump};
    for (int k = 0; k < 3; k++) {
        pull->grab.target[k] =
            pull->begin[k] + reaches[pull->kind] * fil_random_uniform(random, -1.0, 1.0);
        pull->grab.axis[k] = fil_random_normal(random);
    }
    change.grab = pull->grab;
    return fil_stage_change(pulls->stage, &change, error);
}

// One step; what the hand did in it.
static FilStatus take_step(Pulls *pulls, Pull *pull, FilError *error) {
    FilWorld *world = fil_stage_world(pulls->stage);
    FilStepInfo info;
    double before[3], after[3], force[3], torque, work = 0.0;
    find_place(world, pull, before);
    const FilStatus status = fil_stage_step(pulls->stage, &info, error);
    if (status != FIL_OK) {
        return status;
    }
    find_place(world, pull, after);
    (void)fil_world_grab(world, force, &torque);
    for (int k = 0; k < 3; k++) {
        work += force[k] * (after[k] - before[k]);
    }
    pull->work += work;
    pull->moved += fabs(work);
    pulls->moved += fabs(work);
    pulls->strongest = fmax(pulls->strongest, norm(force) / pull->grab.most_force);
    pulls->strongest = fmax(pulls->strongest, fabs(torque) / pull->grab.most_torque);
    pulls->slowest = fmax(pulls->slowest, info.seconds.total);
    pulls->unconverged += info.outcome != FIL_CONVERGED;
    pulls->halved += info.substeps > 1;
    pulls->steps++;
    return FIL_OK;
}

// Whether the world has energy from nowhere. The hand's turning and the force within a step that is
// cut are not known: where there are such, nothing is said.
static bool did_gain(const Pulls *pulls, const Pull *pull, int halved) {
    double kinetic;
    const double now = energy_of(fil_stage_world(pulls->stage), &kinetic);
    return pulls->closed && !pull->grab.turning && pulls->halved == halved &&
           now - pull->energy - pull->work > most_gain * (pull->moved + kinetic);
}

static CliStatus do_pull(Pulls *pulls, int kind, const BenchOptions *options, FilRandom *random) {
    FilError error;
    Pull pull;
    const int steps = options->steps > 0 ? options->steps : PULL_STEPS, halved = pulls->halved;
    FilStatus status = begin_pull(pulls, kind, random, &pull, &error);
    int every = 1;
    for (int k = 0; k < steps && status == FIL_OK && !cli_is_interrupted(); k++) {
        if (k % every == 0) {
            every = pull.kind == 2 ? 1 : 1 + fil_random_int(random, 5);
            status = move_target(pulls, &pull, random, &error);
        }
        status = status == FIL_OK ? take_step(pulls, &pull, &error) : status;
    }
    pulls->count++;
    if (status != FIL_OK) {
        pulls->exploded++;
        if (pulls->why[0] == '\0') {
            (void)snprintf(pulls->why, sizeof pulls->why, "%s", error.text);
        }
        return open_stage(pulls, options->threads);
    }
    pulls->gained += did_gain(pulls, &pull, halved);
    return fil_stage_change(pulls->stage, &(FilChange){.kind = FIL_CHANGE_LET_GO}, &error) == FIL_OK
               ? CLI_FINE
               : fail(&error);
}

// --- all of them ---------------------------------------------------------------------------------

static void print_pulls(const Pulls *pulls, bool json) {
    if (json) {
        (void)fputs("{\"scene\":", stdout);
        cli_print_json_text(pulls->scene);
        cli_print_json_number("pulls", pulls->count);
        cli_print_json_number("steps", pulls->steps);
        cli_print_json_number("exploded", pulls->exploded);
        cli_print_json_number("gained", pulls->gained);
        cli_print_json_number("unconverged", pulls->unconverged);
        cli_print_json_number("halved", pulls->halved);
        cli_print_json_number("strongest", pulls->strongest);
        cli_print_json_number("slowest", pulls->slowest);
        cli_print_json_number("work", pulls->moved);
        (void)fputs(",\"why\":", stdout);
        cli_print_json_text(pulls->why);
        (void)puts("}");
    } else {
        (void)printf("%-18s %6d %6d %8d %6d %11d %6d %9.6f %8.3f  %s\n", pulls->scene, pulls->count,
                     pulls->steps, pulls->exploded, pulls->gained, pulls->unconverged,
                     pulls->halved, pulls->strongest, pulls->slowest, pulls->why);
    }
    (void)fflush(stdout);
}

static CliStatus pull_scene(const CliTemplate *from, int count, const BenchOptions *options,
                            Pulls *pulls) {
    CliStatus status = open_scene(from, options, pulls);
    if (status == CLI_FINE && fil_world_rod_count(fil_stage_world(pulls->stage)) > 0) {
        FilRandom random = fil_random_make((uint64_t)options->seed);
        for (int k = 0; k < count && status == CLI_FINE && !cli_is_interrupted(); k++) {
            status = do_pull(pulls, k + options->seed, options, &random);
        }
    }
    if (pulls->count > 0) {
        print_pulls(pulls, options->json);
    }
    close_scene(pulls);
    return status;
}

static bool is_wanted(const CliTemplate *from, const BenchOptions *options) {
    bool wanted = options->scene.count == 0;
    for (int k = 0; k < options->scene.count; k++) {
        wanted = wanted || strcmp(options->scene.items[k], from->name) == 0;
    }
    return wanted;
}

CliStatus bench_world_pulls(const BenchOptions *options) {
    int wanted = 0, done = 0;
    CliStatus worst = CLI_FINE;
    for (int k = 0; k < cli_template_count; k++) {
        wanted += is_wanted(&cli_templates[k], options);
    }
    if (wanted == 0) {
        cli_say("--pulls takes scenes, not rows of the table; filum scenes lists what there is");
        return CLI_BAD_COMMAND;
    }
    if (!options->json) {
        (void)printf("%-18s %6s %6s %8s %6s %11s %6s %9s %8s\n", "scene", "pulls", "steps",
                     "exploded", "gained", "unconverged", "halved", "strongest", "slowest");
    }
    for (int k = 0; k < cli_template_count && !cli_is_interrupted(); k++) {
        Pulls pulls;
        if (!is_wanted(&cli_templates[k], options)) {
            continue;
        }
        const int count = options->pulls / wanted + (done < options->pulls % wanted);
        done++;
        CliStatus status = pull_scene(&cli_templates[k], count, options, &pulls);
        if (status == CLI_FINE && (pulls.exploded > 0 || pulls.gained > 0)) {
            status = CLI_NOT_ACCEPTABLE;
        }
        worst = status > worst ? status : worst;
    }
    return worst;
}
