/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite.c - one Trace Event file from several inputs.
 *
 * The difficult part is that inputs may come from several machines: pids of different processes
 * must not become equal, although readers identify processes by pid. Each input has a machine
 * (rewrite_find_machines); events of later files and rows of the model get new pids when theirs
 * are taken; a member "convertedFrom" records the original pids.
 *
 * Each input gets a role:
 *
 *   events   a Trace Event file: its own text goes into the new file, event by event, with changes
 *            where ids clash, so that nothing is lost that the model does not know
 *   text     ftrace, ETW, process lists: a string member beside the events, as Chrome writes it
 *   model    everything else: events are written from the model (trace_event.c)
 *
 * Times are those of one input, `clock`; the events of the others are shifted to it.
 */
#include "writers/trace/rewrite.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/source.h"

/* The members of a Trace Event file in which the text of an input can be stored. */
static const struct {
    const char *format, *key;
    bool names; /* contains only names, which filters do not affect */
} places[] = {
    {"ftrace text", "systemTraceEvents", false},
    {"Event Tracing for Windows", "systemTraceEvents", false},
    {"BattOr power samples", "powerTraceAsString", false},
    {"Process dump", "androidProcessDump", true},
    {"Cgroup dump", "cgroupDump", true},
};

enum rewrite_role {
    ROLE_EVENTS, /* a Trace Event file, rewritten event by event */
    ROLE_TEXT,   /* its text becomes a member of the file */
    ROLE_MODEL,  /* written from the model */
};

/* A pid of the new file, chosen when it is written first. */
struct rewrite_pid {
    uint64_t pid;
    bool known;
};

/* State of one rewrite. */
struct rewrite_run {
    const struct tv_trace *trace;
    const struct tv_rewrite_excerpt *excerpt; /* NULL: everything */
    struct tv_out *out;
    struct tv_rewrite_losses *losses;
    enum rewrite_role *roles; /* by input */
    size_t files, models;
    uint32_t last_file; /* the Trace Event file whose members the next inputs may be; TV_NONE */
    uint32_t clock;     /* the input whose clock the new file uses */
    struct tv_te_rewrite_text *texts;
    size_t text_count, text_capacity;
    uint32_t *machines; /* of the processes of each input; TV_NONE: unknown */
    uint32_t machine;   /* of the first file's events, and of texts whose keys have no number */
    struct rewrite_pid *pids; /* of processes written from the model */
    struct rewrite_pid *none; /* by input: the pid for rows without a process; after those, the
                               * pid for processors */
    struct tv_te_used_ids taken;
    struct tv_te_rewrite *rewrite;
    struct tv_rewrite_selection **choices; /* by file */
};

bool tv_rewrite_can(const struct tv_trace *trace)
{
    for (uint32_t i = 0; i < trace->head->input_count; i++)
        if (trace->head->inputs[i].assembled)
            return true;
    return false;
}

bool tv_rewrite_keeps_text(const struct tv_trace *trace)
{
    for (uint32_t i = 0; i < trace->head->input_count; i++)
        if (trace->head->inputs[i].verbatim)
            return true;
    return false;
}

/* ---- The role of each input ---- */

/* Return the member that can hold the text of the input, or NULL. */
static const char *rewrite_key_of(const struct rewrite_run *r, uint32_t input, bool *names)
{
    for (size_t i = 0; i < TV_COUNT(places); i++)
        if (strcmp(places[i].format, r->trace->head->inputs[input].format) == 0) {
            *names = places[i].names;
            return places[i].key;
        }
    return NULL;
}

/* Return the member of the preceding Trace Event file that the input is; its name is "app.json:
 * cgroupDump". Empty: it is a file by itself. */
static struct tv_bytes rewrite_member_of(const struct rewrite_run *r, uint32_t input,
                                         const char *key)
{
    const struct tv_trace_info *head = r->trace->head;
    struct tv_bytes name = tv_trace_info_text(head, head->inputs[input].name), none = {NULL, 0};
    if (r->last_file == TV_NONE)
        return none;
    struct tv_bytes file = tv_trace_info_text(head, head->inputs[r->last_file].name);
    if (!tv_bytes_starts_with(name, file) || name.length < file.length + 2 ||
        memcmp(name.data + file.length, ": ", 2) != 0)
        return none;
    name = (struct tv_bytes){name.data + file.length + 2, name.length - file.length - 2};
    return tv_bytes_starts_with(name, tv_bytes_of(key)) ? name : none;
}

