// A world recorded: what a file shows is what the world was, and a run that was broken off and
// resumed from its checkpoint gives the same numbers to the last bit.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "check.h"
#include "world_bench.h"

#include "failing_allocator.h"
#include "filum/checkpoint.h"
#include "filum/record.h"
#include "math/rotation.h"
#include "world/world.h"

#include <stdlib.h>
#include <unistd.h>

enum { STEPS = 60, EVERY = 10, BREAK = 35 };

static char folder[] = "/tmp/filum-record-XXXXXX";

static const char *path_of(const char *name) {
    static char path[3][128];
    static int turn;
    turn = (turn + 1) % 3;
    (void)snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

// Two strands fall across each other onto a floor, and a ball rolls against them.
static FilWorld *make_scene(void) {
    FilWorldDef def = fil_world_def_default();
    def.step = 2e-3;
    def.solver.thread_count = 1;
    FilWorld *world = make_world(&def, 0.3, 0.0);
    (void)add_floor(world);
    for (int k = 0; k < 2; k++) {
        FilRodDef rod = fil_rod_def_default();
        rod.model = k == 0 ? FIL_ROD_HELIX : FIL_ROD_DER;
        rod.element_count = k == 0 ? 3 : 8;
        rod.length = 0.1;
        rod.section.radius = 2e-3;
        rod.section.young = 1e6;
        rod.root_end.kind = FIL_END_FREE;
        rod.root.position[0] = -0.05 * (1 - k);
        rod.root.position[1] = -0.05 * k;
        rod.root.position[2] = 0.004 + 0.006 * k;
        if (k == 1) { // along y
            const double axis[3][3] = {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}};
            memcpy(rod.root.axis, axis, sizeof axis);
        }
        (void)add_rod(world, &rod, 2);
    }
    FilRigidDef ball = fil_rigid_def_default();
    ball.pose.position[0] = 0.08;
    ball.pose.position[2] = 0.0101;
    ball.rate.velocity[0] = -0.5;
    (void)add_rigid(world, &ball);
    return world;
}

typedef struct Run {
    FilWorld *world;
    FilRecorder *recorder;
    FilResult *result;
    int64_t frames;
} Run;

static void write_checkpoint(Run *run, const char *path) {
    FilError error;
    const int64_t count = fil_world_state_count(run->world);
    double *state = malloc((size_t)count * sizeof *state);
    CHECK(state != NULL);
    fil_world_get_state(run->world, state);
    const FilCheckpoint checkpoint = {.scene = 7,
                                      .step_count = fil_world_step_count(run->world),
                                      .frame_count = run->frames,
                                      .state = state,
                                      .state_count = count};
    must(fil_result_sync(run->result, &error), &error);
    must(fil_checkpoint_write(path, &checkpoint, &error), &error);
    free(state);
}

static void append_frame(Run *run) {
    FilFrame frame;
    FilError error;
    must(fil_recorder_frame(run->recorder, &frame, &error), &error);
    must(fil_result_append(run->result, &frame, &error), &error);
    run->frames++;
}

static void go_on(Run *run, const char *checkpoint) {
    FilError error;
    while (fil_world_step_count(run->world) < STEPS) {
        FilResultStep step = {.info = take_step(run->world)};
        step.info.seconds = (FilStepSeconds){0};
        step.time = fil_world_time(run->world);
        must(fil_result_add_step(run->result, &step, &error), &error);
        if (fil_world_step_count(run->world) % EVERY == 0) {
            append_frame(run);
        }
        if (checkpoint != NULL && fil_world_step_count(run->world) == BREAK) {
            write_checkpoint(run, checkpoint);
        }
    }
}

static Run start_run(const char *path) {
    FilError error;
    Run run = {.world = make_scene()};
    must(fil_recorder_create(run.world, NULL, &run.recorder, &error), &error);
    fil_recorder_set_name(run.recorder, FIL_BODY_ROD, 1, "upper");
    fil_recorder_set_name(run.recorder, FIL_BODY_RIGID, 0, "ball");
    FilResultDef def = fil_recorder_def(run.recorder);
    def.name = "strands";
    must(fil_result_create(path, &def, true, NULL, &run.result, &error), &error);
    append_frame(&run);
    return run;
}

static Run resume_run(const char *path, const char *checkpoint_path) {
    FilError error;
    Run run = {.world = make_scene()};
    FilCheckpoint *checkpoint = NULL;
    must(fil_checkpoint_read(checkpoint_path, 7, NULL, &checkpoint, &error), &error);
    must(fil_world_set_state(run.world, checkpoint->state, checkpoint->state_count, &error),
         &error);
    must(fil_recorder_create(run.world, NULL, &run.recorder, &error), &error);
    must(fil_result_resume(path, checkpoint->frame_count, checkpoint->step_count, NULL, &run.result,
                           &error),
         &error);
    run.frames = checkpoint->frame_count;
    fil_checkpoint_destroy(checkpoint, NULL);
    return run;
}

