/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modules.c - which file an address belongs to.
 *
 * Code is unloaded by dlclose, which is ours for that reason: just before, everything loaded is
 * written down, and afterwards what is gone, so that another file which takes its place is told
 * apart by the time.  Names of unloaded code are addresses within its file, resolved later.
 */
#define _GNU_SOURCE
#include "recorder/native/modules.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "recorder/chosen.h"
#include "recorder/clock.h"
#include "recorder/homes.h"
#include "recorder/kept.h"
#include "recorder/left_behind.h"
#include "recorder/native/exported.h"
#include "recorder/native/functions.h"
#include "recorder/pages.h"
#include "recorder/recording.h"

/* glibc 2.35 finds what lies at an address without a lock, so that hooks may ask. */
#ifdef DLFO_STRUCT_HAS_EH_DBASE
#define HAS_FIND_OBJECT
#endif

/* Who holds `lock` waits for nobody: at the end by a signal the thread that has it may never go on.
 * The loader is asked under the other one, which such an end does without. */
static struct {
    pthread_mutex_t look, lock;
    struct tv_module_span *found; /* by the look under way */
    uint32_t found_count;
    struct tv_module_history homes;
    bool addresses;
#ifdef HAS_FIND_OBJECT
    int (*find_object)(void *address, struct dl_find_object *found); /* NULL: an older libc */
#endif
} modules = {.look = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER};

/* A separator of the formats is no part of a path. */
static void clean(char *path)
{
    for (; *path; path++)
        if (*path == '\n' || *path == '\t' || *path == '\r')
            *path = ' ';
}

static bool overlap(const struct tv_module_span *a, const struct tv_module_span *b)
{
    return a->start < b->end && b->start < a->end;
}

/* The newest that lay on a part of that place; NULL: none. */
static struct tv_module_span *find_before(const struct tv_module_span *home)
{
    struct tv_module_span *before = NULL;
    for (uint32_t i = 0; i < modules.homes.count; i++) {
        struct tv_module_span *other = &modules.homes.list[i];
        if (overlap(other, home) && (!before || other->to > before->to))
            before = other;
    }
    return before;
}

/* Begins where the last one ended: when it was loaded nobody has said.  The same file again is the
 * same home. */
static void see(struct tv_module_span *home)
{
    struct tv_module_span *before = find_before(home);
    if (before && before->bias == home->bias && strcmp(before->path, home->path) == 0) {
        before->to = TV_MODULE_TIME_NOW;
        before->seen = true;
        return;
    }
    home->to = TV_MODULE_TIME_NOW;
    home->seen = true;
    home->from = before && before->to == TV_MODULE_TIME_NOW ? tv_clock_read(tv_clock_counter_is_reliable())
                 : before                             ? before->to
                                                      : 0;
    if (before && before->to == TV_MODULE_TIME_NOW)
        before->to = home->from;
    (void)tv_module_history_add(&modules.homes, home);
}

static void take(struct tv_module_span *home, const struct dl_phdr_info *info)
{
    home->bias = info->dlpi_addr;
    if (info->dlpi_name && info->dlpi_name[0])
        snprintf(home->path, sizeof home->path, "%s", info->dlpi_name);
    else if (readlink("/proc/self/exe", home->path, sizeof home->path - 1) < 0)
        home->path[0] = '\0';
    clean(home->path);
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            home->dynamic = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    for (int i = 0; i < info->dlpi_phnum && modules.found_count < TV_MODULE_SPANS_MAX; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
            continue;
        home->start = info->dlpi_addr + segment->p_vaddr;
        home->end = home->start + segment->p_memsz;
        modules.found[modules.found_count++] = *home;
    }
}

static int add(struct dl_phdr_info *info, size_t size, void *unused)
{
    struct tv_module_span home = {0};
    (void)size;
    (void)unused;
    take(&home, info);
    return 0;
}

#ifdef HAS_FIND_OBJECT
static void prepare(void)
{
    void *symbol = dlsym(RTLD_DEFAULT, "_dl_find_object");
    memcpy(&modules.find_object, &symbol, sizeof symbol);
}

/* What has been loaded since the last look. */
static void look_for(uint64_t address)
{
    struct dl_find_object found;
    struct tv_module_span home = {0};
    void *at = (void *)(uintptr_t)address; // NOLINT: an address that was recorded
    if (!modules.find_object || modules.find_object(at, &found) != 0)
        return;
    home.start = (uint64_t)(uintptr_t)found.dlfo_map_start;
    home.end = (uint64_t)(uintptr_t)found.dlfo_map_end;
    home.bias = found.dlfo_link_map->l_addr;
    home.dynamic = (uint64_t)(uintptr_t)found.dlfo_link_map->l_ld;
    snprintf(home.path, sizeof home.path, "%s", found.dlfo_link_map->l_name);
    clean(home.path);
    see(&home);
}
#else
static void prepare(void)
{
}