/* Return true when a text has this key already. */
static bool rewrite_has_key(const struct rewrite_run *r, const char *key)
{
    for (size_t i = 0; i < r->text_count; i++)
        if (strcmp(r->texts[i].key, key) == 0)
            return true;
    return false;
}

/* Return true when a process of another machine has the pid of a process of this machine. */
static bool rewrite_shares_pids(const struct tv_trace_info *head, uint32_t machine)
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

/* Return true when a thread of this machine, of which no process is known, has the tid of a thread
 * in a process of another machine: within one machine it would be taken for that thread. */
static bool rewrite_shares_tids(const struct tv_trace_info *head, uint32_t machine)
{
    struct tv_map tids;
    bool any = false;
    tv_map_init(&tids);
    for (uint32_t i = 0; i < head->thread_count; i++) {
        const struct tv_thread *thread = &head->threads[i];
        if (thread->process == TV_NONE && thread->id != 0 &&
            head->inputs[thread->input].machine == machine)
            tv_map_set(&tids, thread->id, i);
    }
    for (uint32_t i = 0; i < head->thread_count && !any; i++) {
        const struct tv_thread *thread = &head->threads[i];
        any = thread->process < head->process_count &&
              head->processes[thread->process].machine != machine &&
              tv_map_find(&tids, thread->id) != TV_NONE;
    }
    tv_map_release(&tids);
    return any;
}

/* Make a key for a text. A second text with the same key gets a number ("cgroupDump+2"); so does
 * a text whose processes would be mistaken for those of the events ("cgroupDump2"). */
static void rewrite_make_key(const struct rewrite_run *r, uint32_t input, const char *key,
                             char *made, size_t size)
{
    uint32_t machine = r->machines[input];
    const struct tv_trace_info *head = r->trace->head;
    bool apart = machine != TV_NONE && machine != r->machine &&
                 (rewrite_shares_pids(head, machine) || rewrite_shares_tids(head, machine));
    snprintf(made, size, "%s%s", key, apart ? "2" : "");
    for (unsigned number = 2; rewrite_has_key(r, made); number++)
        snprintf(made, size, "%s%s%u", key, apart ? "" : "+", number);
}

/* Find the role of an input, and note its text. An excerpt cannot cut a text, so the text of an
 * excerpt is written from the model, unless it only has names. */
static enum rewrite_role rewrite_find_role(struct rewrite_run *r, uint32_t number)
{
    const struct tv_input *input = &r->trace->head->inputs[number];
    struct tv_te_rewrite_text text = {.source = input->source, .file = SIZE_MAX};
    bool names = false;
    if (r->excerpt && r->excerpt->modelled)
        return ROLE_MODEL;
    if (tv_te_rewrite_is_input(input)) {
        r->last_file = number;
        return ROLE_EVENTS;
    }
    const char *key = rewrite_key_of(r, number, &names);
    struct tv_bytes member = key ? rewrite_member_of(r, number, key) : (struct tv_bytes){NULL, 0};
    if (!key || (!input->source && member.length == 0))
        return ROLE_MODEL;
    bool written = !r->excerpt || names;
    if (written)
        rewrite_make_key(r, number, key, text.key, sizeof text.key);
    if (member.length > 0) {
        text.file = r->files - 1;
        snprintf(text.member, sizeof text.member, "%s", (const char *)member.data);
    }
    r->texts = tv_array_reserve(r->texts, &r->text_capacity, r->text_count + 1, sizeof *r->texts);
    r->texts[r->text_count++] = text;
    return written ? ROLE_TEXT : ROLE_MODEL;
}

/* Note the machine of an input by one of its processes; the first one counts. */
static void rewrite_note_machine(struct rewrite_run *r, uint32_t input, uint32_t process)
{
    const struct tv_trace_info *head = r->trace->head;
    if (process < head->process_count && r->machines[input] == TV_NONE)
        r->machines[input] = head->processes[process].machine;
}

