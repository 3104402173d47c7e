/* SPDX-License-Identifier: Apache-2.0 */
/*
 * duckdb.c - opening DuckDB's library at run time (duckdb.h).
 *
 * DuckDB is larger than this program and changes quickly, so it is not linked.
 * The library is looked for in this order: TRACEVIEW_DUCKDB alone if it is set;
 * beside the program and two folders above; the folder of the installation; the
 * system's search path.
 *
 * A library runs with the rights of the user.  A file that others may write is
 * therefore refused, with the remedy.  The system's own search path is trusted
 * as it is.
 */
#include "sql/duckdb.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/library.h"

#define LIBRARY "libduckdb.so"
#ifndef TV_LIBDIR
#define TV_LIBDIR "/usr/local/lib"
#endif

struct tv_duck tv_duck;

/* May nobody but root and the user write the file? */
static bool duck_is_trusted(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && (info.st_uid == 0 || info.st_uid == geteuid()) &&
           (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* Open a library file.  NULL if it does not exist, or, with the reason in
 * `refused`, if it is not trusted. */
static void *duck_open_file(const char *path, struct tv_error *refused)
{
    if (access(path, R_OK) != 0)
        return NULL;
    if (!duck_is_trusted(path)) {
        tv_fail(refused, TV_ERR_USAGE, TV_NO_OFFSET,
                "%s: not loaded, because others may write it: chmod go-w", path);
        return NULL;
    }
    return dlopen(path, RTLD_LAZY | RTLD_LOCAL);
}

/* Look beside the program, and in the two folders above: a build tree has the program in
 * build/dev/src and the library in build. */
static void *duck_open_beside(struct tv_error *refused)
{
    char path[PATH_MAX + sizeof LIBRARY];
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
    void *library = NULL;
    if (length <= 0)
        return NULL;
    path[length] = '\0';
    for (int level = 0; level < 3 && !library; level++) {
        char *slash = strrchr(path, '/');
        if (!slash || slash == path)
            break;
        memcpy(slash + 1, LIBRARY, sizeof LIBRARY);
        library = duck_open_file(path, refused);
        *slash = '\0';
    }
    return library;
}

/* Return the first library of the places above; NULL if there is none. */
static void *duck_find(struct tv_error *refused)
{
    const char *named = getenv("TRACEVIEW_DUCKDB");
    if (named && named[0])
        return duck_open_file(named, refused);
    void *library = duck_open_beside(refused);
    if (!library)
        library = duck_open_file(TV_LIBDIR "/traceview/" LIBRARY, refused);
    return library ? library : dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL);
}

/* Tell how to get the library, and which file of the user's was no library. */
static enum tv_status duck_fail_missing(struct tv_error *err)
{
    const char *named = getenv("TRACEVIEW_DUCKDB");
    bool is_named = named && named[0];
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                   "SQL needs " LIBRARY " (DuckDB 1.4 or later): run `make sql` in the source, "
                   "put the file beside the program or into " TV_LIBDIR
                   "/traceview, or name it in TRACEVIEW_DUCKDB%s%.80s%s",
                   is_named ? ", which now names " : "", is_named ? named : "",
                   is_named ? ": no library" : "");
}

/* Is it "v1.4" to "v1.x"? */
static bool duck_is_supported(const char *version)
{
    return strncmp(version, "v1.", 3) == 0 && strtoul(version + 3, NULL, 10) >= 4;
}

enum tv_status tv_duck_open(struct tv_error *err)
{
    static const struct tv_library_function functions[] = {
#define X(result, name, parameters) {"duckdb_" #name, &tv_duck.name},
        TV_DUCK_FUNCTIONS(X)
#undef X
    };
    struct tv_error refused = {.status = TV_OK};
    if (tv_duck.query)
        return TV_OK;
    void *library = duck_find(&refused);
    if (!library && refused.status != TV_OK) {
        *err = refused;
        return err->status;
    }
    if (!library)
        return duck_fail_missing(err);
    const char *missing = tv_library_find(library, functions, TV_COUNT(functions));
    if (missing || !duck_is_supported(tv_duck.library_version())) {
        tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                "this " LIBRARY " (%s) cannot be used: SQL needs DuckDB 1.4 to 1.x",
                missing ? missing : tv_duck.library_version());
        memset(&tv_duck, 0, sizeof tv_duck);
        return err->status;
    }
    return TV_OK;
}
