/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/process_dump.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/side_input.h"

/* No table has more columns that count. */
#define MOST_WORDS 16

/* Up to MOST_WORDS words of a line that has no blanks at its ends. */
static unsigned split(struct tv_bytes line, struct tv_bytes *words)
{
    unsigned count = 0;
    while (count < MOST_WORDS && (words[count] = tv_bytes_take_word(&line)).length > 0)
        count++;
    return count;
}

/* ---- The heading ---- */

static bool is_word(struct tv_bytes word, const char *name)
{
    return tv_bytes_equal(word, tv_bytes_of(name));
}

static unsigned find_word(const struct tv_bytes *words, unsigned count, const char *name)
{
    unsigned i = 0;
    while (i < count && !is_word(words[i], name))
        i++;
    return i;
}

/* False: the table tells no names. */
static bool read_heading(struct tv_process_dump *dump, struct tv_bytes line,
                         const struct tv_bytes *words, unsigned count)
{
    *dump = (struct tv_process_dump){
        .headed = true,
        .columns = count,
        .pid = find_word(words, count, "PID"),
        .tid = find_word(words, count, "TID"),
        .name = find_word(words, count, "NAME"),
    };
    dump->threads = dump->tid < count;
    if (dump->name == count)
        dump->name = find_word(words, count, "CMD");
    if (dump->name == count)
        dump->name = find_word(words, count, "COMM");
    if (dump->pid == count || dump->name == count)
        return false;
    dump->name_place = (size_t)(words[dump->name].data - line.data);
    if (dump->name + 1 < count)
        dump->name_end = (size_t)(words[dump->name + 1].data - line.data);
    else if (!dump->threads && find_word(words, count, "S") == count) {
        /* Old ps printed the state between PC and NAME without a heading. */
        dump->name++;
        dump->columns++;
    }
    return true;
}

/* ---- Rows ---- */

/* What stands under the heading; empty when the columns have slipped. */
static struct tv_bytes under_heading(const struct tv_process_dump *dump, struct tv_bytes line)
{
    size_t start = dump->name_place, end = dump->name_end;
    if (start == 0 || end >= line.length || !tv_is_blank(line.data[start - 1]) ||
        !tv_is_blank(line.data[end - 1]))
        return (struct tv_bytes){NULL, 0};
    return tv_bytes_trim((struct tv_bytes){line.data + start, end - start});
}

static struct tv_bytes find_name(const struct tv_process_dump *dump, struct tv_bytes line,
                                 const struct tv_bytes *words, unsigned count)
{
    struct tv_bytes word = words[dump->name];
    if (dump->name + 1 == dump->columns) /* the last column: names may have blanks */
        return (struct tv_bytes){word.data, (size_t)(line.data + line.length - word.data)};
    if (count == dump->columns)
        return word;
    struct tv_bytes placed = under_heading(dump, line);
    return placed.length > 0 ? placed : word;
}

/* "[kthreadd]": so ps prints what has no command line. */
static struct tv_bytes without_brackets(struct tv_bytes name)
{
    if (name.length > 2 && name.data[0] == '[' && name.data[name.length - 1] == ']')
        return (struct tv_bytes){name.data + 1, name.length - 2};
    return name;
}

static bool read_row(const struct tv_process_dump *dump, struct tv_bytes line,
                     const struct tv_bytes *words, unsigned count, struct tv_process_dump_row *row)
{
    if (count <= dump->name || !tv_parse_u64(words[dump->pid], &row->pid))
        return false;
    row->is_thread = dump->threads;
    row->tid = 0;
    if (dump->threads && !tv_parse_u64(words[dump->tid], &row->tid))
        return false;
    row->name = without_brackets(find_name(dump, line, words, count));
    return true;
}

enum tv_process_dump_kind tv_process_dump_line(struct tv_process_dump *dump, struct tv_bytes line,
                                               struct tv_process_dump_row *row)
{
    struct tv_bytes words[MOST_WORDS];
    /* Places under a heading count from the line's first byte. */
    while (line.length > 0 && tv_is_blank(line.data[line.length - 1]))
        line.length--;
    struct tv_bytes text = tv_bytes_trim(line);
    unsigned count = split(text, words);
    if (count == 0 || is_word(text, "PROCESS DUMP"))
        return TV_PROCESS_DUMP_NOTHING;
    if (is_word(words[0], "USER")) {
        dump->headed = read_heading(dump, line, words, count);
        return dump->headed ? TV_PROCESS_DUMP_NOTHING : TV_PROCESS_DUMP_BAD;
    }
    return dump->headed && read_row(dump, line, words, count, row) ? TV_PROCESS_DUMP_ROW
                                                                   : TV_PROCESS_DUMP_BAD;
}

/* ---- The reader ---- */

/* "USER PID PPID ...": the table without the title. */
static bool begins_with_heading(struct tv_bytes head)
{
    struct tv_bytes line, words[MOST_WORDS];
    tv_bytes_split(&head, '\n', &line);
    unsigned count = split(tv_bytes_trim(line), words);
    return count > 3 && is_word(words[0], "USER") && is_word(words[1], "PID") &&
           (is_word(words[2], "PPID") || is_word(words[2], "TID"));
}

static int sniff(struct tv_bytes head, uint64_t size)
{
    (void)size;
    return tv_bytes_starts_with(head, TV_BYTES("PROCESS DUMP")) || begins_with_heading(head) ? 95
                                                                                             : 0;
}

struct reading {
    struct tv_process_dump dump;
    struct tv_trace *trace;
    uint32_t input;
};

static void take_line(void *context, const struct tv_text_line *line)
{
    struct reading *reading = context;
    struct tv_trace_info *head = reading->trace->head;
    struct tv_process_dump_row row;
    enum tv_process_dump_kind kind = line->too_long
                                         ? TV_PROCESS_DUMP_BAD
                                         : tv_process_dump_line(&reading->dump, line->text, &row);
    if (kind == TV_PROCESS_DUMP_BAD)
        tv_diagnostics_add(&head->diagnostics, TV_DIAGNOSTIC_BAD_LINE, line->offset);
    if (kind != TV_PROCESS_DUMP_ROW)
        return;
    head->inputs[reading->input].records++;
    *tv_table_add(&reading->trace->tables.known_names) = (struct tv_known_name){
        .pid = row.pid,
        .tid = row.tid,
        .is_thread = row.is_thread,
        .name = tv_trace_info_string(head, row.name),
        .input = reading->input,
    };
}

static enum tv_status assemble(struct tv_source *source, struct tv_builder *builder,
                               const struct tv_read_options *options, struct tv_error *err)
{
    struct tv_side_input side;
    tv_side_input_begin(&side, source, builder, "Process dump");
    struct reading reading = {.trace = side.trace, .input = side.input};
    enum tv_status status = tv_side_input_lines(&side, options, take_line, &reading, err);
    tv_side_input_end(&side);
    return status;
}

const struct tv_reader tv_reader_process_dump = {
    .name = "process-dump",
    .summary = "Names of processes and threads beside a systrace (\"PROCESS DUMP\")",
    .sniff = sniff,
    .assemble = assemble,
};
