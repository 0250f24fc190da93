// run.c - a run on the disk as a source of answers.
//
// HDF5 takes what lies beyond the end of a file for zeros, so a finished file that was cut off must
// be told by its size.
//
// Whether a run is finished is told by the end that was planned: a writer that was killed leaves no
// mark once its file is mended, but run.json, or the options in the file, have `until`.
//
// HDF5 is called by one thread at a time: by the server's, once the source is made. A file that
// cannot be read any more (cut off, disk gone) is told as the state's error; what was read before
// stays in the browser, and reading is tried again with every request.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "source.h"

#include "base/error.h"
#include "frames.h"
#include "io/json.h"
#include "io/load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct FilRunSource {
    FilResult *result;
    FilScene *scene; // NULL: not known
    FilArena arena;  // of the changes that it was read with
    double *scratch; // [point_count]
    bool has_tension, has_elastic;
    char *path;
    int64_t size; // bytes of the file when it was whole; 0: it grows
    double until; // s, the end that was planned; 0: not known
    char error[512];
};

void fil_source_step_row(const FilResultStep *step, double row[FIL_STEP_NUMBERS]) {
    row[0] = step->time;
    row[1] = step->info.contact_count;
    row[2] = step->info.active_count;
    row[3] = step->info.iterations;
    row[4] = step->info.residual.scaled;
    row[5] = step->info.seconds.total;
}

void fil_source_energy_row(double time, const FilRodEnergy *energy,
                           double row[FIL_ENERGY_NUMBERS]) {
    row[0] = time;
    row[1] = energy->kinetic;
    row[2] = energy->bend;
    row[3] = energy->twist;
    row[4] = energy->stretch;
    row[5] = energy->gravity;
    row[6] = energy->loads;
}

// --- answers -------------------------------------------------------------------------------------

// Remember what went wrong. A file that is being written may be whole again a moment later; one
// that is not stays broken.
static FilStatus note(FilRunSource *run, FilStatus status, const FilError *error) {
    if (status == FIL_OK && run->error[0] != '\0' && fil_result_is_growing(run->result)) {
        run->error[0] = '\0';
    } else if (status != FIL_OK && status != FIL_E_ARGUMENT && error != NULL) {
        (void)snprintf(run->error, sizeof run->error, "%.500s", error->text);
    }
    return status;
}

static FilStatus check_size(FilRunSource *run, FilError *error) {
    struct stat about;
    if (stat(run->path, &about) != 0 || fil_result_is_growing(run->result)) {
        run->size = 0; // one that was renamed is still open
        return FIL_OK;
    }
    if (run->size == 0) {
        run->size = (int64_t)about.st_size;
    }
    return (int64_t)about.st_size >= run->size
               ? FIL_OK
               : fil_fail(error, FIL_E_FORMAT, "%.150s was truncated while it was open", run->path);
}

// What is known of the end of a run that nobody writes any more.
static void tell_end(const FilRunSource *run, FilSourceState *state) {
    const double step = fil_result_def(run->result)->step;
    const double last = fmax(state->time, step * (double)state->step_count);
    state->finished = last > run->until - 0.5 * step;
    if (!state->finished) {
        (void)snprintf(state->note, sizeof state->note,
                       "This run is not finished: it ends at %.6g s of %.6g s. It was interrupted, "
                       "or its program failed or was killed; filum run --resume continues it.",
                       last, run->until);
    }
}

static void get_state(void *self, FilSourceState *state) {
    FilRunSource *run = self;
    state->growing =
        fil_result_is_growing(run->result); // first: what was written until then counts
    state->frame_count = fil_result_frame_count(run->result);
    state->step_count = fil_result_step_count(run->result);
    state->until = run->until;
    FilError error;
    double time = 0.0;
    if (state->frame_count > 0 && note(run,
                                       fil_result_read_times(run->result, state->frame_count - 1, 1,
                                                             &time, &error), // the end
                                       &error) == FIL_OK) {
        state->time = time;
    }
    if (!state->growing) {
        tell_end(run, state);
    }
    memcpy(state->error, run->error, sizeof run->error);
}

