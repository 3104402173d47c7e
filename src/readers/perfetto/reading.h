/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reading.h - the state of reading a Perfetto trace; internal to this folder.
 *
 * Packets of many writers are interleaved.  Two passes over the frames:
 *
 *     survey   (survey.c)   counts packets by type; collects what may be after its users:
 *                           clock snapshots, track descriptors, process trees, the kernel's version
 *     payload  (perfetto.c) for each packet, in the order of the file: state of its sequence
 *                           (sequences.c), its time on the trace's clock (clocks.c), its events
 *
 *     ftrace_events --> bundle.c --+
 *     track_event ----> track_events.c --> chunk of the ftrace reader --> merge, schedule, assembly
 *     counters, logs -> probes.c --+   (logs.c; facts.c: metadata)
 *     samples --------> samples.c ---> rows that need the numbers of the trace: added after merge
 */
#ifndef TV_READERS_PERFETTO_READING_H
#define TV_READERS_PERFETTO_READING_H

#include "base/out.h"
#include "readers/ftrace/chunk.h"
#include "readers/ftrace/decoded.h"
#include "readers/ftrace/merge.h"
#include "readers/perfetto/message.h"
#include "readers/perfetto/packets.h"
#include "readers/reader.h"

/* ---- Clocks (clocks.c) ---- */

enum {
    TV_PF_CLOCK_DEFAULT = 0, /* not in the packet */
    TV_PF_CLOCK_REALTIME = 1,
    TV_PF_CLOCK_MONOTONIC = 3,
    TV_PF_CLOCK_MONOTONIC_RAW = 5,
    TV_PF_CLOCK_BOOTTIME = 6,
    TV_PF_CLOCK_SEQUENCE = 64, /* to 127: valid within one sequence */
    TV_PF_CLOCK_CUSTOM = 128,
};

#define TV_PF_CLOCKS 32u /* more clocks than that are ignored, with a diagnostic */
#define TV_PF_HOPS 4u

/* Two clocks at one instant. */
struct tv_pf_clock_point {
    int64_t from, to;
};

/* The conversion between two clocks that are in one snapshot. */
struct tv_pf_clock_hop {
    TV_TABLE(tv_pf_clock_point) points;
    size_t near; /* point of the last conversion */
};

struct tv_pf_clock_path {
    uint8_t length;
    uint8_t known; /* 0: not searched yet, 1: there is none, 2: hops are valid */
    uint8_t hops[TV_PF_HOPS + 1];
};

struct tv_pf_clock_value {
    int64_t value;
    uint32_t snapshot, clock; /* clock: index in ids */
};

struct tv_pf_clocks {
    uint32_t ids[TV_PF_CLOCKS];
    uint32_t count;
    uint32_t trace;   /* index of the trace's clock; TV_NONE: there is no snapshot */
    uint32_t primary; /* id that a snapshot asks for; 0: none */
    uint32_t snapshots;
    TV_TABLE(tv_pf_clock_value) values;
    uint32_t linked[TV_PF_CLOCKS]; /* bit set of clocks that share a snapshot with it */
    uint32_t backwards;            /* bit set of clocks that were set back: never a source */
    struct tv_pf_clock_hop *hops[TV_PF_CLOCKS][TV_PF_CLOCKS];
    struct tv_pf_clock_path paths[TV_PF_CLOCKS];
};

/* Add the clocks of a snapshot that are valid everywhere. */
void tv_pf_clocks_add_snapshot(struct tv_pf_clocks *clocks, struct tv_bytes snapshot);

/* Choose the clock of the trace, once all snapshots are known. */
void tv_pf_clocks_finish(struct tv_pf_clocks *clocks);
void tv_pf_clocks_release(struct tv_pf_clocks *clocks);

/* Return the id of the trace's clock; 0 when there is no snapshot. */
uint32_t tv_pf_clocks_trace_id(const struct tv_pf_clocks *clocks);

/* Convert a time of another clock than that of the trace.  Return false when no snapshot leads to
 * the clock of the trace. */
bool tv_pf_clocks_convert_other(struct tv_pf_clocks *clocks, uint32_t id, int64_t *time);

/* Convert a time to the clock of the trace, likewise. */
static inline bool tv_pf_clocks_convert(struct tv_pf_clocks *clocks, uint32_t id, int64_t *time)
{
    if (clocks->trace == TV_NONE || id == clocks->ids[clocks->trace] || id == TV_PF_CLOCK_DEFAULT)
        return true;
    return tv_pf_clocks_convert_other(clocks, id, time);
}

/* Return what to add to a clock of another machine to get the same clock of the one that recorded,
 * as a RemoteClockSync tells; 0: it does not tell of this clock. */
int64_t tv_pf_clocks_remote_shift(uint32_t id, struct tv_bytes sync);

/* ---- Sequences (sequences.c) ---- */

