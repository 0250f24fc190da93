// Fuzz the FCLIB reader in two ways, told apart by the first bytes of the input:
//   an input that opens like HDF5 is read as it is (seeds: the files that make_problems writes);
//   any other input is a recipe for a well-formed HDF5 file whose groups, types, sizes and values
//   are hostile: HDF5 itself builds it, so that the bytes reach our checks and not only HDF5's.
// Whatever comes: no crash, no leak of ours, and what was read can be written and read again.
#include "fuzz.h"

#include "base/arena.h"
#include "filum/fclib.h"
#include "io/fclib_image.h"

#include <hdf5.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ----------------------------------------------------------------------------- memory, counted

static long live; // bytes that our reader holds

static void *count_resize(void *user, void *block, size_t old_size, size_t new_size) {
    (void)user;
    live += (long)new_size - (long)old_size;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, new_size);
}

static void insist(bool condition, const char *what) {
    if (!condition) {
        (void)fprintf(stderr, "fuzz_fclib: %s\n", what);
        abort();
    }
}

static FilFclib *read_bytes(const void *bytes, size_t size) {
    const FilAllocator allocator = {.resize = count_resize};
    FilError error = {0};
    FilFclib *file = NULL;
    const FilStatus status = fil_fclib_read_memory(bytes, size, "fuzz", &allocator, &file, &error);
    insist((status == FIL_OK) == (file != NULL), "status and result disagree");
    insist(status == FIL_OK || (error.status == status && strncmp(error.text, "fuzz: ", 6) == 0),
           "an error without a sentence");
    insist(status == FIL_OK || live == 0, "a refused file leaks");
    return file;
}

// What was read is a problem like any other: it can be written, and comes back the same size.
static void check_file(const FilFclib *file) {
    FilArena arena = fil_arena_make(NULL);
    void *bytes = NULL;
    size_t size = 0;
    FilError error;
    insist(fil_fclib_write_memory(file, &arena, &bytes, &size, &error) == FIL_OK, error.text);
    FilFclib *again = read_bytes(bytes, size);
    insist(again != NULL, "what was written is refused");
    insist(again->contact_count == file->contact_count &&
               again->equality_count == file->equality_count &&
               again->problem.dof_count == file->problem.dof_count,
           "what was written comes back different");
    fil_fclib_destroy(again);
    fil_arena_destroy(&arena);
}

static void try_bytes(const void *bytes, size_t size) {
    FilFclib *file = read_bytes(bytes, size);
    if (file != NULL) {
        check_file(file);
    }
    fil_fclib_destroy(file);
    insist(live == 0, "a destroyed file leaks");
}

// ------------------------------------------------------------------------------------- recipes

typedef struct Recipe {
    const uint8_t *data;
    size_t size;
} Recipe;

static int draw(Recipe *recipe) { // 0 when the recipe is at its end: all is then as it should be
    if (recipe->size == 0) {
        return 0;
    }
    recipe->size--;
    return *recipe->data++;
}

// Mostly the right number, at times a nasty one.
static double spoil(Recipe *recipe, double number) {
    static const double nasty[] = {
        -1, 0, 1, 2, 7, 900, -3, 2147483647, -2147483648.0, 4e9, 1e308, -1e308, 0.5, 9e18, 3, 6};
    const int choice = draw(recipe);
    if (choice < 224) {
        return number;
    }
    return choice == 255   ? NAN
           : choice == 254 ? INFINITY
                           : nasty[(size_t)choice % (sizeof nasty / sizeof *nasty)];
}

enum { ROOM = 64 };

static hid_t choose_type(Recipe *recipe, hid_t type) {
    const hid_t others[] = {H5T_STD_I64LE,  H5T_STD_U8LE,       H5T_STD_I16BE, H5T_IEEE_F32LE,
                            H5T_IEEE_F64BE, H5T_NATIVE_LDOUBLE, H5T_STD_U64LE, H5T_STD_I32LE};
    const int choice = draw(recipe);
    return choice < 224 ? type : others[choice % 8];
}

static hid_t choose_plan(Recipe *recipe, hsize_t count) {
    const hid_t plan = H5Pcreate(H5P_DATASET_CREATE);
    const int choice = draw(recipe);
    if (choice >= 240 && count > 0) {
        (void)H5Pset_chunk(plan, 1, &(hsize_t){1 + (hsize_t)choice % count});
        if (choice >= 248) {
            (void)H5Pset_deflate(plan, 6);
        }
    } else if (choice >= 232) {
        (void)H5Pset_layout(plan, H5D_COMPACT);
    }
    return plan;
}

