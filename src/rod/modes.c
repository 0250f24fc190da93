// modes.c - natural frequencies of small vibrations about an equilibrium.
//
// The modes solve H x = w^2 M x with H the Hessian of the potential energy and M the mass matrix.
// The lowest ones are found by subspace iteration: Y = (H + shift M)^-1 M X for a few columns X
// that are orthonormal in the measure of M; the eigenvalues of X^T M Y, found by Jacobi rotations,
// are 1 / (w^2 + shift), and Y made orthonormal is the next X. The shift, about the first
// frequency, keeps the matrix regular where a motion hardly resists, as at the onset of buckling.
//
// Motions that cost nothing, such as those of a free rod, have the frequency 0. They are known
// (zero_modes.c) and left out, together with what rows hold: H and M are taken in coordinates of
// the directions at right angles to them in the measure of M (free_space.c). Whether the shape is a
// stable equilibrium is the verdict of the statics, and nobody else's.
#include "statics.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/random.h"
#include "math/cholesky.h"
#include "math/vector.h"

enum { MAX_SWEEPS = 60, MAX_ITERATIONS = 200, MAX_SHIFTS = 8 };

typedef struct Modes {
    int n, p;               // unknowns, columns
    double *H, *M, *factor; // [n][n]: the last of H + shift M
    FilFreeSpace space;
    double *rows; // [FIL_FREE_ROWS][n]
    int zero;     // motions that cost nothing
    bool circulates;
    int *first;
    double *X, *MX;           // [p][n]: a column each
    double *a, *value, *last; // [p][p]: X^T M H^-1 M X; [p]: its eigenvalues, and those before
} Modes;

static void multiply_symmetric(int n, const double *lower, const double *x, double *out) {
    memset(out, 0, sizeof(double) * (size_t)n);
    for (int i = 0; i < n; i++) {
        const double *row = lower + (size_t)i * (size_t)n;
        double sum = row[i] * x[i];
        for (int j = 0; j < i; j++) {
            sum += row[j] * x[j];
            out[j] += row[j] * x[i];
        }
        out[i] += sum;
    }
}

// Rows or columns i and j, `step` apart from element to element, turned by (c, s).
static void rotate(int p, double *x, double *y, int step, const double cs[2]) {
    for (int k = 0; k < p; k++) {
        double a = x[k * step], b = y[k * step];
        x[k * step] = cs[0] * a - cs[1] * b;
        y[k * step] = cs[1] * a + cs[0] * b;
    }
}

// Jacobi rotations that bring a (p x p, symmetric) to diagonal form.
static void diagonalise(int p, double *a) {
    for (int sweep = 0; sweep < MAX_SWEEPS; sweep++) {
        double off = 0.0, on = 0.0;
        for (int i = 0; i < p; i++) {
            on += a[p * i + i] * a[p * i + i];
            off += fil_dot(a + (ptrdiff_t)p * i, a + (ptrdiff_t)p * i, i);
        }
        if (!(off > 1e-34 * on)) {
            return;
        }
        for (int i = 0; i < p; i++) {
            for (int j = 0; j < i; j++) {
                double theta = 0.5 * atan2(2.0 * a[p * i + j], a[p * j + j] - a[p * i + i]);
                const double cs[2] = {cos(theta), sin(theta)};
                rotate(p, a + i, a + j, p, cs);
                rotate(p, a + (ptrdiff_t)p * i, a + (ptrdiff_t)p * j, 1, cs);
            }
        }
    }
}

// x <- x + factor y.
static void add(int n, double factor, const double *y, double *x) {
    for (int i = 0; i < n; i++) {
        x[i] += factor * y[i];
    }
}

// X becomes orthonormal in the measure of M, by Gram-Schmidt done twice.
static void orthonormalise(Modes *m) {
    size_t n = (size_t)m->n;
    for (int k = 0; k < 2 * m->p; k++) {
        double *x = m->X + n * (size_t)(k / 2), *mx = m->MX + n * (size_t)(k / 2);
        for (int l = 0; l < k / 2; l++) {
            add(m->n, -fil_dot(x, m->MX + n * (size_t)l, m->n), m->X + n * (size_t)l, x);
        }
        multiply_symmetric(m->n, m->M, x, mx);
        double scale = 1.0 / sqrt(fmax(fil_dot(x, mx, m->n), 1e-300));
        for (int i = 0; i < m->n; i++) {
            x[i] *= scale;
            mx[i] *= scale;
        }
    }
}

