// actions.c - requests of somebody who watches, as JSON.
#include "actions.h"

#include "base/error.h"
#include "io/json.h"

#include <math.h>
#include <string.h>

#define NAME(code, name) [code] = name,
static const char *const names[FIL_ACTION_COUNT] = {FIL_ACTION_TABLE(NAME)};

// Values beyond this are mistakes, whatever the unit.
static const double most = 1e9;

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

static FilStatus read_name(const FilJson *object, const char *key, char out[FIL_ACTION_NAME],
                           FilError *error) {
    const FilJson *node = fil_json_find(object, key);
    if (node == NULL || node->kind != FIL_JSON_TEXT || strlen(node->text) >= FIL_ACTION_NAME) {
        return fil_fail(error, FIL_E_FORMAT, "%s must be the name of a material", key);
    }
    memcpy(out, node->text, strlen(node->text) + 1);
    return FIL_OK;
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
    switch (action->kind) {
    case FIL_ACTION_GRAVITY:
    case FIL_ACTION_WIND:
        return read_vector(root, "value", action->value, error);
    case FIL_ACTION_FRICTION:
        FIL_TRY(read_name(root, "a", action->a, error));
        FIL_TRY(read_name(root, "b", action->b, error));
        FIL_TRY(read_number(root, "mu", &action->mu, error));
        return action->mu >= 0.0 ? FIL_OK
                                 : fil_fail(error, FIL_E_FORMAT,
                                            "mu is %g; it must be 0 or positive", action->mu);
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
