#ifndef FIL_WORLD_WORLD_H
#define FIL_WORLD_WORLD_H

// What a world is made of, and the parts of its step.
//
// Memory in three lifetimes: what was added lives in growing arrays; what the next step depends on
// is the state of the bodies and the impulses of the contacts; what a step needs for itself lives
// in `scratch`, which is reset when a step begins.

#include "base/arena.h"
#include "body.h"
#include "clock.h"
#include "collide/grid.h"
#include "collide/touch.h"
#include "rod/rod.h"

typedef struct FilBody {
    const FilBodyTable *table;
    void *self; // the rod or the rigid body, which the world owns
    FilBodyKind kind;
    int index; // among its kind
    int dof_count;
    bool linear; // v+ is linear in the impulses: one linearisation is enough
    FilSurface surface;
    double radius, margin; // m, of the capsules (0: a solid); how far ahead contacts are seen
    int first_piece, piece_count; // among the world's pieces
    int first_point, point_count; // among the world's points
    int64_t first_dof;            // among all velocities
    int64_t first_state;          // among all states
    double wind;                  // part of the wind that reaches it
    bool touched;                 // in this step: by a contact or a joint
    bool driven;                  // in this step: a held end moves
    int island;                   // of bodies that sleep: 1 + its lowest body; 0: it is awake
    double calm;                  // s: for how long it has been slower than sleep_speed
    double late;                  // s: how much its own clock is behind, of one that sleeps
    unsigned revision;            // of the rod or rigid body when it fell asleep
} FilBody;

typedef struct FilObstacle {
    FilObstacleDef def;
    FilSurface surface;
    int piece;
    FilPose pose, next; // now, and at the end of the step
    bool moves;         // in this step
} FilObstacle;

// A capsule of a rod, a rigid body or an obstacle: what the broad phase works with.
typedef struct FilPiece {
    int body;         // -1: an obstacle
    int obstacle;     // -1: a body
    int element;      // of the rod
    int point[2];     // of its ends, rods only
    double u[2];      // fractions of the element at its ends
    double s[2];      // arc length there, as a part of the length
    double extent;    // m: how far a solid reaches from its position
    double thickness; // m: half of how thick it is where it is thin, or the radius of a capsule
    int rooted;       // 1 + the obstacle in which the held end of a rod is rooted; 0: none
} FilPiece;

typedef struct FilWorldMaterial {
    double restitution;
} FilWorldMaterial;

// One side of a contact or joint in work.
typedef struct FilPlace {
    int body; // -1: nothing that impulses move
    int piece;
    double t;        // fraction of a capsule
    double point[3]; // m, on the surface
} FilPlace;

// Two places that are held together.
typedef struct FilJoint {
    FilPlace a, b; // points: in the body's own axes, from its centre; rods: not used
    int obstacle;  // that b belongs to, or -1
    bool turning;
    bool removed;
    double apart[3];   // m: from b to a, in the axes of b
    double between[9]; // the axes of a in those of b, columns
    double force[3];   // N: of b on a in the last step that it was awake in
    double torque[3];  // N m: the same, unless it may turn
} FilJoint;

// What a contact leaves to the next step.
typedef struct FilMemory {
    int piece[2];
    uint32_t feature;
    bool rebounded;    // restitution was applied
    double approach;   // m/s: how fast it closed when it was first seen
    double impulse[3]; // N s, world axes
    int contact;       // of the world, that it is about
} FilMemory;

// A contact of bodies that sleep.
typedef struct FilKept {
    FilMemory memory;
    FilContact contact;
} FilKept;

