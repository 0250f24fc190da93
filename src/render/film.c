// film.c - films by ffmpeg, and as folders of pictures.
//
// ffmpeg writes into the temporary file of a FilFileWriter, beside the one that is wanted; the
// name is given when it ended well. It has a process group of its own, so that Ctrl-C at the
// terminal reaches this program alone, which then decides.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "film.h"

#include "base/error.h"
#include "io/atomic.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct FilFilm {
    char folder[FIL_PATH_MAX]; // of pictures; empty: ffmpeg
    bool force;
    int count;
    bool refused; // ffmpeg took no more
    int width, height;
    FilFileWriter writer;
    pid_t child;
    int pipe;
    FILE *talk; // what ffmpeg says: only of errors
    struct sigaction old_pipe_action;
};

// Formats that ffmpeg is asked for, by the end of the name.
static const struct {
    const char *ending, *format, *filter, *codec;
} formats[] = {
    {".mp4", "mp4", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "libx264"},
    {".webm", "webm", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "libvpx-vp9"},
    {".gif", "gif", "split[a][b];[a]palettegen=stats_mode=diff[p];[b][p]paletteuse=dither=bayer",
     NULL},
};
enum { FORMAT_COUNT = sizeof formats / sizeof *formats, ARGUMENTS = 40 };

static int find_format(const char *path) {
    const size_t length = strlen(path);
    for (int k = 0; k < FORMAT_COUNT; k++) {
        const size_t ending = strlen(formats[k].ending);
        if (length > ending && strcmp(path + length - ending, formats[k].ending) == 0) {
            return k;
        }
    }
    return -1;
}

bool fil_film_is_known(const char *path) {
    return find_format(path) >= 0;
}

bool fil_film_has_ffmpeg(void) {
    const char *path = getenv("PATH");
    char full[FIL_PATH_MAX];
    while (path != NULL && *path != '\0') {
        const int length = (int)strcspn(path, ":");
        const int wrote = snprintf(full, sizeof full, "%.*s/ffmpeg", length, path);
        if (length > 0 && wrote > 0 && wrote < (int)sizeof full && access(full, X_OK) == 0) {
            return true;
        }
        path += length + (path[length] == ':');
    }
    return false;
}

// --- the child -----------------------------------------------------------------------------------

static int list_arguments(const FilFilm *film, int format, const char *size, const char *rate,
                          const char *out[ARGUMENTS]) {
    const char *const start[] = {
        "ffmpeg",   "-hide_banner", "-loglevel", "error", "-nostdin", "-f",
        "rawvideo", "-pix_fmt",     "rgba",      "-s",    size,       "-r",
        rate,       "-i",           "pipe:0",    "-an",   "-vf",      formats[format].filter};
    int count = 0;
    for (size_t k = 0; k < sizeof start / sizeof *start; k++) {
        out[count++] = start[k];
    }
    if (formats[format].codec != NULL) {
        const char *const codec[] = {"-c:v",     formats[format].codec,
                                     "-crf",     format == 0 ? "18" : "28",
                                     "-pix_fmt", "yuv420p",
                                     "-b:v",     "0"};
        const int used = format == 0 ? 6 : 8; // the last two are for VP9
        for (int k = 0; k < used; k++) {
            out[count++] = codec[k];
        }
    }
    if (format == 0) { // a player can start before all of it is there
        out[count++] = "-movflags";
        out[count++] = "+faststart";
    }
    const char *const end[] = {"-f", formats[format].format, "-y", film->writer.temporary};
    for (size_t k = 0; k < sizeof end / sizeof *end; k++) {
        out[count++] = end[k];
    }
    out[count] = NULL;
    return count;
}

static void become_ffmpeg(const int ends[2], FILE *talk, const char *const *arguments) {
    (void)setpgid(0, 0);
    (void)signal(SIGPIPE, SIG_DFL);
    const int nowhere = open("/dev/null", O_WRONLY);
    if (dup2(ends[0], STDIN_FILENO) >= 0 && nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0 &&
        dup2(fileno(talk), STDERR_FILENO) >= 0) {
        (void)close(ends[1]);
        (void)execvp(arguments[0], (char *const *)arguments);
    }
    _exit(127);
}