/* A clock of one sequence. */
struct tv_pf_own_clock {
    uint32_t id;
    uint32_t anchor_id; /* a clock of the same snapshot that is valid everywhere */
    bool incremental;
    int64_t unit;               /* nanoseconds */
    int64_t value;              /* nanoseconds: of the last packet */
    int64_t anchor_own, anchor; /* the two clocks in the snapshot */
    uint64_t unwritten;         /* of an incremental clock: steps that a cut left out (cut.c) */
};

struct tv_pf_interned {
    uint32_t blob; /* in reading->blobs: the message */
    uint32_t text; /* text of the chunk: its name; TV_NONE: not looked up yet */
};

/* The frame of an interned name, in the first category that it had. */
struct tv_pf_named_frame {
    uint32_t category; /* iid; 0: none */
    uint32_t frame;    /* frame of the chunk; TV_NONE: not made yet */
};

/* The track that a sequence named last in one role. */
struct tv_pf_known_track {
    uint64_t uuid;
    uint32_t after; /* the number + 1; 0: none yet */
    uint32_t sum;   /* sum of an incremental counter: index in `sums` + 1; 0: not known */
};

/* Roles: the first is the track of an event, the others are extra counters. */
#define TV_PF_KNOWN_TRACKS 4u

/* Packets of one writer, in the order in which it wrote them. */
struct tv_pf_sequence {
    uint32_t id;
    uint32_t generation; /* number of clears */
    bool valid;          /* the incremental state is complete */
    bool started;        /* it has had a packet */
    uint32_t default_clock;
    bool has_default_track;
    uint64_t default_track;
    uint32_t extra_counters;        /* blob: uuids, 8 bytes each; TV_EMPTY_STRING: none */
    uint32_t sample_defaults;       /* blob: PerfSampleDefaults */
    uint32_t stack_sample_defaults; /* blob: StackSampleDefaults */
    int64_t thread_pid, thread_tid; /* default thread; TV_FT_NO_ID: none */
    int64_t delta_time;             /* of old track events: microseconds; see ThreadDescriptor */
    struct tv_map interned;         /* key of field and iid -> index in `entries` */
    TV_TABLE(tv_pf_interned) entries;
    struct tv_map counters; /* hash of a uuid -> index in `sums` */
    int64_t *sums;          /* values of incremental counters */
    size_t sum_count, sum_capacity;
    struct tv_pf_named_frame *named_frames; /* by iid of the name, where these are small */
    size_t named_count, named_capacity;
    struct tv_map frames; /* the others: key of name and category -> frame of the chunk */
    struct tv_pf_known_track known_tracks[TV_PF_KNOWN_TRACKS];
    struct tv_pf_own_clock *clocks;
    uint8_t clock_count;
    uint32_t sketched; /* 1 + its line in the sketch; 0: not known yet */
};

#define TV_PF_OWN_CLOCKS 8u

/* ---- Tracks (tracks.c) ---- */

enum tv_pf_track_kind {
    TV_PF_TRACK_PLAIN,
    TV_PF_TRACK_PROCESS,
    TV_PF_TRACK_THREAD,
};

struct tv_pf_track {
    uint64_t uuid, parent; /* parent 0: none */
    uint8_t kind;          /* enum tv_pf_track_kind */
    bool described;        /* a descriptor told of it */
    bool is_counter, incremental, is_state;
    bool separate;        /* a thread's slices that do not mix with those of the kernel's marks */
    uint8_t counter_type; /* 1: CPU time of the thread in ns */
    uint8_t resolved;     /* 0: not yet; 1: owner_pid and owner_tid are set; 2: being resolved */
    int64_t pid, tid;
    int64_t multiplier;
    uint32_t name, unit; /* texts; unit: or a category of the counter */
    bool is_unit;
    int64_t owner_pid, owner_tid; /* of the process or thread that it belongs to */
    uint32_t task;                /* a thread's own track: task of the chunk; TV_NONE */
    uint32_t counter;             /* counter of the chunk; TV_NONE: not made yet */
};

/* Begin, end or instant on a track that is not a thread's own. */
struct tv_pf_track_event {
    int64_t time;
    uint64_t offset : 40, kind : 8, named : 1;
    uint32_t track, frame;
};

enum tv_pf_event_kind { TV_PF_BEGIN, TV_PF_END, TV_PF_POINT, TV_PF_STATE };

/* Event that holds a flow id. */
struct tv_pf_flow_event {
    uint64_t id;
    int64_t time;
    uint64_t offset : 40;
    uint64_t binding : 2; /* enum tv_ft_binding: which slice holds the id */
    uint64_t starts : 1;  /* phase s: the arrows of the id begin anew here */
    uint64_t passes : 1;  /* the next arrow begins where the one to this event did */
    uint64_t ends : 1;    /* the id is free again after this event */
    uint32_t task;        /* TV_NONE: the slice is on another track */
    uint32_t frame; /* name and category of phases s, t and f, which have ids of their own; else
                       TV_NONE */
};

