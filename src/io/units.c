// units.c - numbers with units.
//
//     quantity = number [unit]
//     unit     = ["/"] factor { (" " | "*" | "/") factor }        a / holds for the next factor
//     alone factor   = ( symbol | "1" | "(" unit ")" ) [ ["^"] ["-"] digits ]
//
// A unit is a scale and the powers of m, kg, s and rad; two units measure the same when the powers
// agree. Radians are counted although SI does not, so that "30 deg" is never taken for a length.
#include "units.h"

#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <string.h>

enum { POWER_MAX = 12, NESTING_MAX = 4, NUMBER_MAX = 64 };

#define PI 3.14159265358979323846

static const struct {
    const char *symbol;
    FilUnit unit;
} symbols[] = {
    {"m", {1.0, 1, 0, 0, 0}},
    {"km", {1e3, 1, 0, 0, 0}},
    {"dm", {1e-1, 1, 0, 0, 0}},
    {"cm", {1e-2, 1, 0, 0, 0}},
    {"mm", {1e-3, 1, 0, 0, 0}},
    {"um", {1e-6, 1, 0, 0, 0}},
    {"\xC2\xB5m", {1e-6, 1, 0, 0, 0}}, // micro sign
    {"\xCE\xBCm", {1e-6, 1, 0, 0, 0}}, // Greek mu
    {"nm", {1e-9, 1, 0, 0, 0}},
    {"in", {0.0254, 1, 0, 0, 0}},
    {"kg", {1.0, 0, 1, 0, 0}},
    {"g", {1e-3, 0, 1, 0, 0}},
    {"mg", {1e-6, 0, 1, 0, 0}},
    {"ug", {1e-9, 0, 1, 0, 0}},
    {"t", {1e3, 0, 1, 0, 0}},
    {"s", {1.0, 0, 0, 1, 0}},
    {"ms", {1e-3, 0, 0, 1, 0}},
    {"us", {1e-6, 0, 0, 1, 0}},
    {"min", {60.0, 0, 0, 1, 0}},
    {"h", {3600.0, 0, 0, 1, 0}},
    {"Hz", {1.0, 0, 0, -1, 0}},
    {"N", {1.0, 1, 1, -2, 0}},
    {"kN", {1e3, 1, 1, -2, 0}},
    {"mN", {1e-3, 1, 1, -2, 0}},
    {"uN", {1e-6, 1, 1, -2, 0}},
    {"Pa", {1.0, -1, 1, -2, 0}},
    {"kPa", {1e3, -1, 1, -2, 0}},
    {"MPa", {1e6, -1, 1, -2, 0}},
    {"GPa", {1e9, -1, 1, -2, 0}},
    {"bar", {1e5, -1, 1, -2, 0}},
    {"J", {1.0, 2, 1, -2, 0}},
    {"mJ", {1e-3, 2, 1, -2, 0}},
    {"rad", {1.0, 0, 0, 0, 1}},
    {"mrad", {1e-3, 0, 0, 0, 1}},
    {"deg", {PI / 180.0, 0, 0, 0, 1}},
    {"\xC2\xB0", {PI / 180.0, 0, 0, 0, 1}},
    {"turn", {2.0 * PI, 0, 0, 0, 1}},
    {"turns", {2.0 * PI, 0, 0, 0, 1}},
    {"rpm", {2.0 * PI / 60.0, 0, 0, -1, 1}},
    {"%", {1e-2, 0, 0, 0, 0}},
};

static FilUnit times(FilUnit a, FilUnit b, int power) {
    a.scale *= pow(b.scale, power);
    a.metre += power * b.metre;
    a.kilogram += power * b.kilogram;
    a.second += power * b.second;
    a.radian += power * b.radian;
    return a;
}

static bool is_symbol(char c) {
    return isalpha((unsigned char)c) || (unsigned char)c >= 0x80 || c == '%';
}

static bool read_symbol(const char **at, FilUnit *unit) {
    size_t size = 0;
    while (is_symbol((*at)[size])) {
        size++;
    }
    for (size_t k = 0; k < sizeof symbols / sizeof *symbols; k++) {
        if (strlen(symbols[k].symbol) == size && memcmp(symbols[k].symbol, *at, size) == 0) {
            *unit = symbols[k].unit;
            *at += size;
            return true;
        }
    }
    return false;
}

static bool read_power(const char **at, int *power) {
    const bool raised = **at == '^';
    *at += raised;
    const bool negative = raised && **at == '-';
    *at += negative;
    if (!isdigit((unsigned char)**at)) {
        *power = 1;
        return !raised;
    }
    int value = 0;
    for (; isdigit((unsigned char)**at) && value <= POWER_MAX; (*at)++) {
        value = 10 * value + (**at - '0');
    }
    *power = negative ? -value : value;
    return value <= POWER_MAX;
}

