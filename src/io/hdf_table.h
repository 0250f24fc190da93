#ifndef FIL_IO_HDF_TABLE_H
#define FIL_IO_HDF_TABLE_H

// Tables in HDF5 files: arrays of C structs as compound datasets, described by a list of fields.

#include "base/arena.h"
#include "base/error.h"
#include "io/hdf.h"

#define FIL_TABLE_TEXT 64 // bytes of a text in a row, with the 0 at its end
#define FIL_TABLE_FIELDS 40

typedef enum FilFieldType {
    FIL_FIELD_REAL,
    FIL_FIELD_INT,
    FIL_FIELD_LONG,
    FIL_FIELD_TEXT,
    // enumerations, which carry their names into the file
    FIL_FIELD_BODY_KIND,
    FIL_FIELD_CONTACT_STATE,
    FIL_FIELD_OUTCOME,
    FIL_FIELD_ROD_MODEL,
    FIL_FIELD_SHAPE,
} FilFieldType;

typedef struct FilField {
    const char *name, *unit;
    size_t offset; // in the struct
    FilFieldType type;
    int count; // numbers of the field: 1, or 3 of a vector
} FilField;

typedef struct FilHdfTable {
    const char *path; // in the file
    const char *text; // what it holds, an attribute of the dataset
    const FilField *fields;
    int field_count;
    int chunk_rows;  // 0: it does not grow
    size_t row_size; // of the struct
} FilHdfTable;

/// Make the dataset, of `count` rows where it does not grow, empty otherwise. Every field's unit is
/// an attribute of the field's name. Negative on failure.
hid_t fil_hdf_table_create(hid_t file, const FilHdfTable *table, int64_t count);

/// Bytes of a row in the file.
size_t fil_hdf_table_packed_size(const FilHdfTable *table);

/// Write `count` rows from row `first` on, after growing the dataset to end there. `scratch` holds
/// them packed meanwhile.
bool fil_hdf_table_write(hid_t dataset, const FilHdfTable *table, int64_t first, int64_t count,
                         const void *rows, FilArena *scratch);

/// Read rows; enumerations are in range, texts end. False when that cannot be.
bool fil_hdf_table_read(hid_t dataset, const FilHdfTable *table, int64_t first, int64_t count,
                        void *rows, FilArena *scratch);

/// A string attribute, and a string dataset. Negative on failure.
herr_t fil_hdf_attribute(hid_t object, const char *name, const char *text);
herr_t fil_hdf_text(hid_t file, const char *name, const char *text);

/// A data transfer between a block of rows of a dataset and memory; the other dimensions whole.
bool fil_hdf_rows_write(hid_t dataset, hid_t type, int64_t first, int64_t count, const void *rows);
bool fil_hdf_rows_read(hid_t dataset, hid_t type, int64_t first, int64_t count, void *rows);

/// Change the number of rows; how many there are, -1 when it cannot be told.
bool fil_hdf_rows_resize(hid_t dataset, int64_t count);
int64_t fil_hdf_rows_count(hid_t dataset);

#endif
