// Files that are right are read to the same numbers in every layout, by us and by libfclib; what
// cannot be read or written leaves nothing behind.
#define _XOPEN_SOURCE 700 // NOLINT(bugprone-reserved-identifier)
#include "fclib_file.h"

#include "io/atomic.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(FIL_HAVE_FCLIB)
#include <fclib.h>
#endif

// ------------------------------------------------------------------------------------------- tests

static bool is_same_file(const FilFclib *a, const FilFclib *b) {
    return same_problem(&a->problem, &b->problem) && same_vectors(a, &a->guess, &b->guess) &&
           same_vectors(a, &a->solution, &b->solution) && strcmp(a->title, b->title) == 0 &&
           strcmp(a->math_info, b->math_info) == 0 && strcmp(a->description, b->description) == 0;
}

static void a_problem_survives_writing_and_reading(void) {
    FilRandom random = fil_random_make(1);
    for (int round = 0; round < 40; round++) {
        FilArena arena = fil_arena_make(NULL);
        const int d = 2 + round % 2, p = round % 3 == 0 ? 0 : 1 + fil_random_int(&random, 5);
        const int contacts = fil_random_int(&random, 4);
        FilFclib file = round % 4 < 2 ? make_local(&arena, &random, d, contacts, p)
                                      : make_global(&arena, &random, d, contacts, p);
        file.dimension = d;
        FilError error;
        FilFclib *got = read_image(write_image(&arena, &file), &error);
        CHECK(got != NULL && is_same_file(&file, got));
        CHECK(got != NULL && got->dimension == d && got->contact_count == contacts);
        CHECK(got != NULL && got->equality_count == p);
        fil_fclib_destroy(got);
        fil_arena_destroy(&arena);
    }
}

static void the_same_problem_gives_the_same_bytes(void) {
    FilArena arena = fil_arena_make(NULL);
    const FilFclib file = make_two_contacts();
    const Image a = write_image(&arena, &file), b = write_image(&arena, &file);
    CHECK(a.size == b.size && memcmp(a.bytes, b.bytes, a.size) == 0);
    fil_arena_destroy(&arena);
}

// Equality blocks of any size come back as rows of size 1; compliance becomes part of W.
static void blocks_become_what_the_layout_can_say(void) {
    static const double W[16] = {1, 0, 3, 4, 0, 2, 5, 6, 3, 5, 8, 1, 4, 6, 1, 9};
    static const double C[8] = {10, 1, 1, 10, 100, 2, 2, 100}, b[4] = {1, 2, 3, 4};
    static const double blocks[16] = {1, 0, 0, 2, 3, 4, 5, 6, 3, 5, 4, 6, 8, 1, 1, 9};
    const FilFclib file = {
        .problem = {.block_count = 2,
                    .block_size = 2,
                    .kinds = (FilBlockKind[]){FIL_BLOCK_COULOMB, FIL_BLOCK_EQUALITY},
                    .mu = (double[]){0.3, 0},
                    .form = FIL_FORM_BLOCKS,
                    .blocks = {two_start, two_column, blocks},
                    .b = b,
                    .compliance = C}};
    FilArena arena = fil_arena_make(NULL);
    FilError error;
    FilFclib *got = read_image(write_image(&arena, &file), &error);
    CHECK(got != NULL && got->equality_count == 2 && got->problem.block_count == 3);
    if (got != NULL) {
        const double want[16] = {11, 1, 1,   12, 3, 5, 4, 6, // W_00 + C, the columns of V
                                 3,  5, 108, 3,  4, 6, 3, 109};
        CHECK(same_reals(got->problem.blocks.value, want, 16));
        CHECK(same_reals(got->problem.b, b, 4) && W[0] == 1);
    }
    fil_fclib_destroy(got);
    fil_arena_destroy(&arena);
}

