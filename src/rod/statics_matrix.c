// statics_matrix.c - the linear systems of the statics.
//
// B measures motions and forces: the elastic stiffness. A rod that may move as a whole has motions
// without resistance; there B has a little of the mass matrix, a ten-thousandth of what bending it
// by a radian takes for moving it by its length. The section's inertia about the tangent is taken
// as large as that of the rod across, or a spin would weigh nothing.
//
// D, by which H is shifted, is the elastic stiffness of a rod that stretches easily, and the mass
// matrix: a compressed rod of stiff stretch needs a large shift against bending, which must not
// keep it from becoming longer.
//
// J. A torque tau, fixed in space, on a section whose spin is w = W v has the generalised force
// W^T tau. In any coordinates q the derivatives of the columns of W differ by their products,
// d_b W_a - d_a W_b = W_b x W_a, because mixed derivatives of a rotation do not depend on their
// order. So the antisymmetric part of how W^T tau changes is W^T [tau]x W / 2 whatever the model,
//     J = H - sum W^T [tau]x W / 2,
// with the symmetric part in H. W^T is had from the model's own gradient. Torques that hold an end
// have none of this: they are the multipliers of conditions, which have second derivatives.
#include "statics.h"

#include <string.h>

#include "math/cholesky.h"
#include "math/dense.h"
#include "math/vec3.h"
#include "math/vector.h"

enum { MAX_SHIFTS = 60, REFINEMENTS = 3 };
static const double softer = 0x1p-10;
static const double little = 1e-4; // of the mass in B

// --- memory --------------------------------------------------------------------------------------

bool fil_statics_allocate(FilStatics *s, FilArena *arena) {
    size_t n = (size_t)s->n, m = (size_t)s->m, square = n * n + 1;
    size_t state = (size_t)s->rod->state_count;
    s->H = FIL_NEW(arena, double, square);
    s->B = FIL_NEW(arena, double, square);
    s->D = FIL_NEW(arena, double, square);
    s->factor = FIL_NEW(arena, double, square);
    s->B_factor = FIL_NEW(arena, double, square);
    const bool apart = m > 0 || s->loose; // from all directions
    s->free_H = apart ? FIL_NEW(arena, double, square) : s->H;
    s->free_B = apart ? FIL_NEW(arena, double, square) : s->B_factor;
    s->free_D = apart ? FIL_NEW(arena, double, square) : s->D;
    if (s->circulates) {
        s->J = FIL_NEW(arena, double, square);
        s->free_J = apart ? FIL_NEW(arena, double, square) : s->J;
        s->lu = FIL_NEW(arena, double, n *(size_t)fil_round4(s->n) + 1);
        s->pivot = FIL_NEW(arena, int, n + 1);
        s->inverse = FIL_NEW(arena, double, n + 1);
        s->floor = FIL_NEW(arena, double, n + 4);
    }
    s->space = (FilFreeSpace){.n = s->n, .v = FIL_NEW(arena, double, (FIL_FREE_ROWS)*n + 1)};
    s->zero = FIL_NEW(arena, double, (FIL_FREE_ROWS)*n + 1);
    s->first = FIL_NEW(arena, int, n + 1);
    s->B_first = FIL_NEW(arena, int, n + 1);
    s->free_first = apart ? FIL_NEW(arena, int, n + 1) : s->B_first;
    s->g = FIL_NEW(arena, double, n + 1);
    s->dx = FIL_NEW(arena, double, n + 1);
    s->eigen = FIL_NEW(arena, double, n + 1);
    s->work = FIL_NEW(arena, double, 4 * n + 1);
    s->product = FIL_NEW(arena, double, n + 1);
    s->C = FIL_NEW(arena, double, m *n + 1);
    s->Y = FIL_NEW(arena, double, m *n + 1);
    s->BY = FIL_NEW(arena, double, m *n + 1);
    s->spins = FIL_NEW(arena, double, s->rod->element_count);
    s->arnoldi = FIL_NEW(arena, double, fil_statics_judge_room(s->n));
    s->saved = FIL_NEW(arena, double, state);
    s->best = FIL_NEW(arena, double, state);
    s->kept = FIL_NEW(arena, double, state);
    s->begin = FIL_NEW(arena, double, state);
    s->torques = FIL_NEW(arena, double, 3 * (size_t)s->rod->load_count + 1);
    s->loads = FIL_NEW(arena, FilRodLoad, s->rod->load_count + 2);
    return !arena->failed;
}

