#ifndef FIL_SERVE_ACTIONS_H
#define FIL_SERVE_ACTIONS_H

// What somebody who watches a running world asks it to do: {"do":"gravity","value":[0,0,-9.81]}.

#include "filum/base.h"

// Its name, and the keys that it has beside "do".
#define FIL_ACTION_TABLE(X)                          \
    X(FIL_ACTION_PAUSE, "pause", "")                 \
    X(FIL_ACTION_RESUME, "resume", "")               \
    X(FIL_ACTION_STEP, "step", "")                   \
    X(FIL_ACTION_GRAVITY, "gravity", "value")        \
    X(FIL_ACTION_WIND, "wind", "value")              \
    X(FIL_ACTION_FRICTION, "friction", "a b mu")     \
    X(FIL_ACTION_GRAB, "grab", "rod s target twist") \
    X(FIL_ACTION_RELEASE, "release", "")             \
    X(FIL_ACTION_STOP, "stop", "")

#define FIL_ACTION_ENUM(code, name, keys) code,
typedef enum FilActionKind { FIL_ACTION_TABLE(FIL_ACTION_ENUM) FIL_ACTION_COUNT } FilActionKind;

enum { FIL_ACTION_NAME = 128 }; // bytes of a name, with the 0 at its end

typedef struct FilAction {
    FilActionKind kind;
    double value[3];                             // gravity (m/s^2), wind (m/s), target (m)
    char a[FIL_ACTION_NAME], b[FIL_ACTION_NAME]; // friction: materials
    double mu;                                   // friction
    int rod;                                     // grab
    double s;                                    // grab: m, arc length at time 0
    double twist; // grab: rad, how far the section is turned about its tangent; 0: it is free
} FilAction;

/// Read `size` bytes of JSON. A failure is FIL_E_FORMAT with one sentence, or FIL_E_NO_MEMORY. What
/// no scene can mean is refused here: gravity beyond 1e5 m/s^2, wind beyond 1e4 m/s, mu beyond 1e6,
/// and keys that an action does not have.
FIL_MUST_CHECK FilStatus fil_action_read(const char *bytes, size_t size, FilAction *action,
                                         FilError *error);

#endif
