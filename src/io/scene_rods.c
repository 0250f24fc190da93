// scene_rods.c - rods of scenes: from what the file says to a FilRodDef that can be made.
#include "scene_build.h"

#include <math.h>
#include <string.h>

#include "math/vec3.h"
#include "rod/fit.h"

enum { TRIED_ELEMENTS = 10000 };

#define FAIL(build, record, member, ...)                                                     \
    fil_table_fail(&(build)->decoder, &fil_spec_rod, (record), offsetof(FilRodSpec, member), \
                   __VA_ARGS__)

// ------------------------------------------------------------------------------------- contact

double fil_scene_contact_radius(const FilRodSpec *spec) {
    if (GIVEN(rod, spec, FilRodSpec, contact_radius)) {
        return spec->contact_radius;
    }
    return spec->section.kind == FIL_SECTION_ELLIPTIC
               ? fmin(spec->section.radii[0], spec->section.radii[1])
               : spec->radius;
}

int fil_scene_pieces(const FilRodSpec *spec, double length) {
    if (GIVEN(rod, spec, FilRodSpec, contact_pieces)) {
        return spec->contact_pieces;
    }
    if (!GIVEN(rod, spec, FilRodSpec, contact_length)) {
        return 0;
    }
    const int elements = spec->tree.count > 0 ? spec->tree.count : spec->elements;
    return (int)fmin(fmax(ceil(length / elements / spec->contact_length - 1e-9), 1.0), 1e6);
}

static FilStatus build_contact(FilSceneBuild *build, const FilRodSpec *spec, FilSceneRod *rod) {
    if (GIVEN(rod, spec, FilRodSpec, contact_pieces) &&
        GIVEN(rod, spec, FilRodSpec, contact_length)) {
        return FAIL(build, spec, contact_length,
                    "is given beside contact_pieces; it must be one of them");
    }
    const FilScene *scene = &build->holder->scene;
    const double own = scene->friction[(ptrdiff_t)rod->material * (scene->material_count + 1)];
    if (spec->self_contact == FIL_SELF_ON && own < 0.0) {
        return FAIL(build, spec, self_contact,
                    "is on, but friction says nothing of %.40s with itself; list it or give "
                    "friction_default",
                    scene->materials[rod->material].name);
    }
    rod->contact_radius = fil_scene_contact_radius(spec);
    rod->contact_pieces = fil_scene_pieces(spec, rod->def.length);
    rod->self_contact = spec->self_contact != FIL_SELF_OFF && own >= 0.0;
    return FIL_OK;
}

// ------------------------------------------------------------------------------------- section

static FilStatus build_section(FilSceneBuild *build, const FilRodSpec *spec, FilSceneRod *rod) {
    const FilSectionSpec *from = &spec->section;
    const FilMaterial *material = &build->materials[rod->material];
    const struct {
        size_t offset;
        FilSectionKind kind;
    } needed[] = {
        {offsetof(FilSectionSpec, inner_radius), FIL_SECTION_HOLLOW},
        {offsetof(FilSectionSpec, radii), FIL_SECTION_ELLIPTIC},
        {offsetof(FilSectionSpec, bend), FIL_SECTION_GIVEN},
        {offsetof(FilSectionSpec, twist), FIL_SECTION_GIVEN},
        {offsetof(FilSectionSpec, mass), FIL_SECTION_GIVEN},
    };
    for (size_t k = 0; k < sizeof needed / sizeof *needed; k++) {
        const bool need = from->kind == (int)needed[k].kind;
        const bool given =
            from->head.json != NULL && fil_table_given(&fil_spec_section, from, needed[k].offset);
        if (need != given) {
            return fil_table_fail(&build->decoder, &fil_spec_section, from, needed[k].offset,
                                  need ? "is missing; this kind of section needs it"
                                       : "is not used by this kind of section");
        }
    }
    if (from->kind == FIL_SECTION_HOLLOW && !(from->inner_radius < spec->radius)) {
        return fil_table_fail(
            &build->decoder, &fil_spec_section, from, offsetof(FilSectionSpec, inner_radius),
            "is %g m; it must be less than the radius, %g m", from->inner_radius, spec->radius);
    }
    rod->def.section = (FilSection){.kind = (FilSectionKind)from->kind,
                                    .radius = spec->radius,
                                    .inner_radius = from->inner_radius,
                                    .radii = {from->radii[0], from->radii[1]},
                                    .young = material->young,
                                    .poisson = material->poisson,
                                    .density = material->density,
                                    .bend = {from->bend[0], from->bend[1]},
                                    .twist = from->twist,
                                    .mass = from->mass,
                                    .stretch = from->stretch,
                                    .spin_inertia = from->spin_inertia};
    return FIL_OK;
}