void fil_statics_multiply(int n, const double *lower, const double *x, double *y) {
    for (int i = 0; i < n; i++) {
        const double *row = lower + (size_t)i * (size_t)n;
        double sum = row[i] * x[i];
        for (int j = 0; j < i; j++) {
            sum += row[j] * x[j];
            y[j] += row[j] * x[i];
        }
        y[i] = sum;
    }
}

double fil_statics_elastic(const FilRod *rod) {
    FilRodEnergy energy;
    fil_rod_energy(rod, &energy);
    return fabs(energy.bend) + fabs(energy.twist) + fabs(energy.stretch);
}

// --- the measure ---------------------------------------------------------------------------------

// The mass of the rod, a motion by its length weighing EI / L, and, unless NULL, the stiffness of
// the same rod with less resistance to stretch.
static void place_soft(FilStatics *s, double *mass, double *stiffness) {
    FilRod *rod = s->rod;
    double whole = 0.0, length = rod->state[1];
    for (int i = 0; i < rod->element_count; i++) {
        FilStiffness *section = &rod->sections[i];
        whole += section->mass * rod->lengths[i];
        s->spins[i] = section->spin_inertia;
        section->stretch *= softer;
        section->spin_inertia = section->mass * length * length;
    }
    rod->table->refresh(rod);
    if (stiffness != NULL) {
        rod->table->stiffness(rod, stiffness);
    }
    rod->table->mass(rod, mass);
    for (int i = 0; i < rod->element_count; i++) {
        rod->sections[i].stretch /= softer;
        rod->sections[i].spin_inertia = s->spins[i];
    }
    rod->table->refresh(rod);
    for (size_t k = 0; k < (size_t)s->n * (size_t)s->n; k++) {
        mass[k] *= s->unit / (whole * length * length);
    }
}

static void place_measure(FilStatics *s) {
    size_t size = (size_t)s->n * (size_t)s->n;
    place_soft(s, s->B_factor, s->D);
    s->rod->table->stiffness(s->rod, s->B);
    for (size_t k = 0; k < size; k++) {
        s->D[k] += s->B_factor[k];
        s->B[k] += s->loose ? little * s->B_factor[k] : 0.0;
    }
    memcpy(s->B_factor, s->B, sizeof(double) * size);
    fil_cholesky_factor_raised(s->n, s->B_factor, s->B_first, 1e-16);
}

// BY = B^-1 rows^T, BS = rows BY.
static void place_measure_rows(FilStatics *s, const double *rows) {
    int n = s->n;
    for (int k = 0; k < s->m; k++) {
        double *y = fil_row(s->BY, k, n);
        memcpy(y, rows + (size_t)k * (size_t)n, sizeof(double) * (size_t)n);
        fil_cholesky_solve(n, s->B_factor, s->B_first, y);
        for (int l = 0; l <= k; l++) {
            double value = fil_dot(rows + (size_t)l * (size_t)n, y, n);
            s->BS[s->m * k + l] = s->BS[s->m * l + k] = value;
        }
    }
}

// b <- BS^-1 b.
static void solve_measure_rows(const FilStatics *s, double *b) {
    double S[FIL_ROD_ROWS * FIL_ROD_ROWS];
    memcpy(S, s->BS, sizeof S);
    fil_rod_solve_rows(s->m, S, b, 0.0);
}

static void subtract_rows(const FilStatics *s, const double *columns, const double *factor,
                          double *x) {
    for (int k = 0; k < s->m; k++) {
        const double *y = columns + (size_t)k * (size_t)s->n;
        for (int i = 0; i < s->n; i++) {
            x[i] -= factor[k] * y[i];
        }
    }
}

