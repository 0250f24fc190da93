// generate_fibres.c - stiff chains in contact.
//
// A chain has 10 nodes on a random walk of mild curvature. Its step matrix is
//
//     A = I + stretch * sum over edges of (e_i - e_i+1)(e_i - e_i+1)^T x t t^T + bending * D2^T D2
//     x I
//
// (x: Kronecker), t the direction of an edge, D2 second differences: stiff along the chain, soft
// across it. Chains are dropped into a box at the given density.
//
// fibres   Contacts between segments, nearest midpoints first, each segment taking part in a
//          limited number; the points of contact lie anywhere on the two segments, the normal is
//          perpendicular to both and points towards the first. 3n/m alone decides how hard it is.
// tangles  Contacts between nodes, nearest first and without that limit, normal along the line
//          that joins them: they come in clusters that are over-constrained even where 3n/m is
//          small.
//
// Pairs come from a grid whose cell is the search radius; the radius grows until there are enough.
// They are ordered by distance into BUCKETS classes (counting sort): linear time.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "generate.h"

enum { NODES = 10, SEGMENTS = NODES - 1, SIZE = 3 * NODES, CHAINS_MIN = 3, BUCKETS = 1024 };

// Points that may touch: midpoints of segments, or nodes.
typedef struct Points {
    const double *x; // [3 count]
    int count;
    int per_chain;
} Points;

typedef struct Pair {
    int a, b; // a < b
} Pair;

typedef struct Pairs {
    Pair *list; // nearest first
    int count;
} Pairs;

