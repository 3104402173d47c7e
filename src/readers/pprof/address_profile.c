/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address_profile.c - profiles whose stacks are addresses (address_profile.h).
 *
 *     samples     first 0, depth 3 | first 3, depth 2 | ...     in the order of the file
 *     addresses   5 4 1 | 4 1 | ...                             of all samples, from the leaf
 *     names       1: main   4: parse   5: read, inlined in: copy
 *
 * Names and mappings may follow the samples in the file, so nothing is added to the trace before
 * tv_address_profile_end.  An address with names becomes one frame for each of them, those of
 * inlined functions too; any other gets its name from the mapping that it is in, once
 * (`found_frames`).
 */
#include "readers/pprof/address_profile.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"

void tv_address_profile_begin(struct tv_address_profile *profile, struct tv_source *source,
                              struct tv_builder *builder, const char *format)
{
    memset(profile, 0, sizeof *profile);
    tv_profile_input_begin(&profile->profile, source, builder, format);
    profile->profile.info->inputs[profile->profile.input].weight_axis = true;
    tv_map_init(&profile->first_names);
    tv_map_init(&profile->last_names);
}

void tv_address_profile_add_type(struct tv_address_profile *profile, struct tv_bytes name,
                                 struct tv_bytes unit, tv_ns interval)
{
    assert(profile->type_count < TV_ADDRESS_VALUES);
    uint32_t type = tv_profile_value_type(&profile->profile, name, unit);
    struct tv_value_type *rows = profile->profile.trace->tables.value_types.rows;
    if (profile->type_count > 0)
        rows[profile->types[profile->type_count - 1]].preferred = false;
    rows[type].preferred = true;
    rows[type].interval = interval;
    profile->types[profile->type_count++] = type;
}

struct tv_address_sample *tv_address_profile_add_sample(struct tv_address_profile *profile,
                                                        uint64_t offset)
{
    profile->samples = tv_array_reserve(profile->samples, &profile->sample_capacity,
                                        profile->sample_count + 1, sizeof *profile->samples);
    struct tv_address_sample *sample = &profile->samples[profile->sample_count++];
    *sample = (struct tv_address_sample){.first = profile->address_count, .offset = offset};
    return sample;
}

void tv_address_profile_add_address(struct tv_address_profile *profile, uint64_t address)
{
    assert(profile->sample_count > 0);
    struct tv_address_sample *sample = &profile->samples[profile->sample_count - 1];
    if (sample->depth == UINT32_MAX)
        return;
    profile->addresses = tv_array_reserve(profile->addresses, &profile->address_capacity,
                                          profile->address_count + 1, sizeof *profile->addresses);
    profile->addresses[profile->address_count++] = address;
    sample->depth++;
}

static void address_profile_add_frame(struct tv_address_profile *profile, uint64_t address,
                                      uint32_t frame, int32_t line)
{
    uint32_t number = (uint32_t)profile->name_count;
    if (profile->name_count >= TV_NONE)
        return;
    profile->names = tv_array_reserve(profile->names, &profile->name_capacity,
                                      profile->name_count + 1, sizeof *profile->names);
    profile->names[profile->name_count++] = (struct tv_address_name){
        .address = address,
        .frame = frame,
        .line = line,
        .next = TV_NONE,
    };
    uint32_t last = tv_map_find(&profile->last_names, address);
    if (last == TV_NONE)
        tv_map_set(&profile->first_names, address, number);
    else
        profile->names[last].next = number;
    tv_map_set(&profile->last_names, address, number);
}

void tv_address_profile_add_name(struct tv_address_profile *profile, uint64_t address,
                                 const struct tv_frame *frame, int32_t line)
{
    address_profile_add_frame(profile, address,
                              tv_trace_info_add_frame(profile->profile.info, frame), line);
}

/* Split "file.go:71" into the file and the line. */
static int32_t address_profile_split_line(struct tv_bytes *file)
{
    size_t colon = file->length;
    uint64_t line;
    while (colon > 0 && file->data[colon - 1] != ':')
        colon--;
    if (colon == 0 ||
        !tv_parse_u64((struct tv_bytes){file->data + colon, file->length - colon}, &line) ||
        line > INT32_MAX)
        return 0;
    file->length = colon - 1;
    return (int32_t)line;
}

