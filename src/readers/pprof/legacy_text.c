/* SPDX-License-Identifier: Apache-2.0 */
/*
 * legacy_text.c - reader of the text profiles of Go (debug=1) and of tcmalloc, gperftools and Java.
 *
 *     heap profile: 348: 2053416 [3912: 65253832] @ heap/8192       first line: which kind
 *     171: 459648 [171: 459648] @ 0x4c13db 0x4c01c3                 in use, allocated, stack
 *     #	0x4c13da	main.worker+0x17a	/src/main.go:71           names, if the writer knew them
 *
 *     goroutine profile: total 10         "1 @ 0x4371f6 0x4034aa": a count for each stack
 *     --- contention:                     "delay count @ 0x4c13db ...", after lines "key = value"
 *     --- contentionz 1 ---               the same of Java, names at the end
 *     --- threadz 1 ---                   "--- Thread 7f01 (name: main/17) stack: ---", addresses
 *
 * Addresses of all of these return to calls, so one byte less is in the call; Java's are numbers
 * of places.  Lines of /proc/PID/maps may follow.
 */
#include "readers/readers.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/pprof/address_profile.h"

enum legacy_kind {
    LEGACY_HEAP,
    LEGACY_COUNT, /* goroutine, threadcreate, and profiles of the program's own */
    LEGACY_CONTENTION,
    LEGACY_JAVA_HEAP,
    LEGACY_THREADS,
};

struct legacy_text {
    struct tv_address_profile all; /* must be first */
    enum legacy_kind kind;
    bool allocated; /* heap: also what was freed */
    bool java;      /* format = java */
    bool typed;     /* value types are added: after the lines "key = value" */
    bool unsample;  /* heap: counts are of samples */
    int64_t period; /* of samples; 0: unknown */
    int64_t cycles_a_second;
    struct tv_bytes unit;            /* Java: resolution */
    struct tv_bytes variable, value; /* "source=/home": mapped files are named "$source/bin" */
};

/* ---- Which kind ---- */

static const struct {
    const char *start;
    enum legacy_kind kind;
} legacy_starts[] = {
    {"heap profile: ", LEGACY_HEAP},
    {"goroutine profile: total ", LEGACY_COUNT},
    {"threadcreate profile: total ", LEGACY_COUNT},
    {"--- contention", LEGACY_CONTENTION},
    {"--- mutex:", LEGACY_CONTENTION},
    {"--- heapz ", LEGACY_JAVA_HEAP},
    {"--- threadz ", LEGACY_THREADS},
};

/* Find the kind by the first line that is not blank. */
static bool legacy_find_kind(struct tv_bytes text, enum legacy_kind *kind)
{
    while (text.length > 0 && (tv_is_blank(text.data[0]) || text.data[0] == '\n')) {
        text.data++;
        text.length--;
    }
    for (size_t i = 0; i < TV_COUNT(legacy_starts); i++)
        if (tv_bytes_starts_with(text, tv_bytes_of(legacy_starts[i].start))) {
            *kind = legacy_starts[i].kind;
            return true;
        }
    return false;
}

static int legacy_sniff(struct tv_bytes prefix, uint64_t size)
{
    enum legacy_kind kind;
    (void)size;
    return legacy_find_kind(prefix, &kind) ? TV_SNIFF_SURE : 0;
}

/* ---- Numbers ---- */

/* Take a number, after blanks; a ':' or bracket around it is skipped. */
static bool legacy_take_number(struct tv_bytes *text, int64_t *number)
{
    while (text->length > 0 && (tv_is_blank(text->data[0]) || strchr("[]:", text->data[0]))) {
        text->data++;
        text->length--;
    }
    size_t length = 0;
    while (length < text->length && ((text->data[length] >= '0' && text->data[length] <= '9') ||
                                     (length == 0 && text->data[0] == '-')))
        length++;
    if (!tv_parse_i64((struct tv_bytes){text->data, length}, number))
        return false;
    text->data += length;
    text->length -= length;
    return true;
}

static int64_t legacy_round(double value)
{
    return value >= 9.2e18 ? INT64_MAX : value <= -9.2e18 ? INT64_MIN : (int64_t)value;
}

static int64_t legacy_times(int64_t value, int64_t times)
{
    return tv_time_times(value, times);
}

/* Estimate what was allocated from the samples, which a Poisson process took every `rate` bytes. */
static void legacy_unsample(const struct legacy_text *text, int64_t *count, int64_t *size)
{
    if (!text->unsample || text->period <= 1 || *count == 0 || *size == 0)
        return;
    double average = (double)*size / (double)*count;
    double scale = 1 / (1 - exp(-average / (double)text->period));
    *count = legacy_round((double)*count * scale);
    *size = legacy_round((double)*size * scale);
}

/* ---- Value types ---- */