// ---------------------------------------------------------------------------------------- trees

static FilStatus build_tree(FilSceneBuild *build, const FilRodSpec *spec, FilRodDef *def) {
    const int n = spec->tree.count;
    FilRodJoint *joints = FIL_NEW(build->arena, FilRodJoint, n);
    double *lengths = FIL_NEW(build->arena, double, n);
    double *natural = FIL_NEW(build->arena, double, 3 * (size_t)n);
    FilSection *sections = FIL_NEW(build->arena, FilSection, n);
    if (build->arena->failed) {
        return fil_scene_no_memory(build);
    }
    def->length = 0.0;
    for (int k = 0; k < n; k++) {
        const FilTwigSpec *twig = &spec->tree.items[k];
        if (twig->parent >= k) {
            return fil_table_fail(
                &build->decoder, &fil_spec_twig, twig, offsetof(FilTwigSpec, parent),
                "is %d; it must be -1 or the place of an element above this one", twig->parent);
        }
        joints[k].parent = twig->parent;
        fil_scene_turned_axes(twig->turn, joints[k].axis);
        lengths[k] = twig->length;
        def->length += twig->length;
        natural[3 * k] = twig->twist;
        natural[3 * k + 1] = twig->curvature[0];
        natural[3 * k + 2] = twig->curvature[1];
        sections[k] = def->section;
        if (GIVEN(twig, twig, FilTwigSpec, radius)) {
            sections[k].radius = twig->radius;
        }
    }
    def->element_count = n;
    def->joints = joints;
    def->element_lengths = lengths;
    def->natural_curvatures = natural;
    def->natural_count = n;
    def->sections = sections;
    return FIL_OK;
}

// --------------------------------------------------------------------------------------- shapes

static FilStatus check_table(const FilSceneBuild *build, const FilTable *table, const void *record,
                             size_t offset, int count, int elements) {
    if (count == elements || count == elements + 1) {
        return FIL_OK;
    }
    return fil_table_fail(&build->decoder, table, record, offset,
                          "has %d entries; it must have %d, one an element, or %d, one a joint",
                          count, elements, elements + 1);
}

static FilStatus build_natural(FilSceneBuild *build, const FilRodSpec *spec, FilRodDef *def) {
    const FilNaturalSpec *from = &spec->natural;
    def->natural_curvature[0] = from->twist;
    def->natural_curvature[1] = from->curvature[0];
    def->natural_curvature[2] = from->curvature[1];
    if (from->table.count > 0) {
        FIL_TRY(check_table(build, &fil_spec_natural, from, offsetof(FilNaturalSpec, table),
                            from->table.count, def->element_count));
        def->natural_curvatures = from->table.items[0];
        def->natural_count = from->table.count;
    }
    return FIL_OK;
}

// A table of `count` places with the same curvature, or copied from `from`; twist added.
static double *make_table(FilSceneBuild *build, int count, const double *from, double twist) {
    double *table = FIL_NEW_ZEROED(build->arena, double, 3 * (size_t)count);
    for (int k = 0; table != NULL && k < 3 * count; k++) {
        table[k] = (from != NULL ? from[k] : 0.0) + (k % 3 == 0 ? twist : 0.0);
    }
    return table;
}

static FilStatus fit_points(FilSceneBuild *build, const FilRodSpec *spec, FilSceneRod *rod) {
    FilRodDef *def = &rod->def;
    const FilRodCurve curve = {.points = spec->points.items[0],
                               .point_count = spec->points.count,
                               .up = {spec->root.up[0], spec->root.up[1], spec->root.up[2]},
                               .pretwist = spec->pretwist};
    const bool given = GIVEN(rod, spec, FilRodSpec, length);
    FilRodDef asked = *def;
    asked.length = given ? spec->length : 0.0;
    FilRodFit fit;
    if (fil_rod_fit(&asked, &curve, build->arena, &fit, build->error) != FIL_OK) {
        return fil_scene_fail_inside(build, spec);
    }
    if (!(fabs(fit.length - fit.curve_length) <= 0.05 * fit.curve_length)) {
        return FAIL(build, spec, length,
                    "is %g m, but the curve through the points is %g m long; leave it out, or "
                    "move the points",
                    spec->length, fit.curve_length);
    }
    def->length = fit.length;
    def->root = fit.root;
    def->start_curvatures = fit.curvatures;
    def->start_count = fit.count;
    rod->fit_error = fit.error;
    return FIL_OK;
}

