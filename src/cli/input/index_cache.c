/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_cache.c - finds and writes the index of a set of files (index_cache.h).
 *
 *     key     for each file: size, times, 64 sampled hashes; offsets; mapping, symbols; program
 *     places  for each file: name and change time, stored in the index next to the trace
 *
 * The key says whether an index fits the contents, the places whether the names still do.  A trace
 * from the cache keeps its files closed until arguments of events are needed (struct
 * deferred_sources).
 */
#include "cli/input/index_cache.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/workers.h"
#include "cli/confine.h"
#include "cli/input/load.h"
#include "cli/input/symbols.h"
#include "index/index.h"
#include "symbols/debug_folders.h"
#include "view/view.h"

/* Smaller files are read quickly anyway. */
#define WORTH_BYTES (UINT64_C(8) << 20)
/* Formats that are read fast are cached only if reading took this long. */
#define WORTH_NS (UINT64_C(2) * 1000000000)

/* Samples of a file, evenly distributed from its first to its last byte. */
#define SAMPLES 64u
#define SAMPLE_SIZE ((size_t)16 * 1024)

/* A file that was modified less than a step ago could be modified again without a change of its
 * time, because the clocks of file systems advance in steps: of seconds if the time has no
 * fraction. */
#define STEP_NS INT64_C(100000000)
#define COARSE_STEP_NS INT64_C(2000000000)

#define WRITE_SIZE ((size_t)1 << 20)
#define WRITER_NICENESS 19

static struct tv_bytes index_cache_key(const struct tv_index_cache *cache)
{
    assert(cache->key_length > 0 && cache->key_length <= sizeof cache->key);
    return (struct tv_bytes){cache->key, cache->key_length};
}

/* ---- The key ---- */

/* The facts that identify a file and its version. */
struct file_identity {
    int64_t size, time_s, time_ns, change_s, change_ns;
    uint64_t hash;
};

/* Return whether a file was modified so long ago that another change would show in its time. */
static bool index_cache_is_settled(const struct stat *info)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t step = info->st_mtim.tv_nsec != 0 ? STEP_NS : COARSE_STEP_NS;
    int64_t seconds = (int64_t)now.tv_sec - info->st_mtim.tv_sec;
    return seconds > 3 ||
           (seconds >= 0 && seconds * 1000000000 + now.tv_nsec - info->st_mtim.tv_nsec > step);
}

/* Add hashes of samples all over the file. Size and time alone do not tell files apart that were
 * rewritten within a moment. */
static bool index_cache_hash_samples(int fd, int64_t size, uint64_t *hash)
{
    uint8_t *piece = tv_alloc(SAMPLE_SIZE, 1);
    int64_t last = size - (int64_t)SAMPLE_SIZE;
    ssize_t got = 0;
    for (unsigned i = 0; i < SAMPLES && got >= 0; i++) {
        int64_t offset = last > 0 ? last / (SAMPLES - 1) * i : (int64_t)SAMPLE_SIZE * i;
        if (i == SAMPLES - 1 && last > 0)
            offset = last;
        got = pread(fd, piece, SAMPLE_SIZE, (off_t)offset);
        if (got > 0)
            *hash += tv_checksum((struct tv_bytes){piece, (size_t)got}, i + 1);
    }
    tv_free(piece);
    return got >= 0;
}

/* Identify a file; false when it is not a regular file, or was modified just now. */
static bool index_cache_identify(const char *path, struct file_identity *identity)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    *identity = (struct file_identity){0};
    bool known = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && index_cache_is_settled(&info);
    if (known) {
        *identity =
            (struct file_identity){info.st_size,        info.st_mtim.tv_sec,  info.st_mtim.tv_nsec,
                                   info.st_ctim.tv_sec, info.st_ctim.tv_nsec, 0};
        known = index_cache_hash_samples(fd, info.st_size, &identity->hash);
    }
    close(fd);
    return known;
}

static void index_key_add(struct tv_out *key, const void *bytes, size_t length)
{
    tv_out_bytes(key, (struct tv_bytes){bytes, length});
}