/* Sample whose thread and stack get numbers of the trace after the merge. */
struct tv_pf_sample {
    int64_t time, weight;
    uint64_t offset;
    uint32_t task, cpu; /* task TV_NONE: none */
    uint32_t stack;     /* in reading->profile.stacks; TV_NONE: none */
    uint32_t type;      /* text: name of the value type */
    uint32_t unit;      /* text */
    bool first;         /* of the values of one input sample */
};

/* Stack of frames, the outermost first. */
struct tv_pf_stack {
    uint32_t first, count; /* in reading->profile.stack_frames */
};

struct tv_pf_sample_frame {
    uint32_t name, module, file; /* texts */
    uint32_t category;           /* text: a kind of code in the profiler's own word */
    int32_t line;
    uint8_t kind;     /* enum tv_frame_kind */
    uint32_t inlined; /* number + 1 of the frame that is inlined into this one; 0: none */
};

/* A name for a thread or process; of higher priority wins, of equal the later. */
struct tv_pf_name {
    uint64_t id;
    uint32_t name; /* text */
    uint8_t priority;
};

/* An app that is installed. */
struct tv_pf_package {
    uint32_t name; /* text */
    uint32_t user; /* id, without that of the person who uses the device */
    uint32_t next; /* of the same user; TV_NONE: none */
    int64_t version;
    bool debuggable, profileable, told; /* told: it is in the metadata */
};

/* Begin or end of a frame of the frame timeline. */
struct tv_pf_display_frame {
    int64_t time, cookie, token, pid;
    int64_t display_token; /* of the display frame that shows an actual surface frame; 0: none */
    uint64_t offset : 40, kind : 8, colour : 8; /* kind: field number of FrameTimelineEvent */
    uint32_t frame;                             /* frame of the chunk: named after the token */
};

/* Slice on a queue of a graphics processor (gpu.c). */
struct tv_pf_gpu_slice {
    int64_t time, length;
    uint64_t offset;
    int64_t process;            /* TV_FT_NO_ID: unknown */
    uint32_t queue, name;       /* texts; TV_NONE: by their numbers */
    int32_t queue_id, stage_id; /* places in the lists of specifications */
};

/* An event that names stages of a graphics processor by their ids (gpu.c). */
enum tv_pf_gpu_role { TV_PF_GPU_STAGE, TV_PF_GPU_SUBMITS, TV_PF_GPU_WAITS };

struct tv_pf_gpu_link {
    uint64_t id;
    int64_t time;
    uint64_t offset : 40, role : 8;
    uint32_t task; /* TV_NONE: the slice is on another track */
};

/* An event of a buffer (buffers.c). */
struct tv_pf_buffer_event {
    int64_t time, length;
    uint64_t offset : 40, type : 8; /* type: BufferEventType */
    uint32_t number, buffer;        /* number: of the frame */
    uint32_t layer;                 /* text */
};

/* A GPU counter that has values (gpu_counters.c). */
struct tv_pf_gpu_counter {
    uint32_t counter; /* counter of the chunk */
    bool forward;     /* a value holds from its time on, not until then */
    bool any;         /* there was a value, the last one at: */
    int64_t last;
    uint64_t last_offset;
};

struct tv_pf_gpu_group {
    uint64_t gpu, id;
    uint32_t blob; /* its GpuCounterGroupSpec */
};

struct tv_pf_gpu_counters {
    TV_TABLE(tv_pf_gpu_counter) list;
    TV_TABLE(tv_pf_gpu_group) groups;
    /* GPU and id -> number in `list`; -> blob of its GpuCounterSpec; -> blob of the group */
    struct tv_map index, descriptions, group_index;
    struct tv_map gpus; /* id -> the first GPU for which it is described */
};

/* The last figures of a disk in sys_stats. */
struct tv_pf_disk {
    uint64_t figures[8];
};

struct tv_pf_log {
    int64_t time;
    uint64_t offset;
    uint32_t frame, task;
};

/* Events that the kernel had lost on a processor when the recording began. */
struct tv_pf_loss {
    uint64_t cpu, overwritten, dropped;
};

#define TV_PF_UNREAD_SHOWN 4u

/* Packets of one type that are not drawn (unread.c). */
struct tv_pf_unread {
    uint32_t number, shown;
    uint64_t packets, bytes;
    uint32_t texts[TV_PF_UNREAD_SHOWN]; /* texts of the chunk: the first ones as JSON */
};

/* Packets, or events of ftrace, by type. */
#define TV_PF_TYPES 1024u

/* Samples and the call stacks that they name (samples.c).  Equal stacks and frames are kept once.
 */
struct tv_pf_symbol_value {
    uint32_t value;
};

/* Names that were added to the file after it was recorded (symbols.c). */
struct tv_pf_symbols {
    struct tv_interner *keys;              /* number: place in `values` */
    TV_TABLE(tv_pf_symbol_value) values;   /* of addresses blobs, of names texts; TV_NONE: none */
    TV_TABLE(tv_pf_symbol_value) packages; /* blobs: their names */
    bool has_addresses;
};

/* Figures of a heap: bytes and number of what was allocated and freed since its recording began. */
struct tv_pf_heap_figures {
    int64_t allocated, allocations, freed, frees;
};

