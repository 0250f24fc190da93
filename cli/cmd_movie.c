// cmd_movie.c - filum movie: a run as a film.
//
// Film picture j shows the time first + j * speed / fps; between two frames, what lies between them
// (look/between.h): only between those that follow each other in the run, as what happened in
// between is not on the line between others. With --every, frames are left out; each of the others,
// and the last one always, is then shown until the next. A picture that shows the same as the one
// before is not drawn again.
//
// Camera and scale hold for all of the film: all frames that it shows are looked at first. Some of
// them tell from where most is to be seen; how far all reach, cli/reach.h keeps.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "cli.h"
#include "files.h"
#include "look/between.h"
#include "pictures.h"
#include "render/film.h"
#include "runs.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Options {
    CliPicture picture;
    const char *out;
    int first, last, every;
    double fps, speed;
    bool force;
} Options;

static const CliOption option_table[] = {
    CLI_OPTION_TEXT("out", "FILE", out,
                    "a .mp4, .webm or .gif file, or a folder for pictures; also -o; must be given"),
    CLI_OPTION_REAL("fps", "N", fps, 0.1, 240.0, "pictures per second; default 30"),
    CLI_OPTION_REAL("speed", "F", speed, 1e-9, 1e9,
                    "playback speed: 0.1 is ten times slower than real time; default 1"),
    CLI_OPTION_COUNT("first", "K", first, 0, INT_MAX, "first frame; default 0"),
    CLI_OPTION_COUNT("last", "K", last, -INT_MAX, INT_MAX,
                     "last frame; default -1, the last one; -2 is the one before it"),
    CLI_OPTION_COUNT("every", "N", every, 1, INT_MAX,
                     "show every Nth frame and the last, each until the next; default 1: also what "
                     "lies between frames"),
    CLI_PICTURE_ROWS,
    CLI_OPTION_FLAG("force", force, "replace files that exist"),
};

enum { LOOKED_AT = 24, LONGEST = 1000000 };

// A frame that was read, in memory of its own.
typedef struct Kept {
    int64_t index; // -1: none
    FilFrame frame;
    FilArena memory;
} Kept;

typedef struct Movie {
    const Options *options;
    FilResult *result;
    int64_t first, last;  // frames
    double *times;        // of frames first .. last, s
    int64_t count, drawn; // pictures, in all and so far
    Kept kept[2];         // frames before and after a picture's time
    FilArena between;     // memory of a frame between them
    FilRenderOptions use;
    FilPicture picture;
    FilFilm *film;
    bool refused; // ffmpeg took no more
    double start, shown;
    bool live;
} Movie;

static CliStatus say_error(const FilError *error) {
    cli_say("%s", error->text);
    return CLI_BAD_FILE;
}

// A film goes through the run once, forwards.
static CliStatus check_times(const Movie *movie) {
    const int64_t count = movie->last - movie->first + 1;
    const double *times = movie->times;
    for (int64_t k = 0; k < count; k++) {
        if (!isfinite(times[k])) {
            cli_say("the time of frame %" PRId64 " is %g s; a film needs times that are finite",
                    movie->first + k, times[k]);
            return CLI_BAD_FILE;
        }
        if (k > 0 && times[k] < times[k - 1]) {
            cli_say("frame %" PRId64
                    " is at %.9g s, after one at %.9g s; a film needs times that never decrease",
                    movie->first + k, times[k], times[k - 1]);
            return CLI_BAD_FILE;
        }
    }
    return CLI_FINE;
}

static CliStatus read_times(Movie *movie) {
    const int64_t count = movie->last - movie->first + 1;
    FilError error;
    movie->times = malloc(sizeof *movie->times * (size_t)count);
    if (movie->times == NULL) {
        cli_say("there is not enough memory");
        return CLI_BAD_FILE;
    }
    if (fil_result_read_times(movie->result, movie->first, count, movie->times, &error) != FIL_OK) {
        return say_error(&error);
    }
    const CliStatus status = check_times(movie);
    if (status != CLI_FINE) {
        return status;
    }
    const double length = movie->times[count - 1] - movie->times[0];
    const double pictures = length * movie->options->fps / movie->options->speed;
    if (!(pictures < LONGEST)) {
        cli_say("the film would have %.0f pictures; with a higher --speed it has fewer", pictures);
        return CLI_BAD_COMMAND;
    }
    movie->count = 1 + (int64_t)(pictures + 1e-6);
    return CLI_FINE;
}

// What a picture shows: a frame, and the part of the way to the next one that is shown.
typedef struct Shown {
    int64_t frame, next;
    double part;
} Shown;

