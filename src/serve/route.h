#ifndef FIL_SERVE_ROUTE_H
#define FIL_SERVE_ROUTE_H

// What is asked for: from the bytes of a request's address, and nothing else.

#include "filum/base.h"

#define FIL_TOKEN_SIZE 32 // hex digits

#define FIL_ROUTE_TABLE(X)                \
    X(FIL_ROUTE_PAGE, "")                 \
    X(FIL_ROUTE_RUN, "api/run")           \
    X(FIL_ROUTE_POINTS, "api/points")     \
    X(FIL_ROUTE_MESH, "api/mesh/")        \
    X(FIL_ROUTE_STATE, "api/state")       \
    X(FIL_ROUTE_TIMES, "api/times")       \
    X(FIL_ROUTE_FRAME, "api/frame/")      \
    X(FIL_ROUTE_NOW, "api/now")           \
    X(FIL_ROUTE_STEPS, "api/steps")       \
    X(FIL_ROUTE_ENERGIES, "api/energies") \
    X(FIL_ROUTE_DO, "api/do")

#define FIL_ROUTE_ENUM(code, path) code,
typedef enum FilRouteKind { FIL_ROUTE_TABLE(FIL_ROUTE_ENUM) FIL_ROUTE_COUNT } FilRouteKind;

// The arrays of a frame, in their order in it: bit k of a mask.
#define FIL_FRAME_ARRAYS(X)               \
    X(FIL_ARRAY_POSITION, "position")     \
    X(FIL_ARRAY_QUATERNION, "quaternion") \
    X(FIL_ARRAY_VELOCITY, "velocity")     \
    X(FIL_ARRAY_CURVATURE, "curvature")   \
    X(FIL_ARRAY_TENSION, "tension")       \
    X(FIL_ARRAY_ELASTIC, "elastic")       \
    X(FIL_ARRAY_FORCE, "force")           \
    X(FIL_ARRAY_STATE, "state")           \
    X(FIL_ARRAY_RIGIDS, "rigids")         \
    X(FIL_ARRAY_OBSTACLES, "obstacles")   \
    X(FIL_ARRAY_CONTACTS, "contacts")

#define FIL_ARRAY_ENUM(code, name) code,
typedef enum FilFrameArray { FIL_FRAME_ARRAYS(FIL_ARRAY_ENUM) FIL_ARRAY_COUNT } FilFrameArray;
#define FIL_ARRAY_ALL ((1U << FIL_ARRAY_COUNT) - 1U)

typedef struct FilRoute {
    FilRouteKind kind;
    int64_t index;       // of a mesh or a frame
    int64_t from, count; // from: 0 unless given; count: -1 unless given
    uint32_t mask;       // arrays of a frame
} FilRoute;

/// Read the address of a request, "/TOKEN/api/frame/3?with=position", `size` bytes. Returns 200, or
/// 404 or 400 with the sentence that says why, or 302: it is the page's, but for the / at its end.
/// What does not begin with the token is never looked at further, and every such address gets the
/// same 404.
int fil_route_read(const char *address, size_t size, const char *token, FilRoute *route,
                   const char **why);

/// Whether a Host header names this machine: 127.0.0.1, localhost or [::1], with any port, for the
/// near end of a tunnel has a port of its own. NULL is no header.
bool fil_route_is_host(const char *host);
/// Whether an Origin header is that of a page which came from this Host.
bool fil_route_is_origin(const char *origin, const char *host);

#endif
