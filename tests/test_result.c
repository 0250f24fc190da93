// Result files, checkpoints and exports: what comes back is what was written, nothing is lost that
// was written before a fault, and every refusal says why.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "check.h"
#include "failing_allocator.h"
#include "result_fake.h"

#include "filum/checkpoint.h"
#include "filum/export.h"
#include "io/superblock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RODS = 3, POINTS = 8, CONTACTS = 5, FRAMES = 6 };

static char folder[] = "/tmp/filum-result-XXXXXX";

static const char *path_of(const char *name) {
    static char path[4][128];
    static int turn;
    turn = (turn + 1) % 4;
    (void)snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static void die(const char *what) {
    (void)fprintf(stderr, "%s\n", what);
    abort();
}

// A complete file of FRAMES frames.
static const char *write_run(const char *name) {
    FakeRun run = fake_run_make(RODS, POINTS, CONTACTS);
    FilResult *result = NULL;
    FilError error;
    const char *path = path_of(name);
    if (fil_result_create(path, &run.def, true, NULL, &result, &error) != FIL_OK) {
        die(error.text);
    }
    for (int k = 0; k < FRAMES; k++) {
        if (fake_append(&run, result, k, &error) != FIL_OK) {
            die(error.text);
        }
    }
    if (fil_result_close(result, &error) != FIL_OK) {
        die(error.text);
    }
    fake_run_free(&run);
    return path;
}

static FilResult *open_run(const char *path) {
    FilResult *result = NULL;
    FilError error;
    if (fil_result_open(path, NULL, &result, &error) != FIL_OK) {
        die(error.text);
    }
    return result;
}

static bool same_as_float(const double *got, const double *want, int count) {
    for (int k = 0; k < count; k++) {
        if ((float)got[k] != (float)want[k]) { // both passed through single precision
            return false;
        }
    }
    return true;
}

static void check_frame(FilResult *result, FakeRun *run, int64_t index) {
    FilFrame got = {0};
    FilError error = {.text = ""};
    CHECK(fil_result_read(result, index, &got, &error) == FIL_OK);
    if (error.text[0] != '\0') {
        die(error.text);
    }
    const FilFrame want = fake_frame(run, index);
    const int n = run->def.point_count;
    CHECK(got.time == want.time && got.step == want.step);
    CHECK(check_same_bits(&got.energy, &want.energy, sizeof want.energy));
    CHECK(check_same_bits(got.position, want.position, sizeof(double) * 3 * (size_t)n));
    CHECK(same_as_float(got.quaternion, want.quaternion, 4 * n));
    CHECK(same_as_float(got.velocity, want.velocity, 3 * n));
    CHECK(same_as_float(got.curvature, want.curvature, 3 * n));
    CHECK(got.tension != NULL && same_as_float(got.tension, want.tension, n));
    CHECK(got.elastic != NULL && same_as_float(got.elastic, want.elastic, n));
    CHECK(got.reaction_force != NULL &&
          same_as_float(got.reaction_force, want.reaction_force, 6 * run->rod_count));
    CHECK(got.reaction_moment != NULL &&
          same_as_float(got.reaction_moment, want.reaction_moment, 6 * run->rod_count));
    CHECK(check_same_bits(got.rigid_position, want.rigid_position, sizeof(double) * 3));
    CHECK(check_same_bits(got.rigid_quaternion, want.rigid_quaternion, sizeof(double) * 4));
    CHECK(check_same_bits(got.rigid_velocity, want.rigid_velocity, sizeof(double) * 3));
    CHECK(check_same_bits(got.rigid_spin, want.rigid_spin, sizeof(double) * 3));
    CHECK(check_same_bits(got.obstacle_position, want.obstacle_position, sizeof(double) * 6));
    CHECK(check_same_bits(got.obstacle_quaternion, want.obstacle_quaternion, sizeof(double) * 8));
    CHECK(got.contact_count == want.contact_count);
    for (int c = 0; c < got.contact_count && c < want.contact_count; c++) {
        const FilContact *a = &got.contacts[c], *b = &want.contacts[c];
        CHECK(a->a.kind == b->a.kind && a->a.index == b->a.index && a->b.kind == b->b.kind);
        CHECK(a->state == b->state && a->a.s == b->a.s && a->gap == b->gap && a->mu == b->mu);
        CHECK(check_same_bits(a->impulse, b->impulse, sizeof a->impulse));
        CHECK(check_same_bits(a->b.point, b->b.point, sizeof a->b.point));
    }
}

static void check_steps(FilResult *result, int64_t count) {
    CHECK(fil_result_step_count(result) == count);
    FilResultStep *steps = calloc((size_t)count + 1, sizeof *steps);
    FilError error;
    CHECK(steps != NULL && fil_result_read_steps(result, 0, count, steps, &error) == FIL_OK);
    for (int64_t k = 0; steps != NULL && k < count; k++) {
        const FilResultStep want = fake_step(k);
        CHECK(steps[k].time == want.time && steps[k].info.outcome == want.info.outcome);
        CHECK(steps[k].info.seconds.sweep == want.info.seconds.sweep);
        CHECK(steps[k].info.contact_count == want.info.contact_count);
    }
    free(steps);
}

static void check_whole_run(const char *path, int64_t frames) {
    FakeRun run = fake_run_make(RODS, POINTS, CONTACTS);
    FilResult *result = open_run(path);
    CHECK(fil_result_frame_count(result) == frames);
    for (int64_t k = frames; k-- > 0;) {
        check_frame(result, &run, k);
    }
    check_steps(result, 10 * (frames - 1));
    fil_result_discard(result);
    fake_run_free(&run);
}

// --- what is written comes back ------------------------------------------------------------------

static void frames_come_back_as_they_were_written(void) {
    check_whole_run(write_run("back.h5"), FRAMES);
}

static void the_definition_comes_back(void) {
    FilResult *result = open_run(write_run("def.h5"));
    const FilResultDef *def = fil_result_def(result);
    CHECK(strcmp(def->name, "fake") == 0 && strcmp(def->options, "--until 1") == 0);
    CHECK(strcmp(def->scene, "{\"name\": \"fake\"} // \xc3\xa4") == 0);
    CHECK(strcmp(def->version, fil_version()) == 0);
    CHECK(def->seed == 42 && def->step == 1e-3);
    CHECK(def->rod_count == RODS && def->line_count == RODS + 1);
    CHECK(strcmp(def->rods[2].name, "rod 2") == 0 && def->rods[2].model == FIL_ROD_DER);
    CHECK(def->rods[2].contact_radius == 2e-3 && def->rods[2].first_point == 2 * POINTS);
    CHECK(def->rods[1].width == 4e-3 && def->rods[1].thickness == 1e-3 && def->rods[0].width == 0);
    CHECK(def->lines[1].rod == 0 && def->lines[1].first_point == POINTS / 2);
    CHECK(def->points[POINTS].u == 0.25);
    CHECK(def->rigid_count == 1 && def->rigids[0].radius == 0.02 && def->rigids[0].mesh == -1);
    CHECK(def->obstacle_count == 2 && def->obstacles[1].shape == FIL_SHAPE_MESH);
    CHECK(def->mesh_count == 1 && def->meshes[0].vertex_count == 4);
    CHECK(check_same_bits(def->meshes[0].triangles, fake_triangles, sizeof fake_triangles));
    fil_result_discard(result);
}

// Frames 0 and 3 of 4 do not know what the rods carry.
static void a_frame_may_not_know_the_tension(void) {
    FakeRun run = fake_run_make(RODS, POINTS, CONTACTS);
    FilResult *result = NULL;
    FilFrame frame = {0};
    FilError error;
    const char *path = path_of("unknown.h5");
    CHECK(fil_result_create(path, &run.def, true, NULL, &result, &error) == FIL_OK);
    for (int k = 0; k < 4; k++) {
        frame = fake_frame(&run, k);
        frame.tension = k % 3 == 0 ? NULL : frame.tension;
        CHECK(fil_result_append(result, &frame, &error) == FIL_OK);
    }
    CHECK(fil_result_close(result, &error) == FIL_OK);
    result = open_run(path);
    for (int k = 0; k < 4; k++) {
        CHECK(fil_result_read(result, k, &frame, &error) == FIL_OK);
        CHECK((frame.tension != NULL) == (k % 3 != 0) && frame.elastic != NULL);
        CHECK(frame.tension == NULL || frame.tension[5] == (float)fake_value(k, 10, 5));
    }
    fil_result_discard(result);
    fake_run_free(&run);
}

// Ragged and empty: no rods, no bodies, no contacts at all.
static void an_empty_world_can_be_recorded(void) {
    const FilResultDef def = {.step = 1.0};
    const char *path = path_of("empty.h5");
    FilResult *result = NULL;
    FilError error;
    CHECK(fil_result_create(path, &def, true, NULL, &result, &error) == FIL_OK);
    for (int k = 0; k < 3; k++) {
        const FilFrame frame = {.time = k};
        CHECK(fil_result_append(result, &frame, &error) == FIL_OK);
    }
    CHECK(fil_result_close(result, &error) == FIL_OK);
    result = open_run(path);
    FilFrame frame = {0};
    CHECK(fil_result_frame_count(result) == 3);
    CHECK(fil_result_read(result, 2, &frame, &error) == FIL_OK && frame.time == 2.0);
    CHECK(frame.contact_count == 0);
    fil_result_discard(result);
}

static void same_run_same_bytes(void) {
    const char *names[2] = {"same1.h5", "same2.h5"};
    char *bytes[2] = {NULL, NULL};
    long sizes[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        FILE *file = fopen(write_run(names[k]), "rb");
        if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
            die("cannot read back");
        }
        sizes[k] = ftell(file);
        rewind(file);
        bytes[k] = malloc((size_t)sizes[k]);
        CHECK(bytes[k] != NULL && fread(bytes[k], 1, (size_t)sizes[k], file) == (size_t)sizes[k]);
        (void)fclose(file);
    }
    CHECK(sizes[0] == sizes[1] && check_same_bits(bytes[0], bytes[1], (size_t)sizes[0]));
    free(bytes[0]);
    free(bytes[1]);
}