void fil_statics_solve_measure(const FilStatics *s, double *x) {
    fil_free_space_gather(&s->space, x);
    fil_cholesky_solve(s->n - s->space.held, s->free_B, s->free_first, x);
    fil_free_space_scatter(&s->space, x);
}

void fil_statics_close(FilStatics *s, const double *error, double *dx) {
    double mu[FIL_ROD_ROWS];
    place_measure_rows(s, s->Y);
    memcpy(mu, error, sizeof(double) * (size_t)s->m);
    solve_measure_rows(s, mu);
    memset(dx, 0, sizeof(double) * (size_t)s->n);
    subtract_rows(s, s->BY, mu, dx);
}

double fil_statics_gap(const FilStatics *s) {
    double worst = 0.0;
    for (int k = 0; k < s->m; k++) {
        worst = fmax(worst, fabs(s->c[k]));
    }
    return worst / fmax(1.0, s->rod->state[1]);
}

// The directions that `count` rows, which are destroyed, leave free, and the measure there.
static void place_space(FilStatics *s, int count, double *rows) {
    size_t size = (size_t)s->n * (size_t)s->n;
    s->space.held = 0;
    if (s->free_B == s->B_factor) {
        return;
    }
    fil_free_space_make(&s->space, count, rows);
    memcpy(s->free_B, s->B, sizeof(double) * size);
    fil_free_space_reduce(&s->space, s->free_B);
    fil_cholesky_factor_raised(s->n - s->space.held, s->free_B, s->free_first, 1e-16);
}

// The rows, what they leave free, and the measure there.
static void place_rows(FilStatics *s) {
    FilRod *rod = s->rod;
    if (s->m > 0) {
        rod->table->end_rows(rod, rod->state[0], s->C, s->c);
        memcpy(s->Y, s->C, sizeof(double) * (size_t)s->m * (size_t)s->n);
        place_measure_rows(s, s->C);
    }
    place_space(s, s->m, s->Y);
}

// The multipliers that balance g best.
static void find_multipliers(FilStatics *s) {
    int n = s->n;
    memcpy(s->work, s->g, sizeof(double) * (size_t)n);
    memset(s->lambda, 0, sizeof s->lambda);
    for (int turn = 0; turn < REFINEMENTS && s->m > 0; turn++) { // BS may be ill-conditioned
        double more[FIL_ROD_ROWS];
        for (int k = 0; k < s->m; k++) {
            more[k] = fil_dot(fil_row(s->BY, k, n), s->work, n);
        }
        solve_measure_rows(s, more);
        subtract_rows(s, s->C, more, s->work);
        for (int k = 0; k < s->m; k++) {
            s->lambda[k] -= more[k];
        }
    }
}

void fil_statics_measure(FilStatics *s) {
    place_measure(s);
    place_rows(s);
    s->rod->table->gradient(s->rod, s->g);
    find_multipliers(s);
    memcpy(s->work, s->g, sizeof(double) * (size_t)s->n);
    fil_free_space_gather(&s->space, s->work);
    int left = s->n - s->space.held;
    fil_cholesky_lower(left, s->free_B, s->free_first, s->work);
    double scale = 2.0 * fil_statics_elastic(s->rod) + s->unit;
    s->residual = sqrt(fil_dot(s->work, s->work, left) / scale) + fil_statics_gap(s);
}

// --- the Hessian ---------------------------------------------------------------------------------

static bool is_torque(const FilRodLoad *load) {
    return fil_dot3(load->torque, load->torque) > 0.0;
}

// J -= W^T [tau]x W / 2 for one torque; W is 3 x n.
static void add_circulation(int n, const double *W, const double tau[3], double *J) {
    for (int b = 0; b < n; b++) {
        const double w[3] = {W[b], W[n + b], W[2 * n + b]};
        double turned[3];
        fil_cross3(tau, w, turned);
        if (fil_dot3(turned, turned) == 0.0) {
            continue;
        }
        for (int a = 0; a < n; a++) {
            J[(size_t)a * (size_t)n + (size_t)b] -=
                0.5 * (W[a] * turned[0] + W[n + a] * turned[1] + W[2 * n + a] * turned[2]);
        }
    }
}

