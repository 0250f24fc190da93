#ifndef FIL_TORTURE_WRITER_H
#define FIL_TORTURE_WRITER_H

// Scenes that nobody drew: text and random numbers side by side. What is drawn from one seed is the
// same on every machine, as long as it uses pick(), chance() and spread() alone.

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/random.h"

enum { FIL_SCENE_TEXT = 1 << 15 }; // bytes that are enough for every scene here

typedef struct FilSceneWriter {
    FilRandom random;
    char *text; // [FIL_SCENE_TEXT]
    size_t size;
} FilSceneWriter;

static inline void put(FilSceneWriter *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static inline void put(FilSceneWriter *w, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int more = vsnprintf(w->text + w->size, FIL_SCENE_TEXT - w->size, format, args);
    va_end(args);
    w->size += more > 0 ? (size_t)more : 0;
    w->size = w->size < FIL_SCENE_TEXT ? w->size : FIL_SCENE_TEXT - 1;
}

static inline double pick(FilSceneWriter *w, double low, double high) {
    return fil_random_uniform(&w->random, low, high);
}

static inline bool chance(FilSceneWriter *w, double probability) {
    return pick(w, 0.0, 1.0) < probability;
}

static inline int below(FilSceneWriter *w, int count) {
    return fil_random_int(&w->random, count);
}

static inline const char *choose(FilSceneWriter *w, const char *const *names, int count) {
    return names[below(w, count)];
}

// Over decades: as likely between 1 and 10 as between 10 and 100. Seven digits, so that a scene
// reads well, and so that the last bits of exp() do not count.
static inline double spread(FilSceneWriter *w, double low, double high) {
    const double x = exp(pick(w, log(low), log(high)));
    const double unit = pow(10.0, floor(log10(x)) - 6.0);
    return floor(x / unit) * unit;
}

static inline void put_number(FilSceneWriter *w, const char *name, double value) {
    put(w, "\"%s\": %.7g", name, value);
}

// A vector of any direction, and of this length at most.
static inline void put_vector(FilSceneWriter *w, const char *name, double size) {
    const double x = pick(w, -1.0, 1.0), y = pick(w, -1.0, 1.0), z = pick(w, -1.0, 1.0);
    const double scale = size / 1.7320508075688772;
    put(w, "\"%s\": [%.7g, %.7g, %.7g]", name, scale * x, scale * y, scale * z);
}

static inline void put_point(FilSceneWriter *w, const char *name, double x, double y, double z) {
    put(w, "\"%s\": [%.7g, %.7g, %.7g]", name, x, y, z);
}

#endif
