// scene_overlaps.c - what overlaps before anything has moved.
//
// A world is built for the question alone, and asked what touches what; its step of a nanosecond
// brings nothing near. What rests on something overlaps it by the bits of its coordinates; only
// overlaps of more than a hundredth of the contact radius count (of a hundredth of a millimetre,
// for solids).
#include "filum/stage.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
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

static bool can_move(const FilContactSide *side) {
    return side->kind == FIL_BODY_ROD || side->kind == FIL_BODY_RIGID;
}

// A contact couples with all others of its bodies. With k of them on a body its own matrix has
// (3 k)^2 numbers, and the rows of the whole have as many.
static void weigh(const FilScene *scene, const FilContact *contacts, int count, int *of_body,
                  FilSceneOverlaps *out) {
    for (int k = 0; k < count; k++) {
        const FilContactSide *sides[2] = {&contacts[k].a, &contacts[k].b};
        out->touching += contacts[k].gap <= 0.0;
        for (int side = 0; side < 2 && contacts[k].gap <= 0.0; side++) {
            if (can_move(sides[side])) {
                of_body[sides[side]->index +
                        (sides[side]->kind == FIL_BODY_RIGID ? scene->rod_count : 0)]++;
            }
        }
    }
    for (int body = 0; body < scene->rod_count + scene->body_count; body++) {
        out->matrix_bytes += 2.0 * 9.0 * sizeof(double) * of_body[body] * of_body[body];
    }
}

static FilStatus look_at(const FilScene *scene, const FilContact *contacts, int count,
                         const FilAllocator *allocator, FilSceneOverlaps *out, FilError *error) {
    const FilAllocator *a = allocator != NULL ? allocator : &fil_libc_allocator;
    const size_t bytes = sizeof(int) * ((size_t)scene->rod_count + (size_t)scene->body_count + 1);
    int *of_body = a->resize(a->user, NULL, 0, bytes);
    if (of_body == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d contacts", count);
    }
    memset(of_body, 0, bytes);
    *out = (FilSceneOverlaps){.apart = {.count = 0}};
    weigh(scene, contacts, count, of_body, out);
    a->resize(a->user, of_body, bytes, 0);
    for (int k = 0; k < count; k++) {
        const FilContact *c = &contacts[k];
        const bool first = c->a.kind == FIL_BODY_OBSTACLE, second = c->b.kind == FIL_BODY_OBSTACLE;
        const double radius = fmin(first ? INFINITY : radius_of(scene, &c->a),
                                   second ? INFINITY : radius_of(scene, &c->b));
        if (-c->gap > PART * radius) {
            note(first || second ? &out->inside : &out->apart, c, first);
        }
    }
    return FIL_OK;
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
        int count = 0;
        const FilContact *contacts = fil_world_contacts(fil_stage_world(stage), &count);
        status = look_at(scene, contacts, count, allocator, out, error);
    }
    fil_stage_destroy(stage);
    return status;
}
