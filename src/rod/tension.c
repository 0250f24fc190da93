// tension.c - the tension of rods that stretch.
//
// It is known element by element: EA times the strain, exact in the middle of an element, for there
// the masses and forces of a node are shared out. From middle to middle it is taken as linear;
// beyond the last one with the smaller of the two slopes before it where they agree in sign, so
// that a weight is exact and a jump is not carried on.
#include "rod.h"

#include <math.h>

// The slope from the middle of element i to that of the next, N/m.
static double slope_after(const FilRod *rod, int i) {
    const double step = rod->table->edge_tension(rod, i + 1) - rod->table->edge_tension(rod, i);
    return step / (0.5 * (rod->lengths[i] + rod->lengths[i + 1]));
}

static double smaller(double a, double b) {
    return a * b <= 0.0 ? 0.0 : fabs(a) < fabs(b) ? a : b;
}

double fil_rod_edge_tension_at(const FilRod *rod, int element, double u) {
    const int last = rod->element_count - 1, first = u < 0.5 ? element - 1 : element;
    double slope = 0.0;
    if (first >= 0 && first < last) {
        slope = slope_after(rod, first);
    } else if (last > 0) {
        const int end = first < 0 ? 0 : last - 1, other = first < 0 ? 1 : last - 2;
        slope = slope_after(rod, end);
        slope = last > 1 ? smaller(slope, slope_after(rod, other)) : slope;
    }
    return rod->table->edge_tension(rod, element) + slope * (u - 0.5) * rod->lengths[element];
}