static FilStatus start_ffmpeg(FilFilm *film, const char *path, double fps, FilError *error) {
    char size[32], rate[32];
    const char *arguments[ARGUMENTS];
    int ends[2];
    (void)snprintf(size, sizeof size, "%dx%d", film->width, film->height);
    (void)snprintf(rate, sizeof rate, "%g", fps);
    (void)list_arguments(film, find_format(path), size, rate, arguments);
    film->talk = tmpfile();
    if (film->talk == NULL || pipe(ends) != 0) {
        return fil_fail(error, FIL_E_IO, "%s: cannot start ffmpeg: %s", path, strerror(errno));
    }
    (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    film->child = fork();
    if (film->child == 0) {
        become_ffmpeg(ends, film->talk, arguments);
    }
    (void)close(ends[0]);
    if (film->child < 0) {
        (void)close(ends[1]);
        return fil_fail(error, FIL_E_IO, "%s: cannot start ffmpeg: %s", path, strerror(errno));
    }
    film->pipe = ends[1];
    const struct sigaction ignore = {.sa_handler = SIG_IGN}; // a child that died is told by write()
    (void)sigaction(SIGPIPE, &ignore, &film->old_pipe_action);
    return FIL_OK;
}

static bool feed(int pipe, const unsigned char *bytes, size_t size) {
    while (size > 0) {
        const ssize_t done = write(pipe, bytes, size);
        if (done < 0 && errno != EINTR) {
            return false;
        }
        bytes += done > 0 ? done : 0;
        size -= done > 0 ? (size_t)done : 0;
    }
    return true;
}

// The first line that ffmpeg said, without its end; "" when it said nothing.
static void read_talk(const FilFilm *film, char line[160]) {
    line[0] = '\0';
    rewind(film->talk);
    if (fgets(line, 160, film->talk) != NULL) {
        line[strcspn(line, "\n")] = '\0';
    }
}

// True when the child ended well. Its status alone does not tell: it is 0 on a full disk, too.
static bool wait_for_child(FilFilm *film, bool keep) {
    int how = 0;
    (void)close(film->pipe);
    if (!keep) {
        (void)kill(film->child, SIGKILL);
    }
    while (waitpid(film->child, &how, 0) < 0) {
        if (errno != EINTR) {
            return false;
        }
    }
    (void)sigaction(SIGPIPE, &film->old_pipe_action, NULL);
    return WIFEXITED(how) && WEXITSTATUS(how) == 0;
}

// --- films ---------------------------------------------------------------------------------------

FilStatus fil_film_begin(const char *path, const int size[2], double fps, bool force, FilFilm **out,
                         FilError *error) {
    FilFilm *film = calloc(1, sizeof *film);
    if (film == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is not enough memory for a film");
    }
    film->force = force;
    film->width = size[0];
    film->height = size[1];
    FilStatus status = FIL_OK;
    if (fil_film_is_known(path)) {
        status = fil_file_begin(&film->writer, path, force, error);
        if (status == FIL_OK) {
            status = start_ffmpeg(film, path, fps, error);
            if (status != FIL_OK && fil_file_end(&film->writer, false, NULL) != FIL_OK) {
                status = FIL_E_IO; // as it is already
            }
        }
    } else if (snprintf(film->folder, sizeof film->folder, "%s", path) >= FIL_PATH_MAX - 20) {
        status = fil_fail(error, FIL_E_IO, "the name of the folder is too long");
    }
    if (status != FIL_OK) {
        if (film->talk != NULL) {
            (void)fclose(film->talk);
        }
        free(film);
        return status;
    }
    *out = film;
    return FIL_OK;
}

FilStatus fil_film_add(FilFilm *film, const FilPicture *picture, FilError *error) {
    FIL_ASSERT(picture->width == film->width && picture->height == film->height);
    if (film->folder[0] != '\0') {
        char path[FIL_PATH_MAX + 32];
        (void)snprintf(path, sizeof path, "%s/frame-%05d.png", film->folder, film->count++);
        return fil_picture_write(picture, path, film->force, error);
    }
    film->count++;
    if (!feed(film->pipe, picture->pixels, 4 * (size_t)film->width * (size_t)film->height)) {
        film->refused = true;
        return fil_fail(error, FIL_E_IO, "%s: ffmpeg does not take picture %d: %s",
                        film->writer.path, film->count, strerror(errno));
    }
    return FIL_OK;
}

FilStatus fil_film_end(FilFilm *film, bool keep, FilError *error) {
    FilStatus status = FIL_OK;
    if (film->folder[0] == '\0') {
        char line[160];
        bool fine = wait_for_child(film, keep);
        read_talk(film, line);
        if (film->refused && line[0] == '\0') {
            (void)snprintf(line, sizeof line, "it ended at picture %d", film->count);
        }
        fine = fine && line[0] == '\0';
        status = fil_file_end(&film->writer, keep && fine, error);
        if (keep && !fine) {
            status = fil_fail(error, FIL_E_IO, "%s: ffmpeg could not make it%s%s",
                              film->writer.path, line[0] != '\0' ? ": " : "", line);
        }
    }
    if (film->talk != NULL) {
        (void)fclose(film->talk);
    }
    free(film);
    return status;
}
