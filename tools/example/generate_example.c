/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generate_example.c - makes the trace that the viewer opens when it is given none.
 *
 * It plays a scenario, the start of a made-up Android shop, and writes down its calls.
 */
#include "die.h"
#include "player.h"
#include "scenario.h"
#include "trace_file.h"
#include "wire/method_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    const char *output;
    const char *scenario;
    uint16_t version;
    uint64_t seed;
};

static _Noreturn void print_usage(void)
{
    fputs("usage: generate-example OUT.trace [--version 1|2|3|f2|f3] [--seed N] "
          "[--scenario FILE]\n",
          stderr);
    exit(2);
}

static uint16_t read_version(const char *text)
{
    static const struct {
        const char *text;
        uint16_t version;
    } versions[] = {
        {"1", TV_MT_V1},
        {"2", TV_MT_V2},
        {"3", TV_MT_V3},
        {"f2", TV_MT_V2 | TV_MT_STREAMING},
        {"f3", TV_MT_V3 | TV_MT_STREAMING},
    };

    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        if (!strcmp(versions[i].text, text))
            return versions[i].version;
    print_usage();
}

static struct options read_options(int count, char **arguments)
{
    struct options options = {
        .scenario = EXAMPLE_SCENARIO,
        .version = TV_MT_V3,
        .seed = 7,
    };

    for (int i = 1; i < count; i++) {
        const char *value = i + 1 < count ? arguments[i + 1] : NULL;

        if (arguments[i][0] != '-' && !options.output) {
            options.output = arguments[i];
            continue;
        }
        if (!value)
            print_usage();
        if (!strcmp(arguments[i], "--version"))
            options.version = read_version(value);
        else if (!strcmp(arguments[i], "--seed"))
            options.seed = strtoull(value, NULL, 10);
        else if (!strcmp(arguments[i], "--scenario"))
            options.scenario = value;
        else
            print_usage();
        i++;
    }
    if (!options.output)
        print_usage();
    return options;
}

static void write_file(const char *path, struct bytes bytes)
{
    FILE *file = fopen(path, "wb");

    if (!file)
        die("%s: cannot create it", path);
    if (fwrite(bytes.data, 1, bytes.length, file) != bytes.length || fclose(file))
        die("%s: cannot write it", path);
}

int main(int argument_count, char **arguments)
{
    struct options options = read_options(argument_count, arguments);
    struct scenario *scenario = scenario_read(options.scenario);
    struct recording recording = scenario_play(scenario, options.seed);
    struct bytes trace = trace_file_build(scenario, &recording, options.version);

    write_file(options.output, trace);
    free(trace.data);
    free(recording.events);
    scenario_free(scenario);
    return 0;
}
