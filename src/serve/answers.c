// answers.c - answers to requests, from a source.
//
// What a request asks for is bounded: at most a million times, a hundred thousand rows, one frame.
// More is cut, not refused: whoever asks goes on from where the answer ends.
#include "answers.h"

#include "frames.h"

#include <math.h>
#include <string.h>

static const int64_t most_times = 1000000, most_rows = 100000;

void fil_answer_error(int status, const char *sentence, FilAnswer *out) {
    fil_bytes_clear(&out->body);
    out->status = status;
    out->type = "application/json";
    fil_bytes_add(&out->body, "{\"error\":", 9);
    fil_bytes_text(&out->body, sentence);
    fil_bytes_add(&out->body, "}", 1);
}

static void answer_failure(FilStatus status, const FilError *error, FilAnswer *out) {
    fil_answer_error(status == FIL_E_ARGUMENT ? 404 : 500, error->text, out);
}

// --- what does not change ------------------------------------------------------------------------

static void put_key(FilBytes *body, const char *key) {
    fil_bytes_format(body, ",\"%s\":", key);
}

static void put_number(FilBytes *body, const char *key, double value) {
    put_key(body, key);
    fil_bytes_number(body, value);
}

static void put_text(FilBytes *body, const char *key, const char *text) {
    put_key(body, key);
    fil_bytes_text(body, text != NULL ? text : "");
}

// A section that is not round: its sizes along n1 and n2.
static void put_ribbon(FilBytes *body, const FilResultRod *rod) {
    put_key(body, "ribbon");
    if (!(rod->width > 0.0 && rod->thickness > 0.0)) {
        fil_bytes_add(body, "null", 4);
        return;
    }
    fil_bytes_add(body, "{\"width\":", 9);
    fil_bytes_number(body, rod->width);
    put_number(body, "thickness", rod->thickness);
    fil_bytes_add(body, "}", 1);
}

static void put_rods(FilBytes *body, const FilSource *source) {
    const FilResultDef *def = source->def;
    put_key(body, "rods");
    fil_bytes_add(body, "[", 1);
    for (int r = 0; r < def->rod_count; r++) {
        const FilResultRod *rod = &def->rods[r];
        fil_bytes_format(body, "%s{\"name\":", r > 0 ? "," : "");
        fil_bytes_text(body, rod->name);
        put_text(body, "model", fil_rod_model_name(rod->model));
        put_number(body, "length", rod->length);
        put_number(body, "radius", rod->radius);
        put_number(body, "contactRadius", rod->contact_radius);
        fil_bytes_format(body, ",\"firstPoint\":%d,\"pointCount\":%d", rod->first_point,
                         rod->point_count);
        put_ribbon(body, rod);
        fil_bytes_add(body, "}", 1);
    }
    fil_bytes_add(body, "]", 1);
}

static void put_lines(FilBytes *body, const FilResultDef *def) {
    put_key(body, "lines");
    fil_bytes_add(body, "[", 1);
    for (int k = 0; k < def->line_count; k++) {
        fil_bytes_format(body, "%s[%d,%d,%d,%.9g]", k > 0 ? "," : "", def->lines[k].rod,
                         def->lines[k].first_point, def->lines[k].point_count,
                         fil_line_radius(def, k));
    }
    fil_bytes_add(body, "]", 1);
}

static void put_solids(FilBytes *body, const char *key, const FilResultSolid *solids, int count) {
    put_key(body, key);
    fil_bytes_add(body, "[", 1);
    for (int k = 0; k < count; k++) {
        fil_bytes_format(body, "%s{\"name\":", k > 0 ? "," : "");
        fil_bytes_text(body, solids[k].name);
        put_text(body, "shape", fil_shape_name(solids[k].shape));
        put_number(body, "radius", solids[k].radius);
        put_number(body, "length", solids[k].length);
        put_key(body, "size");
        fil_bytes_vector(body, solids[k].size);
        fil_bytes_format(body, ",\"mesh\":%d}", solids[k].mesh);
    }
    fil_bytes_add(body, "]", 1);
}

