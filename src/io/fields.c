// fields.c - checked reading of single HDF5 datasets.
//
// What a hostile file could do, and what stops it:
//   1. lead to other files: only hard links are followed; external and virtual storage is refused;
//   2. promise more data than it holds: the stored bytes, times the best ratio that deflate can
//      reach where filters are in use, must cover the data before memory is taken;
//   3. odd types: only the plain integers and IEEE numbers of either byte order are converted;
//   4. odd values: integers are read at 64 bits and must fit 32, reals must be finite.
#include "fields.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    DEFLATE_RATIO = 1032, // zlib never does better
    CHUNK_SLACK = 1 << 16,
    TEXT_MAX = 1 << 16
};

FilFields fil_fields_make(const char *name, size_t size, FilArena *scratch, FilError *error) {
    FilFields fields = {.size = size, .scratch = scratch, .error = error};
    const size_t length = strlen(name), room = sizeof fields.name - 4;
    if (length <= room) {
        (void)snprintf(fields.name, sizeof fields.name, "%s", name);
    } else { // the end of a path says more than its beginning
        (void)snprintf(fields.name, sizeof fields.name, "...%s", name + length - room);
    }
    for (char *c = fields.name; *c != '\0'; c++) {
        if ((unsigned char)*c < 32 || *c == 127) {
            *c = '?';
        }
    }
    return fields;
}

FilStatus fil_fields_fail(const FilFields *fields, FilStatus status, const char *format, ...) {
    char sentence[sizeof fields->error->text];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    return fil_fail(fields->error, status, "%s: %s", fields->name, sentence);
}

FilStatus fil_fields_no_memory(const FilFields *fields) {
    return fil_fields_fail(fields, FIL_E_NO_MEMORY, "there is not enough memory to read it");
}

bool fil_group_has(const FilGroup *group, const char *name) {
    return H5Lexists(group->id, name, H5P_DEFAULT) > 0;
}

// Open an object that a hard link leads to.
static FilStatus open_object(const FilFields *fields, const FilGroup *parent, const char *name,
                             H5I_type_t type, hid_t *out) {
    const htri_t exists = H5Lexists(parent->id, name, H5P_DEFAULT);
    if (exists == 0) {
        return fil_fields_fail(fields, FIL_E_FORMAT, "%s/%s is missing", parent->path, name);
    }
    H5L_info_t link = {.type = H5L_TYPE_ERROR};
    const bool found = exists > 0 && H5Lget_info(parent->id, name, &link, H5P_DEFAULT) >= 0;
    if (found && link.type != H5L_TYPE_HARD) {
        return fil_fields_fail(fields, FIL_E_FORMAT,
                               "%s/%s is a link to another place; it must be in the file itself",
                               parent->path, name);
    }
    const hid_t id = found ? H5Oopen(parent->id, name, H5P_DEFAULT) : -1;
    if (id < 0) {
        return fil_fields_fail(fields, FIL_E_FORMAT, "%s/%s is damaged: %s", parent->path, name,
                               fil_hdf_reason().text);
    }
    if (H5Iget_type(id) != type) {
        fil_hdf_close(id);
        return fil_fields_fail(fields, FIL_E_FORMAT, "%s/%s must be a %s", parent->path, name,
                               type == H5I_GROUP ? "group" : "dataset");
    }
    *out = id;
    return FIL_OK;
}

FilStatus fil_group_open(const FilFields *fields, const FilGroup *parent, const char *name,
                         FilGroup *out) {
    FilGroup group = {.id = -1};
    FIL_TRY(open_object(fields, parent, name, H5I_GROUP, &group.id));
    // all names are ours and short
    (void)snprintf(group.path, sizeof group.path, "%.40s/%.20s", parent->path, name);
    *out = group;
    return FIL_OK;
}

void fil_group_close(FilGroup *group) {
    fil_hdf_close(group->id);
    group->id = -1;
}

