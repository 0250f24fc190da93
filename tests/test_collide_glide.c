// Moving segments that stay apart: what is called far is far, whatever the size, the place and the
// angle; and most of what is far is told.
#include "check.h"

#include <stdlib.h>

#include "base/random.h"
#include "collide/glide.h"
#include "collide/segment.h"
#include "math/vec3.h"

enum { COUNT = 200, PAIRS = COUNT * (COUNT - 1) / 2 };

typedef struct Segment {
    double middle[3], half[3], way[3], reach;
} Segment;

// How a cloud of segments is made. Lengths in m.
typedef struct Recipe {
    double place[3], spread, length, way, reach;
    double turn; // how far from parallel they are; above 1: any direction
} Recipe;

static void fill(FilRandom *random, const Recipe *recipe, Segment segments[COUNT]) {
    const double common[3] = {0.48, -0.6, 0.64};
    for (int i = 0; i < COUNT; i++) {
        Segment *s = &segments[i];
        const double length = recipe->length * fil_random_uniform(random, 0.2, 1.0);
        for (int k = 0; k < 3; k++) {
            s->middle[k] =
                recipe->place[k] + recipe->spread * fil_random_uniform(random, -1.0, 1.0);
            s->half[k] = length * (recipe->turn > 1.0
                                       ? fil_random_normal(random)
                                       : common[k] + recipe->turn * fil_random_normal(random));
            s->way[k] = recipe->way * fil_random_normal(random);
        }
        s->reach = recipe->reach * fil_random_uniform(random, 0.1, 1.0);
    }
}

// How far apart two segments are now.
static double distance_of(const Segment *a, const Segment *b) {
    double ends[2][2][3];
    for (int k = 0; k < 3; k++) {
        const double w = a->middle[k] - b->middle[k];
        ends[0][0][k] = w - a->half[k];
        ends[0][1][k] = w + a->half[k];
        ends[1][0][k] = -b->half[k];
        ends[1][1][k] = b->half[k];
    }
    return sqrt(fil_closest_segments(FIL_POINTS(ends[0]), FIL_POINTS(ends[1])).distance2);
}

// From how far they may meet.
static double limit_of(const Segment *a, const Segment *b) {
    double way[3];
    fil_subtract3(a->way, b->way, way);
    return a->reach + b->reach + fil_norm3(way);
}

static void set_glides(const Segment segments[COUNT], const Recipe *recipe,
                       FilGlide glides[COUNT]) {
    FilGlideFrame frame = {.per_unit = 1.0 / recipe->length};
    fil_copy3(recipe->place, frame.origin);
    for (int i = 0; i < COUNT; i++) {
        const Segment *s = &segments[i];
        fil_glide_set(&glides[i], &frame, s->middle, s->half, s->way, s->reach);
    }
}

static void list_all(int pairs[PAIRS][2]) {
    int count = 0;
    for (int i = 0; i < COUNT; i++) {
        for (int j = i + 1; j < COUNT; j++) {
            pairs[count][0] = i;
            pairs[count++][1] = j;
        }
    }
}

// Check the pairs of a cloud. Returns the part of those that are far by a tenth and more that was
// told to be far.
static double check_cloud(const Recipe *recipe, uint64_t seed) {
    static int pairs[PAIRS][2], all[PAIRS][2];
    static FilGlide glides[COUNT];
    static Segment segments[COUNT];
    FilRandom random = fil_random_make(seed);
    fill(&random, recipe, segments);
    set_glides(segments, recipe, glides);
    list_all(pairs);
    list_all(all);
    const int near = fil_glides_near(glides, pairs, PAIRS);
    int at = 0, missed = 0, far = 0, told = 0;
    for (int p = 0; p < PAIRS; p++) { // the order is kept
        const bool kept = at < near && check_same_bits(pairs[at], all[p], sizeof all[p]);
        const Segment *a = &segments[all[p][0]], *b = &segments[all[p][1]];
        const double distance = distance_of(a, b), limit = limit_of(a, b);
        at += kept;
        missed += !kept && !(distance > limit);
        far += distance > 1.1 * limit;
        told += !kept && distance > 1.1 * limit;
    }
    CHECK(at == near);
    CHECK(missed == 0);
    return far > 0 ? (double)told / far : 0.0;
}

static void what_is_called_far_is_far_and_most_is_called_so(void) {
    const Recipe crossed = {
        .spread = 0.02, .length = 0.01, .way = 1e-4, .reach = 1e-3, .turn = 2.0};
    const Recipe combed = {.spread = 0.02, .length = 0.01, .way = 1e-4, .reach = 1e-3, .turn = 0.1};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        CHECK(check_cloud(&crossed, seed) > 0.85);
        CHECK(check_cloud(&combed, seed) > 0.85);
    }
}

// The product of parallel vectors is nothing but round-off, and points anywhere.
static void parallel_segments_are_not_lost(void) {
    const double turns[5] = {0.0, 1e-16, 1e-9, 1e-7, 1e-4};
    for (int k = 0; k < 5; k++) {
        const Recipe bundle = {
            .spread = 0.01, .length = 0.02, .way = 1e-5, .reach = 2e-3, .turn = turns[k]};
        for (uint64_t seed = 1; seed <= 10; seed++) {
            CHECK(check_cloud(&bundle, seed) > 0.5);
        }
    }
}

