// law.c - the contact laws as projections and nonsmooth functions.
//
// Cones. A cone of revolution is given by its ray (c, s) in the (normal, tangent) half-plane,
// c^2 + s^2 = 1: K_mu has (1, mu), its dual (mu, 1), both normalised. In that form mu = 0 needs no
// special case: (1, 0) is a half-line and (0, 1) a half-space. With t = |x_T|,
//     inside    c t <= s x_N and x_N >= 0      P x = x
//     polar     c x_N + s t <= 0               P x = 0
//     else      q = c x_N + s t                P x = q (c, s x_T / t).
//
// Natural map. F = r - P(r - rho ut) loses rho ut to rounding where r is large: impulses that ran
// away would look lawful. So F is put together from parts that are exact in algebra. Inside the
// cone F = rho ut, in the polar one F = r. On the boundary, with g = x_T / t, the ray
// p = (c, s g) and the outward normal n = (-s, c g),
//     F.p = rho ut.p,     F.n = r.n,     across both F = rho ut.
//
// Ball. P x = x inside, R x / |x| outside. There, with g = x / |x|, x = r - rho u,
//     F.g = r.g - R,     across F = (1 - R / |x|) r + (R / |x|) rho u,
// and dP/dx = (R / |x|) (1 - g g^T).
//
// Fischer-Burmeister on the second-order cone (Fukushima, Luo, Tseng 2002), after the De Saxce
// change and the scaling that makes K_mu self-dual:
//     x = rho (u_N + mu |u_T|, mu u_T),   y = (mu r_N, r_T),   F = x + y - s,  s = sqrt(z),
//     z = x o x + y o y + 2 epsilon^2 e,   x o x = (|x|^2, 2 x_N x_T).
// Let g be the unit vector along z_T and write x_T = x_g g + x_p. The spectral values of z are
//     l1 = (x_N - x_g)^2 + |x_p|^2 + (the same of y) + 2 epsilon^2,     l2 with + for -,
// sums of squares: the textbook form z_N - |z_T| loses half of the digits near the boundary, which
// is where contacts live. In the orthonormal basis e1 = (1, -g)/sqrt2, e2 = (1, g)/sqrt2 and the
// directions orthogonal to both, the arrow matrix L_s is diag(sqrt l1, sqrt l2, mean of the two),
// and the rows of B_x = L_s^-1 L_x = ds/dx follow without cancellation. Where l1 = 0 (then also
// every numerator is 0) the limit along x = y is taken: each row is its basis vector over sqrt2.
//
// Alart-Curnier: Bertails-Descoubes et al. (2011), app. B, with the sign turned.
#include "law.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"

#define D FIL_BLOCK_MAX
#define SQRT1_2 0.70710678118654752440

// Code for a block of size d is written once, as an inline function of d, and compiled twice, as in
// d == 3 ? f(3, ..) : f(d, ..): with d = 3 known, and with d free.
#define INLINE static inline __attribute__((always_inline))

typedef struct Ray {
    double c, s;
} Ray;

INLINE Ray ray_of(FilBlockKind kind, double mu) {
    const double m = fmin(mu, 1e150);
    const double c = 1.0 / sqrt(1.0 + m * m);
    return kind == FIL_BLOCK_DUAL ? (Ray){m * c, c} : (Ray){c, m * c};
}

INLINE double tangent_norm(int d, const double *x) {
    double square = 0.0;
    for (int i = 1; i < d; i++) {
        square += x[i] * x[i];
    }
    return sqrt(square);
}

INLINE double norm_squared(int d, const double *x) {
    double square = 0.0;
    for (int i = 0; i < d; i++) {
        square += x[i] * x[i];
    }
    return square;
}

INLINE bool is_conic(FilBlockKind kind) {
    return kind == FIL_BLOCK_COULOMB || kind == FIL_BLOCK_CONE || kind == FIL_BLOCK_DUAL;
}

// ---- projection ----

