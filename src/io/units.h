#ifndef FIL_IO_UNITS_H
#define FIL_IO_UNITS_H

// Numbers with units: "12 cm", "3.9 GPa", "0.2 N mm", "30 deg/s", "1 kg/(m s)".

#include "base/error.h"

/// A unit: so many of the SI unit with these powers.
typedef struct FilUnit {
    double scale;
    int metre, kilogram, second, radian;
} FilUnit;

/// Read a unit that ends with the text. False: there is no such unit. "" and "1" are the unit of
/// pure numbers.
bool fil_unit_read(const char *text, FilUnit *unit) FIL_MUST_CHECK;

/// Whether a quantity in `given` may stand for one in `wanted`. Curvatures, in 1/m, may be given as
/// angles per length; elsewhere angles are angles.
bool fil_unit_fits(const FilUnit *given, const FilUnit *wanted) FIL_MUST_CHECK;

typedef enum FilQuantity {
    FIL_QUANTITY_OK,
    FIL_QUANTITY_NO_NUMBER, // does not start with a finite number
    FIL_QUANTITY_NO_UNIT,   // what follows is no known unit
    FIL_QUANTITY_WRONG_UNIT
} FilQuantity;

/// "12 cm" in the unit `wanted` ("m"): 0.12. A text without unit is in `wanted` already.
FilQuantity fil_quantity_read(const char *text, const char *wanted, double *value) FIL_MUST_CHECK;

#endif
