// pieces.c - rods as capsules, solids as they are: what collision detection works with.
//
// A rod is cut into straight pieces between points of its centreline; how many is not bound to its
// elements. A place on a piece is (1 - t) of its first end and t of the second: so are its velocity
// and its Jacobian, and the gap between two pieces has exactly the derivative that the contact
// problem works with. Pieces of one rod that are neighbours never touch: points of a rod that can
// touch at all are half the circumference of a section apart along it.
#include "world.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "math/rotation.h"
#include "math/vec3.h"
#include "rod/rod.h"

enum { LEAST_PIECES = 12, MOST_PIECES = 64 }; // of a rod; of an element
static const double most_turn = 0.35;         // rad: how far a piece turns, at most

// Capsules for each element: enough for the natural curls, and for a rod of few elements.
static int choose_count(const FilRod *rod) {
    int elements = rod->element_count;
    double turn = 0.0;
    for (int i = 0; i < elements; i++) {
        for (int end = 0; end < 2; end++) {
            const double *kappa = rod->natural + 6 * (size_t)i + 3 * (size_t)end;
            turn = fmax(turn, rod->lengths[i] * hypot(kappa[1], kappa[2]));
        }
    }
    int few = (LEAST_PIECES + elements - 1) / elements;
    int curled = (int)ceil(fmin(turn / most_turn, MOST_PIECES));
    return few > curled ? few : curled;
}

static FilStatus reserve_places(FilWorld *world, int64_t count, FilError *error) {
    return fil_world_reserve(world, &world->places, &world->place_room, world->point_count + count,
                             sizeof(FilRodPlace), error);
}

static FilStatus reserve_pieces(FilWorld *world, int64_t count, FilError *error) {
    return fil_world_reserve(world, &world->pieces, &world->piece_room, world->piece_count + count,
                             sizeof(FilPiece), error);
}

FilStatus fil_world_add_pieces(FilWorld *world, FilBody *body, FilError *error) {
    const FilRod *rod = body->self;
    int each = body->surface.pieces > 0 ? body->surface.pieces : choose_count(rod);
    int elements = rod->element_count, tree = rod->joints != NULL;
    FIL_TRY(reserve_pieces(world, (int64_t)each * elements, error));
    body->first_piece = world->piece_count;
    body->first_point = world->point_count;
    body->piece_count = each * elements;
    body->point_count = tree ? (each + 1) * elements : each * elements + 1;
    FIL_TRY(reserve_places(world, body->point_count, error));
    double along = 0.0;
    for (int e = 0; e < elements; e++) {
        double part = rod->lengths[e] / rod->state[1];
        for (int k = 0; k < each; k++) {
            int point = body->first_point + (tree ? (each + 1) * e : each * e) + k;
            double u[2] = {(double)k / each, (double)(k + 1) / each};
            world->pieces[world->piece_count++] =
                (FilPiece){.body = world->body_count,
                           .obstacle = -1,
                           .element = e,
                           .point = {point, point + 1},
                           .u = {u[0], u[1]},
                           .thickness = body->radius,
                           .s = {along + u[0] * part, along + u[1] * part}};
            world->places[point] = (FilRodPlace){e, u[0]};
            world->places[point + 1] = (FilRodPlace){e, u[1]};
        }
        along += part;
    }
    world->point_count += body->point_count;
    return FIL_OK;
}

// How far a point of a solid is from its position, at most.
static double find_extent(const FilShape *shape) {
    double most = 0.0;
    switch (shape->kind) {
    case FIL_SHAPE_SPHERE:
        return shape->radius;
    case FIL_SHAPE_CAPSULE:
        return shape->radius + 0.5 * shape->length;
    case FIL_SHAPE_CYLINDER:
        return hypot(shape->radius, 0.5 * shape->length);
    case FIL_SHAPE_BOX:
        return 0.5 * fil_norm3(shape->size);
    case FIL_SHAPE_MESH:
        for (int i = 0; i < fil_mesh_vertex_count(shape->mesh); i++) {
            most = fmax(most, fil_norm3(fil_mesh_vertices(shape->mesh) + 3 * (ptrdiff_t)i));
        }
        return most;
    default:
        return 0.0;
    }
}

