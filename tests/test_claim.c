// test_claim.c - claims: what they measure, checked where the value is known, and how they are
// judged.
#include "filum/filum.h"

#include <math.h>
#include <string.h>

#include "check.h"
#include "failing_allocator.h"

static bool on_step(void *user, double part) {
    (void)part;
    return --*(int *)user > 0;
}

static FilVerdict *judge(const char *text) {
    const FilClaimSettings settings = {.threads = 1};
    FilVerdict *verdict = NULL;
    FilError error = {.status = FIL_OK};
    CHECK(fil_claims_judge("test.json", text, strlen(text), &settings, NULL, &verdict, &error) ==
          FIL_OK);
    if (verdict == NULL) {
        (void)fprintf(stderr, "%s\n", error.text);
    }
    return verdict;
}

static void judge_fails(const char *text, FilStatus status, const char *sentence) {
    FilVerdict *verdict = NULL;
    FilError error = {.status = FIL_OK};
    CHECK(fil_claims_judge("test.json", text, strlen(text), NULL, NULL, &verdict, &error) ==
          status);
    CHECK(verdict == NULL);
    if (strcmp(error.text, sentence) != 0) {
        (void)fprintf(stderr, "got:  %s\nwant: %s\n", error.text, sentence);
        CHECK(false);
    }
}

// The value of a claim at time 0 of a scene whose rods are given; NaN when it cannot be judged.
static double measure(const char *things, const char *claim) {
    char text[4000];
    (void)snprintf(text, sizeof text,
                   "{\"duration\": 1, \"step\": 1e-3, \"gravity\": [0, 0, 0],"
                   " \"friction_default\": 0.3, %s,"
                   " \"claims\": [{\"says\": \"x\", \"at\": 0, \"at_most\": 1e9, %s}]}",
                   things, claim);
    FilVerdict *verdict = judge(text);
    const double value = verdict != NULL ? verdict->figures[0].value : (double)NAN;
    fil_verdict_destroy(verdict);
    return value;
}

// -----------------------------------------------------------------------------------------
// measures

// A helix about z of radius 0.1 and pitch 0.2, four turns of it.
static const char coil[] =
    "\"rods\": [{\"name\": \"coil\", \"model\": \"helix\", \"elements\": 8, \"length\": 2.63753,"
    "\"radius\": 1e-3, \"contact_length\": 0.02, \"self_contact\": \"off\","
    "\"natural\": {\"curvature\": [0, 9.07999], \"twist\": 2.89025},"
    "\"root\": {\"at\": [0.1, 0, 0], \"along\": [0, 0.952890, 0.303314], \"up\": [0, -0.303314, "
    "0.952890]}}]";

static void a_coil_has_its_turns_and_its_pitch(void) {
    // n2 is the binormal where n1 points to the axis: a turn about n2 bends towards n1
    CHECK_NEAR(measure(coil, "\"measure\": \"turns\""), 4.0, 2e-3, 0.0);
    CHECK_NEAR(measure(coil, "\"measure\": \"pitch\""), 0.2, 2e-3, 0.0);
    CHECK_NEAR(measure(coil, "\"measure\": \"turns\", \"part\": [0, 0.5]"), 2.0, 0.02, 0.0);
    CHECK_NEAR(measure(coil, "\"measure\": \"highest\""), 0.8, 2e-3, 0.0);
    CHECK_NEAR(measure(coil, "\"measure\": \"spread\""), 0.1, 0.02, 0.0);
    CHECK_NEAR(measure(coil, "\"measure\": \"curvature\""), 9.08, 1e-3, 0.0);
    CHECK_NEAR(measure(coil, "\"measure\": \"straight\""), 0.8 / 2.63753, 5e-3, 0.0);
}

// Each further turn of a helix adds 1 - cos(angle between its tangent and its axis) to the writhe
// (Fuller, PNAS 68, 1971); its ends cost something once.
static void a_coil_writhes_as_its_slope_says(void) {
    const char *whole = "\"measure\": \"writhe\"";
    const char *half = "\"measure\": \"writhe\", \"part\": [0, 0.5]";
    const double more = measure(coil, whole) - measure(coil, half);
    CHECK_NEAR(more, 2.0 * (1.0 - 0.303314), 0.05, 0.0);
}