static FilStatus build_start(FilSceneBuild *build, const FilRodSpec *spec, FilSceneRod *rod) {
    FilRodDef *def = &rod->def;
    const double twist = spec->pretwist / def->length;
    rod->start = (FilStartKind)spec->start;
    if (spec->points.count > 0) {
        rod->start = FIL_START_POINTS;
        return fit_points(build, spec, rod);
    }
    const double *from = NULL;
    int count = def->element_count;
    if (rod->start == FIL_START_CURVATURES) {
        FIL_TRY(check_table(build, &fil_spec_rod, spec, offsetof(FilRodSpec, curvatures),
                            spec->curvatures.count, def->element_count));
        from = spec->curvatures.items[0];
        count = spec->curvatures.count;
    } else if (rod->start == FIL_START_STRAIGHT) {
        from = NULL;
    } else if (twist == 0.0) {
        return FIL_OK; // as it is by nature
    } else if (def->natural_curvatures != NULL) {
        from = def->natural_curvatures;
        count = def->natural_count;
    }
    double *table = make_table(build, count, from, twist);
    if (table == NULL) {
        return fil_scene_no_memory(build);
    }
    for (int k = 0; rod->start != FIL_START_STRAIGHT && from == NULL && k < 3 * count; k++) {
        table[k] += def->natural_curvature[k % 3];
    }
    def->start_curvatures = table;
    def->start_count = count;
    return FIL_OK;
}

static FilStatus check_start(const FilSceneBuild *build, const FilRodSpec *spec) {
    const bool points = spec->points.count > 0, table = spec->curvatures.count > 0;
    const bool start = GIVEN(rod, spec, FilRodSpec, start);
    if ((points && start && spec->start != FIL_START_POINTS) || (points && table)) {
        return FAIL(build, spec, points, "are given, but the start shape is another");
    }
    if (!points && spec->start == FIL_START_POINTS) {
        return FAIL(build, spec, start, "is \"points\", but no points are given");
    }
    if (table != (spec->start == FIL_START_CURVATURES)) {
        return FAIL(build, spec, start,
                    "must be \"curvatures\" where they are given, and only there");
    }
    if (spec->natural.shape == FIL_NATURAL_START &&
        (spec->start == FIL_START_EQUILIBRIUM || (!points && !table))) {
        return fil_table_fail(&build->decoder, &fil_spec_natural, &spec->natural,
                              offsetof(FilNaturalSpec, shape),
                              "is \"start\", which needs a start by points or curvatures");
    }
    if (spec->tree.count > 0 &&
        (points || table || spec->natural.head.json != NULL ||
         GIVEN(rod, spec, FilRodSpec, elements) || GIVEN(rod, spec, FilRodSpec, length))) {
        return FAIL(build, spec, tree,
                    "says elements, lengths and curvatures itself; they must not be given to the "
                    "rod");
    }
    return FIL_OK;
}

// ------------------------------------------------------------------------------------ the whole

FilStatus fil_scene_root_pose(FilSceneBuild *build, const FilRootSpec *spec, FilPose *pose) {
    if (!(fil_norm3(spec->along) > 0.0 && isfinite(fil_norm3(spec->along)))) {
        return fil_table_fail(&build->decoder, &fil_spec_root, spec, offsetof(FilRootSpec, along),
                              "has no direction; it must not be 0");
    }
    fil_copy3(spec->at, pose->position);
    fil_axes_along(spec->along, spec->up, pose->axis);
    return FIL_OK;
}

FilStatus fil_scene_pattern(FilSceneBuild *build, const FilRodSpec *spec, const char *what,
                            FilPose *root) {
    if (spec->points.count > 0 || spec->tree.count > 0 || spec->curvatures.count > 0) {
        return fil_json_fail(build->decoder.document, spec->head.json, build->error,
                             "has points, curvatures or a tree, but %s make the shape", what);
    }
    return fil_scene_root_pose(build, &spec->root, root);
}

