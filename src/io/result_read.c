// result_read.c - results back from their file.
//
// Sizes come from the tables, and every array must agree with them before memory is taken. While
// another program writes, the number of frames is asked anew each time: what it counts is there.
#include "result_layout.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static FilStatus fail_format(const FilResult *result, const char *what, FilError *error) {
    return fil_fail(error, FIL_E_FORMAT, "%s: %s", result->path, what);
}

// --- the definition ------------------------------------------------------------------------------

// A string, as an attribute or a dataset; "" when there is none.
static const char *load_text(FilResult *result, hid_t object, bool attribute) {
    const hid_t type = object < 0 ? -1 : attribute ? H5Aget_type(object) : H5Dget_type(object);
    const bool plain =
        type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0;
    const size_t size = plain ? H5Tget_size(type) : 0;
    char *text = FIL_NEW_ZEROED(&result->keep, char, size + 1);
    if (text != NULL && plain) {
        (void)(attribute ? H5Aread(object, type, text)
                         : H5Dread(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text));
    }
    fil_hdf_close(type);
    return text != NULL ? text : "";
}

static const char *load_attribute(FilResult *result, const char *name) {
    const hid_t attribute = H5Aopen(result->file, name, H5P_DEFAULT);
    const char *text = load_text(result, attribute, true);
    fil_hdf_close(attribute);
    return text;
}

static const char *load_dataset_text(FilResult *result, const char *name) {
    const hid_t dataset = H5Dopen2(result->file, name, H5P_DEFAULT);
    const char *text = load_text(result, dataset, false);
    fil_hdf_close(dataset);
    return text;
}

static bool load_number(const FilResult *result, const char *name, hid_t type, void *value) {
    const hid_t attribute = H5Aopen(result->file, name, H5P_DEFAULT);
    const hid_t space = attribute >= 0 ? H5Aget_space(attribute) : -1;
    const bool done = space >= 0 && H5Sget_simple_extent_npoints(space) == 1 &&
                      H5Aread(attribute, type, value) >= 0;
    fil_hdf_close(space);
    fil_hdf_close(attribute);
    return done;
}

// A table that does not grow; NULL when it cannot be read.
static void *load_rows(FilResult *result, FilResultTable which, int *count) {
    const FilHdfTable *table = &fil_result_tables[which];
    const hid_t dataset = H5Dopen2(result->file, table->path, H5P_DEFAULT);
    const int64_t rows = dataset >= 0 ? fil_hdf_rows_count(dataset) : -1;
    void *list = NULL;
    if (rows >= 0 && rows <= INT_MAX) {
        list = fil_arena_get(&result->keep, (size_t)rows + 1, table->row_size);
    }
    if (list != NULL && !fil_hdf_table_read(dataset, table, 0, rows, list, &result->scratch)) {
        list = NULL;
    }
    fil_hdf_close(dataset);
    *count = list != NULL ? (int)rows : 0;
    return list;
}

static FilStatus check_tables(const FilResult *result, FilError *error) {
    const FilResultDef *def = &result->def;
    int64_t points = 0;
    for (int k = 0; k < def->rod_count; k++) {
        if (def->rods[k].point_count < 0 || def->rods[k].first_point != points) {
            return fail_format(result, "/rods/info is inconsistent", error);
        }
        points += def->rods[k].point_count;
    }
    if (points != def->point_count) {
        return fail_format(result, "/rods/info and /rods/points disagree", error);
    }
    for (int k = 0; k < def->line_count; k++) {
        const FilResultLine *line = &def->lines[k];
        if (line->rod < 0 || line->rod >= def->rod_count || line->first_point < 0 ||
            line->point_count < 0 || line->first_point > def->point_count - line->point_count) {
            return fail_format(result, "/rods/lines refers to points that do not exist", error);
        }
    }
    const FilResultSolid *const solids[2] = {def->rigids, def->obstacles};
    const int counts[2] = {def->rigid_count, def->obstacle_count};
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < counts[i]; k++) {
            if (solids[i][k].mesh < -1 || solids[i][k].mesh >= def->mesh_count) {
                return fail_format(result, "a body refers to a mesh that does not exist", error);
            }
        }
    }
    return FIL_OK;
}

