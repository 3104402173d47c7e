/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"

static void die(const char *path, const char *what)
{
    printf("Bail out! %s: %s\n", path, what);
    exit(1);
}

void cases_read_file(const char *path, struct tv_out *out)
{
    FILE *file = fopen(path, "rb");
    uint8_t bytes[4096];
    size_t got;
    if (!file)
        die(path, "cannot open");
    while ((got = fread(bytes, 1, sizeof bytes, file)) > 0)
        tv_out_bytes(out, (struct tv_bytes){bytes, got});
    fclose(file);
}

enum state { STATE_NONE, STATE_NAMED, STATE_INPUT, STATE_EXPECT };

struct parser {
    const char *path;
    enum state state;
    struct test_case test;
    struct tv_out program; /* for the assembler */
    struct tv_out expect;  /* before its places are known */
    void (*run)(struct test_case *test, void *context);
    void *context;
};

static struct tv_bytes bytes_of(const struct tv_out *out)
{
    return (struct tv_bytes){out->buffer, out->length};
}

static void end_case(struct parser *parser)
{
    struct tv_error err;
    struct assembly assembly = {.place_count = 0};
    struct test_case *test = &parser->test;
    char text[500];
    if (parser->state == STATE_NONE)
        return;
    tv_out_init_memory(&assembly.out);
    if (!assemble(bytes_of(&parser->program), &assembly, &err)) {
        printf("# %s\n", test->name);
        die(parser->path, tv_error_text(&err, text, sizeof text));
    }
    test->assembly = &assembly;
    test->input = bytes_of(&assembly.out);
    tv_out_init_memory(&test->expect);
    if (!assembly_resolve(&assembly, bytes_of(&parser->expect), &test->expect))
        die(parser->path, "a place in `expect` that `input` does not have");
    parser->run(test, parser->context);
    tv_out_release(&assembly.out);
    tv_out_release(&test->expect);
    tv_out_release(&parser->program);
    tv_out_release(&parser->expect);
}

static void begin_case(struct parser *parser, struct tv_bytes name)
{
    end_case(parser);
    snprintf(parser->test.name, sizeof parser->test.name, "%.*s", (int)name.length,
             (const char *)name.data);
    tv_out_init_memory(&parser->program);
    tv_out_init_memory(&parser->expect);
    parser->state = STATE_NAMED;
}

static void take_line(struct parser *parser, struct tv_bytes line)
{
    if (tv_bytes_starts_with(line, TV_BYTES("case "))) {
        begin_case(parser, (struct tv_bytes){line.data + 5, line.length - 5});
    } else if (tv_bytes_equal(line, TV_BYTES("input")) && parser->state == STATE_NAMED) {
        parser->state = STATE_INPUT;
    } else if (tv_bytes_equal(line, TV_BYTES("expect")) && parser->state == STATE_INPUT) {
        parser->state = STATE_EXPECT;
    } else if (parser->state == STATE_INPUT) {
        tv_out_bytes(&parser->program, line);
        tv_out_char(&parser->program, '\n');
    } else if (parser->state == STATE_EXPECT && line.length > 0 && line.data[0] != '#') {
        tv_out_bytes(&parser->expect, line);
        tv_out_char(&parser->expect, '\n');
    }
}

void cases_for_each(const char *path, void (*run)(struct test_case *test, void *context),
                    void *context)
{
    struct parser parser = {.path = path, .run = run, .context = context};
    struct tv_out text;
    struct tv_bytes line;
    tv_out_init_memory(&text);
    cases_read_file(path, &text);
    struct tv_cursor cursor = tv_cursor_over(bytes_of(&text));
    while (tv_cursor_take_line(&cursor, &line))
        take_line(&parser, line);
    end_case(&parser);
    if (parser.state != STATE_EXPECT)
        die(path, "holds no whole case");
    tv_out_release(&text);
}
