// rivals.c - filum-rivals: the default solver beside four of Siconos, problem by problem.
//
//     filum-rivals TOL SECONDS REPEAT table|json [FILE...]
//
// `filum bench friction --rivals` runs it; it is never part of the product. Rules of the match:
//
// 1. Same problem, same tolerance, one thread, from r = 0; only the solve is timed, and the fastest
//    of a few counts.
// 2. Siconos gets the reduced problem u = W r + q, ready made, with its default options but for the
//    iteration limits. Which storage of W suits a solver depends on the problem (dense is five
//    times faster than sparse for 25 contacts, and ten times slower for 500): each solver is run
//    with two and the better one counts. The default solver gets the problem as the file holds it,
//    and reduces it on its own time.
// 3. A rival runs in a child process with a timer: it may hang or abort. A time counts when the
//    natural-map residual, measured by us, is below 1.5 times the tolerance; else it is SECONDS.
//    Siconos divides by more than |q| where impulses are large, and may stop too early by that
//    measure: it is then asked again for 10, and for 100 times less.
#define _DEFAULT_SOURCE // NOLINT(bugprone-reserved-identifier)
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <NumericsVerbose.h>
#include <SolverOptions.h>
#include <SparseBlockMatrix.h>

#include "cli.h"
#include "filum/fclib.h"
#include "friction/system.h"
#include "suite.h"

typedef struct Rival {
    const char *name;
    int id;
    int max_iterations;
    bool sweeps; // Gauss-Seidel: wants blocks
} Rival;

static const Rival rivals[] = {
    {"NSGS", SICONOS_FRICTION_3D_NSGS, 100000000, true},
    {"NSN_AC", SICONOS_FRICTION_3D_NSN_AC, 100000, false},
    {"NSN_FB", SICONOS_FRICTION_3D_NSN_FB, 100000, false},
    {"ADMM", SICONOS_FRICTION_3D_ADMM, 10000000, false},
};
enum { RIVALS = sizeof rivals / sizeof *rivals, DENSE_MOST = 100 };

typedef struct Match {
    double tol, seconds;
    int repeat;
    bool json;
    double log_all, log_large; // sums of the logarithms of the ratios
    int all, large, solved, won, beaten[RIVALS];
} Match;

// What came of one solver on one problem.
typedef struct Score {
    const char *fate; // "ok", "missed", "time", "crash", or an outcome of ours
    double seconds;   // of the solve, whatever came of it
    FilResidual residual;
} Score;

// Memory that a child shares with us.
typedef struct Shared {
    double seconds; // fastest solve so far; 0: none finished
    double r[];
} Shared;

// --- the problem for Siconos ---------------------------------------------------------------------

static NumericsMatrix *make_dense(const FilSystem *s) {
    const size_t size = (size_t)s->size;
    double *value = calloc(size * size, sizeof *value);
    for (int i = 0; value != NULL && i < s->n; i++) {
        for (int e = s->W.start[i]; e < s->W.start[i + 1]; e++) {
            for (int k = 0; k < 9; k++) { // by columns
                value[(3 * (size_t)s->W.column[e] + (size_t)(k % 3)) * size + 3 * (size_t)i +
                      (size_t)(k / 3)] = s->W.value[s->W.at[e] + k];
            }
        }
    }
    return NM_create_from_data(NM_DENSE, s->size, s->size, value);
}

static NumericsMatrix *make_sparse(const FilSystem *s) {
    NumericsMatrix *M = NM_create(NM_SPARSE, s->size, s->size);
    NM_triplet_alloc(M, 9 * (CS_INT)s->W.start[s->n]);
    for (int i = 0; i < s->n; i++) {
        for (int e = s->W.start[i]; e < s->W.start[i + 1]; e++) {
            for (int k = 0; k < 9; k++) {
                NM_zentry(M, 3 * i + k / 3, 3 * s->W.column[e] + k % 3, s->W.value[s->W.at[e] + k],
                          0.0);
            }
        }
    }
    (void)NM_csc(M);
    return M;
}

