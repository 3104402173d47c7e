/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scratch.c - folders for engines' temporary files, and removing them whatever somebody put there:
 * links are not followed, and folders in folders, however deep, are brought up and emptied one by
 * one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/files.h"
#include "store/inside.h"

enum tv_store_status tv_store_scratch_make(struct tv_store *store, char *folder, size_t size,
                                           struct tv_error *err)
{
    struct tv_store_id name;
    enum tv_store_status status = tv_store_new_id(&name, err);
    if (status != TV_STORE_OK)
        return status;
    int length = snprintf(folder, size, "%s/scratch/%s", store->path, name.text);
    if (length < 0 || (size_t)length >= size)
        errno = ENAMETOOLONG;
    else if (mkdirat(store->scratch, name.text, 0700) == 0)
        return TV_STORE_OK;
    return tv_store_failed(err, "a folder for temporary files cannot be made");
}

/* A folder that is being emptied, and one in it. */
struct emptying {
    int fd, below;
    size_t removed; /* or brought up */
};

/* Removes a file or an empty folder. */
static bool remove_name(int folder, const char *name)
{
    return unlinkat(folder, name, 0) == 0 || unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

/* To move a folder, or what is in it, is to write in it.  Where that cannot be allowed, the move
 * fails and is counted so. */
static void let_move(int folder, const char *name)
{
    int failed = fchmodat(folder, name, 0700, 0);
    (void)failed;
}

/* A folder two below comes up one, under a name that was never there. */
static void bring_up(void *context, const char *name)
{
    struct emptying *emptying = context;
    struct tv_store_id fresh;
    bool gone = remove_name(emptying->below, name);
    if (!gone && tv_store_new_id(&fresh, NULL) == TV_STORE_OK) {
        let_move(emptying->below, name);
        gone = renameat(emptying->below, name, emptying->fd, fresh.text) == 0;
    }
    emptying->removed += gone;
}

static void take_out(void *context, const char *name)
{
    struct emptying *emptying = context;
    if (remove_name(emptying->fd, name)) {
        emptying->removed++;
        return;
    }
    let_move(emptying->fd, name);
    emptying->below = openat(emptying->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (emptying->below < 0)
        return;
    tv_store_each_name(emptying->below, bring_up, emptying);
    close(emptying->below);
    emptying->removed += remove_name(emptying->fd, name);
}

/* How many things were there. */
static size_t empty(int folder)
{
    struct emptying round = {folder, -1, 0};
    size_t removed = 0;
    do {
        round.removed = 0;
        tv_store_each_name(folder, take_out, &round);
        removed += round.removed;
    } while (round.removed > 0);
    return removed;
}

size_t tv_store_scratch_empty(struct tv_store *store)
{
    return empty(store->scratch);
}

void tv_store_scratch_remove(struct tv_store *store, const char *folder)
{
    const char *name = strrchr(folder, '/');
    if (!name || !tv_store_is_id(name + 1))
        return;
    name++;
    int fd = openat(store->scratch, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0) {
        empty(fd);
        close(fd);
    }
    remove_name(store->scratch, name);
}