// W from the gradients with and without a torque about each axis. The loads of the rod are set
// aside; `scratch` has 4 n places.
static void place_circulation(FilStatics *s, double *scratch) {
    FilRod *rod = s->rod;
    FilRodLoad *loads = rod->loads, one;
    int count = rod->load_count, n = s->n;
    double *W = scratch, *without = scratch + 3 * (size_t)n;
    rod->load_count = 0;
    rod->table->gradient(rod, without);
    rod->loads = &one;
    for (int k = 0; k < count; k++) {
        if (!is_torque(&loads[k])) {
            continue;
        }
        double size = fil_norm3(loads[k].torque);
        rod->load_count = 1;
        for (int axis = 0; axis < 3; axis++) {
            double *row = W + (size_t)axis * (size_t)n;
            one = (FilRodLoad){.s = loads[k].s};
            one.torque[axis] = size;
            rod->table->gradient(rod, row);
            for (int i = 0; i < n; i++) {
                row[i] = (without[i] - row[i]) / size;
            }
        }
        add_circulation(n, W, loads[k].torque, s->J);
    }
    rod->loads = loads;
    rod->load_count = count;
}

void fil_statics_place_hessian(FilStatics *s, double *H) {
    FilRod *rod = s->rod;
    FilRodLoad *loads = rod->loads;
    int count = rod->load_count;
    if (s->m > 0) {
        memcpy(s->loads, loads, sizeof(FilRodLoad) * (size_t)count);
        rod->loads = s->loads;
        rod->load_count += fil_rod_row_loads(rod, rod->state[0], s->lambda, s->loads + count);
    }
    rod->table->hessian(rod, H);
    rod->loads = loads;
    rod->load_count = count;
    if (s->circulates) {
        memcpy(s->J, H, sizeof(double) * (size_t)s->n * (size_t)s->n);
        place_circulation(s, s->work);
    }
}

// --- on the free directions ----------------------------------------------------------------------

static void place_free(FilStatics *s, const double *A, double *out) {
    if (out != A) {
        memcpy(out, A, sizeof(double) * (size_t)s->n * (size_t)s->n);
        fil_free_space_reduce(&s->space, out);
    }
}

void fil_statics_place_free(FilStatics *s) {
    place_free(s, s->H, s->free_H);
    place_free(s, s->D, s->free_D);
    if (s->circulates) {
        place_free(s, s->J, s->free_J);
    }
}

// At right angles in the measure of the mass, which round-off in stiff edges does not blur. H maps
// those motions to 0: whatever directions are left, the signs of its eigenvalues there are the
// same.
void fil_statics_leave_zero(FilStatics *s) {
    int n = s->n;
    s->zero_count = 0;
    if (!s->loose) {
        return;
    }
    double *mass = s->factor, longest = s->m > 0 ? 0.0 : 1.0;
    place_soft(s, mass, NULL);
    s->zero_count = fil_rod_zero_modes(s->rod, mass, s->zero);
    for (int k = 0; k < s->m; k++) {
        double *row = fil_row(s->zero, s->zero_count + k, n);
        memcpy(row, fil_row(s->C, k, n), sizeof(double) * (size_t)n);
        longest = fmax(longest, sqrt(fil_dot(row, row, n)));
    }
    for (int k = 0; k < s->zero_count; k++) {
        double *row = fil_row(s->zero, k, n);
        fil_statics_multiply(n, mass, row, s->product);
        double factor = longest / sqrt(fil_dot(s->product, s->product, n));
        for (int i = 0; i < n; i++) {
            row[i] = factor * s->product[i];
        }
    }
    place_space(s, s->zero_count + s->m, s->zero);
    fil_statics_place_free(s);
}

