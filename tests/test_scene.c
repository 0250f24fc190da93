// Scenes: what users write, what they get, and the sentence that they read when it is wrong.
#include "check.h"

#include "base/random.h"
#include "filum/scene.h"
#include "filum/stage.h"
#include "io/json.h"
#include "io/spec.h"
#include "io/units.h"
#include "math/vec3.h"
#include "rod/fit.h"

#include <dirent.h>
#include <locale.h>
#include <stdlib.h>

#define PI 3.14159265358979323846

// -------------------------------------------------------------------------------------- helpers

static FilScene *read_with(const char *text, const FilSceneOptions *options) {
    FilScene *scene = NULL;
    FilError error;
    if (fil_scene_read_text("t.json", text, strlen(text), options, NULL, &scene, &error) !=
        FIL_OK) {
        check_failures++;
        (void)fprintf(stderr, "refused: %s\n", error.text);
        return NULL;
    }
    return scene;
}

static FilScene *read(const char *text) {
    return read_with(text, NULL);
}

static bool refused_with(const char *text, const FilSceneOptions *options, const char *sentence) {
    FilScene *scene = NULL;
    FilError error = {0};
    const FilStatus status =
        fil_scene_read_text("t.json", text, strlen(text), options, NULL, &scene, &error);
    if (status == FIL_OK || scene != NULL || error.status != status ||
        strcmp(error.text, sentence) != 0) {
        (void)fprintf(stderr, "wanted: %s\ngot:    %s\n", sentence,
                      status == FIL_OK ? "(accepted)" : error.text);
        fil_scene_destroy(scene);
        return false;
    }
    return true;
}

static bool refused(const char *text, const char *sentence) {
    return refused_with(text, NULL, sentence);
}

static FilJson *parse(const char *text, FilArena *arena, FilJsonDocument *document) {
    FilError error;
    if (fil_json_read("t.json", text, strlen(text), arena, document, &error) != FIL_OK) {
        check_failures++;
        (void)fprintf(stderr, "refused: %s\n", error.text);
        return NULL;
    }
    return document->root;
}

static bool unreadable(const char *text, size_t size, const char *sentence) {
    FilArena arena = fil_arena_make(NULL);
    FilJsonDocument document;
    FilError error = {0};
    const FilStatus status = fil_json_read("t.json", text, size, &arena, &document, &error);
    fil_arena_destroy(&arena);
    if (status != FIL_E_FORMAT || strcmp(error.text, sentence) != 0) {
        (void)fprintf(stderr, "wanted: %s\ngot:    %s\n", sentence,
                      status == FIL_OK ? "(accepted)" : error.text);
        return false;
    }
    return true;
}

// ----------------------------------------------------------------------------------------- JSON

static void json_keeps_the_place_of_every_value(void) {
    FilArena arena = fil_arena_make(NULL);
    FilJsonDocument document;
    const FilJson *root = parse("\xEF\xBB\xBF// a comment\n{ \"a\": 1,\n  /* two\n lines */ \"b\": "
                                "[\"\xC3\xA9\", true, -2.5e-3] }\n",
                                &arena, &document);
    const FilJson *a = fil_json_find(root, "a"), *b = fil_json_find(root, "b");
    CHECK(a != NULL && a->line == 2 && a->column == 8 && a->key_line == 2 && a->key_column == 3);
    CHECK(b != NULL && b->kind == FIL_JSON_LIST && b->count == 3 && b->key_line == 4);
    const FilJson *text = b->first, *truth = text->next, *number = truth->next;
    CHECK(strcmp(text->text, "\xC3\xA9") == 0 && text->line == 4 && text->column == 17);
    CHECK(truth->kind == FIL_JSON_BOOL && truth->truth && truth->column == 22); // not bytes
    CHECK(number->number == -2.5e-3 && strcmp(number->text, "-2.5e-3") == 0);
    char path[40];
    fil_json_path(number, path, sizeof path);
    CHECK(strcmp(path, "b[2]") == 0);
    fil_arena_destroy(&arena);
}

static void json_texts_may_be_escaped(void) {
    FilArena arena = fil_arena_make(NULL);
    FilJsonDocument document;
    const FilJson *root = parse("\"\\u00e9\\n\\\"\\\\ \\ud83d\\ude00 \\u20ac\"", &arena, &document);
    CHECK(root != NULL && strcmp(root->text, "\xC3\xA9\n\"\\ \xF0\x9F\x98\x80 \xE2\x82\xAC") == 0);
    fil_arena_destroy(&arena);
}

static void json_errors_are_one_sentence_with_a_place(void) {
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"", "t.json:1:1: the file is empty"},
        {" // nothing\n", "t.json:2:1: the file is empty"},
        {"{\"a\": 1,}", "t.json:1:8: nothing follows this comma; take it away"},
        {"[1, 2,\n]", "t.json:1:6: nothing follows this comma; take it away"},
        {"{\"a\": 1, \"b\": 2,\n \"a\": 3}",
         "t.json:2:2: the key \"a\" is given twice, first in line 1"},
        {"{\"a\" 1}", "t.json:1:6: a colon is expected after the key \"a\""},
        {"{a: 1}", "t.json:1:2: a key in quotes is expected here"},
        {"[1 2]", "t.json:1:4: a comma or a closing ] is expected here"},
        {"[1, 2", "t.json:1:6: the text ends before a closing ]"},
        {"{\"a\": }", "t.json:1:7: a value is expected before }"},
        {"[1e999]", "t.json:1:2: the number 1e999 is too large"},
        {"[01]", "t.json:1:2: this is no number; write it as 12, -0.5 or 1.5e-3"},
        {"[1.]", "t.json:1:2: this is no number; write it as 12, -0.5 or 1.5e-3"},
        {"[NaN]", "t.json:1:2: a value is expected: a number, a \"text\", a [list] or an {object}"},
        {"[\"abc]", "t.json:1:2: this text is never closed by a quote"},
        {"[\"a\tb\"]", "t.json:1:4: a text may not hold the control character 0x09"},
        {"[\"\\x\"]", "t.json:1:3: there is no such escape; write \\\\ for a backslash"},
        {"[\"\\u0000\"]", "t.json:1:3: \\u must be followed by four digits of a character"},
        {"[\"\\ud800\"]", "t.json:1:3: \\u must be followed by four digits of a character"},
        {"{} {}", "t.json:1:4: something follows the end of the value"},
        {"/* open", "t.json:1:1: this comment is never closed"},
        {"/ 1", "t.json:1:1: a comment starts with // or /*, not with a single /"},
        {"[\"\xC3\"]", "t.json:1:3: byte 0xc3 is no UTF-8 text"},
        {"[\"\xED\xA0\x80\"]", "t.json:1:3: byte 0xed is no UTF-8 text"}, // a surrogate
        {"[\"\xC0\x80\"]", "t.json:1:3: byte 0xc0 is no UTF-8 text"},     // overlong
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        CHECK(unreadable(cases[k].text, strlen(cases[k].text), cases[k].sentence));
    }
    CHECK(unreadable("[\0]", 3, "t.json:1:2: byte 0x00 is no UTF-8 text"));
}

static void json_is_bounded(void) {
    char deep[200];
    memset(deep, '[', sizeof deep);
    CHECK(unreadable(deep, sizeof deep,
                     "t.json:1:65: lists and objects are nested more than 64 deep"));
    char number[400];
    memset(number, '1', sizeof number);
    CHECK(unreadable(number, sizeof number,
                     "t.json:1:1: a number has 400 characters; 200 are allowed"));
    static char keys[20000];
    size_t used = 0;
    keys[used++] = '{';
    for (int k = 0; k < 1100; k++) {
        used += (size_t)snprintf(keys + used, sizeof keys - used, "\"k%d\":1,\n", k);
    }
    CHECK(unreadable(keys, used, "t.json:1025:1: an object has more than 1024 keys"));
}

static void numbers_do_not_depend_on_the_locale(void) {
    const bool there = setlocale(LC_NUMERIC, "de_DE.UTF-8") != NULL;
    double value = 0.0;
    CHECK(fil_quantity_read("1.5 mm", "m", &value) == FIL_QUANTITY_OK);
    CHECK_NEAR(value, 1.5e-3, 0.0, 0.0);
    (void)setlocale(LC_NUMERIC, "C");
    if (!there) {
        CHECK_SKIP("there is no locale with a decimal comma here");
    }
}

// ---------------------------------------------------------------------------------------- units

static double in_unit(const char *text, const char *unit) {
    double value = NAN;
    return fil_quantity_read(text, unit, &value) == FIL_QUANTITY_OK ? value : (double)NAN;
}