// W by rows, and as triplets either way round, with an entry in two parts, is the same W.
static void every_layout_of_a_matrix_is_read_alike(void) {
    FilArena arena = fil_arena_make(NULL);
    const FilFclib file = make_two_contacts();
    const Image image = write_image(&arena, &file);
    // W is symmetric: the same arrays serve by rows
    const Edit by_rows = {"/fclib_local/W/nz", SET, 0, -2, NULL};
    FilError error;
    FilFclib *got = read_image(edit_image(&arena, image, &by_rows, 1), &error);
    CHECK(got != NULL && same_problem(&got->problem, &file.problem));
    fil_fclib_destroy(got);
    // triplets: 10 entries by columns; entry 0 (2 at 0, 0) is split into 1.5 and 0.5
    static const int row[] = {0, 3, 1, 2, 5, 0, 3, 4, 3, 4, 2, 5, 0};
    static const int column[] = {0, 0, 1, 2, 2, 3, 3, 3, 4, 4, 5, 5, 0};
    Edit edits[80] = {
        {"/fclib_local/W/nz", SET, 0, 13, NULL},   {"/fclib_local/W/nzmax", SET, 0, 13, NULL},
        {"/fclib_local/W/x", SET, 0, 1.5, NULL},   {"/fclib_local/W/x", RESIZE, 13, 0.5, NULL},
        {"/fclib_local/W/i", RESIZE, 13, 0, NULL}, {"/fclib_local/W/p", RESIZE, 13, 0, NULL}};
    int count = 6;
    for (int k = 0; k < 13; k++) {
        edits[count++] = (Edit){"/fclib_local/W/i", SET, k, row[k], NULL};
        edits[count++] = (Edit){"/fclib_local/W/p", SET, k, column[k], NULL};
    }
    got = read_image(edit_image(&arena, image, edits, count), &error);
    CHECK(got != NULL && same_problem(&got->problem, &file.problem));
    fil_fclib_destroy(got);
    fil_arena_destroy(&arena);
}

// H is 7 x 6: triplets whose `i` reaches 6 can only be rows; if `p` does, it holds the rows.
static void triplets_are_read_the_way_that_fits(void) {
    FilArena arena = fil_arena_make(NULL);
    FilRandom random = fil_random_make(2);
    FilFclib file = make_global(&arena, &random, 3, 2, 0);
    static const int start[] = {0, 1, 1, 2, 2, 2, 3}, index[] = {6, 0, 5};
    static const double value[] = {1, 2, 3};
    file.problem.global.H = (FilSparse){7, 6, start, index, value};
    const Image image = write_image(&arena, &file);
    static const int column[] = {0, 2, 5};
    for (int reversed = 0; reversed < 2; reversed++) {
        Edit edits[10] = {{"/fclib_global/H/nz", SET, 0, 3, NULL},
                          {"/fclib_global/H/p", RESIZE, 3, 0, NULL}};
        for (int k = 0; k < 3; k++) {
            edits[2 + 2 * k] =
                (Edit){"/fclib_global/H/i", SET, k, reversed ? column[k] : index[k], NULL};
            edits[3 + 2 * k] =
                (Edit){"/fclib_global/H/p", SET, k, reversed ? index[k] : column[k], NULL};
        }
        FilError error;
        FilFclib *got = read_image(edit_image(&arena, image, edits, 8), &error);
        CHECK(got != NULL && same_problem(&got->problem, &file.problem));
        fil_fclib_destroy(got);
    }
    fil_arena_destroy(&arena);
}

static void harmless_differences_are_accepted(void) {
    static const Edit edits[] = {
        {"/fclib_local/W/i", AS_WIDE, 0, 0, NULL},  {"/fclib_local/spacedim", AS_WIDE, 0, 3, NULL},
        {"/fclib_local/W/x", CHUNKED, 0, 0, NULL},  {"/fclib_local/W/p", CHUNKED, 0, 0, NULL},
        {"/fclib_local/W/x", RESIZE, 40, 0, NULL}, // more room than entries
        {"/fclib_local/W/i", RESIZE, 40, -7, NULL}, {"/fclib_local/W/nzmax", SET, 0, 1000, NULL},
        {"/fclib_local/info", REMOVE, 0, 0, NULL},  {"/fclib_local/info/title", REMOVE, 0, 0, NULL},
    };
    const FilFclib file = make_two_contacts();
    CHECK_EDITS(file, edits);
}

