// Writes files into a folder, which is made where it is missing: good problems, and copies of one
// of them with one fault each. For test_cli.py, and as seeds for the fuzzer.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "base/arena.h"
#include "base/random.h"
#include "filum/fclib.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *folder;

static void make_folder(const char *path) { // mkdir -p
    char part[1024];
    for (size_t k = 1; k < sizeof part && path[k - 1] != '\0'; k++) {
        if (path[k] == '/' || path[k] == '\0') {
            (void)snprintf(part, sizeof part, "%.*s", (int)k, path);
            (void)mkdir(part, 0777); // what matters shows when a file is written
        }
    }
    folder = path;
}

static void path_of(char path[1024], const char *name) {
    (void)snprintf(path, 1024, "%s/%s", folder, name);
}

static void write_file(const char *name, const FilFclib *file) {
    char path[1024];
    FilError error;
    path_of(path, name);
    if (fil_fclib_write(path, file, true, &error) != FIL_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
}

// `count` contacts in a chain, each touching the next; W is diagonally dominant.
static FilFclib make_chain(FilArena *arena, int count) {
    FilRandom random = fil_random_make(1);
    int *start = FIL_NEW(arena, int, count + 1), *column = FIL_NEW(arena, int, 3 * count);
    double *value = FIL_NEW_ZEROED(arena, double, 27 * count),
           *b = FIL_NEW(arena, double, 3 * count);
    double *mu = FIL_NEW(arena, double, count);
    start[0] = 0;
    for (int i = 0, e = 0; i < count; i++) {
        for (int j = i - 1; j <= i + 1; j++) {
            if (j >= 0 && j < count) {
                double *block = &value[9 * (size_t)e];
                block[0] = block[4] = block[8] = i == j ? 2.0 : -0.9;
                column[e++] = j;
            }
        }
        start[i + 1] = e;
        mu[i] = 0.5;
    }
    for (int k = 0; k < 3 * count; k++) {
        b[k] = fil_random_uniform(&random, -1.0, k % 3 == 0 ? 0.2 : 1.0);
    }
    return (FilFclib){.problem = {.block_count = count,
                                  .block_size = 3,
                                  .mu = mu,
                                  .form = FIL_FORM_BLOCKS,
                                  .blocks = {start, column, value},
                                  .b = b},
                      .title = "chain"};
}

// A point mass on a plane.
static FilFclib make_global(void) {
    static const int start[] = {0, 1, 2, 3}, index[] = {0, 1, 2};
    static const double two[] = {2, 2, 2}, one[] = {1, 1, 1}, f[] = {-2, 1, 0}, w[] = {0, 0, 0};
    static const double mu[] = {0.5};
    return (FilFclib){.problem = {.block_count = 1,
                                  .block_size = 3,
                                  .mu = mu,
                                  .dof_count = 3,
                                  .form = FIL_FORM_GLOBAL,
                                  .global = {.M = {3, 3, start, index, two},
                                             .H = {3, 3, start, index, one},
                                             .f = f,
                                             .w = w}},
                      .title = "point mass"};
}

static void set_number(hid_t file, const char *dataset, hsize_t index, double value) {
    const hid_t id = H5Dopen2(file, dataset, H5P_DEFAULT), space = H5Dget_space(id);
    const hid_t one = H5Screate(H5S_SCALAR);
    (void)H5Sselect_elements(space, H5S_SELECT_SET, 1, &index);
    (void)H5Dwrite(id, H5T_NATIVE_DOUBLE, one, space, H5P_DEFAULT, &value);
    (void)H5Sclose(one);
    (void)H5Sclose(space);
    (void)H5Dclose(id);
}

// A copy of `file` with one entry changed, or, when the index is negative, a dataset removed.
static void write_faulty(const char *name, const FilFclib *file, const char *dataset, int index,
                         double value) {
    char path[1024];
    write_file(name, file);
    path_of(path, name);
    const hid_t id = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    if (index < 0) {
        (void)H5Ldelete(id, dataset, H5P_DEFAULT);
    } else {
        set_number(id, dataset, (hsize_t)index, value);
    }
    (void)H5Fclose(id);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        return 2;
    }
    make_folder(argv[1]);
    FilArena arena = fil_arena_make(NULL);
    const FilFclib four = make_chain(&arena, 4), many = make_chain(&arena, 60);
    const FilFclib global = make_global();
    write_file("four.hdf5", &four);
    write_file("many.hdf5", &many);
    write_file("global.hdf5", &global);
    write_faulty("no-W.hdf5", &four, "/fclib_local/W", -1, 0);
    write_faulty("no-mu.hdf5", &four, "/fclib_local/vectors/mu", -1, 0);
    write_faulty("sizes.hdf5", &four, "/fclib_local/W/m", 0, 13);
    write_faulty("range.hdf5", &four, "/fclib_local/W/i", 2, 900);
    write_faulty("order.hdf5", &four, "/fclib_local/W/p", 2, 0);
    write_faulty("nan.hdf5", &four, "/fclib_local/vectors/q", 1, NAN);
    write_faulty("inf.hdf5", &four, "/fclib_local/W/x", 0, INFINITY);
    write_faulty("negative.hdf5", &four, "/fclib_local/vectors/mu", 3, -1);
    write_faulty("flat.hdf5", &four, "/fclib_local/spacedim", 0, 1);
    fil_arena_destroy(&arena);
    return 0;
}