// One dataset that should hold `count` numbers of `type`.
static void cook(Recipe *recipe, hid_t group, const char *name, hid_t type, int count,
                 const double *values) {
    const int fate = draw(recipe);
    if (fate >= 252) {
        if (fate == 253) {
            (void)H5Gclose(H5Gcreate2(group, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        } else if (fate == 254) {
            (void)H5Lcreate_soft("/fclib_local/vectors/q", group, name, H5P_DEFAULT, H5P_DEFAULT);
        }
        return;
    }
    double numbers[ROOM] = {0};
    hsize_t extent[2] = {(hsize_t)count, 1};
    for (int k = 0; k < count; k++) {
        numbers[k] = spoil(recipe, values[k]);
    }
    if (fate >= 236) {
        extent[0] = (hsize_t)(fate % 16);
    }
    const int rank = fate == 235 ? 2 : fate == 234 ? 0 : 1;
    const hid_t space = rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, extent, NULL);
    const hid_t plan = choose_plan(recipe, rank == 1 ? extent[0] : 0);
    const hid_t id =
        H5Dcreate2(group, name, choose_type(recipe, type), space, H5P_DEFAULT, plan, H5P_DEFAULT);
    if (id >= 0 && fate != 233) {
        (void)H5Dwrite(id, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers);
    }
    (void)H5Dclose(id);
    (void)H5Pclose(plan);
    (void)H5Sclose(space);
}

static void cook_int(Recipe *recipe, hid_t group, const char *name, double value) {
    cook(recipe, group, name, H5T_STD_I32LE, 1, &value);
}

// A diagonal matrix in one of the three layouts.
static void cook_matrix(Recipe *recipe, hid_t parent, const char *name, int rows, int columns) {
    const int choice = draw(recipe), entries = rows < columns ? rows : columns;
    if (choice == 255) {
        return;
    }
    const hid_t group = H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const int layout = choice % 3; // triplets, by columns, by rows
    const int lines = layout == 1 ? columns : rows;
    double i[ROOM], p[ROOM], x[ROOM];
    for (int k = 0; k < ROOM; k++) {
        i[k] = k;
        p[k] = k < entries || layout == 0 ? k : entries;
        x[k] = 1.0 + k;
    }
    cook_int(recipe, group, "m", rows);
    cook_int(recipe, group, "n", columns);
    cook_int(recipe, group, "nz", layout == 0 ? entries : -layout);
    cook_int(recipe, group, "nzmax", entries);
    cook(recipe, group, "p", H5T_STD_I32LE, layout == 0 ? entries : lines + 1, p);
    cook(recipe, group, "i", H5T_STD_I32LE, entries, i);
    cook(recipe, group, "x", H5T_IEEE_F64LE, entries, x);
    (void)H5Gclose(group);
}

static void cook_vector(Recipe *recipe, hid_t group, const char *name, int count) {
    double values[ROOM];
    for (int k = 0; k < count; k++) {
        values[k] = 0.25 * (k + 1);
    }
    cook(recipe, group, name, H5T_IEEE_F64LE, count, values);
}

static void cook_text(Recipe *recipe, hid_t group, const char *name) {
    const int choice = draw(recipe);
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    const char *text = "a title that is long enough for every size below";
    (void)H5Tset_size(type, choice == 255 ? H5T_VARIABLE : 1 + (size_t)choice % 40);
    const hid_t id = H5Dcreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    (void)H5Dwrite(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                   choice == 255 ? (const void *)&text : text);
    (void)H5Dclose(id);
    (void)H5Sclose(space);
    (void)H5Tclose(type);
}

static void cook_vectors(Recipe *recipe, hid_t parent, const char *name, int n, int p) {
    const hid_t group = H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    cook_vector(recipe, group, "u", n);
    cook_vector(recipe, group, "r", n);
    cook_vector(recipe, group, "v", 4);
    if (p > 0) {
        cook_vector(recipe, group, "l", p);
    }
    (void)H5Gclose(group);
}

static void cook_problem(Recipe *recipe, hid_t file) {
    const int choice = draw(recipe), d = 2 + choice % 2, contacts = choice / 2 % 4;
    const int p = choice / 8 % 3, n = d * contacts, m = 4;
    const bool global = choice >= 128;
    const hid_t part = H5Gcreate2(file, global ? "fclib_global" : "fclib_local", H5P_DEFAULT,
                                  H5P_DEFAULT, H5P_DEFAULT);
    const hid_t vectors = H5Gcreate2(part, "vectors", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t info = H5Gcreate2(part, "info", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    cook_int(recipe, part, "spacedim", d);
    cook_vector(recipe, vectors, "mu", contacts);
    cook_vector(recipe, vectors, global ? "w" : "q", n);
    cook_matrix(recipe, part, global ? "H" : "W", global ? m : n, n);
    if (global) {
        cook_vector(recipe, vectors, "f", m);
        cook_matrix(recipe, part, "M", m, m);
    }
    if (p > 0) {
        cook_vector(recipe, vectors, global ? "b" : "s", p);
        cook_matrix(recipe, part, global ? "G" : "V", global ? m : n, p);
        if (!global) {
            cook_matrix(recipe, part, "R", p, p);
        }
    }
    cook_text(recipe, info, "title");
    cook_text(recipe, info, "description");
    cook_vectors(recipe, file, "solution", n, p);
    (void)H5Gclose(info);
    (void)H5Gclose(vectors);
    (void)H5Gclose(part);
}

static void try_recipe(Recipe *recipe) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    (void)H5Pset_fapl_core(access, 1 << 16, 0);
    if (draw(recipe) >= 192) { // the newer format, with checksums
        (void)H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    }
    const hid_t file = H5Fcreate("fuzz", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    cook_problem(recipe, file);
    (void)H5Fflush(file, H5F_SCOPE_LOCAL);
    const ssize_t size = H5Fget_file_image(file, NULL, 0);
    void *bytes = size > 0 ? malloc((size_t)size) : NULL;
    if (bytes != NULL && H5Fget_file_image(file, bytes, (size_t)size) == size) {
        try_bytes(bytes, (size_t)size);
    }
    free(bytes);
    (void)H5Fclose(file);
    (void)H5Pclose(access);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL); // recipes make HDF5 calls fail on purpose
    if (size >= 4 && memcmp(data, "\211HDF", 4) == 0) {
        try_bytes(data, size);
    } else {
        try_recipe(&(Recipe){.data = data, .size = size});
    }
    return 0;
}
