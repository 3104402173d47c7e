/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modules.c - which file an address belongs to.
 *
 * Code is unloaded by dlclose, which is ours for that reason: just before, everything loaded is
 * written down.  Names of unloaded code are addresses within its file, which are resolved later.
 */
#define _GNU_SOURCE
#include "recorder/native/modules.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "recorder/pages.h"
#include "recorder/recording.h"

#define MODULES 4096u
#define PATH_SIZE 512u

struct module {
    uint64_t start, end; /* where its code lies */
    uint64_t bias;       /* that minus the address in the file */
    char path[PATH_SIZE];
};

static struct {
    pthread_mutex_t lock;
    struct module *list; /* later ones first looked at: an address can be used again */
    uint32_t count;
    bool addresses;
} modules = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_known(const struct module *module)
{
    for (uint32_t i = 0; i < modules.count; i++)
        if (modules.list[i].start == module->start && modules.list[i].end == module->end &&
            strcmp(modules.list[i].path, module->path) == 0)
            return true;
    return false;
}

static void take(struct module *module, const struct dl_phdr_info *info)
{
    module->bias = info->dlpi_addr;
    if (info->dlpi_name && info->dlpi_name[0])
        snprintf(module->path, PATH_SIZE, "%s", info->dlpi_name);
    else if (readlink("/proc/self/exe", module->path, PATH_SIZE - 1) < 0)
        module->path[0] = '\0';
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
            continue;
        module->start = info->dlpi_addr + segment->p_vaddr;
        module->end = module->start + segment->p_memsz;
        if (modules.count < MODULES && !is_known(module)) {
            modules.list[modules.count] = *module;
            modules.count++;
        }
    }
}

static int add(struct dl_phdr_info *info, size_t size, void *unused)
{
    struct module module = {0};
    (void)size;
    (void)unused;
    take(&module, info);
    return 0;
}

void tv_modules_look(void)
{
    pthread_mutex_lock(&modules.lock);
    if (!modules.list)
        modules.list = tv_recorder_pages_new(MODULES * sizeof *modules.list);
    if (modules.list)
        dl_iterate_phdr(add, NULL);
    pthread_mutex_unlock(&modules.lock);
}

void tv_modules_write(int file)
{
    char line[PATH_SIZE + 80];
    pthread_mutex_lock(&modules.lock);
    for (uint32_t i = 0; i < modules.count; i++) {
        const struct module *module = &modules.list[i];
        int length = snprintf(line, sizeof line, "X\t%llx\t%llx\t%llx\t%s\n",
                              (unsigned long long)module->start, (unsigned long long)module->end,
                              (unsigned long long)module->bias, module->path);
        /* A spool that cannot be written costs names after a crash, nothing else. */
        if (write(file, line, (size_t)length) < 0)
            break;
    }
    pthread_mutex_unlock(&modules.lock);
}

static const struct module *find(uint64_t address)
{
    for (uint32_t i = modules.count; i-- > 0;)
        if (address >= modules.list[i].start && address < modules.list[i].end)
            return &modules.list[i];
    return NULL;
}

void tv_modules_name(uint64_t address, struct tv_recording_method *method, char *room, size_t size)
{
    Dl_info symbol;
    pthread_mutex_lock(&modules.lock);
    const struct module *module = find(address);
    pthread_mutex_unlock(&modules.lock);
    if (!module)
        return;
    const char *slash = strrchr(module->path, '/');
    method->class_name = slash ? slash + 1 : module->path;
    method->file = module->path;
    snprintf(room, size, "0x%llx", (unsigned long long)(address - module->bias));
    method->name = room;
    /* Of unloaded code dladdr must not be asked: something else may lie there. */
    const void *at = (const void *)(uintptr_t)address; // NOLINT: an address that was recorded
    if (!modules.addresses && dladdr(at, &symbol) != 0 && symbol.dli_sname &&
        symbol.dli_saddr == at)
        method->name = symbol.dli_sname;
}

void tv_modules_want_addresses(void)
{
    modules.addresses = true;
}

bool tv_modules_wants_addresses(void)
{
    return modules.addresses;
}
