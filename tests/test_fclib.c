// Files that are right are read to the same numbers in every layout, by us and by libfclib; files
// that are wrong are refused with a sentence that names file, field, value and rule.
#define _XOPEN_SOURCE 700 // NOLINT(bugprone-reserved-identifier)
#include "check.h"

#include "base/arena.h"
#include "base/random.h"
#include "filum/fclib.h"
#include "io/atomic.h"
#include "io/fclib_image.h"

#include <dirent.h>
#include <hdf5.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(FIL_HAVE_FCLIB)
#include <fclib.h>
#endif

// ---------------------------------------------------------------------------------------- problems

// Two contacts in 3D, hand-made; W is 6 x 6.
static const double two_W[36] = {2,  0, 0, 0, 3, 0, 0, 0, 4,   .5, 0, 0, 0, 0, 0, 0, 0, .25,
                                 .5, 0, 0, 0, 0, 0, 0, 0, .25, 5,  1, 0, 1, 6, 0, 0, 0, 7};
static const int two_start[] = {0, 2, 4}, two_column[] = {0, 1, 0, 1};
static const double two_b[] = {-1, 2, 3, -4, 5, 6};
static const double two_mu[] = {0.5, 0};

static FilFclib make_two_contacts(void) {
    return (FilFclib){
        .problem = {.block_count = 2,
                    .block_size = 3,
                    .mu = two_mu,
                    .form = FIL_FORM_BLOCKS,
                    .blocks = {.start = two_start, .column = two_column, .value = two_W},
                    .b = two_b},
        .title = "two"};
}

static double *draw(FilArena *arena, FilRandom *random, int count, double low) {
    double *x = FIL_NEW(arena, double, count);
    for (int k = 0; k < count; k++) {
        x[k] = fil_random_uniform(random, low, 1.0);
    }
    return x;
}

