// fclib_read.c - friction problems from FCLIB's HDF5 layout.
//
// A file is read whole, then opened in memory. Sizes are settled by the vectors (mu, q or w, f, b
// or s), which are datasets of known length; the matrices must agree with them, so that no number
// in the file makes us take memory. Every matrix becomes a list of entries (row, column, value);
// the parts of the problem are shifted into one list and compressed:
//
//     local     [ W   V ]  into block rows          global    [ H  G ]  by columns
//               [ V^T R ]
//
// The order of checks is the order of the file's meaning: dimension, vectors, matrices.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "filum/fclib.h"

#include "base/arena.h"
#include "io/fields.h"
#include "io/hdf_check.h"
#include "math/sparse.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Owned {
    FilFclib file; // first: what the user holds
    FilArena arena;
} Owned;

// One file being turned into a problem.
typedef struct Reader {
    FilFields fields;
    FilArena *keep;
    FilGroup root, part, vectors; // part: /fclib_local or /fclib_global
    FilReals mu, velocity;        // velocity: q or w
    FilReals force;               // global: f
    FilReals equality;            // s or b
    FilFclib *file;
} Reader;

// How large a matrix must be, and who says so.
typedef struct Shape {
    int rows, columns;
    const char *rows_from, *columns_from;
} Shape;

static int count_scalars(const Reader *r) {
    return r->velocity.count + r->equality.count;
}

// ------------------------------------------------------------------------------------- matrices

static FilStatus check_index(const Reader *r, const FilGroup *matrix, const char *name, int k,
                             int value, int limit, const char *unit) {
    if (value >= 0 && value < limit) {
        return FIL_OK;
    }
    return value < 0
               ? fil_fields_fail(&r->fields, FIL_E_FORMAT,
                                 "%s/%s[%d] is %d; it must not be negative", matrix->path, name, k,
                                 value)
               : fil_fields_fail(&r->fields, FIL_E_FORMAT,
                                 "%s/%s[%d] is %d; it must be below %d (%s has %d %s)",
                                 matrix->path, name, k, value, limit, matrix->path, limit, unit);
}

static FilStatus check_length(const Reader *r, const FilGroup *matrix, const char *name, int count,
                              int want, const char *why) {
    if (count >= want) {
        return FIL_OK;
    }
    return fil_fields_fail(&r->fields, FIL_E_FORMAT,
                           "%s/%s has %d entries; it must have at least %d (%s)", matrix->path,
                           name, count, want, why);
}

// The pointers of a compressed matrix: 0 = p[0] <= p[1] <= ... <= the number of entries.
static FilStatus check_pointers(const Reader *r, const FilGroup *matrix, FilInts p, int lines,
                                const char *unit) {
    if (p.count != lines + 1) {
        return fil_fields_fail(&r->fields, FIL_E_FORMAT,
                               "%s/p has %d entries; it must have %d (one more than %s has %s)",
                               matrix->path, p.count, lines + 1, matrix->path, unit);
    }
    if (p.value[0] != 0) {
        return fil_fields_fail(&r->fields, FIL_E_FORMAT, "%s/p[0] is %d; it must be 0",
                               matrix->path, p.value[0]);
    }
    for (int k = 0; k < lines; k++) {
        if (p.value[k + 1] < p.value[k]) {
            return fil_fields_fail(&r->fields, FIL_E_FORMAT,
                                   "%s/p[%d] is %d; it must not be below p[%d], which is %d",
                                   matrix->path, k + 1, p.value[k + 1], k, p.value[k]);
        }
    }
    return FIL_OK;
}