// Half of how thick a mesh is: volume by surface is that of a plate, and a third of a ball's
// radius.
static double find_mesh_thickness(const FilShape *shape) {
    const double *vertices = fil_mesh_vertices(shape->mesh);
    const int *triangles = fil_mesh_triangles(shape->mesh);
    double area = 0.0;
    for (int i = 0; i < fil_mesh_triangle_count(shape->mesh); i++) {
        double side[2][3], across[3];
        for (int k = 0; k < 2; k++) {
            fil_subtract3(vertices + 3 * (ptrdiff_t)triangles[3 * i + k + 1],
                          vertices + 3 * (ptrdiff_t)triangles[3 * i], side[k]);
        }
        fil_cross3(side[0], side[1], across);
        area += 0.5 * fil_norm3(across);
    }
    FilSolidMoments moments;
    fil_shape_moments(shape, &moments);
    return moments.volume / area;
}

static double find_thickness(const FilShape *shape) {
    switch (shape->kind) {
    case FIL_SHAPE_SPHERE:
    case FIL_SHAPE_CAPSULE:
        return shape->radius;
    case FIL_SHAPE_CYLINDER:
        return fmin(shape->radius, 0.5 * shape->length);
    case FIL_SHAPE_BOX:
        return 0.5 * fmin(shape->size[0], fmin(shape->size[1], shape->size[2]));
    case FIL_SHAPE_MESH:
        return find_mesh_thickness(shape);
    default:
        return HUGE_VAL;
    }
}

FilStatus fil_world_add_solid(FilWorld *world, int body, int obstacle, const FilShape *shape,
                              int *piece, FilError *error) {
    FIL_TRY(reserve_pieces(world, 1, error));
    *piece = world->piece_count++;
    world->pieces[*piece] = (FilPiece){.body = body,
                                       .obstacle = obstacle,
                                       .extent = find_extent(shape),
                                       .thickness = find_thickness(shape)};
    return FIL_OK;
}

// --- sampling ------------------------------------------------------------------------------------

static void sample_rod(const FilWorld *world, const FilBody *body, double *points, double *rates) {
    const FilRod *rod = body->self;
    ptrdiff_t first = 3 * (ptrdiff_t)body->first_point;
    rod->table->sample(rod, world->places + body->first_point, body->point_count, points + first,
                       rates != NULL ? rates + first : NULL);
}

// A rod that sleeps is where it fell asleep.
static void copy_rest(const FilWorld *world, const FilBody *body, double *points, double *rates) {
    ptrdiff_t first = 3 * (ptrdiff_t)body->first_point;
    size_t bytes = sizeof(double) * 3 * (size_t)body->point_count;
    memcpy(points + first, world->rest_points + first, bytes);
    if (rates != NULL) {
        memset(rates + first, 0, bytes);
    }
}

typedef struct Sampling {
    const FilWorld *world;
    const double *states; // of now, to compare with those of the samples that are kept; or NULL
    double *points, *rates;
} Sampling;

// Copy what is kept of a rod that did not change since.
static bool copy_kept(const Sampling *sampling, const FilBody *body) {
    const FilSamples *kept = &sampling->world->samples;
    if (sampling->states == NULL || body - sampling->world->bodies >= kept->body_count) {
        return false;
    }
    ptrdiff_t first = 3 * (ptrdiff_t)body->first_point;
    size_t bytes = sizeof(double) * 3 * (size_t)body->point_count;
    size_t size = sizeof(double) * (size_t)body->table->state_count(body->self);
    if (memcmp(sampling->states + body->first_state, kept->states + body->first_state, size) != 0) {
        return false;
    }
    memcpy(sampling->points + first, kept->points + first, bytes);
    memcpy(sampling->rates + first, kept->rates + first, bytes);
    return true;
}

