// judge.c - the claims of a scene, run and measured: see filum/claim.h.
//
//   1. read the scene, and plan which variants its claims need (plan.c)
//   2. of each variant: read it, look for the things that claims name, make its world, and, where a
//      claim compares it with another variant, that one's too
//   3. step; take frames as often as the scene writes them, and when a claim asks for one
//   (measure.c)
#include "filum/claim.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "claim/measure.h"
#include "claim/plan.h"
#include "filum/record.h"
#include "filum/stage.h"

#define ROLE_NAME(code, name) name,
static const char *const role_names[] = {FIL_CLAIM_ROLES(ROLE_NAME)};

const char *fil_claim_role_name(FilClaimRole role) {
    return (unsigned)role < FIL_CLAIM_ROLE_COUNT ? role_names[role] : NULL;
}

typedef struct Holder {
    FilVerdict verdict; // first: users see this
    FilScene *scene;    // the verdict's
    FilAllocator allocator;
    FilArena arena;
} Holder;

// A world of a variant.
typedef struct Stand {
    FilScene *scene;
    FilStage *stage;
    FilRecorder *recorder;
    FilResultDef def;
    FilFrame frame;
} Stand;

typedef struct Judge {
    const char *name, *text;
    size_t size;
    const FilClaimSettings *settings;
    FilAllocator allocator;
    FilError *error;
    FilArena *arena; // of the verdict
    FilArena run_arena;
    FilClaimPlan plan;
    double done, all; // s of all runs
    // of the run in hand
    const FilClaimRun *run;
    Stand itself, beside;
    FilMeasuring *measuring; // [figure_count] those of this run
    double missed;
} Judge;

static FilStatus fail_memory(const Judge *judge) {
    return fil_fail(judge->error, FIL_E_NO_MEMORY, "%s: not enough memory for its claims",
                    judge->name);
}

// Put in front of a sentence which claim and variant it is about, unless it tells the place.
static FilStatus fail_inside(const Judge *judge, FilStatus status) {
    const FilClaimRun *run = judge->run;
    const bool told = run->told[0] == '\0' && judge->error->line > 0;
    if (told || status == FIL_E_NO_MEMORY || status == FIL_E_INTERRUPTED) {
        return status;
    }
    return fil_fail(judge->error, status, "%s: claims[%d]%s%.80s: %s", judge->name,
                    run->first_claim, run->told[0] != '\0' ? ", " : "", run->told,
                    judge->error->text);
}

// -------------------------------------------------------------------------------- are things there

static FilStatus fail_claim(const Judge *judge, const FilScene *scene, int k, const char *sentence,
                            const char *word) {
    const FilSceneClaim *claim = &scene->claims[k];
    if (claim->origin.line == 0) {
        return fil_fail(judge->error, FIL_E_FORMAT, "%s: claims[%d] %s%s%.40s%s", judge->name, k,
                        sentence, word[0] != '\0' ? " \"" : "", word, word[0] != '\0' ? "\"" : "");
    }
    return fil_fail_at(judge->error, FIL_E_FORMAT, claim->origin.line, claim->origin.column,
                       "%s:%d:%d: claims[%d] %s%s%.40s%s", judge->name, claim->origin.line,
                       claim->origin.column, k, sentence, word[0] != '\0' ? " \"" : "", word,
                       word[0] != '\0' ? "\"" : "");
}

static FilStatus check_words(Judge *judge, const FilScene *scene, int k, const FilSceneWords *words,
                             int *rods, int *things) {
    FilClaimThing *found = NULL;
    const char *unknown = NULL;
    if (!fil_claim_find(scene, words, &judge->run_arena, &found, things, &unknown)) {
        return unknown == NULL ? fail_memory(judge)
                               : fail_claim(judge, scene, k,
                                            "is about a thing that is not there: no rod, body "
                                            "or obstacle is called",
                                            unknown);
    }
    *rods = 0;
    for (int t = 0; t < *things; t++) {
        *rods += found[t].kind == FIL_BODY_ROD;
    }
    return FIL_OK;
}

