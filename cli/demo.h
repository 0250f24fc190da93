#ifndef FIL_CLI_DEMO_H
#define FIL_CLI_DEMO_H

// The pictures of `filum demo`.

#include "cli.h"

#include "filum/friction.h"

/// Where pictures go, and what has been said of them so far.
typedef struct CliDemo {
    const char *folder;
    bool force;
    char caption[300]; // one line about the picture that was drawn last
} CliDemo;

/// How a contact behaves.
typedef enum CliRegime { CLI_OPEN, CLI_STICK, CLI_SLIDE } CliRegime;

/// From impulse and velocity, normal first, of a Coulomb contact of size 3. `impulse` and `speed`
/// are sizes that count as nothing.
CliRegime cli_regime(double mu, const double *r, const double *u, double impulse, double speed);

/// DIR/weave.svg: a yarn is pulled out of a woven cloth.
CliStatus cli_demo_weave(CliDemo *demo);

/// DIR/law.svg: the friction of many contacts, with the cone and with a pyramid in its place.
CliStatus cli_demo_law(CliDemo *demo);

/// DIR/convergence.svg: residuals of several solvers on a problem of stiff fibres.
CliStatus cli_demo_convergence(CliDemo *demo);

/// DIR/hair.svg: the scene wavy-hair at four times.
CliStatus cli_demo_hair(CliDemo *demo);

/// DIR/curls.svg: strands of hair in equilibrium.
CliStatus cli_demo_curls(CliDemo *demo);

#endif
