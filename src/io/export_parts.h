#ifndef FIL_IO_EXPORT_PARTS_H
#define FIL_IO_EXPORT_PARTS_H

// What the exporters share.

#include "base/arena.h"
#include "base/error.h"
#include "filum/export.h"
#include "io/atomic.h"

/// An export under way. Frames are those chosen, counted from 0.
typedef struct FilExport {
    FilResult *result;
    const FilResultDef *def;
    const FilExportOptions *options;
    const char *folder, *name;
    const char *stem; // of the names of files, after `name`; "" at first
    bool y_up, as_is;
    int64_t first_frame, frame_count;
    int64_t file_count; // written so far
    FilArena scratch;   // reset for each frame
    FilError *error;
} FilExport;

/// One format: the file of a frame (NULL: it has none), and files of the run as a whole.
typedef struct FilExportKind {
    FilStatus (*frame)(FilExport *job, int64_t k, const FilFrame *frame);
    FilStatus (*run)(FilExport *job);
    const char *frame_suffix;     // of the frame's file, after its number
    const char *run_suffixes[16]; // of the files of the run, up to a NULL
    const char *side_stems[3]; // of the names of further files that frames may have, up to a NULL
    bool is_y_up;              // by default
    bool is_table;             // numbers as they are, also those that are none
} FilExportKind;

extern const FilExportKind fil_export_usda, fil_export_hair, fil_export_glb, fil_export_vtp,
    fil_export_csv, fil_export_npy, fil_export_obj;

/// Contacts beside the lines of vtp: files of their own.
#define FIL_VTP_CONTACTS "-contacts"
FilStatus fil_export_vtp_contacts(FilExport *job) FIL_MUST_CHECK;
/// Bodies and obstacles beside them: a file for each frame.
#define FIL_VTP_SOLIDS "-solids"
FilStatus fil_export_vtp_solids(FilExport *job) FIL_MUST_CHECK;
/// A text as XML wants it.
void fil_export_print_xml(FilFileWriter *writer, const char *text);

/// "there is not enough memory to export".
FilStatus fil_export_no_memory(const FilExport *job);

/// The number in the result of chosen frame `k`.
int64_t fil_export_index(const FilExport *job, int64_t k);
/// Fails where the user wants no more.
FilStatus fil_export_go_on(const FilExport *job, int64_t k) FIL_MUST_CHECK;
/// Read chosen frame `k`, turned as the options ask; it lives in the result and in scratch.
FilStatus fil_export_read(FilExport *job, int64_t k, FilFrame *frame) FIL_MUST_CHECK;

/// When the chosen frames show.
typedef struct FilExportClock {
    double fps;         // frames in a second
    double slow;        // a second of the world takes so many on the screen
    const double *time; // [frame_count] s, from 0 on
} FilExportClock;
/// Its array lives in `memory`.
FilStatus fil_export_clock(FilExport *job, FilArena *memory, FilExportClock *clock) FIL_MUST_CHECK;

/// Begin the file of chosen frame `k`, or of the run (k = -1) with this suffix; end with
/// fil_export_end(), which counts it.
FilStatus fil_export_begin(FilExport *job, FilFileWriter *writer, int64_t k,
                           const char *suffix) FIL_MUST_CHECK;
FilStatus fil_export_end(FilExport *job, FilFileWriter *writer, FilStatus so_far) FIL_MUST_CHECK;

#endif
