// No step takes for ever: solves end within a budget of counted work, with what they have; and one
// word from outside ends a step, which leaves the world as it was.
#include "check.h"
#include "friction_answer.h"
#include "friction_problem.h"

#include "filum/filum.h"

#include <math.h>
#include <string.h>

// --- solves --------------------------------------------------------------------------------------

enum { SEEDS = 30 };

static Dense p;

// 24 contacts of 6 rigid bodies with mu over 12 decades: a solution exists, but Newton and fixed
// points leave a third of these unsolved.
static const FilFrictionProblem *make_hard(uint64_t seed) {
    FilRandom random = fil_random_make(seed);
    memset(&p, 0, sizeof p);
    for (int i = 0; i < DENSE_BLOCKS; i++) {
        dense_add(&p, FIL_BLOCK_COULOMB, 3, pow(10.0, fil_random_uniform(&random, -6.0, 6.0)));
    }
    dense_rigid(&p, &random, 6);
    return dense_finish(&p);
}

static Answer solve_within(const FilFrictionProblem *problem, double budget, int threads) {
    FilFrictionSettings settings = fil_friction_settings_default();
    settings.budget = budget;
    settings.thread_count = threads;
    return answer_of(problem, &settings);
}

// Between two looks at the budget there are a few Newton steps at most.
static void hard_problems_end_within_their_budget_and_say_how(void) {
    static const double budgets[] = {3.0, 30.0, 300.0, 3000.0};
    int converged[4] = {0};
    for (int k = 0; k < 4; k++) {
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            Answer answer = solve_within(make_hard(seed), budgets[k], 1);
            const FilFrictionInfo *info = &answer.info;
            CHECK(info->work > 0.0 && info->work <= budgets[k] + 8.0);
            CHECK(answer_is_finite(&answer));
            CHECK((info->outcome == FIL_CONVERGED) == (info->residual.scaled <= 1e-8));
            CHECK(info->outcome == FIL_CONVERGED || info->work < 0.9 * budgets[k] ||
                  info->outcome == FIL_LIMIT);
            converged[k] += info->outcome == FIL_CONVERGED;
            answer_free(&answer);
        }
    }
    CHECK(converged[0] < converged[1] && converged[1] <= converged[2]);
    CHECK(converged[2] >= 18 && converged[3] >= 25);
}

static void a_budget_ends_at_the_same_iterate_on_any_number_of_threads(void) {
    for (uint64_t seed = 1; seed <= 5; seed++) {
        const FilFrictionProblem *problem = make_hard(seed);
        Answer one = solve_within(problem, 20.0, 1), two = solve_within(problem, 20.0, 2);
        CHECK(check_same_bits(one.r, two.r, sizeof(double) * (size_t)one.size));
        CHECK(one.info.work == two.info.work);
        answer_free(&one);
        answer_free(&two);
    }
}

static void a_budget_below_zero_is_refused(void) {
    FilFrictionSettings settings = fil_friction_settings_default();
    double r[3 * DENSE_BLOCKS] = {0.0};
    FilFrictionSolution solution = {.r = r};
    FilError error;
    settings.budget = -1.0;
    CHECK(fil_friction_solve(make_hard(1), &settings, NULL, &solution, NULL, &error) ==
          FIL_E_ARGUMENT);
    CHECK(strcmp(error.text, "budget is -1; it must not be negative") == 0);
}

// --- steps ---------------------------------------------------------------------------------------

typedef struct Play {
    FilScene *scene;
    FilStage *stage;
    FilWorld *world;
} Play;

static Play play(const char *text) {
    Play it = {NULL, NULL, NULL};
    FilError error;
    FilStatus status =
        fil_scene_read_text("test.json", text, strlen(text), NULL, NULL, &it.scene, &error);
    status =
        status == FIL_OK ? fil_stage_create(it.scene, 1, NULL, NULL, &it.stage, &error) : status;
    if (status != FIL_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
        abort();
    }
    it.world = fil_stage_world(it.stage);
    return it;
}

static void end(Play *it) {
    fil_stage_destroy(it->stage);
    fil_scene_destroy(it->scene);
}

static FilStepInfo step(const Play *it) {
    FilStepInfo info = {.outcome = FIL_OUTCOME_COUNT};
    FilError error;
    CHECK(fil_stage_step(it->stage, &info, &error) == FIL_OK);
    return info;
}

