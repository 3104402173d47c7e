/* SPDX-License-Identifier: Apache-2.0 */
/*
 * origin.c - the program and the host that a trace names.
 *
 * Formats have different keys for both, and many have none.  A trace of several programs or hosts
 * names no single one, so a key whose values differ does not count.
 */
#include "fleet/batch.h"

#include "base/bytes.h"
#include "writers/compare/described_run.h"

/* A key of metadata; the value of a command begins with the path of the program. */
struct origin_key {
    const char *key;
    bool is_command;
};

static const struct origin_key origin_programs[] = {
    {"program", false},
    {"service.name", false},                               /* OTLP */
    {"app_package_name", false},                           /* simpleperf */
    {"cmd", true},                                         /* Callgrind */
    {"jdk.JVMInformation.javaArguments", true},            /* Java Flight Recorder */
    {"com.oracle.jdk.JVMInformation.javaArguments", true}, /* its older versions */
};

static const struct origin_key origin_hosts[] = {
    {"host", false},
    {"host.name", false}, /* OTLP */
    {"hostname", false},  /* perf */
    {"host_name", false}, /* PyTorch */
};

/* Return the value of a key; empty: no input has it, or values differ. */
static struct tv_bytes origin_find_value(const struct tv_trace_info *info, const char *key)
{
    struct tv_bytes found = tv_run_find_label(info, key);
    for (uint32_t i = 0; i < info->metadata_count; i++) {
        const struct tv_metadata *one = &info->metadata[i];
        if (!tv_bytes_equal(tv_trace_info_text(info, one->key), tv_bytes_of(key)))
            continue;
        struct tv_bytes value = tv_trace_info_text(info, one->value);
        if (found.length > 0 && !tv_bytes_equal(value, found))
            return (struct tv_bytes){NULL, 0};
        found = value;
    }
    return found;
}

/* Return the last part of the path that a command begins with. */
static struct tv_bytes origin_take_program(struct tv_bytes command)
{
    struct tv_bytes path = tv_bytes_take_word(&command);
    size_t begin = path.length;
    while (begin > 0 && path.data[begin - 1] != '/' && path.data[begin - 1] != '\\')
        begin--;
    return (struct tv_bytes){path.data + begin, path.length - begin};
}

/* Return the value of the first key that has one. */
static struct tv_bytes origin_find(const struct tv_trace_info *info, const struct origin_key *keys,
                                   size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct tv_bytes value = origin_find_value(info, keys[i].key);
        if (value.length > 0)
            return keys[i].is_command ? origin_take_program(value) : value;
    }
    return (struct tv_bytes){NULL, 0};
}

/* Return the name of the processes if all that have a name have the same; else empty.  Number 0 is
 * the kernel, or a process that a reader made up. */
static struct tv_bytes origin_find_process(const struct tv_trace_info *info)
{
    uint32_t name = TV_EMPTY_STRING;
    for (uint32_t i = 0; i < info->process_count; i++) {
        const struct tv_process *process = &info->processes[i];
        bool is_real = process->id != 0 || process->key != TV_EMPTY_STRING;
        if (!is_real || process->name == TV_EMPTY_STRING || process->name == name)
            continue;
        if (name != TV_EMPTY_STRING)
            return (struct tv_bytes){NULL, 0};
        name = process->name;
    }
    return tv_trace_info_text(info, name);
}

struct tv_bytes tv_fleet_program_of(const struct tv_trace_info *info)
{
    struct tv_bytes program = origin_find(info, origin_programs, TV_COUNT(origin_programs));
    return program.length > 0 ? program : origin_find_process(info);
}

struct tv_bytes tv_fleet_host_of(const struct tv_trace_info *info)
{
    return origin_find(info, origin_hosts, TV_COUNT(origin_hosts));
}