static void legacy_add_heap_types(struct legacy_text *text)
{
    struct tv_address_profile *all = &text->all;
    if (text->allocated) {
        tv_address_profile_add_type(all, TV_BYTES("alloc_objects"), TV_BYTES("count"), 0);
        tv_address_profile_add_type(all, TV_BYTES("alloc_space"), TV_BYTES("bytes"), 0);
    }
    bool both = text->allocated || text->java;
    tv_address_profile_add_type(all, both ? TV_BYTES("inuse_objects") : TV_BYTES("objects"),
                                TV_BYTES("count"), 0);
    tv_address_profile_add_type(all, both ? TV_BYTES("inuse_space") : TV_BYTES("space"),
                                TV_BYTES("bytes"), 0);
}

/* Read "heap profile: 5: 1416 [10676: 6924448] @ heap_v2/524288". */
static void legacy_take_heap_header(struct legacy_text *text, struct tv_bytes line)
{
    int64_t numbers[4] = {0};
    struct tv_bytes rest = line, name;
    tv_bytes_split(&rest, ':', &name);
    for (unsigned i = 0; i < 4; i++)
        if (!legacy_take_number(&rest, &numbers[i]))
            break;
    text->allocated = (numbers[2] != numbers[0] && numbers[2] != 0) ||
                      (numbers[3] != numbers[1] && numbers[3] != 0);
    tv_bytes_split(&rest, '@', &name);
    tv_bytes_split(&rest, '/', &name);
    name = tv_bytes_trim(name);
    int64_t period;
    text->period = tv_parse_i64(tv_bytes_trim(rest), &period) && period > 0 ? period : 1;
    text->unsample = !tv_bytes_equal(name, TV_BYTES("heapprofile"));
    if (tv_bytes_equal(name, TV_BYTES("heap"))) /* writes twice the rate */
        text->period /= 2;
    legacy_add_heap_types(text);
}

/* Read "goroutine profile: total 10". */
static void legacy_take_count_header(struct legacy_text *text, struct tv_bytes line)
{
    tv_address_profile_add_type(&text->all, tv_bytes_take_word(&line), TV_BYTES("count"), 0);
}

/* Add the value types once the lines "key = value" are known. */
static void legacy_add_types(struct legacy_text *text)
{
    if (text->typed)
        return;
    text->typed = true;
    if (text->kind == LEGACY_CONTENTION) {
        tv_address_profile_add_type(&text->all, TV_BYTES("contentions"), TV_BYTES("count"), 0);
        tv_address_profile_add_type(&text->all, TV_BYTES("delay"),
                                    text->unit.length > 0 ? text->unit : TV_BYTES("nanoseconds"),
                                    0);
    } else if (text->kind == LEGACY_JAVA_HEAP) {
        text->unsample = true;
        legacy_add_heap_types(text);
    }
}

/* Take "key = value".  Return false for another line. */
static bool legacy_take_key(struct legacy_text *text, struct tv_bytes line)
{
    struct tv_bytes key, value = line;
    int64_t number = 0;
    if (text->typed || !tv_bytes_split(&value, '=', &key))
        return false;
    key = tv_bytes_trim(key);
    value = tv_bytes_trim(value);
    tv_trace_info_add_metadata(text->all.profile.info, text->all.profile.input, key, value);
    tv_parse_i64(value, &number);
    if (tv_bytes_equal(key, TV_BYTES("format")))
        text->java = tv_bytes_equal(value, TV_BYTES("java"));
    else if (tv_bytes_equal(key, TV_BYTES("resolution")))
        text->unit = value;
    else if (tv_bytes_equal(key, TV_BYTES("sampling period")))
        text->period = number;
    else if (tv_bytes_equal(key, TV_BYTES("cycles/second")))
        text->cycles_a_second = number;
    else if (tv_bytes_equal(key, TV_BYTES("ms since reset")))
        text->all.profile.info->inputs[text->all.profile.input].elapsed_ns =
            tv_time_times(number, 1000000);
    return true;
}

/* ---- Samples ---- */

static void legacy_take_addresses(struct legacy_text *text, struct tv_bytes list)
{
    struct tv_bytes word;
    uint64_t address;
    while ((word = tv_bytes_take_word(&list)).length > 0)
        if (tv_bytes_starts_with(word, TV_BYTES("0x")) && tv_parse_hex(word, &address))
            tv_address_profile_add_address(&text->all,
                                           address > 0 && !text->java ? address - 1 : address);
}

/* Set a pair of values of a heap sample. */
static void legacy_set_heap(const struct legacy_text *text, int64_t count, int64_t size,
                            int64_t *values)
{
    legacy_unsample(text, &count, &size);
    values[0] = count;
    values[1] = size;
}

