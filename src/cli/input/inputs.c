/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inputs.c - from FILE arguments to sources that a reader knows (inputs.h).
 *
 *     tv_inputs_add --> [stack of pending sources] --> known format: a row
 *                               ^                  \-> container: unpack
 *                               '------ members -------'
 *
 * Containers can hold containers.  A stack of pending sources replaces
 * recursion, because the nesting is decided by the input; MAX_NESTING and the
 * unpacking ceiling bound it.  A member that no reader knows and that is not a
 * container is skipped; the first one whose format is known improves the error
 * message.
 *
 * Members are pushed in reverse, so that rows have the order in which they are
 * packed.  Every source has one owner: the caller, the stack or a row; a
 * function that takes one over frees it after an error.
 */
#include "cli/input/inputs.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/output/message.h"
#include "model/trace_info.h"
#include "readers/foreign.h"
#include "readers/reader.h"
#include "unpack/unpack.h"

/* Containers are unpacked up to this depth of nesting. */
#define MAX_NESTING 3

/* Asks the broker in the sandbox. */
static bool input_exists(const char *path)
{
    struct stat info;
    return tv_file_stat(path, &info) == 0;
}

/* A folder can be opened but not read, so it gets a message of its own. */
enum tv_status tv_inputs_open_plain(const char *path, struct tv_source **source,
                                    struct tv_error *err)
{
    struct stat info;
    if (strcmp(path, "-") != 0 && tv_file_stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                       "%s: expected a file, found a directory", path);
    if (tv_source_open_file(path, source, err) != TV_OK)
        return tv_error_prefix(err, "%s", path);
    return TV_OK;
}

/* Open both halves of an old trace as one source, keys first. */
static enum tv_status input_open_split(const char *key, const char *data, struct tv_source **source,
                                       struct tv_error *err)
{
    struct tv_source *parts[2];
    enum tv_status status = tv_inputs_open_plain(key, &parts[0], err);
    if (status != TV_OK)
        return status;
    status = tv_inputs_open_plain(data, &parts[1], err);
    if (status != TV_OK) {
        tv_source_free(parts[0]);
        return status;
    }
    *source = tv_source_join(parts, 2, key);
    return TV_OK;
}

/* Join a stem and an ending; false when the name would be too long. */
static bool input_make_name(char *buffer, size_t size, const char *stem, size_t length,
                            const char *end)
{
    size_t tail = strlen(end) + 1;
    if (length > size || tail > size - length)
        return false;
    memcpy(buffer, stem, length);
    memcpy(buffer + length, end, tail);
    return true;
}

/* Find the two halves of a split trace from the name of one half, which exists, or from the name
 * without endings. */
static bool input_find_split(const char *path, bool exists, struct tv_inputs_files *files)
{
    char *key = files->first, *data = files->second;
    size_t length = strlen(path), size = sizeof files->first;
    if (length > size)
        return false;
    if (exists && !tv_text_ends_with(path, ".key") && !tv_text_ends_with(path, ".data"))
        return false;
    if (exists)
        length = (size_t)(strrchr(path, '.') - path);
    return input_make_name(key, size, path, length, ".key") &&
           input_make_name(data, size, path, length, ".data") && input_exists(key) &&
           input_exists(data);
}

bool tv_inputs_find_files(const char *path, struct tv_inputs_files *files)
{
    size_t size = sizeof files->first;
    bool exists = input_exists(path);
    files->second[0] = '\0';
    if (!exists && strlen(path) < size &&
        input_make_name(files->first, size, path, strlen(path), ".trace") &&
        input_exists(files->first))
        return true;
    if (input_find_split(path, exists, files))
        return true;
    files->second[0] =
        '\0'; /* input_find_split sets it even when one of the two files is missing */
    return exists && input_make_name(files->first, size, path, strlen(path), "");
}

