/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/serve_check.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"

/* A day's grace is more than any service manager gives. */
#define LONGEST_GRACE 86400u

static bool serve_is_ipv4_loopback(const char *address)
{
    char host[INET_ADDRSTRLEN];
    uint8_t bytes[4];
    size_t length = strcspn(address, ":");
    if (length >= sizeof host)
        return false;
    memcpy(host, address, length);
    host[length] = '\0';
    return inet_pton(AF_INET, host, bytes) == 1 && bytes[0] == 127;
}

/* "127.0.0.1:80", "[::1]", "localhost": only this machine reaches it. */
static bool serve_is_loopback(const char *address)
{
    static const char *const names[] = {"localhost", "[::1]"};
    for (size_t i = 0; i < TV_COUNT(names); i++) {
        size_t length = strlen(names[i]);
        if (strncmp(address, names[i], length) == 0 &&
            (address[length] == '\0' || address[length] == ':'))
            return true;
    }
    return strcmp(address, "::1") == 0 || serve_is_ipv4_loopback(address);
}

static enum tv_status serve_check_listeners(const struct tv_serve_settings *serve, struct tv_error *err)
{
    if (serve->token || serve->token_file || serve->htpasswd || serve->no_login)
        return TV_OK;
    for (size_t i = 0; i < serve->listen.count; i++)
        if (!serve_is_loopback(serve->listen.items[i]))
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "--listen %s: other machines can reach that: give --token-file or "
                           "--htpasswd, or --no-login to let everybody in",
                           serve->listen.items[i]);
    return TV_OK;
}

/* As the addresses of clients are written, which it is compared with. */
static bool serve_is_plain_address(const char *text)
{
    static const int families[] = {AF_INET, AF_INET6};
    uint8_t bytes[sizeof(struct in6_addr)];
    char plain[INET6_ADDRSTRLEN];
    for (size_t i = 0; i < TV_COUNT(families); i++)
        if (inet_pton(families[i], text, bytes) == 1 &&
            inet_ntop(families[i], bytes, plain, sizeof plain) != NULL && strcmp(text, plain) == 0)
            return true;
    return false;
}

/* What can never equal what it is compared with would silently do nothing. */
static enum tv_status serve_check_names(const struct tv_serve_settings *serve, struct tv_error *err)
{
    for (size_t i = 0; i < serve->proxies.count; i++)
        if (!serve_is_plain_address(serve->proxies.items[i]))
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "--proxy: expected an address, written as 127.0.0.1 or ::1, found '%s'",
                           serve->proxies.items[i]);
    for (size_t i = 0; i < serve->hosts.count; i++)
        if (serve->hosts.items[i][0] == '\0' || strpbrk(serve->hosts.items[i], ":/ ") != NULL)
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "--host: expected a name without scheme and port, found '%s'",
                           serve->hosts.items[i]);
    return TV_OK;
}

static enum tv_status serve_check_numbers(const struct tv_settings *settings, struct tv_error *err)
{
    const struct tv_serve_settings *serve = &settings->serve;
    const struct {
        const char *name;
        uint64_t value, most;
    } numbers[] = {
        {"port", settings->port, UINT16_MAX},
        {"engines", serve->engines, 1023},
        {"connections", serve->connections, UINT16_MAX},
        {"client-connections", serve->client_connections, UINT16_MAX},
        {"rate", serve->rate, INT32_MAX},
        {"grace", serve->grace, LONGEST_GRACE},
        {"max-cpu", serve->max_cpu, INT32_MAX},
        {"keep", serve->keep, INT64_MAX / 1000},
    };
    for (size_t i = 0; i < TV_COUNT(numbers); i++)
        if (numbers[i].value > numbers[i].most)
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "--%s: expected a number up to %" PRIu64, numbers[i].name,
                           numbers[i].most);
    return TV_OK;
}

static enum tv_status serve_check_pairs(const struct tv_settings *settings, struct tv_error *err)
{
    const struct tv_serve_settings *serve = &settings->serve;
    if (settings->files.count > 0)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "takes no file; send it with 'push'");
    if ((serve->certificate == NULL) != (serve->key == NULL))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--certificate and --key go together");
    if ((serve->token || serve->token_file) && serve->htpasswd)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "either a token or --htpasswd");
    return TV_OK;
}

enum tv_status tv_serve_check(const struct tv_settings *settings, struct tv_error *err)
{
    enum tv_status status = serve_check_pairs(settings, err);
    if (status == TV_OK)
        status = serve_check_numbers(settings, err);
    if (status == TV_OK)
        status = serve_check_names(&settings->serve, err);
    return status == TV_OK ? serve_check_listeners(&settings->serve, err) : status;
}
