/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.c - what a program is (a Java launcher, a script or native), and why its recording is empty.
 *
 *     program ----> ELF file? --no--> a script (mvn, gradle): it starts a JVM or a native program
 *                       |
 *                       '-- named java, or beside the libjli of a JDK?  --yes--> a Java launcher
 *                       |
 *                       '-- otherwise native.  Three places of the file say how it can be recorded:
 *                             PT_INTERP       linked dynamically, so a library can be preloaded
 *                             PT_DYNAMIC      it needs the hooks of -finstrument-functions
 *                             .go.buildinfo   a Go program
 *
 * The file is not trusted: a value that points outside of it, or is too large, counts as missing.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/types.h"
#include "cli/record/record.h"

#define MAX_SEGMENTS 1024u
#define MAX_DYNAMIC_ENTRIES 65536u /* of the dynamic section */
#define MAX_NAME_BYTES ((uint64_t)64 << 20)

#if UINTPTR_MAX > UINT32_MAX
#define OWN_CLASS ELFCLASS64
#else
#define OWN_CLASS ELFCLASS32
#endif

/* The facts about a program's file that matter for recording it. The recorder's library can be
 * loaded only into dynamically linked programs of the same machine that run with our own rights,
 * and it sees calls only where the compiler put hooks. */
struct program_file {
    bool is_elf;        /* the fields below are known */
    bool other_machine; /* for another processor or word size than the recorder */
    bool is_static;     /* no library can be loaded into it */
    bool is_go;
    bool has_hooks;    /* compiled with -finstrument-functions; its libraries may be too */
    bool other_rights; /* setuid, setgid or capabilities: the system ignores LD_PRELOAD */
};

/* ---- The ELF file of a program ---- */

/* Read `size` bytes at `at`; false: they are not in the file. */
static bool program_read_bytes(int file, uint64_t at, void *to, size_t size)
{
    return at <= INT64_MAX - size && pread(file, to, size, (off_t)at) == (ssize_t)size;
}

/* Read a table of names, to be freed with program_free_name_table; NULL data when there is none. */
static struct tv_bytes program_read_name_table(int file, uint64_t at, uint64_t size)
{
    if (size == 0 || size > MAX_NAME_BYTES)
        return (struct tv_bytes){NULL, 0};
    uint8_t *names = tv_alloc((size_t)size, 1);
    if (program_read_bytes(file, at, names, (size_t)size))
        return (struct tv_bytes){names, (size_t)size};
    tv_free(names);
    return (struct tv_bytes){NULL, 0};
}

static void program_free_name_table(struct tv_bytes names)
{
    void *data;
    memcpy(&data, &names.data, sizeof data);
    tv_free(data);
}

/* Does the table contain the word, with its NUL? */
static bool program_lists_name(struct tv_bytes names, const char *word, size_t size)
{
    return names.data && memmem(names.data, names.length, word, size) != NULL;
}

/* Return the machine of the recorder, from the file of this program. */
static uint16_t program_own_machine(void)
{
    ElfW(Ehdr) own;
    uint16_t machine = EM_NONE;
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return machine;
    if (program_read_bytes(file, 0, &own, sizeof own))
        machine = own.e_machine;
    close(file);
    return machine;
}

static bool program_read_segment(int file, const ElfW(Ehdr) * head, unsigned number,
                                 ElfW(Phdr) * segment)
{
    return number < head->e_phnum && number < MAX_SEGMENTS &&
           program_read_bytes(file, head->e_phoff + number * sizeof *segment, segment,
                              sizeof *segment);
}

/* Return the file offset of an address in memory; UINT64_MAX when there is none. */
static uint64_t program_offset_of_address(int file, const ElfW(Ehdr) * head, uint64_t address)
{
    ElfW(Phdr) segment;
    for (unsigned i = 0; program_read_segment(file, head, i, &segment); i++)
        if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
            address - segment.p_vaddr < segment.p_filesz)
            return segment.p_offset + (address - segment.p_vaddr);
    return UINT64_MAX;
}

/* Read an entry of the dynamic section; false at its end. The three ends - DT_NULL, the segment's
 * size, MAX_DYNAMIC_ENTRIES - guard against a damaged file. */
