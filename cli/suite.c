// suite.c - the seeded problems that benchmarks run on when no files are given.
#include "suite.h"

#include <stdio.h>

void cli_suite_name(const FilGenerateDef *def, char name[CLI_SUITE_NAME]) {
    char nu[24] = "";
    if (def->generator <= FIL_GENERATE_RIGID) { // the others do not ask
        (void)snprintf(nu, sizeof nu, "-nu%g", def->conditioning);
    }
    (void)snprintf(name, CLI_SUITE_NAME, "%s-%d%s-mu%g%s-seed%llu",
                   fil_generator_name(def->generator), def->contact_count, nu, def->mu,
                   def->solvable == fil_generate_def_default(def->generator).solvable ? ""
                   : def->solvable                                                    ? "-solvable"
                                                                                      : "-step",
                   (unsigned long long)def->seed);
}

FilGenerateDef cli_suite_global(int k) {
    static const struct {
        FilGenerator generator;
        int contacts;
        double nu, mu;
        bool solvable;
    } rows[CLI_SUITE_GLOBAL] = {
        {FIL_GENERATE_FIBRES, 100, 0.3, 0.3, true},   {FIL_GENERATE_FIBRES, 100, 0.9, 0.3, true},
        {FIL_GENERATE_FIBRES, 100, 1.3, 0.3, true},   {FIL_GENERATE_FIBRES, 1000, 0.3, 0.3, true},
        {FIL_GENERATE_FIBRES, 1000, 0.9, 0.3, true},  {FIL_GENERATE_FIBRES, 1000, 1.3, 0.3, true},
        {FIL_GENERATE_TANGLES, 100, 0.3, 0.3, true},  {FIL_GENERATE_TANGLES, 100, 0.9, 0.3, true},
        {FIL_GENERATE_RIGID, 100, 1.0, 0.1, true},    {FIL_GENERATE_RIGID, 100, 2.0, 0.5, true},
        {FIL_GENERATE_RIGID, 100, 4.0, 1.0, true},    {FIL_GENERATE_RIGID, 100, 1.0, 0.5, false},
        {FIL_GENERATE_RIGID, 300, 2.0, 0.5, false},   {FIL_GENERATE_TOWER, 80, 0.0, 0.5, false},
        {FIL_GENERATE_WALL, 100, 0.0, 0.5, false},    {FIL_GENERATE_WALL, 500, 0.0, 0.8, false},
        {FIL_GENERATE_SPHERES, 150, 0.0, 0.3, false}, {FIL_GENERATE_SPHERES, 1000, 0.0, 0.3, false},
    };
    FilGenerateDef def = fil_generate_def_default(rows[k].generator);
    def.contact_count = rows[k].contacts;
    def.conditioning = rows[k].nu > 0.0 ? rows[k].nu : def.conditioning;
    def.mu = rows[k].mu;
    def.solvable = rows[k].solvable;
    return def;
}
