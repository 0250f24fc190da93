// spec.c - the format of scenes: every kind of object, every field, with unit, range, default and
// one line of text. Nothing about the format is written anywhere else.
#include "spec.h"

#include <float.h>
#include <stddef.h>

#define NAMES2(code, name) name,
#define NAMES3(code, name, text) name,
#define NAMES4(code, name, unit, text) name,

static const char *const model_names[] = {FIL_ROD_MODEL_TABLE(NAMES3) NULL};
static const char *const end_names[] = {FIL_ROD_END_TABLE(NAMES2) NULL};
static const char *const section_names[] = {FIL_SECTION_TABLE(NAMES2) NULL};
static const char *const start_names[] = {FIL_START_TABLE(NAMES2) NULL};
static const char *const step_names[] = {FIL_ROD_STEP_TABLE(NAMES2) NULL};
static const char *const natural_names[] = {"given", "start", NULL};
static const char *const self_names[] = {"auto", "on", "off", NULL};
static const char *const shape_names[] = {FIL_SHAPE_TABLE(NAMES3) NULL};
static const char *const between_names[] = {FIL_MOTION_BETWEEN_TABLE(NAMES2) NULL};
static const char *const knot_names[] = {"overhand", "figure-eight", "cinquefoil", NULL};
static const char *const up_names[] = {"z", "y", NULL};
static const char *const joint_names[] = {FIL_JOINT_TABLE(NAMES2) NULL};
static const char *const place_names[] = {"root", "tip", NULL};
static const char *const contact_names[] = {FIL_CONTACT_TABLE(NAMES3) NULL};
static const char *const law_names[] = {FIL_FRICTION_LAW_TABLE(NAMES3) NULL};
static const char *const solver_names[] = {FIL_FRICTION_SOLVERS(NAMES3) NULL};
static const char *const local_names[] = {FIL_LOCAL_SOLVERS(NAMES3) NULL};
static const char *const function_names[] = {FIL_NEWTON_FUNCTIONS(NAMES3) NULL};
static const char *const convex_names[] = {FIL_CONVEX_SOLVERS(NAMES3) NULL};
static const char *const measure_names[] = {FIL_MEASURE_TABLE(NAMES4) NULL};
static const char *const take_names[] = {FIL_TAKE_TABLE(NAMES2) NULL};
static const char *const relative_names[] = {FIL_RELATIVE_TABLE(NAMES2) NULL};
static const char *const output_names[] = {FIL_OUTPUT_TABLE(NAMES3) NULL};

// A field whose name is that of the member. What follows the text is optional: .unit, .range, ...
#define FIELD(struct_type, member, kind, about, ...)                                        \
    {                                                                                       \
        .name = #member, .type = FIL_FIELD_##kind, .offset = offsetof(struct_type, member), \
        .text = (about), __VA_ARGS__                                                        \
    }
