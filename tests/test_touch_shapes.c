#include "check.h"
static void t(void) {}
#define TESTS(X) X(t)
CHECK_MAIN(TESTS)
