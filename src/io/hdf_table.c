// hdf_table.c - C structs as HDF5 compound datasets.
//
// One list of fields describes both sides. In the file a row is packed: no padding, so that the
// same values give the same bytes, and no conversion by HDF5, which is slow for compounds: rows are
// copied field by field, neighbours joined into one copy. When a file's rows are laid out
// differently (written by another version) HDF5 matches the fields by name while reading.
#include "hdf_table.h"

#include "filum/world.h"

#include <string.h>

_Static_assert(sizeof(FilBodyKind) == sizeof(int), "enumerations are read and written as int");

#define NAME_OF(code, name) name,
#define NAME_OF_THREE(code, name, text) name,
static const char *const body_kinds[] = {FIL_BODY_KINDS(NAME_OF)};
static const char *const contact_states[] = {FIL_CONTACT_STATES(NAME_OF)};
static const char *const outcomes[] = {FIL_OUTCOMES(NAME_OF_THREE)};
static const char *const rod_models[] = {FIL_ROD_MODEL_TABLE(NAME_OF_THREE)};
static const char *const shapes[] = {FIL_SHAPE_TABLE(NAME_OF_THREE)};

typedef struct Names {
    const char *const *name;
    int count;
} Names;

#define NAMES(list) ((Names){(list), (int)(sizeof(list) / sizeof *(list))})

static Names names_of(FilFieldType type) {
    switch (type) {
    case FIL_FIELD_BODY_KIND:
        return NAMES(body_kinds);
    case FIL_FIELD_CONTACT_STATE:
        return NAMES(contact_states);
    case FIL_FIELD_OUTCOME:
        return NAMES(outcomes);
    case FIL_FIELD_ROD_MODEL:
        return NAMES(rod_models);
    case FIL_FIELD_SHAPE:
        return NAMES(shapes);
    case FIL_FIELD_REAL:
    case FIL_FIELD_INT:
    case FIL_FIELD_LONG:
    case FIL_FIELD_TEXT:
        break;
    }
    return (Names){NULL, 0};
}

static size_t field_size(const FilField *field) {
    switch (field->type) {
    case FIL_FIELD_REAL:
        return (size_t)field->count * sizeof(double);
    case FIL_FIELD_LONG:
        return (size_t)field->count * sizeof(int64_t);
    case FIL_FIELD_TEXT:
        return FIL_TABLE_TEXT;
    default:
        return (size_t)field->count * sizeof(int);
    }
}

size_t fil_hdf_table_packed_size(const FilHdfTable *table) {
    size_t size = 0;
    for (int k = 0; k < table->field_count; k++) {
        size += field_size(&table->fields[k]);
    }
    return size;
}

// --- types ---------------------------------------------------------------------------------------

static hid_t make_text_type(size_t size) {
    const hid_t type = H5Tcopy(H5T_C_S1);
    if (type >= 0 && (H5Tset_size(type, size) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0 ||
                      H5Tset_strpad(type, H5T_STR_NULLPAD) < 0)) {
        (void)H5Tclose(type);
        return -1;
    }
    return type;
}

static hid_t make_single_type(FilFieldType kind) {
    if (kind == FIL_FIELD_REAL) {
        return H5Tcopy(H5T_NATIVE_DOUBLE);
    }
    if (kind == FIL_FIELD_LONG) {
        return H5Tcopy(H5T_NATIVE_INT64);
    }
    if (kind == FIL_FIELD_TEXT) {
        return make_text_type(FIL_TABLE_TEXT);
    }
    const Names names = names_of(kind);
    if (names.count == 0) {
        return H5Tcopy(H5T_NATIVE_INT);
    }
    const hid_t type = H5Tenum_create(H5T_NATIVE_INT);
    for (int k = 0; k < names.count; k++) {
        (void)H5Tenum_insert(type, names.name[k], &k);
    }
    return type;
}

static hid_t make_field_type(const FilField *field) {
    const hid_t single = make_single_type(field->type);
    if (single < 0 || field->count == 1) {
        return single;
    }
    const hsize_t count = (hsize_t)field->count;
    const hid_t array = H5Tarray_create2(single, 1, &count);
    (void)H5Tclose(single);
    return array;
}

static hid_t make_row_type(const FilHdfTable *table) {
    const hid_t type = H5Tcreate(H5T_COMPOUND, fil_hdf_table_packed_size(table));
    size_t offset = 0;
    for (int k = 0; type >= 0 && k < table->field_count; k++) {
        const FilField *field = &table->fields[k];
        const hid_t member = make_field_type(field);
        const bool placed = member >= 0 && H5Tinsert(type, field->name, offset, member) >= 0;
        fil_hdf_close(member);
        if (!placed) {
            (void)H5Tclose(type);
            return -1;
        }
        offset += field_size(field);
    }
    return type;
}