#define STRAIGHT(name, at, along)                                                   \
    "{\"name\": \"" name "\", \"model\": \"der\", \"elements\": 10, \"length\": 1," \
    "\"radius\": 1e-3, \"root\": {\"at\": " at ", \"along\": " along "}}"

static void order_is_1_along_a_line_and_a_quarter_of_it_across(void) {
    const char *parallel = "\"rods\": [" STRAIGHT("a", "[0, 0, 0]", "[1, 0, 0]") ", " STRAIGHT(
        "b", "[0, 1, 0]", "[-1, 0, 0]") "]";
    const char *crossed = "\"rods\": [" STRAIGHT("a", "[0, 0, 0]", "[1, 0, 0]") ", " STRAIGHT(
        "b", "[0, 1, 1]", "[0, 1, 0]") "]";
    CHECK_NEAR(measure(parallel, "\"measure\": \"aligned\""), 1.0, 1e-9, 0.0);
    CHECK_NEAR(measure(crossed, "\"measure\": \"aligned\""), 0.25, 1e-9, 0.0);
    CHECK_NEAR(measure(parallel, "\"measure\": \"straight\""), 1.0, 1e-9, 0.0);
}

static void neighbours_are_as_far_as_they_are(void) {
    // b begins in the middle of a, 0.2 above it
    const char *rods = "\"rods\": [" STRAIGHT("a", "[0, 0, 0]", "[1, 0, 0]") ", " STRAIGHT(
        "b", "[0.5, 0, 0.2]", "[1, 0, 0]") "]";
    // half of each is 0.2 from the other; along the rest the distance is that to its end
    const double far = 0.25 * hypot(0.5, 0.2) + 0.02 * asinh(2.5);
    CHECK_NEAR(measure(rods, "\"measure\": \"nearest\""), 0.5 * 0.2 + far, 2e-3, 0.0);
    CHECK_NEAR(measure(rods, "\"measure\": \"clumped\", \"near\": 0.201"), 0.5, 0.051, 0.0);
    CHECK_NEAR(measure(rods, "\"measure\": \"clumped\", \"near\": 0.199"), 0.0, 0.0, 1e-12);
}

static void rods_are_apart_from_their_roots_on(void) {
    const char *rods = "\"rods\": [" STRAIGHT("a", "[0, 0, 0]", "[1, 0, 0]") ", " STRAIGHT(
        "b", "[5, 5, 5]", "[0, 1, 0]") "]";
    CHECK_NEAR(measure(rods, "\"measure\": \"apart\""), sqrt(2.0), 1e-9, 0.0);
    CHECK_NEAR(measure(rods, "\"measure\": \"apart\", \"beside\": \"rods[1].root.at[2]=7\""), 2.0,
               1e-9, 0.0);
}

static void places_are_counted_along_the_axis(void) {
    const char *bodies =
        "\"arrays\": [{\"name\": \"ball\", \"count\": [4, 1, 1], \"spacing\": [1, 0, 0],"
        "\"body\": {\"shape\": \"sphere\", \"radius\": 0.1, \"velocity\": [0, 0, 3]}}]";
    CHECK_NEAR(measure(bodies, "\"measure\": \"place\", \"axis\": [2, 0, 0]"), 1.5, 1e-12, 0.0);
    CHECK_NEAR(measure(bodies, "\"measure\": \"lowest\", \"axis\": [-1, 0, 0]"), -3.0, 1e-12, 0.0);
    CHECK_NEAR(measure(bodies, "\"measure\": \"beyond\", \"axis\": [1, 0, 0], \"through\": "
                               "[1.5, 0, 0]"),
               2.0, 1e-12, 0.0);
    CHECK_NEAR(measure(bodies, "\"measure\": \"place\", \"of\": [\"ball/3\"], \"axis\": [1, 0, 0]"),
               3.0, 1e-12, 0.0);
    CHECK_NEAR(measure(bodies, "\"measure\": \"fastest\""), 3.0, 1e-12, 0.0);
    CHECK_NEAR(measure(bodies, "\"measure\": \"speed\""), 3.0, 1e-12, 0.0);
}

