// Frames and centrelines of curves of polynomial curvature. Golden numbers come from the power
// series in 50 to 90 digits (mpmath), for the very doubles that the tests hand over.
#include "filum/curve.h"

#include <float.h>
#include <stdlib.h>

#include "base/random.h"
#include "check.h"
#include "rod/curve_bound.h"
#include "rod/curve_series.h"

static const double pi = 3.14159265358979323846;

static FilCurve make(int degree, const double *coefficients, double length) {
    FilCurve curve = fil_curve_default();
    curve.degree = degree;
    curve.coefficients = coefficients;
    curve.length = length;
    return curve;
}

static FilCurveInfo follow(const FilCurve *curve) {
    FilCurveInfo info = {.segments = -1};
    FilError error;
    if (fil_curve_evaluate(curve, 0, NULL, NULL, &info, &error) != FIL_OK) {
        check_failures++;
        (void)fprintf(stderr, "%s\n", error.text);
    }
    return info;
}

static double distance(const double *a, const double *b, int count) {
    double far = 0.0;
    for (int i = 0; i < count; i++) {
        const double off = fabs(a[i] - b[i]);
        far = off <= far ? far : off;
    }
    return far;
}

static double frame_distance(const FilPose *a, const FilPose *b) {
    return distance(a->axis[0], b->axis[0], 9);
}

static double position_distance(const FilPose *a, const FilPose *b) {
    return distance(a->position, b->position, 3);
}

// Largest entry of R^T R - I.
static double skewness(const FilPose *pose) {
    double worst = 0.0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double dot = i == j ? -1.0 : 0.0;
            for (int k = 0; k < 3; k++) {
                dot += pose->axis[i][k] * pose->axis[j][k];
            }
            worst = fabs(dot) <= worst ? worst : fabs(dot);
        }
    }
    return worst;
}

static void check_end(const FilCurve *curve, const FilPose *want, double frame, double position) {
    const FilCurveInfo info = follow(curve);
    CHECK_NEAR(frame_distance(&info.end, want), 0.0, 0.0, frame);
    CHECK_NEAR(position_distance(&info.end, want), 0.0, 0.0, position);
    CHECK_NEAR(skewness(&info.end), 0.0, 0.0, 2.0 * frame);
}

// --- known curves --------------------------------------------------------------------------------

static const double benchmark[6] = {100.0, 0.0, 0.0, -500.0, 500.0, 500.0};

static void benchmark_curve_has_its_known_end(void) {
    static const FilPose want = {
        {0.10926893744244160583, -0.012332244548818486526, 0.0043982208575294525102},
        {{0.047720913957799271526, 0.14653322463815016235, -0.98805401089625547903},
         {0.72042612331285787962, 0.68013378528202186111, 0.13566220905748024709},
         {0.69188793544868175497, -0.71829384529946656465, -0.073109757115358983526}}};
    const FilCurve curve = make(1, benchmark, 0.2);
    check_end(&curve, &want, 3e-15, 2e-16);
    CHECK(follow(&curve).segments < 10);
    // known values, of 1/5 where the double 0.2 is 1.1e-17 more
    const double r[3] = {0.109268937442441605, -0.0123322445488184882, 0.00439822085752946348};
    CHECK_NEAR(distance(follow(&curve).end.position, r, 3), 0.0, 0.0, 2e-16);
}

static void cornu_spirals_end_where_fresnel_integrals_say(void) {
    const double half[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.5};
    const FilPose want = {{0.92292292486643274573, 1.6095529786875122206, 0.0},
                          {{-0.65364362086361191464, -0.75680249530792825137, 0.0},
                           {0.75680249530792825137, -0.65364362086361191464, 0.0},
                           {0.0, 0.0, 1.0}}};
    FilCurve curve = make(1, half, 4.0);
    check_end(&curve, &want, 1e-15, 1e-15);
    const double whole[6] = {0.0, 0.0, 0.0, 0.0, 0.0, pi};
    const FilPose fresnel = {{0.49842603303817754728, 0.42051575424692843264, 0.0},
                             {{1.0, -9.7971743931788254178e-16, 0.0},
                              {9.7971743931788254178e-16, 1.0, 0.0},
                              {0.0, 0.0, 1.0}}};
    curve.coefficients = whole;
    check_end(&curve, &fresnel, 4e-15, 2.0 * DBL_EPSILON);
}