static void quantities_carry_units(void) {
    CHECK(in_unit("12 cm", "m") == 0.12);
    CHECK(in_unit("3.9 GPa", "Pa") == 3.9e9);
    CHECK(in_unit("1 ms", "s") == 1e-3);
    CHECK(in_unit("50um", "m") == 50e-6);
    CHECK(in_unit("50 \xC2\xB5m", "m") == 50e-6);
    CHECK(in_unit("5 g", "kg") == 5e-3);
    CHECK(in_unit("-7", "m") == -7.0);
    CHECK_NEAR(in_unit("30 deg", "rad"), PI / 6.0, 1e-15, 0.0);
    CHECK_NEAR(in_unit("0.2 N mm", "N m"), 2e-4, 1e-15, 0.0);
    CHECK_NEAR(in_unit("2 N/mm2", "Pa"), 2e6, 1e-15, 0.0);
    CHECK_NEAR(in_unit("1.3 g/cm^3", "kg/m^3"), 1300.0, 1e-14, 0.0);
    CHECK_NEAR(in_unit("1 g/(mm s)", "kg/(m s)"), 1.0, 1e-14, 0.0);
    CHECK_NEAR(in_unit("60 rpm", "rad/s"), 2.0 * PI, 1e-15, 0.0);
    CHECK_NEAR(in_unit("1 turn/s", "rad/s"), 2.0 * PI, 1e-15, 0.0);
    CHECK_NEAR(in_unit("0.4 1/cm", "1/m"), 40.0, 1e-14, 0.0);
    CHECK_NEAR(in_unit("0.4 /cm", "1/m"), 40.0, 1e-14, 0.0);
    CHECK_NEAR(in_unit("2 deg/cm", "1/m"), 200.0 * PI / 180.0, 1e-14, 0.0); // a curvature
    CHECK_NEAR(in_unit("9.81 m/s^2", "m/s^2"), 9.81, 0.0, 0.0);
    CHECK_NEAR(in_unit("9.81 m s^-2", "m/s^2"), 9.81, 0.0, 0.0);
    CHECK_NEAR(in_unit("30 %", "1"), 0.3, 1e-15, 0.0);
}

static void quantities_of_another_kind_are_refused(void) {
    double value = 0.0;
    CHECK(fil_quantity_read("12 kg", "m", &value) == FIL_QUANTITY_WRONG_UNIT);
    CHECK(fil_quantity_read("30 deg", "m", &value) == FIL_QUANTITY_WRONG_UNIT);
    CHECK(fil_quantity_read("1 Hz", "rad/s", &value) == FIL_QUANTITY_WRONG_UNIT);
    CHECK(fil_quantity_read("30 deg", "1", &value) == FIL_QUANTITY_WRONG_UNIT);
    CHECK(fil_quantity_read("12 parsec", "m", &value) == FIL_QUANTITY_NO_UNIT);
    CHECK(fil_quantity_read("12 m^", "m", &value) == FIL_QUANTITY_NO_UNIT);
    CHECK(fil_quantity_read("12 (m", "m", &value) == FIL_QUANTITY_NO_UNIT);
    CHECK(fil_quantity_read("12 m/", "m", &value) == FIL_QUANTITY_NO_UNIT);
    CHECK(fil_quantity_read("cm", "m", &value) == FIL_QUANTITY_NO_NUMBER);
    CHECK(fil_quantity_read("inf", "m", &value) == FIL_QUANTITY_NO_NUMBER);
    CHECK(fil_quantity_read("0x10", "m", &value) == FIL_QUANTITY_NO_UNIT);
    CHECK(fil_quantity_read("1e308 km", "m", &value) == FIL_QUANTITY_NO_NUMBER);
    CHECK(fil_quantity_read("", "m", &value) == FIL_QUANTITY_NO_NUMBER);
}

// --------------------------------------------------------------------------------------- tables

static void every_field_is_documented(void) {
    int count = 0;
    const FilTable *const *tables = fil_spec_tables(&count);
    CHECK(count > 20);
    for (int t = 0; t < count; t++) {
        const FilTable *table = tables[t];
        CHECK(table->text[0] != '\0' && table->field_count > 0 && table->field_count <= 64);
        for (int k = 0; k < table->field_count; k++) {
            const FilField *field = &table->fields[k];
            FilUnit unit;
            CHECK(field->name[0] != '\0' && field->text[0] != '\0');
            CHECK(strchr(field->text, '\n') == NULL && strlen(field->text) < 120);
            CHECK(field->unit == NULL || (fil_unit_read(field->unit, &unit) && unit.scale == 1.0));
            CHECK(field->offset < table->size);
            CHECK(!(field->required && field->standard != NULL));
            for (int j = 0; j < k; j++) {
                CHECK(strcmp(table->fields[j].name, field->name) != 0);
                CHECK(table->fields[j].offset != field->offset);
            }
        }
    }
}

static void every_table_that_is_used_is_in_the_list(void) {
    int count = 0;
    const FilTable *const *tables = fil_spec_tables(&count);
    for (int t = 0; t < count; t++) {
        for (int k = 0; k < tables[t]->field_count; k++) {
            const FilTable *used = tables[t]->fields[k].table;
            bool found = used == NULL;
            for (int j = 0; j < count; j++) {
                found = found || tables[j] == used;
            }
            CHECK(found);
        }
    }
}

static void reference_and_schema_name_every_field(void) {
    static char page[200000], schema[300000];
    FILE *files[2] = {tmpfile(), tmpfile()};
    CHECK(files[0] != NULL && files[1] != NULL);
    if (files[0] == NULL || files[1] == NULL) {
        return;
    }
    fil_scene_reference_write(files[0]);
    fil_scene_schema_write(files[1]);
    rewind(files[0]);
    rewind(files[1]);
    const size_t sizes[2] = {fread(page, 1, sizeof page - 1, files[0]),
                             fread(schema, 1, sizeof schema - 1, files[1])};
    CHECK(sizes[0] > 10000 && sizes[1] > 10000);
    (void)fclose(files[0]);
    (void)fclose(files[1]);
    FilArena arena = fil_arena_make(NULL);
    FilJsonDocument document;
    const FilJson *root = parse(schema, &arena, &document); // the schema is JSON itself
    const FilJson *defs = root != NULL ? fil_json_find(root, "$defs") : NULL;
    int count = 0;
    const FilTable *const *tables = fil_spec_tables(&count);
    for (int t = 0; t < count && defs != NULL; t++) {
        const FilJson *kind = fil_json_find(defs, tables[t]->name);
        const FilJson *fields = kind != NULL ? fil_json_find(kind, "properties") : NULL;
        CHECK(fields != NULL && fields->count == tables[t]->field_count);
        for (int k = 0; k < tables[t]->field_count; k++) {
            char row[80];
            (void)snprintf(row, sizeof row, "| `%s` |", tables[t]->fields[k].name);
            CHECK(strstr(page, row) != NULL);
        }
    }
    fil_arena_destroy(&arena);
}

// FILUM_WRITE_REFERENCE=1 brings the page up to date.
static void the_page_in_docs_is_what_the_tables_say(void) {
    static char page[2][200000];
    const char *path = DOCS "/scene-reference.md";
    if (getenv("FILUM_WRITE_REFERENCE") != NULL) {
        FILE *file = fopen(path, "w");
        CHECK(file != NULL);
        if (file != NULL) {
            fil_scene_reference_write(file);
            (void)fclose(file);
        }
    }
    FILE *files[2] = {fopen(path, "r"), tmpfile()};
    CHECK(files[0] != NULL && files[1] != NULL);
    size_t sizes[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        if (files[k] != NULL && k == 1) {
            fil_scene_reference_write(files[k]);
            rewind(files[k]);
        }
        if (files[k] != NULL) {
            sizes[k] = fread(page[k], 1, sizeof page[k], files[k]);
            (void)fclose(files[k]);
        }
    }
    CHECK(sizes[0] == sizes[1] && memcmp(page[0], page[1], sizes[0]) == 0);
}

static void defaults_are_those_of_the_library(void) {
    FilScene *scene = read("{\"duration\": 1, \"rods\": [{}]}");
    const FilRodDef want = fil_rod_def_default();
    if (scene == NULL) {
        return;
    }
    const FilRodDef *got = &scene->rods[0].def;
    CHECK(got->model == want.model && got->element_count == want.element_count);
    CHECK(got->length == want.length && got->section.radius == want.section.radius);
    CHECK(got->section.young == want.section.young);
    CHECK(got->section.poisson == want.section.poisson);
    CHECK(got->section.density == want.section.density);
    CHECK(check_same_bits(&got->root, &want.root, sizeof want.root));
    CHECK(got->root_end.kind == want.root_end.kind && got->tip_end.kind == want.tip_end.kind);
    CHECK(check_same_bits(got->gravity, want.gravity, sizeof want.gravity));
    CHECK(got->theta == want.theta && got->damping == 0.0 && got->drag == 0.0);
    CHECK(scene->step == 1e-3 && scene->output.every == 0.01 && scene->rod_count == 1);
    CHECK(scene->friction_settings.solver == FIL_SOLVER_AUTO);
    CHECK(scene->output.fields == (1U << FIL_OUTPUT_COUNT) - 1);
    fil_scene_destroy(scene);
}

// ------------------------------------------------------------------------------------- messages