struct tv_pf_profile {
    TV_TABLE(tv_pf_sample) samples;
    TV_TABLE(tv_pf_stack) stacks;
    struct tv_map stack_index;
    uint32_t *stack_frames; /* of all stacks, one after the other */
    size_t stack_frame_count, stack_frame_capacity;
    TV_TABLE(tv_pf_sample_frame) frames;
    struct tv_interner *frame_index;
    struct tv_interner *heap_index; /* process, heap and id of a stack -> its figures + 1 */
    TV_TABLE(tv_pf_heap_figures) heap_figures; /* as the last dump told them */
};

/* Facts of a process or of a thread, by its id, from packets and events. */
struct tv_pf_facts {
    uint64_t id;
    int64_t start, end; /* the first and the last that is known; TV_NO_TIME: none */
    int64_t last_start; /* of an id that was used again */
    int64_t boot_start; /* on the clock of the boot; TV_NO_TIME: unknown */
    int64_t parent;     /* process id; TV_FT_NO_ID: unknown */
    uint32_t user;      /* id; TV_NONE: unknown */
    uint32_t command;   /* text */
};

struct tv_pf_facts_table {
    TV_TABLE(tv_pf_facts) list;
    struct tv_map index;
};

/* Names of processes and threads, and the apps that the processes belong to (processes.c). */
struct tv_pf_processes {
    TV_TABLE(tv_pf_name) thread_names;
    TV_TABLE(tv_pf_name) process_names;
    struct tv_map thread_name_index, process_name_index;
    struct tv_pf_facts_table process_facts, thread_facts;
    TV_TABLE(tv_pf_package) packages;           /* each name once */
    struct tv_map package_names, user_packages; /* name, and user -> package */
};

/* A thread's new state, or its new name, in a kernel other than Linux (generic_kernel.c). */
struct tv_pf_generic_state {
    int64_t time, tid;
    uint64_t offset : 40, cpu : 16, renames : 1;
    uint32_t task, name; /* task of the chunk; text */
    enum tv_ft_state state;
};

struct tv_pf_generic_process {
    int64_t pid;
};

struct tv_pf_generic_kernel {
    TV_TABLE(tv_pf_generic_state) states;
    TV_TABLE(tv_pf_generic_process) processes; /* of process trees */
};

/* The kernel's version, which decides what the numbers of task states mean (task_states.c). */
struct tv_pf_kernel {
    bool is_known;
    bool is_old;        /* states as before 4.14 */
    bool preempted_low; /* before 4.8, a preempted task has bit 2048 instead of 4096 */
};

/* Machines of one file, as virtual ones beside their host; packets of more count as unread. */
#define TV_PF_MACHINES 16u

struct tv_pf_reading {
    struct tv_source *source;
    bool all_machines; /* else packets of other machines than this one are left out: */
    uint32_t machine;  /* the id in packets; 0: the one that recorded */
    uint32_t others[TV_PF_MACHINES]; /* ids of the machines that the survey met, without 0 */
    uint32_t other_count;
    const struct tv_read_options *options;
    struct tv_ft_chunk_reader reader; /* the chunk gets the events */
    struct tv_ft_chunk *chunk;
    struct tv_pf_clocks clocks;
    struct tv_map sequence_index;
    TV_TABLE(tv_pf_sequence) sequences;
    struct tv_interner *blobs;
    struct tv_map rails; /* session and id of a power rail (probes.c) -> description, a blob */
    struct tv_map slice_names, track_names; /* text -> the one to show (tracks.c) */
    struct tv_map track_index;              /* hash of the uuid -> track */
    TV_TABLE(tv_pf_track) tracks;
    TV_TABLE(tv_pf_track_event) track_events;
    TV_TABLE(tv_pf_flow_event) flows;
    struct tv_pf_profile profile;
    struct tv_pf_symbols symbols;
    uint32_t sketched_cpus[TV_FT_SKETCHED]; /* 1 + line in the sketch; 0: not known yet */
    uint32_t sketched_others;
    uint32_t unmarked; /* packets that the sketch might have had */
    struct tv_pf_processes processes;
    struct tv_pf_kernel kernel;
    struct tv_pf_generic_kernel generic;
    TV_TABLE(tv_pf_display_frame) display_frames;
    TV_TABLE(tv_pf_gpu_slice) gpu_slices;
    TV_TABLE(tv_pf_gpu_link) gpu_links;
    TV_TABLE(tv_pf_buffer_event) buffer_events;
    uint32_t gpu_queues, gpu_stages; /* blobs: the last Specifications with such a list; TV_NONE */
    TV_TABLE(tv_pf_log) logs;
    uint32_t clock_sync; /* blob: the last RemoteClockSync of the machine; TV_NONE */
    TV_TABLE(tv_pf_loss) losses;
    struct tv_map attributes; /* key of an attribute (text) -> row of the metadata */
    TV_TABLE(tv_pf_unread) unread;
    struct tv_pf_gpu_counters gpu_counters;
    TV_TABLE(tv_pf_disk) disks;
    struct tv_map disk_index; /* text -> disk */
    TV_TABLE(tv_ft_comment) metadata;
    struct tv_out kernel_text, json_text; /* traces of other formats inside */
    struct tv_trace *trace;               /* set when the chunk is merged, like the input */
    uint32_t input;
    uint64_t types[TV_PF_TYPES]; /* number of packets by the number of their payload */
    uint64_t other_types;        /* of higher numbers */
    struct tv_pf_bundle_state *bundles;
    int64_t latest; /* time of the last packet that had one */
    bool cpu_times; /* slices have CPU times */
    enum tv_status status;
};