static void constant_curvature_gives_a_helix(void) {
    const double kappa[3] = {3.0, 4.0, 0.0};
    const FilPose want = {
        {3.5664160187258971154, 4.8251879859555771634, -0.005605435441261876149},
        {{0.9775782582349524954, 0.016816306323785628447, 0.20989988296314302873},
         {0.016816306323785628447, 0.98738777025716077866, -0.15742491222235727155},
         {-0.20989988296314302873, 0.15742491222235727155, 0.96496602849211327407}}};
    const FilCurve curve = make(0, kappa, 10.0);
    check_end(&curve, &want, 1e-14, 4e-15);
}

// R(s) = exp(angle(s) [d]x) when kappa keeps the direction d.
static void fixed_direction_turns_by_the_integral(void) {
    const double d[3] = {2.0 / 7.0, 3.0 / 7.0, 6.0 / 7.0};
    double lambda[15];
    for (int k = 0; k < 5; k++) { // 28 + 14 s - 21 s^2 + 7 s^4
        const double f[5] = {28.0, 14.0, -21.0, 0.0, 7.0};
        for (int i = 0; i < 3; i++) {
            lambda[3 * k + i] = f[k] * d[i];
        }
    }
    FilPose want;
    const double s = 1.5, angle = s * (28.0 + s * (7.0 + s * (-7.0 + s * s * 1.4)));
    for (int j = 0; j < 3; j++) {
        const int k = (j + 1) % 3, l = (j + 2) % 3; // d x e_j = d_l e_k - d_k e_l
        for (int i = 0; i < 3; i++) {
            want.axis[j][i] = (1.0 - cos(angle)) * d[i] * d[j] + (i == j ? cos(angle) : 0.0);
        }
        want.axis[j][k] += sin(angle) * d[l];
        want.axis[j][l] -= sin(angle) * d[k];
    }
    const FilCurve curve = make(4, lambda, s);
    const FilCurveInfo info = follow(&curve);
    CHECK_NEAR(frame_distance(&info.end, &want), 0.0, 0.0, 2e-14);
    double kappa[3], turned[3]; // the axis of turning stands still in the world
    fil_curve_curvature(&curve, s, kappa);
    for (int i = 0; i < 3; i++) {
        turned[i] = info.end.axis[0][i] * kappa[0] + info.end.axis[1][i] * kappa[1] +
                    info.end.axis[2][i] * kappa[2];
    }
    CHECK_NEAR(distance(turned, kappa, 3) / 20.0, 0.0, 0.0, 1e-14);
}

static void degree_seven_curves_have_their_known_ends(void) {
    double lambda[24] = {0.0};
    const double c[8] = {0.0, -5.0, 353.0, -3026.0, 10012.0, -15656.0, 11651.0, -3329.0};
    for (int k = 0; k < 8; k++) {
        lambda[3 * k + 2] = c[k];
    }
    FilCurve curve = make(7, lambda, 1.0);
    const FilPose plane = {{0.99583734928617509568, 0.072046434762750749639, 0.0},
                           {{0.99931909655999245409, 0.036896385331363798977, 0.0},
                            {-0.036896385331363798977, 0.99931909655999245409, 0.0},
                            {0.0, 0.0, 1.0}}};
    check_end(&curve, &plane, 1e-15, 1e-15);
    CHECK_NEAR(fil_casati_step(7, lambda, 20.44), 0.1916, 0.0, 5e-5);
    lambda[0] = 7.0;
    lambda[4] = 3.0;
    const FilPose want = {
        {0.9600874740688536522, 0.074624245430193036807, 0.075808803714820983712},
        {{0.90745329449568065849, -0.16833668618555195839, -0.38495620321408313625},
         {0.40556883452629288291, 0.59026211185404547455, 0.69792876410890730021},
         {0.10973804613678855319, -0.78946399499512915363, 0.60390741164222414068}}};
    check_end(&curve, &want, 2e-15, 1e-15);
}