INLINE void project_conic(int d, Ray ray, const double *x, double *p, double *J) {
    const double t = tangent_norm(d, x), q = ray.c * x[0] + ray.s * t;
    const bool inside = ray.c * t <= ray.s * x[0] && x[0] >= 0.0;
    if (inside || q <= 0.0) {
        for (int i = 0; i < d; i++) {
            p[i] = inside ? x[i] : 0.0;
        }
        for (int i = 0; J != NULL && i < d * d; i++) {
            J[i] = inside && i % (d + 1) == 0 ? 1.0 : 0.0;
        }
        return;
    }
    // t > 0 here: with t = 0 a point is inside or polar
    double ray_x[D] = {ray.c}; // the ray of the cone above x
    const double stretch = ray.s * q / t;
    for (int i = 1; i < d; i++) {
        ray_x[i] = ray.s * (x[i] / t);
    }
    if (J != NULL) {
        for (int i = 0; i < d; i++) {
            for (int j = 0; j < d; j++) {
                const double along = i > 0 && j > 0 ? (x[i] / t) * (x[j] / t) : 0.0;
                const double across = i > 0 && i == j ? 1.0 : 0.0;
                J[d * i + j] = ray_x[i] * ray_x[j] + stretch * (across - along);
            }
        }
    }
    for (int i = 0; i < d; i++) {
        p[i] = q * ray_x[i];
    }
}

// Orthant, everything, nothing: componentwise, the derivative is 0 or 1.
static void project_diagonal(FilBlockKind kind, int d, const double *x, double *p, double *J) {
    if (J != NULL) {
        memset(J, 0, (size_t)(d * d) * sizeof *J);
    }
    for (int i = 0; i < d; i++) {
        const bool keep =
            kind == FIL_BLOCK_EQUALITY || (kind == FIL_BLOCK_UNILATERAL && x[i] > 0.0);
        p[i] = keep ? x[i] : 0.0;
        if (J != NULL) {
            J[d * i + i] = keep ? 1.0 : 0.0;
        }
    }
}

// The ball of this radius.
static void project_ball(int d, double radius, const double *x, double *p, double *J) {
    const double length = sqrt(norm_squared(d, x)), scale = length > radius ? radius / length : 1.0;
    for (int i = 0; J != NULL && i < d; i++) {
        for (int j = 0; j < d; j++) {
            const double along = scale < 1.0 ? (x[i] / length) * (x[j] / length) : 0.0;
            J[d * i + j] = scale * ((i == j ? 1.0 : 0.0) - along);
        }
    }
    for (int i = 0; i < d; i++) {
        p[i] = scale * x[i];
    }
}

INLINE void project(FilBlockKind kind, int d, double mu, const double *x, double *p, double *J) {
    if (kind == FIL_BLOCK_BALL) {
        project_ball(d, mu, x, p, J);
    } else if (is_conic(kind)) {
        const Ray ray = ray_of(kind, mu);
        d == 3 ? project_conic(3, ray, x, p, J) : project_conic(d, ray, x, p, J);
    } else {
        project_diagonal(kind, d, x, p, J);
    }
}

void fil_law_project(FilBlockKind kind, int d, double mu, const double *x, double *p) {
    FIL_ASSERT(d >= 1 && d <= FIL_BLOCK_MAX);
    project(kind, d, mu, x, p, NULL);
}

void fil_law_project_jacobian(FilBlockKind kind, int d, double mu, const double *x, double *p,
                              double *J) {
    FIL_ASSERT(d >= 1 && d <= FIL_BLOCK_MAX);
    project(kind, d, mu, x, p, J);
}

// ---- residuals ----

INLINE void shift(FilBlockKind kind, int d, double mu, const double *u, double *ut) {
    const double more = kind == FIL_BLOCK_COULOMB ? mu * tangent_norm(d, u) : 0.0;
    ut[0] = u[0] + more;
    for (int i = 1; i < d; i++) {
        ut[i] = u[i];
    }
}

void fil_law_shift(FilBlockKind kind, int d, double mu, const double *u, double *ut) {
    shift(kind, d, mu, u, ut);
}

