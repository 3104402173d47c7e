/* SPDX-License-Identifier: Apache-2.0 */
#include "writers/rewrite.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/source.h"

/* Where the text of an input of a format can stand. */
static const struct {
    const char *format, *key;
    bool names; /* it has nothing but names, which filters leave alone */
} places[] = {
    {"ftrace text", "systemTraceEvents", false},
    {"Event Tracing for Windows", "systemTraceEvents", false},
    {"BattOr power samples", "powerTraceAsString", false},
    {"Process dump", "androidProcessDump", true},
    {"Cgroup dump", "cgroupDump", true},
};

enum role {
    ROLE_EVENTS, /* a Trace Event file */
    ROLE_TEXT,   /* its text stands beside the events */
    ROLE_MODEL,  /* it is written from the model */
};

struct model_pid {
    uint64_t pid;
    bool known;
};

struct rewriting {
    const struct tv_trace *trace;
    const struct tv_rewrite_part *part; /* NULL: all */
    struct tv_out *out;
    struct tv_rewrite_losses *losses;
    enum role *roles; /* by input */
    size_t files, models;
    uint32_t last_file; /* the Trace Event file that inputs may stand inside of; TV_NONE */
    uint32_t clock;     /* the input whose clock all is on */
    struct tv_te_rewrite_text *texts;
    size_t text_count, text_capacity;
    uint32_t *machines; /* of the processes of each input; TV_NONE: unknown */
    uint32_t machine; /* that of the first file's events, and of texts whose keys have no number */
    struct model_pid *pids; /* of processes written from the model */
    struct model_pid *none; /* by input: of what has no process; then of processors */
    struct tv_te_used_ids taken;
    struct tv_te_rewrite *rewrite;
    struct tv_rewrite_choice **choices; /* by file */
};

bool tv_rewrite_can(const struct tv_trace *trace)
{
    for (uint32_t i = 0; i < trace->head->input_count; i++)
        if (trace->head->inputs[i].assembled)
            return true;
    return false;
}

/* ---- What becomes of each input ---- */

static const char *key_of(const struct rewriting *r, uint32_t input, bool *names)
{
    for (size_t i = 0; i < TV_COUNT(places); i++)
        if (strcmp(places[i].format, r->trace->head->inputs[input].format) == 0) {
            *names = places[i].names;
            return places[i].key;
        }
    return NULL;
}

/* The member of the Trace Event file before it that the input is: its name is "app.json:
 * cgroupDump".  Empty: it is a file by itself. */
static struct tv_bytes member_of(const struct rewriting *r, uint32_t input, const char *key)
{
    const struct tv_head *head = r->trace->head;
    struct tv_bytes name = tv_head_text(head, head->inputs[input].name), none = {NULL, 0};
    if (r->last_file == TV_NONE)
        return none;
    struct tv_bytes file = tv_head_text(head, head->inputs[r->last_file].name);
    if (!tv_bytes_starts_with(name, file) || name.length < file.length + 2 ||
        memcmp(name.data + file.length, ": ", 2) != 0)
        return none;
    name = (struct tv_bytes){name.data + file.length + 2, name.length - file.length - 2};
    return tv_bytes_starts_with(name, tv_bytes_of(key)) ? name : none;
}

static bool has_key(const struct rewriting *r, const char *key)
{
    for (size_t i = 0; i < r->text_count; i++)
        if (strcmp(r->texts[i].key, key) == 0)
            return true;
    return false;
}

/* Whether a process of another machine has the pid of one of this. */
static bool shares_pids(const struct tv_head *head, uint32_t machine)
{
    struct tv_map pids;
    bool any = false;
    tv_map_init(&pids);
    for (uint32_t i = 0; i < head->process_count; i++)
        if (head->processes[i].machine == machine && head->processes[i].id != 0)
            tv_map_set(&pids, head->processes[i].id, i);
    for (uint32_t i = 0; i < head->process_count && !any; i++)
        any = head->processes[i].machine != machine &&
              tv_map_find(&pids, head->processes[i].id) != TV_NONE;
    tv_map_release(&pids);
    return any;
}

/* Keys are numbered where there are several ("cgroupDump+2"), and where processes of the text would
 * be taken for those of events ("cgroupDump2"). */
