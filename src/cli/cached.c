/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cached.h"

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
#include "base/checksum.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/workers.h"
#include "cli/cache.h"
#include "cli/confine.h"
#include "cli/load.h"
#include "cli/symbols.h"
#include "index/index.h"
#include "view/view.h"

/* Smaller ones are read at once. */
#define WORTH_BYTES (UINT64_C(8) << 20)
/* Of formats that are read fast. */
#define WORTH_NS (UINT64_C(2) * 1000000000)

/* Samples of a file, evenly from its first to its last byte. */
#define SAMPLES 64u
#define SAMPLE_SIZE ((size_t)16 * 1024)

/* A file that was written to so shortly ago could be again without its time telling: clocks of
 * file systems go in steps, of seconds where the time has no fraction. */
#define STEP_NS INT64_C(100000000)
#define COARSE_STEP_NS INT64_C(2000000000)

#define PIECE ((size_t)1 << 20)
#define NICE_WRITING 19

static struct tv_bytes key_of(const struct tv_cached *cached)
{
    return (struct tv_bytes){cached->key, cached->key_length};
}

/* ---- The key ---- */

/* What tells a file from others and from what it was. */
struct identity {
    int64_t size, time_s, time_ns, change_s, change_ns;
    uint64_t hash;
};

static bool is_settled(const struct stat *info)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t step = info->st_mtim.tv_nsec != 0 ? STEP_NS : COARSE_STEP_NS;
    int64_t seconds = (int64_t)now.tv_sec - info->st_mtim.tv_sec;
    return seconds > 3 ||
           (seconds >= 0 && seconds * 1000000000 + now.tv_nsec - info->st_mtim.tv_nsec > step);
}

static bool hash_samples(int fd, int64_t size, uint64_t *hash)
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

/* False: it is no file that stays what it is. */
static bool identify(const char *path, struct identity *identity)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    *identity = (struct identity){0};
    bool known = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && is_settled(&info);
    if (known) {
        *identity =
            (struct identity){info.st_size,        info.st_mtim.tv_sec,  info.st_mtim.tv_nsec,
                              info.st_ctim.tv_sec, info.st_ctim.tv_nsec, 0};
        known = hash_samples(fd, info.st_size, &identity->hash);
    }
    close(fd);
    return known;
}

static void add(struct tv_out *key, const void *bytes, size_t length)
{
    tv_out_bytes(key, (struct tv_bytes){bytes, length});
}

static bool add_file(struct tv_out *key, const char *path)
{
    struct identity identity;
    if (!identify(path, &identity))
        return false;
    add(key, path, strlen(path) + 1);
    add(key, &identity, sizeof identity);
    return true;
}

/* Renaming a file changes it, says its time of change: that goes with the name. */
static bool add_trace_file(struct tv_out *key, struct tv_out *places, const char *path)
{
    struct identity identity;
    if (!identify(path, &identity))
        return false;
    add(places, path, strlen(path) + 1);
    add(places, &identity.change_s, sizeof identity.change_s);
    add(places, &identity.change_ns, sizeof identity.change_ns);
    identity.change_s = identity.change_ns = 0;
    add(key, &identity, sizeof identity);
    return true;
}

static bool add_input(struct tv_out *key, struct tv_out *places, const char *path, tv_ns offset)
{
    struct tv_inputs_files files;
    if (strcmp(path, "-") == 0 || !tv_inputs_find_files(path, &files))
        return false;
    add(key, &offset, sizeof offset);
    return add_trace_file(key, places, files.first) &&
           (files.second[0] == '\0' || add_trace_file(key, places, files.second));
}

static bool add_symbols(struct tv_out *key, const char *word)
{
    char path[4096];
    bool known = tv_symbols_path(word, path, sizeof path) && add_file(key, path);
    add(key, word, strlen(word) + 1);
    return known;
}

