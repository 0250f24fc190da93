// element_kernels.h - the kernels of element.h for one instruction set. Included for each variant
// by math/variants.h.
// The functions that begin with INLINE are specialised for the number of degrees of freedom d.

#define INLINE FIL_TARGET static inline ALWAYS_INLINE void

INLINE FIL_KERNEL(cross)(const FilLanes *a, const FilLanes *b, FilLanes *out) {
    FilLanes x = a[1] * b[2] - a[2] * b[1];
    FilLanes y = a[2] * b[0] - a[0] * b[2];
    FilLanes z = a[0] * b[1] - a[1] * b[0];
    out[0] = x;
    out[1] = y;
    out[2] = z;
}

// out[i] = end + h sum_j until[i][j] slope[j] for `m` components, then end += h sum_j weights[j]
// slope[j]. Slopes of one node are 18 places from those of the next.
INLINE FIL_KERNEL(integrate)(const FilCollocation *rule, int m, const FilLanes *h,
                             const FilLanes *slope, FilLanes *out, int out_stride, FilLanes *end) {
    int n = rule->count;
    const double *row = rule->until;
    for (int i = 0; i <= n; i++) {
        FilLanes sum[9];
        FilLanes *to = out + i * out_stride;
        if (i == n) {
            row = rule->weights;
            to = end;
        }
        for (int c = 0; c < m; c++) {
            sum[c] = row[0] * slope[c];
        }
        for (int j = 1; j < n; j++) {
            const FilLanes *at = slope + (ptrdiff_t)18 * j;
            for (int c = 0; c < m; c++) {
                sum[c] += row[j] * at[c];
            }
        }
        for (int c = 0; c < m; c++) {
            to[c] = end[c] + *h * sum[c];
        }
        row += n;
    }
}

// Frame and its integral at the fraction x of a segment of constant curvature, from its start:
//     R = f0 1 + f1 [k]x + f2 k k^T,    integral of R = f1 1 + f2 [k]x + f3 k k^T.
INLINE FIL_KERNEL(turn_constant)(const FilLanes *k, const FilLanes *h, double x, int terms,
                                 FilLanes *R, FilLanes *theta) {
    FilLanes s = *h * x, square = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
    FilLanes z = -square * s * s;
    FilLanes f2 = z * inverse_factorial[2 * terms + 2] + inverse_factorial[2 * terms];
    FilLanes f3 = z * inverse_factorial[2 * terms + 3] + inverse_factorial[2 * terms + 1];
    for (int j = terms - 2; j >= 0; j--) {
        f2 = f2 * z + inverse_factorial[2 * j + 2];
        f3 = f3 * z + inverse_factorial[2 * j + 3];
    }
    f2 *= s * s;
    f3 *= s * s * s;
    FilLanes f1 = s - square * f3, f0 = 1.0 - square * f2;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            FilLanes kk = k[i] * k[j];
            R[3 * i + j] = f2 * kk;
            theta[3 * j + i] = f3 * kk;
        }
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, l = (i + 2) % 3; // [k]x has k[i] at (l, j) and -k[i] at (j, l)
        R[4 * i] += f0;
        R[3 * l + j] += f1 * k[i];
        R[3 * j + l] -= f1 * k[i];
        theta[4 * i] += f1;
        theta[3 * j + l] += f2 * k[i];
        theta[3 * l + j] -= f2 * k[i];
    }
}

// The same behind the segments before: R = R0 R, theta = theta0 + R0 theta.
INLINE FIL_KERNEL(follow)(const FilElementEnd *before, FilLanes *R, FilLanes *theta) {
    for (int j = 0; j < 3; j++) {
        FilLanes column[3] = {R[j], R[3 + j], R[6 + j]};
        FilLanes turned[3] = {theta[3 * j], theta[3 * j + 1], theta[3 * j + 2]};
        for (int i = 0; i < 3; i++) {
            const FilLanes *row = before->turn + 3 * i;
            R[3 * i + j] = row[0] * column[0] + row[1] * column[1] + row[2] * column[2];
            theta[3 * j + i] =
                before->theta[j][i] + row[0] * turned[0] + row[1] * turned[1] + row[2] * turned[2];
        }
    }
}

