// svg.c - a small writer of pictures.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "svg.h"
#include "files.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

// Dark on light, on paper of our own, so that it reads on pages of any colour.
static const char house_style[] =
    "text{font-family:'Source Sans 3','Source Sans Pro','Helvetica Neue',Helvetica,Arial,"
    "'DejaVu Sans',sans-serif;font-size:15px;fill:#1f2933}"
    ".title{font-size:26px;font-weight:600}"
    ".subtitle{font-size:16px;fill:#52606d}"
    ".small{font-size:13px;fill:#52606d}"
    ".strong{font-weight:600}"
    ".middle{text-anchor:middle}.end{text-anchor:end}"
    ".paper{fill:#fcfbf8}"
    ".axis{stroke:#52606d;stroke-width:1.2;fill:none}"
    ".grid{stroke:#e6e2d8;stroke-width:1;fill:none}"
    "path{fill:none}";

static void print_escaped(FILE *file, const char *text) {
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '&':
            (void)fputs("&amp;", file);
            break;
        case '<':
            (void)fputs("&lt;", file);
            break;
        case '>':
            (void)fputs("&gt;", file);
            break;
        default:
            (void)fputc(*text, file);
        }
    }
}

// A number with one digit after the point and nothing that is not needed; two for small ones.
static void print_number(char out[24], double x) {
    (void)snprintf(out, 24, fabs(x) < 10.0 ? "%.2f" : "%.1f", x);
    char *end = out + strlen(out);
    while (end[-1] == '0') {
        *--end = '\0';
    }
    if (end[-1] == '.') {
        *--end = '\0';
    }
    if (strcmp(out, "-0") == 0) {
        (void)snprintf(out, 24, "0");
    }
}

static void print_attribute(CliSvg *svg, const char *name, double x) {
    char number[24];
    print_number(number, x);
    (void)fprintf(svg->file, " %s=\"%s\"", name, number);
}

CliStatus cli_svg_open(CliSvg *svg, const CliSheet *picture, const char *folder, bool force) {
    *svg = (CliSvg){.path = cli_join_path(folder, picture->name), .force = force};
    svg->file = svg->path != NULL ? open_memstream(&svg->text, &svg->size) : NULL;
    if (svg->file == NULL) {
        cli_say("there is not enough memory");
        free(svg->path);
        return CLI_BAD_FILE;
    }
    (void)fprintf(svg->file,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
                  "height=\"%d\" role=\"img\">\n<title>",
                  picture->width, picture->height, picture->width, picture->height);
    print_escaped(svg->file, picture->title);
    (void)fputs("</title>\n<desc>", svg->file);
    print_escaped(svg->file, picture->text);
    (void)fprintf(svg->file, "</desc>\n<style>%s%s</style>\n", house_style, picture->style);
    cli_svg_rectangle(svg, "paper", 0, 0, picture->width, picture->height);
    return CLI_FINE;
}

CliStatus cli_svg_close(CliSvg *svg) {
    (void)fputs("</svg>\n", svg->file);
    const bool written = ferror(svg->file) == 0;
    const bool closed = fclose(svg->file) == 0;
    CliStatus status = CLI_BAD_FILE;
    if (written && closed) {
        status = cli_write_file(svg->path, svg->text, svg->size, svg->force);
    } else {
        cli_say("there is not enough memory");
    }
    free(svg->text);
    free(svg->path);
    *svg = (CliSvg){0};
    return status;
}

void cli_svg_group(CliSvg *svg, const char *class_name) {
    (void)fprintf(svg->file, "<g class=\"%s\">\n", class_name);
}

void cli_svg_end_group(CliSvg *svg) {
    (void)fputs("</g>\n", svg->file);
}

static void begin(CliSvg *svg, const char *element, const char *class_name) {
    (void)fprintf(svg->file, "<%s", element);
    if (class_name[0] != '\0') {
        (void)fprintf(svg->file, " class=\"%s\"", class_name);
    }
}