static NumericsMatrix *make_blocks(const FilSystem *s) {
    const size_t count = (size_t)s->W.start[s->n], n = (size_t)s->n;
    SparseBlockStructuredMatrix *S = SBM_new();
    S->nbblocks = (unsigned)count;
    S->blocknumber0 = S->blocknumber1 = (unsigned)n;
    S->block = calloc(count, sizeof *S->block);
    S->blocksize0 = calloc(n, sizeof *S->blocksize0);
    S->blocksize1 = calloc(n, sizeof *S->blocksize1);
    S->index1_data = calloc(n + 1, sizeof *S->index1_data);
    S->index2_data = calloc(count, sizeof *S->index2_data);
    S->filled1 = n + 1;
    S->filled2 = count;
    for (size_t i = 0; i < n; i++) {
        S->blocksize0[i] = S->blocksize1[i] = (unsigned)(3 * (i + 1));
        S->index1_data[i + 1] = (size_t)s->W.start[i + 1];
    }
    for (size_t e = 0; e < count; e++) {
        S->index2_data[e] = (size_t)s->W.column[e];
        S->block[e] = calloc(9, sizeof **S->block);
        for (int k = 0; k < 9; k++) { // by columns
            S->block[e][3 * (k % 3) + k / 3] = s->W.value[s->W.at[e] + k];
        }
    }
    return NM_create_from_data(NM_SPARSE_BLOCK, s->size, s->size, S);
}

// Each solve gets a fresh matrix, lest one profits from what another has left in it.
static NumericsMatrix *make_matrix(const FilSystem *s, NM_types storage) {
    return storage == NM_DENSE    ? make_dense(s)
           : storage == NM_SPARSE ? make_sparse(s)
                                  : make_blocks(s);
}

// --- a rival's turn ------------------------------------------------------------------------------

static void set_timer(double seconds) {
    struct itimerval timer = {{0, 0}, {(time_t)seconds, 0}};
    timer.it_value.tv_usec = (suseconds_t)(1e6 * (seconds - floor(seconds)));
    (void)setitimer(ITIMER_REAL, &timer, NULL);
}

static double solve_rival(const Rival *rival, NM_types storage, const Match *match,
                          const FilSystem *s, double *r) {
    double *u = calloc((size_t)s->size, sizeof *u), *reaction = calloc((size_t)s->size, sizeof *u);
    double *q = calloc((size_t)s->size, sizeof *q), *mu = calloc((size_t)s->n, sizeof *mu);
    memcpy(q, s->b, (size_t)s->size * sizeof *q);
    memcpy(mu, s->mu, (size_t)s->n * sizeof *mu);
    FrictionContactProblem problem = {3, s->n, make_matrix(s, storage), q, mu};
    SolverOptions *options = solver_options_create(rival->id);
    options->dparam[SICONOS_DPARAM_TOL] = match->tol;
    options->iparam[SICONOS_IPARAM_MAX_ITER] = rival->max_iterations;
    set_timer(match->seconds);
    const double start = cli_clock();
    (void)fc3d_driver(&problem, reaction, u, options);
    const double seconds = cli_clock() - start;
    set_timer(0.0);
    memcpy(r, reaction, (size_t)s->size * sizeof *r);
    free(q);
    free(mu);
    free(u);
    free(reaction);
    return seconds; // Siconos's memory goes with the process
}

// In the child; its death says the rest.
static _Noreturn void run_child(const Rival *rival, NM_types storage, const Match *match,
                                const FilSystem *s, Shared *shared) {
    const int silence = open("/dev/null", O_WRONLY);
    (void)dup2(silence, STDOUT_FILENO);
    (void)dup2(silence, STDERR_FILENO);
    numerics_set_verbose(0);
    double spent = 0.0;
    for (int k = 0; k < match->repeat && spent < 0.5; k++) {
        const double seconds = solve_rival(rival, storage, match, s, shared->r);
        shared->seconds = k == 0 || seconds < shared->seconds ? seconds : shared->seconds;
        spent += seconds;
    }
    _exit(0);
}

