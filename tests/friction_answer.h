#ifndef FIL_TESTS_FRICTION_ANSWER_H
#define FIL_TESTS_FRICTION_ANSWER_H

// Solve a problem of any size and keep what came of it.

#include "check.h"
#include "filum/friction.h"

#include <stdlib.h>

typedef struct Answer {
    double *r, *u; // [size]
    double *v;     // [m] in the global form
    FilFrictionInfo info;
    int size;         // unknowns
    FilStatus status; // of the call
} Answer;

static inline int problem_block_size(const FilFrictionProblem *problem, int i) {
    return problem->block_sizes != NULL ? problem->block_sizes[i] : problem->block_size;
}

static inline int problem_size(const FilFrictionProblem *problem) {
    int size = 0;
    for (int i = 0; i < problem->block_count; i++) {
        size += problem_block_size(problem, i);
    }
    return size;
}

static inline double *answer_array(int count) {
    double *x = calloc((size_t)count + 1, sizeof *x);
    if (x == NULL) {
        abort();
    }
    return x;
}

static inline void answer_free(Answer *answer) {
    free(answer->r);
    free(answer->u);
    free(answer->v);
    *answer = (Answer){0};
}

// From `start` where that is not NULL. The answer is given back with answer_free().
static inline Answer answer_from(const FilFrictionProblem *problem,
                                 const FilFrictionSettings *settings, const double *start,
                                 FilFrictionWorkspace *workspace) {
    FilFrictionSettings used = settings != NULL ? *settings : fil_friction_settings_default();
    const int size = problem_size(problem);
    const int m = problem->form == FIL_FORM_GLOBAL ? problem->global.M.column_count : 0;
    Answer answer = {
        .size = size, .r = answer_array(size), .u = answer_array(size), .v = answer_array(m)};
    FilFrictionSolution solution = {answer.r, answer.u, answer.v};
    FilError error = {0};
    used.warm_start = start != NULL;
    for (int k = 0; start != NULL && k < size; k++) {
        answer.r[k] = start[k];
    }
    answer.status = fil_friction_solve(problem, &used, workspace, &solution, &answer.info, &error);
    if (answer.status != FIL_OK && answer.status != FIL_E_NO_MEMORY) {
        (void)fprintf(stderr, "%s\n", error.text);
        check_failures++;
    }
    return answer;
}

static inline Answer answer_of(const FilFrictionProblem *problem,
                               const FilFrictionSettings *settings) {
    return answer_from(problem, settings, NULL, NULL);
}

static inline double largest(const double *a, int count) {
    double most = 0.0;
    for (int k = 0; k < count; k++) {
        most = fmax(most, fabs(a[k]));
    }
    return most;
}

static inline double distance(const double *a, const double *b, int count) {
    double most = 0.0;
    for (int k = 0; k < count; k++) {
        most = fmax(most, fabs(a[k] - b[k]));
    }
    return most;
}

static inline bool is_finite(const double *x, int count) {
    for (int k = 0; k < count; k++) {
        if (!isfinite(x[k])) {
            return false;
        }
    }
    return true;
}

static inline bool answer_is_finite(const Answer *answer) {
    const FilResidual *residual = &answer->info.residual;
    return is_finite(answer->r, answer->size) && is_finite(answer->u, answer->size) &&
           isfinite(residual->scaled) && isfinite(residual->natural) &&
           isfinite(residual->alart_curnier);
}

#endif
