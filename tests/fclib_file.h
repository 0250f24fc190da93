#ifndef FIL_TEST_FCLIB_FILE_H
#define FIL_TEST_FCLIB_FILE_H

// Problems to write and read, files as images in memory, and ways to spoil them.

#include "check.h"

#include "base/arena.h"
#include "base/random.h"
#include "filum/fclib.h"
#include "io/fclib_image.h"

#include <hdf5.h>
#include <stdlib.h>

// ---------------------------------------------------------------------------------------- problems

// Two contacts in 3D, hand-made; W is 6 x 6.
static const double two_W[36] = {2,  0, 0, 0, 3, 0, 0, 0, 4,   .5, 0, 0, 0, 0, 0, 0, 0, .25,
                                 .5, 0, 0, 0, 0, 0, 0, 0, .25, 5,  1, 0, 1, 6, 0, 0, 0, 7};
static const int two_start[] = {0, 2, 4}, two_column[] = {0, 1, 0, 1};
static const double two_b[] = {-1, 2, 3, -4, 5, 6};
static const double two_mu[] = {0.5, 0};

static inline FilFclib make_two_contacts(void) {
    return (FilFclib){
        .problem = {.block_count = 2,
                    .block_size = 3,
                    .mu = two_mu,
                    .form = FIL_FORM_BLOCKS,
                    .blocks = {.start = two_start, .column = two_column, .value = two_W},
                    .b = two_b},
        .title = "two"};
}

static inline double *draw(FilArena *arena, FilRandom *random, int count, double low) {
    double *x = FIL_NEW(arena, double, count);
    for (int k = 0; k < count; k++) {
        x[k] = fil_random_uniform(random, low, 1.0);
    }
    return x;
}

// Contacts of size d, then p equality rows of one scalar each; kinds, sizes and mu.
static inline FilFclib make_blocks(FilArena *arena, FilRandom *random, int d, int contacts, int p) {
    const int count = contacts + p, scalars = d * contacts + p;
    FilFclib file = {.title = "random", .description = "made by a test", .math_info = "none"};
    int *sizes = FIL_NEW(arena, int, count);
    FilBlockKind *kinds = FIL_NEW(arena, FilBlockKind, count);
    double *mu = draw(arena, random, count, 0.0);
    for (int k = 0; k < count; k++) {
        sizes[k] = k < contacts ? d : 1;
        kinds[k] = k < contacts ? FIL_BLOCK_COULOMB : FIL_BLOCK_EQUALITY;
        mu[k] = k < contacts ? mu[k] : 0.0;
    }
    file.problem.block_count = count;
    file.problem.block_size = d;
    file.problem.block_sizes = p > 0 ? sizes : NULL;
    file.problem.kinds = p > 0 ? kinds : NULL;
    file.problem.mu = mu;
    file.guess =
        (FilFclibVectors){draw(arena, random, scalars, -1), draw(arena, random, scalars, -1), NULL};
    file.solution =
        (FilFclibVectors){draw(arena, random, scalars, -1), draw(arena, random, scalars, -1), NULL};
    for (int k = d * contacts; k < scalars; k++) { // a velocity of an equality row is 0
        ((double *)file.guess.u)[k] = ((double *)file.solution.u)[k] = 0.0;
    }
    return file;
}

// Full W, unsymmetric between contacts, symmetric where equality rows take part.
static inline FilFclib make_local(FilArena *arena, FilRandom *random, int d, int contacts, int p) {
    FilFclib file = make_blocks(arena, random, d, contacts, p);
    const int count = contacts + p, n = d * contacts, scalars = n + p;
    double *full = draw(arena, random, scalars * scalars, -1.0);
    for (int i = n; i < scalars; i++) {
        for (int j = 0; j < n; j++) {
            full[i * scalars + j] = full[j * scalars + i];
        }
    }
    int *start = FIL_NEW(arena, int, count + 1), *column = FIL_NEW(arena, int, count *count);
    double *value = FIL_NEW(arena, double, scalars *scalars), *next = value;
    start[0] = 0;
    for (int i = 0, row = 0; i < count; row += i < contacts ? d : 1, i++) {
        start[i + 1] = (i + 1) * count;
        for (int j = 0, at = 0; j < count; at += j < contacts ? d : 1, j++) {
            const int height = i < contacts ? d : 1, width = j < contacts ? d : 1;
            column[i * count + j] = j;
            for (int k = 0; k < height * width; k++) {
                *next++ = full[(row + k / width) * scalars + at + k % width];
            }
        }
    }
    file.problem.form = FIL_FORM_BLOCKS;
    file.problem.blocks = (FilBlockRows){start, column, value};
    file.problem.b = draw(arena, random, scalars, -1.0);
    return file;
}