// F for a conic law from v = rho ut.
INLINE void natural_conic(int d, const FilLawPoint *at, const double *v, double *f) {
    const double *r = at->r;
    const Ray ray = ray_of(at->kind, at->mu);
    double x[D] = {0.0};
    for (int i = 0; i < d; i++) {
        x[i] = r[i] - v[i];
    }
    double tt = 0.0, vx = 0.0, rx = 0.0; // squares and products of tangential parts
    for (int i = 1; i < d; i++) {
        tt += x[i] * x[i];
        vx += v[i] * x[i];
        rx += r[i] * x[i];
    }
    const double t = sqrt(tt);
    // & and |, not && and ||: one branch to predict instead of three, a third of the time
    const bool inside = (ray.c * t <= ray.s * x[0]) & (x[0] >= 0.0);
    if (inside | (ray.c * x[0] + ray.s * t <= 0.0)) {
        const double *from = inside ? v : r;
        for (int i = 0; i < d; i++) {
            f[i] = from[i];
        }
        return;
    }
    const double over = 1.0 / t, vg = vx * over, rg = rx * over;
    const double along = ray.c * v[0] + ray.s * vg, out = ray.c * rg - ray.s * r[0];
    const double more = (ray.s * along + ray.c * out - vg) * over;
    f[0] = ray.c * along - ray.s * out;
    for (int i = 1; i < d; i++) {
        f[i] = v[i] + more * x[i];
    }
}

static void natural_diagonal(int d, const FilLawPoint *at, const double *v, double *f) {
    for (int i = 0; i < d; i++) {
        const bool acts =
            at->kind == FIL_BLOCK_EQUALITY || (at->kind == FIL_BLOCK_UNILATERAL && at->r[i] > v[i]);
        f[i] = acts ? v[i] : at->r[i];
    }
}

// F for the ball from v = rho u.
static void natural_ball(int d, const FilLawPoint *at, const double *v, double *f) {
    double x[D] = {0.0}, along = 0.0;
    for (int i = 0; i < d; i++) {
        x[i] = at->r[i] - v[i];
    }
    const double length = sqrt(norm_squared(d, x));
    if (!(length > at->mu)) {
        memcpy(f, v, (size_t)d * sizeof *f);
        return;
    }
    for (int i = 0; i < d; i++) {
        x[i] /= length;
        along += at->r[i] * x[i];
    }
    const double inside = at->mu / length;
    double across = 0.0; // of the mean of r and v
    for (int i = 0; i < d; i++) {
        f[i] = (1.0 - inside) * at->r[i] + inside * v[i];
        across += f[i] * x[i];
    }
    for (int i = 0; i < d; i++) {
        f[i] += (along - at->mu - across) * x[i];
    }
}

// |f|^2, and f itself where it is wanted.
INLINE double give(int d, const double *f, double *F) {
    if (F != NULL) {
        memcpy(F, f, (size_t)d * sizeof *F);
    }
    return norm_squared(d, f);
}

INLINE double natural(int d, const FilLawPoint *at, double *F) {
    double v[D] = {0.0}, f[D] = {0.0};
    shift(at->kind, d, at->mu, at->u, v);
    for (int i = 0; i < d; i++) {
        v[i] *= at->rho;
    }
    if (at->kind == FIL_BLOCK_BALL) {
        natural_ball(d, at, v, f);
    } else if (is_conic(at->kind)) {
        natural_conic(d, at, v, f);
    } else {
        natural_diagonal(d, at, v, f);
    }
    return give(d, f, F);
}

double fil_law_natural(FilBlockKind kind, int d, double mu, double rho, const double *u,
                       const double *r, double *F) {
    const FilLawPoint at = {.kind = kind, .d = d, .mu = mu, .rho = rho, .u = u, .r = r};
    return d == 3 ? natural(3, &at, F) : natural(d, &at, F);
}

// The factor that brings a vector of this length into the disc of this radius; a disc of negative
// radius is empty and sends everything to 0.
INLINE double disc_scale(double radius, double length) {
    return radius <= 0.0 ? 0.0 : length <= radius ? 1.0 : radius / length;
}

INLINE double alart_curnier(int d, const FilLawPoint *at, double *F) {
    const double *u = at->u, *r = at->r;
    double y[D] = {0.0}, f[D] = {0.0};
    for (int i = 0; i < d; i++) {
        y[i] = r[i] - at->rho * u[i];
    }
    const double scale = disc_scale(at->mu * r[0], tangent_norm(d, y));
    f[0] = y[0] > 0.0 ? at->rho * u[0] : r[0];
    for (int i = 1; i < d; i++) {
        f[i] = scale == 1.0 ? at->rho * u[i] : r[i] - scale * y[i];
    }
    return give(d, f, F);
}