static bool add_settings(struct tv_out *key, const struct tv_settings *settings)
{
    bool known = !settings->mapping || add_file(key, settings->mapping);
    add(key, &settings->unpacked_bytes, sizeof settings->unpacked_bytes);
    for (size_t i = 0; i < settings->symbols.count && known; i++)
        known = add_symbols(key, settings->symbols.items[i]);
    return known;
}

/* Two builds of one version may read differently. */
static bool add_program(struct tv_out *key)
{
    return add_file(key, "/proc/self/exe");
}

bool tv_cached_look(struct tv_cached *cached)
{
    struct tv_out key, places;
    bool known = !cached->settings->no_cache && cached->count > 0;
    if (known && tv_is_confined())
        return tv_confined_look(cached);
    tv_out_init_memory(&key);
    tv_out_init_memory(&places);
    for (size_t i = 0; i < cached->count && known; i++)
        known = add_input(&key, &places, cached->paths[i], cached->offsets[i]);
    known = known && add_program(&key) && add_settings(&key, cached->settings) &&
            key.length <= sizeof cached->key && places.length <= sizeof cached->places;
    if (known) {
        memcpy(cached->key, key.buffer, key.length);
        cached->key_length = key.length;
        memcpy(cached->places, places.buffer, places.length);
        cached->places_length = places.length;
    }
    tv_out_release(&key);
    tv_out_release(&places);
    return known;
}

static bool is_unchanged(const struct tv_cached *cached)
{
    struct tv_cached now = *cached;
    return tv_cached_look(&now) && now.key_length == cached->key_length &&
           memcmp(now.key, cached->key, now.key_length) == 0 &&
           now.places_length == cached->places_length &&
           memcmp(now.places, cached->places, now.places_length) == 0;
}

/* ---- Names ---- */

#define PLACES TV_SECTION_TAG('p', 'l', 'a', 'c')

/* A file's name and the time of its change, which is compared alone. */
struct place {
    struct tv_bytes path;
    uint8_t change[2 * sizeof(int64_t)];
};

static bool next_place(struct tv_bytes *places, struct place *place)
{
    const uint8_t *end = places->length > 0 ? memchr(places->data, 0, places->length) : NULL;
    if (!end)
        return false;
    place->path = (struct tv_bytes){places->data, (size_t)(end - places->data)};
    size_t used = place->path.length + 1 + sizeof place->change;
    if (used > places->length)
        return false;
    memcpy(place->change, end + 1, sizeof place->change);
    *places = (struct tv_bytes){places->data + used, places->length - used};
    return true;
}

/* "x.gz", and what lies in it: "x.gz: y". */
static bool is_named_by(struct tv_bytes name, struct tv_bytes path)
{
    return tv_bytes_starts_with(name, path) &&
           (name.length == path.length || name.data[path.length] == ':');
}

static void rename_inputs(struct tv_head *head, struct tv_bytes before, struct tv_bytes now,
                          bool *renamed)
{
    for (uint32_t i = 0; i < head->input_count; i++) {
        struct tv_bytes name = tv_head_text(head, head->inputs[i].name);
        struct tv_out text;
        if (renamed[i] || !is_named_by(name, before))
            continue;
        tv_out_init_memory(&text);
        tv_out_bytes(&text, now);
        tv_out_bytes(&text,
                     (struct tv_bytes){name.data + before.length, name.length - before.length});
        head->inputs[i].name = tv_head_string(head, (struct tv_bytes){text.buffer, text.length});
        renamed[i] = true;
        tv_out_release(&text);
    }
}

/* Calls the inputs as their files are called now.  False: a file changed and kept its name, or it
 * is not clear which is which. */
