// der_kernels.h - the kernels of der_energy.h for one instruction set. Included for each variant
// by math/variants.h.
// Four joints, or four edges, are worked on side by side, one in each lane. What an edge gets from
// the joint before it comes from the lane to the left. Lanes beyond the last edge repeat it with
// springs of no stiffness: what they add is 0.

#define INLINE FIL_TARGET static inline ALWAYS_INLINE void

// Rows become columns.
INLINE FIL_KERNEL(transpose)(Lanes *a) {
    Lanes low = __builtin_shufflevector(a[0], a[1], 0, 4, 2, 6);
    Lanes high = __builtin_shufflevector(a[0], a[1], 1, 5, 3, 7);
    Lanes low2 = __builtin_shufflevector(a[2], a[3], 0, 4, 2, 6);
    Lanes high2 = __builtin_shufflevector(a[2], a[3], 1, 5, 3, 7);
    a[0] = __builtin_shufflevector(low, low2, 0, 1, 4, 5);
    a[1] = __builtin_shufflevector(high, high2, 0, 1, 4, 5);
    a[2] = __builtin_shufflevector(low, low2, 2, 3, 6, 7);
    a[3] = __builtin_shufflevector(high, high2, 2, 3, 6, 7);
}

// out[k] = number k of the four arrays `from`, for `count` numbers.
INLINE FIL_KERNEL(load)(const double *const from[4], int count, Lanes *out) {
    int k = 0;
    for (; k + 4 <= count; k += 4) {
        for (int l = 0; l < 4; l++) {
            out[k + l] = *(const LooseLanes *)(from[l] + k);
        }
        FIL_KERNEL(transpose)(out + k);
    }
    for (; k < count; k++) {
        out[k] = (Lanes){from[0][k], from[1][k], from[2][k], from[3][k]};
    }
}

// The way back, for the first `lanes` of the four arrays; `in` is lost.
INLINE FIL_KERNEL(store)(Lanes *in, int count, int lanes, double *const to[4]) {
    int k = 0;
    for (; k + 4 <= count; k += 4) {
        FIL_KERNEL(transpose)(in + k);
        for (int l = 0; l < lanes; l++) {
            *(LooseLanes *)(to[l] + k) = in[k + l];
        }
    }
    for (; k < count; k++) {
        for (int l = 0; l < lanes; l++) {
            to[l][k] = in[k][l];
        }
    }
}

// What edge j gets from the joints j - 1: the lanes of `now` one to the right, after the last of
// `before`.
INLINE FIL_KERNEL(shift)(const Lanes *before, const Lanes *now, Lanes *out) {
    *out = __builtin_shufflevector(*before, *now, 3, 4, 5, 6);
}

INLINE FIL_KERNEL(cross)(const Lanes *a, const Lanes *b, Lanes *out) {
    Lanes x = a[1] * b[2] - a[2] * b[1];
    Lanes y = a[2] * b[0] - a[0] * b[2];
    Lanes z = a[0] * b[1] - a[1] * b[0];
    out[0] = x;
    out[1] = y;
    out[2] = z;
}

