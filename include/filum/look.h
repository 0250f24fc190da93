#ifndef FIL_LOOK_H
#define FIL_LOOK_H

/// What there is to see of a frame: one number for each point of the rods, to colour them by, to
/// plot along them, or to take into other programs.

#include "filum/result.h"

#ifdef __cplusplus
extern "C" {
#endif

// One table: the fields, their names, units and what they are.
#define FIL_FIELDS(X)                                                                        \
    X(FIL_FIELD_ROD, "rod", "", "which rod it is")                                           \
    X(FIL_FIELD_TENSION, "tension", "N", "force along the rod, positive where it is pulled") \
    X(FIL_FIELD_CURVATURE, "curvature", "1/m", "of the centreline")                          \
    X(FIL_FIELD_TWIST, "twist", "1/m", "twist of the section per length")                    \
    X(FIL_FIELD_ELASTIC, "elastic", "J/m", "bending and twist energy per length")            \
    X(FIL_FIELD_SPEED, "speed", "m/s", "of the centreline")                                  \
    X(FIL_FIELD_FORCE, "force", "N",                                                         \
      "contact force, friction included, distributed to the neighbouring points")            \
    X(FIL_FIELD_STATE, "state", "", "0: no contact force, 1: sticks, 2: slides")

#define FIL_FIELD_ENUM(code, name, unit, text) code,
typedef enum FilField { FIL_FIELDS(FIL_FIELD_ENUM) FIL_FIELD_COUNT } FilField;

/// "tension" for FIL_FIELD_TENSION; NULL when out of range. The same for units.
FIL_API const char *fil_field_name(FilField field);
FIL_API const char *fil_field_unit(FilField field);

/// Whether the frame holds what the field needs: runs of old versions have no tension and no
/// elastic energy.
FIL_API bool fil_field_is_known(FilField field, const FilFrame *frame);

/// values[def->point_count] of a field that is known. The force of a contact is |impulse| / step
/// (FilContact), and goes to the two points next to it.
FIL_API void fil_field_compute(FilField field, const FilResultDef *def, const FilFrame *frame,
                               double *values);

/// The colour of a value: sRGB, each part 0 .. 1. Hues for rods; grey, blue and orange for states;
/// else a scale over `range` whose lightness rises evenly, from violet to yellow, or, for a range
/// that begins below 0, one from blue over white at the middle to red. What is not finite is grey.
FIL_API void fil_colour_value(FilField field, const double range[2], double value, double rgb[3]);

/// The colour at t = 0 .. 1 of the two scales.
FIL_API void fil_colour_scale(bool diverging, double t, double rgb[3]);

/// The colour that a thing with this number has where it has none of its own.
FIL_API void fil_colour_number(int number, double rgb[3]);

/// The ends of a scale for these values: all of them but the outermost hundredth at either end.
/// Values that are negative too get a scale that is even about 0. `scratch` has room for `count`.
FIL_API void fil_field_range(const double *values, int count, double *scratch, double range[2]);

#ifdef __cplusplus
}
#endif

#endif