// The line load, as a force at the middle of every element.
static void spread_load(const FilRodSpec *spec, const FilRodDef *def, FilRodLoad *loads) {
    double s = 0.0;
    for (int k = 0; k < def->element_count; k++) {
        const double h = def->element_lengths != NULL ? def->element_lengths[k]
                                                      : def->length / def->element_count;
        loads[k] = (FilRodLoad){.s = fmin(s + 0.5 * h, def->length)};
        fil_add3(h, spec->line_load, loads[k].force);
        s += h;
    }
}

static FilStatus build_loads(FilSceneBuild *build, const FilRodSpec *spec, FilRodDef *def) {
    const int given = spec->loads.count;
    const int spread = fil_norm3(spec->line_load) > 0.0 ? def->element_count : 0;
    FilRodLoad *loads =
        FIL_NEW_ZEROED(build->arena, FilRodLoad, (size_t)given + (size_t)spread + 1);
    if (loads == NULL) {
        return fil_scene_no_memory(build);
    }
    for (int k = 0; k < given; k++) {
        const FilLoadSpec *from = &spec->loads.items[k];
        loads[k].s = GIVEN(load, from, FilLoadSpec, at) ? from->at : def->length;
        fil_copy3(from->force, loads[k].force);
        fil_copy3(from->torque, loads[k].torque);
        if (loads[k].s > def->length) {
            return fil_table_fail(&build->decoder, &fil_spec_load, from, offsetof(FilLoadSpec, at),
                                  "is %g m; the rod is only %g m long", from->at, def->length);
        }
    }
    if (spread > 0) {
        spread_load(spec, def, loads + given);
    }
    def->loads = loads;
    def->load_count = given + spread;
    return FIL_OK;
}

static void copy_numbers(const FilSceneBuild *build, const FilRodSpec *spec, FilSceneRod *rod) {
    FilRodDef *def = &rod->def;
    def->model = (FilRodModel)spec->model;
    def->element_count = spec->elements;
    def->length = spec->length;
    def->root_end.kind = (FilEndKind)spec->root.held;
    def->tip_end.kind = (FilEndKind)spec->tip.held;
    fil_copy3(build->spec.gravity, def->gravity);
    def->damping = spec->damping;
    def->drag = spec->drag;
    def->growth = spec->growth;
    def->theta = build->spec.theta;
    def->step_kind = (FilRodStepKind)spec->step_kind;
    def->quasistatic_twist = spec->quasistatic_twist;
    rod->wind = spec->wind;
    fil_copy3(spec->velocity, rod->velocity);
    fil_copy3(spec->spin, rod->spin);
}

FilStatus fil_scene_rod_shape(FilSceneBuild *build, const FilRodSpec *spec, FilSceneRod *rod) {
    *rod = (FilSceneRod){
        .name = "", .origin = fil_scene_origin(&spec->head), .def = fil_rod_def_default()};
    FilRodDef *def = &rod->def;
    copy_numbers(build, spec, rod);
    FIL_TRY(check_start(build, spec));
    FIL_TRY(fil_scene_material(build, &fil_spec_rod, spec, offsetof(FilRodSpec, material),
                               spec->material, &rod->material));
    FIL_TRY(build_section(build, spec, rod));
    if (spec->element_lengths.count > 0) {
        if (spec->element_lengths.count != spec->elements) {
            return FAIL(build, spec, element_lengths,
                        "has %d entries; it must have one for each of the %d elements",
                        spec->element_lengths.count, spec->elements);
        }
        def->element_lengths = spec->element_lengths.items;
    }
    FIL_TRY(fil_scene_root_pose(build, &spec->root, &def->root));
    if (spec->tree.count > 0) {
        FIL_TRY(build_tree(build, spec, def));
    } else {
        FIL_TRY(build_natural(build, spec, def));
    }
    FIL_TRY(build_start(build, spec, rod));
    if (spec->natural.shape == FIL_NATURAL_START) {
        def->natural_curvatures = def->start_curvatures;
        def->natural_count = def->start_count;
    }
    FIL_TRY(build_loads(build, spec, def));
    FIL_TRY(build_contact(build, spec, rod));
    return fil_scene_rod_try(build, spec, rod);
}

FilStatus fil_scene_rod_try(const FilSceneBuild *build, const FilRodSpec *spec,
                            const FilSceneRod *rod) {
    if (rod->def.element_count > TRIED_ELEMENTS) {
        return FIL_OK;
    }
    FilRod *made = NULL;
    const FilStatus status =
        fil_rod_create(&rod->def, &build->holder->allocator, &made, build->error);
    fil_rod_destroy(made);
    return status == FIL_OK ? FIL_OK : fil_scene_fail_inside(build, spec);
}

