// Closest points of segments and triangles, against a certificate (a plane that separates the two
// by the distance that was found, in long double) and, where round-off makes a plane useless, a
// search in long double.
#include "collide_cases.h"

enum { CASES = 1000000 };

static long double dot_ld(const long double a[3], const long double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// The distance of all of a from all of b along n: no pair can be closer.
static double separation(const double (*a)[3], int a_count, const double (*b)[3], int b_count,
                         const double n[3]) {
    long double least = INFINITY, size2 = 0.0L;
    for (int k = 0; k < 3; k++) {
        size2 += (long double)n[k] * n[k];
    }
    for (int i = 0; i < a_count; i++) {
        for (int j = 0; j < b_count; j++) {
            long double along = 0.0L;
            for (int k = 0; k < 3; k++) {
                along += ((long double)a[i][k] - b[j][k]) * n[k];
            }
            least = along < least ? along : least;
        }
    }
    return size2 > 0.0L ? (double)(least / sqrtl(size2)) : 0.0;
}

// The least of a convex function on [0, 1], by thirds.
typedef struct Search {
    const double (*a)[3], (*b)[3];
    long double (*distance2)(const struct Search *search, const long double x[3]);
} Search;

static long double at(const Search *search, long double s) {
    long double x[3];
    for (int k = 0; k < 3; k++) {
        x[k] = search->a[0][k] + s * ((long double)search->a[1][k] - search->a[0][k]);
    }
    return search->distance2(search, x);
}

static double search_least(const Search *search) {
    long double low = 0.0L, high = 1.0L, least = fminl(at(search, 0.0L), at(search, 1.0L));
    for (int pass = 0; pass < 160; pass++) {
        const long double s = low + (high - low) / 3, t = high - (high - low) / 3;
        const long double at_s = at(search, s), at_t = at(search, t);
        least = fminl(least, fminl(at_s, at_t));
        if (at_s < at_t) {
            high = t;
        } else {
            low = s;
        }
    }
    return (double)sqrtl(least);
}

static long double to_segment(const long double x[3], const double p[3], const double q[3]) {
    long double r[3], d[3], apart[3];
    for (int k = 0; k < 3; k++) {
        r[k] = x[k] - p[k];
        d[k] = (long double)q[k] - p[k];
    }
    const long double dd = dot_ld(d, d);
    const long double t = dd > 0.0L ? fminl(fmaxl(dot_ld(r, d) / dd, 0.0L), 1.0L) : 0.0L;
    for (int k = 0; k < 3; k++) {
        apart[k] = r[k] - t * d[k];
    }
    return dot_ld(apart, apart);
}

static long double search_segment(const Search *search, const long double x[3]) {
    return to_segment(x, search->b[0], search->b[1]);
}

// The foot of x in the plane, where it is inside; corrected until long double has no more to give,
// for needles of triangles turn their normals by any angle.
static long double search_triangle(const Search *search, const long double x[3]) {
    const double(*c)[3] = search->b;
    long double u[3], v[3], left[3], y = 0.0L, z = 0.0L;
    for (int k = 0; k < 3; k++) {
        u[k] = (long double)c[1][k] - c[0][k];
        v[k] = (long double)c[2][k] - c[0][k];
        left[k] = x[k] - c[0][k];
    }
    long double least = fminl(to_segment(x, c[0], c[1]),
                              fminl(to_segment(x, c[1], c[2]), to_segment(x, c[2], c[0])));
    const long double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
                              u[0] * v[1] - u[1] * v[0]};
    const long double nn = dot_ld(n, n);
    for (int pass = 0; pass < 12 && nn > 0.0L; pass++) {
        const long double lv[3] = {left[1] * v[2] - left[2] * v[1], left[2] * v[0] - left[0] * v[2],
                                   left[0] * v[1] - left[1] * v[0]};
        const long double ul[3] = {u[1] * left[2] - u[2] * left[1], u[2] * left[0] - u[0] * left[2],
                                   u[0] * left[1] - u[1] * left[0]};
        y += dot_ld(lv, n) / nn;
        z += dot_ld(ul, n) / nn;
        for (int k = 0; k < 3; k++) {
            left[k] = (x[k] - c[0][k]) - y * u[k] - z * v[k];
        }
    }
    return y >= 0.0L && z >= 0.0L && y + z <= 1.0L ? fminl(least, dot_ld(left, left)) : least;
}

