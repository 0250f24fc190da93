#ifndef FIL_IO_SCENE_BUILD_H
#define FIL_IO_SCENE_BUILD_H

// What the parts of the scene reader share: from the specs of a file to the arrays of a FilScene.

#include "base/random.h"
#include "filum/hair.h"
#include "io/spec.h"

typedef struct FilSceneMesh {
    const char *file;
    double scale;
    FilMesh *mesh;
    struct FilSceneMesh *next;
} FilSceneMesh;

/// A scene and what it owns.
typedef struct FilSceneHolder {
    FilScene scene; // first: users see this
    FilAllocator allocator;
    FilArena arena;
    FilSceneMesh *meshes;
} FilSceneHolder;

/// Strands of a file that become rods.
typedef struct FilSceneStrands {
    FilHair *hair;
    int *taken; // [count] strands
    int count;
    double length; // m, of all of them
} FilSceneStrands;

/// A scene being made.
typedef struct FilSceneBuild {
    FilSceneHolder *holder;
    FilArena *arena; // the holder's
    FilError *error;
    FilDecoder decoder;
    FilSceneSpec spec;
    FilSceneStrands *strands; // [spec.strands.count]
    FilMaterial *materials;
    FilSceneRod *rods; // room for all; scene.rod_count are made
    FilSceneObstacle *obstacles;
    FilSceneBody *bodies;
} FilSceneBuild;

FilStatus fil_scene_no_memory(const FilSceneBuild *build);

/// FIL_E_FORMAT at an object: "file:line:column: path: sentence", the sentence being build->error.
FilStatus fil_scene_fail_inside(const FilSceneBuild *build, const void *record);

/// "name/7" when the generator has a name, else "".
const char *fil_scene_item_name(const FilSceneBuild *build, const char *name, int index);

/// Random numbers of item `index` of a generator: they do not depend on how many there are.
FilRandom fil_scene_random(const FilSceneBuild *build, int seed, int index);

/// A path in a scene, from the folder of the scene; NULL when there is no memory.
const char *fil_scene_path(const FilSceneBuild *build, const char *file);

/// Where the file tells of a thing.
static inline FilSceneOrigin fil_scene_origin(const FilRecord *record) {
    const bool told = record->json != NULL && record->json->line > 0;
    return told ? (FilSceneOrigin){record->json->line, record->json->column} : (FilSceneOrigin){0};
}

/// The world's axes, turned by a rotation vector.
void fil_scene_turned_axes(const double turn[3], double axis[3][3]);

// --- scene_count.c: how much there is, from the spec alone

FilStatus fil_scene_count(FilSceneBuild *build, long long memory_limit) FIL_MUST_CHECK;

// --- scene_links.c: materials, friction, joints, events

FilStatus fil_scene_build_materials(FilSceneBuild *build) FIL_MUST_CHECK;
FilStatus fil_scene_build_friction(FilSceneBuild *build) FIL_MUST_CHECK;
/// Whether all pairs that may touch have a coefficient.
FilStatus fil_scene_check_friction(FilSceneBuild *build) FIL_MUST_CHECK;
FilStatus fil_scene_build_joints(FilSceneBuild *build) FIL_MUST_CHECK;
FilStatus fil_scene_build_events(FilSceneBuild *build) FIL_MUST_CHECK;

/// The index of a material by the name in a spec (`offset` within it); the only one when NULL.
FilStatus fil_scene_material(FilSceneBuild *build, const FilTable *table, const void *record,
                             size_t offset, const char *name, int *out) FIL_MUST_CHECK;

// --- scene_claims.c

FilStatus fil_scene_build_claims(FilSceneBuild *build) FIL_MUST_CHECK;
/// What claims may measure, as a section of the reference.
void fil_scene_measures_write(FILE *out);

// --- scene_motion.c

/// The motion that the spec says.
FilStatus fil_scene_make_motion(FilSceneBuild *build, const FilMotionSpec *spec,
                                const double place[3], const FilMotion **out) FIL_MUST_CHECK;