// One step: Y = H^-1 M X; the pencil (X^T M Y, I) has the eigenvalues 1 / w^2.
static void improve(Modes *m) {
    int n = m->n, p = m->p;
    for (int k = 0; k < p; k++) {
        memcpy(m->X + (size_t)k * (size_t)n, m->MX + (size_t)k * (size_t)n,
               sizeof(double) * (size_t)n);
        fil_cholesky_solve(n, m->factor, m->first, m->X + (size_t)k * (size_t)n);
    }
    for (int k = 0; k < p; k++) {
        for (int l = 0; l <= k; l++) {
            double value = fil_dot(m->MX + (size_t)k * (size_t)n, m->X + (size_t)l * (size_t)n, n);
            m->a[p * k + l] = value;
            m->a[p * l + k] = value;
        }
    }
    diagonalise(p, m->a);
    for (int k = 0; k < p; k++) {
        m->value[k] = m->a[p * k + k];
    }
    orthonormalise(m);
}

static bool allocate(Modes *m, FilArena *arena) {
    size_t n = (size_t)m->n, p = (size_t)m->p;
    m->H = FIL_NEW(arena, double, n *n);
    m->M = FIL_NEW(arena, double, n *n);
    m->factor = FIL_NEW(arena, double, n *n);
    m->first = FIL_NEW(arena, int, n);
    m->space = (FilFreeSpace){.n = m->n, .v = FIL_NEW(arena, double, (FIL_FREE_ROWS)*n)};
    m->rows = FIL_NEW(arena, double, (FIL_FREE_ROWS)*n);
    m->X = FIL_NEW(arena, double, n *p);
    m->MX = FIL_NEW(arena, double, n *p);
    m->a = FIL_NEW(arena, double, p *p);
    m->last = FIL_NEW(arena, double, p);
    m->value = FIL_NEW(arena, double, p);
    return !arena->failed;
}

static void sort_falling(int p, double *value) {
    for (int i = 1; i < p; i++) {
        double x = value[i];
        int j = i;
        for (; j > 0 && value[j - 1] < x; j--) {
            value[j] = value[j - 1];
        }
        value[j] = x;
    }
}

static void iterate(Modes *m, int count) {
    FilRandom random = fil_random_make(1);
    for (int i = 0; i < m->n * m->p; i++) {
        m->X[i] = fil_random_uniform(&random, -1.0, 1.0);
    }
    orthonormalise(m);
    for (int k = 0; k < m->p; k++) {
        m->last[k] = 0.0;
    }
    for (int k = 0; k < MAX_ITERATIONS; k++) {
        improve(m);
        sort_falling(m->p, m->value);
        double change = 0.0;
        for (int i = 0; i < count; i++) {
            change = fmax(change, fabs(m->value[i] - m->last[i]) / m->value[i]);
            m->last[i] = m->value[i];
        }
        if (change <= 1e-13) {
            return;
        }
    }
}

// The square of a frequency that is well below that of the first bending mode: EI / (m L^4).
static double scale_of(const FilRod *rod) {
    const FilStiffness *section = &rod->sections[0];
    double L = rod->state[1];
    return fmin(section->kappa[1], section->kappa[2]) / (section->mass * L * L * L * L);
}

static FilStatus fail_unstable(const FilStatics *s, FilError *error) {
    if (!fil_statics_rests(s, 0.0)) {
        return fil_fail(
            error, FIL_E_ARGUMENT,
            "the rod's shape is not an equilibrium: the forces out of balance are %.1e of "
            "those in it; vibrations need one",
            s->residual);
    }
    return fil_fail(error, FIL_E_ARGUMENT,
                    "the rod's shape is not a stable equilibrium: the smallest eigenvalue is %.3g; "
                    "vibrations need one",
                    s->eigenvalue);
}

static FilStatus fail_torque(FilError *error) {
    return fil_fail(
        error, FIL_E_ARGUMENT,
        "a torque that is fixed in space acts on the rod, and the symmetric part of its "
        "stiffness has a negative eigenvalue: it has no natural frequencies");
}

static FilStatus fail_round_off(FilError *error) {
    return fil_fail(error, FIL_E_ARGUMENT,
                    "the rod resists stretching so much more than bending that its frequencies are "
                    "lost in round-off; helix and clothoid, which do not stretch, have them");
}