// A stored solution is decoration: when it does not fit, it is as if it were not there.
static void a_stored_solution_that_does_not_fit_is_ignored(void) {
    static const Edit edits[] = {
        {"/solution/r", RESIZE, 5, 0, NULL},  {"/solution/u", SET, 1, NAN, NULL},
        {"/solution/r", AS_TEXT, 0, 0, NULL}, {"/guesses/1/r", AS_GROUP, 0, 0, NULL},
        {"/guesses/1", REMOVE, 0, 0, NULL},   {"/solution", OUTSIDE, 0, 0, NULL},
    };
    FilArena arena = fil_arena_make(NULL);
    FilRandom random = fil_random_make(3);
    const FilFclib file = make_local(&arena, &random, 3, 3, 2);
    CHECK_EDITS(file, edits);
    fil_arena_destroy(&arena);
}

// ---------------------------------------------------------------------------------- files on disk

static char folder[] = "/tmp/filum-test-fclib-XXXXXX";

static const char *path_in_folder(const char *name) {
    static char path[200];
    static bool made;
    if (!made) {
        made = mkdtemp(folder) != NULL;
    }
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int count_files(void) {
    int count = 0;
    DIR *open_folder = opendir(folder);
    for (struct dirent *entry = NULL; open_folder != NULL && (entry = readdir(open_folder));) {
        count += entry->d_name[0] != '.';
    }
    if (open_folder != NULL) {
        (void)closedir(open_folder);
    }
    return count;
}

static void a_file_is_written_once_unless_forced(void) {
    const char *path = path_in_folder("once.hdf5");
    FilFclib file = make_two_contacts(), *got = NULL;
    FilError error;
    CHECK(fil_fclib_write(path, &file, false, &error) == FIL_OK);
    CHECK(fil_fclib_write(path, &file, false, &error) == FIL_E_IO);
    CHECK(strstr(error.text, "once.hdf5 exists already") != NULL);
    file.title = "newer";
    CHECK(fil_fclib_write(path, &file, true, &error) == FIL_OK);
    CHECK(fil_fclib_read(path, NULL, &got, &error) == FIL_OK);
    CHECK(got != NULL && strcmp(got->title, "newer") == 0);
    CHECK(got != NULL && same_problem(&got->problem, &file.problem));
    fil_fclib_destroy(got);
    CHECK(count_files() == 1);
    (void)unlink(path);
}

static void what_cannot_be_read_is_said(void) {
    FilFclib *got = NULL;
    FilError error;
    CHECK(fil_fclib_read(path_in_folder("none.hdf5"), NULL, &got, &error) == FIL_E_IO);
    CHECK(strstr(error.text, "none.hdf5: cannot open it: No such file or directory") != NULL);
    CHECK(fil_fclib_read(folder, NULL, &got, &error) == FIL_E_IO);
    CHECK(strstr(error.text, "it is a folder, not a file") != NULL);
    CHECK(fil_fclib_read("/dev/zero", NULL, &got, &error) == FIL_E_IO);
    CHECK(fil_fclib_read("/dev/zero", NULL, &got, NULL) == FIL_E_IO);
    CHECK(got == NULL);
}

// A full disk, played by a limit on the size of files.
static void a_write_that_fails_leaves_nothing_behind(void) {
    const FilFclib file = make_two_contacts();
    FilError error;
    CHECK(fil_fclib_write(path_in_folder("no/such.hdf5"), &file, true, &error) == FIL_E_IO);
    CHECK(strstr(error.text, "No such file or directory") != NULL);
    CHECK(fil_fclib_write(folder, &file, true, &error) == FIL_E_IO);
    CHECK(strstr(error.text, "is not a regular file") != NULL);
    CHECK(fil_fclib_write("/dev/full", &file, true, &error) == FIL_E_IO);
    struct rlimit before, small;
    (void)getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 1000;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    (void)setrlimit(RLIMIT_FSIZE, &small);
    const FilStatus status = fil_fclib_write(path_in_folder("big.hdf5"), &file, true, &error);
    (void)setrlimit(RLIMIT_FSIZE, &before);
    (void)signal(SIGXFSZ, handler);
    CHECK(status == FIL_E_IO);
    CHECK(strstr(error.text, "big.hdf5: cannot write it: File too large") != NULL);
    CHECK(count_files() == 0);
}

static void what_the_layout_cannot_hold_is_refused(void) {
    FilArena arena = fil_arena_make(NULL);
    FilRandom random = fil_random_make(5);
    void *bytes = NULL;
    size_t size = 0;
    FilError error;
    FilFclib file = make_two_contacts();
    file.problem.kinds = (FilBlockKind[]){FIL_BLOCK_EQUALITY, FIL_BLOCK_COULOMB};
    CHECK(fil_fclib_write_memory(&file, &arena, &bytes, &size, &error) == FIL_E_ARGUMENT);
    CHECK(strncmp(error.text, "block 1 is of kind", 18) == 0);
    file = make_two_contacts();
    file.problem.block_sizes = (int[]){3, 2};
    CHECK(fil_fclib_write_memory(&file, &arena, &bytes, &size, &error) == FIL_E_ARGUMENT);
    CHECK(strncmp(error.text, "block 1 has size 2", 18) == 0);
    file = make_local(&arena, &random, 3, 2, 1);
    ((double *)file.problem.blocks.value)[20] += 1.0; // one entry of V, not its mirror
    CHECK(fil_fclib_write_memory(&file, &arena, &bytes, &size, &error) == FIL_E_ARGUMENT);
    CHECK(strncmp(error.text, "W couples contacts and equality blocks unsymmetrically", 54) == 0);
    file = make_global(&arena, &random, 3, 2, 1);
    file.problem.compliance = draw(&arena, &random, 19, 0.0);
    CHECK(fil_fclib_write_memory(&file, &arena, &bytes, &size, &error) == FIL_E_ARGUMENT);
    CHECK(bytes == NULL);
    fil_arena_destroy(&arena);
}

static herr_t count_calls(hid_t stack, void *data) {
    (void)stack;
    ++*(int *)data;
    return 0;
}

static void hdf5_keeps_its_own_error_handler(void) {
    int calls = 0;
    H5E_auto2_t before = NULL, after = NULL;
    void *data = NULL, *data_after = NULL;
    (void)H5Eget_auto2(H5E_DEFAULT, &before, &data);
    (void)H5Eset_auto2(H5E_DEFAULT, count_calls, &calls);
    FilError error;
    CHECK(read_image((Image){"\211HDF\r\n\032\n and then nothing", 25}, &error) == NULL);
    CHECK(calls == 0);
    (void)H5Eget_auto2(H5E_DEFAULT, &after, &data_after);
    CHECK(after == count_calls && data_after == &calls);
    (void)H5Eset_auto2(H5E_DEFAULT, before, data);
}

// ------------------------------------------------------------------------------------- allocations

typedef struct Counter {
    int left;  // allocations that still succeed
    long live; // bytes not given back
} Counter;

static void *count_resize(void *user, void *block, size_t old_size, size_t new_size) {
    Counter *counter = user;
    if (new_size > old_size && counter->left-- <= 0) {
        return NULL;
    }
    counter->live += (long)new_size - (long)old_size;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, new_size);
}

