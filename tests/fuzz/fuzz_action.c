// Fuzz the bodies of POST requests. Whatever comes: no crash, no leak, a sentence for what is
// refused; and what is accepted holds numbers.
#include "fuzz.h"

#include "serve/actions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void require(bool holds) {
    if (!holds) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    FilAction action;
    FilError error = {.status = FIL_OK};
    const FilStatus status = fil_action_read((const char *)data, size, &action, &error);
    if (status != FIL_OK) {
        require(error.status == status && error.text[0] != '\0');
        return 0;
    }
    require((unsigned)action.kind < FIL_ACTION_COUNT && action.rod >= 0);
    for (int k = 0; k < 3; k++) {
        require(isfinite(action.value[k]));
    }
    require(isfinite(action.s) && isfinite(action.twist) && isfinite(action.mu));
    require(memchr(action.a, '\0', sizeof action.a) != NULL);
    require(memchr(action.b, '\0', sizeof action.b) != NULL);
    return 0;
}