static void put_fields(FilBytes *body, const FilSource *source) {
    bool first = true;
    put_key(body, "fields");
    for (int k = 0; k < FIL_FIELD_COUNT; k++) {
        if ((k == FIL_FIELD_TENSION && !source->has_tension) ||
            (k == FIL_FIELD_ELASTIC && !source->has_elastic)) {
            continue;
        }
        fil_bytes_add(body, first ? "[" : ",", 1);
        fil_bytes_text(body, fil_field_name((FilField)k));
        first = false;
    }
    fil_bytes_add(body, "]", 1);
}

static void put_scene(FilBytes *body, const FilScene *scene) {
    put_key(body, "gravity");
    if (scene != NULL) {
        fil_bytes_vector(body, scene->gravity);
    } else {
        fil_bytes_add(body, "null", 4);
    }
    put_text(body, "look", scene != NULL ? scene->look : "");
    put_key(body, "materials");
    fil_bytes_add(body, "[", 1);
    for (int k = 0; scene != NULL && k < scene->material_count; k++) {
        fil_bytes_add(body, ",", k > 0);
        fil_bytes_text(body, scene->materials[k].name);
    }
    fil_bytes_add(body, "]", 1);
}

static void answer_run(const FilSource *source, FilAnswer *out) {
    const FilResultDef *def = source->def;
    FilBytes *body = &out->body;
    out->type = "application/json";
    fil_bytes_format(body, "{\"protocol\":1,\"version\":\"%s\"", fil_version());
    put_text(body, "name", def->name);
    fil_bytes_format(body, ",\"live\":%s", source->live ? "true" : "false");
    put_number(body, "step", def->step);
    fil_bytes_format(body, ",\"pointCount\":%d,\"meshCount\":%d", def->point_count,
                     def->mesh_count);
    put_fields(body, source);
    put_rods(body, source);
    put_lines(body, def);
    put_solids(body, "rigids", def->rigids, def->rigid_count);
    put_solids(body, "obstacles", def->obstacles, def->obstacle_count);
    put_scene(body, source->scene);
    fil_bytes_add(body, "}", 1);
}

static void answer_points(const FilSource *source, FilAnswer *out) {
    const FilResultDef *def = source->def;
    const size_t n = (size_t)def->point_count;
    char *to = fil_bytes_more(&out->body, 8 * n);
    for (size_t k = 0; to != NULL && k < n; k++) {
        const float s = (float)def->points[k].s;
        memcpy(to + 4 * k, &s, 4);
    }
    for (int32_t r = 0; to != NULL && r < def->rod_count; r++) {
        for (int k = 0; k < def->rods[r].point_count; k++) {
            memcpy(to + 4 * (n + (size_t)def->rods[r].first_point + (size_t)k), &r, 4);
        }
    }
}

static void answer_mesh(const FilSource *source, int64_t index, FilAnswer *out) {
    if (index >= source->def->mesh_count) {
        fil_answer_error(404, "there is no such mesh", out);
        return;
    }
    const FilResultMesh *mesh = &source->def->meshes[index];
    const uint32_t counts[2] = {(uint32_t)mesh->vertex_count, (uint32_t)mesh->triangle_count};
    fil_bytes_add(&out->body, counts, sizeof counts);
    float *to = fil_bytes_more(&out->body, 12 * (size_t)counts[0]);
    for (size_t k = 0; to != NULL && k < 3 * (size_t)counts[0]; k++) {
        to[k] = (float)mesh->vertices[k];
    }
    fil_bytes_add(&out->body, mesh->triangles, 12 * (size_t)counts[1]);
}

// --- what changes --------------------------------------------------------------------------------

// A sentence, or null.
static void put_sentence(FilBytes *body, const char *key, const char *sentence) {
    put_key(body, key);
    if (sentence[0] != '\0') {
        fil_bytes_text(body, sentence);
    } else {
        fil_bytes_add(body, "null", 4);
    }
}

static void answer_state(const FilSource *source, FilAnswer *out) {
    FilSourceState state = {.time = 0.0};
    FilBytes *body = &out->body;
    source->state(source->self, &state);
    out->type = "application/json";
    fil_bytes_format(body, "{\"frames\":%lld,\"steps\":%lld,\"growing\":%s,\"finished\":%s",
                     (long long)state.frame_count, (long long)state.step_count,
                     state.growing ? "true" : "false", state.finished ? "true" : "false");
    put_number(body, "until", state.until > 0.0 ? state.until : (double)NAN); // which becomes null
    put_sentence(body, "error", state.error);
    put_sentence(body, "note", state.note);
    put_number(body, "time", state.time);
    fil_bytes_format(body, ",\"running\":%s", state.running ? "true" : "false");
    fil_bytes_add(body, state.more.data, state.more.size);
    fil_bytes_add(body, "}", 1);
    body->failed = body->failed || state.more.failed;
    fil_bytes_free(&state.more);
}