static FilStatus check_claim(Judge *judge, const FilScene *scene, int k) {
    const FilSceneClaim *claim = &scene->claims[k];
    int rods = 0, things = 0;
    FIL_TRY(check_words(judge, scene, k, &claim->on, &rods, &things));
    FIL_TRY(check_words(judge, scene, k, &claim->of, &rods, &things));
    if (things == 0) {
        return fail_claim(judge, scene, k, "is about nothing: the scene has no rods or bodies", "");
    }
    if (fil_measure_is_of_rods(claim->measure) && rods == 0) {
        return fail_claim(judge, scene, k, "names no rod; only rods have a value of",
                          fil_measure_name(claim->measure));
    }
    if (claim->measure == FIL_MEASURE_APART && claim->beside == NULL && things < 2) {
        return fail_claim(judge, scene, k, "needs two things to be apart, or a variant `beside`",
                          "");
    }
    if (claim->at > scene->duration * (1.0 + 1e-9)) {
        return fail_claim(judge, scene, k, "is about a time after the end of the scene", "");
    }
    return FIL_OK;
}

// --------------------------------------------------------------------------------- worlds of a run

static FilStatus read_variant(Judge *judge, const FilSceneWords *changes, FilScene **out) {
    const FilSceneOptions options = {.changes = changes->items, .change_count = changes->count};
    return fil_scene_read_text(judge->name, judge->text, judge->size, &options, &judge->allocator,
                               out, judge->error);
}

static FilStatus make_stand(Judge *judge, Stand *stand) {
    FIL_TRY(fil_stage_create(stand->scene, judge->settings->threads, NULL, &judge->allocator,
                             &stand->stage, judge->error));
    FIL_TRY(fil_recorder_create(fil_stage_world(stand->stage), &judge->allocator, &stand->recorder,
                                judge->error));
    stand->def = fil_recorder_def(stand->recorder);
    return FIL_OK;
}

static void drop_stand(Stand *stand) {
    fil_recorder_destroy(stand->recorder);
    fil_stage_destroy(stand->stage);
    fil_scene_destroy(stand->scene);
    *stand = (Stand){.scene = NULL};
}

static bool is_of_run(const Judge *judge, int figure) {
    return judge->plan.run[figure] == (int)(judge->run - judge->plan.runs);
}

static const FilSceneClaim *claim_of(const Judge *judge, int figure) {
    return &judge->itself.scene->claims[judge->plan.figures[figure].claim];
}

// The same points of the other variant.
static bool make_beside(Judge *judge, FilMeasuring *m) {
    const Stand *stand = &judge->beside;
    FilClaimThing *things = NULL;
    const char *unknown = NULL;
    int count = 0;
    return fil_claim_find(stand->scene, &m->claim->of, &judge->run_arena, &things, &count,
                          &unknown) &&
           fil_cloud_make(&stand->def, things, count, m->claim, &judge->run_arena, &m->beside);
}

static FilStatus make_measuring(Judge *judge) {
    const FilClaimPlan *plan = &judge->plan;
    const FilScene *scene = judge->itself.scene;
    judge->measuring = FIL_NEW_ZEROED(&judge->run_arena, FilMeasuring, plan->figure_count);
    if (judge->measuring == NULL) {
        return fail_memory(judge);
    }
    for (int k = 0; k < plan->figure_count; k++) {
        if (!is_of_run(judge, k)) {
            continue;
        }
        if (!fil_measuring_make(claim_of(judge, k), scene, &judge->itself.def, &judge->run_arena,
                                &judge->measuring[k])) {
            return fail_memory(judge);
        }
        if (judge->run->beside != NULL && !make_beside(judge, &judge->measuring[k])) {
            return fail_memory(judge);
        }
    }
    return FIL_OK;
}

static FilStatus check_figure(Judge *judge, int figure) {
    const FilScene *scene = judge->itself.scene;
    const int claim = judge->plan.figures[figure].claim;
    if (claim >= scene->claim_count) {
        return fil_fail(judge->error, FIL_E_FORMAT, "the variant has other claims");
    }
    return check_claim(judge, scene, claim);
}

static FilStatus check_claims(Judge *judge) {
    FilStatus status = FIL_OK;
    for (int k = 0; k < judge->plan.figure_count && status == FIL_OK; k++) {
        status = is_of_run(judge, k) ? check_figure(judge, k) : FIL_OK;
    }
    return status;
}

// Read the variant, and the one beside it.
static FilStatus read_run(Judge *judge) {
    FIL_TRY(read_variant(judge, &judge->run->changes, &judge->itself.scene));
    FIL_TRY(check_claims(judge));
    if (judge->run->beside == NULL) {
        return FIL_OK;
    }
    FilSceneWords changes;
    if (!fil_claim_split(&judge->run->changes, judge->run->beside, &judge->run_arena, &changes)) {
        return fail_memory(judge);
    }
    return read_variant(judge, &changes, &judge->beside.scene);
}