INLINE FIL_KERNEL(rotation)(const FilLanes *q, FilLanes *R) {
    FilLanes x = 2.0 * q[1], y = 2.0 * q[2], z = 2.0 * q[3];
    FilLanes wx = q[0] * x, wy = q[0] * y, wz = q[0] * z;
    FilLanes xx = q[1] * x, xy = q[1] * y, xz = q[1] * z;
    FilLanes yy = q[2] * y, yz = q[2] * z, zz = q[3] * z;
    R[0] = 1.0 - (yy + zz);
    R[1] = xy - wz;
    R[2] = xz + wy;
    R[3] = xy + wz;
    R[4] = 1.0 - (xx + zz);
    R[5] = yz - wx;
    R[6] = xz - wy;
    R[7] = yz + wx;
    R[8] = 1.0 - (xx + yy);
}

// out += f q (0, k), quaternions.
INLINE FIL_KERNEL(add_turned)(const FilLanes *q, const FilLanes *k, FilLanes *out) {
    out[0] -= q[1] * k[0] + q[2] * k[1] + q[3] * k[2];
    out[1] += q[0] * k[0] + q[2] * k[2] - q[3] * k[1];
    out[2] += q[0] * k[1] + q[3] * k[0] - q[1] * k[2];
    out[3] += q[0] * k[2] + q[1] * k[1] - q[2] * k[0];
}

// Coefficients of q(x) for q' = q (0, a + x b), x = 0 .. 1: (j + 1) q_{j+1} = q_j a + q_{j-1} b.
INLINE FIL_KERNEL(expand)(const FilLanes *a, const FilLanes *b, int terms, FilLanes (*q)[4]) {
    for (int j = 0; j + 1 < terms; j++) {
        FilLanes next[4] = {0};
        FIL_KERNEL(add_turned)(q[j], a, next);
        if (j > 0) {
            FIL_KERNEL(add_turned)(q[j - 1], b, next);
        }
        for (int c = 0; c < 4; c++) {
            q[j + 1][c] = next[c] * (1.0 / (j + 1));
        }
    }
}

INLINE FIL_KERNEL(evaluate)(FilLanes (*q)[4], int terms, double x, FilLanes *out) {
    for (int c = 0; c < 4; c++) {
        out[c] = q[terms - 1][c];
    }
    for (int j = terms - 2; j >= 0; j--) {
        for (int c = 0; c < 4; c++) {
            out[c] = out[c] * x + q[j][c];
        }
    }
}

typedef struct FIL_KERNEL(Run) {
    const FilElementIn *in;
    const FilCollocation *rule;
    FilElementNodes *at;
    FilElementEnd *end; // of the segments so far
    FilLanes q[4];      // the frame there
    FilLanes h;         // length of a segment
    double from, part;  // fractions of the element: where it starts, how long it is
    bool first;
} FIL_KERNEL(Run);

INLINE FIL_KERNEL(frames_helix)(FIL_KERNEL(Run) * run) {
    const FilCollocation *rule = run->rule;
    FilElementNodes *at = run->at;
    const FilLanes *k = run->in->kappa;
    for (int i = 0; i < rule->count; i++) {
        FIL_KERNEL(turn_constant)
        (k, &run->h, rule->nodes[i], rule->terms[0], at->R[i], at->theta[i][0]);
        if (!run->first) {
            FIL_KERNEL(follow)(run->end, at->R[i], at->theta[i][0]);
        }
        for (int c = 0; c < 3; c++) {
            at->r[i][c] = at->theta[i][0][c];
        }
    }
    FilLanes R[9], theta[9];
    FIL_KERNEL(turn_constant)(k, &run->h, 1.0, rule->terms[0], R, theta);
    if (!run->first) {
        FIL_KERNEL(follow)(run->end, R, theta);
    }
    for (int k9 = 0; k9 < 9; k9++) {
        run->end->turn[k9] = R[k9];
        run->end->theta[k9 / 3][k9 % 3] = theta[k9];
    }
}

