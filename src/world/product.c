// product.c - W r by way of the bodies, for heaps: W itself is not formed.
//
// W r is the sum over the bodies of H P H^T r. A body keeps either W_body = H P H^T of its own
// contacts, or the rows H alone, and P is applied by a solve; whichever has fewer numbers to go
// through. (A rod of 160 unknowns with 10 contacts: 900 against 2600; one of 66 with 60: 32 000
// against 1700.) Bodies are worked on in parallel and write what is their own; then every contact
// takes what its one or two bodies hold for it.
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "math/vector.h"
#include "problem.h"

typedef double Vector4 __attribute__((vector_size(32), aligned(8), may_alias));

// Where a contact takes hold.
typedef struct Place {
    int impulse; // of r
    int first;   // unknown of the body
    int stride;  // of its rows, a multiple of 4: zeros fill them up
} Place;

// A body and its k contacts.
typedef struct Part {
    int body, count;
    const Place *places; // [k]
    double *own;         // [3 k][3 k] W_body; NULL: by the rows
    int stride;          // of all rows; 0: they differ
    double *H;           // [k][3][stride], one after the other
} Part;

typedef struct Product {
    const struct ProductKernels *kernels;
    const FilWorld *world;
    FilMembers members;
    Part *parts;
    int part_count;
    Place *places;    // [members]
    double **room;    // [threads]
    double *share;    // [members][4] what a body does to its contacts: three numbers and a gap
    double *diagonal; // [members][9], while the problem is made
    const double *r;
    double *Wr;
} Product;

// --- products ------------------------------------------------------------------------------------

typedef struct ProductKernels {
    void (*multiply_own)(const Part *part, const double *r, double *room, double *y);
    void (*push)(const Part *part, const double *r, double *v);
    void (*pull)(const Part *part, const double *v, double *y);
} ProductKernels;

#define FIL_KERNEL_FILE "world/product_kernels.h"
#include "math/variants.h"

// y = H P H^T r, by a solve. The rows may reach past the unknowns by up to three, with zeros.
static void multiply_rows(const Product *product, const Part *part, double *v, double *y) {
    const FilBody *body = &product->world->bodies[part->body];
    memset(v, 0, sizeof(double) * ((size_t)body->dof_count + 3));
    product->kernels->push(part, product->r, v);
    body->table->solve(body->self, 1, v);
    product->kernels->pull(part, v, y);
}

static void multiply_parts(void *context, int first, int last) {
    const Product *product = context;
    double *room = product->room[fil_thread_index()];
    for (int p = first; p < last; p++) {
        const Part *part = &product->parts[p];
        double *y = product->share + 4 * (ptrdiff_t)product->members.start[part->body];
        if (part->own != NULL) {
            product->kernels->multiply_own(part, product->r, room, y);
        } else {
            multiply_rows(product, part, room, y);
        }
    }
}

// What the bodies of a contact hold for it: `count` numbers each, `stride` apart.
static void add_shares(const FilMembers *members, const double *share, int stride, int count, int a,
                       double *sum) {
    for (int k = 0; k < count; k++) {
        sum[k] = 0.0;
        for (int side = 0; side < 2; side++) {
            int at = members->of[a][side];
            sum[k] += at >= 0 ? share[(ptrdiff_t)stride * at + k] : 0.0;
        }
    }
}

static void gather(void *context, int first, int last) {
    const Product *product = context;
    for (int a = first; a < last; a++) {
        add_shares(&product->members, product->share, 4, 3, a, product->Wr + 3 * (ptrdiff_t)a);
    }
}

static void multiply(void *user, const double *r, double *Wr) {
    Product *product = user;
    product->r = r;
    product->Wr = Wr;
    fil_parallel_ranges(product->part_count, 8, product->world->threads, multiply_parts, product);
    fil_parallel_ranges(product->members.count, 512, product->world->threads, gather, product);
}

// --- making it -----------------------------------------------------------------------------------

static bool is_smaller_by_own(const Product *product, int body) {
    const FilMembers *members = &product->members;
    const int band = 24; // numbers of P that a solve goes through, per unknown, there and back
    int64_t rows = 3 * (int64_t)fil_members_count(members, body);
    int64_t by_rows = band * (int64_t)product->world->bodies[body].dof_count;
    for (int k = members->start[body]; k < members->start[body + 1]; k++) {
        by_rows += 6 * (int64_t)fil_member(members, k)->width;
    }
    return rows * rows / 2 < by_rows; // half of the impulses are 0
}

