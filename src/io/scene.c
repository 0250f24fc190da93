// scene.c - from a file to a scene.
//
//   1. read the JSON, apply the changes, decode it by the tables (spec.c) into FilSceneSpec
//   2. count what it asks for, before any of it is made: a million rods are refused, not tried
//   3. materials, obstacles, bodies, rods one by one and from generators, friction, joints, events
//
// Everything lives in one arena, which goes with the scene.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "scene_build.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "math/rotation.h"
#include "math/vec3.h"

// ------------------------------------------------------------------------------------ small tools

FilStatus fil_scene_no_memory(const FilSceneBuild *build) {
    return fil_fail(build->error, FIL_E_NO_MEMORY, "%s: not enough memory for the scene",
                    build->holder->scene.file);
}

FilStatus fil_scene_fail_inside(const FilSceneBuild *build, const void *record) {
    FilRecord head;
    memcpy(&head, record, sizeof head);
    if (build->error == NULL) {
        return FIL_E_FORMAT;
    }
    if (build->error->status == FIL_E_NO_MEMORY) {
        return FIL_E_NO_MEMORY;
    }
    char path[80];
    fil_json_path(head.json, path, sizeof path);
    if (head.json->line == 0) {
        return fil_fail(build->error, FIL_E_FORMAT, "%s: %s: %s", build->holder->scene.file, path,
                        build->error->text);
    }
    return fil_fail_at(build->error, FIL_E_FORMAT, head.json->line, head.json->column,
                       "%s:%d:%d: %s: %s", build->holder->scene.file, head.json->line,
                       head.json->column, path, build->error->text);
}

const char *fil_scene_item_name(const FilSceneBuild *build, const char *name, int index) {
    if (name[0] == '\0') {
        return "";
    }
    const size_t size = strlen(name) + 16;
    char *text = FIL_NEW(build->arena, char, size);
    if (text != NULL) {
        (void)snprintf(text, size, "%s/%d", name, index);
    }
    return text != NULL ? text : ""; // the arena remembers the failure
}

const char *fil_scene_path(const FilSceneBuild *build, const char *file) {
    const char *folder = build->holder->scene.folder;
    const size_t size = strlen(folder) + strlen(file) + 2;
    char *path = FIL_NEW(build->arena, char, size);
    if (path != NULL) {
        const bool absolute = file[0] == '/';
        (void)snprintf(path, size, "%s%s%s", absolute ? "" : folder, absolute ? "" : "/", file);
    }
    return path;
}

FilRandom fil_scene_random(const FilSceneBuild *build, int seed, int index) {
    FilRandom random = fil_random_make((uint64_t)(unsigned)build->spec.seed);
    random.state ^= fil_random_bits(&random) + (uint64_t)(unsigned)seed;
    random.state ^= fil_random_bits(&random) + (uint64_t)(unsigned)index;
    (void)fil_random_bits(&random);
    return random;
}

void fil_scene_turned_axes(const double turn[3], double axis[3][3]) {
    double R[9];
    fil_rotation_exp(turn, R);
    for (int k = 0; k < 9; k++) {
        axis[k % 3][k / 3] = R[k]; // axis k is column k
    }
}

#define FINDER(kind, items, counter)                                          \
    int fil_scene_find_##kind(const FilScene *scene, const char *name) {      \
        for (int k = 0; k < scene->counter && scene->items != NULL; k++) {    \
            if (name[0] != '\0' && strcmp(scene->items[k].name, name) == 0) { \
                return k;                                                     \
            }                                                                 \
        }                                                                     \
        return -1;                                                            \
    }
FINDER(rod, rods, rod_count)
FINDER(obstacle, obstacles, obstacle_count)
FINDER(body, bodies, body_count)
FINDER(material, materials, material_count)

// -------------------------------------------------------------------------------------- building

