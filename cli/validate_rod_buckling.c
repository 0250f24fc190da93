// validate_rod_buckling.c - loads at which straight and twisted rods lose stability.
// (Greenhill 1881: the own weight; Euler: a load; Greenhill 1883: twist; Michell 1889: a ring. Of N
// elements: scripts/reference-values.)
//
// The smallest eigenvalue of the Hessian (relative to the elastic stiffness) falls to 0 at the
// critical load. The load where it does is found between 0.9 and 1.1 of the expected one by the
// Illinois variant of the regula falsi, the rod being brought to its unbuckled equilibrium at each
// load.
#include "validate.h"

#include <math.h>

typedef struct Column {
    const char *name;
    FilRodModel model;
    int elements;
    double expected, allowed;
} Column;

// A definition under the load; what it points to lives in `room`.
typedef FilRodDef LoadedRod(const Column *column, double load, void *room);

// The smallest eigenvalue at the equilibrium next to the start shape, stable or not; NAN: failed.
static double eigenvalue_at(Validation *v, const Column *column, LoadedRod *make, void *room,
                            double load) {
    static const FilStaticsSettings one_step = {.tolerance = 1e-10, .max_iterations = 1};
    FilRodDef def = make(column, load, room);
    FilRod *rod = validate_create(v, column->name, &def);
    if (rod == NULL) {
        return (double)NAN;
    }
    FilStability stability;
    FilStaticsInfo info;
    int steps = 0;
    FilError error;
    FilStatus status = fil_rod_stability(rod, &stability, &error);
    while (status == FIL_OK && stability.residual > 1e-8 && stability.smallest_eigenvalue > 0.0 &&
           steps++ < 8) {
        status = fil_rod_equilibrium(rod, &one_step, &info, &error);
        if (status == FIL_OK) {
            status = fil_rod_stability(rod, &stability, &error);
        }
    }
    fil_rod_destroy(rod);
    if (status != FIL_OK) {
        validate_fail(v, column->name, fil_rod_model_name(column->model), column->elements, &error);
        return (double)NAN;
    }
    return stability.smallest_eigenvalue;
}

static void find_critical(Validation *v, const Column *column, LoadedRod *make, void *room) {
    double a = 0.9 * column->expected, b = 1.1 * column->expected, load = a;
    double fa = eigenvalue_at(v, column, make, room, a);
    double fb = eigenvalue_at(v, column, make, room, b);
    if (isnan(fa) || isnan(fb)) {
        return;
    }
    for (int k = 0; k < 40 && fa > 0.0 && fb < 0.0 && b - a > 1e-2 * column->allowed * b; k++) {
        load = (a * fb - b * fa) / (fb - fa);
        double f = eigenvalue_at(v, column, make, room, load);
        if (fabs(f) <= 1e-9) {
            break;
        }
        if (f > 0.0) {
            a = load;
            fa = f;
            fb *= 0.5;
        } else {
            b = load;
            fb = f;
            fa *= 0.5;
        }
    }
    validate_ratio(v, column->name, fil_rod_model_name(column->model), column->elements,
                   column->expected, fa > 0.0 && fb < 0.0 ? load : (double)NAN, column->allowed);
}

// --- columns -------------------------------------------------------------------------------------

static FilRodDef upright(const Column *column) {
    FilRodDef def = validate_rod(column->model, column->elements);
    def.root = (FilPose){.axis = {{0.0, 0.0, 1.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}}};
    return def;
}

static FilRodDef under_own_weight(const Column *column, double load, void *room) {
    (void)room;
    FilRodDef def = upright(column);
    def.gravity[2] = -load;
    return def;
}

static FilRodDef under_tip_load(const Column *column, double load, void *room) {
    FilRodLoad *tip = room;
    FilRodDef def = upright(column);
    *tip = (FilRodLoad){.s = 1.0, .force = {0.0, 0.0, -load}};
    def.loads = tip;
    def.load_count = 1;
    return def;
}

