// cmd_demo.c - filum demo: something to look at in a few seconds.
//
// A table of hard problems, made from seeds and solved on the spot, and pictures that the program
// draws itself, with a page that shows them together.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "cli.h"
#include "demo.h"
#include "files.h"

#include "filum/generate.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Options {
    const char *out;
    bool force;
} Options;

static const CliOption option_table[] = {
    CLI_OPTION_TEXT("out", "DIR", out, "folder for the pictures; default filum-demo"),
    CLI_OPTION_FLAG("force", force, "replace files that exist"),
};

CliRegime cli_regime(double mu, const double *r, const double *u, double impulse, double speed) {
    if (!(r[0] > impulse)) {
        return CLI_OPEN;
    }
    // on the cone and moving; one that is frictionless slides whatever it does
    return mu == 0.0 || hypot(u[1], u[2]) > speed ? CLI_SLIDE : CLI_STICK;
}

// --- the table -----------------------------------------------------------------------------------

enum { BAR = 24 };

// Colours of the regimes on a terminal that wants them.
static bool is_colourful(void) {
    const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(STDOUT_FILENO) && (no_colour == NULL || no_colour[0] == '\0') &&
           terminal != NULL && strcmp(terminal, "dumb") != 0;
}

static double largest(const double *x, int count) {
    double most = 0.0;
    for (int k = 0; k < count; k++) {
        most = fmax(most, fabs(x[k]));
    }
    return most;
}

static void print_bar(const int count[3], int total, bool colourful) {
    static const int order[] = {CLI_STICK, CLI_SLIDE, CLI_OPEN};
    static const char *const colour[] = {"\033[47m", "\033[44m", "\033[41m"};
    static const char letter[] = {'.', '#', '/'};
    int drawn = 0, sum = 0;
    for (int k = 0; k < 3; k++) {
        sum += count[order[k]];
        const int end = (int)((double)BAR * sum / total + 0.5);
        (void)fputs(colourful ? colour[order[k]] : "", stdout);
        for (; drawn < end; drawn++) {
            (void)putchar(colourful ? ' ' : letter[order[k]]);
        }
    }
    (void)puts(colourful ? "\033[0m" : "");
}

// One problem of the table.
static CliStatus solve_made(const FilGenerated *made, const char *what,
                            FilFrictionSolution solution) {
    const FilFrictionProblem *problem = &made->global;
    const int n = problem->block_count;
    FilFrictionInfo info;
    FilError error = {0};
    if (fil_friction_solve(problem, NULL, NULL, &solution, &info, &error) != FIL_OK) {
        cli_say("%s", error.text);
        return CLI_BAD_FILE;
    }
    const double impulse = 1e-6 * largest(solution.r, 3 * n);
    const double speed = 1e-6 * (largest(solution.u, 3 * n) + largest(made->problem.b, 3 * n));
    int count[3] = {0};
    for (int i = 0; i < n; i++) {
        count[cli_regime(problem->mu[i], solution.r + (ptrdiff_t)3 * i,
                         solution.u + (ptrdiff_t)3 * i, impulse, speed)]++;
    }
    (void)printf("  %-28s %8d %9d  %-10s %8d   %.0e %7.0f ms   ", what, n, problem->dof_count,
                 fil_outcome_name(info.outcome), info.iterations, info.residual.scaled,
                 1e3 * info.seconds.total);
    print_bar(count, n, is_colourful());
    return info.outcome == FIL_CONVERGED ? CLI_FINE : CLI_NOT_ACCEPTABLE;
}

typedef struct Row {
    FilGenerator generator;
    int contacts;
    double slope;
    const char *what;
} Row;

static CliStatus print_row(const Row *row) {
    FilGenerateDef def = fil_generate_def_default(row->generator);
    FilGenerated *made = NULL;
    FilError error = {0};
    def.contact_count = row->contacts;
    def.slope = row->slope;
    if (fil_generate(&def, NULL, &made, &error) != FIL_OK) {
        cli_say("%s", error.text);
        return CLI_BAD_FILE;
    }
    CliStatus status = CLI_BAD_FILE;
    const size_t size = 3 * (size_t)made->problem.block_count;
    double *memory = calloc(2 * size, sizeof *memory);
    if (memory == NULL) {
        cli_say("there is not enough memory");
    } else {
        status =
            solve_made(made, row->what, (FilFrictionSolution){.r = memory, .u = memory + size});
    }
    free(memory);
    fil_generated_destroy(made);
    const CliStatus told = cli_flush();
    return told > status ? told : status;
}

static CliStatus print_table(void) {
    static const Row rows[] = {
        {FIL_GENERATE_FIBRES, 100, 0.0, "stiff fibres"},
        {FIL_GENERATE_FIBRES, 1000, 0.0, "more of them"},
        {FIL_GENERATE_TANGLES, 300, 0.0, "fibres in tangles"},
        {FIL_GENERATE_RIGID, 300, 0.0, "bodies, masses 1 to 100"},
        {FIL_GENERATE_TOWER, 80, 0.1, "a tower of boxes"},
        {FIL_GENERATE_WALL, 500, 0.5, "a wall of boxes on a slope"},
        {FIL_GENERATE_SPHERES, 1000, 0.5, "spheres in a tilted box"},
    };
    const bool colourful = is_colourful();
    (void)printf("\n  filum %s: elastic rods, and contact with exact Coulomb friction\n\n",
                 fil_version());
    (void)printf("  %-28s %8s %9s  %-10s %8s   %s %10s   %s\n", "problem", "contacts", "unknowns",
                 "outcome", "steps", "error", "time",
                 colourful
                     ? "\033[44m  \033[0m stick  \033[41m  \033[0m slide  \033[47m  \033[0m open"
                     : "# stick  / slide  . open");
    CliStatus worst = CLI_FINE;
    for (size_t k = 0; k < sizeof rows / sizeof *rows && ferror(stdout) == 0; k++) {
        const CliStatus status = print_row(&rows[k]);
        worst = status > worst ? status : worst;
    }
    return worst;
}

