/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address_map.c - which file an address belongs to, and its name (address_map.h).
 *
 *     0x402a10 in 400000-4c3000 of /bin/app, offset 0x1000     0x402a10 - 0x400000 + 0x1000
 *                                                              = app+0x3a10
 *
 * Mappings are sorted once, when all are known.  Of those that overlap, the one that starts last
 * counts.
 */
#include "readers/pprof/address_map.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/sort.h"

/* Mappings that metadata lists; there may be a million. */
#define LISTED_MAPPINGS 256

void tv_address_map_add(struct tv_address_map *map, const struct tv_mapped_file *file)
{
    map->files = tv_array_reserve(map->files, &map->capacity, map->count + 1, sizeof *map->files);
    map->files[map->count++] = *file;
}

/* Split "400000-4c3000", with a ':' after it in the short form. */
static bool address_map_parse_range(struct tv_bytes word, struct tv_mapped_file *file, bool *brief)
{
    struct tv_bytes start;
    *brief = word.length > 0 && word.data[word.length - 1] == ':';
    word.length -= *brief;
    return tv_bytes_split(&word, '-', &start) && tv_parse_hex(start, &file->start) &&
           tv_parse_hex(word, &file->limit) && file->start < file->limit;
}

bool tv_address_map_add_line(struct tv_address_map *map, struct tv_bytes line)
{
    struct tv_mapped_file file = {.offset = 0};
    bool brief;
    if (!address_map_parse_range(tv_bytes_take_word(&line), &file, &brief))
        return false;
    if (!brief) {
        struct tv_bytes rights = tv_bytes_take_word(&line);
        if (rights.length != 4 || !tv_parse_hex(tv_bytes_take_word(&line), &file.offset))
            return false;
        tv_bytes_take_word(&line); /* device */
        tv_bytes_take_word(&line); /* inode */
        if (rights.data[2] != 'x')
            return true;
    }
    file.name = tv_bytes_trim(line);
    tv_address_map_add(map, &file);
    return true;
}

static int address_map_compare(const void *a, const void *b)
{
    const struct tv_mapped_file *left = a, *right = b;
    return left->start < right->start ? -1 : left->start > right->start;
}

void tv_address_map_sort(struct tv_address_map *map)
{
    if (map->count > 0)
        qsort(map->files, map->count, sizeof *map->files, address_map_compare);
}

const struct tv_mapped_file *tv_address_map_find(const struct tv_address_map *map, uint64_t address)
{
    size_t low = 0;
    TV_LOWER_BOUND(low, map->count, i, map->files[i].start <= address);
    return low > 0 && address < map->files[low - 1].limit ? &map->files[low - 1] : NULL;
}

void tv_address_map_list(const struct tv_address_map *map, struct tv_profile_input *profile)
{
    struct tv_out text;
    tv_out_init_memory(&text);
    for (size_t i = 0; i < map->count && i < LISTED_MAPPINGS; i++) {
        const struct tv_mapped_file *file = &map->files[i];
        text.length = 0;
        tv_out_format(&text, "0x%" PRIx64 "-0x%" PRIx64 "@0x%" PRIx64 " ", file->start, file->limit,
                      file->offset);
        tv_out_bytes(&text, file->name);
        tv_out_text(&text, file->build_id.length > 0 ? " " : "");
        tv_out_bytes(&text, file->build_id);
        tv_trace_info_add_metadata(profile->info, profile->input, TV_BYTES("mapping"),
                                   (struct tv_bytes){text.buffer, text.length});
    }
    tv_out_release(&text);
}

void tv_address_map_release(struct tv_address_map *map)
{
    tv_free(map->files);
    *map = (struct tv_address_map){.files = NULL};
}

/* ---- Frames ---- */

static struct tv_bytes address_map_base_name(struct tv_bytes path)
{
    size_t start = path.length;
    while (start > 0 && path.data[start - 1] != '/')
        start--;
    return (struct tv_bytes){path.data + start, path.length - start};
}