// A range cut to what there is and to what one answer holds.
static int64_t cut_range(const FilRoute *route, int64_t there, int64_t most) {
    const int64_t left = route->from < there ? there - route->from : 0;
    const int64_t asked = route->count >= 0 && route->count < left ? route->count : left;
    return asked < most ? asked : most;
}

typedef FilStatus Rows(void *self, int64_t first, int64_t count, double *rows, FilError *error);

static void answer_rows(const FilSource *source, const FilRoute *route, FilAnswer *out) {
    FilSourceState state = {.time = 0.0};
    source->state(source->self, &state);
    fil_bytes_free(&state.more);
    const bool steps = route->kind == FIL_ROUTE_STEPS, times = route->kind == FIL_ROUTE_TIMES;
    Rows *get = steps ? source->steps : times ? source->times : source->energies;
    const int numbers = steps ? FIL_STEP_NUMBERS : times ? 1 : FIL_ENERGY_NUMBERS;
    const int64_t count = cut_range(route, steps ? state.step_count : state.frame_count,
                                    times ? most_times : most_rows);
    double *rows = fil_bytes_more(&out->body, sizeof(double) * (size_t)(count * numbers));
    FilError error;
    if (rows != NULL && count > 0) {
        const FilStatus status = get(source->self, route->from, count, rows, &error);
        if (status != FIL_OK) {
            answer_failure(status, &error, out);
        }
    }
}

static void answer_frame(const FilSource *source, const FilRoute *route, FilAnswer *out) {
    FilError error;
    if (route->kind == FIL_ROUTE_NOW && source->now == NULL) {
        fil_answer_error(409, "this run is not live; ask for api/frame/K instead", out);
        return;
    }
    const FilStatus status =
        route->kind == FIL_ROUTE_NOW
            ? source->now(source->self, route->mask, &out->body, &error)
            : source->frame(source->self, route->index, route->mask, &out->body, &error);
    if (status != FIL_OK) {
        answer_failure(status, &error, out);
    }
}

// --- all of them ---------------------------------------------------------------------------------

static void finish(FilAnswer *out) {
    if (out->body.failed) {
        fil_bytes_free(&out->body);
        fil_answer_error(500, "there is not enough memory for the answer", out);
    }
}

void fil_answer_get(const FilSource *source, const FilRoute *route, FilAnswer *out) {
    out->status = 200;
    out->type = "application/octet-stream";
    switch (route->kind) {
    case FIL_ROUTE_RUN:
        answer_run(source, out);
        break;
    case FIL_ROUTE_POINTS:
        answer_points(source, out);
        break;
    case FIL_ROUTE_MESH:
        answer_mesh(source, route->index, out);
        break;
    case FIL_ROUTE_STATE:
        answer_state(source, out);
        break;
    case FIL_ROUTE_TIMES:
    case FIL_ROUTE_STEPS:
    case FIL_ROUTE_ENERGIES:
        answer_rows(source, route, out);
        break;
    case FIL_ROUTE_FRAME:
    case FIL_ROUTE_NOW:
        answer_frame(source, route, out);
        break;
    default:
        fil_answer_error(405, "this is asked with POST", out);
        break;
    }
    finish(out);
}

void fil_answer_do(const FilSource *source, const char *bytes, size_t size, FilAnswer *out) {
    FilAction action;
    FilError error;
    if (source->act == NULL) {
        fil_answer_error(409, "this run is not live; it cannot be changed", out);
        return;
    }
    FilStatus status = fil_action_read(bytes, size, &action, &error);
    if (status == FIL_OK) {
        status = source->act(source->self, &action, &error);
    }
    if (status != FIL_OK) {
        fil_answer_error(status == FIL_E_NO_MEMORY ? 500
                         : status == FIL_E_IO      ? 409
                                                   : 400,
                         error.text, out);
    } else {
        out->status = 200;
        out->type = "application/json";
        fil_bytes_add(&out->body, "{\"ok\":true}", 11);
    }
    finish(out);
}