static void validate_columns(Validation *v) {
    static const double own = 7.8373474389434839;   // 9/4 j^2, J_(-1/3)(j) = 0
    static const double euler = 2.4674011002723397; // pi^2 / 4
    const Column weight[] = {
        {"self-buckling of N elements", FIL_ROD_HELIX, 1, 12.0, 1e-9},
        {"self-buckling of N elements", FIL_ROD_HELIX, 2, 8.432025502, 1e-9},
        {"self-buckling of N elements", FIL_ROD_HELIX, 3, 8.102456006, 1e-9},
        {"self-buckling of N elements", FIL_ROD_HELIX, 5, 7.933686013, 1e-9},
        {"self-buckling of N elements", FIL_ROD_HELIX, 10, 7.861554548, 1e-9},
        {"self-buckling of N elements", FIL_ROD_HELIX, 20, 7.843407419, 1e-9},
        {"self-buckling of N elements", FIL_ROD_CLOTHOID, 1, 7.888974491, 1e-9},
        {"self-buckling of N elements", FIL_ROD_CLOTHOID, 2, 7.871686231, 1e-9},
        {"self-buckling of N elements", FIL_ROD_CLOTHOID, 3, 7.843967049, 1e-9},
        {"self-buckling of N elements", FIL_ROD_CLOTHOID, 5, 7.838110253, 1e-9},
        {"self-buckling of N elements", FIL_ROD_CLOTHOID, 10, 7.837391892, 1e-9},
        {"self-buckling", FIL_ROD_HELIX, 50, own, 5e-4},
        {"self-buckling", FIL_ROD_CLOTHOID, 20, own, 1.5e-6},
        {"self-buckling", FIL_ROD_DER, 50, own, 1e-3},
        {"self-buckling", FIL_ROD_CORDE, 50, own, 1.5e-3},
    };
    const Column tip[] = {
        {"column with a load on its tip", FIL_ROD_HELIX, 50, euler, 4e-4},
        {"column with a load on its tip", FIL_ROD_CLOTHOID, 10, euler, 4e-6},
        {"column with a load on its tip", FIL_ROD_DER, 50, euler, 4e-4},
        {"column with a load on its tip", FIL_ROD_CORDE, 50, euler, 8e-4},
    };
    FilRodLoad load;
    for (size_t k = 0; k < sizeof weight / sizeof *weight && !v->stopped(); k++) {
        find_critical(v, &weight[k], under_own_weight, NULL);
    }
    for (size_t k = 0; k < sizeof tip / sizeof *tip && !v->stopped(); k++) {
        find_critical(v, &tip[k], under_tip_load, &load);
    }
}

// --- twist ---------------------------------------------------------------------------------------

enum { MAX_NODES = 101 };

typedef struct Twisted {
    double angle;
    double start[3 * MAX_NODES];
} Twisted;

// Turn the tip's start pose, which is already twisted, into itself: it is held where it starts.
static FilRodDef twisted_straight(const Column *column, double load, void *room) {
    Twisted *t = room;
    FilRodDef def = validate_rod(column->model, column->elements);
    t->angle = load / def.section.twist; // M L / GJ, with load = M L / B
    for (int i = 0; i <= column->elements; i++) {
        t->start[3 * i] = t->angle;
        t->start[3 * i + 1] = t->start[3 * i + 2] = 0.0;
    }
    def.start_curvatures = t->start;
    def.start_count = column->elements + 1;
    def.tip_end.kind = FIL_END_SLIDING;
    return def;
}

// A ring whose ends meet, but for what a start shape of elements lacks: second order in their
// length, and so is the error, for any model. The load is the total twist in radians times C / B.
static FilRodDef twisted_ring(const Column *column, double load, void *room) {
    Twisted *t = room;
    const double turn = 6.28318530717958648;
    FilRodDef def = validate_rod(column->model, column->elements);
    t->angle = load / def.section.twist;
    for (int i = 0; i <= column->elements; i++) {
        double angle = t->angle * i / column->elements;
        t->start[3 * i] = t->angle;
        t->start[3 * i + 1] = turn * cos(angle);
        t->start[3 * i + 2] = -turn * sin(angle);
    }
    def.start_curvatures = t->start;
    def.start_count = column->elements + 1;
    def.tip_end.kind = FIL_END_CLAMPED;
    return def;
}

static void validate_twist(Validation *v) {
    static const double held = 8.9868189158181284; // 2 x, tan(x) = x
    const Column straight[] = {
        {"twisted rod, tangents held (Greenhill)", FIL_ROD_HELIX, 50, held, 4e-3},
        {"twisted rod, tangents held (Greenhill)", FIL_ROD_CLOTHOID, 20, held, 6e-5},
        {"twisted rod, tangents held (Greenhill)", FIL_ROD_DER, 60, held, 8e-3},
        {"twisted rod, tangents held (Greenhill)", FIL_ROD_CORDE, 50, held, 8e-4},
    };
    static const double michell = 10.882796185405307; // 2 pi sqrt(3)
    const Column ring[] = {
        {"twisted ring (Michell)", FIL_ROD_HELIX, 60, michell, 2e-2},
        {"twisted ring (Michell)", FIL_ROD_CLOTHOID, 60, michell, 1e-2},
        {"twisted ring (Michell)", FIL_ROD_DER, 60, michell, 3e-3},
    };
    Twisted room;
    for (size_t k = 0; k < sizeof straight / sizeof *straight && !v->stopped(); k++) {
        find_critical(v, &straight[k], twisted_straight, &room);
    }
    for (size_t k = 0; k < sizeof ring / sizeof *ring && !v->stopped(); k++) {
        find_critical(v, &ring[k], twisted_ring, &room);
    }
}

void validate_rod_buckling(Validation *v) {
    validate_columns(v);
    validate_twist(v);
}
