/* SPDX-License-Identifier: Apache-2.0 */
/* names.c - names for the places of a recording (collect.h).
 *
 * Places are sorted by file and resolved file by file, so only one file is open at a time, however
 * many a recording has. Then all samples are copied with the new elements, because two places in
 * one source line become one element.
 *
 *     collected element                      sorted by      element of the result
 *     {method = 0x11a3, line = file 3}  -->  file, place -> {class "libc.so.6", name "memcpy",
 *                                                            file "string/memcpy.S", line 120}
 *
 * Nothing fails here. A place without a symbol is named by its address in an ELF file, by its
 * module in other code, and "[unknown]" if it belongs to no file. */
#include "perf/collect.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "perf/symbol_list.h"
#include "symbols/demangle.h"
#include "symbols/elf.h"

/* Longer names are cut. C++ templates reach some kilobytes. */
#define NAME_ROOM 4096u

/* A place, and the index of its element. */
struct perf_element_address {
    uint32_t file, element; /* element: an index, so the number of the element minus 1 */
    uint64_t place;
};

/* The symbols of one file. */
struct perf_name_source {
    const struct tv_perf_file *file;
    struct tv_elf *elf;         /* NULL: none */
    struct tv_symbol_list list; /* empty for ELF files */
};

struct perf_name_resolution {
    const struct tv_perf_collector *from;
    struct tv_samples *to;
    struct tv_demangler demangler;
    uint32_t *elements; /* [elements of `from`]: number of the element in `to` */
};

/* ---- Sources ---- */

/* Is this the version that was mapped? Old kernels and /proc/PID/maps give no build id; then the
 * path must do. */
static bool perf_has_build_id(const struct tv_elf *elf, const struct tv_perf_file *file)
{
    struct tv_bytes id = tv_elf_build_id(elf);
    return file->build_id_size == 0 ||
           (id.length == file->build_id_size && memcmp(id.data, file->build_id, id.length) == 0);
}

/* Open the ELF file as the processes see it; NULL when it is not the one that was mapped. */
static struct tv_elf *perf_open_elf(const char *root, const struct tv_perf_file *file)
{
    struct tv_error unread = {0};
    struct tv_elf *elf;
    char path[8192];
    snprintf(path, sizeof path, "%s%s", root, file->path);
    if (tv_elf_read(path, TV_ELF_UNMOVED, &elf, &unread) != TV_OK)
        return NULL;
    if (perf_has_build_id(elf, file))
        return elf;
    tv_elf_free(elf);
    return NULL;
}

/* Open what names the addresses of a file: symbols of the program, a list that a JIT compiler
 * wrote, or the kernel's. */
static void perf_name_source_open(struct perf_name_source *source,
                                  const struct perf_name_resolution *r, uint32_t number)
{
    assert(number < r->from->spaces.file_count);
    const struct tv_perf_file *file = &r->from->spaces.files[number];
    char path[8192];
    *source = (struct perf_name_source){.file = file};
    switch (file->kind) {
    case TV_PERF_ELF:
        source->elf = perf_open_elf(r->from->spaces.root, file);
        break;
    /* Prefer the jitdump file: it also records code that the program has moved. */
    case TV_PERF_JIT:
        snprintf(path, sizeof path, "%s%s", r->from->spaces.root, file->dump ? file->dump : "");
        if (file->dump && tv_symbol_list_read_dump(&source->list, path, r->from->owner))
            break;
        snprintf(path, sizeof path, "%s/tmp/perf-%u.map", r->from->spaces.root, file->pid);
        (void)tv_symbol_list_read_map(&source->list, path, r->from->owner);
        break;
    case TV_PERF_KERNEL:
        (void)tv_symbol_list_read_kernel(&source->list);
        break;
    case TV_PERF_VDSO:
        break;
    }
}

static void perf_name_source_close(struct perf_name_source *source)
{
    tv_elf_free(source->elf);
    tv_symbol_list_release(&source->list);
}

/* ---- Elements ---- */

/* Copy a text, cut to NAME_ROOM, and end it with NUL. */
static void perf_copy_text(char *to, struct tv_bytes text)
{
    size_t length = text.length < NAME_ROOM - 1 ? text.length : NAME_ROOM - 1;
    if (length > 0)
        memcpy(to, text.data, length);
    to[length] = '\0';
}

static uint64_t perf_hash_text(uint64_t hash, const char *text)
{
    do
        hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001B3); /* FNV-1a, with the NUL */
    while (*text++);
    return hash;
}