// --- packing -------------------------------------------------------------------------------------

// A stretch of bytes that a struct and a packed row have in common.
typedef struct Run {
    size_t from, to, size;
} Run;

static int find_runs(const FilHdfTable *table, Run runs[FIL_TABLE_FIELDS]) {
    FIL_ASSERT(table->field_count <= FIL_TABLE_FIELDS);
    int count = 0;
    size_t packed = 0;
    for (int k = 0; k < table->field_count; k++) {
        const FilField *field = &table->fields[k];
        Run *last = count > 0 ? &runs[count - 1] : NULL;
        if (last != NULL && last->from + last->size == field->offset) {
            last->size += field_size(field);
        } else {
            runs[count++] = (Run){.from = field->offset, .to = packed, .size = field_size(field)};
        }
        packed += field_size(field);
    }
    return count;
}

static void pack(const FilHdfTable *table, int64_t count, const char *rows, char *packed) {
    Run runs[FIL_TABLE_FIELDS];
    const int run_count = find_runs(table, runs);
    const size_t size = fil_hdf_table_packed_size(table);
    for (int64_t i = 0; i < count; i++, rows += table->row_size, packed += size) {
        for (int k = 0; k < run_count; k++) {
            memcpy(packed + runs[k].to, rows + runs[k].from, runs[k].size);
        }
    }
}

static void unpack(const FilHdfTable *table, int64_t count, char *rows, const char *packed) {
    Run runs[FIL_TABLE_FIELDS];
    const int run_count = find_runs(table, runs);
    const size_t size = fil_hdf_table_packed_size(table);
    memset(rows, 0, (size_t)count * table->row_size);
    for (int64_t i = 0; i < count; i++, rows += table->row_size, packed += size) {
        for (int k = 0; k < run_count; k++) {
            memcpy(rows + runs[k].from, packed + runs[k].to, runs[k].size);
        }
    }
}

// Enumerations are used as indices, texts as strings: a file is not believed.
static bool check_field(const FilHdfTable *table, const FilField *field, int64_t count,
                        char *rows) {
    const Names names = names_of(field->type);
    for (int64_t i = 0; i < count; i++) {
        char *at = rows + (size_t)i * table->row_size + field->offset;
        if (field->type == FIL_FIELD_TEXT) {
            at[FIL_TABLE_TEXT - 1] = '\0';
            continue;
        }
        int value = 0;
        memcpy(&value, at, sizeof value);
        if (value < 0 || value >= names.count) {
            return false;
        }
    }
    return true;
}

static bool check_rows(const FilHdfTable *table, int64_t count, char *rows) {
    for (int k = 0; k < table->field_count; k++) {
        const FilField *field = &table->fields[k];
        const bool plain = field->type != FIL_FIELD_TEXT && names_of(field->type).count == 0;
        if (!plain && !check_field(table, field, count, rows)) {
            return false;
        }
    }
    return true;
}

// --- datasets ------------------------------------------------------------------------------------

herr_t fil_hdf_attribute(hid_t object, const char *name, const char *text) {
    const size_t length = strlen(text);
    const hid_t type = make_text_type(length > 0 ? length : 1), space = H5Screate(H5S_SCALAR);
    const hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const herr_t done = attribute < 0 ? -1 : H5Awrite(attribute, type, text);
    fil_hdf_close(attribute);
    fil_hdf_close(space);
    fil_hdf_close(type);
    return done;
}

herr_t fil_hdf_text(hid_t file, const char *name, const char *text) {
    const size_t length = strlen(text);
    const hid_t type = make_text_type(length > 0 ? length : 1), space = H5Screate(H5S_SCALAR);
    const hid_t dataset =
        H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const herr_t done =
        dataset < 0 ? -1 : H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text);
    fil_hdf_close(dataset);
    fil_hdf_close(space);
    fil_hdf_close(type);
    return done;
}

static bool write_units(hid_t dataset, const FilHdfTable *table) {
    bool fine = fil_hdf_attribute(dataset, "about", table->text) >= 0;
    for (int k = 0; fine && k < table->field_count; k++) {
        const FilField *field = &table->fields[k];
        fine = field->unit == NULL || fil_hdf_attribute(dataset, field->name, field->unit) >= 0;
    }
    return fine;
}

