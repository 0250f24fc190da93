// nodal_section.c - the frame of a section anywhere along a rod of nodes and edges.
//
// Frames of edges belong to their middles. Between the middles of two edges e and f lies the cell
// of the node that joins them; a section at the part w of the cell has the frame that comes from
// that of e when its tangent goes to
//     t = u / |u|,    u = (1 - w) te + w tf,
// without spin, and then turns about t by w times the twist m of the joint. w goes with the
// compliance, not the length: where the two elements differ the softer one takes more. An end that
// is held has a cell too, of half an edge, between it and the middle of the edge. The half edge
// before an end that is free or pinned has none; its frame is that of the edge (w = 0).
//
// To this comes what the cell does by itself, between ends that stay: its natural shape bends and
// twists in it, and so does a torque that acts inside. With c the compliance from the middle of e
// on, C that of the cell and a torque at b, the section at a turns by
//     natural(a) - w natural(C) + (c(min(a, b)) - c(a) c(b) / C) torque,
// where at a free end, whose section is not held, C is infinite. So the tip of a rod under a torque
// turns by all of it and not by half an element less, while the torque acts on the last edge alone:
// the half edge beyond it is in balance by itself.
//
// Motion. With te' = (e' - (e' . te) te) / le, and s' the spin of an edge about itself,
//     t' = (1 - t t^T) ((1 - w) te' + w tf') / |u|,
//     spin = t x t' + (w m' + se' - kb(w) . (te' + t') / 2) t,
//     m' = sf' - se' + kb . (te' + tf') / 2,    kb(w) = 2 te x t / (1 + te . t),
// for the twist between two directions changes by half kb times how they turn (Bergou et al. 2008).
// That depends on the edges' vectors and not on their frames; so does the force of a torque, whose
// derivative by them, made symmetric, is the torque's part of the Hessian.
#include "nodal.h"

#include <string.h>

#include "math/rotation.h"
#include "math/vec3.h"

// What lies between two middles, or a middle and an end.
typedef struct Cell {
    int e, f;        // edges; the same one before an end that is not held
    double sign;     // -1 where distances count towards the root: before a free root
    double parts[2]; // m: of e and of f
} Cell;

static bool is_open(const Cell *cell) {
    return cell->e == cell->f;
}

static double half_length(const FilRod *rod, int edge) {
    int element = fil_nodal_element(rod, edge);
    return element >= 0 ? 0.5 * rod->lengths[element] : 0.0;
}

// The cell of a section; returns how far into it the section is.
static double find_cell(const FilRod *rod, int element, double u, Cell *cell) {
    const FilNodal *nodal = rod->data;
    int j = element + nodal->ghosts[0], e = u >= 0.5 ? j : j - 1;
    double length = rod->lengths[element];
    if (e < 0 || e + 1 >= nodal->edge_count) {
        *cell = (Cell){j, j, e < 0 ? -1.0 : 1.0, {0.5 * length, 0.0}};
        return fabs(u - 0.5) * length;
    }
    *cell = (Cell){e, e + 1, 1.0, {half_length(rod, e), half_length(rod, e + 1)}};
    return e == j ? (u - 0.5) * length : cell->parts[0] + u * length;
}

// The compliance of the first `a` metres of a cell, rad / (N m).
static void sum_compliance(const FilRod *rod, const Cell *cell, double a, double sum[3]) {
    double parts[2] = {fmin(a, cell->parts[0]), fmax(a - cell->parts[0], 0.0)};
    sum[0] = sum[1] = sum[2] = 0.0;
    for (int side = 0; side < 2; side++) {
        int element = fil_nodal_element(rod, side == 0 ? cell->e : cell->f);
        for (int k = 0; k < 3 && element >= 0; k++) {
            sum[k] += parts[side] / rod->sections[element].kappa[k];
        }
    }
}

// The integral of the natural curvature over the first `a` metres of a cell.
static void sum_natural(const FilRod *rod, const Cell *cell, double a, double sum[3]) {
    double parts[2] = {fmin(a, cell->parts[0]), fmax(a - cell->parts[0], 0.0)};
    sum[0] = sum[1] = sum[2] = 0.0;
    for (int side = 0; side < 2; side++) {
        int element = fil_nodal_element(rod, side == 0 ? cell->e : cell->f);
        if (element < 0) {
            continue;
        }
        const double *ends = rod->natural + 6 * (ptrdiff_t)element;
        double middle = 0.5 * cell->sign * parts[side] / rod->lengths[element];
        middle += side == 0 ? 0.5 : 0.0;
        for (int k = 0; k < 3; k++) {
            double kappa = (1.0 - middle) * ends[k] + middle * ends[3 + k];
            sum[k] += cell->sign * parts[side] * kappa;
        }
    }
}