static void make_key(const struct rewriting *r, uint32_t input, const char *key, char *made,
                     size_t size)
{
    uint32_t machine = r->machines[input];
    bool apart =
        machine != TV_NONE && machine != r->machine && shares_pids(r->trace->head, machine);
    snprintf(made, size, "%s%s", key, apart ? "2" : "");
    for (unsigned number = 2; has_key(r, made); number++)
        snprintf(made, size, "%s%s%u", key, apart ? "" : "+", number);
}

static enum role find_role(struct rewriting *r, uint32_t number)
{
    const struct tv_input *input = &r->trace->head->inputs[number];
    struct tv_te_rewrite_text text = {.source = input->source, .file = SIZE_MAX};
    bool names = false;
    if (r->part && r->part->modelled)
        return ROLE_MODEL;
    if (tv_te_rewrite_is_input(input)) {
        r->last_file = number;
        return ROLE_EVENTS;
    }
    const char *key = key_of(r, number, &names);
    struct tv_bytes member = key ? member_of(r, number, key) : (struct tv_bytes){NULL, 0};
    if (!key || (!input->source && member.length == 0))
        return ROLE_MODEL;
    bool written = !r->part || names;
    if (written)
        make_key(r, number, key, text.key, sizeof text.key);
    if (member.length > 0) {
        text.file = r->files - 1;
        snprintf(text.member, sizeof text.member, "%s", (const char *)member.data);
    }
    r->texts = tv_array_reserve(r->texts, &r->text_capacity, r->text_count + 1, sizeof *r->texts);
    r->texts[r->text_count++] = text;
    return written ? ROLE_TEXT : ROLE_MODEL;
}

static void note_machine(struct rewriting *r, uint32_t input, uint32_t process)
{
    const struct tv_head *head = r->trace->head;
    if (process < head->process_count && r->machines[input] == TV_NONE)
        r->machines[input] = head->processes[process].machine;
}

/* Heads do not say whose a process is. */
static void find_machines(struct rewriting *r)
{
    const struct tv_trace *trace = r->trace;
    const struct tv_head *head = trace->head;
    r->machines = tv_alloc(head->input_count, sizeof *r->machines);
    for (uint32_t i = 0; i < head->input_count; i++)
        r->machines[i] = TV_NONE;
    for (uint32_t i = 0; i < head->thread_count; i++)
        note_machine(r, head->threads[i].input, head->threads[i].process);
    for (uint32_t i = 0; i < trace->track_count; i++)
        note_machine(r, trace->tracks[i].input, tv_track_process(trace, i));
    for (size_t i = 0; i < trace->tables.counters.count; i++)
        note_machine(r, trace->tables.counters.rows[i].input,
                     trace->tables.counters.rows[i].process);
    /* That of the first Trace Event file; where there is none, of the first input. */
    r->machine = TV_NONE;
    for (uint32_t i = head->input_count; i-- > 0;)
        if (r->machines[i] != TV_NONE && tv_te_rewrite_is_input(&head->inputs[i]))
            r->machine = r->machines[i];
    for (uint32_t i = 0; i < head->input_count && r->machine == TV_NONE; i++)
        r->machine = r->machines[i];
}

static void find_roles(struct rewriting *r)
{
    const struct tv_head *head = r->trace->head;
    r->roles = tv_alloc(head->input_count, sizeof *r->roles);
    r->last_file = TV_NONE;
    for (uint32_t i = 0; i < head->input_count; i++) {
        r->roles[i] = find_role(r, i);
        r->files += r->roles[i] == ROLE_EVENTS;
        r->models += r->roles[i] == ROLE_MODEL;
    }
    r->clock = 0;
    for (uint32_t i = head->input_count; i-- > 0;)
        if (head->inputs[i].assembled && (r->roles[i] == ROLE_EVENTS || r->files == 0))
            r->clock = i;
}

/* ---- Writing ---- */

static tv_ns shift_of(const struct rewriting *r, uint32_t input)
{
    tv_ns shift;
    if (__builtin_sub_overflow(r->trace->offset[input], r->trace->offset[r->clock], &shift))
        return 0;
    return shift;
}

/* Ids of stack frames of a later file must not mean those of an earlier one. */
static bool renames_frames(const struct rewriting *r, uint32_t input)
{
    bool own = false, earlier = false;
    for (size_t i = 0; i < r->trace->tables.stack_frames.count; i++) {
        own |= r->trace->tables.stack_frames.rows[i].input == input;
        earlier |= r->trace->tables.stack_frames.rows[i].input < input;
    }
    return own && earlier;
}