void cli_svg_line(CliSvg *svg, const char *class_name, double x1, double y1, double x2, double y2) {
    begin(svg, "line", class_name);
    print_attribute(svg, "x1", x1);
    print_attribute(svg, "y1", y1);
    print_attribute(svg, "x2", x2);
    print_attribute(svg, "y2", y2);
    (void)fputs("/>\n", svg->file);
}

void cli_svg_circle(CliSvg *svg, const char *class_name, double x, double y, double radius) {
    begin(svg, "circle", class_name);
    print_attribute(svg, "cx", x);
    print_attribute(svg, "cy", y);
    print_attribute(svg, "r", radius);
    (void)fputs("/>\n", svg->file);
}

void cli_svg_rectangle(CliSvg *svg, const char *class_name, double x, double y, double width,
                       double height) {
    begin(svg, "rect", class_name);
    print_attribute(svg, "x", x);
    print_attribute(svg, "y", y);
    print_attribute(svg, "width", width);
    print_attribute(svg, "height", height);
    (void)fputs("/>\n", svg->file);
}

void cli_svg_text(CliSvg *svg, const char *class_name, double x, double y, const char *format,
                  ...) {
    char text[400];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    begin(svg, "text", class_name);
    print_attribute(svg, "x", x);
    print_attribute(svg, "y", y);
    (void)fputc('>', svg->file);
    print_escaped(svg->file, text);
    (void)fputs("</text>\n", svg->file);
}

void cli_svg_text_up(CliSvg *svg, const char *class_name, double x, double y, const char *text) {
    (void)fprintf(svg->file,
                  "<text class=\"%s\" transform=\"translate(%.0f %.0f) rotate(-90)\" "
                  "text-anchor=\"middle\">",
                  class_name, x, y);
    print_escaped(svg->file, text);
    (void)fputs("</text>\n", svg->file);
}

// --- paths ---------------------------------------------------------------------------------------

static void append(CliPath *path, char command, const double *x, int count) {
    if (path->used + 24 * (size_t)count + 3 > sizeof path->text) {
        return; // a path that is too long is cut, not wrong
    }
    path->text[path->used++] = command;
    for (int k = 0; k < count; k++) {
        char number[24];
        print_number(number, x[k]);
        if (k > 0 && number[0] != '-') {
            path->text[path->used++] = ' ';
        }
        const size_t length = strlen(number);
        memcpy(path->text + path->used, number, length);
        path->used += length;
    }
    path->text[path->used] = '\0';
}

void cli_path_move(CliPath *path, double x, double y) {
    append(path, 'M', (const double[]){x, y}, 2);
}

void cli_path_line(CliPath *path, double x, double y) {
    append(path, 'L', (const double[]){x, y}, 2);
}

void cli_path_curve(CliPath *path, const double control[4], double x, double y) {
    append(path, 'C', (const double[]){control[0], control[1], control[2], control[3], x, y}, 6);
}

void cli_svg_path(CliSvg *svg, const char *class_name, CliPath *path) {
    begin(svg, "path", class_name);
    (void)fprintf(svg->file, " d=\"%s\"/>\n", path->used > 0 ? path->text : "");
    path->used = 0;
}

// The path stands once in the file, without a look of its own, and is used for each class.
void cli_svg_strokes(CliSvg *svg, const char *class_names, CliPath *path) {
    svg->paths++;
    (void)fprintf(svg->file, "<defs><path id=\"p%d\" d=\"%s\"/></defs>\n", svg->paths,
                  path->used > 0 ? path->text : "");
    while (*class_names != '\0') {
        const int length = (int)strcspn(class_names, " ");
        (void)fprintf(svg->file, "<use class=\"%.*s\" href=\"#p%d\"/>\n", length, class_names,
                      svg->paths);
        class_names += length + (class_names[length] == ' ');
    }
    path->used = 0;
}