static bool is_ok(const Score *score) {
    return strcmp(score->fate, "ok") == 0;
}

static bool is_solved(const Match *match, const FilResidual *residual) {
    return residual->natural <= 1.5 * match->tol;
}

static Score play_to(const Rival *rival, NM_types storage, const Match *match,
                     const FilFrictionProblem *problem, const FilSystem *s, Shared *shared) {
    Score score = {.fate = "crash", .residual = {NAN, NAN, NAN}, .seconds = match->seconds};
    shared->seconds = 0.0;
    (void)fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        run_child(rival, storage, match, s, shared);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) {
        return score;
    }
    if (shared->seconds > 0.0) { // a repetition may still have died
        FilError error;
        bool finite = true;
        for (int k = 0; k < s->size; k++) {
            finite = finite && isfinite(shared->r[k]);
        }
        score.seconds = shared->seconds;
        score.fate = "missed";
        if (finite &&
            fil_friction_residual(problem, shared->r, NULL, &score.residual, &error) == FIL_OK) {
            score.fate = is_solved(match, &score.residual) ? "ok" : "missed";
        }
    } else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
        score.fate = "time";
    }
    return score;
}

// Again with a smaller tolerance where it stopped too early.
static Score play_once(const Rival *rival, NM_types storage, const Match *match,
                       const FilFrictionProblem *problem, const FilSystem *s, Shared *shared) {
    Match tighter = *match;
    Score score = play_to(rival, storage, match, problem, s, shared);
    for (int k = 0; k < 2 && strcmp(score.fate, "missed") == 0; k++) {
        tighter.tol *= 0.1;
        const Score again = play_to(rival, storage, &tighter, problem, s, shared);
        const double natural = again.residual.natural;
        score = natural <= score.residual.natural ? again : score;
        score.fate = natural <= 1.5 * match->tol ? "ok" : score.fate;
        if (strcmp(again.fate, "time") == 0 || strcmp(again.fate, "crash") == 0) {
            break;
        }
    }
    return score;
}

// With the two storages that may suit it; the better one counts.
static Score play(const Rival *rival, const Match *match, const FilFrictionProblem *problem,
                  const FilSystem *s, Shared *shared) {
    const bool small = s->n <= DENSE_MOST;
    const NM_types other = rival->sweeps ? NM_SPARSE_BLOCK : NM_SPARSE;
    const Score a = play_once(rival, small ? NM_DENSE : NM_SPARSE_BLOCK, match, problem, s, shared);
    if (rival->sweeps && !small) {
        return a;
    }
    const Score b = play_once(rival, other, match, problem, s, shared);
    const bool a_wins = is_ok(&a) ? !is_ok(&b) || a.seconds <= b.seconds : !is_ok(&b);
    return a_wins ? a : b;
}

// --- our turn ------------------------------------------------------------------------------------

static bool on_iteration(void *user, const FilFrictionProgress *progress) {
    (void)progress;
    return cli_clock() < *(const double *)user;
}

static Score play_auto(const Match *match, const FilFrictionProblem *problem, int size,
                       FilFrictionWorkspace *workspace) {
    Score score = {.fate = "crash", .residual = {NAN, NAN, NAN}, .seconds = match->seconds};
    FilFrictionSettings settings = fil_friction_settings_default();
    double end;
    settings.tolerance = settings.natural_tolerance = match->tol;
    settings.thread_count = 1;
    settings.on_iteration = on_iteration;
    settings.user = &end;
    double *memory = calloc(2 * (size_t)size + (size_t)problem->dof_count + 1, sizeof *memory);
    if (memory == NULL) {
        return score;
    }
    FilFrictionSolution solution = {.r = memory, .u = memory + size};
    double spent = 0.0;
    for (int k = 0; k < match->repeat && spent < 0.5; k++) {
        FilFrictionInfo info;
        FilError error;
        const double start = cli_clock();
        end = start + match->seconds;
        if (fil_friction_solve(problem, &settings, workspace, &solution, &info, &error) != FIL_OK) {
            score.fate = "error";
            break;
        }
        const double seconds = cli_clock() - start;
        spent += seconds;
        score.seconds = k == 0 || seconds < score.seconds ? seconds : score.seconds;
        score.residual = info.residual;
        score.fate = info.outcome == FIL_CONVERGED ? "ok" : fil_outcome_name(info.outcome);
    }
    free(memory);
    return score;
}