// Seven strands side by side that overlap a little, all along, and lie on a floor.
#define BUNDLE(model, mu, more)                                                                  \
    "{\"duration\": 1, \"step\": 0.001, \"friction_default\": " #mu ", \"materials\": {\"m\": "  \
    "{\"young\": 1e7}}, \"obstacles\": [{\"shape\": \"plane\", \"at\": [0, 0, -0.0027]}], " more \
    "\"bundles\": [{\"count\": 7, \"spacing\": 0.00198, \"rod\": {\"model\": \"" model           \
    "\", \"elements\": 12, \"length\": 0.1, \"radius\": 0.001, \"contact_pieces\": 1, "          \
    "\"self_contact\": \"off\", \"root\": {\"held\": \"free\"}}}]}"

static double *copy_state(const FilWorld *world, int64_t *count) {
    *count = fil_world_state_count(world);
    double *state = calloc((size_t)*count, sizeof *state);
    if (state == NULL) {
        abort();
    }
    fil_world_get_state(world, state);
    return state;
}

static bool is_state(const FilWorld *world, const double *state, int64_t count) {
    int64_t now;
    double *present = copy_state(world, &now);
    const bool same =
        now == count && check_same_bits(present, state, sizeof(double) * (size_t)count);
    free(present);
    return same;
}

// Asks for the end at the given look.
typedef struct Finger {
    int looks, at;
} Finger;

static bool press(void *user) {
    Finger *finger = user;
    return ++finger->looks == finger->at;
}

static void an_interrupt_at_any_look_takes_the_step_back_to_the_bit(void) {
    Play it = play(BUNDLE("der", 0.5, ""));
    Finger finger = {0, 0};
    FilError error;
    (void)step(&it);
    int64_t count, after_count;
    double *before = copy_state(it.world, &count);
    fil_world_set_stop(it.world, press, &finger);
    const FilStepInfo info = step(&it);
    const int looks = finger.looks;
    CHECK(info.iterations > 3 && looks >= info.iterations); // often
    double *after = copy_state(it.world, &after_count);
    for (int at = 1; at <= looks; at++) {
        finger = (Finger){0, 0};
        CHECK(fil_world_set_state(it.world, before, count, &error) == FIL_OK);
        finger.at = at;
        CHECK(fil_stage_step(it.stage, NULL, &error) == FIL_E_INTERRUPTED);
        CHECK(finger.looks == at); // at once
        CHECK(strcmp(error.text, "the step from 0.001 s was interrupted") == 0);
        CHECK(is_state(it.world, before, count));
        finger.at = 0;
        (void)step(&it);
        CHECK(is_state(it.world, after, after_count));
    }
    free(before);
    free(after);
    end(&it);
}

// Counts what it is asked; at look `at` on somebody wants an end.
typedef struct Stopping {
    int looks, at;
    int told; // iterations since then
} Stopping;

static bool tell(void *user, const FilFrictionProgress *progress) {
    Stopping *stopping = user;
    stopping->told += stopping->at > 0 && stopping->looks >= stopping->at;
    return progress->iteration >= 0;
}

static bool ask(void *user) {
    Stopping *stopping = user;
    return ++stopping->looks >= stopping->at && stopping->at > 0;
}

// Contacts that are all coupled with all others, and press: W = 1 + cos(i - j) / 10.
enum { COUPLED = 400 };
static FilFrictionProblem couple(void) {
    static int start[COUPLED + 1], column[COUPLED * COUPLED];
    static double value[9 * COUPLED * COUPLED], b[3 * COUPLED], mu[COUPLED];
    for (int i = 0; i < COUPLED; i++) {
        start[i + 1] = COUPLED * (i + 1);
        mu[i] = 0.5;
        b[3 * i] = -1.0;
        b[3 * i + 1] = 0.1 * (i % 7);
        for (int j = 0; j < COUPLED; j++) {
            column[COUPLED * i + j] = j;
            for (int k = 0; k < 3; k++) {
                value[9 * (COUPLED * i + j) + 4 * k] = (i == j ? 1.0 : 0.0) + 0.1 * cos(i - j);
            }
        }
    }
    return (FilFrictionProblem){.block_count = COUPLED,
                                .block_size = 3,
                                .mu = mu,
                                .form = FIL_FORM_BLOCKS,
                                .blocks = {start, column, value},
                                .b = b};
}