/* Add a file beside the trace (a mapping, symbols): its path counts, too. */
static bool index_key_add_file(struct tv_out *key, const char *path)
{
    struct file_identity identity;
    if (!index_cache_identify(path, &identity))
        return false;
    index_key_add(key, path, strlen(path) + 1);
    index_key_add(key, &identity, sizeof identity);
    return true;
}

/* Add a trace file. Renaming a file updates its change time (st_ctime), so that time is stored with
 * the name, not in the key. */
static bool index_key_add_trace_file(struct tv_out *key, struct tv_out *places, const char *path)
{
    struct file_identity identity;
    if (!index_cache_identify(path, &identity))
        return false;
    index_key_add(places, path, strlen(path) + 1);
    index_key_add(places, &identity.change_s, sizeof identity.change_s);
    index_key_add(places, &identity.change_ns, sizeof identity.change_ns);
    identity.change_s = identity.change_ns = 0;
    index_key_add(key, &identity, sizeof identity);
    return true;
}

/* Add a FILE argument to the key; false when it cannot be cached. */
static bool index_key_add_input(struct tv_out *key, struct tv_out *places, const char *path,
                                tv_ns offset)
{
    struct tv_inputs_files files;
    if (strcmp(path, "-") == 0 || !tv_inputs_find_files(path, &files))
        return false;
    index_key_add(key, &offset, sizeof offset);
    return index_key_add_trace_file(key, places, files.first) &&
           (files.second[0] == '\0' || index_key_add_trace_file(key, places, files.second));
}

static bool index_key_add_symbols(struct tv_out *key, const char *word)
{
    char path[4096];
    bool known = tv_symbols_path(word, path, sizeof path) && index_key_add_file(key, path);
    index_key_add(key, word, strlen(word) + 1);
    return known;
}

/* Add everything besides the files that a trace depends on. */
static bool index_key_add_settings(struct tv_out *key, const struct tv_settings *settings)
{
    bool known = !settings->input.mapping || index_key_add_file(key, settings->input.mapping);
    uint64_t debug_files = tv_debug_folders_state();
    index_key_add(key, &settings->input.unpacked_bytes, sizeof settings->input.unpacked_bytes);
    index_key_add(key, &debug_files, sizeof debug_files);
    for (size_t i = 0; i < settings->input.symbols.count && known; i++)
        known = index_key_add_symbols(key, settings->input.symbols.items[i]);
    return known;
}

/* Two builds of the same version may read a file differently. */
static bool index_key_add_program(struct tv_out *key)
{
    return index_key_add_file(key, "/proc/self/exe");
}

bool tv_index_cache_make_key(struct tv_index_cache *cache)
{
    assert(cache->count <= TV_INDEX_CACHE_FILES);
    struct tv_out key, places;
    bool known = !cache->settings->input.no_cache && cache->count > 0;
    if (known && tv_is_confined())
        return tv_confined_make_key(cache);
    tv_out_init_memory(&key);
    tv_out_init_memory(&places);
    for (size_t i = 0; i < cache->count && known; i++)
        known = index_key_add_input(&key, &places, cache->paths[i], cache->offsets[i]);
    known = known && index_key_add_program(&key) && index_key_add_settings(&key, cache->settings) &&
            key.length <= sizeof cache->key && places.length <= sizeof cache->places;
    if (known) {
        memcpy(cache->key, key.buffer, key.length);
        cache->key_length = key.length;
        memcpy(cache->places, places.buffer, places.length);
        cache->places_length = places.length;
    }
    tv_out_release(&key);
    tv_out_release(&places);
    return known;
}

/* True when the inputs still have the key they had before they were read: an index of a file that
 * changed meanwhile must not be kept under either key. */
static bool index_cache_is_unchanged(const struct tv_index_cache *cache)
{
    struct tv_index_cache now = *cache;
    return tv_index_cache_make_key(&now) && now.key_length == cache->key_length &&
           memcmp(now.key, cache->key, now.key_length) == 0 &&
           now.places_length == cache->places_length &&
           memcmp(now.places, cache->places, now.places_length) == 0;
}