/* The message names all files that were tried. */
enum tv_status tv_inputs_open_argument(const char *path, struct tv_source **source,
                                       struct tv_error *err)
{
    struct tv_inputs_files files;
    if (strcmp(path, "-") == 0)
        return tv_inputs_open_plain(path, source, err);
    if (!tv_inputs_find_files(path, &files))
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "%s: no such file, nor %s.trace, nor %s.key with %s.data", path, path, path,
                       path);
    if (files.second[0] != '\0')
        return input_open_split(files.first, files.second, source, err);
    return tv_inputs_open_plain(files.first, source, err);
}

const char *tv_inputs_shown_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (strcmp(path, "-") == 0)
        return "standard input";
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

/* A source that waits to be examined. These are kept in a small stack, so nesting needs no
 * recursion. */
struct tv_inputs_pending {
    struct tv_source *source;
    struct tv_archive_rest
        *rest; /* rest of the container, after its first trace was read; or NULL */
    unsigned nesting;
    uint32_t machine; /* TV_NONE: a new machine */
    tv_ns offset;
};

/* Takes the source over, and gives it a machine of its own unless it shares
 * one. */
static void inputs_add_row(struct tv_inputs *inputs, struct tv_inputs_row row)
{
    inputs->rows =
        tv_array_reserve(inputs->rows, &inputs->capacity, inputs->count + 1, sizeof *inputs->rows);
    if (row.machine == TV_NONE)
        row.machine = inputs->machine_count++;
    inputs->rows[inputs->count++] = row;
}

/* Does any reader know these first bytes?  `size` is that of the whole source. */
static bool input_is_known(struct tv_bytes head, uint64_t size)
{
    for (const struct tv_reader *const *reader = tv_readers; *reader; reader++) {
        if ((*reader)->sniff(head, size) > 0)
            return true;
    }
    return false;
}

/* Are the names x.key and x.data? */
static bool input_are_halves(const char *key, const char *data)
{
    return tv_text_ends_with(key, ".key") && tv_text_ends_with(data, ".data") &&
           strlen(key) + 1 == strlen(data) && strncmp(key, data, strlen(key) - 3) == 0;
}

/* Join the halves of split traces; each joined trace takes the place of its key half. */
static void inputs_join_halves(struct tv_inputs_pending *members, size_t *count)
{
    for (size_t i = 0; i < *count; i++) {
        const char *key = tv_source_name(members[i].source);
        size_t data = 0;
        while (data < *count && !input_are_halves(key, tv_source_name(members[data].source)))
            data++;
        if (data == *count)
            continue;
        struct tv_source *parts[] = {members[i].source, members[data].source};
        members[i].source = tv_source_join(parts, 2, key);
        memmove(&members[data], &members[data + 1], (--*count - data) * sizeof *members);
        i -= data < i;
    }
}

/* A source wrapper around a packed file that counts bytes and can be cancelled. */
struct watched_source {
    struct tv_source *inner;
    struct tv_progress *progress; /* NULL: the progress is no longer shown */
};

/* Read and count the bytes; stop when the user cancelled. */
static enum tv_status watched_source_read(void *context, uint64_t offset, void *buffer, size_t size,
                                          struct tv_error *err)
{
    struct watched_source *watched = context;
    size_t got;
    if (watched->progress) {
        if (atomic_load_explicit(&watched->progress->cancel, memory_order_relaxed))
            return tv_fail(err, TV_ERR_CANCELLED, TV_NO_OFFSET, "stopped");
        atomic_fetch_add_explicit(&watched->progress->bytes, size, memory_order_relaxed);
    }
    return tv_source_read(watched->inner, offset, buffer, size, &got, err);
}

/* Closes the packed file, too. */
static void watched_source_close(void *context)
{
    struct watched_source *watched = context;
    tv_source_free(watched->inner);
    tv_free(watched);
}

