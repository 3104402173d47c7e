/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kept.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/source.h"
#include "index/index.h"
#include "view/view.h"

bool tv_kept_make_key(int fd, const char *name, struct tv_kept_key *key)
{
    struct stat info;
    size_t length = strlen(name);
    if (fstat(fd, &info) != 0)
        return false;
    const int64_t numbers[] = {info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
    if (length > sizeof key->bytes - sizeof numbers)
        return false;
    memcpy(key->bytes, numbers, sizeof numbers);
    memcpy(key->bytes + sizeof numbers, name, length);
    key->length = sizeof numbers + length;
    return true;
}

static struct tv_bytes bytes_of(const struct tv_kept_key *key)
{
    return (struct tv_bytes){key->bytes, key->length};
}

/* The sources of a trace that was not read: what is packed is unpacked when somebody looks. */
struct later {
    const struct tv_engine_loader *loader;
    struct tv_engine_wish wish; /* with a source of its own, NULL once it was used */
    pthread_mutex_t lock;
    bool tried;
    struct tv_error error;      /* of the trying */
    struct tv_source **sources; /* each NULL once it was given away */
    size_t count;
};

static void try(struct later *later)
{
    if (later->tried)
        return;
    later->tried = true;
    struct tv_engine_wish wish = later->wish;
    later->wish.source = NULL;
    if (later->loader->open(later->loader->context, &wish, &later->sources, &later->count,
                            &later->error) != TV_OK)
        later->count = 0;
}

static enum tv_status open_later(void *context, uint32_t number, struct tv_source **source,
                                 struct tv_error *err)
{
    struct later *later = context;
    enum tv_status status = TV_OK;
    pthread_mutex_lock(&later->lock);
    try(later);
    if (number < later->count && later->sources[number]) {
        *source = later->sources[number];
        later->sources[number] = NULL;
    } else if (later->error.status != TV_OK) {
        *err = later->error;
        status = err->status;
    } else {
        status = tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "it is not in the file any more");
    }
    pthread_mutex_unlock(&later->lock);
    return status;
}

static void free_later(void *context)
{
    struct later *later = context;
    for (size_t i = 0; i < later->count; i++)
        if (later->sources[i])
            tv_source_free(later->sources[i]);
    tv_free(later->sources);
    if (later->wish.source)
        tv_source_free(later->wish.source);
    pthread_mutex_destroy(&later->lock);
    tv_free(later);
}

enum tv_status tv_kept_read(int fd, const struct tv_kept_key *key,
                            const struct tv_engine_loader *loader,
                            const struct tv_engine_wish *wish, struct tv_trace **trace,
                            struct tv_error *err)
{
    struct tv_sections_memory memory = {.release = tv_file_unmap};
    enum tv_status status = tv_file_map(fd, &memory.bytes, err);
    close(fd);
    if (status != TV_OK)
        return status;
    struct later *later = tv_alloc(1, sizeof *later);
    later->loader = loader;
    later->wish = *wish;
    later->wish.source =
        tv_source_part(wish->source, 0, tv_source_size(wish->source), tv_source_name(wish->source));
    pthread_mutex_init(&later->lock, NULL);
    struct tv_index_inputs inputs = {open_later, free_later, later};
    status = tv_index_read(&memory, bytes_of(key), &inputs, trace, err);
    if (status == TV_OK) /* `later` may be gone already, where nothing is read again */
        tv_source_free(wish->source);
    return status;
}

static enum tv_status write_file(void *context, struct tv_bytes bytes, struct tv_error *err)
{
    int fd = *(const int *)context;
    while (bytes.length > 0) {
        ssize_t n = write(fd, bytes.data, bytes.length);
        if (n < 0 && errno != EINTR)
            return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "cannot write the index: %s",
                           strerror(errno));
        if (n > 0) {
            bytes.data += n;
            bytes.length -= (size_t)n;
        }
    }
    return TV_OK;
}

static void add_view(const void *view, struct tv_sections_writer *writer)
{
    tv_view_store(view, writer);
}

enum tv_status tv_kept_write(int fd, const struct tv_kept_key *key, const struct tv_trace *trace,
                             const struct tv_view *view, struct tv_error *err)
{
    struct tv_index_more more = {add_view, view};
    struct tv_out out;
    tv_out_init(&out, write_file, &fd);
    enum tv_status status = tv_index_write(trace, bytes_of(key), &more, &out, err);
    tv_out_release(&out);
    if (status == TV_OK && fsync(fd) != 0)
        status =
            tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "cannot write the index: %s", strerror(errno));
    return status;
}