// Compressed by columns (nz = -1) or rows (nz = -2): spell out the line of every entry.
static FilStatus read_compressed(const Reader *r, const FilGroup *matrix, int nz, FilInts p,
                                 FilInts i, FilEntries *out) {
    const bool by_rows = nz == -2;
    const int lines = by_rows ? out->row_count : out->column_count;
    const int others = by_rows ? out->column_count : out->row_count;
    FIL_TRY(check_pointers(r, matrix, p, lines, by_rows ? "rows" : "columns"));
    const int count = p.value[lines];
    FIL_TRY(check_length(r, matrix, "i", i.count, count, "the last entry of p"));
    for (int e = 0; e < count; e++) {
        FIL_TRY(check_index(r, matrix, "i", e, i.value[e], others, by_rows ? "columns" : "rows"));
    }
    int *line = FIL_NEW(r->fields.scratch, int, count);
    if (line == NULL) {
        return fil_fields_no_memory(&r->fields);
    }
    for (int k = 0; k < lines; k++) {
        for (int e = p.value[k]; e < p.value[k + 1]; e++) {
            line[e] = k;
        }
    }
    out->count = count;
    out->row = by_rows ? line : i.value;
    out->column = by_rows ? i.value : line;
    return FIL_OK;
}

static bool are_below(FilInts list, int count, int limit) {
    for (int e = 0; e < count; e++) {
        if (list.value[e] < 0 || list.value[e] >= limit) {
            return false;
        }
    }
    return true;
}

// Triplets: `i` holds the rows and `p` the columns, as Siconos writes them, unless only the reverse
// fits, which FCLIB's own header describes.
static FilStatus read_triplets(const Reader *r, const FilGroup *matrix, int nz, FilInts p,
                               FilInts i, FilEntries *out) {
    FIL_TRY(check_length(r, matrix, "i", i.count, nz, "nz"));
    FIL_TRY(check_length(r, matrix, "p", p.count, nz, "nz"));
    const int rows = out->row_count, columns = out->column_count;
    const bool plain = are_below(i, nz, rows) && are_below(p, nz, columns);
    const bool reversed = !plain && are_below(p, nz, rows) && are_below(i, nz, columns);
    for (int e = 0; !plain && !reversed && e < nz; e++) { // find the culprit
        FIL_TRY(check_index(r, matrix, "i", e, i.value[e], rows, "rows"));
        FIL_TRY(check_index(r, matrix, "p", e, p.value[e], columns, "columns"));
    }
    out->count = nz;
    out->row = reversed ? p.value : i.value;
    out->column = reversed ? i.value : p.value;
    return FIL_OK;
}

static FilStatus check_size(const Reader *r, const FilGroup *matrix, const char *name, int want,
                            const char *from) {
    int size = 0;
    FIL_TRY(fil_read_int(&r->fields, matrix, name, &size));
    if (size != want) {
        return fil_fields_fail(&r->fields, FIL_E_FORMAT, "%s/%s is %d; it must be %d (%s)",
                               matrix->path, name, size, want, from);
    }
    return FIL_OK;
}

static FilStatus read_entries(const Reader *r, const FilGroup *matrix, const Shape *shape,
                              FilEntries *out) {
    int nz = 0, nzmax = 0;
    FIL_TRY(check_size(r, matrix, "m", shape->rows, shape->rows_from));
    FIL_TRY(check_size(r, matrix, "n", shape->columns, shape->columns_from));
    FIL_TRY(fil_read_int(&r->fields, matrix, "nz", &nz));
    FIL_TRY(fil_read_int(&r->fields, matrix, "nzmax", &nzmax));
    if (nz < -2) {
        return fil_fields_fail(&r->fields, FIL_E_FORMAT,
                               "%s/nz is %d; it must be -1 (by columns), -2 (by rows) or the "
                               "number of triplets",
                               matrix->path, nz);
    }
    FilInts p = {0}, i = {0};
    FilReals x = {0};
    FIL_TRY(fil_read_ints(&r->fields, matrix, "p", &p));
    FIL_TRY(fil_read_ints(&r->fields, matrix, "i", &i));
    FIL_TRY(fil_read_reals(&r->fields, matrix, "x", &x));
    *out = (FilEntries){.row_count = shape->rows, .column_count = shape->columns};
    FIL_TRY(nz >= 0 ? read_triplets(r, matrix, nz, p, i, out)
                    : read_compressed(r, matrix, nz, p, i, out));
    FIL_TRY(check_length(r, matrix, "x", x.count, out->count, "the number of entries"));
    if (nzmax < out->count) {
        return fil_fields_fail(&r->fields, FIL_E_FORMAT,
                               "%s/nzmax is %d; it must be at least %d, the number of entries",
                               matrix->path, nzmax, out->count);
    }
    out->value = x.value;
    return FIL_OK;
}

