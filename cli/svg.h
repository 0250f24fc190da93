#ifndef FIL_CLI_SVG_H
#define FIL_CLI_SVG_H

// A small writer of pictures: SVG in one file, with the fonts of the reader's machine.
//
// Coordinates are pixels, y down. A path is one string in SVG's own language, built up in a
// CliPath. Looks are CSS classes: those of the house (see svg.c) and those that a picture adds.

#include "cli.h"

#include <stdio.h>

typedef struct CliSvg {
    FILE *file; // in memory until it is closed
    char *text;
    size_t size;
    char *path; // of the file
    bool force;
    int paths; // with an id so far
} CliSvg;

/// What a picture is, before anything is drawn.
typedef struct CliSheet {
    const char *name; // of the file
    int width, height;
    const char *title, *text; // for those who cannot see it
    const char *style;        // CSS of its own
} CliSheet;

/// Open FOLDER/NAME: CLI_FINE, or CLI_BAD_FILE after saying why; then there is nothing to close. A
/// file that exists is replaced only with `force`.
CliStatus cli_svg_open(CliSvg *svg, const CliSheet *picture, const char *folder, bool force);

/// Finish the file: CLI_FINE, or CLI_BAD_FILE after saying why.
CliStatus cli_svg_close(CliSvg *svg);

void cli_svg_group(CliSvg *svg, const char *class_name);
void cli_svg_end_group(CliSvg *svg);
void cli_svg_line(CliSvg *svg, const char *class_name, double x1, double y1, double x2, double y2);
void cli_svg_circle(CliSvg *svg, const char *class_name, double x, double y, double radius);
void cli_svg_rectangle(CliSvg *svg, const char *class_name, double x, double y, double width,
                       double height);

/// One line of text; `class_name` may hold "middle" or "end" for how it stands at x.
void cli_svg_text(CliSvg *svg, const char *class_name, double x, double y, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/// Text that reads upwards, centred.
void cli_svg_text_up(CliSvg *svg, const char *class_name, double x, double y, const char *text);

enum { CLI_PATH_ROOM = 16384 };

typedef struct CliPath {
    char text[CLI_PATH_ROOM];
    size_t used;
} CliPath;

void cli_path_move(CliPath *path, double x, double y);
void cli_path_line(CliPath *path, double x, double y);
void cli_path_curve(CliPath *path, const double control[4], double x, double y);

/// Draw what was built, and begin anew.
void cli_svg_path(CliSvg *svg, const char *class_name, CliPath *path);

/// Draw it once for each of the classes, which are separated by blanks, and begin anew.
void cli_svg_strokes(CliSvg *svg, const char *class_names, CliPath *path);

#endif
