// scene_overlaps.c - what overlaps before anything has moved.
//
// A world is built for the question alone, and asked what touches what; its step of a nanosecond
// brings nothing near. What rests on something overlaps it by the bits of its coordinates; only
// overlaps of more than a hundredth of the contact radius count (of a hundredth of a millimetre,
// for solids).
#include "filum/stage.h"

#include <math.h>

#include "base/error.h"
#include "world/world.h"

static const double PART = 0.01, SOLID = 1e-3; // m

static double radius_of(const FilScene *scene, const FilContactSide *side) {
    return side->kind == FIL_BODY_ROD ? scene->rods[side->index].contact_radius : SOLID;
}

static void note(FilOverlap *overlap, const FilContact *contact, bool swap) {
    overlap->count++;
    if (-contact->gap > overlap->depth) {
        overlap->depth = -contact->gap;
        overlap->a = swap ? contact->b : contact->a;
        overlap->b = swap ? contact->a : contact->b;
    }
}

FilStatus fil_scene_overlaps(const FilScene *scene, int threads, const FilAllocator *allocator,
                             FilSceneOverlaps *out, FilError *error) {
    FilScene probe = *scene;
    probe.step = 1e-9;
    probe.contact.kind = FIL_CONTACT_EXACT;
    probe.contact.law = FIL_LAW_EXACT;
    probe.contact.margin = 0.0;
    FilStage *stage = NULL;
    FIL_TRY(fil_stage_create(&probe, threads, NULL, allocator, &stage, error));
    FilStatus status = fil_world_find_contacts(fil_stage_world(stage), error);
    if (status == FIL_OK) {
        *out = (FilSceneOverlaps){.apart = {.count = 0}};
        int count = 0;
        const FilContact *contacts = fil_world_contacts(fil_stage_world(stage), &count);
        for (int k = 0; k < count; k++) {
            const FilContact *c = &contacts[k];
            const bool a = c->a.kind == FIL_BODY_OBSTACLE, b = c->b.kind == FIL_BODY_OBSTACLE;
            const double radius = fmin(a ? INFINITY : radius_of(scene, &c->a),
                                       b ? INFINITY : radius_of(scene, &c->b));
            if (-c->gap > PART * radius) {
                note(a || b ? &out->inside : &out->apart, c, a);
            }
        }
    }
    fil_stage_destroy(stage);
    return status;
}