static FilStatus begin_run(Judge *judge) {
    FIL_TRY(make_stand(judge, &judge->itself));
    if (judge->beside.scene != NULL) {
        FIL_TRY(make_stand(judge, &judge->beside));
    }
    return make_measuring(judge);
}

// ----------------------------------------------------------------------------------------- in time

static int64_t step_at(const Judge *judge, double time) {
    return (int64_t)llround(time / judge->itself.scene->step);
}

// Steps from one frame to the next.
static int64_t find_stride(const FilScene *scene) {
    const int64_t stride = (int64_t)llround(scene->output.every / scene->step);
    return stride > 1 ? stride : 1;
}

// Whether figure k takes the frame after step n.
static bool is_due(const Judge *judge, int k, int64_t n) {
    const FilSceneClaim *claim = claim_of(judge, k);
    const int64_t last = step_at(judge, claim->at);
    return n == last || (n >= step_at(judge, claim->from) && n < last &&
                         n % find_stride(judge->itself.scene) == 0);
}

static bool needs_frame(const Judge *judge, int64_t n) {
    bool needed = n % find_stride(judge->itself.scene) == 0;
    for (int k = 0; k < judge->plan.figure_count && !needed; k++) {
        needed = is_of_run(judge, k) && is_due(judge, k, n);
    }
    return needed;
}

static FilStatus take_frames(Judge *judge, int64_t n) {
    if (!needs_frame(judge, n)) {
        return FIL_OK;
    }
    Stand *itself = &judge->itself, *beside = &judge->beside;
    FIL_TRY(fil_recorder_frame(itself->recorder, &itself->frame, judge->error));
    if (beside->stage != NULL) {
        FIL_TRY(fil_recorder_frame(beside->recorder, &beside->frame, judge->error));
    }
    for (int k = 0; k < judge->plan.figure_count; k++) {
        FilMeasuring *m = &judge->measuring[k];
        if (!is_of_run(judge, k)) {
            continue;
        }
        if (n == 0) {
            fil_measuring_begin(m, &itself->def, &itself->frame);
        }
        fil_measuring_follow(m, &itself->frame);
        if (is_due(judge, k, n)) {
            m->missed = judge->missed;
            fil_measuring_take(m, &itself->def, &itself->frame,
                               beside->stage != NULL ? &beside->frame : NULL);
        }
    }
    return FIL_OK;
}

// The other variant may have other steps; it keeps up.
static FilStatus step_beside(Judge *judge) {
    const double time = fil_world_time(fil_stage_world(judge->itself.stage));
    const double slack = 1e-6 * judge->itself.scene->step;
    while (judge->beside.stage != NULL &&
           fil_world_time(fil_stage_world(judge->beside.stage)) < time - slack) {
        FIL_TRY(fil_stage_step(judge->beside.stage, NULL, judge->error));
    }
    return FIL_OK;
}

static bool wants_end(const Judge *judge, double time) {
    const FilClaimSettings *settings = judge->settings;
    const double part = judge->all > 0.0 ? (judge->done + time) / judge->all : 1.0;
    return settings->on_step != NULL && !settings->on_step(settings->user, fmin(part, 1.0));
}

static FilStatus run_steps(Judge *judge) {
    int64_t last = 0;
    for (int k = 0; k < judge->plan.figure_count; k++) {
        const int64_t at = is_of_run(judge, k) ? step_at(judge, claim_of(judge, k)->at) : 0;
        last = at > last ? at : last;
    }
    FIL_TRY(take_frames(judge, 0));
    for (int64_t n = 1; n <= last; n++) {
        FilStepInfo info;
        if (wants_end(judge, (double)n * judge->itself.scene->step)) {
            return FIL_E_INTERRUPTED;
        }
        FIL_TRY(fil_stage_step(judge->itself.stage, &info, judge->error));
        FIL_TRY(step_beside(judge));
        judge->missed += info.missed_count;
        FIL_TRY(take_frames(judge, n));
    }
    return FIL_OK;
}

// -------------------------------------------------------------------------------------- the
// verdict

// Whether a value is what it must be. Written so that what is no number is never right.
static bool is_right(const FilSceneClaim *claim, FilClaimRole role, double value) {
    if (role == FIL_CLAIM_UNLESS) {
        return value < claim->at_least - claim->margin || value > claim->at_most + claim->margin;
    }
    return value >= claim->at_least && value <= claim->at_most;
}

