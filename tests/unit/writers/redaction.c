/* SPDX-License-Identifier: Apache-2.0 */
/* Every text of a trace under another, by the same number.  What is written of such traces is shown
 * by tests/golden/redaction. */
#include "unit.h"

#include <string.h>

#include "base/bytes.h"
#include "feed.h"
#include "model/builder/builder.h"
#include "writers/trace/redaction.h"

static const char *const drawing[] = {"AB).)", "CD).)"};

static struct tv_trace *build(const struct feed *feed)
{
    size_t start = 0;
    struct tv_trace_info *head = feed_head(feed);
    struct tv_builder *builder = tv_builder_new(head);
    feed_to(feed, head, tv_builder_sink(builder), &start, 1);
    tv_trace_info_add_metadata(head, 0, TV_BYTES("owner"), TV_BYTES("somebody"));
    head->inputs[0].recorded_us = 5;
    return tv_builder_finish(builder);
}

/* No secret, but the key tells and so does the text. */
static void add_up(const uint8_t key[TV_REDACTION_KEY_SIZE], struct tv_bytes text,
                   uint8_t digest[TV_REDACTION_KEY_SIZE])
{
    memcpy(digest, key, TV_REDACTION_KEY_SIZE);
    for (size_t i = 0; i < text.length; i++)
        digest[i % 7] = (uint8_t)(digest[i % 7] * 31 + text.data[i]);
}

static void hashes_every_text(void **state)
{
    (void)state;
    struct tv_redaction_options options = {.hash_names = true, .mac = add_up};
    struct feed *feed = feed_draw(drawing, 2);
    struct tv_trace *trace = build(feed);
    struct tv_redaction *redaction = tv_redaction_new(trace, &options);
    const struct tv_trace_info *head = tv_redaction_trace(redaction)->head;
    uint32_t count = tv_interner_count(trace->head->strings);
    assert_int_equal(tv_interner_count(head->strings), count);
    assert_int_equal(tv_trace_info_text(head, TV_EMPTY_STRING).length, 0);
    assert_true(count > 4);
    for (uint32_t i = 1; i < count; i++) {
        char hash[TV_REDACTION_HASH_SIZE];
        tv_redaction_hash(&options, tv_trace_info_text(trace->head, i), hash);
        assert_int_equal(strlen(hash), TV_REDACTION_HASH_SIZE - 1);
        assert_int_equal(hash[0], 'h');
        assert_true(tv_bytes_equal(tv_trace_info_text(head, i), tv_bytes_of(hash)));
    }
    assert_int_equal(head->metadata_count, 0);
    assert_int_equal(head->inputs[0].recorded_us, 0);
    tv_redaction_free(redaction);
    assert_int_equal(trace->head->metadata_count, 1);
    tv_trace_free(trace);
    feed_free(feed);
}

static void keys_tell_hashes_apart(void **state)
{
    (void)state;
    struct tv_redaction_options a = {.hash_names = true, .mac = add_up}, b = a;
    char of_a[TV_REDACTION_HASH_SIZE], of_b[TV_REDACTION_HASH_SIZE];
    b.key[0] = 1;
    tv_redaction_hash(&a, TV_BYTES("main"), of_a);
    tv_redaction_hash(&b, TV_BYTES("main"), of_b);
    assert_string_not_equal(of_a, of_b);
    tv_redaction_hash(&a, TV_BYTES(""), of_a);
    assert_string_equal(of_a, "");
}

UNIT_TESTS(redaction, cmocka_unit_test(hashes_every_text),
           cmocka_unit_test(keys_tell_hashes_apart));
