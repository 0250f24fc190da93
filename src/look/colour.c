// colour.c - colours for values: see filum/look.h.
//
// Colours are mixed in OKLab (Ottosson 2020), where equal distances look equal: lightness L,
// chroma C and hue h (degrees). A scale is a few stops (L, C, h) with straight lines between them;
// L of the stops is evenly spaced, so that a grey print of a scale still orders the values. Stops
// were chosen to lie inside sRGB; what is left outside by the lines between them is clamped.
#include "filum/look.h"

#include <math.h>

typedef struct Stop {
    double t, lightness, chroma, hue;
} Stop;

static const Stop rising[] = {
    {0.00, 0.27, 0.115, 312.0}, {0.25, 0.43, 0.105, 268.0}, {0.50, 0.59, 0.095, 195.0},
    {0.75, 0.76, 0.150, 145.0}, {1.00, 0.92, 0.170, 104.0},
};
static const Stop diverging_stops[] = {
    {0.00, 0.38, 0.130, 262.0}, {0.25, 0.66, 0.110, 245.0}, {0.50, 0.94, 0.000, 245.0},
    {0.50, 0.94, 0.000, 40.0},  {0.75, 0.66, 0.140, 40.0},  {1.00, 0.38, 0.140, 24.0},
};
enum {
    RISING_COUNT = sizeof rising / sizeof *rising,
    DIVERGING_COUNT = sizeof diverging_stops / sizeof *diverging_stops
};

static double encode(double linear) {
    const double c = fmin(fmax(linear, 0.0), 1.0);
    return c <= 0.0031308 ? 12.92 * c : 1.055 * pow(c, 1.0 / 2.4) - 0.055;
}

static void mix(double lightness, double chroma, double hue, double rgb[3]) {
    const double angle = hue * (3.14159265358979323846 / 180.0);
    const double a = chroma * cos(angle), b = chroma * sin(angle);
    const double l = lightness + 0.3963377774 * a + 0.2158037573 * b;
    const double m = lightness - 0.1055613458 * a - 0.0638541728 * b;
    const double s = lightness - 0.0894841775 * a - 1.2914855480 * b;
    const double l3 = l * l * l, m3 = m * m * m, s3 = s * s * s;
    rgb[0] = encode(4.0767416621 * l3 - 3.3077115913 * m3 + 0.2309699292 * s3);
    rgb[1] = encode(-1.2684380046 * l3 + 2.6097574011 * m3 - 0.3413193965 * s3);
    rgb[2] = encode(-0.0041960863 * l3 - 0.7034186147 * m3 + 1.7076147010 * s3);
}

void fil_colour_scale(bool diverging, double t, double rgb[3]) {
    const Stop *stops = diverging ? diverging_stops : rising;
    const int count = diverging ? DIVERGING_COUNT : RISING_COUNT;
    const double at = fmin(fmax(t, 0.0), 1.0); // fmax() takes a NaN to 0
    int k = 0;
    while (k < count - 2 && at > stops[k + 1].t) {
        k++;
    }
    const Stop *p = &stops[k], *q = &stops[k + 1];
    const double part = q->t > p->t ? (at - p->t) / (q->t - p->t) : 0.0;
    mix(p->lightness + part * (q->lightness - p->lightness),
        p->chroma + part * (q->chroma - p->chroma), p->hue + part * (q->hue - p->hue), rgb);
}

// Steps of the golden angle keep neighbours apart, however many there are.
void fil_colour_number(int number, double rgb[3]) {
    const double turn = fmod(0.61803398874989485 * (double)number + 0.08, 1.0);
    const double step = fmod(0.75487766624669276 * (double)number, 1.0);
    mix(0.62 + 0.14 * step, 0.115, 360.0 * turn, rgb);
}

void fil_colour_value(FilField field, const double range[2], double value, double rgb[3]) {
    if (!isfinite(value)) {
        mix(0.6, 0.0, 0.0, rgb);
    } else if (field == FIL_FIELD_ROD) {
        fil_colour_number((int)fmin(fmax(value, 0.0), 1e9), rgb);
    } else if (field == FIL_FIELD_STATE) {
        const double hue = value < 1.5 ? 255.0 : 55.0;
        mix(value < 0.5 ? 0.72 : 0.64, value < 0.5 ? 0.01 : 0.14, hue, rgb);
    } else {
        const double width = range[1] - range[0];
        fil_colour_scale(range[0]<0.0, width> 0.0 ? (value - range[0]) / width : 0.0, rgb);
    }
}