/* ---- Names ---- */

#define NAMES_SECTION TV_SECTION_TAG('p', 'l', 'a', 'c')

/* A file's name, and its change time as raw bytes. */
struct cached_name {
    struct tv_bytes path;
    uint8_t change[2 * sizeof(int64_t)];
};

/* Take the next name and time of change; false at the end, or when the text is damaged. */
static bool index_cache_next_name(struct tv_bytes *places, struct cached_name *name)
{
    const uint8_t *end = places->length > 0 ? memchr(places->data, 0, places->length) : NULL;
    if (!end)
        return false;
    name->path = (struct tv_bytes){places->data, (size_t)(end - places->data)};
    size_t used = name->path.length + 1 + sizeof name->change;
    if (used > places->length)
        return false;
    memcpy(name->change, end + 1, sizeof name->change);
    *places = (struct tv_bytes){places->data + used, places->length - used};
    return true;
}

/* Does the name belong to the path: "x.gz", or a member of it, "x.gz: y"? */
static bool index_cache_is_named_by(struct tv_bytes name, struct tv_bytes path)
{
    return tv_bytes_starts_with(name, path) &&
           (name.length == path.length || name.data[path.length] == ':');
}

/* Give the inputs of a file the name by which it was opened now. */
static void index_cache_rename_inputs(struct tv_trace_info *head, struct tv_bytes before,
                                      struct tv_bytes now, bool *renamed)
{
    for (uint32_t i = 0; i < head->input_count; i++) {
        struct tv_bytes name = tv_trace_info_text(head, head->inputs[i].name);
        struct tv_out text;
        if (renamed[i] || !index_cache_is_named_by(name, before))
            continue;
        tv_out_init_memory(&text);
        tv_out_bytes(&text, now);
        tv_out_bytes(&text,
                     (struct tv_bytes){name.data + before.length, name.length - before.length});
        head->inputs[i].name =
            tv_trace_info_string(head, (struct tv_bytes){text.buffer, text.length});
        renamed[i] = true;
        tv_out_release(&text);
    }
}

/* Rename the inputs to the present names of their files. False: a file changed but kept its name,
 * or the names are ambiguous. */
static bool index_cache_update_names(const struct tv_index_cache *cache, struct tv_trace *trace)
{
    struct tv_trace_info *head = trace->head;
    uint64_t length = 0;
    const uint8_t *kept = tv_sections_find(trace->sections, NAMES_SECTION, 0, 1, &length);
    struct tv_bytes before = {kept, kept ? (size_t)length : 0};
    struct tv_bytes now = {cache->places, cache->places_length};
    struct cached_name old, new;
    bool *renamed = tv_alloc(head->input_count, sizeof *renamed);
    bool good = before.length > 0;
    while (good && now.length > 0) {
        good = index_cache_next_name(&before, &old) && index_cache_next_name(&now, &new) &&
               (!tv_bytes_equal(old.path, new.path) ||
                memcmp(old.change, new.change, sizeof old.change) == 0);
        if (good)
            index_cache_rename_inputs(head, old.path, new.path, renamed);
    }
    for (uint32_t i = 0; i < head->input_count; i++)
        good = good && renamed[i];
    tv_free(renamed);
    return good && before.length == 0;
}

/* ---- Reading ---- */

/* The sources of a trace that came from the cache. They are opened when arguments of events are
 * needed. */
struct deferred_sources {
    struct tv_index_cache cache;
    bool tried;
    struct tv_error error;      /* error of the attempt to open them */
    struct tv_source **sources; /* each becomes NULL when it is handed out */
    size_t count;
};

