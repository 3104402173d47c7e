/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen.c - sockets that listen on the addresses that a user writes.
 */
#include "http/internal.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bytes.h"
#include "http/http.h"

/* DNS names are at most 253 characters long. */
#define HOST_SIZE 256

struct listen_address {
    char host[HOST_SIZE];
    uint16_t port;
};

static enum tv_status listen_fail_address(const char *address, struct tv_error *err)
{
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                   "cannot listen on '%s': expected HOST:PORT, [IPV6]:PORT or *:PORT", address);
}

/* Split "HOST:PORT". A text with several colons and no brackets is an IPv6 address without a
 * port. */
static enum tv_status listen_parse_address(const char *address, struct listen_address *place,
                                           struct tv_error *err)
{
    struct tv_bytes host = tv_bytes_of(address), port = {NULL, 0};
    const char *colon = strrchr(address, ':');
    const char *bracket = strchr(address, ']');
    bool bracketed = address[0] == '[' && bracket != NULL;
    uint64_t number;
    if (colon != NULL && (bracketed ? colon == bracket + 1 : strchr(address, ':') == colon)) {
        host.length = (size_t)(colon - address);
        port = tv_bytes_of(colon + 1);
        if (!tv_parse_u64(port, &number) || number > UINT16_MAX)
            return listen_fail_address(address, err);
        place->port = (uint16_t)number;
    }
    if (bracketed) {
        host.data++;
        host.length -= 2;
        if (host.data + host.length != (const uint8_t *)bracket)
            return listen_fail_address(address, err);
    }
    if (host.length == 0 || host.length >= sizeof place->host)
        return listen_fail_address(address, err);
    memcpy(place->host, host.data, host.length);
    place->host[host.length] = '\0';
    return TV_OK;
}

static void listen_set_port(struct sockaddr_storage *address, uint16_t port)
{
    if (address->ss_family == AF_INET6)
        ((struct sockaddr_in6 *)address)->sin6_port = htons(port);
    else
        ((struct sockaddr_in *)address)->sin_port = htons(port);
}

static uint16_t listen_get_port(const struct sockaddr_storage *address)
{
    return ntohs(address->ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)address)->sin6_port
                                                : ((const struct sockaddr_in *)address)->sin_port);
}

static void listen_write_host(const struct sockaddr_storage *address, char *host, size_t size)
{
    char text[INET6_ADDRSTRLEN] = "";
    if (address->ss_family == AF_INET6) {
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)address)->sin6_addr, text, sizeof text);
        snprintf(host, size, "[%s]", text);
        return;
    }
    inet_ntop(AF_INET, &((const struct sockaddr_in *)address)->sin_addr, text, sizeof text);
    snprintf(host, size, "%s", text);
}

/* Bind and listen. IPv6 sockets do not accept IPv4 clients, so that "*" can have a socket of each
 * family on one port. */
static bool listen_bind(int fd, struct sockaddr_storage *address, socklen_t size)
{
    int yes = 1;
    return fcntl(fd, F_SETFL, O_NONBLOCK) == 0 &&
           setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
           (address->ss_family != AF_INET6 ||
            setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes) == 0) &&
           bind(fd, (const struct sockaddr *)address, size) == 0 && listen(fd, SOMAXCONN) == 0 &&
           getsockname(fd, (struct sockaddr *)address, &size) == 0;
}

/* Return the socket, or -1 with errno. */
static int listen_on_port(const struct addrinfo *found, uint16_t port, struct tv_listener *listener)
{
    struct sockaddr_storage address = {0};
    memcpy(&address, found->ai_addr, found->ai_addrlen);
    listen_set_port(&address, port);
    int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (!listen_bind(fd, &address, found->ai_addrlen)) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    listener->fd = fd;
    listener->port = listen_get_port(&address);
    listen_write_host(&address, listener->host, sizeof listener->host);
    return fd;
}

/* Listen on the given port; for port 0 on the first free home port, else on any free port. */
static int listen_on_any_port(const struct addrinfo *found, uint16_t port,
                              struct tv_listener *listener)
{
    for (uint16_t i = 0; port == 0 && i < TV_HTTP_HOME_PORTS; i++) {
        int fd = listen_on_port(found, (uint16_t)(TV_HTTP_HOME_PORT + i), listener);
        if (fd >= 0)
            return fd;
    }
    return listen_on_port(found, port, listener);
}

/* Return true for an error that means: this machine has no network of that address's family. */
static bool listen_is_foreign_address(int error)
{
    return error == EADDRNOTAVAIL || error == EAFNOSUPPORT;
}

/* Listen on all addresses of one name. They share the port that the first one got. */
static enum tv_status listen_on_all(const struct addrinfo *found, struct listen_address *place,
                                    struct tv_listener *listeners, size_t *count,
                                    struct tv_error *err)
{
    size_t before = *count;
    int error = 0;
    for (; found != NULL && *count < TV_LISTENERS; found = found->ai_next) {
        if (found->ai_family != AF_INET && found->ai_family != AF_INET6)
            continue;
        if (listen_on_any_port(found, place->port, &listeners[*count]) >= 0) {
            place->port = listeners[(*count)++].port;
            continue;
        }
        error = errno;
        if (!listen_is_foreign_address(error))
            break;
    }
    if (*count > before && (error == 0 || listen_is_foreign_address(error)))
        return TV_OK;
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "cannot listen on %s, port %u: %s", place->host,
                   (unsigned)place->port, strerror(error != 0 ? error : EAFNOSUPPORT));
}

enum tv_status tv_listen(const char *address, uint16_t port, struct tv_listener *listeners,
                         size_t *count, struct tv_error *err)
{
    assert(*count <= TV_LISTENERS);
    struct listen_address place = {.port = port};
    struct addrinfo *found, hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    enum tv_status status = listen_parse_address(address, &place, err);
    if (status != TV_OK)
        return status;
    int error = getaddrinfo(strcmp(place.host, "*") == 0 ? NULL : place.host, "0", &hints, &found);
    if (error != 0)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "cannot listen on %s: %s", place.host,
                       gai_strerror(error));
    status = listen_on_all(found, &place, listeners, count, err);
    freeaddrinfo(found);
    return status;
}

void tv_listen_end(struct tv_listener *listeners, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (listeners[i].fd >= 0)
            close(listeners[i].fd);
        listeners[i].fd = -1;
    }
}
