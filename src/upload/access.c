/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access.c - decides what a client may do: by token, session cookie or password.
 *
 *     1. Host header ours?                                no: TV_FOREIGN_HOST      403
 *     2. for changes: Origin and Sec-Fetch-Site ours?     no: TV_FOREIGN_ORIGIN    403
 *     3. open server, or no right needed?                 yes: TV_ADMITTED
 *     4. session cookie, token or password right?         no: TV_UNKNOWN_CLIENT    401
 *                                                         too often: 429
 *
 * A token has at least 16 characters and cannot be guessed, so guesses are not limited. Passwords
 * can be guessed: wrong ones are limited per client address (rate_limit.c). A browser exchanges the
 * token for a session cookie; sessions live in memory and end with the server. All secrets are
 * compared in constant time.
 */
#include "upload/access.h"

#include <arpa/inet.h>
#include <assert.h>
#include <crypt.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/encoding.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/random.h"
#include "upload/internal.h"

/* Maximum number of sessions; a new one replaces the oldest. */
#define SESSIONS 1024u
#define SESSION_SECONDS (30.0 * 24 * 3600)
/* Ten wrong passwords from one address, then one every ten seconds. */
#define TRIES 10
#define TRIES_A_SECOND 0.1
/* A site gets an IPv6 /48, which is 65,536 networks of addresses: four times as many from all. */
#define SITE_BYTES 6
#define SITE_SHARE 4

/* A browser that has shown the token. */
struct access_session {
    char secret[TV_ACCESS_SESSION + 1]; /* "": unused */
    double begun;                       /* seconds of tv_access_now */
};

struct tv_access {
    char *token;
    struct tv_passwords *passwords;
    bool public_read;
    char **hosts;
    size_t host_count;
    pthread_mutex_t lock; /* protects `sessions` */
    struct access_session sessions[SESSIONS];
    struct tv_rate_limit guesses;      /* wrong passwords, by client address */
    struct tv_rate_limit site_guesses; /* the same, by IPv6 /48 */
};

double tv_access_now(void)
{
    return (double)tv_monotonic_ns() / 1e9;
}

/* Copy a text with a NUL at its end. */
static char *access_copy_text(struct tv_bytes text)
{
    char *copy = tv_alloc(text.length + 1, 1);
    if (text.length > 0)
        memcpy(copy, text.data, text.length);
    return copy;
}

enum tv_status tv_access_new(const struct tv_access_options *options, struct tv_access **access,
                             struct tv_error *err)
{
    struct tv_passwords *passwords = NULL;
    /* The length of a token is its only protection. */
    if (options->token != NULL && strlen(options->token) < TV_ACCESS_MIN_TOKEN)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "the token has %zu characters and needs at least %u: "
                       "'openssl rand -hex 16' makes one",
                       strlen(options->token), TV_ACCESS_MIN_TOKEN);
    if (options->htpasswd != NULL) {
        enum tv_status status = tv_passwords_read(options->htpasswd, &passwords, err);
        if (status != TV_OK)
            return status;
    }
    struct tv_access *made = tv_alloc(1, sizeof *made);
    made->token = options->token ? access_copy_text(tv_bytes_of(options->token)) : NULL;
    made->passwords = passwords;
    made->public_read = options->public_read;
    made->hosts = tv_alloc(options->host_count, sizeof *made->hosts);
    made->host_count = options->host_count;
    for (size_t i = 0; i < options->host_count; i++)
        made->hosts[i] = access_copy_text(tv_bytes_of(options->hosts[i]));
    pthread_mutex_init(&made->lock, NULL);
    tv_rate_limit_init(&made->guesses, TRIES_A_SECOND, TRIES);
    tv_rate_limit_init(&made->site_guesses, SITE_SHARE * TRIES_A_SECOND, SITE_SHARE * TRIES);
    made->site_guesses.six = SITE_BYTES;
    *access = made;
    return TV_OK;
}

