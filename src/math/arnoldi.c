// arnoldi.c - Arnoldi's method and the QR algorithm.
//
// From a start vector, x, T x, T^2 x, ... are made orthonormal in the measure G one by one (twice,
// so that they stay so): T V = V H + h v e^T with V the basis and H small and upper Hessenberg. The
// eigenvalues of H are close to those of T at the outside of its spectrum: for a compact T, as of
// the loads of a rod in the measure of its stiffness, within a few dozen steps to round-off. An
// operator far from normal has eigenvalues that are known no better than its powers are small.
//
// Eigenvalues of H: QR iterations with Wilkinson's shift on the complex matrix, by Givens
// rotations; what is below the diagonal and negligible splits the matrix. A real eigenvalue's
// vector is found by inverse iteration with H.
//
// W. E. Arnoldi (1951); J. G. F. Francis (1961); Golub and Van Loan, Matrix Computations.
#include "arnoldi.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "vector.h"

static const double negligible = 1e-7;

// --- eigenvalues of a small matrix ---------------------------------------------------------------

// The eigenvalue of the last 2 x 2 block that is nearer to its last entry.
static double complex choose_shift(const double complex *a, int order, int last) {
    const double complex *up = a + (ptrdiff_t)order * (last - 1), *down = up + order;
    double complex half = 0.5 * (up[last - 1] - down[last]);
    double complex root = csqrt(half * half + up[last] * down[last - 1]);
    double complex sum = cabs(half + root) > cabs(half - root) ? half + root : half - root;
    return cabs(sum) > 0.0 ? down[last] - up[last] * down[last - 1] / sum : down[last];
}

// One QR step with a shift on the rows and columns first .. last.
static void make_step(double complex *a, int order, int first, int last, double complex shift) {
    for (int i = first; i <= last; i++) {
        a[(ptrdiff_t)(order + 1) * i] -= shift;
    }
    double complex c = 0.0, s = 0.0; // of the rotation before
    for (int k = first; k <= last; k++) {
        double complex *row = a + (ptrdiff_t)order * k, *next = row + order;
        double complex c1 = 1.0, s1 = 0.0;
        if (k < last) { // rows k and k + 1
            double size = hypot(cabs(row[k]), cabs(next[k]));
            c1 = size > 0.0 ? row[k] / size : 1.0;
            s1 = size > 0.0 ? next[k] / size : 0.0;
            for (int j = k; j <= last; j++) {
                double complex x = row[j], y = next[j];
                row[j] = conj(c1) * x + conj(s1) * y;
                next[j] = c1 * y - s1 * x;
            }
        }
        for (int i = first; k > first && i <= k; i++) { // columns k - 1 and k, of the one before
            double complex *at = a + (ptrdiff_t)order * i + k;
            double complex x = at[-1], y = at[0];
            at[-1] = x * c + y * s;
            at[0] = y * conj(c) - x * conj(s);
        }
        c = c1;
        s = s1;
    }
    for (int i = first; i <= last; i++) {
        a[(ptrdiff_t)(order + 1) * i] += shift;
    }
}

bool fil_hessenberg_values(int order, double *numbers, double *values) {
    double complex *a = (double complex *)(void *)numbers;
    enum { MOST = 100 };
    int tries = 0;
    for (int last = order - 1; last >= 0;) {
        int first = last;
        for (; first > 0; first--) {
            double complex *below = a + (ptrdiff_t)order * first + first - 1;
            double near = cabs(below[1]) + cabs(a[(ptrdiff_t)(order + 1) * (first - 1)]);
            if (cabs(*below) <= DBL_EPSILON * near || !(cabs(*below) > DBL_MIN)) {
                *below = 0.0;
                break;
            }
        }
        if (first == last) {
            values[2 * last] = creal(a[(ptrdiff_t)(order + 1) * last]);
            values[2 * last + 1] = cimag(a[(ptrdiff_t)(order + 1) * last]);
            last--;
            tries = 0;
            continue;
        }
        if (++tries > MOST) {
            return false;
        }
        double complex shift = choose_shift(a, order, last);
        if (tries % 10 == 0) { // out of a cycle
            shift += cabs(a[(ptrdiff_t)order * last + last - 1]);
        }
        make_step(a, order, first, last, shift);
    }
    return true;
}

// x <- (H - shift)^-1 x by elimination with row exchanges; `a` [order][order] is scratch.
static void solve_hessenberg(int order, int stride, const double *H, double shift, double *a,
                             double *x) {
    double size = 0.0;
    for (int i = 0; i < order; i++) {
        for (int j = 0; j < order; j++) {
            double entry = i > j + 1 ? 0.0 : H[stride * i + j]; // there H was never written
            a[order * i + j] = entry - (i == j ? shift : 0.0);
            size = fmax(size, fabs(entry));
        }
    }
    for (int k = 0; k < order; k++) {
        double *row = a + (ptrdiff_t)order * k, *next = row + order;
        if (k + 1 < order && fabs(next[k]) > fabs(row[k])) {
            for (int j = k; j < order; j++) {
                double keep = row[j];
                row[j] = next[j];
                next[j] = keep;
            }
            double keep = x[k];
            x[k] = x[k + 1];
            x[k + 1] = keep;
        }
        if (!(fabs(row[k]) > DBL_EPSILON * size)) {
            row[k] = DBL_EPSILON * size + 1e-100;
        }
        if (k + 1 < order) {
            double factor = next[k] / row[k];
            for (int j = k; j < order; j++) {
                next[j] -= factor * row[j];
            }
            x[k + 1] -= factor * x[k];
        }
    }
    for (int k = order - 1; k >= 0; k--) {
        const double *row = a + (ptrdiff_t)order * k;
        x[k] = (x[k] - fil_dot(row + k + 1, x + k + 1, order - k - 1)) / row[k];
    }
}