// An array [rows][3]; NULL when it cannot be read.
static void *load_array(FilResult *result, const char *path, hid_t type, size_t size, int *count) {
    const hid_t dataset = H5Dopen2(result->file, path, H5P_DEFAULT);
    const hid_t space = dataset >= 0 ? H5Dget_space(dataset) : -1;
    hsize_t extent[2] = {0};
    const bool fits = space >= 0 && H5Sget_simple_extent_ndims(space) == 2 &&
                      H5Sget_simple_extent_dims(space, extent, NULL) == 2 && extent[1] == 3 &&
                      extent[0] <= INT_MAX / 3;
    void *values = fits ? fil_arena_get(&result->keep, (size_t)(3 * extent[0]), size) : NULL;
    if (values != NULL && !fil_hdf_rows_read(dataset, type, 0, (int64_t)extent[0], values)) {
        values = NULL;
    }
    *count = values != NULL ? (int)extent[0] : 0;
    fil_hdf_close(space);
    fil_hdf_close(dataset);
    return values;
}

static bool load_meshes(FilResult *result) {
    const hid_t group = H5Gopen2(result->file, "/meshes", H5P_DEFAULT);
    H5G_info_t info = {.nlinks = 0};
    const bool known = group >= 0 && H5Gget_info(group, &info) >= 0 && info.nlinks < 1 << 20;
    fil_hdf_close(group);
    const int count = known ? (int)info.nlinks : 0;
    FilResultMesh *meshes = FIL_NEW(&result->keep, FilResultMesh, count);
    bool done = known && meshes != NULL;
    for (int k = 0; done && k < count; k++) {
        char path[64];
        FilResultMesh mesh = {0};
        (void)snprintf(path, sizeof path, "/meshes/%d/vertices", k);
        mesh.vertices =
            load_array(result, path, H5T_NATIVE_DOUBLE, sizeof(double), &mesh.vertex_count);
        (void)snprintf(path, sizeof path, "/meshes/%d/triangles", k);
        mesh.triangles =
            load_array(result, path, H5T_NATIVE_INT, sizeof(int), &mesh.triangle_count);
        done = mesh.vertices != NULL && mesh.triangles != NULL;
        for (int i = 0; done && i < 3 * mesh.triangle_count; i++) {
            done = mesh.triangles[i] >= 0 && mesh.triangles[i] < mesh.vertex_count;
        }
        meshes[k] = mesh;
    }
    result->def.meshes = meshes;
    result->def.mesh_count = done ? count : 0;
    return done;
}

static FilStatus load_def(FilResult *result, FilError *error) {
    FilResultDef *def = &result->def;
    int version = 0;
    if (H5Aexists(result->file, "format") < 0) {
        return fil_result_fail_hdf(result, "read", error);
    }
    if (strcmp(load_attribute(result, "format"), FIL_RESULT_FORMAT) != 0 ||
        !load_number(result, "format_version", H5T_NATIVE_INT, &version)) {
        return fil_fail(error, FIL_E_FORMAT, "%s is an HDF5 file, but no result of a run",
                        result->path);
    }
    if (version != FIL_RESULT_FORMAT_VERSION) {
        return fil_fail(error, FIL_E_FORMAT, "%s has format %d; this version reads format %d",
                        result->path, version, FIL_RESULT_FORMAT_VERSION);
    }
    def->version = load_attribute(result, "version");
    def->name = load_attribute(result, "name");
    def->scene = load_dataset_text(result, "scene");
    def->options = load_dataset_text(result, "options");
    (void)load_number(result, "seed", H5T_NATIVE_INT64, &def->seed);
    (void)load_number(result, "step", H5T_NATIVE_DOUBLE, &def->step);
    def->rods = load_rows(result, FIL_TABLE_RODS, &def->rod_count);
    def->lines = load_rows(result, FIL_TABLE_LINES, &def->line_count);
    def->points = load_rows(result, FIL_TABLE_POINTS, &def->point_count);
    def->rigids = load_rows(result, FIL_TABLE_RIGIDS, &def->rigid_count);
    def->obstacles = load_rows(result, FIL_TABLE_OBSTACLES, &def->obstacle_count);
    if (def->rods == NULL || def->lines == NULL || def->points == NULL || def->rigids == NULL ||
        def->obstacles == NULL || !load_meshes(result)) {
        return fil_result_fail_hdf(result, "read", error);
    }
    return check_tables(result, error);
}

// --- what grows ----------------------------------------------------------------------------------