static FilStatus get_times(void *self, int64_t first, int64_t count, double *times,
                           FilError *error) {
    FilRunSource *run = self;
    return note(run, fil_result_read_times(run->result, first, count, times, error), error);
}

static FilStatus get_frame(void *self, int64_t index, uint32_t mask, FilBytes *out,
                           FilError *error) {
    FilRunSource *run = self;
    if (index >= fil_result_frame_count(run->result)) {
        return fil_fail(error, FIL_E_ARGUMENT, "there is no frame %lld yet", (long long)index);
    }
    FilFrame frame;
    FIL_TRY(note(run, check_size(run, error), error));
    FIL_TRY(note(run, fil_result_read(run->result, index, &frame, error), error));
    fil_frame_encode(fil_result_def(run->result), &frame, mask, (uint32_t)index, run->scratch, out);
    return FIL_OK;
}

static FilStatus get_steps(void *self, int64_t first, int64_t count, double *rows,
                           FilError *error) {
    FilRunSource *run = self;
    enum { PIECE = 512 };
    FilResultStep *steps = malloc(sizeof *steps * PIECE);
    FilStatus status = FIL_OK;
    if (steps == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for steps");
    }
    for (int64_t done = 0; status == FIL_OK && done < count;) {
        const int64_t now = count - done < PIECE ? count - done : PIECE;
        status =
            note(run, fil_result_read_steps(run->result, first + done, now, steps, error), error);
        for (int64_t k = 0; status == FIL_OK && k < now; k++) {
            fil_source_step_row(&steps[k], rows + FIL_STEP_NUMBERS * (done + k));
        }
        done += now;
    }
    free(steps);
    return status;
}

static FilStatus get_energies(void *self, int64_t first, int64_t count, double *rows,
                              FilError *error) {
    FilRunSource *run = self;
    enum { PIECE = 512 };
    FilRodEnergy energies[PIECE];
    double times[PIECE];
    for (int64_t done = 0; done < count;) {
        const int64_t now = count - done < PIECE ? count - done : PIECE;
        FIL_TRY(note(run, fil_result_read_energies(run->result, first + done, now, energies, error),
                     error));
        FIL_TRY(
            note(run, fil_result_read_times(run->result, first + done, now, times, error), error));
        for (int64_t k = 0; k < now; k++) {
            fil_source_energy_row(times[k], &energies[k], rows + FIL_ENERGY_NUMBERS * (done + k));
        }
        done += now;
    }
    return FIL_OK;
}

// --- the scene of a run --------------------------------------------------------------------------

// The --set of the run, from its options.
static int find_changes(const char *options, FilArena *arena, const char ***out) {
    FilJsonDocument document;
    if (options == NULL ||
        fil_json_read("options", options, strlen(options), arena, &document, NULL) != FIL_OK) {
        return 0;
    }
    const FilJson *list =
        document.root->kind == FIL_JSON_OBJECT ? fil_json_find(document.root, "set") : NULL;
    if (list == NULL || list->kind != FIL_JSON_LIST) {
        return 0;
    }
    const char **changes = FIL_NEW(arena, const char *, list->count + 1);
    int count = 0;
    for (const FilJson *child = list->first; changes != NULL && child != NULL;
         child = child->next) {
        if (child->kind == FIL_JSON_TEXT) {
            changes[count++] = child->text;
        }
    }
    *out = changes;
    return count;
}

static void read_until(FilRunSource *run, const char *name, const char *text, size_t size) {
    FilJsonDocument document;
    if (fil_json_read(name, text, size, &run->arena, &document, NULL) == FIL_OK &&
        document.root->kind == FIL_JSON_OBJECT) {
        const FilJson *until = fil_json_find(document.root, "until");
        run->until =
            until != NULL && until->kind == FIL_JSON_NUMBER ? fmax(0.0, until->number) : run->until;
    }
}

