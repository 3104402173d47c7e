/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/found.h"

#include <limits.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "hub/iso_time.h"

/* Whole numbers up to here are exact in JSON. */
#define LARGEST_NUMBER 9007199254740992.0

static struct tv_bytes text_of(const cJSON *facts, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(facts, name));
    return tv_bytes_of(text != NULL ? text : "");
}

/* A member that is a whole number from 0; `none` where it is not. */
static int64_t number_of(const cJSON *facts, const char *name, int64_t none)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(facts, name);
    if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0 && item->valuedouble <= LARGEST_NUMBER))
        return none;
    return (int64_t)item->valuedouble;
}

/* Milliseconds, TV_STORE_NEVER where none stands there. */
static int64_t time_of(const cJSON *facts, const char *name)
{
    int64_t seconds;
    return tv_iso_parse(text_of(facts, name), &seconds) ? seconds * 1000 : TV_STORE_NEVER;
}

static uint32_t count_warnings(const cJSON *facts)
{
    uint32_t count = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(facts, "health"))
    {
        const char *severity =
            cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "severity"));
        count += severity != NULL && strcmp(severity, "note") != 0;
    }
    return count;
}

static size_t list_processes(const cJSON *facts, struct tv_bytes *processes)
{
    size_t count = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(facts, "processes"))
    {
        if (count < TV_STORE_PROCESSES && cJSON_IsString(item) && item->valuestring[0] != '\0')
            processes[count++] = tv_bytes_of(item->valuestring);
    }
    return count;
}

static enum tv_status keep(struct tv_hub *hub, const char *id, const struct tv_store_found *found,
                           struct tv_error *err)
{
    enum tv_store_status status = tv_store_trace_set_found(hub->store, id, found, err);
    return status == TV_STORE_OK ? TV_OK : TV_ERR_IO;
}

/* Threads name their process rather than its place in the list. */
static void name_processes(cJSON *facts)
{
    const cJSON *processes = cJSON_GetObjectItemCaseSensitive(facts, "processes");
    cJSON *thread;
    cJSON_ArrayForEach(thread, cJSON_GetObjectItemCaseSensitive(facts, "threads"))
    {
        int64_t place = number_of(thread, "process", -1);
        const cJSON *process =
            place >= 0 && place <= INT_MAX ? cJSON_GetArrayItem(processes, (int)place) : NULL;
        const char *name = cJSON_GetStringValue(process);
        cJSON_DeleteItemFromObjectCaseSensitive(thread, "process");
        cJSON_AddItemToObject(thread, "process",
                              name != NULL && name[0] != '\0' ? cJSON_CreateString(name)
                                                              : cJSON_CreateNull());
    }
}

/* {"threads":[...],"health":[...],"findings":[...]}: what the catalogue has no place for.  Written
 * anew rather than kept as it came, so that what is shown as JSON is JSON. */
static char *print_lists(const cJSON *facts)
{
    static const char *const names[] = {"threads", "health", "findings"};
    cJSON *lists = cJSON_CreateObject();
    for (size_t i = 0; i < TV_COUNT(names); i++) {
        cJSON *list = cJSON_GetObjectItemCaseSensitive(facts, names[i]);
        if (cJSON_IsArray(list))
            cJSON_AddItemReferenceToObject(lists, names[i], list);
        else
            cJSON_AddArrayToObject(lists, names[i]);
    }
    char *text = cJSON_PrintUnformatted(lists);
    cJSON_Delete(lists);
    if (text == NULL)
        tv_memory_exhausted();
    return text;
}

static enum tv_status keep_facts(struct tv_hub *hub, const char *id, cJSON *facts,
                                 struct tv_error *err)
{
    struct tv_bytes processes[TV_STORE_PROCESSES];
    struct tv_store_found found = {
        .state = TV_STORE_READY,
        .error_offset = TV_NO_OFFSET,
        .format = text_of(facts, "format"),
        .version = text_of(facts, "version"),
        .length_ns = number_of(facts, "length_ns", -1),
        .events = (uint64_t)number_of(facts, "events", 0),
        .calls = (uint64_t)number_of(facts, "calls", 0),
        .warnings = count_warnings(facts),
        .findings =
            (uint32_t)cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(facts, "findings")),
        .recorded_ms = time_of(facts, "recorded"),
        .processes = processes,
        .process_count = list_processes(facts, processes),
    };
    name_processes(facts);
    char *text = print_lists(facts);
    found.facts = tv_bytes_of(text);
    enum tv_status status = keep(hub, id, &found, err);
    cJSON_free(text);
    return status;
}

enum tv_status tv_found_keep(struct tv_hub *hub, const char *id, struct tv_bytes facts,
                             struct tv_error *err)
{
    cJSON *parsed = cJSON_ParseWithLength((const char *)facts.data, facts.length);
    enum tv_status status;
    if (cJSON_IsObject(parsed))
        status = keep_facts(hub, id, parsed, err);
    else
        status = tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET, "the engine's answer is not JSON");
    cJSON_Delete(parsed);
    return status;
}

enum tv_status tv_found_keep_failure(struct tv_hub *hub, const char *id,
                                     const struct tv_engine_status *status, struct tv_error *err)
{
    const struct tv_store_found found = {
        .state = TV_STORE_UNREADABLE,
        .error = tv_bytes_of(status->error.message),
        .error_offset = status->error.offset,
        .remedy = tv_bytes_of(status->remedy != NULL ? status->remedy : ""),
        .length_ns = -1,
        .recorded_ms = TV_STORE_NEVER,
    };
    return keep(hub, id, &found, err);
}
