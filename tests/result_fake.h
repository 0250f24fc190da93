#ifndef FIL_TESTS_RESULT_FAKE_H
#define FIL_TESTS_RESULT_FAKE_H

// A run that nobody simulated: rods that wave, a ball, a floor and contacts, all known functions of
// time, so that every number of a result file can be foretold.

#include "filum/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct FakeRun {
    int rod_count, rod_points; // the first rod is a tree of two lines
    int contact_count;         // of the second frame and later ones; the first has none
    FilResultRod *rods;
    FilResultLine *lines;
    FilResultPoint *points;
    double *values; // room for the arrays of a frame
    FilContact *contacts;
    FilResultDef def;
} FakeRun;

static const double fake_vertices[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const int fake_triangles[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
static const FilResultSolid fake_rigid = {
    .name = "ball", .shape = FIL_SHAPE_SPHERE, .radius = 0.02, .mesh = -1};
static const FilResultSolid fake_obstacles[2] = {
    {.name = "floor", .shape = FIL_SHAPE_PLANE, .mesh = -1},
    {.name = "stone", .shape = FIL_SHAPE_MESH, .mesh = 0},
};
static const FilResultMesh fake_mesh = {.vertex_count = 4,
                                        .triangle_count = 4,
                                        .vertices = fake_vertices[0],
                                        .triangles = fake_triangles[0]};

static inline FakeRun fake_run_make(int rod_count, int rod_points, int contact_count) {
    const int n = rod_count * rod_points;
    FakeRun run = {
        .rod_count = rod_count,
        .rod_points = rod_points,
        .contact_count = contact_count,
        .rods = calloc((size_t)rod_count, sizeof *run.rods),
        .lines = calloc((size_t)rod_count + 1, sizeof *run.lines),
        .points = calloc((size_t)n, sizeof *run.points),
        .values = calloc(15 * (size_t)n + 12 * (size_t)rod_count + 13 + 14, sizeof *run.values),
        .contacts = calloc((size_t)contact_count + 1, sizeof *run.contacts)};
    if (run.rods == NULL || run.lines == NULL || run.points == NULL || run.values == NULL ||
        run.contacts == NULL) {
        abort();
    }
    int line_count = 0;
    for (int r = 0; r < rod_count; r++) {
        run.rods[r] = (FilResultRod){.model = (FilRodModel)(r % FIL_ROD_MODEL_COUNT),
                                     .element_count = rod_points - 1,
                                     .length = 0.1,
                                     .radius = 1e-3,
                                     .contact_radius = 2e-3,
                                     .width = r == 1 ? 4e-3 : 0.0,
                                     .thickness = r == 1 ? 1e-3 : 0.0,
                                     .first_point = r * rod_points,
                                     .point_count = rod_points};
        (void)snprintf(run.rods[r].name, sizeof run.rods[r].name, "rod %d", r);
        const int parts = r == 0 ? 2 : 1, half = rod_points / 2;
        for (int k = 0; k < parts; k++) {
            run.lines[line_count++] = (FilResultLine){.rod = r,
                                                      .first_point = r * rod_points + k * half,
                                                      .point_count = parts == 1 ? rod_points
                                                                     : k == 0   ? half
                                                                              : rod_points - half};
        }
        for (int i = 0; i < rod_points; i++) {
            run.points[r * rod_points + i] =
                (FilResultPoint){.element = i, .u = 0.25, .s = 0.1 * i / rod_points};
        }
    }
    run.def = (FilResultDef){.name = "fake",
                             .scene = "{\"name\": \"fake\"} // \xc3\xa4",
                             .options = "--until 1",
                             .seed = 42,
                             .step = 1e-3,
                             .rods = run.rods,
                             .lines = run.lines,
                             .points = run.points,
                             .rigids = &fake_rigid,
                             .obstacles = fake_obstacles,
                             .meshes = &fake_mesh,
                             .rod_count = rod_count,
                             .line_count = line_count,
                             .point_count = n,
                             .rigid_count = 1,
                             .obstacle_count = 2,
                             .mesh_count = 1};
    return run;
}

static inline void fake_run_free(FakeRun *run) {
    free(run->rods);
    free(run->lines);
    free(run->points);
    free(run->values);
    free(run->contacts);
}

// Number k of array `a` in frame f: different everywhere, and not a round number.
static inline double fake_value(int64_t frame, int array, int64_t k) {
    return sin(0.1 * (double)frame + 0.01 * (double)k + array);
}

static inline void fake_contacts(FakeRun *run, int64_t frame, int count) {
    for (int c = 0; c < count; c++) {
        FilContact *contact = &run->contacts[c];
        memset(contact, 0xa5, sizeof *contact); // padding must not reach the file
        *contact = (FilContact){
            .a = {.kind = FIL_BODY_ROD, .index = c % run->rod_count, .s = 0.05, .point = {c, 1, 2}},
            .b = {.kind = FIL_BODY_OBSTACLE, .index = 1, .point = {c, 1, 2.5}},
            .normal = {0, 0, 1},
            .gap = 1e-5,
            .mu = 0.3,
            .impulse = {0.1, 0, fake_value(frame, 20, c)},
            .velocity = {1e-12, 0, 0},
            .state = (FilContactState)(c % FIL_CONTACT_STATE_COUNT)};
    }
}

// The frame lives until the next call.
static inline FilFrame fake_frame(FakeRun *run, int64_t index) {
    const int n = run->def.point_count, count = index == 0 ? 0 : run->contact_count;
    FilFrame frame = {.time = 0.01 * (double)index,
                      .step = 10 * index,
                      .energy = {.kinetic = 1, .bend = 2, .twist = 3, .gravity = (double)-index},
                      .contacts = run->contacts,
                      .contact_count = count};
    const struct {
        const double **array;
        int count;
    } arrays[] = {{&frame.position, 3 * n},
                  {&frame.quaternion, 4 * n},
                  {&frame.velocity, 3 * n},
                  {&frame.curvature, 3 * n},
                  {&frame.rigid_position, 3},
                  {&frame.rigid_quaternion, 4},
                  {&frame.rigid_velocity, 3},
                  {&frame.rigid_spin, 3},
                  {&frame.obstacle_position, 2 * 3},
                  {&frame.obstacle_quaternion, 2 * 4},
                  {&frame.tension, n},
                  {&frame.elastic, n},
                  {&frame.reaction_force, 6 * run->rod_count},
                  {&frame.reaction_moment, 6 * run->rod_count}};
    double *next = run->values;
    for (int a = 0; a < (int)(sizeof arrays / sizeof *arrays); a++) {
        *arrays[a].array = next;
        for (int k = 0; k < arrays[a].count; k++) {
            *next++ = fake_value(index, a, k);
        }
    }
    fake_contacts(run, index, count);
    return frame;
}

static inline FilResultStep fake_step(int64_t index) {
    return (FilResultStep){.time = 1e-3 * (double)(index + 1),
                           .info = {.outcome = (FilOutcome)(index % FIL_OUTCOME_COUNT),
                                    .residual = {.scaled = 1e-9},
                                    .contact_count = (int)index,
                                    .iterations = 7,
                                    .substeps = 1,
                                    .penetration = 1e-6,
                                    .seconds = {.total = 0.5, .sweep = 0.25}}};
}

// A frame and the ten steps that lead to it.
static inline FilStatus fake_append(FakeRun *run, FilResult *result, int64_t index,
                                    FilError *error) {
    FilStatus status = FIL_OK;
    for (int64_t k = 10 * (index - 1); index > 0 && status == FIL_OK && k < 10 * index; k++) {
        const FilResultStep step = fake_step(k);
        status = fil_result_add_step(result, &step, error);
    }
    const FilFrame frame = fake_frame(run, index);
    return status == FIL_OK ? fil_result_append(result, &frame, error) : status;
}

#endif
