// export_things.c - what exports for modellers and renderers share: names, groups, solids and their
// surfaces.
//
// Names. Only letters, digits and underscores are allowed everywhere. All else becomes _, and no
// two of them follow each other, so that a name that is taken gets two and a number: no such name
// can have been made from another.
//
// Spheres, capsules and cylinders are surfaces of revolution about the first axis: a profile of
// places (x, r) with normals, from left to right, is turned in SLICES steps. A place with r = 0 is
// a pole; two places that are equal are an edge.
#include "export_things.h"

#include "math/rotation.h"
#include "math/vec3.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GROUPS_MAX = 64, SLICES = 32, ARC = 8, PROFILE_MAX = 2 * ARC + 2, COLOURS = 6 };

#define PI 3.14159265358979323846

const double *fil_export_colour(int index) {
    static const double colours[COLOURS][3] = {{0.36, 0.20, 0.09}, {0.07, 0.25, 0.53},
                                               {0.60, 0.28, 0.03}, {0.10, 0.36, 0.16},
                                               {0.42, 0.10, 0.30}, {0.36, 0.36, 0.36}};
    return colours[index % COLOURS];
}

// --- names ---------------------------------------------------------------------------------------

static bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// The first `length` characters of a name; `otherwise` where nothing is left of them.
static void clean_name(const char *name, size_t length, const char *otherwise,
                       char out[FIL_THING_NAME]) {
    size_t used = 0;
    bool plain = false;
    for (size_t k = 0; k < length && name[k] != '\0' && used < FIL_RESULT_NAME; k++) {
        const bool digit_first = used == 0 && name[k] >= '0' && name[k] <= '9';
        if (digit_first || (!is_plain(name[k]) && (used == 0 || out[used - 1] != '_'))) {
            out[used++] = '_';
        }
        if (is_plain(name[k])) {
            out[used++] = name[k];
            plain = true;
        }
    }
    out[used] = '\0';
    if (!plain) {
        (void)snprintf(out, FIL_THING_NAME, "%s", otherwise);
    }
}

typedef struct Named {
    char *name;
    int index;
} Named;

