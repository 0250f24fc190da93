#ifndef FIL_ROD_CURVE_SERIES_H
#define FIL_ROD_CURVE_SERIES_H

// The power series of frame and centreline about the middle of one segment.

#include "filum/curve.h"

enum {
    FIL_SERIES_DEGREE = 49, // largest degree of a series; degrees are odd
    FIL_SERIES_ROW = 12,    // doubles of a term, as FilPose has them: r, n0, n1, n2
};

/// One segment, about its middle. A place is x in [-1, 1], lengths are in h.
typedef struct FilSeries {
    int degree;
    double h;                                           // half its length
    double term[FIL_SERIES_DEGREE + 2][FIL_SERIES_ROW]; // the last one takes what spills over
    double first[FIL_SERIES_ROW], last[FIL_SERIES_ROW]; // sums at x = -1 and x = 1
    double middle[FIL_SERIES_ROW + 1]; // pose of the middle in the world, and one to spare
} FilSeries;

/// What the segments of one machine are done with; all variants give the same bits.
typedef struct FilSeriesKernels {
    const char *name;

    /// The terms up to series->degree, odd, and the sums at both ends. `mu`, `degree` + 1 rows of
    /// four, are the curvatures h kappa = sum mu_k x^k.
    void (*build)(int degree, const double *mu, FilSeries *series);

    /// Put the start of the segment, of half length series->h, at a pose: sets the middle, and
    /// takes the pose to the end.
    void (*advance)(FilSeries *series, FilPose *pose);

    /// Poses at places x, after that.
    void (*sample)(const FilSeries *series, int count, const double *x, FilPose *poses);
} FilSeriesKernels;

/// The variants that this machine can run, slowest first; NULL when there are no more.
const FilSeriesKernels *fil_series_variant(int index);

/// The fastest of them.
const FilSeriesKernels *fil_series_kernels(void);

#endif
