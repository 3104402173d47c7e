/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modules.c - which file an address belongs to, also after dlclose.
 *
 * The library has its own dlclose: just before the real one it notes everything that is loaded, and
 * afterwards what is gone, with the time.  Another file at the same addresses is then told apart by
 * the time of a record.  An address of unloaded code is named as an address within its file, to be
 * resolved from the file later.
 *
 *     time         0 ........ t1 ............ t2 ............ now
 *     0x7f10...    | liba.so  | libb.so                       |      history: two spans
 *                             dlclose         first scan that sees libb.so
 *
 * Nobody tells when a file is loaded, so it begins at the end of its predecessor.  If that was
 * still thought to be there, both the end and the beginning are the time of the scan.  So every
 * time belongs to one file at most.
 *
 * The first hook of a new file may run before any scan.  glibc 2.35 and later tell the file at an
 * address without a lock, and its name is looked up on the way.
 */
#define _GNU_SOURCE
#include "recorder/native/modules.h"

#include <assert.h>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "recorder/clock.h"
#include "recorder/memory.h"
#include "recorder/method_table.h"
#include "recorder/output_file.h"
#include "recorder/recording.h"
#include "recorder/state.h"
#include "recorder/triggers.h"

/* From glibc 2.35 on, the file at an address is found without a lock, so hooks may ask. */
#ifdef DLFO_STRUCT_HAS_EH_DBASE
#define HAS_FIND_OBJECT
#endif

/* The holder of `lock` waits for nobody: at the end by a signal, a thread with a lock may never
 * run again.  The loader is called under scan_lock, which the end by a signal does not need. */
static struct {
    pthread_mutex_t scan_lock, lock;
    struct tv_module_span *found; /* by the scan under way */
    uint32_t found_count;
    struct tv_module_history history;
    bool addresses;
#ifdef HAS_FIND_OBJECT
    int (*find_object)(void *address, struct dl_find_object *found); /* NULL: an older C library */
#endif
} modules = {.scan_lock = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER};

/* Separators of the file formats become blanks. */
static void modules_clean_path(char *path)
{
    for (; *path; path++)
        if (*path == '\n' || *path == '\t' || *path == '\r')
            *path = ' ';
}

static bool module_spans_overlap(const struct tv_module_span *a, const struct tv_module_span *b)
{
    return a->start < b->end && b->start < a->end;
}

/* Return the latest file at a part of those addresses; NULL: none. */
static struct tv_module_span *modules_find_previous(const struct tv_module_span *span)
{
    struct tv_module_span *before = NULL;
    for (uint32_t i = 0; i < modules.history.count; i++) {
        struct tv_module_span *other = &modules.history.list[i];
        if (module_spans_overlap(other, span) && (!before || other->to > before->to))
            before = other;
    }
    return before;
}

/* Add a file, or note that it is still there.  Its time begins when its predecessor's ended, as
 * nobody tells when it was loaded. */
static void modules_see(struct tv_module_span *span)
{
    struct tv_module_span *before = modules_find_previous(span);
    if (before && before->bias == span->bias && strcmp(before->path, span->path) == 0) {
        before->to = TV_MODULE_TIME_NOW;
        before->seen = true;
        return;
    }
    span->to = TV_MODULE_TIME_NOW;
    span->seen = true;
    span->from = before && before->to == TV_MODULE_TIME_NOW
                     ? tv_clock_read(tv_clock_counter_is_reliable())
                 : before ? before->to
                          : 0;
    if (before && before->to == TV_MODULE_TIME_NOW)
        before->to = span->from;
    (void)tv_module_history_add(&modules.history, span);
}

/* Note each segment with code of a loaded module.  The program itself has no name in this list, so
 * its path comes from /proc. */
static void modules_take_segments(struct tv_module_span *span, const struct dl_phdr_info *info)
{
    span->bias = info->dlpi_addr;
    if (info->dlpi_name && info->dlpi_name[0])
        snprintf(span->path, sizeof span->path, "%s", info->dlpi_name);
    else if (readlink("/proc/self/exe", span->path, sizeof span->path - 1) < 0)
        span->path[0] = '\0';
    modules_clean_path(span->path);
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            span->dynamic = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    for (int i = 0; i < info->dlpi_phnum && modules.found_count < TV_MODULE_SPANS_MAX; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
            continue;
        span->start = info->dlpi_addr + segment->p_vaddr;
        span->end = span->start + segment->p_memsz;
        modules.found[modules.found_count++] = *span;
    }
}

/* Callback of dl_iterate_phdr. */
static int modules_add_loaded(struct dl_phdr_info *info, size_t size, void *unused)
{
    struct tv_module_span span = {0};
    (void)size;
    (void)unused;
    modules_take_segments(&span, info);
    return 0;
}

#ifdef HAS_FIND_OBJECT
static void modules_init_find_object(void)
{
    void *symbol = dlsym(RTLD_DEFAULT, "_dl_find_object");
    memcpy(&modules.find_object, &symbol, sizeof symbol);
}

/* Look up a file that was loaded since the last scan. */
static void modules_look_up_loaded(uint64_t address)
{
    struct dl_find_object found;
    struct tv_module_span span = {0};
    void *at = (void *)(uintptr_t)address; // NOLINT: an address that was recorded
    if (!modules.find_object || modules.find_object(at, &found) != 0)
        return;
    span.start = (uint64_t)(uintptr_t)found.dlfo_map_start;
    span.end = (uint64_t)(uintptr_t)found.dlfo_map_end;
    span.bias = found.dlfo_link_map->l_addr;
    span.dynamic = (uint64_t)(uintptr_t)found.dlfo_link_map->l_ld;
    snprintf(span.path, sizeof span.path, "%s", found.dlfo_link_map->l_name);
    modules_clean_path(span.path);
    modules_see(&span);
}
#else
static void modules_init_find_object(void)
{
}