// A part, and the places of its contacts.
static Part reserve_part(const Product *product, FilArena *arena, int body) {
    const FilMembers *members = &product->members;
    int start = members->start[body], count = fil_members_count(members, body);
    Place *places = product->places + start;
    Part part = {.body = body, .count = count, .places = places};
    size_t rows = 0;
    for (int k = 0; k < count; k++) {
        const FilIncidence *incidence = fil_member(members, start + k);
        places[k] = (Place){.impulse = 3 * members->place[incidence->contact],
                            .first = incidence->first,
                            .stride = (incidence->width + 3) / 4 * 4};
        part.stride = k == 0 || part.stride == places[k].stride ? places[k].stride : 0;
        rows += 3 * (size_t)places[k].stride;
    }
    if (is_smaller_by_own(product, body)) {
        part.own = FIL_NEW(arena, double, 9 * (size_t)count * (size_t)count);
    } else {
        part.H = FIL_NEW(arena, double, rows);
    }
    return part;
}

static FilStatus reserve(FilWorld *world, Product *product, FilError *error) {
    FilArena *arena = &world->scratch;
    const FilMembers *members = &product->members;
    size_t all = (size_t)members->start[world->body_count], most = 0;
    product->parts = FIL_NEW(arena, Part, (size_t)world->body_count + 1);
    product->places = FIL_NEW(arena, Place, all + 1);
    product->share = FIL_NEW(arena, double, 4 * all + 1);
    product->diagonal = FIL_NEW(arena, double, 9 * all + 1);
    product->room = FIL_NEW(arena, double *, world->threads);
    for (int k = 0; !arena->failed && k < world->body_count; k++) {
        size_t rows = 3 * (size_t)fil_members_count(members, k);
        size_t need = fil_members_room(members, &world->bodies[k], k);
        if (rows == 0) {
            continue;
        }
        if (need < (size_t)world->bodies[k].dof_count + 3) {
            need = (size_t)world->bodies[k].dof_count + 3;
        }
        product->parts[product->part_count++] = reserve_part(product, arena, k);
        most = need > most ? need : most;
    }
    for (int t = 0; !arena->failed && t < world->threads; t++) {
        product->room[t] = FIL_NEW(arena, double, most + 1);
    }
    return arena->failed
               ? fil_fail(error, FIL_E_NO_MEMORY,
                          "there is no memory for the problem of %d contacts", members->count)
               : FIL_OK;
}

// The rows of a part's contacts, side by side.
static void fill_rows(const FilMembers *members, const Part *part) {
    double *to = part->H;
    for (int k = 0; k < part->count; k++) {
        const FilIncidence *incidence = fil_member(members, members->start[part->body] + k);
        size_t width = (size_t)incidence->width, stride = (size_t)part->places[k].stride;
        for (size_t row = 0; row < 3; row++, to += stride) {
            memcpy(to, incidence->H + row * width, sizeof(double) * width);
            memset(to + width, 0, sizeof(double) * (stride - width));
        }
    }
}

static void make_part(void *context, int p) {
    const Product *product = context;
    const FilMembers *members = &product->members;
    const Part *part = &product->parts[p];
    const FilBody *body = &product->world->bodies[part->body];
    double *room = product->room[fil_thread_index()];
    double *diagonal = product->diagonal + 9 * (ptrdiff_t)members->start[part->body];
    ptrdiff_t n = 3 * (ptrdiff_t)fil_members_count(members, part->body);
    if (part->own == NULL) {
        fill_rows(members, part);
        fil_members_diagonal(members, body, part->body, room, diagonal);
        return;
    }
    fil_members_matrix(members, body, part->body, room, part->own);
    for (ptrdiff_t e = 0; e < 3 * n; e++) { // row e / 3, column e % 3 of its block
        ptrdiff_t row = e / 3;
        diagonal[e] = part->own[row * n + row - row % 3 + e % 3];
    }
}

FilStatus fil_world_product_build(FilWorld *world, const FilWorldTry *step, const FilRows *rows,
                                  const int *active, int count, FilFrictionProblem *problem,
                                  FilError *error) {
    FilArena *arena = &world->scratch;
    Product *product = FIL_NEW(arena, Product, 1);
    double *diagonal = FIL_NEW(arena, double, 9 * (size_t)count + 1);
    if (arena->failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for the problem of %d contacts",
                        count);
    }
    *product = (Product){.kernels = CHOOSE_VARIANT(count_variants() - 1, kernels), .world = world};
    FIL_TRY(fil_members_list(world, step, rows, active, count, &product->members, error));
    FIL_TRY(fil_world_problem_begin(world, step, &product->members, problem, error));
    FIL_TRY(reserve(world, product, error));
    fil_parallel_for(product->part_count, world->threads, make_part, product);
    for (int a = 0; a < count; a++) {
        add_shares(&product->members, product->diagonal, 9, 9, a, diagonal + 9 * (ptrdiff_t)a);
    }
    problem->form = FIL_FORM_PRODUCT;
    problem->product = (FilProductForm){multiply, product, diagonal};
    return FIL_OK;
}