// Whether `distance` is the least one, to round-off relative to `size`.
static bool is_least(const Search *search, int b_count, double distance, const double apart[3],
                     double size) {
    const double tolerance = 2e-14 * size;
    const double bound = separation(search->a, 2, search->b, b_count, apart);
    if (distance <= fmax(bound, 0.0) + tolerance) {
        return true;
    }
    return fabs(distance - search_least(search)) <= tolerance;
}

// --- segments ------------------------------------------------------------------------------------

static bool pair_is_right(const double a[2][3], const double b[2][3], const FilClosest *pair,
                          double size) {
    bool right = pair->t_a >= 0.0 && pair->t_a <= 1.0 && pair->t_b >= 0.0 && pair->t_b <= 1.0;
    for (int k = 0; k < 3; k++) {
        const long double u = (long double)a[1][k] - a[0][k], v = (long double)b[1][k] - b[0][k];
        const long double apart = ((long double)a[0][k] - b[0][k]) + pair->t_a * u - pair->t_b * v;
        right = right && fabsl(apart - pair->apart[k]) <= 1e-15L * size;
    }
    const double distance = fil_norm3(pair->apart);
    return right && fabs(distance * distance - pair->distance2) <= 1e-14 * pair->distance2;
}

static void closest_points_of_segments_are_the_closest(void) {
    FilRandom random = fil_random_make(1);
    for (int i = 0; i < 2 * CASES && check_failures < 5; i++) {
        double p[4][3];
        case_points(&random, p, 4);
        const double(*a)[3] = FIL_POINTS(p), (*b)[3] = FIL_POINTS(p + 2);
        const double size = case_size(a, 4);
        const FilClosest pair = fil_closest_segments(a, b);
        const Search search = {a, b, search_segment};
        CHECK(pair_is_right(a, b, &pair, size));
        CHECK(is_least(&search, 2, sqrt(pair.distance2), pair.apart, size));
    }
}

static void exchanging_the_segments_exchanges_the_points(void) {
    FilRandom random = fil_random_make(2);
    for (int i = 0; i < CASES / 4; i++) {
        double p[4][3];
        case_points(&random, p, 4);
        const double size = case_size(FIL_POINTS(p), 4);
        const FilClosest one = fil_closest_segments(FIL_POINTS(p), FIL_POINTS(p + 2));
        const FilClosest two = fil_closest_segments(FIL_POINTS(p + 2), FIL_POINTS(p));
        CHECK_NEAR(sqrt(one.distance2), sqrt(two.distance2), 0.0, 2e-14 * size);
    }
}

// Scaling by a power of two is exact, however far it goes; a shift by a lattice vector is too.
static void scale_does_not_matter(void) {
    FilRandom random = fil_random_make(3);
    for (int i = 0; i < CASES / 4; i++) {
        double p[4][3], q[4][3];
        case_points(&random, p, 4);
        const int exponent = fil_random_int(&random, 1900) - 940;
        for (int k = 0; k < 12; k++) {
            q[k / 3][k % 3] = ldexp(p[k / 3][k % 3], exponent);
        }
        const double size = case_size(FIL_POINTS(p), 4);
        const FilClosest one = fil_closest_segments(FIL_POINTS(p), FIL_POINTS(p + 2));
        const FilClosest two = fil_closest_segments(FIL_POINTS(q), FIL_POINTS(q + 2));
        double apart[3];
        for (int k = 0; k < 3; k++) {
            apart[k] = ldexp(two.apart[k], -exponent);
        }
        CHECK_NEAR(fil_norm3(apart), sqrt(one.distance2), 0.0, 2e-14 * size + 1e-25);
        const FilClosestTriangle three =
            fil_closest_segment_triangle(FIL_POINTS(q + 2), FIL_POINTS(q));
        CHECK(three.distance2 >= 0.0 && isfinite(fil_norm3(three.weight)));
    }
}