// --- faults --------------------------------------------------------------------------------------

static void write_until_killed(const char *path, int tell) {
    FakeRun run = fake_run_make(RODS, POINTS, CONTACTS);
    FilResult *result = NULL;
    if (fil_result_create(path, &run.def, true, NULL, &result, NULL) != FIL_OK) {
        _exit(1);
    }
    for (int64_t k = 0;; k++) {
        if (fake_append(&run, result, k, NULL) != FIL_OK || write(tell, "", 1) != 1) {
            _exit(1);
        }
    }
}

// A writer that is killed after `frames` frames, somewhere in a later one.
static void kill_a_writer(const char *path, int frames) {
    int ends[2];
    if (pipe(ends) != 0) {
        die("no pipe");
    }
    const pid_t child = fork();
    if (child == 0) {
        (void)close(ends[0]);
        write_until_killed(path, ends[1]);
    }
    (void)close(ends[1]);
    char byte = 0;
    for (int k = 0; k < frames; k++) {
        CHECK(read(ends[0], &byte, 1) == 1);
    }
    CHECK(kill(child, SIGKILL) == 0);
    CHECK(waitpid(child, NULL, 0) == child);
    (void)close(ends[0]);
}

static bool is_marked(const char *path) {
    FilSuperblock head = {0};
    const int descriptor = open(path, O_RDONLY);
    CHECK(fil_superblock_read(descriptor, path, &head, NULL) == FIL_OK);
    (void)close(descriptor);
    return head.marked;
}