static void end_run(Run *run) {
    FilError error;
    must(fil_result_close(run->result, &error), &error);
    fil_recorder_destroy(run->recorder);
    fil_world_destroy(run->world);
}

static FilResult *open_run(const char *path) {
    FilError error;
    FilResult *result = NULL;
    must(fil_result_open(path, NULL, &result, &error), &error);
    return result;
}

static void a_frame_shows_the_world_as_it_is(void) {
    const char *path = path_of("shows.h5");
    Run run = start_run(path);
    go_on(&run, NULL);
    FilResult *result = open_run(path); // while it is being written
    const FilResultDef *def = fil_result_def(result);
    CHECK(def->rod_count == 2 && def->rigid_count == 1 && def->obstacle_count == 1);
    CHECK(strcmp(def->rods[1].name, "upper") == 0 && strcmp(def->rigids[0].name, "ball") == 0);
    CHECK(def->rods[0].model == FIL_ROD_HELIX && def->obstacles[0].shape == FIL_SHAPE_PLANE);
    CHECK(def->rods[0].radius == 2e-3);
    FilFrame frame;
    FilError error;
    must(fil_result_read(result, STEPS / EVERY, &frame, &error), &error);
    CHECK(frame.step == STEPS && frame.time == fil_world_time(run.world));
    for (int i = 0; i < def->point_count; i++) {
        const int rod = i >= def->rods[1].first_point;
        FilPose pose;
        fil_rod_element_at(fil_world_rod(run.world, rod), def->points[i].element, def->points[i].u,
                           &pose, NULL);
        double R[9];
        fil_rotation_from_quaternion(frame.quaternion + 4 * (ptrdiff_t)i, R);
        CHECK(
            check_same_bits(frame.position + 3 * (ptrdiff_t)i, pose.position, 3 * sizeof(double)));
        CHECK_NEAR(R[0], pose.axis[0][0], 0.0, 1e-6);
        CHECK_NEAR(R[3], pose.axis[0][1], 0.0, 1e-6);
        CHECK_NEAR(R[2], pose.axis[2][0], 0.0, 1e-6);
    }
    int count = 0;
    const FilContact *contacts = fil_world_contacts(run.world, &count);
    CHECK(count > 0 && frame.contact_count == count);
    CHECK(check_same_bits(frame.contacts[0].impulse, contacts[0].impulse, 3 * sizeof(double)));
    fil_result_discard(result);
    end_run(&run);
}

static void check_same_frames(FilResult *a, FilResult *b) {
    const FilResultDef *def = fil_result_def(a);
    const int64_t count = fil_result_frame_count(a);
    CHECK(count == STEPS / EVERY + 1 && fil_result_frame_count(b) == count);
    for (int64_t k = 0; k < count; k++) {
        FilFrame x, y;
        FilError error;
        must(fil_result_read(a, k, &x, &error), &error);
        must(fil_result_read(b, k, &y, &error), &error);
        const size_t size = 3 * (size_t)def->point_count * sizeof(double);
        CHECK(x.time == y.time && x.contact_count == y.contact_count);
        CHECK(check_same_bits(x.position, y.position, size));
        CHECK(check_same_bits(x.velocity, y.velocity, size));
        CHECK(check_same_bits(x.rigid_position, y.rigid_position, 3 * sizeof(double)));
        CHECK(check_same_bits(&x.energy, &y.energy, sizeof x.energy));
        for (int c = 0; c < x.contact_count && c < y.contact_count; c++) {
            CHECK(check_same_bits(x.contacts[c].impulse, y.contacts[c].impulse,
                                  sizeof x.contacts[c].impulse));
        }
    }
    CHECK(fil_result_step_count(a) == STEPS && fil_result_step_count(b) == STEPS);
}

static void a_resumed_run_is_the_unbroken_one_bit_for_bit(void) {
    const char *path = path_of("whole.h5"), *other = path_of("broken.h5");
    const char *checkpoint = path_of("checkpoint.bin");
    Run whole = start_run(path);
    go_on(&whole, NULL);
    end_run(&whole);
    Run broken = start_run(other); // runs on beyond its checkpoint, and that is dropped
    go_on(&broken, checkpoint);
    end_run(&broken);
    Run resumed = resume_run(other, checkpoint);
    CHECK(resumed.frames == BREAK / EVERY + 1);
    CHECK(fil_world_step_count(resumed.world) == BREAK);
    go_on(&resumed, NULL);
    end_run(&resumed);
    FilResult *a = open_run(path), *b = open_run(other);
    check_same_frames(a, b);
    fil_result_discard(a);
    fil_result_discard(b);
}