// --- the pictures --------------------------------------------------------------------------------

static const struct {
    const char *file;
    CliStatus (*draw)(CliDemo *demo);
} pictures[] = {
    {"hair.svg", cli_demo_hair},
    {"weave.svg", cli_demo_weave},
    {"curls.svg", cli_demo_curls},
    {"law.svg", cli_demo_law},
    {"convergence.svg", cli_demo_convergence},
};
enum { PICTURES = sizeof pictures / sizeof *pictures };

static CliStatus write_page(const CliDemo *demo) {
    char *path = cli_join_path(demo->folder, "index.html");
    FILE *file = path != NULL ? fopen(path, demo->force ? "w" : "wx") : NULL;
    bool written = file != NULL;
    if (written) {
        (void)fputs("<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
                    "<title>filum demo</title>\n<style>body{background:#efece4;margin:2em auto;"
                    "max-width:1200px}img{width:100%;height:auto;margin-bottom:2em}</style>\n",
                    file);
        for (int k = 0; k < PICTURES; k++) {
            (void)fprintf(file, "<img src=\"%s\" alt=\"\">\n", pictures[k].file);
        }
        written = ferror(file) == 0;
        written = fclose(file) == 0 && written;
    }
    if (written) {
        (void)printf("\n  All of them on a page: %s\n\n", path);
    } else {
        cli_say("%s: cannot write: %s", path != NULL ? path : "index.html",
                strerror(errno != 0 ? errno : EIO));
    }
    free(path);
    return written ? CLI_FINE : CLI_BAD_FILE;
}

static CliStatus draw_pictures(CliDemo *demo) {
    (void)puts("");
    CliStatus worst = CLI_FINE;
    for (int k = 0; k < PICTURES; k++) {
        const CliStatus status = pictures[k].draw(demo);
        worst = status > worst ? status : worst;
        if (status == CLI_FINE) {
            char *path = cli_join_path(demo->folder, pictures[k].file);
            (void)printf("  %-32s %s\n", path != NULL ? path : pictures[k].file, demo->caption);
            free(path);
        }
        const CliStatus told = cli_flush();
        worst = told > worst ? told : worst;
    }
    if (worst == CLI_FINE) {
        worst = write_page(demo);
    }
    return worst;
}

// Before anything is solved: nothing is in the way.
static CliStatus check_files(const Options *options) {
    CliStatus status = cli_check_folder(options->out);
    for (int k = 0; k <= PICTURES && status == CLI_FINE && !options->force; k++) {
        char *path = cli_join_path(options->out, k < PICTURES ? pictures[k].file : "index.html");
        if (path != NULL && access(path, F_OK) == 0) {
            cli_say("%s exists already; --force replaces it", path);
            status = CLI_BAD_FILE;
        }
        free(path);
    }
    return status;
}

static CliStatus run_demo(const CliVerb *verb, int argc, char **argv) {
    Options options = {.out = "filum-demo"};
    const int operands = cli_parse(verb, argc, argv, &options);
    if (operands < 0) {
        return operands == -2 ? cli_flush() : CLI_BAD_COMMAND;
    }
    if (operands > 0) {
        cli_say("demo takes no operand; --out %s says where the pictures go", argv[0]);
        return CLI_BAD_COMMAND;
    }
    if (check_files(&options) != CLI_FINE) {
        return CLI_BAD_FILE;
    }
    if (!cli_make_folder(options.out)) {
        cli_say("%s: cannot make the folder: %s", options.out, strerror(errno));
        return CLI_BAD_FILE;
    }
    CliDemo demo = {.folder = options.out, .force = options.force};
    const CliStatus solved = print_table(), drawn = draw_pictures(&demo);
    const CliStatus told = cli_flush(), worst = solved > drawn ? solved : drawn;
    return told > worst ? told : worst;
}

const CliVerb cli_demo = {
    .name = "demo",
    .operands = "",
    .summary = "solve a few hard problems, simulate hair, and draw pictures of them",
    .description =
        "Makes hard contact problems from seeds, solves them, and prints a table: contacts, "
        "unknowns "
        "of the bodies, outcome, iterations, scaled residual, time, and how many contacts stick, "
        "slide and are open.\n"
        "\n"
        "Then draws pictures as SVG files, and a page that shows them: a head of wavy hair in "
        "motion, simulated on the spot; a yarn that is pulled out of a cloth; strands of hair in "
        "stable equilibrium with gravity, from long waves to ringlets; the friction of many "
        "contacts, with the cone and with a pyramid in its place; the residuals of several solvers "
        "against time.",
    .examples = "filum demo --out pictures\twrites pictures/weave.svg and others",
    .options = option_table,
    .option_count = sizeof option_table / sizeof *option_table,
    .run = run_demo,
};