// A contact, or one of the two halves of a joint, in work: 3 rows of the friction problem.
typedef struct FilWorkContact {
    FilPlace a, b;
    FilBlockKind kind;          // coulomb, equality: a joint, or ball: the hand
    int joint;                  // of a joint: which; -1: the hand
    bool turn;                  // of a joint: its rows are about the spin
    bool known;                 // seen in the step before
    bool mended;                // it was found at the end of a try
    bool sought;                // its gap follows from end_gap, and is not known yet
    double error[3];            // of a joint, m or rad: what its rows are to bring to 0
    double mend[3];             // of it: what was wrong when the step began
    double soft[3];             // of a joint: what its rows give way, per impulse
    double normal[3], frame[9]; // rows of the frame: normal and two tangents
    double gap;                 // m: that the law holds for
    double start_gap;           // m: what it was when the step began
    double end_gap; // m: of a contact that was found at the end of a try, what it was there
    double mu;      // of the hand the most it does, N s or N m s
    double restitution, margin;
    double
        carried[3]; // m/s, world axes: what moves the places apart from v+: driven ends, obstacles
    FilMemory memory;
} FilWorkContact;

// Where the points of the rods were at the end of the last step, how they moved, and the states
// that they belong to: the next step begins there, unless somebody changed a rod.
typedef struct FilSamples {
    double *points, *rates; // [point_count][3]
    double *states;         // [state_count]
    int body_count;         // bodies that are in it
    int point_room, rate_room, state_room;
} FilSamples;

// What the last part of a step began with, until the next begins: in scratch. All 0: not known.
typedef struct FilPast {
    const double *rates;  // [point_count][3] m/s, of the points
    const double *states; // of all bodies
    int point_count;
    double dt; // s
} FilPast;

// The axes of a pair are `apart` - `rate` t apart, less the paths of both, at least: t s after the
// pairs were found. m, m/s.
typedef struct FilBound {
    float apart, rate;
} FilBound;

// Candidates that are kept from step to step: see kept.c. Lengths in m.
typedef struct FilNear {
    double *budget;   // [piece_count] what a capsule may use before they must be found again
    double *path;     // [piece_count] how far it went beside `rates` since they were found, at most
    double *points;   // [point_count][3] where the ends were in the last step
    double *rates;    // [point_count][3] m/s: how they moved when the pairs were found
    double *lengths;  // [rod_count] of the rods then
    int (*pairs)[2];  // lower piece first, sorted
    FilBound *bounds; // [pair_count]
    int pair_count;
    int piece_count, apart_count, rod_count; // then; piece_count 0: nothing is kept
    double span;                             // s: what they are good for
    double gone, time;                       // s: of that, until the last step; when that was
    int age, steps;                          // steps that they served; that the span is for
    bool partial;                            // pairs of sleepers were left out
    int budget_room, path_room, point_room, rate_room, length_room, bound_room, pair_room;
} FilNear;

struct FilWorld {
    FilWorldDef def;
    FilAllocator allocator;
    FilArena scratch;
    FilFrictionWorkspace *workspace;
    FilGrid *grid;

    FilBody *bodies;
    FilObstacle *obstacles;
    FilPiece *pieces;
    FilRodPlace *places; // [point_count] the points of the rods
    FilSamples samples;
    FilPast past;
    FilNear near;
    FilWorldMaterial *materials;
    double *frictions; // of pairs of materials, see fil_world_friction(); below 0: not set
    FilJoint *joints;
    int (*apart)[2]; // pairs of pieces at joints, which never touch; lower piece first, sorted
    int body_count, body_room, obstacle_count, obstacle_room, piece_count, piece_room, place_room;
    int material_count, material_room, friction_room, joint_count, joint_room;
    int apart_count, apart_room;
    int rod_count, rigid_count, point_count;
    int rooted_count;   // pieces that were looked at for their roots
    int *rods, *rigids; // bodies by kind
    int rod_room, rigid_room;
    int64_t dof_count, state_count;
    int threads;

    bool grabbed; // a hand is on a rod
    FilGrab grab;
    double grab_force[3], grab_torque; // N, N m: of the last part of a step

    FilBodyName *name; // NULL: numbers will do
    void *name_user;
    FilProblemWatch *watch; // NULL: nobody looks
    void *watch_user;
    int culprit; // body that refused the last step, or -1