static void a_killed_writer_loses_no_frame(void) {
    for (int frames = 1; frames <= 40; frames += 13) {
        const char *path = path_of("killed.h5");
        kill_a_writer(path, frames);
        CHECK(is_marked(path));
        bool mended = false;
        CHECK(fil_result_mend(path, &mended, NULL) == FIL_OK && mended);
        CHECK(!is_marked(path));
        CHECK(fil_result_mend(path, &mended, NULL) == FIL_OK && !mended);
        FakeRun run = fake_run_make(RODS, POINTS, CONTACTS);
        FilResult *result = open_run(path);
        const int64_t held = fil_result_frame_count(result);
        CHECK(held >= frames && !fil_result_is_growing(result));
        for (int64_t k = 0; k < held; k++) {
            check_frame(result, &run, k);
        }
        fil_result_discard(result);
        fake_run_free(&run);
    }
}

static void resuming_gives_the_file_of_an_unbroken_run(void) {
    const char *path = path_of("resumed.h5");
    kill_a_writer(path, FRAMES + 3);
    FakeRun run = fake_run_make(RODS, POINTS, CONTACTS);
    FilResult *result = NULL;
    FilError error;
    CHECK(fil_result_resume(path, 3, 20, NULL, &result, &error) == FIL_OK);
    CHECK(fil_result_frame_count(result) == 3 && fil_result_step_count(result) == 20);
    CHECK(strcmp(fil_result_def(result)->name, "fake") == 0);
    for (int k = 3; k < FRAMES; k++) {
        CHECK(fake_append(&run, result, k, &error) == FIL_OK);
    }
    CHECK(fil_result_close(result, &error) == FIL_OK);
    check_whole_run(path, FRAMES);
    CHECK(fil_result_resume(path, FRAMES + 1, 0, NULL, &result, &error) == FIL_E_FORMAT);
    CHECK(strstr(error.text, "holds 6 frames and 50 steps; resuming needs 7 and 0") != NULL);
    check_whole_run(path, FRAMES);
    fake_run_free(&run);
}