/* Wrap a source to show its progress; return it unchanged without progress. */
static struct tv_source *watched_source_new(struct tv_source *source, struct tv_progress *progress,
                                            struct watched_source **watched)
{
    assert(source);
    static const struct tv_source_reads reads = {watched_source_read, watched_source_close};
    *watched = NULL;
    if (!progress)
        return source;
    uint64_t size = tv_source_size(source);
    atomic_store_explicit(&progress->unpacking, true, memory_order_relaxed);
    atomic_fetch_add_explicit(&progress->input_bytes, size, memory_order_relaxed);
    atomic_fetch_add_explicit(&progress->total_bytes, size, memory_order_relaxed);
    *watched = tv_alloc(1, sizeof **watched);
    **watched = (struct watched_source){source, progress};
    return tv_source_from_reads(&reads, *watched, size, tv_source_name(source));
}

/* State of the callbacks while one container is unpacked. */
struct container_notes {
    const char *name;
    bool quiet, remarked;
    const struct tv_foreign *foreign; /* the format of the first unwanted member, if known */
    struct tv_sketch *sketch;         /* shown while the members are unpacked; or NULL */
    const struct tv_reader *reader;   /* of the member that is unpacked; NULL: none */
    void *sketch_notes;               /* the reader's notes on the member's blocks (reader.h) */
};

/* Is the member a trace that a reader knows, or another container? */
static bool container_selects_member(void *context, struct tv_bytes head)
{
    struct container_notes *unpacked = context;
    unpacked->reader = tv_readers_find_by_prefix(head);
    tv_free(unpacked->sketch_notes);
    unpacked->sketch_notes = NULL;
    if (input_is_known(head, UINT64_MAX) || tv_unpack_knows(head))
        return true;
    if (unpacked->foreign == NULL)
        unpacked->foreign = tv_foreign_find(head);
    return false;
}

/* Mark events of a member in the sketch while it is unpacked. */
static void container_sketch_block(void *context, struct tv_bytes block)
{
    struct container_notes *unpacked = context;
    if (unpacked->sketch && unpacked->reader && unpacked->reader->sketch_block)
        unpacked->reader->sketch_block(block, unpacked->sketch, &unpacked->sketch_notes);
}

/* Print a note about the container, unless --quiet; exit codes depend on notes, too. */
static void container_note(void *context, const char *text)
{
    struct container_notes *unpacked = context;
    unpacked->remarked = true;
    if (!unpacked->quiet)
        tv_message("%s: note: %s", unpacked->name, text);
}

/* Return the remaining ceiling for the next file; at least 1, because 0 means no ceiling. */
static uint64_t inputs_left_of_ceiling(const struct tv_inputs *inputs)
{
    if (inputs->ceiling == 0)
        return 0;
    return inputs->unpacked < inputs->ceiling ? inputs->ceiling - inputs->unpacked : 1;
}

/* The unpacked members of a container. */
struct container_members {
    struct tv_unpacked members[TV_UNPACK_MEMBERS];
    size_t count;
    bool cut_off;
};

/* Unpack everything. A failed pipe is an error, not a container that ends early. A container inside
 * another one ends with that. */
static enum tv_status container_unpack_all(struct tv_source *packed, struct tv_archive_rest *rest,
                                           const struct tv_unpack_question *asked,
                                           struct container_members *taken, struct tv_error *err)
{
    bool cut_off = false;
    enum tv_status status =
        rest ? tv_unpack_rest(rest, asked, taken->members, &taken->count, &cut_off, err)
             : tv_unpack(packed, asked, taken->members, &taken->count, &cut_off, err);
    taken->cut_off = cut_off || tv_source_is_truncated(packed);
    if (status != TV_OK || tv_source_check(packed, err) == TV_OK)
        return status;
    while (taken->count > 0)
        tv_source_free(taken->members[--taken->count].source);
    return err->status;
}

/* Remember that a container ended early. It is reported after everything that could be read. */
static void inputs_note_cut(struct tv_inputs *inputs, struct tv_source *source)
{
    const char *name = tv_source_name(source);
    size_t size = strlen(name) + 1;
    inputs->cut = tv_realloc(inputs->cut, inputs->cut_count + 1, sizeof(char *));
    inputs->cut[inputs->cut_count] = tv_alloc(size, 1);
    memcpy(inputs->cut[inputs->cut_count++], name, size);
}