static FilStatus read_matrix(const Reader *r, const char *name, Shape shape, FilEntries *out) {
    FilGroup matrix = {.id = -1};
    FIL_TRY(fil_group_open(&r->fields, &r->part, name, &matrix));
    const FilStatus status = read_entries(r, &matrix, &shape, out);
    fil_group_close(&matrix);
    return status;
}

// ------------------------------------------------------------------------------- one large matrix

// Where a part goes in the large matrix.
typedef struct Part {
    const FilEntries *entries;
    int row_shift, column_shift;
    bool transposed;
} Part;

static FilStatus join_parts(const Reader *r, int rows, int columns, const Part *parts,
                            int part_count, FilEntries *out) {
    long long count = 0;
    for (int k = 0; k < part_count; k++) {
        count += parts[k].entries->count;
    }
    if (count > INT_MAX) {
        return fil_fields_fail(&r->fields, FIL_E_FORMAT,
                               "%s has %lld matrix entries in all; it must have fewer than 2^31",
                               r->part.path, count);
    }
    int *row = FIL_NEW(r->fields.scratch, int, count);
    int *column = FIL_NEW(r->fields.scratch, int, count);
    double *value = FIL_NEW(r->fields.scratch, double, count);
    if (r->fields.scratch->failed) {
        return fil_fields_no_memory(&r->fields);
    }
    int at = 0;
    for (int k = 0; k < part_count; k++) {
        const FilEntries *in = parts[k].entries;
        const int *in_row = parts[k].transposed ? in->column : in->row;
        const int *in_column = parts[k].transposed ? in->row : in->column;
        for (int e = 0; e < in->count; e++, at++) {
            row[at] = in_row[e] + parts[k].row_shift;
            column[at] = in_column[e] + parts[k].column_shift;
            value[at] = in->value[e];
        }
    }
    *out = (FilEntries){.row_count = rows,
                        .column_count = columns,
                        .count = (int)count,
                        .row = row,
                        .column = column,
                        .value = value};
    return FIL_OK;
}

static FilStatus compress(const Reader *r, const FilEntries *entries, FilArena *keep,
                          const char *name, FilSparse *out) {
    if (!fil_sparse_from_entries(entries, keep, r->fields.scratch, out)) {
        return fil_fields_no_memory(&r->fields);
    }
    for (int j = 0; j < out->column_count; j++) {
        for (int e = out->start[j]; e < out->start[j + 1]; e++) {
            if (!isfinite(out->value[e])) {
                return fil_fields_fail(&r->fields, FIL_E_FORMAT,
                                       "%s/%s: entries at row %d, column %d add up to %g; the sum "
                                       "must be finite",
                                       r->part.path, name, out->index[e], j, out->value[e]);
            }
        }
    }
    return FIL_OK;
}

// ---------------------------------------------------------------------------------------- vectors

static FilStatus check_count(const Reader *r, const char *name, int count, int want) {
    if (count == want) {
        return FIL_OK;
    }
    return fil_fields_fail(&r->fields, FIL_E_FORMAT,
                           "%s/%s has %d entries; it must have %d (%d for each of the %d entries "
                           "of mu)",
                           r->vectors.path, name, count, want, r->file->dimension, r->mu.count);
}

static FilStatus read_dimension(const Reader *r) {
    int dimension = 0;
    FIL_TRY(fil_read_int(&r->fields, &r->part, "spacedim", &dimension));
    if (dimension != 2 && dimension != 3) {
        return fil_fields_fail(&r->fields, FIL_E_FORMAT, "%s/spacedim is %d; it must be 2 or 3",
                               r->part.path, dimension);
    }
    r->file->dimension = dimension;
    return FIL_OK;
}

