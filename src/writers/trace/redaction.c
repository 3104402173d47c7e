/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redaction.c - a view of a trace with hashes instead of texts.
 *
 * The view shares all columns with the original trace. It replaces the interner of texts, and the
 * functions that describe events, so that writers need not know about redaction.
 */
#include "writers/trace/redaction.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"
#include "readers/json/json.h"

/* The trace comes first, because redaction_describe_hashed() gets a pointer to it and needs the
 * rest. */
struct tv_redaction {
    struct tv_trace trace;
    struct tv_trace_info head;
    const struct tv_trace *original;
    const struct tv_redaction_options *options;
};

/* ---- Texts ---- */

void tv_redaction_hash(const struct tv_redaction_options *options, struct tv_bytes text,
                       char hash[TV_REDACTION_HASH_SIZE])
{
    uint8_t digest[TV_REDACTION_KEY_SIZE];
    hash[0] = '\0';
    if (text.length == 0)
        return;
    options->mac(options->key, text, digest);
    hash[0] = 'h';
    for (size_t i = 1; i < TV_REDACTION_HASH_SIZE - 1; i++)
        hash[i] = "0123456789abcdef"[digest[(i - 1) / 2] >> (i % 2 == 1 ? 4 : 0) & 15];
    hash[TV_REDACTION_HASH_SIZE - 1] = '\0';
}

/* Hash all texts; they keep their numbers. If two texts ever have the same hash, the second gets
 * its number as a suffix. */
static struct tv_interner *redaction_hash_texts(const struct tv_interner *texts,
                                                const struct tv_redaction_options *options)
{
    struct tv_interner *hashes = tv_interner_new();
    for (uint32_t i = 1; i < tv_interner_count(texts); i++) {
        char hash[TV_REDACTION_HASH_SIZE + 12];
        tv_redaction_hash(options, tv_interner_get(texts, i), hash);
        if (tv_interner_find(hashes, tv_bytes_of(hash)) != TV_NONE)
            snprintf(hash + TV_REDACTION_HASH_SIZE - 1, sizeof hash - TV_REDACTION_HASH_SIZE + 1,
                     "-%u", (unsigned)i);
        tv_interner_add(hashes, tv_bytes_of(hash));
    }
    return hashes;
}

/* ---- Arguments of events ---- */

/* Return the position after the closing quote of the string that begins at text[at]. */
static size_t redaction_string_end(struct tv_bytes text, size_t at)
{
    assert(text.data[at] == '"');
    for (at++; at < text.length && text.data[at] != '"'; at++)
        at += text.data[at] == '\\';
    return at < text.length ? at + 1 : text.length;
}

/* Write strict JSON with a hash instead of each string, including keys. */
static void redaction_write_hashed(const struct tv_redaction *redaction, struct tv_bytes json,
                                   struct tv_out *out)
{
    for (size_t at = 0; at < json.length;) {
        if (json.data[at] != '"') {
            tv_out_char(out, (char)json.data[at++]);
            continue;
        }
        char hash[TV_REDACTION_HASH_SIZE];
        size_t end = redaction_string_end(json, at);
        assert(end - at >= 2);
        struct tv_bytes inside = {json.data + at + 1, end - at - 2};
        tv_redaction_hash(redaction->options, inside, hash);
        tv_out_char(out, '"');
        tv_out_text(out, hash);
        tv_out_char(out, '"');
        at = end;
    }
}

/* Describe an event by its hashed arguments only. Other members, such as ids and stacks, could
 * contain anything. */
static enum tv_status redaction_describe_hashed(const struct tv_trace *trace, uint32_t input,
                                                uint64_t offset, uint64_t end_offset,
                                                struct tv_out *out, struct tv_error *err)
{
    const struct tv_redaction *redaction = (const struct tv_redaction *)trace;
    const struct tv_trace *original = redaction->original;
    struct tv_out description, strict;
    tv_out_init_memory(&description);
    tv_out_init_memory(&strict);
    enum tv_status status = original->head->inputs[input].describe(original, input, offset,
                                                                   end_offset, &description, err);
    struct tv_bytes all = {description.buffer, description.length};
    struct tv_json_value args = {.type = TV_JSON_NONE};
    if (status == TV_OK)
        args = tv_json_find(all, TV_BYTES("args"));
    if (args.type == TV_JSON_OBJECT) {
        tv_json_normalise(args.raw, &strict, NULL);
        tv_out_text(out, "{\"args\":");
        redaction_write_hashed(redaction, (struct tv_bytes){strict.buffer, strict.length}, out);
        tv_out_char(out, '}');
    }
    tv_out_release(&strict);
    tv_out_release(&description);
    return status;
}

/* ---- The trace ---- */

/* Copy the inputs without times that tell when and where it was recorded, and with arguments hashed
 * or dropped. */
static void redaction_copy_inputs(struct tv_redaction *redaction)
{
    struct tv_trace_info *head = &redaction->head;
    const struct tv_input *inputs = head->inputs;
    head->inputs = tv_alloc(head->input_count, sizeof *head->inputs);
    for (uint32_t i = 0; i < head->input_count; i++) {
        head->inputs[i] = inputs[i];
        head->inputs[i].recorded_us = head->inputs[i].boot_us = 0;
        if (redaction->options->strip_args)
            head->inputs[i].describe = NULL;
        else if (inputs[i].describe)
            head->inputs[i].describe = redaction_describe_hashed;
    }
}

struct tv_redaction *tv_redaction_new(const struct tv_trace *trace,
                                      const struct tv_redaction_options *options)
{
    struct tv_redaction *redaction = tv_alloc(1, sizeof *redaction);
    *redaction = (struct tv_redaction){*trace, *trace->head, trace, options};
    redaction->trace.head = &redaction->head;
    redaction->head.metadata_count = 0;
    redaction->head.namer = NULL;
    redaction_copy_inputs(redaction);
    if (options->hash_names)
        redaction->head.strings = redaction_hash_texts(trace->head->strings, options);
    return redaction;
}

void tv_redaction_free(struct tv_redaction *redaction)
{
    if (!redaction)
        return;
    if (redaction->options->hash_names)
        tv_interner_free(redaction->head.strings);
    tv_free(redaction->head.inputs);
    tv_free(redaction);
}

const struct tv_trace *tv_redaction_trace(const struct tv_redaction *redaction)
{
    return &redaction->trace;
}