// --- high degrees --------------------------------------------------------------------------------

// Twist 10, kappa2 the interpolant of 100 sin(d pi s / 2) on [0, 1].
static const double powers8[9] = {4.6517024758656165,  510.5509310631283,   18882.971492440774,
                                  -207193.04067952512, 734525.72925049381,  -1179048.5711474915,
                                  885238.27944729396,  -252925.22269922684, 0.0};
static const double powers20[21] = {-0.86357558809440282, 3901.4209409036243,  -110086.04864171978,
                                    5754961.1171911107,   -187142784.04793486, 3401936242.7781844,
                                    -40086192380.198265,  329948804307.3623,   -1961764731463.7988,
                                    8585745570773.3076,   -28030649168033.406, 68913780302156.445,
                                    -128223647385626.62,  180483114662903.16,  -190787494856704.94,
                                    148968342415186.53,   -83308906796579.219, 31557020290020.801,
                                    -7251990810533.2393,  763367453740.34094,  0.0};

static FilCurve make_sine(int degree, const double *powers, double *lambda) {
    for (int k = 0; k <= degree; k++) {
        lambda[3 * k] = k == 0 ? 10.0 : 0.0;
        lambda[3 * k + 1] = 0.0;
        lambda[3 * k + 2] = powers[k];
    }
    return make(degree, lambda, 1.0);
}

static void powers_that_cancel_keep_all_digits(void) {
    double lambda[63];
    const FilPose eight = {
        {-0.060870415377731563391, 0.13323306680511710313, 0.031319250454815218793},
        {{-0.20866624075125343834, -0.33633124612769594321, -0.91833528346074733159},
         {-0.33633124612279381867, 0.90641030310414687503, -0.25554188562374129473},
         {0.91833528346254268639, 0.25554188561728936748, -0.30225593764710656331}}};
    FilCurve curve = make_sine(8, powers8, lambda);
    check_end(&curve, &eight, 2e-14, 1e-15);
    const FilPose twenty = {
        {0.32961118500979601098, 0.019388261843287280052, 0.0077303032533866669524},
        {{0.99302671499160985719, 0.1178240962005891571, 0.0039275523531022034191},
         {0.11783623109257941962, -0.99102491752003453469, -0.063120800821163278506},
         {-0.0035448490614222404941, 0.063143449453787835727, -0.99799816574791793278}}};
    curve = make_sine(20, powers20, lambda);
    check_end(&curve, &twenty, 2e-14, 4e-15);
    CHECK(follow(&curve).condition > 1e12); // what rounding the powers themselves has cost
}

static void chebyshev_values_lose_no_digits(void) {
    const FilPose want[2] = {
        {{-0.060870415377828986723, 0.13323306680512247682, 0.031319250454954696373},
         {{-0.20866624075305244061, -0.33633124612358789715, -0.91833528346184308957},
          {-0.33633124612358789715, 0.90641030310520834169, -0.25554188561893113329},
          {0.91833528346184308957, 0.25554188561893113329, -0.30225593764784409892}}},
        {{0.32961519825918842968, 0.019409444691364192093, 0.0077213384079333343743},
         {{0.99292117312022078139, 0.11871542240066633482, 0.0037672873259047066594},
          {0.11871542240066633482, -0.99091625704627875505, -0.063179268796216527146},
          {-0.0037672873259047066594, 0.063179268796216527146, -0.99799508392605797366}}}};
    for (int c = 0; c < 2; c++) {
        const int degree = c == 0 ? 8 : 20;
        double values[63], coefficients[63];
        for (int j = 0; j <= degree; j++) {
            values[3 * j] = 10.0;
            values[3 * j + 1] = 0.0;
            values[3 * j + 2] = 100.0 * sin(0.5 * degree * pi * fil_curve_node(degree, 1.0, j));
        }
        fil_curve_interpolate(degree, values, coefficients);
        FilCurve curve = make(degree, coefficients, 1.0);
        curve.basis = FIL_CURVE_CHEBYSHEV;
        check_end(&curve, &want[c], 4e-14, 2e-15);
        for (int j = 0; j <= degree; j++) {
            double kappa[3];
            fil_curve_curvature(&curve, fil_curve_node(degree, 1.0, j), kappa);
            CHECK_NEAR(distance(kappa, values + 3 * j, 3), 0.0, 0.0, 1e-12);
        }
    }
}