// A dataset, its place and how many values it holds.
typedef struct Array {
    hid_t id;
    const char *path, *name;
    int count;
} Array;

static FilStatus read_count(const FilFields *fields, Array *array, hid_t space) {
    hsize_t extent[H5S_MAX_RANK] = {0}, longest = 1;
    const int rank = H5Sget_simple_extent_dims(space, extent, NULL);
    const hssize_t points = H5Sget_simple_extent_npoints(space);
    if (rank < 0 || points < 0) {
        return fil_fields_fail(fields, FIL_E_FORMAT, "%s/%s is damaged: %s", array->path,
                               array->name, fil_hdf_reason().text);
    }
    for (int k = 0; k < rank; k++) {
        longest = k == 0 || extent[k] > longest ? extent[k] : longest;
    }
    if (points != 0 && (hsize_t)points != longest) {
        return fil_fields_fail(fields, FIL_E_FORMAT,
                               "%s/%s has %d dimensions; it must be a plain list", array->path,
                               array->name, rank);
    }
    if (points > INT_MAX) {
        return fil_fields_fail(fields, FIL_E_FORMAT,
                               "%s/%s has %lld entries; it must have fewer than 2^31", array->path,
                               array->name, (long long)points);
    }
    array->count = (int)points;
    return FIL_OK;
}

// How many bytes of data the dataset's storage can stand for; negative when it is not to be read.
static double measure_storage(const FilFields *fields, const Array *array, hid_t plan) {
    const H5D_layout_t layout = H5Pget_layout(plan);
    const double stored = fmin((double)H5Dget_storage_size(array->id), (double)fields->size);
    if (layout == H5D_COMPACT || layout == H5D_CONTIGUOUS) {
        return H5Pget_external_count(plan) == 0 ? stored : -1.0;
    }
    if (layout == H5D_CHUNKED) {
        hsize_t chunk[H5S_MAX_RANK] = {0};
        const int rank = H5Pget_chunk(plan, H5S_MAX_RANK, chunk);
        double cells = rank > 0 ? 1.0 : INFINITY;
        for (int k = 0; k < rank; k++) {
            cells *= (double)chunk[k];
        }
        return cells <= (double)array->count + CHUNK_SLACK
                   ? stored * (H5Pget_nfilters(plan) > 0 ? DEFLATE_RATIO : 1)
                   : -1.0;
    }
    return -1.0;
}

static FilStatus check_storage(const FilFields *fields, const Array *array, size_t value_size) {
    const hid_t plan = H5Dget_create_plist(array->id);
    const double held = plan >= 0 ? measure_storage(fields, array, plan) : -1.0;
    fil_hdf_close(plan);
    const double promised = (double)array->count * (double)value_size;
    if (held < 0.0) {
        return fil_fields_fail(fields, FIL_E_FORMAT,
                               "%s/%s is stored in a way that is not supported; it must be in the "
                               "file itself, contiguous or in chunks",
                               array->path, array->name);
    }
    if (promised > held) {
        return fil_fields_fail(fields, FIL_E_FORMAT,
                               "%s/%s promises %.0f bytes; the file holds only %.0f of them",
                               array->path, array->name, promised, held);
    }
    return FIL_OK;
}

static bool is_among(hid_t type, const hid_t *types, int count) {
    for (int k = 0; k < count; k++) {
        if (H5Tequal(type, types[k]) > 0) {
            return true;
        }
    }
    return false;
}

static bool is_integer(hid_t type) {
    const hid_t types[] = {H5T_STD_I32LE, H5T_STD_I64LE, H5T_STD_I8LE,  H5T_STD_I16LE,
                           H5T_STD_U8LE,  H5T_STD_U16LE, H5T_STD_U32LE, H5T_STD_U64LE,
                           H5T_STD_I8BE,  H5T_STD_I16BE, H5T_STD_I32BE, H5T_STD_I64BE,
                           H5T_STD_U8BE,  H5T_STD_U16BE, H5T_STD_U32BE, H5T_STD_U64BE};
    return is_among(type, types, (int)(sizeof types / sizeof *types));
}

