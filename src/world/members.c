// members.c - the contacts that matter, by body, and what they do to each other by way of it.
//
// Per body, with the k contacts that matter to it, W_body = H P H^T: P H^T by 3 k solves, or, where
// the body has fewer unknowns than that, by way of P itself.
#include "members.h"

#include <string.h>

#include "base/error.h"
#include "math/vector.h"

FilStatus fil_members_list(FilWorld *world, const FilWorldTry *step, const FilRows *rows,
                           const int *active, int count, FilMembers *out, FilError *error) {
    int n = step->contact_count, at = 0;
    FilArena *arena = &world->scratch;
    *out = (FilMembers){.rows = rows,
                        .active = active,
                        .count = count,
                        .place = FIL_NEW(arena, int, (size_t)n + 1),
                        .start = FIL_NEW(arena, int, (size_t)world->body_count + 1),
                        .list = FIL_NEW(arena, int, 2 * (size_t)count + 1)};
    out->of = (int(*)[2])fil_arena_get(arena, (size_t)count + 1, sizeof(*out->of));
    if (arena->failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for the problem of %d contacts",
                        count);
    }
    for (int i = 0; i < n; i++) {
        out->place[i] = -1;
    }
    for (int a = 0; a < count; a++) {
        out->place[active[a]] = a;
        out->of[a][0] = out->of[a][1] = -1;
    }
    for (int body = 0; body < world->body_count; body++) {
        out->start[body] = at;
        for (int k = rows->body_start[body]; k < rows->body_start[body + 1]; k++) {
            int contact = rows->incidences[k].contact, a = out->place[contact];
            if (a >= 0) {
                out->of[a][rows->of_contact[contact][0] == k ? 0 : 1] = at;
                out->list[at++] = k;
            }
        }
    }
    out->start[world->body_count] = at;
    return FIL_OK;
}

size_t fil_members_room(const FilMembers *members, const FilBody *body, int index) {
    size_t rows = 3 * (size_t)fil_members_count(members, index), m = (size_t)body->dof_count;
    return (rows > m ? m * m : 0) + 2 * rows * m;
}

// --- P H^T ---------------------------------------------------------------------------------------

static bool solve_columns(const FilBody *body, int count, double *X) {
    return body->table->solve_columns != NULL && body->table->solve_columns(body->self, count, X);
}

// H^T, [m][rows].
static void fill_columns(const FilMembers *members, int m, int first, int count, double *X) {
    ptrdiff_t rows = 3 * (ptrdiff_t)count;
    memset(X, 0, sizeof(double) * (size_t)m * (size_t)rows);
    for (int k = 0; k < count; k++) {
        const FilIncidence *incidence = fil_member(members, first + k);
        for (int e = 0; e < 3 * incidence->width; e++) {
            int row = e / incidence->width, c = incidence->first + e % incidence->width;
            X[c * rows + 3 * (ptrdiff_t)k + row] = incidence->H[e];
        }
    }
}

// X = P H^T, [m][rows], where the solves go one row at a time; turned over.
static void spread_rows(const FilMembers *members, const FilBody *body, int first, int count,
                        double *X, double *work) {
    int m = body->dof_count, rows = 3 * count;
    memset(work, 0, sizeof(double) * (size_t)rows * (size_t)m);
    for (int k = 0; k < count; k++) {
        const FilIncidence *incidence = fil_member(members, first + k);
        for (int row = 0; row < 3; row++) {
            memcpy(work + (3 * (ptrdiff_t)k + row) * m + incidence->first,
                   incidence->H + (ptrdiff_t)row * incidence->width,
                   sizeof(double) * (size_t)incidence->width);
        }
    }
    body->table->solve(body->self, rows, work);
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < m; c++) {
            X[(ptrdiff_t)c * rows + r] = work[(ptrdiff_t)r * m + c];
        }
    }
}

// P itself, [m][m], which takes m solves.
static void find_inverse(const FilBody *body, double *P) {
    int m = body->dof_count;
    memset(P, 0, sizeof(double) * (size_t)m * (size_t)m);
    for (int k = 0; k < m; k++) {
        P[(ptrdiff_t)k * (m + 1)] = 1.0;
    }
    if (!solve_columns(body, m, P)) { // P is symmetric
        body->table->solve(body->self, m, P);
    }
}