static bool perf_element_has_texts(const struct tv_sample_element *one,
                                   const struct tv_sample_element *other)
{
    return strcmp(one->class_name, other->class_name) == 0 && strcmp(one->name, other->name) == 0 &&
           strcmp(one->file ? one->file : "", other->file ? other->file : "") == 0;
}

/* Return the number of the element with these texts and line. On a hash collision the next hash
 * value is used. */
static uint32_t perf_element_find_or_add(struct tv_samples *samples,
                                         struct tv_sample_element *element)
{
    element->method = perf_hash_text(perf_hash_text(1, element->class_name), element->name);
    element->method = perf_hash_text(element->method, element->file ? element->file : "");
    for (;; element->method++) {
        uint32_t number = tv_samples_find_element(samples, element->method, element->line);
        if (number == 0)
            return tv_samples_add_element(samples, element);
        const struct tv_sample_element *elements = samples->elements.at;
        if (perf_element_has_texts(&elements[number - 1], element))
            return number;
    }
}

/* Write the name of a module: the file name without directories. */
static void perf_module_name(const struct tv_perf_file *file, char *text)
{
    static const char *const kinds[] = {
        [TV_PERF_ELF] = "",
        [TV_PERF_JIT] = "[made at run time]",
        [TV_PERF_VDSO] = "[vdso]",
        [TV_PERF_KERNEL] = "[kernel]",
    };
    const char *slash = file->kind == TV_PERF_ELF ? strrchr(file->path, '/') : NULL;
    snprintf(text, NAME_ROOM, "%s", slash ? slash + 1 : kinds[file->kind]);
}

/* Look up an offset in an ELF file; false when the file has no symbol there. */
static bool perf_name_elf_address(struct perf_name_resolution *r,
                                  const struct perf_name_source *source, uint64_t offset,
                                  char *name, char *path, int32_t *line)
{
    struct tv_elf_place found;
    struct tv_demangled written;
    uint64_t own;
    if (!tv_elf_address_of_offset(source->elf, offset, &own) ||
        !tv_elf_find_in_file(source->elf, own, &found) || found.function.length == 0)
        return false;
    if (!tv_demangler_read(&r->demangler, found.function, &written))
        written.name = found.function;
    perf_copy_text(name, written.name);
    perf_copy_text(path, found.file);
    *line = found.line > 0 ? found.line : TV_SAMPLES_NO_LINE;
    return true;
}

/* Name an element: by DWARF and symbols of an ELF file, else by a symbol list, else by its address
 * or the name of its module. */
static uint32_t perf_resolve_address(struct perf_name_resolution *r,
                                     const struct perf_name_source *source, uint64_t place)
{
    static char module[NAME_ROOM], name[NAME_ROOM], path[NAME_ROOM];
    struct tv_sample_element element = {0, TV_SAMPLES_NO_LINE, module, name, NULL};
    struct tv_bytes symbol = tv_symbol_list_find(&source->list, place);
    path[0] = '\0';
    perf_module_name(source->file, module);
    if (source->elf && perf_name_elf_address(r, source, place, name, path, &element.line))
        element.file = path[0] ? path : NULL;
    else if (symbol.length > 0)
        perf_copy_text(name, symbol);
    else if (source->file->kind == TV_PERF_ELF)
        snprintf(name, sizeof name, "0x%" PRIx64, place);
    else
        snprintf(name, sizeof name, "%s", module);
    return perf_element_find_or_add(r->to, &element);
}