// theta of the start value is the integral of (1 - u) R, that of the end value of u R.
INLINE FIL_KERNEL(frames_clothoid)(FIL_KERNEL(Run) * run) {
    const FilCollocation *rule = run->rule;
    FilElementNodes *at = run->at;
    FilLanes a[3], b[3], q[MAX_TERMS][4];
    int terms = rule->terms[1];
    for (int c = 0; c < 3; c++) {
        FilLanes rise = run->in->kappa[3 + c] - run->in->kappa[c];
        a[c] = 0.5 * run->h * (run->in->kappa[c] + run->from * rise);
        b[c] = 0.5 * run->h * (run->part * rise);
    }
    for (int c = 0; c < 4; c++) {
        q[0][c] = run->q[c];
    }
    FIL_KERNEL(expand)(a, b, terms, q);
    for (int i = 0; i < rule->count; i++) {
        FilLanes here[4];
        double u = run->from + run->part * rule->nodes[i];
        FIL_KERNEL(evaluate)(q, terms, rule->nodes[i], here);
        FIL_KERNEL(rotation)(here, at->R[i]);
        for (int c = 0; c < 3; c++) {
            for (int j = 0; j < 3; j++) {
                FilLanes late = at->R[i][3 * c + j] * u;
                at->slope[i][9 + 3 * j + c] = late;
                at->slope[i][3 * j + c] = at->R[i][3 * c + j] - late;
            }
        }
    }
    FIL_KERNEL(evaluate)(q, terms, 1.0, run->q);
    FIL_KERNEL(rotation)(run->q, run->end->turn);
    for (int part = 0; part < 2; part++) {
        FilLanes *end = run->end->theta[3 * part];
        FIL_KERNEL(integrate)
        (rule, 9, &run->h, at->slope[0] + 9 * part, at->theta[0][3 * part], 18, end);
    }
    for (int i = 0; i < rule->count; i++) {
        for (int c = 0; c < 3; c++) {
            at->r[i][c] = at->theta[i][0][c] + at->theta[i][3][c];
        }
    }
}

// D' = theta x t.
INLINE FIL_KERNEL(travels)(FIL_KERNEL(Run) * run, int d) {
    FilElementNodes *at = run->at;
    for (int i = 0; i < run->rule->count; i++) {
        FilLanes t[3] = {at->R[i][0], at->R[i][3], at->R[i][6]};
        for (int a = 0; a < d; a++) {
            FIL_KERNEL(cross)(at->theta[i][a], t, at->slope[i] + (size_t)3 * a);
        }
    }
    for (int part = 0; part < d; part += 3) {
        FilLanes *end = run->end->travel[part];
        FIL_KERNEL(integrate)
        (run->rule, 9, &run->h, at->slope[0] + (size_t)3 * part, at->travel[0][part], 18, end);
    }
}

// sum over the degrees of freedom of columns[a] k[a].
INLINE FIL_KERNEL(combine)(int d, FilLanes (*columns)[3], const FilLanes *k, FilLanes *out) {
    for (int c = 0; c < 3; c++) {
        FilLanes sum = columns[0][c] * k[0];
        for (int a = 1; a < d; a++) {
            sum += columns[a][c] * k[a];
        }
        out[c] = sum;
    }
}

