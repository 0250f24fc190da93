// export_losses.c - what of a run a format cannot hold: said to whoever exports, so that nothing is
// missing without notice.
//
// Contacts are not among it: they are no things, and the formats that have them say so.
#include "filum/export.h"

#include "io/section.h"

#include <stdarg.h>
#include <stdio.h>

enum {
    SOLIDS = 1,       // bodies and obstacles
    SHAPES = 2,       // of bodies and obstacles that are there
    THICKNESS = 4,    // of rods
    SECTIONS = 8,     // of rods that are not round
    LONE_POINTS = 16, // rods without a line
};

static const int lost[FIL_EXPORT_FORMAT_COUNT] = {
    [FIL_EXPORT_USDA] = LONE_POINTS,
    [FIL_EXPORT_GLB] = LONE_POINTS,
    [FIL_EXPORT_HAIR] = SOLIDS | SECTIONS | LONE_POINTS,
    [FIL_EXPORT_CSV] = SHAPES | THICKNESS,
    [FIL_EXPORT_OBJ] = THICKNESS,
};

typedef struct List {
    char *text;
    size_t size, used;
    bool any;
} List;

static void add(List *list, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(List *list, const char *format, ...) {
    va_list args;
    va_start(args, format);
    for (int part = 0; part < 2; part++) {
        const size_t left = list->size - list->used;
        const int length =
            part == 0 ? snprintf(list->text + list->used, left, "%s", list->any ? ", " : "")
                      : vsnprintf(list->text + list->used, left, format, args);
        list->used += length < 0 ? 0 : (size_t)length < left ? (size_t)length : left - 1;
    }
    va_end(args);
    list->any = true;
}

static void add_solids(List *list, const FilResultDef *def) {
    if (def->rigid_count > 0) {
        add(list, "%d %s", def->rigid_count, def->rigid_count == 1 ? "body" : "bodies");
    }
    if (def->obstacle_count > 0) {
        add(list, "%d obstacle%s", def->obstacle_count, def->obstacle_count == 1 ? "" : "s");
    }
}

static void add_shapes(List *list, const FilResultDef *def) {
    const int count = def->rigid_count + def->obstacle_count;
    if (count > 0) {
        add(list, "the shape%s of %d solid%s", count == 1 ? "" : "s", count, count == 1 ? "" : "s");
    }
}

static void add_sections(List *list, const FilResultDef *def) {
    int count = 0;
    for (int r = 0; r < def->rod_count; r++) {
        count += !fil_section_is_round(&def->rods[r]);
    }
    if (count > 0) {
        add(list, "the section%s of %d rod%s that %s not round", count == 1 ? "" : "s", count,
            count == 1 ? "" : "s", count == 1 ? "is" : "are");
    }
}

static void add_lone_points(List *list, const FilResultDef *def) {
    int count = 0;
    for (int l = 0; l < def->line_count; l++) {
        count += def->lines[l].point_count == 1;
    }
    if (count > 0) {
        add(list, "%d line%s of a single point", count, count == 1 ? "" : "s");
    }
}

bool fil_export_losses(const FilResultDef *def, FilExportFormat format, char *text, size_t size) {
    const int what = (unsigned)format < FIL_EXPORT_FORMAT_COUNT ? lost[format] : 0;
    text[0] = '\0';
    List list = {.text = text, .size = size};
    if (what & SOLIDS) {
        add_solids(&list, def);
    }
    if (what & SHAPES) {
        add_shapes(&list, def);
    }
    if ((what & THICKNESS) && def->rod_count > 0) {
        add(&list, "how thick the rods are");
    }
    if (what & SECTIONS) {
        add_sections(&list, def);
    }
    if (what & LONE_POINTS) {
        add_lone_points(&list, def);
    }
    return list.any;
}
