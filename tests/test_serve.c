// test_serve.c - the server of the viewer: what it takes for a request, what it answers, and a
// world that is stepped by one thread while another one asks.
#include "result_fake.h"
#include "serve/answers.h"
#include "serve/frames.h"
#include "serve/live.h"
#include "serve/server.h"

#include <pthread.h>

#include "check.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

// --- routes --------------------------------------------------------------------------------------

static int route_of(const char *address, FilRoute *route) {
    const char *why = NULL;
    const int status = fil_route_read(address, strlen(address), TOKEN, route, &why);
    CHECK(status == 200 || why[0] != '\0');
    return status;
}

static void an_address_is_what_the_table_says(void) {
    FilRoute route;
    CHECK(route_of("/" TOKEN "/", &route) == 200 && route.kind == FIL_ROUTE_PAGE);
    CHECK(route_of("/" TOKEN "/?dark", &route) == 200 && route.kind == FIL_ROUTE_PAGE);
    CHECK(route_of("/" TOKEN "/api/run", &route) == 200 && route.kind == FIL_ROUTE_RUN);
    CHECK(route_of("/" TOKEN "/api/mesh/12", &route) == 200 && route.kind == FIL_ROUTE_MESH);
    CHECK(route.index == 12);
    CHECK(route_of("/" TOKEN "/api/frame/7", &route) == 200 && route.kind == FIL_ROUTE_FRAME);
    CHECK(route.index == 7 && route.mask == FIL_ARRAY_ALL);
    CHECK(route_of("/" TOKEN "/api/frame/7?with=position,contacts", &route) == 200);
    CHECK(route.mask == (1U << FIL_ARRAY_POSITION | 1U << FIL_ARRAY_CONTACTS));
    CHECK(route_of("/" TOKEN "/api/now?with=position%2Cstate%2cforce", &route) == 200);
    CHECK(route.mask == (1U << FIL_ARRAY_POSITION | 1U << FIL_ARRAY_STATE | 1U << FIL_ARRAY_FORCE));
    CHECK(route_of("/" TOKEN "/api/now?with=", &route) == 200 && route.mask == 0);
    CHECK(route_of("/" TOKEN "/api/now?with=state%2C", &route) == 200);
    CHECK(route.mask == 1U << FIL_ARRAY_STATE);
    CHECK(route_of("/" TOKEN "/api/frame/123456789012345", &route) == 200);
    CHECK(route.index == 123456789012345);
    CHECK(route_of("/" TOKEN "/api/steps?from=3&count=4", &route) == 200);
    CHECK(route.kind == FIL_ROUTE_STEPS && route.from == 3 && route.count == 4);
    CHECK(route_of("/" TOKEN "/api/times", &route) == 200 && route.from == 0 && route.count == -1);
}

static void anything_else_is_not_there(void) {
    static const char *const strangers[] = {"",
                                            "/",
                                            "//",
                                            "*",
                                            "/api/run",
                                            "/" TOKEN "x",
                                            "/" TOKEN "x/",
                                            TOKEN,
                                            "x" TOKEN "/",
                                            "/1123456789abcdef0123456789abcdef",
                                            "/1123456789abcdef0123456789abcdef/",
                                            "/0123456789abcdef0123456789abcdee",
                                            "/0123456789abcdef0123456789abcdee/",
                                            "/0123456789abcdef0123456789abcde/api/run",
                                            "/../../etc/passwd",
                                            "/%30123456789abcdef0123456789abcdef/",
                                            "http://127.0.0.1/" TOKEN "/"};
    static const char *const guests[] = {
        "/" TOKEN "/../../etc/passwd", "/" TOKEN "//",        "/" TOKEN "/api/",
        "/" TOKEN "/api/run/",         "/" TOKEN "/api/runs", "/" TOKEN "/api%2frun",
        "/" TOKEN "/index.html"};
    static const char *const wrong[] = {"/" TOKEN "/api/frame/",
                                        "/" TOKEN "/api/frame/-1",
                                        "/" TOKEN "/api/frame/1/2",
                                        "/" TOKEN "/api/frame/99999999999999999999",
                                        "/" TOKEN "/api/frame/1234567890123456",
                                        "/" TOKEN "/api/frame/../../etc/passwd",
                                        "/" TOKEN "/api/frame/1?with=position,secrets",
                                        "/" TOKEN "/api/times?from=-1",
                                        "/" TOKEN "/api/times?from=",
                                        "/" TOKEN "/api/steps?count=1e3"};
    FilRoute route;
    for (size_t k = 0; k < sizeof strangers / sizeof *strangers; k++) {
        CHECK(route_of(strangers[k], &route) == 404);
    }
    for (size_t k = 0; k < sizeof guests / sizeof *guests; k++) {
        CHECK(route_of(guests[k], &route) == 404);
    }
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        CHECK(route_of(wrong[k], &route) == 400);
    }
}