// Steps after the last frame belong to the checkpoint, too.
static void steps_between_frames_survive(void) {
    const char *path = write_run("between.h5");
    FilResult *result = NULL;
    FilError error;
    CHECK(fil_result_resume(path, FRAMES, 10 * (FRAMES - 1), NULL, &result, &error) == FIL_OK);
    for (int64_t k = 10 * (FRAMES - 1); k < 10 * (FRAMES - 1) + 4; k++) {
        const FilResultStep step = fake_step(k);
        CHECK(fil_result_add_step(result, &step, &error) == FIL_OK);
    }
    CHECK(fil_result_sync(result, &error) == FIL_OK);
    CHECK(fil_result_close(result, &error) == FIL_OK);
    result = open_run(path);
    check_steps(result, 10 * (FRAMES - 1) + 4);
    fil_result_discard(result);
}

// A limit on the size of files stands for a full disk: the system refuses writes in the same way.
static int fill_disk(const char *path, int *written) {
    const struct rlimit limit = {.rlim_cur = 300000, .rlim_max = RLIM_INFINITY};
    struct rlimit before;
    (void)getrlimit(RLIMIT_FSIZE, &before);
    (void)signal(SIGXFSZ, SIG_IGN);
    (void)setrlimit(RLIMIT_FSIZE, &limit);
    FakeRun run = fake_run_make(RODS, POINTS, CONTACTS);
    FilResult *result = NULL;
    FilError error, again;
    FilStatus status = fil_result_create(path, &run.def, true, NULL, &result, &error);
    for (*written = 0; status == FIL_OK && *written < 1000; *written += status == FIL_OK) {
        status = fake_append(&run, result, *written, &error);
    }
    int wrong = 0;
    char want[64];
    (void)snprintf(want, sizeof want, "File too large; its %d frames are safe", *written);
    wrong += status != FIL_E_IO || strstr(error.text, want) == NULL;
    wrong += fake_append(&run, result, *written, &again) != FIL_E_IO;
    wrong += strcmp(error.text, again.text) != 0;
    wrong += fil_result_close(result, &again) != FIL_E_IO || strcmp(error.text, again.text) != 0;
    (void)setrlimit(RLIMIT_FSIZE, &before);
    fake_run_free(&run);
    return wrong;
}