/* Find the machine of each input. The head does not say which input a process came from. */
static void rewrite_find_machines(struct rewrite_run *r)
{
    const struct tv_trace *trace = r->trace;
    const struct tv_trace_info *head = trace->head;
    r->machines = tv_alloc(head->input_count, sizeof *r->machines);
    for (uint32_t i = 0; i < head->input_count; i++)
        r->machines[i] = TV_NONE;
    for (uint32_t i = 0; i < head->thread_count; i++)
        rewrite_note_machine(r, head->threads[i].input, head->threads[i].process);
    for (uint32_t i = 0; i < trace->track_count; i++)
        rewrite_note_machine(r, trace->tracks[i].input, tv_track_process(trace, i));
    for (size_t i = 0; i < trace->tables.counters.count; i++)
        rewrite_note_machine(r, trace->tables.counters.rows[i].input,
                             trace->tables.counters.rows[i].process);
    /* The machine of the first Trace Event file, or of the first input when there is no such
     * file. */
    r->machine = TV_NONE;
    for (uint32_t i = head->input_count; i-- > 0;)
        if (r->machines[i] != TV_NONE && tv_te_rewrite_is_input(&head->inputs[i]))
            r->machine = r->machines[i];
    for (uint32_t i = 0; i < head->input_count && r->machine == TV_NONE; i++)
        r->machine = r->machines[i];
    for (uint32_t i = 0; i < head->input_count; i++)
        if (r->machines[i] == TV_NONE)
            r->machines[i] = head->inputs[i].machine; /* no process of it is known */
}

/* Find all roles, and the input whose clock the file uses: the first one with events. */
static void rewrite_find_roles(struct rewrite_run *r)
{
    const struct tv_trace_info *head = r->trace->head;
    r->roles = tv_alloc(head->input_count, sizeof *r->roles);
    r->last_file = TV_NONE;
    for (uint32_t i = 0; i < head->input_count; i++) {
        r->roles[i] = rewrite_find_role(r, i);
        r->files += r->roles[i] == ROLE_EVENTS;
        r->models += r->roles[i] == ROLE_MODEL;
    }
    r->clock = 0;
    for (uint32_t i = head->input_count; i-- > 0;)
        if (head->inputs[i].assembled && (r->roles[i] == ROLE_EVENTS || r->files == 0))
            r->clock = i;
}

/* ---- Writing ---- */

/* Return how much the times of an input are shifted; 0 when the distance overflows. */
static tv_ns rewrite_shift_of(const struct rewrite_run *r, uint32_t input)
{
    tv_ns shift;
    assert(r->clock < r->trace->head->input_count);
    if (__builtin_sub_overflow(r->trace->offset[input], r->trace->offset[r->clock], &shift))
        return 0;
    return shift;
}

/* Return true when the IDs of the file's stack frames could be confused with those of an earlier
 * file. */
static bool rewrite_renames_frames(const struct rewrite_run *r, uint32_t input)
{
    bool own = false, earlier = false;
    for (size_t i = 0; i < r->trace->tables.stack_frames.count; i++) {
        own |= r->trace->tables.stack_frames.rows[i].input == input;
        earlier |= r->trace->tables.stack_frames.rows[i].input < input;
    }
    return own && earlier;
}

/* Reserve the pids of other machines' processes that only texts with plain keys mention; the
 * file's events must not use them. */
static void rewrite_reserve_pids(struct rewrite_run *r, uint32_t file)
{
    const struct tv_trace_info *head = r->trace->head;
    for (uint32_t input = 0; input < head->input_count; input++) {
        uint32_t machine = r->machines[input];
        if (r->roles[input] != ROLE_TEXT || machine == TV_NONE || machine == r->machines[file])
            continue;
        for (uint32_t i = 0; i < head->process_count; i++)
            if (head->processes[i].machine == machine && head->processes[i].key == TV_EMPTY_STRING)
                (void)tv_te_used_ids_add_pid(&r->taken, head->processes[i].id);
    }
}

/* Write the events of a Trace Event file. */
static enum tv_status rewrite_write_file(struct rewrite_run *r, uint32_t input, size_t file,
                                         struct tv_te_rewrite_selection *choice,
                                         struct tv_error *err)
{
    assert(file < r->files && r->roles[input] == ROLE_EVENTS);
    if (r->excerpt) {
        r->choices[file] =
            tv_rewrite_selection_new(r->trace, r->excerpt, input, r->machines[input]);
        *choice = tv_rewrite_selection_of(r->choices[file]);
    }
    struct tv_te_rewrite_file added = {
        .source = r->trace->head->inputs[input].source,
        .choice = r->excerpt ? choice : NULL,
        .shift = rewrite_shift_of(r, input),
        .frames = rewrite_renames_frames(r, input),
        .keeps_pids = r->machines[input] == r->machine,
    };
    if (file > 0)
        rewrite_reserve_pids(r, input);
    return tv_te_rewrite_file(r->rewrite, &added, err);
}