static bool is_real(hid_t type) {
    const hid_t types[] = {H5T_IEEE_F64LE, H5T_IEEE_F32LE, H5T_IEEE_F64BE, H5T_IEEE_F32BE};
    return is_among(type, types, (int)(sizeof types / sizeof *types)) || is_integer(type);
}

static FilStatus check_array(const FilFields *fields, Array *array, bool (*accepts)(hid_t type),
                             const char *want) {
    const hid_t type = H5Dget_type(array->id), space = H5Dget_space(array->id);
    const bool fits = type >= 0 && accepts(type);
    const size_t value_size = fits ? H5Tget_size(type) : 0;
    fil_hdf_close(type);
    FilStatus status = FIL_OK;
    if (!fits) {
        status = fil_fields_fail(fields, FIL_E_FORMAT, "%s/%s has the wrong type; it must hold %s",
                                 array->path, array->name, want);
    }
    status = status == FIL_OK ? read_count(fields, array, space) : status;
    fil_hdf_close(space);
    return status == FIL_OK ? check_storage(fields, array, value_size) : status;
}

// Read a dataset whole, converted to `type`, into scratch memory.
static FilStatus read_array(const FilFields *fields, Array *array, hid_t type, size_t size,
                            void **values) {
    *values = fil_arena_get(fields->scratch, (size_t)array->count, size);
    if (*values == NULL) {
        return fil_fields_no_memory(fields);
    }
    if (array->count > 0 && H5Dread(array->id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, *values) < 0) {
        return fil_fields_fail(fields, FIL_E_FORMAT, "%s/%s cannot be read: %s", array->path,
                               array->name, fil_hdf_reason().text);
    }
    return FIL_OK;
}

static FilStatus load_ints(const FilFields *fields, Array *array, FilInts *out) {
    FIL_TRY(check_array(fields, array, is_integer, "integers"));
    int *value = FIL_NEW(fields->scratch, int, array->count);
    const FilArenaMark mark = fil_arena_mark(fields->scratch);
    void *wide = NULL;
    FIL_TRY(read_array(fields, array, H5T_NATIVE_LLONG, sizeof(long long), &wide));
    if (value == NULL) {
        return fil_fields_no_memory(fields);
    }
    for (int k = 0; k < array->count; k++) {
        const long long number = ((const long long *)wide)[k];
        if (number < INT_MIN || number > INT_MAX) {
            return fil_fields_fail(fields, FIL_E_FORMAT,
                                   "%s/%s[%d] is %lld; it must fit in 32 bits", array->path,
                                   array->name, k, number);
        }
        value[k] = (int)number;
    }
    fil_arena_release(fields->scratch, mark);
    *out = (FilInts){.count = array->count, .value = value};
    return FIL_OK;
}

static FilStatus load_reals(const FilFields *fields, Array *array, FilReals *out) {
    FIL_TRY(check_array(fields, array, is_real, "real numbers"));
    void *values = NULL;
    FIL_TRY(read_array(fields, array, H5T_NATIVE_DOUBLE, sizeof(double), &values));
    const double *value = values;
    for (int k = 0; k < array->count; k++) {
        if (!isfinite(value[k])) {
            return fil_fields_fail(fields, FIL_E_FORMAT, "%s/%s[%d] is %g; it must be finite",
                                   array->path, array->name, k, value[k]);
        }
    }
    *out = (FilReals){.count = array->count, .value = value};
    return FIL_OK;
}

FilStatus fil_read_ints(const FilFields *fields, const FilGroup *group, const char *name,
                        FilInts *out) {
    Array array = {.id = -1, .path = group->path, .name = name};
    FIL_TRY(open_object(fields, group, name, H5I_DATASET, &array.id));
    const FilStatus status = load_ints(fields, &array, out);
    fil_hdf_close(array.id);
    return status;
}

