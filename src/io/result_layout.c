// result_layout.c - the lists of what a result file holds.
//
// Numbers that change little from neighbour to neighbour are subtracted by whoever looks at them:
// slip, gaps, strain are differences of places, so places are stored as doubles (single precision
// resolves 6e-8 m at a metre, which is 0.1 % of the radius of a hair). What is looked at as it is,
// velocities, frames and curvatures of points, is stored in single precision, whose relative error
// 6e-8 is far below that of any time step. Contacts are stored as doubles: with them the laws of
// contact and friction can be checked to round-off.
#include "result_layout.h"

#define LENGTH(list) ((int)(sizeof(list) / sizeof *(list)))
#define FIELD(row, member, type, count, unit) \
    { #member, (unit), offsetof(row, member), FIL_FIELD_##type, (count) }
#define NAMED(row, name, member, type, count, unit) \
    { (name), (unit), offsetof(row, member), FIL_FIELD_##type, (count) }

static const FilField frame_fields[] = {
    FIELD(FilFrameRow, time, REAL, 1, "s"),
    FIELD(FilFrameRow, step, LONG, 1, "1"),
    FIELD(FilFrameRow, first_contact, LONG, 1, "1"),
    FIELD(FilFrameRow, contact_count, LONG, 1, "1"),
    NAMED(FilFrameRow, "kinetic", energy.kinetic, REAL, 1, "J"),
    NAMED(FilFrameRow, "bend", energy.bend, REAL, 1, "J"),
    NAMED(FilFrameRow, "twist", energy.twist, REAL, 1, "J"),
    NAMED(FilFrameRow, "stretch", energy.stretch, REAL, 1, "J"),
    NAMED(FilFrameRow, "gravity", energy.gravity, REAL, 1, "J"),
    NAMED(FilFrameRow, "loads", energy.loads, REAL, 1, "J"),
};

static const FilField step_fields[] = {
    FIELD(FilResultStep, time, REAL, 1, "s"),
    NAMED(FilResultStep, "outcome", info.outcome, OUTCOME, 1, NULL),
    NAMED(FilResultStep, "scaled", info.residual.scaled, REAL, 1, "1"),
    NAMED(FilResultStep, "natural", info.residual.natural, REAL, 1, "1"),
    NAMED(FilResultStep, "alart_curnier", info.residual.alart_curnier, REAL, 1, "1"),
    NAMED(FilResultStep, "contact_count", info.contact_count, INT, 1, "1"),
    NAMED(FilResultStep, "active_count", info.active_count, INT, 1, "1"),
    NAMED(FilResultStep, "iterations", info.iterations, INT, 1, "1"),
    NAMED(FilResultStep, "island_count", info.island_count, INT, 1, "1"),
    NAMED(FilResultStep, "conditioning", info.conditioning, REAL, 1, "1"),
    NAMED(FilResultStep, "newton_count", info.newton_count, INT, 1, "1"),
    NAMED(FilResultStep, "elastic_residual", info.elastic_residual, REAL, 1, "1"),
    NAMED(FilResultStep, "substeps", info.substeps, INT, 1, "1"),
    NAMED(FilResultStep, "added_count", info.added_count, INT, 1, "1"),
    NAMED(FilResultStep, "missed_count", info.missed_count, INT, 1, "1"),
    NAMED(FilResultStep, "pressed_count", info.pressed_count, INT, 1, "1"),
    NAMED(FilResultStep, "slowed_count", info.slowed_count, INT, 1, "1"),
    NAMED(FilResultStep, "penetration", info.penetration, REAL, 1, "m"),
    NAMED(FilResultStep, "dissipated", info.dissipated, REAL, 1, "J"),
    NAMED(FilResultStep, "seconds_total", info.seconds.total, REAL, 1, "s"),
    NAMED(FilResultStep, "seconds_bodies", info.seconds.bodies, REAL, 1, "s"),
    NAMED(FilResultStep, "seconds_collide", info.seconds.collide, REAL, 1, "s"),
    NAMED(FilResultStep, "seconds_assemble", info.seconds.assemble, REAL, 1, "s"),
    NAMED(FilResultStep, "seconds_friction", info.seconds.friction, REAL, 1, "s"),
    NAMED(FilResultStep, "seconds_update", info.seconds.update, REAL, 1, "s"),
    NAMED(FilResultStep, "seconds_sweep", info.seconds.sweep, REAL, 1, "s"),
};

static const FilField contact_fields[] = {
    NAMED(FilContact, "a_kind", a.kind, BODY_KIND, 1, NULL),
    NAMED(FilContact, "a_index", a.index, INT, 1, "1"),
    NAMED(FilContact, "a_s", a.s, REAL, 1, "m"),
    NAMED(FilContact, "a_point", a.point, REAL, 3, "m"),
    NAMED(FilContact, "b_kind", b.kind, BODY_KIND, 1, NULL),
    NAMED(FilContact, "b_index", b.index, INT, 1, "1"),
    NAMED(FilContact, "b_s", b.s, REAL, 1, "m"),
    NAMED(FilContact, "b_point", b.point, REAL, 3, "m"),
    FIELD(FilContact, normal, REAL, 3, "1"),
    FIELD(FilContact, gap, REAL, 1, "m"),
    FIELD(FilContact, mu, REAL, 1, "1"),
    FIELD(FilContact, impulse, REAL, 3, "N s"),
    FIELD(FilContact, velocity, REAL, 3, "m/s"),
    FIELD(FilContact, state, CONTACT_STATE, 1, NULL),
};

static const FilField rod_fields[] = {
    FIELD(FilResultRod, name, TEXT, 1, NULL),
    FIELD(FilResultRod, model, ROD_MODEL, 1, NULL),
    FIELD(FilResultRod, element_count, INT, 1, "1"),
    FIELD(FilResultRod, length, REAL, 1, "m"),
    FIELD(FilResultRod, radius, REAL, 1, "m"),
    FIELD(FilResultRod, contact_radius, REAL, 1, "m"),
    FIELD(FilResultRod, first_point, INT, 1, "1"),
    FIELD(FilResultRod, point_count, INT, 1, "1"),
    FIELD(FilResultRod, width, REAL, 1, "m"),
    FIELD(FilResultRod, thickness, REAL, 1, "m"),
};

static const FilField line_fields[] = {
    FIELD(FilResultLine, rod, INT, 1, "1"),
    FIELD(FilResultLine, first_point, INT, 1, "1"),
    FIELD(FilResultLine, point_count, INT, 1, "1"),
    FIELD(FilResultLine, radius, REAL, 1, "m"),
};

static const FilField point_fields[] = {
    FIELD(FilResultPoint, element, INT, 1, "1"),
    FIELD(FilResultPoint, u, REAL, 1, "1"),
    FIELD(FilResultPoint, s, REAL, 1, "m"),
};

static const FilField solid_fields[] = {
    FIELD(FilResultSolid, name, TEXT, 1, NULL),  FIELD(FilResultSolid, shape, SHAPE, 1, NULL),
    FIELD(FilResultSolid, radius, REAL, 1, "m"), FIELD(FilResultSolid, length, REAL, 1, "m"),
    FIELD(FilResultSolid, size, REAL, 3, "m"),   FIELD(FilResultSolid, mesh, INT, 1, "1"),
};

#define TABLE(where, list, row, chunk, about)                                            \
    {                                                                                    \
        .path = (where), .text = (about), .fields = (list), .field_count = LENGTH(list), \
        .chunk_rows = (chunk), .row_size = sizeof(row)                                   \
    }

const FilHdfTable fil_result_tables[FIL_TABLE_COUNT] = {
    [FIL_TABLE_FRAMES] = TABLE("/frames", frame_fields, FilFrameRow, 128,
                               "a row for each frame, written last: what it counts is there"),
    [FIL_TABLE_STEPS] = TABLE("/steps", step_fields, FilResultStep, 128,
                              "row k is step k + 1; a frame was made after `step` of them"),
    [FIL_TABLE_CONTACTS] =
        TABLE("/contacts", contact_fields, FilContact, 256,
              "of frame k: rows first_contact .. first_contact + contact_count - 1"),
    [FIL_TABLE_RODS] = TABLE("/rods/info", rod_fields, FilResultRod, 0, "a row for each rod"),
    [FIL_TABLE_LINES] = TABLE("/rods/lines", line_fields, FilResultLine, 0,
                              "polylines: a rod has one, a tree more"),
    [FIL_TABLE_POINTS] =
        TABLE("/rods/points", point_fields, FilResultPoint, 0, "where on its rod each point lies"),
    [FIL_TABLE_RIGIDS] =
        TABLE("/rigids/info", solid_fields, FilResultSolid, 0, "a row for each rigid body"),
    [FIL_TABLE_OBSTACLES] =
        TABLE("/obstacles/info", solid_fields, FilResultSolid, 0, "a row for each obstacle"),
};

enum { SERIES_DOUBLE, SERIES_FLOAT, SERIES_OPTIONAL };
#define SERIES(where, member, counts, numbers, stored, of) \
    {.path = (where),                                      \
     .unit = (of),                                         \
     .array = offsetof(FilFrame, member),                  \
     .items = offsetof(FilResultDef, counts),              \
     .width = (numbers),                                   \
     .single = (stored) != SERIES_DOUBLE,                  \
     .optional = (stored) == SERIES_OPTIONAL},

const FilSeries fil_result_series[FIL_SERIES_COUNT] = {FIL_RESULT_SERIES(SERIES)};

int fil_series_items(const FilSeries *series, const FilResultDef *def) {
    return *(const int *)(const void *)((const char *)def + series->items);
}

const double *fil_series_array(const FilSeries *series, const FilFrame *frame) {
    return *(const double *const *)(const void *)((const char *)frame + series->array);
}

void fil_series_set_array(const FilSeries *series, FilFrame *frame, const double *array) {
    *(const double **)(void *)((char *)frame + series->array) = array;
}
