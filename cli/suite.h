#ifndef FIL_CLI_SUITE_H
#define FIL_CLI_SUITE_H

// The seeded problems that benchmarks run on when no files are given.

#include "filum/generate.h"

enum { CLI_SUITE_NAME = 96 };

/// A name that says how to make it again: "fibres-100-nu0.9-mu0.3-seed1".
void cli_suite_name(const FilGenerateDef *def, char name[CLI_SUITE_NAME]);

/// Problem k for comparing whole solvers: all kinds, 50 to 1000 contacts.
enum { CLI_SUITE_GLOBAL = 18 };
FilGenerateDef cli_suite_global(int k);

#endif
