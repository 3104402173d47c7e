/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbols.c - original names of addresses and of obfuscated methods (symbols.h).
 *
 * Threads of the viewer look up names at the same time, but the ELF reader and the demangler are
 * not thread-safe: one lock protects them.  Demangled names are kept until the trace is freed.
 *
 *     a trace has                          looked up in
 *     address of a process                 each file of --symbols, moved to its @BASE
 *     address within a named file          the file of --symbols with that name
 *     offset in a mapped file, build ID    the same, else the file in a folder of --symbols, else
 *                                          the file with that build ID on this machine; both are
 *                                          opened when they are first asked for
 *
 * A profile is untrusted and may name any number of files (limits in symbol_folders.h).
 */
#include "cli/input/symbols.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/workers.h"
#include "cli/input/symbol_folders.h"
#include "symbols/debug_folders.h"
#include "symbols/demangle.h"
#include "symbols/elf.h"

/* A build ID that a profile asked for. */
struct symbol_build_id {
    uint8_t id[TV_BUILD_ID_MAX];
    size_t length;
    struct tv_elf *elf; /* NULL: this machine does not have it */
};

struct symbol_files {
    struct tv_namer namer; /* must be first: the head knows only this */
    struct tv_lock lock;
    struct tv_elf **elfs;
    char **names; /* file names without directories */
    size_t count;
    struct tv_map build_ids; /* hash -> number in `by_id` */
    struct symbol_build_id *by_id;
    size_t by_id_count, by_id_capacity, by_id_open;
    struct tv_symbol_folders folders;
    struct tv_demangler demangler;
    char **written; /* demangled names, which live as long as this */
    size_t written_count, written_room;
};

/* Return what an ELF file has about an address. */
static struct tv_address_place symbols_place(const struct tv_elf_place *found)
{
    return (struct tv_address_place){.function = found->function,
                                     .file = found->file,
                                     .line = found->line,
                                     .declared = found->declared};
}

/* Find an address of the recorded program (struct tv_namer). */
static bool symbols_find(struct tv_namer *namer, uint64_t address, struct tv_address_place *place)
{
    struct symbol_files *files = (struct symbol_files *)namer;
    struct tv_elf_place found;
    bool known = false;
    tv_lock_enter(&files->lock);
    for (size_t i = 0; i < files->count && !known; i++)
        known = tv_elf_find(files->elfs[i], address, &found);
    tv_lock_leave(&files->lock);
    if (known)
        *place = symbols_place(&found);
    return known;
}

/* Return a copy with a NUL at its end. */
static char *symbols_copy_text(const uint8_t *text, size_t length)
{
    char *made = tv_alloc(length + 1, 1);
    if (length > 0)
        memcpy(made, text, length);
    return made;
}

/* Return a copy that lives as long as the files: the caller's text changes with the next name. */
static struct tv_bytes symbols_keep_text(struct symbol_files *files, struct tv_bytes text)
{
    char *kept = symbols_copy_text(text.data, text.length);
    files->written = tv_array_reserve(files->written, &files->written_room,
                                      files->written_count + 1, sizeof(char *));
    files->written[files->written_count++] = kept;
    return (struct tv_bytes){(const uint8_t *)kept, text.length};
}

/* Demangle a name, as `traceview record` does for recorded programs. */
static void symbols_write_as_source(struct symbol_files *files, struct tv_address_place *place)
{
    struct tv_demangled written;
    if (!tv_demangler_read(&files->demangler, place->function, &written))
        return;
    place->function = symbols_keep_text(files, written.name);
    place->signature = symbols_keep_text(files, written.parameters);
}

/* Find an address within a file that is named (struct tv_namer). */
static bool symbols_find_in_file(struct tv_namer *namer, struct tv_bytes file, uint64_t address,
                                 struct tv_address_place *place)
{
    struct symbol_files *files = (struct symbol_files *)namer;
    struct tv_elf_place found;
    bool known = false;
    tv_lock_enter(&files->lock);
    for (size_t i = 0; i < files->count && !known; i++)
        known = tv_bytes_equal(tv_bytes_of(files->names[i]), file) &&
                tv_elf_find_in_file(files->elfs[i], address, &found);
    if (!known) {
        struct tv_elf *elf = tv_symbol_folders_find(&files->folders, file, TV_BYTES(""));
        known = elf && tv_elf_find_in_file(elf, address, &found);
    }
    if (known) {
        *place = symbols_place(&found);
        symbols_write_as_source(files, place);
    }
    tv_lock_leave(&files->lock);
    return known;
}

