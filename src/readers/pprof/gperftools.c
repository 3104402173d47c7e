/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gperftools.c - reader of the CPU profiles of gperftools.
 *
 * The file is a list of words, of 32 or 64 bits and in either byte order, and then the text of
 * /proc/PID/maps:
 *
 *     0, 3, version, period in us, 0                   header
 *     count, depth, leaf address, callers' addresses   a stack and how often it was sampled
 *     ...
 *     0, 1, 0                                          end of the words
 *     400000-4c3000 r-xp 00000000 08:01 17  /bin/app
 *
 * The callers' addresses are those that calls return to; one byte less is in the call.
 */
#include "readers/readers.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/pprof/address_profile.h"

struct gperftools {
    struct tv_address_profile all; /* must be first */
    struct tv_cursor words;
    unsigned word; /* bytes of a word */
    bool big;
    bool java; /* version 1: "addresses" are numbers of places, whose names follow */
};

/* Check for the words 0, 3, version (1: Java), period, 0, with 32 or 64 bits in either byte
 * order. */
static bool gperftools_is_form(struct tv_bytes prefix, size_t word, bool big)
{
    static const uint8_t least[] = {0, 3, 0, 0, 0}, most[] = {0, 3, 1, 0, 0};
    if (prefix.length < TV_COUNT(least) * word)
        return false;
    for (size_t i = 0; i < TV_COUNT(least) * word; i++) {
        uint8_t byte = prefix.data[i];
        bool low = i % word == (big ? word - 1 : 0);
        if (i / word != 3 && (low ? byte < least[i / word] || byte > most[i / word] : byte != 0))
            return false;
    }
    return true;
}

struct gperftools_form {
    unsigned word;
    bool big;
};

/* Find the form of the words.  Return false when the bytes begin no such profile. */
static bool gperftools_find_form(struct tv_bytes prefix, struct gperftools_form *form)
{
    static const struct gperftools_form forms[] = {{8, false}, {4, false}, {8, true}, {4, true}};
    for (size_t i = 0; i < TV_COUNT(forms); i++)
        if (gperftools_is_form(prefix, forms[i].word, forms[i].big)) {
            *form = forms[i];
            return true;
        }
    return false;
}

static bool gperftools_take_word(struct gperftools *file, uint64_t *value)
{
    struct tv_bytes bytes;
    if (!tv_cursor_take_bytes(&file->words, file->word, &bytes))
        return false;
    *value = 0;
    for (unsigned i = 0; i < file->word; i++) {
        unsigned place = file->big ? file->word - 1 - i : i;
        *value |= (uint64_t)bytes.data[i] << (8 * place);
    }
    return true;
}

/* Read the header.  The sniffer has seen that it is one. */
static void gperftools_read_header(struct gperftools *file)
{
    uint64_t words[5] = {0};
    for (unsigned i = 0; i < TV_COUNT(words); i++)
        if (!gperftools_take_word(file, &words[i]))
            break;
    file->java = words[2] == 1;
    uint64_t period = words[3];
    /* The weight of a sample in nanoseconds must fit with the count of its stack. */
    if (period == 0 || period > UINT32_MAX)
        period = 1;
    tv_address_profile_add_type(&file->all, TV_BYTES("samples"), TV_BYTES("count"), 0);
    tv_address_profile_add_type(&file->all, TV_BYTES("cpu"), TV_BYTES("nanoseconds"),
                                (tv_ns)period * 1000);
}

static void gperftools_take_addresses(struct gperftools *file, uint64_t depth)
{
    uint64_t address;
    for (uint64_t i = 0; i < depth && gperftools_take_word(file, &address); i++)
        tv_address_profile_add_address(&file->all,
                                       i > 0 && address > 0 && !file->java ? address - 1 : address);
}

/* Take a stack.  Return false at the end of the words. */
static bool gperftools_take_sample(struct gperftools *file, tv_ns period)
{
    uint64_t offset = tv_cursor_position(&file->words), count, depth, address;
    if (!gperftools_take_word(file, &count) || !gperftools_take_word(file, &depth)) {
        tv_profile_warn(&file->all.profile, TV_DIAGNOSTIC_TRUNCATED, offset);
        return false;
    }
    if (count == 0 && depth == 1) {
        struct tv_cursor before = file->words;
        if (!gperftools_take_word(file, &address) || address == 0)
            return false;
        file->words = before;
    }
    if (depth > tv_cursor_left(&file->words) / file->word) {
        tv_profile_warn(&file->all.profile, TV_DIAGNOSTIC_TRUNCATED, offset);
        return false;
    }
    struct tv_address_sample *sample = tv_address_profile_add_sample(&file->all, offset);
    sample->values[0] = count > INT64_MAX ? INT64_MAX : (int64_t)count;
    sample->values[1] = tv_time_times(period, sample->values[0]);
    gperftools_take_addresses(file, depth);
    return true;
}

