#ifndef FIL_SERVE_ANSWERS_H
#define FIL_SERVE_ANSWERS_H

// Answers to requests, from a source: no sockets here.

#include "route.h"
#include "source.h"

typedef struct FilAnswer {
    int status;       // of HTTP
    const char *type; // of the content
    FilBytes body;
} FilAnswer;

/// Answer a GET. `out` is empty on entry; its body is the caller's.
void fil_answer_get(const FilSource *source, const FilRoute *route, FilAnswer *out);
/// Answer a POST of an action.
void fil_answer_do(const FilSource *source, const char *bytes, size_t size, FilAnswer *out);
/// {"error":"sentence"}
void fil_answer_error(int status, const char *sentence, FilAnswer *out);

#endif
