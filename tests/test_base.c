#include "check.h"
#include "filum/base.h"

static void every_status_has_a_message(void) {
    for (int i = 0; i < FIL_STATUS_COUNT; i++) {
        CHECK(fil_status_text((FilStatus)i)[0] != '\0');
    }
    CHECK(strcmp(fil_status_text((FilStatus)FIL_STATUS_COUNT), "unknown status") == 0);
}

#define TESTS(X) X(every_status_has_a_message)

CHECK_MAIN(TESTS)
