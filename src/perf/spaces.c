/* SPDX-License-Identifier: Apache-2.0 */
/* spaces.c - address spaces of processes: sorted, non-overlapping mappings per process (collect.h).
 *
 *     before            [ a.out r-x        )        [ libc r-x     )
 *     map over it             [ new r-x )
 *     after             [a.out)[ new r-x )[a.out)   [ libc r-x     )
 *
 * A mapping keeps `bias`, so a lookup is one addition: place = address + bias, modulo 2^64. For ELF
 * files, bias = offset of the mapping - its start; for generated code and the kernel it is 0, and
 * the place is the address itself. Cutting a mapping therefore changes only its bounds.
 *
 * A file is one entry of `files` for all processes that map it with the same build id. */
#include "perf/collect.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "perf/symbol_list.h"

/* Limits against damaged or hostile input: mappings per process, files in total. */
#define MAX_MAPS 65536u
#define MAX_FILES 1000000u

struct perf_map {
    uint64_t start, end;
    uint64_t bias; /* address + bias is the place in the file; may wrap around */
    uint32_t file; /* index in files */
};

struct tv_perf_space {
    uint32_t pid;
    struct perf_map *maps; /* sorted by start, without overlaps */
    size_t count, capacity;
    struct tv_unwind *unwind; /* unwind tables; NULL: not loaded */
};

/* ---- Files ---- */

static bool perf_path_starts(const char *text, const char *head)
{
    return strncmp(text, head, strlen(head)) == 0;
}

/* Classify a mapping by its path. Anonymous memory, memfds and jitdump files hold generated code.
 */
static enum tv_perf_file_kind perf_file_kind_of(const char *path)
{
    /* The kernel reports "//anon" for anonymous memory. */
    static const char *const made[] = {"//", "/memfd:", "/dev/", "/SYSV", "/anon_hugepage"};
    if (strcmp(path, "[vdso]") == 0)
        return TV_PERF_VDSO;
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++)
        if (perf_path_starts(path, made[i]))
            return TV_PERF_JIT;
    return path[0] == '/' && !tv_jit_dump_is_name(path) ? TV_PERF_ELF : TV_PERF_JIT;
}

static bool perf_file_equals(const struct tv_perf_file *file, const struct tv_perf_file *wanted)
{
    return file->kind == wanted->kind && file->pid == wanted->pid &&
           file->build_id_size == wanted->build_id_size &&
           memcmp(file->build_id, wanted->build_id, sizeof file->build_id) == 0 &&
           strcmp(file->path, wanted->path) == 0;
}

/* Return the number of a file, and add it if it is new. Search from the end: a program maps a
 * library several times in a row. */
static uint32_t perf_file_number(struct tv_perf_spaces *spaces, const struct tv_perf_file *wanted)
{
    for (size_t i = spaces->file_count; i-- > 0;)
        if (perf_file_equals(&spaces->files[i], wanted))
            return (uint32_t)i;
    if (spaces->file_count == MAX_FILES)
        return TV_PERF_NO_FILE;
    spaces->files = tv_array_reserve(spaces->files, &spaces->file_capacity, spaces->file_count + 1,
                                     sizeof *spaces->files);
    struct tv_perf_file *file = &spaces->files[spaces->file_count];
    size_t size = strlen(wanted->path) + 1;
    *file = *wanted;
    file->path = tv_alloc(size, 1);
    memcpy(file->path, wanted->path, size);
    return (uint32_t)spaces->file_count++;
}

/* Return the number of the file of a mapping, and remember a jitdump file of the process. */
static uint32_t perf_file_of_mapping(struct tv_perf_spaces *spaces, uint32_t pid,
                                     const struct tv_perf_mapping *mapping)
{
    static char made[] = "";
    struct tv_perf_file wanted = {.kind = perf_file_kind_of(mapping->path)};
    char path[4096];
    size_t length = strnlen(mapping->path, sizeof path - 1);
    memcpy(path, mapping->path, length);
    path[length] = '\0';
    wanted.path = wanted.kind == TV_PERF_JIT ? made : path;
    wanted.pid = wanted.kind == TV_PERF_JIT ? pid : 0;
    if (wanted.kind == TV_PERF_ELF) {
        wanted.build_id_size = mapping->build_id_size;
        memcpy(wanted.build_id, mapping->build_id, mapping->build_id_size);
    }
    uint32_t file = perf_file_number(spaces, &wanted);
    if (wanted.kind == TV_PERF_JIT && file != TV_PERF_NO_FILE && tv_jit_dump_is_name(path) &&
        !spaces->files[file].dump) {
        spaces->files[file].dump = tv_alloc(length + 1, 1);
        memcpy(spaces->files[file].dump, path, length);
    }
    return file;
}

