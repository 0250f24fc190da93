// interrupt.c - Ctrl-C, or SIGTERM as batch systems send it, asks for an end, and work in hand is
// told first.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "cli.h"

#include <signal.h>

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number) {
    (void)number;
    interrupted = 1;
}

void cli_catch_interrupt(void) {
    const struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

bool cli_is_interrupted(void) {
    return interrupted != 0;
}

bool cli_wants_end(void *user) {
    (void)user;
    return interrupted != 0;
}
