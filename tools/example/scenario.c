/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario.c - reads a scenario: lines into methods and threads, words into steps.
 */
#include "scenario.h"

#include "die.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OPEN 32   /* conditions and loops around one word */
#define MAX_BLOCKS 16 /* braces inside each other */
#define MAX_LINE 4096

struct parser {
    struct scenario *scenario;
    const char *path;
    int line;
    char *package; /* of the `source` line above, with dots */
    char *file;
    bool in_body;
    int open[MAX_OPEN]; /* steps whose jump waits for the end of what they govern */
    int open_count;
    int blocks[MAX_BLOCKS]; /* the value of open_count before each brace */
    int block_count;
    int last_try; /* the call that an `else{` may follow, or -1 */
};

static _Noreturn void complain(const struct parser *parser, const char *problem, const char *text)
{
    die("%s:%d: %s: %s", parser->path, parser->line, problem, text);
}

/* Cuts the next word off *cursor and ends it with a 0; NULL if there is none. */
static char *next_word(char **cursor, const char *separators)
{
    char *word = *cursor + strspn(*cursor, separators);
    char *end = word + strcspn(word, separators);

    *cursor = *end ? end + 1 : end;
    *end = '\0';
    return *word ? word : NULL;
}

static int find_name(struct name_list *list, const char *text, size_t length)
{
    for (int i = 0; i < list->count; i++)
        if (strlen(list->names[i]) == length && !memcmp(list->names[i], text, length))
            return i;
    list->names = grow(list->names, list->count, sizeof *list->names);
    list->names[list->count] = copy_text(text, length);
    return list->count++;
}

static int find_method(struct scenario *scenario, const char *key, size_t length)
{
    struct method *method;

    for (int i = 0; i < scenario->method_count; i++) {
        method = &scenario->methods[i];
        if (strlen(method->key) == length && !memcmp(method->key, key, length))
            return i;
    }
    scenario->methods = grow(scenario->methods, scenario->method_count, sizeof *scenario->methods);
    method = &scenario->methods[scenario->method_count];
    *method = (struct method){.key = copy_text(key, length)};
    return scenario->method_count++;
}

static struct step *add_step(struct scenario *scenario, enum step_kind kind)
{
    struct step *step;

    scenario->steps = grow(scenario->steps, scenario->step_count, sizeof *scenario->steps);
    step = &scenario->steps[scenario->step_count++];
    *step = (struct step){.kind = kind, .target = -1, .payload = NO_PAYLOAD, .jump = -1};
    return step;
}

static void add_to_payload(struct scenario *scenario, int method)
{
    scenario->payloads = grow(scenario->payloads, scenario->payload_count, sizeof(int));
    scenario->payloads[scenario->payload_count++] = method;
}

/* The methods between the brackets at `text`, or no payload if there are no brackets. */
static int read_payload(struct parser *parser, const char *text)
{
    struct scenario *scenario = parser->scenario;
    int first = scenario->payload_count;

    if (!*text)
        return NO_PAYLOAD;
    if (*text != '[' || text[strlen(text) - 1] != ']')
        complain(parser, "expected [Method/Method]", text);
    for (text++; *text; text++) {
        size_t length = strcspn(text, "/]");

        add_to_payload(scenario, find_method(scenario, text, length));
        text += length;
    }
    add_to_payload(scenario, -1);
    return first;
}

/* "30" or "30-60" at `text`; returns what follows. */
static const char *read_range(struct parser *parser, const char *text, struct step *step)
{
    char *end;

    if (!isdigit((unsigned char)*text))
        complain(parser, "expected a number", text);
    step->low = (uint32_t)strtoul(text, &end, 10);
    step->high = step->low;
    if (*end == '-')
        step->high = (uint32_t)strtoul(end + 1, &end, 10);
    if (step->high < step->low)
        complain(parser, "the range is upside down", text);
    return end;
}

static void add_range(struct parser *parser, enum step_kind kind, const char *text)
{
    if (*read_range(parser, text, add_step(parser->scenario, kind)))
        complain(parser, "expected a number or a range", text);
}

/* Name, Name@2 (no more than two activations), Name[payload]. */
static struct step *add_call(struct parser *parser, const char *text)
{
    size_t length = strcspn(text, "@[");
    int method = find_method(parser->scenario, text, length);
    int payload;
    struct step *step;
    char *end = NULL;
    uint32_t limit = FOREVER;

    if (text[length] == '@') {
        limit = (uint32_t)strtoul(text + length + 1, &end, 10);
        length = (size_t)(end - text);
    }
    payload = read_payload(parser, text + length);
    step = add_step(parser->scenario, STEP_CALL);
    step->target = method;
    step->low = limit;
    step->payload = payload;
    return step;
}