static FilStatus read_contacts(Reader *r, const char *velocity) {
    FIL_TRY(read_dimension(r));
    FIL_TRY(fil_read_reals(&r->fields, &r->vectors, "mu", &r->mu));
    FIL_TRY(fil_read_reals(&r->fields, &r->vectors, velocity, &r->velocity));
    if (r->mu.count > INT_MAX / r->file->dimension) {
        return fil_fields_fail(&r->fields, FIL_E_FORMAT,
                               "%s/mu has %d entries; more than 2^31 unknowns are not supported",
                               r->vectors.path, r->mu.count);
    }
    FIL_TRY(check_count(r, velocity, r->velocity.count, r->file->dimension * r->mu.count));
    for (int k = 0; k < r->mu.count; k++) {
        if (!(r->mu.value[k] >= 0.0)) {
            return fil_fields_fail(&r->fields, FIL_E_FORMAT,
                                   "%s/mu[%d] is %g; it must not be negative", r->vectors.path, k,
                                   r->mu.value[k]);
        }
    }
    return FIL_OK;
}

static FilStatus read_equality(Reader *r, const char *name) {
    FIL_TRY(fil_read_reals(&r->fields, &r->vectors, name, &r->equality));
    if (r->equality.count > INT_MAX - 2 - r->velocity.count) {
        return fil_fields_fail(&r->fields, FIL_E_FORMAT,
                               "%s/%s has %d entries; more than 2^31 unknowns are not supported",
                               r->vectors.path, name, r->equality.count);
    }
    return FIL_OK;
}

// a, then b, in memory to keep.
static const double *join_vectors(const Reader *r, FilReals a, FilReals b) {
    double *joined = FIL_NEW(r->keep, double, (size_t)a.count + (size_t)b.count);
    if (joined != NULL && a.count > 0) {
        memcpy(joined, a.value, (size_t)a.count * sizeof *joined);
    }
    if (joined != NULL && b.count > 0) {
        memcpy(joined + a.count, b.value, (size_t)b.count * sizeof *joined);
    }
    return joined;
}

// Contacts first, then one block for every equality row.
static FilStatus make_blocks(const Reader *r, FilFrictionProblem *problem) {
    const int contacts = r->mu.count, rows = r->equality.count;
    const size_t blocks = (size_t)contacts + (size_t)rows;
    r->file->contact_count = contacts;
    r->file->equality_count = rows;
    problem->block_count = contacts + rows;
    problem->block_size = r->file->dimension;
    double *mu = FIL_NEW_ZEROED(r->keep, double, blocks);
    if (mu != NULL && contacts > 0) {
        memcpy(mu, r->mu.value, (size_t)contacts * sizeof *mu);
    }
    problem->mu = mu;
    if (rows > 0) {
        int *sizes = FIL_NEW(r->keep, int, blocks);
        FilBlockKind *kinds = FIL_NEW(r->keep, FilBlockKind, blocks);
        for (int k = 0; !r->keep->failed && k < contacts + rows; k++) {
            sizes[k] = k < contacts ? r->file->dimension : 1;
            kinds[k] = k < contacts ? FIL_BLOCK_COULOMB : FIL_BLOCK_EQUALITY;
        }
        problem->block_sizes = sizes;
        problem->kinds = kinds;
    }
    return r->keep->failed ? fil_fields_no_memory(&r->fields) : FIL_OK;
}

// ----------------------------------------------------------------------------------------- forms

static FilStatus gather_blocks(const Reader *r, const FilSparse *W, FilFrictionProblem *problem) {
    const int contacts = r->mu.count, d = r->file->dimension, n = problem->block_count;
    int *start = FIL_NEW(r->fields.scratch, int, (size_t)n + 1);
    if (start == NULL) {
        return fil_fields_no_memory(&r->fields);
    }
    for (int k = 0; k <= n; k++) {
        start[k] = k <= contacts ? d * k : d * contacts + (k - contacts);
    }
    if (!fil_block_rows_from_sparse(W, n, start, r->keep, r->fields.scratch, &problem->blocks)) {
        return fil_fields_no_memory(&r->fields);
    }
    return FIL_OK;
}

