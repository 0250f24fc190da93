// mesh_query.c - closest points of a mesh.
//
// Branch and bound over the tree: the nearer child first, and no box that is farther than the best
// so far. The sign comes from the normal of the part (inside, edge or vertex) that the closest
// point is on: (p - q) . n is below 0 exactly when p is inside, provided that the normals of
// vertices are weighted by angle (Baerentzen and Aanaes, Signed distance computation using the
// angle weighted pseudonormal, 2005).
#include "mesh.h"

#include <math.h>

#include "collide/triangle.h"
#include "math/vec3.h"

const double *fil_mesh_normal(const FilMesh *mesh, int triangle, int part) {
    if (part >= FIL_PART_CORNER) {
        return mesh->vertex_normals[mesh->triangles[triangle][part - FIL_PART_CORNER]];
    }
    if (part >= FIL_PART_SIDE) {
        return mesh->edge_normals[mesh->sides[triangle][part - FIL_PART_SIDE]];
    }
    return mesh->triangle_normals[triangle];
}

uint32_t fil_mesh_feature(const FilMesh *mesh, int triangle, int part) {
    const uint32_t kind = (uint32_t)1 << 28, mask = kind - 1;
    if (part >= FIL_PART_CORNER) {
        const int vertex = mesh->triangles[triangle][part - FIL_PART_CORNER];
        if (mesh->sharp_vertices[vertex]) {
            return 2 * kind + ((uint32_t)vertex & mask);
        }
    } else if (part >= FIL_PART_SIDE) {
        const int edge = mesh->sides[triangle][part - FIL_PART_SIDE];
        if (mesh->sharp_edges[edge]) {
            return kind + ((uint32_t)edge & mask);
        }
    }
    return (uint32_t)mesh->patches[triangle] & mask;
}

// One step of a nearest-first walk: take the next node that is closer than `best`, and put its
// children on the stack. Returns a leaf, or NULL at the end.
typedef struct Nearest {
    const FilBvh *bvh;
    FilBox box;
    int stack[FIL_BVH_DEPTH];
    double far[FIL_BVH_DEPTH]; // distance^2
    int depth;
} Nearest;

static void start(Nearest *walk, const FilBvh *bvh) {
    walk->bvh = bvh;
    walk->stack[0] = 0;
    walk->far[0] = fil_box_distance2(&bvh->nodes[0].box, &walk->box);
    walk->depth = 1;
}

static const FilBvhNode *next_leaf(Nearest *walk, double best) {
    while (walk->depth > 0) {
        walk->depth--;
        if (!(walk->far[walk->depth] < best)) {
            continue;
        }
        const int index = walk->stack[walk->depth];
        const FilBvhNode *node = &walk->bvh->nodes[index];
        if (node->count > 0) {
            return node;
        }
        const int child[2] = {index + 1, node->first};
        double far[2];
        for (int k = 0; k < 2; k++) {
            far[k] = fil_box_distance2(&walk->bvh->nodes[child[k]].box, &walk->box);
        }
        const int nearer = far[1] < far[0];
        for (int k = 1; k >= 0; k--) {
            const int which = k == 0 ? nearer : !nearer;
            if (far[which] < best) {
                walk->stack[walk->depth] = child[which];
                walk->far[walk->depth++] = far[which];
            }
        }
    }
    return NULL;
}

bool fil_mesh_closest(const FilMesh *mesh, const double p[3], double reach, FilMeshPoint *out) {
    Nearest walk;
    fil_copy3(p, walk.box.low);
    fil_copy3(p, walk.box.high);
    start(&walk, &mesh->bvh);
    double best = reach * reach;
    int found = -1, part = 0;
    for (const FilBvhNode *leaf; (leaf = next_leaf(&walk, best)) != NULL;) {
        for (int i = leaf->first; i < leaf->first + leaf->count; i++) {
            double q[3], far;
            const int on = fil_triangle_to_point(FIL_ROWS3(mesh->corners[i]), p, q, &far);
            if (far < best) {
                best = far;
                found = mesh->bvh.order[i];
                part = on;
                fil_copy3(q, out->at);
            }
        }
    }
    if (found < 0) {
        return false;
    }
    double d[3];
    out->triangle = found;
    out->part = part;
    fil_copy3(fil_mesh_normal(mesh, found, part), out->normal);
    fil_subtract3(p, out->at, d);
    out->distance = fil_dot3(d, out->normal) < 0.0 ? -sqrt(best) : sqrt(best);
    return true;
}

bool fil_mesh_contains(const FilMesh *mesh, const double p[3]) {
    FilMeshPoint nearest;
    for (int k = 0; k < 3; k++) {
        if (!(p[k] >= mesh->box.low[k] && p[k] <= mesh->box.high[k])) {
            return false;
        }
    }
    return fil_mesh_closest(mesh, p, INFINITY, &nearest) && nearest.distance < 0.0;
}

double fil_mesh_segment_distance(const FilMesh *mesh, const double a[2][3], double reach) {
    Nearest walk;
    fil_box_of_segment(a, 0.0, &walk.box);
    start(&walk, &mesh->bvh);
    double best = reach * reach;
    bool found = false;
    for (const FilBvhNode *leaf; (leaf = next_leaf(&walk, best)) != NULL;) {
        for (int i = leaf->first; i < leaf->first + leaf->count; i++) {
            double q[3], far, t;
            (void)fil_triangle_to_segment(FIL_ROWS3(mesh->corners[i]), a, &t, q, &far);
            if (far < best) {
                best = far;
                found = true;
            }
        }
    }
    return found ? sqrt(best) : reach;
}
