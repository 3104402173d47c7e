/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/secret.h"

#include <string.h>

#include "base/file.h"
#include "base/memory.h"

#define LONGEST_SECRET 1024u

enum tv_status tv_secret_read(const char *text, const char *path, char **secret,
                              struct tv_error *err)
{
    size_t length;
    *secret = NULL;
    if (path != NULL) {
        enum tv_status status = tv_file_read_text(path, LONGEST_SECRET, secret, &length, err);
        if (status != TV_OK) {
            *secret = NULL;
            return tv_error_prefix(err, "%s", path);
        }
        (*secret)[strcspn(*secret, "\r\n")] = '\0';
    } else if (text != NULL) {
        *secret = memcpy(tv_alloc(strlen(text) + 1, 1), text, strlen(text));
    }
    if (*secret != NULL && (*secret)[0] == '\0') {
        tv_free(*secret);
        *secret = NULL;
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "the token is empty");
    }
    return TV_OK;
}