static FilStatus read_local(Reader *r) {
    FilFrictionProblem *problem = &r->file->problem;
    FIL_TRY(read_contacts(r, "q"));
    const bool joined = fil_group_has(&r->part, "V") || fil_group_has(&r->part, "R") ||
                        fil_group_has(&r->vectors, "s");
    if (joined) {
        FIL_TRY(read_equality(r, "s"));
    }
    const int n = r->velocity.count, p = r->equality.count;
    const char *from_q = "the length of vectors/q", *from_s = "the length of vectors/s";
    FilEntries W = {0}, V = {0}, R = {0}, all = {0};
    FIL_TRY(read_matrix(r, "W", (Shape){n, n, from_q, from_q}, &W));
    if (joined) {
        FIL_TRY(read_matrix(r, "V", (Shape){n, p, from_q, from_s}, &V));
        FIL_TRY(read_matrix(r, "R", (Shape){p, p, from_s, from_s}, &R));
    }
    const Part parts[] = {
        {&W, 0, 0, false}, {&V, 0, n, false}, {&V, n, 0, true}, {&R, n, n, false}};
    FIL_TRY(join_parts(r, n + p, n + p, parts, 4, &all));
    FilSparse sparse = {0};
    FIL_TRY(compress(r, &all, r->fields.scratch, "W", &sparse));
    problem->form = FIL_FORM_BLOCKS;
    FIL_TRY(make_blocks(r, problem));
    FIL_TRY(gather_blocks(r, &sparse, problem));
    problem->b = join_vectors(r, r->velocity, r->equality);
    return r->keep->failed ? fil_fields_no_memory(&r->fields) : FIL_OK;
}

static FilStatus read_global(Reader *r) {
    FilFrictionProblem *problem = &r->file->problem;
    FIL_TRY(read_contacts(r, "w"));
    FIL_TRY(fil_read_reals(&r->fields, &r->vectors, "f", &r->force));
    const bool joined = fil_group_has(&r->part, "G") || fil_group_has(&r->vectors, "b");
    if (joined) {
        FIL_TRY(read_equality(r, "b"));
    }
    const int m = r->force.count, n = r->velocity.count, p = r->equality.count;
    const char *from_f = "the length of vectors/f", *from_w = "the length of vectors/w";
    FilEntries M = {0}, H = {0}, G = {0}, all = {0};
    FIL_TRY(read_matrix(r, "M", (Shape){m, m, from_f, from_f}, &M));
    FIL_TRY(read_matrix(r, "H", (Shape){m, n, from_f, from_w}, &H));
    if (joined) {
        FIL_TRY(read_matrix(r, "G", (Shape){m, p, from_f, "the length of vectors/b"}, &G));
    }
    const Part parts[] = {{&H, 0, 0, false}, {&G, 0, n, false}};
    FIL_TRY(join_parts(r, m, n + p, parts, 2, &all));
    problem->form = FIL_FORM_GLOBAL;
    problem->dof_count = m;
    FIL_TRY(compress(r, &M, r->keep, "M", &problem->global.M));
    FIL_TRY(compress(r, &all, r->keep, "H", &problem->global.H));
    FIL_TRY(make_blocks(r, problem));
    problem->global.f = join_vectors(r, r->force, (FilReals){0});
    problem->global.w = join_vectors(r, r->velocity, r->equality);
    return r->keep->failed ? fil_fields_no_memory(&r->fields) : FIL_OK;
}

// ------------------------------------------------------------- texts, guess and solution; the file

static FilStatus read_texts(const Reader *r) {
    r->file->title = r->file->description = r->file->math_info = "";
    if (!fil_group_has(&r->part, "info")) {
        return FIL_OK;
    }
    FilGroup info = {.id = -1};
    FIL_TRY(fil_group_open(&r->fields, &r->part, "info", &info));
    FilStatus status = fil_read_text(&r->fields, &info, "title", r->keep, &r->file->title);
    if (status == FIL_OK) {
        status = fil_read_text(&r->fields, &info, "description", r->keep, &r->file->description);
    }
    if (status == FIL_OK) {
        status = fil_read_text(&r->fields, &info, "math_info", r->keep, &r->file->math_info);
    }
    fil_group_close(&info);
    return status;
}