#define BUILD_ID_MAX 64

/* Read the digits of a build ID. Return its size, or 0 when it is another text. */
static size_t address_read_build_id(struct tv_bytes text, uint8_t *id)
{
    size_t size = text.length / 2;
    if (text.length % 2 != 0 || size > BUILD_ID_MAX)
        return 0;
    for (size_t i = 0; i < size; i++) {
        int high = tv_hex_digit(text.data[2 * i]), low = tv_hex_digit(text.data[2 * i + 1]);
        if (high < 0 || low < 0)
            return 0;
        id[i] = (uint8_t)(high << 4 | low);
    }
    return size;
}

/* Find an address of a mapping in the program that the user gave, or that this machine has. */
static size_t address_find_mapped(struct tv_namer *namer, const struct tv_mapped_file *file,
                                  uint64_t address, struct tv_address_place *places)
{
    uint8_t id[BUILD_ID_MAX];
    struct tv_mapped_address mapped = {
        .path = file->name,
        .build_id = {id, address_read_build_id(file->build_id, id)},
        .offset = address - file->start + file->offset,
        .map_offset = file->offset,
        .map_length = file->limit > file->start ? file->limit - file->start : 0,
    };
    return namer->find_mapped(namer, &mapped, places, TV_ADDRESS_PLACES);
}

/* Find what is at an address.  Without the name of its file, any that the user gave may know it.
 */
static size_t address_find(struct tv_namer *namer, const struct tv_mapped_file *file,
                           uint64_t address, struct tv_address_place *places)
{
    bool named = file && file->name.length > 0;
    if (!named && namer->find(namer, address, places))
        return 1;
    return file ? address_find_mapped(namer, file, address, places) : 0;
}

/* Store the frames of an address; return 0 when its function is unknown. */
static size_t address_name_frames(struct tv_profile_input *profile,
                                  const struct tv_mapped_file *file, uint64_t address,
                                  const struct tv_frame *unnamed, struct tv_address_frame *frames)
{
    struct tv_namer *namer = profile->info->namer;
    struct tv_address_place places[TV_ADDRESS_PLACES];
    size_t count = namer ? address_find(namer, file, address, places) : 0;
    if (count == 0 || places[count - 1].function.length == 0)
        return 0;
    for (size_t i = 0; i < count; i++) {
        struct tv_frame frame = *unnamed;
        frame.name = tv_profile_string(profile, places[i].function);
        frame.signature = tv_profile_string(profile, places[i].signature);
        frame.file = tv_profile_string(profile, places[i].declared);
        frame.kind = i + 1 == count ? unnamed->kind : TV_FRAME_INLINED;
        frames[i] = (struct tv_address_frame){tv_trace_info_add_native_frame(profile->info, &frame),
                                              places[i].line};
    }
    return count;
}

size_t tv_address_frames(struct tv_profile_input *profile, const struct tv_mapped_file *file,
                         uint64_t address, struct tv_address_frame *frames)
{
    struct tv_frame frame = {.kind = TV_FRAME_NATIVE};
    struct tv_bytes base = {(const uint8_t *)"", 0};
    uint64_t within = address;
    char digits[24];
    if (file && file->name.length > 0) {
        base = address_map_base_name(file->name);
        within = address - file->start + file->offset;
        frame.module = tv_profile_string(profile, file->name);
    }
    size_t count = address_name_frames(profile, file, address, &frame, frames);
    if (count > 0)
        return count;
    struct tv_out text;
    tv_out_init_memory(&text);
    snprintf(digits, sizeof digits, base.length > 0 ? "+0x%" PRIx64 : "0x%" PRIx64, within);
    tv_out_bytes(&text, base);
    tv_out_text(&text, digits);
    frame.name = tv_profile_string(profile, (struct tv_bytes){text.buffer, text.length});
    tv_out_release(&text);
    frames[0] = (struct tv_address_frame){tv_trace_info_add_native_frame(profile->info, &frame), 0};
    return 1;
}