static inline FilSparse make_sparse(FilArena *arena, FilRandom *random, int rows, int columns) {
    int *start = FIL_NEW(arena, int, columns + 1), *index = FIL_NEW(arena, int, rows *columns);
    start[0] = 0;
    for (int j = 0; j < columns; j++) {
        start[j + 1] = start[j];
        for (int i = 0; i < rows; i++) {
            if (i == j || fil_random_int(random, 3) == 0) {
                index[start[j + 1]++] = i;
            }
        }
    }
    return (FilSparse){rows, columns, start, index, draw(arena, random, start[columns], -1.0)};
}

static inline FilFclib make_global(FilArena *arena, FilRandom *random, int d, int contacts, int p) {
    const int m = 7, scalars = d * contacts + p;
    FilFclib file = make_blocks(arena, random, d, contacts, p);
    file.problem.form = FIL_FORM_GLOBAL;
    file.problem.dof_count = m;
    file.problem.global =
        (FilGlobalForm){make_sparse(arena, random, m, m), make_sparse(arena, random, m, scalars),
                        draw(arena, random, m, -1.0), draw(arena, random, scalars, -1.0)};
    file.guess.v = draw(arena, random, m, -1.0);
    file.solution.v = draw(arena, random, m, -1.0);
    return file;
}

static inline bool same_reals(const double *a, const double *b, int count) {
    return (a == NULL) == (b == NULL) &&
           (a == NULL || count == 0 || memcmp(a, b, (size_t)count * sizeof *a) == 0);
}

static inline bool same_ints(const int *a, const int *b, int count) {
    return (a == NULL) == (b == NULL) &&
           (a == NULL || count == 0 || memcmp(a, b, (size_t)count * sizeof *a) == 0);
}

static inline bool same_sparse(const FilSparse *a, const FilSparse *b) {
    return a->row_count == b->row_count && a->column_count == b->column_count &&
           same_ints(a->start, b->start, a->column_count + 1) &&
           same_ints(a->index, b->index, a->start[a->column_count]) &&
           same_reals(a->value, b->value, a->start[a->column_count]);
}

static inline int count_scalars(const FilFrictionProblem *problem) {
    int count = 0;
    for (int k = 0; k < problem->block_count; k++) {
        count += problem->block_sizes != NULL ? problem->block_sizes[k] : problem->block_size;
    }
    return count;
}

static inline bool same_blocks(const FilFrictionProblem *a, const FilFrictionProblem *b) {
    int values = 0;
    for (int i = 0; i < a->block_count; i++) {
        for (int e = a->blocks.start[i]; e < a->blocks.start[i + 1]; e++) {
            const int j = a->blocks.column[e];
            values += (a->block_sizes != NULL ? a->block_sizes[i] : a->block_size) *
                      (a->block_sizes != NULL ? a->block_sizes[j] : a->block_size);
        }
    }
    return same_ints(a->blocks.start, b->blocks.start, a->block_count + 1) &&
           same_ints(a->blocks.column, b->blocks.column, a->blocks.start[a->block_count]) &&
           same_reals(a->blocks.value, b->blocks.value, values);
}

static inline bool same_problem(const FilFrictionProblem *a, const FilFrictionProblem *b) {
    if (a->block_count != b->block_count || a->form != b->form || a->dof_count != b->dof_count ||
        a->block_size != b->block_size ||
        !same_ints(a->block_sizes, b->block_sizes, a->block_count) ||
        (a->kinds == NULL) != (b->kinds == NULL) || !same_reals(a->mu, b->mu, a->block_count)) {
        return false;
    }
    for (int k = 0; a->kinds != NULL && k < a->block_count; k++) {
        if (a->kinds[k] != b->kinds[k]) {
            return false;
        }
    }
    const int scalars = count_scalars(a);
    return a->form == FIL_FORM_GLOBAL ? same_sparse(&a->global.M, &b->global.M) &&
                                            same_sparse(&a->global.H, &b->global.H) &&
                                            same_reals(a->global.f, b->global.f, a->dof_count) &&
                                            same_reals(a->global.w, b->global.w, scalars)
                                      : same_blocks(a, b) && same_reals(a->b, b->b, scalars);
}