// What picture j shows; times rise, and pictures are asked for in their order.
static Shown find_shown(const Movie *movie, int64_t j, int64_t before) {
    const double time = movie->times[0] + (double)j * movie->options->speed / movie->options->fps;
    const double nearly = 1e-6; // of the way: what is so near to a frame is that frame
    const int64_t end = movie->last - movie->first, every = movie->options->every;
    const double *times = movie->times;
    int64_t k = before - movie->first;
    double part = 0.0;
    while (k < end) {
        const int64_t next = end - k > every ? k + every : end;
        const double length = times[next] - times[k];
        part = length > 0.0 ? (time - times[k]) / length : 1.0;
        if (part < 1.0 - nearly) {
            break;
        }
        part = 0.0;
        k = next;
    }
    if (every > 1 && j > 0 && j == movie->count - 1) {
        k = end; // also where the film ends a little before the run
    }
    const bool between = every == 1 && part > nearly;
    return (Shown){.frame = k + movie->first,
                   .next = k + movie->first + (between ? 1 : 0),
                   .part = between ? part : 0.0};
}

static CliStatus get_frame(Movie *movie, int64_t index, const FilFrame **out) {
    Kept *kept = &movie->kept[index % 2];
    if (kept->index != index) {
        FilFrame frame;
        FilError error;
        kept->index = -1;
        fil_arena_reset(&kept->memory);
        if (fil_result_read(movie->result, index, &frame, &error) != FIL_OK) {
            return say_error(&error);
        }
        if (!fil_frame_copy(fil_result_def(movie->result), &frame, &kept->memory, &kept->frame)) {
            cli_say("there is not enough memory");
            return CLI_BAD_FILE;
        }
        kept->index = index;
    }
    *out = &kept->frame;
    return CLI_FINE;
}

static CliStatus draw(Movie *movie, const Shown *shown) {
    const FilResultDef *def = fil_result_def(movie->result);
    const FilFrame *a = NULL, *b = NULL;
    FilFrame between;
    CliStatus status = get_frame(movie, shown->frame, &a);
    if (status == CLI_FINE) {
        status = get_frame(movie, shown->next, &b);
    }
    if (status != CLI_FINE) {
        return status;
    }
    if (a != b) {
        fil_arena_reset(&movie->between);
        if (!fil_frame_mix(def, a, b, shown->part, &movie->between, &between)) {
            cli_say("there is not enough memory");
            return CLI_BAD_FILE;
        }
        a = &between;
    }
    FilError error;
    return fil_render_frame(&movie->use, def, a, &movie->picture, &error) != FIL_OK
               ? say_error(&error)
               : CLI_FINE;
}

// What was seen of a film before it is drawn.
typedef struct Seen {
    CliSeen of;
    int64_t last; // frame; -1: none
} Seen;

// Look at a frame, once; `sample`: it also tells where to look from.
static CliStatus look_at(Movie *movie, Seen *seen, int64_t index, bool sample) {
    FilFrame frame;
    FilError error;
    if (index <= seen->last) {
        return CLI_FINE;
    }
    seen->last = index;
    if (fil_result_read(movie->result, index, &frame, &error) != FIL_OK) {
        return say_error(&error);
    }
    return cli_seen_add(&seen->of, &movie->use, fil_result_def(movie->result), &frame, sample);
}

static CliStatus look_at_all(Movie *movie, Seen *seen) {
    Shown shown = {.frame = movie->first};
    for (int64_t j = 0; j < movie->count; j++) {
        const bool sample = j == 0 || j == movie->count - 1 ||
                            j * LOOKED_AT / movie->count != (j - 1) * LOOKED_AT / movie->count;
        shown = find_shown(movie, j, shown.frame);
        CliStatus status = look_at(movie, seen, shown.frame, sample);
        if (status == CLI_FINE) {
            status = look_at(movie, seen, shown.next, sample);
        }
        if (status != CLI_FINE) {
            return status;
        }
        if (cli_is_interrupted()) {
            cli_say("interrupted; %s was not written", movie->options->out);
            return CLI_INTERRUPTED;
        }
    }
    return CLI_FINE;
}

static CliStatus look_ahead(Movie *movie) {
    Seen seen = {.of = cli_seen_make(), .last = -1};
    CliStatus status = look_at_all(movie, &seen);
    if (status == CLI_FINE) {
        status = cli_seen_fit(&seen.of, &movie->use);
    }
    cli_seen_free(&seen.of);
    return status;
}

