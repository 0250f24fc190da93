// section.c - what sections of rods look like.
#include "section.h"

#include <math.h>

static const double flatness = 2.0; // of a section, from which on a rod is a ribbon

bool fil_section_is_flat(const FilResultRod *rod, double half[2]) {
    half[0] = 0.5 * rod->width;
    half[1] = 0.5 * rod->thickness;
    return rod->width > 0.0 && rod->thickness > 0.0 &&
           fmax(half[0], half[1]) > flatness * fmin(half[0], half[1]);
}

bool fil_section_is_round(const FilResultRod *rod) {
    return !(rod->width > 0.0 && rod->thickness > 0.0) || rod->width == rod->thickness;
}