static void a_full_disk_costs_only_the_frame_that_did_not_fit(void) {
    const char *path = path_of("full.h5");
    int written = 0;
    CHECK(fill_disk(path, &written) == 0);
    CHECK(written > 10 && !is_marked(path));
    FakeRun run = fake_run_make(RODS, POINTS, CONTACTS);
    FilResult *result = open_run(path);
    CHECK(fil_result_frame_count(result) == written);
    for (int64_t k = 0; k < written; k++) {
        check_frame(result, &run, k);
    }
    fil_result_discard(result);
    // with room again, the run goes on
    FilError error;
    CHECK(fil_result_resume(path, written, 10 * (written - 1), NULL, &result, &error) == FIL_OK);
    CHECK(fake_append(&run, result, written, &error) == FIL_OK);
    CHECK(fil_result_close(result, &error) == FIL_OK);
    fake_run_free(&run);
}

static void a_file_grows_while_it_is_read(void) {
    const char *path = path_of("growing.h5");
    FakeRun run = fake_run_make(RODS, POINTS, CONTACTS),
            other = fake_run_make(RODS, POINTS, CONTACTS);
    FilResult *writer = NULL;
    FilError error;
    CHECK(fil_result_create(path, &run.def, true, NULL, &writer, &error) == FIL_OK);
    CHECK(fake_append(&run, writer, 0, &error) == FIL_OK);
    FilResult *reader = open_run(path);
    CHECK(fil_result_is_growing(reader));
    for (int64_t k = 0; k < 5; k++) {
        CHECK(fil_result_frame_count(reader) == k + 1);
        check_frame(reader, &other, k);
        CHECK(fake_append(&run, writer, k + 1, &error) == FIL_OK);
    }
    // nobody else may write it meanwhile
    FilResult *second = NULL;
    CHECK(fil_result_create(path, &run.def, true, NULL, &second, &error) == FIL_E_IO);
    CHECK(strstr(error.text, "is being written by another program") != NULL);
    CHECK(fil_result_resume(path, 0, 0, NULL, &second, &error) == FIL_E_IO);
    CHECK(fil_result_close(writer, &error) == FIL_OK);
    CHECK(!fil_result_is_growing(reader));
    CHECK(fil_result_frame_count(reader) == 6);
    fil_result_discard(reader);
    fake_run_free(&run);
    fake_run_free(&other);
}

static void check_refused(const char *path, FilStatus status, const char *text) {
    FilResult *result = NULL;
    FilError error = {.text = ""};
    CHECK(fil_result_open(path, NULL, &result, &error) == status);
    if (strstr(error.text, text) == NULL) {
        (void)fprintf(stderr, "said: %s\n", error.text);
        CHECK(false);
    }
    CHECK(result == NULL);
}

static void bad_files_are_refused_in_one_sentence(void) {
    check_refused(path_of("nowhere.h5"), FIL_E_IO, "No such file");
    const char *text = path_of("text.h5");
    FILE *file = fopen(text, "wb");
    CHECK(file != NULL && fputs("frames", file) >= 0 && fclose(file) == 0);
    check_refused(text, FIL_E_FORMAT, "is not an HDF5 file");
    const char *cut = write_run("cut.h5");
    CHECK(truncate(cut, 20000) == 0);
    check_refused(cut, FIL_E_FORMAT, "is cut off: it has 20000 bytes, not ");
    const char *bent = write_run("bent.h5");
    const int descriptor = open(bent, O_WRONLY);
    CHECK(pwrite(descriptor, "M", 1, 30) == 1 && close(descriptor) == 0);
    check_refused(bent, FIL_E_FORMAT, "do not add up");
    check_refused(folder, FIL_E_IO, "cannot open it");
}

