// server.c - HTTP, for one user on this machine.
//
// Who may ask. The socket is bound to 127.0.0.1, so nobody outside this machine reaches it. Other
// users of the machine, and pages of other sites in the user's own browser, do reach it: so (1) the
// path must begin with a token of 128 random bits, (2) Host must be a name of this machine, with
// any port: that ends DNS rebinding, where the name is the stranger's, and lets tunnels through,
// (3) a POST must be application/json, which other sites may not send without asking, and its
// Origin, if any, that very Host. No answer allows other origins to read it.
//
// Bounds. Connections, their idle time, the size of a request and of an answer are bounded. A
// connection has two seconds to bring a request that is allowed; then it may idle for longer. So
// whoever opens a thousand connections and says nothing delays others for some seconds at most.
//
// One thread does it all; an answer is complete before its first byte leaves, and slow readers are
// waited for by the kernel, not by us.
#define _GNU_SOURCE // NOLINT(bugprone-reserved-identifier): SOCK_CLOEXEC
#include "server.h"

#include "answers.h"
#include "base/error.h"

#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    CONNECTIONS = 256,
    STRANGER_SECONDS = 2,
    GUEST_SECONDS = 30,
    REQUEST_MEMORY = 32 << 10, // of a connection: request line, headers
    BODY = 64 << 10,
};

struct FilServer {
    FilServerDef def;
    struct MHD_Daemon *daemon;
    int port;
    char token[FIL_TOKEN_SIZE + 1];
    char url[96];
};

// One request.
typedef struct Request {
    FilRoute route;
    int status; // of its address
    const char *why;
    bool begun;
    bool too_long;
    FilBytes body;
} Request;

// --- answers -------------------------------------------------------------------------------------

static const char page_policy[] =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src "
    "'self'; "
    "img-src data: blob:; worker-src blob:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