// Where the tip is at time 0.
static FilStatus find_tip(const FilSceneBuild *build, const FilRodSpec *spec,
                          const FilSceneRod *rod, double place[3]) {
    FilRod *made = NULL;
    FilPose pose;
    if (fil_rod_create(&rod->def, &build->holder->allocator, &made, build->error) != FIL_OK) {
        return fil_scene_fail_inside(build, spec);
    }
    fil_rod_at(made, rod->def.length, &pose, NULL);
    fil_rod_destroy(made);
    fil_copy3(pose.position, place);
    return FIL_OK;
}

static void set_motion(FilRodEnd *end, const FilMotion *motion) {
    end->motion = motion != NULL ? fil_motion_apply : NULL;
    end->user = (void *)motion; // read only: fil_motion_apply() takes it as const
}

FilStatus fil_scene_rod_ends(FilSceneBuild *build, const FilRodSpec *spec, const char *name,
                             FilSceneRod *rod) {
    const FilRootSpec *root = &spec->root;
    const FilTipSpec *tip = &spec->tip;
    const FilMotion *motion = NULL;
    FIL_TRY(fil_scene_motion(build, &root->motion, &fil_spec_root, root,
                             offsetof(FilRootSpec, follows), rod->def.root.position, &motion));
    set_motion(&rod->def.root_end, motion);
    double place[3] = {0.0, 0.0, 0.0};
    if (tip->motion.head.json != NULL) {
        FIL_TRY(find_tip(build, spec, rod, place));
    }
    FIL_TRY(fil_scene_motion(build, &tip->motion, &fil_spec_tip, tip, offsetof(FilTipSpec, follows),
                             place, &motion));
    set_motion(&rod->def.tip_end, motion);
    rod->name = name;
    return FIL_OK;
}

FilStatus fil_scene_rod_along(FilSceneBuild *build, const FilRodSpec *pattern, FilVec3 *points,
                              int count, double length, const char *name) {
    FilRodSpec spec = *pattern;
    spec.points.items = points;
    spec.points.count = count;
    spec.start = FIL_START_POINTS;
    FilScene *scene = &build->holder->scene;
    FilSceneRod *rod = &build->rods[scene->rod_count];
    if (length > 0.0) {
        spec.length = length;
        fil_table_mark(&fil_spec_rod, &spec, offsetof(FilRodSpec, length));
    } else {
        spec.head.given = 0; // of the pattern only what counts below
        const uint64_t given = pattern->head.given;
        for (int k = 0; k < fil_spec_rod.field_count; k++) {
            if (fil_spec_rod.fields[k].offset != offsetof(FilRodSpec, length)) {
                spec.head.given |= given & (uint64_t)1 << k;
            }
        }
    }
    FIL_TRY(fil_scene_rod_shape(build, &spec, rod));
    FIL_TRY(fil_scene_rod_ends(build, &spec, name, rod));
    scene->rod_count++;
    return FIL_OK;
}

FilStatus fil_scene_check_fit(FilSceneBuild *build, const FilRodSpec *spec, double gap) {
    const FilSceneRod *rod = &build->rods[build->holder->scene.rod_count - 1];
    if (rod->fit_error < 0.5 * gap) {
        return FIL_OK;
    }
    return FAIL(build, spec, elements,
                "is %d; a rod of so few is off its curve by %.3g m, where parts pass each other at "
                "%.3g m; take more",
                spec->elements, rod->fit_error, gap);
}

FilStatus fil_scene_build_rods(FilSceneBuild *build) {
    for (int k = 0; k < build->spec.rods.count; k++) {
        const FilRodSpec *spec = &build->spec.rods.items[k];
        FilSceneRod *rod = &build->rods[k];
        if (spec->points.count > 0 && (GIVEN(root, &spec->root, FilRootSpec, at) ||
                                       GIVEN(root, &spec->root, FilRootSpec, along))) {
            return fil_table_fail(&build->decoder, &fil_spec_rod, spec, offsetof(FilRodSpec, root),
                                  "says where the rod starts, and so do the points; it must be "
                                  "one of them");
        }
        FIL_TRY(fil_scene_rod_shape(build, spec, rod));
        FIL_TRY(fil_scene_rod_ends(build, spec, spec->name, rod));
        build->holder->scene.rod_count++;
    }
    return FIL_OK;
}