static void what_exists_is_not_overwritten(void) {
    const char *path = write_run("there.h5");
    FakeRun run = fake_run_make(RODS, POINTS, CONTACTS);
    FilResult *result = NULL;
    FilError error;
    CHECK(fil_result_create(path, &run.def, false, NULL, &result, &error) == FIL_E_IO);
    CHECK(strstr(error.text, "exists already; force (--force) replaces it") != NULL);
    check_whole_run(path, FRAMES);
    CHECK(fil_result_create("/nowhere/at/all.h5", &run.def, false, NULL, &result, &error) ==
          FIL_E_IO);
    CHECK(strstr(error.text, "No such file or directory") != NULL);
    FilFrame frame = {0};
    result = open_run(path);
    CHECK(fil_result_read(result, FRAMES, &frame, &error) == FIL_E_ARGUMENT);
    CHECK(strstr(error.text, "has 6 frames; number 6 is not among them") != NULL);
    CHECK(fil_result_append(result, &frame, &error) == FIL_E_ARGUMENT);
    fil_result_discard(result);
    fake_run_free(&run);
}

static FilStatus write_and_read(FakeRun *run, const FilAllocator *allocator) {
    const char *path = path_of("memory.h5");
    FilResult *result = NULL;
    FilStatus status = fil_result_create(path, &run->def, true, allocator, &result, NULL);
    for (int k = 0; k < 2 && status == FIL_OK; k++) {
        status = fake_append(run, result, k, NULL);
    }
    if (result != NULL) {
        const FilStatus closed = fil_result_close(result, NULL);
        status = status == FIL_OK ? closed : status;
    }
    result = NULL;
    if (status == FIL_OK) {
        status = fil_result_open(path, allocator, &result, NULL);
    }
    FilFrame frame;
    if (status == FIL_OK) {
        status = fil_result_read(result, 1, &frame, NULL);
    }
    fil_result_discard(result);
    return status;
}

static void every_allocation_may_fail(void) {
    FakeRun run = fake_run_make(RODS, POINTS, CONTACTS);
    bool finished = false;
    for (int n = 1; n < 100 && !finished; n++) {
        FailingAllocator memory = {.fail_at = n};
        const FilAllocator allocator = failing_allocator(&memory);
        const FilStatus status = write_and_read(&run, &allocator);
        CHECK(failing_allocator_is_clean(&memory));
        finished = memory.failures == 0;
        CHECK(finished ? status == FIL_OK : status != FIL_OK);
    }
    CHECK(finished);
    fake_run_free(&run);
}

// --- checkpoints ---------------------------------------------------------------------------------

static void a_checkpoint_comes_back_bit_for_bit(void) {
    const double state[3] = {1.0 / 3.0, -0.0, 5e-324};
    const char events[] = "gravity 0 0 -1\n";
    const char *path = path_of("checkpoint.bin");
    const uint64_t scene = fil_scene_hash("scene", 5, 0);
    const FilCheckpoint want = {.scene = scene,
                                .step_count = 1234,
                                .frame_count = 12,
                                .state = state,
                                .state_count = 3,
                                .events = events,
                                .events_size = (int64_t)strlen(events)};
    FilError error;
    FilCheckpoint *got = NULL;
    for (int k = 0; k < 2; k++) { // the second replaces the first
        CHECK(fil_checkpoint_write(path, &want, &error) == FIL_OK);
    }
    CHECK(fil_checkpoint_read(path, scene, NULL, &got, &error) == FIL_OK);
    CHECK(got->step_count == 1234 && got->frame_count == 12 && got->state_count == 3);
    CHECK(check_same_bits(got->state, state, sizeof state));
    CHECK(strcmp(got->events, events) == 0);
    fil_checkpoint_destroy(got, NULL);
    got = NULL;
    CHECK(fil_checkpoint_read(path, scene + 1, NULL, &got, &error) == FIL_E_FORMAT);
    CHECK(strstr(error.text, "belongs to another scene") != NULL && got == NULL);
    CHECK(fil_scene_hash("scene", 5, 0) != fil_scene_hash("scenf", 5, 0));
    CHECK(fil_scene_hash("a\0", 2, 0) != fil_scene_hash("a", 1, 0));
}

