/* SPDX-License-Identifier: Apache-2.0 */
#include "server/guard.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/bytes.h"

/* Browsers leave this port out of Host and Origin. */
#define HTTP_PORT 80

enum tv_status tv_guard_init(struct tv_guard *guard, uint16_t port, struct tv_error *err)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t random[TV_TOKEN_LENGTH / 2];
    if (getentropy(random, sizeof random) != 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "no random numbers from the system: %s",
                       strerror(errno));
    for (size_t i = 0; i < sizeof random; i++) {
        guard->token[2 * i] = digits[random[i] >> 4];
        guard->token[2 * i + 1] = digits[random[i] & 15];
    }
    guard->token[TV_TOKEN_LENGTH] = '\0';
    guard->port = port;
    return TV_OK;
}

static bool is_name_and_port(const char *host, const char *name, uint16_t port)
{
    char wanted[32];
    snprintf(wanted, sizeof wanted, "%s:%u", name, (unsigned)port);
    return strcasecmp(host, wanted) == 0 || (port == HTTP_PORT && strcasecmp(host, name) == 0);
}

bool tv_guard_host_is_ours(const struct tv_guard *guard, const char *host)
{
    return is_name_and_port(host, "127.0.0.1", guard->port) ||
           is_name_and_port(host, "localhost", guard->port);
}

bool tv_guard_origin_is_ours(const struct tv_guard *guard, const char *origin)
{
    static const char scheme[] = "http://";
    return strncmp(origin, scheme, sizeof scheme - 1) == 0 &&
           tv_guard_host_is_ours(guard, origin + sizeof scheme - 1);
}

bool tv_guard_take_token(const struct tv_guard *guard, struct tv_bytes path, struct tv_bytes *rest)
{
    /* A slash, the token, a slash. */
    if (path.length < TV_TOKEN_LENGTH + 2)
        return false;
    unsigned different = path.data[0] ^ (unsigned)'/';
    different |= path.data[TV_TOKEN_LENGTH + 1] ^ (unsigned)'/';
    for (size_t i = 0; i < TV_TOKEN_LENGTH; i++)
        different |= path.data[1 + i] ^ (unsigned)(uint8_t)guard->token[i];
    if (different != 0)
        return false;
    *rest = (struct tv_bytes){path.data + TV_TOKEN_LENGTH + 2, path.length - TV_TOKEN_LENGTH - 2};
    return true;
}
