/* SPDX-License-Identifier: Apache-2.0 */
#include "wire.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Browsers store settings per port. */
static void listens_at_home_where_there_is_room(void **state)
{
    struct wire *w = *state;
    char address[64];
    wire_start(w);
    snprintf(address, sizeof address, "http://127.0.0.1:%u/", w->port);
    assert_string_equal(tv_http_address(w->http, 0), address);
    assert_null(tv_http_address(w->http, 1));
    if (w->port >= TV_HTTP_HOME_PORT && w->port < TV_HTTP_HOME_PORT + TV_HTTP_HOME_PORTS)
        return;
    for (unsigned i = 0; i < TV_HTTP_HOME_PORTS; i++) {
        int fd = wire_try(TV_HTTP_HOME_PORT + i);
        assert_true(fd >= 0);
        close(fd);
    }
}

static void says_why_it_cannot_listen(void **state)
{
    struct wire *w = *state;
    struct tv_handler handler = {.context = w};
    struct tv_http *second;
    struct tv_error err = {0};
    wire_start(w);
    struct tv_http_options options = {.port = (uint16_t)w->port};
    assert_int_equal(tv_http_new(&options, &handler, &second, &err), TV_ERR_IO);
    assert_non_null(strstr(err.message, "Address already in use"));
    assert_non_null(strstr(err.message, "cannot listen on 127.0.0.1, port "));
}

static void listens_on_several_addresses(void **state)
{
    struct wire *w = *state;
    static const char *const addresses[] = {"127.0.0.1:0", "127.0.0.2", "*"};
    w->options.addresses = addresses;
    w->options.address_count = 3;
    wire_start(w);
    assert_int_equal(wire_ask(w, "GET", "/x", ""), 200);
    assert_non_null(strstr(tv_http_address(w->http, 1), "http://127.0.0.2:"));
    assert_non_null(tv_http_address(w->http, 2));
    /* "*" may mean one network family or both; both have the same port */
    const char *last = tv_http_address(w->http, 2), *other = tv_http_address(w->http, 3);
    if (other != NULL)
        assert_string_equal(strrchr(last, ':'), strrchr(other, ':'));
    assert_true(strstr(last, "//0.0.0.0:") != NULL || strstr(last, "//[::]:") != NULL);
}

static struct sockaddr_in6 loopback(const char *address)
{
    const char *port = address != NULL ? strrchr(address, ':') + 1 : "0";
    return (struct sockaddr_in6){.sin6_family = AF_INET6,
                                 .sin6_addr = IN6ADDR_LOOPBACK_INIT,
                                 .sin6_port = htons((uint16_t)strtoul(port, NULL, 10))};
}

static bool has_loopback(void)
{
    struct sockaddr_in6 to = loopback(NULL);
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    bool bound = fd >= 0 && bind(fd, (const struct sockaddr *)&to, sizeof to) == 0;
    if (fd >= 0)
        close(fd);
    return bound;
}

static void ask_by_ipv6(struct wire *w, const char *address)
{
    struct sockaddr_in6 to = loopback(address);
    char text[512];
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
    wire_send(fd, text, wire_head(w, text, sizeof text, "GET /x", ""));
    assert_int_equal(wire_read(w, fd), 200);
}

/* Only where the machine has IPv6. */
static void listens_by_ipv6(void **state)
{
    struct wire *w = *state;
    static const char *const addresses[] = {"127.0.0.1:0", "[::1]:0", "::1"};
    if (!has_loopback())
        return;
    w->options.addresses = addresses;
    w->options.address_count = 3;
    wire_start(w);
    ask_by_ipv6(w, tv_http_address(w->http, 1));
    assert_string_equal(w->peer, "::1");
    assert_non_null(strstr(tv_http_address(w->http, 1), "http://[::1]:"));
    assert_non_null(strstr(tv_http_address(w->http, 2), "http://[::1]:"));
}

static void refuses_what_is_no_address(void **state)
{
    struct wire *w = *state;
    static const char *const wrong[] = {
        "",
        ":",
        ":80",
        "127.0.0.1:",
        "127.0.0.1:65536",
        "127.0.0.1:x",
        "127.0.0.1:-1",
        "[::1",
        "[::1]x",
        "[]:80",
        "[::1]:",
        "[::1]80",
        "a b:80",
        "127.0.0.1:80:80",
    };
    struct tv_handler handler = {.context = w};
    for (size_t i = 0; i < TV_COUNT(wrong); i++) {
        struct tv_http_options options = {.addresses = &wrong[i], .address_count = 1};
        struct tv_http *http;
        struct tv_error err = {0};
        if (tv_http_new(&options, &handler, &http, &err) == TV_OK)
            fail_msg("'%s' was taken", wrong[i]);
        assert_int_equal(err.status, TV_ERR_USAGE);
        assert_non_null(strstr(err.message, "cannot listen on "));
    }
}

/* An address of another machine, and a name that is longer than any. */
static void refuses_what_is_not_here(void **state)
{
    struct wire *w = *state;
    char name[300];
    const char *const wrong[] = {"192.0.2.1:0", name};
    struct tv_handler handler = {.context = w};
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (size_t i = 0; i < TV_COUNT(wrong); i++) {
        struct tv_http_options options = {.addresses = &wrong[i], .address_count = 1};
        struct tv_http *http;
        struct tv_error err = {0};
        assert_int_equal(tv_http_new(&options, &handler, &http, &err),
                         i == 0 ? TV_ERR_IO : TV_ERR_USAGE);
        assert_non_null(strstr(err.message, "cannot listen on "));
    }
}

/* If one of several addresses cannot be used, none stays open. */
static void listens_everywhere_or_nowhere(void **state)
{
    struct wire *w = *state;
    char taken[32], open[32];
    const char *addresses[] = {open, taken};
    struct tv_handler handler = {.context = w};
    struct tv_http *http;
    wire_start(w);
    snprintf(taken, sizeof taken, "127.0.0.1:%u", w->port);
    snprintf(open, sizeof open, "127.0.0.3:%u", w->port);
    struct tv_http_options options = {.addresses = addresses, .address_count = 2};
    assert_int_equal(tv_http_new(&options, &handler, &http, NULL), TV_ERR_IO);
    options.address_count = 1;
    assert_int_equal(tv_http_new(&options, &handler, &http, NULL), TV_OK);
    tv_http_free(http);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, wire_make, wire_free)

UNIT_TESTS(listen, TEST(listens_at_home_where_there_is_room), TEST(says_why_it_cannot_listen),
           TEST(listens_on_several_addresses), TEST(listens_by_ipv6),
           TEST(refuses_what_is_no_address), TEST(refuses_what_is_not_here),
           TEST(listens_everywhere_or_nowhere));
