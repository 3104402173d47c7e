/* SPDX-License-Identifier: Apache-2.0 */
/* A filter from anywhere: read, and asked of texts, numbers and arguments from anywhere. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/subset/filter.h"
#include "base/bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A parsed filter keeps the promises of its header. */
static void check_term(const struct tv_filter_term *term, struct tv_bytes line)
{
    bool numbers = tv_filter_has_numbers(term);
    if (term->column < 1 || term->column > line.length || (numbers && term->low > term->high) ||
        (!numbers && term->field >= TV_FILTER_DURATION))
        abort();
}

/* The first line is the filter, the rest what it is asked of. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tv_bytes rest = {data, size}, line;
    struct tv_filter filter;
    struct tv_error err = {0};
    size_t column = 0;
    tv_bytes_split(&rest, '\n', &line);
    if (tv_filter_parse(line, &filter, &column, &err) != TV_OK) {
        if (column < 1 || column > line.length + 1)
            abort();
        return 0;
    }
    for (size_t i = 0; i < filter.count; i++) {
        check_term(&filter.terms[i], line);
        (void)tv_filter_matches_text(&filter.terms[i], rest);
        (void)tv_filter_matches_number(&filter.terms[i], (double)size);
        (void)tv_filter_matches_event(&filter.terms[i], rest);
    }
    tv_filter_release(&filter);
    return 0;
}