static void check_bad_checkpoint(const char *path, long at, int byte, const char *text) {
    const double state[2] = {1.0, 2.0};
    const FilCheckpoint good = {.state = state, .state_count = 2};
    FilError error = {.text = ""};
    FilCheckpoint *got = NULL;
    CHECK(fil_checkpoint_write(path, &good, &error) == FIL_OK);
    FILE *file = fopen(path, "r+b");
    CHECK(file != NULL && fseek(file, at, SEEK_SET) == 0 && fputc(byte, file) != EOF);
    CHECK(file != NULL && fclose(file) == 0);
    CHECK(fil_checkpoint_read(path, 0, NULL, &got, &error) == FIL_E_FORMAT);
    if (strstr(error.text, text) == NULL) {
        (void)fprintf(stderr, "said: %s\n", error.text);
        CHECK(false);
    }
}

static void other_and_damaged_checkpoints_are_refused(void) {
    const char *path = path_of("bad.bin");
    check_bad_checkpoint(path, 0, 'x', "is not a checkpoint");
    check_bad_checkpoint(path, 8, '9', "was written by filum 9");
    check_bad_checkpoint(path, 56, 77, "its sizes are inconsistent");
    check_bad_checkpoint(path, 90, 77, "its checksum is wrong");
    CHECK(truncate(path, 100) == 0);
    FilError error;
    FilCheckpoint *got = NULL;
    CHECK(fil_checkpoint_read(path, 0, NULL, &got, &error) == FIL_E_FORMAT);
    CHECK(truncate(path, 10) == 0);
    CHECK(fil_checkpoint_read(path, 0, NULL, &got, &error) == FIL_E_FORMAT);
    CHECK(fil_checkpoint_read(path_of("none.bin"), 0, NULL, &got, &error) == FIL_E_IO);
    FailingAllocator memory = {.fail_at = 1};
    const FilAllocator allocator = failing_allocator(&memory);
    const FilCheckpoint good = {.step_count = 1};
    CHECK(fil_checkpoint_write(path, &good, &error) == FIL_OK);
    CHECK(fil_checkpoint_read(path, 0, &allocator, &got, &error) == FIL_E_NO_MEMORY);
    CHECK(fil_checkpoint_write("/nowhere/c.bin", &good, &error) == FIL_E_IO);
}

// --- exports -------------------------------------------------------------------------------------

static void exports_refuse_what_they_cannot_do(void) {
    FilResult *result = open_run(write_run("export.h5"));
    FilError error;
    int64_t files = 0;
    FilExportOptions options = fil_export_options_default();
    for (int format = 0; format < FIL_EXPORT_FORMAT_COUNT; format++) {
        const char *name = fil_export_format_name((FilExportFormat)format);
        CHECK(name != NULL);
        CHECK(fil_export(result, (FilExportFormat)format, &options, folder, name, &files, &error) ==
              FIL_OK);
        CHECK(files > 0);
        CHECK(fil_export(result, (FilExportFormat)format, &options, folder, name, &files, &error) ==
              FIL_E_IO);
        CHECK(strstr(error.text, "exists already; force (--force) replaces it") != NULL);
        CHECK(files == 0);
        options.force = true;
        CHECK(fil_export(result, (FilExportFormat)format, &options, folder, name, &files, &error) ==
              FIL_OK);
        options.force = false;
        CHECK(fil_export(result, (FilExportFormat)format, &options, "/nowhere", name, &files,
                         &error) == FIL_E_IO);
    }
    CHECK(fil_export_format_name(FIL_EXPORT_FORMAT_COUNT) == NULL);
    fil_result_discard(result);
}