// A ball that flies past, a ball that turns: what adds up along the way.
static void turns_add_up_over_time(void) {
    FilVerdict *verdict = judge(
        "{\"duration\": 1, \"step\": 0.01, \"output\": {\"every\": 0.05}, \"gravity\": [0, 0, 0],"
        "\"friction_default\": 0.3,"
        "\"bodies\": [{\"name\": \"ball\", \"shape\": \"sphere\", \"radius\": 0.1,"
        "  \"at\": [-1, 1, 0], \"velocity\": [2, 0, 0], \"spin\": [3, 0, 0]}],"
        "\"obstacles\": [{\"name\": \"arm\", \"shape\": \"sphere\", \"radius\": 0.1,"
        "  \"at\": [9, 0, 0], \"motion\": {\"pivot\": [0, 0, 0], \"spin\": [0, 0, \"3 turn/s\"]}}],"
        "\"claims\": ["
        "{\"says\": \"a\", \"measure\": \"turned\", \"of\": [\"ball\"], \"at_most\": 9},"
        "{\"says\": \"b\", \"measure\": \"turned\", \"of\": [\"arm\"], \"at_most\": 9},"
        "{\"says\": \"c\", \"measure\": \"tilted\", \"of\": [\"ball\"], \"at_most\": 9},"
        "{\"says\": \"d\", \"measure\": \"place\", \"of\": [\"ball\"], \"axis\": [1, 0, 0],"
        " \"from\": 0, \"take\": \"mean\", \"at_most\": 9},"
        "{\"says\": \"e\", \"measure\": \"place\", \"of\": [\"ball\"], \"axis\": [1, 0, 0],"
        " \"relative\": \"change\", \"at\": 0.25, \"at_most\": 9}]}");
    if (verdict != NULL) {
        CHECK_NEAR(verdict->figures[0].value, -0.25, 1e-9, 0.0); // from 135 deg to 45 deg
        CHECK_NEAR(verdict->figures[1].value, 3.0, 1e-9, 0.0);
        CHECK_NEAR(verdict->figures[2].value, 3.0, 1e-2, 0.0);
        CHECK_NEAR(verdict->figures[3].value, 0.0, 0.0, 1e-9);
        CHECK_NEAR(verdict->figures[4].value, 0.5, 1e-9, 0.0);
        CHECK(verdict->wrong_count == 0);
    }
    fil_verdict_destroy(verdict);
}

// It falls sideways from rest: a t^2 / 2 at the end, less that at `from`.
static void moved_is_how_far_since_then(void) {
    const char *text =
        "{\"duration\": 0.5, \"step\": 1e-3, \"gravity\": [2, 0, 0],"
        "\"friction_default\": 0, \"bodies\": [{\"name\": \"ball\", \"shape\": "
        "\"sphere\", \"radius\": 0.1, \"mass\": 1, \"at\": [1, 2, 3]}], \"claims\": ["
        "{\"says\": \"a\", \"measure\": \"moved\", \"from\": 0.2, \"at_least\": 0},"
        "{\"says\": \"b\", \"measure\": \"moved\", \"from\": 0.2, \"take\": \"least\", "
        "\"at_most\": 0}]}";
    FilVerdict *verdict = judge(text);
    if (verdict != NULL) {
        CHECK_NEAR(verdict->figures[0].value, 0.25 - 0.04, 2e-3, 0.0);
        CHECK_NEAR(verdict->figures[1].value, 0.0, 0.0, 1e-15);
    }
    fil_verdict_destroy(verdict);
}

// -----------------------------------------------------------------------------------------
// contacts