// --- report --------------------------------------------------------------------------------------

static double counted(const Match *match, const Score *score) {
    return is_ok(score) ? score->seconds : match->seconds;
}

static void print_cell(const Score *score) {
    char text[32];
    (void)snprintf(text, sizeof text, "%.3f", 1e3 * score->seconds);
    if (!is_ok(score)) {
        (void)snprintf(text, sizeof text, "%s", score->fate);
    }
    (void)printf("  %9s %-8.1e", text, score->residual.natural);
}

static void print_json_score(const char *name, const Score *score) {
    (void)printf(",\"%s\":{\"fate\":\"%s\"", name, score->fate);
    cli_print_json_number("seconds", score->seconds);
    cli_print_json_number("natural", score->residual.natural);
    cli_print_json_number("scaled", score->residual.scaled);
    (void)putchar('}');
}

static void report(Match *match, const char *name, int contacts, const Score *ours,
                   const Score theirs[RIVALS]) {
    int best = 0;
    for (int k = 0; k < RIVALS; k++) {
        best = counted(match, &theirs[k]) < counted(match, &theirs[best]) ? k : best;
        match->beaten[k] += is_ok(&theirs[k]);
    }
    const double ratio = counted(match, ours) / counted(match, &theirs[best]);
    match->all++;
    match->log_all += log(ratio);
    match->large += contacts >= 20;
    match->log_large += contacts >= 20 ? log(ratio) : 0.0;
    match->solved += is_ok(ours);
    match->won += is_ok(ours) && ratio < 1.0;
    if (match->json) {
        (void)fputs("{\"problem\":", stdout);
        cli_print_json_text(name);
        (void)printf(",\"contacts\":%d", contacts);
        print_json_score("auto", ours);
        for (int k = 0; k < RIVALS; k++) {
            print_json_score(rivals[k].name, &theirs[k]);
        }
        cli_print_json_number("ratio", ratio);
        (void)puts("}");
    } else {
        (void)printf("%-38.38s %5d", name, contacts);
        print_cell(ours);
        for (int k = 0; k < RIVALS; k++) {
            print_cell(&theirs[k]);
        }
        (void)printf("  %8.4f\n", ratio);
    }
    (void)fflush(stdout);
}

static void print_heading(const Match *match) {
    if (match->json) {
        return;
    }
    (void)printf("Tolerance %g, one thread, at most %g s each. Milliseconds, and the natural-map "
                 "residual reached, relative to |b|.\nratio: auto by the fastest rival, where not "
                 "solved counts as %g s.\n\n%-38s %5s",
                 match->tol, match->seconds, match->seconds, "problem", "n");
    (void)printf("  %-18s", "     auto residual");
    for (int k = 0; k < RIVALS; k++) {
        (void)printf("  %9s %-8s", rivals[k].name, "residual");
    }
    (void)puts("     ratio");
}

static void print_summary(const Match *match) {
    const double all = exp(match->log_all / match->all);
    const double large = exp(match->log_large / match->large);
    if (match->json) {
        (void)printf("{\"problems\":%d,\"large\":%d,\"solved\":%d,\"won\":%d", match->all,
                     match->large, match->solved, match->won);
        cli_print_json_number("geometric_mean_all", all);
        cli_print_json_number("geometric_mean_large", large);
        (void)puts("}");
        return;
    }
    (void)printf("\nsolved: auto %d of %d", match->solved, match->all);
    for (int k = 0; k < RIVALS; k++) {
        (void)printf(", %s %d", rivals[k].name, match->beaten[k]);
    }
    (void)printf("; auto is the fastest on %d\ngeometric mean of the ratio: %.4f over all %d "
                 "problems",
                 match->won, all, match->all);
    if (match->large > 0) {
        (void)printf(", %.4f over the %d of 20 contacts or more", large, match->large);
    }
    (void)putchar('\n');
}

