// scene_count.c - how much a scene asks for, from its spec alone.
//
// Counts are exact, but for pieces where their number is left to the world. Bytes of a run are an
// estimate: those of a rod were measured (allocator counted over rods of 4, 12 and 36 elements),
// those of a contact are the rows of H, H A^-1 and W
// that an average contact has; every piece is taken to have two contacts.
#include "scene_build.h"

#include <math.h>

enum {
    ROD_BYTES = 7000,
    CONTACT_BYTES = 2000,
    PIECE_BYTES = 400,
    FRAME_RAGGED = 100,
    PIECES_PER_CURVE = 4
};

static const struct {
    int element;    // bytes
    int dofs, more; // per element, per rod
} cost[FIL_ROD_MODEL_COUNT] = {
    [FIL_ROD_HELIX] = {1900, 3, 0}, [FIL_ROD_CLOTHOID] = {2300, 3, 3}, [FIL_ROD_DER] = {2500, 4, 3},
    [FIL_ROD_CORDE] = {1500, 7, 3}, [FIL_ROD_CHAIN] = {2200, 3, 3},
};

typedef struct Count {
    double rods, elements, dofs, pieces, bodies, scene_bytes, run_bytes;
    const FilJson *greedy; // what asks for most pieces and bodies of all, `most` of them
    double most;
} Count;

static void note_greedy(Count *count, const FilJson *json, double wanted) {
    if (json != NULL && wanted > count->most) {
        count->greedy = json;
        count->most = wanted;
    }
}

static double tables_of(const FilRodSpec *spec) {
    const bool start =
        spec->points.count > 0 || spec->start != FIL_START_NATURAL || spec->pretwist != 0.0;
    return (start ? 1.0 : 0.0) + (spec->natural.shape == FIL_NATURAL_START ? 1.0 : 0.0);
}

static void add_rods(Count *count, const FilRodSpec *spec, double copies, bool own_shape) {
    const bool tree = spec->tree.count > 0;
    const double elements = tree ? spec->tree.count : spec->elements;
    const bool curved = spec->model == FIL_ROD_HELIX || spec->model == FIL_ROD_CLOTHOID;
    const int given = fil_scene_pieces(spec, spec->length);
    const double pieces = elements * (given > 0 ? given : curved ? PIECES_PER_CURVE : 1);
    const double tables = own_shape ? 1.0 : tables_of(spec) / fmax(copies, 1.0);
    note_greedy(count, spec->head.json, copies * (1.0 + pieces));
    count->rods += copies;
    count->elements += copies * elements;
    count->dofs += copies * (elements * cost[spec->model].dofs + cost[spec->model].more);
    count->pieces += copies * pieces;
    count->scene_bytes += copies * (sizeof(FilSceneRod) + 64.0 + 24.0 * (elements + 1) * tables);
    count->run_bytes += copies * (ROD_BYTES + elements * cost[spec->model].element +
                                  pieces * (PIECE_BYTES + 2.0 * CONTACT_BYTES));
}

static void add_generators(const FilSceneSpec *spec, Count *count) {
    for (int k = 0; k < spec->arrays.count; k++) {
        const FilArraySpec *array = &spec->arrays.items[k];
        const double copies = (double)array->count[0] * array->count[1] * array->count[2];
        if (array->rod.head.json != NULL) {
            add_rods(count, &array->rod, copies, false);
        } else {
            note_greedy(count, array->head.json, copies);
            count->bodies += copies;
        }
    }
    for (int k = 0; k < spec->bundles.count; k++) {
        const FilBundleSpec *bundle = &spec->bundles.items[k];
        add_rods(count, &bundle->rod, bundle->count, bundle->turns != 0.0);
    }
    for (int k = 0; k < spec->piles.count; k++) {
        add_rods(count, &spec->piles.items[k].rod, spec->piles.items[k].count, false);
    }
    for (int k = 0; k < spec->braids.count; k++) {
        add_rods(count, &spec->braids.items[k].rod, spec->braids.items[k].strands, true);
    }
    for (int k = 0; k < spec->hairs.count; k++) {
        const FilHairSpec *hair = &spec->hairs.items[k];
        const bool laid = hair->laid.head.json != NULL;
        add_rods(count, &hair->rod, hair->count, laid || tables_of(&hair->rod) > 0.0);
        count->scene_bytes += laid ? 8.0 * hair->count * hair->rod.elements : 0.0; // lengths
    }
    for (int k = 0; k < spec->knots.count; k++) {
        add_rods(count, &spec->knots.items[k].rod, 1.0, true);
    }
}