// A factorisation of theirs takes 1e9 operations. It asks several times, and ends in its middle: no
// iteration is told after that.
static void a_factorisation_ends_on_demand(void) {
    static double r[3 * COUPLED];
    const FilFrictionProblem made = couple(), *problem = &made;
    FilError error;
    for (int threads = 1; threads <= 2; threads++) {
        Stopping stopping = {0};
        FilFrictionSettings settings = fil_friction_settings_default();
        FilFrictionSolution solution = {.r = r};
        FilFrictionInfo info;
        settings.thread_count = threads;
        settings.max_iterations = 2;
        settings.warm_start = true; // Newton at once
        settings.on_iteration = tell;
        settings.stop = ask;
        settings.user = &stopping;
        memset(r, 0, sizeof r);
        CHECK(fil_friction_solve(problem, &settings, NULL, &solution, &info, &error) == FIL_OK);
        CHECK(stopping.looks >= 2 * info.iterations && info.iterations == 2);
        const int all = stopping.looks;
        for (int at = 1; at <= all; at += 2) {
            stopping = (Stopping){.at = at};
            memset(r, 0, sizeof r);
            CHECK(fil_friction_solve(problem, &settings, NULL, &solution, &info, &error) == FIL_OK);
            CHECK(info.outcome == FIL_LIMIT && stopping.looks == at && stopping.told == 0);
        }
    }
}

static void settling_ends_on_demand_with_what_it_has_reached(void) {
    Play it = play(BUNDLE("der", 0.5, ""));
    Finger finger = {0, 0};
    FilSettleInfo info;
    FilError error;
    FilSettleSettings few = fil_settle_settings_default();
    few.max_steps = 4;
    fil_world_set_stop(it.world, press, &finger);
    CHECK(fil_world_settle(it.world, &few, &info, &error) == FIL_OK && info.steps == 4);
    for (int at = 1; at <= finger.looks; at += 5) {
        Play again = play(BUNDLE("der", 0.5, ""));
        Finger other = {0, at};
        fil_world_set_stop(again.world, press, &other);
        CHECK(fil_world_settle(again.world, &few, &info, &error) == FIL_OK);
        CHECK(other.looks == at && info.steps < 4 && !info.converged);
        CHECK(fil_world_time(again.world) == 0.0);
        const int done = info.steps;
        if (done > 0) { // the same steps without an interrupt lead there, too
            int64_t count;
            double *reached = copy_state(again.world, &count);
            Play plain = play(BUNDLE("der", 0.5, ""));
            FilSettleSettings fewer = few;
            fewer.max_steps = done;
            CHECK(fil_world_settle(plain.world, &fewer, &info, &error) == FIL_OK);
            CHECK(is_state(plain.world, reached, count));
            free(reached);
            end(&plain);
        }
        end(&again);
    }
    end(&it);
}

// Little budget, hard work: steps end, say so, and the next one goes on.
static void a_step_out_of_budget_is_named_and_the_next_one_goes_on(void) {
    Play it = play(BUNDLE("corde", 1, "\"solver\": {\"budget\": 2}, "));
    int limited = 0;
    for (int k = 0; k < 10; k++) {
        const FilStepInfo info = step(&it);
        CHECK(info.outcome == FIL_CONVERGED || info.outcome == FIL_LIMIT ||
              info.outcome == FIL_STALLED);
        CHECK((info.outcome == FIL_CONVERGED) == (info.residual.scaled <= 1e-8));
        limited += info.outcome == FIL_LIMIT;
    }
    CHECK(limited > 0);
    CHECK(fil_world_step_count(it.world) == 10);
    end(&it);
}

// The state counts steps with a part of the budget. They are one, two, four, up to sixteen in a row
// after steps that spent all of theirs; each does less than those. States that count more are bad.
static void a_step_that_spent_its_budget_is_followed_by_thrifty_ones(void) {
    enum { LAST = 4, LEFT = 5, STEPS = 40 };
    Play it = play(BUNDLE("corde", 1, "\"solver\": {\"budget\": 5}, "));
    int rows = 0, thrifty = 0;
    double full = 0.0, part = 0.0, before[2] = {0.0, 0.0};
    for (int k = 0; k < STEPS; k++) {
        const FilStepInfo info = step(&it);
        int64_t count;
        double *state = copy_state(it.world, &count);
        if (before[1] > 0.0) {
            CHECK(state[LEFT] == before[1] - 1.0 && state[LAST] == before[0]);
            part += info.work;
            thrifty++;
        } else if (state[LAST] > 0.0) {
            CHECK(state[LAST] == fmin(16.0, fmax(1.0, 2.0 * before[0])));
            CHECK(state[LEFT] == state[LAST]);
            full += info.work;
            rows++;
        } else {
            CHECK(state[LEFT] == 0.0);
        }
        memcpy(before, state + LAST, sizeof before);
        if (k == STEPS - 1) {
            FilError error;
            state[LEFT] = 17.0;
            CHECK(fil_world_set_state(it.world, state, count, &error) == FIL_E_ARGUMENT);
            CHECK(strcmp(error.text, "state[5] is 17; it must count at most 16 steps") == 0);
        }
        free(state);
    }
    CHECK(rows > 3 && thrifty > 20 && part / thrifty < 0.5 * full / rows);
    end(&it);
}

