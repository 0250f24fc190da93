#ifndef FIL_TESTS_MESH_SHAPES_H
#define FIL_TESTS_MESH_SHAPES_H

// Meshes for tests: a box, a ball, an L-shaped prism, a torus.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/random.h"
#include "filum/mesh.h"
#include "filum/pose.h"
#include "math/rotation.h"

static inline FilMesh *mesh_make(const double *vertices, int vertex_count, const int *triangles,
                                 int triangle_count) {
    FilMesh *mesh = NULL;
    FilError error;
    if (fil_mesh_create(vertices, vertex_count, triangles, triangle_count, NULL, &mesh, &error) !=
        FIL_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
        abort();
    }
    return mesh;
}

static const int box_triangles[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6},
                                         {0, 1, 4}, {1, 5, 4}, {2, 6, 3}, {3, 6, 7},
                                         {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};

static inline void box_vertices(const double size[3], double vertices[8][3]) {
    for (int i = 0; i < 8; i++) {
        for (int k = 0; k < 3; k++) {
            vertices[i][k] = (i >> k & 1 ? 0.5 : -0.5) * size[k];
        }
    }
}

static inline FilMesh *mesh_box(double x, double y, double z) {
    const double size[3] = {x, y, z};
    double vertices[8][3];
    box_vertices(size, vertices);
    return mesh_make(vertices[0], 8, box_triangles[0], 12);
}

// A ball or, with `hole` above 0, a torus: rings x sides patches.
static inline FilMesh *mesh_torus(double radius, double hole, int rings, int sides) {
    double *v = malloc(sizeof *v * 3 * (size_t)(rings * sides));
    int *t = malloc(sizeof *t * 6 * (size_t)(rings * sides));
    if (v == NULL || t == NULL) {
        abort();
    }
    for (int i = 0; i < rings; i++) {
        for (int j = 0; j < sides; j++) {
            const double a = 6.283185307179586 * i / rings, b = 6.283185307179586 * j / sides;
            double *x = &v[3 * (i * sides + j)];
            x[0] = (hole + radius * cos(b)) * cos(a);
            x[1] = (hole + radius * cos(b)) * sin(a);
            x[2] = radius * sin(b);
            const int in = (i + 1) % rings, jn = (j + 1) % sides;
            int *to = &t[6 * (i * sides + j)];
            const int corner[4] = {i * sides + j, in * sides + j, in * sides + jn, i * sides + jn};
            to[0] = corner[0], to[1] = corner[1], to[2] = corner[2];
            to[3] = corner[0], to[4] = corner[2], to[5] = corner[3];
        }
    }
    FilMesh *mesh = mesh_make(v, rings * sides, t, 2 * rings * sides);
    free(v);
    free(t);
    return mesh;
}

// Latitudes and longitudes; the poles come about by joining equal vertices.
static inline FilMesh *mesh_ball(double radius, int rings, int sides) {
    double *v = malloc(sizeof *v * 3 * (size_t)((rings + 1) * sides));
    int *t = malloc(sizeof *t * 6 * (size_t)(rings * sides));
    if (v == NULL || t == NULL) {
        abort();
    }
    for (int i = 0; i <= rings; i++) {
        for (int j = 0; j < sides; j++) {
            const double a = 3.141592653589793 * i / rings, b = 6.283185307179586 * j / sides;
            const double s = i == 0 || i == rings ? 0.0 : sin(a);
            double *x = &v[3 * (i * sides + j)];
            x[0] = radius * s * cos(b);
            x[1] = radius * s * sin(b);
            x[2] = radius * cos(a);
        }
    }
    for (int i = 0; i < rings; i++) {
        for (int j = 0; j < sides; j++) {
            const int jn = (j + 1) % sides;
            int *to = &t[6 * (i * sides + j)];
            const int corner[4] = {i * sides + j, (i + 1) * sides + j, (i + 1) * sides + jn,
                                   i * sides + jn};
            to[0] = corner[0], to[1] = corner[1], to[2] = corner[2];
            to[3] = corner[0], to[4] = corner[2], to[5] = corner[3];
        }
    }
    FilMesh *mesh = mesh_make(v, (rings + 1) * sides, t, 2 * rings * sides);
    free(v);
    free(t);
    return mesh;
}

// An L of arms 2 x 1, 1 thick along z; its inner edge is at (1, 1).
static inline FilMesh *mesh_corner(void) {
    static const double outline[6][2] = {{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}};
    static const int cap[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}};
    double v[12][3];
    int t[20][3], count = 0;
    for (int i = 0; i < 12; i++) {
        v[i][0] = outline[i % 6][0];
        v[i][1] = outline[i % 6][1];
        v[i][2] = i / 6;
    }
    for (int i = 0; i < 4; i++, count += 2) {
        for (int k = 0; k < 3; k++) {
            t[count][k] = cap[i][2 - k];
            t[count + 1][k] = cap[i][k] + 6;
        }
    }
    for (int i = 0; i < 6; i++) {
        const int n = (i + 1) % 6;
        const int side[2][3] = {{i, n, n + 6}, {i, n + 6, i + 6}};
        for (int k = 0; k < 6; k++) {
            t[count + k / 3][k % 3] = side[k / 3][k % 3];
        }
        count += 2;
    }
    return mesh_make(v[0], 12, t[0], 20);
}

static inline FilPose pose_random(FilRandom *random, double spread) {
    FilPose pose;
    double q[4], R[9];
    for (int k = 0; k < 4; k++) {
        q[k] = fil_random_normal(random);
    }
    fil_rotation_from_quaternion(q, R);
    for (int k = 0; k < 9; k++) {
        pose.axis[k / 3][k % 3] = R[k];
    }
    for (int k = 0; k < 3; k++) {
        pose.position[k] = fil_random_uniform(random, -spread, spread);
    }
    return pose;
}

static inline FilPose pose_at(double x, double y, double z) {
    return (FilPose){.position = {x, y, z}, .axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
}

#endif
