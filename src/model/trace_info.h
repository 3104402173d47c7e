/* SPDX-License-Identifier: Apache-2.0 */
/*
 * head.h - everything a trace says apart from its events: inputs, processes, threads, frames,
 * metadata, diagnostics.
 *
 * A reader fills the head before it delivers events (a thread or frame index in an event stands
 * in the head already).  Several inputs read as one trace share one head; threads and metadata
 * know their input. Strings are numbers of `strings`.
 */
#ifndef TV_MODEL_TRACE_INFO_H
#define TV_MODEL_TRACE_INFO_H

#include "base/error.h"
#include "base/map.h"
#include "base/types.h"
#include "model/diagnostic.h"

struct tv_source;

enum tv_clocks {
    TV_CLOCK_WALL = 1, /* "real": one axis for all threads */
    TV_CLOCK_CPU = 2,  /* each thread's own CPU time */
};

/* The meaning of an input's times and counts.  Writers and views ask tv_trace_info_figures. */
enum tv_figures {
    TV_FIGURES_CALLS,   /* each call was recorded: calls are counted and timed */
    TV_FIGURES_SAMPLED, /* stacks of single moments: times are estimates, calls are not counted */
    TV_FIGURES_TIMES,   /* stacks with sums of time: calls are not counted, the axis is an order */
    TV_FIGURES_SAMPLES, /* stacks with counts of samples: neither times nor calls, the axis is an
                         * order on which a sample is TV_SAMPLE_NS long */
};

/* The length of a sample on the axis of an input that has counts of them. */
#define TV_SAMPLE_NS 1000

/* Return true when the axis is only the order of the stacks, not the time of events. */
static inline bool tv_figures_are_timeless(enum tv_figures figures)
{
    return figures == TV_FIGURES_TIMES || figures == TV_FIGURES_SAMPLES;
}

struct tv_out;
struct tv_trace;

/*
 * Reads events of an input again when somebody looks at them: writes one JSON object with all that
 * the event at `offset` says and the model does not hold, "args" first; those of the event at
 * `end_offset` (TV_NO_OFFSET: none) are added to them and win.  On failure nothing was written.
 */
typedef enum tv_status tv_describe(const struct tv_trace *trace, uint32_t input, uint64_t offset,
                                   uint64_t end_offset, struct tv_out *out, struct tv_error *err);

/* 73 years: as far as clocks with different epochs are apart. */
#define TV_MOVE_MAX ((tv_ns)1 << 61)

/* The nearest to it within TV_MOVE_MAX either way. */
static inline tv_ns tv_move_within(tv_ns move)
{
    return move > TV_MOVE_MAX ? TV_MOVE_MAX : move < -TV_MOVE_MAX ? -TV_MOVE_MAX : move;
}

/* A file moved, and once more with what it lies in: whatever both are, within TV_MOVE_MAX. */
static inline tv_ns tv_move_add(tv_ns outer, tv_ns inner)
{
    return tv_move_within(tv_move_within(outer) + tv_move_within(inner));
}