static void degree_sixty_four_has_its_known_end(void) {
    double c[3 * 65];
    for (int k = 0; k <= 64; k++) {
        for (int i = 0; i < 3; i++) {
            c[3 * k + i] = ldexp((k * 37 + 11 * i) % 101 - 50, -(k / 8));
        }
    }
    FilCurve curve = make(64, c, 2.0);
    curve.basis = FIL_CURVE_CHEBYSHEV;
    const FilPose want = {
        {-0.52962985217442924576, 0.62333174625821140468, -0.19081395252237038555},
        {{-0.96713151184115779058, -0.24736969560520937181, -0.058863167600992452155},
         {-0.15363273794757257091, 0.38400190534532861428, 0.91046115706376500989},
         {-0.20261693076978775336, 0.88957898490653619004, -0.40938442688759875947}}};
    check_end(&curve, &want, 4e-14, 1e-14);
}

// --- many turns ----------------------------------------------------------------------------------

static void thousand_turns_keep_the_frame(void) {
    const double ramp[6] = {0.0, 50.0, 0.0, 12566.0, 0.0, 10.0};
    const FilPose want = {
        {0.85562683412257743434, 0.37475286475962974393, -0.35282390478941493745},
        {{0.85618453335551361234, 0.37536921443776147201, -0.35502957298678548679},
         {-0.23180164341476318467, 0.89318389881608471952, 0.38534467818553444903},
         {0.46175322733362283893, -0.24762971499413388866, 0.85174144040248954409}}};
    FilCurve curve = make(1, ramp, 1.0);
    check_end(&curve, &want, 5e-14, 5e-15);
    const double cable[3] = {2.0 * pi, 1e-3, 0.0}; // 1 km, 1000 turns
    curve = make(0, cable, 1000.0);
    const FilCurveInfo info = follow(&curve);
    CHECK_NEAR(skewness(&info.end), 0.0, 0.0, 1e-12);
    const double tilt = 1e-3 / hypot(2.0 * pi, 1e-3);  // of the axis of turning
    const double turns = 1000.0 * (1.0 - tilt * tilt); // what is left of it along the axis
    CHECK_NEAR(hypot(info.end.position[0], info.end.position[1]), turns, 1e-6, 0.0);
}

static void strong_curvature_is_followed(void) {
    const double strong[6] = {1e5, -1e5, 5e4, -1e5, 2e5, 1e4};
    const FilCurve curve = make(1, strong, 1.0);
    const FilCurveInfo info = follow(&curve);
    CHECK(info.segments > 10000 && info.segments < 200000);
    CHECK_NEAR(skewness(&info.end), 0.0, 0.0, 1e-11);
}

// --- the series and its bounds -------------------------------------------------------------------

// Y' = Y J, J the quarter turn, summed as it stands: the error is that of the largest term.
static void naive_series_loses_what_its_largest_term_weighs(void) {
    for (int s = 20; s <= 50; s += 10) {
        const int terms = (int)ceil(2.0 * s / log(2.0) + 53.0);
        double term[2] = {1.0, 0.0}, sum[2] = {1.0, 0.0}; // first row of Y: cos, -sin
        for (int n = 0; n < terms; n++) {
            const double next[2] = {term[1] * s / (n + 1.0), -term[0] * s / (n + 1.0)};
            for (int i = 0; i < 2; i++) {
                term[i] = next[i];
                sum[i] += next[i];
            }
        }
        const double error = fmax(fabs(sum[0] - cos(s)), fabs(sum[1] + sin(s)));
        const double predicted = DBL_EPSILON * exp(s) / sqrt(2.0 * pi * s);
        CHECK(error > 0.02 * predicted && error < 20.0 * predicted);
    }
}