hid_t fil_hdf_table_create(hid_t file, const FilHdfTable *table, int64_t count) {
    const bool grows = table->chunk_rows > 0;
    const hsize_t rows = grows ? 0 : (hsize_t)count, most = grows ? H5S_UNLIMITED : rows;
    const hsize_t chunk = (hsize_t)table->chunk_rows;
    const hid_t type = make_row_type(table), space = H5Screate_simple(1, &rows, &most);
    const hid_t plan = H5Pcreate(H5P_DATASET_CREATE);
    hid_t dataset = -1;
    if (!grows || H5Pset_chunk(plan, 1, &chunk) >= 0) {
        dataset = H5Dcreate2(file, table->path, type, space, H5P_DEFAULT, plan, H5P_DEFAULT);
    }
    if (dataset >= 0 && !write_units(dataset, table)) {
        (void)H5Dclose(dataset);
        dataset = -1;
    }
    fil_hdf_close(plan);
    fil_hdf_close(space);
    fil_hdf_close(type);
    return dataset;
}

// The part of a dataset that a transfer is about: select rows, and give a space of their shape.
static hid_t select_rows(hid_t space, int64_t first, int64_t count) {
    hsize_t size[H5S_MAX_RANK] = {0}, start[H5S_MAX_RANK] = {0};
    const int rank = H5Sget_simple_extent_dims(space, size, NULL);
    if (rank < 1) {
        return -1;
    }
    start[0] = (hsize_t)first;
    size[0] = (hsize_t)count;
    if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL) < 0) {
        return -1;
    }
    return H5Screate_simple(rank, size, NULL);
}

bool fil_hdf_rows_write(hid_t dataset, hid_t type, int64_t first, int64_t count, const void *rows) {
    const hid_t space = H5Dget_space(dataset), part = select_rows(space, first, count);
    const bool done = part >= 0 && (H5Sget_select_npoints(part) == 0 ||
                                    H5Dwrite(dataset, type, part, space, H5P_DEFAULT, rows) >= 0);
    fil_hdf_close(part);
    fil_hdf_close(space);
    return done;
}

bool fil_hdf_rows_read(hid_t dataset, hid_t type, int64_t first, int64_t count, void *rows) {
    const hid_t space = H5Dget_space(dataset), part = select_rows(space, first, count);
    const bool done = part >= 0 && (H5Sget_select_npoints(part) == 0 ||
                                    H5Dread(dataset, type, part, space, H5P_DEFAULT, rows) >= 0);
    fil_hdf_close(part);
    fil_hdf_close(space);
    return done;
}

static int get_extent(hid_t dataset, hsize_t extent[H5S_MAX_RANK]) {
    const hid_t space = H5Dget_space(dataset);
    const int rank = space >= 0 ? H5Sget_simple_extent_dims(space, extent, NULL) : -1;
    fil_hdf_close(space);
    return rank;
}

bool fil_hdf_rows_resize(hid_t dataset, int64_t count) {
    hsize_t extent[H5S_MAX_RANK] = {0};
    if (get_extent(dataset, extent) < 1) {
        return false;
    }
    extent[0] = (hsize_t)count;
    return H5Dset_extent(dataset, extent) >= 0;
}

int64_t fil_hdf_rows_count(hid_t dataset) {
    hsize_t extent[H5S_MAX_RANK] = {0};
    return get_extent(dataset, extent) < 1 ? -1 : (int64_t)extent[0];
}

bool fil_hdf_table_write(hid_t dataset, const FilHdfTable *table, int64_t first, int64_t count,
                         const void *rows, FilArena *scratch) {
    if (count == 0) {
        return true;
    }
    const FilArenaMark mark = fil_arena_mark(scratch);
    char *packed = fil_arena_get(scratch, (size_t)count, fil_hdf_table_packed_size(table));
    const hid_t type = packed != NULL ? make_row_type(table) : -1;
    bool done = false;
    if (type >= 0 && (table->chunk_rows == 0 || fil_hdf_rows_resize(dataset, first + count))) {
        pack(table, count, rows, packed);
        done = fil_hdf_rows_write(dataset, type, first, count, packed);
    }
    fil_hdf_close(type);
    fil_arena_release(scratch, mark);
    return done;
}

bool fil_hdf_table_read(hid_t dataset, const FilHdfTable *table, int64_t first, int64_t count,
                        void *rows, FilArena *scratch) {
    if (count == 0) {
        return true;
    }
    const FilArenaMark mark = fil_arena_mark(scratch);
    char *packed = fil_arena_get_zeroed(scratch, (size_t)count, fil_hdf_table_packed_size(table));
    const hid_t type = packed != NULL ? make_row_type(table) : -1;
    bool done = false;
    if (type >= 0 && fil_hdf_rows_read(dataset, type, first, count, packed)) {
        unpack(table, count, rows, packed);
        done = check_rows(table, count, rows);
    }
    fil_hdf_close(type);
    fil_arena_release(scratch, mark);
    return done;
}
