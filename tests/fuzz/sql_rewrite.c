/* SPDX-License-Identifier: Apache-2.0 */
/* A query from anywhere: rewritten or refused, within the bound. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sql/rewrite.h"

/* Look for the places of errors that DuckDB could have about the first lines of a text. */
static void fuzz_errors(const char *text)
{
    char *lines = tv_sql_line_names(text, NULL), *words = tv_sql_line_names(text, "value");
    for (int line = 0; line < 8; line++) {
        char why[96];
        snprintf(why, sizeof why,
                 "Binder Error: Referenced column \"%.8s\" not found\n\nLINE %d: ", text, line);
        int name = tv_sql_find_unknown_name(lines, why);
        if (name >= 0) {
            char *changed = tv_sql_name_to_text(text, name);
            if (strlen(changed) > 2 * strlen(text))
                abort();
            tv_free(changed);
        }
        char *added = tv_sql_add_as(words, "value", why);
        size_t grown = strlen(added) - strlen(words);
        if (grown != 0 && grown != strlen("as "))
            abort();
        tv_free(added);
        int place = tv_sql_find_ungrouped_place(words, "value", why);
        char *grouped = place < 0 ? NULL : tv_sql_aggregate_column(text, "value", place);
        if (grouped && strlen(grouped) > 3 * strlen(text) + 32)
            abort();
        tv_free(grouped);
    }
    tv_free(words);
    tv_free(lines);
}

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
    } else {
        fuzz_errors(rewritten);
    }
    tv_free(rewritten);
    tv_free(text);
    tv_sql_macros_release(&macros);
    return 0;
}