// A cube of 1 kg on a slope of 0.2: mu 0.3 holds it, mu 0.1 does not.
#define SLOPE(claims)                                                                          \
    "{\"duration\": 0.5, \"step\": 2e-3, \"gravity\": [1.94909, 0, -9.61444],"                 \
    "\"friction_default\": 0.3, \"bodies\": [{\"name\": \"cube\", \"shape\": \"box\","         \
    "\"size\": [0.1, 0.1, 0.1], \"mass\": 1, \"at\": [0, 0, 0.05]}],"                          \
    "\"obstacles\": [{\"name\": \"floor\", \"shape\": \"plane\"},"                             \
    "{\"name\": \"roof\", \"shape\": \"plane\", \"at\": [0, 0, 5], \"turn\": [3.14159265, 0, " \
    "0]}],"                                                                                    \
    "\"claims\": [" claims "]}"

static void a_cube_sticks_unless_it_slides(void) {
    FilVerdict *verdict = judge(
        SLOPE("{\"says\": \"a\", \"measure\": \"sticking\", \"at_least\": 0.9,"
              " \"unless\": [\"friction_default=0.1\"], \"holds_with\": [\"step=1 ms; seed=2\"]},"
              "{\"says\": \"b\", \"measure\": \"pressing\", \"on\": [\"floor\"], \"at_least\": 3},"
              "{\"says\": \"c\", \"measure\": \"touching\", \"on\": [\"roof\"], \"at_most\": 0},"
              "{\"says\": \"d\", \"measure\": \"touching\", \"of\": [\"floor\", \"roof\"],"
              " \"at_least\": 0.5, \"at_most\": 0.5},"
              "{\"says\": \"e\", \"measure\": \"slip\", \"with\": [\"friction_default=0.1\"],"
              " \"at_least\": 0.4, \"unless\": [\"friction_default=0.3\"]}"));
    if (verdict == NULL) {
        return;
    }
    CHECK(verdict->figure_count == 8 && verdict->wrong_count == 0);
    CHECK(verdict->figures[1].role == FIL_CLAIM_UNLESS && verdict->figures[1].value == 0.0);
    CHECK(strcmp(verdict->figures[2].variant, "step=1 ms; seed=2") == 0);
    // g (sin - mu cos) t = 0.494 m/s after 0.5 s
    CHECK_NEAR(verdict->figures[6].value, 0.5 * (1.94909 - 0.961444), 0.01, 0.0);
    CHECK_NEAR(verdict->figures[7].value, 0.0, 0.0, 1e-9);
    fil_verdict_destroy(verdict);
}

// The floor carries the weight of the cube, 9.61444 N across the slope and 1.94909 N along it;
// what the cube does to the floor is the same the other way.
static void push_is_the_force_of_what_presses(void) {
    FilVerdict *verdict = judge(
        SLOPE("{\"says\": \"a\", \"measure\": \"push\", \"of\": [\"cube\"], \"at_least\": 0},"
              "{\"says\": \"b\", \"measure\": \"push\", \"of\": [\"cube\"], \"on\": [\"roof\"],"
              " \"at_most\": 0},"
              "{\"says\": \"c\", \"measure\": \"push\", \"of\": [\"floor\"],"
              " \"axis\": [2, 0, 0], \"at_least\": 0}"));
    if (verdict == NULL) {
        return;
    }
    CHECK_NEAR(verdict->figures[0].value, 9.61444, 1e-6, 0.0);
    CHECK_NEAR(verdict->figures[1].value, 0.0, 0.0, 1e-15);
    CHECK_NEAR(verdict->figures[2].value, 1.94909, 1e-6, 0.0);
    fil_verdict_destroy(verdict);
}

// -----------------------------------------------------------------------------------------
// verdicts

