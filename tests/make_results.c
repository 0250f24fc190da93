// make_results.c - result files for tests of other programs that read them.
//
//     make_results write PATH FRAMES RODS POINTS CONTACTS [wait]   say "frame K" after each frame
//     make_results resume PATH KEEP FRAMES RODS POINTS CONTACTS    keep some frames, write on
//     make_results mend PATH                                       what `filum info` does
//     make_results count PATH                                      open and count frames
//     make_results export PATH FORMAT FOLDER [y|z] [one] [slow]
//
// writes a fake run (result_fake.h). With `wait` it waits for a line of input before each frame.
#include "result_fake.h"

#include "base/timer.h"
#include "filum/export.h"

#include <inttypes.h>

static long long number(const char *text) {
    return strtoll(text, NULL, 10);
}

static FilStatus write_frames(FakeRun *run, FilResult *result, const int64_t range[2], bool wait,
                              FilError *error) {
    for (int64_t k = range[0]; k < range[1]; k++) {
        char line[16];
        if (wait && fgets(line, sizeof line, stdin) == NULL) {
            break;
        }
        const FilStatus status = fake_append(run, result, k, error);
        if (status != FIL_OK) {
            return status;
        }
        (void)printf("frame %" PRId64 "\n", k);
        (void)fflush(stdout);
    }
    return FIL_OK;
}

// Sizes are the last three numbers: rods, points, contacts.
static FilStatus record(const char *path, const int64_t range[2], char **sizes, bool wait,
                        FilError *error) {
    FakeRun run =
        fake_run_make((int)number(sizes[0]), (int)number(sizes[1]), (int)number(sizes[2]));
    FilResult *result = NULL;
    const int64_t steps = range[0] > 0 ? 10 * (range[0] - 1) : 0;
    FilStatus status = range[0] > 0
                           ? fil_result_resume(path, range[0], steps, NULL, &result, error)
                           : fil_result_create(path, &run.def, false, NULL, &result, error);
    const double start = fil_seconds();
    if (status == FIL_OK) {
        status = write_frames(&run, result, range, wait, error);
        FilError late = {.status = FIL_OK};
        const FilStatus closed = fil_result_close(result, &late);
        if (status == FIL_OK && closed != FIL_OK) {
            status = closed;
            *error = late;
        }
    }
    (void)printf("seconds %.6f\n", fil_seconds() - start);
    fake_run_free(&run);
    return status;
}

static FilStatus count(const char *path, FilError *error) {
    FilResult *result = NULL;
    const FilStatus status = fil_result_open(path, NULL, &result, error);
    if (status == FIL_OK) {
        (void)printf("%" PRId64 " frames%s\n", fil_result_frame_count(result),
                     fil_result_is_growing(result) ? ", growing" : "");
        fil_result_discard(result);
    }
    return status;
}

static FilStatus export(const char *path, const char *format, const char *folder, char **more,
                        FilError *error) {
    FilResult *result = NULL;
    FilStatus status = fil_result_open(path, NULL, &result, error);
    if (status != FIL_OK) {
        return status;
    }
    int kind = 0;
    while (kind < FIL_EXPORT_FORMAT_COUNT - 1 &&
           strcmp(fil_export_format_name((FilExportFormat)kind), format) != 0) {
        kind++;
    }
    FilExportOptions options = fil_export_options_default();
    for (; *more != NULL; more++) {
        options.up = strcmp(*more, "y") == 0 ? FIL_EXPORT_UP_Y : options.up;
        options.up = strcmp(*more, "z") == 0 ? FIL_EXPORT_UP_Z : options.up;
        options.to = strcmp(*more, "one") == 0 ? 1 : options.to;
        options.fps = strcmp(*more, "slow") == 0 ? 10.0 : options.fps;
    }
    int64_t files = 0;
    status = fil_export(result, (FilExportFormat)kind, &options, folder, "run", &files, error);
    (void)printf("%" PRId64 " files\n", files);
    fil_result_discard(result);
    return status;
}

int main(int argc, char **argv) {
    FilError error = {.status = FIL_OK};
    FilStatus status = FIL_OK;
    if (argc >= 7 && strcmp(argv[1], "write") == 0) {
        status = record(argv[2], (int64_t[2]){0, number(argv[3])}, argv + 4, argc > 7, &error);
    } else if (argc == 8 && strcmp(argv[1], "resume") == 0) {
        status = record(argv[2], (int64_t[2]){number(argv[3]), number(argv[4])}, argv + 5, false,
                        &error);
    } else if (argc == 3 && strcmp(argv[1], "mend") == 0) {
        bool mended = false;
        status = fil_result_mend(argv[2], &mended, &error);
        (void)puts(mended ? "mended" : "nothing to mend");
    } else if (argc == 3 && strcmp(argv[1], "count") == 0) {
        status = count(argv[2], &error);
    } else if (argc >= 5 && strcmp(argv[1], "export") == 0) {
        status = export(argv[2], argv[3], argv[4], argv + 5, &error);
    } else {
        (void)fputs("usage: make_results write|resume|mend|count|export PATH ...\n", stderr);
        return 2;
    }
    if (status != FIL_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
    }
    return status != FIL_OK ? 3 : 0;
}