static int perf_compare_addresses(const void *left, const void *right)
{
    const struct perf_element_address *a = left, *b = right;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

/* Return the places of all elements, sorted so that each file is opened once. */
static struct perf_element_address *perf_list_addresses(const struct tv_samples *samples)
{
    const struct tv_sample_element *elements = samples->elements.at;
    struct perf_element_address *places = tv_alloc(samples->elements.count, sizeof *places);
    for (uint32_t i = 0; i < samples->elements.count; i++)
        places[i] =
            (struct perf_element_address){(uint32_t)elements[i].line, i, elements[i].method};
    if (samples->elements.count > 0)
        qsort(places, samples->elements.count, sizeof *places, perf_compare_addresses);
    return places;
}

static void perf_resolve_unknown(struct perf_name_resolution *r, uint32_t element)
{
    static char unknown[] = "[unknown]";
    struct tv_sample_element none = {0, TV_SAMPLES_NO_LINE, unknown, unknown, NULL};
    r->elements[element] = perf_element_find_or_add(r->to, &none);
}

/* Name all elements, file by file, so that each file is opened once. */
static void perf_resolve_elements(struct perf_name_resolution *r)
{
    uint32_t count = r->from->samples.elements.count;
    struct perf_element_address *places = perf_list_addresses(&r->from->samples);
    for (uint32_t i = 0; i < count;) {
        uint32_t file = places[i].file;
        struct perf_name_source source;
        if (file >= r->from->spaces.file_count) {
            perf_resolve_unknown(r, places[i++].element);
            continue;
        }
        perf_name_source_open(&source, r, file);
        for (; i < count && places[i].file == file; i++)
            r->elements[places[i].element] = perf_resolve_address(r, &source, places[i].place);
        perf_name_source_close(&source);
    }
    tv_free(places);
}

/* ---- Samples ---- */

/* Write the stack with the new elements. Element numbers begin with 1; 0 means none. */
static uint32_t perf_translate_stack(const struct perf_name_resolution *r, uint32_t trace,
                                     uint32_t *stack)
{
    assert(trace < r->from->samples.traces.count);
    const struct tv_sample_trace *traces = r->from->samples.traces.at;
    const uint32_t *stacks = r->from->samples.stacks.at;
    for (uint32_t i = 0; i < traces[trace].depth; i++)
        stack[i] = r->elements[stacks[traces[trace].start + i] - 1];
    return traces[trace].depth;
}

static uint32_t perf_deepest_stack(const struct tv_samples *samples)
{
    const struct tv_sample_trace *traces = samples->traces.at;
    uint32_t deepest = 0;
    for (uint32_t i = 0; i < samples->traces.count; i++)
        deepest = traces[i].depth > deepest ? traces[i].depth : deepest;
    return deepest;
}

/* Copy the threads in order, so each one keeps its id. */
static void perf_copy_threads(const struct perf_name_resolution *r)
{
    const struct tv_sample_thread *threads = r->from->samples.threads.at;
    for (uint32_t i = 0; i < r->from->samples.threads.count; i++) {
        uint32_t id = tv_samples_add_thread(r->to, threads[i].name, threads[i].group);
        if (id == 0)
            tv_memory_exhausted();
        tv_samples_number_thread(r->to, id, threads[i].pid, threads[i].tid);
        if (threads[i].ended)
            (void)tv_samples_end_thread(r->to, id);
    }
}

/* Copy all samples with their new elements; a sample that cannot be added counts as lost. */
static void perf_copy_moments(const struct perf_name_resolution *r, uint32_t *stack)
{
    const struct tv_samples *from = &r->from->samples;
    const struct tv_sample_moment *moments = from->moments.at;
    const struct tv_sample_trace *traces = from->traces.at;
    for (uint32_t i = 0; i < from->moments.count; i++) {
        uint32_t depth = perf_translate_stack(r, moments[i].trace, stack);
        uint32_t id = traces[moments[i].trace].thread + TV_SAMPLES_FIRST_THREAD;
        if (!tv_samples_add_at(r->to, id, stack, depth, &moments[i]))
            r->to->lost++;
    }
}

static void perf_copy_waits(const struct perf_name_resolution *r, uint32_t *stack)
{
    const struct tv_sample_wait *waits = r->from->samples.waits.at;
    for (uint32_t i = 0; i < r->from->samples.waits.count; i++) {
        uint32_t depth = 0;
        if (waits[i].trace != TV_SAMPLES_NO_TRACE)
            depth = perf_translate_stack(r, waits[i].trace, stack);
        (void)tv_samples_add_wait(r->to, waits[i].thread + TV_SAMPLES_FIRST_THREAD, stack, depth,
                                  &waits[i]);
    }
}

void tv_perf_names_resolve(const struct tv_perf_collector *collector, struct tv_samples *samples)
{
    assert(samples != &collector->samples);
    const struct tv_samples *from = &collector->samples;
    struct perf_name_resolution resolving = {.from = collector, .to = samples};
    *samples = (struct tv_samples){
        .period_ns = from->period_ns,
        .lost = from->lost,
        .untimed = from->untimed,
        .clock = from->clock,
        .classes_are_modules = from->classes_are_modules,
    };
    tv_labels_read(samples->labels);
    resolving.elements = tv_alloc(from->elements.count, sizeof *resolving.elements);
    perf_resolve_elements(&resolving);
    uint32_t *stack = tv_alloc(perf_deepest_stack(from), sizeof *stack);
    perf_copy_threads(&resolving);
    perf_copy_moments(&resolving, stack);
    perf_copy_waits(&resolving, stack);
    tv_free(stack);
    tv_free(resolving.elements);
    tv_demangler_release(&resolving.demangler);
}