static bool program_read_dynamic_entry(int file, const ElfW(Phdr) * dynamic, size_t number,
                                       ElfW(Dyn) * entry)
{
    return number < MAX_DYNAMIC_ENTRIES && number < dynamic->p_filesz / sizeof *entry &&
           program_read_bytes(file, dynamic->p_offset + number * sizeof *entry, entry,
                              sizeof *entry) &&
           entry->d_tag != DT_NULL;
}

/* Look for the hook of -finstrument-functions among the names of the dynamic section. */
static void program_read_dynamic_section(int file, const ElfW(Ehdr) * head,
                                         const ElfW(Phdr) * dynamic, struct program_file *program)
{
    static const char hook[] = "__cyg_profile_func_enter";
    uint64_t strings = 0, size = 0;
    ElfW(Dyn) entry;
    for (size_t i = 0; program_read_dynamic_entry(file, dynamic, i, &entry); i++) {
        if (entry.d_tag == DT_STRTAB)
            strings = entry.d_un.d_ptr;
        if (entry.d_tag == DT_STRSZ)
            size = entry.d_un.d_val;
    }
    struct tv_bytes names =
        program_read_name_table(file, program_offset_of_address(file, head, strings), size);
    program->has_hooks = program_lists_name(names, hook, sizeof hook);
    program_free_name_table(names);
}

/* Read the program headers: without an interpreter the program is linked statically, and nothing
 * can be preloaded. */
static void program_read_segments(int file, const ElfW(Ehdr) * head, struct program_file *program)
{
    ElfW(Phdr) segment;
    program->is_static = true;
    for (unsigned i = 0; program_read_segment(file, head, i, &segment); i++) {
        if (segment.p_type == PT_INTERP)
            program->is_static = false;
        if (segment.p_type == PT_DYNAMIC)
            program_read_dynamic_section(file, head, &segment, program);
    }
}

/* Look for the section that only Go programs have. */
static void program_read_section_names(int file, const ElfW(Ehdr) * head,
                                       struct program_file *program)
{
    static const char go[] = ".go.buildinfo";
    ElfW(Shdr) section;
    if (!program_read_bytes(file, head->e_shoff + head->e_shstrndx * sizeof section, &section,
                            sizeof section))
        return;
    struct tv_bytes names = program_read_name_table(file, section.sh_offset, section.sh_size);
    program->is_go = program_lists_name(names, go, sizeof go);
    program_free_name_table(names);
}

/* Read everything that says whether and how the program can be recorded. */
static void program_read_elf(int file, struct program_file *program)
{
    ElfW(Ehdr) head;
    program->is_elf =
        program_read_bytes(file, 0, &head, EI_NIDENT) && memcmp(head.e_ident, ELFMAG, SELFMAG) == 0;
    if (!program->is_elf)
        return;
    program->other_machine = head.e_ident[EI_CLASS] != OWN_CLASS ||
                             !program_read_bytes(file, 0, &head, sizeof head) ||
                             head.e_machine != program_own_machine();
    if (program->other_machine)
        return;
    program_read_segments(file, &head, program);
    program_read_section_names(file, &head, program);
}

/* Does the program run with other rights than ours? The system ignores LD_PRELOAD then. */
static bool program_has_other_rights(int file, const struct stat *found)
{
    char unused[64];
    if ((found->st_mode & S_ISUID) && found->st_uid != getuid())
        return true;
    if ((found->st_mode & S_ISGID) && (found->st_mode & S_IXGRP) && found->st_gid != getgid())
        return true;
    return getuid() != 0 && fgetxattr(file, "security.capability", unused, sizeof unused) > 0;
}

/* Read what the file of a program says about recording it.  All false when the file cannot be read
 * or is not an ELF file. */
static void program_file_read(const char *path, struct program_file *program)
{
    struct stat found;
    *program = (struct program_file){0};
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return;
    if (fstat(file, &found) == 0 && S_ISREG(found.st_mode)) {
        program_read_elf(file, program);
        program->other_rights = program->is_elf && program_has_other_rights(file, &found);
    }
    close(file);
}