    bool (*stop)(void *user); // NULL: nobody asks for an end
    void *stop_user;
    bool stopping; // somebody did
    double work;   // of the friction solves of the step in hand, in the unit of their budget
    int thrifty_steps,
        thrifty_left; // steps with a part of the budget: last time, and still to come

    FilClock clock;
    double time;  // s: what the clock shows
    double *undo; // the state that a step began with
    int undo_room;

    // contacts of the last step, and what they leave
    FilContact *contacts;
    FilMemory *memories;                                        // sorted by piece and feature
    int contact_count, contact_room, memory_count, memory_room; // room for those kept, too

    // sleep
    FilKept *kept;       // contacts among bodies that sleep
    double *rest_points; // [point_count][3] of rods that sleep
    int kept_count, kept_room, rest_room, asleep_count;
};

// The axis of a capsule.
typedef struct FilAxis {
    double middle[3], half[3]; // m: its ends are middle - half and middle + half
    double radius, margin;     // m, of the body
    double rate[3];            // m/s: of the middle, as foreseen when the pairs were found
    double length, spin;       // m, m/s: |half|, and how it changes
    double speed;              // m/s, of the faster end, at most
    int body;                  // -1: it is no capsule
    int point;                 // of its first end; the next one is that of the second
    int until;                 // it never touches pieces from itself up to this one
} FilAxis;

typedef struct FilBodyEnergy {
    double kinetic, potential; // J
} FilBodyEnergy;

/// What became of the bodies in one round of a step.
typedef struct FilFates {
    bool *lost;     // [body_count] a body lost a good part of its motion
    bool *stuck;    // [body_count] it cannot do the step at all
    bool *owing;    // [body_count] its group must pay for where it was moved at the end
    bool *flawed;   // [body_count] to take all of its motion was not enough
    bool held;      // some were held together instead (hold.c)
    bool beyond;    // not even that could be done: world->culprit
    bool shortened; // some went less far than the step would have it (balance.c)
} FilFates;

/// The arrays of one try at a step, all in scratch.
typedef struct FilWorldTry {
    double dt, end, share;   // as in FilSpan
    double *points;          // [point_count][3] where the pieces' ends are
    double *rates;           // [point_count][3] how they move, m/s
    double *ahead;           // [point_count][3] how they would move with v+ = 0, m/s
    double *ahead_spin;      // [point_count][3] and turn, rad/s
    FilPose *poses[2];       // [point_count] for that
    double *before, *after;  // [dof_count] velocities: linearised there, found
    double *free_velocity;   // [dof_count]
    double *push;            // [dof_count] N s: generalised impulses
    double *shift;           // [dof_count] m: correction of the configuration
    bool shifted;            // there is one
    bool pressed;            // there shall be none
    bool *refused;           // [body_count] it has no velocities: it takes no part, and is held
    double *depth;           // [body_count + 1] m: how deep a body overlaps, if there is one
    double *states;          // of all bodies at the start of the step
    FilBodyEnergy *energies; // [body_count] there, of a step in which rods may lose motion
    double *lifted;          // [body_count] J: what the shift added to a body then
    FilBox *boxes;           // [piece_count] where the pieces are in this step, with their margins
    FilAxis *axes;           // [piece_count]
    double *reach;           // [piece_count] m: what a capsule uses of its budget; of solids inf
    const int (*pairs)[2];   // candidates of the grid: all whose boxes meet are among them
    FilBound *bounds;        // [pair_count]
    const int (*others)[2];  // candidates that the grid does not know: with solids and planes
    int pair_count, other_count;
    FilWorkContact *contacts;
    int contact_count;
    int contact_room; // that fil_world_add_contact() made
    double *r, *u;    // [3 contact_count]
} FilWorldTry;

// --- growing arrays ------------------------------------------------------------------------------