// Contacts of size d, then p equality rows of one scalar each; kinds, sizes and mu.
static FilFclib make_blocks(FilArena *arena, FilRandom *random, int d, int contacts, int p) {
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
static FilFclib make_local(FilArena *arena, FilRandom *random, int d, int contacts, int p) {
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

static FilSparse make_sparse(FilArena *arena, FilRandom *random, int rows, int columns) {
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

static FilFclib make_global(FilArena *arena, FilRandom *random, int d, int contacts, int p) {
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

static bool same_reals(const double *a, const double *b, int count) {
    return (a == NULL) == (b == NULL) &&
           (a == NULL || count == 0 || memcmp(a, b, (size_t)count * sizeof *a) == 0);
}

static bool same_ints(const int *a, const int *b, int count) {
    return (a == NULL) == (b == NULL) &&
           (a == NULL || count == 0 || memcmp(a, b, (size_t)count * sizeof *a) == 0);
}

static bool same_sparse(const FilSparse *a, const FilSparse *b) {
    return a->row_count == b->row_count && a->column_count == b->column_count &&
           same_ints(a->start, b->start, a->column_count + 1) &&
           same_ints(a->index, b->index, a->start[a->column_count]) &&
           same_reals(a->value, b->value, a->start[a->column_count]);
}

static int count_scalars(const FilFrictionProblem *problem) {
    int count = 0;
    for (int k = 0; k < problem->block_count; k++) {
        count += problem->block_sizes != NULL ? problem->block_sizes[k] : problem->block_size;
    }
    return count;
}

static bool same_blocks(const FilFrictionProblem *a, const FilFrictionProblem *b) {
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

static bool same_problem(const FilFrictionProblem *a, const FilFrictionProblem *b) {
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

static bool same_vectors(const FilFclib *file, const FilFclibVectors *a, const FilFclibVectors *b) {
    const int scalars = count_scalars(&file->problem);
    return same_reals(a->r, b->r, scalars) && same_reals(a->u, b->u, scalars) &&
           same_reals(a->v, b->v, file->problem.dof_count);
}

// ------------------------------------------------------------------------------- images and edits

typedef struct Image {
    void *bytes;
    size_t size;
} Image;

static Image write_image(FilArena *arena, const FilFclib *file) {
    Image image = {0};
    FilError error = {0};
    if (fil_fclib_write_memory(file, arena, &image.bytes, &image.size, &error) != FIL_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
        abort();
    }
    return image;
}

static FilFclib *read_image(Image image, FilError *error) {
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
    const char *message; // NULL: the file must still be good
} Edit;

enum { EDIT_MAX = 4096 };

static void replace(hid_t file, const char *path, hid_t type, int rank, const hsize_t *extent,
                    hid_t plan, const double *values) {
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

static void replace_numbers(hid_t file, const Edit *edit, hid_t type, int count, double *values) {
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

static void apply(hid_t file, const Edit *edit) {
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
static Image edit_image(FilArena *arena, Image image, const Edit *edits, int count) {
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

static void check_edit(FilArena *arena, const FilFclib *file, Image image, const Edit *edit) {
    FilError error;
    FilFclib *got = read_image(edit_image(arena, image, edit, 1), &error);
    const bool right =
        edit->message == NULL
            ? got != NULL && same_problem(&got->problem, &file->problem)
            : got == NULL && error.status == FIL_E_FORMAT && strcmp(error.text, edit->message) == 0;
    CHECK(right);
    if (!right) {
        (void)fprintf(stderr, "  %s\n  got:  %s\n  want: %s\n", edit->path,
                      got == NULL ? error.text : "(read)",
                      edit->message != NULL ? edit->message : "(read)");
    }
    fil_fclib_destroy(got);
}

static void check_edits(const FilFclib *file, const Edit *edits, int count) {
    FilArena arena = fil_arena_make(NULL);
    const Image image = write_image(&arena, file);
    for (int k = 0; k < count; k++) {
        check_edit(&arena, file, image, &edits[k]);
    }
    fil_arena_destroy(&arena);
}
#define CHECK_EDITS(file, edits) check_edits(&(file), edits, (int)(sizeof(edits) / sizeof *(edits)))

// ------------------------------------------------------------------------------------------- tests

static bool is_same_file(const FilFclib *a, const FilFclib *b) {
    return same_problem(&a->problem, &b->problem) && same_vectors(a, &a->guess, &b->guess) &&
           same_vectors(a, &a->solution, &b->solution) && strcmp(a->title, b->title) == 0 &&
           strcmp(a->math_info, b->math_info) == 0 && strcmp(a->description, b->description) == 0;
}

static void a_problem_survives_writing_and_reading(void) {
    FilRandom random = fil_random_make(1);
    for (int round = 0; round < 40; round++) {
        FilArena arena = fil_arena_make(NULL);
        const int d = 2 + round % 2, p = round % 3 == 0 ? 0 : 1 + fil_random_int(&random, 5);
        const int contacts = fil_random_int(&random, 4);
        FilFclib file = round % 4 < 2 ? make_local(&arena, &random, d, contacts, p)
                                      : make_global(&arena, &random, d, contacts, p);
        file.dimension = d;
        FilError error;
        FilFclib *got = read_image(write_image(&arena, &file), &error);
        CHECK(got != NULL && is_same_file(&file, got));
        CHECK(got != NULL && got->dimension == d && got->contact_count == contacts);
        CHECK(got != NULL && got->equality_count == p);
        fil_fclib_destroy(got);
        fil_arena_destroy(&arena);
    }
}

static void the_same_problem_gives_the_same_bytes(void) {
    FilArena arena = fil_arena_make(NULL);
    const FilFclib file = make_two_contacts();
    const Image a = write_image(&arena, &file), b = write_image(&arena, &file);
    CHECK(a.size == b.size && memcmp(a.bytes, b.bytes, a.size) == 0);
    fil_arena_destroy(&arena);
}

// Equality blocks of any size come back as rows of size 1; compliance becomes part of W.
static void blocks_become_what_the_layout_can_say(void) {
    static const double W[16] = {1, 0, 3, 4, 0, 2, 5, 6, 3, 5, 8, 1, 4, 6, 1, 9};
    static const double C[8] = {10, 1, 1, 10, 100, 2, 2, 100}, b[4] = {1, 2, 3, 4};
    static const double blocks[16] = {1, 0, 0, 2, 3, 4, 5, 6, 3, 5, 4, 6, 8, 1, 1, 9};
    const FilFclib file = {
        .problem = {.block_count = 2,
                    .block_size = 2,
                    .kinds = (FilBlockKind[]){FIL_BLOCK_COULOMB, FIL_BLOCK_EQUALITY},
                    .mu = (double[]){0.3, 0},
                    .form = FIL_FORM_BLOCKS,
                    .blocks = {two_start, two_column, blocks},
                    .b = b,
                    .compliance = C}};
    FilArena arena = fil_arena_make(NULL);
    FilError error;
    FilFclib *got = read_image(write_image(&arena, &file), &error);
    CHECK(got != NULL && got->equality_count == 2 && got->problem.block_count == 3);
    if (got != NULL) {
        const double want[16] = {11, 1, 1,   12, 3, 5, 4, 6, // W_00 + C, the columns of V
                                 3,  5, 108, 3,  4, 6, 3, 109};
        CHECK(same_reals(got->problem.blocks.value, want, 16));
        CHECK(same_reals(got->problem.b, b, 4) && W[0] == 1);
    }
    fil_fclib_destroy(got);
    fil_arena_destroy(&arena);
}

// W by rows, and as triplets either way round, with an entry in two parts, is the same W.
static void every_layout_of_a_matrix_is_read_alike(void) {
    FilArena arena = fil_arena_make(NULL);
    const FilFclib file = make_two_contacts();
    const Image image = write_image(&arena, &file);
    // W is symmetric: the same arrays serve by rows
    const Edit by_rows = {"/fclib_local/W/nz", SET, 0, -2, NULL};
    FilError error;
    FilFclib *got = read_image(edit_image(&arena, image, &by_rows, 1), &error);
    CHECK(got != NULL && same_problem(&got->problem, &file.problem));
    fil_fclib_destroy(got);
    // triplets: 10 entries by columns; entry 0 (2 at 0, 0) is split into 1.5 and 0.5
    static const int row[] = {0, 3, 1, 2, 5, 0, 3, 4, 3, 4, 2, 5, 0};
    static const int column[] = {0, 0, 1, 2, 2, 3, 3, 3, 4, 4, 5, 5, 0};
    Edit edits[80] = {
        {"/fclib_local/W/nz", SET, 0, 13, NULL},   {"/fclib_local/W/nzmax", SET, 0, 13, NULL},
        {"/fclib_local/W/x", SET, 0, 1.5, NULL},   {"/fclib_local/W/x", RESIZE, 13, 0.5, NULL},
        {"/fclib_local/W/i", RESIZE, 13, 0, NULL}, {"/fclib_local/W/p", RESIZE, 13, 0, NULL}};
    int count = 6;
    for (int k = 0; k < 13; k++) {
        edits[count++] = (Edit){"/fclib_local/W/i", SET, k, row[k], NULL};
        edits[count++] = (Edit){"/fclib_local/W/p", SET, k, column[k], NULL};
    }
    got = read_image(edit_image(&arena, image, edits, count), &error);
    CHECK(got != NULL && same_problem(&got->problem, &file.problem));
    fil_fclib_destroy(got);
    fil_arena_destroy(&arena);
}

// H is 7 x 6: triplets whose `i` reaches 6 can only be rows; if `p` does, it holds the rows.
static void triplets_are_read_the_way_that_fits(void) {
    FilArena arena = fil_arena_make(NULL);
    FilRandom random = fil_random_make(2);
    FilFclib file = make_global(&arena, &random, 3, 2, 0);
    static const int start[] = {0, 1, 1, 2, 2, 2, 3}, index[] = {6, 0, 5};
    static const double value[] = {1, 2, 3};
    file.problem.global.H = (FilSparse){7, 6, start, index, value};
    const Image image = write_image(&arena, &file);
    static const int column[] = {0, 2, 5};
    for (int reversed = 0; reversed < 2; reversed++) {
        Edit edits[10] = {{"/fclib_global/H/nz", SET, 0, 3, NULL},
                          {"/fclib_global/H/p", RESIZE, 3, 0, NULL}};
        for (int k = 0; k < 3; k++) {
            edits[2 + 2 * k] =
                (Edit){"/fclib_global/H/i", SET, k, reversed ? column[k] : index[k], NULL};
            edits[3 + 2 * k] =
                (Edit){"/fclib_global/H/p", SET, k, reversed ? index[k] : column[k], NULL};
        }
        FilError error;
        FilFclib *got = read_image(edit_image(&arena, image, edits, 8), &error);
        CHECK(got != NULL && same_problem(&got->problem, &file.problem));
        fil_fclib_destroy(got);
    }
    fil_arena_destroy(&arena);
}

static void harmless_differences_are_accepted(void) {
    static const Edit edits[] = {
        {"/fclib_local/W/i", AS_WIDE, 0, 0, NULL},  {"/fclib_local/spacedim", AS_WIDE, 0, 3, NULL},
        {"/fclib_local/W/x", CHUNKED, 0, 0, NULL},  {"/fclib_local/W/p", CHUNKED, 0, 0, NULL},
        {"/fclib_local/W/x", RESIZE, 40, 0, NULL}, // more room than entries
        {"/fclib_local/W/i", RESIZE, 40, -7, NULL}, {"/fclib_local/W/nzmax", SET, 0, 1000, NULL},
        {"/fclib_local/info", REMOVE, 0, 0, NULL},  {"/fclib_local/info/title", REMOVE, 0, 0, NULL},
    };
    const FilFclib file = make_two_contacts();
    CHECK_EDITS(file, edits);
}

// A stored solution is decoration: when it does not fit, it is as if it were not there.
static void a_stored_solution_that_does_not_fit_is_ignored(void) {
    static const Edit edits[] = {
        {"/solution/r", RESIZE, 5, 0, NULL},  {"/solution/u", SET, 1, NAN, NULL},
        {"/solution/r", AS_TEXT, 0, 0, NULL}, {"/guesses/1/r", AS_GROUP, 0, 0, NULL},
        {"/guesses/1", REMOVE, 0, 0, NULL},   {"/solution", OUTSIDE, 0, 0, NULL},
    };
    FilArena arena = fil_arena_make(NULL);
    FilRandom random = fil_random_make(3);
    const FilFclib file = make_local(&arena, &random, 3, 3, 2);
    CHECK_EDITS(file, edits);
    fil_arena_destroy(&arena);
}

static const Edit local_faults[] = {
    {"/fclib_local", REMOVE, 0, 0,
     "box.hdf5: it holds no friction problem: /fclib_local or /fclib_global is missing"},
    {"/fclib_local/vectors", REMOVE, 0, 0, "box.hdf5: /fclib_local/vectors is missing"},
    {"/fclib_local/spacedim", REMOVE, 0, 0, "box.hdf5: /fclib_local/spacedim is missing"},
    {"/fclib_local/vectors/mu", REMOVE, 0, 0, "box.hdf5: /fclib_local/vectors/mu is missing"},
    {"/fclib_local/vectors/q", REMOVE, 0, 0, "box.hdf5: /fclib_local/vectors/q is missing"},
    {"/fclib_local/W", REMOVE, 0, 0, "box.hdf5: /fclib_local/W is missing"},
    {"/fclib_local/W/m", REMOVE, 0, 0, "box.hdf5: /fclib_local/W/m is missing"},
    {"/fclib_local/W/n", REMOVE, 0, 0, "box.hdf5: /fclib_local/W/n is missing"},
    {"/fclib_local/W/nz", REMOVE, 0, 0, "box.hdf5: /fclib_local/W/nz is missing"},
    {"/fclib_local/W/nzmax", REMOVE, 0, 0, "box.hdf5: /fclib_local/W/nzmax is missing"},
    {"/fclib_local/W/p", REMOVE, 0, 0, "box.hdf5: /fclib_local/W/p is missing"},
    {"/fclib_local/W/i", REMOVE, 0, 0, "box.hdf5: /fclib_local/W/i is missing"},
    {"/fclib_local/W/x", REMOVE, 0, 0, "box.hdf5: /fclib_local/W/x is missing"},
    {"/fclib_local/W/x", AS_GROUP, 0, 0, "box.hdf5: /fclib_local/W/x must be a dataset"},
    {"/fclib_local/W", AS_TEXT, 0, 0, "box.hdf5: /fclib_local/W must be a group"},
    {"/fclib_local/vectors/q", AS_TEXT, 0, 0,
     "box.hdf5: /fclib_local/vectors/q has the wrong type; it must hold real numbers"},
    {"/fclib_local/W/i", AS_REALS, 0, 0,
     "box.hdf5: /fclib_local/W/i has the wrong type; it must hold integers"},
    {"/fclib_local/info/title", AS_GROUP, 0, 0,
     "box.hdf5: /fclib_local/info/title must be a dataset"},
    {"/fclib_local/vectors/q", AS_TABLE, 0, 0,
     "box.hdf5: /fclib_local/vectors/q has 2 dimensions; it must be a plain list"},
    {"/fclib_local/vectors/q", SOFT, 0, 0,
     "box.hdf5: /fclib_local/vectors/q is a link to another place; it must be in the file "
     "itself"},
    {"/fclib_local/W", OUTSIDE, 0, 0,
     "box.hdf5: /fclib_local/W is a link to another place; it must be in the file itself"},
    {"/fclib_local/vectors/q", EXTERNAL, 0, 0,
     "box.hdf5: /fclib_local/vectors/q is stored in a way that is not supported; it must be in "
     "the file itself, contiguous or in chunks"},
    {"/fclib_local/W/x", PROMISE, 0, 0,
     "box.hdf5: /fclib_local/W/x promises 8589934592 bytes; the file holds only 0 of them"},
    {"/fclib_local/vectors/mu", LATE, 0, 0,
     "box.hdf5: /fclib_local/vectors/mu promises 16 bytes; the file holds only 0 of them"},
    {"/fclib_local/spacedim", SET, 0, 4, "box.hdf5: /fclib_local/spacedim is 4; it must be 2 or 3"},
    {"/fclib_local/spacedim", SET, 0, -3,
     "box.hdf5: /fclib_local/spacedim is -3; it must be 2 or 3"},
    {"/fclib_local/spacedim", RESIZE, 2, 3,
     "box.hdf5: /fclib_local/spacedim has 2 entries; it must have 1"},
    {"/fclib_local/vectors/q", RESIZE, 5, 0,
     "box.hdf5: /fclib_local/vectors/q has 5 entries; it must have 6 (3 for each of the 2 "
     "entries of mu)"},
    {"/fclib_local/vectors/mu", RESIZE, 3, 0,
     "box.hdf5: /fclib_local/vectors/q has 6 entries; it must have 9 (3 for each of the 3 "
     "entries of mu)"},
    {"/fclib_local/vectors/mu", SET, 1, -0.25,
     "box.hdf5: /fclib_local/vectors/mu[1] is -0.25; it must not be negative"},
    {"/fclib_local/vectors/mu", SET, 1, INFINITY,
     "box.hdf5: /fclib_local/vectors/mu[1] is inf; it must be finite"},
    {"/fclib_local/vectors/q", SET, 5, NAN,
     "box.hdf5: /fclib_local/vectors/q[5] is nan; it must be finite"},
    {"/fclib_local/W/x", SET, 3, -INFINITY,
     "box.hdf5: /fclib_local/W/x[3] is -inf; it must be finite"},
    {"/fclib_local/W/m", SET, 0, 7,
     "box.hdf5: /fclib_local/W/m is 7; it must be 6 (the length of vectors/q)"},
    {"/fclib_local/W/n", SET, 0, -6,
     "box.hdf5: /fclib_local/W/n is -6; it must be 6 (the length of vectors/q)"},
    {"/fclib_local/W/m", SET, 0, 2147483647,
     "box.hdf5: /fclib_local/W/m is 2147483647; it must be 6 (the length of vectors/q)"},
    {"/fclib_local/W/nz", SET, 0, -3,
     "box.hdf5: /fclib_local/W/nz is -3; it must be -1 (by columns), -2 (by rows) or the "
     "number of triplets"},
    {"/fclib_local/W/nz", SET, 0, 2000000000,
     "box.hdf5: /fclib_local/W/i has 12 entries; it must have at least 2000000000 (nz)"},
    {"/fclib_local/W/nzmax", SET, 0, 3,
     "box.hdf5: /fclib_local/W/nzmax is 3; it must be at least 12, the number of entries"},
    {"/fclib_local/W/i", SET, 7, 900,
     "box.hdf5: /fclib_local/W/i[7] is 900; it must be below 6 (/fclib_local/W has 6 rows)"},
    {"/fclib_local/W/i", SET, 0, -1,
     "box.hdf5: /fclib_local/W/i[0] is -1; it must not be negative"},
    {"/fclib_local/W/i", AS_WIDE, 2, 9e9,
     "box.hdf5: /fclib_local/W/i[2] is 9000000000; it must fit in 32 bits"},
    {"/fclib_local/W/p", SET, 0, 1, "box.hdf5: /fclib_local/W/p[0] is 1; it must be 0"},
    {"/fclib_local/W/p", SET, 2, 0,
     "box.hdf5: /fclib_local/W/p[2] is 0; it must not be below p[1], which is 2"},
    {"/fclib_local/W/p", SET, 6, 99,
     "box.hdf5: /fclib_local/W/i has 12 entries; it must have at least 99 (the last entry of "
     "p)"},
    {"/fclib_local/W/p", RESIZE, 6, 0,
     "box.hdf5: /fclib_local/W/p has 6 entries; it must have 7 (one more than /fclib_local/W "
     "has columns)"},
    {"/fclib_local/W/i", RESIZE, 11, 0,
     "box.hdf5: /fclib_local/W/i has 11 entries; it must have at least 12 (the last entry of "
     "p)"},
    {"/fclib_local/W/x", RESIZE, 11, 0,
     "box.hdf5: /fclib_local/W/x has 11 entries; it must have at least 12 (the number of "
     "entries)"},
};

static void every_fault_of_a_local_file_has_its_sentence(void) {
    const FilFclib file = make_two_contacts();
    CHECK_EDITS(file, local_faults);
}

static void every_fault_of_equality_rows_and_global_files_has_its_sentence(void) {
    FilArena arena = fil_arena_make(NULL);
    FilRandom random = fil_random_make(4);
    static const Edit local[] = {
        {"/fclib_local/V", REMOVE, 0, 0, "box.hdf5: /fclib_local/V is missing"},
        {"/fclib_local/R", REMOVE, 0, 0, "box.hdf5: /fclib_local/R is missing"},
        {"/fclib_local/vectors/s", REMOVE, 0, 0, "box.hdf5: /fclib_local/vectors/s is missing"},
        {"/fclib_local/vectors/s", RESIZE, 3, 0,
         "box.hdf5: /fclib_local/V/n is 2; it must be 3 (the length of vectors/s)"},
        {"/fclib_local/R/m", SET, 0, 9,
         "box.hdf5: /fclib_local/R/m is 9; it must be 2 (the length of vectors/s)"},
    };
    const FilFclib with_rows = make_local(&arena, &random, 3, 2, 2);
    CHECK_EDITS(with_rows, local);
    static const Edit global[] = {
        {"/fclib_global/M", REMOVE, 0, 0, "box.hdf5: /fclib_global/M is missing"},
        {"/fclib_global/H", REMOVE, 0, 0, "box.hdf5: /fclib_global/H is missing"},
        {"/fclib_global/G", REMOVE, 0, 0, "box.hdf5: /fclib_global/G is missing"},
        {"/fclib_global/vectors/b", REMOVE, 0, 0, "box.hdf5: /fclib_global/vectors/b is missing"},
        {"/fclib_global/vectors/f", REMOVE, 0, 0, "box.hdf5: /fclib_global/vectors/f is missing"},
        {"/fclib_global/vectors/f", RESIZE, 8, 0,
         "box.hdf5: /fclib_global/M/m is 7; it must be 8 (the length of vectors/f)"},
        {"/fclib_global/vectors/w", RESIZE, 8, 0,
         "box.hdf5: /fclib_global/vectors/w has 8 entries; it must have 6 (3 for each of the 2 "
         "entries of mu)"},
        {"/fclib_global/H/n", SET, 0, 5,
         "box.hdf5: /fclib_global/H/n is 5; it must be 6 (the length of vectors/w)"},
        {"/fclib_global/G/m", SET, 0, 5,
         "box.hdf5: /fclib_global/G/m is 5; it must be 7 (the length of vectors/f)"},
        {"/fclib_global/vectors/f", SET, 0, NAN,
         "box.hdf5: /fclib_global/vectors/f[0] is nan; it must be finite"},
    };
    const FilFclib whole = make_global(&arena, &random, 3, 2, 1);
    CHECK_EDITS(whole, global);
    fil_arena_destroy(&arena);
}

// Neither row and column nor the reverse: the plain reading names the culprit.
static void triplets_that_fit_neither_way_are_refused(void) {
    FilArena arena = fil_arena_make(NULL);
    const FilFclib file = make_two_contacts();
    const Edit edits[] = {{"/fclib_local/W/nz", SET, 0, 5, NULL},
                          {"/fclib_local/W/p", SET, 3, 6, NULL}};
    FilError error;
    FilFclib *got = read_image(edit_image(&arena, write_image(&arena, &file), edits, 2), &error);
    CHECK(got == NULL);
    CHECK(strcmp(error.text, "box.hdf5: /fclib_local/W/p[2] is 6; it must be below 6 "
                             "(/fclib_local/W has 6 columns)") == 0 ||
          strcmp(error.text, "box.hdf5: /fclib_local/W/p[3] is 6; it must be below 6 "
                             "(/fclib_local/W has 6 columns)") == 0);
    fil_arena_destroy(&arena);
}

static void sums_that_overflow_are_refused(void) {
    FilArena arena = fil_arena_make(NULL);
    const FilFclib file = make_two_contacts();
    const Edit edits[] = {{"/fclib_local/W/x", SET, 0, 1e308, NULL},
                          {"/fclib_local/W/x", SET, 1, 1e308, NULL},
                          {"/fclib_local/W/i", SET, 1, 0, NULL}};
    FilError error;
    FilFclib *got = read_image(edit_image(&arena, write_image(&arena, &file), edits, 3), &error);
    CHECK(got == NULL);
    CHECK(strcmp(error.text, "box.hdf5: /fclib_local/W: entries at row 0, column 0 add up to inf; "
                             "the sum must be finite") == 0);
    fil_arena_destroy(&arena);
}

// Every prefix of a file is refused or, past the last byte that matters, read right.
static void a_truncated_file_is_refused(void) {
    FilArena arena = fil_arena_make(NULL);
    const FilFclib file = make_two_contacts();
    const Image image = write_image(&arena, &file);
    for (size_t size = 0; size < image.size; size += 1 + size / 97) {
        FilError error;
        FilFclib *got = read_image((Image){image.bytes, size}, &error);
        CHECK(got == NULL && strncmp(error.text, "box.hdf5: ", 10) == 0);
        fil_fclib_destroy(got);
    }
    FilError error;
    CHECK(read_image((Image){image.bytes, 1000}, &error) == NULL);
    CHECK(strncmp(error.text, "box.hdf5: it is truncated: it has 1000 of ", 42) == 0);
    CHECK(read_image((Image){"P3 not HDF5 at all", 18}, &error) == NULL);
    CHECK(strcmp(error.text, "box.hdf5: it is not an HDF5 file") == 0);
    CHECK(read_image((Image){"", 0}, &error) == NULL);
    fil_arena_destroy(&arena);
}

// ---------------------------------------------------------------------------------- files on disk

static char folder[] = "/tmp/filum-test-fclib-XXXXXX";

static const char *path_in_folder(const char *name) {
    static char path[200];
    static bool made;
    if (!made) {
        made = mkdtemp(folder) != NULL;
    }
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int count_files(void) {
    int count = 0;
    DIR *open_folder = opendir(folder);
    for (struct dirent *entry = NULL; open_folder != NULL && (entry = readdir(open_folder));) {
        count += entry->d_name[0] != '.';
    }
    if (open_folder != NULL) {
        (void)closedir(open_folder);
    }
    return count;
}

static void a_file_is_written_once_unless_forced(void) {
    const char *path = path_in_folder("once.hdf5");
    FilFclib file = make_two_contacts(), *got = NULL;
    FilError error;
    CHECK(fil_fclib_write(path, &file, false, &error) == FIL_OK);
    CHECK(fil_fclib_write(path, &file, false, &error) == FIL_E_IO);
    CHECK(strstr(error.text, "once.hdf5 exists already") != NULL);
    file.title = "newer";
    CHECK(fil_fclib_write(path, &file, true, &error) == FIL_OK);
    CHECK(fil_fclib_read(path, NULL, &got, &error) == FIL_OK);
    CHECK(got != NULL && strcmp(got->title, "newer") == 0);
    CHECK(got != NULL && same_problem(&got->problem, &file.problem));
    fil_fclib_destroy(got);
    CHECK(count_files() == 1);
    (void)unlink(path);
}

static void what_cannot_be_read_is_said(void) {
    FilFclib *got = NULL;
    FilError error;
    CHECK(fil_fclib_read(path_in_folder("none.hdf5"), NULL, &got, &error) == FIL_E_IO);
    CHECK(strstr(error.text, "none.hdf5: cannot open it: No such file or directory") != NULL);
    CHECK(fil_fclib_read(folder, NULL, &got, &error) == FIL_E_IO);
    CHECK(strstr(error.text, "it is a folder, not a file") != NULL);
    CHECK(fil_fclib_read("/dev/zero", NULL, &got, &error) == FIL_E_IO);
    CHECK(fil_fclib_read("/dev/zero", NULL, &got, NULL) == FIL_E_IO);
    CHECK(got == NULL);
}

// A full disk, played by a limit on the size of files.
static void a_write_that_fails_leaves_nothing_behind(void) {
    const FilFclib file = make_two_contacts();
    FilError error;
    CHECK(fil_fclib_write(path_in_folder("no/such.hdf5"), &file, true, &error) == FIL_E_IO);
    CHECK(strstr(error.text, "No such file or directory") != NULL);
    CHECK(fil_fclib_write(folder, &file, true, &error) == FIL_E_IO);
    CHECK(strstr(error.text, "is not a regular file") != NULL);
    CHECK(fil_fclib_write("/dev/full", &file, true, &error) == FIL_E_IO);
    struct rlimit before, small;
    (void)getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 1000;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    (void)setrlimit(RLIMIT_FSIZE, &small);
    const FilStatus status = fil_fclib_write(path_in_folder("big.hdf5"), &file, true, &error);
    (void)setrlimit(RLIMIT_FSIZE, &before);
    (void)signal(SIGXFSZ, handler);
    CHECK(status == FIL_E_IO);
    CHECK(strstr(error.text, "big.hdf5: cannot write it: File too large") != NULL);
    CHECK(count_files() == 0);
}

static void what_the_layout_cannot_hold_is_refused(void) {
    FilArena arena = fil_arena_make(NULL);
    FilRandom random = fil_random_make(5);
    void *bytes = NULL;
    size_t size = 0;
    FilError error;
    FilFclib file = make_two_contacts();
    file.problem.kinds = (FilBlockKind[]){FIL_BLOCK_EQUALITY, FIL_BLOCK_COULOMB};
    CHECK(fil_fclib_write_memory(&file, &arena, &bytes, &size, &error) == FIL_E_ARGUMENT);
    CHECK(strncmp(error.text, "block 1 is of kind", 18) == 0);
    file = make_two_contacts();
    file.problem.block_sizes = (int[]){3, 2};
    CHECK(fil_fclib_write_memory(&file, &arena, &bytes, &size, &error) == FIL_E_ARGUMENT);
    CHECK(strncmp(error.text, "block 1 has size 2", 18) == 0);
    file = make_local(&arena, &random, 3, 2, 1);
    ((double *)file.problem.blocks.value)[20] += 1.0; // one entry of V, not its mirror
    CHECK(fil_fclib_write_memory(&file, &arena, &bytes, &size, &error) == FIL_E_ARGUMENT);
    CHECK(strncmp(error.text, "W couples contacts and equality blocks unsymmetrically", 54) == 0);
    file = make_global(&arena, &random, 3, 2, 1);
    file.problem.compliance = draw(&arena, &random, 19, 0.0);
    CHECK(fil_fclib_write_memory(&file, &arena, &bytes, &size, &error) == FIL_E_ARGUMENT);
    CHECK(bytes == NULL);
    fil_arena_destroy(&arena);
}

static herr_t count_calls(hid_t stack, void *data) {
    (void)stack;
    ++*(int *)data;
    return 0;
}

static void hdf5_keeps_its_own_error_handler(void) {
    int calls = 0;
    H5E_auto2_t before = NULL, after = NULL;
    void *data = NULL, *data_after = NULL;
    (void)H5Eget_auto2(H5E_DEFAULT, &before, &data);
    (void)H5Eset_auto2(H5E_DEFAULT, count_calls, &calls);
    FilError error;
    CHECK(read_image((Image){"\211HDF\r\n\032\n and then nothing", 25}, &error) == NULL);
    CHECK(calls == 0);
    (void)H5Eget_auto2(H5E_DEFAULT, &after, &data_after);
    CHECK(after == count_calls && data_after == &calls);
    (void)H5Eset_auto2(H5E_DEFAULT, before, data);
}

// ------------------------------------------------------------------------------------- allocations

typedef struct Counter {
    int left;  // allocations that still succeed
    long live; // bytes not given back
} Counter;

static void *count_resize(void *user, void *block, size_t old_size, size_t new_size) {
    Counter *counter = user;
    if (new_size > old_size && counter->left-- <= 0) {
        return NULL;
    }
    counter->live += (long)new_size - (long)old_size;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, new_size);
}

// Fail the 1st, 2nd, ... allocation until the call succeeds; nothing stays behind.
static void check_reading_without_memory(const char *path) {
    FilStatus status = FIL_E_NO_MEMORY;
    int fail_at = 0;
    for (; status != FIL_OK && fail_at < 100; fail_at++) {
        Counter counter = {.left = fail_at};
        const FilAllocator allocator = {count_resize, &counter};
        FilFclib *got = NULL;
        FilError error = {0};
        status = fil_fclib_read(path, &allocator, &got, &error);
        CHECK((status == FIL_OK) == (got != NULL));
        CHECK(status == FIL_OK || (status == FIL_E_NO_MEMORY &&
                                   strstr(error.text, ".hdf5: there is not enough") != NULL));
        fil_fclib_destroy(got);
        CHECK(counter.live == 0);
    }
    CHECK(status == FIL_OK && fail_at > 5);
}

static void check_writing_without_memory(const FilFclib *file) {
    FilStatus status = FIL_E_NO_MEMORY;
    int fail_at = 0;
    for (; status != FIL_OK && fail_at < 100; fail_at++) {
        Counter counter = {.left = fail_at};
        FilArena limited = fil_arena_make(&(FilAllocator){count_resize, &counter});
        Image out = {0};
        status = fil_fclib_write_memory(file, &limited, &out.bytes, &out.size, NULL);
        CHECK(status == FIL_OK || status == FIL_E_NO_MEMORY);
        fil_arena_destroy(&limited);
        CHECK(counter.live == 0);
    }
    CHECK(status == FIL_OK && fail_at > 2);
}

// Problems large enough that the arenas need many chunks.
static void every_allocation_may_fail(void) {
    for (int form = 0; form < 2; form++) {
        FilArena arena = fil_arena_make(NULL);
        FilRandom random = fil_random_make(6);
        const FilFclib file = form == 0 ? make_local(&arena, &random, 3, 60, 3)
                                        : make_global(&arena, &random, 3, 900, 40);
        const char *path = path_in_folder("memory.hdf5");
        CHECK(fil_fclib_write(path, &file, false, NULL) == FIL_OK);
        check_reading_without_memory(path);
        check_writing_without_memory(&file);
        (void)unlink(path);
        fil_arena_destroy(&arena);
    }
}

// --------------------------------------------------------------------------------------- libfclib

#if defined(FIL_HAVE_FCLIB)

// Entry (row, column) of FCLIB's matrix, whatever its layout, summed.
static double look_up(const struct fclib_matrix *matrix, int row, int column) {
    double sum = 0.0;
    if (matrix->nz >= 0) {
        for (int e = 0; e < matrix->nz; e++) {
            sum += matrix->i[e] == row && matrix->p[e] == column ? matrix->x[e] : 0.0;
        }
        return sum;
    }
    const int line = matrix->nz == -1 ? column : row, other = matrix->nz == -1 ? row : column;
    for (int e = matrix->p[line]; e < matrix->p[line + 1]; e++) {
        sum += matrix->i[e] == other ? matrix->x[e] : 0.0;
    }
    return sum;
}

static bool agrees_with_blocks(const FilFclib *file, const struct fclib_local *local) {
    const FilFrictionProblem *problem = &file->problem;
    const int n = file->dimension * file->contact_count, d = file->dimension;
    const double *value = problem->blocks.value;
    double total = 0.0, seen = 0.0;
    bool same =
        local->W->m == n && same_reals(problem->mu, local->mu, file->contact_count) &&
        same_reals(problem->b, local->q, n) &&
        (file->equality_count == 0 || same_reals(problem->b + n, local->s, file->equality_count));
    for (int i = 0; i < problem->block_count; i++) {
        for (int e = problem->blocks.start[i]; e < problem->blocks.start[i + 1]; e++) {
            const int j = problem->blocks.column[e];
            const bool up = i < file->contact_count, left = j < file->contact_count;
            const int height = up ? d : 1, width = left ? d : 1;
            const int row = up ? d * i : i - file->contact_count;
            const int column = left ? d * j : j - file->contact_count;
            for (int k = 0; k < height * width; k++, value++) {
                const int a = row + k / width, b = column + k % width;
                const double want = up && left ? look_up(local->W, a, b)
                                    : up       ? look_up(local->V, a, b)
                                    : left     ? look_up(local->V, b, a)
                                               : look_up(local->R, a, b);
                same = same && want == *value;
                seen += up && left ? fabs(*value) : 0.0;
            }
        }
    }
    const int count =
        local->W->nz >= 0 ? local->W->nz : local->W->p[local->W->nz == -1 ? n : local->W->m];
    for (int e = 0; e < count; e++) { // nothing of W is left out
        total += fabs(local->W->x[e]);
    }
    return same && fabs(total - seen) <= 1e-9 * total;
}

static bool agrees_with_columns(const FilSparse *matrix, int first,
                                const struct fclib_matrix *want) {
    bool same = matrix->row_count == want->m;
    for (int j = 0; same && j < want->n; j++) {
        for (int i = 0, e = matrix->start[first + j]; i < want->m; i++) {
            const bool stored = e < matrix->start[first + j + 1] && matrix->index[e] == i;
            same = same && look_up(want, i, j) == (stored ? matrix->value[e] : 0.0);
            e += stored;
        }
    }
    return same;
}

static bool agrees_with_global(const FilFclib *file, const struct fclib_global *global) {
    const FilGlobalForm *form = &file->problem.global;
    const int n = file->dimension * file->contact_count;
    return agrees_with_columns(&form->M, 0, global->M) &&
           agrees_with_columns(&form->H, 0, global->H) &&
           (file->equality_count == 0 ||
            (agrees_with_columns(&form->H, n, global->G) &&
             same_reals(form->w + n, global->b, file->equality_count))) &&
           same_reals(form->f, global->f, form->M.row_count) && same_reals(form->w, global->w, n) &&
           same_reals(file->problem.mu, global->mu, file->contact_count);
}

// Whether libfclib finds in the file the numbers that we found.
static bool libfclib_agrees(const char *path, const FilFclib *file) {
    bool same = false;
    if (file->problem.form == FIL_FORM_GLOBAL) {
        struct fclib_global *global = fclib_read_global(path);
        same = global != NULL && global->spacedim == file->dimension &&
               agrees_with_global(file, global);
        fclib_delete_global(global);
        free(global);
    } else {
        struct fclib_local *local = fclib_read_local(path);
        same = local != NULL && local->spacedim == file->dimension && local->info != NULL &&
               strcmp(local->info->title, file->title) == 0 && agrees_with_blocks(file, local);
        fclib_delete_local(local);
        free(local);
    }
    return same;
}

static void libfclib_reads_what_we_write(void) {
    FilRandom random = fil_random_make(7);
    for (int round = 0; round < 12; round++) {
        FilArena arena = fil_arena_make(NULL);
        const int d = 2 + round % 2, p = round % 3, contacts = 1 + fil_random_int(&random, 3);
        const bool local = round % 4 < 2;
        const FilFclib file = local ? make_local(&arena, &random, d, contacts, p)
                                    : make_global(&arena, &random, d, contacts, p);
        const char *path = path_in_folder("ours.hdf5");
        FilError error;
        FilFclib *got = NULL;
        CHECK(fil_fclib_write(path, &file, true, &error) == FIL_OK);
        CHECK(fil_fclib_read(path, NULL, &got, &error) == FIL_OK);
        CHECK(got != NULL && libfclib_agrees(path, got));
        struct fclib_solution *solution = fclib_read_solution(path);
        const int n = d * contacts;
        CHECK(solution != NULL && same_reals(solution->u, file.solution.u, n) &&
              same_reals(solution->r, file.solution.r, n) &&
              (local || same_reals(solution->v, file.solution.v, 7)) &&
              (p == 0 || same_reals(solution->l, file.solution.r + n, p)));
        int guess_count = 0;
        struct fclib_solution *guesses = fclib_read_guesses(path, &guess_count);
        CHECK(guess_count == 1 && same_reals(guesses->r, file.guess.r, n));
        fclib_delete_solutions(solution, 1);
        fclib_delete_solutions(guesses, guess_count);
        fil_fclib_destroy(got);
        (void)unlink(path);
        fil_arena_destroy(&arena);
    }
}

// The same matrix in libfclib's three layouts; entry (2, 0) is there twice in the triplets.
static void we_read_what_libfclib_writes(void) {
    int p_compressed[] = {0, 2, 3, 5, 6, 7, 9}, i_compressed[] = {0, 2, 1, 2, 5, 3, 4, 0, 5};
    double x_compressed[] = {2, 7, 3, 4, 9, 5, 6, 1, 8};
    int p_triplet[] = {0, 0, 0, 1, 2, 2, 3, 4, 5, 5}, i_triplet[] = {0, 2, 2, 1, 2, 5, 3, 4, 0, 5};
    double x_triplet[] = {2, 3, 4, 3, 4, 9, 5, 6, 1, 8};
    struct fclib_matrix layouts[] = {{9, 6, 6, p_compressed, i_compressed, x_compressed, -1, NULL},
                                     {9, 6, 6, p_compressed, i_compressed, x_compressed, -2, NULL},
                                     {10, 6, 6, p_triplet, i_triplet, x_triplet, 10, NULL}};
    double mu[] = {.5, .25}, q[] = {1, 2, 3, 4, 5, 6};
    struct fclib_info info = {"theirs", "by libfclib", "none"};
    double u[] = {1, 2, 3, 4, 5, 6}, r[] = {6, 5, 4, 3, 2, 1};
    for (int k = 0; k < 3; k++) {
        struct fclib_local local = {
            .W = &layouts[k], .mu = mu, .q = q, .spacedim = 3, .info = &info};
        struct fclib_solution solution = {.u = u, .r = r};
        const char *path = path_in_folder("theirs.hdf5");
        CHECK(fclib_write_local(&local, path) == 1);
        CHECK(fclib_write_solution(&solution, path) == 1);
        FilFclib *got = NULL;
        FilError error = {0};
        CHECK(fil_fclib_read(path, NULL, &got, &error) == FIL_OK);
        CHECK(got != NULL && libfclib_agrees(path, got));
        CHECK(got != NULL && strcmp(got->description, "by libfclib") == 0);
        CHECK(got != NULL && same_reals(got->solution.r, r, 6) &&
              same_reals(got->solution.u, u, 6));
        fil_fclib_destroy(got);
        (void)unlink(path);
    }
}

#else

static void libfclib_reads_what_we_write(void) {
    CHECK_SKIP("libfclib-dev is not installed");
}

static void we_read_what_libfclib_writes(void) {
    CHECK_SKIP("libfclib-dev is not installed");
}

#endif

// --------------------------------------------------------------------------------- public problems

static void check_public_file(const char *path) {
    FilFclib *got = NULL, *again = NULL;
    FilError error = {0};
    CHECK(fil_fclib_read(path, NULL, &got, &error) == FIL_OK);
    if (got == NULL) {
        (void)fprintf(stderr, "%s\n", error.text);
        return;
    }
    CHECK(got->dimension == 3 && got->contact_count > 0);
#if defined(FIL_HAVE_FCLIB)
    CHECK(libfclib_agrees(path, got));
#endif
    const char *copy = path_in_folder("copy.hdf5");
    CHECK(fil_fclib_write(copy, got, false, &error) == FIL_OK);
    CHECK(fil_fclib_read(copy, NULL, &again, &error) == FIL_OK);
    CHECK(again != NULL && same_problem(&got->problem, &again->problem));
    // a dataset that was never stored is no solution
    CHECK(got->solution.r == NULL || same_vectors(got, &got->solution, &again->solution));
    (void)unlink(copy);
    fil_fclib_destroy(got);
    fil_fclib_destroy(again);
}

static void public_problems_are_read_and_written_alike(void) {
    const char *problems = getenv("FILUM_PROBLEMS");
    DIR *open_folder = problems != NULL ? opendir(problems) : NULL;
    if (open_folder == NULL) {
        CHECK_SKIP("FILUM_PROBLEMS names no folder");
    }
    int count = 0;
    for (struct dirent *entry = NULL; (entry = readdir(open_folder)) != NULL;) {
        const char *dot = strrchr(entry->d_name, '.');
        if (dot != NULL && strcmp(dot, ".hdf5") == 0) {
            char path[1024];
            (void)snprintf(path, sizeof path, "%s/%s", problems, entry->d_name);
            check_public_file(path);
            count++;
        }
    }
    (void)closedir(open_folder);
    CHECK(count > 0);
}

static void the_folder_of_the_tests_is_empty_again(void) {
    CHECK(count_files() == 0);
    (void)rmdir(folder);
}

#define TESTS(X)                                                      \
    X(a_problem_survives_writing_and_reading)                         \
    X(the_same_problem_gives_the_same_bytes)                          \
    X(blocks_become_what_the_layout_can_say)                          \
    X(every_layout_of_a_matrix_is_read_alike)                         \
    X(triplets_are_read_the_way_that_fits)                            \
    X(harmless_differences_are_accepted)                              \
    X(a_stored_solution_that_does_not_fit_is_ignored)                 \
    X(every_fault_of_a_local_file_has_its_sentence)                   \
    X(every_fault_of_equality_rows_and_global_files_has_its_sentence) \
    X(triplets_that_fit_neither_way_are_refused)                      \
    X(sums_that_overflow_are_refused)                                 \
    X(a_truncated_file_is_refused)                                    \
    X(a_file_is_written_once_unless_forced)                           \
    X(what_cannot_be_read_is_said)                                    \
    X(a_write_that_fails_leaves_nothing_behind)                       \
    X(what_the_layout_cannot_hold_is_refused)                         \
    X(hdf5_keeps_its_own_error_handler)                               \
    X(every_allocation_may_fail)                                      \
    X(libfclib_reads_what_we_write)                                   \
    X(we_read_what_libfclib_writes)                                   \
    X(public_problems_are_read_and_written_alike)                     \
    X(the_folder_of_the_tests_is_empty_again)

CHECK_MAIN(TESTS)
