/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_host.c - what a program is: a launcher of Java, a script that will start one, or native.
 *
 * A launcher lies beside the libjli of its JDK or is called java.  What is no ELF file is a script,
 * such as those of mvn and gradle: an interpreter has no calls to record, so a JVM is what can be
 * meant, or a native program that the script starts.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/program_file.h"
#include "cli/record.h"

/* What execvp searches when there is no PATH. */
#define DEFAULT_PATH "/bin:/usr/bin"

static bool host_is_program(const char *path)
{
    struct stat found;
    return access(path, X_OK) == 0 && stat(path, &found) == 0 && S_ISREG(found.st_mode);
}

bool tv_record_find_program(const char *program, char path[TV_RECORD_PATH])
{
    const char *folders = getenv("PATH");
    if (strchr(program, '/')) {
        int length = snprintf(path, TV_RECORD_PATH, "%s", program);
        return (unsigned)length < TV_RECORD_PATH && host_is_program(path);
    }
    for (const char *at = folders ? folders : DEFAULT_PATH;; at++) {
        size_t length = strcspn(at, ":");
        const char *folder = length > 0 ? at : ".";
        int used = snprintf(path, TV_RECORD_PATH, "%.*s/%s", length > 0 ? (int)length : 1, folder,
                            program);
        if ((unsigned)used < TV_RECORD_PATH && host_is_program(path))
            return true;
        at += length;
        if (*at == '\0')
            return false;
    }
}

static const char *host_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool host_is_elf(const char *path)
{
    char magic[4] = "";
    int file = open(path, O_RDONLY | O_CLOEXEC);
    /* A program that may be run and not read is no script: those are read. */
    if (file < 0)
        return true;
    ssize_t got = read(file, magic, sizeof magic);
    close(file);
    return got == 4 && memcmp(magic, "\177ELF", 4) == 0;
}

/* The name of a script's interpreter: "python3" of "#!/usr/bin/env -S python3 -u". */
static void host_read_interpreter(const char *path, char *name, size_t size)
{
    char line[256] = "";
    char *rest = NULL;
    name[0] = '\0';
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? 0 : read(file, line, sizeof line - 1);
    if (file >= 0)
        close(file);
    line[length > 0 ? length : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    if (strncmp(line, "#!", 2) != 0)
        return;
    for (char *word = strtok_r(line + 2, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest))
        if (word[0] != '-' && strcmp(host_file_name(word), "env") != 0 && !strchr(word, '=')) {
            snprintf(name, size, "%s", host_file_name(word));
            return;
        }
}

bool tv_record_is_script_without_jvm(const char *program)
{
    static const char *const interpreters[] = {"python", "pypy", "perl",    "node",  "ruby",
                                               "php",    "lua",  "Rscript", "tclsh", "guile"};
    char path[TV_RECORD_PATH], name[64];
    if (!tv_record_find_program(program, path))
        return false;
    host_read_interpreter(path, name, sizeof name);
    for (size_t i = 0; i < sizeof interpreters / sizeof interpreters[0]; i++)
        if (strncmp(name, interpreters[i], strlen(interpreters[i])) == 0)
            return true;
    return false;
}

/* A JDK's bin/NAME, with its lib/libjli.so. */
static bool host_is_beside_libjli(const char *path)
{
    char library[TV_RECORD_PATH + 32], real[TV_RECORD_PATH];
    if (!realpath(path, real))
        return false;
    *strrchr(real, '/') = '\0';
    snprintf(library, sizeof library, "%s/../lib/libjli.so", real);
    return access(library, F_OK) == 0;
}

enum tv_record_way tv_record_way_of(const char *program, unsigned host)
{
    char path[TV_RECORD_PATH];
    if (host == TV_RECORD_NATIVE || !tv_record_find_program(program, path))
        return TV_RECORD_PRELOADED; /* what is not found is said when it is started */
    bool elf = host_is_elf(path);
    if (elf && strcmp(host_file_name(path), "java") == 0)
        return TV_RECORD_ARGUMENT;
    if (!elf || host == TV_RECORD_JAVA || host_is_beside_libjli(path))
        return TV_RECORD_INHERITED;
    return TV_RECORD_PRELOADED;
}

bool tv_record_goes_into_children(enum tv_record_way way, const struct tv_record_settings *record,
                                  const char *program)
{
    char path[TV_RECORD_PATH];
    struct tv_program_file file;
    if (record->sample > 0 || !tv_record_find_program(program, path))
        return false;
    if (way != TV_RECORD_PRELOADED)
        return way == TV_RECORD_INHERITED && record->host == TV_RECORD_AUTO;
    tv_program_file_read(path, &file);
    return !file.has_hooks;
}
