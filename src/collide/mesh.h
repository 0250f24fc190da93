#ifndef FIL_COLLIDE_MESH_H
#define FIL_COLLIDE_MESH_H

// A closed mesh as the collision code sees it: triangles, edges, normals and a tree of boxes, all
// in the mesh's own axes.

#include "collide/bvh.h"
#include "filum/shape.h"

struct FilMesh {
    FilArena arena;
    int vertex_count, triangle_count, edge_count;
    double (*vertices)[3];    // [vertex_count] m
    int (*triangles)[3];      // [triangle_count]: corners
    int (*sides)[3];          // [triangle_count]: edges; side k runs from corner k to the next
    int (*edges)[2];          // [edge_count]: vertices, the smaller one first
    int (*edge_triangles)[2]; // [edge_count]: the one that runs along it, the one against it
    // Normals whose sign against a point tells inside from outside (see mesh.c), of unit length
    double (*triangle_normals)[3]; // [triangle_count]
    double (*edge_normals)[3];     // [edge_count]
    double (*vertex_normals)[3];   // [vertex_count], weighted by angle
    int *patches;            // [triangle_count]: triangles that join smoothly have the same number
    bool *sharp_edges;       // [edge_count]: do not join smoothly
    bool *sharp_vertices;    // [vertex_count]: have a sharp edge
    int *spoke_first;        // [vertex_count + 1]: where the edges of each vertex start in `spokes`
    int *spokes;             // [2 edge_count]
    int *owners;             // [vertex_count]: the first triangle of each vertex
    FilBvh bvh;              // over the triangles
    double (*corners)[3][3]; // [triangle_count]: in the order of the tree
    FilBox box;
    double size; // m: diagonal of the box
    FilSolidMoments moments;
};

/// A point on the surface, and how another point lies to it.
typedef struct FilMeshPoint {
    double at[3];
    double distance;    // m, below 0 when the point asked about is inside
    double normal[3];   // unit, outward: of the triangle, edge or vertex
    int triangle, part; // as in triangle.h
} FilMeshPoint;

/// The closest point of the surface to `p`, when it is less than `reach` away (INFINITY is fine).
bool fil_mesh_closest(const FilMesh *mesh, const double p[3], double reach, FilMeshPoint *out);

/// How far the surface is from a segment; 0 where they cross, `reach` when it is not closer.
double fil_mesh_segment_distance(const FilMesh *mesh, const double a[2][3], double reach);

/// The outward normal of a part of a triangle.
const double *fil_mesh_normal(const FilMesh *mesh, int triangle, int part);

/// A number for the feature that a part of a triangle belongs to, below 2^30: a smooth patch of
/// triangles, a sharp edge or a sharp vertex.
uint32_t fil_mesh_feature(const FilMesh *mesh, int triangle, int part);

/// Whether `p` is inside.
bool fil_mesh_contains(const FilMesh *mesh, const double p[3]);

/// World to the mesh's own axes and back, for points.
static inline void fil_pose_to_own(const FilPose *pose, const double world[3], double own[3]) {
    double d[3];
    for (int k = 0; k < 3; k++) {
        d[k] = world[k] - pose->position[k];
    }
    for (int k = 0; k < 3; k++) {
        own[k] = d[0] * pose->axis[k][0] + d[1] * pose->axis[k][1] + d[2] * pose->axis[k][2];
    }
}

static inline void fil_pose_turn(const FilPose *pose, const double own[3], double world[3]) {
    for (int k = 0; k < 3; k++) {
        world[k] =
            own[0] * pose->axis[0][k] + own[1] * pose->axis[1][k] + own[2] * pose->axis[2][k];
    }
}

static inline void fil_pose_to_world(const FilPose *pose, const double own[3], double world[3]) {
    fil_pose_turn(pose, own, world);
    for (int k = 0; k < 3; k++) {
        world[k] += pose->position[k];
    }
}

#endif
