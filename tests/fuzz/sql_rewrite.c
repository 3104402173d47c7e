/* SPDX-License-Identifier: Apache-2.0 */
/* A query from anywhere: rewritten or refused, within the bound. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sql/rewrite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tv_sql_macros macros = {0};
    struct tv_error err = {0};
    char *text = tv_alloc(size + 1, 1), *rewritten = NULL;
    memcpy(text, data, size);
    if (tv_sql_rewrite(&macros, text, &rewritten, &err) != TV_OK) {
        if (rewritten || !err.message[0])
            abort();
    } else if (strlen(rewritten) > TV_SQL_MAX_TEXT + 8 * size + 4096) {
        abort();
    }
    tv_free(rewritten);
    tv_free(text);
    tv_sql_macros_release(&macros);
    return 0;
}