/* Return the file with this build ID, which is opened when it is asked for first; or NULL. */
static struct tv_elf *symbols_of_build_id(struct symbol_files *files, struct tv_bytes id)
{
    uint64_t hash = tv_hash_bytes(id);
    uint32_t number = tv_map_find(&files->build_ids, hash);
    if (number != TV_NONE) {
        const struct symbol_build_id *known = &files->by_id[number];
        return tv_bytes_equal((struct tv_bytes){known->id, known->length}, id) ? known->elf : NULL;
    }
    if (files->by_id_count == TV_SYMBOL_FILES_SOUGHT)
        return NULL;
    files->by_id = tv_array_reserve(files->by_id, &files->by_id_capacity, files->by_id_count + 1,
                                    sizeof *files->by_id);
    struct symbol_build_id *added = &files->by_id[files->by_id_count];
    *added = (struct symbol_build_id){.length = id.length};
    memcpy(added->id, id.data, id.length);
    if (files->by_id_open < TV_SYMBOL_FILES_OPEN)
        added->elf = tv_elf_read_by_build_id(id);
    files->by_id_open += added->elf != NULL;
    tv_map_set(&files->build_ids, hash, (uint32_t)files->by_id_count++);
    return added->elf;
}

/* Find an offset of a mapped file: the ELF file says which address it was linked for. */
static size_t symbols_find_offset(struct tv_elf *elf, const struct tv_mapped_address *address,
                                  struct tv_address_place *places, size_t room)
{
    struct tv_elf_mapping mapping = {address->map_offset, address->map_length};
    struct tv_elf_place found[TV_ADDRESS_PLACES];
    uint64_t own;
    if (!tv_elf_address_of_mapping(elf, &mapping, address->offset, &own))
        return 0;
    size_t count =
        tv_elf_find_frames(elf, own, found, room < TV_COUNT(found) ? room : TV_COUNT(found));
    for (size_t i = 0; i < count; i++)
        places[i] = symbols_place(&found[i]);
    return count;
}

/* Names of files by build ID stay mangled: readers of profiles decode them without the C++ library,
 * which commands without --symbols do not load. */
static size_t symbols_find_mapped(struct tv_namer *namer, const struct tv_mapped_address *address,
                                  struct tv_address_place *places, size_t room)
{
    struct symbol_files *files = (struct symbol_files *)namer;
    struct tv_bytes id = address->build_id, name = tv_bytes_base_name(address->path);
    size_t count = 0;
    tv_lock_enter(&files->lock);
    for (size_t i = 0; i < files->count && count == 0; i++)
        if (tv_bytes_equal(tv_bytes_of(files->names[i]), name))
            count = symbols_find_offset(files->elfs[i], address, places, room);
    if (count == 0) {
        struct tv_elf *elf = tv_symbol_folders_find(&files->folders, address->path, id);
        count = elf ? symbols_find_offset(elf, address, places, room) : 0;
    }
    for (size_t i = 0; i < count; i++)
        symbols_write_as_source(files, &places[i]);
    if (count == 0 && id.length >= TV_BUILD_ID_MIN && id.length <= TV_BUILD_ID_MAX) {
        struct tv_elf *elf = symbols_of_build_id(files, id);
        count = elf ? symbols_find_offset(elf, address, places, room) : 0;
    }
    tv_lock_leave(&files->lock);
    return count;
}

/* Free the files and every name that was made (struct tv_namer). */
static void symbols_release(struct tv_namer *namer)
{
    struct symbol_files *files = (struct symbol_files *)namer;
    for (size_t i = 0; i < files->count; i++) {
        tv_elf_free(files->elfs[i]);
        tv_free(files->names[i]);
    }
    for (size_t i = 0; i < files->by_id_count; i++)
        tv_elf_free(files->by_id[i].elf);
    for (size_t i = 0; i < files->written_count; i++)
        tv_free(files->written[i]);
    tv_symbol_folders_release(&files->folders);
    tv_map_release(&files->build_ids);
    tv_free(files->by_id);
    tv_demangler_release(&files->demangler);
    tv_lock_release(&files->lock);
    tv_free(files->written);
    tv_free(files->names);
    tv_free(files->elfs);
    tv_free(files);
}

/* Split "ELF@BASE" into the path and the base address. An '@' without a number after it belongs to
 * the path. */
static bool symbols_split_word(const char *word, char *path, size_t size, uint64_t *base)
{
    const char *at = strrchr(word, '@');
    bool based = at && tv_parse_hex(tv_bytes_of(at + 1), base);
    size_t length = based ? (size_t)(at - word) : strlen(word);
    if (!based)
        *base = TV_ELF_UNMOVED;
    if (length == 0 || length >= size)
        return false;
    memcpy(path, word, length);
    path[length] = '\0';
    return true;
}

bool tv_symbols_path(const char *word, char *path, size_t size)
{
    uint64_t base;
    return symbols_split_word(word, path, size, &base);
}