static void truncation_bound_has_its_known_optimum(void) {
    const double lambda[6] = {10.0, 0.0, 0.0, 0.0, 5.0, 0.0}; // C(s) = s (10 s + 20)
    CHECK_NEAR(fil_casati_growth(1, lambda, 10.0), 1200.0, 1e-15, 0.0);
    CHECK_NEAR(ceil(fil_casati_terms(1, lambda, 10.0, 0.5, 0x1p-52)), 6401.0, 0.0, 1.0);
    double best = INFINITY, at = 0.0;
    for (double omega = 0.3; omega < 0.9; omega += 1e-3) {
        const double terms = fil_casati_terms(1, lambda, 10.0, omega, 0x1p-52);
        at = terms < best ? omega : at;
        best = fmin(best, terms);
    }
    CHECK_NEAR(at, 0.586, 0.0, 2e-3);
    CHECK_NEAR(ceil(best), 6157.0, 0.0, 1.0);
}

// A helix is cut in equal pieces, of 1.63 turns at T = 20.44 where one curvature dominates.
static void casati_steps_are_as_printed(void) {
    const double helix[6] = {0.0, 7.0, 0.0, 0.0, 0.0, 0.0};
    CHECK_NEAR(7.0 * fil_casati_step(0, helix, 20.44) / (2.0 * pi), 1.63, 0.0, 5e-3);
    CHECK_NEAR(fil_casati_step(1, helix, 20.44), fil_casati_step(0, helix, 20.44), 1e-15, 0.0);
    const double T = 20.44, lambda[6] = {3.0, -1.0, 2.0, 0.5, 0.0, -4.0};
    CHECK_NEAR(fil_casati_growth(1, lambda, fil_casati_step(1, lambda, T)), T, 1e-14, 0.0);
    const double quadratic[9] = {3.0, -1.0, 2.0, 0.5, 0.0, -4.0, 1.0, 1.0, 1.0};
    CHECK_NEAR(fil_casati_growth(2, quadratic, fil_casati_step(2, quadratic, T)), T, 1e-13, 0.0);
}

// The degree that is asked for leaves out less than 2^-54, and is not much more than needed.
static void degree_of_series_is_enough_and_not_too_much(void) {
    FilRandom random = fil_random_make(7);
    for (int trial = 0; trial < 2000; trial++) {
        const int degree = fil_random_int(&random, 6);
        double norm[6], a[200] = {1.0}, tail = 0.0;
        for (int k = 0; k <= degree; k++) {
            norm[k] = exp(fil_random_uniform(&random, -5.0, 1.0));
        }
        for (int n = 0; n + 1 < 200; n++) {
            for (int k = 0; k <= degree && k <= n; k++) {
                a[n + 1] += norm[k] * a[n - k] / (n + 1.0);
            }
        }
        const int got = fil_series_degree(degree, norm, 150);
        int needed = 199;
        while (needed > 0 && tail + a[needed] <= 0x1p-54) {
            tail += a[needed--];
        }
        CHECK(got > 150 || got >= needed);
        CHECK(got > 150 || got <= 1.35 * needed + 4.0);
    }
}

static void all_kernels_give_the_same_bits(void) {
    static FilSeries one, other;
    FilRandom random = fil_random_make(11);
    for (int degree = 1; degree < 8; degree++) {
        double mu[32] = {0.0}, x[7];
        FilPose poses[2][8];
        poses[0][7] = fil_curve_default().start;
        for (int i = 0; i < 4 * (degree + 1); i++) {
            mu[i] = i % 4 < 3 ? fil_random_uniform(&random, -0.5, 0.5) : 0.0;
        }
        for (int i = 0; i < 7; i++) {
            x[i] = fil_random_uniform(&random, -1.0, 1.0);
        }
        const FilSeriesKernels *a = fil_series_variant(0);
        one.degree = other.degree = 21 + 2 * degree;
        one.h = other.h = 0.3;
        a->build(degree, mu, &one);
        a->advance(&one, &poses[0][7]);
        a->sample(&one, 7, x, poses[0]);
        for (int v = 1; fil_series_variant(v) != NULL; v++) {
            const FilSeriesKernels *b = fil_series_variant(v);
            poses[1][7] = fil_curve_default().start;
            b->build(degree, mu, &other);
            b->advance(&other, &poses[1][7]);
            b->sample(&other, 7, x, poses[1]);
            CHECK(check_same_bits(one.middle, other.middle, sizeof one.middle));
            CHECK(check_same_bits(poses[0], poses[1], sizeof *poses));
        }
    }
}