// Capsules of all rails; how many points there are is limited by the size of the file.
static int count_rails(const FilSceneSpec *spec) {
    int capsules = 0;
    for (int k = 0; k < spec->rails.count; k++) {
        capsules +=
            spec->rails.items[k].points.count > 1 ? spec->rails.items[k].points.count - 1 : 0;
    }
    return capsules;
}

static long long whole(double x) {
    return x < 9e18 ? (long long)ceil(x) : (long long)9e18;
}

static double bytes_of_frame(unsigned fields, const Count *count) {
    static const double numbers[FIL_OUTPUT_COUNT] = {
        [FIL_OUTPUT_CENTRELINES] = 3, [FIL_OUTPUT_FRAMES] = 4,   [FIL_OUTPUT_VELOCITIES] = 3,
        [FIL_OUTPUT_CONTACTS] = 20,   [FIL_OUTPUT_ENERGIES] = 0, [FIL_OUTPUT_SOLVER] = 0};
    double sum = 0.0;
    for (int k = 0; k < FIL_OUTPUT_COUNT; k++) {
        sum += (fields >> k & 1) != 0 ? numbers[k] : 0.0;
    }
    return FRAME_RAGGED + 8.0 * sum * (count->pieces + count->rods + 2.0 * count->bodies);
}

FilStatus fil_scene_count(FilSceneBuild *build, long long memory_limit) {
    const FilSceneSpec *spec = &build->spec;
    Count count = {.bodies = spec->bodies.count, .greedy = spec->head.json};
    for (int k = 0; k < spec->rods.count; k++) {
        add_rods(&count, &spec->rods.items[k], 1.0, false);
    }
    add_generators(spec, &count);
    for (int k = 0; k < spec->strands.count; k++) {
        FilRodSpec rod = spec->strands.items[k].rod;
        rod.length = build->strands[k].length / fmax(build->strands[k].count, 1.0); // on average
        add_rods(&count, &rod, build->strands[k].count, true);
    }
    count.scene_bytes += (double)sizeof(FilSceneBody) * count.bodies;
    count.run_bytes += count.bodies * (PIECE_BYTES + 8.0 * CONTACT_BYTES);
    FilSceneEstimate *estimate = &build->holder->scene.estimate;
    *estimate = (FilSceneEstimate){
        .rods = whole(count.rods),
        .elements = whole(count.elements),
        .dofs = whole(count.dofs + 6.0 * count.bodies),
        .pieces = whole(count.pieces),
        .obstacles = spec->obstacles.count + count_rails(spec),
        .bodies = whole(count.bodies),
        .scene_bytes = whole(count.scene_bytes),
        .run_bytes = whole(count.run_bytes),
        .steps = whole(spec->duration / spec->step - 1e-9),
        .result_bytes = whole((1.0 + floor(spec->duration / spec->output.every)) *
                              bytes_of_frame(spec->output.fields, &count)),
    };
    const double total = count.scene_bytes + count.run_bytes;
    if (count.rods > 1e8 || count.bodies > 1e8 || count.pieces > 2e9) {
        return fil_json_fail(build->decoder.document, count.greedy, build->error,
                             "asks for too much: there would be %.0f rods with %.0f pieces and "
                             "%.0f bodies; at most 100000000 rods, 2000000000 pieces and 100000000 "
                             "bodies can be counted",
                             count.rods, count.pieces, count.bodies);
    }
    if (memory_limit > 0 && total > (double)memory_limit) {
        return fil_json_fail(build->decoder.document, count.greedy, build->error,
                             "asks for too much: %.0f rods with %.0f elements and %.0f bodies take "
                             "about %.3g GB; the limit is %.3g GB",
                             count.rods, count.elements, count.bodies, total / 1e9,
                             (double)memory_limit / 1e9);
    }
    return FIL_OK;
}