/// The motion of a spec, or of the obstacle that it follows; `*out` NULL when there is neither.
/// `place` is what it turns about unless the spec says. `offset` is that of `follows`.
FilStatus fil_scene_motion(FilSceneBuild *build, const FilMotionSpec *spec, const FilTable *table,
                           const void *record, size_t offset, const double place[3],
                           const FilMotion **out) FIL_MUST_CHECK;

// --- scene_solids.c

const char *fil_scene_shape_name(FilShapeKind kind);
FilStatus fil_scene_build_obstacles(FilSceneBuild *build) FIL_MUST_CHECK;
FilStatus fil_scene_build_rails(FilSceneBuild *build) FIL_MUST_CHECK;
FilStatus fil_scene_build_bodies(FilSceneBuild *build) FIL_MUST_CHECK;
FilStatus fil_scene_body(FilSceneBuild *build, const FilSolidSpec *spec,
                         FilSceneBody *out) FIL_MUST_CHECK;

// --- scene_rods.c

/// The shape of a rod: all but its name and the motions of its ends.
FilStatus fil_scene_rod_shape(FilSceneBuild *build, const FilRodSpec *spec,
                              FilSceneRod *rod) FIL_MUST_CHECK;
/// Motions of the ends, for the place where the rod is now, and its name.
FilStatus fil_scene_rod_ends(FilSceneBuild *build, const FilRodSpec *spec, const char *name,
                             FilSceneRod *rod) FIL_MUST_CHECK;
/// Make the rod once, to see whether it can be made.
FilStatus fil_scene_rod_try(const FilSceneBuild *build, const FilRodSpec *spec,
                            const FilSceneRod *rod) FIL_MUST_CHECK;
FilStatus fil_scene_build_rods(FilSceneBuild *build) FIL_MUST_CHECK;

/// Where the rod of a generator starts; its points must not be given: `what` makes them.
FilStatus fil_scene_pattern(FilSceneBuild *build, const FilRodSpec *spec, const char *what,
                            FilPose *root) FIL_MUST_CHECK;
FilStatus fil_scene_root_pose(FilSceneBuild *build, const FilRootSpec *spec,
                              FilPose *pose) FIL_MUST_CHECK;

/// A rod of the pattern that starts along `count` points, which it keeps; `length` 0: theirs.
FilStatus fil_scene_rod_along(FilSceneBuild *build, const FilRodSpec *pattern, FilVec3 *points,
                              int count, double length, const char *name) FIL_MUST_CHECK;

/// Whether the rod made last is near enough to its points: parts of them pass each other at `gap`.
FilStatus fil_scene_check_fit(FilSceneBuild *build, const FilRodSpec *spec,
                              double gap) FIL_MUST_CHECK;

/// How many capsules stand for an element of a rod (0: the world chooses), and how large they are.
int fil_scene_pieces(const FilRodSpec *spec, double length);
double fil_scene_contact_radius(const FilRodSpec *spec);

// --- scene_laid.c

/// The start shape of a hair that is combed down from a place with this normal.
FilStatus fil_scene_lay_hair(FilSceneBuild *build, const FilHairSpec *spec, const double normal[3],
                             FilRodSpec *hair) FIL_MUST_CHECK;

// --- scene_strands.c

/// Read the files of all strands and choose among them, before anything is counted.
FilStatus fil_scene_load_strands(FilSceneBuild *build) FIL_MUST_CHECK;
FilStatus fil_scene_build_strands(FilSceneBuild *build) FIL_MUST_CHECK;
void fil_scene_drop_strands(FilSceneBuild *build);

// --- scene_generate.c, scene_hair.c, scene_knot.c

FilStatus fil_scene_build_arrays(FilSceneBuild *build) FIL_MUST_CHECK;
FilStatus fil_scene_build_bundles(FilSceneBuild *build) FIL_MUST_CHECK;
FilStatus fil_scene_build_piles(FilSceneBuild *build) FIL_MUST_CHECK;
FilStatus fil_scene_build_braids(FilSceneBuild *build) FIL_MUST_CHECK;
FilStatus fil_scene_build_hairs(FilSceneBuild *build) FIL_MUST_CHECK;
FilStatus fil_scene_build_knots(FilSceneBuild *build) FIL_MUST_CHECK;

#define GIVEN(kind, record, type, member) \
    fil_table_given(&fil_spec_##kind, (record), offsetof(type, member))

#endif
