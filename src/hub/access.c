/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/access.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/encoding.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "base/random.h"
#include "hub/passwords.h"
#include "hub/tries.h"

/* Sessions that may be open at once; of more the oldest ends. */
#define SESSIONS 1024u
#define SESSION_SECONDS (30.0 * 24 * 3600)
/* Ten wrong passwords from one address, then one each ten seconds. */
#define TRIES 10
#define TRIES_A_SECOND 0.1

struct session {
    char secret[TV_ACCESS_SESSION + 1]; /* "": the place is free */
    double begun;                       /* seconds */
};

struct tv_access {
    char *token;
    struct tv_passwords *passwords;
    bool public_read;
    char **hosts;
    size_t host_count;
    pthread_mutex_t lock; /* of `sessions` */
    struct session sessions[SESSIONS];
    struct tv_tries tries; /* wrong passwords, by address */
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static char *copy_text(const char *text)
{
    return text == NULL ? NULL : memcpy(tv_alloc(strlen(text) + 1, 1), text, strlen(text));
}

enum tv_status tv_access_new(const struct tv_access_options *options, struct tv_access **access,
                             struct tv_error *err)
{
    struct tv_passwords *passwords = NULL;
    /* Guesses at a token are not limited: its length alone protects it. */
    if (options->token != NULL && strlen(options->token) < TV_ACCESS_LEAST_TOKEN)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "the token has %zu characters and needs at least %u: "
                       "'openssl rand -hex 16' makes one",
                       strlen(options->token), TV_ACCESS_LEAST_TOKEN);
    if (options->htpasswd != NULL) {
        enum tv_status status = tv_passwords_read(options->htpasswd, &passwords, err);
        if (status != TV_OK)
            return status;
    }
    struct tv_access *made = tv_alloc(1, sizeof *made);
    made->token = copy_text(options->token);
    made->passwords = passwords;
    made->public_read = options->public_read;
    made->hosts = tv_alloc(options->host_count, sizeof *made->hosts);
    made->host_count = options->host_count;
    for (size_t i = 0; i < options->host_count; i++)
        made->hosts[i] = copy_text(options->hosts[i]);
    pthread_mutex_init(&made->lock, NULL);
    tv_tries_init(&made->tries, TRIES_A_SECOND, TRIES);
    *access = made;
    return TV_OK;
}

void tv_access_free(struct tv_access *access)
{
    if (access == NULL)
        return;
    for (size_t i = 0; i < access->host_count; i++)
        tv_free(access->hosts[i]);
    tv_tries_release(&access->tries);
    pthread_mutex_destroy(&access->lock);
    tv_passwords_free(access->passwords);
    tv_free(access->hosts);
    tv_free(access->token);
    tv_free(access);
}

const char *tv_access_login_kind(const struct tv_access *access)
{
    if (access->token != NULL)
        return "token";
    return access->passwords != NULL ? "basic" : NULL;
}

/* Hosts and origins. */

/* "name:8192", "192.168.1.5", "[::1]:80" without the port and the brackets; false when it is none
 * of these. */
static bool take_name(const char *host, char *name, size_t size)
{
    const char *end = host + strcspn(host, ":");
    if (host[0] == '[') {
        host++;
        end = strchr(host, ']');
        if (end == NULL || (end[1] != '\0' && end[1] != ':'))
            return false;
    }
    size_t length = (size_t)(end - host);
    const char *port = strchr(end, ':');
    if (length == 0 || length >= size ||
        (port != NULL && strspn(port + 1, "0123456789") != strlen(port + 1)))
        return false;
    memcpy(name, host, length);
    name[length] = '\0';
    return true;
}

