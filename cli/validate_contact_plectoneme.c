// validate_contact_plectoneme.c - a twisted rod under tension winds around itself.
//
// A rod of radius r, bending stiffness B and twisting stiffness C is turned at its ends and pulled
// with T. Beyond a threshold a part of it, of the length l, winds into a double helix whose strands
// touch: radius r, angle alpha between strand and axis. Per length, its curvature is sin^2(alpha) /
// r and it takes sin(2 alpha) / (2 r) of turning from the twist tau of the rod. The energy
//     1/2 B sin^4(alpha) / r^2 l + 1/2 C tau^2 L + T l,    tau L + sin(2 alpha) / (2 r) l given,
// is stationary where, with the torque M = C tau (Clauvelin, Audoly and Neukirch, Mechanical
// response of plectonemic DNA, Macromolecules 41, 4479, 2008),
//     M = 2 B / r   sin^3(alpha) cos(alpha) / cos(2 alpha),
//     T = B / r^2   sin^4(alpha) (1/2 + 1 / cos(2 alpha)),
// whatever the number of turns: T chooses the pitch 2 pi r / tan(alpha) and the torque.
//
// A straight rod is twisted to nine tenths of what would buckle it under T, and buckles under less;
// then it is pulled with T. Angle and torque are compared when it has come to rest, the angle as
// half of that between the strands where they touch, away from the ends of the double helix. The
// end loop and the beginning, which the theory leaves out, are a quarter of it here: 3 % are
// allowed.
#include "validate_contact.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

enum { ELEMENTS = 100 };

static const double radius = 1e-3, bend = 7.85e-6, twist = 1.5 * 7.85e-6; // m, N m^2

// A rod of the twist tau along x that deviates a little from a straight one, and where to.
static FilRod *add_twisted(Trial *t, double tau) {
    const double length = 0.2;
    double start[3 * (ELEMENTS + 1)];
    for (int i = 0; i <= ELEMENTS; i++) {
        double s = length * (i - 0.5 * ELEMENTS) / ELEMENTS, x = s / 0.02;
        double kappa = 5.0 * x * exp(-x * x);
        start[3 * i] = tau;
        start[3 * i + 1] = kappa * cos(tau * s);
        start[3 * i + 2] = -kappa * sin(tau * s);
    }
    FilRodDef rod = fil_rod_def_default();
    rod.model = FIL_ROD_DER;
    rod.element_count = ELEMENTS;
    rod.length = length;
    rod.section = (FilSection){.kind = FIL_SECTION_GIVEN,
                               .bend = {bend, bend},
                               .twist = twist,
                               .mass = 3.5e-3,
                               .radius = radius};
    rod.start_curvatures = start;
    rod.start_count = ELEMENTS + 1;
    rod.tip_end.kind = FIL_END_SLIDING;
    rod.damping = 1e-2;
    rod.drag = 0.2;
    return trial_rod(t, &rod, 1, true);
}

static double push_of(const FilContact *contact) {
    return contact->impulse[0] * contact->normal[0] + contact->impulse[1] * contact->normal[1] +
           contact->impulse[2] * contact->normal[2];
}

typedef struct Helix {
    double angle, radius; // between strand and axis; m
} Helix;

// Of the double helix, weighted by what presses, but for a fifth at either end.
static Helix look_at(const Trial *t, const FilRod *rod) {
    int count;
    const FilContact *contacts = fil_world_contacts(t->world, &count);
    double low = INFINITY, high = 0.0, all = 0.0;
    for (int i = 0; i < count; i++) {
        double between = fabs(contacts[i].a.s - contacts[i].b.s);
        if (push_of(&contacts[i]) > 0.0) {
            low = fmin(low, between);
            high = fmax(high, between);
        }
    }
    Helix helix = {0};
    for (int i = 0; i < count; i++) {
        const double push = push_of(&contacts[i]);
        const double between = fabs(contacts[i].a.s - contacts[i].b.s), cut = 0.2 * (high - low);
        if (push <= 0.0 || between < low + cut || between > high - cut) {
            continue;
        }
        FilPose a, b;
        fil_rod_at(rod, contacts[i].a.s, &a, NULL);
        fil_rod_at(rod, contacts[i].b.s, &b, NULL);
        double along = 0.0, apart = 0.0;
        for (int k = 0; k < 3; k++) {
            along -= a.axis[0][k] * b.axis[0][k]; // they run in opposite directions
            apart += pow(a.position[k] - b.position[k], 2.0);
        }
        all += push;
        helix.angle += push * 0.5 * acos(fmax(fmin(along, 1.0), -1.0));
        helix.radius += push * 0.5 * sqrt(apart);
    }
    helix.angle /= all; // NaN when nothing touches
    helix.radius /= all;
    return helix;
}

static void validate_tension(Validation *v, const char *name, double angle) {
    const double tension =
        bend / (radius * radius) * pow(sin(angle), 4.0) * (0.5 + 1.0 / cos(2.0 * angle));
    const double torque =
        2.0 * bend / radius * pow(sin(angle), 3.0) * cos(angle) / cos(2.0 * angle);
    Trial t = trial_begin(v, name, "der", ELEMENTS);
    FilWorldDef def = trial_world_def(5e-3);
    memset(def.gravity, 0, sizeof def.gravity);
    trial_world(&t, &def, 0.0, 0.0);
    FilRod *rod = add_twisted(&t, 0.9 * 2.0 * sqrt(bend * tension) / twist);
    for (int k = 0; k < 2; k++) {
        const FilRodLoad pull = {.s = 0.2, .force = {k == 0 ? 0.3 * tension : tension, 0.0, 0.0}};
        trial_loads(&t, rod, &pull, 1);
        (void)trial_run(&t, k == 0 ? 60 : 220);
    }
    if (trial_holds(&t)) {
        double kappa[3];
        Helix helix = look_at(&t, rod);
        fil_rod_curvature_at(rod, ELEMENTS / 8, 0.5, kappa);
        validate_ratio(v, name, "der", ELEMENTS, 2.0 * PI / tan(angle), 2.0 * PI / tan(helix.angle),
                       0.03);
        validate_ratio(v, "plectoneme: its radius (radii)", "der", ELEMENTS, 1.0,
                       helix.radius / radius, 1e-6);
        validate_ratio(v, "plectoneme: torque (M r / B)", "der", ELEMENTS, torque * radius / bend,
                       twist * kappa[0] * radius / bend, 0.03);
        validate_below(v, "plectoneme: pairs missed", "der", ELEMENTS, t.missed, 0.0);
        validate_below(v, "plectoneme: penetration (radii)", "der", ELEMENTS,
                       t.penetration / radius, 0.15);
    }
    trial_end(&t);
}

void validate_contact_plectoneme(Validation *v) {
    validate_tension(v, "plectoneme: pitch (radii), T r^2 / B = 0.013", 0.3);
    validate_tension(v, "plectoneme: pitch (radii), T r^2 / B = 0.006", 0.25);
}