// What lies behind an address is not looked at.
static void an_address_ends_where_it_ends(void) {
    static const char address[] = "/" TOKEN "/api/frame/77?with=position";
    FilRoute route;
    const char *why = NULL;
    for (size_t size = 0; size < FIL_TOKEN_SIZE + 1; size++) {
        CHECK(fil_route_read(address, size, TOKEN, &route, &why) == 404);
    }
    CHECK(fil_route_read(address, FIL_TOKEN_SIZE + 1, TOKEN, &route, &why) == 302);
    CHECK(fil_route_read(address, FIL_TOKEN_SIZE + 2, TOKEN, &route, &why) == 200);
    CHECK(route.kind == FIL_ROUTE_PAGE);
    CHECK(fil_route_read(address, sizeof "/" TOKEN "/api/frame/7" - 1, TOKEN, &route, &why) == 200);
    CHECK(route.kind == FIL_ROUTE_FRAME && route.index == 7);
}

static void the_page_without_its_last_slash_is_elsewhere(void) {
    FilRoute route;
    CHECK(route_of("/" TOKEN, &route) == 302);
    CHECK(route_of("/" TOKEN "?dark", &route) == 302);
}

static void only_names_of_this_machine_are_hosts(void) {
    static const char *const ours[] = {"127.0.0.1:80",   "localhost:80", "[::1]:80",
                                       "localhost:9999", "127.0.0.1:1",  "127.0.0.1",
                                       "localhost",      "[::1]:65535"};
    static const char *const others[] = {"",
                                         "evil.com",
                                         "evil.com:80",
                                         "localhost:80.evil.com",
                                         "localhost.evil.com:80",
                                         "localhost:",
                                         "localhost:123456",
                                         "localhost:80/",
                                         "127.0.0.11:80",
                                         "127.0.0.2:80",
                                         "[::1]evil:80",
                                         "[::2]:80",
                                         "::1:80",
                                         "evil@localhost:80"};
    for (size_t k = 0; k < sizeof ours / sizeof *ours; k++) {
        CHECK(fil_route_is_host(ours[k]));
    }
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        CHECK(!fil_route_is_host(others[k]));
    }
    CHECK(!fil_route_is_host(NULL));
}

static void only_the_page_of_this_host_is_its_origin(void) {
    CHECK(fil_route_is_origin("http://127.0.0.1:80", "127.0.0.1:80"));
    CHECK(fil_route_is_origin("http://localhost:9999", "localhost:9999"));
    CHECK(!fil_route_is_origin("http://localhost:9999", "localhost:80"));
    CHECK(!fil_route_is_origin("http://localhost:80", "127.0.0.1:80"));
    CHECK(!fil_route_is_origin("https://127.0.0.1:80", "127.0.0.1:80"));
    CHECK(!fil_route_is_origin("null", "127.0.0.1:80"));
    CHECK(!fil_route_is_origin("http://127.0.0.1:80", NULL));
}

// --- actions -------------------------------------------------------------------------------------

static FilStatus action_of(const char *text, FilAction *action) {
    FilError error = {.status = FIL_OK};
    const FilStatus status = fil_action_read(text, strlen(text), action, &error);
    CHECK(status == FIL_OK || error.text[0] != '\0');
    return status;
}

static void an_action_is_what_it_says(void) {
    FilAction action;
    CHECK(action_of("{\"do\":\"pause\"}", &action) == FIL_OK && action.kind == FIL_ACTION_PAUSE);
    CHECK(action_of("{\"do\":\"gravity\",\"value\":[1,2,-3.5]}", &action) == FIL_OK);
    CHECK(action.kind == FIL_ACTION_GRAVITY && action.value[0] == 1.0 && action.value[2] == -3.5);
    CHECK(action_of("{\"do\":\"friction\",\"a\":\"hair\",\"b\":\"skin\",\"mu\":0.3}", &action) ==
          FIL_OK);
    CHECK(strcmp(action.a, "hair") == 0 && strcmp(action.b, "skin") == 0 && action.mu == 0.3);
    CHECK(action_of("{\"do\":\"grab\",\"rod\":2,\"s\":0.1,\"target\":[0,0,1],\"twist\":0.5}",
                    &action) == FIL_OK);
    CHECK(action.rod == 2 && action.s == 0.1 && action.value[2] == 1.0 && action.twist == 0.5);
    CHECK(action_of("{\"do\":\"grab\",\"rod\":0,\"s\":0,\"target\":[0,0,1]}", &action) == FIL_OK);
}

static void what_is_no_action_is_refused_with_a_sentence(void) {
    static const char *const texts[] = {"",
                                        "null",
                                        "[]",
                                        "{}",
                                        "{\"do\":\"explode\"}",
                                        "{\"do\":3}",
                                        "{\"do\":\"gravity\"}",
                                        "{\"do\":\"gravity\",\"value\":[1,2]}",
                                        "{\"do\":\"gravity\",\"value\":[1,2,1e300]}",
                                        "{\"do\":\"wind\",\"value\":[1,2,\"3\"]}",
                                        "{\"do\":\"friction\",\"a\":\"x\",\"b\":\"y\",\"mu\":-1}",
                                        "{\"do\":\"friction\",\"a\":1,\"b\":\"y\",\"mu\":1}",
                                        "{\"do\":\"grab\",\"rod\":-1,\"s\":0,\"target\":[0,0,1]}",
                                        "{\"do\":\"grab\",\"rod\":0.5,\"s\":0,\"target\":[0,0,1]}",
                                        "{\"do\":\"grab\",\"rod\":0,\"s\":0}",
                                        "{\"do\":\"pause\"",
                                        "\xff\xfe"};
    FilAction action;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        CHECK(action_of(texts[k], &action) == FIL_E_FORMAT);
    }
}

