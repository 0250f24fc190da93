#ifndef FIL_CLAIM_MEASURE_H
#define FIL_CLAIM_MEASURE_H

// One claim, measured frame by frame in one run.

#include "claim/cloud.h"

/// A rod's piece, for finding the next rod (near.c).
typedef struct FilNearPiece {
    double x;         // of its middle
    const double *ab; // its two ends
    int thing;
} FilNearPiece;

typedef struct FilMeasuring {
    const FilSceneClaim *claim;
    FilCloud cloud;
    FilCloud beside;      // the same things in the other variant, for `beside`
    int *of[3], *on[3];   // [rods, bodies, obstacles] 1 + number of the thing, 0: none of
                          // the claim's; `on` NULL: anything
    bool *touched;        // [thing_count] scratch
    double *length;       // [thing_count] m, of rods, as they are now: of contacts
    double *root;         // [thing_count][3] where rods began
    double *angle, *gone; // [thing_count] rad: where it was last, how far it has gone
    double *pointed;      // [thing_count][3] in its own axes what was `axis` at time 0
    double *was;          // [point_count][3] where points were in the first frame taken
    FilNearPiece *pieces; // [point_count] scratch
    double missed;        // pairs that passed through each other so far
    double start;         // value at time 0
    double sum, least, most, last;
    int taken;
} FilMeasuring;

/// Prepare; false when there is no memory. `beside` NULL: no other variant.
bool fil_measuring_make(const FilSceneClaim *claim, const FilScene *scene, const FilResultDef *def,
                        FilArena *arena, FilMeasuring *out) FIL_MUST_CHECK;

/// The frame at time 0, and every frame after it, for what adds up along the way.
void fil_measuring_begin(FilMeasuring *m, const FilResultDef *def, const FilFrame *frame);
void fil_measuring_follow(FilMeasuring *m, const FilFrame *frame);

/// Take a frame into the claim's value. `beside`: that of the other variant, or NULL.
void fil_measuring_take(FilMeasuring *m, const FilResultDef *def, const FilFrame *frame,
                        const FilFrame *beside);

/// The value of the claim; NaN where there was nothing to measure.
double fil_measuring_value(const FilMeasuring *m);

/// Whether a measure is about rods alone, or about contacts.
bool fil_measure_is_of_rods(FilMeasure measure);
bool fil_measure_is_of_contacts(FilMeasure measure);

// --- the measures, of the cloud and the frame as they are now

double fil_measure_contacts(FilMeasuring *m, const FilResultDef *def, const FilFrame *frame);
double fil_measure_shape(const FilMeasuring *m, const FilFrame *frame);
double fil_measure_near(const FilMeasuring *m);

#endif