/* A|B|C */
static void add_choice(struct parser *parser, enum step_kind kind, char *text)
{
    int at = parser->scenario->step_count;
    uint32_t count = 0;

    add_step(parser->scenario, kind);
    for (char *word; (word = next_word(&text, "|")); count++)
        add_call(parser, word);
    parser->scenario->steps[at].low = count;
    for (int i = at; i < parser->scenario->step_count; i++)
        parser->scenario->steps[i].jump = parser->scenario->step_count;
}

static void add_post(struct parser *parser, enum step_kind kind, char *text)
{
    size_t length = strcspn(text, "[");
    int queue = find_name(&parser->scenario->queues, text, length);
    int payload = read_payload(parser, text + length);
    struct step *step = add_step(parser->scenario, kind);

    step->target = queue;
    step->payload = payload;
}

static void add_late_post(struct parser *parser, enum step_kind kind, char *text)
{
    struct step delay;
    struct step *step;
    size_t length = strcspn(text, ":");

    if (text[length] != ':' || read_range(parser, text, &delay) != text + length)
        complain(parser, "expected later:DELAY:QUEUE[...]", text);
    add_post(parser, kind, text + length + 1);
    step = &parser->scenario->steps[parser->scenario->step_count - 1];
    step->low = delay.low;
    step->high = delay.high;
}

static void add_queue(struct parser *parser, enum step_kind kind, char *text)
{
    int queue = find_name(&parser->scenario->queues, text, strlen(text));

    add_step(parser->scenario, kind)->target = queue;
}

/* Waits for a message that says nothing but that it is there. */
static void add_wait(struct parser *parser, enum step_kind kind, char *text)
{
    add_queue(parser, kind, text);
    parser->scenario->steps[parser->scenario->step_count - 1].low = 1;
}

static void add_lock(struct parser *parser, enum step_kind kind, char *text)
{
    int lock = find_name(&parser->scenario->locks, text, strlen(text));

    add_step(parser->scenario, kind)->target = lock;
}

/* FLAG=N */
static void add_assignment(struct parser *parser, enum step_kind kind, char *text)
{
    size_t length = strcspn(text, "=");
    struct step *step;

    if (text[length] != '=')
        complain(parser, "expected FLAG=NUMBER", text);
    step = add_step(parser->scenario, kind);
    step->target = find_name(&parser->scenario->flags, text, length);
    if (*read_range(parser, text + length + 1, step))
        complain(parser, "expected FLAG=NUMBER", text);
}

static void add_leave(struct parser *parser, enum step_kind kind, char *text)
{
    int method = find_method(parser->scenario, text, strlen(text));

    add_step(parser->scenario, kind)->target = method;
}

static void add_try(struct parser *parser, enum step_kind kind, char *text)
{
    (void)kind;
    add_call(parser, text)->catches = 1;
    parser->last_try = parser->scenario->step_count - 1;
    parser->scenario->steps[parser->last_try].jump = parser->scenario->step_count;
}

/* The words that are a verb, a colon and something else. */
static const struct verb {
    const char *name;
    enum step_kind kind;
    void (*add)(struct parser *parser, enum step_kind kind, char *text);
} verbs[] = {
    {"try", STEP_CALL, add_try},
    {"nth", STEP_CHOOSE_NTH, add_choice},
    {"post", STEP_POST, add_post},
    {"later", STEP_POST, add_late_post},
    {"vsync", STEP_POST_VSYNC, add_post},
    {"await", STEP_AWAIT, add_queue},
    {"wait", STEP_AWAIT, add_wait},
    {"poll", STEP_POLL, add_queue},
    {"lock", STEP_LOCK, add_lock},
    {"unlock", STEP_UNLOCK, add_lock},
    {"set", STEP_SET, add_assignment},
    {"leave", STEP_LEAVE, add_leave},
    {"subtract", STEP_SUBTRACT, add_assignment},
};

static void add_verb(struct parser *parser, const char *name, char *text)
{
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (!strcmp(verbs[i].name, name)) {
            verbs[i].add(parser, verbs[i].kind, text);
            return;
        }
    }
    complain(parser, "unknown verb", name);
}

/* The words that stand alone. */
static const struct {
    const char *text;
    enum step_kind kind;
} plain_words[] = {
    {"$", STEP_CALL_GIVEN},
    {"take", STEP_TAKE},
    {"throw", STEP_THROW},
    {"stop", STEP_STOP},
};