// What torques inside the cell add to the turn of the section at `a`, in its own axes.
static void add_torques(const FilRod *rod, const Cell *cell, double a, const double axis[3][3],
                        double angle[3]) {
    for (int l = 0; l < rod->load_count; l++) {
        const FilRodLoad *load = &rod->loads[l];
        if (fil_norm3(load->torque) == 0.0) {
            continue;
        }
        Cell other;
        double u;
        int element = fil_rod_locate(rod, load->s, &u);
        double b = find_cell(rod, element, u, &other);
        if (other.e != cell->e || other.f != cell->f || other.sign != cell->sign) {
            continue;
        }
        double near[3], here[3], there[3], all[3];
        sum_compliance(rod, cell, fmin(a, b), near);
        sum_compliance(rod, cell, a, here);
        sum_compliance(rod, cell, b, there);
        sum_compliance(rod, cell, cell->parts[0] + cell->parts[1], all);
        for (int k = 0; k < 3; k++) {
            double held = is_open(cell) ? 0.0 : here[k] * there[k] / all[k];
            angle[k] += (near[k] - held) * fil_dot3(axis[k], load->torque);
        }
    }
}

// The frame between those of e and f.
static void interpolate(const FilEdge *e, const FilEdge *f, double twist,
                        FilNodalSection *section) {
    double(*axis)[3] = section->axis, w = section->bend, u[3];
    for (int k = 0; k < 3; k++) {
        u[k] = (1.0 - w) * e->t[k] + w * f->t[k];
    }
    section->shrink = fil_norm3(u);
    for (int k = 0; k < 3; k++) {
        axis[0][k] = u[k] / section->shrink;
    }
    FilEdge middle;
    fil_edge_carry(e, axis[0], section->twist * twist, &middle);
    fil_copy3(middle.t, axis[0]);
    fil_copy3(middle.n1, axis[1]);
    fil_cross3(axis[0], axis[1], axis[2]);
}

// axis <- axis turned by `angle`, seen from itself.
static void turn_axes(double axis[3][3], const double angle[3]) {
    double Q[9], old[3][3];
    if (angle[0] == 0.0 && angle[1] == 0.0 && angle[2] == 0.0) {
        return;
    }
    memcpy(old, axis, sizeof old);
    fil_rotation_exp(angle, Q);
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 3; i++) {
            axis[k][i] = Q[k] * old[0][i] + Q[3 + k] * old[1][i] + Q[6 + k] * old[2][i];
        }
    }
}

// Whether the cell is of one section and one natural curvature: then w is a part of its length and
// it does nothing by itself.
static bool is_plain(const FilRod *rod, const Cell *cell) {
    int e = fil_nodal_element(rod, cell->e), f = fil_nodal_element(rod, cell->f);
    e = e < 0 ? f : e;
    f = f < 0 ? e : f;
    const double *K = rod->sections[e].kappa, *L = rod->sections[f].kappa;
    const double *from = rod->natural + 6 * (ptrdiff_t)e, *to = rod->natural + 6 * (ptrdiff_t)f;
    bool plain = true;
    for (int k = 0; k < 3; k++) {
        plain &= K[k] == L[k] && from[k] == from[3 + k] && from[k] == to[k] && from[k] == to[3 + k];
    }
    return plain && !is_open(cell);
}

// How far from e to f the section at `a` is, and what the natural shape adds to its turn.
static void find_parts(const FilRod *rod, const Cell *cell, double a, FilNodalSection *section,
                       double angle[3]) {
    double here[3], all[3], whole[3], length = cell->parts[0] + cell->parts[1];
    if (is_plain(rod, cell)) {
        section->bend = section->twist = fmin(a / length, 1.0);
        angle[0] = angle[1] = angle[2] = 0.0;
        return;
    }
    sum_natural(rod, cell, a, angle);
    if (is_open(cell)) {
        return;
    }
    sum_compliance(rod, cell, a, here);
    sum_compliance(rod, cell, length, all);
    sum_natural(rod, cell, length, whole);
    section->twist = fmin(here[0] / all[0], 1.0);
    section->bend = fmin((here[1] + here[2]) / (all[1] + all[2]), 1.0);
    for (int k = 0; k < 3; k++) {
        angle[k] -= (k == 0 ? section->twist : section->bend) * whole[k];
    }
}