// --- samples and invariances ---------------------------------------------------------------------

static void samples_are_the_ends_of_shorter_curves(void) {
    double lambda[27];
    const FilCurve curves[2] = {make(1, benchmark, 0.2), make_sine(8, powers8, lambda)};
    for (int c = 0; c < 2; c++) {
        enum { COUNT = 200 };
        double s[COUNT];
        FilPose poses[COUNT];
        FilCurveInfo info;
        for (int i = 0; i < COUNT; i++) {
            s[i] = curves[c].length * (i / (double)(COUNT - 1));
        }
        CHECK(fil_curve_evaluate(&curves[c], COUNT, s, poses, &info, NULL) == FIL_OK);
        CHECK(check_same_bits(&poses[0], &curves[c].start, sizeof *poses) ||
              frame_distance(&poses[0], &curves[c].start) < 2e-15);
        for (int i = 1; i < COUNT; i++) {
            FilCurve shorter = curves[c];
            shorter.length = s[i];
            const FilCurveInfo end = follow(&shorter);
            CHECK_NEAR(frame_distance(&end.end, &poses[i]), 0.0, 0.0, 3e-14);
            CHECK_NEAR(position_distance(&end.end, &poses[i]), 0.0, 0.0, 1e-15);
            CHECK_NEAR(skewness(&poses[i]), 0.0, 0.0, 1e-14);
        }
        // without the end the same samples come, and nothing beyond them is walked
        FilPose again[COUNT];
        CHECK(fil_curve_evaluate(&curves[c], COUNT, s, again, NULL, NULL) == FIL_OK);
        CHECK(check_same_bits(again, poses, sizeof poses));
        CHECK(position_distance(&poses[COUNT - 1], &info.end) < 1e-15);
    }
}

static void places_may_repeat_and_lie_at_the_ends(void) {
    const FilCurve curve = make(1, benchmark, 0.2);
    const double s[6] = {0.0, 0.0, 0.1, 0.1, 0.2, 0.2 * (1.0 + DBL_EPSILON)};
    FilPose poses[6];
    CHECK(fil_curve_evaluate(&curve, 6, s, poses, NULL, NULL) == FIL_OK);
    for (int i = 0; i < 6; i += 2) {
        CHECK(position_distance(&poses[i], &poses[i + 1]) < 1e-16);
        CHECK(frame_distance(&poses[i], &poses[i + 1]) < 1e-14);
    }
    CHECK(fil_curve_evaluate(&curve, 0, NULL, NULL, NULL, NULL) == FIL_OK);
}

// A curve that starts where another ends goes on as one.
static void rigid_motion_moves_the_whole_curve(void) {
    const FilCurve first = make(1, benchmark, 0.2);
    const FilPose at = follow(&first).end;
    FilCurve moved = first;
    moved.start = at;
    const FilPose local = follow(&first).end, got = follow(&moved).end;
    FilPose want = at;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            want.position[i] += at.axis[k][i] * local.position[k];
            for (int j = 0; j < 3; j++) {
                want.axis[j][i] +=
                    at.axis[k][i] * local.axis[j][k] - (k == 0 ? at.axis[j][i] : 0.0);
            }
        }
    }
    CHECK_NEAR(frame_distance(&got, &want), 0.0, 0.0, 4e-15);
    CHECK_NEAR(position_distance(&got, &want), 0.0, 0.0, 4e-16);
}

