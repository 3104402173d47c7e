/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/disguise.h"

#include "base/bytes.h"
#include "base/random.h"

enum tv_status tv_disguise_choose(const struct tv_settings *settings,
                                  struct tv_disguise_options *options, bool *chosen,
                                  struct tv_error *err)
{
    char salt[TV_RANDOM_DIGITS + 1];
    *options = (struct tv_disguise_options){settings->hash_names, settings->strip_args, {0}};
    *chosen = settings->hash_names || settings->strip_args;
    if (settings->salt && (!settings->hash_names || *settings->salt == '\0'))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--salt: expected a secret beside --hash-names");
    if (!settings->hash_names)
        return TV_OK;
    if (!settings->salt) {
        enum tv_status status = tv_random_hex(salt, TV_RANDOM_DIGITS, err);
        if (status != TV_OK)
            return status;
    }
    tv_disguise_set_key(options, tv_bytes_of(settings->salt ? settings->salt : salt));
    return TV_OK;
}