INLINE FIL_KERNEL(dot)(const Lanes *a, const Lanes *b, Lanes *out) {
    *out = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

INLINE FIL_KERNEL(root)(const Lanes *a, Lanes *out) {
    Lanes in = *a;
    *out = (Lanes){sqrt(in[0]), sqrt(in[1]), sqrt(in[2]), sqrt(in[3])};
}

// --- loading -------------------------------------------------------------------------------------

INLINE FIL_KERNEL(load_edges)(const FilEdge *edges, int count, int j, EdgeLanes *out) {
    const double *from[4];
    for (int l = 0; l < 4; l++) {
        from[l] = (const double *)&edges[j + l < count ? j + l : count - 1];
    }
    FIL_KERNEL(load)(from, 8, (Lanes *)out);
}

// The joints j .. j + 3 of a rod of `count` edges.
INLINE FIL_KERNEL(load_joints)(const FilShape *shape, const FilBendSpring *springs, int count,
                               int j, JointLanes *out) {
    static const FilBendSpring none = {{0.0}, {0.0}};
    const double *bend[4], *spring[4];
    for (int l = 0; l < 4; l++) {
        bool real = j + l + 1 < count;
        bend[l] = (const double *)&shape->bends[real ? j + l : 0];
        spring[l] = real ? (const double *)&springs[j + l] : (const double *)&none;
    }
    FIL_KERNEL(load_edges)(shape->edges, count, j, &out->e);
    FIL_KERNEL(load_edges)(shape->edges, count, j + 1, &out->f);
    FIL_KERNEL(load)(bend, 10, (Lanes *)&out->bend);
    FIL_KERNEL(load)(spring, 6, out->spring);
}

INLINE FIL_KERNEL(load_stretch)(const FilSprings *springs, int count, int j, const Lanes *length,
                                Lanes *k, Lanes *tension) {
    for (int l = 0; l < 4; l++) {
        bool real = j + l < count;
        const FilEdgeSpring *spring = &springs->stretch[real ? j + l : count - 1];
        (*k)[l] = real ? spring->k : 0.0;
        (*tension)[l] = real ? spring->k * ((*length)[l] - spring->rest) : 0.0;
        if (real && springs->tension != NULL) {
            (*tension)[l] = springs->tension[j + l];
        }
    }
}

// --- placing -------------------------------------------------------------------------------------

// Edges to where the nodes x are, with the frames of `from` carried along.
FIL_TARGET static void FIL_KERNEL(place_edges)(int first, int last, const FilEdge *from,
                                               const double *x, FilEdge *edges) {
    for (int j = first; j < last; j += 4) {
        EdgeLanes old, new;
        const double *at[4];
        double *to[4];
        Lanes a[6], length, along, open, factor, n2[3];
        int lanes = last - j < 4 ? last - j : 4;
        bool turns = false;
        for (int l = 0; l < 4; l++) {
            int edge = j + l < last ? j + l : last - 1;
            at[l] = x + 3 * (ptrdiff_t)edge;
            to[l] = (double *)&edges[edge];
            new.spin[l] = edges[edge].spin;
        }
        FIL_KERNEL(load)(at, 6, a);
        FIL_KERNEL(load_edges)(from, last, j, &old);
        for (int k = 0; k < 3; k++) {
            a[k] = a[3 + k] - a[k];
        }
        FIL_KERNEL(dot)(a, a, &length);
        FIL_KERNEL(root)(&length, &new.length);
        for (int k = 0; k < 3; k++) {
            new.t[k] = a[k] / new.length;
        }
        // n - (n . t) / (1 + t0 . t) (t0 + t); where they are opposite, any way will do
        FIL_KERNEL(dot)(old.n1, new.t, &along);
        FIL_KERNEL(dot)(old.t, new.t, &open);
        open += 1.0;
        factor = (Lanes)((open > 1e-12) & (LaneBits)(along / open));
        for (int k = 0; k < 3; k++) {
            new.n1[k] = old.n1[k] - factor *(old.t[k] + new.t[k]);
        }
        FIL_KERNEL(dot)(new.n1, new.t, &along);
        for (int k = 0; k < 3; k++) { // take the round-off out
            new.n1[k] -= along *new.t[k];
        }
        FIL_KERNEL(dot)(new.n1, new.n1, &length);
        FIL_KERNEL(root)(&length, &factor);
        Lanes turn = new.spin - old.spin, c = {0.0}, s = {0.0};
        for (int l = 0; l < 4; l++) {
            turns |= turn[l] != 0.0;
            c[l] = turn[l] != 0.0 ? cos(turn[l]) : 1.0;
            s[l] = turn[l] != 0.0 ? sin(turn[l]) : 0.0;
        }
        for (int k = 0; k < 3; k++) {
            new.n1[k] /= factor;
        }
        if (turns) {
            FIL_KERNEL(cross)(new.t, new.n1, n2);
            for (int k = 0; k < 3; k++) {
                new.n1[k] = c *new.n1[k] + s *n2[k];
            }
        }
        FIL_KERNEL(store)((Lanes *)&new, 8, lanes, to);
    }
}

// Joints between the edges of `to`; twists are those of `from` and what the edges turned by since.
FIL_TARGET static void FIL_KERNEL(place_joints)(int count, const FilShape *from, FilShape *to) {
    for (int j = 0; j + 1 < count; j += 4) {
        EdgeLanes e, f;
        BendLanes bend;
        double *out[4];
        Lanes a[3], b[3], c, s, half[2], along;
        int lanes = count - 1 - j < 4 ? count - 1 - j : 4;
        FIL_KERNEL(load_edges)(to->edges, count, j, &e);
        FIL_KERNEL(load_edges)(to->edges, count, j + 1, &f);
        FIL_KERNEL(dot)(e.t, f.t, &c);
        bend.inverse = 1.0 / (1.0 + c);
        FIL_KERNEL(cross)(e.t, f.t, bend.kb);
        FIL_KERNEL(dot)(e.n1, f.t, &along);
        along = (Lanes)((c > 1e-12 - 1.0) & (LaneBits)(along * bend.inverse));
        for (int k = 0; k < 3; k++) {
            bend.kb[k] *= 2.0 * bend.inverse;
            a[k] = e.n1[k] - along * (e.t[k] + f.t[k]);
        }
        FIL_KERNEL(cross)(f.t, a, b);
        FIL_KERNEL(dot)(a, f.n1, &c);
        FIL_KERNEL(dot)(b, f.n1, &s);
        for (int l = 0; l < 4; l++) {
            int at = l < lanes ? j + l : j;
            const FilEdge *new = &to->edges[at], *old = &from->edges[at];
            double near = from->bends[at].kappa[0], parts[2];
            near += (new[1].spin - old[1].spin) - (new[0].spin - old[0].spin);
            bend.kappa[0][l] = unwind(c[l], s[l], near, parts);
            half[0][l] = parts[0];
            half[1][l] = parts[1];
            out[l] = (double *)&to->bends[at];
        }
        FIL_KERNEL(cross)(e.t, e.n1, a);
        for (int k = 0; k < 3; k++) {
            bend.d1[k] = half[0] * e.n1[k] + half[1] * a[k];
        }
        FIL_KERNEL(cross)(e.t, bend.d1, a);
        FIL_KERNEL(dot)(bend.kb, bend.d1, &bend.kappa[1]);
        FIL_KERNEL(dot)(bend.kb, a, &bend.kappa[2]);
        FIL_KERNEL(store)((Lanes *)&bend, 10, lanes, out);
    }
}

// --- gradient ------------------------------------------------------------------------------------

// Stresses and the vectors made of them.
INLINE FIL_KERNEL(stress)(const JointLanes *in, StressLanes *out) {
    const Lanes *kappa = in->bend.kappa, *k = in->spring;
    Lanes along, M[3];
    FIL_KERNEL(cross)(in->e.t, in->bend.d1, out->d2);
    for (int i = 0; i < 3; i++) {
        out->b[i] = (in->e.t[i] + in->f.t[i]) * in->bend.inverse;
        M[i] = out->M[i] = k[i] * (kappa[i] - k[3 + i]);
    }
    out->S = M[1] * kappa[1] + M[2] * kappa[2];
    for (int i = 0; i < 3; i++) {
        out->w[i] = M[1] * in->bend.d1[i] + M[2] * out->d2[i];
    }
    FIL_KERNEL(dot)(out->w, in->f.t, &along);
    for (int i = 0; i < 3; i++) {
        out->wf[i] = out->w[i] - along * out->b[i];
        out->W[i] = (out->w[i] + out->wf[i]) * in->bend.inverse;
    }
}

// By the four variables of every edge, [count][4].
FIL_TARGET static void FIL_KERNEL(gradient)(int count, const FilShape *shape,
                                            const FilSprings *springs, double *g) {
    Lanes carried[4] = {{0.0}};
    for (int j = 0; j < count; j += 4) {
        JointLanes in;
        StressLanes joint;
        Lanes right[3], left[3], sum[4], next[4], k = {0.0}, tension = {0.0};
        double *out[4];
        int lanes = count - j < 4 ? count - j : 4;
        FIL_KERNEL(load_joints)(shape, springs->bend, count, j, &in);
        FIL_KERNEL(load_stretch)(springs, count, j, &in.e.length, &k, &tension);
        FIL_KERNEL(stress)(&in, &joint);
        FIL_KERNEL(cross)(in.f.t, joint.W, right);
        FIL_KERNEL(cross)(in.e.t, joint.W, left);
        for (int i = 0; i < 3; i++) {
            Lanes twist = 0.5 * joint.M[0] * in.bend.kb[i], shrink = joint.S * joint.b[i];
            sum[i] = (right[i] - shrink + twist) / in.e.length + tension * in.e.t[i];
            next[i] = (twist - left[i] - shrink) / in.f.length;
        }
        Lanes across = 0.5 * (joint.M[1] * in.bend.kappa[2] - joint.M[2] * in.bend.kappa[1]);
        sum[3] = across - joint.M[0];
        next[3] = across + joint.M[0];
        for (int i = 0; i < 4; i++) {
            Lanes before;
            FIL_KERNEL(shift)(&carried[i], &next[i], &before);
            sum[i] += before;
            carried[i] = next[i];
            out[i] = g + 4 * (ptrdiff_t)(j + i);
        }
        FIL_KERNEL(store)(sum, 4, lanes, out);
    }
}

// --- Hessian -------------------------------------------------------------------------------------

// Derivatives of one of kappa1 and kappa2 by the variables of both edges. `d` is its axis, kappa
// itself and `turned` what it changes by with a turn of the middle frame.
INLINE FIL_KERNEL(differentiate)(const JointLanes *in, const StressLanes *joint, const Lanes *d,
                                 const Lanes *kappa, const Lanes *turned, Lanes (*out)[4]) {
    Lanes D[3], right[3], left[3], along;
    FIL_KERNEL(dot)(d, in->f.t, &along);
    for (int k = 0; k < 3; k++) {
        D[k] = (2.0 * d[k] - along * joint->b[k]) * in->bend.inverse;
    }
    FIL_KERNEL(cross)(in->f.t, D, right);
    FIL_KERNEL(cross)(in->e.t, D, left);
    for (int k = 0; k < 3; k++) {
        out[0][k] = joint->inverse[0] * (right[k] - *kappa * joint->b[k]);
        out[1][k] = -joint->inverse[1] * (left[k] + *kappa * joint->b[k]);
    }
    out[0][3] = out[1][3] = 0.5 * *turned;
}

// One edge's own block of stresses times second derivatives: `w` on the edge, `Q` its part of the
// gradient of S, `cross` its part of d/ds.
INLINE FIL_KERNEL(add_own)(const StressLanes *joint, const BendLanes *bend, const EdgeLanes *edge,
                           int side, const Lanes *Q, const Lanes *cross, Lanes *H) {
    Lanes inverse = joint->inverse[side], S = joint->S, diagonal, kb[3], y[3], b[3];
    const Lanes *w = side == 0 ? joint->w : joint->wf;
    diagonal = S * bend->inverse * inverse * inverse;
    for (int k = 0; k < 3; k++) {
        kb[k] = bend->kb[k] * inverse;
        y[k] = inverse * (0.25 * w[k] + S * (1.0 / 32.0) * bend->kb[k] -
                          0.25 * joint->M[0] * (edge->t[k] + joint->b[k]));
        b[k] = -inverse * joint->b[k];
    }
    for (int i = 0; i < 3; i++) {
        for (int j = i; j < 3; j++) {
            Lanes *h = H + place_of[i][j];
            *h += kb[i] * y[j] + y[i] * kb[j] + Q[i] * b[j] + b[i] * Q[j];
            *h += diagonal * edge->t[i] * edge->t[j];
        }
        H[place_of[i][i]] -= diagonal;
        H[place_of[i][3]] += cross[i];
    }
    H[place_of[3][3]] -= 0.25 * S;
}

// The block between the two edges.
INLINE FIL_KERNEL(add_between)(const StressLanes *joint, const JointLanes *in, Lanes (*Q)[3],
                               Lanes (*cross)[3], Lanes *H) {
    const BendLanes *bend = &in->bend;
    Lanes le = joint->inverse[0], lf = joint->inverse[1], both = le * lf, S = joint->S;
    Lanes diagonal = both * S * bend->inverse, turn[3];
    for (int k = 0; k < 3; k++) { // the axial vector of the antisymmetric part
        turn[k] = both * (joint->M[0] * bend->inverse * in->e.t[k] - joint->W[k]);
    }
    for (int i = 0; i < 3; i++) {
        Lanes first = both * (1.0 / 16.0) * S * bend->kb[i];
        Lanes second = 0.5 * both * joint->M[0] * bend->kb[i] + lf * Q[0][i];
        Lanes third = le * joint->b[i], fourth = diagonal * in->e.t[i];
        for (int j = 0; j < 3; j++) {
            H[4 * i + j] +=
                first * bend->kb[j] - second * joint->b[j] - third * Q[1][j] - fourth * in->f.t[j];
        }
        H[5 * i] -= diagonal;
        H[4 * i + 3] += cross[0][i];
        H[12 + i] += cross[1][i];
    }
    H[1] -= turn[2];
    H[2] += turn[1];
    H[4] += turn[2];
    H[6] -= turn[0];
    H[8] -= turn[1];
    H[9] += turn[0];
    H[15] -= 0.25 * S;
}

INLINE FIL_KERNEL(add_stresses)(const JointLanes *in, const StressLanes *joint, Lanes (*grad)[2][4],
                                BlockLanes *H) {
    const Lanes *M = joint->M;
    Lanes Q[2][3], cross[2][3];
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 3; k++) {
            Q[i][k] = M[1] * grad[1][i][k] + M[2] * grad[2][i][k];
            cross[i][k] = 0.5 * (M[1] * grad[2][i][k] - M[2] * grad[1][i][k]);
        }
    }
    FIL_KERNEL(add_own)(joint, &in->bend, &in->e, 0, Q[0], cross[0], H->own[0]);
    FIL_KERNEL(add_own)(joint, &in->bend, &in->f, 1, Q[1], cross[1], H->own[1]);
    FIL_KERNEL(add_between)(joint, in, Q, cross, H->between);
}