/* Return the pid for a process: its own, unless a process of another machine took it, or it has
 * none. */
static uint64_t rewrite_choose_pid(struct rewrite_run *r, uint32_t process)
{
    if (process >= r->trace->head->process_count)
        return tv_te_used_ids_new_pid(&r->taken);
    const struct tv_process *p = &r->trace->head->processes[process];
    bool plain = p->key == TV_EMPTY_STRING, taken = !tv_te_used_ids_add_pid(&r->taken, p->id);
    bool own = !taken || (p->machine == r->machine && p->machine != TV_NONE);
    return plain && own ? p->id : tv_te_used_ids_new_pid(&r->taken);
}

/* Return the pid for rows of the model; a callback of the writer of events. */
static uint64_t rewrite_pid_of(void *context, uint32_t process, uint32_t input)
{
    struct rewrite_run *r = context;
    struct rewrite_pid *chosen;
    if (process == TV_TRACE_EVENT_NO_PROCESS)
        chosen = &r->none[input];
    else if (process == TV_TRACE_EVENT_PROCESSORS)
        chosen = &r->none[r->trace->head->input_count + input];
    else
        chosen = &r->pids[process];
    if (!chosen->known)
        *chosen = (struct rewrite_pid){rewrite_choose_pid(r, process), true};
    return chosen->pid;
}

/* Write the comma before the next event; a callback. */
static void rewrite_separate_events(void *context)
{
    struct rewrite_run *r = context;
    tv_te_rewrite_separate(r->rewrite);
}

/* Write the events of all inputs with the role `model` in one pass. */
static void rewrite_write_models(struct rewrite_run *r)
{
    const struct tv_trace_info *head = r->trace->head;
    bool *inputs = tv_alloc(head->input_count, sizeof *inputs);
    struct tv_subset all = {.processes = NULL};
    struct tv_trace_event_selection choice = {
        .keep = r->excerpt ? r->excerpt->keep : &all,
        .inputs = inputs,
        .limit = r->excerpt ? r->excerpt->limit : NULL,
        .base = head->inputs[r->clock].assembled ? -r->trace->offset[r->clock] : 0,
        .pid = rewrite_pid_of,
        .separate = rewrite_separate_events,
        .context = r,
    };
    assert(r->models > 0);
    for (uint32_t i = 0; i < head->input_count; i++)
        inputs[i] = r->roles[i] == ROLE_MODEL;
    tv_trace_event_add(r->out, r->trace, &choice, &r->losses->model);
    tv_free(inputs);
}

/* ---- Origins ---- */

