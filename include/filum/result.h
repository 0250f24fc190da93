#ifndef FIL_RESULT_H
#define FIL_RESULT_H

/// Results of a run: one HDF5 file that can be read while it grows, by this library or by any
/// other reader of HDF5 (h5py with libver="latest", swmr=True). docs/formats-result.md says what
/// lies where.
///
/// Whoever records fills a FilFrame, arrays that it owns and lends for the duration of a call; the
/// same struct comes back from reading. A frame is there completely or not at all, whenever the
/// program dies; a disk that fills up costs the frame that did not fit, and none before it.

#include "filum/world.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FIL_RESULT_NAME 64 ///< bytes of a name, with the 0 at its end

/// A rod. Its points follow those of the rod before it.
typedef struct FilResultRod {
    char name[FIL_RESULT_NAME];
    FilRodModel model;
    int element_count;
    double length;         ///< m, at time 0
    double radius;         ///< m, of its section, to look at
    double contact_radius; ///< m, of the capsules that touch
    /// m: full sizes along n1 and n2 of sections that are not round; both 0: round, or not known
    double width, thickness;
    int first_point, point_count;
} FilResultRod;

/// A polyline: points that are joined in their order. A rod is one, a tree several; lines come in
/// the order of their points.
typedef struct FilResultLine {
    int rod;
    int first_point, point_count;
    double radius; ///< m, to look at: branches are thinner than the trunk; 0: that of the rod
} FilResultLine;

/// A place of a rod that is recorded.
typedef struct FilResultPoint {
    int element;
    double u; ///< fraction of the element
    double s; ///< m, arc length at time 0
} FilResultPoint;

/// A rigid body or an obstacle.
typedef struct FilResultSolid {
    char name[FIL_RESULT_NAME];
    FilShapeKind shape;
    double radius, length, size[3]; ///< m, as in FilShape
    int mesh;                       ///< among the meshes; -1: none
} FilResultSolid;

typedef struct FilResultMesh {
    int vertex_count, triangle_count;
    const double *vertices; ///< [vertex_count][3] m
    const int *triangles;   ///< [triangle_count][3]
} FilResultMesh;

/// All that does not change in a run. Texts may be NULL, which is "".
typedef struct FilResultDef {
    const char *name;    ///< of the scene
    const char *scene;   ///< its text
    const char *options; ///< of the run
    const char *version; ///< of the library; set by writing, whatever it holds
    int64_t seed;
    double step; ///< s
    const FilResultRod *rods;
    const FilResultLine *lines;
    const FilResultPoint *points;
    const FilResultSolid *rigids, *obstacles;
    const FilResultMesh *meshes;
    int rod_count, line_count, point_count, rigid_count, obstacle_count, mesh_count;
} FilResultDef;

/// The world at one time. Quaternions (w, x, y, z) turn the axes of the world into those of the
/// pose. Arrays of counts 0 may be NULL.
typedef struct FilFrame {
    double time;  ///< s
    int64_t step; ///< steps done
    FilRodEnergy energy;
    const double *position;   ///< [point_count][3] m
    const double *quaternion; ///< [point_count][4]
    const double *velocity;   ///< [point_count][3] m/s
    const double *curvature;  ///< [point_count][3] 1/m: twist, kappa1, kappa2
    /// [point_count] N, along the rod, positive where it is pulled; NULL: not known. Der, corde and
    /// chain: of the springs. Helix and clothoid: the balance of what acts beyond the section, with
    /// the forces and accelerations of the last step; before the first step those at rest.
    const double *tension;
    const double *elastic; ///< [point_count] J/m, of bending and twist; NULL: not known
    /// [rod_count][2][3] N and N m: what holds the root and the tip of each rod does to it, see
    /// fil_world_reaction(); 0 for ends that are free; NULL: not known
    const double *reaction_force;
    const double *reaction_moment;
    const double *rigid_position;
    const double *rigid_quaternion;
    const double *rigid_velocity;
    const double *rigid_spin; ///< [rigid_count][3] rad/s
    const double *obstacle_position;
    const double *obstacle_quaternion;
    const FilContact *contacts;
    int contact_count;
} FilFrame;

