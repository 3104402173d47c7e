/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wasm_host.c - any order of calls of the engine in a page: files are added, read, looked through
 * and asked about.
 *
 * The input is the file that all numbers mean, its length in two bytes before it; then steps, a
 * byte each with the text or number that it takes.
 */
#include "wasm/host.c" /* an instance is of one trace: here it begins anew each time */

#include <stdlib.h>

#include "base/bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STEPS 24u

static struct tv_bytes file_bytes, input;

int tv_host_read(uint32_t file, double offset, void *buffer, uint32_t size)
{
    /* A page allows reads only within the size that it gave. */
    if (!(offset >= 0) || offset + size > (double)file_bytes.length)
        abort();
    if (file == 0xff)
        return 0; /* gone */
    memcpy(buffer, file_bytes.data + (size_t)offset, size);
    return 1;
}

static uint8_t take_byte(void)
{
    if (input.length == 0)
        return 0;
    input.length--;
    return *input.data++;
}

/* A text into the room. */
static uint32_t put_text(void)
{
    size_t length = take_byte();
    if (length > input.length)
        length = input.length;
    uint8_t *room = tv_host_room((uint32_t)length);
    if (length > 0)
        memcpy(room, input.data, length);
    input.data += length;
    input.length -= length;
    return (uint32_t)length;
}

/* The answer is all there. */
static void look_at_answer(void)
{
    static volatile uint8_t sum;
    for (uint32_t i = 0; i < tv_host_answer_length(); i++)
        sum = (uint8_t)(sum + tv_host_answer()[i]);
}

/* Before it reads: sources know their files by their places. */
static void add_input(void)
{
    if (host.session)
        return;
    tv_ns offset = (tv_ns)((uint64_t)take_byte() << 56); /* any that a page may give */
    tv_host_input(take_byte(), put_text(), offset);
}

static void add_file(void)
{
    uint8_t file = take_byte();
    if (host.session)
        return;
    if (host.input_count == 0)
        add_input();
    tv_host_add(file, put_text(), (double)file_bytes.length, file & 3,
                (tv_ns)((uint64_t)take_byte() << 56));
}

static void cut_input(void)
{
    if (!host.session)
        tv_host_cut(take_byte());
}

/* Called once, as a page does. */
static void load_files(void)
{
    if (!host.session)
        tv_host_load();
}

static void ask_question(void)
{
    uint32_t status = tv_host_ask(put_text());
    if (status != FOUND && status != WRONG && status != UNKNOWN && status != NOT_READY &&
        status != TOO_LARGE)
        abort();
    look_at_answer();
}

static void look_at_head(void)
{
    uint32_t length =
        file_bytes.length < TV_SNIFF_SIZE ? (uint32_t)file_bytes.length : TV_SNIFF_SIZE;
    uint8_t *room = tv_host_room(length);
    if (length > 0)
        memcpy(room, file_bytes.data, length);
    tv_host_knows(length, (double)file_bytes.length);
    tv_host_is_page(length);
    tv_host_foreign(length);
    look_at_answer();
}

static void find_page(void)
{
    tv_host_page(take_byte(), (double)file_bytes.length);
    look_at_answer();
}

static void read_page_trace(void)
{
    tv_host_trace(take_byte());
    for (unsigned i = 0; i < 4; i++) {
        bool sound = tv_host_trace_more();
        look_at_answer();
        if (!sound || tv_host_answer_length() == 0)
            break;
    }
}

static void show_status(void)
{
    tv_host_status();
    look_at_answer();
}

static void begin_anew(void)
{
    host_page_release(&host.page);
    tv_session_free(host.session);
    for (size_t i = 0; i < host.input_count; i++)
        tv_free(host.inputs[i].name);
    for (size_t i = 0; i < host.count; i++) {
        void *name;
        memcpy(&name, &host.files[i].name, sizeof name);
        tv_free(name);
    }
    tv_free(host.inputs);
    tv_free(host.files);
    tv_free(host.room);
    if (host.begun)
        tv_out_release(&host.answer);
    memset(&host, 0, sizeof host);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const acts[])(void) = {add_file,  load_files,      ask_question,
                                         add_input, look_at_head,    find_page,
                                         cut_input, read_page_trace, show_status};
    if (size < 2)
        return -1;
    size_t length = data[0] | (size_t)data[1] << 8;
    if (length > size - 2)
        length = size - 2;
    file_bytes = (struct tv_bytes){data + 2, length};
    input = (struct tv_bytes){data + 2 + length, size - 2 - length};
    for (unsigned i = 0; i < STEPS && input.length > 0; i++)
        acts[take_byte() % TV_COUNT(acts)]();
    begin_anew();
    return 0;
}