double fil_law_alart_curnier(FilBlockKind kind, int d, double mu, double rho, const double *u,
                             const double *r, double *F) {
    const FilLawPoint at = {.kind = kind, .d = d, .mu = mu, .rho = rho, .u = u, .r = r};
    if (kind != FIL_BLOCK_COULOMB) {
        return natural(d, &at, F);
    }
    return d == 3 ? alart_curnier(3, &at, F) : alart_curnier(d, &at, F);
}

// ---- Newton functions ----

// Unit vector along the tangential velocity, 0 where there is none: an element of the generalised
// gradient of |u_T|.
INLINE void slide_direction(int d, const double *u, double *direction) {
    const double speed = tangent_norm(d, u);
    for (int i = 1; i < d; i++) {
        direction[i] = speed > 0.0 ? u[i] / speed : 0.0;
    }
}

// Add to Fu, whose columns are derivatives with respect to ut, the dependence of ut on u_T.
INLINE void unshift_columns(int d, double mu, const double *u, double *Fu) {
    double direction[D] = {0.0};
    slide_direction(d, u, direction);
    for (int i = 0; i < d; i++) {
        for (int j = 1; j < d; j++) {
            Fu[d * i + j] += mu * Fu[d * i + 0] * direction[j];
        }
    }
}

INLINE void de_saxce(int d, const FilLawPoint *at, double *F, double *Fu, double *Fr) {
    (void)natural(d, at, F);
    if (Fu == NULL) {
        return;
    }
    double x[D] = {0.0}, p[D] = {0.0};
    shift(at->kind, d, at->mu, at->u, x);
    for (int i = 0; i < d; i++) {
        x[i] = at->r[i] - at->rho * x[i];
    }
    project(at->kind, d, at->mu, x, p, Fu);
    for (int i = 0; i < d; i++) {
        for (int j = 0; j < d; j++) {
            Fr[d * i + j] = (i == j ? 1.0 : 0.0) - Fu[d * i + j];
            Fu[d * i + j] *= at->rho;
        }
    }
    if (at->kind == FIL_BLOCK_COULOMB) {
        unshift_columns(d, at->mu, at->u, Fu);
    }
}

INLINE void alart_curnier_jacobian(int d, const FilLawPoint *at, double *Fu, double *Fr) {
    double y[D] = {0.0};
    for (int i = 0; i < d; i++) {
        y[i] = at->r[i] - at->rho * at->u[i];
    }
    const double radius = at->mu * at->r[0], length = tangent_norm(d, y);
    const double scale = disc_scale(radius, length);
    const bool slides = scale > 0.0 && scale < 1.0;
    memset(Fu, 0, (size_t)(d * d) * sizeof *Fu);
    memset(Fr, 0, (size_t)(d * d) * sizeof *Fr);
    Fu[0] = y[0] > 0.0 ? at->rho : 0.0;
    Fr[0] = y[0] > 0.0 ? 0.0 : 1.0;
    for (int i = 1; i < d; i++) {
        Fr[d * i + 0] = slides ? -at->mu * (y[i] / length) : 0.0;
        for (int j = 1; j < d; j++) {
            const double one = i == j ? 1.0 : 0.0;
            const double along = slides ? (y[i] / length) * (y[j] / length) : 0.0;
            const double G = scale * (one - along);
            Fu[d * i + j] = at->rho * G;
            Fr[d * i + j] = one - G;
        }
    }
}

// Scalar x + y - sqrt(x^2 + y^2 + 2 epsilon^2) and its derivatives.
INLINE double scalar_fb(double x, double y, double epsilon, double *fx, double *fy) {
    const double s = sqrt(x * x + y * y + 2.0 * epsilon * epsilon);
    *fx = 1.0 - (s > 0.0 ? x / s : SQRT1_2);
    *fy = 1.0 - (s > 0.0 ? y / s : SQRT1_2);
    // x + y - s without cancellation where both are positive: s >= max(x, y)
    return x > 0.0 && y > 0.0 ? 2.0 * (x * y - epsilon * epsilon) / (x + y + s) : x + y - s;
}