static bool open_series(FilResult *result, int index) {
    const FilSeries *series = &fil_result_series[index];
    if (series->optional && H5Lexists(result->file, series->path, H5P_DEFAULT) == 0) {
        return true; // the file is older
    }
    const int rank = fil_series_rank(series);
    const hid_t dataset = H5Dopen2(result->file, series->path, H5P_DEFAULT);
    result->series[index] = dataset;
    const hid_t space = dataset >= 0 ? H5Dget_space(dataset) : -1;
    hsize_t extent[3] = {0, 0, 1};
    const bool fits = space >= 0 && H5Sget_simple_extent_ndims(space) == rank &&
                      H5Sget_simple_extent_dims(space, extent, NULL) == rank &&
                      extent[1] == (hsize_t)fil_series_items(series, &result->def) &&
                      extent[2] == (hsize_t)series->width;
    fil_hdf_close(space);
    return fits;
}

// How many rows a table has by now.
static int64_t count_rows(FilResult *result, FilResultTable table) {
    if (result->growing) {
        (void)H5Drefresh(result->tables[table]);
    }
    const int64_t count = fil_hdf_rows_count(result->tables[table]);
    return count > 0 ? count : 0;
}

FilStatus fil_result_load(FilResult *result, FilError *error) {
    FIL_TRY(load_def(result, error));
    for (int k = 0; k < FIL_TABLE_GROWING; k++) {
        result->tables[k] = H5Dopen2(result->file, fil_result_tables[k].path, H5P_DEFAULT);
        if (result->tables[k] < 0) {
            return fil_result_fail_hdf(result, "read", error);
        }
    }
    for (int k = 0; k < FIL_SERIES_COUNT; k++) {
        if (!open_series(result, k)) {
            return fil_fail(error, FIL_E_FORMAT, "%s: %s is missing or of the wrong size",
                            result->path, fil_result_series[k].path);
        }
    }
    result->frame_count = count_rows(result, FIL_TABLE_FRAMES);
    result->step_count = count_rows(result, FIL_TABLE_STEPS);
    return FIL_OK;
}

bool fil_result_is_growing(const FilResult *result) {
    return result->growing && fil_result_is_locked(result->descriptor);
}

const FilResultDef *fil_result_def(const FilResult *result) {
    return &result->def;
}

int64_t fil_result_frame_count(FilResult *result) {
    if (!result->writing && result->growing) {
        result->frame_count = count_rows(result, FIL_TABLE_FRAMES);
    }
    return result->frame_count;
}

int64_t fil_result_step_count(FilResult *result) {
    if (!result->writing && result->growing) {
        result->step_count = count_rows(result, FIL_TABLE_STEPS);
    }
    return result->step_count + result->pending_count;
}

// --- one frame -----------------------------------------------------------------------------------

static FilStatus read_rows(FilResult *result, FilResultTable which, int64_t first, int64_t count,
                           void *rows, FilError *error) {
    if (!fil_hdf_table_read(result->tables[which], &fil_result_tables[which], first, count, rows,
                            &result->scratch)) {
        return fil_result_fail_hdf(result, "read", error);
    }
    return FIL_OK;
}

static FilStatus read_contacts(FilResult *result, const FilFrameRow *row, FilFrame *frame,
                               FilError *error) {
    const int64_t held = count_rows(result, FIL_TABLE_CONTACTS);
    if (row->first_contact < 0 || row->contact_count < 0 || row->contact_count > INT_MAX ||
        row->first_contact > held - row->contact_count) {
        return fail_format(result, "/frames refers to contacts that do not exist", error);
    }
    FilContact *contacts = FIL_NEW(&result->frame_arena, FilContact, row->contact_count);
    if (contacts == NULL) {
        return fil_result_fail_hdf(result, "read", error);
    }
    frame->contacts = contacts;
    frame->contact_count = (int)row->contact_count;
    return read_rows(result, FIL_TABLE_CONTACTS, row->first_contact, row->contact_count, contacts,
                     error);
}