// One stored vector, followed by the multipliers `tail` when there are equality rows. What does not
// fit stays NULL: stored solutions are decoration.
static FilStatus read_vector(const Reader *r, const FilGroup *group, const char *name,
                             const char *tail, int count, const double **out) {
    FilFields quiet = r->fields;
    quiet.error = NULL;
    FilReals head = {0}, rest = {0};
    FilStatus status = fil_read_reals(&quiet, group, name, &head);
    if (status == FIL_OK && tail != NULL && r->equality.count > 0) {
        status = fil_read_reals(&quiet, group, tail, &rest);
        if (status == FIL_OK && rest.count != r->equality.count) {
            status = FIL_E_FORMAT;
        }
    }
    if (status == FIL_OK && head.count == count) {
        *out = join_vectors(r, head, rest);
        status = *out != NULL ? FIL_OK : FIL_E_NO_MEMORY;
    }
    return status == FIL_E_NO_MEMORY ? fil_fields_no_memory(&r->fields) : FIL_OK;
}

static FilStatus read_velocities(const Reader *r, const FilGroup *group, const double **out) {
    const double *u = NULL;
    FIL_TRY(read_vector(r, group, "u", NULL, r->velocity.count, &u));
    if (u != NULL) { // zero on the equality rows
        double *padded = FIL_NEW_ZEROED(r->keep, double, count_scalars(r));
        if (padded == NULL) {
            return fil_fields_no_memory(&r->fields);
        }
        if (r->velocity.count > 0) {
            memcpy(padded, u, (size_t)r->velocity.count * sizeof *padded);
        }
        *out = padded;
    }
    return FIL_OK;
}

static FilStatus read_vectors(const Reader *r, const FilGroup *parent, const char *name,
                              FilFclibVectors *out) {
    FilFields quiet = r->fields;
    quiet.error = NULL;
    FilGroup group = {.id = -1};
    if (!fil_group_has(parent, name) || fil_group_open(&quiet, parent, name, &group) != FIL_OK) {
        return FIL_OK;
    }
    FilStatus status = read_vector(r, &group, "r", "l", r->velocity.count, &out->r);
    if (status == FIL_OK) {
        status = read_velocities(r, &group, &out->u);
    }
    if (status == FIL_OK && r->file->problem.form == FIL_FORM_GLOBAL) {
        status = read_vector(r, &group, "v", NULL, r->force.count, &out->v);
    }
    fil_group_close(&group);
    return status;
}

static FilStatus read_guess(const Reader *r) {
    FilFields quiet = r->fields;
    quiet.error = NULL;
    FilGroup guesses = {.id = -1};
    if (!fil_group_has(&r->root, "guesses") ||
        fil_group_open(&quiet, &r->root, "guesses", &guesses) != FIL_OK) {
        return FIL_OK;
    }
    const FilStatus status = read_vectors(r, &guesses, "1", &r->file->guess);
    fil_group_close(&guesses);
    return status;
}

static FilStatus read_file(Reader *r) {
    const bool local = fil_group_has(&r->root, "fclib_local");
    if (!local && !fil_group_has(&r->root, "fclib_global")) {
        return fil_fields_fail(&r->fields, FIL_E_FORMAT,
                               "it holds no friction problem: /fclib_local or /fclib_global is "
                               "missing");
    }
    FIL_TRY(fil_group_open(&r->fields, &r->root, local ? "fclib_local" : "fclib_global", &r->part));
    FIL_TRY(fil_group_open(&r->fields, &r->part, "vectors", &r->vectors));
    FIL_TRY(local ? read_local(r) : read_global(r));
    FIL_TRY(read_texts(r));
    FIL_TRY(read_guess(r));
    return read_vectors(r, &r->root, "solution", &r->file->solution);
}

// `id` is the open file, which is closed here.
static FilStatus read_image(hid_t id, const FilFields *fields, const FilAllocator *allocator,
                            FilFclib **out) {
    FilArena keep = fil_arena_make(allocator);
    Owned *owned = FIL_NEW_ZEROED(&keep, Owned, 1);
    FilStatus status = FIL_OK;
    if (owned == NULL) {
        status = fil_fields_no_memory(fields);
    } else {
        Reader reader = {.fields = *fields,
                         .keep = &keep,
                         .root = {.id = id},
                         .part = {.id = -1},
                         .vectors = {.id = -1},
                         .file = &owned->file};
        status = read_file(&reader);
        fil_group_close(&reader.vectors);
        fil_group_close(&reader.part);
    }
    fil_hdf_close(id);
    if (status == FIL_OK) {
        owned->arena = keep;
        *out = &owned->file;
    } else {
        fil_arena_destroy(&keep);
    }
    return status;
}