/// The energy of a body as it is.
FilBodyEnergy fil_body_energy(const FilBody *body);
/// The mass of a body, and of all bodies, kg.
double fil_body_mass(const FilBody *body);
double fil_world_mass(const FilWorld *world);

/// Room for `count` items of `size` bytes in `*items`, keeping what is there.
FilStatus fil_world_reserve(FilWorld *world, void *items, int *room, int64_t count, size_t size,
                            FilError *error);

/// Where the friction of two materials is kept, whatever their order.
static inline int64_t fil_world_friction(int a, int b) {
    const int64_t low = a < b ? a : b, high = a < b ? b : a;
    return high * (high + 1) / 2 + low;
}

// --- step.c --------------------------------------------------------------------------------------

/// One step over `span`, which begins now. `taken` is false, and the world as before, where the
/// step is too violent; with `last` set what passes through something else is only counted.
FilStatus fil_world_try_step(FilWorld *world, const FilSpan *span, bool last, FilStepInfo *info,
                             bool *taken, FilError *error);

/// The contacts there are before the first step, with their gaps and without forces.
FilStatus fil_world_find_contacts(FilWorld *world, FilError *error);

// --- remember.c ----------------------------------------------------------------------------------

/// The contacts of a step: what others may look at, what the next step starts from, and sums.
FilStatus fil_world_record_contacts(FilWorld *world, const FilWorldTry *step, FilStepInfo *info,
                                    FilError *error);
/// The forces and torques of joints in a step.
void fil_world_record_joints(FilWorld *world, const FilWorldTry *step);
/// Bring the memories to their order.
void fil_memories_sort(FilWorld *world);

// --- pieces.c ------------------------------------------------------------------------------------

/// Cut a rod into pieces, or enter a solid as one.
FilStatus fil_world_add_pieces(FilWorld *world, FilBody *body, FilError *error);
FilStatus fil_world_add_solid(FilWorld *world, int body, int obstacle, const FilShape *shape,
                              int *piece, FilError *error);

/// Where the ends of all pieces are, and how they move. `states`, those of now or NULL, say which
/// of the samples that are kept still hold.
void fil_world_sample(const FilWorld *world, const double *states, double *points, double *rates);
/// Sample the rods into world->samples.
FilStatus fil_world_keep_samples(FilWorld *world, FilError *error);
/// How they move over a step of `dt` though v+ = 0, because ends are driven.
FilStatus fil_world_sample_driven(FilWorld *world, FilWorldTry *step, FilError *error);

/// The centre of the section at a place of a rod, or of a rigid body.
void fil_world_centre(const FilWorld *world, const FilWorldTry *step, const FilPlace *place,
                      double centre[3]);

// --- joints.c ------------------------------------------------------------------------------------

/// Whether two pieces are next to a joint between their bodies.
bool fil_world_are_joined(const FilWorld *world, int i, int j);
/// The place at `part` (0 .. 1) of the length of the rod that place->body is.
void fil_world_place_on_rod(const FilWorld *world, double part, FilPlace *place);
/// Where a side of a joint is now: its point in space and the axes it turns with; one of an
/// obstacle that is at this pose, NULL: it is of none.
void fil_world_look_at(const FilWorld *world, const FilPlace *place, const FilPose *obstacle,
                       FilPose *pose);
/// The rows of a joint where its sides are now: returns how many blocks, 1 or 2.
int fil_world_list_joint(const FilWorld *world, int index, FilWorkContact *out);
/// What row i of a step, of a joint, did to bring together what was apart when it began, J.
double fil_joint_mending(const FilWorldTry *step, int i);
/// Append the joints, and the hand, to the contacts of a step.
FilStatus fil_world_list_joints(FilWorld *world, FilWorldTry *step, FilError *error);

// --- tension.c -----------------------------------------------------------------------------------

/// What a message calls a body: rod "fringe", or rod 3.
void fil_world_name(const FilWorld *world, const FilBody *body, size_t size, char *text);