static void refused_saying(const char *text, const char *words) {
    FilAction action;
    FilError error = {.status = FIL_OK};
    CHECK(fil_action_read(text, strlen(text), &action, &error) == FIL_E_FORMAT);
    CHECK(strstr(error.text, words) != NULL);
}

static void keys_that_an_action_does_not_have_are_named(void) {
    FilAction action;
    refused_saying("{\"do\":\"pause\",\"for\":3}", "pause has no \"for\"");
    refused_saying("{\"do\":\"gravity\",\"value\":[0,0,1],\"val\":1}", "gravity has no \"val\"");
    refused_saying("{\"rod\":0,\"do\":\"release\"}", "release has no \"rod\"");
    refused_saying("{\"do\":\"friction\",\"a\":\"x\",\"b\":\"y\",\"mu\":1,\"a b\":1}",
                   "friction has no \"a b\"");
    refused_saying("{\"do\":\"grab\",\"rod\":0,\"s\":0,\"target\":[0,0,1],\"torque\":1}",
                   "beside \"do\" it has rod s target twist");
    refused_saying("{\"do\":\"wind\",\"value\":[0,0,1],\"\":1}", "wind has no \"\"");
    CHECK(action_of("{\"value\":[0,0,1],\"do\":\"wind\"}", &action) == FIL_OK);
}

// 127 bytes and the 0 at their end.
static void names_are_as_long_as_there_is_room(void) {
    for (int length = 127; length <= 128; length++) {
        char text[256], name[129];
        memset(name, 'n', sizeof name);
        name[length] = '\0';
        (void)snprintf(text, sizeof text, "{\"do\":\"friction\",\"a\":\"x\",\"b\":\"%s\",\"mu\":1}",
                       name);
        FilAction action;
        CHECK(action_of(text, &action) == (length == 127 ? FIL_OK : FIL_E_FORMAT));
    }
}

// Of the whole vector, not of its parts.
static void what_no_scene_can_mean_is_refused(void) {
    FilAction action;
    CHECK(action_of("{\"do\":\"gravity\",\"value\":[0,0,-1e5]}", &action) == FIL_OK);
    CHECK(action_of("{\"do\":\"wind\",\"value\":[0,1e4,0]}", &action) == FIL_OK);
    CHECK(action_of("{\"do\":\"friction\",\"a\":\"x\",\"b\":\"y\",\"mu\":0}", &action) == FIL_OK);
    CHECK(action_of("{\"do\":\"friction\",\"a\":\"x\",\"b\":\"y\",\"mu\":1e6}", &action) == FIL_OK);
    CHECK(action_of("{\"do\":\"grab\",\"rod\":0,\"s\":0,\"target\":[1e9,0,-1e9]}", &action) ==
          FIL_OK);
    refused_saying("{\"do\":\"gravity\",\"value\":[0,8e4,-8e4]}",
                   "gravity would be 113137 m/s^2; it must be at most 100000 m/s^2");
    refused_saying("{\"do\":\"wind\",\"value\":[8e3,0,8e3]}",
                   "wind would be 11313.7 m/s; it must be at most 10000 m/s");
    refused_saying("{\"do\":\"friction\",\"a\":\"x\",\"b\":\"y\",\"mu\":1.1e6}",
                   "mu is 1.1e+06; it must be 0 to 1e+06");
    refused_saying("{\"do\":\"grab\",\"rod\":0,\"s\":0,\"target\":[1.1e9,0,0]}", "target must be");
    refused_saying("{\"do\":\"grab\",\"rod\":1e10,\"s\":0,\"target\":[1,0,0]}", "rod must be");
}

// --- frames --------------------------------------------------------------------------------------

static float float_at(const FilBytes *bytes, size_t at) {
    float value = (float)NAN;
    if (at + 4 <= bytes->size) {
        memcpy(&value, bytes->data + at, 4);
    }
    return value;
}

static uint32_t count_at(const FilBytes *bytes, size_t at) {
    uint32_t value = 0;
    memcpy(&value, bytes->data + at, 4);
    return value;
}

static size_t offset_of(const FilBytes *bytes, FilFrameArray array) {
    size_t at = FIL_FRAME_HEADER;
    for (int k = 0; k < (int)array; k++) {
        if ((count_at(bytes, 40) >> k & 1U) != 0) {
            at += fil_frame_array_size((FilFrameArray)k, count_at(bytes, 24), count_at(bytes, 28),
                                       count_at(bytes, 32), count_at(bytes, 36));
        }
    }
    return at;
}

