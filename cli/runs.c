// runs.c - what the verbs about scenes and runs share.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "runs.h"
#include "files.h"
#include "templates.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LARGEST_SCENE = 1 << 26, STEPS_AT_ONCE = 256 };
static const double MUCH = 0.25; // of the machine's memory, for the first step

CliStatus cli_status_of(FilStatus status) {
    return status == FIL_OK ? CLI_FINE : CLI_BAD_FILE;
}

// --- scenes --------------------------------------------------------------------------------------

// All of a file, to be freed; NULL after saying why not.
static char *read_text(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    struct stat about;
    if (file == NULL || fstat(fileno(file), &about) != 0) {
        cli_say("%s: cannot read the scene: %s", path, strerror(errno));
        if (file != NULL) {
            (void)fclose(file);
        }
        return NULL;
    }
    char *text = NULL;
    if (S_ISDIR(about.st_mode)) {
        cli_say("%s is a folder; a scene is a file", path);
    } else if (about.st_size > LARGEST_SCENE) {
        cli_say("%s: %lld bytes are too many for a scene", path, (long long)about.st_size);
    } else {
        text = malloc(LARGEST_SCENE + 1); // pages that are not used cost nothing
        if (text == NULL) {
            cli_say("there is not enough memory");
            (void)fclose(file);
            return NULL;
        }
        *size = fread(text, 1, LARGEST_SCENE, file);
        text[*size] = '\0';
        if (ferror(file) != 0) {
            cli_say("%s: cannot read the scene: %s", path, strerror(errno));
            free(text);
            text = NULL;
        }
    }
    (void)fclose(file);
    return text;
}

static uint64_t hash_mesh(const FilShape *shape, uint64_t hash) {
    if (shape->kind != FIL_SHAPE_MESH) {
        return hash;
    }
    const size_t vertices = (size_t)fil_mesh_vertex_count(shape->mesh);
    const size_t triangles = (size_t)fil_mesh_triangle_count(shape->mesh);
    hash = fil_scene_hash(fil_mesh_vertices(shape->mesh), 3 * sizeof(double) * vertices, hash);
    return fil_scene_hash(fil_mesh_triangles(shape->mesh), 3 * sizeof(int) * triangles, hash);
}

// What makes a run the run it is.
static uint64_t hash_scene(const CliScene *from, const CliList *changes) {
    uint64_t hash = fil_scene_hash(from->text, from->size, 0);
    for (int k = 0; k < changes->count; k++) {
        hash = fil_scene_hash(changes->items[k], strlen(changes->items[k]), hash);
    }
    for (int k = 0; k < from->scene->obstacle_count; k++) {
        hash = hash_mesh(&from->scene->obstacles[k].shape, hash);
    }
    for (int k = 0; k < from->scene->body_count; k++) {
        hash = hash_mesh(&from->scene->bodies[k].shape, hash);
    }
    return hash;
}

// Bytes of the machine; 0: not known.
static long long find_memory(void) {
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (long long)pages * size : 0;
}

CliStatus cli_scene_load(const char *path, const CliList *changes, bool count_only, CliScene *out) {
    *out = (CliScene){.text = NULL};
    out->text = read_text(path, &out->size);
    if (out->text == NULL) {
        return CLI_BAD_FILE;
    }
    const FilSceneOptions options = {.changes = changes->items,
                                     .change_count = changes->count,
                                     .memory_limit = count_only ? 0 : find_memory(),
                                     .count_only = count_only};
    FilError error;
    if (fil_scene_read_text(path, out->text, out->size, &options, NULL, &out->scene, &error) !=
        FIL_OK) {
        cli_say("%s", error.text);
        cli_scene_free(out);
        return CLI_BAD_FILE;
    }
    out->hash = count_only ? 0 : hash_scene(out, changes);
    return CLI_FINE;
}

void cli_scene_free(CliScene *scene) {
    fil_scene_destroy(scene->scene);
    free(scene->text);
    *scene = (CliScene){.text = NULL};
}

char *cli_scene_base(const char *path) {
    const char *slash = strrchr(path, '/');
    char *name = cli_join_path(NULL, slash != NULL ? slash + 1 : path);
    if (name != NULL && cli_ends_with(name, ".json")) {
        name[strlen(name) - strlen(".json")] = '\0';
    }
    return name;
}

CliStatus cli_stage_make(const FilScene *scene, int threads, const FilLog *log, FilStage **out) {
    FilError error;
    FilStatus status = fil_stage_create(scene, threads, log, NULL, out, &error);
    if (status != FIL_OK) {
        cli_say("%s: %s", scene->file, error.text);
    }
    return cli_status_of(status);
}