// Fail the 1st, 2nd, ... allocation until the call succeeds; nothing stays behind.
static void check_reading_without_memory(const char *path) {
    FilStatus status = FIL_E_NO_MEMORY;
    int fail_at = 0;
    for (; status != FIL_OK && fail_at < 100; fail_at++) {
        Counter counter = {.left = fail_at};
        const FilAllocator allocator = {count_resize, &counter};
        FilFclib *got = NULL;
        FilError error = {0};
        status = fil_fclib_read(path, &allocator, &got, &error);
        CHECK((status == FIL_OK) == (got != NULL));
        CHECK(status == FIL_OK || (status == FIL_E_NO_MEMORY &&
                                   strstr(error.text, ".hdf5: there is not enough") != NULL));
        fil_fclib_destroy(got);
        CHECK(counter.live == 0);
    }
    CHECK(status == FIL_OK && fail_at > 5);
}

static void check_writing_without_memory(const FilFclib *file) {
    FilStatus status = FIL_E_NO_MEMORY;
    int fail_at = 0;
    for (; status != FIL_OK && fail_at < 100; fail_at++) {
        Counter counter = {.left = fail_at};
        FilArena limited = fil_arena_make(&(FilAllocator){count_resize, &counter});
        Image out = {0};
        status = fil_fclib_write_memory(file, &limited, &out.bytes, &out.size, NULL);
        CHECK(status == FIL_OK || status == FIL_E_NO_MEMORY);
        fil_arena_destroy(&limited);
        CHECK(counter.live == 0);
    }
    CHECK(status == FIL_OK && fail_at > 2);
}