/* Set the values of a sample.  Return whether the line has as many numbers as its kind. */
static bool legacy_set_values(const struct legacy_text *text, const int64_t *numbers,
                              unsigned count, int64_t *values)
{
    switch (text->kind) {
    case LEGACY_HEAP:
        if (text->allocated)
            legacy_set_heap(text, numbers[2], numbers[3], values);
        legacy_set_heap(text, numbers[0], numbers[1], values + (text->allocated ? 2 : 0));
        return count == 4;
    case LEGACY_JAVA_HEAP: /* bytes, then objects */
        legacy_set_heap(text, numbers[1], numbers[0], values);
        return count == 2;
    case LEGACY_CONTENTION: {
        int64_t period = text->period > 0 ? text->period : 1;
        values[0] = legacy_times(numbers[1], period);
        values[1] = text->cycles_a_second > 0 ? legacy_round((double)numbers[0] * (double)period /
                                                             ((double)text->cycles_a_second / 1e9))
                    : text->java              ? legacy_times(numbers[0], period)
                                              : numbers[0];
        return count == 2;
    }
    case LEGACY_COUNT:
        values[0] = numbers[0];
        return count == 1;
    case LEGACY_THREADS:
        break;
    }
    return false;
}

/* Take "171: 459648 [171: 459648] @ 0x4c13db ...".  Return false for another line. */
static bool legacy_take_sample(struct legacy_text *text, struct tv_bytes line, uint64_t offset)
{
    struct tv_bytes front, list = line;
    int64_t numbers[4] = {0}, values[TV_ADDRESS_VALUES] = {0};
    unsigned count = 0;
    if (!tv_bytes_split(&list, '@', &front))
        return false;
    while (count < 4 && legacy_take_number(&front, &numbers[count]))
        count++;
    if (count == 0)
        return false;
    legacy_add_types(text);
    if (!legacy_set_values(text, numbers, count, values))
        return false;
    memcpy(tv_address_profile_add_sample(&text->all, offset)->values, values, sizeof values);
    legacy_take_addresses(text, list);
    return true;
}

/* ---- Names ---- */

/* Take Go's "#<tab>0x4c0856<tab>main.f+0x96<tabs>/src/main.go:125".  Go repeats the names below
 * each stack, so only the first ones of an address count.  Return false for another line. */
static bool legacy_take_go_name(struct legacy_text *text, struct tv_bytes line, uint64_t first)
{
    struct tv_bytes word, name;
    uint64_t address;
    if (!tv_bytes_starts_with(line, TV_BYTES("#\t0x")))
        return false;
    line = (struct tv_bytes){line.data + 1, line.length - 1};
    word = tv_bytes_take_word(&line);
    name = tv_bytes_take_word(&line);
    if (!tv_parse_hex(word, &address))
        return false;
    for (size_t i = name.length; i-- > 3;) /* cut "+0x96" */
        if (tv_bytes_starts_with((struct tv_bytes){name.data + i - 3, name.length - i + 3},
                                 TV_BYTES("+0x"))) {
            name.length = i - 3;
            break;
        }
    uint32_t known = tv_map_find(&text->all.last_names, address);
    if (known == TV_NONE || known >= first)
        tv_address_profile_name_place(&text->all, address, name, tv_bytes_trim(line));
    return true;
}

/* ---- Threads ---- */

/* Take a line of threadz: the head of a thread, or an address on its stack. */
static bool legacy_take_thread_line(struct legacy_text *text, struct tv_bytes line, uint64_t offset)
{
    uint64_t address;
    struct tv_address_profile *all = &text->all;
    if (tv_bytes_starts_with(line, TV_BYTES("--- Thread "))) {
        if (!text->typed)
            tv_address_profile_add_type(all, TV_BYTES("thread"), TV_BYTES("count"), 0);
        text->typed = true;
        tv_address_profile_add_sample(all, offset)->values[0] = 1;
        return true;
    }
    struct tv_bytes rest = line, word = tv_bytes_take_word(&rest);
    if (tv_bytes_equal(word, TV_BYTES("PC:")))
        word = tv_bytes_take_word(&rest);
    if (word.length > 0 && word.data[word.length - 1] == ':')
        word.length--;
    if (all->sample_count == 0 || !tv_bytes_starts_with(word, TV_BYTES("0x")) ||
        !tv_parse_hex(word, &address))
        return false;
    /* The first one is where the thread is, the others return to calls. */
    bool leaf = all->samples[all->sample_count - 1].depth == 0;
    tv_address_profile_add_address(all, leaf || address == 0 ? address : address - 1);
    return true;
}

/* ---- Lines ---- */