void tv_inputs_finish(struct tv_inputs *inputs, size_t number)
{
    assert(number < inputs->count);
    if (tv_source_is_truncated(inputs->rows[number].source))
        inputs_note_cut(inputs, inputs->rows[number].source);
}

/* Count the size of a member, if it is known and cannot grow any more. */
static void inputs_count_unpacked(struct tv_inputs *inputs, struct tv_source *member)
{
    uint64_t size;
    if (tv_source_has_size(member, &size))
        inputs->unpacked += size;
}

/* Push the members of a container on the stack. The machines of a page are new ones, except for a
 * page inside a page. */
static void inputs_push_members(struct tv_inputs *inputs, const struct tv_inputs_pending *container,
                                const struct container_members *taken,
                                struct tv_inputs_pending *stack, size_t *depth)
{
    assert(container->nesting < MAX_NESTING);
    assert(taken->count <= TV_UNPACK_MEMBERS);
    struct tv_inputs_pending joined[TV_UNPACK_MEMBERS];
    uint32_t machines = inputs->machine_count;
    size_t count = taken->count;
    for (size_t i = 0; i < count; i++) {
        const struct tv_unpacked *member = &taken->members[i];
        uint32_t machine = container->machine;
        if (machine == TV_NONE && member->machine != TV_NONE)
            machine = machines + member->machine;
        if (machine != TV_NONE && machine >= inputs->machine_count)
            inputs->machine_count = machine + 1;
        joined[i] = (struct tv_inputs_pending){
            .source = member->source,
            .nesting = container->nesting + 1,
            .machine = machine,
            .offset = tv_move_add(container->offset, member->offset),
        };
        inputs_count_unpacked(inputs, member->source);
    }
    inputs_join_halves(joined, &count);
    while (count-- > 0)
        stack[(*depth)++] = joined[count];
}

/* Is it one half of a split trace, which needs the other half? */
static bool input_is_half(struct tv_source *member)
{
    const char *name = tv_source_name(member);
    return tv_text_ends_with(name, ".key") || tv_text_ends_with(name, ".data");
}

/* Unpack everything that is left, or only the first trace; *question->rest is set in that case. */
static enum tv_status container_unpack(struct tv_source *packed, struct tv_archive_rest *rest,
                                       struct tv_unpack_question *question,
                                       struct container_members *taken, struct tv_error *err)
{
    enum tv_status status = container_unpack_all(packed, rest, question, taken, err);
    if (status != TV_OK || !question->rest || !*question->rest ||
        !input_is_half(taken->members[0].source))
        return status;
    tv_source_free(taken->members[0].source);
    tv_archive_rest_free(*question->rest);
    *question->rest = NULL; /* no rest */
    question->rest = NULL;  /* do not ask for one again */
    return container_unpack_all(packed, NULL, question, taken, err);
}

/* Keep the rest of an archive, to be unpacked when its first trace has been read. */
static void inputs_keep_rest(struct tv_inputs *inputs, const struct tv_inputs_pending *container,
                             struct tv_archive_rest *rest)
{
    assert(rest);
    inputs->rests = tv_array_reserve(inputs->rests, &inputs->rest_capacity, inputs->rest_count + 1,
                                     sizeof *inputs->rests);
    struct tv_inputs_pending *kept = &inputs->rests[inputs->rest_count++];
    *kept = *container;
    kept->source = tv_source_ref(container->source);
    kept->rest = rest;
}

/* Name what a container without a trace is or has, if that is known; else keep the error. */
static enum tv_status container_fail_foreign(struct tv_source *packed,
                                             const struct tv_foreign *member, struct tv_error *err)
{
    uint8_t head[TV_SNIFF_SIZE];
    struct tv_error unread;
    size_t got;
    const struct tv_foreign *page = NULL;
    if (tv_source_read(packed, 0, head, sizeof head, &got, &unread) == TV_OK)
        page = tv_foreign_find_page((struct tv_bytes){head, got});
    if (page)
        return tv_foreign_fail(page, err);
    if (!member)
        return err->status;
    return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                   "a container without a trace in it: found %s, which is not read yet%s%s",
                   member->name, member->advice ? ": " : "", member->advice ? member->advice : "");
}