static FilStatus read_series(FilResult *result, int index, int64_t frame_index, FilFrame *frame,
                             FilError *error) {
    const FilSeries *series = &fil_result_series[index];
    const hid_t dataset = result->series[index];
    if (series->optional && dataset < 0) {
        return FIL_OK;
    }
    const int items = fil_series_items(series, &result->def);
    double *values = FIL_NEW(&result->frame_arena, double, (size_t)items *(size_t)series->width);
    if (result->growing) {
        (void)H5Drefresh(dataset);
    }
    if (series->optional && frame_index >= fil_hdf_rows_count(dataset)) {
        return FIL_OK;
    }
    if (values == NULL || !fil_hdf_rows_read(dataset, H5T_NATIVE_DOUBLE, frame_index, 1, values)) {
        return fil_result_fail_hdf(result, "read", error);
    }
    if (!series->optional || items == 0 || !isnan(values[0])) {
        fil_series_set_array(series, frame, values);
    }
    return FIL_OK;
}

static FilStatus read_frame(FilResult *result, int64_t index, FilFrame *frame, FilError *error) {
    FilFrameRow row = {0};
    FIL_TRY(read_rows(result, FIL_TABLE_FRAMES, index, 1, &row, error));
    *frame = (FilFrame){.time = row.time, .step = row.step, .energy = row.energy};
    for (int k = 0; k < FIL_SERIES_COUNT; k++) {
        FIL_TRY(read_series(result, k, index, frame, error));
    }
    return read_contacts(result, &row, frame, error);
}

static FilStatus check_range(const FilResult *result, int64_t first, int64_t count, int64_t held,
                             const char *what, FilError *error) {
    if (result->writing) {
        return fil_fail(error, FIL_E_ARGUMENT, "%s is open for writing", result->path);
    }
    if (first < 0 || count < 0 || first > held - count) {
        return fil_fail(error, FIL_E_ARGUMENT, "%s has %lld %s; number %lld is not among them",
                        result->path, (long long)held, what,
                        (long long)(first < 0 ? first : first + count - 1));
    }
    return FIL_OK;
}

FilStatus fil_result_read(FilResult *result, int64_t index, FilFrame *frame, FilError *error) {
    const FilHdfQuiet quiet = fil_hdf_quiet_begin();
    fil_arena_reset(&result->frame_arena);
    FilStatus status =
        check_range(result, index, 1, fil_result_frame_count(result), "frames", error);
    if (status == FIL_OK) {
        status = read_frame(result, index, frame, error);
    }
    fil_hdf_quiet_end(quiet);
    return status;
}

// Rows of the table of frames; they belong to the result.
static FilStatus read_frame_rows(FilResult *result, int64_t first, int64_t count,
                                 FilFrameRow **rows, FilError *error) {
    const FilHdfQuiet quiet = fil_hdf_quiet_begin();
    fil_arena_reset(&result->frame_arena);
    FilStatus status =
        check_range(result, first, count, fil_result_frame_count(result), "frames", error);
    *rows = status == FIL_OK ? FIL_NEW(&result->frame_arena, FilFrameRow, count) : NULL;
    if (status == FIL_OK && *rows == NULL) {
        status = fil_result_fail_hdf(result, "read", error);
    }
    if (status == FIL_OK) {
        status = read_rows(result, FIL_TABLE_FRAMES, first, count, *rows, error);
    }
    fil_hdf_quiet_end(quiet);
    return status;
}

FilStatus fil_result_read_times(FilResult *result, int64_t first, int64_t count, double *times,
                                FilError *error) {
    FilFrameRow *rows = NULL;
    FIL_TRY(read_frame_rows(result, first, count, &rows, error));
    for (int64_t k = 0; k < count; k++) {
        times[k] = rows[k].time;
    }
    return FIL_OK;
}

FilStatus fil_result_read_energies(FilResult *result, int64_t first, int64_t count,
                                   FilRodEnergy *energies, FilError *error) {
    FilFrameRow *rows = NULL;
    FIL_TRY(read_frame_rows(result, first, count, &rows, error));
    for (int64_t k = 0; k < count; k++) {
        energies[k] = rows[k].energy;
    }
    return FIL_OK;
}

FilStatus fil_result_read_steps(FilResult *result, int64_t first, int64_t count,
                                FilResultStep *steps, FilError *error) {
    const FilHdfQuiet quiet = fil_hdf_quiet_begin();
    FilStatus status =
        check_range(result, first, count, fil_result_step_count(result), "steps", error);
    if (status == FIL_OK) {
        status = read_rows(result, FIL_TABLE_STEPS, first, count, steps, error);
    }
    fil_hdf_quiet_end(quiet);
    return status;
}