static void both_bases_give_the_same_curve(void) {
    const double powers[9] = {1.0, 2.0, 3.0, -4.0, 10.0, 6.0, 7.0, -8.0, 9.0};
    for (int degree = 0; degree <= 2; degree++) {
        const FilCurve curve = make(degree, powers, 3.0);
        double values[9], coefficients[9];
        for (int j = 0; j <= degree; j++) {
            fil_curve_curvature(&curve, fil_curve_node(degree, 3.0, j), values + 3 * j);
        }
        fil_curve_interpolate(degree, values, coefficients);
        FilCurve other = make(degree, coefficients, 3.0);
        other.basis = FIL_CURVE_CHEBYSHEV;
        const FilCurveInfo a = follow(&curve), b = follow(&other);
        CHECK_NEAR(frame_distance(&a.end, &b.end), 0.0, 0.0, 1e-13);
        CHECK_NEAR(position_distance(&a.end, &b.end), 0.0, 0.0, 1e-14);
    }
}

// --- bad and extreme input -----------------------------------------------------------------------

static void check_refused(const FilCurve *curve, int count, const double *s, const char *text) {
    FilPose poses[4];
    FilCurveInfo info = {.segments = 77};
    FilError error = {.text = ""};
    CHECK(fil_curve_evaluate(curve, count, s, poses, &info, &error) == FIL_E_ARGUMENT);
    CHECK(info.segments == 77);
    if (strncmp(error.text, text, strlen(text)) != 0) {
        check_failures++;
        (void)fprintf(stderr, "got '%s', want '%s'\n", error.text, text);
    }
}

static void bad_fields_are_named_in_the_message(void) {
    const double kappa[6] = {1.0, 2.0, (double)NAN, 0.0, (double)INFINITY, 0.0};
    FilCurve curve = make(0, kappa, 1.0);
    check_refused(&curve, 0, NULL, "coefficients[2] is nan; it must be finite");
    curve.coefficients = kappa + 3;
    check_refused(&curve, 0, NULL, "coefficients[1] is inf; it must be finite");
    curve.coefficients = NULL;
    check_refused(&curve, 0, NULL, "coefficients is NULL; 3 are needed");
    curve = make(-1, benchmark, 1.0);
    check_refused(&curve, 0, NULL, "degree is -1; it must be 0 to 64");
    curve = make(65, benchmark, 1.0);
    check_refused(&curve, 0, NULL, "degree is 65; it must be 0 to 64");
    curve = make(1, benchmark, 0.0);
    check_refused(&curve, 0, NULL, "length is 0; it must be positive");
    curve.length = (double)NAN;
    check_refused(&curve, 0, NULL, "length is nan; it must be positive");
    curve = make(1, benchmark, 0.2);
    curve.basis = (FilCurveBasis)9;
    check_refused(&curve, 0, NULL, "basis is 9; it must be powers or chebyshev");
    curve = make(1, benchmark, 0.2);
    curve.start.position[1] = (double)NAN;
    check_refused(&curve, 0, NULL, "start.position[1] is nan; it must be finite");
    curve = make(1, benchmark, 0.2);
    curve.start.axis[2][2] = -1.0; // left-handed
    check_refused(&curve, 0, NULL, "start.axis is off by 2 from a right-handed orthonormal frame");
    curve.start.axis[2][2] = (double)NAN;
    check_refused(&curve, 0, NULL, "start.axis is off by nan");
}

static void bad_places_are_named_in_the_message(void) {
    const FilCurve curve = make(1, benchmark, 0.25);
    const double down[2] = {0.2, 0.1}, below[1] = {-0.5}, beyond[1] = {0.5},
                 none[1] = {(double)NAN};
    check_refused(&curve, 2, down,
                  "s[1] is 0.10000000000000001, below s[0] = 0.20000000000000001; places must");
    check_refused(&curve, 1, below, "s[0] is -0.5; it must lie in [0, length] = [0, 0.25]");
    check_refused(&curve, 1, beyond, "s[0] is 0.5; it must lie in [0, length] = [0, 0.25]");
    check_refused(&curve, 1, none, "s[0] is nan; it must lie in [0, length] = [0, 0.25]");
    check_refused(&curve, -1, down, "count is -1; it must not be negative");
    check_refused(&curve, 2, NULL, "s is NULL; an array of 2 is needed");
    FilError error;
    CHECK(fil_curve_evaluate(&curve, 1, below + 0, NULL, NULL, &error) == FIL_E_ARGUMENT);
    CHECK(strcmp(error.text, "poses is NULL; an array of 1 is needed") == 0);
}

