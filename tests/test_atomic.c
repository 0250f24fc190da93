// test_atomic.c - files that appear complete or not at all, as the disk sees them.
//
// The program's own fsync() and rename() stand before those of the C library: they note in what
// order things reach the disk.
#define _XOPEN_SOURCE 700 // NOLINT(bugprone-reserved-identifier)
#include "filum/filum.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "io/atomic.h"

static char order[32]; // f: a file is synced, r: renamed, d: a folder is synced

static void note(char what) {
    const size_t length = strlen(order);
    if (length + 1 < sizeof order) {
        order[length] = what;
        order[length + 1] = '\0';
    }
}

int fsync(int fd) {
    struct stat about;
    note(fstat(fd, &about) == 0 && S_ISDIR(about.st_mode) ? 'd' : 'f');
    return 0;
}

int rename(const char *old, const char *new) {
    note('r');
    return renameat(AT_FDCWD, old, AT_FDCWD, new);
}

static char folder[] = "/tmp/filum-atomic-XXXXXX";

static bool is_there(const char *name) {
    struct stat about;
    return stat(name, &about) == 0;
}

static void touch(const char *name) {
    FILE *file = fopen(name, "w");
    CHECK(file != NULL && fclose(file) == 0);
}

static void bytes_reach_the_disk_before_the_name_and_the_name_before_it_is_done(void) {
    FilError error;
    for (int k = 0; k < 2; k++) { // in the present folder, and by a path
        order[0] = '\0';
        const char *path = k == 0 ? "a.bin" : "./a.bin";
        CHECK(fil_write_file(path, "abc", 3, true, &error) == FIL_OK);
        CHECK(strcmp(order, "frd") == 0);
        CHECK(is_there("a.bin"));
    }
}

static void what_killed_writers_left_is_removed_and_nothing_else(void) {
    static const char *const left[] = {"a.bin.123-0.tmp", "a.bin.7-999.tmp"};
    static const char *const others[] = {"a.bin",         "b.bin.123-0.tmp", "a.bin.tmp",
                                         "a.bin.x-0.tmp", "a.bin.123-.tmp",  "a.bin.123-0.tmp.old",
                                         "a.bin.-0.tmp"};
    for (size_t k = 0; k < sizeof left / sizeof *left; k++) {
        touch(left[k]);
    }
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        touch(others[k]);
    }
    fil_file_tidy("./a.bin");
    for (size_t k = 0; k < sizeof left / sizeof *left; k++) {
        CHECK(!is_there(left[k]));
    }
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        CHECK(is_there(others[k]));
        CHECK(unlink(others[k]) == 0);
    }
    fil_file_tidy("nowhere/a.bin"); // nothing to do
}

#define TESTS(X)                                                           \
    X(bytes_reach_the_disk_before_the_name_and_the_name_before_it_is_done) \
    X(what_killed_writers_left_is_removed_and_nothing_else)

int main(int argc, char **argv) {
    static const CheckTest tests[] = {TESTS(CHECK_ENTRY)};
    if (mkdtemp(folder) == NULL || chdir(folder) != 0) {
        return 1;
    }
    const int status = check_run(tests, sizeof tests / sizeof *tests, argc > 1 ? argv[1] : NULL);
    (void)unlink("a.bin");
    return rmdir(folder) == 0 ? status : 1;
}