/* ---- The signal handler's frame ---- */

/* Return the second address of a sample, 0 when it has none. */
static uint64_t gperftools_second_address(const struct gperftools *file, size_t sample)
{
    const struct tv_address_sample *at = &file->all.samples[sample];
    return at->depth > 1 ? file->all.addresses[at->first + 1] : 0;
}

static void gperftools_drop_second(struct gperftools *file, size_t sample)
{
    struct tv_address_sample *at = &file->all.samples[sample];
    uint64_t *addresses = file->all.addresses + at->first;
    addresses[1] = addresses[0];
    at->first++;
    at->depth--;
}

/*
 * Unwinding starts in the profiler's signal handler, so the return from it may be after the
 * leaf: the second address of (nearly) all samples is the same then.  Leave such an address out, at
 * most twice, as pprof does.  A majority vote finds the one candidate without counting all.
 */
static void gperftools_drop_handler(struct gperftools *file)
{
    size_t count = file->all.sample_count, least = count - count / 20;
    for (unsigned round = 0; round < 2 && count > 0; round++) {
        uint64_t candidate = 0;
        size_t lead = 0, found = 0;
        for (size_t i = 0; i < count; i++) {
            uint64_t address = gperftools_second_address(file, i);
            if (lead == 0)
                candidate = address;
            lead = address == candidate ? lead + 1 : lead - 1;
        }
        for (size_t i = 0; i < count; i++)
            found += gperftools_second_address(file, i) == candidate;
        if (candidate == 0 || found < least)
            return;
        for (size_t i = 0; i < count; i++) {
            if (gperftools_second_address(file, i) != candidate)
                continue;
            gperftools_drop_second(file, i);
            tv_profile_warn(&file->all.profile, TV_DIAGNOSTIC_SIGNAL_FRAME,
                            file->all.samples[i].offset);
        }
    }
}

/* The leaf comes from the signal's context.  Where the unwinder found it once more, it stands
 * after itself, one byte less. */
static void gperftools_drop_twins(struct gperftools *file)
{
    for (size_t i = 0; i < file->all.sample_count; i++) {
        const struct tv_address_sample *at = &file->all.samples[i];
        if (at->depth > 1 &&
            file->all.addresses[at->first] == file->all.addresses[at->first + 1] + 1)
            gperftools_drop_second(file, i);
    }
}

/* Read the text after the words. */
static void gperftools_read_maps(struct gperftools *file)
{
    struct tv_bytes line;
    while (tv_cursor_take_line(&file->words, &line))
        if (!tv_address_map_add_line(&file->all.map, line) && file->java)
            tv_address_profile_take_java_name(&file->all, line);
}

static enum tv_status gperftools_assemble(struct tv_source *source, struct tv_builder *builder,
                                          const struct tv_read_options *options,
                                          struct tv_error *err)
{
    struct gperftools file = {.word = 8};
    struct gperftools_form form = {8, false};
    struct tv_profile_text text;
    enum tv_status status = tv_profile_text_read(source, &text, err);
    if (status != TV_OK)
        return status;
    gperftools_find_form(text.bytes, &form);
    tv_address_profile_begin(&file.all, source, builder, "gperftools CPU profile");
    file.word = form.word;
    file.big = form.big;
    file.words = tv_cursor_over(text.bytes);
    gperftools_read_header(&file);
    tv_ns period = file.all.profile.trace->tables.value_types.rows[file.all.types[1]].interval;
    while (gperftools_take_sample(&file, period))
        ;
    if (!file.java) {
        gperftools_drop_handler(&file);
        gperftools_drop_twins(&file);
    }
    gperftools_read_maps(&file);
    tv_address_profile_end(&file.all, options);
    tv_profile_text_release(&text);
    return TV_OK;
}

static int gperftools_sniff(struct tv_bytes prefix, uint64_t size)
{
    struct gperftools_form form;
    (void)size;
    return gperftools_find_form(prefix, &form) ? TV_SNIFF_SURE : 0;
}

const struct tv_reader tv_reader_gperftools = {
    .name = "gperftools",
    .sniff = gperftools_sniff,
    .assemble = gperftools_assemble,
    .refuses_empty = true,
};