static void note_values(Judge *judge) {
    for (int k = 0; k < judge->plan.figure_count; k++) {
        if (is_of_run(judge, k)) {
            FilClaimFigure *figure = &judge->plan.figures[k];
            figure->value = fil_measuring_value(&judge->measuring[k]);
            figure->right = is_right(claim_of(judge, k), figure->role, figure->value);
        }
    }
}

static FilStatus do_run(Judge *judge, bool measure) {
    judge->missed = 0.0;
    FilStatus status = read_run(judge);
    if (status == FIL_OK && measure) {
        status = begin_run(judge);
    }
    if (status == FIL_OK && measure) {
        status = run_steps(judge);
    }
    if (status == FIL_OK && measure) {
        note_values(judge);
    }
    status = status == FIL_OK ? FIL_OK : fail_inside(judge, status);
    judge->done += judge->run->until;
    drop_stand(&judge->itself);
    drop_stand(&judge->beside);
    fil_arena_reset(&judge->run_arena);
    return status;
}

static FilStatus do_runs(Judge *judge, const FilScene *scene, bool measure) {
    if (!fil_claim_plan(scene, judge->settings, judge->arena, &judge->plan)) {
        return fail_memory(judge);
    }
    for (int k = 0; k < judge->plan.run_count; k++) {
        judge->all += judge->plan.runs[k].until;
    }
    for (int k = 0; k < judge->plan.run_count; k++) {
        judge->run = &judge->plan.runs[k];
        FIL_TRY(do_run(judge, measure));
    }
    return FIL_OK;
}

static FilStatus work(Judge *judge, bool measure, FilScene **scene) {
    const FilSceneWords changes = {judge->settings->changes, judge->settings->change_count};
    FIL_TRY(read_variant(judge, &changes, scene));
    judge->run_arena = fil_arena_make(&judge->allocator);
    const FilStatus status = do_runs(judge, *scene, measure);
    fil_arena_destroy(&judge->run_arena);
    return status;
}

FilStatus fil_claims_judge(const char *name, const char *text, size_t size,
                           const FilClaimSettings *settings, const FilAllocator *allocator,
                           FilVerdict **out, FilError *error) {
    const FilClaimSettings none = {0};
    const FilAllocator used = allocator != NULL ? *allocator : fil_libc_allocator;
    Holder *holder = used.resize(used.user, NULL, 0, sizeof *holder);
    if (holder == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "%s: not enough memory for its claims", name);
    }
    *holder = (Holder){.allocator = used, .arena = fil_arena_make(&used)};
    FilError local = {0}; // messages are made of messages: there must be one
    Judge judge = {.name = name,
                   .text = text,
                   .size = size,
                   .settings = settings != NULL ? settings : &none,
                   .allocator = used,
                   .error = error != NULL ? error : &local,
                   .arena = &holder->arena};
    FilScene *scene = NULL;
    const FilStatus status = work(&judge, true, &scene);
    holder->verdict.scene = holder->scene = scene;
    if (status != FIL_OK) {
        fil_verdict_destroy(&holder->verdict);
        return status;
    }
    holder->verdict.figures = judge.plan.figures;
    holder->verdict.figure_count = judge.plan.figure_count;
    for (int k = 0; k < judge.plan.figure_count; k++) {
        holder->verdict.wrong_count += !judge.plan.figures[k].right;
    }
    *out = &holder->verdict;
    return FIL_OK;
}

void fil_verdict_destroy(FilVerdict *verdict) {
    if (verdict != NULL) {
        Holder *holder = (Holder *)(void *)verdict;
        const FilAllocator allocator = holder->allocator;
        fil_scene_destroy(holder->scene);
        fil_arena_destroy(&holder->arena);
        allocator.resize(allocator.user, holder, sizeof *holder, 0);
    }
}

FilStatus fil_claims_check(const char *name, const char *text, size_t size,
                           const FilClaimSettings *settings, const FilAllocator *allocator,
                           FilError *error) {
    const FilClaimSettings none = {0};
    const FilAllocator used = allocator != NULL ? *allocator : fil_libc_allocator;
    FilArena arena = fil_arena_make(&used);
    FilError local = {0};
    Judge judge = {.name = name,
                   .text = text,
                   .size = size,
                   .settings = settings != NULL ? settings : &none,
                   .allocator = used,
                   .error = error != NULL ? error : &local,
                   .arena = &arena};
    FilScene *scene = NULL;
    const FilStatus status = work(&judge, false, &scene);
    fil_scene_destroy(scene);
    fil_arena_destroy(&arena);
    return status;
}
