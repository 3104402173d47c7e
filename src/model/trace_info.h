/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_info.h - everything a trace knows besides its events: inputs, processes, threads, frames,
 * metadata, diagnostics.
 *
 * A reader adds threads and frames before it delivers events that refer to their indices.  Several
 * inputs that are read as one trace share one trace info; threads and metadata know their input.
 * Strings are numbers in `strings`.
 */
#ifndef TV_MODEL_TRACE_INFO_H
#define TV_MODEL_TRACE_INFO_H

#include "base/error.h"
#include "base/map.h"
#include "base/types.h"
#include "model/diagnostic.h"

struct tv_source;

enum tv_clocks {
    TV_CLOCK_WALL = 1, /* "real" time: one axis for all threads */
    TV_CLOCK_CPU = 2,  /* the CPU time of each thread */
};

/* Meaning of the times and counts of an input's slices.  Writers and views ask
 * tv_trace_info_figures. */
enum tv_figures {
    TV_FIGURES_CALLS,   /* every call was recorded: calls are counted and timed */
    TV_FIGURES_SAMPLED, /* stacks sampled over time: times are estimates, calls are not counted */
};

struct tv_out;
struct tv_trace;

/*
 * Read events of an input again when somebody looks at them.  Write one JSON object with everything
 * that the event at `offset` has and the model does not store, "args" first; members of the event
 * at `end_offset` (TV_NO_OFFSET: none) are added and take precedence.  On failure nothing was
 * written.
 */
typedef enum tv_status tv_describe(const struct tv_trace *trace, uint32_t input, uint64_t offset,
                                   uint64_t end_offset, struct tv_out *out, struct tv_error *err);

/* 73 years: the largest useful distance between clocks with different epochs. */
#define TV_MOVE_MAX ((tv_ns)1 << 61)

/* Clamp a shift to TV_MOVE_MAX in either direction. */
static inline tv_ns tv_move_within(tv_ns move)
{
    return move > TV_MOVE_MAX ? TV_MOVE_MAX : move < -TV_MOVE_MAX ? -TV_MOVE_MAX : move;
}

/* Combine the shift of a file with that of the file that contains it, clamped. */
static inline tv_ns tv_move_add(tv_ns outer, tv_ns inner)
{
    return tv_move_within(tv_move_within(outer) + tv_move_within(inner));
}

/* One input file. */
struct tv_input {
    uint32_t name;            /* as the user gave it */
    struct tv_source *source; /* for reading events again, or NULL; not owned */
    tv_describe *describe;    /* NULL: events have nothing more than the model stores */
    bool verbatim;            /* arguments in the file are JSON exactly as `describe` writes them */
    const char *format;       /* "Android method trace" */
    uint32_t version;         /* "3", "0xF3", ... */
    unsigned clocks;          /* enum tv_clocks; never 0 */
    int64_t tick_ns;          /* all event times are multiples of this: 1000 or 1 */
    bool assembled;           /* events came in any order, with times since some epoch */
    bool eventless;           /* assembled, and nothing in it has a time */
    bool callless;            /* assembled, and none of its threads has slices */
    uint32_t clock;           /* string: name of its clock; empty: unknown (finalize.h) */
    uint32_t second_clock;    /* string: another clock that the file has; empty: none */
    int64_t clock_shift, second_shift; /* added to times of these clocks to get those of the file */
    uint32_t machine;                  /* same as that of its processes, see below */
    bool own_zero;                     /* the clock starts at 0 with the recording */
    bool weight_axis;    /* the samples have no times: the axis is the sum of their weights */
    tv_ns origin;        /* subtracted from all of its times */
    tv_ns moved;         /* shift requested by the user, at most TV_MOVE_MAX (finalize.c) */
    const char *unit;    /* unit the file prefers for display: "ns", "us", "ms"; or NULL */
    int64_t recorded_us; /* since 1970; 0: unknown */
    int64_t boot_us;     /* since the device booted, if the file has that instead; else 0 */
    int64_t elapsed_ns;  /* duration according to the file; -1: unknown */
    int64_t announced;   /* number of records according to the file; -1: unknown */
    bool overflow;
    enum tv_figures figures;
    bool sampling_inferred; /* concluded from the records, not stated in the file */
    tv_ns sampled_ns;       /* sampling interval; 0: not sampled */
    uint64_t bytes;         /* size when unpacked */
    uint64_t methods;       /* listed in the file */
    uint64_t samples;       /* input samples of all types, once however many values they have */
    /* Set while events are read: */
    uint64_t records;
    uint64_t unrolls;
    int64_t last_wall, last_cpu; /* largest seen, ticks; 0 without events */
};

