#ifndef FIL_CURVE_H
#define FIL_CURVE_H

/// Frame and centreline of a curve whose material curvatures are polynomials of arc length.
///
/// A curve carries a frame R(s) = (n0 n1 n2): n0 is its unit tangent, n1 and n2 turn with the
/// material. Its twist and its two curvatures, kappa = (twist, kappa1, kappa2) in 1/m, say how the
/// frame turns, in the frame's own axes:
///
///     R' = R [kappa]x,    r' = n0,    R(0) and r(0) given.
///
/// Both are computed to machine precision from a polynomial kappa(s) of any degree up to
/// FIL_CURVE_DEGREE_MAX. Frames stay orthonormal by themselves; nothing is projected.
/// No function here allocates, and all may be called from any thread.

#include "filum/base.h"
#include "filum/pose.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Largest degree of the curvature.
#define FIL_CURVE_DEGREE_MAX 64

/// Most radians that a curve may turn by; beyond, the rounding of its own coefficients would move
/// its end by more than 1e-10 rad, and a high degree would take seconds.
#define FIL_CURVE_ANGLE_MAX 1e6

/// What the coefficients multiply.
typedef enum FilCurveBasis {
    FIL_CURVE_POWERS,    ///< s^k. Rounding the coefficients may cost digits: see info.condition
    FIL_CURVE_CHEBYSHEV, ///< T_k(2 s / length - 1). Costs none, whatever the degree
} FilCurveBasis;

/// A curve. Start from fil_curve_default().
typedef struct FilCurve {
    FilCurveBasis basis;
    int degree;                 ///< of the curvature, 0 to FIL_CURVE_DEGREE_MAX
    const double *coefficients; ///< 3 (degree + 1): twist, kappa1, kappa2 of k = 0, 1, ...
    double length;              ///< m
    FilPose start;              ///< at s = 0; the axes orthonormal and right-handed
} FilCurve;

/// What an evaluation took.
typedef struct FilCurveInfo {
    FilPose end; ///< at s = length
    int segments;
    int terms;        ///< of all series together
    double angle;     ///< rad: a bound of the integral of |kappa|
    double condition; ///< relative change of the curvature by one of the coefficients, at most
} FilCurveInfo;

/// Straight, 1 m along x from the origin, the axes those of the world.
FIL_API FilCurve fil_curve_default(void);

/// Poses at `count` places s, ascending, in [0, length]; `info`, when not NULL, gets the end of the
/// curve too. On failure `error`, when not NULL, names the field and the rule, and `poses` and
/// `info` are left alone.
FIL_API FIL_MUST_CHECK FilStatus fil_curve_evaluate(const FilCurve *curve, int count,
                                                    const double *s, FilPose *poses,
                                                    FilCurveInfo *info, FilError *error);

/// kappa(s), 1/m, of a valid curve; s in [0, length].
FIL_API void fil_curve_curvature(const FilCurve *curve, double s, double kappa[3]);

/// The place of node `index`, 0 to degree, where a polynomial of this degree is best interpolated:
/// the zeros of T_(degree + 1), ascending in (0, length).
FIL_API double fil_curve_node(int degree, double length, int index);

/// Coefficients (FIL_CURVE_CHEBYSHEV) of the polynomial that has the given `values` of twist,
/// kappa1, kappa2 at the degree + 1 nodes. Both arrays hold 3 (degree + 1) and are not the same;
/// degree is 0 to FIL_CURVE_DEGREE_MAX.
FIL_API void fil_curve_interpolate(int degree, const double *values, double *coefficients);

#ifdef __cplusplus
}
#endif

#endif
