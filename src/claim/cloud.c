// cloud.c - the things and points of a claim: see claim/cloud.h.
#include "claim/cloud.h"

#include <math.h>
#include <string.h>

#include "math/vec3.h"

// ------------------------------------------------------------------------------------ which things

// "wisps" is the name of a thing, or of the generator that made wisps/0, wisps/1, ...
static bool is_named(const char *name, const char *word) {
    const size_t length = strlen(word);
    return length > 0 && strncmp(name, word, length) == 0 &&
           (name[length] == '\0' || name[length] == '/');
}

typedef struct Search {
    const FilScene *scene;
    FilClaimThing *things;
    int count;
} Search;

static void add_thing(Search *search, FilBodyKind kind, int index) {
    search->things[search->count++] = (FilClaimThing){.kind = kind, .index = index};
}

static void add_named(Search *search, const char *word) {
    const FilScene *scene = search->scene;
    for (int k = 0; k < scene->rod_count; k++) {
        if (is_named(scene->rods[k].name, word)) {
            add_thing(search, FIL_BODY_ROD, k);
        }
    }
    for (int k = 0; k < scene->body_count; k++) {
        if (is_named(scene->bodies[k].name, word)) {
            add_thing(search, FIL_BODY_RIGID, k);
        }
    }
    for (int k = 0; k < scene->obstacle_count; k++) {
        if (is_named(scene->obstacles[k].name, word)) {
            add_thing(search, FIL_BODY_OBSTACLE, k);
        }
    }
}

bool fil_claim_find(const FilScene *scene, const FilSceneWords *words, FilArena *arena,
                    FilClaimThing **things, int *count, const char **unknown) {
    const size_t all =
        (size_t)scene->rod_count + (size_t)scene->body_count + (size_t)scene->obstacle_count + 1;
    Search search = {.scene = scene};
    search.things = FIL_NEW(arena, FilClaimThing, all * (size_t)(words->count + 1));
    *unknown = NULL;
    if (search.things == NULL) {
        return false;
    }
    for (int k = 0; k < words->count; k++) {
        const int before = search.count;
        add_named(&search, words->items[k]);
        if (search.count == before) {
            *unknown = words->items[k];
            return false;
        }
    }
    if (words->count == 0) {
        const bool rods = scene->rod_count > 0;
        for (int k = 0; k < (rods ? scene->rod_count : scene->body_count); k++) {
            add_thing(&search, rods ? FIL_BODY_ROD : FIL_BODY_RIGID, k);
        }
    }
    *things = search.things;
    *count = search.count;
    return true;
}

// ---------------------------------------------------------------------------------- which points

static double part_of(const FilResultDef *def, const FilResultRod *rod, int point) {
    return rod->length > 0.0 ? def->points[point].s / rod->length : 0.0;
}

// Mark the points of branches that are as thick as the claim wants them.
static void mark_thick(const FilResultDef *def, const double radius[2], bool *thick) {
    for (int i = 0; i < def->point_count; i++) {
        thick[i] = def->line_count == 0;
    }
    for (int k = 0; k < def->line_count; k++) {
        const FilResultLine *line = &def->lines[k];
        const double r = fil_line_radius(def, k);
        for (int i = line->first_point; i < line->first_point + line->point_count; i++) {
            thick[i] = r >= radius[0] && r <= radius[1];
        }
    }
}

// Add the points of a rod that lie in the part; where none does, the one next to its middle.
static void add_points(FilCloud *cloud, const FilResultDef *def, int thing, const double part[2],
                       const bool *thick) {
    const FilResultRod *rod = &def->rods[cloud->things[thing].index];
    const double middle = 0.5 * (part[0] + part[1]), slack = 1e-6;
    int best = rod->first_point;
    for (int i = rod->first_point; i < rod->first_point + rod->point_count; i++) {
        const double here = part_of(def, rod, i);
        if (fabs(here - middle) < fabs(part_of(def, rod, best) - middle)) {
            best = i;
        }
        if (thick[i] && here >= part[0] - slack && here <= part[1] + slack) {
            cloud->source[cloud->point_count++] = i;
        }
    }
    if (cloud->point_count == cloud->things[thing].first) {
        cloud->source[cloud->point_count++] = best;
    }
}

