// result_create.c - a new result file: all that does not change, and empty datasets that grow.
//
// HDF5's single-writer-multiple-readers mode wants all datasets made before it starts; only their
// lengths grow then. A large frame is cut into chunks of its own; small frames share chunks, which
// are written again with every frame.
//
// Nothing is deflated. Shuffled and deflated (level 1), frames of hanging hair shrink by a factor
// 1.23 (places), 1.3 (velocities) and 1.33 (quaternions), at 50 MB/s where plain frames take
// 500; only the curvatures of helices, constant in each element, shrink by 3.3. And a deflated
// chunk that several frames share would move whenever it changes, which leaks: in this mode HDF5
// never reuses space. h5repack -f SHUF -f GZIP=1 compresses a finished file.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "result_layout.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_PAGE = 4096 }; // bytes, those of a page of memory

static hid_t make_group(hid_t file, const char *name) {
    return H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
}

static hid_t create_series(const FilResult *result, const FilSeries *series) {
    const hsize_t items = (hsize_t)fil_series_items(series, &result->def);
    hsize_t chunk[3] = {0};
    fil_series_chunk(series, &result->def, chunk);
    const hsize_t size[3] = {0, items, (hsize_t)series->width};
    const hsize_t most[3] = {H5S_UNLIMITED, items > 0 ? items : 1, (hsize_t)series->width};
    const int rank = fil_series_rank(series);
    const double unknown = (double)NAN;
    const hid_t space = H5Screate_simple(rank, size, most), plan = H5Pcreate(H5P_DATASET_CREATE);
    const bool fine =
        H5Pset_chunk(plan, rank, chunk) >= 0 &&
        (!series->optional || H5Pset_fill_value(plan, H5T_NATIVE_DOUBLE, &unknown) >= 0);
    const hid_t type = series->single ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
    hid_t dataset = -1;
    if (fine) {
        dataset =
            H5Dcreate2(result->file, series->path, type, space, H5P_DEFAULT, plan, H5P_DEFAULT);
    }
    if (dataset >= 0 && fil_hdf_attribute(dataset, "unit", series->unit) < 0) {
        (void)H5Dclose(dataset);
        dataset = -1;
    }
    fil_hdf_close(plan);
    fil_hdf_close(space);
    return dataset;
}

static bool write_rows(FilResult *result, FilResultTable which, const void *rows, int count) {
    const FilHdfTable *table = &fil_result_tables[which];
    const hid_t dataset = fil_hdf_table_create(result->file, table, count);
    const bool done =
        dataset >= 0 && fil_hdf_table_write(dataset, table, 0, count, rows, &result->scratch);
    fil_hdf_close(dataset);
    return done;
}

static bool write_array(hid_t group, const char *name, hid_t type, int rows, const void *values) {
    const hsize_t size[2] = {(hsize_t)rows, 3};
    const hid_t space = H5Screate_simple(2, size, NULL);
    const hid_t dataset =
        H5Dcreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const bool done =
        dataset >= 0 && H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0 &&
        (H5Tget_class(type) != H5T_FLOAT || fil_hdf_attribute(dataset, "unit", "m") >= 0);
    fil_hdf_close(dataset);
    fil_hdf_close(space);
    return done;
}

static bool write_mesh(hid_t meshes, int index, const FilResultMesh *mesh) {
    char name[16];
    (void)snprintf(name, sizeof name, "%d", index);
    const hid_t group = make_group(meshes, name);
    const bool done =
        group >= 0 &&
        write_array(group, "vertices", H5T_NATIVE_DOUBLE, mesh->vertex_count, mesh->vertices) &&
        write_array(group, "triangles", H5T_NATIVE_INT, mesh->triangle_count, mesh->triangles);
    fil_hdf_close(group);
    return done;
}