/* Search path of execvp without PATH. */
#define DEFAULT_PATH "/bin:/usr/bin"

/* ---- What a program is ---- */

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
    /* A program that is executable but not readable is not a script: its interpreter must read it.
     */
    if (file < 0)
        return true;
    ssize_t got = read(file, magic, sizeof magic);
    close(file);
    return got == 4 && memcmp(magic, "\177ELF", 4) == 0;
}

/* Read the name of a script's interpreter: "python3" of "#!/usr/bin/env -S python3 -u". */
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

/* Is it bin/NAME of a JDK, which has lib/libjli.so? */
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
        return TV_RECORD_PRELOADED; /* starting it will fail, and say so */
    bool elf = host_is_elf(path);
    if (elf && strcmp(host_file_name(path), "java") == 0)
        return TV_RECORD_ARGUMENT;
    if (!elf || host == TV_RECORD_JAVA || host_is_beside_libjli(path))
        return TV_RECORD_INHERITED;
    return TV_RECORD_PRELOADED;
}

bool tv_record_follows_children(enum tv_record_way way, const struct tv_record_settings *record,
                                const char *program)
{
    char path[TV_RECORD_PATH];
    struct program_file file;
    if (record->sample > 0 || !tv_record_find_program(program, path))
        return false;
    if (way != TV_RECORD_PRELOADED)
        return way == TV_RECORD_INHERITED && record->host == TV_RECORD_AUTO;
    program_file_read(path, &file);
    return !file.has_hooks;
}

/* ---- Why a recording is empty ----
 *
 * Whoever records should learn this at once, not when the trace is needed.  The reason is read from
 * the file of the program where possible; otherwise the message names the ways to end without a
 * file. */

/* A recording without events is short, and says so near its start. */
#define SHORT_RECORDING ((size_t)1 << 20)

/* Return true unless the recording says that it is empty; each format says it in its own way. */
static bool recording_has_events(struct tv_bytes file)
{
    static const char *const none[] = {"\nnum-method-calls=0\n", "CPU SAMPLES BEGIN (total = 0)",
                                       "\"samples\":[\n]"};
    size_t length = file.length < SHORT_RECORDING ? file.length : SHORT_RECORDING;
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        if (memmem(file.data, length, none[i], strlen(none[i])))
            return false;
    return file.length > 0;
}

#define SAMPLE_INSTEAD ": take samples of it (--sample HZ)"

/* Return why the program cannot be recorded, according to its file; NULL when its file does not
 * tell. */
static const char *recording_obstacle(const struct tv_record_plan *plan)
{
    char path[TV_RECORD_PATH];
    struct program_file program;
    if (plan->way != TV_RECORD_PRELOADED ||
        !tv_record_find_program(plan->settings->files.items[0], path))
        return NULL;
    program_file_read(path, &program);
    if (!program.is_elf)
        return NULL;
    if (program.other_machine)
        return "it is built for another machine than the recorder (perhaps 32-bit)" SAMPLE_INSTEAD;
    if (program.other_rights)
        return "it runs with other rights than yours (setuid, setgid, capabilities), so the system "
               "does not load the recorder: run the recorder as that user";
    if (program.is_go)
        return "it is a Go program, and Go has no hooks" SAMPLE_INSTEAD;
    if (program.is_static)
        return "it is linked statically, so the recorder cannot be loaded: link it dynamically, or "
               "take samples (--sample HZ)";
    if (program.has_hooks || plan->settings->record.sample > 0)
        return NULL;
    return "neither it nor the programs it started are compiled with -finstrument-functions: "
           "compile with that option, take samples (--sample HZ), or use --host java if it starts "
           "a JVM";
}

static enum tv_status recording_fail_no_sample(const struct tv_record_plan *plan,
                                               struct tv_error *err)
{
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                   "%s has no sample: no thread%s ran during the recording", plan->output,
                   plan->settings->record.threads ? " selected by --threads" : "");
}

