/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text as JSON: whatever it is, what is written of it is strict, stays as it is when written
 * again, and is what going over the tree finds.  As an event it is read without leaving its bytes.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/json/json.h"
#include "readers/trace_event/text/fields.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* How deep the tree is gone over, a call a level. */
#define DEPTH 50

static void require(bool holds)
{
    if (!holds)
        abort();
}

static bool lies_within(struct tv_bytes part, struct tv_bytes whole)
{
    return part.length == 0 ||
           (part.data >= whole.data && part.data + part.length <= whole.data + whole.length);
}

/* Returns how many values there are. */
static size_t go_over(struct tv_json_value value, unsigned depth)
{
    struct tv_json_cursor cursor = tv_json_items(value.raw);
    struct tv_json_value item;
    struct tv_bytes key;
    size_t count = 1;
    while (depth > 0 && tv_json_next(&cursor, &key, &item)) {
        require(lies_within(key, value.raw) && lies_within(item.raw, value.raw));
        count += go_over(item, depth - 1);
    }
    return count;
}

static void read_event(struct tv_bytes text)
{
    struct tv_te_fields fields;
    const uint8_t *event_end;
    uint8_t *window = tv_alloc(text.length + 64, 1); /* with the slack that reading wants */
    memset(window + text.length, 0, 64);
    if (text.length > 0)
        memcpy(window, text.data, text.length);
    (void)tv_te_fields_read(window, window + text.length, &fields, &event_end);
    require(event_end >= window && event_end <= window + text.length);
    require(lies_within(fields.args, (struct tv_bytes){window, text.length}));
    tv_free(window);
}

/* On one line, and nothing but written in another way; always strict. */
static void write_compact(struct tv_bytes text)
{
    struct tv_out out;
    unsigned faults;
    tv_out_init_memory(&out);
    tv_json_compact(text, &out, &faults);
    struct tv_bytes written = {out.buffer, out.length};
    for (size_t i = 0; i < written.length; i++)
        require(written.data[i] >= ' ' && written.data[i] != 0x7f &&
                (written.data[i] != 0xc2 || written.data[i + 1] >= 0xa0));
    require(tv_json_equal(text, written));
    require(tv_json_check(written, NULL, NULL));
    tv_out_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tv_bytes text = {data, size};
    struct tv_out once, again;
    unsigned faults, seen;
    size_t bad;
    bool strict = tv_json_check(text, &seen, &bad);
    tv_out_init_memory(&once);
    tv_out_init_memory(&again);
    tv_json_normalise(text, &once, &faults);
    require(faults == seen && bad <= size);
    require(strict == ((faults & ~(unsigned)TV_JSON_FAULT_SURROGATE) == 0));
    struct tv_bytes written = {once.buffer, once.length};
    require(tv_json_check(written, &seen, NULL) && seen == 0);
    tv_json_normalise(written, &again, NULL);
    require(tv_bytes_equal(written, (struct tv_bytes){again.buffer, again.length}));
    if (!(faults & TV_JSON_FAULT_DEPTH))
        require(go_over(tv_json_value(text), DEPTH) == go_over(tv_json_value(written), DEPTH));
    read_event(text);
    write_compact(text);
    tv_out_release(&once);
    tv_out_release(&again);
    return 0;
}
