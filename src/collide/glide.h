#ifndef FIL_COLLIDE_GLIDE_H
#define FIL_COLLIDE_GLIDE_H

// Segments that move for a while, in floats, and a quick test of many pairs of them: which may come
// within reach of each other. It errs on one side: what it calls far is far.

typedef float FilFour __attribute__((vector_size(16)));

/// A segment, middle -+ half, and where it goes.
typedef struct FilGlide {
    FilFour middle; // and 0
    FilFour half;   // and its length
    FilFour way;    // of the middle; and how far it reaches, beside that
} FilGlide;

/// What glides of one list have in common: floats are lengths from the origin in units.
typedef struct FilGlideFrame {
    double origin[3]; // m
    double per_unit;  // 1/m: of a length like those of the segments
} FilGlideFrame;

/// The glide of a segment whose middle goes by `way`, and which is met by what comes closer than
/// `reach` to where it would be then, or on the way there (inf: by all). m.
void fil_glide_set(FilGlide *glide, const FilGlideFrame *frame, const double middle[3],
                   const double half[3], const double way[3], double reach);

/// Bring those of `pairs` to the front, in their order, whose segments may come closer than both
/// reach. Returns how many there are.
int fil_glides_near(const FilGlide *glides, int (*pairs)[2], int count);

#endif