static bool write_number(hid_t file, const char *name, hid_t type, const void *value) {
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t attribute = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool done = attribute >= 0 && H5Awrite(attribute, type, value) >= 0;
    fil_hdf_close(attribute);
    fil_hdf_close(space);
    return done;
}

// All that does not change.
static bool write_def(FilResult *result) {
    const FilResultDef *def = &result->def;
    const hid_t file = result->file;
    const int version = FIL_RESULT_FORMAT_VERSION;
    bool done = fil_hdf_attribute(file, "format", FIL_RESULT_FORMAT) >= 0 &&
                write_number(file, "format_version", H5T_NATIVE_INT, &version) &&
                fil_hdf_attribute(file, "version", def->version) >= 0 &&
                fil_hdf_attribute(file, "name", def->name) >= 0 &&
                write_number(file, "seed", H5T_NATIVE_INT64, &def->seed) &&
                write_number(file, "step", H5T_NATIVE_DOUBLE, &def->step) &&
                fil_hdf_text(file, "scene", def->scene) >= 0 &&
                fil_hdf_text(file, "options", def->options) >= 0;
    static const char *const groups[] = {"/rods", "/rigids", "/obstacles"};
    for (int k = 0; done && k < 3; k++) {
        const hid_t group = make_group(file, groups[k]);
        done = group >= 0;
        fil_hdf_close(group);
    }
    done = done && write_rows(result, FIL_TABLE_RODS, def->rods, def->rod_count) &&
           write_rows(result, FIL_TABLE_LINES, def->lines, def->line_count) &&
           write_rows(result, FIL_TABLE_POINTS, def->points, def->point_count) &&
           write_rows(result, FIL_TABLE_RIGIDS, def->rigids, def->rigid_count) &&
           write_rows(result, FIL_TABLE_OBSTACLES, def->obstacles, def->obstacle_count);
    const hid_t meshes = done ? make_group(file, "/meshes") : -1;
    done = done && meshes >= 0;
    for (int k = 0; done && k < def->mesh_count; k++) {
        done = write_mesh(meshes, k, &def->meshes[k]);
    }
    fil_hdf_close(meshes);
    return done;
}

bool fil_result_start_streaming(FilResult *result) {
    return H5Fstart_swmr_write(result->file) >= 0 && H5Fflush(result->file, H5F_SCOPE_LOCAL) >= 0 &&
           result->reason == 0;
}

static bool create_growing(FilResult *result) {
    bool done = true;
    for (int k = 0; done && k < FIL_TABLE_GROWING; k++) {
        result->tables[k] = fil_hdf_table_create(result->file, &fil_result_tables[k], 0);
        done = result->tables[k] >= 0;
    }
    for (int k = 0; done && k < FIL_SERIES_COUNT; k++) {
        result->series[k] = create_series(result, &fil_result_series[k]);
        done = result->series[k] >= 0;
    }
    return done;
}

// A file that cannot even begin leaves HDF5 in disorder, which it complains about when the program
// ends: so there is room for the empty datasets, or nothing is begun. What is in the file stays.
static FilStatus find_room(const FilResult *result, FilError *error) {
    enum { BEGINNING = 1 << 17 };
    struct stat about;
    const int reason = posix_fallocate(result->descriptor, 0, BEGINNING);
    if (reason != ENOSPC && reason != EFBIG && reason != EDQUOT) {
        return FIL_OK; // or it is not known
    }
    if (fstat(result->descriptor, &about) == 0 && about.st_size == 0) {
        (void)unlink(result->path);
    }
    return fil_fail(error, FIL_E_IO, "%s: cannot write it: %s", result->path, strerror(reason));
}