/* Unpack a container and push its members. Takes the packed source over. */
static enum tv_status inputs_unpack(const struct tv_inputs_pending *next, struct tv_inputs *inputs,
                                    struct tv_inputs_pending *stack, size_t *depth,
                                    struct tv_error *err)
{
    struct watched_source *watched;
    struct tv_source *packed = watched_source_new(next->source, inputs->progress, &watched);
    struct tv_archive_rest *rest = NULL;
    struct container_members taken;
    struct container_notes unpacked = {.name = tv_source_name(packed),
                                       .quiet = inputs->quiet,
                                       .sketch =
                                           inputs->progress ? inputs->progress->sketch : NULL};
    struct tv_unpack_question question = {
        .wanted = container_selects_member,
        .context = &unpacked,
        .spooled = container_sketch_block,
        .ceiling = inputs_left_of_ceiling(inputs),
        .note = container_note,
        .as_it_comes = inputs->ceiling == 0 && !inputs->progress,
        .rest = inputs->one_by_one ? &rest : NULL,
    };
    enum tv_status status = container_unpack(packed, next->rest, &question, &taken, err);
    tv_free(unpacked.sketch_notes);
    inputs->packed = true;
    inputs->remarked = inputs->remarked || unpacked.remarked;
    if (watched)
        watched->progress = NULL; /* uncompressed members are read later */
    if (status == TV_ERR_UNSUPPORTED)
        status = container_fail_foreign(packed, unpacked.foreign, err);
    if (status != TV_OK) {
        tv_source_quote(packed, err);
        tv_error_prefix(err, "%s", tv_source_name(packed));
    } else if (taken.cut_off) {
        inputs_note_cut(inputs, packed);
    }
    inputs->one_by_one = inputs->one_by_one && taken.count == 1;
    if (rest)
        inputs_keep_rest(inputs, next, rest);
    tv_source_free(packed);
    if (status == TV_OK)
        inputs_push_members(inputs, next, &taken, stack, depth);
    return status;
}

/* A source whose first bytes cannot be read is left to the code that reports
 * it. */
bool tv_inputs_need_trace(struct tv_source *source)
{
    uint8_t head[TV_SNIFF_SIZE];
    struct tv_error err;
    size_t got;
    if (tv_source_read(source, 0, head, sizeof head, &got, &err) != TV_OK)
        return false;
    return tv_unpack_knows((struct tv_bytes){head, got}) || !tv_readers_can_stream(source);
}

enum tv_status tv_inputs_check(struct tv_source *source, struct tv_error *err)
{
    uint8_t head[TV_SNIFF_SIZE];
    size_t got;
    enum tv_status status = tv_source_read(source, 0, head, sizeof head, &got, err);
    if (status == TV_OK && !tv_unpack_knows((struct tv_bytes){head, got}) &&
        !tv_readers_find(source, err))
        status = err->status;
    return status == TV_OK ? TV_OK : tv_error_prefix(err, "%s", tv_source_name(source));
}

/* Look at the first bytes. Containers nested too deep are taken as they are, and no reader will
 * know them. */
static enum tv_status inputs_look_whether_packed(const struct tv_inputs_pending *next, bool *packed,
                                                 struct tv_error *err)
{
    uint8_t head[TV_SNIFF_SIZE];
    size_t got;
    *packed = next->rest != NULL;
    if (next->rest)
        return TV_OK;
    if (tv_source_read(next->source, 0, head, sizeof head, &got, err) != TV_OK)
        return tv_error_prefix(err, "%s", tv_source_name(next->source));
    *packed = next->nesting < MAX_NESTING && tv_unpack_knows((struct tv_bytes){head, got});
    return TV_OK;
}

