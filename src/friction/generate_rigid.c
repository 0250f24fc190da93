// generate_rigid.c - rigid bodies that touch their neighbours at random.
//
// Bodies at random places, one per unit of volume, masses log-uniform. A contact takes a body at
// random and one of its few nearest neighbours (a tenth: the fixed world), a normal scattered
// about the line between them and a lever scattered about the surface. 3n/m may be far above 2,
// where impulses are undetermined; a random v gives b = H v, which some impulses can stop.
#include <math.h>

#include "base/error.h"
#include "generate.h"

enum { NEIGHBOURS = 5 };

// The nearest bodies in the cells around, nearest first; returns how many.
static int find_neighbours(const FilGrid *grid, const double *place, int body,
                           int found[NEIGHBOURS]) {
    double distance[NEIGHBOURS];
    int count = 0;
    const double *here = place + (size_t)3 * body;
    for (int near = 0; near < 27; near++) {
        int first, last;
        fil_grid_around(grid, here, near, &first, &last);
        for (int k = first; k < last; k++) {
            const double *there = place + (size_t)3 * grid->member[k];
            const double dx = there[0] - here[0], dy = there[1] - here[1], dz = there[2] - here[2];
            const double square = dx * dx + dy * dy + dz * dz;
            int at = count;
            while (at > 0 && square < distance[at - 1]) {
                at--;
            }
            if (grid->member[k] == body || at == NEIGHBOURS) {
                continue;
            }
            count += count < NEIGHBOURS;
            for (int move = count - 1; move > at; move--) {
                distance[move] = distance[move - 1];
                found[move] = found[move - 1];
            }
            distance[at] = square;
            found[at] = grid->member[k];
        }
    }
    return count;
}

static void add_contact(FilScene *scene, const FilGrid *grid, const double *place) {
    FilRandom *random = &scene->random;
    int found[NEIGHBOURS];
    const int a = fil_random_int(random, scene->body_count);
    const int count = find_neighbours(grid, place, a, found);
    const bool fixed = fil_random_uniform(random, 0.0, 1.0) < 0.1 || count == 0;
    const int b = fixed ? -1 : found[fil_random_int(random, count)];
    double line[3] = {0.0, 0.0, 1.0}, e[3], lever_a[3], lever_b[3], scatter = 0.0, length = 0.0;
    for (int k = 0; k < 3; k++) {
        line[k] = fixed ? line[k] : place[3 * a + k] - place[3 * b + k];
        scatter += line[k] * line[k];
    }
    scatter = 0.3 * sqrt(scatter);
    do {
        length = 0.0;
        for (int k = 0; k < 3; k++) {
            e[k] = line[k] + scatter * fil_random_normal(random);
            length += e[k] * e[k];
        }
    } while (length < 0.01 * scatter * scatter);
    for (int k = 0; k < 3; k++) {
        e[k] /= sqrt(length);
        lever_a[k] = -0.5 * e[k] + 0.25 * fil_random_normal(random);
        lever_b[k] = lever_a[k] + line[k];
    }
    fil_scene_touch(scene, a, lever_a, b, lever_b, e);
}

FilStatus fil_scene_rigid(FilScene *scene) {
    const FilGenerateDef *def = scene->def;
    const int n = def->contact_count, whole = (int)(n / (2.0 * def->conditioning) + 0.5);
    const int bodies = whole > 1 ? whole : 1;
    FIL_TRY(fil_scene_reserve(scene, bodies, 6, n));
    FIL_TRY(fil_scene_masses(scene, 0.1));
    double *place = FIL_NEW(scene->scratch, double, 3 * (size_t)bodies);
    if (place == NULL) {
        return FIL_E_NO_MEMORY;
    }
    double box = 1.0; // edge of a cube of about so many unit cells
    while (box * box * box < bodies) {
        box += 0.125;
    }
    for (int k = 0; k < 3 * bodies; k++) {
        place[k] = fil_random_uniform(&scene->random, 0.0, box);
    }
    FilGrid grid;
    FIL_TRY(fil_grid_make(place, bodies, 1.0, scene->scratch, &grid));
    for (int k = 0; k < n; k++) {
        add_contact(scene, &grid, place);
    }
    for (int k = 0; k < 6 * bodies && !def->solvable; k++) {
        scene->velocity[k] = fil_random_normal(&scene->random);
    }
    return FIL_OK;
}