// Problems large enough that the arenas need many chunks.
static void every_allocation_may_fail(void) {
    for (int form = 0; form < 2; form++) {
        FilArena arena = fil_arena_make(NULL);
        FilRandom random = fil_random_make(6);
        const FilFclib file = form == 0 ? make_local(&arena, &random, 3, 60, 3)
                                        : make_global(&arena, &random, 3, 900, 40);
        const char *path = path_in_folder("memory.hdf5");
        CHECK(fil_fclib_write(path, &file, false, NULL) == FIL_OK);
        check_reading_without_memory(path);
        check_writing_without_memory(&file);
        (void)unlink(path);
        fil_arena_destroy(&arena);
    }
}

// --------------------------------------------------------------------------------------- libfclib

#if defined(FIL_HAVE_FCLIB)

// Entry (row, column) of FCLIB's matrix, whatever its layout, summed.
static double look_up(const struct fclib_matrix *matrix, int row, int column) {
    double sum = 0.0;
    if (matrix->nz >= 0) {
        for (int e = 0; e < matrix->nz; e++) {
            sum += matrix->i[e] == row && matrix->p[e] == column ? matrix->x[e] : 0.0;
        }
        return sum;
    }
    const int line = matrix->nz == -1 ? column : row, other = matrix->nz == -1 ? row : column;
    for (int e = matrix->p[line]; e < matrix->p[line + 1]; e++) {
        sum += matrix->i[e] == other ? matrix->x[e] : 0.0;
    }
    return sum;
}

static bool agrees_with_blocks(const FilFclib *file, const struct fclib_local *local) {
    const FilFrictionProblem *problem = &file->problem;
    const int n = file->dimension * file->contact_count, d = file->dimension;
    const double *value = problem->blocks.value;
    double total = 0.0, seen = 0.0;
    bool same =
        local->W->m == n && same_reals(problem->mu, local->mu, file->contact_count) &&
        same_reals(problem->b, local->q, n) &&
        (file->equality_count == 0 || same_reals(problem->b + n, local->s, file->equality_count));
    for (int i = 0; i < problem->block_count; i++) {
        for (int e = problem->blocks.start[i]; e < problem->blocks.start[i + 1]; e++) {
            const int j = problem->blocks.column[e];
            const bool up = i < file->contact_count, left = j < file->contact_count;
            const int height = up ? d : 1, width = left ? d : 1;
            const int row = up ? d * i : i - file->contact_count;
            const int column = left ? d * j : j - file->contact_count;
            for (int k = 0; k < height * width; k++, value++) {
                const int a = row + k / width, b = column + k % width;
                const double want = up && left ? look_up(local->W, a, b)
                                    : up       ? look_up(local->V, a, b)
                                    : left     ? look_up(local->V, b, a)
                                               : look_up(local->R, a, b);
                same = same && want == *value;
                seen += up && left ? fabs(*value) : 0.0;
            }
        }
    }
    const int count =
        local->W->nz >= 0 ? local->W->nz : local->W->p[local->W->nz == -1 ? n : local->W->m];
    for (int e = 0; e < count; e++) { // nothing of W is left out
        total += fabs(local->W->x[e]);
    }
    return same && fabs(total - seen) <= 1e-9 * total;
}

static bool agrees_with_columns(const FilSparse *matrix, int first,
                                const struct fclib_matrix *want) {
    bool same = matrix->row_count == want->m;
    for (int j = 0; same && j < want->n; j++) {
        for (int i = 0, e = matrix->start[first + j]; i < want->m; i++) {
            const bool stored = e < matrix->start[first + j + 1] && matrix->index[e] == i;
            same = same && look_up(want, i, j) == (stored ? matrix->value[e] : 0.0);
            e += stored;
        }
    }
    return same;
}