static void too_many_turns_are_refused(void) {
    double kappa[9] = {0.0, 1e8, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    for (int degree = 0; degree <= 2; degree++) {
        const FilCurve curve = make(degree, kappa, 1.0);
        check_refused(&curve, 0, NULL, "coefficients let the curve turn by up to 1e+08 rad");
    }
    kappa[1] = 1e300;
    kappa[7] = -1e300;
    const FilCurve curve = make(2, kappa, 1e50);
    check_refused(&curve, 0, NULL, "coefficients let the curve turn by up to inf rad");
}

// Any curve that is accepted ends, with a finite, orthonormal frame; so do its samples.
static void extreme_curves_never_give_nan(void) {
    FilRandom random = fil_random_make(3);
    int accepted = 0;
    for (int trial = 0; trial < 3000; trial++) {
        double c[3 * 65];
        const int degree = trial % 65;
        const double length = pow(10.0, fil_random_uniform(&random, -10.0, 10.0));
        const double steep = pow(10.0, fil_random_uniform(&random, -0.05, 1.0));
        const double angle = pow(10.0, fil_random_uniform(&random, -10.0, 3.0));
        const bool powers = fil_random_int(&random, 2) == 0;
        for (int k = 0; k <= degree; k++) {
            const double size = angle / length * pow(steep, -k) / (powers ? pow(length, k) : 1.0);
            for (int i = 0; i < 3; i++) {
                c[3 * k + i] = size * (fil_random_uniform(&random, -1.0, 1.0));
            }
        }
        FilCurve curve = make(degree, c, length);
        curve.basis = powers ? FIL_CURVE_POWERS : FIL_CURVE_CHEBYSHEV;
        const double s[3] = {0.0, 0.5 * length, length};
        FilPose poses[3];
        FilCurveInfo info;
        FilError error;
        if (fil_curve_evaluate(&curve, 3, s, poses, &info, &error) != FIL_OK) {
            CHECK(strstr(error.text, "it must be finite") != NULL ||
                  strstr(error.text, "can be followed") != NULL);
            continue;
        }
        accepted++;
        CHECK(skewness(&info.end) < 1e-15 * (10.0 + info.segments));
        CHECK(skewness(&poses[1]) < 1e-15 * (10.0 + info.segments));
        CHECK(info.segments <= info.angle + 3.0 + degree * degree);
        CHECK(distance(poses[2].position, curve.start.position, 3) <= length * (1.0 + 1e-12));
    }
    CHECK(accepted > 1500);
}

#define TESTS(X)                                       \
    X(benchmark_curve_has_its_known_end)               \
    X(cornu_spirals_end_where_fresnel_integrals_say)   \
    X(constant_curvature_gives_a_helix)                \
    X(fixed_direction_turns_by_the_integral)           \
    X(degree_seven_curves_have_their_known_ends)       \
    X(powers_that_cancel_keep_all_digits)              \
    X(chebyshev_values_lose_no_digits)                 \
    X(degree_sixty_four_has_its_known_end)             \
    X(thousand_turns_keep_the_frame)                   \
    X(strong_curvature_is_followed)                    \
    X(naive_series_loses_what_its_largest_term_weighs) \
    X(truncation_bound_has_its_known_optimum)          \
    X(casati_steps_are_as_printed)                     \
    X(degree_of_series_is_enough_and_not_too_much)     \
    X(all_kernels_give_the_same_bits)                  \
    X(samples_are_the_ends_of_shorter_curves)          \
    X(places_may_repeat_and_lie_at_the_ends)           \
    X(rigid_motion_moves_the_whole_curve)              \
    X(both_bases_give_the_same_curve)                  \
    X(bad_fields_are_named_in_the_message)             \
    X(bad_places_are_named_in_the_message)             \
    X(too_many_turns_are_refused)                      \
    X(extreme_curves_never_give_nan)

CHECK_MAIN(TESTS)