/* Events of a file must not have the pids of another machine's processes that only texts with
 * plain keys tell of. */
static void take_pids(struct rewriting *r, uint32_t file)
{
    const struct tv_head *head = r->trace->head;
    for (uint32_t input = 0; input < head->input_count; input++) {
        uint32_t machine = r->machines[input];
        if (r->roles[input] != ROLE_TEXT || machine == TV_NONE || machine == r->machines[file])
            continue;
        for (uint32_t i = 0; i < head->process_count; i++)
            if (head->processes[i].machine == machine && head->processes[i].key == TV_EMPTY_STRING)
                (void)tv_te_used_ids_add_pid(&r->taken, head->processes[i].id);
    }
}

static enum tv_status write_file(struct rewriting *r, uint32_t input, size_t file,
                                 struct tv_te_rewrite_selection *choice, struct tv_error *err)
{
    if (r->part) {
        r->choices[file] = tv_rewrite_choice_new(r->trace, r->part, input, r->machines[input]);
        *choice = tv_rewrite_choice_of(r->choices[file]);
    }
    struct tv_te_rewrite_file added = {
        .source = r->trace->head->inputs[input].source,
        .choice = r->part ? choice : NULL,
        .shift = shift_of(r, input),
        .frames = renames_frames(r, input),
        .keeps_pids = r->machines[input] == r->machine,
    };
    if (file > 0)
        take_pids(r, input);
    return tv_te_rewrite_file(r->rewrite, &added, err);
}

static uint64_t choose_pid(struct rewriting *r, uint32_t process)
{
    if (process >= r->trace->head->process_count)
        return tv_te_used_ids_new_pid(&r->taken);
    const struct tv_process *p = &r->trace->head->processes[process];
    bool plain = p->key == TV_EMPTY_STRING, taken = !tv_te_used_ids_add_pid(&r->taken, p->id);
    bool own = !taken || (p->machine == r->machine && p->machine != TV_NONE);
    return plain && own ? p->id : tv_te_used_ids_new_pid(&r->taken);
}

static uint64_t pid_of(void *context, uint32_t process, uint32_t input)
{
    struct rewriting *r = context;
    struct model_pid *chosen;
    if (process == TV_TRACE_EVENT_NO_PROCESS)
        chosen = &r->none[input];
    else if (process == TV_TRACE_EVENT_PROCESSORS)
        chosen = &r->none[r->trace->head->input_count + input];
    else
        chosen = &r->pids[process];
    if (!chosen->known)
        *chosen = (struct model_pid){choose_pid(r, process), true};
    return chosen->pid;
}

static void separate(void *context)
{
    struct rewriting *r = context;
    tv_te_rewrite_separate(r->rewrite);
}

static void write_models(struct rewriting *r)
{
    const struct tv_head *head = r->trace->head;
    bool *inputs = tv_alloc(head->input_count, sizeof *inputs);
    struct tv_keep all = {.processes = NULL};
    struct tv_trace_event_choice choice = {
        .keep = r->part ? r->part->keep : &all,
        .inputs = inputs,
        .limit = r->part ? r->part->limit : NULL,
        .base = head->inputs[r->clock].assembled ? -r->trace->offset[r->clock] : 0,
        .pid = pid_of,
        .separate = separate,
        .context = r,
    };
    for (uint32_t i = 0; i < head->input_count; i++)
        inputs[i] = r->roles[i] == ROLE_MODEL;
    tv_trace_event_add(r->out, r->trace, &choice, &r->losses->model);
    tv_free(inputs);
}

/* ---- Where everything is from ---- */

static void write_model_pids(const struct rewriting *r, uint32_t input)
{
    const struct tv_head *head = r->trace->head;
    bool any = false;
    tv_out_char(r->out, '{');
    for (uint32_t i = 0; i < head->process_count; i++) {
        if (head->processes[i].machine != r->machines[input] || !r->pids[i].known ||
            r->pids[i].pid == head->processes[i].id)
            continue;
        tv_out_format(r->out, "%s\"%llu\":\"%llu\"", any ? "," : "",
                      (unsigned long long)r->pids[i].pid,
                      (unsigned long long)head->processes[i].id);
        any = true;
    }
    tv_out_char(r->out, '}');
}

static void write_pid(const struct rewriting *r, const struct model_pid *pid, bool *any)
{
    if (!pid->known)
        return;
    tv_out_format(r->out, "%s%llu", *any ? "," : "", (unsigned long long)pid->pid);
    *any = true;
}