static bool add_plain_word(struct parser *parser, const char *text)
{
    for (size_t i = 0; i < sizeof plain_words / sizeof *plain_words; i++) {
        if (!strcmp(plain_words[i].text, text)) {
            add_step(parser->scenario, plain_words[i].kind);
            return true;
        }
    }
    return false;
}

static void add_core(struct parser *parser, char *text)
{
    size_t name_length = strcspn(text, ":[");

    if (isdigit((unsigned char)*text)) {
        add_range(parser, STEP_BURN, text);
    } else if (*text == '~') {
        add_range(parser, STEP_SLEEP, text + 1);
    } else if (text[name_length] == ':') {
        text[name_length] = '\0';
        add_verb(parser, text, text + name_length + 1);
    } else if (strchr(text, '|')) {
        add_choice(parser, STEP_CHOOSE, text);
    } else if (!add_plain_word(parser, text)) {
        add_call(parser, text);
    }
}

static void open_step(struct parser *parser, int step)
{
    if (parser->open_count == MAX_OPEN)
        complain(parser, "too many conditions and loops", "");
    parser->open[parser->open_count++] = step;
}

/* One of 3*  2-5*  *  30%  flag?  !flag?  ending at `mark`, which is its last character. */
static void add_prefix(struct parser *parser, char *text, char *mark)
{
    struct scenario *scenario = parser->scenario;
    char kind = *mark;
    int at = scenario->step_count;

    *mark = '\0';
    if (kind == '*' && !*text) {
        struct step *step = add_step(scenario, STEP_LOOP);

        step->low = step->high = FOREVER;
    } else if (kind == '*') {
        add_range(parser, STEP_LOOP, text);
    } else if (kind == '%') {
        add_range(parser, STEP_CHANCE, text);
    } else if (!strcmp(text, "none")) {
        add_step(scenario, STEP_IF_EMPTY);
    } else {
        bool negated = *text == '!';
        int flag = find_name(&scenario->flags, text + negated, strlen(text + negated));
        struct step *step = add_step(scenario, STEP_IF);

        step->target = flag;
        step->low = negated;
    }
    open_step(parser, at);
}

/* Ends what was opened since there were `base` open steps. */
static void close_steps(struct parser *parser, int base)
{
    struct scenario *scenario = parser->scenario;

    while (parser->open_count > base) {
        int at = parser->open[--parser->open_count];

        if (scenario->steps[at].kind == STEP_LOOP)
            add_step(scenario, STEP_LOOP_END)->jump = at + 1;
        scenario->steps[at].jump = scenario->step_count;
    }
}

static void open_block(struct parser *parser, int base)
{
    if (parser->block_count == MAX_BLOCKS)
        complain(parser, "too many braces", "{");
    parser->blocks[parser->block_count++] = base;
}

static void add_word(struct parser *parser, char *word)
{
    int base = parser->open_count;
    char *mark;

    if (!strcmp(word, "}")) {
        if (!parser->block_count)
            complain(parser, "no brace to close", word);
        close_steps(parser, parser->blocks[--parser->block_count]);
        return;
    }
    if (!strcmp(word, "else{")) {
        if (parser->last_try < 0)
            complain(parser, "no try: just before", word);
        open_step(parser, parser->last_try);
        open_block(parser, base);
        return;
    }
    while ((mark = strpbrk(word, "*%?[")) && *mark != '[') {
        add_prefix(parser, word, mark);
        word = mark + 1;
    }
    parser->last_try = -1;
    if (!strcmp(word, "{")) {
        open_block(parser, base);
        return;
    }
    add_core(parser, word);
    if (parser->open_count > base)
        parser->last_try = -1;
    close_steps(parser, base);
}

static void end_body(struct parser *parser)
{
    if (parser->block_count)
        complain(parser, "a brace is open", "{");
    if (parser->in_body)
        add_step(parser->scenario, STEP_RETURN);
    parser->in_body = false;
}

/* source android/os/Looper.java */
static void read_source(struct parser *parser, const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        complain(parser, "expected a path with a folder", path);
    free(parser->package);
    free(parser->file);
    parser->package = copy_text(path, (size_t)(slash - path));
    parser->file = copy_text(slash + 1, strlen(slash + 1));
    for (char *at = parser->package; *at; at++)
        if (*at == '/')
            *at = '.';
}

/* thread 2714 main */
static void read_thread(struct parser *parser, const char *text)
{
    struct scenario *scenario = parser->scenario;
    struct thread_role *role;
    char *end;
    unsigned long tid = strtoul(text, &end, 10);

    if (end == text || *end != ' ' || tid > UINT16_MAX)
        complain(parser, "expected thread TID NAME", text);
    scenario->threads = grow(scenario->threads, scenario->thread_count, sizeof *scenario->threads);
    role = &scenario->threads[scenario->thread_count++];
    role->tid = (uint32_t)tid;
    role->name = copy_text(end + 1, strlen(end + 1));
    role->body = scenario->step_count;
    parser->in_body = true;
}

