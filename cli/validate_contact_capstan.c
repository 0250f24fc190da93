// validate_contact_capstan.c - a rope around a post holds exp(mu phi) times what pulls at its end.
//
// A thin rod lies around a fixed cylinder of radius R by the angle phi, with straight ends along
// the tangents. One end is pulled with the constant force T1, the other is drawn away slowly. Where
// the rod slides, dT / dphi = mu T (Euler, Eytelwein): the drawn end needs
//     T2 = T1 exp(mu phi).
// Bending adds terms of the order of EI / (T R^2), here 8e-4 and less; speed adds rho A v^2 / T.
// T2 is what holds the drawn end: minus T1 and the sum of all contact forces, whose balance is that
// of the whole rod; it is averaged while the rod slides on by one element, for the polygon of the
// nodes turns past the ends of the arc. The polygon meets the circle in the middle of its edges,
// where the law of the circle holds: the error falls at least with the square of their length.
//
// Friction acts on the surface of the rod. If that is h from its axis, the couple mu N h per length
// must be borne by shear, and moments about the post give exp(mu phi R / (R + h)): h / R is 1e-4
// here. The rod moves by 1/400 of an element in a step, for the direction of the contacts is that
// at the beginning of a step: the law is met to first order in what a step turns. A coarse polygon
// that does not resist bending at all tips over its contacts, like a chain of flat links.
#include "validate_contact.h"

#include <math.h>

#define PI 3.14159265358979323846

static const double step_length = 5e-3; // s
enum { TAIL = 4, MOST = 64 };           // elements of each straight end, and in all

typedef struct Capstan {
    double mu, phi;
    int elements; // on the arc
    double radius, thickness, force, speed;
} Capstan;

static void draw_away(void *user, double time, FilPose *pose) {
    const Capstan *c = user;
    for (int k = 0; k < 3; k++) {
        pose->position[k] -= c->speed * time * pose->axis[0][k];
    }
}

static FilRod *build_capstan(Trial *t, Capstan *c) {
    FilWorldDef def = trial_world_def(step_length);
    for (int k = 0; k < 3; k++) {
        def.gravity[k] = 0.0;
    }
    trial_world(t, &def, c->mu, 0.0);
    static const double centre[3] = {0.0, 0.0, 0.0}, axis[3] = {0.0, 0.0, 1.0};
    trial_cylinder(t, centre, axis, c->radius);

    const int count = c->elements + 2 * TAIL;
    // the edges, not the nodes, lie on the circle: each node on the arc turns by phi / elements
    const double turn = c->phi / c->elements, outer = c->radius + c->thickness;
    const double edge = 2.0 * outer * tan(0.5 * turn);
    double start[3 * (MOST + 1)] = {0};
    FilRodDef rod = fil_rod_def_default();
    rod.model = FIL_ROD_DER;
    rod.element_count = count;
    rod.length = count * edge;
    rod.section = (FilSection){.kind = FIL_SECTION_GIVEN,
                               .bend = {8e-4 * c->force * outer * outer, 0.0},
                               .mass = 1e-3,
                               .radius = c->thickness,
                               .stretch = 1e4 * c->force};
    rod.section.bend[1] = rod.section.twist = rod.section.bend[0];
    rod.root.position[0] = -(TAIL + 0.5) * edge;
    rod.root.position[1] = outer;
    for (int i = TAIL; i <= TAIL + c->elements; i++) {
        start[3 * i + 2] = -2.0 * tan(0.5 * turn) / edge;
    }
    rod.start_curvatures = start;
    rod.start_count = count + 1;
    rod.root_end = (FilRodEnd){.kind = FIL_END_PINNED, .motion = draw_away, .user = c};
    rod.tip_end.kind = FIL_END_FREE;
    rod.damping = 1e-2;
    rod.drag = 1e-2;
    FilRod *made = trial_rod(t, &rod, 1, false);
    const FilRodLoad pull = {
        .s = rod.length,
        .force = {c->force * cos(c->phi), -c->force * sin(c->phi), 0.0}}; // clockwise
    trial_loads(t, made, &pull, 1);
    return made;
}

// What the drawn end needs, relative to T1.
static double held(const Trial *t, const Capstan *c) {
    int count;
    const FilContact *contacts = fil_world_contacts(t->world, &count);
    double sum[3] = {c->force * cos(c->phi), -c->force * sin(c->phi), 0.0};
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) {
            sum[k] += contacts[i].impulse[k] / step_length;
        }
    }
    return sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]) / c->force;
}

// T2 / T1, averaged while the rod slides on by one element.
static double capstan_ratio(Trial *t, Capstan *c) {
    enum { RUN_IN = 100, RUN = 400 };
    const FilRod *rod = build_capstan(t, c);
    if (rod == NULL) {
        return (double)NAN;
    }
    c->speed = fil_rod_length(rod) / (c->elements + 2 * TAIL) / (RUN * step_length);
    (void)trial_run(t, RUN_IN);
    double sum = 0.0;
    for (int k = 0; k < RUN && trial_step(t); k++) {
        sum += held(t, c) / RUN;
    }
    return sum;
}

// The ratio of one case, as a row, with so many elements for a quarter of a turn. Returns its
// error.
static double validate_ratio_of(Validation *v, const char *name, double mu, double phi, int fine,
                                double allowed) {
    Capstan c = {.mu = mu,
                 .phi = phi,
                 .elements = (int)(fine * phi / (0.5 * PI) + 0.5),
                 .radius = 0.1,
                 .thickness = 1e-5,
                 .force = 1.0};
    const double expected = exp(mu * phi);
    Trial t = trial_begin(v, name, "der", c.elements);
    double ratio = capstan_ratio(&t, &c);
    if (trial_holds(&t)) {
        validate_ratio(v, name, "der", c.elements, expected, ratio, allowed);
    }
    trial_end(&t);
    return fabs(ratio / expected - 1.0);
}

void validate_contact_capstan(Validation *v) {
    static const struct {
        double mu, phi;
        const char *name;
        double coarse, fine; // allowed with 6 and 12 elements for a quarter of a turn
    } list[] = {
        {0.1, 0.5 * PI, "capstan: T2 / T1, mu 0.1, a quarter of a turn", 0.0, 1.2e-3},
        {0.3, 0.5 * PI, "capstan: T2 / T1, mu 0.3, a quarter of a turn", 0.015, 1.5e-3},
        {0.1, PI, "capstan: T2 / T1, mu 0.1, half a turn", 0.0, 1.2e-3},
        {0.3, PI, "capstan: T2 / T1, mu 0.3, half a turn", 0.03, 5e-3},
        {0.1, 2.0 * PI, "capstan: T2 / T1, mu 0.1, a turn", 0.0, 1.2e-3},
        {0.3, 2.0 * PI, "capstan: T2 / T1, mu 0.3, a turn", 0.05, 0.012},
    };
    for (size_t k = 0; k < sizeof list / sizeof *list && !v->stopped(); k++) {
        const bool twice = list[k].coarse > 0.0;
        double coarse =
            twice ? validate_ratio_of(v, list[k].name, list[k].mu, list[k].phi, 6, list[k].coarse)
                  : 0.0;
        double fine = validate_ratio_of(v, list[k].name, list[k].mu, list[k].phi, 12, list[k].fine);
        if (twice && !v->stopped()) {
            validate_above(v, "capstan: the error falls, twice as fine, by", "der", 0, 3.0,
                           coarse / fine);
        }
    }
}
