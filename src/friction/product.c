// product.c - problems whose W is known by its product with a vector alone.
//
// reset() multiplies once, a row is then what came out for it. W is never formed, so there is
// nothing to sweep over or to factor: gradient.c solves these.
#include "product.h"

#include <string.h>

#include "base/error.h"

typedef struct Product {
    const FilProductForm *form;
    int n;
    const int *offset;
    const double *compliance; // or NULL
    const int64_t *block_at;  // [n] where a diagonal block begins
    double *Wr;               // [size]
} Product;

// u += C_i r_i.
static void add_yield(const Product *x, int i, const double *r, double *u) {
    const int d = x->offset[i + 1] - x->offset[i];
    for (int k = 0; k < d * d; k++) {
        u[k / d] += x->compliance[x->block_at[i] + k] * r[x->offset[i] + k % d];
    }
}

static void product_diagonal(const void *self, int i, double *block) {
    const Product *x = self;
    const int d = x->offset[i + 1] - x->offset[i];
    for (int k = 0; k < d * d; k++) {
        block[k] = x->form->diagonal[x->block_at[i] + k];
        block[k] += x->compliance != NULL ? x->compliance[x->block_at[i] + k] : 0.0;
    }
}

static void product_multiply(void *self, const double *r, double *Wr) {
    const Product *x = self;
    x->form->multiply(x->form->user, r, Wr);
    for (int i = 0; x->compliance != NULL && i < x->n; i++) {
        add_yield(x, i, r, Wr + x->offset[i]);
    }
}

static void product_reset(void *self, const double *r) {
    const Product *x = self;
    x->form->multiply(x->form->user, r, x->Wr);
}

static void product_row(const void *self, int i, const double *r, double *u) {
    const Product *x = self;
    const int d = x->offset[i + 1] - x->offset[i];
    memcpy(u, x->Wr + x->offset[i], (size_t)d * sizeof *u);
    if (x->compliance != NULL) {
        add_yield(x, i, r, u);
    }
}

FilStatus fil_system_from_product(const FilFrictionProblem *problem, FilArena *arena,
                                  FilSystem *out) {
    FIL_TRY(fil_system_begin(problem, arena, out));
    Product *x = FIL_NEW(arena, Product, 1);
    const int64_t *block_at = fil_system_squares(out, arena);
    double *Wr = FIL_NEW(arena, double, out->size);
    if (x == NULL || block_at == NULL || Wr == NULL) {
        return FIL_E_NO_MEMORY;
    }
    *x = (Product){&problem->product, out->n, out->offset, problem->compliance, block_at, Wr};
    out->b = problem->b;
    out->delassus =
        (FilDelassus){x, product_diagonal, product_reset, product_row, NULL, product_multiply};
    return fil_system_find_scales(out, arena);
}