/* Write the pids that changed, new to old, so that reading the file shows the old ones. */
static void rewrite_write_model_pids(const struct rewrite_run *r, uint32_t input)
{
    const struct tv_trace_info *head = r->trace->head;
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

/* Write a pid into a list, if it is in use. */
static void rewrite_write_pid(const struct rewrite_run *r, const struct rewrite_pid *pid, bool *any)
{
    if (!pid->known)
        return;
    tv_out_format(r->out, "%s%llu", *any ? "," : "", (unsigned long long)pid->pid);
    *any = true;
}

/* Write the pids of an input that was written from the model. */
static void rewrite_write_model_processes(const struct rewrite_run *r, uint32_t input)
{
    const struct tv_trace_info *head = r->trace->head;
    bool *own = tv_alloc(head->process_count, sizeof *own), any = false;
    memset(own, 0, head->process_count * sizeof *own);
    for (uint32_t i = 0; i < head->thread_count; i++)
        if (head->threads[i].input == input && head->threads[i].process < head->process_count)
            own[head->threads[i].process] = true;
    tv_out_char(r->out, '[');
    for (uint32_t i = 0; i < head->process_count; i++)
        if (own[i])
            rewrite_write_pid(r, &r->pids[i], &any);
    rewrite_write_pid(r, &r->none[input], &any);
    rewrite_write_pid(r, &r->none[head->input_count + input], &any);
    tv_out_char(r->out, ']');
    tv_free(own);
}

/* Write the end of the input's events, and their processes: slices that are open there last
 * until then. `file` SIZE_MAX: written from the model. */
static void rewrite_write_end(const struct rewrite_run *r, uint32_t input, size_t file)
{
    const struct tv_input *in = &r->trace->head->inputs[input];
    tv_ns end;
    if (in->eventless || (r->excerpt && r->excerpt->ranged) ||
        __builtin_add_overflow(in->origin, in->last_wall, &end) ||
        __builtin_add_overflow(end, rewrite_shift_of(r, input), &end))
        return;
    tv_out_text(r->out, ",\"end\":");
    tv_out_time(r->out, end, 1000, 3);
    tv_out_text(r->out, ",\"processes\":");
    if (file == SIZE_MAX)
        rewrite_write_model_processes(r, input);
    else
        tv_te_rewrite_processes(r->rewrite, file, r->out);
}

/* Return the name without its directories, which are private. */
static struct tv_bytes rewrite_name_of(const struct rewrite_run *r, uint32_t input)
{
    struct tv_bytes name = tv_trace_info_text(r->trace->head, r->trace->head->inputs[input].name);
    for (size_t i = name.length; i-- > 0;)
        if (name.data[i] == '/' && i + 1 < name.length)
            return (struct tv_bytes){name.data + i + 1, name.length - i - 1};
    return name;
}

/* Write "convertedFrom": for each input its name, format, changed pids and end. */
static void rewrite_write_origins(const struct rewrite_run *r)
{
    const struct tv_trace_info *head = r->trace->head;
    size_t file = 0;
    tv_out_text(r->out, ",\n\"convertedFrom\":[");
    for (uint32_t i = 0; i < head->input_count; i++) {
        tv_out_text(r->out, i > 0 ? ",\n{\"file\":" : "\n{\"file\":");
        tv_out_json(r->out, rewrite_name_of(r, i));
        tv_out_text(r->out, ",\"format\":");
        tv_out_json(r->out, tv_bytes_of(head->inputs[i].format));
        tv_out_text(r->out, ",\"pids\":");
        if (r->roles[i] == ROLE_EVENTS) {
            tv_te_rewrite_pids(r->rewrite, file, r->out);
            rewrite_write_end(r, i, file++);
        } else {
            rewrite_write_model_pids(r, i);
            if (r->roles[i] == ROLE_MODEL && head->inputs[i].assembled)
                rewrite_write_end(r, i, SIZE_MAX);
        }
        tv_out_char(r->out, '}');
    }
    tv_out_char(r->out, ']');
}

/* Write the metadata of an input that is written from the model: "app.trace: otherData". */
static void rewrite_write_metadata(const struct rewrite_run *r, uint32_t input)
{
    const struct tv_trace_info *head = r->trace->head;
    struct tv_out key;
    bool any = false;
    tv_out_init_memory(&key);
    tv_out_bytes(&key, rewrite_name_of(r, input));
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
        tv_out_json(r->out, tv_trace_info_text(head, head->metadata[i].key));
        tv_out_char(r->out, ':');
        tv_out_json(r->out, tv_trace_info_text(head, head->metadata[i].value));
    }
    tv_out_text(r->out, any ? "}" : "");
    tv_out_release(&key);
}

/* ---- Conflicts between several files ---- */

/* Return the text by which samples name the thread. */
static uint32_t rewrite_id_text(struct tv_interner *texts, const struct tv_trace_info *head,
                                uint32_t thread)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)head->threads[thread].id);
    return tv_interner_add(texts, head->threads[thread].key == TV_EMPTY_STRING
                                      ? tv_bytes_of(digits)
                                      : tv_trace_info_text(head, head->threads[thread].key));
}

/* Count ambiguous samples. A member of "samples" names a thread without its process, which means
 * the last thread with that ID, even one of another file. */