// The end that was planned: of the file's options, or, where it lies in a run folder, of run.json,
// which knows what a run that was gone on with was to reach.
static void find_until(FilRunSource *run) {
    static const char file[] = "result.h5", options[] = "run.json";
    const char *text = fil_result_def(run->result)->options;
    if (text != NULL) {
        read_until(run, "options", text, strlen(text));
    }
    const size_t length = strlen(run->path), tail = sizeof file - 1;
    if (length < tail || strcmp(run->path + length - tail, file) != 0 ||
        (length > tail && run->path[length - tail - 1] != '/')) {
        return;
    }
    char *path = malloc(length + 1);
    void *bytes = NULL;
    size_t size = 0;
    if (path == NULL) {
        return;
    }
    memcpy(path, run->path, length - tail);
    memcpy(path + length - tail, options, sizeof options);
    if (fil_load_file(path, &run->arena, &bytes, &size, NULL) == FIL_OK) {
        read_until(run, options, bytes, size);
    }
    free(path);
}

// Only a scene that names no other files, in plain letters or in \u0066 and the like: a run shows
// nothing but what is in it.
static void read_scene(FilRunSource *run) {
    const FilResultDef *def = fil_result_def(run->result);
    if (def->scene == NULL || strstr(def->scene, "file") != NULL ||
        strchr(def->scene, '\\') != NULL) {
        return;
    }
    const char **changes = NULL;
    FilSceneOptions options = {.memory_limit = (long long)1 << 30};
    options.change_count = find_changes(def->options, &run->arena, &changes);
    options.changes = changes;
    if (def->scene != NULL && fil_scene_read_text("scene.json", def->scene, strlen(def->scene),
                                                  &options, NULL, &run->scene, NULL) != FIL_OK) {
        run->scene = NULL; // a mesh that is gone, a scene of another version: less to tell
    }
    if (run->scene != NULL && run->scene->rod_count != def->rod_count) {
        fil_scene_destroy(run->scene);
        run->scene = NULL;
    }
}

FilStatus fil_run_source_create(FilResult *result, const char *path, FilRunSource **out,
                                FilError *error) {
    FilRunSource *run = calloc(1, sizeof *run);
    char *name = malloc(strlen(path) + 1);
    const size_t points = (size_t)fil_result_def(result)->point_count;
    double *scratch = malloc(sizeof *scratch * (points + 1));
    if (run == NULL || scratch == NULL || name == NULL) {
        free(run);
        free(scratch);
        free(name);
        return fil_fail(error, FIL_E_NO_MEMORY, "there is not enough memory");
    }
    memcpy(name, path, strlen(path) + 1);
    *run = (FilRunSource){
        .result = result, .arena = fil_arena_make(NULL), .scratch = scratch, .path = name};
    (void)!check_size(run, NULL);
    FilFrame frame;
    if (fil_result_frame_count(result) > 0) {
        FilStatus status = fil_result_read(result, 0, &frame, error);
        if (status != FIL_OK) {
            run->result = NULL; // it stays with the caller
            fil_run_source_destroy(run);
            return status;
        }
        run->has_tension = frame.tension != NULL;
        run->has_elastic = frame.elastic != NULL;
    }
    read_scene(run);
    find_until(run);
    *out = run;
    return FIL_OK;
}

void fil_run_source_destroy(FilRunSource *run) {
    if (run != NULL) {
        fil_result_discard(run->result);
        fil_scene_destroy(run->scene);
        fil_arena_destroy(&run->arena);
        free(run->scratch);
        free(run->path);
        free(run);
    }
}

FilSource fil_run_source(FilRunSource *run) {
    return (FilSource){.self = run,
                       .def = fil_result_def(run->result),
                       .scene = run->scene,
                       .has_tension = run->has_tension,
                       .has_elastic = run->has_elastic,
                       .state = get_state,
                       .times = get_times,
                       .frame = get_frame,
                       .steps = get_steps,
                       .energies = get_energies};
}
