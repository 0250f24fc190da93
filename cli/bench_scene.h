#ifndef FIL_CLI_BENCH_SCENE_H
#define FIL_CLI_BENCH_SCENE_H

// One scene, stepped and measured.

#include "bench.h"

#include "filum/stage.h"

enum { BENCH_WINDOW = 200, BENCH_CHANGES = 8 };

// What to step, and how far.
typedef struct BenchPlan {
    const char *scene;                  // of those that the program carries
    const char *changes[BENCH_CHANGES]; // as --set, up to NULL
    double tolerance;                   // of friction; 0: the scene's own
    int threads;
    int64_t steps;  // at most; 0: the scene's duration
    double seconds; // of the clock, at most
    bool hash;      // the state at the end
    /// Called before the first step, and after every one; false ends the run. May be NULL.
    void (*on_begin)(void *user, FilWorld *world);
    bool (*on_step)(void *user, const FilStepInfo *info);
    void *user;
} BenchPlan;

// What came of it. The window is the 200 consecutive steps in which the most contacts press; when
// there were fewer steps all of them; of a scene that was cut at most the busiest half.
typedef struct BenchRun {
    double dt;         // s
    long long pieces;  // capsules
    long long dofs;    // of all bodies
    int64_t steps;     // taken
    int64_t all_steps; // that it was to take
    int64_t unconverged, halved, missed, iterations;
    int contacts, active;       // at most
    double nu;                  // at most
    double residual;            // worst
    double penetration;         // m, deepest
    double end;                 // s, time of the scene
    FilStepSeconds seconds;     // of all steps
    double cpu;                 // s, of all steps and threads
    int window;                 // steps
    double window_contacts;     // mean
    double window_active;       // mean
    double window_nu;           // at most
    double window_iterations;   // mean
    double median, median_cpu;  // s a step
    double window_residual;     // worst
    int window_unconverged;     // steps
    FilStepSeconds window_sums; // by phase
    double window_cpu;          // s, sum
    double memory;              // bytes, the most that the program held; 0: not known
    uint64_t state_hash;
    bool cut; // by the clock or by Ctrl-C
} BenchRun;

/// Step a scene. What goes wrong is said.
CliStatus bench_scene_run(const BenchPlan *plan, BenchRun *out);

/// Is there such a scene?
bool bench_scene_exists(const char *name);

/// Was it asked for, by its own name or that of the scene that it is made from? Without --scene
/// everything is, as far as the program carries it: what is left out is said.
bool bench_scene_is_wanted(const BenchOptions *options, const char *name, const char *scene);

/// A plan with the limits that the options give.
BenchPlan bench_scene_plan(const char *scene, const BenchOptions *options);

/// One more change.
void bench_scene_change(BenchPlan *plan, const char *change);

/// Share of a phase in the window.
double bench_scene_share(const BenchRun *run, double seconds);

/// dt over the median.
double bench_scene_real_time(const BenchRun *run);

#endif