static double dot3(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// The cube root of x >= 1e-9, by Newton's method: libm's last bit is not the same everywhere.
static double take_cube_root(double x) {
    double y = x > 1.0 ? x : 1.0;
    for (int k = 0; k < 100; k++) {
        y -= (y - x / (y * y)) / 3.0;
    }
    return y;
}

// --- chains --------------------------------------------------------------------------------------

static void walk(FilRandom *random, double box, double edge, double bend, double *node) {
    double d[3];
    fil_random_direction(random, d);
    for (int k = 0; k < 3; k++) {
        node[k] = fil_random_uniform(random, 0.0, box);
    }
    for (int i = 1; i < NODES; i++) {
        for (int k = 0; k < 3; k++) {
            d[k] += bend * fil_random_normal(random);
        }
        const double length = sqrt(dot3(d, d));
        for (int k = 0; k < 3; k++) {
            d[k] /= length;
            node[3 * i + k] = node[3 * (i - 1) + k] + edge * d[k];
        }
    }
}

static void chain_matrix(const FilScene *scene, int body, double *A) {
    static const double bend[] = {1.0, -2.0, 1.0};
    const double *node = (const double *)scene->self + (size_t)SIZE * (size_t)body;
    for (int i = 0; i < SIZE; i++) {
        A[(SIZE + 1) * i] = 1.0;
    }
    for (int i = 0; i < SEGMENTS; i++) {
        double t[3];
        for (int k = 0; k < 3; k++) {
            t[k] = node[3 * (i + 1) + k] - node[3 * i + k];
        }
        const double factor = scene->def->stretch / dot3(t, t);
        for (int k = 0; k < 36; k++) {
            const int row = k / 6, column = k % 6;
            const double sign = row / 3 == column / 3 ? 1.0 : -1.0;
            A[SIZE * (3 * i + row) + 3 * i + column] += sign * factor * t[row % 3] * t[column % 3];
        }
    }
    for (int i = 0; i + 2 < NODES; i++) {
        for (int k = 0; k < 27; k++) {
            const int row = k / 9, column = k / 3 % 3, axis = k % 3;
            A[SIZE * (3 * (i + row) + axis) + 3 * (i + column) + axis] +=
                scene->def->bending * bend[row] * bend[column];
        }
    }
}

// --- neighbours ----------------------------------------------------------------------------------

static double square_distance(const Points *points, int a, int b) {
    double d[3];
    for (int k = 0; k < 3; k++) {
        d[k] = points->x[3 * a + k] - points->x[3 * b + k];
    }
    return dot3(d, d);
}

// Count the pairs of different chains within `radius` by distance (list NULL), or put them where
// the counts say.
static int visit_pairs(const Points *points, const FilGrid *grid, double radius, int *at,
                       Pair *list) {
    const double limit = radius * radius;
    int count = 0;
    for (int k = 0; k < 27 * points->count; k++) {
        int first, last;
        const int a = k / 27;
        fil_grid_around(grid, points->x + (size_t)3 * a, k % 27, &first, &last);
        for (int m = first; m < last; m++) {
            const int b = grid->member[m];
            const double square = square_distance(points, a, b);
            if (b <= a || a / points->per_chain == b / points->per_chain || !(square < limit)) {
                continue;
            }
            const int bucket = (int)(BUCKETS * (square / limit) * 0.999999);
            count++;
            if (list == NULL) {
                at[bucket + 1]++;
            } else {
                list[at[bucket]++] = (Pair){a, b};
            }
        }
    }
    return count;
}

// Pairs of points of different chains within `radius`, nearest first.
static FilStatus find_pairs(const Points *points, double radius, FilArena *scratch, Pairs *out) {
    FilGrid grid;
    int at[BUCKETS + 1] = {0};
    FIL_TRY(fil_grid_make(points->x, points->count, radius, scratch, &grid));
    out->count = visit_pairs(points, &grid, radius, at, NULL);
    for (int k = 0; k < BUCKETS; k++) {
        at[k + 1] += at[k];
    }
    out->list = FIL_NEW(scratch, Pair, out->count);
    if (out->list == NULL) {
        return FIL_E_NO_MEMORY;
    }
    (void)visit_pairs(points, &grid, radius, at, out->list);
    return FIL_OK;
}

// The first `wanted` pairs, with no point in more than `most` of them, moved to the front.
static int choose(Pairs *pairs, int wanted, int most, int *used) {
    int count = 0;
    for (int k = 0; k < pairs->count && count < wanted; k++) {
        const Pair pair = pairs->list[k];
        if (used[pair.a] < most && used[pair.b] < most) {
            used[pair.a]++;
            used[pair.b]++;
            pairs->list[count++] = pair;
        }
    }
    return count;
}

// Enough pairs: with a larger radius, and when all pairs are there, with a larger `most`.
static FilStatus choose_pairs(const Points *points, int wanted, int most, FilArena *scratch,
                              Pairs *out) {
    double radius = 0.6;
    for (;;) {
        const FilArenaMark mark = fil_arena_mark(scratch);
        int *used = FIL_NEW_ZEROED(scratch, int, points->count);
        if (used == NULL) {
            return FIL_E_NO_MEMORY;
        }
        FIL_TRY(find_pairs(points, radius, scratch, out));
        const int all = out->count;
        if (choose(out, wanted, most, used) == wanted) {
            return FIL_OK;
        }
        fil_arena_release(scratch, mark);
        radius *= 1.3;
        // far more pairs than are wanted: it is the limit that stops us
        most += all > 64 * wanted || radius > 1e3;
    }
}

// --- contacts ------------------------------------------------------------------------------------

static void add_weighted(FilScene *scene, int chain, int node, double weight, double next_weight,
                         const double *frame) {
    double *H = fil_scene_add_entry(scene, chain);
    for (int row = 0; row < 3; row++) {
        for (int k = 0; k < 3; k++) {
            H[SIZE * row + 3 * node + k] = weight * frame[3 * row + k];
            if (node + 1 < NODES) {
                H[SIZE * row + 3 * (node + 1) + k] = next_weight * frame[3 * row + k];
            }
        }
    }
}

// Perpendicular to both segments, towards a; where they are nearly parallel, to the first only.
static void find_normal(const double *a, const double *b, double e[3]) {
    double ta[3], tb[3], gap[3];
    for (int k = 0; k < 3; k++) {
        ta[k] = a[3 + k] - a[k];
        tb[k] = b[3 + k] - b[k];
        gap[k] = 0.5 * (a[k] + a[3 + k]) - 0.5 * (b[k] + b[3 + k]);
    }
    for (int k = 0; k < 3; k++) {
        e[k] = ta[(k + 1) % 3] * tb[(k + 2) % 3] - ta[(k + 2) % 3] * tb[(k + 1) % 3];
    }
    if (dot3(e, e) < 0.0025) {
        const double along = dot3(gap, ta) / dot3(ta, ta);
        for (int k = 0; k < 3; k++) {
            e[k] = gap[k] - along * ta[k];
        }
    }
    const double length = (dot3(e, gap) < 0.0 ? -1.0 : 1.0) * sqrt(dot3(e, e));
    for (int k = 0; k < 3; k++) {
        e[k] /= length;
    }
}

static void touch_segments(FilScene *scene, const double *nodes, Pair pair) {
    const int chain_a = pair.a / SEGMENTS, chain_b = pair.b / SEGMENTS;
    const int node_a = pair.a % SEGMENTS, node_b = pair.b % SEGMENTS;
    const size_t at_a = (size_t)SIZE * (size_t)chain_a + 3 * (size_t)node_a;
    const size_t at_b = (size_t)SIZE * (size_t)chain_b + 3 * (size_t)node_b;
    double e[3], frame[9];
    find_normal(nodes + at_a, nodes + at_b, e);
    fil_scene_frame(e, frame);
    const double s = fil_random_uniform(&scene->random, 0.0, 1.0);
    const double t = fil_random_uniform(&scene->random, 0.0, 1.0);
    add_weighted(scene, chain_a, node_a, 1.0 - s, s, frame);
    add_weighted(scene, chain_b, node_b, t - 1.0, -t, frame);
    fil_scene_end_contact(scene);
}

static void touch_nodes(FilScene *scene, const double *nodes, Pair pair) {
    double e[3], frame[9];
    for (int k = 0; k < 3; k++) {
        e[k] = nodes[3 * pair.a + k] - nodes[3 * pair.b + k];
    }
    const double length = sqrt(dot3(e, e));
    for (int k = 0; k < 3; k++) {
        e[k] = length > 0.0 ? e[k] / length : k == 0;
    }
    fil_scene_frame(e, frame);
    add_weighted(scene, pair.a / NODES, pair.a % NODES, 1.0, 0.0, frame);
    add_weighted(scene, pair.b / NODES, pair.b % NODES, -1.0, 0.0, frame);
    fil_scene_end_contact(scene);
}

// Midpoints of the segments.
static const double *find_middles(const FilScene *scene, const double *nodes, int chains) {
    double *middle = FIL_NEW(scene->scratch, double, 3 * SEGMENTS * (size_t)chains);
    for (int i = 0; middle != NULL && i < SEGMENTS * chains; i++) {
        const double *node = nodes + (size_t)SIZE * (size_t)(i / SEGMENTS) + 3 * (i % SEGMENTS);
        for (int k = 0; k < 3; k++) {
            middle[3 * i + k] = 0.5 * (node[k] + node[3 + k]);
        }
    }
    return middle;
}

FilStatus fil_scene_fibres(FilScene *scene) {
    const FilGenerateDef *def = scene->def;
    const bool tangled = def->generator == FIL_GENERATE_TANGLES;
    const int n = def->contact_count, whole = (int)(n / (NODES * def->conditioning) + 0.5);
    const int chains = whole > CHAINS_MIN ? whole : CHAINS_MIN;
    FIL_TRY(fil_scene_reserve(scene, chains, SIZE, n));
    double *nodes = FIL_NEW(scene->scratch, double, (size_t)SIZE *(size_t)chains);
    if (nodes == NULL) {
        return FIL_E_NO_MEMORY;
    }
    const double box = take_cube_root(NODES * chains / def->density);
    for (int c = 0; c < chains; c++) {
        walk(&scene->random, box, tangled ? 0.5 : 1.0, tangled ? 0.3 : 0.2,
             nodes + (size_t)SIZE * (size_t)c);
    }
    scene->self = nodes;
    scene->matrix = chain_matrix;
    const int per_chain = tangled ? NODES : SEGMENTS;
    const Points points = {.x = tangled ? nodes : find_middles(scene, nodes, chains),
                           .count = per_chain * chains,
                           .per_chain = per_chain};
    if (points.x == NULL) {
        return FIL_E_NO_MEMORY;
    }
    Pairs pairs;
    const int most = tangled ? n : 2 * n / points.count + 2;
    FIL_TRY(choose_pairs(&points, n, most, scene->scratch, &pairs));
    for (int k = 0; k < n; k++) {
        if (tangled) {
            touch_nodes(scene, nodes, pairs.list[k]);
        } else {
            touch_segments(scene, nodes, pairs.list[k]);
        }
    }
    for (int k = 0; k < SIZE * chains && !def->solvable; k++) {
        scene->velocity[k] = fil_random_normal(&scene->random);
    }
    return FIL_OK;
}