static void copy_settings(FilSceneBuild *build) {
    const FilSceneSpec *spec = &build->spec;
    FilScene *scene = &build->holder->scene;
    scene->name = spec->name;
    scene->look = spec->look;
    scene->duration = spec->duration;
    scene->step = spec->step;
    fil_copy3(spec->gravity, scene->gravity);
    fil_copy3(spec->wind, scene->wind);
    scene->theta = spec->theta;
    scene->seed = (uint64_t)spec->seed;
    const FilContactSpec *contact = &spec->contact;
    scene->contact = (FilSceneContact){.kind = (FilContactKind)contact->kind,
                                       .law = (FilFrictionLaw)contact->law,
                                       .margin = contact->margin,
                                       .stiffness = contact->stiffness,
                                       .damping = contact->damping,
                                       .slip_speed = contact->slip_speed,
                                       .facets = contact->facets,
                                       .substeps = contact->substeps,
                                       .sweep = contact->sweep,
                                       .sleep_speed = contact->sleep_speed,
                                       .sleep_after = contact->sleep_after};
    FilFrictionSettings *settings = &scene->friction_settings;
    *settings = fil_friction_settings_default();
    settings->solver = (FilFrictionSolver)spec->solver.name;
    settings->local = (FilLocalSolver)spec->solver.local;
    settings->function = (FilNewtonFunction)spec->solver.function;
    settings->convex = (FilConvexSolver)spec->solver.convex;
    settings->tolerance = spec->solver.tolerance;
    settings->max_iterations = spec->solver.iterations;
    settings->budget = spec->solver.budget;
    settings->facet_count = contact->facets;
    settings->warm_start = true;
    scene->output = (FilSceneOutput){
        .every = spec->output.every, .save = spec->output.save, .fields = spec->output.fields};
}

static FilStatus check_times(const FilSceneBuild *build) {
    const FilSceneSpec *spec = &build->spec;
    if (spec->step > spec->duration) {
        return fil_table_fail(&build->decoder, &fil_spec_scene, spec, offsetof(FilSceneSpec, step),
                              "is %g s; it must not be longer than the duration, %g s", spec->step,
                              spec->duration);
    }
    if (spec->duration / spec->step > 1e12) {
        return fil_table_fail(&build->decoder, &fil_spec_scene, spec, offsetof(FilSceneSpec, step),
                              "is %g s; that is more than 1e12 steps", spec->step);
    }
    return FIL_OK;
}

static FilStatus allocate(FilSceneBuild *build) {
    const FilSceneEstimate *estimate = &build->holder->scene.estimate;
    build->rods = FIL_NEW_ZEROED(build->arena, FilSceneRod, estimate->rods + 1);
    build->obstacles = FIL_NEW_ZEROED(build->arena, FilSceneObstacle, estimate->obstacles + 1);
    build->bodies = FIL_NEW_ZEROED(build->arena, FilSceneBody, estimate->bodies + 1);
    FilScene *scene = &build->holder->scene;
    scene->rods = build->rods;
    scene->obstacles = build->obstacles;
    scene->bodies = build->bodies;
    return build->arena->failed ? fil_scene_no_memory(build) : FIL_OK;
}

// Two things of one kind may not share a name.
typedef struct Named {
    const char *name;
    const FilJson *json;
} Named;

static int compare_names(const void *a, const void *b) {
    const Named *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->json->line > y->json->line) - (x->json->line < y->json->line);
}

static FilStatus check_names(const FilSceneBuild *build, const char *key) {
    const FilJson *list = fil_json_find(build->spec.head.json, key);
    const int count = list != NULL ? list->count : 0;
    const FilArenaMark mark = fil_arena_mark(build->arena);
    Named *names = FIL_NEW(build->arena, Named, count + 1);
    if (names == NULL) {
        return fil_scene_no_memory(build);
    }
    int used = 0;
    for (const FilJson *item = count > 0 ? list->first : NULL; item != NULL; item = item->next) {
        const FilJson *name = fil_json_find(item, "name");
        if (name != NULL && name->text[0] != '\0') {
            names[used++] = (Named){.name = name->text, .json = name};
        }
    }
    qsort(names, (size_t)used, sizeof *names, compare_names);
    for (int k = 1; k < used; k++) {
        if (strcmp(names[k].name, names[k - 1].name) == 0) {
            return fil_json_fail(build->decoder.document, names[k].json, build->error,
                                 "is \"%.40s\"; that name is taken in line %d", names[k].name,
                                 names[k - 1].json->line);
        }
    }
    fil_arena_release(build->arena, mark);
    return FIL_OK;
}