static void a_frame_is_read_back_as_it_was(void) {
    FakeRun run = fake_run_make(3, 5, 7);
    const FilFrame frame = fake_frame(&run, 4);
    double scratch[16], time;
    FilBytes bytes = {.data = NULL};
    fil_frame_encode(&run.def, &frame, FIL_ARRAY_ALL, 4, scratch, &bytes);
    CHECK(!bytes.failed && memcmp(bytes.data, "FILF", 4) == 0 && count_at(&bytes, 4) == 1);
    memcpy(&time, bytes.data + 8, 8);
    CHECK(time == frame.time);
    memcpy(&time, bytes.data + 16, 8);
    CHECK(time == (double)frame.step);
    CHECK(count_at(&bytes, 24) == 15 && count_at(&bytes, 28) == 1 && count_at(&bytes, 32) == 2);
    CHECK(count_at(&bytes, 36) == 7 && count_at(&bytes, 44) == 4);
    const uint32_t unknown = (frame.tension == NULL ? 1U << FIL_ARRAY_TENSION : 0) |
                             (frame.elastic == NULL ? 1U << FIL_ARRAY_ELASTIC : 0);
    CHECK(count_at(&bytes, 40) == (FIL_ARRAY_ALL & ~unknown));
    for (size_t k = 0; k < 45; k++) {
        CHECK(float_at(&bytes, offset_of(&bytes, FIL_ARRAY_POSITION) + 4 * k) ==
              (float)frame.position[k]);
        CHECK(float_at(&bytes, offset_of(&bytes, FIL_ARRAY_CURVATURE) + 4 * k) ==
              (float)frame.curvature[k]);
    }
    for (size_t k = 0; k < 3; k++) {
        CHECK(float_at(&bytes, offset_of(&bytes, FIL_ARRAY_RIGIDS) + 4 * k) ==
              (float)frame.rigid_position[k]);
        CHECK(float_at(&bytes, offset_of(&bytes, FIL_ARRAY_OBSTACLES) + 4 * (10 + k)) ==
              (float)frame.obstacle_quaternion[4 + k]);
    }
    const size_t contact = offset_of(&bytes, FIL_ARRAY_CONTACTS) + 4 * FIL_CONTACT_NUMBERS * 5;
    CHECK(contact % 8 == 0);
    CHECK(float_at(&bytes, contact) == 5.0F && float_at(&bytes, contact + 8) == 2.25F);
    CHECK(float_at(&bytes, contact + 4 * 6) == 100.0F); // 0.1 N s in 1 ms
    CHECK(float_at(&bytes, contact + 4 * 12) == 1.0F && float_at(&bytes, contact + 4 * 15) == 3.0F);
    CHECK_NEAR((double)float_at(&bytes, contact + 4 * 18), 1e-12, 1e-6, 0.0);
    CHECK(bytes.size == offset_of(&bytes, FIL_ARRAY_COUNT));
    fil_bytes_free(&bytes);
    fake_run_free(&run);
}

static void a_selection_is_what_would_have_been_encoded(void) {
    FakeRun run = fake_run_make(3, 5, 7);
    const FilFrame frame = fake_frame(&run, 2);
    double scratch[16];
    FilBytes whole = {.data = NULL};
    fil_frame_encode(&run.def, &frame, FIL_ARRAY_ALL, 2, scratch, &whole);
    for (uint32_t mask = 0; mask <= FIL_ARRAY_ALL; mask += 37) {
        FilBytes one = {.data = NULL}, other = {.data = NULL};
        fil_frame_encode(&run.def, &frame, mask, 2, scratch, &one);
        fil_frame_select(whole.data, whole.size, mask, &other);
        CHECK(one.size == other.size && memcmp(one.data, other.data, one.size) == 0);
        fil_bytes_free(&one);
        fil_bytes_free(&other);
    }
    fil_bytes_free(&whole);
    fake_run_free(&run);
}

static void texts_are_json_whatever_is_in_them(void) {
    FilBytes bytes = {.data = NULL};
    fil_bytes_text(&bytes, "a\"\\\n\xc3\xa4\xff\xc3<\xed\xa0\x80\xf0\x9f\x98\x80\xe2\x82");
    fil_bytes_add(&bytes, "", 1);
    CHECK(strcmp(bytes.data, "\"a\\\"\\\\\\u000a\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd\\u003c"
                             "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xf0\x9f\x98\x80"
                             "\xef\xbf\xbd\xef\xbf\xbd\"") == 0);
    fil_bytes_clear(&bytes);
    fil_bytes_number(&bytes, (double)NAN);
    fil_bytes_number(&bytes, 0.1);
    CHECK(bytes.size == 4 + 19 && memcmp(bytes.data, "null0.10000000000000001", 23) == 0);
    fil_bytes_free(&bytes);
}

// --- a world that runs ---------------------------------------------------------------------------

