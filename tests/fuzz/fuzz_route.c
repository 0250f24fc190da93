// Fuzz the addresses of requests. The first byte chooses whether the token is put before the rest;
// whatever comes: no crash, and what is taken for a route is one.
#include "fuzz.h"

#include "serve/route.h"

#include <stdlib.h>
#include <string.h>

#define TOKEN "0123456789abcdef0123456789abcdef"

static void require(bool holds) {
    if (!holds) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const size_t before = size > 0 && data[0] % 4 != 0 ? sizeof "/" TOKEN "/" - 1 : 0;
    const size_t rest = size > 0 ? size - 1 : 0;
    char *address = malloc(before + rest + 1);
    FilRoute route;
    const char *why = NULL;
    if (address == NULL) {
        return 0;
    }
    memcpy(address, "/" TOKEN "/", before);
    memcpy(address + before, data + (size > 0), rest);
    address[before + rest] = '\0';
    // exactly as long as it is, so that a step too far is seen
    char *tight = malloc(before + rest + (before + rest == 0));
    if (tight != NULL) {
        memcpy(tight, address, before + rest);
        const int status = fil_route_read(tight, before + rest, TOKEN, &route, &why);
        require(status == 200 || status == 302 || status == 400 || status == 404);
        require(why != NULL && (unsigned)route.kind < FIL_ROUTE_COUNT);
        require(route.index >= 0 && route.from >= 0 && route.count >= -1);
        require((route.mask & ~FIL_ARRAY_ALL) == 0);
        require(status != 200 || memcmp(tight, "/" TOKEN "/", FIL_TOKEN_SIZE + 2) == 0);
        require(status != 302 || memcmp(tight, "/" TOKEN, FIL_TOKEN_SIZE + 1) == 0);
    }
    (void)fil_route_is_host(address);
    (void)fil_route_is_origin(address, "127.0.0.1:8080");
    free(tight);
    free(address);
    return 0;
}