static FilStatus build_all(FilSceneBuild *build) {
    static const char *const named[] = {"rods",      "arrays", "bundles", "piles",
                                        "braids",    "hairs",  "strands", "knots",
                                        "obstacles", "rails",  "bodies"};
    FIL_TRY(allocate(build));
    for (size_t k = 0; k < sizeof named / sizeof *named; k++) {
        FIL_TRY(check_names(build, named[k]));
    }
    FIL_TRY(fil_scene_build_obstacles(build));
    FIL_TRY(fil_scene_build_rails(build));
    FIL_TRY(fil_scene_build_bodies(build));
    FIL_TRY(fil_scene_build_rods(build));
    FIL_TRY(fil_scene_build_arrays(build));
    FIL_TRY(fil_scene_build_bundles(build));
    FIL_TRY(fil_scene_build_piles(build));
    FIL_TRY(fil_scene_build_braids(build));
    FIL_TRY(fil_scene_build_hairs(build));
    FIL_TRY(fil_scene_build_strands(build));
    FIL_TRY(fil_scene_build_knots(build));
    FIL_TRY(fil_scene_check_friction(build));
    FIL_TRY(fil_scene_build_joints(build));
    FIL_TRY(fil_scene_build_events(build));
    return build->arena->failed ? fil_scene_no_memory(build) : FIL_OK;
}

static FilStatus build_scene(FilSceneBuild *build, const char *text, size_t size,
                             const FilSceneOptions *options) {
    FilJsonDocument document;
    const char *file = build->holder->scene.file;
    FIL_TRY(fil_json_read(file, text, size, build->arena, &document, build->error));
    for (int k = 0; k < options->change_count; k++) {
        FIL_TRY(fil_json_set(&document, options->changes[k], build->error));
    }
    build->decoder =
        (FilDecoder){.document = &document, .arena = build->arena, .error = build->error};
    FIL_TRY(fil_table_decode(&build->decoder, &fil_spec_scene, document.root, &build->spec));
    FIL_TRY(check_times(build));
    copy_settings(build);
    FIL_TRY(fil_scene_build_claims(build));
    FIL_TRY(fil_scene_load_strands(build));
    FIL_TRY(fil_scene_count(build, options->memory_limit));
    FIL_TRY(fil_scene_build_materials(build));
    FIL_TRY(fil_scene_build_friction(build));
    return options->count_only ? FIL_OK : build_all(build);
}

// The folder of a path, and the path itself, kept.
static FilStatus keep_path(FilSceneBuild *build, const char *path) {
    const size_t size = strlen(path) + 1;
    char *file = FIL_NEW(build->arena, char, size), *folder = FIL_NEW(build->arena, char, size + 1);
    if (build->arena->failed) {
        return fil_fail(build->error, FIL_E_NO_MEMORY, "%s: not enough memory for the scene", path);
    }
    memcpy(file, path, size);
    memcpy(folder, path, size);
    char *slash = strrchr(folder, '/');
    if (slash == NULL) {
        memcpy(folder, ".", 2);
    } else {
        slash[slash == folder] = '\0'; // the root keeps its slash
    }
    build->holder->scene.file = file;
    build->holder->scene.folder = folder;
    return FIL_OK;
}

FilStatus fil_scene_read_text(const char *name, const char *text, size_t size,
                              const FilSceneOptions *options, const FilAllocator *allocator,
                              FilScene **out, FilError *error) {
    const FilAllocator used = allocator != NULL ? *allocator : fil_libc_allocator;
    FilSceneHolder *holder = used.resize(used.user, NULL, 0, sizeof *holder);
    FilSceneBuild *build = used.resize(used.user, NULL, 0, sizeof *build);
    FilError local = {0}; // messages are made of messages: there must be one
    FilStatus status = FIL_E_NO_MEMORY;
    if (holder == NULL || build == NULL) {
        (void)fil_fail(error, FIL_E_NO_MEMORY, "%s: not enough memory for the scene", name);
    } else {
        memset(holder, 0, sizeof *holder);
        memset(build, 0, sizeof *build);
        holder->allocator = used;
        holder->arena = fil_arena_make(&used);
        build->holder = holder;
        build->arena = &holder->arena;
        build->error = error != NULL ? error : &local;
        const FilSceneOptions none = {0};
        status = keep_path(build, name);
        if (status == FIL_OK) {
            status = build_scene(build, text, size, options != NULL ? options : &none);
            fil_scene_drop_strands(build);
        }
    }
    if (status == FIL_OK) {
        *out = &holder->scene;
    } else if (holder != NULL) {
        if (build != NULL) {
            fil_scene_destroy(&holder->scene);
        } else {
            used.resize(used.user, holder, sizeof *holder, 0);
        }
    }
    if (build != NULL) {
        used.resize(used.user, build, sizeof *build, 0);
    }
    return status;
}

