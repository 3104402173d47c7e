/* SPDX-License-Identifier: Apache-2.0 */
#include "packets.h"

#include <string.h>

#define LONGEST_RECORD 30u
/* Methods are addresses there. */
#define FIRST_ADDRESS UINT64_C(0x7000a01000)
#define METHOD_BYTES 40u

void packets_header(struct packets *packets, uint64_t start_ns)
{
    uint8_t bytes[TV_MT_HEADER_SIZE] = {0};
    tv_le_put_u32(bytes, TV_MT_MAGIC);
    tv_le_put_u16(bytes + TV_MT_HEADER_VERSION, TV_MT_PACKETS_2);
    tv_le_put_u64(bytes + TV_MT_PACKET_HEADER_START, start_ns);
    fwrite(bytes, 1, sizeof bytes, packets->file);
}

static uint64_t address(uint32_t method)
{
    return FIRST_ADDRESS + (uint64_t)method * METHOD_BYTES;
}

void packets_method(struct packets *packets, uint32_t method, const char *line)
{
    uint8_t head[TV_MT_PACKET_METHOD_HEAD] = {TV_MT_PACKET_METHOD};
    size_t length = strlen(line);
    tv_le_put_u64(head + 1, address(method));
    tv_le_put_u16(head + 9, (uint16_t)length);
    fwrite(head, 1, sizeof head, packets->file);
    fwrite(line, 1, length, packets->file);
}

void packets_thread(struct packets *packets, uint32_t tid, const char *name)
{
    uint8_t head[TV_MT_PACKET_THREAD_HEAD] = {TV_MT_PACKET_THREAD};
    size_t length = strlen(name);
    tv_le_put_u32(head + 1, tid);
    tv_le_put_u16(head + 5, (uint16_t)length);
    fwrite(head, 1, sizeof head, packets->file);
    fwrite(name, 1, length, packets->file);
}

static void put_uleb(struct packets *packets, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        packets->block[packets->used++] = (uint8_t)(value | 0x80);
    packets->block[packets->used++] = (uint8_t)value;
}

static void put_sleb(struct packets *packets, int64_t value)
{
    while (value < -64 || value > 63) {
        packets->block[packets->used++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    packets->block[packets->used++] = (uint8_t)(value & 0x7f);
}

static void end_block(struct packets *packets)
{
    uint8_t head[TV_MT_PACKET_ENTRIES_HEAD] = {TV_MT_PACKET_ENTRIES};
    if (packets->count > 0) {
        tv_le_put_u32(head + 1, packets->tid);
        tv_le_put_u24(head + 5, packets->count);
        tv_le_put_u32(head + 8, (uint32_t)packets->used);
        fwrite(head, 1, sizeof head, packets->file);
        fwrite(packets->block, 1, packets->used, packets->file);
    }
    packets->count = 0;
    packets->used = 0;
    packets->id = packets->wall_ns = packets->cpu_ns = 0;
}

void packets_add(struct packets *packets, const struct packets_record *record)
{
    uint64_t id = address(record->method) | record->action;
    if (record->tid != packets->tid || packets->used + LONGEST_RECORD > PACKETS_ROOM)
        end_block(packets);
    packets->tid = record->tid;
    put_sleb(packets, (int64_t)(id - packets->id));
    put_uleb(packets, record->wall_ns - packets->wall_ns);
    put_uleb(packets, record->cpu_ns - packets->cpu_ns);
    packets->id = id;
    packets->wall_ns = record->wall_ns;
    packets->cpu_ns = record->cpu_ns;
    packets->count++;
}

void packets_end(struct packets *packets, const char *summary)
{
    uint8_t head[TV_MT_PACKET_SUMMARY_HEAD] = {TV_MT_PACKET_SUMMARY};
    end_block(packets);
    tv_le_put_u16(head + 1, (uint16_t)strlen(summary));
    fwrite(head, 1, sizeof head, packets->file);
    fputs(summary, packets->file);
}
