/* SPDX-License-Identifier: Apache-2.0 */
/*
 * passwords.h - users and hashed passwords, as htpasswd -B and mkpasswd write them: "user:hash" a
 * line, the hash in a form that crypt(5) knows ($2y$, $6$, $5$, $y$).
 */
#ifndef TV_HUB_PASSWORDS_H
#define TV_HUB_PASSWORDS_H

#include "base/error.h"
#include "base/types.h"

struct tv_passwords;

/* TV_ERR_SYNTAX: err->offset is the first byte of a line that is none, or whose hash the system
 * does not know (Apache's own $apr1$ and {SHA}). */
enum tv_status tv_passwords_read(const char *path, struct tv_passwords **passwords,
                                 struct tv_error *err) TV_MUST_CHECK;
void tv_passwords_free(struct tv_passwords *passwords);

/* Whether there is such a user with that password, both in "user:password".  Slow, as the hashes
 * mean it to be; what was right once is known for as long as the server runs. */
bool tv_passwords_know(struct tv_passwords *passwords, struct tv_bytes user_and_password);

#endif