static void show_progress(Movie *movie, int64_t done) {
    const double now = cli_clock();
    if (!movie->live || now - movie->shown < 0.5) {
        return;
    }
    movie->shown = now;
    const double left = (now - movie->start) * (double)(movie->count - done) / (double)done;
    const int seconds = left < 1e6 ? (int)left : 1000000;
    (void)fprintf(stderr, "\r\x1b[K  picture %" PRId64 " of %" PRId64 "  |  %d:%02d:%02d left",
                  done, movie->count, seconds / 3600, seconds / 60 % 60, seconds % 60);
}

static CliStatus draw_all(Movie *movie, const char *path) {
    Shown last = {.frame = -1};
    FilError error;
    for (int64_t j = 0; j < movie->count; j++) {
        const Shown shown = find_shown(movie, j, j == 0 ? movie->first : last.frame);
        if (shown.frame != last.frame || shown.part != last.part) {
            const CliStatus status = draw(movie, &shown);
            if (status != CLI_FINE) {
                return status;
            }
            last = shown;
        }
        if (cli_is_interrupted()) {
            return CLI_INTERRUPTED;
        }
        if (fil_film_add(movie->film, &movie->picture, &error) != FIL_OK) {
            movie->refused = fil_film_is_known(path);
            return movie->refused ? CLI_BAD_FILE : say_error(&error);
        }
        movie->drawn = j + 1;
        show_progress(movie, movie->drawn);
    }
    return CLI_FINE;
}

static CliStatus film_into(Movie *movie, const char *path) {
    const int size[2] = {movie->use.width, movie->use.height};
    FilError error;
    if (fil_film_begin(path, size, movie->options->fps, movie->options->force, &movie->film,
                       &error) != FIL_OK) {
        return say_error(&error);
    }
    movie->start = movie->shown = cli_clock();
    CliStatus status = draw_all(movie, path);
    if (movie->live) {
        (void)fputs("\r\x1b[K", stderr);
    }
    // an ffmpeg that takes no more is asked why: what write() says, a broken pipe, tells nothing
    if (fil_film_end(movie->film, status == CLI_FINE || movie->refused, &error) != FIL_OK) {
        status = say_error(&error);
    }
    return status;
}

// Draw the film into `path`, a file for ffmpeg or a folder.
static CliStatus make_film(Movie *movie, const char *path) {
    const bool folder = !fil_film_is_known(path);
    CliStatus status = folder ? cli_check_folder(path) : CLI_FINE;
    int made = 0;
    if (status == CLI_FINE && folder && !cli_make_folders(path, &made)) {
        cli_say("%s: cannot write there: %s", path, strerror(errno));
        status = CLI_BAD_FILE;
    } else if (status == CLI_FINE) {
        status = film_into(movie, path);
    }
    const bool stopped = status == CLI_INTERRUPTED;
    if (status != CLI_FINE && folder && movie->drawn > 0) {
        cli_say("%s%" PRId64 " of %" PRId64 " picture%s %s kept in %s",
                stopped ? "interrupted; " : "", movie->drawn, movie->count,
                cli_plural(movie->count), movie->drawn == 1 ? "is" : "are", path);
    } else if (stopped) {
        cli_say("interrupted; %s was not written", path);
    }
    if (status != CLI_FINE) {
        cli_unmake_folders(path, made);
    }
    return status;
}

// x.mp4 -> x-frames, to be freed.
static char *name_folder(const char *out) {
    const size_t base = (size_t)(strrchr(out, '.') - out), room = base + sizeof "-frames";
    char *folder = malloc(room);
    if (folder != NULL) {
        (void)snprintf(folder, room, "%.*s-frames", (int)base, out);
    }
    return folder;
}

static CliStatus choose_way(Movie *movie) {
    const Options *options = movie->options;
    const bool known = fil_film_is_known(options->out);
    // ffmpeg takes what begins with a dash for an option
    char *out = cli_join_path(options->out[0] == '-' ? "." : NULL, options->out);
    char *folder = out == NULL                       ? NULL
                   : known && !fil_film_has_ffmpeg() ? name_folder(out)
                                                     : cli_join_path(NULL, out);
    if (folder == NULL) {
        free(out);
        cli_say("there is not enough memory");
        return CLI_BAD_FILE;
    }
    const CliStatus status = make_film(movie, folder);
    if (status == CLI_FINE) {
        (void)printf("%" PRId64 " picture%s, %.3g s -> %s\n", movie->count,
                     movie->count == 1 ? "" : "s", (double)movie->count / options->fps, folder);
        cli_picture_say_camera(&movie->use);
    }
    if (status == CLI_FINE && known && !fil_film_is_known(folder)) {
        cli_say("ffmpeg was not found, so only the pictures were written; this command makes the "
                "film: ffmpeg "
                "-framerate %g -i '%s/frame-%%05d.png' -vf 'pad=ceil(iw/2)*2:ceil(ih/2)*2' "
                "-pix_fmt yuv420p '%s'",
                options->fps, folder, out);
    }
    free(folder);
    free(out);
    return status == CLI_FINE ? cli_flush() : status;
}