// --- the basis -----------------------------------------------------------------------------------

typedef struct Basis {
    const FilOperator *T;
    int room, count, stride; // of H: room + 1
    double largest;          // of the lengths that T gave a basis vector
    double *V;               // [room + 1][n]
    double *H;               // [room + 1][room + 1]
    double *image, *measured;
    double *a; // [2 (room + 1)^2]
    double *values;
} Basis;

static double *vector_of(const Basis *basis, int k) {
    return basis->V + (ptrdiff_t)k * basis->T->n;
}

// Scale x to length 1 in the measure; returns what it was.
static double normalise(Basis *basis, double *x) {
    int n = basis->T->n;
    basis->T->measure(basis->T->user, x, basis->measured);
    double size = sqrt(fmax(0.0, fil_dot(x, basis->measured, n)));
    for (int i = 0; i < n && size > 0.0; i++) {
        x[i] /= size;
    }
    return size;
}

// One more basis vector; false when T leads out of the basis by no more than `negligible`: what
// round-off would make of it has nothing to do with T.
static bool extend(Basis *basis) {
    int n = basis->T->n, k = basis->count - 1;
    double *next = vector_of(basis, k + 1);
    basis->T->apply(basis->T->user, vector_of(basis, k), next);
    for (int i = 0; i <= k; i++) {
        basis->H[basis->stride * i + k] = 0.0;
    }
    for (int twice = 0; twice < 2; twice++) {
        basis->T->measure(basis->T->user, next, basis->measured);
        basis->largest = fmax(basis->largest, sqrt(fmax(0.0, fil_dot(next, basis->measured, n))));
        for (int i = 0; i <= k; i++) {
            basis->image[i] = fil_dot(vector_of(basis, i), basis->measured, n);
        }
        for (int i = 0; i <= k; i++) {
            double part = basis->image[i];
            const double *v = vector_of(basis, i);
            basis->H[basis->stride * i + k] += part;
            for (int j = 0; j < n; j++) {
                next[j] -= part * v[j];
            }
        }
    }
    double size = normalise(basis, next);
    basis->H[basis->stride * (k + 1) + k] = size;
    basis->count++;
    return size > negligible * basis->largest;
}

// The leftmost eigenvalue of H as far as it is known.
static bool find_leftmost(Basis *basis, FilLeftmost *out) {
    int order = basis->count - 1;
    for (int i = 0; i < order; i++) {
        for (int j = 0; j < order; j++) {
            basis->a[2 * (order * i + j)] = i > j + 1 ? 0.0 : basis->H[basis->stride * i + j];
            basis->a[2 * (order * i + j) + 1] = 0.0;
        }
    }
    if (!fil_hessenberg_values(order, basis->a, basis->values)) {
        return false;
    }
    out->real = HUGE_VAL;
    double size = 0.0;
    for (int k = 0; k < order; k++) {
        size = fmax(size, hypot(basis->values[2 * k], basis->values[2 * k + 1]));
        if (basis->values[2 * k] < out->real) {
            out->real = basis->values[2 * k];
            out->imaginary = fabs(basis->values[2 * k + 1]);
        }
    }
    if (out->imaginary <= 1e-10 * size) {
        out->imaginary = 0.0;
    }
    return isfinite(out->real);
}

// vector = V y, y the eigenvector of H.
static void place_vector(Basis *basis, double value, double *vector) {
    int n = basis->T->n, order = basis->count - 1;
    double *y = basis->values;
    for (int i = 0; i < order; i++) {
        y[i] = 1.0;
    }
    for (int k = 0; k < 3; k++) {
        solve_hessenberg(order, basis->stride, basis->H, value, basis->a, y);
        double size = sqrt(fil_dot(y, y, order));
        for (int i = 0; i < order; i++) {
            y[i] /= size;
        }
    }
    memset(vector, 0, sizeof(double) * (size_t)n);
    for (int i = 0; i < order; i++) {
        const double *v = vector_of(basis, i);
        for (int j = 0; j < n; j++) {
            vector[j] += y[i] * v[j];
        }
    }
}

FilLeftmost fil_arnoldi_leftmost(const FilOperator *T, int room, double tolerance, double *vector,
                                 double *work) {
    FilLeftmost out = {.real = 0.0}, last = out;
    size_t n = (size_t)T->n, m = (size_t)room + 1;
    Basis basis = {.T = T, .room = room, .stride = room + 1, .count = 1};
    basis.V = work;
    basis.H = basis.V + n * m;
    basis.image = basis.H + m * m;
    basis.measured = basis.image + m;
    basis.a = basis.measured + n;
    basis.values = basis.a + 2 * m * m;
    memcpy(work, vector, n * sizeof(double));
    if (!(normalise(&basis, basis.V) > 0.0)) {
        return out;
    }
    for (bool goes_on = true; goes_on && !out.converged;) {
        goes_on = extend(&basis) && basis.count <= room;
        int order = basis.count - 1;
        if (goes_on && order % 8 != 0) {
            continue;
        }
        if (!find_leftmost(&basis, &out)) {
            break;
        }
        out.converged = (!goes_on && order < room) ||
                        (out.found && hypot(out.real - last.real, out.imaginary - last.imaginary) <=
                                          tolerance * fmax(1.0, fabs(out.real)));
        out.found = true;
        last = out;
    }
    if (out.found && out.imaginary == 0.0) {
        place_vector(&basis, out.real, vector);
    }
    return out;
}