static inline bool same_vectors(const FilFclib *file, const FilFclibVectors *a,
                                const FilFclibVectors *b) {
    const int scalars = count_scalars(&file->problem);
    return same_reals(a->r, b->r, scalars) && same_reals(a->u, b->u, scalars) &&
           same_reals(a->v, b->v, file->problem.dof_count);
}

// ------------------------------------------------------------------------------- images and edits

typedef struct Image {
    void *bytes;
    size_t size;
} Image;

static inline Image write_image(FilArena *arena, const FilFclib *file) {
    Image image = {0};
    FilError error = {0};
    if (fil_fclib_write_memory(file, arena, &image.bytes, &image.size, &error) != FIL_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
        abort();
    }
    return image;
}

static inline FilFclib *read_image(Image image, FilError *error) {
    FilFclib *file = NULL;
    *error = (FilError){0};
    const FilStatus status =
        fil_fclib_read_memory(image.bytes, image.size, "box.hdf5", NULL, &file, error);
    CHECK((status == FIL_OK) == (file != NULL));
    CHECK(status == FIL_OK || status == error->status);
    return file;
}

// How a test spoils a file.
typedef enum EditKind {
    REMOVE,   // the dataset or group
    SET,      // one entry, by index
    RESIZE,   // to `index` entries: the old ones, then `value`
    AS_TEXT,  // a string in its place
    AS_REALS, // the same numbers as reals
    AS_WIDE,  // the same numbers as 64-bit integers, entry `index` set to `value`
    AS_GROUP, // a group in its place
    AS_TABLE, // 2 x 3 numbers in its place
    SOFT,     // a soft link to the moved original
    OUTSIDE,  // an external link
    EXTERNAL, // data stored in another file
    PROMISE,  // 2^30 entries that were never stored
    LATE,     // the right size, never stored
    CHUNKED,  // the same numbers, in chunks, compressed
} EditKind;

typedef struct Edit {
    const char *path;
    EditKind kind;
    int index;
    double value;
    // what is said after the name of the file and, when it begins with ' ' or '[', after the path;
    // NULL: the file must still be good
    const char *message;
} Edit;

enum { EDIT_MAX = 4096 };

