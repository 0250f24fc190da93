// actions.c - requests of somebody who watches, as JSON.
//
// Bounds. Ten thousand times the gravity of the earth, thirty times the speed of sound: beyond them
// no step of a hair is short enough, and the number is a slip of somebody's hand. A mu beyond 1e6
// is not told from rough surfaces by any solver.
#include "actions.h"

#include "base/error.h"
#include "io/json.h"
#include "math/vec3.h"

#include <math.h>
#include <string.h>

#define NAME(code, name, keys) [code] = name,
#define KEYS(code, name, keys) [code] = keys,
static const char *const names[FIL_ACTION_COUNT] = {FIL_ACTION_TABLE(NAME)};
static const char *const keys_of[FIL_ACTION_COUNT] = {FIL_ACTION_TABLE(KEYS)};

// Values beyond this are mistakes, whatever the unit.
static const double most = 1e9;
static const double most_gravity = 1e5, most_wind = 1e4, most_mu = 1e6; // m/s^2, m/s

static FilStatus read_number(const FilJson *object, const char *key, double *out, FilError *error) {
    const FilJson *node = fil_json_find(object, key);
    if (node == NULL || node->kind != FIL_JSON_NUMBER || !(fabs(node->number) <= most)) {
        return fil_fail(error, FIL_E_FORMAT, "%s must be a number, at most %g in size", key, most);
    }
    *out = node->number;
    return FIL_OK;
}

static FilStatus read_vector(const FilJson *object, const char *key, double out[3],
                             FilError *error) {
    const FilJson *node = fil_json_find(object, key);
    bool fine = node != NULL && node->kind == FIL_JSON_LIST && node->count == 3;
    const FilJson *child = fine ? node->first : NULL;
    for (int k = 0; fine && k < 3; k++, child = child->next) {
        fine = child->kind == FIL_JSON_NUMBER && fabs(child->number) <= most;
        out[k] = child->number;
    }
    return fine ? FIL_OK
                : fil_fail(error, FIL_E_FORMAT, "%s must be three numbers, at most %g in size", key,
                           most);
}

// A vector of bounded length.
static FilStatus read_field(const FilJson *object, const char *what, const char *unit, double limit,
                            FilAction *action, FilError *error) {
    FIL_TRY(read_vector(object, "value", action->value, error));
    const double size = fil_norm3(action->value);
    return size <= limit
               ? FIL_OK
               : fil_fail(error, FIL_E_FORMAT, "%s would be %g %s; it must be at most %g %s", what,
                          size, unit, limit, unit);
}

static FilStatus read_name(const FilJson *object, const char *key, char out[FIL_ACTION_NAME],
                           FilError *error) {
    const FilJson *node = fil_json_find(object, key);
    if (node == NULL || node->kind != FIL_JSON_TEXT || strlen(node->text) >= FIL_ACTION_NAME) {
        return fil_fail(error, FIL_E_FORMAT, "%s must be the name of a material", key);
    }
    memcpy(out, node->text, strlen(node->text) + 1);
    return FIL_OK;
}

static FilStatus read_friction(const FilJson *object, FilAction *action, FilError *error) {
    FIL_TRY(read_name(object, "a", action->a, error));
    FIL_TRY(read_name(object, "b", action->b, error));
    FIL_TRY(read_number(object, "mu", &action->mu, error));
    return action->mu >= 0.0 && action->mu <= most_mu
               ? FIL_OK
               : fil_fail(error, FIL_E_FORMAT, "mu is %g; it must be 0 to %g", action->mu, most_mu);
}

static FilStatus read_grab(const FilJson *object, FilAction *action, FilError *error) {
    double rod = -1.0;
    FIL_TRY(read_number(object, "rod", &rod, error));
    if (!(rod >= 0.0 && rod == floor(rod))) {
        return fil_fail(error, FIL_E_FORMAT, "rod is %g; it must be the number of a rod", rod);
    }
    action->rod = (int)rod;
    FIL_TRY(read_number(object, "s", &action->s, error));
    FIL_TRY(read_vector(object, "target", action->value, error));
    return fil_json_find(object, "twist") != NULL
               ? read_number(object, "twist", &action->twist, error)
               : FIL_OK;
}

// Whether a word is one of those of a list, which spaces separate.
static bool is_in(const char *list, const char *word) {
    const size_t length = strlen(word);
    for (const char *at = list; *at != '\0'; at += *at == ' ') {
        const size_t next = strcspn(at, " ");
        if (next == length && memcmp(at, word, length) == 0) {
            return true;
        }
        at += next;
    }
    return false;
}

static FilStatus check_keys(const FilJson *root, FilActionKind kind, FilError *error) {
    for (const FilJson *child = root->first; child != NULL; child = child->next) {
        if (strcmp(child->key, "do") != 0 && !is_in(keys_of[kind], child->key)) {
            return fil_fail(error, FIL_E_FORMAT, "%s has no \"%.60s\"; beside \"do\" it has %s",
                            names[kind], child->key,
                            keys_of[kind][0] != '\0' ? keys_of[kind] : "nothing");
        }
    }
    return FIL_OK;
}

static FilStatus read_action(const FilJson *root, FilAction *action, FilError *error) {
    const FilJson *kind = root->kind == FIL_JSON_OBJECT ? fil_json_find(root, "do") : NULL;
    int found = -1;
    for (int k = 0; kind != NULL && kind->kind == FIL_JSON_TEXT && k < FIL_ACTION_COUNT; k++) {
        found = strcmp(kind->text, names[k]) == 0 ? k : found;
    }
    if (found < 0) {
        return fil_fail(error, FIL_E_FORMAT,
                        "\"do\" must be pause, resume, step, gravity, wind, friction, grab, "
                        "release or stop");
    }
    *action = (FilAction){.kind = (FilActionKind)found};
    FIL_TRY(check_keys(root, action->kind, error));
    switch (action->kind) {
    case FIL_ACTION_GRAVITY:
        return read_field(root, "gravity", "m/s^2", most_gravity, action, error);
    case FIL_ACTION_WIND:
        return read_field(root, "wind", "m/s", most_wind, action, error);
    case FIL_ACTION_FRICTION:
        return read_friction(root, action, error);
    case FIL_ACTION_GRAB:
        return read_grab(root, action, error);
    default:
        return FIL_OK;
    }
}

FilStatus fil_action_read(const char *bytes, size_t size, FilAction *action, FilError *error) {
    FilArena arena = fil_arena_make(NULL);
    FilJsonDocument document;
    FilStatus status = fil_json_read("request", bytes, size, &arena, &document, error);
    if (status == FIL_OK) {
        status = read_action(document.root, action, error);
    }
    fil_arena_destroy(&arena);
    return status;
}
