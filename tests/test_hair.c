// Cem Yuksel's .hair files: what is written comes back, and what is damaged is refused with a
// sentence that says where.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "check.h"
#include "failing_allocator.h"

#include "filum/hair.h"
#include "filum/scene.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STRANDS = 3, POINTS = 9, HEADER = 128 };

static char folder[] = "/tmp/filum-hair-XXXXXX";

static const char *path_of(const char *name) {
    static char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

typedef struct Wig {
    int first[STRANDS + 1];
    float points[POINTS][3], thickness[POINTS], transparency[POINTS], colour[POINTS][3];
    FilHair hair;
} Wig;

// Strands of 2, 3 and 4 points that run along x, 10 cm apart.
static void make_wig(Wig *wig) {
    *wig = (Wig){.first = {0, 2, 5, 9}};
    for (int s = 0; s < STRANDS; s++) {
        for (int i = wig->first[s]; i < wig->first[s + 1]; i++) {
            wig->points[i][0] = 0.1F * (float)(i - wig->first[s]);
            wig->points[i][1] = 0.1F * (float)s;
            wig->points[i][2] = 0.01F * (float)(i % 2);
            wig->thickness[i] = 1e-4F * (float)(i + 1);
            wig->transparency[i] = 0.125F * (float)(i % 8);
            wig->colour[i][1] = 0.5F;
        }
    }
    wig->hair = (FilHair){.strand_count = STRANDS,
                          .point_count = POINTS,
                          .first = wig->first,
                          .points = wig->points[0],
                          .default_thickness = 2e-4F,
                          .default_colour = {0.25F, 0.5F, 0.75F},
                          .about = "three strands"};
}

static bool is_same(const float *a, const float *b, size_t count) {
    return (a == NULL) == (b == NULL) && (a == NULL || memcmp(a, b, count * sizeof *a) == 0);
}

static void what_is_written_comes_back(void) {
    Wig wig;
    make_wig(&wig);
    FilError error;
    for (int arrays = 0; arrays < 8; arrays++) {
        wig.hair.thickness = (arrays & 1) != 0 ? wig.thickness : NULL;
        wig.hair.transparency = (arrays & 2) != 0 ? wig.transparency : NULL;
        wig.hair.colour = (arrays & 4) != 0 ? wig.colour[0] : NULL;
        FilHair *got = NULL;
        CHECK(fil_hair_write(path_of("wig.hair"), &wig.hair, true, &error) == FIL_OK);
        CHECK(fil_hair_read(path_of("wig.hair"), NULL, &got, &error) == FIL_OK);
        if (got == NULL) {
            return;
        }
        CHECK(got->strand_count == STRANDS && got->point_count == POINTS);
        CHECK(memcmp(got->first, wig.first, sizeof wig.first) == 0);
        CHECK(is_same(got->points, wig.hair.points, (size_t)3 * POINTS));
        CHECK(is_same(got->thickness, wig.hair.thickness, POINTS));
        CHECK(is_same(got->transparency, wig.hair.transparency, POINTS));
        CHECK(is_same(got->colour, wig.hair.colour, (size_t)3 * POINTS));
        CHECK(got->default_thickness == 2e-4F && got->default_colour[2] == 0.75F);
        CHECK(strcmp(got->about, "three strands") == 0);
        fil_hair_destroy(got);
    }
}

static void strands_of_one_length_need_no_list_of_lengths(void) {
    Wig wig;
    make_wig(&wig);
    FilError error;
    struct stat about;
    FilHair *got = NULL;
    for (int s = 0; s <= STRANDS; s++) {
        wig.first[s] = 3 * s;
    }
    CHECK(fil_hair_write(path_of("even.hair"), &wig.hair, false, &error) == FIL_OK);
    CHECK(stat(path_of("even.hair"), &about) == 0);
    CHECK(about.st_size == HEADER + 12 * POINTS);
    CHECK(fil_hair_read(path_of("even.hair"), NULL, &got, &error) == FIL_OK);
    CHECK(got != NULL && memcmp(got->first, wig.first, sizeof wig.first) == 0);
    fil_hair_destroy(got);
    CHECK(fil_hair_write(path_of("even.hair"), &wig.hair, false, &error) == FIL_E_IO);
    CHECK(strstr(error.text, "exists already") != NULL);
}

static void what_no_file_can_hold_is_not_written(void) {
    Wig wig;
    make_wig(&wig);
    FilError error;
    wig.first[1] = 1;
    CHECK(fil_hair_write(path_of("bad.hair"), &wig.hair, false, &error) == FIL_E_ARGUMENT);
    CHECK(strstr(error.text, "strand 0 has 1 points; a .hair file holds strands of 2 to 65536"));
    CHECK(access(path_of("bad.hair"), F_OK) != 0);
    make_wig(&wig);
    wig.hair.strand_count = 0;
    CHECK(fil_hair_write(path_of("bad.hair"), &wig.hair, false, &error) == FIL_E_ARGUMENT);
    make_wig(&wig);
    wig.hair.point_count++;
    CHECK(fil_hair_write(path_of("bad.hair"), &wig.hair, false, &error) == FIL_E_ARGUMENT);
    make_wig(&wig);
    CHECK(fil_hair_write("/nowhere/x.hair", &wig.hair, false, &error) == FIL_E_IO);
}

// --- damage --------------------------------------------------------------------------------------

typedef struct Bytes {
    unsigned char data[512];
    size_t size;
} Bytes;

static Bytes good_bytes(void) {
    Wig wig;
    make_wig(&wig);
    Bytes bytes = {.size = 0};
    FilError error;
    CHECK(fil_hair_write(path_of("good.hair"), &wig.hair, true, &error) == FIL_OK);
    FILE *file = fopen(path_of("good.hair"), "rb");
    if (file != NULL) {
        bytes.size = fread(bytes.data, 1, sizeof bytes.data, file);
        (void)fclose(file);
    }
    CHECK(bytes.size == HEADER + 2 * STRANDS + 12 * POINTS);
    return bytes;
}

static bool is_refused(const Bytes *bytes, const char *why) {
    FilHair *got = NULL;
    FilError error = {0};
    const FilStatus status =
        fil_hair_read_memory(bytes->data, bytes->size, "x.hair", NULL, &got, &error);
    fil_hair_destroy(got);
    const bool good = status == FIL_E_FORMAT && strncmp(error.text, "x.hair: ", 8) == 0 &&
                      strstr(error.text, why) != NULL;
    if (!good) {
        (void)fprintf(stderr, "wanted: %s\ngot:    %s\n", why, error.text);
    }
    return good;
}

static void set_word(Bytes *bytes, size_t at, uint32_t word) {
    for (int k = 0; k < 4; k++) {
        bytes->data[at + (size_t)k] = (unsigned char)(word >> (8 * k) & 255);
    }
}

static void damaged_files_are_refused_with_the_reason(void) {
    const Bytes good = good_bytes();
    const struct {
        size_t at;
        uint32_t word;
        const char *why;
    } damage[] = {
        {0, 0x52494148 + 1, "it is no .hair file"},
        {4, 0, "it has 0 strands"},
        {4, 0xffffffff, "it has 4294967295 strands"},
        {4, 5, "it has 5 strands, but only 9 points"},
        {8, 0xffffffff, "4294967295 points"},
        {8, 0x20000000, "it has 242 bytes; 3 strands with 536870912 points need 6442451078"},
        {8, 8, "the points end in strand 2; there are only 8"},
        {12, 1, "it has no points"},
        {12, 7, "need 278"},
        {12, 2, "the points end in strand"},
        {HEADER, 0, "strand 0 has one point; it must have two or more"},
        {HEADER + 6 + 12 * 5, 0x7fc00000, "strand 2 has a number that is not finite"},
        {HEADER + 6 + 12 * 4, 0x7f800000, "strand 1 has a number that is not finite"},
    };
    for (size_t k = 0; k < sizeof damage / sizeof *damage; k++) {
        Bytes bytes = good;
        set_word(&bytes, damage[k].at, damage[k].word);
        if (damage[k].at == 12 && damage[k].word == 2) {
            set_word(&bytes, 16, 1000000); // segments for all, from the header
        }
        CHECK(is_refused(&bytes, damage[k].why));
    }
}

static void every_truncation_is_refused(void) {
    const Bytes good = good_bytes();
    for (size_t size = 0; size < good.size; size++) {
        Bytes bytes = good;
        bytes.size = size;
        CHECK(is_refused(&bytes, size < HEADER ? "it is no .hair file" : "bytes; 3 strands"));
    }
    Bytes longer = good; // what follows is nobody's business
    longer.size = good.size + 7;
    FilHair *got = NULL;
    CHECK(fil_hair_read_memory(longer.data, longer.size, "x", NULL, &got, NULL) == FIL_OK);
    fil_hair_destroy(got);
}

static void every_allocation_may_fail(void) {
    (void)good_bytes();
    FilStatus status = FIL_E_NO_MEMORY;
    for (int k = 1; k < 10 && status != FIL_OK; k++) {
        FailingAllocator memory = {.fail_at = k};
        const FilAllocator allocator = failing_allocator(&memory);
        FilHair *got = NULL;
        FilError error;
        status = fil_hair_read(path_of("good.hair"), &allocator, &got, &error);
        CHECK(status == FIL_OK || status == FIL_E_NO_MEMORY);
        fil_hair_destroy(got);
        CHECK(failing_allocator_is_clean(&memory));
    }
    CHECK(status == FIL_OK);
}

static void what_is_no_file_is_refused(void) {
    FilHair *got = NULL;
    FilError error;
    CHECK(fil_hair_read(path_of("none.hair"), NULL, &got, &error) == FIL_E_IO);
    CHECK(strstr(error.text, "none.hair: cannot open it: No such file") != NULL);
    CHECK(fil_hair_read(folder, NULL, &got, &error) == FIL_E_IO);
    CHECK(strstr(error.text, "it is not a regular file") != NULL);
    CHECK(got == NULL);
}

// --- scenes --------------------------------------------------------------------------------------

static FilStatus read_scene(const char *strands, FilScene **scene, FilError *error) {
    char text[512];
    const int length =
        snprintf(text, sizeof text, "{\"duration\": 1, \"friction_default\": 0, \"strands\": [%s]}",
                 strands);
    return fil_scene_read_text(path_of("t.json"), text, (size_t)length, NULL, NULL, scene, error);
}

static FilScene *scene_of(const char *strands) {
    FilScene *scene = NULL;
    FilError error = {0};
    CHECK(read_scene(strands, &scene, &error) == FIL_OK);
    if (scene == NULL) {
        (void)fprintf(stderr, "refused: %s\n", error.text);
    }
    return scene;
}

static void strands_become_rods_where_they_are_drawn(void) {
    (void)good_bytes();
    FilScene *scene = scene_of("{\"name\": \"w\", \"file\": \"good.hair\", \"scale\": \"1 cm\", "
                               "\"at\": [1, 2, 3], \"rod\": {\"elements\": 4}}");
    if (scene == NULL) {
        return;
    }
    CHECK(scene->rod_count == STRANDS && strcmp(scene->rods[2].name, "w/2") == 0);
    for (int s = 0; s < STRANDS; s++) {
        const FilRodDef *def = &scene->rods[s].def;
        CHECK(def->element_count == 4);
        CHECK_NEAR(def->root.position[0], 1.0, 0.0, 1e-9);
        CHECK_NEAR(def->root.position[1], 2.0 + 1e-3 * s, 0.0, 1e-9);
        CHECK(def->natural_curvatures == def->start_curvatures); // nothing pulls at them
    }
    CHECK_NEAR(scene->rods[0].def.length, 0.01 * hypot(0.1, 0.01), 1e-6, 0.0);
    CHECK(scene->estimate.rods == STRANDS);
    fil_scene_destroy(scene);
}

static void a_file_may_have_y_up_and_be_turned(void) {
    (void)good_bytes();
    FilScene *scene = scene_of("{\"file\": \"good.hair\", \"up\": \"y\", \"turn\": "
                               "[0, 0, \"90 deg\"], \"rod\": {\"natural\": {}}}");
    if (scene == NULL) {
        return;
    }
    // strand 2 starts at (0, 0.2, 0.01): y up makes it (0, -0.01, 0.2), the turn (0.01, 0, 0.2)
    const double *x = scene->rods[2].def.root.position;
    CHECK_NEAR(x[0], 0.01, 0.0, 1e-7);
    CHECK_NEAR(x[1], 0.0, 0.0, 1e-7);
    CHECK_NEAR(x[2], 0.2, 0.0, 1e-7);
    CHECK(scene->rods[2].def.natural_curvatures == NULL); // straight, as asked for
    fil_scene_destroy(scene);
}

static void strands_can_be_thinned_out(void) {
    Wig wig;
    make_wig(&wig);
    FilError error;
    for (int c = 0; c < 3; c++) { // strand 0 has no length, strand 2 a point twice
        wig.points[1][c] = wig.points[0][c];
        wig.points[7][c] = wig.points[6][c];
    }
    CHECK(fil_hair_write(path_of("thin.hair"), &wig.hair, true, &error) == FIL_OK);
    FilScene *scene = scene_of("{\"file\": \"thin.hair\", \"rod\": {}}, "
                               "{\"file\": \"thin.hair\", \"every\": 2, \"rod\": {}}, "
                               "{\"file\": \"thin.hair\", \"shortest\": 0.25, \"rod\": {}}");
    CHECK(scene != NULL && scene->rod_count == 2 + 1 + 1);
    fil_scene_destroy(scene);
}

static void strands_that_cannot_be_rods_are_named(void) {
    (void)good_bytes();
    const struct {
        const char *strands, *why;
    } cases[] = {
        {"{\"file\": \"none.hair\", \"rod\": {}}", "strands[0].file cannot be used: "},
        {"{\"file\": \"good.hair\", \"rod\": {\"length\": 1}}",
         "rod.length is given, but strands have lengths of their own"},
        {"{\"file\": \"good.hair\", \"rod\": {\"root\": {\"at\": [0, 0, 1]}}}",
         "says where rods start, and so do the strands"},
        {"{\"file\": \"good.hair\", \"shortest\": 9, \"rod\": {}}",
         "strands[0].file has no strand longer than 9 m"},
        {"{\"file\": \"good.hair\", \"rod\": {\"points\": [[0, 0, 0], [1, 0, 0]]}}",
         "but strands make the shape"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        FilScene *scene = NULL;
        FilError error = {0};
        CHECK(read_scene(cases[k].strands, &scene, &error) == FIL_E_FORMAT);
        CHECK(strstr(error.text, cases[k].why) != NULL);
        if (strstr(error.text, cases[k].why) == NULL) {
            (void)fprintf(stderr, "got: %s\n", error.text);
        }
    }
}

static void a_strand_that_turns_back_is_told_by_number(void) {
    Wig wig;
    make_wig(&wig);
    FilError error = {0};
    FilScene *scene = NULL;
    memcpy(wig.points[4], wig.points[2], sizeof wig.points[4]); // strand 1: there and back
    wig.points[4][1] += 1e-4F;
    CHECK(fil_hair_write(path_of("back.hair"), &wig.hair, true, &error) == FIL_OK);
    CHECK(read_scene("{\"file\": \"back.hair\", \"rod\": {\"elements\": 2, \"model\": \"der\"}}",
                     &scene, &error) == FIL_E_FORMAT);
    CHECK(strstr(error.text, "(strand 1 of back.hair)") != NULL);
    if (scene != NULL || strstr(error.text, "(strand 1") == NULL) {
        (void)fprintf(stderr, "got: %s\n", error.text);
    }
    fil_scene_destroy(scene);
}

static void every_allocation_of_a_scene_with_strands_may_fail(void) {
    (void)good_bytes();
    static const char text[] =
        "{\"duration\": 1, \"friction_default\": 0, \"strands\": [{\"file\": "
        "\"good.hair\", \"rod\": {\"elements\": 2}}]}";
    FilStatus status = FIL_E_NO_MEMORY;
    for (int k = 1; k < 400 && status != FIL_OK; k++) {
        FailingAllocator memory = {.fail_at = k};
        const FilAllocator allocator = failing_allocator(&memory);
        FilScene *scene = NULL;
        FilError error;
        status = fil_scene_read_text(path_of("t.json"), text, sizeof text - 1, NULL, &allocator,
                                     &scene, &error);
        CHECK(status == FIL_OK || status == FIL_E_NO_MEMORY);
        fil_scene_destroy(scene);
        CHECK(failing_allocator_is_clean(&memory));
    }
    CHECK(status == FIL_OK);
}

#define TESTS(X)                                     \
    X(what_is_written_comes_back)                    \
    X(strands_of_one_length_need_no_list_of_lengths) \
    X(what_no_file_can_hold_is_not_written)          \
    X(damaged_files_are_refused_with_the_reason)     \
    X(every_truncation_is_refused)                   \
    X(every_allocation_may_fail)                     \
    X(what_is_no_file_is_refused)                    \
    X(strands_become_rods_where_they_are_drawn)      \
    X(a_file_may_have_y_up_and_be_turned)            \
    X(strands_can_be_thinned_out)                    \
    X(strands_that_cannot_be_rods_are_named)         \
    X(a_strand_that_turns_back_is_told_by_number)    \
    X(every_allocation_of_a_scene_with_strands_may_fail)

static void remove_folder(void) {
    static const char *const names[] = {"wig.hair", "even.hair", "good.hair", "thin.hair",
                                        "back.hair"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        (void)unlink(path_of(names[k]));
    }
    (void)rmdir(folder);
}

int main(int argc, char **argv) {
    static const CheckTest tests[] = {TESTS(CHECK_ENTRY)};
    if (mkdtemp(folder) == NULL) {
        (void)fputs("cannot make a folder\n", stderr);
        return 1;
    }
    const int status = check_run(tests, sizeof tests / sizeof *tests, argc > 1 ? argv[1] : NULL);
    remove_folder();
    return status;
}