static void a_recording_ends_when_the_world_changes(void) {
    FilWorld *world = make_scene();
    FilRecorder *recorder = NULL;
    FilError error;
    must(fil_recorder_create(world, NULL, &recorder, &error), &error);
    (void)add_floor(world);
    FilFrame frame;
    CHECK(fil_recorder_frame(recorder, &frame, &error) == FIL_E_ARGUMENT);
    CHECK(strstr(error.text, "was added to the world") != NULL);
    fil_recorder_destroy(recorder);
    fil_world_destroy(world);
}

static void long_names_are_cut_between_characters(void) {
    FilWorld *world = make_scene();
    FilRecorder *recorder = NULL;
    FilError error;
    must(fil_recorder_create(world, NULL, &recorder, &error), &error);
    char name[80] = "";
    for (int k = 0; k < 39; k++) {
        memcpy(name + 2 * (size_t)k, "\xc3\xa4", 2); // 78 bytes of two each
    }
    fil_recorder_set_name(recorder, FIL_BODY_ROD, 0, name);
    fil_recorder_set_name(recorder, FIL_BODY_ROD, 5, name); // nobody
    const FilResultDef def = fil_recorder_def(recorder);
    CHECK(strlen(def.rods[0].name) == 62 && strncmp(def.rods[0].name, name, 62) == 0);
    fil_recorder_destroy(recorder);
    fil_world_destroy(world);
}

static void every_allocation_may_fail(void) {
    FilWorld *world = make_scene();
    bool finished = false;
    for (int n = 1; n < 50 && !finished; n++) {
        FailingAllocator memory = {.fail_at = n};
        const FilAllocator allocator = failing_allocator(&memory);
        FilRecorder *recorder = NULL;
        const FilStatus status = fil_recorder_create(world, &allocator, &recorder, NULL);
        fil_recorder_destroy(recorder);
        CHECK(failing_allocator_is_clean(&memory));
        finished = memory.failures == 0;
        CHECK(status == (finished ? FIL_OK : FIL_E_NO_MEMORY));
    }
    CHECK(finished);
    fil_world_destroy(world);
}

// A ball at rest presses on the floor with its weight, m g, however short the last part of a step.
static void forces_of_a_step_taken_in_parts_are_those_of_a_whole_one(void) {
    FilWorldDef def = fil_world_def_default();
    def.step = 2e-3;
    def.solver.thread_count = 1;
    FilWorld *world = make_world(&def, 0.3, 0.0);
    (void)add_floor(world);
    FilRigidDef ball = fil_rigid_def_default();
    ball.pose.position[2] = ball.shape.radius;
    (void)add_rigid(world, &ball);
    FilRecorder *recorder = NULL;
    FilError error;
    must(fil_recorder_create(world, NULL, &recorder, &error), &error);
    double pressed[2];
    for (int k = 0; k < 2; k++) {
        FilStepInfo info = {0};
        bool taken = false;
        for (int n = 0; n < 5; n++) {
            const double share = k == 0 ? 1.0 : 0.25, dt = share * def.step;
            const FilSpan span = {.end = fil_world_time(world) + dt, .dt = dt, .share = share};
            must(fil_world_try_step(world, &span, true, &info, &taken, &error), &error);
            CHECK(taken);
        }
        FilFrame frame;
        must(fil_recorder_frame(recorder, &frame, &error), &error);
        CHECK(frame.contact_count == 1);
        pressed[k] = frame.contacts[0].impulse[2] / def.step;
    }
    CHECK(pressed[0] != 0.0);
    CHECK_NEAR(pressed[1], pressed[0], 1e-9, 0.0);
    fil_recorder_destroy(recorder);
    fil_world_destroy(world);
}

#define TESTS(X)                                                \
    X(a_frame_shows_the_world_as_it_is)                         \
    X(a_resumed_run_is_the_unbroken_one_bit_for_bit)            \
    X(a_recording_ends_when_the_world_changes)                  \
    X(forces_of_a_step_taken_in_parts_are_those_of_a_whole_one) \
    X(long_names_are_cut_between_characters)                    \
    X(every_allocation_may_fail)

int main(int argc, char **argv) {
    static const CheckTest tests[] = {TESTS(CHECK_ENTRY)};
    if (mkdtemp(folder) == NULL) {
        return 1;
    }
    const int status = check_run(tests, sizeof tests / sizeof *tests, argc > 1 ? argv[1] : NULL);
    static const char *const names[] = {"shows.h5", "whole.h5", "broken.h5", "checkpoint.bin"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        (void)unlink(path_of(names[k]));
    }
    (void)rmdir(folder);
    return status;
}