/* Add a file, or the traces in it when it is a container. */
static enum tv_status inputs_add_unpacked(struct tv_inputs *inputs,
                                          const struct tv_inputs_pending *file,
                                          struct tv_error *err)
{
    struct tv_inputs_pending stack[TV_UNPACK_MEMBERS * (MAX_NESTING + 1)];
    size_t depth = 0;
    enum tv_status status = TV_OK;
    stack[depth++] = *file;
    while (depth > 0) {
        struct tv_inputs_pending next = stack[--depth];
        bool packed = false;
        if (status == TV_OK)
            status = inputs_look_whether_packed(&next, &packed, err);
        if (status == TV_OK && !packed) {
            inputs_add_row(inputs, (struct tv_inputs_row){next.source, next.machine, next.offset});
            continue;
        }
        if (status == TV_OK)
            status = inputs_unpack(&next, inputs, stack, &depth, err);
        else
            tv_source_free(next.source);
    }
    return status;
}

/* Quadratic in the number of arguments, which a person typed or a shell
 * expanded. */
bool tv_inputs_is_second_half(const char *const *files, size_t i)
{
    for (size_t before = 0; before < i; before++) {
        if (input_are_halves(files[before], files[i]) || input_are_halves(files[i], files[before]))
            return input_exists(files[before]) && input_exists(files[i]);
    }
    return false;
}

void tv_input_files_free(struct tv_input_file *given, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tv_source_free(given[i].source);
}

/* Sources that were not reached after an error are freed here. */
enum tv_status tv_inputs_add(struct tv_inputs *inputs, struct tv_input_file *given, size_t count,
                             struct tv_error *err)
{
    enum tv_status status = TV_OK;
    struct tv_inputs_pending *files = tv_alloc(count, sizeof *files);
    for (size_t i = 0; i < count; i++)
        files[i] = (struct tv_inputs_pending){
            .source = given[i].source, .machine = TV_NONE, .offset = given[i].offset};
    inputs_join_halves(files, &count);
    inputs->one_by_one = inputs->one_by_one && count == 1;
    size_t added = 0;
    while (added < count && status == TV_OK)
        status = inputs_add_unpacked(inputs, &files[added++], err);
    while (added < count)
        tv_source_free(files[added++].source);
    tv_free(files);
    return status;
}

/* Goes on until there is a new row: an archive may have no other trace. */
enum tv_status tv_inputs_add_rest(struct tv_inputs *inputs, struct tv_error *err)
{
    size_t before = inputs->count;
    enum tv_status status = TV_OK;
    inputs->one_by_one = false;
    while (status == TV_OK && inputs->count == before && inputs->rest_count > 0)
        status = inputs_add_unpacked(inputs, &inputs->rests[--inputs->rest_count], err);
    return status;
}

/* Archives of which only the first trace was read can be cut off as well. */
void tv_inputs_give_up(struct tv_inputs *inputs)
{
    for (size_t i = inputs->rest_count; i-- > 0;)
        if (tv_archive_rest_is_truncated(inputs->rests[i].rest))
            inputs_note_cut(inputs, inputs->rests[i].source);
    for (size_t i = 0; i < inputs->cut_count && !inputs->quiet; i++)
        tv_message("%s: error: %s", inputs->cut[i],
                   tv_diagnostic_text(TV_DIAGNOSTIC_CONTAINER_CUT));
}

/* `quiet` stays, so that the inputs can be used again. */
void tv_inputs_release(struct tv_inputs *inputs)
{
    for (size_t i = 0; i < inputs->rest_count; i++) {
        tv_archive_rest_free(inputs->rests[i].rest);
        tv_source_free(inputs->rests[i].source);
    }
    tv_free(inputs->rests);
    for (size_t i = 0; i < inputs->cut_count; i++)
        tv_free(inputs->cut[i]);
    tv_free(inputs->cut);
    for (size_t i = 0; i < inputs->count; i++)
        tv_source_free(inputs->rows[i].source);
    tv_free(inputs->rows);
    *inputs = (struct tv_inputs){.quiet = inputs->quiet};
}