static bool agrees_with_global(const FilFclib *file, const struct fclib_global *global) {
    const FilGlobalForm *form = &file->problem.global;
    const int n = file->dimension * file->contact_count;
    return agrees_with_columns(&form->M, 0, global->M) &&
           agrees_with_columns(&form->H, 0, global->H) &&
           (file->equality_count == 0 ||
            (agrees_with_columns(&form->H, n, global->G) &&
             same_reals(form->w + n, global->b, file->equality_count))) &&
           same_reals(form->f, global->f, form->M.row_count) && same_reals(form->w, global->w, n) &&
           same_reals(file->problem.mu, global->mu, file->contact_count);
}

// Whether libfclib finds in the file the numbers that we found.
static bool libfclib_agrees(const char *path, const FilFclib *file) {
    bool same = false;
    if (file->problem.form == FIL_FORM_GLOBAL) {
        struct fclib_global *global = fclib_read_global(path);
        same = global != NULL && global->spacedim == file->dimension &&
               agrees_with_global(file, global);
        fclib_delete_global(global);
        free(global);
    } else {
        struct fclib_local *local = fclib_read_local(path);
        same = local != NULL && local->spacedim == file->dimension && local->info != NULL &&
               strcmp(local->info->title, file->title) == 0 && agrees_with_blocks(file, local);
        fclib_delete_local(local);
        free(local);
    }
    return same;
}

static void libfclib_reads_what_we_write(void) {
    FilRandom random = fil_random_make(7);
    for (int round = 0; round < 12; round++) {
        FilArena arena = fil_arena_make(NULL);
        const int d = 2 + round % 2, p = round % 3, contacts = 1 + fil_random_int(&random, 3);
        const bool local = round % 4 < 2;
        const FilFclib file = local ? make_local(&arena, &random, d, contacts, p)
                                    : make_global(&arena, &random, d, contacts, p);
        const char *path = path_in_folder("ours.hdf5");
        FilError error;
        FilFclib *got = NULL;
        CHECK(fil_fclib_write(path, &file, true, &error) == FIL_OK);
        CHECK(fil_fclib_read(path, NULL, &got, &error) == FIL_OK);
        CHECK(got != NULL && libfclib_agrees(path, got));
        struct fclib_solution *solution = fclib_read_solution(path);
        const int n = d * contacts;
        CHECK(solution != NULL && same_reals(solution->u, file.solution.u, n) &&
              same_reals(solution->r, file.solution.r, n) &&
              (local || same_reals(solution->v, file.solution.v, 7)) &&
              (p == 0 || same_reals(solution->l, file.solution.r + n, p)));
        int guess_count = 0;
        struct fclib_solution *guesses = fclib_read_guesses(path, &guess_count);
        CHECK(guess_count == 1 && same_reals(guesses->r, file.guess.r, n));
        fclib_delete_solutions(solution, 1);
        fclib_delete_solutions(guesses, guess_count);
        fil_fclib_destroy(got);
        (void)unlink(path);
        fil_arena_destroy(&arena);
    }
}

// The same matrix in libfclib's three layouts; entry (2, 0) is there twice in the triplets.
static void we_read_what_libfclib_writes(void) {
    int p_compressed[] = {0, 2, 3, 5, 6, 7, 9}, i_compressed[] = {0, 2, 1, 2, 5, 3, 4, 0, 5};
    double x_compressed[] = {2, 7, 3, 4, 9, 5, 6, 1, 8};
    int p_triplet[] = {0, 0, 0, 1, 2, 2, 3, 4, 5, 5}, i_triplet[] = {0, 2, 2, 1, 2, 5, 3, 4, 0, 5};
    double x_triplet[] = {2, 3, 4, 3, 4, 9, 5, 6, 1, 8};
    struct fclib_matrix layouts[] = {{9, 6, 6, p_compressed, i_compressed, x_compressed, -1, NULL},
                                     {9, 6, 6, p_compressed, i_compressed, x_compressed, -2, NULL},
                                     {10, 6, 6, p_triplet, i_triplet, x_triplet, 10, NULL}};
    double mu[] = {.5, .25}, q[] = {1, 2, 3, 4, 5, 6};
    struct fclib_info info = {"theirs", "by libfclib", "none"};
    double u[] = {1, 2, 3, 4, 5, 6}, r[] = {6, 5, 4, 3, 2, 1};
    for (int k = 0; k < 3; k++) {
        struct fclib_local local = {
            .W = &layouts[k], .mu = mu, .q = q, .spacedim = 3, .info = &info};
        struct fclib_solution solution = {.u = u, .r = r};
        const char *path = path_in_folder("theirs.hdf5");
        CHECK(fclib_write_local(&local, path) == 1);
        CHECK(fclib_write_solution(&solution, path) == 1);
        FilFclib *got = NULL;
        FilError error = {0};
        CHECK(fil_fclib_read(path, NULL, &got, &error) == FIL_OK);
        CHECK(got != NULL && libfclib_agrees(path, got));
        CHECK(got != NULL && strcmp(got->description, "by libfclib") == 0);
        CHECK(got != NULL && same_reals(got->solution.r, r, 6) &&
              same_reals(got->solution.u, u, 6));
        fil_fclib_destroy(got);
        (void)unlink(path);
    }
}