/* No name server answers for an address, so that none can lie about one. */
static bool is_address(const char *name)
{
    uint8_t address[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1;
}

static bool host_is_ours(const struct tv_access *access, const char *host)
{
    char name[256];
    if (host == NULL || !take_name(host, name, sizeof name))
        return false;
    bool ours = is_address(name) || strcasecmp(name, "localhost") == 0;
    for (size_t i = 0; i < access->host_count && !ours; i++)
        ours = strcasecmp(name, access->hosts[i]) == 0;
    return ours;
}

/* Whether the page that sends it came from here: a browser says so of whatever may change
 * something.  What is no browser says nothing. */
static bool origin_is_ours(const struct tv_credentials *client)
{
    if (client->fetch_site != NULL && strcasecmp(client->fetch_site, "same-origin") != 0 &&
        strcasecmp(client->fetch_site, "none") != 0)
        return false;
    if (client->origin == NULL)
        return true;
    const char *behind = strstr(client->origin, "://");
    return behind != NULL && strcasecmp(behind + 3, client->host) == 0;
}

/* Sessions. */

/* The value of our cookie among "a=1; traceview=...; b=2". */
static struct tv_bytes find_cookie(const char *cookies)
{
    struct tv_bytes rest = tv_bytes_of(cookies != NULL ? cookies : ""), cookie, name;
    while (rest.length > 0) {
        tv_bytes_split(&rest, ';', &cookie);
        cookie = tv_bytes_trim(cookie);
        if (tv_bytes_split(&cookie, '=', &name) &&
            tv_bytes_equal(name, tv_bytes_of(TV_ACCESS_COOKIE)))
            return cookie;
    }
    return (struct tv_bytes){NULL, 0};
}

/* With the lock held. */
static struct session *find_session(struct tv_access *access, const char *cookies)
{
    struct tv_bytes secret = find_cookie(cookies);
    struct session *found = NULL;
    if (secret.length != TV_ACCESS_SESSION)
        return NULL;
    for (size_t i = 0; i < SESSIONS; i++)
        if (tv_secret_equal(tv_bytes_of(access->sessions[i].secret), secret))
            found = &access->sessions[i];
    return found != NULL && now() - found->begun < SESSION_SECONDS ? found : NULL;
}

static bool has_session(struct tv_access *access, const char *cookies)
{
    pthread_mutex_lock(&access->lock);
    bool has = find_session(access, cookies) != NULL;
    pthread_mutex_unlock(&access->lock);
    return has;
}

static void begin_session(struct tv_access *access, const char *secret)
{
    pthread_mutex_lock(&access->lock);
    struct session *oldest = &access->sessions[0];
    for (size_t i = 1; i < SESSIONS; i++)
        if (access->sessions[i].begun < oldest->begun)
            oldest = &access->sessions[i];
    snprintf(oldest->secret, sizeof oldest->secret, "%s", secret);
    oldest->begun = now();
    pthread_mutex_unlock(&access->lock);
}

void tv_access_logout(struct tv_access *access, const char *cookie)
{
    pthread_mutex_lock(&access->lock);
    struct session *session = find_session(access, cookie);
    if (session != NULL)
        *session = (struct session){.begun = 0};
    pthread_mutex_unlock(&access->lock);
}

/* Credentials. */

static bool is_token(const struct tv_access *access, struct tv_bytes token)
{
    return access->token != NULL && tv_secret_equal(tv_bytes_of(access->token), token);
}

static bool is_password(struct tv_access *access, struct tv_bytes text)
{
    struct tv_base64 state = {0};
    uint8_t decoded[768];
    size_t used;
    if (text.length > 900)
        return false;
    size_t length = tv_base64_decode(&state, text, decoded, &used);
    bool known = used == text.length &&
                 tv_passwords_know(access->passwords, (struct tv_bytes){decoded, length});
    explicit_bzero(decoded, sizeof decoded);
    return known;
}

/* Passwords are short and slow to check, so that wrong ones are limited by address: each guess is
 * counted before it is checked, and a right one is given back. */
static enum tv_verdict judge_password(struct tv_access *access, const char *peer,
                                      struct tv_bytes text)
{
    if (access->passwords == NULL)
        return TV_UNKNOWN_CLIENT;
    if (!tv_tries_begin_check(&access->tries, peer, now()))
        return TV_TOO_MANY_TRIES;
    bool right = is_password(access, text);
    tv_tries_end_check(&access->tries, peer, now(), right);
    return right ? TV_ADMITTED : TV_UNKNOWN_CLIENT;
}

/* "Bearer TOKEN" or "Basic BASE64" (RFC 6750 and 7617). */
static enum tv_verdict judge_authorization(struct tv_access *access,
                                           const struct tv_credentials *client)
{
    struct tv_bytes text = tv_bytes_of(client->authorization), scheme;
    tv_bytes_split(&text, ' ', &scheme);
    text = tv_bytes_trim(text);
    if (scheme.length == 5 && strncasecmp(client->authorization, "Basic", 5) == 0)
        return judge_password(access, client->peer, text);
    bool right = scheme.length == 6 && strncasecmp(client->authorization, "Bearer", 6) == 0 &&
                 is_token(access, text);
    return right ? TV_ADMITTED : TV_UNKNOWN_CLIENT;
}

static enum tv_verdict judge_credentials(struct tv_access *access,
                                         const struct tv_credentials *client)
{
    if (has_session(access, client->cookie))
        return TV_ADMITTED;
    return client->authorization != NULL ? judge_authorization(access, client) : TV_UNKNOWN_CLIENT;
}

enum tv_verdict tv_access_judge(struct tv_access *access, const struct tv_credentials *client,
                                enum tv_right right)
{
    if (!host_is_ours(access, client->host))
        return TV_FOREIGN_HOST;
    if (client->changes && !origin_is_ours(client))
        return TV_FOREIGN_ORIGIN;
    bool open = access->token == NULL && access->passwords == NULL;
    if (open || right == TV_RIGHT_NONE || (right == TV_RIGHT_READ && access->public_read))
        return TV_ADMITTED;
    return judge_credentials(access, client);
}

enum tv_verdict tv_access_login(struct tv_access *access, struct tv_bytes token,
                                char session[TV_ACCESS_SESSION + 1])
{
    struct tv_error err;
    if (!is_token(access, token) || tv_random_hex(session, TV_ACCESS_SESSION, &err) != TV_OK)
        return TV_UNKNOWN_CLIENT;
    begin_session(access, session);
    return TV_ADMITTED;
}