// What the rates alone do: spin, drift, alpha' = spin x (R k) + R k', a' = alpha x t + spin x (spin
// x t); k' is their push.
INLINE FIL_KERNEL(biases)(FIL_KERNEL(Run) * run, int d) {
    FilElementNodes *at = run->at;
    const FilLanes *k = run->in->rate, *more = run->in->push, whirl = 1.0 - run->in->calm;
    int n = run->rule->count;
    for (int i = 0; i < n; i++) {
        FilLanes here[3], push[3], turned[3], u = {0};
        u += run->from + run->part * run->rule->nodes[i];
        FIL_KERNEL(combine)(d, at->theta[i], k, at->spin[i]);
        FIL_KERNEL(combine)(d, at->travel[i], k, at->drift[i]);
        for (int c = 0; c < 3; c++) {
            here[c] = d == 3 ? k[c] : k[c] + u * (k[d - 3 + c] - k[c]);
            push[c] = d == 3 ? more[c] : more[c] + u * (more[d - 3 + c] - more[c]);
        }
        for (int c = 0; c < 3; c++) {
            const FilLanes *row = at->R[i] + (size_t)3 * c;
            turned[c] = row[0] * here[0] + row[1] * here[1] + row[2] * here[2];
        }
        FIL_KERNEL(cross)(at->spin[i], turned, at->slope[i]);
        for (int c = 0; c < 3; c++) {
            const FilLanes *row = at->R[i] + (size_t)3 * c;
            at->slope[i][c] =
                whirl * at->slope[i][c] + (row[0] * push[0] + row[1] * push[1] + row[2] * push[2]);
        }
    }
    FilElementEnd *end = run->end;
    FIL_KERNEL(integrate)
    (run->rule, 3, &run->h, at->slope[0], at->alpha[0], 3, end->alpha);
    for (int i = 0; i < n; i++) {
        FilLanes t[3] = {at->R[i][0], at->R[i][3], at->R[i][6]}, moved[3], twice[3];
        FIL_KERNEL(cross)(at->alpha[i], t, at->slope[i]);
        FIL_KERNEL(cross)(at->spin[i], t, moved);
        FIL_KERNEL(cross)(at->spin[i], moved, twice);
        for (int c = 0; c < 3; c++) {
            at->slope[i][c] += whirl * twice[c];
        }
    }
    FIL_KERNEL(integrate)
    (run->rule, 3, &run->h, at->slope[0], at->acceleration[0], 3, end->acceleration);
}

INLINE FIL_KERNEL(run_start)(const FilElementIn *in, FilElementWork *work, FilElementEnd *end,
                             FIL_KERNEL(Run) * run) {
    *run = (FIL_KERNEL(Run)){.in = in, .rule = work->rule, .at = &work->nodes, .end = end};
    *end = (FilElementEnd){0};
    run->q[0] = run->q[0] + 1.0;
    run->part = 1.0 / work->segments;
    run->h = in->length * run->part;
}

INLINE FIL_KERNEL(run_segment)(FIL_KERNEL(Run) * run, int d, int segment) {
    run->first = segment == 0;
    run->from = segment * run->part;
    if (d == 3) {
        FIL_KERNEL(frames_helix)(run);
    } else {
        FIL_KERNEL(frames_clothoid)(run);
    }
    FIL_KERNEL(travels)(run, d);
    FIL_KERNEL(biases)(run, d);
}

INLINE FIL_KERNEL(find_end)(int d, const FilElementIn *in, FilElementWork *work,
                            FilElementEnd *end) {
    FIL_KERNEL(Run) run;
    FIL_KERNEL(run_start)(in, work, end, &run);
    for (int segment = 0; segment < work->segments; segment++) {
        FIL_KERNEL(run_segment)(&run, d, segment);
    }
    for (int c = 0; c < 3; c++) {
        end->place[c] = d == 3 ? end->theta[0][c] : end->theta[0][c] + end->theta[d - 3][c];
    }
}

// Mass matrix: the parts of the start.
INLINE FIL_KERNEL(sum_rigid)(const FIL_KERNEL(Run) * run, FilElementSums *sums) {
    const FilElementNodes *at = run->at;
    FilLanes moment[3] = {0}, tt[6] = {0}, rr[6] = {0};
    for (int i = 0; i < run->rule->count; i++) {
        FilLanes w = run->h * run->rule->weights[i];
        FilLanes t[3] = {at->R[i][0], at->R[i][3], at->R[i][6]};
        const FilLanes *r = at->r[i];
        for (int a = 0, k = 0; a < 3; a++) {
            moment[a] += w * r[a];
            for (int b = a; b < 3; b++, k++) {
                rr[k] += w * (r[a] * r[b]);
                tt[k] += w * (t[a] * t[b]);
            }
        }
    }
    const FilLanes m = run->in->mass, J = run->in->spin;
    sums->mass += m * run->h;
    for (int a = 0; a < 3; a++) {
        sums->moment[a] += m * moment[a];
    }
    FilLanes trace = rr[0] + rr[3] + rr[5];
    for (int k = 0; k < 6; k++) {
        sums->ww[k] += J * tt[k] - m * rr[k];
    }
    sums->ww[0] += m * trace;
    sums->ww[3] += m * trace;
    sums->ww[5] += m * trace;
}