static hid_t open_image(const FilFields *fields, const void *bytes) {
    FilHdfReason reason;
    if (!fil_hdf_check(bytes, fields->size, &reason)) {
        (void)fil_fields_fail(fields, FIL_E_FORMAT, "%s", reason.text);
        return -1;
    }
    const hid_t id = fil_hdf_open_image(bytes, fields->size);
    if (id < 0) {
        (void)fil_fields_fail(fields, FIL_E_FORMAT, "HDF5 cannot open it: %s",
                              fil_hdf_reason().text);
    }
    return id;
}

FilStatus fil_fclib_read_memory(const void *bytes, size_t size, const char *name,
                                const FilAllocator *allocator, FilFclib **out, FilError *error) {
    const FilHdfQuiet quiet = fil_hdf_quiet_begin();
    FilArena scratch = fil_arena_make(allocator);
    const FilFields fields = fil_fields_make(name, size, &scratch, error);
    const hid_t id = open_image(&fields, bytes);
    const FilStatus status = id >= 0 ? read_image(id, &fields, allocator, out) : FIL_E_FORMAT;
    fil_arena_destroy(&scratch);
    fil_hdf_quiet_end(quiet);
    return status;
}

static FilStatus fail_io(const FilFields *fields, const char *what) {
    return fil_fields_fail(fields, FIL_E_IO, "%s: %s", what, strerror(errno));
}

// The bytes of a regular file, in scratch memory.
static FilStatus load_file(FilFields *fields, int descriptor, void **bytes) {
    struct stat about;
    if (fstat(descriptor, &about) != 0) {
        return fail_io(fields, "cannot read it");
    }
    if (!S_ISREG(about.st_mode)) {
        return fil_fields_fail(fields, FIL_E_IO, "it is %s, not a file",
                               S_ISDIR(about.st_mode) ? "a folder" : "a device or a pipe");
    }
    fields->size = (size_t)about.st_size;
    char *buffer = FIL_NEW(fields->scratch, char, fields->size);
    if (buffer == NULL) {
        return fil_fields_no_memory(fields);
    }
    for (size_t at = 0; at < fields->size;) {
        const ssize_t got = read(descriptor, buffer + at, fields->size - at);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return fail_io(fields, "cannot read it");
        }
        if (got == 0) { // it shrank meanwhile
            fields->size = at;
        }
        at += (size_t)got;
    }
    *bytes = buffer;
    return FIL_OK;
}

FilStatus fil_fclib_read(const char *path, const FilAllocator *allocator, FilFclib **out,
                         FilError *error) {
    FilArena file_memory = fil_arena_make(allocator), scratch = fil_arena_make(allocator);
    FilFields fields = fil_fields_make(path, 0, &file_memory, error);
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) {
        return fail_io(&fields, "cannot open it");
    }
    const FilHdfQuiet quiet = fil_hdf_quiet_begin();
    void *bytes = NULL;
    FilStatus status = load_file(&fields, descriptor, &bytes);
    (void)close(descriptor);
    if (bytes != NULL) {
        const hid_t id = open_image(&fields, bytes);
        fil_arena_destroy(&file_memory); // HDF5 has its own copy now
        fields.scratch = &scratch;
        status = id >= 0 ? read_image(id, &fields, allocator, out) : FIL_E_FORMAT;
    }
    fil_arena_destroy(&file_memory);
    fil_arena_destroy(&scratch);
    fil_hdf_quiet_end(quiet);
    return status;
}

void fil_fclib_destroy(FilFclib *file) {
    if (file != NULL) {
        FilArena arena = ((Owned *)file)->arena; // the block itself lies in it
        fil_arena_destroy(&arena);
    }
}