/* One file. */
struct tv_input {
    uint32_t name;            /* as the user gave it */
    struct tv_source *source; /* where events are read from again, or NULL; not owned */
    tv_describe *describe;    /* NULL: events say no more than the model holds */
    bool verbatim;            /* arguments stand in the file as `describe` tells them, in JSON */
    const char *format;       /* "Android method trace" */
    uint32_t version;         /* "3", "0xF3", ... */
    unsigned clocks;          /* enum tv_clocks; never 0 */
    int64_t tick_ns;          /* event times are multiples of this: 1000 or 1 */
    bool assembled;           /* its events came in any order, with times of some epoch */
    bool eventless;           /* assembled, but nothing in it has a time */
    bool callless;            /* assembled, and no thread of it has slices */
    uint32_t clock;           /* string: the name of its clock; empty: unknown (clocks.h) */
    uint32_t machine;         /* as of its processes, below */
    bool own_zero;            /* its clock began with it: untied, it tells nothing of others */
    tv_ns origin;        /* the time that the trace counts from: subtracted from all its times */
    tv_ns moved;         /* by whoever opened it, at most TV_MOVE_MAX either way (settle.c) */
    const char *unit;    /* in which the file wants its times shown: "ns", "us", "ms"; NULL */
    int64_t recorded_us; /* since 1970; 0: the file does not say */
    int64_t boot_us;     /* since the device's boot, where the file has that instead; else 0 */
    int64_t elapsed_ns;  /* as the file states; -1: it does not */
    int64_t announced;   /* records, as the file states; -1: it does not */
    bool overflow;
    enum tv_figures figures;
    bool sampling_inferred; /* from the records: the file does not state it */
    tv_ns sampled_ns;       /* the interval where stacks were sampled; else 0 */
    uint64_t bytes;         /* unpacked */
    uint64_t methods;       /* that the file lists */
    /* Set while events pass: */
    uint64_t records;
    uint64_t unrolls;
    tv_ns weight; /* of all stacks, at most INT64_MAX, where these have no times; else 0 */
    int64_t last_wall, last_cpu; /* largest seen, ticks; 0 without events */
};

struct tv_process {
    uint64_t id;
    uint32_t name;   /* TV_EMPTY_STRING: unknown */
    uint32_t key;    /* its id as text where that is no plain number; else empty */
    uint32_t labels; /* joined by ", "; empty: none */
    uint32_t zero;   /* no byte of what an index has is left to chance, here and below */
    int64_t sort_index;
    tv_ns uptime;     /* 0: unknown */
    bool kernel_name; /* the kernel's name of its first thread: a program knows better */
    uint8_t zeros[3];
    uint32_t machine; /* inputs that tell the same number ran on one (machines.h); TV_NONE: unknown
                       */
};

struct tv_thread {
    uint64_t id;  /* as in the file */
    uint32_t key; /* its id as text where that is no plain number; else empty */
    uint32_t zero;
    int64_t sort_index;
    uint32_t name;
    uint32_t process; /* index */
    uint32_t input;   /* index */
    bool kernel_name; /* at most 15 bytes: a program knows better */
    bool listed;      /* false: only its records are there */
    bool late; /* listed only in the summary at the end of a stream: it never ran while traced */
    bool line; /* no thread, but a line of what happened at one place ("irqs cpu 3") */
};

/* What can stand on a stack. */
struct tv_frame {
    uint32_t class_name; /* dots, not slashes; TV_EMPTY_STRING: none */
    uint32_t name;
    uint32_t signature;
    uint32_t file;
    int32_t line;      /* 0: unknown; -2: native */
    uint32_t category; /* of formats that have categories, not classes; else empty */
    uint8_t colour;    /* reserved, of all its slices, as in struct tv_slice_extra; 0: automatic */
    uint8_t zeros[3];
};

struct tv_metadata {
    uint32_t input;
    uint32_t key;
    uint32_t value;
};

/* What stands at an address of the program that was traced. */
struct tv_address_place {
    struct tv_bytes function;  /* empty: unknown, as below */
    struct tv_bytes signature; /* of C++, where the function is written as in the source */
    struct tv_bytes file;
    int32_t line;
};

/* Who knows that. The texts it gives live as long as it does; it may be asked by several threads.
 */
struct tv_namer {
    bool (*find)(struct tv_namer *namer, uint64_t address, struct tv_address_place *place);
    /* The same of an address within the program or library of that name. */
    bool (*find_in)(struct tv_namer *namer, struct tv_bytes file, uint64_t address,
                    struct tv_address_place *place);
    void (*free)(struct tv_namer *namer);
};