/// What holds the ends of all rods, [rod_count][2][3] N and N m: root, then tip (reaction.c).
/// Memory for the work comes from the arena.
FilStatus fil_world_reactions(const FilWorld *world, FilArena *arena, double *force, double *moment,
                              FilError *error);

/// The force that sections of rods that do not stretch carry, N, world axes: at all points, where
/// they move with `velocity`, [point_count][3] each. At points of rods that stretch it is 0.
void fil_world_section_forces(const FilWorld *world, const double *velocity, double *force);

// --- grab.c --------------------------------------------------------------------------------------

/// Where the hand is; false: there is none.
bool fil_world_grab_place(const FilWorld *world, FilPlace *place);
/// The rows of the hand, for a step of `dt`: how many blocks, at most 2.
int fil_world_list_grab(const FilWorld *world, double dt, FilWorkContact *out);
/// What the hand did in a step that was taken.
void fil_world_record_grab(FilWorld *world, const FilWorldTry *step);

// --- near.c --------------------------------------------------------------------------------------

/// The boxes of a step and its candidates, step->pairs, for points and rates as they are.
FilStatus fil_world_find_pairs(FilWorld *world, FilWorldTry *step, FilError *error);
/// The candidates once more, after step->boxes grew, and for capsules that reach as far as `reach`
/// (as step->reach) from where they were when the step began.
FilStatus fil_world_find_more_pairs(FilWorld *world, FilWorldTry *step, const double *reach,
                                    FilError *error);
/// Whether a candidate of step->pairs counts in this step: the boxes of its pieces meet, and it is
/// no root.
bool fil_world_is_candidate(const FilWorld *world, const FilWorldTry *step, const int pair[2]);

// --- detect.c ------------------------------------------------------------------------------------

/// Find the contacts of a step.
FilStatus fil_world_detect(FilWorld *world, FilWorldTry *step, FilError *error);
/// Find the pieces that are rooted in obstacles, of all that was added since the last time: where
/// they are now.
FilStatus fil_world_root(FilWorld *world, FilError *error);
/// Add a contact that was found at the end of a try: its law is set here. It takes the place of one
/// of the same feature.
FilStatus fil_world_add_contact(FilWorld *world, FilWorldTry *step, const FilWorkContact *contact,
                                FilError *error);
/// The contact that a touch of a pair is, but for its law.
void fil_world_fill_contact(const FilWorld *world, const int pair[2], const FilTouch *touch,
                            double closing, FilWorkContact *contact);
/// Pieces in the order of contacts: capsules first, then bodies, then obstacles.
void fil_world_order(const FilWorld *world, const FilWorldTry *step, const int pair[2],
                     int ordered[2]);
/// Whether a place of a piece is an end of a rod that is held there: no impulse moves it.
bool fil_world_is_held(const FilWorld *world, int piece, double t);
/// How the point p of an obstacle moves in a step of `dt`.
void fil_world_obstacle_rate(const FilObstacle *obstacle, double dt, const double p[3],
                             double rate[3]);
/// Whether a piece is one of a rod.
static inline bool fil_piece_is_capsule(const FilWorld *world, const FilPiece *piece) {
    return piece->obstacle < 0 && world->bodies[piece->body].kind == FIL_BODY_ROD;
}

/// The surface of what a piece belongs to, and how far ahead its contacts are seen, m.
static inline const FilSurface *fil_piece_surface(const FilWorld *world, const FilPiece *piece) {
    return piece->obstacle >= 0 ? &world->obstacles[piece->obstacle].surface
                                : &world->bodies[piece->body].surface;
}
static inline double fil_piece_margin(const FilWorld *world, const FilPiece *piece) {
    return piece->obstacle >= 0 ? 0.0 : world->bodies[piece->body].margin;
}

/// The shape and the pose of a solid piece.
void fil_world_solid(const FilWorld *world, const FilPiece *piece, FilShape *shape, FilPose *pose);

#endif
