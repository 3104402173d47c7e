/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.c - see place.h.
 */
#include "unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "place.h"

static void collect(void *context, const char *line)
{
    struct place *place = context;
    size_t length = strlen(place->said);
    snprintf(place->said + length, sizeof place->said - length, "%s\n", line);
}

void place_open(struct place *place)
{
    struct tv_error err = {0};
    if (place->folder[0] == '\0') {
        /* in memory if possible, because each fsync of a disk takes long */
        snprintf(place->folder, sizeof place->folder, "%s/traceview-store-XXXXXX",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        assert_non_null(mkdtemp(place->folder));
    }
    place->said[0] = '\0';
    place->options.report = collect;
    place->options.context = place;
    if (tv_store_open(place->folder, &place->options, &place->store, &err) != TV_OK)
        fail_msg("%s", err.message);
}

void place_reopen(struct place *place)
{
    tv_store_close(place->store);
    place->store = NULL;
    place_open(place);
}

void place_remove(struct place *place)
{
    tv_store_close(place->store);
    place->store = NULL;
    char *roots[] = {place->folder, NULL};
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    const FTSENT *entry;
    assert_non_null(walk);
    while ((entry = fts_read(walk)) != NULL)
        if (entry->fts_info != FTS_D)
            remove(entry->fts_accpath);
    fts_close(walk);
}

static void name_file(const struct place *place, const char *name, char path[256])
{
    snprintf(path, 256, "%s/%s", place->folder, name);
}

bool place_has(const struct place *place, const char *name)
{
    char path[256];
    name_file(place, name, path);
    return access(path, F_OK) == 0;
}

uint64_t place_size(const struct place *place, const char *name)
{
    char path[256];
    struct stat info;
    name_file(place, name, path);
    return stat(path, &info) == 0 ? (uint64_t)info.st_size : UINT64_MAX;
}

size_t place_count(const struct place *place, const char *folder)
{
    char path[256];
    size_t count = 0;
    name_file(place, folder, path);
    DIR *names = opendir(path);
    assert_non_null(names);
    while (readdir(names))
        count++;
    closedir(names);
    return count - 2;
}

uint64_t place_bytes(const struct place *place, const char *folder)
{
    char path[256];
    struct stat info;
    const struct dirent *entry;
    uint64_t bytes = 0;
    name_file(place, folder, path);
    DIR *names = opendir(path);
    assert_non_null(names);
    while ((entry = readdir(names)) != NULL)
        if (fstatat(dirfd(names), entry->d_name, &info, 0) == 0 && S_ISREG(info.st_mode))
            bytes += (uint64_t)info.st_size;
    closedir(names);
    return bytes;
}

void place_write(const struct place *place, const char *name, const char *text)
{
    char path[256];
    name_file(place, name, path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

void place_wait_for_later(void)
{
    for (int64_t before = tv_store_now(); tv_store_now() <= before;)
        usleep(100);
}

void place_age_cache(const struct place *place, const char *id, int64_t seconds)
{
    char name[64], path[256];
    struct timespec used = {.tv_sec = tv_store_now() / 1000 - seconds}, times[2] = {used, used};
    snprintf(name, sizeof name, "cache/%s.index", id);
    name_file(place, name, path);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

void place_sql(const struct place *place, const char *sql)
{
    char path[256];
    sqlite3 *handle;
    name_file(place, "catalogue.sqlite3", path);
    assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
    assert_int_equal(sqlite3_exec(handle, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(handle);
}

void seed_bytes(uint32_t seed, uint64_t at, uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        uint64_t mixed =
            ((at + i) / 8 + 1) * UINT64_C(0x9e3779b97f4a7c15) + seed * UINT64_C(0x100000001b3);
        mixed ^= mixed >> 29;
        mixed *= UINT64_C(0xbf58476d1ce4e5b9);
        mixed ^= mixed >> 32;
        bytes[i] = (uint8_t)(mixed >> 8 * ((at + i) % 8));
    }
}

bool holds_seed(int fd, uint32_t seed, uint64_t bytes)
{
    uint8_t got[4096], wanted[4096];
    uint64_t at = 0;
    ssize_t n;
    while ((n = pread(fd, got, sizeof got, (off_t)at)) > 0) {
        seed_bytes(seed, at, wanted, (size_t)n);
        if (memcmp(got, wanted, (size_t)n) != 0)
            return false;
        at += (uint64_t)n;
    }
    return at == bytes;
}

struct tv_store_id begin_upload(struct tv_store *store, const char *name, uint64_t bytes)
{
    struct tv_store_new_upload upload = {.name = tv_bytes_of(name), .bytes = bytes};
    struct tv_store_id uid;
    struct tv_error err = {0};
    if (tv_store_upload_begin(store, &upload, &uid, &err) != TV_STORE_OK)
        fail_msg("%s", err.message);
    return uid;
}

enum tv_store_status put_piece(struct tv_store *store, const char *uid, uint32_t seed,
                               uint64_t offset, size_t bytes, uint64_t *held)
{
    uint8_t part[16384];
    struct tv_store_chunk *piece;
    enum tv_store_status status = tv_store_chunk_begin(store, uid, offset, &piece, held, NULL);
    if (status != TV_STORE_OK)
        return status;
    for (size_t at = 0; at < bytes && status == TV_STORE_OK;) {
        size_t length = bytes - at < sizeof part ? bytes - at : sizeof part;
        seed_bytes(seed, offset + at, part, length);
        status = tv_store_chunk_write(piece, (struct tv_bytes){part, length}, NULL);
        at += length;
    }
    return tv_store_chunk_end(piece, held, NULL);
}

struct tv_store_id put_trace(struct tv_store *store, const char *name, uint32_t seed, size_t bytes)
{
    uint64_t held;
    struct tv_store_id trace, uid = begin_upload(store, name, bytes);
    assert_int_equal(put_piece(store, uid.text, seed, 0, bytes, &held), TV_STORE_OK);
    assert_int_equal(held, bytes);
    assert_int_equal(tv_store_upload_finish(store, uid.text, &trace, NULL), TV_STORE_OK);
    return trace;
}