static void messages_name_place_path_value_and_rule(void) {
    CHECK(refused("{\"duration\": 1,\n\"rods\": [{}, {}, {},\n  {\"radius\": -0.1}]}",
                  "t.json:3:14: rods[3].radius is -0.1; it must be positive (m)"));
    CHECK(refused("{\"duration\": 1, \"step\": 0}",
                  "t.json:1:25: step is 0; it must be positive (s)"));
    CHECK(refused("{\"duration\": 1, \"step\": 2}",
                  "t.json:1:25: step is 2 s; it must not be longer than the duration, 1 s"));
    CHECK(refused("{\"duration\": 1, \"theta\": 0.2}",
                  "t.json:1:26: theta is 0.2; it must be between 0.5 and 1"));
    CHECK(refused("{\"duration\": 1, \"rods\": [{\"raduis\": 1}]}",
                  "t.json:1:27: rods[0].raduis is not known; did you mean radius?"));
    CHECK(refused("{\"duration\": 1, \"output\": {\"quux\": 1}}",
                  "t.json:1:28: output.quux is not known; it may be every, save, fields"));
    CHECK(refused("{\"rods\": []}",
                  "t.json:1:1: the scene has no duration; it must be given: simulated time"));
    CHECK(refused("{\"duration\": 1, \"obstacles\": [{\"radius\": 1}]}",
                  "t.json:1:31: obstacles[0] has no shape; it must be given: what it is"));
    CHECK(refused("[]", "t.json:1:1: the scene is a list of 0; it must be an object"));
}

static void wrong_types_are_named(void) {
    CHECK(refused("{\"duration\": true}", "t.json:1:14: duration is true; it must be a number"));
    CHECK(refused("{\"duration\": \"long\"}", "t.json:1:14: duration is \"long\"; it must be a "
                                              "number, or a text such as \"2 s\""));
    CHECK(refused("{\"duration\": 1, \"rods\": {}}",
                  "t.json:1:25: rods is an object; it must be a list of objects"));
    CHECK(refused("{\"duration\": 1, \"rods\": [7]}",
                  "t.json:1:26: rods[0] is 7; it must be an object"));
    CHECK(refused("{\"duration\": 1, \"rods\": [{\"elements\": 2.5}]}",
                  "t.json:1:39: rods[0].elements is 2.5; it must be a whole number"));
    CHECK(refused("{\"duration\": 1, \"rods\": [{\"name\": 1}]}",
                  "t.json:1:35: rods[0].name is 1; it must be a text"));
    CHECK(refused("{\"duration\": 1, \"gravity\": [0, 0]}",
                  "t.json:1:28: gravity is a list of 2; it must be a list of 3 numbers"));
    CHECK(refused("{\"duration\": 1, \"gravity\": [0, 0, null]}",
                  "t.json:1:35: gravity[2] is null; it must be a number"));
    CHECK(refused("{\"duration\": 1, \"contact\": {\"sweep\": 1}}",
                  "t.json:1:38: contact.sweep is 1; it must be true or false"));
    CHECK(refused("{\"duration\": 1, \"rods\": [{\"model\": \"helx\"}]}",
                  "t.json:1:36: rods[0].model is \"helx\"; did you mean helix? It must be helix, "
                  "clothoid, der, corde or chain"));
    CHECK(refused("{\"duration\": 1, \"rods\": [{\"model\": 3}]}",
                  "t.json:1:36: rods[0].model is 3; it must be helix, clothoid, der, corde or "
                  "chain"));
}

static void wrong_units_are_named(void) {
    CHECK(refused("{\"duration\": \"1 kg\"}",
                  "t.json:1:14: duration is \"1 kg\", whose unit measures something else; the unit "
                  "here is s"));
    CHECK(refused("{\"duration\": 1, \"rods\": [{\"length\": \"1 ell\"}]}",
                  "t.json:1:37: rods[0].length is \"1 ell\", whose unit is not known; the unit "
                  "here is m"));
    CHECK(refused("{\"duration\": 1, \"rods\": [{\"length\": \"-1 cm\"}]}",
                  "t.json:1:37: rods[0].length is \"-1 cm\"; it must be positive (m)"));
}

typedef struct BadScene {
    const char *text, *sentence;
} BadScene;

static void check_bad(const BadScene *cases, size_t count) {
    for (size_t k = 0; k < count; k++) {
        CHECK(refused(cases[k].text, cases[k].sentence));
    }
}

static void things_that_do_not_fit_together_are_named(void) {
    static const BadScene cases[] = {
        {"{\"duration\": 1, \"materials\": {\"hair\": {}, \"skin\": {}}, \"rods\": [{\"material\": "
         "\"hiar\"}]}",
         "t.json:1:78: rods[0].material is \"hiar\"; there is no such material; did you mean "
         "hair?"},
        {"{\"duration\": 1, \"materials\": {\"hair\": {}, \"skin\": {}}, \"rods\": [{}]}",
         "t.json:1:65: rods[0].material is missing; there are 2 materials to choose from: hair, "
         "skin"},
        {"{\"duration\": 1, \"rods\": [{}, {}]}",
         "t.json:1:1: friction says nothing of default and default, which may touch; list them or "
         "give friction_default"},
        {"{\"duration\": 1, \"rods\": [{}], \"obstacles\": [{\"shape\": \"plane\"}]}",
         "t.json:1:1: friction says nothing of default and default, which may touch; list them or "
         "give friction_default"},
        {"{\"duration\": 1, \"rods\": [{\"self_contact\": \"on\"}]}",
         "t.json:1:43: rods[0].self_contact is on, but friction says nothing of default with "
         "itself; list it or give friction_default"},
        {"{\"duration\": 1, \"obstacles\": [{\"shape\": \"sphere\"}]}",
         "t.json:1:31: obstacles[0].radius is missing; a sphere needs it"},
        {"{\"duration\": 1, \"obstacles\": [{\"shape\": \"plane\", \"radius\": 1}]}",
         "t.json:1:60: obstacles[0].radius is not used by a plane"},
        {"{\"duration\": 1, \"bodies\": [{\"shape\": \"plane\"}]}",
         "t.json:1:38: bodies[0].shape is a plane, which has no mass; it can be an obstacle only"},
        {"{\"duration\": 1, \"rods\": [{\"root\": {\"along\": [0, 0, 0]}}]}",
         "t.json:1:45: rods[0].root.along has no direction; it must not be 0"},
        {"{\"duration\": 1, \"rods\": [{\"section\": {\"kind\": \"hollow\"}}]}",
         "t.json:1:38: rods[0].section.inner_radius is missing; this kind of section needs it"},
        {"{\"duration\": 1, \"rods\": [{\"start\": \"points\"}]}",
         "t.json:1:36: rods[0].start is \"points\", but no points are given"},
        {"{\"duration\": 1, \"rods\": [{\"points\": [[0, 0, 0], [0, 0, 0]]}]}",
         "t.json:1:26: rods[0]: points[1] is where points[0] is; neighbours must differ"},
        {"{\"duration\": 1, \"rods\": [{\"points\": [[0, 0, 0]]}]}",
         "t.json:1:26: rods[0]: points has 1 places; a curve needs at least 2"},
        {"{\"duration\": 1, \"bundles\": [{\"count\": 2, \"turns\": 40, \"spacing\": 0.1, \"rod\": "
         "{\"elements\": 5}}]}",
         "t.json:1:78: bundles[0].rod: points bend an element by 49.9 rad; take more elements"},
        {"{\"duration\": 1, \"piles\": [{\"count\": 2, \"rod\": {\"points\": [[0, 0, 0], [1, 0, "
         "0]]}}]}",
         "t.json:1:47: piles[0].rod has points, curvatures or a tree, but piles make the shape"},
        {"{\"duration\": 1, \"piles\": [{\"rod\": {}}]}",
         "t.json:1:27: piles[0] has no count; it must be given: strands"},
        {"{\"duration\": 1, \"rods\": [{\"length\": 1, \"points\": [[0, 0, 0], [2, 0, 0]]}]}",
         "t.json:1:37: rods[0].length is 1 m, but the curve through the points is 2 m long; leave "
         "it out, or move the points"},
        {"{\"duration\": 1, \"rods\": [{\"elements\": 3, \"natural\": {\"table\": [[0, 0, 1]]}}]}",
         "t.json:1:63: rods[0].natural.table has 1 entries; it must have 3, one an element, or 4, "
         "one a joint"},
        {"{\"duration\": 1, \"rods\": [{\"model\": \"chain\", \"natural\": {\"twist\": 1}}]}",
         "t.json:1:26: rods[0]: natural_curvature has twist = 1 in element 0; the model chain has "
         "no frames, it must be 0"},
        {"{\"duration\": 1, \"rods\": [{\"model\": \"der\", \"elements\": 2, \"natural\": "
         "{\"curvature\": [0, 100]}}]}",
         "t.json:1:26: rods[0]: natural_curvature bends element 0 by 10 rad; the model der needs "
         "less than 2.8 rad an element, take more of them"},
    };
    check_bad(cases, sizeof cases / sizeof *cases);
}

