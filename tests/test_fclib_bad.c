// Files that are wrong are refused with a sentence that names file, field, value and rule.
#include "fclib_file.h"

// What no file can do without: removed, it is named.
static void check_needed(const FilFclib *file, const char *const *paths) {
    for (int k = 0; paths[k] != NULL; k++) {
        const Edit edit = {paths[k], REMOVE, 0, 0, " is missing"};
        check_edits(file, &edit, 1);
    }
}

static const char *const local_needs[] = {"/fclib_local/vectors",
                                          "/fclib_local/spacedim",
                                          "/fclib_local/vectors/mu",
                                          "/fclib_local/vectors/q",
                                          "/fclib_local/W",
                                          "/fclib_local/W/m",
                                          "/fclib_local/W/n",
                                          "/fclib_local/W/nz",
                                          "/fclib_local/W/nzmax",
                                          "/fclib_local/W/p",
                                          "/fclib_local/W/i",
                                          "/fclib_local/W/x",
                                          NULL};

static const Edit local_faults[] = {
    {"/fclib_local", REMOVE, 0, 0,
     "it holds no friction problem: /fclib_local or /fclib_global is missing"},
    {"/fclib_local/W/x", AS_GROUP, 0, 0, " must be a dataset"},
    {"/fclib_local/W", AS_TEXT, 0, 0, " must be a group"},
    {"/fclib_local/vectors/q", AS_TEXT, 0, 0, " has the wrong type; it must hold real numbers"},
    {"/fclib_local/W/i", AS_REALS, 0, 0, " has the wrong type; it must hold integers"},
    {"/fclib_local/info/title", AS_GROUP, 0, 0, " must be a dataset"},
    {"/fclib_local/vectors/q", AS_TABLE, 0, 0, " has 2 dimensions; it must be a plain list"},
    {"/fclib_local/vectors/q", SOFT, 0, 0,
     " is a link to another place; it must be in the file itself"},
    {"/fclib_local/W", OUTSIDE, 0, 0, " is a link to another place; it must be in the file itself"},
    {"/fclib_local/vectors/q", EXTERNAL, 0, 0,
     " is stored in a way that is not supported; it must be in the file itself, contiguous or in "
     "chunks"},
    {"/fclib_local/W/x", PROMISE, 0, 0,
     " promises 8589934592 bytes; the file holds only 0 of them"},
    {"/fclib_local/vectors/mu", LATE, 0, 0, " promises 16 bytes; the file holds only 0 of them"},
    {"/fclib_local/spacedim", SET, 0, 4, " is 4; it must be 2 or 3"},
    {"/fclib_local/spacedim", SET, 0, -3, " is -3; it must be 2 or 3"},
    {"/fclib_local/spacedim", RESIZE, 2, 3, " has 2 entries; it must have 1"},
    {"/fclib_local/vectors/q", RESIZE, 5, 0,
     " has 5 entries; it must have 6 (3 for each of the 2 entries of mu)"},
    {"/fclib_local/vectors/mu", RESIZE, 3, 0,
     "/fclib_local/vectors/q has 6 entries; it must have 9 (3 for each of the 3 entries of mu)"},
    {"/fclib_local/vectors/mu", SET, 1, -0.25, "[1] is -0.25; it must not be negative"},
    {"/fclib_local/vectors/mu", SET, 1, INFINITY, "[1] is inf; it must be finite"},
    {"/fclib_local/vectors/q", SET, 5, NAN, "[5] is nan; it must be finite"},
    {"/fclib_local/W/x", SET, 3, -INFINITY, "[3] is -inf; it must be finite"},
    {"/fclib_local/W/m", SET, 0, 7, " is 7; it must be 6 (the length of vectors/q)"},
    {"/fclib_local/W/n", SET, 0, -6, " is -6; it must be 6 (the length of vectors/q)"},
    {"/fclib_local/W/m", SET, 0, 2147483647,
     " is 2147483647; it must be 6 (the length of vectors/q)"},
    {"/fclib_local/W/nz", SET, 0, -3,
     " is -3; it must be -1 (by columns), -2 (by rows) or the number of triplets"},
    {"/fclib_local/W/nz", SET, 0, 2000000000,
     "/fclib_local/W/i has 12 entries; it must have at least 2000000000 (nz)"},
    {"/fclib_local/W/nzmax", SET, 0, 3, " is 3; it must be at least 12, the number of entries"},
    {"/fclib_local/W/i", SET, 7, 900, "[7] is 900; it must be below 6 (/fclib_local/W has 6 rows)"},
    {"/fclib_local/W/i", SET, 0, -1, "[0] is -1; it must not be negative"},
    {"/fclib_local/W/i", AS_WIDE, 2, 9e9, "[2] is 9000000000; it must fit in 32 bits"},
    {"/fclib_local/W/p", SET, 0, 1, "[0] is 1; it must be 0"},
    {"/fclib_local/W/p", SET, 2, 0, "[2] is 0; it must not be below p[1], which is 2"},
    {"/fclib_local/W/p", SET, 6, 99,
     "/fclib_local/W/i has 12 entries; it must have at least 99 (the last entry of p)"},
    {"/fclib_local/W/p", RESIZE, 6, 0,
     " has 6 entries; it must have 7 (one more than /fclib_local/W has columns)"},
    {"/fclib_local/W/i", RESIZE, 11, 0,
     " has 11 entries; it must have at least 12 (the last entry of p)"},
    {"/fclib_local/W/x", RESIZE, 11, 0,
     " has 11 entries; it must have at least 12 (the number of entries)"},
};

