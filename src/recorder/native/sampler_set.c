/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler_set.c - sets of threads: fixed ones, those of a group, what a function says.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/native/sampler.h"
#include "recorder/state.h"

#define ROOM_FIRST 64u
#define ROOM_MOST ((size_t)1 << 22) /* Linux has no more threads */

struct tvrec_set {
    pid_t *tids; /* of a fixed set */
    size_t count;
    size_t (*fill)(pid_t *threads, size_t room, void *arg);
    void *arg;
    bool any_group;
    char group[TV_BUFFER_NAME];
};

static bool make_room(pid_t **tids, size_t *room, size_t wanted)
{
    if (wanted <= *room)
        return true;
    size_t next = *room < ROOM_FIRST ? ROOM_FIRST : *room * 2;
    while (next < wanted)
        next *= 2;
    pid_t *more = wanted > ROOM_MOST ? NULL : realloc(*tids, next * sizeof **tids);
    if (!more)
        return false;
    *tids = more;
    *room = next;
    return true;
}

struct tvrec_set *tvrec_set_array(const pid_t *threads, size_t count)
{
    struct tvrec_set *set = calloc(1, sizeof *set);
    size_t room = 0;
    if (!set || count > ROOM_MOST || !make_room(&set->tids, &room, count + 1)) {
        free(set);
        return NULL;
    }
    set->count = count;
    if (count > 0)
        memcpy(set->tids, threads, count * sizeof *threads);
    return set;
}

struct tvrec_set *tvrec_set_group(const char *group)
{
    struct tvrec_set *set = calloc(1, sizeof *set);
    if (!set)
        return NULL;
    set->any_group = group == NULL;
    for (size_t i = 0; group && group[i] && i + 1 < sizeof set->group; i++)
        set->group[i] = group[i];
    return set;
}

struct tvrec_set *tvrec_set_function(size_t (*fill)(pid_t *threads, size_t room, void *arg),
                                     void *arg)
{
    struct tvrec_set *set = fill ? calloc(1, sizeof *set) : NULL;
    if (set) {
        set->fill = fill;
        set->arg = arg;
    }
    return set;
}

void tv_thread_set_free(struct tvrec_set *set)
{
    if (set)
        free(set->tids);
    free(set);
}

static size_t ask(const struct tvrec_set *set, pid_t **tids, size_t *room)
{
    size_t count = 1;
    do {
        if (!make_room(tids, room, count))
            return 0;
        count = set->fill(*tids, *room, set->arg);
    } while (count > *room);
    return count;
}

static bool is_of(const struct tvrec_set *set, pid_t tid)
{
    char name[TV_BUFFER_NAME], group[TV_BUFFER_NAME];
    if (set->any_group)
        return true;
    tv_sampler_read_description(tid, name, group);
    return strcmp(group[0] ? group : "main", set->group) == 0;
}

static size_t look_around(const struct tvrec_set *set, pid_t **tids, size_t *room)
{
    size_t count = 0;
    struct dirent *entry;
    DIR *tasks = opendir("/proc/self/task");
    while (tasks && (entry = readdir(tasks)) && make_room(tids, room, count + 1)) {
        pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (tid > 0 && is_of(set, tid))
            (*tids)[count++] = tid;
    }
    if (tasks)
        closedir(tasks);
    return count;
}

size_t tv_thread_set_list(struct tvrec_set *set, pid_t **tids, size_t *room)
{
    if (set->fill)
        return ask(set, tids, room);
    if (!set->tids)
        return look_around(set, tids, room);
    if (set->count == 0 || !make_room(tids, room, set->count))
        return 0;
    memcpy(*tids, set->tids, set->count * sizeof **tids);
    return set->count;
}