static int compare_named(const void *a, const void *b) {
    const Named *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

// All but the first of equal names get their number.
static void tell_apart(Named *list, int count) {
    qsort(list, (size_t)count, sizeof *list, compare_named);
    for (int k = count - 1; k > 0; k--) {
        if (strcmp(list[k].name, list[k - 1].name) == 0) {
            const size_t length = strlen(list[k].name);
            (void)snprintf(list[k].name + length, FIL_THING_NAME - length, "__%d", list[k].index);
        }
    }
}

// --- sections ------------------------------------------------------------------------------------

void fil_export_axes(const FilFrame *frame, int point, double R[9]) {
    const double *q = frame->quaternion + 4 * (size_t)point;
    const double size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    const bool good = size > 0.0 && isfinite(size);
    double unit[4];
    for (int k = 0; k < 4; k++) {
        unit[k] = good ? q[k] / size : (double)(k == 0);
    }
    fil_rotation_from_quaternion(unit, R);
}

// --- groups --------------------------------------------------------------------------------------

static size_t stem_length(const FilResultRod *rod) {
    const char *slash = strrchr(rod->name, '/');
    return slash != NULL ? (size_t)(slash - rod->name) : strlen(rod->name);
}

static bool belongs_with(const FilResultRod *a, const FilResultRod *b) {
    const size_t length = stem_length(a);
    return stem_length(b) == length && memcmp(a->name, b->name, length) == 0 &&
           fil_section_is_round(a) == fil_section_is_round(b);
}

static bool is_round_line(const FilResultDef *def, int line) {
    return fil_section_is_round(&def->rods[def->lines[line].rod]);
}

bool fil_export_has_line(const FilResultDef *def, const FilExportGroup *group, int line) {
    return def->lines[line].point_count > 1 &&
           (!group->is_mixed || is_round_line(def, line) == group->is_round);
}

// Groups of lines, into `groups` where it is not NULL; returns how many.
static int find_groups(const FilResultDef *def, FilExportGroup *groups) {
    int count = 0;
    for (int l = 0; l < def->line_count; l++) {
        const FilResultLine *line = &def->lines[l];
        const FilResultRod *rod = &def->rods[line->rod];
        if (l == 0 || !belongs_with(&def->rods[def->lines[l - 1].rod], rod)) {
            if (groups != NULL) {
                groups[count] =
                    (FilExportGroup){.first_line = l, .is_round = is_round_line(def, l)};
                clean_name(rod->name, stem_length(rod), "rods", groups[count].name);
            }
            count++;
        }
        if (groups != NULL) {
            FilExportGroup *group = &groups[count - 1];
            group->end_line = l + 1;
            group->line_count += line->point_count > 1;
            group->point_count += line->point_count > 1 ? line->point_count : 0;
        }
    }
    return count;
}

// All that is round, and all that is not.
static void find_two_groups(const FilResultDef *def, FilExportGroup groups[2]) {
    for (int g = 0; g < 2; g++) {
        FilExportGroup *group = &groups[g];
        *group =
            (FilExportGroup){.end_line = def->line_count, .is_round = g == 0, .is_mixed = true};
        (void)snprintf(group->name, sizeof group->name, "%s", g == 0 ? "rods" : "ribbons");
        for (int l = 0; l < def->line_count; l++) {
            const bool has = fil_export_has_line(def, group, l);
            group->line_count += has;
            group->point_count += has ? def->lines[l].point_count : 0;
        }
    }
}

FilStatus fil_export_groups(FilExport *job, FilArena *memory, FilExportGroups *out) {
    const int found = find_groups(job->def, NULL);
    const bool many = found > GROUPS_MAX;
    const int count = many ? 2 : found;
    out->items = FIL_NEW_ZEROED(memory, FilExportGroup, count + 1);
    Named *names = FIL_NEW(memory, Named, count + 1);
    if (memory->failed) {
        return fil_export_no_memory(job);
    }
    if (many) {
        find_two_groups(job->def, out->items);
    } else {
        (void)find_groups(job->def, out->items);
    }
    out->count = 0;
    for (int k = 0; k < count; k++) { // those without a line go
        if (out->items[k].line_count > 0) {
            names[out->count] = (Named){out->items[out->count].name, out->count};
            out->items[out->count++] = out->items[k];
        }
    }
    tell_apart(names, out->count);
    return FIL_OK;
}

// --- solids --------------------------------------------------------------------------------------

static double reach_of(const FilResultDef *def, const FilResultSolid *solid) {
    switch (solid->shape) {
    case FIL_SHAPE_BOX:
        return 0.5 * fil_norm3(solid->size);
    case FIL_SHAPE_MESH: {
        double reach = 0.0;
        const FilResultMesh *mesh = solid->mesh >= 0 ? &def->meshes[solid->mesh] : NULL;
        for (int i = 0; mesh != NULL && i < mesh->vertex_count; i++) {
            reach = fmax(reach, fil_norm3(mesh->vertices + 3 * (size_t)i));
        }
        return reach;
    }
    default:
        return solid->radius + 0.5 * solid->length;
    }
}

static void widen(FilExportSolids *solids, const double x[3], double reach) {
    for (int k = 0; k < 3; k++) {
        solids->low[k] = fmin(solids->low[k], x[k] - reach);
        solids->high[k] = fmax(solids->high[k], x[k] + reach);
    }
}

static void take_pose(FilExportSolid *to, int64_t k, const double *x, const double *q) {
    double *position = (double *)to->position + 3 * k, *turn = (double *)to->quaternion + 4 * k;
    const double size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    const bool good = size > 0.0 && isfinite(size);
    fil_copy3(x, position);
    for (int c = 0; c < 4; c++) {
        turn[c] = good ? q[c] / size : (double)(c == 0);
    }
    if (k == 0) {
        return;
    }
    const double *before = turn - 4;
    const double dot =
        turn[0] * before[0] + turn[1] * before[1] + turn[2] * before[2] + turn[3] * before[3];
    for (int c = 0; c < 4; c++) {
        turn[c] = dot < 0.0 ? -turn[c] : turn[c];
    }
    for (int c = 0; c < 4; c++) {
        to->moves = to->moves || turn[c] != before[c] || (c < 3 && position[c] != position[c - 3]);
    }
}

static FilStatus read_poses(FilExport *job, FilExportSolids *out, const double *reach) {
    for (int64_t k = 0; k < job->frame_count; k++) {
        FilFrame frame = {0};
        FIL_TRY(fil_export_read(job, k, &frame));
        for (int i = 0; i < job->def->point_count; i++) {
            widen(out, frame.position + 3 * (size_t)i, 0.0);
        }
        for (int i = 0; i < out->count; i++) {
            FilExportSolid *to = &out->items[i];
            const size_t at = (size_t)(to->is_body ? i : i - out->body_count);
            take_pose(to, k,
                      (to->is_body ? frame.rigid_position : frame.obstacle_position) + 3 * at,
                      (to->is_body ? frame.rigid_quaternion : frame.obstacle_quaternion) + 4 * at);
            if (to->solid.shape != FIL_SHAPE_PLANE) {
                widen(out, to->position + 3 * k, reach[i]);
            }
        }
    }
    return FIL_OK;
}

FilStatus fil_export_solids(FilExport *job, FilArena *memory, FilExportSolids *out) {
    const FilResultDef *def = job->def;
    const int count = def->rigid_count + def->obstacle_count;
    *out = (FilExportSolids){.count = count,
                             .body_count = def->rigid_count,
                             .low = {INFINITY, INFINITY, INFINITY},
                             .high = {-INFINITY, -INFINITY, -INFINITY}};
    out->items = FIL_NEW_ZEROED(memory, FilExportSolid, count + 1);
    double *reach = FIL_NEW(memory, double, count + 1);
    Named *names = FIL_NEW(memory, Named, count + 1);
    for (int i = 0; !memory->failed && i < count; i++) {
        FilExportSolid *to = &out->items[i];
        to->is_body = i < def->rigid_count;
        to->solid = to->is_body ? def->rigids[i] : def->obstacles[i - def->rigid_count];
        to->position = FIL_NEW(memory, double, 3 * (size_t)job->frame_count);
        to->quaternion = FIL_NEW(memory, double, 4 * (size_t)job->frame_count);
        clean_name(to->solid.name, FIL_RESULT_NAME, to->is_body ? "body" : "obstacle", to->name);
        names[i] = (Named){to->name, i};
        reach[i] = reach_of(def, &to->solid);
    }
    if (memory->failed) {
        return fil_export_no_memory(job);
    }
    FIL_TRY(read_poses(job, out, reach));
    for (int k = 0; k < 3; k++) { // nothing but planes
        out->low[k] = isfinite(out->low[k]) ? out->low[k] : -0.5;
        out->high[k] = isfinite(out->high[k]) ? out->high[k] : 0.5;
    }
    tell_apart(names, count);
    return FIL_OK;
}

// --- surfaces ------------------------------------------------------------------------------------

typedef struct Profile {
    double x[PROFILE_MAX], r[PROFILE_MAX], normal_x[PROFILE_MAX], normal_r[PROFILE_MAX];
    int count;
} Profile;

static void add_place(Profile *p, double x, double r, double normal_x, double normal_r) {
    p->x[p->count] = x;
    p->r[p->count] = r;
    p->normal_x[p->count] = normal_x;
    p->normal_r[p->count++] = normal_r;
}

static void make_profile(const FilResultSolid *solid, Profile *p) {
    const double r = solid->radius;
    const double half = solid->shape == FIL_SHAPE_SPHERE ? 0.0 : 0.5 * solid->length;
    if (solid->shape == FIL_SHAPE_CYLINDER) {
        add_place(p, -half, 0.0, -1.0, 0.0);
        add_place(p, -half, r, -1.0, 0.0);
        add_place(p, -half, r, 0.0, 1.0);
        add_place(p, half, r, 0.0, 1.0);
        add_place(p, half, r, 1.0, 0.0);
        add_place(p, half, 0.0, 1.0, 0.0);
        return;
    }
    for (int side = -1; side <= 1; side += 2) {
        for (int k = 0; k <= ARC; k++) {
            const int from_pole = side < 0 ? k : ARC - k;
            const double angle = 0.5 * PI * from_pole / ARC;
            const double normal_r = from_pole == 0 ? 0.0 : sin(angle);
            const double normal_x = from_pole == ARC ? 0.0 : side * cos(angle);
            if (half > 0.0 || side < 0 || from_pole < ARC) { // a sphere has one equator
                add_place(p, side * half + r * normal_x, r * normal_r, normal_x, normal_r);
            }
        }
    }
}

static void add_triangle(FilExportMesh *mesh, int a, int b, int c) {
    int *to = mesh->triangle + 3 * (size_t)mesh->triangle_count++;
    to[0] = a;
    to[1] = b;
    to[2] = c;
}

// A seam would need vertices of its own only for textures: the last slice meets the first.
static void revolve(const Profile *p, FilExportMesh *mesh) {
    for (int i = 0; i < p->count; i++) {
        for (int j = 0; j < SLICES; j++) {
            const double angle = 2.0 * PI * j / SLICES, c = cos(angle), s = sin(angle);
            const size_t at = 3 * (size_t)mesh->vertex_count++;
            fil_copy3((double[3]){p->x[i], p->r[i] * c, p->r[i] * s}, mesh->position + at);
            fil_copy3((double[3]){p->normal_x[i], p->normal_r[i] * c, p->normal_r[i] * s},
                      mesh->normal + at);
        }
    }
    for (int i = 0; i + 1 < p->count; i++) {
        for (int j = 0; j < SLICES; j++) {
            const int next = (j + 1) % SLICES, a = i * SLICES, b = a + SLICES;
            if (p->x[i] == p->x[i + 1] && p->r[i] == p->r[i + 1]) {
                continue;
            }
            if (p->r[i] > 0.0) {
                add_triangle(mesh, a + j, a + next, b + j);
            }
            if (p->r[i + 1] > 0.0) {
                add_triangle(mesh, a + next, b + next, b + j);
            }
        }
    }
}

static void add_square(FilExportMesh *mesh, double corner[4][3], const double normal[3]) {
    const int first = mesh->vertex_count;
    for (int c = 0; c < 4; c++) {
        const size_t at = 3 * (size_t)mesh->vertex_count++;
        fil_copy3(corner[c], mesh->position + at);
        fil_copy3(normal, mesh->normal + at);
    }
    add_triangle(mesh, first, first + 1, first + 2);
    add_triangle(mesh, first, first + 2, first + 3);
}

static void make_box(const double size[3], FilExportMesh *mesh) {
    static const int around[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    for (int face = 0; face < 6; face++) {
        const int k = face / 2, side = face % 2 == 0 ? -1 : 1, u = (k + 1) % 3, v = (k + 2) % 3;
        double corner[4][3], normal[3] = {0.0, 0.0, 0.0};
        normal[k] = side;
        for (int c = 0; c < 4; c++) {
            corner[c][k] = 0.5 * side * size[k];
            corner[c][u] = 0.5 * side * around[c][0] * size[u]; // seen from outside
            corner[c][v] = 0.5 * around[c][1] * size[v];
        }
        add_square(mesh, corner, normal);
    }
}

// A square around what is above the middle of everything, in the first frame.
static void make_plane(const FilExportSolids *solids, const FilExportSolid *plane,
                       FilExportMesh *mesh) {
    double R[9], arm[3], local[3], corner[4][3];
    static const int around[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    static const double normal[3] = {0.0, 0.0, 1.0};
    double size = 0.0;
    for (int k = 0; k < 3; k++) {
        arm[k] = 0.5 * (solids->low[k] + solids->high[k]) - plane->position[k];
        size = fmax(size, solids->high[k] - solids->low[k]);
    }
    fil_rotation_from_quaternion(plane->quaternion, R);
    fil_apply_transposed3(R, arm, local);
    for (int c = 0; c < 4; c++) {
        corner[c][0] = local[0] + size * around[c][0];
        corner[c][1] = local[1] + size * around[c][1];
        corner[c][2] = 0.0;
    }
    add_square(mesh, corner, normal);
}

static void copy_mesh(const FilResultMesh *from, FilExportMesh *mesh) {
    mesh->normal = NULL;
    if (from->vertices == NULL || from->triangles == NULL) {
        return;
    }
    mesh->vertex_count = from->vertex_count;
    mesh->triangle_count = from->triangle_count;
    memcpy(mesh->position, from->vertices, 3 * (size_t)from->vertex_count * sizeof(double));
    memcpy(mesh->triangle, from->triangles, 3 * (size_t)from->triangle_count * sizeof(int));
}

FilStatus fil_export_mesh(FilExport *job, FilArena *memory, const FilExportSolids *solids,
                          int index, FilExportMesh *out) {
    const FilExportSolid *solid = &solids->items[index];
    const FilResultMesh none = {0};
    const FilResultMesh *from = solid->solid.shape == FIL_SHAPE_MESH && solid->solid.mesh >= 0
                                    ? &job->def->meshes[solid->solid.mesh]
                                    : &none;
    Profile profile = {.count = 0};
    if (solid->solid.shape != FIL_SHAPE_MESH && solid->solid.shape != FIL_SHAPE_BOX &&
        solid->solid.shape != FIL_SHAPE_PLANE) {
        make_profile(&solid->solid, &profile);
    }
    const size_t room = (size_t)from->vertex_count + (size_t)profile.count * SLICES + 24;
    const size_t more = (size_t)from->triangle_count + 2 * (size_t)profile.count * SLICES + 12;
    *out = (FilExportMesh){.position = FIL_NEW(memory, double, 3 * room),
                           .normal = FIL_NEW(memory, double, 3 * room),
                           .triangle = FIL_NEW(memory, int, 3 * more)};
    if (memory->failed) {
        return fil_export_no_memory(job);
    }
    switch (solid->solid.shape) {
    case FIL_SHAPE_MESH:
        copy_mesh(from, out);
        break;
    case FIL_SHAPE_BOX:
        make_box(solid->solid.size, out);
        break;
    case FIL_SHAPE_PLANE:
        make_plane(solids, solid, out);
        break;
    default:
        revolve(&profile, out);
        break;
    }
    return FIL_OK;
}
