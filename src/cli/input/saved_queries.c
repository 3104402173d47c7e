/* SPDX-License-Identifier: Apache-2.0 */
/* saved_queries.c - queries in SQL that the user keeps by name (saved_queries.h). */
#include "cli/input/saved_queries.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/out.h"
#include "cli/input/user_folder.h"
#include "cli/output/atomic_file.h"

#define MAX_NAME 64

#define ENDING ".sql"

/* Names are parts of paths, so that few characters are allowed. */
static bool saved_is_name(struct tv_bytes name)
{
    for (size_t i = 0; i < name.length; i++) {
        uint8_t c = name.data[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!is_letter && !(c >= '0' && c <= '9') && c != '-' && c != '_')
            return false;
    }
    return name.length > 0 && name.length <= MAX_NAME;
}

/* Write the path of the folder, or of the file of a query. */
static enum tv_status saved_find(const char *name, char path[PATH_MAX], struct tv_error *err)
{
    char folder[PATH_MAX];
    if (name && !saved_is_name(tv_bytes_of(name)))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "the name of a query has up to %d letters, digits, '-' and '_'", MAX_NAME);
    if (!tv_user_folder_find(TV_USER_CONFIG, folder, sizeof folder) ||
        snprintf(path, PATH_MAX, name ? "%s/sql/%s" ENDING : "%s/sql", folder, name) >= PATH_MAX)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "there is no folder for queries: set HOME");
    return TV_OK;
}

enum tv_status tv_saved_query_write(const char *name, const char *query, struct tv_error *err)
{
    char path[PATH_MAX];
    struct tv_atomic_file file;
    enum tv_status status = saved_find(name, path, err);
    if (status != TV_OK)
        return status;
    int folder = tv_user_folder_open(TV_USER_CONFIG, true);
    if (folder < 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "%s: the folder cannot be made, or others may write to it", path);
    (void)mkdirat(folder, "sql", 0700);
    close(folder);
    status = tv_atomic_file_open_to_replace(&file, path, err);
    if (status != TV_OK)
        return status;
    FILE *out = tv_atomic_file_stream(&file);
    bool written = out && fprintf(out, "%s\n", query) >= 0;
    written = out && fclose(out) == 0 && written;
    if (!written) {
        tv_atomic_file_discard(&file);
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", path, strerror(errno));
    }
    return tv_atomic_file_commit(&file, err);
}

/* List the names of the queries that there are, as far as they fit. */
static void saved_list(struct tv_out *names)
{
    char path[PATH_MAX];
    struct tv_error unused;
    DIR *folder = saved_find(NULL, path, &unused) == TV_OK ? opendir(path) : NULL;
    for (struct dirent *entry; folder && (entry = readdir(folder)) && names->length < 200;) {
        struct tv_bytes name = tv_bytes_of(entry->d_name);
        if (!tv_bytes_ends_with(name, TV_BYTES(ENDING)))
            continue;
        name.length -= sizeof ENDING - 1;
        if (!saved_is_name(name))
            continue;
        tv_out_text(names, names->length > 0 ? ", " : "");
        tv_out_bytes(names, name);
    }
    if (folder)
        closedir(folder);
}

enum tv_status tv_saved_query_read(const char *name, size_t most, char **query,
                                   struct tv_error *err)
{
    char path[PATH_MAX];
    size_t length;
    struct tv_out names;
    enum tv_status status = saved_find(name, path, err);
    if (status != TV_OK)
        return status;
    if (access(path, F_OK) == 0) {
        status = tv_file_read_text(path, most, query, &length, err);
        return status == TV_OK ? TV_OK : tv_error_prefix(err, "%s", path);
    }
    tv_out_init_memory(&names);
    saved_list(&names);
    tv_out_char(&names, '\0');
    status = tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "there is no query '%s'; saved are: %s", name,
                     names.length > 1 ? (const char *)names.buffer : "none (--save NAME)");
    tv_out_release(&names);
    return status;
}