static void things_that_are_not_there_are_named(void) {
    static const BadScene cases[] = {
        {"{\"duration\": 1, \"rods\": [{\"name\": \"a\"},\n {\"name\": \"a\"}]}",
         "t.json:2:11: rods[1].name is \"a\"; that name is taken in line 1"},
        {"{\"duration\": 1, \"rods\": [{\"loads\": [{\"at\": 3}]}]}",
         "t.json:1:44: rods[0].loads[0].at is 3 m; the rod is only 0.2 m long"},
        {"{\"duration\": 1, \"rods\": [{\"root\": {\"follows\": \"head\"}}]}",
         "t.json:1:47: rods[0].root.follows is \"head\"; there is no obstacle of that name"},
        {"{\"duration\": 1, \"obstacles\": [{\"shape\": \"plane\", \"motion\": {\"keys\": "
         "[{\"time\": "
         "1}, {\"time\": 1}]}}]}",
         "t.json:1:92: obstacles[0].motion.keys[1].time is 1 s; it must be later than the key "
         "before, 1 s"},
        {"{\"duration\": 1, \"joints\": [{\"a\": {\"rod\": \"x\"}, \"b\": {}}]}",
         "t.json:1:42: joints[0].a.rod is \"x\"; there is no rod of that name"},
        {"{\"duration\": 1, \"joints\": [{\"a\": {}, \"b\": {}}]}",
         "t.json:1:34: joints[0].a and b are both in the world; a joint holds a rod or a body"},
        {"{\"duration\": 1, \"rods\": [{\"name\": \"x\"}], \"joints\": [{\"a\": {\"rod\": \"x\", "
         "\"end\": "
         "\"tip\"}, \"b\": {\"rod\": \"x\", \"s\": \"20 cm\"}}]}",
         "t.json:1:92: joints[0].b is the same place of the rod \"x\" as a, 0.2 m along it; a "
         "joint "
         "holds two places together"},
        {"{\"duration\": 1, \"bodies\": [{\"name\": \"x\", \"shape\": \"sphere\", \"radius\": 1}], "
         "\"joints\": [{\"a\": {\"body\": \"x\"}, \"b\": {\"body\": \"x\", \"at\": [1, 0, 0]}}]}",
         "t.json:1:113: joints[0].b is on the body \"x\", as a is; a joint holds two things "
         "together"},
        {"{\"duration\": 1, \"events\": [{\"time\": 0}]}",
         "t.json:1:28: events[0] changes 0 things; it must be one of gravity, wind, release, "
         "unjoin, "
         "force, torque and length"},
        {"{\"duration\": 1, \"arrays\": [{\"count\": [1, 1, 1], \"spacing\": [0, 0, 0]}]}",
         "t.json:1:28: arrays[0] must have a rod or a body, and not both"},
        {"{\"duration\": 1, \"friction\": [{\"between\": [\"a\", \"b\"], \"mu\": 1}]}",
         "t.json:1:42: friction[0].between is \"a\"; there is no such material"},
        {"{\"duration\": 1, \"rods\": [{\"tree\": [{\"parent\": 0, \"length\": 1}]}]}",
         "t.json:1:47: rods[0].tree[0].parent is 0; it must be -1 or the place of an element above "
         "this one"},
    };
    check_bad(cases, sizeof cases / sizeof *cases);
}

static void a_missing_mesh_is_an_error_at_its_name(void) {
    FilScene *scene = NULL;
    FilError error;
    const char *text = "{\"duration\": 1, \"obstacles\": [{\"shape\": \"mesh\",\n \"file\": "
                       "\"nowhere.obj\"}]}";
    CHECK(fil_scene_read_text("some/t.json", text, strlen(text), NULL, NULL, &scene, &error) ==
          FIL_E_FORMAT);
    const char *start = "some/t.json:2:10: obstacles[0].file cannot be used: some/nowhere.obj: ";
    CHECK(strncmp(error.text, start, strlen(start)) == 0);
    CHECK(error.line == 2 && error.column == 10);
}

static void missing_files_and_folders_are_named(void) {
    FilScene *scene = NULL;
    FilError error;
    CHECK(fil_scene_read("no-such-scene.json", NULL, NULL, &scene, &error) == FIL_E_IO);
    CHECK(strcmp(error.text, "no-such-scene.json: cannot read it: No such file or directory") == 0);
    CHECK(fil_scene_read(".", NULL, NULL, &scene, &error) == FIL_E_IO);
    CHECK(strcmp(error.text, ". is not a regular file") == 0);
}

// -------------------------------------------------------------------------------------- changes

static void changes_come_before_decoding(void) {
    const char *const changes[] = {"rods[1].radius=2 mm",         "rods[*].model=der",
                                   "output.every=\"20 ms\"",      "friction_default=0.25",
                                   "rods[0].natural.twist=3",     "gravity[2]=-1.6",
                                   "contact={\"law\":\"convex\"}"};
    const FilSceneOptions options = {.changes = changes, .change_count = 7};
    FilScene *scene = read_with("{\"duration\": 1, \"gravity\": [0, 0, -9.81],\n"
                                "\"rods\": [{\"radius\": 1e-3}, {\"radius\": 1e-3}]}",
                                &options);
    if (scene != NULL) {
        CHECK(scene->rods[0].def.section.radius == 1e-3);
        CHECK(scene->rods[1].def.section.radius == 2e-3);
        CHECK(scene->rods[0].def.model == FIL_ROD_DER && scene->rods[1].def.model == FIL_ROD_DER);
        CHECK(scene->output.every == 0.02 && scene->friction[0] == 0.25);
        CHECK(scene->rods[0].def.natural_curvature[0] == 3.0);
        CHECK(scene->gravity[2] == -1.6 && scene->contact.law == FIL_LAW_CONVEX);
    }
    fil_scene_destroy(scene);
}

