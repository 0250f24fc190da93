// cmd_make.c - filum make: seeded contact problems as FCLIB files.
#include "cli.h"
#include "files.h"
#include "suite.h"

#include "filum/fclib.h"
#include "filum/generate.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Options {
    int count, seed, contacts;
    double nu, mu, stretch, mass_ratio, slope; // below the allowed range: the generator's own
    bool step, force;
    const char *out;
} Options;

static const CliOption option_table[] = {
    CLI_OPTION_COUNT("contacts", "N", contacts, 1, FIL_GENERATE_CONTACT_MAX,
                     "number of contacts, or the nearest that whole bodies allow; default 100"),
    CLI_OPTION_COUNT("count", "N", count, 1, 1000000,
                     "problems of each kind, with seeds SEED, SEED + 1, ...; default 1"),
    CLI_OPTION_COUNT("seed", "SEED", seed, 0, INT_MAX, "seed of the first problem; default 1"),
    CLI_OPTION_REAL("nu", "NU", nu, 0.05, 4.0,
                    "contact unknowns divided by body unknowns: fibres, tangles, rigid"),
    CLI_OPTION_REAL("mu", "MU", mu, 0.0, 1e6, "coefficient of friction"),
    CLI_OPTION_REAL("stretch", "K", stretch, 0.0, 1e12,
                    "stiffness dt^2 k / m of chains; default 1e4"),
    CLI_OPTION_REAL("mass-ratio", "RATIO", mass_ratio, 1.0, 1e12,
                    "heaviest mass divided by lightest: rigid, tower, wall, spheres"),
    CLI_OPTION_REAL("slope", "SLOPE", slope, -1e3, 1e3,
                    "slope of the ground, as a tangent: tower, wall, spheres"),
    CLI_OPTION_FLAG("step", step,
                    "one time step from given velocities instead of a known solution"),
    CLI_OPTION_TEXT("out", "DIR", out, "folder for the files; default: the current one"),
    CLI_OPTION_FLAG("force", force, "replace files that exist"),
};

static FilGenerateDef make_def(const Options *options, FilGenerator generator, int k) {
    FilGenerateDef def = fil_generate_def_default(generator);
    def.seed = (uint64_t)options->seed + (uint64_t)k;
    def.contact_count = options->contacts;
    def.conditioning = options->nu >= 0.0 ? options->nu : def.conditioning;
    def.mu = options->mu >= 0.0 ? options->mu : def.mu;
    def.stretch = options->stretch >= 0.0 ? options->stretch : def.stretch;
    def.mass_ratio = options->mass_ratio >= 0.0 ? options->mass_ratio : def.mass_ratio;
    def.slope = options->slope;
    def.solvable = def.solvable && !options->step;
    return def;
}

static CliStatus write_problem(const char *path, const FilGenerateDef *def, bool force) {
    char title[CLI_SUITE_NAME], description[200];
    FilGenerated *made = NULL;
    FilError error = {0};
    if (fil_generate(def, NULL, &made, &error) != FIL_OK) {
        cli_say("%s: %s", path, error.text);
        return CLI_BAD_FILE;
    }
    cli_suite_name(def, title);
    (void)snprintf(description, sizeof description, "%s; made by filum %s%s",
                   fil_generator_text(def->generator), fil_version(),
                   def->solvable ? " from the solution that is stored" : "");
    const FilFclib file = {.problem = made->global,
                           .title = title,
                           .description = description,
                           .solution = {.r = made->r, .u = made->u}};
    const FilStatus status = fil_fclib_write(path, &file, force, &error);
    fil_generated_destroy(made);
    if (status != FIL_OK) {
        cli_say("%s", error.text);
        return CLI_BAD_FILE;
    }
    (void)puts(path);
    return cli_flush();
}

static CliStatus make_one(const Options *options, FilGenerator generator, int k) {
    char name[CLI_SUITE_NAME + 8];
    const FilGenerateDef def = make_def(options, generator, k);
    cli_suite_name(&def, name);
    (void)snprintf(name + strlen(name), sizeof ".hdf5", ".hdf5");
    char *path = cli_join_path(options->out, name);
    if (path == NULL) {
        cli_say("there is not enough memory");
        return CLI_BAD_FILE;
    }
    const CliStatus status = write_problem(path, &def, options->force);
    free(path);
    return status;
}

static FilGenerator find_generator(const char *name) {
    const char *names[FIL_GENERATOR_COUNT];
    for (int g = 0; g < FIL_GENERATOR_COUNT; g++) {
        names[g] = fil_generator_name((FilGenerator)g);
        if (strcmp(name, names[g]) == 0) {
            return (FilGenerator)g;
        }
    }
    const char *nearest = cli_nearest(name, names, FIL_GENERATOR_COUNT);
    cli_say("there is no generator \"%s\"%s%s%s (filum help make lists them)", name,
            nearest != NULL ? "; did you mean " : "", nearest != NULL ? nearest : "",
            nearest != NULL ? "?" : "");
    return FIL_GENERATOR_COUNT;
}

static CliStatus make_all(const Options *options, char **names, int count) {
    for (int k = 0; k < count; k++) {
        if (find_generator(names[k]) == FIL_GENERATOR_COUNT) {
            return CLI_BAD_COMMAND;
        }
    }
    if (options->out != NULL && cli_check_folder(options->out) != CLI_FINE) {
        return CLI_BAD_FILE;
    }
    if (options->out != NULL && !cli_make_folder(options->out)) {
        cli_say("%s: cannot make the folder: %s", options->out, strerror(errno));
        return CLI_BAD_FILE;
    }
    CliStatus worst = CLI_FINE;
    for (int k = 0; k < count * options->count; k++) {
        const FilGenerator generator = find_generator(names[k / options->count]);
        const CliStatus status = make_one(options, generator, k % options->count);
        worst = status > worst ? status : worst;
    }
    return worst;
}

static CliStatus run_make(const CliVerb *verb, int argc, char **argv) {
    Options options = {.count = 1,
                       .seed = 1,
                       .contacts = 100,
                       .nu = -1.0,
                       .mu = -1.0,
                       .stretch = -1.0,
                       .mass_ratio = -1.0};
    const int operands = cli_parse(verb, argc, argv, &options);
    if (operands < 0) {
        return operands == -2 ? cli_flush() : CLI_BAD_COMMAND;
    }
    if (operands == 0) {
        cli_say("which kind? For instance: filum make fibres (filum help make lists them)");
        return CLI_BAD_COMMAND;
    }
    return make_all(&options, argv, operands);
}

#define GENERATOR_LINE(code, name, text) "\n" name ": " text

const CliVerb cli_make = {
    .name = "make",
    .operands = "NAME...",
    .summary = "make hard friction problems from a seed",
    .description =
        "Writes contact problems as FCLIB files in the global form, and prints their paths. The "
        "same "
        "options give the same problem on every machine. The kinds are:\n" FIL_GENERATORS(
            GENERATOR_LINE) "\n\n"
                            "Fibres, tangles and rigid are built around a known solution, which "
                            "the "
                            "file holds. The others, and all with --step, are one time step of a "
                            "mechanical system.",
    .examples = "filum make fibres --contacts 1000 --nu 1.3\twrites "
                "fibres-1000-nu1.3-mu0.3-seed1.hdf5\n"
                "filum make rigid wall --count 10 --out problems\tten of each",
    .options = option_table,
    .option_count = sizeof option_table / sizeof *option_table,
    .run = run_make,
};
