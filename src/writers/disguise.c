/* SPDX-License-Identifier: Apache-2.0 */
#include "writers/disguise.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"
#include "readers/json/json.h"

/* The trace comes first: whoever describes its events gets no more than that. */
struct tv_disguise {
    struct tv_trace trace;
    struct tv_trace_info head;
    const struct tv_trace *original;
    const struct tv_disguise_options *options;
};

/* ---- Texts ---- */

void tv_disguise_text(const struct tv_disguise_options *options, struct tv_bytes text,
                      char hash[TV_DISGUISE_ROOM])
{
    uint8_t digest[TV_DISGUISE_KEY];
    hash[0] = '\0';
    if (text.length == 0)
        return;
    options->mac(options->key, text, digest);
    hash[0] = 'h';
    for (size_t i = 1; i < TV_DISGUISE_ROOM - 1; i++)
        hash[i] = "0123456789abcdef"[digest[(i - 1) / 2] >> (i % 2 == 1 ? 4 : 0) & 15];
    hash[TV_DISGUISE_ROOM - 1] = '\0';
}

/* Texts keep their numbers.  Two of one hash, should that ever be, are told apart. */
static struct tv_interner *hash_all(const struct tv_interner *texts,
                                    const struct tv_disguise_options *options)
{
    struct tv_interner *hashes = tv_interner_new();
    for (uint32_t i = 1; i < tv_interner_count(texts); i++) {
        char hash[TV_DISGUISE_ROOM + 12];
        tv_disguise_text(options, tv_interner_get(texts, i), hash);
        if (tv_interner_find(hashes, tv_bytes_of(hash)) != TV_NONE)
            snprintf(hash + TV_DISGUISE_ROOM - 1, sizeof hash - TV_DISGUISE_ROOM + 1, "-%u",
                     (unsigned)i);
        tv_interner_add(hashes, tv_bytes_of(hash));
    }
    return hashes;
}

/* ---- What events say ---- */

/* Where the string that begins at text[at] ends, behind its closing quote. */
static size_t string_end(struct tv_bytes text, size_t at)
{
    for (at++; at < text.length && text.data[at] != '"'; at++)
        at += text.data[at] == '\\';
    return at < text.length ? at + 1 : text.length;
}

/* Strict JSON with a hash in the place of each string, keys as well. */
static void write_hashed(const struct tv_disguise *disguise, struct tv_bytes json,
                         struct tv_out *out)
{
    for (size_t at = 0; at < json.length;) {
        if (json.data[at] != '"') {
            tv_out_char(out, (char)json.data[at++]);
            continue;
        }
        char hash[TV_DISGUISE_ROOM];
        size_t end = string_end(json, at);
        struct tv_bytes inside = {json.data + at + 1, end - at - 2};
        tv_disguise_text(disguise->options, inside, hash);
        tv_out_char(out, '"');
        tv_out_text(out, hash);
        tv_out_char(out, '"');
        at = end;
    }
}

/* Of all that an event says its arguments: what else there is, ids and stacks, may be anything. */
static enum tv_status describe_hashed(const struct tv_trace *trace, uint32_t input, uint64_t offset,
                                      uint64_t end_offset, struct tv_out *out, struct tv_error *err)
{
    const struct tv_disguise *disguise = (const struct tv_disguise *)trace;
    const struct tv_trace *original = disguise->original;
    struct tv_out said, strict;
    tv_out_init_memory(&said);
    tv_out_init_memory(&strict);
    enum tv_status status =
        original->head->inputs[input].describe(original, input, offset, end_offset, &said, err);
    struct tv_bytes all = {said.buffer, said.length};
    struct tv_json_value args = {.type = TV_JSON_NONE};
    if (status == TV_OK)
        args = tv_json_find(all, TV_BYTES("args"));
    if (args.type == TV_JSON_OBJECT) {
        tv_json_normalise(args.raw, &strict, NULL);
        tv_out_text(out, "{\"args\":");
        write_hashed(disguise, (struct tv_bytes){strict.buffer, strict.length}, out);
        tv_out_char(out, '}');
    }
    tv_out_release(&strict);
    tv_out_release(&said);
    return status;
}

/* ---- The trace ---- */

static void disguise_inputs(struct tv_disguise *disguise)
{
    struct tv_trace_info *head = &disguise->head;
    const struct tv_input *inputs = head->inputs;
    head->inputs = tv_alloc(head->input_count, sizeof *head->inputs);
    for (uint32_t i = 0; i < head->input_count; i++) {
        head->inputs[i] = inputs[i];
        head->inputs[i].recorded_us = head->inputs[i].boot_us = 0;
        if (disguise->options->strip_args)
            head->inputs[i].describe = NULL;
        else if (inputs[i].describe)
            head->inputs[i].describe = describe_hashed;
    }
}

struct tv_disguise *tv_disguise_new(const struct tv_trace *trace,
                                    const struct tv_disguise_options *options)
{
    struct tv_disguise *disguise = tv_alloc(1, sizeof *disguise);
    *disguise = (struct tv_disguise){*trace, *trace->head, trace, options};
    disguise->trace.head = &disguise->head;
    disguise->head.metadata_count = 0;
    disguise->head.namer = NULL;
    disguise_inputs(disguise);
    if (options->hash_names)
        disguise->head.strings = hash_all(trace->head->strings, options);
    return disguise;
}

void tv_disguise_free(struct tv_disguise *disguise)
{
    if (!disguise)
        return;
    if (disguise->options->hash_names)
        tv_interner_free(disguise->head.strings);
    tv_free(disguise->head.inputs);
    tv_free(disguise);
}

const struct tv_trace *tv_disguise_trace(const struct tv_disguise *disguise)
{
    return &disguise->trace;
}
