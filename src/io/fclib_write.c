// fclib_write.c - friction problems into FCLIB's HDF5 layout.
//
// The file is built in memory and written in one go. Matrices are compressed by columns (nz = -1),
// which every reader understands. The blocks are taken apart again into FCLIB's pieces:
//
//     local     [ W   V ]  = the block rows (+ compliance); the lower left must be V^T
//               [ V^T R ]
//     global    [ H   G ]  = the columns of H
//
// No times are stored: the same problem gives the same bytes.
#include "filum/fclib.h"

#include "base/arena.h"
#include "io/atomic.h"
#include "io/fclib_image.h"
#include "io/hdf.h"
#include "math/sparse.h"

#include <string.h>

typedef struct Writer {
    const FilFclib *file;
    FilArena *arena;
    FilError *error;
    hid_t plan;    // how datasets are made
    int dimension; // 2 or 3
    int contacts;  // blocks
    int n, p;      // scalar contact unknowns and equality rows
    bool failed;   // a call of HDF5 failed
} Writer;

static FilStatus fail_no_memory(const Writer *w) {
    return fil_fail(w->error, FIL_E_NO_MEMORY, "there is not enough memory to write the problem");
}

// ------------------------------------------------------------------------------------------ HDF5

static void write_dataset(Writer *w, hid_t group, const char *name, hid_t space, hid_t stored,
                          hid_t given, const void *values) {
    const hid_t id =
        space >= 0 ? H5Dcreate2(group, name, stored, space, H5P_DEFAULT, w->plan, H5P_DEFAULT) : -1;
    const bool empty = space < 0 || H5Sget_simple_extent_npoints(space) == 0;
    w->failed = w->failed || id < 0 ||
                (!empty && H5Dwrite(id, given, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0);
    fil_hdf_close(id);
}

static void write_ints(Writer *w, hid_t group, const char *name, int count, const int *values) {
    const hid_t space = H5Screate_simple(1, &(hsize_t){(hsize_t)count}, NULL);
    write_dataset(w, group, name, space, H5T_STD_I32LE, H5T_NATIVE_INT, values);
    fil_hdf_close(space);
}

static void write_int(Writer *w, hid_t group, const char *name, int value) {
    write_ints(w, group, name, 1, &value);
}

static void write_reals(Writer *w, hid_t group, const char *name, int count, const double *values) {
    const hid_t space = H5Screate_simple(1, &(hsize_t){(hsize_t)count}, NULL);
    write_dataset(w, group, name, space, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values);
    fil_hdf_close(space);
}

static void write_text(Writer *w, hid_t group, const char *name, const char *text) {
    const char *content = text != NULL ? text : "";
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    w->failed = w->failed || type < 0 || H5Tset_size(type, strlen(content) + 1) < 0;
    write_dataset(w, group, name, space, type, type, content);
    fil_hdf_close(space);
    fil_hdf_close(type);
}

static hid_t make_group(Writer *w, hid_t parent, const char *name) {
    const hid_t id = H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    w->failed = w->failed || id < 0;
    return id;
}

static void write_matrix(Writer *w, hid_t parent, const char *name, const FilSparse *matrix) {
    const hid_t group = make_group(w, parent, name);
    const int count = matrix->start[matrix->column_count];
    write_int(w, group, "nzmax", count);
    write_int(w, group, "m", matrix->row_count);
    write_int(w, group, "n", matrix->column_count);
    write_int(w, group, "nz", -1);
    write_ints(w, group, "p", matrix->column_count + 1, matrix->start);
    write_ints(w, group, "i", count, matrix->index);
    write_reals(w, group, "x", count, matrix->value);
    fil_hdf_close(group);
}

// ------------------------------------------------------------------------------------- the blocks

static int get_size(const FilFrictionProblem *problem, int block) {
    return problem->block_sizes != NULL ? problem->block_sizes[block] : problem->block_size;
}

static FilBlockKind get_kind(const FilFrictionProblem *problem, int block) {
    return problem->kinds != NULL ? problem->kinds[block] : FIL_BLOCK_COULOMB;
}

static FilStatus check_blocks(Writer *w) {
    const FilFrictionProblem *problem = &w->file->problem;
    const int count = problem->block_count;
    while (w->contacts < count && get_kind(problem, w->contacts) == FIL_BLOCK_COULOMB) {
        w->contacts++;
    }
    w->dimension = w->contacts > 0 ? get_size(problem, 0) : w->file->dimension;
    if (w->contacts == 0 && w->dimension != 2) {
        w->dimension = 3;
    }
    for (int k = 0; k < count; k++) {
        const int size = get_size(problem, k);
        if (k < w->contacts && (size != w->dimension || size < 2 || size > 3)) {
            return fil_fail(w->error, FIL_E_ARGUMENT,
                            "block %d has size %d; FCLIB holds contacts that all have size 2 or "
                            "all have size 3",
                            k, size);
        }
        if (k >= w->contacts && get_kind(problem, k) != FIL_BLOCK_EQUALITY) {
            return fil_fail(w->error, FIL_E_ARGUMENT,
                            "block %d is of kind %d; FCLIB holds coulomb blocks, then equality "
                            "blocks",
                            k, (int)get_kind(problem, k));
        }
        *(k < w->contacts ? &w->n : &w->p) += size;
    }
    return FIL_OK;
}

// All entries of block rows and compliance, in the arena.
static FilStatus list_entries(const Writer *w, FilEntries *out) {
    const FilFrictionProblem *problem = &w->file->problem;
    const FilBlockRows *W = &problem->blocks;
    const int blocks = problem->block_count;
    int *first = FIL_NEW(w->arena, int, (size_t)blocks + 1);
    if (first == NULL) {
        return fail_no_memory(w);
    }
    first[0] = 0;
    size_t count = 0;
    for (int i = 0; i < blocks; i++) {
        const size_t size = (size_t)get_size(problem, i);
        first[i + 1] = first[i] + (int)size;
        count += problem->compliance != NULL ? size * size : 0;
        for (int e = W->start[i]; e < W->start[i + 1]; e++) {
            count += size * (size_t)get_size(problem, W->column[e]);
        }
    }
    if (count > INT32_MAX) {
        return fil_fail(w->error, FIL_E_ARGUMENT, "W has %zu entries; FCLIB holds fewer than 2^31",
                        count);
    }
    int *row = FIL_NEW(w->arena, int, count), *column = FIL_NEW(w->arena, int, count);
    double *value = FIL_NEW(w->arena, double, count);
    if (w->arena->failed) {
        return fail_no_memory(w);
    }
    size_t at = 0, compliance = 0;
    for (int i = 0; i < blocks; i++) {
        const int size = get_size(problem, i);
        for (int e = W->start[i]; e < W->start[i + 1]; e++) {
            const int j = W->column[e], width = get_size(problem, j);
            for (int k = 0; k < size * width; k++, at++) {
                row[at] = first[i] + k / width;
                column[at] = first[j] + k % width;
            }
        }
    }
    if (at > 0) {
        memcpy(value, W->value, at * sizeof *value);
    }
    for (int i = 0; problem->compliance != NULL && i < blocks; i++) {
        const int size = get_size(problem, i);
        for (int k = 0; k < size * size; k++, at++) {
            row[at] = first[i] + k / size;
            column[at] = first[i] + k % size;
            value[at] = problem->compliance[compliance++];
        }
    }
    *out = (FilEntries){.row_count = first[blocks],
                        .column_count = first[blocks],
                        .count = (int)count,
                        .row = row,
                        .column = column,
                        .value = value};
    return FIL_OK;
}

// The entries with rows in [row, row + rows) and columns in [column, column + columns), compressed;
// zeros are left out. `transposed` swaps rows and columns of the result. False: no memory.
typedef struct Window {
    int row, rows, column, columns;
    bool transposed;
} Window;

static bool cut(const Writer *w, const FilEntries *all, Window window, FilSparse *out) {
    int *row = FIL_NEW(w->arena, int, all->count), *column = FIL_NEW(w->arena, int, all->count);
    double *value = FIL_NEW(w->arena, double, all->count);
    if (w->arena->failed) {
        return false;
    }
    int count = 0;
    for (int e = 0; e < all->count; e++) {
        const int i = all->row[e] - window.row, j = all->column[e] - window.column;
        if (all->value[e] != 0.0 && i >= 0 && i < window.rows && j >= 0 && j < window.columns) {
            row[count] = window.transposed ? j : i;
            column[count] = window.transposed ? i : j;
            value[count++] = all->value[e];
        }
    }
    const FilEntries part = {
        .row_count = window.transposed ? window.columns : window.rows,
        .column_count = window.transposed ? window.rows : window.columns,
        .count = count,
        .row = row,
        .column = column,
        .value = value,
    };
    return fil_sparse_from_entries(&part, w->arena, w->arena, out);
}

static bool are_equal(const FilSparse *a, const FilSparse *b) {
    const size_t count = (size_t)a->start[a->column_count];
    if (memcmp(a->start, b->start, ((size_t)a->column_count + 1) * sizeof *a->start) != 0) {
        return false;
    }
    for (size_t e = 0; e < count; e++) {
        if (a->index[e] != b->index[e] || a->value[e] != b->value[e]) {
            return false;
        }
    }
    return true;
}

// ----------------------------------------------------------------------------------------- forms

static FilStatus write_local(Writer *w, hid_t part, hid_t vectors) {
    const int n = w->n, p = w->p;
    FilEntries all = {0};
    FIL_TRY(list_entries(w, &all));
    FilSparse W = {0}, V = {0}, mirror = {0}, R = {0};
    if (!cut(w, &all, (Window){0, n, 0, n, false}, &W) ||
        !cut(w, &all, (Window){0, n, n, p, false}, &V) ||
        !cut(w, &all, (Window){n, p, 0, n, true}, &mirror) ||
        !cut(w, &all, (Window){n, p, n, p, false}, &R)) {
        return fail_no_memory(w);
    }
    if (!are_equal(&V, &mirror)) {
        return fil_fail(w->error, FIL_E_ARGUMENT,
                        "W couples contacts and equality blocks unsymmetrically; FCLIB holds only "
                        "V and its transpose");
    }
    write_matrix(w, part, "W", &W);
    if (p > 0) {
        write_matrix(w, part, "V", &V);
        write_matrix(w, part, "R", &R);
        write_reals(w, vectors, "s", p, w->file->problem.b + n);
    }
    write_reals(w, vectors, "q", n, w->file->problem.b);
    return FIL_OK;
}

// Columns first .. first + count - 1; only the offsets are made anew. False: no memory.
static bool slice_columns(const Writer *w, const FilSparse *matrix, int first, int count,
                          FilSparse *out) {
    int *start = FIL_NEW(w->arena, int, (size_t)count + 1);
    if (start == NULL) {
        return false;
    }
    const int begin = matrix->start[first];
    for (int k = 0; k <= count; k++) {
        start[k] = matrix->start[first + k] - begin;
    }
    *out = (FilSparse){.row_count = matrix->row_count,
                       .column_count = count,
                       .start = start,
                       .index = matrix->index + begin,
                       .value = matrix->value + begin};
    return true;
}

static FilStatus write_global(Writer *w, hid_t part, hid_t vectors) {
    const FilGlobalForm *global = &w->file->problem.global;
    if (w->file->problem.compliance != NULL) {
        return fil_fail(w->error, FIL_E_ARGUMENT,
                        "the problem has compliance; FCLIB's global form cannot hold it");
    }
    FilSparse H = {0}, G = {0};
    if (!slice_columns(w, &global->H, 0, w->n, &H) ||
        !slice_columns(w, &global->H, w->n, w->p, &G)) {
        return fail_no_memory(w);
    }
    write_matrix(w, part, "M", &global->M);
    write_matrix(w, part, "H", &H);
    if (w->p > 0) {
        write_matrix(w, part, "G", &G);
        write_reals(w, vectors, "b", w->p, global->w + w->n);
    }
    write_reals(w, vectors, "f", global->M.row_count, global->f);
    write_reals(w, vectors, "w", w->n, global->w);
    return FIL_OK;
}

// FCLIB's readers need r and u, and v in the global form: what is incomplete is left out.
static bool are_complete(const Writer *w, const FilFclibVectors *vectors) {
    return vectors->r != NULL && vectors->u != NULL &&
           (w->file->problem.form != FIL_FORM_GLOBAL || vectors->v != NULL);
}

static void write_vectors(Writer *w, hid_t parent, const char *name,
                          const FilFclibVectors *vectors) {
    const hid_t group = make_group(w, parent, name);
    if (w->file->problem.form == FIL_FORM_GLOBAL) {
        write_reals(w, group, "v", w->file->problem.global.M.row_count, vectors->v);
    }
    write_reals(w, group, "u", w->n, vectors->u);
    write_reals(w, group, "r", w->n, vectors->r);
    if (w->p > 0) {
        write_reals(w, group, "l", w->p, vectors->r + w->n);
    }
    fil_hdf_close(group);
}

static FilStatus write_problem(Writer *w, hid_t part) {
    write_int(w, part, "spacedim", w->dimension);
    const hid_t vectors = make_group(w, part, "vectors");
    write_reals(w, vectors, "mu", w->contacts, w->file->problem.mu);
    const FilStatus status = w->file->problem.form == FIL_FORM_GLOBAL
                                 ? write_global(w, part, vectors)
                                 : write_local(w, part, vectors);
    fil_hdf_close(vectors);
    const hid_t info = make_group(w, part, "info");
    write_text(w, info, "title", w->file->title);
    write_text(w, info, "description", w->file->description);
    write_text(w, info, "math_info", w->file->math_info);
    fil_hdf_close(info);
    return status;
}

static FilStatus write_file(Writer *w, hid_t root) {
    const bool global = w->file->problem.form == FIL_FORM_GLOBAL;
    const hid_t part = make_group(w, root, global ? "fclib_global" : "fclib_local");
    const FilStatus status = write_problem(w, part);
    fil_hdf_close(part);
    FIL_TRY(status);
    if (are_complete(w, &w->file->guess)) {
        const hid_t guesses = make_group(w, root, "guesses");
        write_int(w, guesses, "number_of_guesses", 1);
        write_vectors(w, guesses, "1", &w->file->guess);
        fil_hdf_close(guesses);
    }
    if (are_complete(w, &w->file->solution)) {
        write_vectors(w, root, "solution", &w->file->solution);
    }
    return FIL_OK;
}

static FilStatus build_image(Writer *w, void **bytes, size_t *size) {
    const hid_t root = fil_hdf_create_image();
    w->plan = H5Pcreate(H5P_DATASET_CREATE);
    w->failed = root < 0 || w->plan < 0 || H5Pset_obj_track_times(w->plan, 0) < 0;
    FilStatus status = w->failed ? FIL_OK : write_file(w, root);
    const ssize_t length = status == FIL_OK && !w->failed && H5Fflush(root, H5F_SCOPE_LOCAL) >= 0
                               ? H5Fget_file_image(root, NULL, 0)
                               : -1;
    if (length > 0) {
        *size = (size_t)length;
        *bytes = fil_arena_get(w->arena, *size, 1);
        if (*bytes == NULL) {
            status = fail_no_memory(w);
        } else if (H5Fget_file_image(root, *bytes, *size) != length) {
            w->failed = true;
        }
    }
    if (status == FIL_OK && (w->failed || length <= 0)) {
        status = fil_fail(w->error, FIL_E_NO_MEMORY, "HDF5 cannot build the file in memory: %s",
                          fil_hdf_reason().text);
    }
    fil_hdf_close(w->plan);
    fil_hdf_close(root);
    return status;
}

FilStatus fil_fclib_write_memory(const FilFclib *file, FilArena *arena, void **bytes, size_t *size,
                                 FilError *error) {
    FIL_TRY(fil_friction_check(&file->problem, error));
    if (file->problem.form == FIL_FORM_BODIES) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "the problem is factored by bodies; FCLIB holds W as a matrix, or the "
                        "global form");
    }
    Writer writer = {.file = file, .arena = arena, .error = error};
    FIL_TRY(check_blocks(&writer));
    const FilHdfQuiet quiet = fil_hdf_quiet_begin();
    const FilStatus status = build_image(&writer, bytes, size);
    fil_hdf_quiet_end(quiet);
    return status;
}

FilStatus fil_fclib_write(const char *path, const FilFclib *file, bool force, FilError *error) {
    FilArena arena = fil_arena_make(NULL);
    void *bytes = NULL;
    size_t size = 0;
    FilStatus status = fil_fclib_write_memory(file, &arena, &bytes, &size, error);
    if (status == FIL_OK) {
        status = fil_write_file(path, bytes, size, force, error);
    }
    fil_arena_destroy(&arena);
    return status;
}

const char *fil_fclib_library(void) {
#define TEXT(number) #number
#define VERSION(major, minor, release) "HDF5 " TEXT(major) "." TEXT(minor) "." TEXT(release)
    return VERSION(H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE);
}