void tv_access_free(struct tv_access *access)
{
    if (access == NULL)
        return;
    for (size_t i = 0; i < access->host_count; i++)
        tv_free(access->hosts[i]);
    tv_rate_limit_release(&access->guesses);
    tv_rate_limit_release(&access->site_guesses);
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

/* ---- Host and Origin ---- */

/* Remove port and brackets: "name:8192", "192.168.1.5", "[::1]:80". False: it has none of these
 * forms. */
static bool access_take_host_name(const char *host, char *name, size_t size)
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

/* Return true for an IP address. Such a Host header is safe, because no name server can make
 * another site's name resolve to us under that spelling. */
static bool access_is_ip_address(const char *name)
{
    uint8_t address[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1;
}

/* Is the Host header one of ours: an address, localhost, or a name of --host? */
static bool access_is_our_host(const struct tv_access *access, const char *host)
{
    char name[256];
    if (host == NULL || !access_take_host_name(host, name, sizeof name))
        return false;
    bool ours = access_is_ip_address(name) || strcasecmp(name, "localhost") == 0;
    for (size_t i = 0; i < access->host_count && !ours; i++)
        ours = strcasecmp(name, access->hosts[i]) == 0;
    return ours;
}

/* Return true unless a browser says that another site's page sent the request. Clients that are not
 * browsers send neither header. */
static bool access_is_our_origin(const struct tv_credentials *client)
{
    if (client->fetch_site != NULL && strcasecmp(client->fetch_site, "same-origin") != 0 &&
        strcasecmp(client->fetch_site, "none") != 0)
        return false;
    if (client->origin == NULL)
        return true;
    const char *behind = strstr(client->origin, "://");
    return behind != NULL && strcasecmp(behind + 3, client->host) == 0;
}

/* ---- Sessions ---- */

/* Return the value of our cookie in "a=1; traceview=...; b=2". */
static struct tv_bytes access_find_cookie(const char *cookies)
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

/* Find a session that has not expired. Runs under the lock, and looks at all of them, so that the
 * time reveals nothing. */
static struct access_session *access_find_session(struct tv_access *access, const char *cookies)
{
    struct tv_bytes secret = access_find_cookie(cookies);
    struct access_session *found = NULL;
    if (secret.length != TV_ACCESS_SESSION)
        return NULL;
    for (size_t i = 0; i < SESSIONS; i++)
        if (tv_secret_equal(tv_bytes_of(access->sessions[i].secret), secret))
            found = &access->sessions[i];
    return found != NULL && tv_access_now() - found->begun < SESSION_SECONDS ? found : NULL;
}

/* Does the cookie name a session? */
static bool access_has_session(struct tv_access *access, const char *cookies)
{
    pthread_mutex_lock(&access->lock);
    bool has = access_find_session(access, cookies) != NULL;
    pthread_mutex_unlock(&access->lock);
    return has;
}

/* Keep a new session, in the place of the oldest one. */
static void access_begin_session(struct tv_access *access, const char *secret)
{
    assert(strlen(secret) == TV_ACCESS_SESSION);
    pthread_mutex_lock(&access->lock);
    struct access_session *oldest = &access->sessions[0];
    for (size_t i = 1; i < SESSIONS; i++)
        if (access->sessions[i].begun < oldest->begun)
            oldest = &access->sessions[i];
    snprintf(oldest->secret, sizeof oldest->secret, "%s", secret);
    oldest->begun = tv_access_now();
    pthread_mutex_unlock(&access->lock);
}

void tv_access_logout(struct tv_access *access, const char *cookie)
{
    pthread_mutex_lock(&access->lock);
    struct access_session *session = access_find_session(access, cookie);
    if (session != NULL)
        *session = (struct access_session){.begun = 0};
    pthread_mutex_unlock(&access->lock);
}

/* ---- Credentials ---- */

/* Is a text the token?  Servers without a token have none that is right. */
static bool access_is_token(const struct tv_access *access, struct tv_bytes token)
{
    return access->token != NULL && tv_secret_equal(tv_bytes_of(access->token), token);
}

/* Is a text in base64 the name and password of a user?  The decoded bytes are
 * overwritten afterwards. */
static bool access_is_password(struct tv_access *access, struct tv_bytes text)
{
    struct tv_base64 state = {0};
    uint8_t decoded[768];
    size_t used;
    if (text.length > 900)
        return false;
    size_t length = tv_base64_decode(&state, text, decoded, &used);
    bool known = used == text.length &&
                 tv_passwords_match(access->passwords, (struct tv_bytes){decoded, length});
    explicit_bzero(decoded, sizeof decoded);
    return known;
}

/* Count a guess of the address and of its site. False: there were too many. A thread that waits for
 * the site's other guesses may hold one of its address, but who holds one of the site never
 * waits. */
static bool access_begin_guess(struct tv_access *access, const char *peer)
{
    if (!tv_rate_limit_begin_check(&access->guesses, peer, tv_access_now()))
        return false;
    if (tv_rate_limit_begin_check(&access->site_guesses, peer, tv_access_now()))
        return true;
    tv_rate_limit_end_check(&access->guesses, peer, tv_access_now(), true);
    return false;
}

static void access_end_guess(struct tv_access *access, const char *peer, bool right)
{
    tv_rate_limit_end_check(&access->site_guesses, peer, tv_access_now(), right);
    tv_rate_limit_end_check(&access->guesses, peer, tv_access_now(), right);
}

/* Check "user:password" in base64. The guess is counted before the slow check, and returned if it
 * was right. */
static enum tv_verdict access_check_password(struct tv_access *access, const char *peer,
                                             struct tv_bytes text)
{
    assert(peer != NULL);
    if (access->passwords == NULL)
        return TV_UNKNOWN_CLIENT;
    if (!access_begin_guess(access, peer))
        return TV_TOO_MANY_TRIES;
    bool right = access_is_password(access, text);
    access_end_guess(access, peer, right);
    return right ? TV_ADMITTED : TV_UNKNOWN_CLIENT;
}

/* Check an Authorization header: "Bearer TOKEN" or "Basic BASE64" (RFC 6750 and 7617). */
static enum tv_verdict access_check_authorization(struct tv_access *access,
                                                  const struct tv_credentials *client)
{
    struct tv_bytes text = tv_bytes_of(client->authorization), scheme;
    tv_bytes_split(&text, ' ', &scheme);
    text = tv_bytes_trim(text);
    if (scheme.length == 5 && strncasecmp(client->authorization, "Basic", 5) == 0)
        return access_check_password(access, client->peer, text);
    bool right = scheme.length == 6 && strncasecmp(client->authorization, "Bearer", 6) == 0 &&
                 access_is_token(access, text);
    return right ? TV_ADMITTED : TV_UNKNOWN_CLIENT;
}

/* Check the session first: it costs least, and a page sends it with every
 * request. */
static enum tv_verdict access_check_credentials(struct tv_access *access,
                                                const struct tv_credentials *client)
{
    if (access_has_session(access, client->cookie))
        return TV_ADMITTED;
    return client->authorization != NULL ? access_check_authorization(access, client)
                                         : TV_UNKNOWN_CLIENT;
}

enum tv_verdict tv_access_check(struct tv_access *access, const struct tv_credentials *client,
                                enum tv_right right)
{
    if (!access_is_our_host(access, client->host))
        return TV_FOREIGN_HOST;
    if (client->changes && !access_is_our_origin(client))
        return TV_FOREIGN_ORIGIN;
    bool open = access->token == NULL && access->passwords == NULL;
    if (open || right == TV_RIGHT_NONE || (right == TV_RIGHT_READ && access->public_read))
        return TV_ADMITTED;
    return access_check_credentials(access, client);
}

/* A right token becomes a session, so that the browser need not keep the token. */
enum tv_verdict tv_access_login(struct tv_access *access, struct tv_bytes token,
                                char session[TV_ACCESS_SESSION + 1])
{
    struct tv_error err;
    if (!access_is_token(access, token) || tv_random_hex(session, TV_ACCESS_SESSION, &err) != TV_OK)
        return TV_UNKNOWN_CLIENT;
    access_begin_session(access, session);
    return TV_ADMITTED;
}

/* ---- Passwords: the file of --htpasswd ---- */

#define LARGEST_FILE ((size_t)1 << 20)
/* Maximum length of "user:password". */
#define LONGEST 512u

/* A line of the file. */
struct password_user {
    struct tv_bytes name;
    char *hash;
    char known[LONGEST]; /* the last right "user:password" with a NUL; "" at first */
};

struct tv_passwords {
    char *text;
    struct password_user *users;
    size_t count, capacity;
    pthread_mutex_t lock; /* protects `known` */
};

void tv_passwords_free(struct tv_passwords *passwords)
{
    if (passwords == NULL)
        return;
    for (size_t i = 0; i < passwords->count; i++) {
        explicit_bzero(passwords->users[i].known, LONGEST);
        tv_free(passwords->users[i].hash);
    }
    pthread_mutex_destroy(&passwords->lock);
    tv_free(passwords->users);
    tv_free(passwords->text);
    tv_free(passwords);
}

/* Hash the password with the method and salt of `hash`. *made points into the returned memory;
 * NULL: crypt does not know the method. crypt_rn instead of crypt_r, because sanitizers intercept
 * the latter with a function that does nothing. */
static struct crypt_data *passwords_hash(const char *password, const char *hash, const char **made)
{
    struct crypt_data *work = tv_alloc(1, sizeof *work);
    *made = crypt_rn(password, hash, work, (int)sizeof *work);
    return work;
}

/* Overwrite and free what hashing has left in memory. */
static void passwords_wipe_hash(struct crypt_data *work)
{
    explicit_bzero(work, sizeof *work);
    tv_free(work);
}

/* Does crypt know the method of a hash?  Hashes without "$" are of DES, which
 * is too weak. */
static bool passwords_is_hash(const char *hash)
{
    const char *made;
    struct crypt_data *work = passwords_hash("", hash, &made);
    bool known = hash[0] == '$' && made != NULL;
    passwords_wipe_hash(work);
    return known;
}

/* Add the user of a line; empty lines and comments have none. */
static enum tv_status passwords_add_line(struct tv_passwords *passwords, struct tv_bytes line,
                                         uint64_t offset, struct tv_error *err)
{
    struct tv_bytes hash = line, name;
    if (line.length == 0 || line.data[0] == '#')
        return TV_OK;
    if (!tv_bytes_split(&hash, ':', &name) || name.length == 0)
        return tv_fail(err, TV_ERR_SYNTAX, offset, "expected user:hash");
    struct password_user user = {.name = name, .hash = access_copy_text(hash)};
    if (!passwords_is_hash(user.hash)) {
        tv_free(user.hash);
        return tv_fail(err, TV_ERR_SYNTAX, offset,
                       "the password's hash is of a kind that crypt(5) does not know; "
                       "write it with 'htpasswd -B'");
    }
    passwords->users = tv_array_reserve(passwords->users, &passwords->capacity,
                                        passwords->count + 1, sizeof *passwords->users);
    passwords->users[passwords->count++] = user;
    return TV_OK;
}

enum tv_status tv_passwords_read(const char *path, struct tv_passwords **passwords,
                                 struct tv_error *err)
{
    struct tv_passwords *made = tv_alloc(1, sizeof *made);
    struct tv_bytes line;
    size_t length = 0;
    pthread_mutex_init(&made->lock, NULL);
    enum tv_status status = tv_file_read_text(path, LARGEST_FILE, &made->text, &length, err);
    struct tv_cursor cursor =
        tv_cursor_over((struct tv_bytes){(const uint8_t *)made->text, length});
    while (status == TV_OK) {
        uint64_t offset = tv_cursor_position(&cursor);
        if (!tv_cursor_take_line(&cursor, &line))
            break;
        status = passwords_add_line(made, tv_bytes_trim(line), offset, err);
    }
    if (status == TV_OK && made->count == 0)
        status = tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET, "it names nobody: nobody could log in");
    if (status == TV_OK) {
        *passwords = made;
        return TV_OK;
    }
    tv_error_prefix(err, "%s", path);
    tv_passwords_free(made);
    return status;
}

/* Return the user with a name; NULL if there is none. */
static struct password_user *passwords_find_user(struct tv_passwords *passwords,
                                                 struct tv_bytes name)
{
    for (size_t i = 0; i < passwords->count; i++)
        if (tv_bytes_equal(passwords->users[i].name, name))
            return &passwords->users[i];
    return NULL;
}

/* Was this the last right password?  Hashing takes long on purpose, and a page
 * sends it with every request. */
static bool passwords_was_right(struct tv_passwords *passwords, const struct password_user *user,
                                struct tv_bytes both)
{
    pthread_mutex_lock(&passwords->lock);
    bool known = user->known[0] != '\0' && tv_secret_equal(tv_bytes_of(user->known), both);
    pthread_mutex_unlock(&passwords->lock);
    return known;
}

/* Hash a password as the line says, and compare. */
static bool passwords_fits_hash(const char *hash, const char *password)
{
    assert(hash[0] == '$');
    const char *made;
    struct crypt_data *work = passwords_hash(password, hash, &made);
    bool same = made != NULL && tv_secret_equal(tv_bytes_of(made), tv_bytes_of(hash));
    passwords_wipe_hash(work);
    return same;
}

bool tv_passwords_match(struct tv_passwords *passwords, struct tv_bytes both)
{
    struct tv_bytes password = both, name;
    if (both.length >= LONGEST || memchr(both.data, '\0', both.length) != NULL ||
        !tv_bytes_split(&password, ':', &name) || passwords->count == 0)
        return false;
    /* for an unknown user, hash as well, so that the time does not reveal which users exist */
    struct password_user *user = passwords_find_user(passwords, name);
    char *text = access_copy_text(password);
    bool right = user != NULL && passwords_was_right(passwords, user, both);
    if (!right)
        right = passwords_fits_hash((user ? user : passwords->users)->hash, text) && user != NULL;
    explicit_bzero(text, password.length);
    tv_free(text);
    if (right) {
        pthread_mutex_lock(&passwords->lock);
        memcpy(user->known, both.data, both.length);
        user->known[both.length] = '\0';
        pthread_mutex_unlock(&passwords->lock);
    }
    return right;
}

/* ---- Logging in and out ---- */

#define LONGEST_TOKEN 1024u

bool tv_upload_login_begin(struct tv_upload_request *req, struct tv_body *body,
                           struct tv_answer *answer)
{
    return tv_small_body_begin(req, LONGEST_TOKEN, body, answer);
}

/* The body is the token, as text. */
void tv_upload_login(struct tv_upload_request *req, struct tv_answer *answer)
{
    char session[TV_ACCESS_SESSION + 1];
    const struct tv_bytes token = tv_bytes_trim(tv_small_body_text(req->http->body));
    if (tv_access_login(req->server->access, token, session) != TV_ADMITTED) {
        tv_upload_refuse(answer, TV_HTTP_FORBIDDEN, "this is not the token");
        return;
    }
    answer->status = TV_HTTP_NO_CONTENT;
    tv_answer_header(answer, "Set-Cookie",
                     TV_ACCESS_COOKIE "=%s; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax%s",
                     session, req->secure ? "; Secure" : "");
}

/* Answer POST /logout: the session ends here and in the browser. */
void tv_upload_logout(struct tv_upload_request *req, struct tv_answer *answer)
{
    tv_access_logout(req->server->access, tv_request_header(req->http, "Cookie"));
    answer->status = TV_HTTP_NO_CONTENT;
    tv_answer_header(answer, "Set-Cookie", TV_ACCESS_COOKIE "=; Path=/; Max-Age=0; HttpOnly");
}