// Send an answer and give its body away; that of the page is lent. `place` is where to go instead,
// or NULL.
static enum MHD_Result send_answer(struct MHD_Connection *connection, FilAnswer *answer, bool page,
                                   const char *place) {
    struct MHD_Response *response = MHD_create_response_from_buffer(
        answer->body.size, answer->body.data != NULL ? answer->body.data : (void *)"",
        page || answer->body.data == NULL ? MHD_RESPMEM_PERSISTENT : MHD_RESPMEM_MUST_FREE);
    if (response == NULL) {
        if (!page) {
            fil_bytes_free(&answer->body);
        }
        return MHD_NO;
    }
    const char *const headers[][2] = {
        {MHD_HTTP_HEADER_CONTENT_TYPE, answer->type},
        {MHD_HTTP_HEADER_CACHE_CONTROL, "no-store"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Content-Security-Policy", page ? page_policy : "default-src 'none'"},
    };
    enum MHD_Result result = MHD_YES;
    for (size_t k = 0; k < sizeof headers / sizeof *headers && result == MHD_YES; k++) {
        result = MHD_add_response_header(response, headers[k][0], headers[k][1]);
    }
    if (result == MHD_YES && place != NULL) {
        result = MHD_add_response_header(response, MHD_HTTP_HEADER_LOCATION, place);
    }
    if (result == MHD_YES) {
        result = MHD_queue_response(connection, (unsigned)answer->status, response);
    }
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result refuse(const FilServer *server, struct MHD_Connection *connection,
                              int status, const char *sentence) {
    FilAnswer answer = {.status = status};
    fil_answer_error(status, sentence, &answer);
    if (answer.body.failed) {
        fil_bytes_free(&answer.body);
    }
    char place[FIL_TOKEN_SIZE + 3];
    (void)snprintf(place, sizeof place, "/%s/", server->token);
    return send_answer(connection, &answer, false, status == 302 ? place : NULL);
}

static const char *header(struct MHD_Connection *connection, const char *name) {
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static bool is_json(const char *type) {
    static const char json[] = "application/json";
    return type != NULL && strncmp(type, json, sizeof json - 1) == 0 &&
           (type[sizeof json - 1] == '\0' || type[sizeof json - 1] == ';' ||
            type[sizeof json - 1] == ' ');
}

// What is wrong with a request, before anything is done about it: 0, or a status and a sentence.
static int check_request(struct MHD_Connection *connection, const char *method,
                         const Request *request, const char **why) {
    const char *host = header(connection, MHD_HTTP_HEADER_HOST);
    if (!fil_route_is_host(host)) {
        *why =
            "this server answers at 127.0.0.1 and localhost alone: from another machine, open the "
            "printed URL through a tunnel, ssh -L PORT:127.0.0.1:PORT USER@MACHINE";
        return 403;
    }
    if (request->status != 200) {
        *why = request->why;
        return request->status;
    }
    const bool post = strcmp(method, "POST") == 0;
    if (!post && strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
        *why = "this server answers GET, HEAD and POST";
        return 405;
    }
    if (post != (request->route.kind == FIL_ROUTE_DO)) {
        *why = post ? "this is asked with GET" : "this is asked with POST";
        return 405;
    }
    const char *origin = header(connection, "Origin");
    if (origin != NULL && !fil_route_is_origin(origin, host)) {
        *why = "requests from pages of other sites are refused";
        return 403;
    }
    if (post && !is_json(header(connection, MHD_HTTP_HEADER_CONTENT_TYPE))) {
        *why = "the content must be application/json";
        return 415;
    }
    return 0;
}

static enum MHD_Result answer_request(FilServer *server, struct MHD_Connection *connection,
                                      Request *request) {
    FilAnswer answer = {.status = 200};
    const FilSource *source = &server->def.source;
    if (request->route.kind == FIL_ROUTE_PAGE) {
        answer.type = "text/html; charset=utf-8";
        answer.body = (FilBytes){.data = (char *)server->def.page, .size = server->def.page_size};
        return send_answer(connection, &answer, true, NULL);
    }
    if (request->route.kind == FIL_ROUTE_DO) {
        if (request->too_long || request->body.failed) {
            return refuse(server, connection, 413, "the request is longer than 64 KiB");
        }
        fil_answer_do(source, request->body.data != NULL ? request->body.data : "",
                      request->body.size, &answer);
    } else {
        fil_answer_get(source, &request->route, &answer);
    }
    return send_answer(connection, &answer, false, NULL);
}

// --- what libmicrohttpd calls --------------------------------------------------------------------

// The address as it came, before anything is decoded. What is returned belongs to the request.
static void *on_address(void *user, const char *address, struct MHD_Connection *connection) {
    const FilServer *server = user;
    (void)connection;
    Request *request = calloc(1, sizeof *request);
    if (request != NULL) {
        request->status =
            fil_route_read(address, strlen(address), server->token, &request->route, &request->why);
    }
    return request;
}

// NOLINTNEXTLINE(readability-function-size): the library says what it is called with
static enum MHD_Result on_request(void *user, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **mine) {
    FilServer *server = user;
    Request *request = *mine;
    (void)url;
    (void)version;
    if (request == NULL) {
        return MHD_NO; // no memory
    }
    if (!request->begun) {
        request->begun = true;
        const char *why = NULL;
        const int status = check_request(connection, method, request, &why);
        if (status != 0) {
            return refuse(server, connection, status, why);
        }
        (void)MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT,
                                        (unsigned)GUEST_SECONDS);
        return MHD_YES; // a body may follow
    }
    if (*upload_size > 0) {
        request->too_long = request->too_long || request->body.size + *upload_size > BODY;
        if (!request->too_long) {
            fil_bytes_add(&request->body, upload, *upload_size);
        }
        *upload_size = 0;
        return MHD_YES;
    }
    return answer_request(server, connection, request);
}

static void on_end(void *user, struct MHD_Connection *connection, void **mine,
                   enum MHD_RequestTerminationCode code) {
    Request *request = *mine;
    (void)user;
    (void)connection;
    (void)code;
    if (request != NULL) {
        fil_bytes_free(&request->body);
        free(request);
        *mine = NULL;
    }
}

// libmicrohttpd's own complaints, about broken requests above all: nobody needs them.
static void on_complaint(void *user, const char *format, va_list args) {
    (void)user;
    (void)format;
    (void)args;
}

// --- starting and ending -------------------------------------------------------------------------

static FilStatus make_token(char token[FIL_TOKEN_SIZE + 1], FilError *error) {
    unsigned char random[FIL_TOKEN_SIZE / 2];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
        return fil_fail(error, FIL_E_IO, "the system cannot provide random numbers: %s",
                        strerror(errno));
    }
    for (size_t k = 0; k < sizeof random; k++) {
        (void)snprintf(token + 2 * k, 3, "%02x", random[k]);
    }
    return FIL_OK;
}

// A socket that listens on 127.0.0.1; -1 after saying why not.
static int open_socket(int *port, FilError *error) {
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)*port),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    const int yes = 1, handle = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (handle >= 0 && setsockopt(handle, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
        bind(handle, (struct sockaddr *)&address, size) == 0 && listen(handle, 128) == 0 &&
        getsockname(handle, (struct sockaddr *)&address, &size) == 0) {
        *port = ntohs(address.sin_port);
        return handle;
    }
    (void)fil_fail(error, FIL_E_IO,
                   errno == EADDRINUSE ? "port %d is in use; --port takes another, 0 any free one"
                                       : "cannot listen on port %d of 127.0.0.1: %s",
                   *port, strerror(errno));
    if (handle >= 0) {
        (void)close(handle);
    }
    return -1;
}