// Strands that touch all along at the start: hundreds of small overlaps are a first step as any.
static void bundles_that_begin_in_touch_take_their_first_step_as_any_other(void) {
    static const char *const texts[] = {BUNDLE("der", 0.5, ""), BUNDLE("corde", 0.3, ""),
                                        BUNDLE("clothoid", 0.3, ""), BUNDLE("helix", 0, ""),
                                        BUNDLE("chain", 1, "")};
    int converged = 0;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        Play it = play(texts[k]);
        const FilStepInfo first = step(&it);
        double most = 0.0;
        for (int n = 0; n < 5; n++) {
            const FilStepInfo next = step(&it);
            most = fmax(most, next.work);
            CHECK(next.residual.scaled <= 1e-6);
        }
        CHECK(first.contact_count > 150 && first.active_count > 100);
        CHECK(first.residual.scaled <= 1e-6);
        CHECK(first.work <= 50.0 + 3.0 * most);
        converged += first.outcome == FIL_CONVERGED;
        end(&it);
    }
    CHECK(converged >= 4);
}

// A rope round a post, turn beside turn, whose contacts wedge: mu 1.5, pressed into the post by a
// tenth of its radius. Each step took minutes once.
static void a_capstan_of_many_turns_stays_within_its_budget(void) {
    static char text[20000];
    int at =
        snprintf(text, sizeof text, "%s",
                 "{\"duration\": 1, \"step\": 0.001, \"gravity\": [0, 0, 0], "
                 "\"friction_default\": 1.5, \"materials\": {\"m\": {\"young\": 1e8}}, "
                 "\"obstacles\": [{\"shape\": \"cylinder\", \"radius\": 0.01, \"length\": 0.3, "
                 "\"turn\": [0, -1.5707963267948966, 0]}], \"rods\": [{\"model\": "
                 "\"clothoid\", \"elements\": 20, \"radius\": 0.001, \"natural\": {\"shape\": "
                 "\"start\"}, \"self_contact\": \"on\", \"loads\": [{\"force\": [0, 0.1, 0]}], "
                 "\"points\": [");
    for (int k = 0; k <= 120; k++) {
        const double angle = 2.0 * 3.14159265358979323846 * 5.0 * k / 120.0;
        at +=
            snprintf(text + at, sizeof text - (size_t)at, "%s[%.9g, %.9g, %.9g]", k > 0 ? ", " : "",
                     0.0109 * cos(angle), 0.0109 * sin(angle), 0.00205 * 5.0 * k / 120.0);
    }
    (void)snprintf(text + at, sizeof text - (size_t)at, "]}]}");
    Play it = play(text);
    for (int k = 0; k < 3; k++) {
        const FilStepInfo info = step(&it);
        // three budgets, what was in hand when they were spent, and a little for each solve after
        CHECK(info.work <= 4.5 * FIL_WORLD_BUDGET);
        CHECK(info.contact_count > 100 && info.residual.scaled < 1e-2);
    }
    end(&it);
}

#define TESTS(X)                                                      \
    X(hard_problems_end_within_their_budget_and_say_how)              \
    X(a_budget_ends_at_the_same_iterate_on_any_number_of_threads)     \
    X(a_budget_below_zero_is_refused)                                 \
    X(an_interrupt_at_any_look_takes_the_step_back_to_the_bit)        \
    X(a_factorisation_ends_on_demand)                                 \
    X(settling_ends_on_demand_with_what_it_has_reached)               \
    X(a_step_out_of_budget_is_named_and_the_next_one_goes_on)         \
    X(a_step_that_spent_its_budget_is_followed_by_thrifty_ones)       \
    X(bundles_that_begin_in_touch_take_their_first_step_as_any_other) \
    X(a_capstan_of_many_turns_stays_within_its_budget)

CHECK_MAIN(TESTS)