static void wrong_changes_are_named(void) {
    static const struct {
        const char *change, *sentence;
    } cases[] = {
        {"radius", "--set radius: it must be path=value, for example rods[3].radius=2mm"},
        {"rods[7].radius=1", "--set rods[7].radius=1: the list has 1 entries; the first is [0]"},
        {"rods.radius=1", "--set rods.radius=1: rods. is no object"},
        {"duration[0]=1", "--set duration[0]=1: duration is no list"},
        {"rods[x]=1", "--set rods[x]=1: [ must be followed by an index or * and a ]"},
        {"rods[0]radius=1", "--set rods[0]radius=1: the path must be like rods[3].radius"},
        {"rods..radius=1", "--set rods..radius=1: a name is missing in the path"},
        {"rods[0].radius=-1",
         "--set rods[0].radius=-1: rods[0].radius is -1; it must be positive (m)"},
        {"rods[0].raduis=1",
         "--set rods[0].raduis=1: rods[0].raduis is not known; did you mean radius?"},
        {"duration=\xff", "a change given by --set is no UTF-8 text"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const FilSceneOptions options = {.changes = &cases[k].change, .change_count = 1};
        CHECK(refused_with("{\"duration\": 1, \"rods\": [{}]}", &options, cases[k].sentence));
    }
}

// --------------------------------------------------------------------------------------- motion

static void motions_have_the_rates_of_their_poses(void) {
    const FilMotionKey keys[] = {{0.2, {0, 0, 0}, {0, 0, 0}},
                                 {0.7, {0.1, 0, 0.3}, {0.4, -1.0, 0.2}},
                                 {1.5, {0.2, 0.1, -0.3}, {0.5, 2.0, 0.1}}};
    FilMotion motion = fil_motion_default();
    motion.keys = keys;
    motion.key_count = 3;
    motion.pivot[1] = 0.3;
    motion.spin[2] = 3.0;
    motion.velocity[0] = 0.5;
    motion.swing_at[1] = 0.1;
    motion.swing_turn[0] = 0.4;
    motion.swing_period = 0.9;
    const FilPose start = {.position = {1.0, 2.0, 3.0}, .axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    for (double t = 0.05; t < 1.9; t += 0.1) {
        const double h = 1e-5;
        FilPose now, before, after;
        FilRate rate;
        fil_motion_at(&motion, t, &start, &now, &rate);
        fil_motion_at(&motion, t - h, &start, &before, NULL);
        fil_motion_at(&motion, t + h, &start, &after, NULL);
        for (int k = 0; k < 3; k++) {
            double turned[3];
            CHECK_NEAR((after.position[k] - before.position[k]) / (2 * h), rate.velocity[k], 1e-7,
                       1e-7);
            fil_cross3(rate.spin, now.axis[k], turned);
            for (int j = 0; j < 3; j++) {
                CHECK_NEAR((after.axis[k][j] - before.axis[k][j]) / (2 * h), turned[j], 1e-6, 1e-6);
            }
        }
    }
}

static void keys_are_met_and_never_overshot(void) {
    const FilMotionKey keys[] = {{0.0, {0, 0, 0}, {0, 0, 0}},
                                 {1.0, {1.0, 0, 0}, {0, 0, 0}},
                                 {1.1, {1.0, 0, 0}, {0, 0, 0}},
                                 {3.0, {-2.0, 0, 0}, {0, 0, 0}}};
    FilMotion motion = fil_motion_default();
    motion.keys = keys;
    motion.key_count = 4;
    const FilPose start = {.axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    FilPose pose;
    for (int k = 0; k < 4; k++) {
        fil_motion_at(&motion, keys[k].time, &start, &pose, NULL);
        CHECK_NEAR(pose.position[0], keys[k].at[0], 0.0, 1e-15);
    }
    for (double t = -1.0; t < 5.0; t += 0.01) {
        fil_motion_at(&motion, t, &start, &pose, NULL);
        CHECK(pose.position[0] <= 1.0 + 1e-12 && pose.position[0] >= -2.0 - 1e-12);
        CHECK(!(t > 1.0 && t < 1.1) || pose.position[0] == 1.0);
    }
}

static void what_follows_keeps_together(void) {
    FilScene *scene = read(
        "{\"duration\": 1, \"friction_default\": 0.3, \"obstacles\": [{\"name\": \"head\", "
        "\"shape\": \"sphere\", \"radius\": 0.1, \"at\": [0, 0, 1], \"motion\": {\"pivot\": [0, 0, "
        "0.8], \"spin\": [0, 1, \"1 turn/s\"], \"velocity\": [1, 0, 0]}}], \"hairs\": [{\"count\": "
        "5, \"on\": \"head\", \"rod\": {}}]}");
    if (scene == NULL) {
        return;
    }
    FilPose head;
    fil_motion_at(scene->obstacles[0].motion, 0.37, &scene->obstacles[0].pose, &head, NULL);
    for (int k = 0; k < scene->rod_count; k++) {
        const FilRodDef *def = &scene->rods[k].def;
        FilPose root = def->root;
        CHECK(def->root_end.motion == fil_motion_apply);
        fil_motion_apply(def->root_end.user, 0.37, &root);
        double arm[3];
        fil_subtract3(root.position, head.position, arm);
        CHECK_NEAR(fil_norm3(arm), 0.1 + 0.5 * scene->rods[k].contact_radius, 1e-13, 0.0);
    }
    fil_scene_destroy(scene);
}

// ------------------------------------------------------------------------------------------ fit

// A circle of radius R, given by points: every model lies on it, closer with more elements.
static void rods_lie_on_the_circle_given_by_points(void) {
    double points[3 * 200];
    const double radius = 0.1, turn = 1.5 * PI;
    for (int k = 0; k < 200; k++) {
        const double angle = turn * k / 199;
        points[3 * k] = radius * sin(angle);
        points[3 * k + 1] = 0.3;
        points[3 * k + 2] = radius * (1.0 - cos(angle));
    }
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        for (int n = 8; n <= 32; n *= 4) {
            FilArena arena = fil_arena_make(NULL);
            FilRodDef def = fil_rod_def_default();
            def.model = (FilRodModel)model;
            def.element_count = n;
            def.length = 0.0;
            const FilRodCurve curve = {.points = points, .point_count = 200, .up = {0, 0, 1}};
            FilRodFit fit;
            FilError error;
            CHECK(fil_rod_fit(&def, &curve, &arena, &fit, &error) == FIL_OK);
            CHECK_NEAR(fit.length, radius * turn, 1e-4, 0.0);
            // exact for curves of constant curvature; chords are off by their sagitta
            const bool curved = model == FIL_ROD_HELIX || model == FIL_ROD_CLOTHOID;
            const double edge = fit.length / n, sagitta = edge * edge / (8.0 * radius);
            CHECK_NEAR(fit.error, 0.0, 0.0, curved ? 1e-5 * fit.length : 1.3 * sagitta);
            fil_arena_destroy(&arena);
        }
    }
}

static void pretwist_leaves_the_curve_alone(void) {
    double points[3 * 100];
    for (int k = 0; k < 100; k++) {
        const double u = (double)k / 99;
        points[3 * k] = 0.3 * u;
        points[3 * k + 1] = 0.03 * sin(2.0 * PI * u);
        points[3 * k + 2] = 0.02 * cos(2.0 * PI * u);
    }
    for (int twisted = 0; twisted < 2; twisted++) {
        FilArena arena = fil_arena_make(NULL);
        FilRodDef def = fil_rod_def_default();
        def.element_count = 30;
        def.length = 0.0;
        const FilRodCurve curve = {
            .points = points, .point_count = 100, .up = {0, 0, 1}, .pretwist = twisted * 4.0 * PI};
        FilRodFit fit;
        FilError error;
        CHECK(fil_rod_fit(&def, &curve, &arena, &fit, &error) == FIL_OK);
        CHECK(fit.error < 1e-3 * fit.length);
        CHECK_NEAR(fit.curvatures[0] * fit.length, twisted * 4.0 * PI, 1e-12, 0.0);
        fil_arena_destroy(&arena);
    }
}

static void bad_points_are_refused(void) {
    FilArena arena = fil_arena_make(NULL);
    FilRodDef def = fil_rod_def_default();
    def.model = FIL_ROD_DER;
    def.element_count = 2;
    def.length = 0.0;
    double points[] = {0, 0, 0, 1, 0, 0, 0, 1e-9, 0, 1, 1e-8, 0};
    FilRodCurve curve = {.points = points, .point_count = 4, .up = {0, 0, 1}};
    FilRodFit fit;
    FilError error;
    // there and back: bends more than an element of der can, or is followed somehow, never NaN
    if (fil_rod_fit(&def, &curve, &arena, &fit, &error) == FIL_OK) {
        CHECK(isfinite(fit.error) && isfinite(fit.curvatures[1]));
    }
    points[4] = NAN;
    CHECK(fil_rod_fit(&def, &curve, &arena, &fit, &error) == FIL_E_ARGUMENT);
    CHECK(strcmp(error.text, "points[1] is not finite") == 0);
    fil_arena_destroy(&arena);
}

// ----------------------------------------------------------------------------------- generators

static const char *const hairy =
    "{\"duration\": 1, \"friction_default\": 0.3, \"obstacles\": [{\"name\": \"head\", \"shape\": "
    "\"sphere\", \"radius\": 0.1}],\n\"hairs\": [{\"name\": \"h\", \"count\": 200, \"on\": "
    "\"head\", \"spread\": \"60 deg\", \"curl\": {\"radius\": \"1 cm\", \"pitch\": \"3 cm\"},\n"
    "\"vary\": {\"length\": 0.2, \"curl\": 0.1, \"direction\": \"5 deg\"}, \"rod\": {}}]}";

static void the_same_seed_gives_the_same_bits(void) {
    const char *const seeds[] = {"hairs[0].seed=1", "hairs[0].seed=1", "hairs[0].seed=2"};
    FilScene *scenes[3];
    for (int k = 0; k < 3; k++) {
        const FilSceneOptions options = {.changes = &seeds[k], .change_count = 1};
        scenes[k] = read_with(hairy, &options);
    }
    if (scenes[0] != NULL && scenes[1] != NULL && scenes[2] != NULL) {
        for (int k = 0; k < 200; k++) {
            const FilRodDef *a = &scenes[0]->rods[k].def, *b = &scenes[1]->rods[k].def;
            const FilRodDef *c = &scenes[2]->rods[k].def;
            CHECK(check_same_bits(&a->root, &b->root, sizeof a->root));
            CHECK(a->length == b->length && a->length != c->length);
            CHECK(check_same_bits(a->natural_curvature, b->natural_curvature,
                                  sizeof a->natural_curvature));
        }
        CHECK(strcmp(scenes[0]->rods[7].name, "h/7") == 0);
        CHECK(fil_scene_find_rod(scenes[0], "h/199") == 199);
    }
    for (int k = 0; k < 3; k++) {
        fil_scene_destroy(scenes[k]);
    }
}

static void hairs_stand_on_their_part_of_the_head(void) {
    FilScene *scene = read(hairy);
    if (scene == NULL) {
        return;
    }
    double mean = 0.0;
    for (int k = 0; k < scene->rod_count; k++) {
        const FilRodDef *def = &scene->rods[k].def;
        const double *x = def->root.position;
        CHECK_NEAR(fil_norm3(x), 0.1 + 25e-6, 1e-13, 0.0);
        CHECK(x[2] > 0.1 * 0.45);
        CHECK(fil_dot3(x, def->root.axis[0]) > 0.98 * fil_norm3(x)); // along the normal, nearly
        mean += x[2] / scene->rod_count / fil_norm3(x);
        // a helix of radius r and pitch 2 pi p turns by 1 / sqrt(r^2 + p^2)
        const double *kappa = def->natural_curvature;
        const double bend = hypot(kappa[1], kappa[2]), all = bend * bend + kappa[0] * kappa[0];
        CHECK_NEAR(bend / all, 0.01, 0.11, 0.0);
        CHECK_NEAR(2.0 * PI * kappa[0] / all, 0.03, 0.11, 0.0);
    }
    CHECK_NEAR(mean, 0.75, 0.01, 0.0); // even over the cap: (1 + cos 60 deg) / 2
    fil_scene_destroy(scene);
}

static void bundles_are_packed_hexagonally(void) {
    FilScene *scene =
        read("{\"duration\": 1, \"friction_default\": 0.3, \"bundles\": [{\"count\": 37, "
             "\"spacing\": 0.01, \"rod\": {\"model\": \"chain\", \"radius\": 0.004, \"root\": "
             "{\"at\": [1, 2, 3], \"along\": [0, 1, 1]}}}]}");
    if (scene == NULL) {
        return;
    }
    int neighbours = 0;
    for (int a = 0; a < 37; a++) {
        for (int b = 0; b < a; b++) {
            double edge[3];
            fil_subtract3(scene->rods[a].def.root.position, scene->rods[b].def.root.position, edge);
            CHECK(fil_norm3(edge) > 0.01 * (1.0 - 1e-12));
            CHECK_NEAR(edge[1] + edge[2], 0.0, 0.0, 1e-15); // across the direction
            neighbours += fil_norm3(edge) < 0.0101;
        }
    }
    CHECK(neighbours == 90); // a hexagon of 1 + 6 + 12 + 18 has 90 edges
    fil_scene_destroy(scene);
}

// Straight strands, one above another: they lie every way, and none touches another.
static void piles_lie_every_way_and_do_not_touch(void) {
    FilScene *scene =
        read("{\"duration\": 1, \"friction_default\": 0.3, \"piles\": [{\"name\": \"p\", "
             "\"count\": 400, \"jitter\": 0.02, \"rod\": {\"model\": \"chain\", \"length\": "
             "0.5, \"radius\": 0.001, \"root\": {\"at\": [1, 2, 3], \"along\": [0, 1, 0], "
             "\"up\": [1, 0, 0]}}}]}");
    if (scene == NULL) {
        return;
    }
    double along[3][3] = {{0.0}}, off = 0.0;
    for (int i = 0; i < 400; i++) {
        const FilPose *root = &scene->rods[i].def.root;
        double middle[3];
        fil_copy3(root->position, middle);
        fil_add3(0.25, root->axis[0], middle);
        CHECK_NEAR(middle[0], 1.0 + 0.00202 * i, 0.0, 1e-12); // x is up
        CHECK_NEAR(root->axis[0][0], 0.0, 0.0, 1e-12);
        CHECK(fabs(middle[1] - 2.0) <= 0.02 && fabs(middle[2] - 3.0) <= 0.02);
        off += fabs(middle[1] - 2.0) / 400.0;
        for (int k = 0; k < 9; k++) {
            along[k / 3][k % 3] += root->axis[0][k / 3] * root->axis[0][k % 3] / 400.0;
        }
    }
    CHECK_NEAR(off, 0.01, 0.1, 0.0); // evenly within the jitter
    CHECK_NEAR(along[1][1], 0.5, 0.0, 0.1);
    CHECK_NEAR(along[1][2], 0.0, 0.0, 0.1);
    CHECK(strcmp(scene->rods[7].name, "p/7") == 0);
    fil_scene_destroy(scene);
}

static void a_pile_that_is_not_turned_lies_straight(void) {
    FilScene *scene =
        read("{\"duration\": 1, \"friction_default\": 0.3, \"piles\": [{\"count\": 3, \"turn\": 0, "
             "\"spacing\": 0.1, \"rod\": {\"length\": 0.5}}]}");
    if (scene == NULL) {
        return;
    }
    for (int i = 0; i < 3; i++) {
        const FilPose *root = &scene->rods[i].def.root;
        CHECK_NEAR(root->axis[0][0], 1.0, 0.0, 1e-15);
        CHECK_NEAR(root->position[0], -0.25, 0.0, 1e-15);
        CHECK_NEAR(root->position[2], 0.1 * i, 0.0, 1e-15);
    }
    fil_scene_destroy(scene);
}

enum { PLACES = 300 };

static bool trace(const FilSceneRod *from, double x[PLACES][3]) {
    FilRod *rod = NULL;
    FilError error;
    if (fil_rod_create(&from->def, NULL, &rod, &error) != FIL_OK) {
        return false;
    }
    for (int k = 0; k < PLACES; k++) {
        FilPose pose;
        fil_rod_at(rod, from->def.length * k / (PLACES - 1), &pose, NULL);
        fil_copy3(pose.position, x[k]);
    }
    fil_rod_destroy(rod);
    return true;
}

// The least distance between two rods, or of one from itself beyond an arc length of `apart`.
static double rod_gap(const FilSceneRod *a, const FilSceneRod *b, double apart) {
    static double x[PLACES][3], y[PLACES][3];
    double gap = INFINITY;
    if (!trace(a, x) || !trace(b, y)) {
        return 0.0;
    }
    for (int i = 0; i < PLACES; i++) {
        for (int j = 0; j < PLACES; j++) {
            double edge[3];
            fil_subtract3(x[i], y[j], edge);
            if (a != b || a->def.length * abs(i - j) / (PLACES - 1) > apart) {
                gap = fmin(gap, fil_norm3(edge));
            }
        }
    }
    return gap;
}

static void braids_and_yarns_do_not_overlap(void) {
    FilScene *scene = read(
        "{\"duration\": 1, \"friction_default\": 0.3, \"braids\": [{\"name\": \"plait\", "
        "\"width\": \"4 cm\", \"thickness\": \"2 cm\", \"pitch\": \"8 cm\", \"rod\": "
        "{\"model\": \"der\", \"elements\": 60, \"length\": \"30 cm\", \"radius\": \"5 mm\"}}],"
        "\n\"bundles\": [{\"count\": 7, \"turns\": 1.5, \"spacing\": \"11 mm\", \"rod\": "
        "{\"model\": \"clothoid\", \"elements\": 20, \"length\": \"40 cm\", \"radius\": "
        "\"5 mm\", \"root\": {\"at\": [0, 1, 0]}}}]}");
    if (scene == NULL) {
        return;
    }
    CHECK(scene->rod_count == 10);
    for (int a = 0; a < scene->rod_count; a++) {
        CHECK(scene->rods[a].fit_error < 0.5e-3);
        for (int b = 0; b < a; b++) {
            CHECK(rod_gap(&scene->rods[a], &scene->rods[b], 0.0) > 0.0095);
        }
    }
    // the yarn: the middle strand is straight, the others are longer
    const double outer = hypot(0.4, 3.0 * PI * 0.011);
    bool found = false;
    for (int a = 0; a < scene->rod_count; a++) {
        found = found || fabs(scene->rods[a].def.length - outer) < 1e-5;
    }
    CHECK(found);
    fil_scene_destroy(scene);
    CHECK(
        refused("{\"duration\": 1, \"braids\": [{\"width\": 0.04, \"thickness\": 0.005, \"pitch\": "
                "0.08, \"rod\": {\"radius\": 0.005}}]}",
                "t.json:1:28: braids[0] brings its strands to 0.00425 m of each other; their "
                "contact radius of 0.005 m needs 0.01 m"));
}

static void knots_are_loose_and_their_tails_straight(void) {
    static const char *const kinds[] = {"overhand", "figure-eight", "cinquefoil"};
    for (int k = 0; k < 3; k++) {
        char text[400];
        (void)snprintf(text, sizeof text,
                       "{\"duration\": 1, \"friction_default\": 0, \"knots\": [{\"name\": \"k\", "
                       "\"kind\": \"%s\", \"size\": \"20 cm\", \"rod\": {\"elements\": 150, "
                       "\"length\": \"3 m\", \"radius\": \"2 mm\", \"root\": {\"at\": [0, 0, 1], "
                       "\"along\": [0, 1, 0]}}}]}",
                       kinds[k]);
        FilScene *scene = read(text);
        if (scene == NULL) {
            continue;
        }
        const FilSceneRod *rod = &scene->rods[0];
        CHECK(rod->def.length == 3.0 && rod->self_contact);
        CHECK_NEAR(rod->fit_error, 0.0, 0.0, 2e-3);
        CHECK(rod->def.root.axis[0][1] > 0.999); // leaves along the line
        CHECK(rod_gap(rod, rod, 0.05) > 0.004);
        fil_scene_destroy(scene);
    }
    CHECK(
        refused("{\"duration\": 1, \"friction_default\": 0, \"knots\": [{\"size\": 0.01, \"rod\": "
                "{\"length\": 1, \"radius\": 0.01}}]}",
                "t.json:1:59: knots[0].size is 0.01 m; the rod would pass itself at 0.0016 m, "
                "and its contact radius of 0.01 m needs 0.02 m"));
    CHECK(refused("{\"duration\": 1, \"friction_default\": 0, \"knots\": [{\"size\": 0.2, \"rod\": "
                  "{\"elements\": 6, \"length\": 2, \"radius\": 0.002}}]}",
                  "t.json:1:84: knots[0].rod.elements is 6; a rod of so few is off its curve by "
                  "0.177 m, where parts pass each other at 0.0307 m; take more"));
}

static void arrays_copy_rods_and_bodies(void) {
    FilScene *scene = read(
        "{\"duration\": 1, \"friction_default\": 0.3, \"arrays\": [{\"name\": \"c\", \"count\": "
        "[2, 3, 4], \"spacing\": [1, 2, 3], \"body\": {\"shape\": \"box\", \"size\": [0.5, 0.5, "
        "0.5], \"at\": [7, 0, 0], \"mass\": \"5 g\"}}, {\"count\": [3, 1, 1], \"spacing\": [0, 0, "
        "1], \"jitter\": 0.01, \"rod\": {\"points\": [[0, 0, 0], [1, 0, 0], [2, 1, 0]]}}]}");
    if (scene == NULL) {
        return;
    }
    CHECK(scene->body_count == 24 && scene->rod_count == 3);
    const FilSceneBody *last = &scene->bodies[23];
    CHECK(last->pose.position[0] == 8.0 && last->pose.position[1] == 4.0);
    CHECK(last->pose.position[2] == 9.0 && last->mass == 5e-3);
    CHECK(strcmp(last->name, "c/23") == 0);
    CHECK(scene->rods[0].start == FIL_START_POINTS);
    CHECK(scene->rods[0].def.start_curvatures == scene->rods[2].def.start_curvatures);
    CHECK(fabs(scene->rods[1].def.root.position[0]) <= 0.01);
    fil_scene_destroy(scene);
}

// -------------------------------------------------------------------------------------- the rest

static void start_and_natural_shapes_are_apart(void) {
    FilScene *scene = read(
        "{\"duration\": 1, \"friction_default\": 0.3, \"rods\": [\n"
        "{\"natural\": {\"curvature\": [0, 40]}, \"start\": \"straight\", \"pretwist\": \"1 "
        "turn\"},\n"
        "{\"start\": \"equilibrium\"},\n"
        "{\"elements\": 2, \"start\": \"curvatures\", \"curvatures\": [[0, 1, 2], [3, 4, 5]]},\n"
        "{\"points\": [[0, 0, 0], [1, 0, 0], [2, 1, 0]], \"natural\": {\"shape\": "
        "\"start\"}},\n"
        "{\"natural\": {\"curvature\": [0, 40]}, \"pretwist\": 2}]}");
    if (scene == NULL) {
        return;
    }
    const FilRodDef *straight = &scene->rods[0].def, *table = &scene->rods[2].def;
    const FilRodDef *drawn = &scene->rods[3].def, *wound = &scene->rods[4].def;
    CHECK(straight->natural_curvature[2] == 40.0 && straight->start_curvatures[2] == 0.0);
    CHECK_NEAR(straight->start_curvatures[0], 2.0 * PI / 0.2, 1e-15, 0.0);
    CHECK(scene->rods[1].start == FIL_START_EQUILIBRIUM);
    CHECK(table->start_count == 2 && table->start_curvatures[5] == 5.0);
    CHECK(drawn->natural_curvatures == drawn->start_curvatures && drawn->natural_count == 11);
    CHECK(wound->start_curvatures[0] == 10.0 && wound->start_curvatures[2] == 40.0);
    fil_scene_destroy(scene);
}

// Points on a slanted line give curvatures of 1e-12, which are none.
static void a_straight_chain_may_be_its_natural_shape(void) {
    FilScene *scene = read_with(
        "{\"duration\": 1, \"rods\": [{\"model\": \"chain\", \"elements\": 30, \"points\": [[0.1, "
        "0.2, "
        "0.3], [0.1777, 0.2888, 0.3999], [0.2554, 0.3776, 0.4998], [0.3331, 0.4664, 0.5997]], "
        "\"natural\": {\"shape\": \"start\"}}]}",
        NULL);
    if (scene != NULL) {
        const FilRodDef *def = &scene->rods[0].def;
        FilRod *rod = NULL;
        FilError error;
        double kappa[3], largest = 0.0;
        for (int k = 0; k < 3 * def->natural_count; k++) {
            largest = fmax(largest, fabs(def->natural_curvatures[k]));
        }
        CHECK(largest > 0.0 && largest < 1e-8); // or there would be nothing to see here
        CHECK(fil_rod_create(def, NULL, &rod, &error) == FIL_OK);
        fil_rod_natural_at(rod, 7, 0.5, kappa);
        CHECK(kappa[0] == 0.0 && kappa[1] == 0.0 && kappa[2] == 0.0);
        fil_rod_destroy(rod);
    }
    fil_scene_destroy(scene);
    CHECK(refused(
        "{\"duration\": 1, \"rods\": [{\"model\": \"chain\", \"points\": [[0, 0, 0], [1, 0, "
        "0], [2, 0, 1e-3]], \"natural\": {\"shape\": \"start\"}}]}",
        "t.json:1:26: rods[0]: natural_curvatures has kappa1 = -0.000755995 in element 0; "
        "the model chain has no frames, it must be 0"));
}

static void trees_have_elements_of_their_own(void) {
    FilScene *scene = read("{\"duration\": 1, \"rods\": [{\"model\": \"helix\", \"radius\": 0.01, "
                           "\"tree\": [{\"parent\": -1, \"length\": 1}, {\"parent\": 0, "
                           "\"length\": 0.5, \"radius\": 0.005, \"turn\": [0, \"30 deg\", 0]}, "
                           "{\"parent\": 0, \"length\": 0.5, \"turn\": [0, \"-30 deg\", 0], "
                           "\"curvature\": [0, 1]}]}]}");
    if (scene == NULL) {
        return;
    }
    const FilRodDef *def = &scene->rods[0].def;
    CHECK(def->element_count == 3 && def->length == 2.0 && def->joints[2].parent == 0);
    CHECK(def->sections[0].radius == 0.01 && def->sections[1].radius == 0.005);
    CHECK_NEAR(def->joints[1].axis[0][2], -0.5, 1e-15, 0.0); // turned about y: x goes to -z
    CHECK(def->natural_curvatures[8] == 1.0);
    FilRod *rod = NULL;
    FilError error;
    CHECK(fil_rod_create(def, NULL, &rod, &error) == FIL_OK);
    fil_rod_destroy(rod);
    fil_scene_destroy(scene);
}

static void joints_and_events_find_their_things(void) {
    FilScene *scene = read(
        "{\"duration\": 1, \"friction_default\": 0.3, \"rods\": [{\"name\": \"a\"}, {\"name\": "
        "\"b\"}], \"bodies\": [{\"name\": \"ball\", \"shape\": \"sphere\", \"radius\": 0.1}],\n"
        "\"joints\": [{\"a\": {\"rod\": \"a\"}, \"b\": {\"body\": \"ball\", \"at\": [0, 0, 0.1]}}, "
        "{\"kind\": \"clamped\", \"a\": {\"rod\": \"b\", \"s\": 0.05}, \"b\": {\"at\": [1, 0, 0]}}"
        "],\n\"events\": [{\"time\": 0.1, \"gravity\": [0, 0, 1]}, {\"time\": \"200 ms\", \"rod\": "
        "\"b\", \"release\": \"root\"}, {\"time\": 0.2, \"length\": \"30 cm\"}]}");
    if (scene == NULL) {
        return;
    }
    CHECK(scene->joint_count == 2 && scene->event_count == 3);
    CHECK(scene->joints[0].a.rod == 0 && scene->joints[0].a.s == 0.2);
    CHECK(scene->joints[0].b.body == 0 && scene->joints[0].b.at[2] == 0.1);
    CHECK(scene->joints[1].kind == FIL_JOINT_CLAMPED && scene->joints[1].a.s == 0.05);
    CHECK(scene->joints[1].b.rod == -1 && scene->joints[1].b.body == -1);
    CHECK(scene->events[0].kind == FIL_EVENT_GRAVITY && scene->events[0].vector[2] == 1.0);
    CHECK(scene->events[1].kind == FIL_EVENT_RELEASE_ROOT && scene->events[1].rod == 1);
    CHECK(scene->events[2].kind == FIL_EVENT_LENGTH && scene->events[2].value == 0.3);
    CHECK(scene->events[2].rod == -1);
    fil_scene_destroy(scene);
}

static void bodies_and_rods_are_pushed(void) {
    FilScene *scene = read(
        "{\"duration\": 1, \"friction_default\": 0.3, \"rods\": [{\"line_load\": [2, 0, 0], "
        "\"elements\": 4, \"loads\": [{\"force\": [0, 0, 1]}]}], \"bodies\": [{\"name\": "
        "\"ball\", \"shape\": \"sphere\", \"radius\": 0.1, \"force_rate\": [\"2 N/s\", 0, 0]}],\n"
        "\"joints\": [{\"a\": {\"body\": \"ball\"}, \"b\": {\"at\": [0, 0, 1], \"motion\": "
        "{\"velocity\": [1, 0, 0]}}}]}");
    if (scene == NULL) {
        return;
    }
    const FilRodDef *def = &scene->rods[0].def;
    double sum = 0.0;
    CHECK(def->load_count == 5);
    for (int k = 0; k < def->load_count; k++) {
        sum += def->loads[k].force[0];
    }
    CHECK_NEAR(sum, 2.0 * 0.2, 1e-15, 0.0);
    CHECK(scene->bodies[0].force_rate[0] == 2.0);
    CHECK(scene->joints[0].b.motion != NULL && scene->joints[0].b.motion->velocity[0] == 1.0);
    fil_scene_destroy(scene);
}

static void friction_is_a_table_of_pairs(void) {
    FilScene *scene =
        read("{\"duration\": 1, \"materials\": {\"a\": {}, \"b\": {}, \"c\": {}}, \"friction\": "
             "[{\"between\": [\"a\", \"b\"], \"mu\": 0.5}], \"rods\": [{\"material\": \"a\"}], "
             "\"obstacles\": [{\"shape\": \"plane\", \"material\": \"b\"}]}");
    if (scene == NULL) {
        return;
    }
    CHECK(scene->friction[1] == 0.5 && scene->friction[3] == 0.5 && scene->friction[2] < 0.0);
    CHECK(!scene->rods[0].self_contact); // nothing is said of a with itself
    fil_scene_destroy(scene);
}

static void a_million_rods_are_counted_before_they_are_made(void) {
    const char *text = "{\"duration\": 1, \"friction_default\": 0.3, \"obstacles\": [{\"name\": "
                       "\"h\", \"shape\": \"sphere\", \"radius\": 1}], \"hairs\": [{\"count\": "
                       "1000000, \"on\": \"h\", \"rod\": {\"elements\": 4}}]}";
    const FilSceneOptions count = {.count_only = true};
    FilScene *scene = read_with(text, &count);
    if (scene != NULL) {
        CHECK(scene->estimate.rods == 1000000 && scene->estimate.elements == 4000000);
        CHECK(scene->estimate.dofs == 15000000 && scene->estimate.steps == 1000);
        CHECK(scene->estimate.run_bytes > 10000000000LL && scene->rods == NULL);
    }
    fil_scene_destroy(scene);
    const FilSceneOptions limit = {.memory_limit = 8000000000};
    CHECK(refused_with(text, &limit,
                       "t.json:1:151: hairs[0].rod asks for too much: 1000000 rods with 4000000 "
                       "elements and 0 bodies take about 87.2 GB; the limit is 8 GB"));
}

static void read_scene_file(const char *name) {
    char path[600];
    (void)snprintf(path, sizeof path, "%s/%s", SCENES, name);
    FilScene *scene = NULL;
    FilError error;
    const FilStatus status = fil_scene_read(path, NULL, NULL, &scene, &error);
    if (status != FIL_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
    }
    CHECK(status == FIL_OK);
    CHECK(scene != NULL && scene->look[0] != '\0' && scene->name[0] != '\0');
    CHECK(scene != NULL && scene->rod_count == scene->estimate.rods);
    CHECK(scene != NULL && scene->body_count == scene->estimate.bodies);
    CHECK(scene != NULL && scene->obstacle_count == scene->estimate.obstacles);
    fil_scene_destroy(scene);
}

static void every_scene_in_the_folder_is_read(void) {
    DIR *folder = opendir(SCENES);
    CHECK(folder != NULL);
    int count = 0;
    for (const struct dirent *entry = folder != NULL ? readdir(folder) : NULL; entry != NULL;
         entry = readdir(folder)) {
        const char *dot = strrchr(entry->d_name, '.');
        if (dot != NULL && strcmp(dot, ".json") == 0) {
            read_scene_file(entry->d_name);
            count++;
        }
    }
    CHECK(count >= 30);
    if (folder != NULL) {
        (void)closedir(folder);
    }
}

// Fail the 1st, 2nd, ... allocation until the call succeeds; ASan proves that nothing leaks.
// --- scenes with mistakes ------------------------------------------------------------------------

// Where a token of JSON begins and ends: a text, a number or word, a bracket; `at` is before it.
static size_t find_token(const char *text, size_t at, size_t *end) {
    at += strspn(text + at, " \t\r\n,:");
    *end = at + 1;
    if (text[at] == '"') {
        while (text[*end] != '"' && text[*end] != '\0') {
            *end += text[*end] == '\\' && text[*end + 1] != '\0' ? 2 : 1;
        }
        *end += text[*end] == '"' ? 1 : 0;
    } else if (strchr("[]{}", text[at]) == NULL) {
        *end = at + strcspn(text + at, " \t\r\n,:[]{}\"");
    }
    return at;
}

// A random token is left out, or another takes its place. Comments may be hit, which is fine.
static void spoil(FilRandom *random, const char *text, char *out) {
    static const char *const words[] = {"0",     "-1",       "1e-300",    "1e300",   "1e-12",
                                        "1e12",  "\"x\"",    "\"\"",      "[]",      "{}",
                                        "null",  "true",     "[0, 0, 0]", "[1, 2]",  "\"1 m\"",
                                        "1.5",   "\"3 kg\"", "100000",    "2.5e9",   "\"-1 mm\"",
                                        "1e308", "",         "}",         "\"nan\"", "[[1, 2, 3]]"};
    enum { WORDS = sizeof words / sizeof *words };
    const size_t size = strlen(text);
    size_t end,
        at = find_token(text, (size_t)(fil_random_uniform(random, 0.0, 1.0) * (double)size), &end);
    const char *word = words[(int)fil_random_uniform(random, 0.0, WORDS - 1e-9)];
    if (at >= size) {
        at = end = size;
    }
    (void)sprintf(out, "%.*s%s%s", (int)at, text, word, text + end);
}

// Whether a refusal begins with file, line and column, the same that the error has.
static bool has_place(const FilError *error, const char *file) {
    char place[600];
    (void)snprintf(place, sizeof place, "%s:%d:%d: ", file, error->line, error->column);
    const bool told = error->line > 0 && error->column > 0;
    if (error->status == FIL_E_NO_MEMORY ||
        (told && strncmp(error->text, place, strlen(place)) == 0)) {
        return true;
    }
    (void)fprintf(stderr, "  no place: %s\n", error->text);
    return false;
}

// Read, and made, where it is small: it must be one or the other.
static bool try_spoiled(const char *text, bool *is_refused) {
    const char *file = SCENES "/t.json"; // whose folder has the meshes
    const FilSceneOptions few = {.memory_limit = 100000000};
    FilScene *scene = NULL;
    FilStage *stage = NULL;
    FilError error;
    FilStatus status = fil_scene_read_text(file, text, strlen(text), &few, NULL, &scene, &error);
    if (status == FIL_OK && scene->estimate.elements < 500) {
        status = fil_stage_create(scene, 1, NULL, NULL, &stage, &error);
    }
    *is_refused = status != FIL_OK;
    const bool fine = status == FIL_OK || has_place(&error, file);
    fil_stage_destroy(stage);
    fil_scene_destroy(scene);
    return fine;
}

static void every_spoiled_scene_is_refused_with_line_and_column(void) {
    static const char *const names[] = {
        "ball-in-loop",  "bundle-drop", "cube-pile", "knot",   "ribbon", "tendril",
        "tresca-solids", "twining-3d",  "wavy-hair", "willow", "poster", "lock"};
    static char text[100000], spoiled[100100];
    FilRandom random = fil_random_make(15);
    int refused_count = 0;
    for (int k = 0; k < 1200; k++) {
        char path[300];
        bool is_refused;
        (void)snprintf(path, sizeof path, SCENES "/%s.json", names[k % 12]);
        FILE *file = fopen(path, "r");
        CHECK(file != NULL);
        if (file == NULL) {
            return;
        }
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        (void)fclose(file);
        spoil(&random, text, spoiled);
        CHECK(try_spoiled(spoiled, &is_refused));
        refused_count += is_refused ? 1 : 0;
    }
    CHECK(refused_count > 600);
}

static void *failing_resize(void *user, void *block, size_t old_size, size_t new_size) {
    (void)old_size;
    int *left = user;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    return (*left)-- > 0 ? realloc(block, new_size) : NULL;
}

static void every_allocation_may_fail(void) {
    FilStatus status = FIL_E_NO_MEMORY;
    int allowed = 0;
    const char *text = "{\"duration\": 1, \"friction_default\": 0.3, \"rods\": [{\"points\": [[0, "
                       "0, 0], [1, 0, 0], [2, 1, 0]], \"elements\": 4}], \"arrays\": [{\"name\": "
                       "\"x\", \"count\": [2, 2, 1], \"spacing\": [1, 1, 1], \"rod\": {}}]}";
    for (; status == FIL_E_NO_MEMORY && allowed < 1000; allowed++) {
        int left = allowed;
        const FilAllocator allocator = {.resize = failing_resize, .user = &left};
        FilScene *scene = NULL;
        FilError error = {0};
        status =
            fil_scene_read_text("t.json", text, strlen(text), NULL, &allocator, &scene, &error);
        CHECK(status == FIL_OK || (scene == NULL && error.text[0] != '\0'));
        fil_scene_destroy(scene);
    }
    CHECK(status == FIL_OK && allowed > 5);
}

#define TESTS(X)                                           \
    X(json_keeps_the_place_of_every_value)                 \
    X(json_texts_may_be_escaped)                           \
    X(json_errors_are_one_sentence_with_a_place)           \
    X(json_is_bounded)                                     \
    X(numbers_do_not_depend_on_the_locale)                 \
    X(quantities_carry_units)                              \
    X(quantities_of_another_kind_are_refused)              \
    X(every_field_is_documented)                           \
    X(every_table_that_is_used_is_in_the_list)             \
    X(reference_and_schema_name_every_field)               \
    X(the_page_in_docs_is_what_the_tables_say)             \
    X(defaults_are_those_of_the_library)                   \
    X(messages_name_place_path_value_and_rule)             \
    X(wrong_types_are_named)                               \
    X(wrong_units_are_named)                               \
    X(things_that_do_not_fit_together_are_named)           \
    X(things_that_are_not_there_are_named)                 \
    X(a_missing_mesh_is_an_error_at_its_name)              \
    X(missing_files_and_folders_are_named)                 \
    X(changes_come_before_decoding)                        \
    X(wrong_changes_are_named)                             \
    X(motions_have_the_rates_of_their_poses)               \
    X(keys_are_met_and_never_overshot)                     \
    X(what_follows_keeps_together)                         \
    X(rods_lie_on_the_circle_given_by_points)              \
    X(pretwist_leaves_the_curve_alone)                     \
    X(bad_points_are_refused)                              \
    X(the_same_seed_gives_the_same_bits)                   \
    X(hairs_stand_on_their_part_of_the_head)               \
    X(bundles_are_packed_hexagonally)                      \
    X(piles_lie_every_way_and_do_not_touch)                \
    X(a_pile_that_is_not_turned_lies_straight)             \
    X(braids_and_yarns_do_not_overlap)                     \
    X(knots_are_loose_and_their_tails_straight)            \
    X(arrays_copy_rods_and_bodies)                         \
    X(start_and_natural_shapes_are_apart)                  \
    X(a_straight_chain_may_be_its_natural_shape)           \
    X(trees_have_elements_of_their_own)                    \
    X(joints_and_events_find_their_things)                 \
    X(bodies_and_rods_are_pushed)                          \
    X(friction_is_a_table_of_pairs)                        \
    X(a_million_rods_are_counted_before_they_are_made)     \
    X(every_spoiled_scene_is_refused_with_line_and_column) \
    X(every_scene_in_the_folder_is_read)                   \
    X(every_allocation_may_fail)

CHECK_MAIN(TESTS)