#else

static void libfclib_reads_what_we_write(void) {
    CHECK_SKIP("libfclib-dev is not installed");
}

static void we_read_what_libfclib_writes(void) {
    CHECK_SKIP("libfclib-dev is not installed");
}

#endif

// --------------------------------------------------------------------------------- public problems

static void check_public_file(const char *path) {
    FilFclib *got = NULL, *again = NULL;
    FilError error = {0};
    CHECK(fil_fclib_read(path, NULL, &got, &error) == FIL_OK);
    if (got == NULL) {
        (void)fprintf(stderr, "%s\n", error.text);
        return;
    }
    CHECK(got->dimension == 3 && got->contact_count > 0);
#if defined(FIL_HAVE_FCLIB)
    CHECK(libfclib_agrees(path, got));
#endif
    const char *copy = path_in_folder("copy.hdf5");
    CHECK(fil_fclib_write(copy, got, false, &error) == FIL_OK);
    CHECK(fil_fclib_read(copy, NULL, &again, &error) == FIL_OK);
    CHECK(again != NULL && same_problem(&got->problem, &again->problem));
    // a dataset that was never stored is no solution
    CHECK(got->solution.r == NULL || same_vectors(got, &got->solution, &again->solution));
    (void)unlink(copy);
    fil_fclib_destroy(got);
    fil_fclib_destroy(again);
}

static void public_problems_are_read_and_written_alike(void) {
    const char *problems = getenv("FILUM_PROBLEMS");
    DIR *open_folder = problems != NULL ? opendir(problems) : NULL;
    if (open_folder == NULL) {
        CHECK_SKIP("FILUM_PROBLEMS names no folder");
    }
    int count = 0;
    for (struct dirent *entry = NULL; (entry = readdir(open_folder)) != NULL;) {
        const char *dot = strrchr(entry->d_name, '.');
        if (dot != NULL && strcmp(dot, ".hdf5") == 0) {
            char path[1024];
            (void)snprintf(path, sizeof path, "%s/%s", problems, entry->d_name);
            check_public_file(path);
            count++;
        }
    }
    (void)closedir(open_folder);
    CHECK(count > 0);
}

static void the_folder_of_the_tests_is_empty_again(void) {
    CHECK(count_files() == 0);
    (void)rmdir(folder);
}

#define TESTS(X)                                      \
    X(a_problem_survives_writing_and_reading)         \
    X(the_same_problem_gives_the_same_bytes)          \
    X(blocks_become_what_the_layout_can_say)          \
    X(every_layout_of_a_matrix_is_read_alike)         \
    X(triplets_are_read_the_way_that_fits)            \
    X(harmless_differences_are_accepted)              \
    X(a_stored_solution_that_does_not_fit_is_ignored) \
    X(a_file_is_written_once_unless_forced)           \
    X(what_cannot_be_read_is_said)                    \
    X(a_write_that_fails_leaves_nothing_behind)       \
    X(what_the_layout_cannot_hold_is_refused)         \
    X(hdf5_keeps_its_own_error_handler)               \
    X(every_allocation_may_fail)                      \
    X(libfclib_reads_what_we_write)                   \
    X(we_read_what_libfclib_writes)                   \
    X(public_problems_are_read_and_written_alike)     \
    X(the_folder_of_the_tests_is_empty_again)

CHECK_MAIN(TESTS)