/* ---- Processes ---- */

/* Return the index of the first process whose pid is not lower. */
static size_t perf_space_place(const struct tv_perf_spaces *spaces, uint32_t pid)
{
    size_t low = 0;
    TV_LOWER_BOUND(low, spaces->count, i, spaces->spaces[i].pid < pid);
    return low;
}

static struct tv_perf_space *perf_space_find(const struct tv_perf_spaces *spaces, uint32_t pid)
{
    size_t place = perf_space_place(spaces, pid);
    bool found = place < spaces->count && spaces->spaces[place].pid == pid;
    return found ? &spaces->spaces[place] : NULL;
}

static struct tv_perf_space *perf_space_find_or_add(struct tv_perf_spaces *spaces, uint32_t pid)
{
    struct tv_perf_space *found = perf_space_find(spaces, pid);
    if (found)
        return found;
    size_t place = perf_space_place(spaces, pid);
    spaces->spaces = tv_array_reserve(spaces->spaces, &spaces->capacity, spaces->count + 1,
                                      sizeof *spaces->spaces);
    struct tv_perf_space *space = &spaces->spaces[place];
    memmove(space + 1, space, (spaces->count++ - place) * sizeof *space);
    *space = (struct tv_perf_space){.pid = pid};
    return space;
}

/* Return the index of the first mapping that ends after the address. */
static size_t perf_space_map_place(const struct tv_perf_space *space, uint64_t address)
{
    size_t low = 0;
    TV_LOWER_BOUND(low, space->count, i, space->maps[i].end <= address);
    return low;
}

/* Insert a mapping; false when there are too many. */
static bool perf_space_insert_map(struct tv_perf_space *space, size_t place, struct perf_map map)
{
    assert(place <= space->count && map.start < map.end);
    assert(place == 0 || space->maps[place - 1].end <= map.start);
    assert(place == space->count || map.end <= space->maps[place].start);
    if (space->count >= MAX_MAPS)
        return false;
    space->maps =
        tv_array_reserve(space->maps, &space->capacity, space->count + 1, sizeof *space->maps);
    memmove(&space->maps[place + 1], &space->maps[place],
            (space->count++ - place) * sizeof *space->maps);
    space->maps[place] = map;
    return true;
}

/* Remove [start, end) from the mappings, and return the index of the first mapping after it. */
static size_t perf_space_cut_maps(struct tv_perf_space *space, uint64_t start, uint64_t end)
{
    assert(start < end);
    size_t place = perf_space_map_place(space, start), behind;
    if (place < space->count && space->maps[place].start < start) {
        /* The mapping begins before the range, and may also end after it. It is split first; its
         * right half, still in place, is cut below. */
        struct perf_map left = space->maps[place];
        left.end = start;
        space->maps[place].start = start;
        place += perf_space_insert_map(space, place, left);
    }
    behind = place;
    while (behind < space->count && space->maps[behind].end <= end)
        behind++;
    if (behind < space->count && space->maps[behind].start < end)
        space->maps[behind].start = end;
    memmove(&space->maps[place], &space->maps[behind],
            (space->count - behind) * sizeof *space->maps);
    space->count -= behind - place;
    return place;
}

static void perf_space_forget_unwind(struct tv_perf_space *space)
{
    tv_unwind_free(space->unwind);
    space->unwind = NULL;
}

