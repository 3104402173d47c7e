/* SPDX-License-Identifier: Apache-2.0 */
/* Input that a sampled program controls: the names of its code, as a map file or a jitdump, and
 * the kernel's records about it, with its texts and addresses. The first byte chooses. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "perf/collect.h"
#include "perf/symbol_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A name lies within the text, whatever address is asked for. */
static void ask_names(char *text, bool kernel)
{
    struct tv_symbol_list list;
    size_t length = strlen(text);
    tv_symbol_list_parse(&list, text, kernel);
    for (size_t i = 0; i < list.count && i < 64; i++) {
        const struct tv_symbol *symbol = &list.symbols[i];
        if (i > 0 && symbol->start < list.symbols[i - 1].start)
            abort();
        if (symbol->name > length || symbol->length > length - symbol->name)
            abort();
        tv_symbol_list_find(&list, symbol->start);
        tv_symbol_list_find(&list, symbol->end);
        tv_symbol_list_find(&list, symbol->start - 1);
    }
    tv_symbol_list_release(&list);
}

static void read_text(struct tv_bytes bytes, bool kernel)
{
    char *text = tv_alloc(bytes.length + 1, 1);
    if (bytes.length > 0)
        memcpy(text, bytes.data, bytes.length);
    ask_names(text, kernel);
}

static void read_dump(struct tv_bytes bytes)
{
    char *text = tv_jit_dump_to_map(bytes);
    if (text)
        ask_names(text, false);
}

/* Records one after another, each as long as its header says; what is no record is passed over. */
static void collect_records(struct tv_bytes bytes)
{
    struct tv_perf_collector *collector = tv_alloc(1, sizeof *collector);
    struct tv_perf_record record;
    struct perf_event_header header;
    tv_perf_collector_init(collector, 1000);
    tv_map_set(&collector->switches, 2, 1);
    tv_perf_collector_add_thread(collector, 7, 7, "program");
    while (bytes.length >= sizeof header) {
        memcpy(&header, bytes.data, sizeof header);
        size_t length = header.size < sizeof header ? sizeof header : header.size;
        if (length > bytes.length)
            length = bytes.length;
        if (tv_perf_record_read(bytes.data, length, &record))
            tv_perf_collector_add(collector, &record);
        bytes = (struct tv_bytes){bytes.data + length, bytes.length - length};
    }
    tv_perf_collector_end(collector);
    tv_perf_collector_release(collector);
    tv_free(collector);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return -1;
    struct tv_bytes rest = {data + 1, size - 1};
    if (data[0] % 4 < 2)
        read_text(rest, data[0] % 4 == 1);
    else if (data[0] % 4 == 2)
        read_dump(rest);
    else
        collect_records(rest);
    return 0;
}