/* The pids of an input that was written from the model. */
static void write_model_processes(const struct rewriting *r, uint32_t input)
{
    const struct tv_head *head = r->trace->head;
    bool *own = tv_alloc(head->process_count, sizeof *own), any = false;
    memset(own, 0, head->process_count * sizeof *own);
    for (uint32_t i = 0; i < head->thread_count; i++)
        if (head->threads[i].input == input && head->threads[i].process < head->process_count)
            own[head->threads[i].process] = true;
    tv_out_char(r->out, '[');
    for (uint32_t i = 0; i < head->process_count; i++)
        if (own[i])
            write_pid(r, &r->pids[i], &any);
    write_pid(r, &r->none[input], &any);
    write_pid(r, &r->none[head->input_count + input], &any);
    tv_out_char(r->out, ']');
    tv_free(own);
}

/* Where the input's events end and whose they are: what is open there is so until there.
 * `file`: SIZE_MAX: it was written from the model. */
static void write_end(const struct rewriting *r, uint32_t input, size_t file)
{
    const struct tv_input *in = &r->trace->head->inputs[input];
    tv_ns end;
    if (in->eventless || (r->part && r->part->ranged) ||
        __builtin_add_overflow(in->origin, in->last_wall, &end) ||
        __builtin_add_overflow(end, shift_of(r, input), &end))
        return;
    tv_out_text(r->out, ",\"end\":");
    tv_out_time(r->out, end, 1000, 3);
    tv_out_text(r->out, ",\"processes\":");
    if (file == SIZE_MAX)
        write_model_processes(r, input);
    else
        tv_te_rewrite_processes(r->rewrite, file, r->out);
}

/* Names of folders are nobody's business. */
static struct tv_bytes name_of(const struct rewriting *r, uint32_t input)
{
    struct tv_bytes name = tv_head_text(r->trace->head, r->trace->head->inputs[input].name);
    for (size_t i = name.length; i-- > 0;)
        if (name.data[i] == '/' && i + 1 < name.length)
            return (struct tv_bytes){name.data + i + 1, name.length - i - 1};
    return name;
}

static void write_origins(const struct rewriting *r)
{
    const struct tv_head *head = r->trace->head;
    size_t file = 0;
    tv_out_text(r->out, ",\n\"convertedFrom\":[");
    for (uint32_t i = 0; i < head->input_count; i++) {
        tv_out_text(r->out, i > 0 ? ",\n{\"file\":" : "\n{\"file\":");
        tv_out_json(r->out, name_of(r, i));
        tv_out_text(r->out, ",\"format\":");
        tv_out_json(r->out, tv_bytes_of(head->inputs[i].format));
        tv_out_text(r->out, ",\"pids\":");
        if (r->roles[i] == ROLE_EVENTS) {
            tv_te_rewrite_pids(r->rewrite, file, r->out);
            write_end(r, i, file++);
        } else {
            write_model_pids(r, i);
            if (r->roles[i] == ROLE_MODEL && head->inputs[i].assembled)
                write_end(r, i, SIZE_MAX);
        }
        tv_out_char(r->out, '}');
    }
    tv_out_char(r->out, ']');
}

/* What an input that is written from the model says of itself: "app.trace: otherData". */
static void write_metadata(const struct rewriting *r, uint32_t input)
{
    const struct tv_head *head = r->trace->head;
    struct tv_out key;
    bool any = false;
    tv_out_init_memory(&key);
    tv_out_bytes(&key, name_of(r, input));
    tv_out_text(&key, ": otherData");
    for (uint32_t i = 0; i < head->metadata_count; i++) {
        if (head->metadata[i].input != input)
            continue;
        tv_out_text(r->out, ",\n");
        if (!any) {
            tv_out_json(r->out, (struct tv_bytes){key.buffer, key.length});
            tv_out_text(r->out, ":{\n");
        }
        any = true;
        tv_out_json(r->out, tv_head_text(head, head->metadata[i].key));
        tv_out_char(r->out, ':');
        tv_out_json(r->out, tv_head_text(head, head->metadata[i].value));
    }
    tv_out_text(r->out, any ? "}" : "");
    tv_out_release(&key);
}

/* ---- What files that become one have in common ---- */