static void a_figure_is_wrong_when_it_should_be(void) {
    FilVerdict *verdict = judge(
        SLOPE("{\"says\": \"a\", \"measure\": \"sticking\", \"at_most\": 0.5},"
              "{\"says\": \"b\", \"measure\": \"sticking\", \"at_least\": 0.5,"
              " \"unless\": [\"friction_default=0.4\"]},"
              // false with 0.1, but by less than the margin
              "{\"says\": \"c\", \"measure\": \"sticking\", \"at_least\": 0.5, \"margin\": 0.6,"
              " \"unless\": [\"friction_default=0.1\"]},"
              "{\"says\": \"d\", \"measure\": \"sticking\", \"at_least\": 0.5,"
              " \"holds_with\": [\"friction_default=0.1\"]},"
              // nothing presses on the roof, so that nothing slides on it
              "{\"says\": \"e\", \"measure\": \"slip\", \"on\": [\"roof\"], \"at_most\": 1}"));
    const bool right[] = {false, true, false, true, false, true, false, false};
    if (verdict == NULL) {
        return;
    }
    CHECK(verdict->figure_count == 8 && verdict->wrong_count == 5);
    for (int k = 0; k < verdict->figure_count && k < 8; k++) {
        CHECK(verdict->figures[k].right == right[k]);
    }
    CHECK(isnan(verdict->figures[7].value));
    fil_verdict_destroy(verdict);
}

static void itself_alone_leaves_the_variants_out(void) {
    const char *text = SLOPE("{\"says\": \"a\", \"measure\": \"sticking\", \"at_least\": 0.9,"
                             "\"unless\": [\"friction_default=0.1\"]}");
    const FilClaimSettings settings = {.threads = 1, .itself_alone = true};
    FilVerdict *verdict = NULL;
    CHECK(fil_claims_judge("t", text, strlen(text), &settings, NULL, &verdict, NULL) == FIL_OK);
    CHECK(verdict != NULL && verdict->figure_count == 1);
    fil_verdict_destroy(verdict);
}

static void mistakes_are_one_sentence(void) {
    judge_fails(SLOPE("{\"says\": \"a\", \"measure\": \"slip\"}"), FIL_E_FORMAT,
                "test.json:1:334: claims[0].at_least is missing, and so is at_most; one of them "
                "must be given");
    judge_fails(SLOPE("{\"says\": \"a\", \"measure\": \"slip\", \"at_most\": 1, \"at_least\": 2}"),
                FIL_E_FORMAT,
                "test.json:1:393: claims[0].at_least is 2; it must not be above at_most, 1");
    judge_fails(SLOPE("{\"says\": \"a\", \"measure\": \"moved\", \"at_most\": 1}"), FIL_E_FORMAT,
                "test.json:1:334: claims[0].from is missing; moved is how far since then");
    judge_fails(
        SLOPE("{\"says\": \"a\", \"measure\": \"slip\", \"at_most\": 1, \"from\": 0.2}"),
        FIL_E_FORMAT,
        "test.json:1:334: claims[0].take is \"last\"; with `from` it must be mean, least or "
        "most");
    judge_fails(SLOPE("{\"says\": \"a\", \"measure\": \"slip\", \"at_most\": 1,"
                      "\"on\": [\"flour\"]}"),
                FIL_E_FORMAT,
                "test.json:1:334: claims[0] is about a thing that is not "
                "there: no rod, body or obstacle is called \"flour\"");
    judge_fails(SLOPE("{\"says\": \"a\", \"measure\": \"turns\", \"at_most\": 1}"), FIL_E_FORMAT,
                "test.json:1:334: claims[0] names no rod; only rods have a "
                "value of \"turns\"");
    judge_fails(SLOPE("{\"says\": \"a\", \"measure\": \"slip\", \"at_most\": 1, \"at\": 0.6}"),
                FIL_E_FORMAT,
                "test.json:1:334: claims[0] is about a time after the end of "
                "the scene");
    judge_fails(SLOPE("{\"says\": \"a\", \"measure\": \"slip\", \"at_most\": 1,"
                      "\"unless\": [\"bodies[0].mas=2\"]}"),
                FIL_E_FORMAT,
                "test.json: claims[0], bodies[0].mas=2: --set bodies[0].mas=2: "
                "bodies[0].mas is not known; did you mean mass?");
}

