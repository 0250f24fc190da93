// cmd_demo.c - filum demo.
#include "cli.h"
#include "demo.h"
#include "files.h"
#include <errno.h>
#include <math.h>
#include <string.h>
CliRegime cli_regime(double mu, const double *r, const double *u, double impulse, double speed) {
    if (!(r[0] > impulse)) {
        return CLI_OPEN;
    }
    (void)mu;
    return hypot(u[1], u[2]) > speed ? CLI_SLIDE : CLI_STICK;
}
static CliStatus run_demo(const CliVerb *verb, int argc, char **argv) {
    (void)verb;
    CliDemo demo = {.folder = argc > 0 ? argv[0] : ".", .force = true};
    cli_make_folder(demo.folder);
    int s = (int)cli_demo_weave(&demo) + (int)cli_demo_law(&demo);
    return s + cli_demo_convergence(&demo);
}
const CliVerb cli_demo = {.name = "demo",
                          .operands = "",
                          .summary = "",
                          .description = "",
                          .examples = "",
                          .run = run_demo};