static bool try_shift(FilStatics *s, double sigma) {
    int n = s->n - s->space.held;
    s->sigma = sigma;
    for (int i = 0; i < n; i++) {
        const double *h = fil_row(s->free_H, i, n), *d = fil_row(s->free_D, i, n);
        double *out = fil_row(s->factor, i, n);
        for (int j = 0; j <= i; j++) {
            out[j] = h[j] + sigma * d[j];
        }
    }
    return fil_cholesky_factor(n, s->factor, s->first, 1e-16) == 0;
}

// Where a shift is needed it is twice what would do: with no more than that the last directions to
// become positive would hardly resist, and the step would be all theirs.
bool fil_statics_factor(FilStatics *s, double least) {
    s->definite = try_shift(s, least);
    bool done = s->definite;
    double sigma = fmax(1e-6, 2.0 * least);
    for (int k = 0; k < MAX_SHIFTS && !done; k++) {
        done = try_shift(s, sigma) && try_shift(s, 2.0 * sigma);
        sigma *= 2.0;
    }
    return done;
}

void fil_statics_solve(const FilStatics *s, double *x) {
    fil_free_space_gather(&s->space, x);
    fil_cholesky_solve(s->n - s->space.held, s->factor, s->first, x);
    fil_free_space_scatter(&s->space, x);
}

// x <- lu^-1 x.
static void solve_lu(const FilStatics *s, int n, double *x) {
    size_t stride = (size_t)fil_round4(n);
    for (int i = 0; i < n; i++) {
        double keep = x[i];
        x[i] = x[s->pivot[i]];
        x[s->pivot[i]] = keep;
    }
    for (int i = 1; i < n; i++) {
        x[i] -= fil_dot(s->lu + stride * (size_t)i, x, i);
    }
    for (int i = n - 1; i >= 0; i--) {
        const double *row = s->lu + stride * (size_t)i;
        x[i] = (x[i] - fil_dot(row + i + 1, x + i + 1, n - i - 1)) * s->inverse[i];
    }
}

// x <- lu^-T x.
static void solve_lu_transposed(const FilStatics *s, int n, double *x) {
    size_t stride = (size_t)fil_round4(n);
    for (int i = 0; i < n; i++) {
        const double *row = s->lu + stride * (size_t)i;
        x[i] *= s->inverse[i];
        for (int j = i + 1; j < n; j++) {
            x[j] -= row[j] * x[i];
        }
    }
    for (int i = n - 1; i > 0; i--) {
        const double *row = s->lu + stride * (size_t)i;
        for (int j = 0; j < i; j++) {
            x[j] -= row[j] * x[i];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        double keep = x[i];
        x[i] = x[s->pivot[i]];
        x[s->pivot[i]] = keep;
    }
}

void fil_statics_factor_circulating(FilStatics *s, double sigma) {
    int n = s->n - s->space.held, stride = fil_round4(n);
    memset(s->lu, 0, sizeof(double) * (size_t)n * (size_t)stride);
    for (int i = 0; i < n; i++) {
        double *row = fil_row(s->lu, i, stride), largest = 0.0;
        const double *j = fil_row(s->free_J, i, n), *d = fil_row(s->free_D, i, n);
        for (int k = 0; k < n; k++) {
            row[k] = j[k] + sigma * d[k];
            largest = fmax(largest, fabs(row[k]));
        }
        s->floor[i] = 1e-16 * largest + 1e-300;
    }
    fil_dense_kernels()->factor(&(FilDenseLu){.panel = {s->lu, stride},
                                              .order = n,
                                              .begin = 0,
                                              .width = stride,
                                              .floor = s->floor,
                                              .pivot = s->pivot,
                                              .inverse = s->inverse});
}

void fil_statics_solve_circulating(const FilStatics *s, bool transposed, double *x) {
    int n = s->n - s->space.held;
    fil_free_space_gather(&s->space, x);
    if (transposed) {
        solve_lu_transposed(s, n, x);
    } else {
        solve_lu(s, n, x);
    }
    fil_free_space_scatter(&s->space, x);
}