#define TABLE(kind, struct_type, about)                            \
    const FilTable fil_spec_##kind = {.name = #kind,               \
                                      .text = (about),             \
                                      .size = sizeof(struct_type), \
                                      .fields = kind##_fields,     \
                                      .field_count =               \
                                          (int)(sizeof kind##_fields / sizeof *kind##_fields)}
#define POSITIVE .range = FIL_RANGE_POSITIVE
#define NOT_NEGATIVE .range = FIL_RANGE_NOT_NEGATIVE
#define BETWEEN(a, b) .range = FIL_RANGE_BETWEEN, .low = (a), .high = (b)
#define DEFAULT(text) .standard = (text)
#define ORIGIN .size = 3, .standard = "[0, 0, 0]"
#define PLAIN .unit = NULL
#define MAX_COUNT 1e9

// ------------------------------------------------------------------------------------- motions

static const FilField key_fields[] = {
    FIELD(FilKeySpec, time, NUMBER, "when", .unit = "s", .required = true),
    FIELD(FilKeySpec, at, VECTOR, "displacement from the start", .unit = "m", ORIGIN),
    FIELD(FilKeySpec, turn, VECTOR, "rotation vector relative to the start", .unit = "rad", ORIGIN),
};
TABLE(key, FilKeySpec, "A key of a motion; times must increase.");

static const FilField swing_fields[] = {
    FIELD(FilSwingSpec, at, VECTOR, "amplitude of the displacement", .unit = "m", ORIGIN),
    FIELD(FilSwingSpec, turn, VECTOR, "amplitude of the rotation vector", .unit = "rad", ORIGIN),
    FIELD(FilSwingSpec, period, NUMBER, "period of the oscillation", .unit = "s", POSITIVE,
          .required = true),
    FIELD(FilSwingSpec, phase, NUMBER, "of the sine at time 0", .unit = "rad", DEFAULT("0")),
};
TABLE(swing, FilSwingSpec, "An oscillation, a sine of time.");

static const FilField motion_fields[] = {
    FIELD(FilMotionSpec, pivot, VECTOR,
          "centre of rotation at time 0; default: the position of the thing itself", .unit = "m",
          ORIGIN),
    FIELD(FilMotionSpec, keys, LIST,
          "positions at given times; at rest before the first and after the last",
          .table = &fil_spec_key),
    FIELD(FilMotionSpec, between, NAME, "interpolation between keys", .names = between_names,
          DEFAULT("\"smooth\"")),
    FIELD(FilMotionSpec, swing, OBJECT, "oscillation", .table = &fil_spec_swing),
    FIELD(FilMotionSpec, velocity, VECTOR, "constant velocity", .unit = "m/s", ORIGIN),
    FIELD(FilMotionSpec, spin, VECTOR, "constant angular velocity, world axes", .unit = "rad/s",
          ORIGIN),
    FIELD(FilMotionSpec, from, NUMBER, "when velocity and spin start", .unit = "s", DEFAULT("0")),
    FIELD(FilMotionSpec, until, NUMBER, "when velocity and spin end; default: never", .unit = "s"),
};
TABLE(motion, FilMotionSpec, "A prescribed rigid motion: keys, swing and constant rates add up.");

// ---------------------------------------------------------------------------------------- rods

static const FilField root_fields[] = {
    FIELD(FilRootSpec, at, VECTOR, "where the rod starts", .unit = "m", ORIGIN),
    FIELD(FilRootSpec, along, VECTOR, "direction of the rod at its root; a vector of any length",
          .size = 3, DEFAULT("[1, 0, 0]")),
    FIELD(FilRootSpec, up, VECTOR,
          "direction of the second section axis, n2, as nearly as possible", .size = 3,
          DEFAULT("[0, 0, 1]")),
    FIELD(FilRootSpec, held, NAME, "how it is held", .names = end_names, DEFAULT("\"clamped\"")),
    FIELD(FilRootSpec, follows, TEXT, "name of an obstacle whose motion it follows", PLAIN),
    FIELD(FilRootSpec, motion, OBJECT, "prescribed motion of what is held",
          .table = &fil_spec_motion),
};
TABLE(root, FilRootSpec, "The root of a rod. With `points`, `at` and `along` come from them.");

static const FilField tip_fields[] = {
    FIELD(FilTipSpec, held, NAME, "how it is held, where it starts", .names = end_names,
          DEFAULT("\"free\"")),
    FIELD(FilTipSpec, follows, TEXT, "name of an obstacle whose motion it follows", PLAIN),
    FIELD(FilTipSpec, motion, OBJECT, "prescribed motion of what is held",
          .table = &fil_spec_motion),
};
TABLE(tip, FilTipSpec, "The tip of a rod.");

static const FilField section_fields[] = {
    FIELD(FilSectionSpec, kind, NAME, "shape, or measured stiffness", .names = section_names,
          DEFAULT("\"round\"")),
    FIELD(FilSectionSpec, inner_radius, NUMBER, "hollow", .unit = "m", POSITIVE),
    FIELD(FilSectionSpec, radii, VECTOR, "elliptic: half-axes along n1 and n2", .unit = "m",
          POSITIVE, .size = 2),
    FIELD(FilSectionSpec, bend, VECTOR, "given: bending stiffness EI1, EI2", .unit = "N m^2",
          POSITIVE, .size = 2),
    FIELD(FilSectionSpec, twist, NUMBER, "given: torsion stiffness GJ", .unit = "N m^2", POSITIVE),
    FIELD(FilSectionSpec, mass, NUMBER, "given: mass per length", .unit = "kg/m", POSITIVE),
    FIELD(FilSectionSpec, stretch, NUMBER, "given: EA; 4 max(EI) / radius^2 when 0", .unit = "N",
          NOT_NEGATIVE, DEFAULT("0")),
    FIELD(FilSectionSpec, spin_inertia, NUMBER,
          "given: inertia about the axis per length; mass radius^2 / 2 when 0", .unit = "kg m",
          NOT_NEGATIVE, DEFAULT("0")),
};
TABLE(section, FilSectionSpec,
      "The cross-section. `round` and `hollow` use the rod's radius and, like `elliptic`, its "
      "material.");

static const FilField natural_fields[] = {
    FIELD(FilNaturalSpec, shape, NAME, "`start`: the start shape is the natural one",
          .names = natural_names, DEFAULT("\"given\"")),
    FIELD(FilNaturalSpec, curvature, VECTOR, "kappa1, kappa2: about n1 and n2", .unit = "1/m",
          .size = 2, DEFAULT("[0, 0]")),
    FIELD(FilNaturalSpec, twist, NUMBER, "about the tangent", .unit = "1/m", DEFAULT("0")),
    FIELD(FilNaturalSpec, table, VECTORS,
          "instead: [twist, kappa1, kappa2] of each element, or at each joint", .unit = "1/m",
          .size = 3),
};
TABLE(natural, FilNaturalSpec, "The shape without load.");

static const FilField load_fields[] = {
    FIELD(FilLoadSpec, at, NUMBER, "arc length; default: the tip", .unit = "m", NOT_NEGATIVE),
    FIELD(FilLoadSpec, force, VECTOR, "in world axes", .unit = "N", ORIGIN),
    FIELD(FilLoadSpec, torque, VECTOR, "in world axes", .unit = "N m", ORIGIN),
};
TABLE(load, FilLoadSpec, "A force and a torque on a section of a rod.");

static const FilField twig_fields[] = {
    FIELD(FilTwigSpec, parent, COUNT,
          "the element at whose end it begins; -1: the root of the tree", BETWEEN(-1, MAX_COUNT),
          .required = true),
    FIELD(FilTwigSpec, turn, VECTOR,
          "rotation vector relative to the end of the parent, in its axes", .unit = "rad", ORIGIN),
    FIELD(FilTwigSpec, length, NUMBER, "of the element", .unit = "m", POSITIVE, .required = true),
    FIELD(FilTwigSpec, radius, NUMBER, "of the element; default: the radius of the rod",
          .unit = "m", POSITIVE),
    FIELD(FilTwigSpec, curvature, VECTOR, "natural, kappa1 and kappa2", .unit = "1/m", .size = 2,
          DEFAULT("[0, 0]")),
    FIELD(FilTwigSpec, twist, NUMBER, "natural", .unit = "1/m", DEFAULT("0")),
};
TABLE(twig, FilTwigSpec, "An element of a tree, which is a rod of the model helix.");

#define ROD(member, kind, about, ...) FIELD(FilRodSpec, member, kind, about, __VA_ARGS__)
static const FilField rod_fields[] = {
    ROD(name, TEXT, "for joints and events", DEFAULT("\"\"")),
    ROD(model, NAME, "how the rod is discretised", .names = model_names, DEFAULT("\"clothoid\"")),
    ROD(elements, COUNT, "elements of the model", BETWEEN(1, 1e7), DEFAULT("10")),
    ROD(length, NUMBER, "of the whole rod; with `points`: the length of the curve through them",
        .unit = "m", POSITIVE, DEFAULT("0.2")),
    ROD(element_lengths, NUMBERS,
        "length of each element; their sum is the length; default: all equal", .unit = "m",
        POSITIVE),
    ROD(radius, NUMBER, "of the section; the outer radius of a hollow one", .unit = "m", POSITIVE,
        DEFAULT("5e-5")),
    ROD(section, OBJECT, "cross-section, when it is not round", .table = &fil_spec_section),
    ROD(material, TEXT, "name of a material; needed when there are several", PLAIN),
    ROD(natural, OBJECT, "shape without load", .table = &fil_spec_natural),
    ROD(start, NAME, "shape at time 0; `points` where they are given", .names = start_names,
        DEFAULT("\"natural\"")),
    ROD(points, VECTORS, "start: the rod follows a curve through these points", .unit = "m",
        .size = 3),
    ROD(curvatures, VECTORS, "start: [twist, kappa1, kappa2] of each element, or at each joint",
        .unit = "1/m", .size = 3),
    ROD(pretwist, NUMBER, "rotation of the tip relative to the root at time 0, spread evenly",
        .unit = "rad", DEFAULT("0")),
    ROD(root, OBJECT, "where and how it starts", .table = &fil_spec_root),
    ROD(tip, OBJECT, "how it ends", .table = &fil_spec_tip),
    ROD(tree, LIST, "elements of a tree, instead of `elements` and `length`",
        .table = &fil_spec_twig),
    ROD(loads, LIST, "forces and torques", .table = &fil_spec_load),
    ROD(line_load, VECTOR, "force per length on the whole rod, in world axes", .unit = "N/m",
        ORIGIN),
    ROD(damping, NUMBER, "bending damping divided by bending stiffness", .unit = "s", NOT_NEGATIVE,
        DEFAULT("0")),
    ROD(drag, NUMBER, "air drag coefficient, per length", .unit = "kg/(m s)", NOT_NEGATIVE,
        DEFAULT("0")),
    ROD(wind, NUMBER, "fraction of the scene's wind that reaches it", BETWEEN(0, 1), DEFAULT("1")),
    ROD(growth, NUMBER, "length(t) = length (1 + growth t)", .unit = "1/s", DEFAULT("0")),
    ROD(contact_radius, NUMBER,
        "radius used for contact; default: the radius (elliptic: the smaller half-axis)",
        .unit = "m", POSITIVE),
    ROD(contact_pieces, COUNT, "contact capsules per element", BETWEEN(1, 1e6)),
    ROD(contact_length, NUMBER,
        "or the largest length of a capsule; neither: as fine as natural curls need", .unit = "m",
        POSITIVE),
    ROD(self_contact, NAME,
        "contact with itself; auto: on if friction of its material with itself is given",
        .names = self_names, DEFAULT("\"auto\"")),
    ROD(velocity, VECTOR, "velocity of the whole rod at time 0", .unit = "m/s", ORIGIN),
    ROD(spin, VECTOR, "angular velocity of the whole rod about its root at time 0", .unit = "rad/s",
        ORIGIN),
    ROD(step_kind, NAME, "how the step of the model is solved", .names = step_names,
        DEFAULT("\"auto\"")),
    ROD(quasistatic_twist, FLAG, "der: twist always minimises the energy", DEFAULT("false")),
};
TABLE(rod, FilRodSpec, "An elastic rod.");

// -------------------------------------------------------------------------------------- solids

#define SOLID(member, kind, about, ...) FIELD(FilSolidSpec, member, kind, about, __VA_ARGS__)
#define SOLID_FIELDS                                                                           \
    SOLID(name, TEXT, "name, for joints, hair and `follows`", DEFAULT("\"\"")),                \
        SOLID(shape, NAME, "what it is", .names = shape_names, .required = true),              \
        SOLID(radius, NUMBER, "sphere, capsule, cylinder", .unit = "m", POSITIVE),             \
        SOLID(length, NUMBER,                                                                  \
              "capsule (between the centres of its ends), cylinder; both lie along "           \
              "x of their own axes, which `turn` turns",                                       \
              .unit = "m", POSITIVE),                                                          \
        SOLID(size, VECTOR, "box: full edge lengths", .unit = "m", POSITIVE, .size = 3),       \
        SOLID(file, TEXT, "mesh: OBJ or PLY, beside the scene", PLAIN),                        \
        SOLID(scale, NUMBER, "mesh: length of its unit", .unit = "m", POSITIVE, DEFAULT("1")), \
        SOLID(at, VECTOR, "where its centre is", .unit = "m", ORIGIN),                         \
        SOLID(turn, VECTOR, "rotation vector from the world's axes to its own", .unit = "rad", \
              ORIGIN),                                                                         \
        SOLID(material, TEXT, "name of a material; needed when there are several", PLAIN)

static const FilField obstacle_fields[] = {
    SOLID_FIELDS,
    SOLID(motion, OBJECT, "prescribed motion; default: at rest", .table = &fil_spec_motion),
    SOLID(follows, TEXT, "name of an obstacle above this one whose motion it follows", PLAIN),
};
TABLE(obstacle, FilSolidSpec,
      "A solid that is at rest or has a prescribed motion. A plane fills the half space below its "
      "third axis.");

static const FilField rail_fields[] = {
    FIELD(FilRailSpec, name, TEXT, "its capsules are called name/0, name/1, ...", DEFAULT("\"\"")),
    FIELD(FilRailSpec, points, VECTORS, "at least 2: a capsule from each to the next", .unit = "m",
          .size = 3, .required = true),
    FIELD(FilRailSpec, radius, NUMBER, "of the rail", .unit = "m", POSITIVE, .required = true),
    FIELD(FilRailSpec, material, TEXT, "name of a material; needed when there are several", PLAIN),
};
TABLE(rail, FilRailSpec, "A rail that does not move: obstacles end to end.");

static const FilField body_fields[] = {
    SOLID_FIELDS,
    SOLID(mass, NUMBER, "default: volume times density", .unit = "kg", POSITIVE),
    SOLID(density, NUMBER, "default: the density of its material", .unit = "kg/m^3", POSITIVE),
    SOLID(velocity, VECTOR, "at time 0", .unit = "m/s", ORIGIN),
    SOLID(spin, VECTOR, "at time 0, world axes", .unit = "rad/s", ORIGIN),
    SOLID(force, VECTOR, "on its centre of mass, at time 0", .unit = "N", ORIGIN),
    SOLID(force_rate, VECTOR, "rate of change of the force", .unit = "N/s", ORIGIN),
    SOLID(torque, VECTOR, "in world axes", .unit = "N m", ORIGIN),
};
TABLE(body, FilSolidSpec, "A rigid body.");

// ---------------------------------------------------------------------------------- generators

#define PATTERN(struct_type)                                                          \
    FIELD(struct_type, rod, OBJECT, "the rod that is copied", .table = &fil_spec_rod, \
          .required = true)
#define SEED(struct_type)                                                   \
    FIELD(struct_type, seed, COUNT,                                         \
          "seed of the random numbers; the same seed gives the same scene", \
          BETWEEN(0, 2147483647), DEFAULT("0"))
#define NAMED(struct_type) \
    FIELD(struct_type, name, TEXT, "the copies are called name/0, name/1, ...", DEFAULT("\"\""))

static const FilField array_fields[] = {
    NAMED(FilArraySpec),
    FIELD(FilArraySpec, rod, OBJECT, "the rod that is copied", .table = &fil_spec_rod),
    FIELD(FilArraySpec, body, OBJECT, "or the body that is copied", .table = &fil_spec_body),
    FIELD(FilArraySpec, count, COUNTS, "along x, y and z", .size = 3, BETWEEN(1, 1e6),
          .required = true),
    FIELD(FilArraySpec, spacing, VECTOR, "distance from one to the next", .unit = "m", .size = 3,
          .required = true),
    FIELD(FilArraySpec, jitter, NUMBER, "largest random displacement along each axis", .unit = "m",
          NOT_NEGATIVE, DEFAULT("0")),
    FIELD(FilArraySpec, turn_jitter, NUMBER, "largest random rotation about each axis",
          .unit = "rad", NOT_NEGATIVE, DEFAULT("0")),
    SEED(FilArraySpec),
};
TABLE(array, FilArraySpec, "Copies of a rod or a body on a grid; the first is where it says.");

static const FilField bundle_fields[] = {
    NAMED(FilBundleSpec),
    PATTERN(FilBundleSpec),
    FIELD(FilBundleSpec, count, COUNT, "strands", BETWEEN(1, MAX_COUNT), .required = true),
    FIELD(FilBundleSpec, spacing, NUMBER, "distance between axes; default: 2.02 contact radii",
          .unit = "m", POSITIVE),
    FIELD(FilBundleSpec, turns, NUMBER, "turns of the bundle about its axis, as in a yarn",
          BETWEEN(-300, 300), DEFAULT("0")),
    FIELD(FilBundleSpec, jitter, NUMBER, "largest random displacement of a strand, sideways",
          .unit = "m", NOT_NEGATIVE, DEFAULT("0")),
    SEED(FilBundleSpec),
};
TABLE(bundle, FilBundleSpec,
      "Parallel strands in hexagonal packing, from the middle outwards, around the rod's root.");

static const FilField pile_fields[] = {
    NAMED(FilPileSpec),
    PATTERN(FilPileSpec),
    FIELD(FilPileSpec, count, COUNT, "strands", BETWEEN(1, MAX_COUNT), .required = true),
    FIELD(FilPileSpec, spacing, NUMBER,
          "from each to the next above; 2.02 contact radii, unless given", .unit = "m", POSITIVE),
    FIELD(FilPileSpec, turn, NUMBER, "most that a strand is turned about its middle, either way",
          .unit = "rad", BETWEEN(0, 3.15), DEFAULT("\"180 deg\"")),
    FIELD(FilPileSpec, jitter, NUMBER, "most that its middle is off, along and across", .unit = "m",
          NOT_NEGATIVE, DEFAULT("0")),
    SEED(FilPileSpec),
};
TABLE(pile, FilPileSpec,
      "Straight strands one above another, turned at random, that fall into a heap. The root's "
      "`at` is the middle of the lowest; `up` is where the others are.");

static const FilField braid_fields[] = {
    NAMED(FilBraidSpec),
    PATTERN(FilBraidSpec),
    FIELD(FilBraidSpec, strands, COUNT, "how many; 2 make a rope", BETWEEN(2, 32), DEFAULT("3")),
    FIELD(FilBraidSpec, width, NUMBER, "between the outermost axes", .unit = "m", POSITIVE,
          .required = true),
    FIELD(FilBraidSpec, thickness, NUMBER, "between the highest and the lowest axis", .unit = "m",
          POSITIVE, .required = true),
    FIELD(FilBraidSpec, pitch, NUMBER, "length of one period of a strand", .unit = "m", POSITIVE,
          .required = true),
};
TABLE(braid, FilBraidSpec, "A flat plait along the root's direction.");

static const FilField curl_fields[] = {
    FIELD(FilCurlSpec, radius, NUMBER, "of the curls", .unit = "m", POSITIVE, .required = true),
    FIELD(FilCurlSpec, pitch, NUMBER, "from one turn to the next; 0: rings", .unit = "m",
          NOT_NEGATIVE, DEFAULT("0")),
    FIELD(FilCurlSpec, upright, FLAG,
          "the axis of the curls, not the hair itself, starts along normal + comb",
          DEFAULT("false")),
};
TABLE(curl, FilCurlSpec, "Natural helices of a given radius and pitch.");

static const FilField laid_fields[] = {
    FIELD(FilLaidSpec, rise, NUMBER, "angle between scalp and hair", .unit = "rad",
          BETWEEN(0, 1.57), DEFAULT("\"15 deg\"")),
    FIELD(FilLaidSpec, radius, NUMBER, "of the arc in which hairs turn down, until they hang",
          .unit = "m", POSITIVE, .required = true),
    FIELD(FilLaidSpec, down, VECTOR, "direction in which hairs hang", .size = 3,
          DEFAULT("[0, 0, -1]")),
};
TABLE(laid, FilLaidSpec,
      "Hairs that start combed: flat from the scalp, away from the middle (and to where `comb` "
      "points), over an arc, down. Those nearer the middle lie above the others. `natural.shape: "
      "start` makes this their natural shape, too.");

static const FilField vary_fields[] = {
    FIELD(FilVarySpec, place, NUMBER,
          "largest displacement of a root, relative to the distance of its neighbour",
          BETWEEN(0, 1), DEFAULT("0.3")),
    FIELD(FilVarySpec, direction, NUMBER, "largest deviation of its direction", .unit = "rad",
          NOT_NEGATIVE, DEFAULT("0")),
    FIELD(FilVarySpec, length, NUMBER, "relative", BETWEEN(0, 0.9), DEFAULT("0")),
    FIELD(FilVarySpec, curl, NUMBER, "relative, of radius and pitch", BETWEEN(0, 0.9),
          DEFAULT("0")),
    FIELD(FilVarySpec, phase, NUMBER,
          "in which direction hairs curl first; small values keep neighbours side by side",
          .unit = "rad", BETWEEN(0, 3.15), DEFAULT("\"180 deg\"")),
};
TABLE(vary, FilVarySpec,
      "Random differences between hairs, uniformly distributed up to the given value.");

static const FilField hair_fields[] = {
    NAMED(FilHairSpec),
    PATTERN(FilHairSpec),
    FIELD(FilHairSpec, count, COUNT, "hairs", BETWEEN(1, MAX_COUNT), .required = true),
    FIELD(FilHairSpec, on, TEXT,
          "name of the obstacle, a sphere or a mesh; the hair follows its motion",
          .required = true),
    FIELD(FilHairSpec, towards, VECTOR, "direction of the middle of the hairy part", .size = 3,
          DEFAULT("[0, 0, 1]")),
    FIELD(FilHairSpec, spread, NUMBER, "angle from that middle to the rim of the hairy part",
          .unit = "rad", BETWEEN(0, 3.15), DEFAULT("\"80 deg\"")),
    FIELD(FilHairSpec, comb, VECTOR, "hairs start along normal + comb", .size = 3,
          DEFAULT("[0, 0, 0]")),
    FIELD(FilHairSpec, lift, NUMBER,
          "height of the roots above the surface; default: half the contact radius", .unit = "m",
          NOT_NEGATIVE),
    FIELD(FilHairSpec, curl, OBJECT, "curls, instead of the rod's natural shape",
          .table = &fil_spec_curl),
    FIELD(FilHairSpec, laid, OBJECT, "start shape: combed down", .table = &fil_spec_laid),
    FIELD(FilHairSpec, vary, OBJECT, "random variation", .table = &fil_spec_vary),
    SEED(FilHairSpec),
};
TABLE(hair, FilHairSpec, "Hairs on a head.");

static const FilField strand_fields[] = {
    NAMED(FilStrandSpec),
    FIELD(FilStrandSpec, file, TEXT, "Cem Yuksel's .hair, beside the scene", .required = true),
    PATTERN(FilStrandSpec),
    FIELD(FilStrandSpec, scale, NUMBER, "length of its unit", .unit = "m", POSITIVE, DEFAULT("1")),
    FIELD(FilStrandSpec, up, NAME, "which of its axes points up", .names = up_names,
          DEFAULT("\"z\"")),
    FIELD(FilStrandSpec, at, VECTOR, "where its origin is", .unit = "m", ORIGIN),
    FIELD(FilStrandSpec, turn, VECTOR, "rotation vector about its origin", .unit = "rad", ORIGIN),
    FIELD(FilStrandSpec, every, COUNT, "take every n-th strand, beginning with the first",
          BETWEEN(1, MAX_COUNT), DEFAULT("1")),
    FIELD(FilStrandSpec, shortest, NUMBER, "strands up to this length are left out", .unit = "m",
          NOT_NEGATIVE, DEFAULT("0")),
};
TABLE(strand, FilStrandSpec,
      "Strands of a file. Each becomes a rod through its points, with the elements of `rod`; where "
      "`rod` has no `natural`, the drawn shape is the natural one. The thickness in the file does "
      "not count.");

static const FilField knot_fields[] = {
    NAMED(FilKnotSpec),
    PATTERN(FilKnotSpec),
    FIELD(FilKnotSpec, kind, NAME, "which knot", .names = knot_names, DEFAULT("\"overhand\"")),
    FIELD(FilKnotSpec, size, NUMBER, "width of the loose knot", .unit = "m", POSITIVE,
          .required = true),
};
TABLE(knot, FilKnotSpec,
      "A rod tied into a loose knot in its middle; the root's `at` is halfway between its ends, "
      "`along` points from root to tip.");

// --------------------------------------------------------------------------- joints and events

static const FilField place_fields[] = {
    FIELD(FilPlaceSpec, rod, TEXT, "name of a rod", PLAIN),
    FIELD(FilPlaceSpec, body, TEXT, "or of a body; neither: the world", PLAIN),
    FIELD(FilPlaceSpec, end, NAME, "of the rod", .names = place_names, DEFAULT("\"tip\"")),
    FIELD(FilPlaceSpec, s, NUMBER, "of the rod: arc length, instead of an end", .unit = "m",
          NOT_NEGATIVE),
    FIELD(FilPlaceSpec, at, VECTOR, "position in the body's own axes, or in the world", .unit = "m",
          ORIGIN),
    FIELD(FilPlaceSpec, motion, OBJECT, "prescribed motion of a place in the world",
          .table = &fil_spec_motion),
};
TABLE(place, FilPlaceSpec, "One side of a joint.");

static const FilField joint_fields[] = {
    FIELD(FilJointSpec, kind, NAME, "pinned: positions agree; clamped: axes agree, too",
          .names = joint_names, DEFAULT("\"pinned\"")),
    FIELD(FilJointSpec, a, OBJECT, "one side", .table = &fil_spec_place, .required = true),
    FIELD(FilJointSpec, b, OBJECT, "the other", .table = &fil_spec_place, .required = true),
};
TABLE(joint, FilJointSpec, "Keeps two positions together, and their axes if clamped.");

static const FilField event_fields[] = {
    FIELD(FilEventSpec, time, NUMBER, "when", .unit = "s", NOT_NEGATIVE, .required = true),
    FIELD(FilEventSpec, rod, TEXT, "name of a rod; default: all rods", PLAIN),
    FIELD(FilEventSpec, gravity, VECTOR, "becomes this", .unit = "m/s^2", .size = 3),
    FIELD(FilEventSpec, wind, VECTOR, "becomes this", .unit = "m/s", .size = 3),
    FIELD(FilEventSpec, release, NAME, "this end is no longer held", .names = place_names),
    FIELD(FilEventSpec, unjoin, COUNT, "index of the joint that is removed, from 0",
          BETWEEN(0, 1e9)),
    FIELD(FilEventSpec, force, VECTOR, "at the tip becomes this", .unit = "N", .size = 3),
    FIELD(FilEventSpec, torque, VECTOR, "at the tip becomes this", .unit = "N m", .size = 3),
    FIELD(FilEventSpec, length, NUMBER, "of the rod becomes this", .unit = "m", POSITIVE),
};
TABLE(event, FilEventSpec, "A change during the run; one thing each.");

// -------------------------------------------------------------------------------------- claims

#define CLAIM(member, kind, about, ...) FIELD(FilClaimSpec, member, kind, about, __VA_ARGS__)
static const FilField claim_fields[] = {
    CLAIM(says, TEXT, "what is to be seen, in words", .required = true),
    CLAIM(measure, NAME, "what is measured: see [measures](#measures)", .names = measure_names,
          .required = true),
    CLAIM(at_least, NUMBER, "the claim is false below this; in the unit of the measure", PLAIN),
    CLAIM(at_most, NUMBER, "and above this; one of both must be given", PLAIN),
    CLAIM(at, NUMBER, "when; at the end, unless given", .unit = "s", NOT_NEGATIVE),
    CLAIM(from, NUMBER, "or over the frames from here to `at`", .unit = "s", NOT_NEGATIVE),
    CLAIM(take, NAME, "what is taken of these frames", .names = take_names, DEFAULT("\"last\"")),
    CLAIM(relative, NAME, "to the value at time 0: less it, or divided by it",
          .names = relative_names, DEFAULT("\"no\"")),
    CLAIM(of, WORDS,
          "names of things, or of what generated them; all rods, or else all bodies, unless given",
          PLAIN),
    CLAIM(on, WORDS, "contacts: what they touch; anything, unless given", PLAIN),
    CLAIM(part, VECTOR, "of rods: this part of their length; [1, 1] is the tip", BETWEEN(0, 1),
          .size = 2, DEFAULT("[0, 1]")),
    CLAIM(radius, VECTOR, "of trees: branches no thinner and no thicker than these", .unit = "m",
          NOT_NEGATIVE, .size = 2),
    CLAIM(axis, VECTOR, "direction, of any length", .size = 3, DEFAULT("[0, 0, 1]")),
    CLAIM(through, VECTOR, "a place on the line along `axis`", .unit = "m", ORIGIN),
    CLAIM(near, NUMBER, "clumped: how near is near", .unit = "m", POSITIVE),
    CLAIM(beside, TEXT, "apart: the variant that is run beside it", PLAIN),
    CLAIM(with, WORDS, "changes under which all of this claim is looked at", PLAIN),
    CLAIM(unless, WORDS, "variants for which the claim must be false", PLAIN),
    CLAIM(holds_with, WORDS, "variants for which it must hold, too", PLAIN),
    CLAIM(margin, NUMBER,
          "by how much a variant of `unless` must miss the bound; a tenth of the bound, unless "
          "given",
          NOT_NEGATIVE),
};
TABLE(claim, FilClaimSpec,
      "What the scene shows, as a number that `filum claims` measures; a run takes no notice. "
      "Changes are those that `--set` takes; a variant may be several, with `;` between them.");

// ---------------------------------------------------------------------------------- the scene

static const FilField material_fields[] = {
    FIELD(FilMaterialSpec, young, NUMBER, "Young's modulus", .unit = "Pa", POSITIVE,
          DEFAULT("\"3.9 GPa\"")),
    FIELD(FilMaterialSpec, poisson, NUMBER, "Poisson's ratio", BETWEEN(-0.99, 0.5), DEFAULT("0.4")),
    FIELD(FilMaterialSpec, density, NUMBER, "mass per volume", .unit = "kg/m^3", POSITIVE,
          DEFAULT("1300")),
    FIELD(FilMaterialSpec, restitution, NUMBER, "rebound speed divided by approach speed",
          BETWEEN(0, 1), DEFAULT("0")),
};
TABLE(material, FilMaterialSpec, "A material. The defaults are those of hair.");

static const FilField pair_fields[] = {
    FIELD(FilPairSpec, between, TEXTS, "names of two materials, which may be the same", .size = 2,
          .required = true),
    FIELD(FilPairSpec, mu, NUMBER, "Coulomb's coefficient", NOT_NEGATIVE, .required = true),
};
TABLE(pair, FilPairSpec, "Friction between two materials.");

static const FilField contact_fields[] = {
    FIELD(FilContactSpec, kind, NAME, "exact, or the comparator", .names = contact_names,
          DEFAULT("\"exact\"")),
    FIELD(FilContactSpec, law, NAME, "friction: exact, or a comparator", .names = law_names,
          DEFAULT("\"exact\"")),
    FIELD(FilContactSpec, margin, NUMBER,
          "contacts exist from this distance on; 0: chosen by speed", .unit = "m", NOT_NEGATIVE,
          DEFAULT("0")),
    FIELD(FilContactSpec, stiffness, NUMBER, "penalty: of a contact", .unit = "N/m", POSITIVE,
          DEFAULT("1000")),
    FIELD(FilContactSpec, damping, NUMBER, "penalty: of a contact", .unit = "N s/m", NOT_NEGATIVE,
          DEFAULT("0")),
    FIELD(FilContactSpec, slip_speed, NUMBER, "regularised: slip speed from which friction is full",
          .unit = "m/s", POSITIVE, DEFAULT("0.01")),
    FIELD(FilContactSpec, facets, COUNT, "linearised: sides of the pyramid",
          BETWEEN(FIL_FACET_MIN, FIL_FACET_MAX), DEFAULT("4")),
    FIELD(FilContactSpec, substeps, COUNT, "how often a violent step may be halved (substeps)",
          BETWEEN(0, 20), DEFAULT("6")),
    FIELD(FilContactSpec, sweep, FLAG, "continuous check for tunnelling after each step",
          DEFAULT("true")),
    FIELD(FilContactSpec, sleep_speed, NUMBER,
          "what is slower falls asleep until something touches it; 0: nothing falls asleep",
          .unit = "m/s", NOT_NEGATIVE, DEFAULT("0")),
    FIELD(FilContactSpec, sleep_after, NUMBER,
          "time below `sleep_speed` after which it falls asleep", .unit = "s", POSITIVE,
          DEFAULT("0.5")),
};
TABLE(contact, FilContactSpec, "How contact and friction are treated.");

static const FilField solver_fields[] = {
    FIELD(FilSolverSpec, name, NAME, "global method", .names = solver_names, DEFAULT("\"auto\"")),
    FIELD(FilSolverSpec, local, NAME, "one-contact solver of gauss-seidel", .names = local_names,
          DEFAULT("\"hybrid\"")),
    FIELD(FilSolverSpec, function, NAME, "function of newton", .names = function_names,
          DEFAULT("\"fb\"")),
    FIELD(FilSolverSpec, convex, NAME, "convex solver of cadoux, socqp and convex",
          .names = convex_names, DEFAULT("\"interior\"")),
    FIELD(FilSolverSpec, tolerance, NUMBER, "of the scaled residual", POSITIVE, DEFAULT("1e-8")),
    FIELD(FilSolverSpec, iterations, COUNT,
          "largest number of iterations; 0: the solver's own limit", BETWEEN(0, MAX_COUNT),
          DEFAULT("0")),
    FIELD(FilSolverSpec, budget, NUMBER,
          "auto: largest work of a solve, in Newton steps with all contacts pressed; 0: no limit",
          NOT_NEGATIVE, DEFAULT("300")),
};
TABLE(solver, FilSolverSpec, "How the friction problem of a step is solved.");

static const FilField output_fields[] = {
    FIELD(FilOutputSpec, every, NUMBER, "simulated time between frames", .unit = "s", POSITIVE,
          DEFAULT("\"10 ms\"")),
    FIELD(FilOutputSpec, save, NUMBER, "simulated time between checkpoints", .unit = "s", POSITIVE,
          DEFAULT("1")),
    FIELD(FilOutputSpec, fields, NAMES, "what frames hold", .names = output_names,
          DEFAULT("[\"centrelines\", \"frames\", \"velocities\", \"contacts\", \"energies\", "
                  "\"solver\"]")),
};
TABLE(output, FilOutputSpec, "What is written.");

#define SCENE(member, kind, about, ...) FIELD(FilSceneSpec, member, kind, about, __VA_ARGS__)
static const FilField scene_fields[] = {
    {.name = "$schema",
     .type = FIL_FIELD_TEXT,
     .offset = offsetof(FilSceneSpec, schema),
     .text = "the JSON Schema, for editors; not read"},
    SCENE(name, TEXT, "name of the scene", DEFAULT("\"\"")),
    SCENE(look, TEXT, "what to watch for", DEFAULT("\"\"")),
    SCENE(claims, LIST, "the same in numbers, to be measured", .table = &fil_spec_claim),
    SCENE(duration, NUMBER, "simulated time", .unit = "s", POSITIVE, .required = true),
    SCENE(step, NUMBER, "time step", .unit = "s", POSITIVE, DEFAULT("\"1 ms\"")),
    SCENE(gravity, VECTOR, "acceleration", .unit = "m/s^2", .size = 3, DEFAULT("[0, 0, -9.81]")),
    SCENE(wind, VECTOR, "velocity of the air", .unit = "m/s", ORIGIN),
    SCENE(theta, NUMBER, "of the time scheme; 1: implicit Euler", BETWEEN(0.5, 1), DEFAULT("1")),
    SCENE(seed, COUNT, "added to the seeds of all generators", BETWEEN(0, 2147483647),
          DEFAULT("0")),
    SCENE(materials, MAP, "materials by name", .table = &fil_spec_material),
    SCENE(friction, LIST, "coefficients of pairs of materials", .table = &fil_spec_pair),
    SCENE(friction_default, NUMBER,
          "for all pairs that are not listed; without it every pair that may touch must be listed",
          NOT_NEGATIVE),
    SCENE(rods, LIST, "single rods", .table = &fil_spec_rod),
    SCENE(arrays, LIST, "rods or bodies on grids", .table = &fil_spec_array),
    SCENE(bundles, LIST, "parallel strands", .table = &fil_spec_bundle),
    SCENE(piles, LIST, "strands one above another", .table = &fil_spec_pile),
    SCENE(braids, LIST, "plaits", .table = &fil_spec_braid),
    SCENE(hairs, LIST, "hair on heads", .table = &fil_spec_hair),
    SCENE(strands, LIST, "strands of .hair files", .table = &fil_spec_strand),
    SCENE(knots, LIST, "knotted rods", .table = &fil_spec_knot),
    SCENE(obstacles, LIST, "solids that rods cannot move", .table = &fil_spec_obstacle),
    SCENE(rails, LIST, "rails", .table = &fil_spec_rail),
    SCENE(bodies, LIST, "rigid bodies", .table = &fil_spec_body),
    SCENE(joints, LIST, "joints between rods, bodies and the world", .table = &fil_spec_joint),
    SCENE(events, LIST, "changes during the run", .table = &fil_spec_event),
    SCENE(contact, OBJECT, "treatment of contact", .table = &fil_spec_contact),
    SCENE(solver, OBJECT, "treatment of friction problems", .table = &fil_spec_solver),
    SCENE(output, OBJECT, "what is written", .table = &fil_spec_output),
};
TABLE(scene, FilSceneSpec, "The whole file.");

const FilTable *const *fil_spec_tables(int *count) {
#define ENTRY(name) &fil_spec_##name,
    static const FilTable *const tables[] = {FIL_SPEC_TABLES(ENTRY)};
#undef ENTRY
    *count = (int)(sizeof tables / sizeof tables[0]); // NOLINT(bugprone-sizeof-expression)
    return tables;
}
