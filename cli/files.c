// files.c - what the command line names: files and folders in, a folder out.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "files.h"

#include "io/atomic.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void cli_jobs_note(CliJobs *jobs, CliStatus status) {
    jobs->status = status > jobs->status ? status : jobs->status;
}

static void fail_no_memory(CliJobs *jobs) {
    cli_say("there is not enough memory");
    cli_jobs_note(jobs, CLI_BAD_FILE);
}

// `folder`/`name`, or just `name`; NULL when there is no memory.
char *cli_join_path(const char *folder, const char *name) {
    const size_t size = (folder != NULL ? strlen(folder) : 0) + strlen(name) + 2;
    char *path = malloc(size);
    if (path != NULL) {
        const bool slash = folder != NULL && folder[0] != '\0' && folder[strlen(folder) - 1] != '/';
        (void)snprintf(path, size, "%s%s%s", folder != NULL ? folder : "", slash ? "/" : "", name);
    }
    return path;
}

static void add_input(CliJobs *jobs, const char *folder, const char *name) {
    if (jobs->count == jobs->room) {
        const int room = jobs->room > 0 ? 2 * jobs->room : 64;
        CliJob *list = realloc(jobs->list, (size_t)room * sizeof *list);
        if (list == NULL) {
            fail_no_memory(jobs);
            return;
        }
        jobs->list = list;
        jobs->room = room;
    }
    char *path = cli_join_path(folder, name);
    if (path == NULL) {
        fail_no_memory(jobs);
        return;
    }
    jobs->list[jobs->count++] = (CliJob){.input = path};
}

bool cli_ends_with(const char *text, const char *ending) {
    const size_t length = strlen(text), tail = strlen(ending);
    return length > tail && strcmp(text + length - tail, ending) == 0;
}

static int compare_jobs(const void *a, const void *b) {
    return strcmp(((const CliJob *)a)->input, ((const CliJob *)b)->input);
}

static void add_folder(CliJobs *jobs, const char *folder) {
    DIR *open_folder = opendir(folder);
    if (open_folder == NULL) {
        cli_say("%s: cannot open the folder: %s", folder, strerror(errno));
        cli_jobs_note(jobs, CLI_BAD_FILE);
        return;
    }
    const int first = jobs->count;
    for (const struct dirent *entry = NULL; (entry = readdir(open_folder)) != NULL;) {
        if (entry->d_name[0] != '.' && cli_ends_with(entry->d_name, ".hdf5")) {
            add_input(jobs, folder, entry->d_name);
        }
    }
    (void)closedir(open_folder);
    if (jobs->count == first) {
        cli_say("%s: the folder holds no .hdf5 file", folder);
        cli_jobs_note(jobs, CLI_BAD_FILE);
        return;
    }
    qsort(jobs->list + first, (size_t)(jobs->count - first), sizeof *jobs->list, compare_jobs);
}

// Make a folder in `folder` and take it away again: only trying tells (root may write anywhere, but
// not in /proc or on a read-only disk).
static bool try_folder(const char *folder) {
    char *path = cli_join_path(folder, ".filum-XXXXXX");
    const bool made = path != NULL && mkdtemp(path) != NULL;
    const int reason = errno;
    if (made) {
        (void)rmdir(path);
    }
    free(path);
    errno = reason;
    return made;
}

// The folder must take files, or be makeable: then its nearest ancestor must take folders.
CliStatus cli_check_folder(const char *folder) {
    char *path = cli_join_path(NULL, folder);
    struct stat about, link;
    int found = path != NULL ? stat(path, &about) : -1;
    while (path != NULL && found != 0 && errno == ENOENT && lstat(path, &link) != 0) {
        char *slash = strrchr(path, '/');
        if (slash == NULL || slash == path) {
            found = stat(slash == path ? "/" : ".", &about);
            (void)snprintf(path, 2, "%s", slash == path ? "/" : ".");
            break;
        }
        *slash = '\0';
        found = stat(path, &about);
    }
    const int reason = errno;
    CliStatus status = CLI_BAD_FILE;
    if (path == NULL || found != 0) {
        cli_say("%s: cannot write there: %s", folder, strerror(reason));
    } else if (!S_ISDIR(about.st_mode)) {
        cli_say("%s: cannot write there: %s is not a folder", folder, path);
    } else if (!try_folder(path)) {
        cli_say("%s: cannot write there: %s", folder, strerror(errno));
    } else {
        status = CLI_FINE;
    }
    free(path);
    return status;
}

CliStatus cli_check_parent(const char *path) {
    struct stat about;
    char *folder = cli_join_path(NULL, path), *slash = folder != NULL ? strrchr(folder, '/') : NULL;
    CliStatus status = CLI_FINE;
    if (slash != NULL) {
        slash[1] = '\0';
        if (stat(folder, &about) != 0) {
            cli_say("%s: cannot write it: %s", path, strerror(errno));
            status = CLI_BAD_FILE;
        }
    }
    free(folder);
    return status;
}

static bool make_one(const char *path, int *made) {
    if (mkdir(path, 0777) == 0) {
        (*made)++;
        return true;
    }
    return errno == EEXIST;
}

bool cli_make_folders(const char *folder, int *made) {
    char *path = cli_join_path(NULL, folder);
    bool fine = path != NULL;
    *made = 0;
    for (char *c = path; fine && *c != '\0'; c++) {
        if (c > path && *c == '/') {
            *c = '\0';
            fine = make_one(path, made);
            *c = '/';
        }
    }
    fine = fine && make_one(path, made);
    free(path);
    if (!fine) {
        const int reason = errno;
        cli_unmake_folders(folder, *made);
        *made = 0;
        errno = reason;
    }
    return fine;
}

// mkdir -p, at the first write: a run that writes nothing leaves no folder.
bool cli_make_folder(const char *folder) {
    int made = 0;
    return cli_make_folders(folder, &made);
}

void cli_unmake_folders(const char *folder, int made) {
    char *path = cli_join_path(NULL, folder);
    size_t length = path != NULL ? strlen(path) : 0;
    while (made > 0 && length > 0) {
        made -= rmdir(path) == 0; // what is not empty stays, and so does all above it
        while (length > 0 && path[length - 1] == '/') {
            length--;
        }
        while (length > 0 && path[length - 1] != '/') {
            length--;
        }
        path[length] = '\0';
    }
    free(path);
}

void cli_jobs_add(CliJobs *jobs, const char *operand) {
    struct stat about;
    if (operand[0] == '\0') {
        cli_say("'' is not a file");
        cli_jobs_note(jobs, CLI_BAD_FILE);
    } else if (stat(operand, &about) == 0 && S_ISDIR(about.st_mode)) {
        add_folder(jobs, operand);
    } else {
        add_input(jobs, NULL, operand);
    }
}

void cli_jobs_free(CliJobs *jobs) {
    for (int k = 0; k < jobs->count; k++) {
        free(jobs->list[k].input);
        free(jobs->list[k].output);
    }
    free(jobs->list);
    *jobs = (CliJobs){.status = jobs->status};
}

CliStatus cli_write_file(const char *path, const char *text, size_t size, bool force) {
    struct stat about;
    FilError error;
    if (!force && lstat(path, &about) == 0) {
        cli_say("%s exists already; --force replaces it", path);
        return CLI_BAD_FILE;
    }
    if (fil_write_file(path, text, size, force, &error) != FIL_OK) {
        cli_say("%s", error.text);
        return CLI_BAD_FILE;
    }
    return CLI_FINE;
}
