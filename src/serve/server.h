#ifndef FIL_SERVE_SERVER_H
#define FIL_SERVE_SERVER_H

// The server: one thread, 127.0.0.1 only, for whoever knows the token in its address.

#include "source.h"

typedef struct FilServerDef {
    int port;         // 0: any that is free
    const char *page; // HTML, borrowed
    size_t page_size;
    FilSource source;
} FilServerDef;

typedef struct FilServer FilServer;

/// "libmicrohttpd 0.9.75"
const char *fil_server_library(void);

/// Start to serve. FIL_E_IO: the port is in use, or there is no network; the sentence says which.
FIL_MUST_CHECK FilStatus fil_server_start(const FilServerDef *def, FilServer **out,
                                          FilError *error);
/// End all connections and the thread; NULL is fine.
void fil_server_stop(FilServer *server);

/// "http://127.0.0.1:PORT/TOKEN/"
const char *fil_server_url(const FilServer *server);
int fil_server_port(const FilServer *server);

#endif