static inline void replace(hid_t file, const char *path, hid_t type, int rank,
                           const hsize_t *extent, hid_t plan, const double *values) {
    const hid_t space = H5Screate_simple(rank, extent, NULL);
    (void)H5Ldelete(file, path, H5P_DEFAULT);
    const hid_t id = H5Dcreate2(file, path, type, space, H5P_DEFAULT, plan, H5P_DEFAULT);
    CHECK(id >= 0);
    if (values != NULL && H5Sget_simple_extent_npoints(space) > 0) {
        CHECK(H5Dwrite(id, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    }
    (void)H5Dclose(id);
    (void)H5Sclose(space);
}

static inline void replace_numbers(hid_t file, const Edit *edit, hid_t type, int count,
                                   double *values) {
    hsize_t extent[2] = {(hsize_t)count, 1};
    const hid_t plan = H5Pcreate(H5P_DATASET_CREATE);
    hid_t new_type = type;
    int rank = 1;
    const double *stored = values;
    if (edit->kind == SET || edit->kind == AS_WIDE) {
        values[edit->index] = edit->value;
    } else if (edit->kind == RESIZE) {
        for (int k = count; k < edit->index; k++) {
            values[k] = edit->value;
        }
        extent[0] = (hsize_t)edit->index;
    } else if (edit->kind == AS_TABLE) {
        extent[0] = 2;
        extent[1] = 3;
        rank = 2;
    } else if (edit->kind == EXTERNAL) {
        (void)H5Pset_external(plan, "/etc/passwd", 0, H5F_UNLIMITED);
        stored = NULL;
    } else if (edit->kind == PROMISE) {
        extent[0] = 1 << 30;
        stored = NULL;
    } else if (edit->kind == LATE) {
        stored = NULL;
    } else if (edit->kind == CHUNKED) {
        (void)H5Pset_chunk(plan, 1, extent);
        (void)H5Pset_deflate(plan, 9);
    }
    new_type = edit->kind == AS_REALS ? H5T_IEEE_F64LE : new_type;
    new_type = edit->kind == AS_WIDE ? H5T_STD_I64BE : new_type;
    replace(file, edit->path, new_type, rank, extent, plan, stored);
    (void)H5Pclose(plan);
}

static inline void apply(hid_t file, const Edit *edit) {
    static double values[EDIT_MAX];
    if (edit->kind == REMOVE || edit->kind == AS_GROUP || edit->kind == OUTSIDE ||
        edit->kind == AS_TEXT) {
        CHECK(H5Ldelete(file, edit->path, H5P_DEFAULT) >= 0);
    }
    if (edit->kind == AS_GROUP) {
        (void)H5Gclose(H5Gcreate2(file, edit->path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    } else if (edit->kind == OUTSIDE) {
        CHECK(H5Lcreate_external("/etc/passwd", "/x", file, edit->path, H5P_DEFAULT, H5P_DEFAULT) >=
              0);
    } else if (edit->kind == SOFT) {
        CHECK(H5Lmove(file, edit->path, file, "/moved", H5P_DEFAULT, H5P_DEFAULT) >= 0);
        CHECK(H5Lcreate_soft("/moved", file, edit->path, H5P_DEFAULT, H5P_DEFAULT) >= 0);
    } else if (edit->kind == AS_TEXT) {
        const hid_t space = H5Screate(H5S_SCALAR);
        (void)H5Dclose(
            H5Dcreate2(file, edit->path, H5T_C_S1, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        (void)H5Sclose(space);
    } else if (edit->kind != REMOVE) {
        const hid_t id = H5Dopen2(file, edit->path, H5P_DEFAULT);
        const hid_t space = H5Dget_space(id), type = H5Dget_type(id);
        const int count = (int)H5Sget_simple_extent_npoints(space);
        CHECK(count < EDIT_MAX);
        CHECK(H5Dread(id, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
        (void)H5Dclose(id);
        (void)H5Sclose(space);
        replace_numbers(file, edit, type, count, values);
        (void)H5Tclose(type);
    }
}

// The image with edits made by HDF5 itself.
static inline Image edit_image(FilArena *arena, Image image, const Edit *edits, int count) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    (void)H5Pset_fapl_core(access, 1 << 16, 0);
    (void)H5Pset_file_image(access, image.bytes, image.size);
    const hid_t file = H5Fopen("edited", H5F_ACC_RDWR, access);
    CHECK(file >= 0);
    for (int k = 0; k < count; k++) {
        apply(file, &edits[k]);
    }
    (void)H5Fflush(file, H5F_SCOPE_LOCAL);
    Image edited = {.size = (size_t)H5Fget_file_image(file, NULL, 0)};
    edited.bytes = fil_arena_get(arena, edited.size, 1);
    (void)H5Fget_file_image(file, edited.bytes, edited.size);
    (void)H5Fclose(file);
    (void)H5Pclose(access);
    return edited;
}

static inline void check_edit(FilArena *arena, const FilFclib *file, Image image,
                              const Edit *edit) {
    FilError error;
    FilFclib *got = read_image(edit_image(arena, image, edit, 1), &error);
    char want[sizeof error.text] = "(read)";
    if (edit->message != NULL) {
        (void)snprintf(want, sizeof want, "box.hdf5: %s%s",
                       strchr(" [", edit->message[0]) != NULL ? edit->path : "", edit->message);
    }
    const bool right =
        edit->message == NULL
            ? got != NULL && same_problem(&got->problem, &file->problem)
            : got == NULL && error.status == FIL_E_FORMAT && strcmp(error.text, want) == 0;
    CHECK(right);
    if (!right) {
        (void)fprintf(stderr, "  %s\n  got:  %s\n  want: %s\n", edit->path,
                      got == NULL ? error.text : "(read)", want);
    }
    fil_fclib_destroy(got);
}

static inline void check_edits(const FilFclib *file, const Edit *edits, int count) {
    FilArena arena = fil_arena_make(NULL);
    const Image image = write_image(&arena, file);
    for (int k = 0; k < count; k++) {
        check_edit(&arena, file, image, &edits[k]);
    }
    fil_arena_destroy(&arena);
}
#define CHECK_EDITS(file, edits) check_edits(&(file), edits, (int)(sizeof(edits) / sizeof *(edits)))

#endif