void fil_nodal_find_section(const FilRod *rod, int element, double u, FilNodalSection *section) {
    const FilNodal *nodal = rod->data;
    const FilEdge *edges = nodal->start.edges;
    Cell cell;
    double a = find_cell(rod, element, u, &cell), angle[3];
    *section = (FilNodalSection){.e = cell.e, .f = cell.f};
    find_parts(rod, &cell, a, section, angle);
    interpolate(&edges[cell.e], &edges[cell.f],
                is_open(&cell) ? 0.0 : nodal->start.bends[cell.e].kappa[0], section);
    fil_copy3(section->axis[0], section->t);
    if (a == 0.0 || (!is_open(&cell) && a >= cell.parts[0] + cell.parts[1])) {
        return; // the frame of an edge as it is
    }
    add_torques(rod, &cell, a, (const double(*)[3])section->axis, angle);
    turn_axes(section->axis, angle);
}

// map[0] = factor [t]x P / length + t row^T, with P = 1 - te te^T and row at right angles to te.
static void fill_map(const FilEdge *edge, const double t[3], double factor, const double row[3],
                     double map[9]) {
    double cross[9], side[3];
    fil_cross_matrix3(t, cross);
    fil_cross3(t, edge->t, side); // [t]x te
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            map[3 * i + j] =
                (factor * (cross[3 * i + j] - side[i] * edge->t[j]) + t[i] * row[j]) / edge->length;
        }
    }
}

void fil_nodal_find_turn(const FilRod *rod, const FilNodalSection *section, FilNodalTurn *turn) {
    const FilNodal *nodal = rod->data;
    const FilEdge *e = &nodal->start.edges[section->e], *f = &nodal->start.edges[section->f];
    const double *t = section->t;
    double w = section->bend, before = (1.0 - w) / section->shrink, after = w / section->shrink;
    double kb[3], rows[2][3];
    fil_cross3(e->t, t, kb);
    double open = 1.0 + fil_dot3(e->t, t);
    for (int k = 0; k < 3; k++) {
        double own = kb[k] / open; // half of kb(w)
        double whole = section->e == section->f ? 0.0 : 0.5 * nodal->start.bends[section->e].kb[k];
        rows[0][k] = section->twist * whole - (1.0 + before) * own;
        rows[1][k] = section->twist * whole - after * own;
        turn->spin[0][k] = (1.0 - section->twist) * t[k];
        turn->spin[1][k] = section->twist * t[k];
    }
    fill_map(e, t, before, rows[0], turn->edge[0]);
    fill_map(f, t, after, rows[1], turn->edge[1]);
}

void fil_nodal_let_ghosts(const FilRod *rod, const FilNodalSection *section, FilNodalTurn *turn) {
    const int edges[2] = {section->e, section->f};
    for (int side = 0; side < 2; side++) {
        if (fil_nodal_element(rod, edges[side]) < 0) {
            memset(turn->edge[side], 0, sizeof turn->edge[side]);
            memset(turn->spin[side], 0, sizeof turn->spin[side]);
        }
    }
}

// --- how a torque's force changes ----------------------------------------------------------------

// Numbers of a section that depend on g = te . tf alone, and how they change with it.
typedef struct Bent {
    double n, dn;       // |u|
    double Y[2], dY[2]; // factors of te x tf in the spin about t
} Bent;

static Bent find_bent(const FilNodalSection *section, double g) {
    double w = section->bend, a = 1.0 - w, n = section->shrink, m = section->twist;
    double dn = a * w / n, q = 1.0 + (a + w * g) / n, dq = (w - (a + w * g) * dn / n) / n;
    double k = 1.0 / (1.0 + g), dk = -k * k; // kb is 2 k te x tf, kb(w) is 2 b te x tf
    double b = w / (n * q), db = -b * (dn / n + dq / q);
    return (Bent){n,
                  dn,
                  {m * k - b * (1.0 + a / n), m * k - b * w / n},
                  {m * dk - db * (1.0 + a / n) + b * a * dn / (n * n),
                   m * dk - db * w / n + b * w * dn / (n * n)}};
}

// A torque's work, by te', tf' and the turns, is X[0] . te' + X[1] . tf' + along (spin parts), with
//     X = part (torque x u) / n^2 + along Y te x tf,    along = torque . u / n.
typedef struct TorqueForm {
    double u[3], side[3], c[3]; // u, torque x u, te x tf
    double along, X[2][3];
} TorqueForm;