// The same by way of P.
static void spread_rows_dense(const FilMembers *members, const FilBody *body, int first, int count,
                              double *X, double *P) {
    int m = body->dof_count, rows = 3 * count;
    find_inverse(body, P);
    for (int c = 0; c < m; c++) {
        const double *column = P + (ptrdiff_t)c * m;
        for (int k = 0; k < count; k++) {
            const FilIncidence *incidence = fil_member(members, first + k);
            for (int row = 0; row < 3; row++) {
                X[(ptrdiff_t)c * rows + 3 * (ptrdiff_t)k + row] =
                    fil_dot(incidence->H + (ptrdiff_t)row * incidence->width,
                            column + incidence->first, incidence->width);
            }
        }
    }
}

// X = P H^T, [m][rows]; `work` lies behind it.
static void spread(const FilMembers *members, const FilBody *body, int index, double *X) {
    int first = members->start[index], count = fil_members_count(members, index);
    int m = body->dof_count, rows = 3 * count;
    double *work = X + (ptrdiff_t)rows * m;
    if (rows > m) {
        spread_rows_dense(members, body, first, count, X, work);
        return;
    }
    fill_columns(members, m, first, count, X);
    if (!solve_columns(body, rows, X)) {
        spread_rows(members, body, first, count, X, work);
    }
}

// --- W of a body ---------------------------------------------------------------------------------

// W_body = H X, symmetric: what is below the diagonal is what is above it.
static void multiply_rows(const FilMembers *members, int first, int count, const double *X,
                          double *W) {
    ptrdiff_t n = 3 * (ptrdiff_t)count;
    memset(W, 0, sizeof(double) * (size_t)(n * n));
    for (int k = 0; k < count; k++) {
        const FilIncidence *incidence = fil_member(members, first + k);
        for (int row = 0; row < 3; row++) {
            const double *H = incidence->H + (ptrdiff_t)row * incidence->width;
            ptrdiff_t r = 3 * (ptrdiff_t)k + row;
            for (int c = 0; c < incidence->width; c++) {
                fil_axpy(H[c], X + (incidence->first + c) * n + r, W + r * n + r, (int)(n - r));
            }
        }
    }
    for (ptrdiff_t r = 0; r < n; r++) {
        for (ptrdiff_t c = 0; c < r; c++) {
            W[r * n + c] = W[c * n + r];
        }
    }
}

void fil_members_matrix(const FilMembers *members, const FilBody *body, int index, double *room,
                        double *W) {
    spread(members, body, index, room);
    multiply_rows(members, members->start[index], fil_members_count(members, index), room, W);
}

// H P H^T of one contact.
static void find_block(const FilIncidence *incidence, const double *P, ptrdiff_t m, double *W) {
    int width = incidence->width;
    for (int e = 0; e < 9; e++) {
        const double *H = incidence->H + (ptrdiff_t)(e / 3) * width;
        const double *other = incidence->H + (ptrdiff_t)(e % 3) * width;
        double sum = 0.0;
        for (int c = 0; c < width; c++) {
            sum += H[c] * fil_dot(P + (incidence->first + c) * m + incidence->first, other, width);
        }
        W[e] = sum;
    }
}

void fil_members_diagonal(const FilMembers *members, const FilBody *body, int index, double *room,
                          double *W) {
    int count = fil_members_count(members, index);
    ptrdiff_t n = 3 * (ptrdiff_t)count, m = body->dof_count;
    if (n > m) {
        find_inverse(body, room);
        for (int k = 0; k < count; k++) {
            find_block(fil_member(members, members->start[index] + k), room, m,
                       W + 9 * (ptrdiff_t)k);
        }
        return;
    }
    spread(members, body, index, room);
    memset(W, 0, sizeof(double) * 9 * (size_t)count);
    for (int k = 0; k < count; k++) {
        const FilIncidence *incidence = fil_member(members, members->start[index] + k);
        for (int e = 0; e < 3 * incidence->width; e++) {
            int row = e / incidence->width, c = incidence->first + e % incidence->width;
            fil_axpy(incidence->H[e], room + c * n + 3 * (ptrdiff_t)k,
                     W + 9 * (ptrdiff_t)k + 3 * row, 3);
        }
    }
}