/* Open and unpack the files of a trace that came from the cache. */
static enum tv_status index_cache_open_files(struct deferred_sources *deferred,
                                             struct tv_error *err)
{
    const struct tv_index_cache *cache = &deferred->cache;
    struct tv_input_file *given = tv_alloc(cache->count, sizeof *given);
    struct tv_loading *loading;
    enum tv_status status = TV_OK;
    size_t opened = 0;
    while (opened < cache->count && status == TV_OK) {
        given[opened].offset = cache->offsets[opened];
        status = tv_inputs_open_argument(cache->paths[opened], &given[opened].source, err);
        opened += status == TV_OK;
    }
    /* Compare after opening: later changes are noticed by the sources. */
    if (status == TV_OK && !index_cache_is_unchanged(cache))
        status = tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "the file changed since it was opened");
    if (status == TV_OK)
        status = tv_load_open_files(cache->settings, given, opened, NULL, &loading, err);
    else
        tv_input_files_free(given, opened);
    tv_free(given);
    if (status == TV_OK)
        tv_load_take_sources(loading, &deferred->sources, &deferred->count);
    return status;
}

/* Open a source. The index calls this from one thread at a time (index/sources.c). */
static enum tv_status index_cache_open_source(void *context, uint32_t number,
                                              struct tv_source **source, struct tv_error *err)
{
    struct deferred_sources *deferred = context;
    if (!deferred->tried && index_cache_open_files(deferred, &deferred->error) != TV_OK)
        deferred->count = 0;
    deferred->tried = true;
    if (number < deferred->count && deferred->sources[number]) {
        *source = deferred->sources[number];
        deferred->sources[number] = NULL;
        return TV_OK;
    }
    if (deferred->error.status == TV_OK)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "the event is no longer in the file");
    *err = deferred->error;
    return err->status;
}

static void index_cache_free_sources(void *context)
{
    struct deferred_sources *deferred = context;
    for (size_t i = 0; i < deferred->count; i++)
        if (deferred->sources[i])
            tv_source_free(deferred->sources[i]);
    tv_free(deferred->sources);
    tv_free(deferred);
}

/* Map an index and make a trace of it. Its pages are read when they are used. */
static enum tv_status index_cache_map(const struct tv_index_cache *cache, int fd,
                                      struct tv_trace **trace, struct tv_error *err)
{
    struct tv_sections_memory memory = {.release = tv_file_unmap};
    if (tv_file_map(fd, &memory.bytes, err) != TV_OK)
        return err->status;
    struct deferred_sources *deferred = tv_alloc(1, sizeof *deferred);
    deferred->cache = *cache;
    struct tv_index_inputs inputs = {index_cache_open_source, index_cache_free_sources, deferred};
    enum tv_status status = tv_index_read(&memory, index_cache_key(cache), &inputs, trace, err);
    if (status != TV_OK || index_cache_update_names(cache, *trace))
        return status;
    tv_trace_free(*trace);
    return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET, "the index belongs to another file");
}

bool tv_index_cache_read(const struct tv_index_cache *cache, struct tv_trace **trace)
{
    struct tv_error why = {0};
    struct tv_namer *namer = NULL;
    int fd = tv_cache_open(index_cache_key(cache));
    if (fd < 0)
        return false;
    enum tv_status status = tv_symbols_open(&cache->settings->input.symbols, &namer, &why);
    if (status == TV_OK)
        status = index_cache_map(cache, fd, trace, &why);
    close(fd);
    if (status == TV_OK)
        (*trace)->head->namer = namer;
    else if (namer)
        namer->free(namer);
    return status == TV_OK;
}

/* ---- Writing ---- */

bool tv_index_cache_is_worth(const struct tv_index_cache *cache, const struct tv_trace *trace,
                             bool packed, uint64_t ns)
{
    const struct tv_trace_info *head = trace->head;
    uint64_t bytes = 0;
    bool slow = packed || tv_index_cache_is_assembled(trace);
    for (uint32_t i = 0; i < head->input_count; i++)
        bytes += head->inputs[i].bytes;
    return ((slow && bytes >= WORTH_BYTES) || ns >= WORTH_NS) && index_cache_is_unchanged(cache);
}

bool tv_index_cache_is_worth_waiting(const struct tv_index_cache *cache, uint64_t ns)
{
    return ns >= WORTH_NS && index_cache_is_unchanged(cache);
}