/* The packet that is being read. */
struct tv_pf_current {
    struct tv_bytes bytes;
    uint64_t offset, start;
    struct tv_pf_sequence *sequence;
    bool has_time;
    int64_t raw;  /* as in the packet */
    int64_t time; /* on the clock of the trace */
    uint32_t clock;
    uint32_t sequence_id;             /* as in the packet; 0: not there */
    struct tv_protobuf_field payload; /* the first one; number 0: none */
    unsigned payloads;
    bool tells_state; /* it changes the state of its sequence */
};

enum tv_pf_opened {
    TV_PF_OPENED,
    TV_PF_NO_CLOCK,  /* its time cannot be converted to the clock of the trace */
    TV_PF_NO_STATE,  /* it needs a state that is lost */
    TV_PF_ELSEWHERE, /* it is of another machine */
};

/* Open a packet in the order of the file: bring its sequence up to it, and convert its time.  The
 * survey comes before. */
enum tv_pf_opened tv_pf_open_packet(struct tv_pf_reading *reading, const struct tv_pf_packet *from,
                                    struct tv_pf_current *packet);

/* Return the position of bytes of the current packet in the file. */
static inline uint64_t tv_pf_offset_of(const struct tv_pf_current *packet, const uint8_t *at)
{
    return packet->start + (uint64_t)(at - packet->bytes.data);
}

void tv_pf_reading_init(struct tv_pf_reading *reading, struct tv_source *source,
                        const struct tv_read_options *options);
void tv_pf_reading_release(struct tv_pf_reading *reading);

/* Count a diagnostic at the current packet. */
static inline void tv_pf_warn(struct tv_pf_reading *reading, enum tv_diagnostic_kind kind,
                              uint64_t offset)
{
    tv_diagnostics_add(&reading->chunk->diagnostics, kind, offset);
}

static inline uint32_t tv_pf_text(struct tv_pf_reading *reading, struct tv_bytes text)
{
    return tv_ft_chunk_string(reading->chunk, text);
}

/* Note the process of a thread.  Return the task. */
static inline uint32_t tv_pf_set_process(struct tv_pf_reading *reading, int64_t tid, int64_t pid)
{
    uint32_t task = tv_ft_chunk_task(reading->chunk, tid);
    if (tid != 0)
        reading->chunk->tasks.rows[task].tgid = pid;
    return task;
}

/* Return the sequence with an id, adding it if needed. */
struct tv_pf_sequence *tv_pf_find_sequence(struct tv_pf_reading *reading, uint32_t id);
void tv_pf_sequences_release(struct tv_pf_reading *reading);

/* Forget the incremental state. */
void tv_pf_sequence_clear(struct tv_pf_sequence *sequence);
void tv_pf_sequence_set_defaults(struct tv_pf_reading *reading, struct tv_pf_sequence *sequence,
                                 struct tv_bytes defaults);
void tv_pf_sequence_add_clocks(struct tv_pf_sequence *sequence, struct tv_bytes snapshot,
                               uint32_t trace_clock);

/* Convert the time of a packet of the sequence. */
bool tv_pf_sequence_convert(struct tv_pf_reading *reading, struct tv_pf_sequence *sequence,
                            uint32_t clock, int64_t *time);
/* Return the incremental clock with an id; NULL: the clock is another. */
struct tv_pf_own_clock *tv_pf_sequence_incremental(struct tv_pf_sequence *sequence, uint32_t id);
void tv_pf_sequence_intern(struct tv_pf_reading *reading, struct tv_pf_sequence *sequence,
                           struct tv_bytes data, uint64_t offset);

/* Intern one entry of a table. */
void tv_pf_sequence_intern_entry(struct tv_pf_reading *reading, struct tv_pf_sequence *sequence,
                                 uint32_t table, struct tv_bytes entry, uint64_t offset);

/* Return the entry of a table of InternedData; NULL when there is none, with a diagnostic. */
struct tv_pf_interned *tv_pf_interned_find(struct tv_pf_reading *reading,
                                           struct tv_pf_sequence *sequence, uint32_t table,
                                           uint64_t iid, uint64_t offset);

/* Return the text of an entry {iid, name}; "[iid N unknown]" when there is none. */
uint32_t tv_pf_interned_text(struct tv_pf_reading *reading, struct tv_pf_sequence *sequence,
                             uint32_t table, uint64_t iid, uint64_t offset);