/* The unwind tables are dropped at each change and loaded again on demand. */
void tv_perf_spaces_map(struct tv_perf_spaces *spaces, uint32_t pid,
                        const struct tv_perf_mapping *mapping)
{
    if (mapping->length == 0 || mapping->length > UINT64_MAX - mapping->start)
        return;
    struct perf_map map = {.start = mapping->start, .end = mapping->start + mapping->length};
    struct tv_perf_space *space = perf_space_find_or_add(spaces, pid);
    perf_space_forget_unwind(space);
    if (space->count > 0)
        perf_space_cut_maps(space, map.start, map.end);
    if (!mapping->executable)
        return;
    map.file = perf_file_of_mapping(spaces, pid, mapping);
    if (map.file == TV_PERF_NO_FILE)
        return;
    map.bias = spaces->files[map.file].kind == TV_PERF_ELF ? mapping->offset - map.start : 0;
    (void)perf_space_insert_map(space, perf_space_map_place(space, map.start), map);
}

/* Unwind tables are not copied; the child loads its own when it needs them. */
void tv_perf_spaces_fork(struct tv_perf_spaces *spaces, uint32_t parent, uint32_t child)
{
    tv_perf_spaces_clear(spaces, child);
    (void)perf_space_find_or_add(spaces, child);
    const struct tv_perf_space *from = perf_space_find(spaces, parent);
    struct tv_perf_space *to = perf_space_find(spaces, child);
    if (!from || from->count == 0 || from == to)
        return;
    to->maps = tv_array_reserve(to->maps, &to->capacity, from->count, sizeof *to->maps);
    memcpy(to->maps, from->maps, from->count * sizeof *to->maps);
    to->count = from->count;
}

void tv_perf_spaces_clear(struct tv_perf_spaces *spaces, uint32_t pid)
{
    struct tv_perf_space *space = perf_space_find(spaces, pid);
    if (!space)
        return;
    perf_space_forget_unwind(space);
    tv_free(space->maps);
    size_t place = (size_t)(space - spaces->spaces);
    memmove(space, space + 1, (--spaces->count - place) * sizeof *space);
}

uint32_t tv_perf_spaces_find(const struct tv_perf_spaces *spaces, uint32_t pid, uint64_t address,
                             uint64_t *place)
{
    const struct tv_perf_space *space = perf_space_find(spaces, pid);
    size_t at = space ? perf_space_map_place(space, address) : 0;
    *place = address;
    if (!space || at == space->count || address < space->maps[at].start)
        return TV_PERF_NO_FILE;
    *place = address + space->maps[at].bias;
    return space->maps[at].file;
}

/* Give the unwinder every ELF file of the process; start + bias is the offset of the mapping. */
static void perf_space_add_unwind_files(const struct tv_perf_spaces *spaces,
                                        const struct tv_perf_space *space)
{
    assert(space->unwind);
    char path[8192];
    for (size_t i = 0; i < space->count; i++) {
        const struct perf_map *map = &space->maps[i];
        const struct tv_perf_file *file = &spaces->files[map->file];
        if (file->kind != TV_PERF_ELF)
            continue;
        snprintf(path, sizeof path, "%s%s", spaces->root, file->path);
        tv_unwind_add_file(space->unwind, path, map->start, map->start + map->bias);
    }
}

uint32_t tv_perf_spaces_unwind(struct tv_perf_spaces *spaces, uint32_t pid,
                               const struct tv_unwind_thread *thread, uint64_t *addresses,
                               uint32_t room)
{
    assert(addresses && room > 0);
    struct tv_perf_space *space = perf_space_find(spaces, pid);
    if (!space)
        return 0;
    if (!space->unwind) {
        space->unwind = tv_unwind_new();
        if (!space->unwind)
            return 0;
        perf_space_add_unwind_files(spaces, space);
    }
    return tv_unwind_walk(space->unwind, thread, addresses, room);
}

void tv_perf_spaces_init(struct tv_perf_spaces *spaces)
{
    static char kernel[] = "[kernel]";
    *spaces = (struct tv_perf_spaces){0};
    perf_file_number(spaces, &(struct tv_perf_file){.kind = TV_PERF_KERNEL, .path = kernel});
}

void tv_perf_spaces_release(struct tv_perf_spaces *spaces)
{
    for (size_t i = 0; i < spaces->file_count; i++) {
        tv_free(spaces->files[i].path);
        tv_free(spaces->files[i].dump);
    }
    for (size_t i = 0; i < spaces->count; i++) {
        perf_space_forget_unwind(&spaces->spaces[i]);
        tv_free(spaces->spaces[i].maps);
    }
    tv_free(spaces->files);
    tv_free(spaces->spaces);
    *spaces = (struct tv_perf_spaces){0};
}