static void rewrite_count_samples(struct rewrite_run *r)
{
    const struct tv_trace *trace = r->trace;
    struct tv_interner *texts = tv_interner_new();
    struct tv_map inputs; /* the last input with an ID */
    tv_map_init(&inputs);
    for (uint32_t i = 0; i < trace->head->thread_count; i++)
        if (r->roles[trace->head->threads[i].input] == ROLE_EVENTS)
            tv_map_set(&inputs, rewrite_id_text(texts, trace->head, i),
                       trace->head->threads[i].input);
    for (size_t i = 0; i < trace->tables.samples.count; i++) {
        const struct tv_sample *sample = &trace->tables.samples.rows[i];
        struct tv_bytes title =
            tv_trace_info_text(trace->head, tv_sample_title(&trace->tables, sample));
        if (sample->thread == TV_NONE || r->roles[sample->input] != ROLE_EVENTS ||
            tv_bytes_equal(title, TV_BYTES("V8 Sample")) ||
            tv_bytes_equal(title, TV_BYTES("Trace Event Sample")))
            continue;
        r->losses->samples +=
            tv_map_find(&inputs, rewrite_id_text(texts, trace->head, sample->thread)) !=
            sample->input;
    }
    tv_map_release(&inputs);
    tv_interner_free(texts);
}

/* ---- The file ---- */

/* Write the events of all inputs, then the members. */
static enum tv_status rewrite_write_all(struct rewrite_run *r,
                                        struct tv_te_rewrite_selection *choices,
                                        struct tv_error *err)
{
    const struct tv_trace_info *head = r->trace->head;
    enum tv_status status = TV_OK;
    size_t file = 0;
    for (uint32_t i = 0; i < head->input_count && status == TV_OK; i++) {
        if (r->roles[i] != ROLE_EVENTS)
            continue;
        status = rewrite_write_file(r, i, file, &choices[file], err);
        file++;
    }
    if (status == TV_OK && r->models > 0)
        rewrite_write_models(r);
    if (status == TV_OK)
        status = tv_te_rewrite_members(
            r->rewrite, r->texts, r->text_count,
            r->excerpt && r->excerpt->limit ? r->excerpt->limit->beside : UINT64_MAX, err);
    for (uint32_t i = 0; i < head->input_count; i++)
        if (r->roles[i] == ROLE_MODEL)
            rewrite_write_metadata(r, i);
    if (r->files > 1)
        rewrite_count_samples(r);
    if (head->input_count > 1 || r->files == 0)
        rewrite_write_origins(r);
    tv_out_text(r->out, "}\n");
    return status;
}

/* Decide everything that must be known before the first event. */
static void rewrite_begin_file(struct rewrite_run *r)
{
    const struct tv_trace_info *head = r->trace->head;
    rewrite_find_machines(r);
    rewrite_find_roles(r);
    r->pids = tv_alloc(head->process_count, sizeof *r->pids);
    r->none = tv_alloc(2 * (size_t)head->input_count, sizeof *r->none);
    tv_te_used_ids_init(&r->taken);
    for (uint32_t i = 0; i < head->process_count; i++)
        tv_map_set(&r->taken.avoid, head->processes[i].id, 0);
    bool joint = r->files > 1 || r->models > 0;
    r->rewrite = tv_te_rewrite_begin(r->out, joint ? &r->taken : NULL);
    r->choices = tv_alloc(r->files, sizeof(struct tv_rewrite_selection *));
}

static void rewrite_release(struct rewrite_run *r)
{
    for (size_t i = 0; i < r->files; i++)
        tv_rewrite_selection_free(r->choices[i]);
    tv_te_rewrite_free(r->rewrite);
    tv_te_used_ids_release(&r->taken);
    tv_free(r->choices);
    tv_free(r->roles);
    tv_free(r->machines);
    tv_free(r->pids);
    tv_free(r->none);
    tv_free(r->texts);
}

enum tv_status tv_rewrite(const struct tv_trace *trace, const struct tv_rewrite_excerpt *excerpt,
                          struct tv_out *out, struct tv_rewrite_losses *losses,
                          struct tv_error *err)
{
    struct rewrite_run r = {
        .trace = trace,
        .excerpt = excerpt,
        .out = out,
        .losses = losses,
    };
    *losses = (struct tv_rewrite_losses){.samples = 0};
    rewrite_begin_file(&r);
    struct tv_te_rewrite_selection *choices = tv_alloc(r.files, sizeof *choices);
    enum tv_status status = rewrite_write_all(&r, choices, err);
    tv_free(choices);
    rewrite_release(&r);
    return status;
}