/* ---- Payloads ---- */

/* The clock of a bundle's events. */
struct tv_pf_bundle_clock {
    int64_t shift;  /* added to times */
    uint32_t clock; /* clock of the sum; 0: that of the trace */
};
void tv_pf_bundle_read_clock(const struct tv_pf_reading *reading, struct tv_bytes bundle,
                             struct tv_pf_bundle_clock *clock);
/* Convert a time of an event to the clock of the trace. */
int64_t tv_pf_bundle_time(struct tv_pf_reading *reading, const struct tv_pf_bundle_clock *clock,
                          uint64_t raw);

/* Take a bundle of ftrace events of one processor. */
void tv_pf_take_bundle(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                       struct tv_bytes bundle);
/* Tell what all bundles say together. */
void tv_pf_end_bundles(struct tv_pf_reading *reading);
void tv_pf_bundles_release(struct tv_pf_reading *reading);
/* Note the release of the kernel. */
void tv_pf_set_kernel(struct tv_pf_reading *reading, struct tv_bytes release);

/* Return the state that a number of sched_switch means in that kernel. */
enum tv_ft_state tv_pf_task_state(const struct tv_pf_reading *reading, int64_t state);

/* Return the number for a state by its name, as in sched_switch of that kernel; 0, runnable, when
 * there is none. */
int64_t tv_pf_task_bits(const struct tv_pf_reading *reading, struct tv_bytes state);

/* Add the track that a TrackDescriptor describes, or what it says more of a known one. */
void tv_pf_add_descriptor(struct tv_pf_reading *reading, struct tv_bytes descriptor,
                          uint64_t offset);
/* Set the thread of a sequence, for events that name no track, from its ThreadDescriptor. */
void tv_pf_set_default_thread(struct tv_pf_reading *reading, struct tv_pf_sequence *sequence,
                              struct tv_bytes descriptor);
/* Take a TrackEvent of a packet. */
void tv_pf_take_track_event(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                            struct tv_bytes event);
/* Return the number of the track with a UUID, adding it if needed. */
uint32_t tv_pf_find_track(struct tv_pf_reading *reading, uint64_t uuid);

/* As tv_pf_find_track, without a look-up when the sequence had this track last in this role. */
static inline uint32_t tv_pf_find_known_track(struct tv_pf_reading *reading,
                                              struct tv_pf_sequence *sequence, unsigned role,
                                              uint64_t uuid)
{
    struct tv_pf_known_track *known = &sequence->known_tracks[role];
    if (TV_UNLIKELY(known->uuid != uuid || known->after == 0))
        *known = (struct tv_pf_known_track){uuid, tv_pf_find_track(reading, uuid) + 1, 0};
    return known->after - 1;
}

/* Set the owner of a track: its own thread or process, or that of an ancestor. */
struct tv_pf_track *tv_pf_find_track_owner(struct tv_pf_reading *reading, uint32_t track);

/* Return a track whose owner is set. */
static inline struct tv_pf_track *tv_pf_resolve_track(struct tv_pf_reading *reading, uint32_t track)
{
    struct tv_pf_track *row = &reading->tracks.rows[track];
    return TV_LIKELY(row->resolved) ? row : tv_pf_find_track_owner(reading, track);
}

/* Make slices of the events on tracks, and add them to the merge. */
void tv_pf_add_track_slices(struct tv_pf_reading *reading, struct tv_ft_merge *merge);
void tv_pf_add_flows(struct tv_pf_reading *reading, struct tv_ft_merge *merge);

/* Statistics, counters, logs: return false when the payload is not known here. */
bool tv_pf_take_probe(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                      const struct tv_protobuf_field *payload);
/* Take a packet about the system or the recording; false: it is none. */
bool tv_pf_take_facts(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                      const struct tv_protobuf_field *payload);
/* Take lines of a log: of Android, of a GPU, and of a track event on the thread of a task
 * (TV_NONE: none).  Add them to the merge. */
void tv_pf_take_logs(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                     struct tv_bytes bytes);
void tv_pf_take_gpu_log(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                        struct tv_bytes bytes);
void tv_pf_take_log_message(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                            const struct tv_ft_at *at, struct tv_bytes bytes);
void tv_pf_add_logs(struct tv_pf_reading *reading, struct tv_ft_merge *merge);

/* Add a row of metadata, unless the value is empty. */
void tv_pf_add_metadata(struct tv_pf_reading *reading, const char *key, struct tv_bytes value);
/* Add the fields of a message that are texts or numbers: names[number], of which some are NULL. */
void tv_pf_add_metadata_fields(struct tv_pf_reading *reading, struct tv_bytes bytes,
                               const char *const *names, size_t count);

/* Count a packet that is not drawn, and keep the first ones of its type; add them to the
 * metadata. */
void tv_pf_keep_unread(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                       const struct tv_protobuf_field *payload);
void tv_pf_add_unread(struct tv_pf_reading *reading);

