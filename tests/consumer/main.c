// A user's program, built against the installed library alone.
#include <filum/filum.h>

#include <stdio.h>

int main(void) {
    return printf("%s\n", fil_version()) > 0 ? 0 : 1;
}