// How many of the six frames a slice holds, by the files that come of it.
static int64_t count_frames(FilResult *result, int64_t from, int64_t to, int64_t stride) {
    FilExportOptions options = fil_export_options_default();
    int64_t files = 0;
    options.from = from;
    options.to = to;
    options.stride = stride;
    options.force = true;
    return fil_export(result, FIL_EXPORT_OBJ, &options, folder, "part", &files, NULL) == FIL_OK
               ? files
               : 0;
}

static void frames_are_chosen_as_python_does(void) {
    FilResult *result = open_run(write_run("slices.h5"));
    CHECK(count_frames(result, 0, INT64_MAX, 1) == FRAMES);
    CHECK(count_frames(result, 1, -1, 2) == 2); // 1 and 3
    CHECK(access(path_of("part-000003.obj"), R_OK) == 0);
    CHECK(count_frames(result, -1, INT64_MAX, 1) == 1);
    CHECK(count_frames(result, -100, 100, 1) == FRAMES);
    CHECK(count_frames(result, 0, 100, 100) == 1);
    CHECK(count_frames(result, 0, INT64_MAX, INT64_MAX) == 1);
    CHECK(count_frames(result, FRAMES, INT64_MAX, 1) == 0);
    CHECK(count_frames(result, 3, 3, 1) == 0);
    CHECK(count_frames(result, INT64_MIN, INT64_MIN, 1) == 0);
    fil_result_discard(result);
}

static void bad_options_of_exports_are_named(void) {
    FilResult *result = open_run(write_run("options.h5"));
    FilExportOptions good = fil_export_options_default();
    FilExportOptions options[5];
    for (int k = 0; k < 5; k++) {
        options[k] = good;
    }
    options[0].from = FRAMES;
    options[1].stride = 0;
    options[2].fps = NAN;
    options[3].tube_sides = 2;
    options[4].up = FIL_EXPORT_UP_COUNT;
    static const char *const texts[] = {"frames 6: hold none; there are 0 to 5", "stride is 0",
                                        "fps is nan; it must be positive", "tube_sides is 2",
                                        "up is 3"};
    for (int k = 0; k < 5; k++) {
        FilError error;
        CHECK(fil_export(result, FIL_EXPORT_GLB, &options[k], folder, "x", NULL, &error) ==
              FIL_E_ARGUMENT);
        CHECK(strstr(error.text, texts[k]) != NULL);
    }
    fil_result_discard(result);
}

#define TESTS(X)                                         \
    X(frames_come_back_as_they_were_written)             \
    X(the_definition_comes_back)                         \
    X(a_frame_may_not_know_the_tension)                  \
    X(an_empty_world_can_be_recorded)                    \
    X(same_run_same_bytes)                               \
    X(a_killed_writer_loses_no_frame)                    \
    X(resuming_gives_the_file_of_an_unbroken_run)        \
    X(steps_between_frames_survive)                      \
    X(a_full_disk_costs_only_the_frame_that_did_not_fit) \
    X(a_file_grows_while_it_is_read)                     \
    X(bad_files_are_refused_in_one_sentence)             \
    X(what_exists_is_not_overwritten)                    \
    X(every_allocation_may_fail)                         \
    X(a_checkpoint_comes_back_bit_for_bit)               \
    X(other_and_damaged_checkpoints_are_refused)         \
    X(exports_refuse_what_they_cannot_do)                \
    X(frames_are_chosen_as_python_does)                  \
    X(bad_options_of_exports_are_named)

static void remove_folder(void) {
    char command[64];
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    if (system(command) != 0) { // NOLINT(cert-env33-c): the name is ours
        (void)fputs("cannot remove the folder\n", stderr);
    }
}

int main(int argc, char **argv) {
    static const CheckTest tests[] = {TESTS(CHECK_ENTRY)};
    if (mkdtemp(folder) == NULL) {
        die("cannot make a folder");
    }
    const int status = check_run(tests, sizeof tests / sizeof *tests, argc > 1 ? argv[1] : NULL);
    remove_folder();
    return status;
}