/* Take packets of Chrome that become metadata. */
void tv_pf_take_chrome_metadata(struct tv_pf_reading *reading, struct tv_bytes bytes);
void tv_pf_take_benchmark_metadata(struct tv_pf_reading *reading, struct tv_bytes bytes);
/* Take a packet of Chrome; then read the traces inside all of them, as inputs that follow the one
 * of the file. */
void tv_pf_take_chrome_events(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                              struct tv_bytes bytes);
enum tv_status tv_pf_build_texts(struct tv_pf_reading *reading, struct tv_builder *builder,
                                 struct tv_error *err) TV_MUST_CHECK;

/* Take a process tree, in pass 1. */
void tv_pf_add_process_tree(struct tv_pf_reading *reading, struct tv_bytes tree);
/* Note that a thread began or ended, and with the main thread its process. */
void tv_pf_note_start(struct tv_pf_reading *reading, int64_t tid, int64_t pid, int64_t time);
void tv_pf_note_end(struct tv_pf_reading *reading, int64_t tid, int64_t pid, int64_t time);
/* Note the parent of a process that an event began. */
void tv_pf_note_parent(struct tv_pf_reading *reading, int64_t pid, int64_t parent);
/* Note the command line of a process; its first word is the process's name. */
void tv_pf_note_command(struct tv_pf_reading *reading, int64_t pid, struct tv_bytes command);
/* Add the facts about the processes and threads of the trace. */
void tv_pf_add_facts(struct tv_pf_reading *reading, struct tv_ft_merge *merge);
void tv_pf_name_thread(struct tv_pf_reading *reading, int64_t tid, uint32_t name, uint8_t priority);
void tv_pf_name_process(struct tv_pf_reading *reading, int64_t pid, uint32_t name,
                        uint8_t priority);
/* Name the threads and processes of the trace. */
void tv_pf_add_names(struct tv_pf_reading *reading, struct tv_ft_merge *merge);

/* Take a list of packages. */
void tv_pf_take_packages(struct tv_pf_reading *reading, struct tv_bytes bytes);
/* Label the processes of packages whose name is another one, and add these packages to the
 * metadata.  Call it when the processes have their names. */
void tv_pf_add_packages(struct tv_pf_reading *reading, struct tv_ft_merge *merge);

/* Take a GpuRenderStageEvent or a VulkanApiEvent (false: it is no slice); add the slices to the
 * merge. */
void tv_pf_take_render_stage(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                             struct tv_bytes event);
bool tv_pf_take_vulkan(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                       struct tv_bytes event);
void tv_pf_add_gpu_slices(const struct tv_pf_reading *reading, struct tv_ft_merge *merge);

/* Note the ids of stages in a field, which may be packed.  The caller fills in the places of the
 * rows where it does not know them yet. */
void tv_pf_add_gpu_links(struct tv_pf_reading *reading, const struct tv_protobuf_field *ids,
                         const struct tv_pf_gpu_link *link);
/* Take the GpuCorrelation of a track event, likewise. */
void tv_pf_take_gpu_correlation(struct tv_pf_reading *reading, struct tv_bytes correlation);
/* Add the arrows from submits to stages, and from these to what waits for them. */
void tv_pf_add_gpu_arrows(const struct tv_pf_reading *reading, struct tv_ft_merge *merge);

/* Take a packet of a kernel other than Linux (false: it is none); when all packets are read, make
 * switches of the states; add the processes that have no threads. */
bool tv_pf_take_generic_kernel(struct tv_pf_reading *reading, const struct tv_ft_at *at,
                               const struct tv_protobuf_field *payload);
void tv_pf_end_generic_kernel(struct tv_pf_reading *reading);
void tv_pf_add_generic_processes(struct tv_pf_reading *reading, struct tv_ft_merge *merge);

/* Take a GpuCounterEvent; when all packets are read, end the counters. */
void tv_pf_take_gpu_counters(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                             const struct tv_ft_at *at, struct tv_bytes event);
void tv_pf_end_gpu_counters(struct tv_pf_reading *reading);
void tv_pf_gpu_counters_release(struct tv_pf_gpu_counters *counters);

/* Take a GraphicsFrameEvent; add the slices to the merge. */
void tv_pf_take_buffer_event(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                             struct tv_bytes frame_event);
void tv_pf_add_buffer_slices(const struct tv_pf_reading *reading, struct tv_ft_merge *merge);

/* Write a message, by its name, as a JSON object. */
void tv_pf_write_message(struct tv_out *out, const char *message, struct tv_bytes bytes);

/* Note the names that a TranslationTable replaces, in pass 1; return the name to show for one. */
void tv_pf_add_translations(struct tv_pf_reading *reading, struct tv_bytes table);
uint32_t tv_pf_translated(const struct tv_map *names, uint32_t name);

/* Take a ConcurrentSessionEvent: the state of a recording session. */
void tv_pf_take_session(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                        struct tv_bytes event);