struct tv_process {
    uint64_t id;
    uint32_t name;   /* TV_EMPTY_STRING: unknown */
    uint32_t key;    /* id as text if it is not a plain number; else empty */
    uint32_t labels; /* joined by ", "; may be empty */
    uint32_t zero;   /* explicit padding for the index, here and below */
    int64_t sort_index;
    tv_ns uptime;     /* 0: unknown */
    bool kernel_name; /* the kernel named it after its first thread; a program knows better */
    uint8_t zeros[3];
    uint32_t
        machine; /* inputs with equal numbers ran on one machine (finalize.h); TV_NONE: unknown */
};

struct tv_thread {
    uint64_t id;  /* as in the file */
    uint32_t key; /* id as text if it is not a plain number; else empty */
    uint32_t zero;
    int64_t sort_index;
    uint32_t name;
    uint32_t process; /* index */
    uint32_t input;   /* index */
    bool kernel_name; /* from the kernel, at most 15 bytes; a program knows better */
    bool listed;      /* false: only known from its records */
    bool late; /* listed only in the summary at the end of a stream: it did not run while traced */
    bool line; /* not a thread, but a line for events of one place ("irqs cpu 3") */
};

/* Origin and state of a frame's code. */
enum tv_frame_kind {
    TV_FRAME_UNKNOWN,
    TV_FRAME_NATIVE, /* compiled ahead of time */
    TV_FRAME_CPP,    /* of the JVM itself */
    TV_FRAME_KERNEL,
    TV_FRAME_JIT,
    TV_FRAME_INTERPRETED,
    TV_FRAME_INLINED,
    TV_FRAME_GC,
    TV_FRAME_KINDS,
};

/* A function, method or other name that can be on a stack.  Kind and colour are not part of its
 * identity. */
struct tv_frame {
    uint32_t class_name; /* with dots, not slashes; TV_EMPTY_STRING: none */
    uint32_t name;
    uint32_t signature;
    uint32_t file;
    int32_t line;      /* 0: unknown; -2: native code */
    uint32_t category; /* for formats with categories instead of classes; else empty */
    uint32_t module;   /* program or library that it belongs to; else empty */
    uint8_t
        colour;   /* reserved colour of all its slices, as in struct tv_slice_extra; 0: automatic */
    uint8_t kind; /* enum tv_frame_kind, of the first sample that has it */
    bool with_line; /* it is a function at a sampled line: `line` is that line, and
                       `function_line` the function's own */
    uint8_t zero;
    int32_t function_line; /* only with_line */
    int32_t column;        /* where the function begins in its line, from 1; 0: unknown.  It tells
                              the functions of minified code apart, which has one line */
};

struct tv_metadata {
    uint32_t input;
    uint32_t key;
    uint32_t value;
};

/* Function and source line at an address of the traced program. */
struct tv_address_place {
    struct tv_bytes function;  /* empty: unknown, here and below */
    struct tv_bytes signature; /* C++: the function as written in the source */
    struct tv_bytes file; /* with `line`: the source of the instruction, also of inlined code */
    int32_t line;
    struct tv_bytes declared; /* the file of the function itself, at all of its addresses */
};

/* Functions at one address that readers ask for: the function, and those inlined into it. */
#define TV_ADDRESS_PLACES 64

/* An address in a file that a process had mapped for execution. */
struct tv_mapped_address {
    struct tv_bytes path;            /* of the file; empty: unknown */
    struct tv_bytes build_id;        /* of the file; empty: unknown */
    uint64_t offset;                 /* in the file */
    uint64_t map_offset, map_length; /* of the mapping, in the file */
};

/* Resolves addresses to names.  Its texts live as long as it does, and several threads may use it.
 */
struct tv_namer {
    bool (*find)(struct tv_namer *namer, uint64_t address, struct tv_address_place *place);
    /* As above, for an address within the program or library with this name. */
    bool (*find_in)(struct tv_namer *namer, struct tv_bytes file, uint64_t address,
                    struct tv_address_place *place);
    /* Find an offset in a file that was mapped: in the one that the user gave, else in that
     * with the build ID, if this machine has it.  Store at most `room` places and return their
     * number; 0: nothing is known.  The last one is the function; the ones before were inlined
     * into it, the innermost first, and each `line` but the first is that of a call. */
    size_t (*find_mapped)(struct tv_namer *namer, const struct tv_mapped_address *address,
                          struct tv_address_place *places, size_t room);
    void (*free)(struct tv_namer *namer);
};