// Stiffness times the gradient of a strain times itself.
INLINE FIL_KERNEL(add_spring)(const Lanes *stiffness, Lanes (*grad)[4], BlockLanes *H) {
    Lanes stiff[2][4];
    for (int i = 0; i < 4; i++) {
        stiff[0][i] = *stiffness * grad[0][i];
        stiff[1][i] = *stiffness * grad[1][i];
    }
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            H->between[4 * i + j] += stiff[0][i] * grad[1][j];
            if (j >= i) {
                H->own[0][place_of[i][j]] += stiff[0][i] * grad[0][j];
                H->own[1][place_of[i][j]] += stiff[1][i] * grad[1][j];
            }
        }
    }
}

// The blocks of four joints.
INLINE FIL_KERNEL(bend_blocks)(const JointLanes *in, FilHessianPart part, BlockLanes *H) {
    StressLanes joint;
    Lanes grad[3][2][4];
    const Lanes *kappa = in->bend.kappa, turned = -kappa[1];
    FIL_KERNEL(stress)(in, &joint);
    joint.inverse[0] = 1.0 / in->e.length;
    joint.inverse[1] = 1.0 / in->f.length;
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 3; k++) {
            grad[0][i][k] = 0.5 * in->bend.kb[k] * joint.inverse[i];
        }
        grad[0][i][3] = (Lanes){0.0} + (i == 0 ? -1.0 : 1.0);
    }
    FIL_KERNEL(differentiate)(in, &joint, in->bend.d1, &kappa[1], &kappa[2], grad[1]);
    FIL_KERNEL(differentiate)(in, &joint, joint.d2, &kappa[2], &turned, grad[2]);
    *H = (BlockLanes){0};
    for (int k = 0; k < 3; k++) {
        FIL_KERNEL(add_spring)(&in->spring[k], grad[k], H);
    }
    if (part != FIL_HESSIAN_STRESSFREE) {
        FIL_KERNEL(add_stresses)(in, &joint, grad, H);
    }
}