// Mass matrix: the parts of the curvature. `slope` takes the weighted columns.
INLINE FIL_KERNEL(sum_curvature)(FIL_KERNEL(Run) * run, int d, FilElementSums *sums) {
    FilElementNodes *at = run->at;
    int n = run->rule->count;
    for (int i = 0; i < n; i++) {
        FilLanes t[3] = {at->R[i][0], at->R[i][3], at->R[i][6]};
        for (int a = 0; a < d; a++) {
            const FilLanes *theta = at->theta[i][a];
            at->along[i][a] = t[0] * theta[0] + t[1] * theta[1] + t[2] * theta[2];
        }
    }
    for (int a = 0, k = 0; a < d; a++) {
        FilLanes vk[3] = {0}, wk[3] = {0}, kk[6] = {0};
        for (int i = 0; i < n; i++) {
            FilLanes wm = run->h * run->rule->weights[i] * run->in->mass;
            FilLanes ws = run->h * run->rule->weights[i] * run->in->spin * at->along[i][a];
            FilLanes D[3], arm[3];
            for (int c = 0; c < 3; c++) {
                D[c] = wm * at->travel[i][a][c];
                vk[c] += D[c];
            }
            FIL_KERNEL(cross)(at->r[i], D, arm);
            for (int c = 0; c < 3; c++) {
                wk[c] += arm[c] + ws * at->R[i][3 * c];
            }
            for (int b = 0; b <= a; b++) {
                const FilLanes *E = at->travel[i][b];
                kk[b] += D[0] * E[0] + D[1] * E[1] + D[2] * E[2] + ws * at->along[i][b];
            }
        }
        for (int c = 0; c < 3; c++) {
            sums->vk[a][c] += vk[c];
            sums->wk[a][c] += wk[c];
        }
        for (int b = 0; b <= a; b++, k++) {
            sums->kk[k] += kk[b];
        }
    }
}

// Momentum and known forces at node i: p, of which `pull` is the force, and torque about the place
// itself.
INLINE FIL_KERNEL(load_node)(const FIL_KERNEL(Run) * run, const FilElementStart *start, int i,
                             FilLanes *p, FilLanes *pull, FilLanes *torque) {
    const FilElementNodes *at = run->at;
    const FilElementIn *in = run->in;
    FilLanes v[3], a[3], spin[3], twice[3], t[3], swing[3], alpha[3], whirl = 1.0 - in->calm;
    FIL_KERNEL(cross)(start->w, at->r[i], v);        // w x r
    FIL_KERNEL(cross)(start->bw, at->r[i], a);       // b_w x r
    FIL_KERNEL(cross)(start->w, at->spin[i], alpha); // w x spin
    for (int c = 0; c < 3; c++) {
        twice[c] = v[c] + 2.0 * at->drift[i][c];
        v[c] += start->v[c] + at->drift[i][c];
        a[c] += start->bv[c] + at->acceleration[i][c];
        spin[c] = start->w[c] + at->spin[i][c];
        alpha[c] = whirl * alpha[c] + start->bw[c] + at->alpha[i][c];
        t[c] = at->R[i][3 * c];
    }
    FIL_KERNEL(cross)(start->w, twice, swing);
    for (int c = 0; c < 3; c++) {
        pull[c] = in->force * (a[c] + whirl * swing[c]);
        p[c] = in->momentum * v[c] - pull[c];
    }
    FilLanes rate = spin[0] * t[0] + spin[1] * t[1] + spin[2] * t[2];
    FilLanes gain = alpha[0] * t[0] + alpha[1] * t[1] + alpha[2] * t[2];
    FilLanes along = in->spin_momentum * rate - in->spin_force * gain;
    FilLanes across = whirl * in->spin_force * rate;
    FIL_KERNEL(cross)(spin, t, swing);
    for (int c = 0; c < 3; c++) {
        torque[c] = along * t[c] - across * swing[c];
    }
}

