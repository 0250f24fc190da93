// plan.c - the figures that claims need, and the variants to run for them: see claim/plan.h.
#include "claim/plan.h"

#include <math.h>
#include <string.h>

// A copy of `size` bytes without the spaces around it.
static const char *copy_trimmed(const char *text, size_t size, FilArena *arena) {
    while (size > 0 && *text == ' ') {
        text++;
        size--;
    }
    while (size > 0 && text[size - 1] == ' ') {
        size--;
    }
    char *copy = FIL_NEW(arena, char, size + 1);
    if (copy != NULL) {
        memcpy(copy, text, size);
        copy[size] = '\0';
    }
    return copy;
}

bool fil_claim_split(const FilSceneWords *before, const char *variant, FilArena *arena,
                     FilSceneWords *out) {
    size_t room = (size_t)before->count + 1;
    for (const char *c = variant; *c != '\0'; c++) {
        room += *c == ';';
    }
    const char **items = FIL_NEW(arena, const char *, room);
    if (items == NULL) {
        return false;
    }
    int count = 0;
    for (; count < before->count; count++) {
        items[count] = before->items[count];
    }
    while (*variant != '\0') {
        const size_t size = strcspn(variant, ";");
        items[count++] = copy_trimmed(variant, size, arena);
        variant += size + (variant[size] == ';');
    }
    *out = (FilSceneWords){.items = items, .count = count};
    return !arena->failed;
}

// Changes as one text, a line each.
static const char *join_changes(const FilSceneWords *changes, FilArena *arena) {
    size_t size = 1;
    for (int k = 0; k < changes->count; k++) {
        size += strlen(changes->items[k]) + 1;
    }
    char *text = FIL_NEW(arena, char, size);
    for (int k = 0, at = 0; k < changes->count && text != NULL; k++) {
        const size_t length = strlen(changes->items[k]);
        memcpy(text + at, changes->items[k], length);
        at += (int)length;
        text[at++] = '\n';
    }
    if (text != NULL) {
        text[size - 1] = '\0';
    }
    return text;
}

static bool is_same_beside(const char *a, const char *b) {
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

// The run of these changes, new when there is none.
static int find_run(FilClaimPlan *plan, const FilClaimRun *wanted) {
    for (int k = 0; k < plan->run_count; k++) {
        FilClaimRun *run = &plan->runs[k];
        if (strcmp(run->text, wanted->text) == 0 && is_same_beside(run->beside, wanted->beside)) {
            run->until = fmax(run->until, wanted->until);
            return k;
        }
    }
    plan->runs[plan->run_count] = *wanted;
    return plan->run_count++;
}

typedef struct Planning {
    FilClaimPlan *plan;
    const FilScene *scene;
    const FilSceneWords *changes; // of the settings
    FilArena *arena;
} Planning;

static bool add_figure(const Planning *p, int number, FilClaimRole role, const char *variant) {
    const FilSceneClaim *claim = &p->scene->claims[number];
    FilSceneWords with = *p->changes;
    FilClaimRun run = {
        .beside = claim->beside, .told = variant, .first_claim = number, .until = claim->at};
    for (int k = 0; k < claim->with.count; k++) {
        if (!fil_claim_split(&with, claim->with.items[k], p->arena, &with)) {
            return false;
        }
    }
    if (!fil_claim_split(&with, variant, p->arena, &run.changes)) {
        return false;
    }
    run.text = join_changes(&run.changes, p->arena);
    if (run.text == NULL) {
        return false;
    }
    FilClaimPlan *plan = p->plan;
    plan->run[plan->figure_count] = find_run(plan, &run);
    plan->figures[plan->figure_count++] =
        (FilClaimFigure){.claim = number, .role = role, .variant = variant, .value = (double)NAN};
    return true;
}

bool fil_claim_plan(const FilScene *scene, const FilClaimSettings *settings, FilArena *arena,
                    FilClaimPlan *out) {
    size_t room = 1;
    for (int k = 0; k < scene->claim_count; k++) {
        const FilSceneClaim *claim = &scene->claims[k];
        room += 1 + (size_t)claim->unless.count + (size_t)claim->holds_with.count;
    }
    *out = (FilClaimPlan){.figures = FIL_NEW(arena, FilClaimFigure, room),
                          .run = FIL_NEW(arena, int, room),
                          .runs = FIL_NEW(arena, FilClaimRun, room)};
    const FilSceneWords changes = {settings->changes, settings->change_count};
    const Planning planning = {out, scene, &changes, arena};
    bool fine = !arena->failed;
    for (int k = 0; k < scene->claim_count && fine; k++) {
        const FilSceneClaim *claim = &scene->claims[k];
        fine = add_figure(&planning, k, FIL_CLAIM_ITSELF, "");
        for (int v = 0; v < claim->unless.count && fine && !settings->itself_alone; v++) {
            fine = add_figure(&planning, k, FIL_CLAIM_UNLESS, claim->unless.items[v]);
        }
        for (int v = 0; v < claim->holds_with.count && fine && !settings->itself_alone; v++) {
            fine = add_figure(&planning, k, FIL_CLAIM_HOLDS_WITH, claim->holds_with.items[v]);
        }
    }
    return fine;
}