/* Fail because nothing was recorded, with the most likely reason. */
static enum tv_status recording_fail_empty(const struct tv_record_plan *plan, struct tv_error *err)
{
    const struct tv_record_settings *record = &plan->settings->record;
    const char *obstacle = recording_obstacle(plan);
    /* A program that allocates little and waits for nothing is normal. */
    if (plan->with_alloc || plan->with_lock)
        return TV_OK;
    if (record->sample > 0)
        return recording_fail_no_sample(plan, err);
    if (obstacle)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s has no call of %s: %s", plan->output,
                       plan->settings->files.items[0], obstacle);
    if (plan->least_us > 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "%s has no call: no call that ended took %" PRIu64 " us (--min-duration)",
                       plan->output, plan->least_us);
    if (record->trigger.count > 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "%s has no call: no --trigger method was called%s", plan->output,
                       plan->way == TV_RECORD_PRELOADED
                           ? "; names come from the program's symbols, which strip removes"
                           : "");
    const char *which = record->boot ? "" : " outside of the JDK (--boot records those),";
    if (record->include.count + record->exclude.count > 0)
        which = " selected by --include and --exclude";
    if (plan->way == TV_RECORD_ATTACHED)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "%s has no call: process %d called no method%s during the recording",
                       plan->output, (int)record->pid, which);
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s has no call: the program called no %s%s",
                   plan->output,
                   plan->way == TV_RECORD_PRELOADED ? "function that has hooks" : "method",
                   plan->way == TV_RECORD_PRELOADED ? "" : which);
}

enum tv_status tv_record_check_events(const struct tv_record_plan *plan, struct tv_error *err)
{
    struct tv_bytes file;
    int fd = open(plan->output, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return TV_OK;
    enum tv_status status = tv_file_map(fd, &file, err);
    close(fd);
    if (status != TV_OK)
        return status;
    bool any = recording_has_events(file);
    tv_file_unmap(file);
    return any ? TV_OK : recording_fail_empty(plan, err);
}

/* Is there a complete trace that could not be renamed, because its process had another root or
 * other rights? */
static bool recording_is_unnamed(const struct tv_record_plan *plan, char *part, size_t size)
{
    static const char magic[] = "*version";
    char found[sizeof magic - 1] = "";
    snprintf(part, size, "%s.part", plan->output);
    int file = open(part, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_trace = file >= 0 && read(file, found, sizeof found) == (ssize_t)sizeof found &&
                    memcmp(found, magic, sizeof found) == 0;
    if (file >= 0)
        close(file);
    return is_trace;
}

/* Say how a program may have ended without its recording. */
static const char *recording_how_lost(const struct tv_record_plan *plan)
{
    if (plan->into_children && plan->way == TV_RECORD_INHERITED)
        return "it started no JVM that ended normally, and no native program with hooks "
               "(-finstrument-functions)";
    if (plan->way == TV_RECORD_INHERITED)
        return plan->settings->record.sample > 0 ? "it started no JVM that ended normally; to "
                                                   "sample other programs use --host native"
                                                 : "it started no JVM that ended normally";
    if (plan->way == TV_RECORD_ARGUMENT)
        return "the JVM did not start, was killed or crashed";
    return plan->spool[0] ? "the program ended by _exit, exec or SIGKILL"
                          : "the program ended by _exit, exec or SIGKILL; use --spool DIR to keep "
                            "such recordings";
}

enum tv_status tv_record_fail_unwritten(const struct tv_record_plan *plan, int code,
                                        struct tv_error *err)
{
    const char *spool = plan->spool, *program = plan->settings->files.items[0];
    char part[TV_RECORD_PATH + 8];
    if (recording_is_unnamed(plan, part, sizeof part))
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "%s: the program could not rename its trace (exit code %d); it is in %s",
                       plan->output, code, part);
    const char *obstacle = recording_obstacle(plan);
    if (obstacle)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "%s was not written (exit code %d): nothing of %s was recorded: %s",
                       plan->output, code, program, obstacle);
    tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
            "%s was not written (exit code %d): if no line above says why, %s", plan->output, code,
            recording_how_lost(plan));
    if (spool[0] && strlen(err->message) + strlen(spool) + 40 < sizeof err->message)
        snprintf(err->message + strlen(err->message), sizeof err->message - strlen(err->message),
                 "; try 'traceview recover %s'", spool);
    return err->status;
}
