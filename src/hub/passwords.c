/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/passwords.h"

#include <crypt.h>
#include <pthread.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/random.h"

#define LARGEST_FILE ((size_t)1 << 20)
/* The longest "user:password" that is looked at. */
#define LONGEST 512u

struct user {
    struct tv_bytes name;
    char *hash;
    char known[LONGEST]; /* "user:password" that was right, NUL behind it; "" before */
};

struct tv_passwords {
    char *text;
    struct user *users;
    size_t count, capacity;
    pthread_mutex_t lock; /* of `known` */
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

static char *copy_text(struct tv_bytes text)
{
    char *copy = tv_alloc(text.length + 1, 1);
    memcpy(copy, text.data, text.length);
    return copy;
}

/* The password's hash, made as `hash` says, in memory to be given back; NULL in *made when crypt
 * does not know that kind.  Not crypt_r: sanitizers put their own in its place, which calls
 * nothing. */
static struct crypt_data *make_hash(const char *password, const char *hash, const char **made)
{
    struct crypt_data *work = tv_alloc(1, sizeof *work);
    *made = crypt_rn(password, hash, work, (int)sizeof *work);
    return work;
}

static void forget(struct crypt_data *work)
{
    explicit_bzero(work, sizeof *work);
    tv_free(work);
}

static bool is_hash(const char *hash)
{
    const char *made;
    struct crypt_data *work = make_hash("", hash, &made);
    bool known = hash[0] == '$' && made != NULL;
    forget(work);
    return known;
}

static enum tv_status add_line(struct tv_passwords *passwords, struct tv_bytes line,
                               uint64_t offset, struct tv_error *err)
{
    struct tv_bytes hash = line, name;
    if (line.length == 0 || line.data[0] == '#')
        return TV_OK;
    if (!tv_bytes_split(&hash, ':', &name) || name.length == 0)
        return tv_fail(err, TV_ERR_SYNTAX, offset, "expected user:hash");
    struct user user = {.name = name, .hash = copy_text(hash)};
    if (!is_hash(user.hash)) {
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
        status = add_line(made, tv_bytes_trim(line), offset, err);
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

static struct user *find_user(struct tv_passwords *passwords, struct tv_bytes name)
{
    for (size_t i = 0; i < passwords->count; i++)
        if (tv_bytes_equal(passwords->users[i].name, name))
            return &passwords->users[i];
    return NULL;
}

static bool is_known(struct tv_passwords *passwords, const struct user *user, struct tv_bytes both)
{
    pthread_mutex_lock(&passwords->lock);
    bool known = user->known[0] != '\0' && tv_secret_equal(tv_bytes_of(user->known), both);
    pthread_mutex_unlock(&passwords->lock);
    return known;
}

static bool fits_hash(const char *hash, const char *password)
{
    const char *made;
    struct crypt_data *work = make_hash(password, hash, &made);
    bool same = made != NULL && tv_secret_equal(tv_bytes_of(made), tv_bytes_of(hash));
    forget(work);
    return same;
}

bool tv_passwords_know(struct tv_passwords *passwords, struct tv_bytes both)
{
    struct tv_bytes password = both, name;
    if (both.length >= LONGEST || memchr(both.data, '\0', both.length) != NULL ||
        !tv_bytes_split(&password, ':', &name) || passwords->count == 0)
        return false;
    /* Who is not there takes as long as who is. */
    struct user *user = find_user(passwords, name);
    char *text = copy_text(password);
    bool right = user != NULL && is_known(passwords, user, both);
    if (!right)
        right = fits_hash((user ? user : passwords->users)->hash, text) && user != NULL;
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
