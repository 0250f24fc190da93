#ifndef FIL_FRICTION_GENERATE_H
#define FIL_FRICTION_GENERATE_H

// Seeded random problems: one contact for tests and benchmarks, and what the makers of whole
// problems (filum/generate.h) share.

#include "base/arena.h"
#include "base/random.h"
#include "filum/generate.h"

/// A random one-block problem: W symmetric positive definite of size d, row-major, with a random
/// eigenbasis, log-uniform eigenvalues and the given condition number; b normal in every component.
/// Every regime (take-off, stick, slide) occurs.
void fil_generate_local(FilRandom *random, int d, double condition, double *W, double *b);

// --- whole problems ------------------------------------------------------------------------------

/// Bodies of one size and the contacts between them, as a maker leaves them.
typedef struct FilScene {
    const FilGenerateDef *def;
    FilRandom random;
    FilArena *arena;   // what stays
    FilArena *scratch; // what does not
    int body_count;
    int body_size;    // unknowns of a body, at most FIL_SCENE_BODY_MAX
    double *velocity; // [body_count * body_size] without contact; zero at first
    void (*matrix)(const struct FilScene *scene, int body, double *A); // A, zero on entry
    const void *self;                                                  // for `matrix`
    int contact_count;
    int *entry_start; // [contact_count + 1]
    int *entry_body;  // [entries]
    double *H;        // [entries] of 3 x body_size
} FilScene;

enum { FIL_SCENE_BODY_MAX = 30 };

/// Makers: fill `scene`, of which def, random and the arenas are set. FIL_E_NO_MEMORY or FIL_OK.
FilStatus fil_scene_fibres(FilScene *scene);  // fibres and tangles
FilStatus fil_scene_rigid(FilScene *scene);   // rigid
FilStatus fil_scene_boxes(FilScene *scene);   // tower and wall
FilStatus fil_scene_spheres(FilScene *scene); // spheres

/// Room for bodies, and for contacts of two bodies at most.
FilStatus fil_scene_reserve(FilScene *scene, int body_count, int body_size, int contact_room);

/// Add a body to the contact being made: its 3 x body_size rows of H, zero.
double *fil_scene_add_entry(FilScene *scene, int body);

/// The contact being made is complete.
void fil_scene_end_contact(FilScene *scene);

/// Contact of two rigid bodies (6 unknowns: velocity, spin) at levers from their centres, normal
/// from b to a; b = -1: something fixed.
void fil_scene_touch(FilScene *scene, int a, const double *lever_a, int b, const double *lever_b,
                     const double *normal);

/// Masses of rigid bodies: `self` is their mass; moments are `inertia` times it.
typedef struct FilRigidMasses {
    const double *mass;
    double inertia;
} FilRigidMasses;

/// Give the scene rigid bodies of log-uniform mass, heaviest to lightest as def says.
FilStatus fil_scene_masses(FilScene *scene, double inertia);

/// Every body falls for one step: velocity -1 down, leaning by def's slope, and a little noise.
void fil_scene_drop(FilScene *scene, double noise);

/// `e` as the first row of a frame; the other two are tangents.
void fil_scene_frame(const double e[3], double frame[9]);

/// A unit vector, uniform over the sphere.
void fil_random_direction(FilRandom *random, double e[3]);

/// Points sorted into the cells of a grid.
typedef struct FilGrid {
    int size[3];
    double low[3], per_cell; // cell = floor((x - low) * per_cell)
    const int *start;        // [cells + 1]
    const int *member;       // points, ascending in a cell
} FilGrid;

/// Sort `count` points (3 each) into cells at least `edge` wide, about as many as points at most.
FilStatus fil_grid_make(const double *points, int count, double edge, FilArena *arena,
                        FilGrid *grid);

/// Members of one of the 27 cells around a point, itself included: grid->member[*first .. *last -
/// 1], none outside of the grid. `near` is 0 to 26.
void fil_grid_around(const FilGrid *grid, const double *point, int near, int *first, int *last);

#endif