/* Open the file that a --symbols option names, or remember the folder. */
static enum tv_status symbols_open_word(struct symbol_files *files, const char *word,
                                        struct tv_error *err)
{
    struct tv_elf **elf = &files->elfs[files->count];
    uint64_t base;
    char path[4096];
    if (!symbols_split_word(word, path, sizeof path, &base))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "symbols: expected ELF or ELF@BASE, found '%.100s'", word);
    if (tv_symbol_folders_add(&files->folders, path))
        return base == TV_ELF_UNMOVED ? TV_OK
                                      : tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                                                "symbols: a folder has no @BASE: '%.100s'", word);
    enum tv_status status = tv_elf_read(path, base, elf, err);
    struct tv_bytes file = tv_bytes_base_name(tv_bytes_of(path));
    if (status == TV_OK)
        files->names[files->count++] = symbols_copy_text(file.data, file.length);
    return status;
}

enum tv_status tv_symbols_open(const struct tv_words *words, struct tv_namer **namer,
                               struct tv_error *err)
{
    *namer = NULL;
    struct symbol_files *files = tv_alloc(1, sizeof *files);
    enum tv_status status = TV_OK;
    files->namer =
        (struct tv_namer){symbols_find, symbols_find_in_file, symbols_find_mapped, symbols_release};
    files->elfs = words->count > 0 ? tv_alloc(words->count, sizeof(struct tv_elf *)) : NULL;
    files->names = words->count > 0 ? tv_alloc(words->count, sizeof(char *)) : NULL;
    tv_map_init(&files->build_ids);
    tv_map_init(&files->folders.found);
    tv_lock_init(&files->lock);
    for (size_t i = 0; i < words->count && status == TV_OK; i++)
        status = symbols_open_word(files, words->items[i], err);
    if (status == TV_OK)
        *namer = &files->namer;
    else
        symbols_release(&files->namer);
    return status;
}

const char *tv_symbols_word(const struct tv_settings *settings, size_t number)
{
    const struct tv_words *const lists[] = {
        &settings->input.symbols, &settings->compare.base_symbols, &settings->compare.new_symbols};
    for (size_t i = 0; i < TV_COUNT(lists); i++) {
        if (number < lists[i]->count)
            return lists[i]->items[number];
        number -= lists[i]->count;
    }
    return NULL;
}

/* ---- --mapping ---- */

/* Replace the obfuscated names of a frame by the original ones, if the mapping has them. */
static void naming_sink_name_frame(struct tv_trace_info *head, struct tv_frame *frame,
                                   const struct tv_mapping *mapping, struct tv_arena *arena)
{
    struct tv_mapped_method method = {
        .class_name = tv_trace_info_text(head, frame->class_name),
        .name = tv_trace_info_text(head, frame->name),
        .signature = tv_trace_info_text(head, frame->signature),
        .file = tv_trace_info_text(head, frame->file),
        .line = frame->line,
    };
    struct tv_mapped_method original;
    if (!tv_mapping_find(mapping, &method, arena, &original))
        return;
    frame->class_name = tv_trace_info_string(head, original.class_name);
    frame->name = tv_trace_info_string(head, original.name);
    frame->signature = tv_trace_info_string(head, original.signature);
    frame->file = tv_trace_info_string(head, original.file);
}

/* The functions below are the operations of the sink (struct tv_sink_ops); all but `begin` only
 * pass the call on to the inner sink. */
static struct tv_naming_sink *naming_sink_of(struct tv_sink *sink)
{
    return (struct tv_naming_sink *)sink;
}

/* Name all frames of the head. A reader that finds more frames later calls this again. */
static void naming_sink_begin(struct tv_sink *sink, struct tv_trace_info *head, uint32_t input,
                              unsigned parts)
{
    assert(naming_sink_of(sink)->named <= head->frame_count);
    struct tv_naming_sink *naming = naming_sink_of(sink);
    struct tv_arena arena;
    tv_arena_init(&arena);
    for (; naming->named < head->frame_count; naming->named++)
        naming_sink_name_frame(head, &head->frames[naming->named], naming->mapping, &arena);
    tv_arena_release(&arena);
    naming->inner->ops->begin(naming->inner, head, input, parts);
}

static void naming_sink_take(struct tv_sink *sink, unsigned pass, unsigned part,
                             const struct tv_batch *batch)
{
    struct tv_sink *inner = naming_sink_of(sink)->inner;
    inner->ops->take(inner, pass, part, batch);
}

static enum tv_stitch_result naming_sink_stitch(struct tv_sink *sink, unsigned pass)
{
    struct tv_sink *inner = naming_sink_of(sink)->inner;
    return inner->ops->stitch(inner, pass);
}

static void naming_sink_end(struct tv_sink *sink)
{
    struct tv_sink *inner = naming_sink_of(sink)->inner;
    inner->ops->end(inner);
}

void tv_naming_sink_init(struct tv_naming_sink *naming, struct tv_sink *inner,
                         const struct tv_mapping *mapping)
{
    *naming = (struct tv_naming_sink){
        .ops = {.passes = inner->ops->passes,
                .writes = inner->ops->writes,
                .begin = naming_sink_begin,
                .take = naming_sink_take,
                .stitch = naming_sink_stitch,
                .end = naming_sink_end},
        .inner = inner,
        .mapping = mapping,
    };
    naming->sink.ops = &naming->ops;
}