#define SCENE(held)                                                                                \
    "{\"name\": \"live\", \"step\": \"1 ms\", \"duration\": 1, \"materials\": {\"hair\": {}},"     \
    " \"friction\": [{\"between\": [\"hair\", \"hair\"], \"mu\": 0.2}],"                           \
    " \"rods\": [{\"model\": \"helix\", \"elements\": 4, \"material\": \"hair\", \"length\": 0.2," \
    "  \"radius\": 1e-4, \"drag\": 1e-4, \"root\": {\"at\": [0, 0, 0], \"along\": [1, 0, 0], "     \
    "\"held\": "                                                                                   \
    "\"" held "\"}}]}"

typedef struct Asking {
    FilSource source;
    int asked, refused;
} Asking;

static void get(Asking *asking, FilRouteKind kind, int64_t index) {
    const FilRoute route = {.kind = kind, .index = index, .count = -1, .mask = FIL_ARRAY_ALL};
    FilAnswer answer = {.status = 0};
    fil_answer_get(&asking->source, &route, &answer);
    asking->asked++;
    asking->refused += answer.status != 200;
    fil_bytes_free(&answer.body);
}

static void *ask(void *context) {
    Asking *asking = context;
    static const char *const actions[] = {
        "{\"do\":\"gravity\",\"value\":[1,0,-9]}",
        "{\"do\":\"grab\",\"rod\":0,\"s\":0.2,\"target\":[0.1,0.1,0],\"twist\":0.3}",
        "{\"do\":\"friction\",\"a\":\"hair\",\"b\":\"hair\",\"mu\":0.5}", "{\"do\":\"release\"}"};
    for (int k = 0; k < 50; k++) {
        get(asking, FIL_ROUTE_STATE, 0);
        get(asking, FIL_ROUTE_NOW, 0);
        get(asking, FIL_ROUTE_FRAME, 0);
        get(asking, FIL_ROUTE_STEPS, 0);
        get(asking, FIL_ROUTE_ENERGIES, 0);
        get(asking, FIL_ROUTE_TIMES, 0);
        FilAnswer answer = {.status = 0};
        const char *action = actions[k % 4];
        fil_answer_do(&asking->source, action, strlen(action), &answer);
        fil_bytes_free(&answer.body);
    }
    return NULL;
}

// The scene, its stage and its recorder.
typedef struct Play {
    FilScene *scene;
    FilStage *stage;
    FilRecorder *recorder;
    FilResultDef def;
    FilLive *live;
} Play;

// `play` must not move afterwards: what is in it is pointed to.
static void make_play_of(Play *play, const char *text, size_t memory) {
    FilError error;
    FilFrame frame;
    CHECK(fil_scene_read_text("live.json", text, strlen(text), NULL, NULL, &play->scene, &error) ==
          FIL_OK);
    CHECK(fil_stage_create(play->scene, 1, NULL, NULL, &play->stage, &error) == FIL_OK);
    CHECK(fil_recorder_create(fil_stage_world(play->stage), NULL, &play->recorder, &error) ==
          FIL_OK);
    play->def = fil_recorder_def(play->recorder);
    CHECK(fil_live_create(&play->def, play->scene, memory, &play->live, &error) == FIL_OK);
    CHECK(fil_recorder_frame(play->recorder, &frame, &error) == FIL_OK);
    fil_live_set_now(play->live, &frame);
    fil_live_add_frame(play->live, &frame);
    fil_live_publish(play->live, fil_stage_world(play->stage), &(FilLiveNews){.running = true});
}

static void make_play(Play *play, size_t memory) {
    make_play_of(play, SCENE("clamped"), memory);
}

static void free_play(Play *play) {
    fil_live_destroy(play->live);
    fil_recorder_destroy(play->recorder);
    fil_stage_destroy(play->stage);
    fil_scene_destroy(play->scene);
}

static void take_steps(Play *play, int count) {
    FilError error;
    for (int k = 0; k < count; k++) {
        FilAction action;
        FilFrame frame;
        while (fil_live_take(play->live, 0.0, &action)) {
            CHECK(fil_live_apply(play->live, play->stage, &action, &error) == FIL_OK);
        }
        FilResultStep step;
        CHECK(fil_stage_step(play->stage, &step.info, &error) == FIL_OK);
        step.time = fil_world_time(fil_stage_world(play->stage));
        fil_live_add_step(play->live, &step);
        CHECK(fil_recorder_frame(play->recorder, &frame, &error) == FIL_OK);
        fil_live_add_frame(play->live, &frame);
        if (fil_live_is_wanted(play->live)) {
            fil_live_set_now(play->live, &frame);
        }
        fil_live_publish(play->live, fil_stage_world(play->stage), &(FilLiveNews){.running = true});
    }
}

static void a_world_is_stepped_while_it_is_asked(void) {
    Play play = {.scene = NULL};
    make_play(&play, 0);
    Asking asking = {.source = fil_live_source(play.live)};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, ask, &asking) == 0);
    take_steps(&play, 300);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(asking.asked == 300 && asking.refused == 0);
    FilSourceState state = {.time = 0.0};
    asking.source.state(asking.source.self, &state);
    CHECK(state.frame_count == 301 && state.step_count == 300);
    fil_bytes_free(&state.more);
    for (int k = 0; k <= 300; k++) { // all of them are kept, each under its number
        FilBytes bytes = {.data = NULL};
        CHECK(asking.source.frame(asking.source.self, k, 0, &bytes, NULL) == FIL_OK);
        CHECK(count_at(&bytes, 44) == (uint32_t)k);
        fil_bytes_free(&bytes);
    }
    free_play(&play);
}