// --- the match -----------------------------------------------------------------------------------

static int play_problem(Match *match, const char *name, const FilFrictionProblem *problem,
                        FilFrictionWorkspace *workspace) {
    FilArena arena = fil_arena_make(NULL), scratch = fil_arena_make(NULL);
    FilSystem s;
    Score theirs[RIVALS];
    int result = 3;
    if (fil_system_build(problem, &(FilSystemUse){.threads = 1}, &arena, &scratch, &s, NULL) ==
        FIL_OK) {
        const size_t bytes = sizeof(Shared) + (size_t)s.size * sizeof(double);
        Shared *shared =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (shared != MAP_FAILED) {
            const Score ours = play_auto(match, problem, s.size, workspace);
            for (int k = 0; k < RIVALS; k++) {
                theirs[k] = play(&rivals[k], match, problem, &s, shared);
            }
            report(match, name, s.n, &ours, theirs);
            (void)munmap(shared, bytes);
            result = is_ok(&ours) ? 0 : 1;
        }
    }
    fil_arena_destroy(&arena);
    fil_arena_destroy(&scratch);
    return result;
}

static int play_file(Match *match, const char *path, FilFrictionWorkspace *workspace) {
    FilFclib *file = NULL;
    FilError error;
    if (fil_fclib_read(path, NULL, &file, &error) != FIL_OK) {
        (void)fprintf(stderr, "filum: %s\n", error.text);
        return 3;
    }
    int result = 0;
    if (file->dimension != 3 || file->equality_count > 0 || file->contact_count == 0) {
        (void)fprintf(stderr,
                      "filum: %s: left out: the rivals want contacts in three dimensions "
                      "and no equalities\n",
                      path);
    } else {
        const char *slash = strrchr(path, '/');
        result = play_problem(match, slash != NULL ? slash + 1 : path, &file->problem, workspace);
    }
    fil_fclib_destroy(file);
    return result;
}

static int play_made(Match *match, int k, FilFrictionWorkspace *workspace) {
    const FilGenerateDef def = cli_suite_global(k);
    char name[CLI_SUITE_NAME];
    FilGenerated *made = NULL;
    FilError error;
    cli_suite_name(&def, name);
    if (fil_generate(&def, NULL, &made, &error) != FIL_OK) {
        (void)fprintf(stderr, "filum: %s\n", error.text);
        return 3;
    }
    const int result = play_problem(match, name, &made->problem, workspace);
    fil_generated_destroy(made);
    return result;
}

int main(int argc, char **argv) {
    if (argc < 5) {
        (void)fputs("usage: filum-rivals TOL SECONDS REPEAT table|json [FILE...]\n", stderr);
        return 2;
    }
    Match match = {.tol = strtod(argv[1], NULL),
                   .seconds = strtod(argv[2], NULL),
                   .repeat = (int)strtol(argv[3], NULL, 10),
                   .json = strcmp(argv[4], "json") == 0};
    FilFrictionWorkspace *workspace = NULL;
    if (fil_friction_workspace_create(NULL, &workspace, NULL) != FIL_OK) {
        return 3;
    }
    print_heading(&match);
    int worst = 0;
    for (int k = 0; k < (argc > 5 ? argc - 5 : CLI_SUITE_GLOBAL); k++) {
        const int result =
            argc > 5 ? play_file(&match, argv[5 + k], workspace) : play_made(&match, k, workspace);
        worst = result > worst ? result : worst;
    }
    fil_friction_workspace_destroy(workspace);
    if (match.all > 0) {
        print_summary(&match);
    }
    return worst;
}