static bool settle_names(const struct tv_cached *cached, struct tv_trace *trace)
{
    struct tv_head *head = trace->head;
    uint64_t length = 0;
    const uint8_t *kept = tv_sections_find(trace->sections, PLACES, 0, 1, &length);
    struct tv_bytes before = {kept, kept ? (size_t)length : 0};
    struct tv_bytes now = {cached->places, cached->places_length};
    struct place old, new;
    bool *renamed = tv_alloc(head->input_count, sizeof *renamed);
    bool good = before.length > 0;
    while (good && now.length > 0) {
        good = next_place(&before, &old) && next_place(&now, &new) &&
               (!tv_bytes_equal(old.path, new.path) ||
                memcmp(old.change, new.change, sizeof old.change) == 0);
        if (good)
            rename_inputs(head, old.path, new.path, renamed);
    }
    for (uint32_t i = 0; i < head->input_count; i++)
        good = good && renamed[i];
    tv_free(renamed);
    return good && before.length == 0;
}

/* ---- Reading ---- */

/* The sources of a trace that was not read: opened when somebody looks at arguments. */
struct later {
    struct tv_cached cached;
    bool tried;
    struct tv_error error;      /* of the trying */
    struct tv_source **sources; /* each NULL once it was given away */
    size_t count;
};

static enum tv_status open_files(struct later *later, struct tv_error *err)
{
    const struct tv_cached *cached = &later->cached;
    struct tv_given *given = tv_alloc(cached->count, sizeof *given);
    struct tv_loading *loading;
    enum tv_status status = TV_OK;
    size_t opened = 0;
    while (opened < cached->count && status == TV_OK) {
        given[opened].offset = cached->offsets[opened];
        status = tv_inputs_open_argument(cached->paths[opened], &given[opened].source, err);
        opened += status == TV_OK;
    }
    /* Looked at when they are open: what is written to later the sources notice. */
    if (status == TV_OK && !is_unchanged(cached))
        status = tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "the file changed since it was opened");
    if (status == TV_OK)
        status = tv_load_given(cached->settings, given, opened, NULL, &loading, err);
    else
        tv_given_free(given, opened);
    tv_free(given);
    if (status == TV_OK)
        tv_load_take_sources(loading, &later->sources, &later->count);
    return status;
}

/* One at a time, says sources.c of the index. */
static enum tv_status open_later(void *context, uint32_t number, struct tv_source **source,
                                 struct tv_error *err)
{
    struct later *later = context;
    if (!later->tried && open_files(later, &later->error) != TV_OK)
        later->count = 0;
    later->tried = true;
    if (number < later->count && later->sources[number]) {
        *source = later->sources[number];
        later->sources[number] = NULL;
        return TV_OK;
    }
    if (later->error.status == TV_OK)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "it is not in the file any more");
    *err = later->error;
    return err->status;
}

static void free_later(void *context)
{
    struct later *later = context;
    for (size_t i = 0; i < later->count; i++)
        if (later->sources[i])
            tv_source_free(later->sources[i]);
    tv_free(later->sources);
    tv_free(later);
}

static enum tv_status read_index(const struct tv_cached *cached, int fd, struct tv_trace **trace,
                                 struct tv_error *err)
{
    struct tv_sections_memory memory = {.release = tv_file_unmap};
    if (tv_file_map(fd, &memory.bytes, err) != TV_OK)
        return err->status;
    struct later *later = tv_alloc(1, sizeof *later);
    later->cached = *cached;
    struct tv_index_inputs inputs = {open_later, free_later, later};
    enum tv_status status = tv_index_read(&memory, key_of(cached), &inputs, trace, err);
    if (status != TV_OK || settle_names(cached, *trace))
        return status;
    tv_trace_free(*trace);
    return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET, "of another file");
}

bool tv_cached_read(const struct tv_cached *cached, struct tv_trace **trace)
{
    struct tv_error why = {0};
    struct tv_namer *namer = NULL;
    int fd = tv_cache_open(key_of(cached));
    if (fd < 0)
        return false;
    enum tv_status status = tv_symbols_open(&cached->settings->symbols, &namer, &why);
    if (status == TV_OK)
        status = read_index(cached, fd, trace, &why);
    close(fd);
    if (status == TV_OK)
        (*trace)->head->namer = namer;
    else if (namer)
        namer->free(namer);
    return status == TV_OK;
}

/* ---- Writing ---- */