// Of too many frames every second one goes; the one before stands for it.
static void memory_of_frames_is_bounded(void) {
    Play play = {.scene = NULL};
    make_play(&play, 20000);
    take_steps(&play, 100);
    const FilSource source = fil_live_source(play.live);
    uint32_t before = 0;
    size_t kept = 0;
    for (int k = 0; k <= 100; k++) {
        FilBytes bytes = {.data = NULL};
        CHECK(source.frame(source.self, k, 0, &bytes, NULL) == FIL_OK);
        const uint32_t index = count_at(&bytes, 44);
        CHECK(index <= (uint32_t)k && index >= before && bytes.size == FIL_FRAME_HEADER);
        if (index == (uint32_t)k) { // it stands for itself
            CHECK(source.frame(source.self, k, FIL_ARRAY_ALL, &bytes, NULL) == FIL_OK);
            kept += bytes.size - FIL_FRAME_HEADER;
        }
        before = index;
        fil_bytes_free(&bytes);
    }
    CHECK(kept > 10000 && kept <= 20000);
    CHECK(before > 50);
    FilBytes bytes = {.data = NULL};
    CHECK(source.frame(source.self, 101, 0, &bytes, NULL) == FIL_E_ARGUMENT);
    fil_bytes_free(&bytes);
    free_play(&play);
}

static void what_the_world_does_not_have_is_refused(void) {
    static const char *const texts[] = {
        "{\"do\":\"grab\",\"rod\":1,\"s\":0,\"target\":[0,0,1]}",
        "{\"do\":\"grab\",\"rod\":0,\"s\":0.3,\"target\":[0,0,1]}",
        "{\"do\":\"grab\",\"rod\":0,\"s\":-1,\"target\":[0,0,1]}",
        "{\"do\":\"friction\",\"a\":\"hair\",\"b\":\"skin\",\"mu\":0.5}"};
    Play play = {.scene = NULL};
    make_play(&play, 0);
    const FilSource source = fil_live_source(play.live);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        FilAnswer answer = {.status = 0};
        fil_answer_do(&source, texts[k], strlen(texts[k]), &answer);
        CHECK(answer.status == 400 && memcmp(answer.body.data, "{\"error\":", 9) == 0);
        if (k == 0) {
            static const char words[] = "{\"error\":\"rod is 1; there are 1\"}";
            CHECK(answer.body.size == sizeof words - 1 &&
                  memcmp(answer.body.data, words, sizeof words - 1) == 0);
        }
        fil_bytes_free(&answer.body);
    }
    FilAction action;
    CHECK(!fil_live_take(play.live, 0.0, &action));
    free_play(&play);
}

static int do_action(const Play *play, const char *text) {
    const FilSource source = fil_live_source(play->live);
    FilAnswer answer = {.status = 0};
    fil_answer_do(&source, text, strlen(text), &answer);
    CHECK(memcmp(answer.body.data, answer.status == 200 ? "{\"ok\":" : "{\"error\":", 6) == 0);
    fil_bytes_free(&answer.body);
    return answer.status;
}

// Twist and all: who takes hold again begins anew.
static void a_hand_that_let_go_remembers_nothing(void) {
    Play play = {.scene = NULL};
    make_play(&play, 0);
    CHECK(do_action(&play,
                    "{\"do\":\"grab\",\"rod\":0,\"s\":0.2,\"target\":[0.2,0,0],\"twist\":1}") ==
          200);
    take_steps(&play, 1);
    CHECK(fil_world_grab(fil_stage_world(play.stage), NULL, NULL)->turning);
    CHECK(do_action(&play, "{\"do\":\"release\"}") == 200);
    take_steps(&play, 1);
    CHECK(do_action(&play, "{\"do\":\"grab\",\"rod\":0,\"s\":0.2,\"target\":[0.2,0,0]}") == 200);
    take_steps(&play, 1);
    CHECK(!fil_world_grab(fil_stage_world(play.stage), NULL, NULL)->turning);
    free_play(&play);
}

// A present that nobody asks for is not worked out.
static void the_present_is_wanted_once_for_every_question(void) {
    Play play = {.scene = NULL};
    make_play(&play, 0);
    Asking asking = {.source = fil_live_source(play.live)};
    CHECK(!fil_live_is_wanted(play.live));
    get(&asking, FIL_ROUTE_NOW, 0);
    CHECK(asking.refused == 0);
    CHECK(fil_live_is_wanted(play.live) && !fil_live_is_wanted(play.live));
    free_play(&play);
}