static void modules_look_up_loaded(uint64_t address)
{
    (void)address;
}
#endif

/* List the loaded files without `lock`; tv_modules_refresh takes them over at once. */
static bool modules_list_loaded(void)
{
    if (!modules.found)
        modules_init_find_object();
    if (!modules.found)
        modules.found = tv_mmap_alloc(TV_MODULE_SPANS_MAX * sizeof *modules.found);
    if (!modules.found)
        return false;
    modules.found_count = 0;
    dl_iterate_phdr(modules_add_loaded, NULL);
    return true;
}

/* Take over the files of the scan. Those that it did not find were unloaded at `now`. */
static void modules_update(uint64_t now)
{
    struct tv_module_history *history = &modules.history;
    for (uint32_t i = 0; i < history->count; i++)
        history->list[i].seen = false;
    for (uint32_t i = 0; i < modules.found_count; i++)
        modules_see(&modules.found[i]);
    for (uint32_t i = 0; i < history->count; i++)
        if (!history->list[i].seen && history->list[i].to == TV_MODULE_TIME_NOW)
            history->list[i].to = now;
}

void tv_modules_refresh(void)
{
    sigset_t before;
    pthread_mutex_lock(&modules.scan_lock);
    uint64_t now = tv_clock_read(tv_clock_counter_is_reliable());
    if (modules_list_loaded()) {
        tv_recorder_block_signals(&before);
        pthread_mutex_lock(&modules.lock);
        modules_update(now);
        pthread_mutex_unlock(&modules.lock);
        tv_recorder_unblock_signals(&before);
    }
    pthread_mutex_unlock(&modules.scan_lock);
}

void tv_modules_write_names(struct tv_output_file *names)
{
    char line[TV_MODULE_PATH + 120];
    pthread_mutex_lock(&modules.lock);
    for (uint32_t i = 0; i < modules.history.count; i++) {
        const struct tv_module_span *span = &modules.history.list[i];
        int length = snprintf(line, sizeof line, "X\t%llx\t%llx\t%llx\t%llx\t%llx\t%s\n",
                              (unsigned long long)span->start, (unsigned long long)span->end,
                              (unsigned long long)span->bias, (unsigned long long)span->from,
                              (unsigned long long)span->to, span->path);
        if (tv_output_file_append(names, line, (size_t)length) != 0)
            break;
    }
    pthread_mutex_unlock(&modules.lock);
}

uint64_t tv_modules_key(uint64_t address, uint64_t ticks)
{
    pthread_mutex_lock(&modules.lock);
    uint64_t key = tv_module_history_key(&modules.history, address, ticks);
    if (key == address && ticks != TV_MODULE_TIME_NONE) {
        modules_look_up_loaded(address);
        key = tv_module_history_key(&modules.history, address, ticks);
    }
    pthread_mutex_unlock(&modules.lock);
    return key;
}

void tv_modules_name(uint64_t key, struct tv_recording_method *method, char *room, size_t size)
{
    pthread_mutex_lock(&modules.lock);
    const struct tv_module_span *span = tv_module_history_span(&modules.history, key);
    tv_module_history_name(&modules.history, key, method, room, size);
    /* Other code may be at the addresses of an unloaded file. */
    if (span && span->to == TV_MODULE_TIME_NOW && !modules.addresses)
        (void)tv_symbols_exported_name(span->dynamic, span->bias, tv_module_key_address(key), room,
                                       size);
    pthread_mutex_unlock(&modules.lock);
}

/* Offer a function of the file to the filters of methods, at the address where it is loaded. */
static void modules_offer_function(void *bias, uint64_t address, const char *name)
{
    tv_method_filter_offer(address + *(const uint64_t *)bias, name);
}

/* Return the path of the file at the address, unless it was offered in this round. */
static bool modules_claim_unoffered(uint64_t address, char *path, uint64_t *bias)
{
    uint64_t key = tv_modules_key(address, TV_MODULE_TIME_NOW);
    pthread_mutex_lock(&modules.lock);
    uint64_t number = tv_module_history_span(&modules.history, key) ? key >> 48 : 0;
    struct tv_module_span *span = number > 0 ? &modules.history.list[number - 1] : NULL;
    bool is_new = span && span->offered != tv_method_filter_round();
    if (is_new) {
        span->offered = tv_method_filter_round();
        *bias = span->bias;
        memcpy(path, span->path, TV_MODULE_PATH);
    }
    pthread_mutex_unlock(&modules.lock);
    return is_new;
}

void tv_modules_find_functions(uint64_t address)
{
    char path[TV_MODULE_PATH];
    uint64_t bias;
    if (modules_claim_unoffered(address, path, &bias))
        tv_symbols_read_functions(path, modules_offer_function, &bias);
}

void tv_modules_before_fork(void)
{
    pthread_mutex_lock(&modules.scan_lock);
    pthread_mutex_lock(&modules.lock);
}

void tv_modules_after_fork(void)
{
    pthread_mutex_unlock(&modules.lock);
    pthread_mutex_unlock(&modules.scan_lock);
}

void tv_modules_set_address_names(void)
{
    modules.addresses = true;
}

bool tv_modules_has_address_names(void)
{
    return modules.addresses;
}