static uint32_t id_text(struct tv_interner *texts, const struct tv_head *head, uint32_t thread)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)head->threads[thread].id);
    return tv_interner_add(texts, head->threads[thread].key == TV_EMPTY_STRING
                                      ? tv_bytes_of(digits)
                                      : tv_head_text(head, head->threads[thread].key));
}

/* Members of "samples" name a thread without its process: the last thread of that id is meant, also
 * when it is another file's. */
static void count_samples(struct rewriting *r)
{
    const struct tv_trace *trace = r->trace;
    struct tv_interner *texts = tv_interner_new();
    struct tv_map inputs; /* the last one of an id */
    tv_map_init(&inputs);
    for (uint32_t i = 0; i < trace->head->thread_count; i++)
        if (r->roles[trace->head->threads[i].input] == ROLE_EVENTS)
            tv_map_set(&inputs, id_text(texts, trace->head, i), trace->head->threads[i].input);
    for (size_t i = 0; i < trace->tables.samples.count; i++) {
        const struct tv_sample *sample = &trace->tables.samples.rows[i];
        struct tv_bytes title = tv_head_text(trace->head, sample->title);
        if (sample->thread == TV_NONE || r->roles[sample->input] != ROLE_EVENTS ||
            tv_bytes_equal(title, TV_BYTES("V8 Sample")) ||
            tv_bytes_equal(title, TV_BYTES("Trace Event Sample")))
            continue;
        r->losses->samples +=
            tv_map_find(&inputs, id_text(texts, trace->head, sample->thread)) != sample->input;
    }
    tv_map_release(&inputs);
    tv_interner_free(texts);
}

/* ---- The whole ---- */

static enum tv_status write_all(struct rewriting *r, struct tv_te_rewrite_selection *choices,
                                struct tv_error *err)
{
    const struct tv_head *head = r->trace->head;
    enum tv_status status = TV_OK;
    size_t file = 0;
    for (uint32_t i = 0; i < head->input_count && status == TV_OK; i++) {
        if (r->roles[i] != ROLE_EVENTS)
            continue;
        status = write_file(r, i, file, &choices[file], err);
        file++;
    }
    if (status == TV_OK && r->models > 0)
        write_models(r);
    if (status == TV_OK)
        status = tv_te_rewrite_members(
            r->rewrite, r->texts, r->text_count,
            r->part && r->part->limit ? r->part->limit->beside : UINT64_MAX, err);
    for (uint32_t i = 0; i < head->input_count; i++)
        if (r->roles[i] == ROLE_MODEL)
            write_metadata(r, i);
    if (r->files > 1)
        count_samples(r);
    if (head->input_count > 1 || r->files == 0)
        write_origins(r);
    tv_out_text(r->out, "}\n");
    return status;
}

static void begin(struct rewriting *r)
{
    const struct tv_head *head = r->trace->head;
    find_machines(r);
    find_roles(r);
    r->pids = tv_alloc(head->process_count, sizeof *r->pids);
    r->none = tv_alloc(2 * (size_t)head->input_count, sizeof *r->none);
    tv_te_used_ids_init(&r->taken);
    for (uint32_t i = 0; i < head->process_count; i++)
        tv_map_set(&r->taken.avoid, head->processes[i].id, 0);
    bool joint = r->files > 1 || r->models > 0;
    r->rewrite = tv_te_rewrite_begin(r->out, joint ? &r->taken : NULL);
    r->choices = tv_alloc(r->files, sizeof(struct tv_rewrite_choice *));
}

static void end(struct rewriting *r)
{
    for (size_t i = 0; i < r->files; i++)
        tv_rewrite_choice_free(r->choices[i]);
    tv_te_rewrite_free(r->rewrite);
    tv_te_used_ids_release(&r->taken);
    tv_free(r->choices);
    tv_free(r->roles);
    tv_free(r->machines);
    tv_free(r->pids);
    tv_free(r->none);
    tv_free(r->texts);
}

enum tv_status tv_rewrite(const struct tv_trace *trace, const struct tv_rewrite_part *part,
                          struct tv_out *out, struct tv_rewrite_losses *losses,
                          struct tv_error *err)
{
    struct rewriting r = {
        .trace = trace,
        .part = part,
        .out = out,
        .losses = losses,
    };
    *losses = (struct tv_rewrite_losses){.samples = 0};
    begin(&r);
    struct tv_te_rewrite_selection *choices = tv_alloc(r.files, sizeof *choices);
    enum tv_status status = write_all(&r, choices, err);
    tv_free(choices);
    end(&r);
    return status;
}