// What is asked for beyond the end is cut, and so is what one answer does not hold.
static void rows_are_those_that_there_are(void) {
    static const struct {
        int64_t from, count, rows;
    } cases[] = {{0, -1, 100000}, {0, 0, 0},           {100001, -1, 1}, {100001, 5, 1},
                 {100002, -1, 0}, {100003, -1, 0},     {100003, 1, 0},  {5, 7, 7},
                 {99999, 3, 3},   {999999999999, 1, 0}};
    Play play = {.scene = NULL};
    make_play(&play, 0);
    const FilSource source = fil_live_source(play.live);
    for (int k = 0; k < 100002; k++) {
        fil_live_add_step(play.live, &(FilResultStep){.time = k});
    }
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const FilRoute route = {
            .kind = FIL_ROUTE_STEPS, .from = cases[k].from, .count = cases[k].count};
        FilAnswer answer = {.status = 0};
        fil_answer_get(&source, &route, &answer);
        CHECK(answer.status == 200);
        CHECK(answer.body.size == 8 * FIL_STEP_NUMBERS * (size_t)cases[k].rows);
        double time = (double)NAN;
        if (cases[k].rows > 0) {
            memcpy(&time, answer.body.data, sizeof time);
            CHECK(time == (double)cases[k].from);
        }
        fil_bytes_free(&answer.body);
    }
    free_play(&play);
}

static void nothing_is_taken_after_the_end(void) {
    for (int asked = 0; asked < 2; asked++) { // by somebody who watches, or not
        Play play = {.scene = NULL};
        make_play(&play, 0);
        if (asked == 1) {
            CHECK(do_action(&play, "{\"do\":\"stop\"}") == 200);
        } else {
            fil_live_publish(play.live, fil_stage_world(play.stage),
                             &(FilLiveNews){.finished = true, .ended = true});
        }
        CHECK(do_action(&play, "{\"do\":\"resume\"}") == 409);
        CHECK(do_action(&play, "{\"do\":\"gravity\",\"value\":[0,0,0]}") == 409);
        CHECK(do_action(&play, "{\"do\":\"grab\",\"rod\":0,\"s\":0,\"target\":[0,0,1]}") == 409);
        CHECK(do_action(&play, "{\"do\":\"stop\"}") == 409);
        CHECK(do_action(&play, "{\"do\":\"resume\",\"x\":1}") == 400);
        FilAction action;
        FilSourceState state = {.growing = true};
        const FilSource source = fil_live_source(play.live);
        source.state(source.self, &state);
        CHECK(!state.growing);
        fil_bytes_free(&state.more);
        CHECK(fil_live_take(play.live, 0.0, &action) == (asked == 1));
        CHECK(!fil_live_take(play.live, 0.0, &action));
        free_play(&play);
    }
}

// The scene's end is not that of a run that is watched: it may go on.
static void at_the_end_of_the_scene_actions_are_taken(void) {
    Play play = {.scene = NULL};
    make_play(&play, 0);
    fil_live_publish(play.live, fil_stage_world(play.stage), &(FilLiveNews){.finished = true});
    CHECK(do_action(&play, "{\"do\":\"resume\"}") == 200);
    free_play(&play);
}

static void a_world_that_is_not_stepped_is_asked_for_so_much(void) {
    Play play = {.scene = NULL};
    make_play(&play, 0);
    for (int k = 0; k < 64; k++) {
        CHECK(do_action(&play, "{\"do\":\"step\"}") == 200);
    }
    CHECK(do_action(&play, "{\"do\":\"step\"}") == 409);
    FilAction action;
    for (int k = 0; k < 64; k++) {
        CHECK(fil_live_take(play.live, 0.0, &action) && action.kind == FIL_ACTION_STEP);
    }
    CHECK(!fil_live_take(play.live, 0.0, &action));
    free_play(&play);
}

// The hand moves on before the world sees it: of one place the newest target counts, of two both.
static void a_hand_does_not_queue(void) {
    Play play = {.scene = NULL};
    make_play(&play, 0);
    static const char *const texts[] = {"{\"do\":\"grab\",\"rod\":0,\"s\":0.1,\"target\":[0,0,1]}",
                                        "{\"do\":\"grab\",\"rod\":0,\"s\":0.1,\"target\":[0,0,2]}",
                                        "{\"do\":\"grab\",\"rod\":0,\"s\":0.2,\"target\":[0,0,3]}"};
    for (int k = 0; k < 3; k++) {
        CHECK(do_action(&play, texts[k]) == 200);
    }
    FilAction action;
    CHECK(fil_live_take(play.live, 0.0, &action) && action.value[2] == 2.0);
    CHECK(fil_live_take(play.live, 0.0, &action) && action.value[2] == 3.0);
    CHECK(!fil_live_take(play.live, 0.0, &action));
    free_play(&play);
}

static double distance_to_target(Play *play, const double target[3]) {
    const FilRod *rod = fil_world_rod(fil_stage_world(play->stage), 0);
    FilPose pose;
    fil_rod_at(rod, fil_rod_length(rod), &pose, NULL);
    return hypot(hypot(pose.position[0] - target[0], pose.position[1] - target[1]),
                 pose.position[2] - target[2]);
}