/// What came of one step.
typedef struct FilResultStep {
    double time; ///< s, at its end
    FilStepInfo info;
} FilResultStep;

typedef struct FilResult FilResult;

/// The radius of a line of a result, m.
FIL_API double fil_line_radius(const FilResultDef *def, int line);

// --- writing -------------------------------------------------------------------------------------

/// Make a result file; `def` and all it points to may go afterwards. What exists is replaced only
/// with `force`, and never while another program writes it. The caller owns `*out` and ends with
/// fil_result_close() or fil_result_discard().
FIL_API FIL_MUST_CHECK FilStatus fil_result_create(const char *path, const FilResultDef *def,
                                                   bool force, const FilAllocator *allocator,
                                                   FilResult **out, FilError *error);

/// Go on with a file, also one whose writer was killed: keep the first `frame_count` frames and
/// `step_count` steps and drop what follows. Fails when it holds fewer.
FIL_API FIL_MUST_CHECK FilStatus fil_result_resume(const char *path, int64_t frame_count,
                                                   int64_t step_count,
                                                   const FilAllocator *allocator, FilResult **out,
                                                   FilError *error);

/// Note what came of a step; it is written with the next frame, or by fil_result_sync(). One row
/// for every step of the world, so that row k is step k + 1.
FIL_API FIL_MUST_CHECK FilStatus fil_result_add_step(FilResult *result, const FilResultStep *step,
                                                     FilError *error);

/// Write a frame. When that fails, for want of disk space above all, the frames before it stay
/// readable and all later calls fail with the same sentence.
FIL_API FIL_MUST_CHECK FilStatus fil_result_append(FilResult *result, const FilFrame *frame,
                                                   FilError *error);

/// Write the steps noted so far and wait until all is on the disk: what goes before a checkpoint.
FIL_API FIL_MUST_CHECK FilStatus fil_result_sync(FilResult *result, FilError *error);

// --- reading -------------------------------------------------------------------------------------

/// Open a file for reading. One that is being written grows while it is read. One whose writer was
/// killed is mended first, so that other programs open it too, if this user may write it.
FIL_API FIL_MUST_CHECK FilStatus fil_result_open(const char *path, const FilAllocator *allocator,
                                                 FilResult **out, FilError *error);

/// Take back HDF5's mark that a program has the file open for writing, when no program has:
/// `*mended` (may be NULL) tells whether there was something to do.
FIL_API FIL_MUST_CHECK FilStatus fil_result_mend(const char *path, bool *mended, FilError *error);

/// True while another program writes the file.
FIL_API bool fil_result_is_growing(const FilResult *result);

/// What does not change; belongs to the result. Of a new file only the counts are kept.
FIL_API const FilResultDef *fil_result_def(const FilResult *result);

/// How many there are by now.
FIL_API int64_t fil_result_frame_count(FilResult *result);
FIL_API int64_t fil_result_step_count(FilResult *result);

/// Read frame `index`, counted from 0. Its arrays belong to the result until the next call.
FIL_API FIL_MUST_CHECK FilStatus fil_result_read(FilResult *result, int64_t index, FilFrame *frame,
                                                 FilError *error);

/// Read the frames' times (s) into times[count], from frame `first` on.
FIL_API FIL_MUST_CHECK FilStatus fil_result_read_times(FilResult *result, int64_t first,
                                                       int64_t count, double *times,
                                                       FilError *error);
/// The same of the frames' energies.
FIL_API FIL_MUST_CHECK FilStatus fil_result_read_energies(FilResult *result, int64_t first,
                                                          int64_t count, FilRodEnergy *energies,
                                                          FilError *error);

/// Read `count` steps from number `first` on, counted from 0.
FIL_API FIL_MUST_CHECK FilStatus fil_result_read_steps(FilResult *result, int64_t first,
                                                       int64_t count, FilResultStep *steps,
                                                       FilError *error);

// --- both ----------------------------------------------------------------------------------------

/// Close and free. A writer writes the steps noted first; failing, it closes all the same.
FIL_API FIL_MUST_CHECK FilStatus fil_result_close(FilResult *result, FilError *error);
/// The same where nothing can be said any more; NULL is fine.
FIL_API void fil_result_discard(FilResult *result);

#ifdef __cplusplus
}
#endif

#endif