static bool read_product(const char **at, int depth, FilUnit *unit);

static bool read_factor(const char **at, int depth, FilUnit *unit) {
    *unit = (FilUnit){.scale = 1.0};
    if (**at == '(') {
        (*at)++;
        if (depth >= NESTING_MAX || !read_product(at, depth + 1, unit) || **at != ')') {
            return false;
        }
        (*at)++;
    } else if (**at == '1' && !isdigit((unsigned char)(*at)[1])) {
        (*at)++;
    } else if (!read_symbol(at, unit)) {
        return false;
    }
    int power = 1;
    if (!read_power(at, &power)) {
        return false;
    }
    *unit = times((FilUnit){.scale = 1.0}, *unit, power);
    return true;
}

// NOLINTNEXTLINE(misc-no-recursion): no deeper than NESTING_MAX
static bool read_product(const char **at, int depth, FilUnit *unit) {
    *unit = (FilUnit){.scale = 1.0};
    int sign = depth == 0 && **at == '/' ? -1 : 1; // "40 /m"
    *at += sign < 0;
    for (;;) {
        FilUnit factor;
        if (!read_factor(at, depth, &factor)) {
            return false;
        }
        *unit = times(*unit, factor, sign);
        const bool space = **at == ' ';
        while (**at == ' ') {
            (*at)++;
        }
        if (**at == '*' || **at == '/') {
            sign = **at == '/' ? -1 : 1;
            (*at)++;
            while (**at == ' ') {
                (*at)++;
            }
        } else if (space && (is_symbol(**at) || **at == '(')) {
            sign = 1;
        } else {
            return true;
        }
    }
}

bool fil_unit_read(const char *text, FilUnit *unit) {
    while (*text == ' ') {
        text++;
    }
    if (*text == '\0') {
        *unit = (FilUnit){.scale = 1.0};
        return true;
    }
    return read_product(&text, 0, unit) && *text == '\0' && isfinite(unit->scale) &&
           unit->scale > 0.0;
}

bool fil_unit_fits(const FilUnit *given, const FilUnit *wanted) {
    const bool curvature = wanted->metre == -1 && wanted->kilogram == 0 && wanted->second == 0 &&
                           wanted->radian == 0 && given->radian == 1;
    return given->metre == wanted->metre && given->kilogram == wanted->kilogram &&
           given->second == wanted->second && (given->radian == wanted->radian || curvature);
}

// The decimal number that a text starts with; what strtod() takes beyond that (inf, 0x10) is none.
static bool read_number(const char *text, double *value, const char **rest) {
    const size_t size = strspn(text, "+-.0123456789eE");
    char copy[NUMBER_MAX];
    if (size == 0 || size >= sizeof copy) {
        return false;
    }
    memcpy(copy, text, size);
    copy[size] = '\0';
    char *point = strchr(copy, '.'), *end = NULL;
    const char *local = localeconv()->decimal_point;
    if (point != NULL && local[0] != '\0' && local[1] == '\0') {
        *point = local[0];
    }
    *value = strtod(copy, &end);
    *rest = text + (end - copy);
    return end != copy && isfinite(*value);
}

FilQuantity fil_quantity_read(const char *text, const char *wanted, double *value) {
    while (*text == ' ') {
        text++;
    }
    const char *rest = NULL;
    double number = 0.0;
    if (!read_number(text, &number, &rest)) {
        return FIL_QUANTITY_NO_NUMBER;
    }
    while (*rest == ' ') {
        rest++;
    }
    FilUnit unit, target;
    if (!fil_unit_read(rest, &unit)) {
        return FIL_QUANTITY_NO_UNIT;
    }
    const bool known = fil_unit_read(wanted, &target);
    FIL_ASSERT(known && target.scale == 1.0);
    if (!known || (*rest != '\0' && !fil_unit_fits(&unit, &target))) {
        return FIL_QUANTITY_WRONG_UNIT;
    }
    // 12 cm is 12 / 100, which is the double nearest to 0.12; 12 * 0.01 is not
    const double inverse = round(1.0 / unit.scale);
    const bool exact = unit.scale < 1.0 && fabs(inverse * unit.scale - 1.0) < 1e-12;
    *value = exact ? number / inverse : number * unit.scale;
    return isfinite(*value) ? FIL_QUANTITY_OK : FIL_QUANTITY_NO_NUMBER;
}
