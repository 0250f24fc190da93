// generate_stacks.c - boxes and spheres at rest on each other, for one step under gravity.
//
// tower    unit boxes on each other and on the ground.
// wall     rows of boxes in running bond: each rests by half on two below; at the ends of odd rows
//          on one. Boxes are twice as long as high, and so is the wall.
// spheres  layers of s x s and (s - 1) x (s - 1) spheres in turn in a box with walls, each resting
//          in the pit of four below. Centres are off by a little, and some of the spheres of a
//          layer touch their neighbours too.
//
// Where faces meet there are four contacts, at the corners of what they share: the weight of a
// box may rest on them in many ways. W has a rank far below its size, and many impulses solve it.
#include <math.h>

#include "base/error.h"
#include "generate.h"

// --- boxes ---------------------------------------------------------------------------------------

// Box `a`, centre at (x, 0, z), rests on box `b` (-1: the ground) with its length from `low` to
// `high`.
typedef struct Rest {
    int a, b;
    double xa, xb, low, high; // centres and shared length along the wall
} Rest;

static void rest_box(FilScene *scene, const Rest *rest) {
    static const double up[3] = {0.0, 0.0, 1.0};
    for (int corner = 0; corner < 4; corner++) {
        const double x = corner % 2 == 0 ? rest->low : rest->high;
        const double y = corner / 2 == 0 ? -0.5 : 0.5;
        const double lever_a[3] = {x - rest->xa, y, -0.5}, lever_b[3] = {x - rest->xb, y, 0.5};
        fil_scene_touch(scene, rest->a, lever_a, rest->b, lever_b, up);
    }
}

static FilStatus make_tower(FilScene *scene) {
    const int boxes = (scene->def->contact_count + 3) / 4;
    FIL_TRY(fil_scene_reserve(scene, boxes, 6, 4 * boxes));
    for (int box = 0; box < boxes; box++) {
        // each box a little off the one below, within its base
        const double shift = fil_random_uniform(&scene->random, -0.1, 0.1);
        const Rest rest = {.a = box,
                           .b = box - 1,
                           .xa = shift,
                           .low = shift > 0.0 ? shift - 0.5 : -0.5,
                           .high = shift > 0.0 ? 0.5 : shift + 0.5};
        rest_box(scene, &rest);
    }
    return FIL_OK;
}

// Boxes are 2 long; box k of an even row has its centre at 2 k, of an odd row at 2 k + 1.
static FilStatus make_wall(FilScene *scene) {
    const int wanted = scene->def->contact_count;
    int rows = 2;
    while (8 * rows * (rows - 1) < wanted) { // nearly 8 contacts a box above the ground
        rows++;
    }
    const int columns = rows;
    FIL_TRY(fil_scene_reserve(scene, rows * columns, 6, 8 * rows * columns));
    for (int box = 0; box < rows * columns; box++) {
        const int row = box / columns, column = box % columns;
        const double x = 2.0 * column + row % 2;
        if (row == 0) {
            rest_box(scene, &(Rest){box, -1, x, 0.0, x - 1.0, x + 1.0});
            continue;
        }
        const int below = box - columns, left = row % 2 == 1 ? below : below - 1;
        if (left >= (row - 1) * columns) {
            rest_box(scene, &(Rest){box, left, x, x - 1.0, x - 1.0, x});
        }
        if (left + 1 < row * columns) {
            rest_box(scene, &(Rest){box, left + 1, x, x + 1.0, x, x + 1.0});
        }
    }
    return FIL_OK;
}

FilStatus fil_scene_boxes(FilScene *scene) {
    const bool tower = scene->def->generator == FIL_GENERATE_TOWER;
    FIL_TRY(tower ? make_tower(scene) : make_wall(scene));
    FIL_TRY(fil_scene_masses(scene, 1.0 / 6.0)); // a cube's
    fil_scene_drop(scene, 0.01);
    return FIL_OK;
}

// --- spheres -------------------------------------------------------------------------------------

static const double spacing = 1.05; // of the centres in a layer; the radius is 1/2

typedef struct Pile {
    FilScene *scene;
    int side;         // spheres along an edge of an even layer
    int layers;       //
    double *place;    // [3 count]
    const int *first; // [layers + 1]
} Pile;

static int side_of(const Pile *pile, int layer) {
    return pile->side - layer % 2;
}

