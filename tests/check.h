#ifndef FIL_TESTS_CHECK_H
#define FIL_TESTS_CHECK_H

// Tests as sentences: CHECK and CHECK_NEAR count failures, CHECK_MAIN(TESTS) is the program that
// runs the list (or those whose name contains the first argument) and prints `N passed, N failed`.

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int check_failures;
static const char *check_skipped; // why the running test was skipped, or NULL

// Functions do the work, so that a check adds nothing to the nesting of the test around it.
static inline void check_that(bool holds, const char *file, int line, const char *text) {
    if (!holds) {
        check_failures++;
        (void)fprintf(stderr, "%s:%d: %s\n", file, line, text);
    }
}

static inline void check_near(double got, double want, double relative, double absolute,
                              const char *file, int line, const char *text) {
    if (!(fabs(got - want) <= absolute + relative * fabs(want))) {
        check_failures++;
        (void)fprintf(stderr, "%s:%d: %s = %.17g, want %.17g (off by %.3g)\n", file, line, text,
                      got, want, got - want);
    }
}

// For results that must not differ in a single bit; == would take 0 for -0 and no NaN for itself.
static inline bool check_same_bits(const void *a, const void *b, size_t bytes) {
    return memcmp(a, b, bytes) == 0;
}

#define CHECK(condition) check_that((condition), __FILE__, __LINE__, #condition)

// |got - want| <= absolute + relative |want|; NaN never passes.
#define CHECK_NEAR(got, want, relative, absolute) \
    check_near((got), (want), (relative), (absolute), __FILE__, __LINE__, #got)

#define CHECK_SKIP(why)        \
    do {                       \
        check_skipped = (why); \
        return;                \
    } while (0)

typedef struct CheckTest {
    const char *name;
    void (*run)(void);
} CheckTest;

static int check_run(const CheckTest *tests, size_t count, const char *filter) {
    int passed = 0, failed = 0, skipped = 0;
    (void)setvbuf(stdout, NULL, _IOLBF, BUFSIZ); // a crash leaves what went before it
    for (size_t i = 0; i < count; i++) {
        if (filter != NULL && strstr(tests[i].name, filter) == NULL) {
            continue;
        }
        check_failures = 0;
        check_skipped = NULL;
        tests[i].run();
        const bool ok = check_failures == 0;
        if (ok && check_skipped != NULL) {
            skipped++;
            (void)printf("skip %s: %s\n", tests[i].name, check_skipped);
            continue;
        }
        *(ok ? &passed : &failed) += 1;
        (void)printf("%s %s\n", ok ? "ok  " : "FAIL", tests[i].name);
    }
    (void)printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
    return failed != 0;
}

#define CHECK_ENTRY(name) {#name, name},
#define CHECK_MAIN(TESTS)                                                                 \
    int main(int argc, char **argv) {                                                     \
        static const CheckTest tests[] = {TESTS(CHECK_ENTRY)};                            \
        return check_run(tests, sizeof tests / sizeof *tests, argc > 1 ? argv[1] : NULL); \
    }

#endif