static void sample_range(void *context, int first, int last) {
    const Sampling *sampling = context;
    for (int i = first; i < last; i++) {
        const FilBody *body = &sampling->world->bodies[i];
        if (body->kind == FIL_BODY_ROD && body->island != 0) {
            copy_rest(sampling->world, body, sampling->points, sampling->rates);
        } else if (body->kind == FIL_BODY_ROD && !copy_kept(sampling, body)) {
            sample_rod(sampling->world, body, sampling->points, sampling->rates);
        }
    }
}

void fil_world_sample(const FilWorld *world, const double *states, double *points, double *rates) {
    Sampling sampling = {.world = world, .states = states};
    sampling.points = points;
    sampling.rates = rates;
    fil_parallel_ranges(world->body_count, 8, world->threads, sample_range, &sampling);
}

FilStatus fil_world_keep_samples(FilWorld *world, FilError *error) {
    FilSamples *kept = &world->samples;
    int64_t points = 3 * (int64_t)world->point_count, size = sizeof(double);
    FIL_TRY(fil_world_reserve(world, &kept->points, &kept->point_room, points, size, error));
    FIL_TRY(fil_world_reserve(world, &kept->rates, &kept->rate_room, points, size, error));
    FIL_TRY(fil_world_reserve(world, &kept->states, &kept->state_room, world->state_count, size,
                              error));
    for (int i = 0; i < world->body_count; i++) {
        const FilBody *body = &world->bodies[i];
        body->table->get_state(body->self, kept->states + body->first_state);
    }
    fil_world_sample(world, NULL, kept->points, kept->rates);
    kept->body_count = world->body_count;
    return FIL_OK;
}

static bool is_driven(const FilBody *body) {
    if (body->kind != FIL_BODY_ROD || body->island != 0) {
        return false;
    }
    const FilRod *rod = body->self;
    return rod->root_end.motion != NULL || rod->tip_end.motion != NULL;
}

static void sample_poses(const FilWorld *world, const FilBody *body, FilPose *poses) {
    const FilRod *rod = body->self;
    for (int i = body->first_point; i < body->first_point + body->point_count; i++) {
        rod->table->at(rod, world->places[i].element, world->places[i].u, &poses[i], NULL);
    }
}

// The rotation vector that turns the axes of one pose into those of another.
static void turn_between(const FilPose *from, const FilPose *to, double turn[3]) {
    double Q[9] = {0.0};
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 3; i++) {
            fil_add3(to->axis[k][i], from->axis[k], Q + 3 * (ptrdiff_t)i);
        }
    }
    fil_rotation_log(Q, turn);
}

// What a driven root does to a rod that it carries: the velocity of a point at x is (x+ - x) / dt,
// where x+ = p+ + R (x - p).
static void sample_carried_rod(const FilBody *body, FilWorldTry *step) {
    const FilRod *rod = body->self;
    FilPose from, to;
    double turn[3], R[9];
    if (rod->root_end.motion == NULL ||
        (rod->root_end.kind != FIL_END_CLAMPED && rod->root_end.kind != FIL_END_PINNED)) {
        return; // ends that are held by rows are moved by v+
    }
    rod->table->at(rod, 0, 0.0, &from, NULL);
    fil_rod_end_pose(rod, &rod->root_end, rod->state[0] + step->dt, &to);
    turn_between(&from, rod->root_end.kind == FIL_END_CLAMPED ? &to : &from, turn);
    fil_rotation_exp(turn, R);
    for (int i = body->first_point; i < body->first_point + body->point_count; i++) {
        const double *x = step->points + 3 * (ptrdiff_t)i;
        double arm[3], moved[3];
        fil_subtract3(x, from.position, arm);
        fil_apply3(R, arm, moved);
        for (int k = 0; k < 3; k++) {
            step->ahead[3 * (ptrdiff_t)i + k] = (to.position[k] + moved[k] - x[k]) / step->dt;
            step->ahead_spin[3 * (ptrdiff_t)i + k] = turn[k] / step->dt;
        }
    }
}