INLINE FIL_KERNEL(sum_forces)(const FIL_KERNEL(Run) * run, int d, const FilElementStart *start,
                              FilElementSums *sums) {
    const FilElementNodes *at = run->at;
    FilLanes hv[3] = {0}, hw[3] = {0}, hk[6] = {0};
    for (int i = 0; i < run->rule->count; i++) {
        FilLanes w = run->h * run->rule->weights[i];
        FilLanes p[3], pull[3], torque[3], arm[3];
        FIL_KERNEL(load_node)(run, start, i, p, pull, torque);
        for (int c = 0; c < 3; c++) {
            sums->pull[c] -= w * pull[c];
            p[c] *= w;
            torque[c] *= w;
        }
        FIL_KERNEL(cross)(at->r[i], p, arm);
        for (int c = 0; c < 3; c++) {
            hv[c] += p[c];
            hw[c] += arm[c] + torque[c];
        }
        for (int a = 0; a < d; a++) {
            const FilLanes *D = at->travel[i][a], *theta = at->theta[i][a];
            hk[a] += D[0] * p[0] + D[1] * p[1] + D[2] * p[2] + theta[0] * torque[0] +
                     theta[1] * torque[1] + theta[2] * torque[2];
        }
    }
    for (int c = 0; c < 3; c++) {
        sums->hv[c] += hv[c];
        sums->hw[c] += hw[c];
    }
    for (int a = 0; a < d; a++) {
        sums->hk[a] += hk[a];
    }
}

INLINE FIL_KERNEL(find_sums)(int d, const FilElementIn *in, const FilElementStart *start,
                             FilElementWork *work, FilElementSums *sums) {
    FIL_KERNEL(Run) run;
    FilElementEnd end;
    FIL_KERNEL(run_start)(in, work, &end, &run);
    *sums = (FilElementSums){0};
    for (int segment = 0; segment < work->segments; segment++) {
        if (work->segments > 1) { // else the nodes are those of find_end()
            FIL_KERNEL(run_segment)(&run, d, segment);
        }
        if (work->parts != FIL_ELEMENT_FORCES) {
            FIL_KERNEL(sum_rigid)(&run, sums);
        }
        if (work->parts == FIL_ELEMENT_ALL) {
            FIL_KERNEL(sum_curvature)(&run, d, sums);
        }
        FIL_KERNEL(sum_forces)(&run, d, start, sums);
    }
}

FIL_TARGET static void FIL_KERNEL(helix_end)(const FilElementIn *in, FilElementWork *work,
                                             FilElementEnd *end) {
    FIL_KERNEL(find_end)(3, in, work, end);
}

FIL_TARGET static void FIL_KERNEL(helix_sums)(const FilElementIn *in, const FilElementStart *start,
                                              FilElementWork *work, FilElementSums *sums) {
    FIL_KERNEL(find_sums)(3, in, start, work, sums);
}

FIL_TARGET static void FIL_KERNEL(clothoid_end)(const FilElementIn *in, FilElementWork *work,
                                                FilElementEnd *end) {
    FIL_KERNEL(find_end)(6, in, work, end);
}

FIL_TARGET static void FIL_KERNEL(clothoid_sums)(const FilElementIn *in,
                                                 const FilElementStart *start, FilElementWork *work,
                                                 FilElementSums *sums) {
    FIL_KERNEL(find_sums)(6, in, start, work, sums);
}

static const FilElementKernels FIL_KERNEL(kernels)[2] = {
    {FIL_VARIANT, FIL_KERNEL(helix_end), FIL_KERNEL(helix_sums)},
    {FIL_VARIANT, FIL_KERNEL(clothoid_end), FIL_KERNEL(clothoid_sums)},
};

#undef INLINE
