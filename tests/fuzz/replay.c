/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.c - runs a fuzz target over a corpus as an ordinary test, without libFuzzer.
 *
 *     replay-NAME PATH...        each PATH a file, or a folder of files
 *
 * Prints one TAP line a file.  A crash ends the program before the plan is printed, which the
 * test harness reports as a failure; so does an empty corpus.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned done;

static void die(const char *what, const char *path)
{
    printf("Bail out! %s %s\n", what, path);
    exit(1);
}

/* The bytes lie in a block of exactly their size, so that ASan sees one byte too far. */
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
    for (int i = 1; i < argc; i++)
        replay_path(argv[i]);
    if (done == 0)
        die("no input in", argc > 1 ? argv[1] : "the command line");
    printf("1..%u\n", done);
    return 0;
}