static void every_fault_of_a_local_file_has_its_sentence(void) {
    const FilFclib file = make_two_contacts();
    check_needed(&file, local_needs);
    CHECK_EDITS(file, local_faults);
}

static void every_fault_of_equality_rows_and_global_files_has_its_sentence(void) {
    FilArena arena = fil_arena_make(NULL);
    FilRandom random = fil_random_make(4);
    static const char *const rows_need[] = {"/fclib_local/V", "/fclib_local/R",
                                            "/fclib_local/vectors/s", NULL};
    static const Edit local[] = {
        {"/fclib_local/vectors/s", RESIZE, 3, 0,
         "/fclib_local/V/n is 2; it must be 3 (the length of vectors/s)"},
        {"/fclib_local/R/m", SET, 0, 9, " is 9; it must be 2 (the length of vectors/s)"},
    };
    const FilFclib with_rows = make_local(&arena, &random, 3, 2, 2);
    check_needed(&with_rows, rows_need);
    CHECK_EDITS(with_rows, local);
    static const char *const global_needs[] = {"/fclib_global/M",         "/fclib_global/H",
                                               "/fclib_global/G",         "/fclib_global/vectors/b",
                                               "/fclib_global/vectors/f", NULL};
    static const Edit global[] = {
        {"/fclib_global/vectors/f", RESIZE, 8, 0,
         "/fclib_global/M/m is 7; it must be 8 (the length of vectors/f)"},
        {"/fclib_global/vectors/w", RESIZE, 8, 0,
         " has 8 entries; it must have 6 (3 for each of the 2 entries of mu)"},
        {"/fclib_global/H/n", SET, 0, 5, " is 5; it must be 6 (the length of vectors/w)"},
        {"/fclib_global/G/m", SET, 0, 5, " is 5; it must be 7 (the length of vectors/f)"},
        {"/fclib_global/vectors/f", SET, 0, NAN, "[0] is nan; it must be finite"},
    };
    const FilFclib whole = make_global(&arena, &random, 3, 2, 1);
    check_needed(&whole, global_needs);
    CHECK_EDITS(whole, global);
    fil_arena_destroy(&arena);
}

// Neither row and column nor the reverse: the plain reading names the culprit.
static void triplets_that_fit_neither_way_are_refused(void) {
    FilArena arena = fil_arena_make(NULL);
    const FilFclib file = make_two_contacts();
    const Edit edits[] = {{"/fclib_local/W/nz", SET, 0, 5, NULL},
                          {"/fclib_local/W/p", SET, 3, 6, NULL}};
    FilError error;
    FilFclib *got = read_image(edit_image(&arena, write_image(&arena, &file), edits, 2), &error);
    CHECK(got == NULL);
    CHECK(strcmp(error.text, "box.hdf5: /fclib_local/W/p[2] is 6; it must be below 6 "
                             "(/fclib_local/W has 6 columns)") == 0 ||
          strcmp(error.text, "box.hdf5: /fclib_local/W/p[3] is 6; it must be below 6 "
                             "(/fclib_local/W has 6 columns)") == 0);
    fil_arena_destroy(&arena);
}

static void sums_that_overflow_are_refused(void) {
    FilArena arena = fil_arena_make(NULL);
    const FilFclib file = make_two_contacts();
    const Edit edits[] = {{"/fclib_local/W/x", SET, 0, 1e308, NULL},
                          {"/fclib_local/W/x", SET, 1, 1e308, NULL},
                          {"/fclib_local/W/i", SET, 1, 0, NULL}};
    FilError error;
    FilFclib *got = read_image(edit_image(&arena, write_image(&arena, &file), edits, 3), &error);
    CHECK(got == NULL);
    CHECK(strcmp(error.text, "box.hdf5: /fclib_local/W: entries at row 0, column 0 add up to inf; "
                             "the sum must be finite") == 0);
    fil_arena_destroy(&arena);
}

// Every prefix of a file is refused or, past the last byte that matters, read right.
static void a_truncated_file_is_refused(void) {
    FilArena arena = fil_arena_make(NULL);
    const FilFclib file = make_two_contacts();
    const Image image = write_image(&arena, &file);
    for (size_t size = 0; size < image.size; size += 1 + size / 97) {
        FilError error;
        FilFclib *got = read_image((Image){image.bytes, size}, &error);
        CHECK(got == NULL && strncmp(error.text, "box.hdf5: ", 10) == 0);
        fil_fclib_destroy(got);
    }
    FilError error;
    CHECK(read_image((Image){image.bytes, 1000}, &error) == NULL);
    CHECK(strncmp(error.text, "box.hdf5: it is truncated: it has 1000 of ", 42) == 0);
    CHECK(read_image((Image){"P3 not HDF5 at all", 18}, &error) == NULL);
    CHECK(strcmp(error.text, "box.hdf5: it is not an HDF5 file") == 0);
    CHECK(read_image((Image){"", 0}, &error) == NULL);
    fil_arena_destroy(&arena);
}

#define TESTS(X)                                                      \
    X(every_fault_of_a_local_file_has_its_sentence)                   \
    X(every_fault_of_equality_rows_and_global_files_has_its_sentence) \
    X(triplets_that_fit_neither_way_are_refused)                      \
    X(sums_that_overflow_are_refused)                                 \
    X(a_truncated_file_is_refused)

CHECK_MAIN(TESTS)