// own += the stretch of four edges; tension gives an edge stiffness across itself.
INLINE FIL_KERNEL(add_stretch)(const FilSprings *springs, int count, int j, const EdgeLanes *e,
                               FilHessianPart part, Lanes *own) {
    Lanes k = {0.0}, tension = {0.0};
    FIL_KERNEL(load_stretch)(springs, count, j, &e->length, &k, &tension);
    Lanes across = tension / e->length;
    if (part == FIL_HESSIAN_STRESSFREE) {
        across = (Lanes){0.0};
    } else if (part == FIL_HESSIAN_CLIPPED) {
        across = (Lanes)((across > 0.0) & (LaneBits)across);
    }
    Lanes along = k - across;
    for (int i = 0; i < 3; i++) {
        for (int l = i; l < 3; l++) {
            own[place_of[i][l]] += along * e->t[i] * e->t[l];
        }
        own[place_of[i][i]] += across;
    }
}

// Rows of the unknowns of four nodes and the edges after them in the upper half of the band, from
// the blocks of the edges around: node i ends edge i - 1 and begins edge i.
INLINE FIL_KERNEL(fill_rows)(int stride, const Lanes *before, const Lanes *own, const Lanes *into,
                             const Lanes *out, Lanes *rows) {
    int count = 2 * stride + 3;
    for (int a = 0; a < 3; a++) {
        Lanes line[12] = {{0.0}};
        for (int b = 0; b < 3; b++) {
            int ab = 4 * a + b, at = place_of[a][b];
            line[b] = before[at] + own[at] - into[ab] - into[4 * b + a];
            line[stride + b] = into[ab] - own[at] + out[ab];
            line[2 * stride + b] = -out[ab];
        }
        if (stride == 4) {
            line[3] = into[4 * a + 3] - own[place_of[a][3]];
            line[7] = -out[4 * a + 3];
        }
        for (int k = 0; k < count; k++) {
            rows[count * a + k] = k + a < count ? line[k + a] : (Lanes){0.0};
        }
    }
    if (stride == 4) {
        Lanes *row = rows + 3 * (ptrdiff_t)count;
        row[0] = own[place_of[3][3]];
        for (int b = 0; b < 3; b++) {
            row[1 + b] = own[place_of[b][3]] - out[12 + b];
            row[5 + b] = out[12 + b];
            row[8 + b] = (Lanes){0.0};
        }
        row[4] = out[15];
    }
}

