/* SPDX-License-Identifier: Apache-2.0 */
/* paths.c - output file names (see options.h). */
#include "recorder/agent/options.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "recorder/output_file.h"
#include "recorder/recording.h"
#include "recorder/samples/samples.h"

#define HPROF_TEXT ".hprof.txt"

/* Append `text` at *at and advance *at, even past the end of the buffer. */
static void path_append(char *path, size_t *at, const char *text)
{
    size_t length = strlen(text);
    if (*at + length < TV_AGENT_PATH)
        memcpy(path + *at, text, length + 1);
    *at += length;
}

/* Replace %p by the process id, %t by the time and %% by %.  False: the path is too long. */
static bool path_expand(char *path, const char *pattern)
{
    size_t at = 0;
    path[0] = '\0';
    for (; *pattern != '\0'; pattern++) {
        char text[24] = {*pattern};
        bool special = pattern[0] == '%' && pattern[1] != '\0' && strchr("pt%", pattern[1]);
        if (special && pattern[1] == 'p')
            snprintf(text, sizeof text, "%ld", (long)getpid());
        else if (special && pattern[1] == 't')
            snprintf(text, sizeof text, "%lld", (long long)time(NULL));
        pattern += special;
        path_append(path, &at, text);
    }
    return at < TV_AGENT_PATH;
}

/* Return where the suffix starts; that of hprof text has two dots. */
static size_t path_trace_suffix(const char *path)
{
    size_t length = strlen(path), two = sizeof HPROF_TEXT - 1;
    const char *name = strrchr(path, '/');
    const char *dot = strrchr(name == NULL ? path : name, '.');
    if (length > two && strcmp(path + length - two, HPROF_TEXT) == 0)
        return length - two;
    return dot == NULL ? length : (size_t)(dot - path);
}

/* Insert "-2" (and so on) before the suffix. */
static bool path_add_number(char *path, unsigned number)
{
    char text[16], ending[TV_AGENT_PATH];
    size_t at = path_trace_suffix(path);
    memcpy(ending, path + at, strlen(path + at) + 1);
    snprintf(text, sizeof text, "-%u", number);
    path_append(path, &at, text);
    path_append(path, &at, ending);
    return at < TV_AGENT_PATH;
}

static bool path_name_file(char *path, const char *pattern, unsigned number)
{
    return path_expand(path, pattern) && (number < 2 || path_add_number(path, number));
}

/* Return the suffix of sample files in this format. */
static const char *path_samples_suffix(const struct tv_agent_options *options)
{
    static const char *const endings[] = {
        [TV_SAMPLES_ANDROID] = HPROF_TEXT,  [TV_SAMPLES_JDK] = HPROF_TEXT,
        [TV_SAMPLES_BINARY] = ".hprof",     [TV_SAMPLES_EVENTS] = ".json",
        [TV_SAMPLES_COLLAPSED] = ".folded",
    };
    return endings[options->format];
}

/* Name the files of a recording.  False: a name is too long. */
static bool path_name_files(const struct tv_agent_options *options, unsigned number,
                            struct tv_agent_paths *paths)
{
    const char *file = options->file;
    const char *ending = path_samples_suffix(options);
    *paths = (struct tv_agent_paths){0};
    if (options->mode == TV_AGENT_SAMPLE) {
        char plain[32];
        snprintf(plain, sizeof plain, "java%s", ending);
        return path_name_file(paths->samples, file == NULL ? plain : file, number);
    }
    if (!path_name_file(paths->trace, file == NULL ? "dmtrace.trace" : file, number))
        return false;
    size_t at = 0;
    if (options->mode == TV_AGENT_BOTH) {
        path_append(paths->samples, &at, paths->trace);
        path_append(paths->samples, &at, ending);
    }
    return at < TV_AGENT_PATH;
}

static bool path_is_free(const char *path)
{
    return path[0] == '\0' || access(path, F_OK) != 0;
}

bool tv_agent_paths_choose(const struct tv_agent_options *options, unsigned number,
                           struct tv_agent_paths *paths)
{
    for (;; number++) {
        if (!path_name_files(options, number, paths))
            return false;
        if (options->force || (path_is_free(paths->trace) && path_is_free(paths->samples)))
            return true;
    }
}

int tv_agent_paths_check_folder(const char *folder)
{
    struct stat status;
    if (stat(folder, &status) != 0)
        return -errno;
    if (!S_ISDIR(status.st_mode))
        return -ENOTDIR;
    return faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0 ? 0 : -errno;
}

/* Can the file be created or replaced? Return 0 or a negative errno. */
static int path_check_file(const char *path)
{
    char folder[TV_AGENT_PATH];
    int error = tv_output_file_check_path(path);
    if (error != 0)
        return error;
    const char *name = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", name == NULL ? 0 : (int)(name - path), path);
    if (folder[0] == '\0')
        snprintf(folder, sizeof folder, "%s", name == NULL ? "." : "/");
    return tv_agent_paths_check_folder(folder);
}

bool tv_agent_paths_check(const struct tv_agent_options *options, char *why, size_t room)
{
    struct tv_agent_paths paths;
    if (!tv_agent_paths_choose(options, 1, &paths)) {
        snprintf(why, room, "option file: the name is too long");
        return false;
    }
    const char *path = paths.trace[0] != '\0' ? paths.trace : paths.samples;
    int error = path_check_file(path);
    if (error != 0)
        snprintf(why, room, "option file: %s: %s", path, tv_recording_error(error));
    else if (options->spool != NULL && options->mode != TV_AGENT_SAMPLE &&
             (error = tv_agent_paths_check_folder(options->spool)) != 0)
        snprintf(why, room, "option spool: %s: %s", options->spool, tv_recording_error(error));
    return error == 0;
}
