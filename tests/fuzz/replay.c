/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.c - runs a fuzz target over a corpus as an ordinary test, without libFuzzer.
 *
 *     replay-NAME [--damage WAYS] PATH...     each PATH a file, or a folder of files
 *
 * With --damage, each file of at most LARGEST bytes also runs cut off at every byte, with every
 * byte left out, and with every byte changed in WAYS ways; with 0 ways, only one of these kinds of
 * damage is done at each byte, in turn.  The target itself checks what must hold for any input, and
 * sanitizers watch.
 *
 * Prints one TAP line a file.  A crash ends the program before the plan is printed, which the
 * test harness reports as a failure; so does an empty corpus.
 */
#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LARGEST 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned done, ways;
static bool damages;

/* The damage that runs now, printed if it crashes. */
static char running[64];

static void die(const char *what, const char *path)
{
    printf("Bail out! %s %s\n", what, path);
    exit(1);
}

static void tell_damage(int number)
{
    (void)!write(STDOUT_FILENO, running, strlen(running));
    signal(number, SIG_DFL);
    raise(number);
}

/* Run the first `size` bytes of `data` and the `rest` bytes from `next`, in a block of exactly
 * their size, so that ASan sees one byte too far. */
static void run_pieces(const uint8_t *data, size_t size, const uint8_t *next, size_t rest)
{
    uint8_t *copy = malloc(size + rest > 0 ? size + rest : 1);
    if (copy == NULL)
        die("no memory for", "a damaged file");
    memcpy(copy, data, size);
    memcpy(copy + size, next, rest);
    LLVMFuzzerTestOneInput(copy, size + rest);
    free(copy);
}

/* A near value first, then ends of ranges and bytes that mean something in a text. */
static uint8_t changed(uint8_t byte, unsigned way)
{
    static const uint8_t values[] = {0, 0xff, ' ', 0x7f, '\n', '0', 0x80, '"'};
    return way == 0 ? byte ^ 1 : values[(way - 1) % sizeof values];
}

enum { CUT, LEFT_OUT, CHANGED, KINDS };

static void damage_byte(uint8_t *data, size_t size, size_t i, unsigned kind)
{
    const uint8_t byte = data[i];
    if (kind == CUT) {
        snprintf(running, sizeof running, "# cut at byte %zu\n", i);
        run_pieces(data, i, data, 0);
        return;
    }
    if (kind == LEFT_OUT) {
        snprintf(running, sizeof running, "# without byte %zu\n", i);
        run_pieces(data, i, data + i + 1, size - i - 1);
        return;
    }
    for (unsigned way = 0; way < (ways > 0 ? ways : 1); way++) {
        data[i] = changed(byte, way);
        snprintf(running, sizeof running, "# byte %zu is 0x%02x\n", i, data[i]);
        run_pieces(data, size, data, 0);
    }
    data[i] = byte;
}

static void damage(uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        for (unsigned kind = 0; kind < KINDS; kind++)
            if (ways > 0 || kind == i % KINDS)
                damage_byte(data, size, i, kind);
    running[0] = '\0';
}

static void replay_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(size > 0 ? size : 1);
    if (file == NULL || data == NULL || fread(data, 1, size, file) != size)
        die("cannot read", path);
    fclose(file);

    /* Named before it runs: after a crash the last line says which file it was. */
    printf("# %s\n", path);
    fflush(stdout);
    LLVMFuzzerTestOneInput(data, size);
    if (damages && size <= LARGEST)
        damage(data, size);
    free(data);

    const char *slash = strrchr(path, '/');
    printf("ok %u - %s\n", ++done, slash != NULL ? slash + 1 : path);
}

static void replay_path(const char *path);

static void replay_folder(const char *path)
{
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);
    if (count < 0)
        die("cannot list", path);
    for (int i = 0; i < count; i++) {
        char inner[4096];
        int length = snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
        if (length < 0 || (size_t)length >= sizeof inner)
            die("path too long under", path);
        if (entries[i]->d_name[0] != '.')
            replay_path(inner);
        free(entries[i]);
    }
    free(entries);
}

static void replay_path(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        die("cannot find", path);
    if (S_ISDIR(status.st_mode))
        replay_folder(path);
    else
        replay_file(path, (size_t)status.st_size);
}

int main(int argc, char **argv)
{
    int first = 1;
    if (argc > 2 && strcmp(argv[1], "--damage") == 0) {
        damages = true;
        ways = (unsigned)strtoul(argv[2], NULL, 10);
        signal(SIGABRT, tell_damage);
        signal(SIGSEGV, tell_damage);
        first = 3;
    }
    for (int i = first; i < argc; i++)
        replay_path(argv[i]);
    if (done == 0)
        die("no input in", argc > 1 ? argv[1] : "the command line");
    printf("1..%u\n", done);
    return 0;
}