/* "android.os" and "Looper.loop" to "android.os.Looper". */
static char *join_class(const char *package, const char *key, size_t class_length)
{
    size_t size = strlen(package) + 1 + class_length + 1;
    char *name = resize(NULL, size, 1);

    snprintf(name, size, "%s.%.*s", package, (int)class_length, key);
    return name;
}

/* Looper.loop ()V */
static void read_method(struct parser *parser, const char *text)
{
    struct scenario *scenario = parser->scenario;
    size_t key_length = strcspn(text, " ");
    const char *signature = text + key_length;
    int index = find_method(scenario, text, key_length);
    struct method *method = &scenario->methods[index];
    const char *dot = strrchr(method->key, '.');

    if (!parser->package)
        complain(parser, "no source line above", text);
    if (!dot || *signature != ' ' || signature[1] != '(')
        complain(parser, "expected Class.method (SIGNATURE)", text);
    if (method->class_name)
        complain(parser, "defined twice", text);
    method->class_name = join_class(parser->package, method->key, (size_t)(dot - method->key));
    method->name = copy_text(dot + 1, strcspn(dot + 1, "#"));
    method->signature = copy_text(signature + 1, strlen(signature + 1));
    method->file = copy_text(parser->file, strlen(parser->file));
    method->body = scenario->step_count;
    parser->in_body = true;
}

static void read_line(struct parser *parser, char *line)
{
    const char *start = line + strspn(line, " ");

    if (!*start || *start == '#')
        return;
    if (start > line) {
        if (!parser->in_body)
            complain(parser, "steps before a method or thread", line);
        for (char *word; (word = next_word(&line, " "));)
            add_word(parser, word);
        return;
    }
    end_body(parser);
    parser->last_try = -1;
    if (!strncmp(line, "source ", 7))
        read_source(parser, line + 7);
    else if (!strncmp(line, "pace ", 5))
        parser->scenario->pace_percent = (uint32_t)strtoul(line + 5, NULL, 10);
    else if (!strncmp(line, "thread ", 7))
        read_thread(parser, line + 7);
    else
        read_method(parser, line);
}

static bool is_same_method(const struct method *a, const struct method *b)
{
    return !strcmp(a->class_name, b->class_name) && !strcmp(a->name, b->name) &&
           !strcmp(a->signature, b->signature);
}

/* Methods that differ in their mark alone are one method to the trace's reader. */
static void finish_methods(const struct parser *parser)
{
    struct method *methods = parser->scenario->methods;

    for (int i = 0; i < parser->scenario->method_count; i++) {
        if (!methods[i].class_name)
            complain(parser, "called but not defined", methods[i].key);
        methods[i].shown_as = 0;
        while (!is_same_method(&methods[i], &methods[methods[i].shown_as]))
            methods[i].shown_as++;
    }
}

struct scenario *scenario_read(const char *path)
{
    struct scenario *scenario = resize(NULL, 1, sizeof *scenario);
    struct parser parser = {.scenario = scenario, .path = path, .last_try = -1};
    char line[MAX_LINE];
    FILE *file = fopen(path, "r");

    if (!file)
        die("%s: cannot open it", path);
    *scenario = (struct scenario){.pace_percent = 100};
    while (fgets(line, sizeof line, file)) {
        parser.line++;
        line[strcspn(line, "\n")] = '\0';
        read_line(&parser, line);
    }
    if (ferror(file))
        die("%s: cannot read it", path);
    fclose(file);
    end_body(&parser);
    finish_methods(&parser);
    free(parser.package);
    free(parser.file);
    return scenario;
}

static void free_names(struct name_list *list)
{
    for (int i = 0; i < list->count; i++)
        free(list->names[i]);
    free(list->names);
}

void scenario_free(struct scenario *scenario)
{
    for (int i = 0; i < scenario->method_count; i++) {
        free(scenario->methods[i].key);
        free(scenario->methods[i].class_name);
        free(scenario->methods[i].name);
        free(scenario->methods[i].signature);
        free(scenario->methods[i].file);
    }
    for (int i = 0; i < scenario->thread_count; i++)
        free(scenario->threads[i].name);
    free(scenario->methods);
    free(scenario->threads);
    free(scenario->steps);
    free(scenario->payloads);
    free_names(&scenario->flags);
    free_names(&scenario->queues);
    free_names(&scenario->locks);
    free(scenario);
}