bool tv_index_cache_is_assembled(const struct tv_trace *trace)
{
    const struct tv_trace_info *head = trace->head;
    for (uint32_t i = 0; i < head->input_count; i++)
        if (head->inputs[i].assembled)
            return true;
    return false;
}

struct cache_writing {
    int fd;
    uint64_t left; /* bytes that may still be written */
    const atomic_bool *stop;
};

/* Write to the cache until it is full, or the command ends (the write function of an output). */
static enum tv_status index_cache_write_bytes(void *context, struct tv_bytes bytes,
                                              struct tv_error *err)
{
    struct cache_writing *w = context;
    while (bytes.length > 0) {
        if (atomic_load_explicit(w->stop, memory_order_relaxed))
            return tv_fail(err, TV_ERR_CANCELLED, TV_NO_OFFSET, "stopped");
        if (bytes.length > w->left)
            return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "no space left in the cache");
        ssize_t n = write(w->fd, bytes.data, bytes.length < WRITE_SIZE ? bytes.length : WRITE_SIZE);
        if (n < 0 && errno != EINTR)
            return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s", strerror(errno));
        if (n > 0) {
            bytes.data += n;
            bytes.length -= (size_t)n;
            w->left -= (uint64_t)n;
        }
    }
    return TV_OK;
}

/* The extra sections of the index file. */
struct cache_sections {
    const struct tv_index_cache *cache;
    const struct tv_view *view; /* or NULL */
};

static void index_cache_add_sections(const void *context, struct tv_sections_writer *writer)
{
    assert(writer);
    const struct cache_sections *sections = context;
    const struct tv_index_cache *cache = sections->cache;
    tv_sections_add(writer, NAMES_SECTION, 0, 1, cache->places_length, cache->places);
    if (sections->view)
        tv_view_store(sections->view, writer);
}

/* Lower the priority, because nobody waits for the file; block SIGXFSZ, so that a file size limit
 * does not end the program. */
static void index_cache_lower_priority(void)
{
    sigset_t limit;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &limit, NULL);
    setpriority(PRIO_PROCESS, 0, WRITER_NICENESS); /* on Linux only for this thread */
}

void tv_index_cache_write(const struct tv_index_cache *cache, const struct tv_trace *trace,
                          const struct tv_view *view, const atomic_bool *stop)
{
    struct cache_sections sections = {cache, view};
    struct tv_index_more more = {index_cache_add_sections, &sections};
    struct tv_cache_file file;
    struct tv_error err = {0};
    struct tv_out out;
    index_cache_lower_priority();
    if (atomic_load(stop) || !tv_cache_begin(index_cache_key(cache), &file))
        return;
    struct cache_writing writing = {file.fd, file.room, stop};
    tv_out_init(&out, index_cache_write_bytes, &writing);
    enum tv_status status = tv_index_write(trace, index_cache_key(cache), &more, &out, &err);
    tv_out_release(&out);
    tv_cache_end(&file, status == TV_OK);
}

/* A trace that is written in the background while a command prints it. */
struct background_writing {
    struct tv_index_cache cache;
    const struct tv_trace *trace;
    atomic_bool stop;
    pthread_t thread;
};

static void *index_cache_write_thread(void *context)
{
    struct background_writing *writing = context;
    tv_index_cache_write(&writing->cache, writing->trace, NULL, &writing->stop);
    return NULL;
}

static void index_cache_join_thread(void *context)
{
    struct background_writing *writing = context;
    pthread_join(writing->thread, NULL);
    tv_free(writing);
}

void tv_index_cache_write_behind(const struct tv_index_cache *cache, struct tv_trace *trace)
{
    struct background_writing *writing = tv_alloc(1, sizeof *writing);
    writing->cache = *cache;
    writing->trace = trace;
    atomic_init(&writing->stop, false);
    if (tv_thread_start(&writing->thread, TV_THREAD_STACK, index_cache_write_thread, writing) !=
        0) {
        tv_free(writing);
        return;
    }
    trace->await = index_cache_join_thread;
    trace->await_context = writing;
}