// Floats have few digits; what they lose is added to the reach.
static void none_is_lost_far_from_the_origin(void) {
    const double away[4] = {10.0, 1e3, 1e5, 1e8};
    for (int k = 0; k < 4; k++) {
        const Recipe swarm = {.spread = 0.02 * away[k],
                              .length = 0.01,
                              .way = 1e-3,
                              .reach = 0.02 * away[k] / 8.0,
                              .turn = 2.0};
        const Recipe placed = {.place = {away[k], -away[k], 0.5},
                               .spread = 0.02,
                               .length = 0.01,
                               .way = 1e-4,
                               .reach = 1e-3,
                               .turn = 2.0};
        (void)check_cloud(&swarm, 1);
        (void)check_cloud(&placed, 2);
    }
}

// Pairs that meet by a hair's breadth: the last digits of floats say otherwise.
static void nor_are_those_that_just_meet(void) {
    static Segment segments[COUNT];
    static FilGlide glides[COUNT];
    static int pairs[PAIRS][2];
    const double angles[3] = {2.0, 0.1, 1e-6};
    for (int k = 0; k < 3; k++) {
        const Recipe recipe = {.place = {0.3, 0.4, -0.2},
                               .spread = 0.5,
                               .length = 0.01,
                               .way = 0.003,
                               .turn = angles[k]};
        FilRandom random = fil_random_make(5);
        fill(&random, &recipe, segments);
        int lost = 0;
        for (int i = 0; i + 1 < COUNT; i++) {
            Segment *a = &segments[i], *b = &segments[i + 1];
            const double apart = distance_of(a, b) - limit_of(a, b); // they do not reach yet
            a->reach = b->reach = 0.5 * (1.0 + 1e-9) * apart;
            set_glides(segments, &recipe, glides);
            pairs[0][0] = i;
            pairs[0][1] = i + 1;
            lost += apart > 0.0 && fil_glides_near(glides, pairs, 1) == 0;
            a->reach = b->reach = 0.0;
        }
        CHECK(lost == 0);
    }
}

static void nor_at_any_size(void) {
    for (int exponent = -30; exponent <= 30; exponent += 3) {
        const double size = pow(10.0, exponent);
        const Recipe scaled = {.spread = 2.0 * size,
                               .length = size,
                               .way = 0.01 * size,
                               .reach = 0.1 * size,
                               .turn = 2.0};
        CHECK(check_cloud(&scaled, 3) > 0.85);
    }
}

// Points, and segments much longer or shorter than the unit.
static void nor_where_lengths_differ(void) {
    for (int exponent = -12; exponent <= 9; exponent += 3) {
        const double size = 0.01 * pow(10.0, exponent);
        Recipe odd = {.spread = 0.02, .length = size, .way = 1e-4, .reach = 1e-3, .turn = 2.0};
        static Segment segments[COUNT];
        static FilGlide glides[COUNT];
        static int pairs[PAIRS][2];
        FilRandom random = fil_random_make(4);
        fill(&random, &odd, segments);
        odd.length = 0.01; // the unit
        set_glides(segments, &odd, glides);
        list_all(pairs);
        const int near = fil_glides_near(glides, pairs, PAIRS);
        int found = 0, meant = 0;
        for (int p = 0; p < near; p++) {
            const Segment *a = &segments[pairs[p][0]], *b = &segments[pairs[p][1]];
            found += !(distance_of(a, b) > limit_of(a, b));
        }
        for (int i = 0; i < COUNT; i++) {
            for (int j = i + 1; j < COUNT; j++) {
                meant += !(distance_of(&segments[i], &segments[j]) >
                           limit_of(&segments[i], &segments[j]));
            }
        }
        CHECK(found == meant);
    }
}

static void what_is_no_number_or_reaches_everything_is_near(void) {
    const FilGlideFrame frame = {.per_unit = 1.0};
    const double zero[3] = {0.0}, one[3] = {1.0, 0.0, 0.0}, far[3] = {0.0, 1e3, 0.0};
    const double lost[3] = {(double)NAN, 0.0, 0.0}, beyond[3] = {HUGE_VAL, 0.0, 0.0};
    FilGlide glides[5];
    fil_glide_set(&glides[0], &frame, zero, one, zero, 1.0);
    fil_glide_set(&glides[1], &frame, far, one, zero, HUGE_VAL);
    fil_glide_set(&glides[2], &frame, lost, one, zero, 1.0);
    fil_glide_set(&glides[3], &frame, far, one, beyond, 1.0);
    fil_glide_set(&glides[4], &frame, far, one, zero, 1.0);
    int pairs[5][2] = {{0, 4}, {0, 1}, {0, 2}, {0, 3}, {0, 4}};
    CHECK(fil_glides_near(glides, pairs, 5) == 3);
    for (int k = 0; k < 3; k++) {
        CHECK(pairs[k][0] == 0 && pairs[k][1] == k + 1);
    }
    CHECK(fil_glides_near(glides, pairs, 0) == 0);
}

#define TESTS(X)                                       \
    X(what_is_called_far_is_far_and_most_is_called_so) \
    X(parallel_segments_are_not_lost)                  \
    X(none_is_lost_far_from_the_origin)                \
    X(nor_are_those_that_just_meet)                    \
    X(nor_at_any_size)                                 \
    X(nor_where_lengths_differ)                        \
    X(what_is_no_number_or_reaches_everything_is_near)

CHECK_MAIN(TESTS)