void tv_address_profile_name_place(struct tv_address_profile *profile, uint64_t address,
                                   struct tv_bytes name, struct tv_bytes file)
{
    int32_t line = address_profile_split_line(&file);
    struct tv_frame frame = {
        .name = tv_profile_string(&profile->profile, name),
        .file = tv_profile_string(&profile->profile, file),
    };
    tv_address_profile_add_name(profile, address, &frame, line);
}

bool tv_address_profile_take_java_name(struct tv_address_profile *profile, struct tv_bytes line)
{
    uint64_t address;
    struct tv_bytes rest = line, word = tv_bytes_take_word(&rest);
    if (!tv_bytes_starts_with(word, TV_BYTES("0x")) || !tv_parse_hex(word, &address))
        return false;
    struct tv_bytes name = tv_bytes_trim(rest), file = TV_BYTES("");
    size_t open = name.length;
    while (open > 0 && name.data[open - 1] != '(')
        open--;
    if (open > 1 && tv_bytes_ends_with(name, TV_BYTES(")"))) {
        file = (struct tv_bytes){name.data + open, name.length - open - 1};
        name = tv_bytes_trim((struct tv_bytes){name.data, open - 1});
    }
    if (tv_map_find(&profile->first_names, address) == TV_NONE)
        tv_address_profile_name_place(profile, address, name, file);
    return true;
}

/* ---- The end ---- */

/* Inlined functions at one address that are shown. */
#define MAX_INLINED 64

/* Name an address that the file does not name. */
static void address_profile_find_names(struct tv_address_profile *profile, uint64_t address)
{
    struct tv_address_frame frames[TV_ADDRESS_PLACES];
    size_t count = tv_address_frames(&profile->profile, tv_address_map_find(&profile->map, address),
                                     address, frames);
    for (size_t i = 0; i < count; i++)
        address_profile_add_frame(profile, address, frames[i].frame, frames[i].line);
}

/* Push the functions at an address, from the caller to the innermost. */
static void address_profile_push(struct tv_address_profile *profile, uint64_t address)
{
    uint32_t numbers[MAX_INLINED];
    size_t count = 0;
    if (tv_map_find(&profile->first_names, address) == TV_NONE)
        address_profile_find_names(profile, address);
    uint32_t name = tv_map_find(&profile->first_names, address);
    for (; name != TV_NONE && count < MAX_INLINED; name = profile->names[name].next)
        numbers[count++] = name;
    while (count-- > 0) {
        const struct tv_address_name *entry = &profile->names[numbers[count]];
        tv_profile_stack_push(&profile->profile, entry->frame, entry->line);
    }
}

static void address_profile_deliver(struct tv_address_profile *profile, uint32_t thread,
                                    const struct tv_address_sample *sample)
{
    struct tv_profile_input *input = &profile->profile;
    tv_profile_stack_begin(input);
    for (uint32_t i = sample->depth; i-- > 0;)
        address_profile_push(profile, profile->addresses[sample->first + i]);
    input->info->inputs[input->input].samples++;
    for (unsigned i = 0; i < profile->type_count; i++) {
        struct tv_sample added = {
            .weight = sample->values[i],
            .offset = sample->offset,
            .thread = thread,
            .cpu = TV_NONE,
            .type = profile->types[i],
        };
        if (added.weight != 0)
            tv_profile_add_sample(input, added);
    }
}

void tv_address_profile_end(struct tv_address_profile *profile,
                            const struct tv_read_options *options)
{
    struct tv_profile_input *input = &profile->profile;
    uint32_t process = tv_profile_process(input, 0, TV_BYTES(""));
    uint32_t thread = tv_profile_thread(input, process, 0, TV_BYTES("all"));
    tv_address_map_sort(&profile->map);
    tv_address_map_list(&profile->map, input);
    for (size_t i = 0; i < profile->sample_count; i++)
        address_profile_deliver(profile, thread, &profile->samples[i]);
    tv_tables_count_events(&input->trace->tables, input->input,
                           tv_profile_string(input, TV_BYTES("sample")), profile->sample_count);
    tv_profile_input_end(input, options);
    tv_free(profile->samples);
    tv_free(profile->addresses);
    tv_free(profile->names);
    tv_map_release(&profile->first_names);
    tv_map_release(&profile->last_names);
    tv_address_map_release(&profile->map);
}