static void numbers_at_the_ends_of_the_range_give_no_nan(void) {
    const double big = 1.7e308, small = 5e-324;
    const double value[] = {0.0, big, -big, small, -small, 1.0, 1e200, -1e-200};
    FilRandom random = fil_random_make(4);
    for (int i = 0; i < CASES / 4; i++) {
        double p[5][3];
        for (int k = 0; k < 15; k++) {
            p[k / 3][k % 3] = value[fil_random_int(&random, 8)];
        }
        const FilClosest pair = fil_closest_segments(FIL_POINTS(p), FIL_POINTS(p + 2));
        CHECK(pair.t_a >= 0.0 && pair.t_a <= 1.0 && pair.t_b >= 0.0 && pair.t_b <= 1.0);
        CHECK(pair.distance2 >= 0.0);
        const FilClosest foot = fil_closest_point_segment(p[0], FIL_POINTS(p + 2));
        CHECK(foot.t_a == 0.0 && foot.t_b >= 0.0 && foot.t_b <= 1.0 && foot.distance2 >= 0.0);
        const FilClosestTriangle face =
            fil_closest_segment_triangle(FIL_POINTS(p), FIL_POINTS(p + 2));
        CHECK(face.t_a >= 0.0 && face.t_a <= 1.0 && face.distance2 >= 0.0);
        CHECK_NEAR(face.weight[0] + face.weight[1] + face.weight[2], 1.0, 0.0, 1e-15);
    }
}

static void lines_that_cross_have_no_distance(void) {
    const double a[2][3] = {{-1.0, 0.0, 0.0}, {1.0, 0.0, 0.0}};
    for (int i = 0; i <= 60; i++) { // angles from 1 down to 1e-15: still found
        const double angle = pow(10.0, -0.25 * i);
        const double b[2][3] = {{0.25 - cos(angle), -sin(angle), 0.0},
                                {0.25 + cos(angle), sin(angle), 0.0}};
        const FilClosest pair = fil_closest_segments(a, b);
        CHECK_NEAR(sqrt(pair.distance2), 0.0, 0.0, 1e-15);
    }
}

// --- triangles -----------------------------------------------------------------------------------

static bool place_is_right(const double *a, double t_a, const double c[3][3],
                           const FilClosestTriangle *place, double size) {
    bool right = place->t_a == t_a;
    for (int k = 0; k < 3; k++) {
        right = right && place->weight[k] >= 0.0;
        double apart = 0.0;
        for (int i = 0; i < 3; i++) {
            apart += place->weight[i] * (a[k] - c[i][k]);
        }
        right = right && fabs(apart - place->apart[k]) <= 1e-14 * size;
    }
    return right && fabs(place->weight[0] + place->weight[1] + place->weight[2] - 1.0) <= 1e-15;
}

static void closest_points_of_triangles_are_the_closest(void) {
    FilRandom random = fil_random_make(5);
    for (int i = 0; i < CASES / 4 && check_failures < 5; i++) {
        double p[5][3], x[3];
        case_points(&random, p, 5);
        const double(*a)[3] = FIL_POINTS(p + 3), (*c)[3] = FIL_POINTS(p);
        const double size = case_size(c, 5);
        const FilClosestTriangle place = fil_closest_segment_triangle(a, c);
        const Search search = {a, c, search_triangle};
        fil_segment_point(a, place.t_a, x);
        CHECK(place_is_right(x, place.t_a, c, &place, size));
        CHECK(is_least(&search, 3, sqrt(place.distance2), place.apart, size));

        const double point[2][3] = {{a[0][0], a[0][1], a[0][2]}, {a[0][0], a[0][1], a[0][2]}};
        const FilClosestTriangle foot = fil_closest_point_triangle(a[0], c);
        const Search still = {point, c, search_triangle};
        CHECK(place_is_right(a[0], 0.0, c, &foot, size));
        CHECK(is_least(&still, 3, sqrt(foot.distance2), foot.apart, size));
    }
}

static void a_segment_through_a_triangle_touches_it_where_it_goes_through(void) {
    const double c[3][3] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}};
    const double a[2][3] = {{0.25, 0.5, -1.0}, {0.25, 0.5, 3.0}};
    const FilClosestTriangle place = fil_closest_segment_triangle(a, c);
    CHECK(place.t_a == 0.25 && place.distance2 == 0.0);
    CHECK(place.weight[0] == 0.25 && place.weight[1] == 0.25 && place.weight[2] == 0.5);
}

#define TESTS(X)                                    \
    X(closest_points_of_segments_are_the_closest)   \
    X(exchanging_the_segments_exchanges_the_points) \
    X(scale_does_not_matter)                        \
    X(numbers_at_the_ends_of_the_range_give_no_nan) \
    X(lines_that_cross_have_no_distance)            \
    X(closest_points_of_triangles_are_the_closest)  \
    X(a_segment_through_a_triangle_touches_it_where_it_goes_through)

CHECK_MAIN(TESTS)
