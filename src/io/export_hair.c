// export_hair.c - Cem Yuksel's .hair files, one for each frame: a strand for each line of a rod, in
// metres, with its width where rods differ in it.
#include "export_things.h"

#include "hair_file.h"

#include <stdio.h>

static FilStatus fill_strands(FilExport *job, const FilFrame *frame, FilHair *hair) {
    const FilResultDef *def = job->def;
    int *first = FIL_NEW(&job->scratch, int, def->line_count + 1);
    float *points = FIL_NEW(&job->scratch, float, 3 * (size_t)def->point_count + 1);
    float *thickness = FIL_NEW(&job->scratch, float, (size_t)def->point_count + 1);
    if (job->scratch.failed) {
        return fil_export_no_memory(job);
    }
    first[0] = 0;
    bool differ = false;
    for (int l = 0; l < def->line_count; l++) {
        const FilResultLine *line = &def->lines[l];
        for (int i = 0; line->point_count > 1 && i < line->point_count; i++) {
            const size_t at = (size_t)hair->point_count++;
            const double *x = frame->position + 3 * (size_t)(line->first_point + i);
            for (int k = 0; k < 3; k++) {
                points[3 * at + (size_t)k] = (float)x[k];
            }
            thickness[at] = (float)(2.0 * fil_line_radius(def, l));
            differ = differ || thickness[at] != thickness[0];
        }
        if (line->point_count > 1) {
            first[++hair->strand_count] = hair->point_count;
        }
    }
    hair->first = first;
    hair->points = points;
    hair->thickness = differ ? thickness : NULL;
    hair->default_thickness = hair->point_count > 0 ? thickness[0] : 0.0F;
    return FIL_OK;
}

static FilStatus write_frame(FilExport *job, int64_t k, const FilFrame *frame) {
    FilHair hair = {.default_transparency = 0.0F};
    const double *colour = fil_export_colour(0);
    for (int c = 0; c < 3; c++) {
        hair.default_colour[c] = (float)colour[c];
    }
    (void)snprintf(hair.about, sizeof hair.about, "filum, time %.9g s, metres, %c up", frame->time,
                   job->y_up ? 'y' : 'z');
    FIL_TRY(fill_strands(job, frame, &hair));
    if (hair.strand_count == 0) {
        return fil_fail(job->error, FIL_E_ARGUMENT,
                        "the run holds no rods, and hair does not hold solids");
    }
    FIL_TRY(fil_hair_check(&hair, job->name, job->error));
    FilFileWriter writer;
    FIL_TRY(fil_export_begin(job, &writer, k, ".hair"));
    fil_hair_put(&writer, &hair);
    return fil_export_end(job, &writer, FIL_OK);
}

const FilExportKind fil_export_hair = {.frame = write_frame, .frame_suffix = ".hair"};