// Laws that are componentwise: every component complementary, u = 0 or r = 0.
static void fb_diagonal(const FilLawPoint *at, double *F, double *Fu, double *Fr) {
    const int d = at->d;
    if (Fu != NULL) {
        memset(Fu, 0, (size_t)(d * d) * sizeof *Fu);
        memset(Fr, 0, (size_t)(d * d) * sizeof *Fr);
    }
    for (int i = 0; i < d; i++) {
        const bool rest = is_conic(at->kind) && i > 0; // tangential, mu = 0
        double fx = 0.0, fy = 0.0;
        if (at->kind == FIL_BLOCK_EQUALITY || (rest && at->kind == FIL_BLOCK_DUAL)) {
            fx = 1.0;
            F[i] = at->rho * at->u[i];
        } else if (at->kind == FIL_BLOCK_FREE || rest) {
            fy = 1.0;
            F[i] = at->r[i];
        } else {
            F[i] = scalar_fb(at->rho * at->u[i], at->r[i], at->epsilon, &fx, &fy);
        }
        if (Fu != NULL) {
            Fu[d * i + i] = at->rho * fx;
            Fr[d * i + i] = fy;
        }
    }
}

// The square root of z = x o x + y o y + 2 epsilon^2 e in spectral form.
typedef struct ConeRoot {
    double g[D];   // unit direction of z_T, tangential components from 1
    double s1, s2; // square roots of the spectral values
    double xg, yg; // components of x_T, y_T along g
} ConeRoot;

// g_T <- g_T / |g_T| where squares are out of range; any direction will do where g_T = 0.
static void unit_direction(int d, double *g) {
    double most = 0.0, square = 0.0;
    for (int i = 1; i < d; i++) {
        most = fmax(most, fabs(g[i]));
    }
    g[1] = most > 0.0 ? g[1] : 1.0;
    most = most > 0.0 ? most : 1.0;
    for (int i = 1; i < d; i++) {
        g[i] /= most;
        square += g[i] * g[i];
    }
    for (int i = 1; i < d; i++) {
        g[i] /= sqrt(square);
    }
}

INLINE ConeRoot cone_root(int d, const double *x, const double *y, double epsilon) {
    ConeRoot root = {.g = {0.0}};
    double square = 0.0;
    for (int i = 1; i < d; i++) {
        root.g[i] = x[0] * x[i] + y[0] * y[i];
        square += root.g[i] * root.g[i];
    }
    if (square > 1e-280 && square < 1e280) {
        const double over = 1.0 / sqrt(square);
        for (int i = 1; i < d; i++) {
            root.g[i] *= over;
        }
    } else {
        unit_direction(d, root.g);
    }
    for (int i = 1; i < d; i++) {
        root.xg += x[i] * root.g[i];
        root.yg += y[i] * root.g[i];
    }
    double across = 2.0 * epsilon * epsilon;
    for (int i = 1; i < d; i++) {
        const double xp = x[i] - root.xg * root.g[i], yp = y[i] - root.yg * root.g[i];
        across += xp * xp + yp * yp;
    }
    const double x1 = x[0] - root.xg, y1 = y[0] - root.yg;
    const double x2 = x[0] + root.xg, y2 = y[0] + root.yg;
    root.s1 = sqrt(x1 * x1 + y1 * y1 + across);
    root.s2 = sqrt(x2 * x2 + y2 * y2 + across);
    return root;
}