static struct MHD_Daemon *start_daemon(FilServer *server, int handle) {
    return MHD_start_daemon(MHD_USE_AUTO_INTERNAL_THREAD | MHD_USE_ERROR_LOG, 0, NULL, NULL,
                            on_request, server, MHD_OPTION_EXTERNAL_LOGGER, on_complaint, NULL,
                            MHD_OPTION_LISTEN_SOCKET, handle, MHD_OPTION_CONNECTION_LIMIT,
                            (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
                            (unsigned)STRANGER_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                            (size_t)REQUEST_MEMORY, MHD_OPTION_URI_LOG_CALLBACK, on_address, server,
                            MHD_OPTION_NOTIFY_COMPLETED, on_end, NULL, MHD_OPTION_END);
}

FilStatus fil_server_start(const FilServerDef *def, FilServer **out, FilError *error) {
    FilServer *server = calloc(1, sizeof *server);
    if (server == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is not enough memory");
    }
    server->def = *def;
    server->port = def->port;
    FilStatus status = make_token(server->token, error);
    const int handle = status == FIL_OK ? open_socket(&server->port, error) : -1;
    if (handle < 0) {
        free(server);
        return FIL_E_IO;
    }
    (void)snprintf(server->url, sizeof server->url, "http://127.0.0.1:%d/%s/", server->port,
                   server->token);
    server->daemon = start_daemon(server, handle);
    if (server->daemon == NULL) {
        (void)close(handle);
        free(server);
        return fil_fail(error, FIL_E_IO, "cannot start the server on port %d", def->port);
    }
    *out = server;
    return FIL_OK;
}

void fil_server_stop(FilServer *server) {
    if (server != NULL) {
        MHD_stop_daemon(server->daemon);
        free(server);
    }
}

const char *fil_server_url(const FilServer *server) {
    return server->url;
}

int fil_server_port(const FilServer *server) {
    return server->port;
}

const char *fil_server_library(void) {
    static char text[64];
    (void)snprintf(text, sizeof text, "libmicrohttpd %s", MHD_get_version());
    return text;
}