bool tv_cached_is_worth(const struct tv_cached *cached, const struct tv_trace *trace, bool packed,
                        uint64_t ns)
{
    const struct tv_head *head = trace->head;
    uint64_t bytes = 0;
    bool slow = packed || tv_cached_is_assembled(trace);
    for (uint32_t i = 0; i < head->input_count; i++)
        bytes += head->inputs[i].bytes;
    return ((slow && bytes >= WORTH_BYTES) || ns >= WORTH_NS) && is_unchanged(cached);
}

bool tv_cached_is_worth_waiting(const struct tv_cached *cached, uint64_t ns)
{
    return ns >= WORTH_NS && is_unchanged(cached);
}

bool tv_cached_is_assembled(const struct tv_trace *trace)
{
    const struct tv_head *head = trace->head;
    for (uint32_t i = 0; i < head->input_count; i++)
        if (head->inputs[i].assembled)
            return true;
    return false;
}

struct writing {
    int fd;
    uint64_t left; /* more is not wanted */
    const atomic_bool *stop;
};

static enum tv_status write_piece(void *context, struct tv_bytes bytes, struct tv_error *err)
{
    struct writing *w = context;
    while (bytes.length > 0) {
        if (atomic_load_explicit(w->stop, memory_order_relaxed))
            return tv_fail(err, TV_ERR_CANCELLED, TV_NO_OFFSET, "stopped");
        if (bytes.length > w->left)
            return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "there is no room for it");
        ssize_t n = write(w->fd, bytes.data, bytes.length < PIECE ? bytes.length : PIECE);
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

/* What stands beside the trace. */
struct beside {
    const struct tv_cached *cached;
    const struct tv_view *view; /* or NULL */
};

static void add_beside(const void *context, struct tv_sections_writer *writer)
{
    const struct beside *beside = context;
    const struct tv_cached *cached = beside->cached;
    tv_sections_add(writer, PLACES, 0, 1, cached->places_length, cached->places);
    if (beside->view)
        tv_view_store(beside->view, writer);
}

/* Nobody waits for it, and a limit of file sizes shall not end the program. */
static void be_humble(void)
{
    sigset_t limit;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &limit, NULL);
    setpriority(PRIO_PROCESS, 0, NICE_WRITING); /* on Linux of this thread alone */
}

void tv_cached_write(const struct tv_cached *cached, const struct tv_trace *trace,
                     const struct tv_view *view, const atomic_bool *stop)
{
    struct beside beside = {cached, view};
    struct tv_index_more more = {add_beside, &beside};
    struct tv_cache_file file;
    struct tv_error err = {0};
    struct tv_out out;
    be_humble();
    if (atomic_load(stop) || !tv_cache_begin(key_of(cached), &file))
        return;
    struct writing writing = {file.fd, file.room, stop};
    tv_out_init(&out, write_piece, &writing);
    enum tv_status status = tv_index_write(trace, key_of(cached), &more, &out, &err);
    tv_out_release(&out);
    tv_cache_end(&file, status == TV_OK);
}

/* A trace that is written while a command shows it. */
struct side_writing {
    struct tv_cached cached;
    const struct tv_trace *trace;
    atomic_bool stop;
    pthread_t thread;
};

static void *write_beside(void *context)
{
    struct side_writing *writing = context;
    tv_cached_write(&writing->cached, writing->trace, NULL, &writing->stop);
    return NULL;
}

static void await_writing(void *context)
{
    struct side_writing *writing = context;
    pthread_join(writing->thread, NULL);
    tv_free(writing);
}

void tv_cached_write_beside(const struct tv_cached *cached, struct tv_trace *trace)
{
    struct side_writing *writing = tv_alloc(1, sizeof *writing);
    writing->cached = *cached;
    writing->trace = trace;
    atomic_init(&writing->stop, false);
    if (tv_thread_start(&writing->thread, TV_THREAD_STACK, write_beside, writing) != 0) {
        tv_free(writing);
        return;
    }
    trace->await = await_writing;
    trace->await_context = writing;
}