static void checking_takes_no_step(void) {
    const char *good = SLOPE("{\"says\": \"a\", \"measure\": \"slip\", \"at_most\": 1}");
    const char *bad =
        SLOPE("{\"says\": \"a\", \"measure\": \"slip\", \"at_most\": 1, \"on\": [\"x\"]}");
    int left = 0;
    const FilClaimSettings settings = {.threads = 1, .on_step = on_step, .user = &left};
    FilError error;
    CHECK(fil_claims_check("t", good, strlen(good), &settings, NULL, &error) == FIL_OK);
    CHECK(fil_claims_check("t", bad, strlen(bad), &settings, NULL, &error) == FIL_E_FORMAT);
    CHECK(left == 0);
}

static void who_watches_may_end_it(void) {
    const char *text = SLOPE("{\"says\": \"a\", \"measure\": \"slip\", \"at_most\": 1}");
    int left = 10;
    const FilClaimSettings settings = {.threads = 1, .on_step = on_step, .user = &left};
    FilVerdict *verdict = NULL;
    CHECK(fil_claims_judge("t", text, strlen(text), &settings, NULL, &verdict, NULL) ==
          FIL_E_INTERRUPTED);
    CHECK(verdict == NULL && left == 0);
}

// A run takes no notice of claims, not even of those that nobody could judge.
static void scenes_are_read_whatever_their_claims_are_about(void) {
    const char *text =
        SLOPE("{\"says\": \"a\", \"measure\": \"slip\", \"at_most\": 1, \"on\": [\"x\"]}");
    FilScene *scene = NULL;
    CHECK(fil_scene_read_text("t", text, strlen(text), NULL, NULL, &scene, NULL) == FIL_OK);
    CHECK(scene != NULL && scene->claim_count == 1 && scene->claims[0].at == 0.5);
    fil_scene_destroy(scene);
}

static void every_allocation_may_fail(void) {
    const char *text =
        SLOPE("{\"says\": \"a\", \"measure\": \"slip\", \"at_most\": 1, \"at\": 0.004,"
              "\"unless\": [\"friction_default=0.1; seed=3\"]},"
              "{\"says\": \"b\", \"measure\": \"apart\", \"at_most\": 1, \"at\": 0.002,"
              "\"beside\": \"seed=2\"}");
    const FilClaimSettings settings = {.threads = 1};
    for (int n = 1;; n++) {
        FailingAllocator memory = {.fail_at = n};
        const FilAllocator allocator = failing_allocator(&memory);
        FilVerdict *verdict = NULL;
        FilError error = {.status = FIL_OK};
        const FilStatus status =
            fil_claims_judge("t", text, strlen(text), &settings, &allocator, &verdict, &error);
        fil_verdict_destroy(verdict);
        CHECK(failing_allocator_is_clean(&memory));
        if (memory.failures == 0) {
            CHECK(status == FIL_OK && n > 20);
            break;
        }
        CHECK(status == FIL_E_NO_MEMORY && error.status == FIL_E_NO_MEMORY && verdict == NULL);
    }
}

#define TESTS(X)                                          \
    X(a_coil_has_its_turns_and_its_pitch)                 \
    X(a_coil_writhes_as_its_slope_says)                   \
    X(order_is_1_along_a_line_and_a_quarter_of_it_across) \
    X(neighbours_are_as_far_as_they_are)                  \
    X(rods_are_apart_from_their_roots_on)                 \
    X(places_are_counted_along_the_axis)                  \
    X(turns_add_up_over_time)                             \
    X(moved_is_how_far_since_then)                        \
    X(a_cube_sticks_unless_it_slides)                     \
    X(push_is_the_force_of_what_presses)                  \
    X(a_figure_is_wrong_when_it_should_be)                \
    X(itself_alone_leaves_the_variants_out)               \
    X(mistakes_are_one_sentence)                          \
    X(checking_takes_no_step)                             \
    X(who_watches_may_end_it)                             \
    X(scenes_are_read_whatever_their_claims_are_about)    \
    X(every_allocation_may_fail)
CHECK_MAIN(TESTS)