// From the centres: the normal from b to a, contact half way.
static void touch_spheres(const Pile *pile, int a, int b) {
    const double *pa = pile->place + (size_t)3 * a, *pb = pile->place + (size_t)3 * b;
    double e[3], lever_a[3], lever_b[3], square = 0.0;
    for (int k = 0; k < 3; k++) {
        e[k] = pa[k] - pb[k];
        square += e[k] * e[k];
    }
    for (int k = 0; k < 3; k++) {
        e[k] /= sqrt(square);
        lever_a[k] = -0.5 * e[k];
        lever_b[k] = 0.5 * e[k];
    }
    fil_scene_touch(pile->scene, a, lever_a, b, lever_b, e);
}

static void touch_wall(const Pile *pile, int a, int axis, double sign) {
    double e[3] = {0.0}, lever[3] = {0.0};
    e[axis] = sign;
    lever[axis] = -0.5 * sign;
    fil_scene_touch(pile->scene, a, lever, -1, NULL, e);
}

static void add_contacts(const Pile *pile, int layer, int i, int j) {
    const int side = side_of(pile, layer), a = pile->first[layer] + side * j + i;
    if (layer == 0) {
        touch_wall(pile, a, 2, 1.0);
    }
    if (layer % 2 == 0) { // the walls hold the wide layers
        const int at[2] = {i, j};
        for (int axis = 0; axis < 2; axis++) {
            if (at[axis] == 0) {
                touch_wall(pile, a, axis, 1.0);
            }
            if (at[axis] == side - 1) {
                touch_wall(pile, a, axis, -1.0);
            }
        }
    }
    for (int k = 0; k < 4 && layer > 0; k++) { // the pit below; wide layers lack some at the rim
        const int below = side_of(pile, layer - 1), shift = layer % 2;
        const int x = i + k % 2 - 1 + shift, y = j + k / 2 - 1 + shift;
        if (x >= 0 && y >= 0 && x < below && y < below) {
            touch_spheres(pile, a, pile->first[layer - 1] + below * y + x);
        }
    }
    if (i > 0 && fil_random_uniform(&pile->scene->random, 0.0, 1.0) < 0.25) {
        touch_spheres(pile, a, a - 1);
    }
    if (j > 0 && fil_random_uniform(&pile->scene->random, 0.0, 1.0) < 0.25) {
        touch_spheres(pile, a, a - side);
    }
}

static void place_layer(const Pile *pile, int layer) {
    const int side = side_of(pile, layer);
    const double start = spacing * 0.5 * (layer % 2);
    const double rise = sqrt(1.0 - 0.5 * spacing * spacing); // centres at distance 1 across a pit
    for (int k = 0; k < side * side; k++) {
        double *p = pile->place + 3 * (size_t)(pile->first[layer] + k);
        const int column = k % side, row = k / side;
        p[0] = start + spacing * column;
        p[1] = start + spacing * row;
        p[2] = 0.5 + rise * layer;
        for (int axis = 0; axis < 3; axis++) {
            p[axis] += 0.02 * fil_random_normal(&pile->scene->random);
        }
    }
}

// About how many contacts a pile has: 4 below and half a neighbour each, and the walls.
static double estimate(int side, int layers) {
    return 4.5 * layers * (side - 0.5) * (side - 0.5);
}

FilStatus fil_scene_spheres(FilScene *scene) {
    Pile pile = {.scene = scene, .side = 2};
    const int wanted = scene->def->contact_count;
    while (estimate(pile.side, pile.side) < wanted) {
        pile.side++;
    }
    while (pile.layers < 2 || estimate(pile.side, pile.layers) < wanted) {
        pile.layers++;
    }
    int *first = FIL_NEW(scene->scratch, int, pile.layers + 1);
    if (first == NULL) {
        return FIL_E_NO_MEMORY;
    }
    first[0] = 0;
    for (int layer = 0; layer < pile.layers; layer++) {
        first[layer + 1] = first[layer] + side_of(&pile, layer) * side_of(&pile, layer);
    }
    const int count = first[pile.layers];
    FIL_TRY(fil_scene_reserve(scene, count, 6, 9 * count));
    FIL_TRY(fil_scene_masses(scene, 0.1)); // 2/5 of the radius squared
    pile.first = first;
    pile.place = FIL_NEW(scene->scratch, double, 3 * (size_t)count);
    if (pile.place == NULL) {
        return FIL_E_NO_MEMORY;
    }
    for (int layer = 0; layer < pile.layers; layer++) {
        place_layer(&pile, layer);
    }
    for (int layer = 0; layer < pile.layers; layer++) {
        const int side = side_of(&pile, layer);
        for (int k = 0; k < side * side; k++) {
            add_contacts(&pile, layer, k % side, k / side);
        }
    }
    fil_scene_drop(scene, 0.01);
    return FIL_OK;
}