static const char *name_side(const FilScene *scene, const FilContactSide *side, char text[64]) {
    const char *list = "?", *name = "";
    if (side->kind == FIL_BODY_ROD && side->index < scene->rod_count) {
        list = "rods";
        name = scene->rods[side->index].name;
    } else if (side->kind == FIL_BODY_RIGID && side->index < scene->body_count) {
        list = "bodies";
        name = scene->bodies[side->index].name;
    } else if (side->kind == FIL_BODY_OBSTACLE && side->index < scene->obstacle_count) {
        list = "obstacles";
        name = scene->obstacles[side->index].name;
    }
    (void)snprintf(text, 64, "%s[%d]%s%.40s", list, side->index, name[0] != '\0' ? " " : "", name);
    return text;
}

static const char *name_overlap(int k, int count) {
    static const char *const words[2][2] = {
        {" overlaps at the start", "s overlap at the start"},
        {" begins inside an obstacle", "s begin inside obstacles"}};
    return words[k][count != 1];
}

// What the contacts of the start ask of the first step, in `text`; false where it is nothing much.
// More than the machine has is said, with *status.
static bool weigh_first_step(const FilScene *scene, const FilSceneOverlaps *found, char text[300],
                             CliStatus *status) {
    const double most = (double)find_memory(), bytes = found->matrix_bytes;
    char a[16], b[16];
    if (scene->contact.kind != FIL_CONTACT_EXACT || most == 0.0 || bytes < MUCH * most) {
        return false;
    }
    (void)snprintf(text, 300,
                   "%d contacts touch at the start: the first step needs %s for them, of %s that "
                   "the machine has; fewer contact_pieces, or strands that are apart, need less",
                   found->touching, cli_show_bytes(bytes, a), cli_show_bytes(most, b));
    if (bytes > most) {
        cli_say("%s: %s", scene->file, text);
        *status = CLI_BAD_FILE;
        return false;
    }
    return true;
}

int cli_find_overlaps(const FilScene *scene, int threads, char text[CLI_OVERLAPS][300],
                      CliStatus *status) {
    FilSceneOverlaps found;
    FilError error;
    const FilStatus done = fil_scene_overlaps(scene, threads, NULL, &found, &error);
    if (done != FIL_OK) {
        cli_say("%s: %s", scene->file, error.text);
        *status = cli_status_of(done);
        return 0;
    }
    int count = weigh_first_step(scene, &found, text[0], status);
    if (*status != CLI_FINE) {
        return 0;
    }
    for (int k = 0; k < 2; k++) {
        const FilOverlap *one = k == 0 ? &found.apart : &found.inside;
        char a[64], b[64];
        if (one->count > 0) {
            (void)snprintf(text[count++], sizeof text[0],
                           "%d contact%s, at most %.2g m%s: %s %s %s at (%.4g, %.4g, %.4g)",
                           one->count, name_overlap(k, one->count), one->depth,
                           k == 0 ? "" : " deep", name_side(scene, &one->a, a),
                           k == 0 ? "and" : "in", name_side(scene, &one->b, b), one->a.point[0],
                           one->a.point[1], one->a.point[2]);
        }
    }
    return count;
}

void cli_name_bodies(FilRecorder *recorder, const FilScene *scene) {
    for (int k = 0; k < scene->rod_count; k++) {
        fil_recorder_set_name(recorder, FIL_BODY_ROD, k, scene->rods[k].name);
    }
    for (int k = 0; k < scene->body_count; k++) {
        fil_recorder_set_name(recorder, FIL_BODY_RIGID, k, scene->bodies[k].name);
    }
    for (int k = 0; k < scene->obstacle_count; k++) {
        fil_recorder_set_name(recorder, FIL_BODY_OBSTACLE, k, scene->obstacles[k].name);
    }
}

// --- results -------------------------------------------------------------------------------------

CliStatus cli_result_open(const char *run, FilResult **out) {
    struct stat about;
    if (stat(run, &about) != 0) {
        cli_say("%s: cannot open: %s", run, strerror(errno));
        return CLI_BAD_FILE;
    }
    char *path =
        S_ISDIR(about.st_mode) ? cli_join_path(run, "result.h5") : cli_join_path(NULL, run);
    if (path == NULL) {
        cli_say("there is not enough memory");
        return CLI_BAD_FILE;
    }
    FilError error;
    CliStatus status = CLI_BAD_FILE;
    if (stat(path, &about) != 0) {
        cli_say("%s is no run folder: it holds no result.h5", run);
    } else if (fil_result_open(path, NULL, out, &error) != FIL_OK) {
        cli_say("%s", error.text);
    } else {
        status = CLI_FINE;
    }
    free(path);
    return status;
}

// --- totals --------------------------------------------------------------------------------------

void cli_totals_add(CliTotals *totals, double time, const FilStepInfo *info) {
    totals->steps++;
    totals->unconverged += info->outcome != FIL_CONVERGED;
    totals->halved += info->substeps > 1;
    totals->substeps += info->substeps;
    totals->added += info->added_count;
    totals->missed += info->missed_count;
    totals->pressed += info->pressed_count > 0;
    totals->slowed += info->slowed_count > 0;
    totals->iterations += info->iterations;
    totals->contacts =
        info->contact_count > totals->contacts ? info->contact_count : totals->contacts;
    if (info->residual.scaled > totals->residual) {
        totals->residual = info->residual.scaled;
        totals->residual_time = time;
    }
    totals->penetration = fmax(totals->penetration, info->penetration);
    totals->dissipated += info->dissipated;
    totals->seconds.total += info->seconds.total;
#define ADD(phase) totals->seconds.phase += info->seconds.phase;
    CLI_PHASES(ADD)
#undef ADD
}