static void fill_form(const FilEdge *const edges[2], const FilNodalSection *section,
                      const Bent *bent, const double torque[3], TorqueForm *form) {
    const double parts[2] = {1.0 - section->bend, section->bend};
    for (int k = 0; k < 3; k++) {
        form->u[k] = parts[0] * edges[0]->t[k] + parts[1] * edges[1]->t[k];
    }
    fil_cross3(torque, form->u, form->side);
    fil_cross3(edges[0]->t, edges[1]->t, form->c);
    form->along = fil_dot3(torque, form->u) / bent->n;
    for (int side = 0; side < 2; side++) {
        for (int k = 0; k < 3; k++) {
            form->X[side][k] = parts[side] * form->side[k] / (bent->n * bent->n) +
                               form->along * bent->Y[side] * form->c[k];
        }
    }
}

// One column: the forces on (e, turn of e, f, turn of f) change by `out` when the vector of edge
// `moved` changes by `d`.
static void vary_form(const FilEdge *const edges[2], const FilNodalSection *section,
                      const TorqueForm *form, const double torque[3], int moved, const double d[3],
                      double out[8]) {
    const double parts[2] = {1.0 - section->bend, section->bend};
    Bent bent = find_bent(section, fil_dot3(edges[0]->t, edges[1]->t));
    const FilEdge *edge = edges[moved], *other = edges[1 - moved];
    double n = bent.n, dt[3], longer = fil_dot3(edge->t, d), turned[3], dc[3];
    for (int k = 0; k < 3; k++) {
        dt[k] = (d[k] - longer * edge->t[k]) / edge->length;
    }
    fil_cross3(torque, dt, turned);
    fil_cross3(dt, other->t, dc);
    double dg = fil_dot3(dt, other->t), dn = bent.dn * dg, sign = moved == 0 ? 1.0 : -1.0;
    double dalong = (parts[moved] * fil_dot3(torque, dt) - form->along * dn) / n;
    for (int side = 0; side < 2; side++) {
        const FilEdge *on = edges[side];
        double dX[3], *to = out + 4 * (ptrdiff_t)side;
        for (int k = 0; k < 3; k++) {
            double swing = parts[moved] * turned[k] - 2.0 * form->side[k] * dn / n;
            dX[k] = parts[side] * swing / (n * n) +
                    (dalong * bent.Y[side] + form->along * bent.dY[side] * dg) * form->c[k] +
                    form->along * bent.Y[side] * sign * dc[k];
        }
        // of (X - (X . t) t) / length
        double own = side == moved ? 1.0 : 0.0, X = fil_dot3(form->X[side], on->t);
        double dXt = fil_dot3(dX, on->t) + own * fil_dot3(form->X[side], dt);
        for (int k = 0; k < 3; k++) {
            double force = form->X[side][k] - X * on->t[k];
            to[k] = dX[k] - dXt * on->t[k] - own * (X * dt[k] + force * longer / on->length);
            to[k] /= on->length;
        }
        to[3] = (side == 0 ? 1.0 - section->twist : section->twist) * dalong;
    }
}

void fil_nodal_torque_hessian(const FilRod *rod, const FilNodalSection *section,
                              const double torque[3], double H[64]) {
    const FilNodal *nodal = rod->data;
    const int index[2] = {section->e, section->f};
    const FilEdge *const edges[2] = {&nodal->start.edges[section->e],
                                     &nodal->start.edges[section->f]};
    double D[64] = {0.0};
    TorqueForm form;
    Bent bent = find_bent(section, fil_dot3(edges[0]->t, edges[1]->t));
    fill_form(edges, section, &bent, torque, &form);
    for (int c = 0; c < 8; c++) {
        double column[8], d[3] = {0.0};
        if (c % 4 == 3) {
            continue;
        }
        d[c % 4] = 1.0;
        vary_form(edges, section, &form, torque, c / 4, d, column);
        for (int r = 0; r < 8; r++) {
            D[8 * r + c] = column[r];
        }
    }
    for (int k = 0; k < 64; k++) {
        int r = k / 8, c = k % 8;
        bool given =
            fil_nodal_element(rod, index[r / 4]) < 0 || fil_nodal_element(rod, index[c / 4]) < 0;
        H[k] = given ? 0.0 : 0.5 * (D[k] + D[8 * c + r]);
    }
}
