/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_request.c - fuzzes what stands between a socket and a handler: the input is what a client
 * sends over a connection of its own.  Whatever it is, the handler sees well-formed requests only,
 * every body that begins ends, and the server lives on.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bytes.h"
#include "http/http.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct tv_http *http;
static _Atomic size_t begun, ended;

static void require(bool truth)
{
    if (!truth)
        abort();
}

static void check_text(const uint8_t *text, size_t length, uint8_t least)
{
    for (size_t i = 0; i < length; i++)
        require((text[i] >= least || text[i] == '\t') && text[i] != 0x7f);
}

static void check_request(const struct tv_request *request)
{
    size_t hosts = 0, lengths = 0;
    require(request->path.length > 0);
    require(request->path.data[0] == '/' || request->method == TV_HTTP_OPTIONS);
    check_text(request->path.data, request->path.length, 0x21);
    for (size_t i = 0; i < request->header_count; i++) {
        const struct tv_http_header *header = &request->headers[i];
        require(header->name[0] != '\0' && strpbrk(header->name, " \t\r\n:") == NULL);
        check_text((const uint8_t *)header->value, strlen(header->value), 0x20);
        hosts += strcasecmp(header->name, "Host") == 0;
        lengths += strcasecmp(header->name, "Content-Length") == 0 ||
                   strcasecmp(header->name, "Transfer-Encoding") == 0;
    }
    require(hosts == 1 && lengths <= 1);
    require(lengths == 1 || request->length == 0);
}

static enum tv_status take(void *context, struct tv_bytes piece, struct tv_answer *answer)
{
    size_t *left = context;
    if (piece.length <= *left) {
        *left -= piece.length;
        return TV_OK;
    }
    answer->status = TV_HTTP_INSUFFICIENT_STORAGE;
    tv_out_text(&answer->body, "full");
    return TV_ERR_IO;
}

static void end(void *context, bool whole)
{
    (void)whole;
    free(context);
    ended++;
}

/* The choice of method does not matter. */
static bool begin(void *context, const struct tv_request *request, struct tv_body *body,
                  struct tv_answer *answer)
{
    (void)context;
    check_request(request);
    if (request->method == TV_HTTP_DELETE) {
        answer->status = TV_HTTP_FORBIDDEN;
        return false;
    }
    if (request->method != TV_HTTP_PUT && request->method != TV_HTTP_PATCH)
        return true;
    size_t *left = malloc(sizeof *left);
    require(left != NULL);
    *left = request->method == TV_HTTP_PUT ? 1000000 : 10;
    *body = (struct tv_body){take, end, left};
    begun++;
    return true;
}

static void answer(void *context, const struct tv_request *request, struct tv_answer *answer)
{
    static const uint8_t bytes[] = "0123456789";
    (void)context;
    check_request(request);
    answer->type = "text/plain";
    answer->tag = "\"1\"";
    answer->ranges = true;
    answer->source =
        tv_source_from_memory((struct tv_bytes){bytes, sizeof bytes - 1}, "the answer");
    tv_answer_header(answer, "X-Path", "%.*s", (int)request->path.length,
                     (const char *)request->path.data);
}

static void stop(void)
{
    tv_http_free(http);
}

static void start(void)
{
    static const char *const address = "127.0.0.1:0";
    struct tv_http_options options = {
        .addresses = &address, .address_count = 1, .limits = {.connections = 1000}};
    struct tv_handler handler = {.answer = answer, .begin = begin};
    struct tv_error err;
    require(tv_http_new(&options, &handler, &http, &err) == TV_OK);
    require(tv_http_start(http, &err) == TV_OK);
    atexit(stop);
}

static int connect_to_it(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(tv_http_port(http)),
                                  .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    struct linger at_once = {.l_onoff = 1,
                             .l_linger = 0}; /* thousands a second, no ports to wait */
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    require(fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char buffer[4096];
    if (http == NULL)
        start();
    int fd = connect_to_it();
    for (size_t sent = 0; sent < size;) {
        ssize_t n = send(fd, data + sent, size - sent, MSG_NOSIGNAL);
        if (n <= 0)
            break;
        sent += (size_t)n;
    }
    shutdown(fd, SHUT_WR);
    while (recv(fd, buffer, sizeof buffer, 0) > 0)
        ;
    close(fd);
    while (tv_http_count(http).connections > 0)
        usleep(100);
    require(begun == ended);
    return 0;
}