struct tv_trace_info {
    struct tv_interner *strings;
    struct tv_namer *namer; /* owned; NULL: addresses on stacks stay addresses */
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

/* Return a view of `base` with its own frames and strings, which begin with those of `base`; frames
 * and strings may be added to it, nothing else.  `base` must outlive it and not change.  Free it
 * with tv_trace_info_free_extended. */
struct tv_trace_info *tv_trace_info_extend(const struct tv_trace_info *base);
void tv_trace_info_free_extended(struct tv_trace_info *head);

/* Add one element and return its index.  Texts are copied. */
uint32_t tv_trace_info_add_input(struct tv_trace_info *head, const char *name, const char *format);
uint32_t tv_trace_info_add_process(struct tv_trace_info *head, uint64_t id, struct tv_bytes name);
uint32_t tv_trace_info_add_thread(struct tv_trace_info *head, const struct tv_thread *thread);
void tv_trace_info_add_metadata(struct tv_trace_info *head, uint32_t input, struct tv_bytes key,
                                struct tv_bytes value);

/* Return the index of a frame, adding it if needed. */
uint32_t tv_trace_info_add_frame(struct tv_trace_info *head, const struct tv_frame *frame);

/* Add a function of a native program as tv_trace_info_add_frame does.  A mangled name of C++ or
 * Rust becomes readable, and the mangled one its signature: so overloads stay apart. */
uint32_t tv_trace_info_add_native_frame(struct tv_trace_info *head, const struct tv_frame *frame);

/* Meaning of an address on a stack. */
enum tv_stack_entry {
    TV_STACK_LEAF,   /* where the thread was */
    TV_STACK_CALLER, /* where a call returns to: the call itself lies just before */
};

/* Resolve an address given as text ("0x7f01") with the namer; return false when that fails. */
bool tv_trace_info_find_address(const struct tv_trace_info *head, struct tv_bytes text,
                                enum tv_stack_entry entry, struct tv_address_place *place);

/* Add a frame of a stack; an address becomes the function found there. */
uint32_t tv_trace_info_add_stack_frame(struct tv_trace_info *head, const struct tv_frame *frame,
                                       enum tv_stack_entry entry);

/* Add a method whose name a recorder may have left as an address within a file: name "0x11ab",
 * class the file's name, source its path. */
uint32_t tv_trace_info_add_recorded_frame(struct tv_trace_info *head, const struct tv_frame *frame);

/* Return the number of a string, adding it if needed. */
static inline uint32_t tv_trace_info_string(struct tv_trace_info *head, struct tv_bytes text)
{
    return tv_interner_add(head->strings, text);
}

/* Return the text of a string number, with a NUL after it. */
static inline struct tv_bytes tv_trace_info_text(const struct tv_trace_info *head, uint32_t string)
{
    return tv_interner_get(head->strings, string);
}

/* Return a metadata value of an input, or a view with data NULL. */
struct tv_bytes tv_trace_info_find_metadata(const struct tv_trace_info *head, uint32_t input,
                                            const char *key);

/* Return whether the frames of all inputs have categories instead of classes. */
bool tv_trace_info_has_categories(const struct tv_trace_info *head);

/* Return the clocks that at least one input has. */
unsigned tv_trace_info_clocks(const struct tv_trace_info *head);

/* Return the meaning of all inputs' figures together: TV_FIGURES_SAMPLED when any input was
 * sampled. */
enum tv_figures tv_trace_info_figures(const struct tv_trace_info *head);

/* Return true when an input has times.  Otherwise the axis is weight, not time: samples lie one
 * after another, each as wide as its weight. */
bool tv_trace_info_has_times(const struct tv_trace_info *head);

/* Count one diagnostic when a sum of times saturated, that is, one of the two is INT64_MAX. */
void tv_trace_info_note_saturation(struct tv_trace_info *head, tv_ns wall, tv_ns cpu);

/* Return true if a thread has the id of its process, which marks the main thread.  Lines of the
 * kernel and its workers, which are processes of one thread that work for others, do not count. */
bool tv_thread_leads_process(const struct tv_trace_info *head, uint32_t thread);

/* Return the shortest interval of the sampled inputs (0: none), and whether any was inferred. */
struct tv_sampling {
    tv_ns interval;
    bool inferred;
};
struct tv_sampling tv_trace_info_sampling(const struct tv_trace_info *head);

#endif