static void look_for(uint64_t address)
{
    (void)address;
}
#endif

/* What is loaded is found, and then seen at once. */
static bool find_loaded(void)
{
    if (!modules.found)
        prepare();
    if (!modules.found)
        modules.found = tv_mmap_alloc(TV_MODULE_SPANS_MAX * sizeof *modules.found);
    if (!modules.found)
        return false;
    modules.found_count = 0;
    dl_iterate_phdr(add, NULL);
    return true;
}

static void look(uint64_t now)
{
    struct tv_module_history *homes = &modules.homes;
    for (uint32_t i = 0; i < homes->count; i++)
        homes->list[i].seen = false;
    for (uint32_t i = 0; i < modules.found_count; i++)
        see(&modules.found[i]);
    for (uint32_t i = 0; i < homes->count; i++)
        if (!homes->list[i].seen && homes->list[i].to == TV_MODULE_TIME_NOW)
            homes->list[i].to = now;
}

void tv_modules_refresh(void)
{
    sigset_t before;
    pthread_mutex_lock(&modules.look);
    uint64_t now = tv_clock_read(tv_clock_counter_is_reliable());
    if (find_loaded()) {
        tv_recorder_block_signals(&before);
        pthread_mutex_lock(&modules.lock);
        look(now);
        pthread_mutex_unlock(&modules.lock);
        tv_recorder_unblock_signals(&before);
    }
    pthread_mutex_unlock(&modules.look);
}

void tv_modules_write_names(struct tv_output_file *names)
{
    char line[TV_MODULE_PATH + 120];
    pthread_mutex_lock(&modules.lock);
    for (uint32_t i = 0; i < modules.homes.count; i++) {
        const struct tv_module_span *home = &modules.homes.list[i];
        int length = snprintf(line, sizeof line, "X\t%llx\t%llx\t%llx\t%llx\t%llx\t%s\n",
                              (unsigned long long)home->start, (unsigned long long)home->end,
                              (unsigned long long)home->bias, (unsigned long long)home->from,
                              (unsigned long long)home->to, home->path);
        if (tv_output_file_append(names, line, (size_t)length) != 0)
            break;
    }
    pthread_mutex_unlock(&modules.lock);
}

uint64_t tv_modules_key(uint64_t address, uint64_t ticks)
{
    pthread_mutex_lock(&modules.lock);
    uint64_t key = tv_module_history_key(&modules.homes, address, ticks);
    if (key == address && ticks != TV_MODULE_TIME_NONE) {
        look_for(address);
        key = tv_module_history_key(&modules.homes, address, ticks);
    }
    pthread_mutex_unlock(&modules.lock);
    return key;
}

void tv_modules_name(uint64_t key, struct tv_recording_method *method, char *room, size_t size)
{
    pthread_mutex_lock(&modules.lock);
    const struct tv_module_span *home = tv_module_history_span(&modules.homes, key);
    tv_module_history_name(&modules.homes, key, method, room, size);
    /* Of unloaded code something else may lie there. */
    if (home && home->to == TV_MODULE_TIME_NOW && !modules.addresses)
        (void)tv_symbols_exported_name(home->dynamic, home->bias, tv_module_key_address(key), room, size);
    pthread_mutex_unlock(&modules.lock);
}

static void offer(void *bias, uint64_t address, const char *name)
{
    tv_method_filter_offer(address + *(const uint64_t *)bias, name);
}

/* The path of the file that lies at the address, unless it was offered in this round. */
static bool take_unoffered(uint64_t address, char *path, uint64_t *bias)
{
    uint64_t key = tv_modules_key(address, TV_MODULE_TIME_NOW);
    pthread_mutex_lock(&modules.lock);
    uint64_t number = tv_module_history_span(&modules.homes, key) ? key >> 48 : 0;
    struct tv_module_span *home = number > 0 ? &modules.homes.list[number - 1] : NULL;
    bool is_new = home && home->offered != tv_method_filter_round();
    if (is_new) {
        home->offered = tv_method_filter_round();
        *bias = home->bias;
        memcpy(path, home->path, TV_MODULE_PATH);
    }
    pthread_mutex_unlock(&modules.lock);
    return is_new;
}

void tv_modules_find_functions(uint64_t address)
{
    char path[TV_MODULE_PATH];
    uint64_t bias;
    if (take_unoffered(address, path, &bias))
        tv_symbols_read_functions(path, offer, &bias);
}

void tv_modules_before_fork(void)
{
    pthread_mutex_lock(&modules.look);
    pthread_mutex_lock(&modules.lock);
}

void tv_modules_after_fork(void)
{
    pthread_mutex_unlock(&modules.lock);
    pthread_mutex_unlock(&modules.look);
}

void tv_modules_set_address_names(void)
{
    modules.addresses = true;
}

bool tv_modules_has_address_names(void)
{
    return modules.addresses;
}