/* Frame timeline: take a FrameTimelineEvent; add the frames to the merge. */
void tv_pf_take_frame_timeline(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                               struct tv_bytes event);
void tv_pf_add_display_frames(struct tv_pf_reading *reading, struct tv_ft_merge *merge);
/* Write the arguments of a FrameTimelineEvent as members of an object. */
void tv_pf_write_display_frame(struct tv_out *out, struct tv_bytes event);

/* Return the number of a frame in reading->profile.frames, which is added when it is new. */
uint32_t tv_pf_sample_frame(struct tv_pf_reading *reading, const struct tv_pf_sample_frame *frame);
/* Append a frame to the stack that is being read, the last one. */
void tv_pf_push_frame(struct tv_pf_reading *reading, struct tv_pf_stack *stack, uint32_t frame);
/* Read an interned stack.  Return its number in reading->profile.stacks, TV_NONE when there is
 * none. */
uint32_t tv_pf_read_stack(struct tv_pf_reading *reading, struct tv_pf_sequence *sequence,
                          uint64_t iid, uint64_t offset);

/* Mark a packet with a bundle of ftrace in the sketch, or the payload of another packet, which has
 * been read (sketching.c). */
void tv_pf_sketch_bundle(struct tv_pf_reading *reading, struct tv_bytes packet);
void tv_pf_sketch_packet(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                         const struct tv_protobuf_field *payload);

/* ---- Symbols (symbols.c) ---- */

void tv_pf_symbols_init(struct tv_pf_symbols *symbols);
void tv_pf_symbols_release(struct tv_pf_symbols *symbols);
/* Note a payload with symbols; others have none.  Before frames are read. */
enum { TV_PF_MODULE_SYMBOLS = 61, TV_PF_DEOBFUSCATION = 64 };
void tv_pf_add_symbols(struct tv_pf_reading *reading, uint64_t payload, struct tv_bytes bytes);
/* Return the frame of the function at an address of a module with a build ID, with those that are
 * inlined into it; TV_NONE: it is not known.  `frame` has the module and the kind. */
uint32_t tv_pf_symbolize(struct tv_pf_reading *reading, struct tv_bytes build_id, uint64_t address,
                         const struct tv_pf_sample_frame *frame);
/* Return the original name (text) of a frame of a module; of others, the name itself. */
uint32_t tv_pf_original_name(struct tv_pf_reading *reading, uint32_t name, uint32_t module);

/* Take a packet of samples of another profiler than perf (stack_samples.c). */
void tv_pf_take_stack_sample(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                             struct tv_bytes sample);

/* Return the text that names the event of a sequence's perf samples. */
uint32_t tv_pf_perf_event_name(struct tv_pf_reading *reading,
                               const struct tv_pf_sequence *sequence);
/* Count the counters that a PerfSample tells. */
void tv_pf_count_perf_sample(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                             struct tv_bytes sample);

/* Samples: return false when the payload is none. */
bool tv_pf_take_sample(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                       const struct tv_protobuf_field *payload);
/* Add the samples, and their threads, to the merge. */
void tv_pf_add_samples(struct tv_pf_reading *reading, struct tv_ft_merge *merge);

/* Pass 1. */
enum tv_status tv_pf_survey(struct tv_pf_reading *reading, struct tv_error *err) TV_MUST_CHECK;

/* Return the number of a packet's payload: the first field that is one; 0 when there is none. */
uint32_t tv_pf_payload_of(struct tv_bytes packet, struct tv_protobuf_field *payload);

/* Return the id of a packet's machine; 0: the one that recorded. */
static inline uint32_t tv_pf_machine_of(struct tv_bytes packet)
{
    return (uint32_t)tv_pf_find(packet, 98).value;
}

/* Return whether a field of TracePacket only says how to read the packet. */
static inline bool tv_pf_is_packet_head(uint32_t number)
{
    const uint64_t low = UINT64_C(1) << 3 | UINT64_C(1) << 8 | UINT64_C(1) << 10 |
                         UINT64_C(1) << 12 | UINT64_C(1) << 13 | UINT64_C(1) << 41 |
                         UINT64_C(1) << 42 | UINT64_C(1) << 58 | UINT64_C(1) << 59;
    if (number < 64)
        return low >> number & 1;
    return number == 79 || number == 87 || number == 98;
}

/* Counters: add a value to the counter of a process (TV_FT_NO_ID: global). */
void tv_pf_count(struct tv_pf_reading *reading, const struct tv_ft_at *at, int64_t pid,
                 struct tv_bytes name, double value);

/* Count the memory of a GPU that a process uses (0: all). */
void tv_pf_count_gpu_memory(struct tv_pf_reading *reading, const struct tv_ft_at *at, uint64_t gpu,
                            int64_t pid, double bytes);

/* A counter with facts beside its name; empty ones are not known. */
struct tv_pf_counter {
    struct tv_bytes name, description;
    const char *unit, *type;
    const char *dimensions; /* JSON object */
};
void tv_pf_count_described(struct tv_pf_reading *reading, const struct tv_ft_at *at, int64_t pid,
                           const struct tv_pf_counter *counter, double value);

#endif