// A ghost's vector and turn are given: edge `ghost`, the block after or before it.
INLINE FIL_KERNEL(forget)(int own, int between, int j, Lanes *blocks, Lanes *pairs) {
    for (int k = 0; k < 10 && own >= j && own < j + 4; k++) {
        blocks[k][own - j] = 0.0;
    }
    for (int k = 0; k < 16 && between >= j && between < j + 4; k++) {
        pairs[k][between - j] = 0.0;
    }
}

INLINE FIL_KERNEL(hessian_of)(int stride, const FilShape *shape, const FilSprings *springs,
                              FilHessianPart part, const FilBandFrame *frame, double *band) {
    enum { OWN = 10, PAIR = 16 };
    int count = frame->edge_count, size = stride * (2 * stride + 3);
    Lanes last_f[OWN] = {{0.0}}, last_own[OWN] = {{0.0}}, last_pair[PAIR] = {{0.0}};
    for (int j = 0; j <= count; j += 4) {
        JointLanes in;
        BlockLanes H;
        Lanes own[OWN], before[OWN], into[PAIR], rows[44];
        double *to = band + (ptrdiff_t)size * j;
        FIL_KERNEL(load_joints)(shape, springs->bend, count, j, &in);
        FIL_KERNEL(bend_blocks)(&in, part, &H);
        for (int k = 0; k < OWN; k++) {
            FIL_KERNEL(shift)(&last_f[k], &H.own[1][k], &own[k]);
            own[k] += H.own[0][k];
            last_f[k] = H.own[1][k];
        }
        FIL_KERNEL(add_stretch)(springs, count, j, &in.e, part, own);
        if (frame->ghosts[0] == 1) {
            FIL_KERNEL(forget)(0, 0, j, own, H.between);
        }
        if (frame->ghosts[1] == 1) {
            FIL_KERNEL(forget)(count - 1, count - 2, j, own, H.between);
        }
        for (int k = 0; k < PAIR; k++) {
            H.between[k] *= frame->factor;
            FIL_KERNEL(shift)(&last_pair[k], &H.between[k], &into[k]);
            last_pair[k] = H.between[k];
        }
        for (int k = 0; k < OWN; k++) {
            own[k] *= frame->factor;
            FIL_KERNEL(shift)(&last_own[k], &own[k], &before[k]);
            last_own[k] = own[k];
        }
        FIL_KERNEL(fill_rows)(stride, before, own, into, H.between, rows);
        for (int k = size; k % 4 != 0; k++) {
            rows[k] = (Lanes){0.0};
        }
        for (int k = 0; k < size; k += 4) {
            FIL_KERNEL(transpose)(rows + k);
        }
        // node by node: the last vector of one may reach into the first row of the next
        for (int l = 0; l < 4 && j + l <= count; l++) {
            for (int k = 0; k < size; k += 4) {
                *(LooseLanes *)(to + k) = rows[k + l];
            }
            to += size;
        }
    }
}

FIL_TARGET static void FIL_KERNEL(hessian)(const FilShape *shape, const FilSprings *springs,
                                           FilHessianPart part, const FilBandFrame *frame,
                                           double *band) {
    if (frame->stride == 4) {
        FIL_KERNEL(hessian_of)(4, shape, springs, part, frame, band);
    } else {
        FIL_KERNEL(hessian_of)(3, shape, springs, part, frame, band);
    }
}

static const FilDerKernels FIL_KERNEL(kernels) = {
    .name = FIL_VARIANT,
    .place_edges = FIL_KERNEL(place_edges),
    .place_joints = FIL_KERNEL(place_joints),
    .gradient = FIL_KERNEL(gradient),
    .hessian = FIL_KERNEL(hessian),
};

#undef INLINE