FilStatus fil_read_reals(const FilFields *fields, const FilGroup *group, const char *name,
                         FilReals *out) {
    Array array = {.id = -1, .path = group->path, .name = name};
    FIL_TRY(open_object(fields, group, name, H5I_DATASET, &array.id));
    const FilStatus status = load_reals(fields, &array, out);
    fil_hdf_close(array.id);
    return status;
}

FilStatus fil_read_int(const FilFields *fields, const FilGroup *group, const char *name, int *out) {
    FilInts ints = {0};
    FIL_TRY(fil_read_ints(fields, group, name, &ints));
    if (ints.count != 1) {
        return fil_fields_fail(fields, FIL_E_FORMAT, "%s/%s has %d entries; it must have 1",
                               group->path, name, ints.count);
    }
    *out = ints.value[0];
    return FIL_OK;
}

static bool is_text(hid_t type) {
    return H5Tget_class(type) == H5T_STRING;
}

// A string whose length the file's heap knows (as h5py writes them).
static FilStatus load_variable_text(const FilFields *fields, const Array *array, hid_t type,
                                    FilArena *keep, const char **out) {
    char *text = NULL;
    if (H5Dread(array->id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &text) < 0) {
        return fil_fields_fail(fields, FIL_E_FORMAT, "%s/%s cannot be read: %s", array->path,
                               array->name, fil_hdf_reason().text);
    }
    const size_t size = text != NULL ? strlen(text) + 1 : 1;
    char *copy = FIL_NEW(keep, char, size);
    if (copy != NULL) {
        memcpy(copy, text != NULL ? text : "", size);
    }
    (void)H5free_memory(text);
    if (copy == NULL) {
        return fil_fields_no_memory(fields);
    }
    *out = copy;
    return FIL_OK;
}

static FilStatus load_fixed_text(const FilFields *fields, const Array *array, hid_t type,
                                 FilArena *keep, const char **out) {
    const size_t size = H5Tget_size(type);
    if (size > TEXT_MAX) {
        return fil_fields_fail(fields, FIL_E_FORMAT, "%s/%s has %zu bytes; at most %d are read",
                               array->path, array->name, size, TEXT_MAX);
    }
    char *text = FIL_NEW_ZEROED(keep, char, size + 1);
    if (text == NULL) {
        return fil_fields_no_memory(fields);
    }
    if (H5Dread(array->id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) < 0) {
        return fil_fields_fail(fields, FIL_E_FORMAT, "%s/%s cannot be read: %s", array->path,
                               array->name, fil_hdf_reason().text);
    }
    *out = text;
    return FIL_OK;
}

static FilStatus load_text(const FilFields *fields, Array *array, FilArena *keep,
                           const char **out) {
    FIL_TRY(check_array(fields, array, is_text, "a string"));
    if (array->count != 1) {
        return fil_fields_fail(fields, FIL_E_FORMAT, "%s/%s has %d entries; it must have 1",
                               array->path, array->name, array->count);
    }
    const hid_t type = H5Dget_type(array->id);
    const FilStatus status = H5Tis_variable_str(type) > 0
                                 ? load_variable_text(fields, array, type, keep, out)
                                 : load_fixed_text(fields, array, type, keep, out);
    fil_hdf_close(type);
    return status;
}

FilStatus fil_read_text(const FilFields *fields, const FilGroup *group, const char *name,
                        FilArena *keep, const char **out) {
    *out = "";
    if (!fil_group_has(group, name)) {
        return FIL_OK;
    }
    Array array = {.id = -1, .path = group->path, .name = name};
    FIL_TRY(open_object(fields, group, name, H5I_DATASET, &array.id));
    const FilStatus status = load_text(fields, &array, keep, out);
    fil_hdf_close(array.id);
    return status;
}