// B = L_s^-1 L_x for x with component xg along g.
INLINE void root_derivative(int d, const ConeRoot *root, const double *x, double xg, double *B) {
    const double *g = root->g;
    const double s1 = root->s1, s2 = root->s2, mean = 0.5 * (s1 + s2);
    // twice e_k a_k^T / s_k, with a_k the row of L_x: normal entry and factors of g and x_p
    const double n1 = s1 > 0.0 ? (x[0] - xg) / s1 : SQRT1_2, p1 = s1 > 0.0 ? 1.0 / s1 : 0.0;
    const double n2 = s2 > 0.0 ? (x[0] + xg) / s2 : SQRT1_2, p2 = s2 > 0.0 ? 1.0 / s2 : 0.0;
    const double pm = mean > 0.0 ? 1.0 / mean : 0.0, nm = mean > 0.0 ? x[0] * pm : SQRT1_2;
    B[0] = 0.5 * (n1 + n2);
    for (int i = 1; i < d; i++) {
        const double xp = x[i] - xg * g[i];
        B[i] = 0.5 * ((n2 - n1) * g[i] + (p1 + p2) * xp);
        B[d * i + 0] = 0.5 * (n2 - n1) * g[i] + pm * xp;
        for (int j = 1; j < d; j++) {
            const double across = (i == j ? 1.0 : 0.0) - g[i] * g[j];
            const double xpj = x[j] - xg * g[j];
            B[d * i + j] = 0.5 * ((n1 + n2) * g[j] + (p2 - p1) * xpj) * g[i] + nm * across;
        }
    }
}

INLINE void fb_conic(int d, const FilLawPoint *at, double *F, double *Fu, double *Fr) {
    const double mu = at->mu;
    const bool dual = at->kind == FIL_BLOCK_DUAL;
    // factors (normal, tangential) that bring u and r into K_1
    const double un = at->rho * (dual ? mu : 1.0), ut = at->rho * (dual ? 1.0 : mu);
    const double rn = dual ? 1.0 : mu, rt = dual ? mu : 1.0;
    double x[D] = {0.0}, y[D] = {0.0};
    shift(at->kind, d, mu, at->u, x);
    for (int i = 0; i < d; i++) {
        x[i] *= i == 0 ? un : ut;
        y[i] = at->r[i] * (i == 0 ? rn : rt);
    }
    const ConeRoot root = cone_root(d, x, y, at->epsilon);
    F[0] = x[0] + y[0] - 0.5 * (root.s1 + root.s2);
    for (int i = 1; i < d; i++) {
        F[i] = x[i] + y[i] - 0.5 * (root.s2 - root.s1) * root.g[i];
    }
    if (Fu == NULL) {
        return;
    }
    root_derivative(d, &root, x, root.xg, Fu);
    root_derivative(d, &root, y, root.yg, Fr);
    for (int i = 0; i < d; i++) {
        for (int j = 0; j < d; j++) {
            const double one = i == j ? 1.0 : 0.0;
            Fu[d * i + j] = (one - Fu[d * i + j]) * (j == 0 ? un : ut);
            Fr[d * i + j] = (one - Fr[d * i + j]) * (j == 0 ? rn : rt);
        }
    }
    if (at->kind == FIL_BLOCK_COULOMB) {
        unshift_columns(d, mu, at->u, Fu);
    }
}

static void fischer_burmeister(const FilLawPoint *at, double *F, double *Fu, double *Fr) {
    if (!is_conic(at->kind) || at->mu == 0.0 || at->d == 1) {
        fb_diagonal(at, F, Fu, Fr);
    } else {
        at->d == 3 ? fb_conic(3, at, F, Fu, Fr) : fb_conic(at->d, at, F, Fu, Fr);
    }
}

void fil_law_function(FilNewtonFunction function, const FilLawPoint *at, double *F, double *Fu,
                      double *Fr) {
    FIL_ASSERT(at->d >= 1 && at->d <= FIL_BLOCK_MAX && (Fu == NULL) == (Fr == NULL));
    if (function == FIL_FUNCTION_FISCHER_BURMEISTER && at->kind != FIL_BLOCK_BALL) {
        fischer_burmeister(at, F, Fu, Fr);
    } else if (function == FIL_FUNCTION_ALART_CURNIER && at->kind == FIL_BLOCK_COULOMB) {
        (void)fil_law_alart_curnier(at->kind, at->d, at->mu, at->rho, at->u, at->r, F);
        if (Fu != NULL) {
            at->d == 3 ? alart_curnier_jacobian(3, at, Fu, Fr)
                       : alart_curnier_jacobian(at->d, at, Fu, Fr);
        }
    } else {
        at->d == 3 ? de_saxce(3, at, F, Fu, Fr) : de_saxce(at->d, at, F, Fu, Fr);
    }
}
