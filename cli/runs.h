#ifndef FIL_CLI_RUNS_H
#define FIL_CLI_RUNS_H

// What the verbs about scenes and runs share: a scene with its text, and what came of steps.

#include "cli.h"

#include "filum/filum.h"

#include <stdio.h>

// A scene as read, and its text.
typedef struct CliScene {
    char *text;
    size_t size;
    FilScene *scene;
    uint64_t hash; // of the text, the changes and the meshes
} CliScene;

#define CLI_SCENE_SET "change a value of the scene; may be given several times"

/// Read a scene; what goes wrong is said. `count_only`: no more than its counts.
CliStatus cli_scene_load(const char *path, const CliList *changes, bool count_only, CliScene *out);
void cli_scene_free(CliScene *scene);

/// The name of a scene file without folder and .json, to be freed; NULL when there is no memory.
char *cli_scene_base(const char *path);

/// Make the stage of a scene; what goes wrong is said.
CliStatus cli_stage_make(const FilScene *scene, int threads, const FilLog *log, FilStage **out);

/// What overlaps at the start, and a first step that takes much memory, a sentence each, in `text`;
/// how many there are. What goes wrong, and a first step that does not fit the machine, is said,
/// with *status.
enum { CLI_OVERLAPS = 3 };
int cli_find_overlaps(const FilScene *scene, int threads, char text[CLI_OVERLAPS][300],
                      CliStatus *status);

/// Name what a recorder records as the scene does.
void cli_name_bodies(FilRecorder *recorder, const FilScene *scene);

/// Open the result of a run folder, or a result file; what goes wrong is said.
CliStatus cli_result_open(const char *run, FilResult **out);

/// True for a failure that is about a file or memory, not about the physics.
CliStatus cli_status_of(FilStatus status);

// The parts of a step that take time.
#define CLI_PHASES(X) X(bodies) X(collide) X(assemble) X(friction) X(update) X(sweep)

// What came of many steps.
typedef struct CliTotals {
    int64_t steps, unconverged, halved, substeps, added, missed, pressed, slowed, iterations;
    int contacts;                   // most at a time
    double residual, residual_time; // worst, s
    double penetration;             // m, deepest
    double dissipated;              // J
    FilStepSeconds seconds;
} CliTotals;

void cli_totals_add(CliTotals *totals, double time, const FilStepInfo *info);
/// Add the first `count` steps of a result.
CliStatus cli_totals_read(CliTotals *totals, FilResult *result, int64_t count);
/// A table: time per phase; every warning, counted.
void cli_totals_print(const CliTotals *totals, FILE *out);
void cli_totals_print_json(const CliTotals *totals);

/// "3.2 MB"
const char *cli_show_bytes(double bytes, char text[16]);

#endif
