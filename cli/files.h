#ifndef FIL_CLI_FILES_H
#define FIL_CLI_FILES_H

// What the command line names: files and folders in, a folder out.

#include "cli.h"

// One file to work on, and where the result goes.
typedef struct CliJob {
    char *input, *output; // output NULL: nowhere
} CliJob;

typedef struct CliJobs {
    CliJob *list;
    int count, room;
    CliStatus status; // the worst so far
} CliJobs;

/// Add a file, or all *.hdf5 files of a folder in their order. What goes wrong is said and noted.
void cli_jobs_add(CliJobs *jobs, const char *operand);

/// Keep the worst status.
void cli_jobs_note(CliJobs *jobs, CliStatus status);

/// The jobs, not their status.
void cli_jobs_free(CliJobs *jobs);

/// `folder`/`name`, or just `name` for folder NULL; to be freed. NULL when there is no memory.
char *cli_join_path(const char *folder, const char *name);

/// Does `text` end so, with something before it?
bool cli_ends_with(const char *text, const char *ending);

/// Could files be written into the folder, which need not exist yet? Else says why not.
CliStatus cli_check_folder(const char *folder);

/// Is there a folder to write this file into? Else says so: before work is done for it.
CliStatus cli_check_parent(const char *path);

/// Write a file that appears complete or not at all; what goes wrong is said. What exists is
/// replaced only with `force`.
CliStatus cli_write_file(const char *path, const char *text, size_t size, bool force);

/// mkdir -p; false, and errno, when that fails.
bool cli_make_folder(const char *folder);
/// The same, and how many folders were made for it, none where it fails; cli_unmake_folders() takes
/// those away again that are still empty, so that what failed leaves nothing behind.
bool cli_make_folders(const char *folder, int *made);
void cli_unmake_folders(const char *folder, int made);

#endif