CliStatus cli_totals_read(CliTotals *totals, FilResult *result, int64_t count) {
    FilResultStep steps[STEPS_AT_ONCE];
    FilError error;
    for (int64_t first = 0; first < count; first += STEPS_AT_ONCE) {
        const int64_t some = count - first < STEPS_AT_ONCE ? count - first : STEPS_AT_ONCE;
        if (fil_result_read_steps(result, first, some, steps, &error) != FIL_OK) {
            cli_say("%s", error.text);
            return CLI_BAD_FILE;
        }
        for (int64_t k = 0; k < some; k++) {
            cli_totals_add(totals, steps[k].time, &steps[k].info);
        }
    }
    return CLI_FINE;
}

// How many steps were not as they should be, and why.
static void print_trouble(const CliTotals *totals, FILE *out) {
    const long long all = (long long)totals->steps;
    (void)fprintf(out, "  not converged: %lld of %lld steps\n", (long long)totals->unconverged,
                  all);
    const int64_t whole = totals->steps - totals->halved;
    (void)fprintf(out, "  substepped: %lld of %lld steps", (long long)totals->halved, all);
    if (totals->halved > 0) {
        (void)fprintf(out, ", in %lld substeps", (long long)(totals->substeps - whole));
    }
    (void)fputc('\n', out);
    (void)fprintf(out, "  tunnelling: %lld pairs found and solved again, %lld not prevented\n",
                  (long long)totals->added, (long long)totals->missed);
    (void)fprintf(out, "  overlaps deeper than a fifth of a radius: in %lld of %lld steps\n",
                  (long long)totals->pressed, all);
    (void)fprintf(out, "  bodies slowed because the step was too violent: in %lld of %lld steps\n",
                  (long long)totals->slowed, all);
}

void cli_totals_print(const CliTotals *totals, FILE *out) {
    const double total = fmax(totals->seconds.total, 1e-9);
    const double steps = fmax((double)totals->steps, 1.0);
    (void)fprintf(out, "  %-10s %10s %8s %12s\n", "phase", "seconds", "share", "ms a step");
#define ROW(phase)                                                                       \
    (void)fprintf(out, "  %-10s %10.3f %7.1f%% %12.4f\n", #phase, totals->seconds.phase, \
                  100.0 * totals->seconds.phase / total, 1e3 * totals->seconds.phase / steps);
    CLI_PHASES(ROW)
#undef ROW
    (void)fprintf(out, "  %-10s %10.3f %8s %12.4f\n", "all", totals->seconds.total, "",
                  1e3 * totals->seconds.total / steps);
    (void)fprintf(out,
                  "  contacts: at most %d; %.1f iterations a step; worst residual %.1e at %g s\n",
                  totals->contacts, (double)totals->iterations / steps, totals->residual,
                  totals->residual_time);
    (void)fprintf(out, "  deepest overlap %.2g m; friction took %.3g J\n", totals->penetration,
                  totals->dissipated);
    print_trouble(totals, out);
}

void cli_totals_print_json(const CliTotals *totals) {
    cli_print_json_number("steps", (double)totals->steps);
    cli_print_json_number("unconverged", (double)totals->unconverged);
    cli_print_json_number("halved", (double)totals->halved);
    cli_print_json_number("substeps", (double)totals->substeps);
    cli_print_json_number("added", (double)totals->added);
    cli_print_json_number("missed", (double)totals->missed);
    cli_print_json_number("pressed", (double)totals->pressed);
    cli_print_json_number("slowed", (double)totals->slowed);
    cli_print_json_number("contacts", totals->contacts);
    cli_print_json_number("iterations", (double)totals->iterations);
    cli_print_json_number("residual", totals->residual);
    cli_print_json_number("penetration", totals->penetration);
    cli_print_json_number("dissipated", totals->dissipated);
#define FIELD(phase) cli_print_json_number("seconds_" #phase, totals->seconds.phase);
    CLI_PHASES(FIELD)
#undef FIELD
    cli_print_json_number("seconds", totals->seconds.total);
}

const char *cli_show_bytes(double bytes, char text[16]) {
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    int k = 0;
    while (bytes >= 999.5 && k < 4) {
        bytes /= 1000.0;
        k++;
    }
    (void)snprintf(text, 16, k == 0 ? "%.0f %s" : "%.3g %s", fmin(bytes, 999999.0), units[k]);
    return text;
}

const CliTemplate *cli_template_find(const char *name) {
    for (int k = 0; k < cli_template_count; k++) {
        if (strcmp(cli_templates[k].name, name) == 0) {
            return &cli_templates[k];
        }
    }
    return NULL;
}