static FilStatus fail_count(int count, int most, FilError *error) {
    return fil_fail(error, FIL_E_ARGUMENT,
                    "count is %d; it must be 1 to the degrees of freedom that are not held, %d",
                    count, most);
}

// Leave out what rows hold and what costs nothing. Returns how many degrees of freedom are not
// held.
static int reduce(FilRod *rod, Modes *m) {
    const size_t n = (size_t)m->n;
    double errors[FIL_ROD_ROWS], longest = rod->row_count > 0 ? 0.0 : 1.0;
    m->zero = fil_rod_zero_modes(rod, m->M, m->rows);
    double *held = m->rows + n * (size_t)m->zero;
    if (rod->row_count > 0) {
        rod->table->end_rows(rod, rod->state[0], held, errors);
    }
    for (size_t k = 0; k < (size_t)rod->row_count; k++) {
        longest = fmax(longest, sqrt(fil_dot(held + n * k, held + n * k, m->n)));
    }
    for (size_t k = 0; k < (size_t)m->zero; k++) {
        double *row = m->rows + n * k;
        multiply_symmetric(m->n, m->M, row, m->MX);
        double factor = longest / sqrt(fil_dot(m->MX, m->MX, m->n));
        for (size_t i = 0; i < n; i++) {
            row[i] = factor * m->MX[i];
        }
    }
    fil_free_space_make(&m->space, m->zero + rod->row_count, m->rows);
    fil_free_space_reduce(&m->space, m->H);
    fil_free_space_reduce(&m->space, m->M);
    m->n -= m->space.held;
    m->p = m->p < m->n ? m->p : m->n;
    return m->n + m->zero;
}

// Factor H + shift M. Round-off in stiff edges may ask for more than the least shift; returns what
// it took, or 0 when H has negative eigenvalues.
static double factor_shifted(Modes *m, double shift) {
    for (int k = 0; k < MAX_SHIFTS; k++) {
        for (size_t i = 0; i < (size_t)m->n * (size_t)m->n; i++) {
            m->factor[i] = m->H[i] + shift * m->M[i];
        }
        if (fil_cholesky_factor(m->n, m->factor, m->first, 1e-15) == 0) {
            return shift;
        }
        shift *= 4.0;
    }
    return 0.0;
}

static FilStatus find_modes(FilRod *rod, Modes *m, int count, double *frequencies,
                            FilError *error) {
    int most = reduce(rod, m), left = count - m->zero;
    if (count > most) {
        return fail_count(count, most, error);
    }
    for (int k = 0; k < count && k < m->zero; k++) {
        frequencies[k] = 0.0;
    }
    if (left <= 0) {
        return FIL_OK;
    }
    double least = scale_of(rod), shift = factor_shifted(m, least);
    if (shift == 0.0) {
        return m->circulates ? fail_torque(error) : fail_round_off(error);
    }
    iterate(m, left);
    for (int k = 0; k < left; k++) {
        double square = 1.0 / m->value[k] - shift;
        if (m->circulates && square < -1e-6 * least) {
            return fail_torque(error);
        }
        frequencies[m->zero + k] = square > 1e-8 * least ? sqrt(square) : 0.0;
    }
    return FIL_OK;
}

static FilStatus find(FilRod *rod, int count, double *frequencies, FilArena *arena,
                      FilError *error) {
    Modes m = {.n = rod->dof_count, .p = count + 6 < rod->dof_count ? count + 6 : rod->dof_count};
    FilStatics s;
    if (!allocate(&m, arena)) {
        return fil_fail(error, FIL_E_NO_MEMORY,
                        "there is no memory for the modes of %d degrees of freedom", m.n);
    }
    FIL_TRY(fil_statics_look(&s, rod, arena, error));
    if (!fil_statics_is_stable(&s, 0.0)) {
        return fail_unstable(&s, error);
    }
    m.circulates = s.circulates;
    memcpy(m.H, s.H, sizeof(double) * (size_t)m.n * (size_t)m.n);
    rod->table->mass(rod, m.M);
    return find_modes(rod, &m, count, frequencies, error);
}

FilStatus fil_rod_frequencies(FilRod *rod, int count, double *frequencies, FilError *error) {
    if (count < 1 || count > rod->dof_count) {
        return fail_count(count, rod->dof_count, error);
    }
    FilArena arena = fil_arena_make(&rod->arena.allocator);
    FilStatus status = find(rod, count, frequencies, &arena, error);
    fil_arena_destroy(&arena);
    return status;
}