struct tv_trace_info {
    struct tv_interner *strings;
    struct tv_namer *namer; /* owned; NULL: addresses on stacks stay what they are */
    struct tv_input *inputs;
    struct tv_process *processes;
    struct tv_thread *threads;
    struct tv_frame *frames;
    struct tv_metadata *metadata;
    uint32_t input_count, process_count, thread_count, frame_count, metadata_count;
    size_t input_capacity, process_capacity, thread_capacity, frame_capacity, metadata_capacity;
    struct tv_map frame_index; /* hash of a frame -> its index */
    struct tv_diagnostics diagnostics;
};

struct tv_trace_info *tv_trace_info_new(void);
void tv_trace_info_free(struct tv_trace_info *head);

/* Each adds one and returns its index. Texts are copied. */
uint32_t tv_trace_info_add_input(struct tv_trace_info *head, const char *name, const char *format);
uint32_t tv_trace_info_add_process(struct tv_trace_info *head, uint64_t id, struct tv_bytes name);
uint32_t tv_trace_info_add_thread(struct tv_trace_info *head, const struct tv_thread *thread);
void tv_trace_info_add_metadata(struct tv_trace_info *head, uint32_t input, struct tv_bytes key,
                                struct tv_bytes value);

/* The index of a frame that equals *frame; added when there is none. */
uint32_t tv_trace_info_add_frame(struct tv_trace_info *head, const struct tv_frame *frame);

/* What an address on a stack is. */
enum tv_stack_entry {
    TV_STACK_LEAF,   /* where the thread was */
    TV_STACK_CALLER, /* where a call returns to: the call itself lies before it */
};

/* What the head's namer knows of the address that a text is ("0x7f01"), if it is one. */
bool tv_trace_info_find_address(const struct tv_trace_info *head, struct tv_bytes text,
                                enum tv_stack_entry entry, struct tv_address_place *place);

/* The same as tv_trace_info_add_frame of an entry of a stack: an address becomes what stands there.
 */
uint32_t tv_trace_info_add_stack_frame(struct tv_trace_info *head, const struct tv_frame *frame,
                                       enum tv_stack_entry entry);

/* The same of a method that a recorder may have left as an address within a file: the name
 * "0x11ab", the file's name as the class and its path as the source. */
uint32_t tv_trace_info_add_recorded_frame(struct tv_trace_info *head, const struct tv_frame *frame);

/* The number of a string, added when new. */
static inline uint32_t tv_trace_info_string(struct tv_trace_info *head, struct tv_bytes text)
{
    return tv_interner_add(head->strings, text);
}

/* The bytes of a string number, with a NUL behind them. */
static inline struct tv_bytes tv_trace_info_text(const struct tv_trace_info *head, uint32_t string)
{
    return tv_interner_get(head->strings, string);
}

/* The metadata value of a key of an input, or an empty view with data NULL. */
struct tv_bytes tv_trace_info_find_metadata(const struct tv_trace_info *head, uint32_t input,
                                            const char *key);

/* Whether all inputs are of formats whose frames have categories instead of classes. */
bool tv_trace_info_has_categories(const struct tv_trace_info *head);

/* The clocks that any input has. */
unsigned tv_trace_info_clocks(const struct tv_trace_info *head);

/* Return the meaning of the figures of all inputs together: TV_FIGURES_SAMPLED when any input was
 * sampled, TV_FIGURES_TIMES or TV_FIGURES_SAMPLES only when no input counts calls. */
enum tv_figures tv_trace_info_figures(const struct tv_trace_info *head);

/* Tell, once, that sums of times do not fit: one of these two is INT64_MAX. */
void tv_trace_info_note_saturation(struct tv_trace_info *head, tv_ns wall, tv_ns cpu);

/* The shortest interval of the sampled inputs, 0: there are none; and whether any was inferred. */
struct tv_sampling {
    tv_ns interval;
    bool inferred;
};
struct tv_sampling tv_trace_info_sampling(const struct tv_trace_info *head);

#endif