// Points are joined when they follow each other on the same line.
static void join_points(FilCloud *cloud, const FilResultDef *def, const FilClaimThing *thing) {
    const FilResultRod *rod = &def->rods[thing->index];
    for (int p = thing->first; p < thing->first + thing->count; p++) {
        const bool last = p + 1 == thing->first + thing->count;
        cloud->joined[p] = !last && cloud->source[p + 1] == cloud->source[p] + 1;
        cloud->part[p] = part_of(def, rod, cloud->source[p]);
    }
    for (int k = 0; k < def->line_count; k++) {
        const FilResultLine *line = &def->lines[k];
        const int end = line->first_point + line->point_count - 1;
        for (int p = thing->first; line->rod == thing->index && p < thing->first + thing->count;
             p++) {
            cloud->joined[p] = cloud->joined[p] && cloud->source[p] != end;
        }
    }
}

static bool allocate(FilCloud *cloud, const FilResultDef *def, FilArena *arena) {
    size_t room = 1;
    for (int k = 0; k < cloud->thing_count; k++) {
        const FilClaimThing *thing = &cloud->things[k];
        room += thing->kind == FIL_BODY_ROD ? (size_t)def->rods[thing->index].point_count : 1;
    }
    cloud->thing = FIL_NEW(arena, int, room);
    cloud->source = FIL_NEW(arena, int, room);
    cloud->part = FIL_NEW_ZEROED(arena, double, room);
    cloud->joined = FIL_NEW_ZEROED(arena, bool, room);
    cloud->x = FIL_NEW_ZEROED(arena, double, 3 * room);
    cloud->v = FIL_NEW_ZEROED(arena, double, 3 * room);
    return !arena->failed;
}

bool fil_cloud_make(const FilResultDef *def, FilClaimThing *things, int count,
                    const FilSceneClaim *claim, FilArena *arena, FilCloud *out) {
    *out = (FilCloud){.things = things, .thing_count = count};
    bool *thick = FIL_NEW(arena, bool, def->point_count + 1);
    if (!allocate(out, def, arena)) {
        return false;
    }
    mark_thick(def, claim->radius, thick);
    for (int k = 0; k < count; k++) {
        FilClaimThing *thing = &things[k];
        thing->first = out->point_count;
        if (thing->kind == FIL_BODY_ROD) {
            add_points(out, def, k, claim->part, thick);
            thing->count = out->point_count - thing->first;
            join_points(out, def, thing);
        } else {
            out->source[out->point_count++] = thing->index;
            thing->count = 1;
        }
        for (int p = thing->first; p < out->point_count; p++) {
            out->thing[p] = k;
        }
    }
    return true;
}

// ------------------------------------------------------------------------------------------ places

void fil_cloud_take(FilCloud *cloud, const FilFrame *frame) {
    for (int p = 0; p < cloud->point_count; p++) {
        const ptrdiff_t from = 3 * (ptrdiff_t)cloud->source[p], to = 3 * (ptrdiff_t)p;
        switch (cloud->things[cloud->thing[p]].kind) {
        case FIL_BODY_ROD:
            fil_copy3(frame->position + from, cloud->x + to);
            fil_copy3(frame->velocity + from, cloud->v + to);
            break;
        case FIL_BODY_RIGID:
            fil_copy3(frame->rigid_position + from, cloud->x + to);
            fil_copy3(frame->rigid_velocity + from, cloud->v + to);
            break;
        default: // an obstacle, whose velocity nobody records
            fil_copy3(frame->obstacle_position + from, cloud->x + to);
        }
    }
}

const double *fil_cloud_turn(const FilCloud *cloud, const FilFrame *frame, int point) {
    const ptrdiff_t at = 4 * (ptrdiff_t)cloud->source[point];
    switch (cloud->things[cloud->thing[point]].kind) {
    case FIL_BODY_ROD:
        return frame->quaternion + at;
    case FIL_BODY_RIGID:
        return frame->rigid_quaternion + at;
    default:
        return frame->obstacle_quaternion + at;
    }
}

void fil_cloud_middle(const FilCloud *cloud, int thing, double out[3]) {
    const FilClaimThing *from = &cloud->things[thing];
    for (int c = 0; c < 3; c++) {
        out[c] = 0.0;
    }
    for (int p = from->first; p < from->first + from->count; p++) {
        fil_add3(1.0 / from->count, cloud->x + 3 * (ptrdiff_t)p, out);
    }
}