/* Lines that say nothing about stacks: blank ones, comments, headings. */
static bool legacy_is_idle_line(struct tv_bytes line)
{
    struct tv_bytes text = tv_bytes_trim(line);
    return text.length == 0 || text.data[0] == '#' || tv_bytes_starts_with(text, TV_BYTES("---")) ||
           tv_bytes_starts_with(text, TV_BYTES("MAPPED_LIBRARIES:")) ||
           tv_bytes_starts_with(text, TV_BYTES("build=")) ||
           tv_bytes_starts_with(text, TV_BYTES("creation of"));
}

/* Take "name=value" among the mappings; the last one counts.  Return false for another line. */
static bool legacy_take_variable(struct legacy_text *text, struct tv_bytes line)
{
    struct tv_bytes name, value = tv_bytes_trim(line);
    if (!tv_bytes_split(&value, '=', &name) || name.length == 0 ||
        memchr(name.data, ' ', name.length))
        return false;
    text->variable = name;
    text->value = value;
    return true;
}

/* Put the value in the place of the variable that begins the name of a mapped file. */
static void legacy_expand_name(struct legacy_text *text, struct tv_mapped_file *file)
{
    struct tv_bytes rest = file->name;
    struct tv_out name;
    if (rest.length <= text->variable.length || text->variable.length == 0 || rest.data[0] != '$')
        return;
    rest = (struct tv_bytes){rest.data + 1, rest.length - 1};
    if (!tv_bytes_starts_with(rest, text->variable))
        return;
    rest.data += text->variable.length;
    rest.length -= text->variable.length;
    tv_out_init_memory(&name);
    tv_out_bytes(&name, text->value);
    tv_out_bytes(&name, rest);
    struct tv_trace_info *info = text->all.profile.info;
    file->name = tv_trace_info_text(
        info, tv_trace_info_string(info, (struct tv_bytes){name.buffer, name.length}));
    tv_out_release(&name);
}

static void legacy_take_mapping(struct legacy_text *text, struct tv_bytes line, uint64_t offset)
{
    struct tv_address_map *map = &text->all.map;
    size_t before = map->count;
    if (!tv_address_map_add_line(map, line) && !legacy_take_variable(text, line))
        tv_profile_warn(&text->all.profile, TV_DIAGNOSTIC_BAD_LINE, offset);
    if (map->count > before)
        legacy_expand_name(text, &map->files[before]);
}

/* Take a line as the first kind that it can be. `first_name`: number of names before those of the
 * current stack. */
static void legacy_take_line(struct legacy_text *text, struct tv_bytes line, uint64_t offset,
                             size_t *first_name)
{
    if (!tv_bytes_starts_with(line, TV_BYTES("#")))
        *first_name = text->all.name_count;
    if (text->kind == LEGACY_THREADS && legacy_take_thread_line(text, line, offset))
        return;
    if (legacy_take_go_name(text, line, *first_name) || legacy_is_idle_line(line) ||
        legacy_take_sample(text, line, offset) || legacy_take_key(text, line))
        return;
    if (text->java && tv_address_profile_take_java_name(&text->all, line))
        return;
    legacy_take_mapping(text, line, offset);
}

static void legacy_take_header(struct legacy_text *text, struct tv_bytes line)
{
    if (text->kind == LEGACY_HEAP)
        legacy_take_heap_header(text, line);
    else if (text->kind == LEGACY_COUNT)
        legacy_take_count_header(text, line);
    text->typed = text->kind == LEGACY_HEAP || text->kind == LEGACY_COUNT;
    text->java = text->kind == LEGACY_JAVA_HEAP;
}

/* Read the text line by line.  The first line that is not empty is the header, which tells the
 * kind; when all is known, the value types and the stacks are added. */
static enum tv_status legacy_assemble(struct tv_source *source, struct tv_builder *builder,
                                      const struct tv_read_options *options, struct tv_error *err)
{
    struct legacy_text text = {.kind = LEGACY_HEAP};
    struct tv_profile_text file;
    struct tv_bytes line;
    size_t first_name = 0;
    bool header = false;
    enum tv_status status = tv_profile_text_read(source, &file, err);
    if (status != TV_OK)
        return status;
    tv_address_profile_begin(&text.all, source, builder, "pprof text profile");
    legacy_find_kind(file.bytes, &text.kind);
    struct tv_cursor cursor = tv_cursor_over(file.bytes);
    while (tv_cursor_take_line(&cursor, &line)) {
        uint64_t offset = (uint64_t)(line.data - file.bytes.data);
        if (header)
            legacy_take_line(&text, line, offset, &first_name);
        else if (tv_bytes_trim(line).length > 0) {
            legacy_take_header(&text, tv_bytes_trim(line));
            header = true;
        }
    }
    legacy_add_types(&text);
    tv_address_profile_end(&text.all, options);
    tv_profile_text_release(&file);
    return TV_OK;
}

const struct tv_reader tv_reader_pprof_text = {
    .name = "pprof-text",
    .sniff = legacy_sniff,
    .assemble = legacy_assemble,
    .refuses_empty = true,
};