void fil_scene_destroy(FilScene *scene) {
    if (scene != NULL) {
        FilSceneHolder *holder = (FilSceneHolder *)(void *)scene;
        const FilAllocator allocator = holder->allocator;
        for (FilSceneMesh *mesh = holder->meshes; mesh != NULL; mesh = mesh->next) {
            fil_mesh_destroy(mesh->mesh);
        }
        fil_arena_destroy(&holder->arena);
        allocator.resize(allocator.user, holder, sizeof *holder, 0);
    }
}

// ----------------------------------------------------------------------------------------- files

static FilStatus fail_io(const char *path, FilError *error) {
    return fil_fail(error, FIL_E_IO, "%s: cannot read it: %s", path, strerror(errno));
}

// The bytes of a file, at most as many as a scene may have, and one more to notice.
static FilStatus load(FILE *file, const char *path, FilArena *arena, const char **text,
                      size_t *size, FilError *error) {
    struct stat about;
    if (fstat(fileno(file), &about) != 0) {
        return fail_io(path, error);
    }
    if (!S_ISREG(about.st_mode)) {
        return fil_fail(error, FIL_E_IO, "%s is not a regular file", path);
    }
    if (about.st_size > FIL_JSON_SIZE_MAX) {
        return fil_fail(error, FIL_E_FORMAT, "%s has %lld bytes; at most %d are read", path,
                        (long long)about.st_size, FIL_JSON_SIZE_MAX);
    }
    char *bytes = FIL_NEW(arena, char, (size_t)about.st_size + 1);
    if (bytes == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "%s: not enough memory to read it", path);
    }
    *size = fread(bytes, 1, (size_t)about.st_size, file);
    *text = bytes;
    return ferror(file) != 0 ? fail_io(path, error) : FIL_OK;
}

FilStatus fil_scene_read(const char *path, const FilSceneOptions *options,
                         const FilAllocator *allocator, FilScene **out, FilError *error) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return fail_io(path, error);
    }
    FilArena arena = fil_arena_make(allocator);
    const char *text = NULL;
    size_t size = 0;
    FilStatus status = load(file, path, &arena, &text, &size, error);
    (void)fclose(file);
    if (status == FIL_OK) {
        status = fil_scene_read_text(path, text, size, options, allocator, out, error);
    }
    fil_arena_destroy(&arena);
    return status;
}

// --------------------------------------------------------------------------------- documentation

void fil_scene_reference_write(FILE *out) {
    (void)fprintf(
        out,
        "# Scene reference\n\n"
        "A scene is a JSON file; comments (`//` and `/* */`) are allowed. This page is written by\n"
        "the program from the tables that its reader uses.\n\n"
        "Numbers are in SI units, or texts with a unit: `\"12 cm\"`, `\"3.9 GPa\"`, `\"1 ms\"`,\n"
        "`\"30 deg\"`, `\"0.2 N mm\"`, `\"1.3 g/cm^3\"`. Lists may mix both.\n"
        "Directions need no unit length; rotations are vectors, along the axis, as long as the\n"
        "angle.\n");
    int count = 0;
    const FilTable *const *tables = fil_spec_tables(&count);
    for (int k = 0; k < count; k++) {
        fil_table_write_markdown(tables[k], out);
    }
    fil_scene_measures_write(out);
}

void fil_scene_schema_write(FILE *out) {
    (void)fprintf(out, "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
                       "  \"title\": \"Filum scene\",\n  \"$ref\": \"#/$defs/scene\",\n"
                       "  \"$defs\": {\n");
    int count = 0;
    const FilTable *const *tables = fil_spec_tables(&count);
    for (int k = 0; k < count; k++) {
        fil_table_write_schema(tables[k], out);
        (void)fprintf(out, "%s\n", k + 1 < count ? "," : "");
    }
    (void)fprintf(out, "  }\n}\n");
}