static FilStatus take_file(FilResult *result, bool force, FilError *error) {
    struct stat about;
    const int mode = O_RDWR | O_CREAT | O_CLOEXEC | (force ? 0 : O_EXCL);
    if (stat(result->path, &about) == 0 && !S_ISREG(about.st_mode)) {
        return fil_fail(error, FIL_E_IO, "%s exists and is not a regular file", result->path);
    }
    result->descriptor = open(result->path, mode, 0666);
    if (result->descriptor < 0 && errno == EEXIST) {
        return fil_fail(error, FIL_E_IO, "%s exists already; force (--force) replaces it",
                        result->path);
    }
    if (result->descriptor < 0) {
        return fil_fail(error, FIL_E_IO, "%s: cannot write it: %s", result->path, strerror(errno));
    }
    if (!fil_result_lock(result->descriptor)) {
        return fil_fail(error, FIL_E_IO, "%s is being written by another program", result->path);
    }
    return find_room(result, error);
}

static FilStatus check_def(const FilResultDef *def, FilError *error) {
    int64_t points = 0;
    for (int k = 0; k < def->rod_count; k++) {
        if (def->rods[k].first_point != points || def->rods[k].point_count < 0) {
            return fil_fail(error, FIL_E_ARGUMENT,
                            "rods[%d].first_point is %d; points must follow rod by rod", k,
                            def->rods[k].first_point);
        }
        points += def->rods[k].point_count;
    }
    if (points != def->point_count) {
        return fil_fail(error, FIL_E_ARGUMENT, "point_count is %d; the rods have %lld",
                        def->point_count, (long long)points);
    }
    return FIL_OK;
}

// The counts stay, arrays and texts are only borrowed while the file is made.
static void forget_arrays(FilResultDef *def) {
    def->name = def->scene = def->options = "";
    def->rods = NULL;
    def->lines = NULL;
    def->points = NULL;
    def->rigids = def->obstacles = NULL;
    def->meshes = NULL;
}

// In pages: what is smaller than one lies in one, and is written to it whole or not at all even
// when the program is killed meanwhile. Checksums of metadata that is half new would be wrong, and
// the file lost.
static hid_t make_plan(void) {
    const hid_t plan = H5Pcreate(H5P_FILE_CREATE);
    (void)H5Pset_file_space_strategy(plan, H5F_FSPACE_STRATEGY_PAGE, false, 1);
    (void)H5Pset_file_space_page_size(plan, FILE_PAGE);
    return plan;
}

static FilStatus create(FilResult *result, const FilResultDef *def, bool force, FilError *error) {
    FIL_TRY(take_file(result, force, error));
    result->def = *def;
    result->def.version = fil_version();
    const char **texts[] = {&result->def.name, &result->def.scene, &result->def.options};
    for (int k = 0; k < 3; k++) {
        *texts[k] = *texts[k] != NULL ? *texts[k] : "";
    }
    const hid_t access = fil_result_access(result);
    const hid_t plan = make_plan();
    result->file = H5Fcreate(result->path, H5F_ACC_TRUNC, plan, access);
    fil_hdf_close(plan);
    if (result->file < 0 || !write_def(result) || !create_growing(result) ||
        !fil_result_start_streaming(result)) {
        const FilStatus status = fil_result_fail_hdf(result, "write", error);
        fil_hdf_close(access);
        return status;
    }
    fil_hdf_close(access);
    forget_arrays(&result->def);
    return FIL_OK;
}

FilStatus fil_result_create(const char *path, const FilResultDef *def, bool force,
                            const FilAllocator *allocator, FilResult **out, FilError *error) {
    FIL_TRY(check_def(def, error));
    FilResult *result = NULL;
    FIL_TRY(fil_result_make(path, allocator, &result, error));
    result->writing = true;
    const FilHdfQuiet quiet = fil_hdf_quiet_begin();
    const FilStatus status = create(result, def, force, error);
    fil_hdf_quiet_end(quiet);
    if (status != FIL_OK) {
        const bool ours = result->descriptor >= 0 && result->file >= 0;
        (void)!fil_result_release(result, NULL);
        if (ours) {
            (void)unlink(path); // nothing is in it
        }
        return status;
    }
    *out = result;
    return FIL_OK;
}