// A step with v+ = 0, from rest, shows what the driven ends alone do to the rod.
static void sample_driven_rod(const FilWorld *world, const FilBody *body, FilWorldTry *step,
                              const double *state, double *still) {
    FilRod *rod = body->self;
    sample_poses(world, body, step->poses[0]);
    rod->table->stop(rod);
    memset(still, 0, sizeof(double) * (size_t)rod->dof_count);
    int rows = rod->row_count; // ends that are held by rows are moved by v+
    rod->row_count = 0;
    rod->table->advance(rod, step->dt, still);
    rod->row_count = rows;
    sample_poses(world, body, step->poses[1]);
    body->table->set_state(rod, state);
    for (int i = body->first_point; i < body->first_point + body->point_count; i++) {
        const FilPose *from = &step->poses[0][i], *to = &step->poses[1][i];
        double turn[3];
        turn_between(from, to, turn);
        for (int k = 0; k < 3; k++) {
            step->ahead[3 * (ptrdiff_t)i + k] = (to->position[k] - from->position[k]) / step->dt;
            step->ahead_spin[3 * (ptrdiff_t)i + k] = turn[k] / step->dt;
        }
    }
}

typedef struct Driving {
    FilWorld *world;
    FilWorldTry *step;
} Driving;

static void sample_driven_range(void *context, int first, int last) {
    const Driving *driving = context;
    for (int i = first; i < last; i++) {
        FilBody *body = &driving->world->bodies[i];
        if (is_driven(body) && ((const FilRod *)body->self)->table->carried) {
            sample_carried_rod(body, driving->step);
        } else if (is_driven(body)) {
            // free_velocity is not in use yet; the state is already saved by the step
            sample_driven_rod(driving->world, body, driving->step,
                              driving->step->states + body->first_state,
                              driving->step->free_velocity + body->first_dof);
        }
    }
}

FilStatus fil_world_sample_driven(FilWorld *world, FilWorldTry *step, FilError *error) {
    size_t count = (size_t)world->point_count;
    memset(step->ahead, 0, sizeof(double) * 3 * count);
    memset(step->ahead_spin, 0, sizeof(double) * 3 * count);
    bool driven = false;
    for (int i = 0; i < world->body_count; i++) {
        driven = driven || is_driven(&world->bodies[i]);
    }
    if (!driven) {
        return FIL_OK;
    }
    step->poses[0] = FIL_NEW(&world->scratch, FilPose, count + 1);
    step->poses[1] = FIL_NEW(&world->scratch, FilPose, count + 1);
    if (world->scratch.failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d points",
                        world->point_count);
    }
    Driving driving = {.world = world, .step = step};
    fil_parallel_ranges(world->body_count, 8, world->threads, sample_driven_range, &driving);
    return FIL_OK;
}

// --- places --------------------------------------------------------------------------------------

void fil_world_centre(const FilWorld *world, const FilWorldTry *step, const FilPlace *place,
                      double centre[3]) {
    const FilPiece *piece = &world->pieces[place->piece];
    const FilBody *body = &world->bodies[place->body];
    if (body->kind == FIL_BODY_ROD) {
        const double *a = step->points + 3 * (ptrdiff_t)piece->point[0];
        const double *b = step->points + 3 * (ptrdiff_t)piece->point[1];
        for (int k = 0; k < 3; k++) {
            centre[k] = (1.0 - place->t) * a[k] + place->t * b[k];
        }
        return;
    }
    fil_rigid_centre(body->self, centre);
}