// A rod of 0.2 m that is held at its root, and pulled to the end of the world: the hand never pulls
// harder than it says, and what it says is what is told to the page.
static void a_hand_at_the_end_of_the_world_is_no_stronger(void) {
    Play play = {.scene = NULL};
    make_play(&play, 0);
    CHECK(do_action(&play, "{\"do\":\"grab\",\"rod\":0,\"s\":0.2,\"target\":[0.2,1e6,0]}") == 200);
    for (int k = 0; k < 200; k++) {
        double force[3];
        take_steps(&play, 1); // each is checked
        const FilGrab *grab = fil_world_grab(fil_stage_world(play.stage), force, NULL);
        CHECK(grab->target[1] == 1e6);
        CHECK(sqrt(force[0] * force[0] + force[1] * force[1] + force[2] * force[2]) <=
              (1.0 + 1e-6) * grab->most_force);
    }
    CHECK(do_action(&play, "{\"do\":\"grab\",\"rod\":0,\"s\":0.2,\"target\":[0.1,0.1,0]}") == 200);
    take_steps(&play, 1);
    const FilGrab *grab = fil_world_grab(fil_stage_world(play.stage), NULL, NULL);
    CHECK(grab->target[0] == 0.1 && grab->target[1] == 0.1 && grab->target[2] == 0.0);
    free_play(&play);
}

// One that is free comes all the way, 15 lengths, and does not fly past.
static void a_free_rod_gets_to_a_target_far_away(void) {
    static const double target[3] = {0.2, 3.0, 0.0};
    Play play = {.scene = NULL};
    make_play_of(&play, SCENE("free"), 0);
    CHECK(do_action(&play, "{\"do\":\"gravity\",\"value\":[0,0,0]}") == 200);
    CHECK(do_action(&play, "{\"do\":\"grab\",\"rod\":0,\"s\":0.2,\"target\":[0.2,3,0]}") == 200);
    take_steps(&play, 20);
    CHECK(distance_to_target(&play, target) > 1.0);
    take_steps(&play, 780);
    CHECK(distance_to_target(&play, target) < 0.1);
    CHECK(do_action(&play, "{\"do\":\"release\"}") == 200);
    take_steps(&play, 2); // it is not grabbed again
    CHECK(fil_world_grab(fil_stage_world(play.stage), NULL, NULL) == NULL);
    free_play(&play);
}

// What a live run relies on when it pauses instead of ending.
static void a_step_that_fails_leaves_the_world_as_it_was(void) {
    Play play = {.scene = NULL};
    make_play_of(&play, SCENE("free"), 0);
    take_steps(&play, 20);
    FilWorld *world = fil_stage_world(play.stage);
    const int64_t count = fil_world_state_count(world);
    double *before = malloc(sizeof *before * (size_t)count);
    double *after = malloc(sizeof *after * (size_t)count);
    FilError error;
    fil_world_get_state(world, before);
    FilChange change = {.kind = FIL_CHANGE_GRAVITY, .vector = {0.0, 0.0, -1e200}};
    CHECK(fil_stage_change(play.stage, &change, &error) == FIL_OK);
    CHECK(fil_stage_step(play.stage, NULL, &error) == FIL_E_ARGUMENT);
    CHECK(fil_world_state_count(world) == count);
    fil_world_get_state(world, after);
    CHECK(memcmp(before, after, sizeof *before * (size_t)count) == 0);
    change.vector[2] = -9.81;
    CHECK(fil_stage_change(play.stage, &change, &error) == FIL_OK);
    take_steps(&play, 20);
    free(before);
    free(after);
    free_play(&play);
}

#define TESTS(X)                                        \
    X(an_address_is_what_the_table_says)                \
    X(anything_else_is_not_there)                       \
    X(an_address_ends_where_it_ends)                    \
    X(the_page_without_its_last_slash_is_elsewhere)     \
    X(only_names_of_this_machine_are_hosts)             \
    X(only_the_page_of_this_host_is_its_origin)         \
    X(an_action_is_what_it_says)                        \
    X(what_is_no_action_is_refused_with_a_sentence)     \
    X(keys_that_an_action_does_not_have_are_named)      \
    X(names_are_as_long_as_there_is_room)               \
    X(what_no_scene_can_mean_is_refused)                \
    X(a_frame_is_read_back_as_it_was)                   \
    X(a_selection_is_what_would_have_been_encoded)      \
    X(texts_are_json_whatever_is_in_them)               \
    X(a_world_is_stepped_while_it_is_asked)             \
    X(memory_of_frames_is_bounded)                      \
    X(what_the_world_does_not_have_is_refused)          \
    X(a_hand_that_let_go_remembers_nothing)             \
    X(the_present_is_wanted_once_for_every_question)    \
    X(rows_are_those_that_there_are)                    \
    X(nothing_is_taken_after_the_end)                   \
    X(at_the_end_of_the_scene_actions_are_taken)        \
    X(a_world_that_is_not_stepped_is_asked_for_so_much) \
    X(a_hand_does_not_queue)                            \
    X(a_hand_at_the_end_of_the_world_is_no_stronger)    \
    X(a_free_rod_gets_to_a_target_far_away)             \
    X(a_step_that_fails_leaves_the_world_as_it_was)

CHECK_MAIN(TESTS)