static CliStatus check_options(const Options *options) {
    if (options->out == NULL) {
        cli_say("where should the film go? -o FILE.mp4");
        return CLI_BAD_COMMAND;
    }
    const char *slash = strrchr(options->out, '/');
    const char *base = slash != NULL ? slash + 1 : options->out;
    if (!fil_film_is_known(options->out) && strchr(base, '.') != NULL && base[0] != '.') {
        cli_say("%s: a film is a .mp4, .webm or .gif file, or a folder for pictures", options->out);
        return CLI_BAD_COMMAND;
    }
    if (fil_film_is_known(options->out) && options->picture.background == FIL_BACKGROUND_NONE) {
        cli_say("--background none is for pictures; give a folder with -o");
        return CLI_BAD_COMMAND;
    }
    if (fil_film_is_known(options->out) && !options->force && access(options->out, F_OK) == 0) {
        cli_say("%s exists already; --force replaces it", options->out);
        return CLI_BAD_FILE;
    }
    return fil_film_is_known(options->out) ? cli_check_parent(options->out) : CLI_FINE;
}

static CliStatus prepare(Movie *movie, int64_t frame_count) {
    const Options *options = movie->options;
    movie->first = cli_picture_frame("first", options->first, frame_count);
    movie->last = movie->first < 0 ? -1 : cli_picture_frame("last", options->last, frame_count);
    if (movie->last < 0) {
        return CLI_BAD_COMMAND;
    }
    if (movie->last < movie->first) {
        cli_say("--last is frame %" PRId64 ", before --first, %" PRId64, movie->last, movie->first);
        return CLI_BAD_COMMAND;
    }
    const CliStatus status = read_times(movie);
    return status == CLI_FINE ? look_ahead(movie) : status;
}

static CliStatus run_movie(const CliVerb *verb, int argc, char **argv) {
    Options options = {
        .picture = cli_picture_default(), .last = -1, .every = 1, .fps = 30.0, .speed = 1.0};
    CliStatus status;
    if (!cli_parse_run(verb, argc, argv, &options, &status) ||
        (status = check_options(&options)) != CLI_FINE) {
        return status;
    }
    Movie movie = {.options = &options,
                   .live = isatty(STDERR_FILENO) != 0,
                   .kept = {{.index = -1, .memory = fil_arena_make(NULL)},
                            {.index = -1, .memory = fil_arena_make(NULL)}},
                   .between = fil_arena_make(NULL)};
    int64_t frame_count = 0;
    FilError error;
    status = cli_picture_open(argv[0], &movie.result, &frame_count);
    if (status == CLI_FINE) {
        status = cli_picture_options(&options.picture, fil_result_def(movie.result), &movie.use);
    }
    if (status == CLI_FINE) {
        status = prepare(&movie, frame_count);
    }
    if (status == CLI_FINE &&
        fil_picture_create(movie.use.width, movie.use.height, &movie.picture, &error) != FIL_OK) {
        status = say_error(&error);
    }
    if (status == CLI_FINE) {
        status = choose_way(&movie);
    }
    fil_picture_destroy(&movie.picture);
    for (int k = 0; k < 2; k++) {
        fil_arena_destroy(&movie.kept[k].memory);
    }
    fil_arena_destroy(&movie.between);
    free(movie.times);
    fil_result_discard(movie.result);
    return status;
}

const CliVerb cli_movie = {
    .name = "movie",
    .operands = "RUN",
    .summary = "draw a run as a film",
    .description =
        "Ray-traces a run and has ffmpeg make a film of it: .mp4, .webm or .gif. Without ffmpeg, "
        "or with a folder as FILE, the pictures are written as PNG files. One camera and one "
        "colour "
        "scale hold for the whole film; without --camera all of it is in view, and Filum prints "
        "the "
        "camera that it chose. Pictures between two frames are interpolated: slow films move "
        "smoothly.",
    .examples = "filum movie runs/knot -o knot.mp4\tas fast as it happened\n"
                "filum movie runs/knot --speed 0.25 --size 640x360 -o knot.gif\tslowly, and small\n"
                "filum movie runs/knot --every 10 -o pictures\ta folder of PNG files",
    .options = option_table,
    .option_count = sizeof option_table / sizeof *option_table,
    .run = run_movie,
};
