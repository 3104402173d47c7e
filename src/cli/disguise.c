/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/disguise.h"

#include <gnutls/crypto.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/random.h"

/* FIPS 180-4, section 6.2; RFC 2104. */
void tv_disguise_hmac(const uint8_t key[TV_DISGUISE_KEY], struct tv_bytes text,
                      uint8_t digest[TV_DISGUISE_KEY])
{
    if (gnutls_hmac_fast(GNUTLS_MAC_SHA256, key, TV_DISGUISE_KEY, text.data, text.length, digest))
        abort(); /* rather than a name in the open */
}

static void redaction_set_key(struct tv_disguise_options *options, struct tv_bytes salt)
{
    if (gnutls_hash_fast(GNUTLS_DIG_SHA256, salt.data, salt.length, options->key))
        abort();
}

enum tv_status tv_disguise_by_chance(struct tv_disguise_options *options, struct tv_error *err)
{
    char salt[TV_RANDOM_DIGITS + 1];
    enum tv_status status = tv_random_hex(salt, TV_RANDOM_DIGITS, err);
    if (status != TV_OK)
        return status;
    options->mac = tv_disguise_hmac;
    redaction_set_key(options, tv_bytes_of(salt));
    return TV_OK;
}

enum tv_status tv_disguise_choose(const struct tv_settings *settings,
                                  struct tv_disguise_options *options, bool *chosen,
                                  struct tv_error *err)
{
    *options = (struct tv_disguise_options){
        settings->hash_names, settings->strip_args, tv_disguise_hmac, {0}};
    *chosen = settings->hash_names || settings->strip_args;
    if (settings->salt && (!settings->hash_names || *settings->salt == '\0'))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--salt: expected a secret beside --hash-names");
    if (!settings->hash_names)
        return TV_OK;
    if (!settings->salt)
        return tv_disguise_by_chance(options, err);
    redaction_set_key(options, tv_bytes_of(settings->salt));
    return TV_OK;
}
