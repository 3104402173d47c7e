/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnostic.h - counts everything in an input that was repaired, moved, skipped or is worth
 * knowing.
 *
 * Nothing is dropped silently: every such event counts under its kind, and the first hundred of a
 * kind keep their offset.  The names of the kinds are part of the output format (info --format
 * json); the texts may change.
 */
#ifndef TV_MODEL_DIAGNOSTIC_H
#define TV_MODEL_DIAGNOSTIC_H

#include "base/out.h"

/* Severity of a kind of diagnostic, or of a finding, in increasing order. */
enum tv_severity {
    TV_NOTE,    /* worth knowing: nothing is lost */
    TV_WARNING, /* something besides events is lost or guessed (a flow, a name, a unit), or a call
                   at either end of the trace has a guessed start or end */
    TV_ERROR,   /* events are lost, or have times that nobody recorded: sums and counts are wrong */
    TV_SEVERITIES,
};

/* Return "note", "warning" or "error"; return the severity with a name, or TV_SEVERITIES. */
const char *tv_severity_name(enum tv_severity severity);
enum tv_severity tv_severity_find(const char *name);

/* X(enumerator, name, severity, text); severity: N note, W warning, E error. */
#define TV_DIAGNOSTIC_KINDS(X)                                                                     \
    X(UNMATCHED_EXIT, "unmatched-exit", N,                                                         \
      "exits without an entry: the call began before the trace")                                   \
    X(OPEN_CALL, "open-call", N, "calls still open at the end")                                    \
    X(OPEN_UNTIL_SILENCE, "open-until-silence", W,                                                 \
      "calls still open when the trace fell silent: they end with the last event of their "        \
      "process before the silence")                                                                \
    X(MISSING_EXIT, "missing-exit", E,                                                             \
      "calls closed by the exit of a caller: their own exit is missing")                           \
    X(IGNORED_EXIT, "ignored-exit", E, "exits of a method that is not on the stack, ignored")      \
    X(TITLE_MISMATCH, "title-mismatch", W,                                                         \
      "ends whose name differs from that of the call: the call keeps its name")                    \
    X(OVERLAP, "overlap", N,                                                                       \
      "slices that overlap others of their thread without nesting: in rows of their own")          \
    X(OVERHANG, "overhang", N,                                                                     \
      "slices that end less than 1 us after the enclosing slice or the start of the next: "        \
      "cut to fit")                                                                                \
    X(TIME_BACKWARDS, "time-backwards", E,                                                         \
      "times earlier than the thread's previous one: set to that one")                             \
    X(TIME_DIFFERENCES, "time-differences", E,                                                     \
      "texts whose times are differences to the sample before: print them without --deltatime")    \
    X(WRAPPED_CLOCK, "wrapped-clock", N, "clock values that wrapped around 2^32: corrected")       \
    X(TRUNCATED, "truncated", E,                                                                   \
      "the file ends in the middle of a record or packet: what came before is kept")               \
    X(CONTAINER_CUT, "container-cut", E,                                                           \
      "containers that end early or are damaged: what came before is read")                        \
    X(NO_SUMMARY, "no-summary", W,                                                                 \
      "the summary at the end is missing: clock and threads were inferred")                        \
    X(CLOCK_UNKNOWN, "clock-unknown", W, "no known clock named: taken as thread CPU time")         \
    X(OVERFLOW, "overflow", E, "the buffer was full: later events were not recorded")              \
    X(UNLISTED_THREAD, "unlisted-thread", N, "records of threads that are not in the thread list") \
    X(UNLISTED_METHOD, "unlisted-method", N, "records of methods that are not in the method list") \
    X(PROXY_METHOD, "proxy-method", N,                                                             \
      "method ids named by the line of their proxy's interface method")                            \
    X(BAD_ACTION, "bad-action", E, "records with the undefined action 3, skipped")                 \
    X(BAD_LINE, "bad-line", E, "malformed lines, skipped")                                         \
    X(BAD_LIST_LINE, "bad-list-line", W,                                                           \
      "malformed lines about threads, methods or the trace itself, skipped")                       \
    X(UNENDED_LINE, "unended-line", W,                                                             \
      "the last line has no line break: its number may have been cut, and is taken as it is")      \
    X(BAD_FIELDS, "bad-fields", E,                                                                 \
      "events of a known name whose fields cannot be read, shown as instants only")                \
    X(END_MISSING, "end-missing", W,                                                               \
      "the line *end is missing: the text was read up to the header of the records")               \
    X(DUPLICATE_THREAD, "duplicate-thread", N,                                                     \
      "thread ids listed more than once: the last name counts")                                    \
    X(DUPLICATE_METHOD, "duplicate-method", N,                                                     \
      "method ids listed more than once: the last line counts")                                    \
    X(BAD_PACKET, "bad-packet", E, "packets that could not be decoded, skipped")                   \
    X(RECODED_TEXT, "recoded-text", E,                                                             \
      "the binary part was re-encoded as text: its records are lost")                              \
    X(PADDED_RECORDS, "padded-records", N,                                                         \
      "records longer than the header says (14 bytes, not 10)")                                    \
    X(COUNT_MISMATCH, "count-mismatch", N, "the header states another number of records")          \
    X(TOO_DEEP, "too-deep", E, "calls nested deeper than 65536 levels, left out")                  \
    X(SKIPPED_SECTION, "skipped-section", N,                                                       \
      "parts of a file that hold none of what is shown (heap and monitors of hprof, an earlier "   \
      "profile in it, other signals of OpenTelemetry): skipped")                                   \
    X(TRAILING_BYTES, "trailing-bytes", W, "bytes after the last packet, skipped")                 \
    X(MANY_IDS, "many-ids", W,                                                                     \
      "records of more distinct unlisted threads or methods than are kept apart")                  \
    X(BAD_EVENT, "bad-event", E,                                                                   \
      "entries among the events that are not readable objects, left out")                          \
    X(BAD_JSON, "bad-json", N,                                                                     \
      "text that is not quite JSON (commas, quotes, comments, 0x), read anyway")                   \
    X(NOT_UTF8, "not-utf8", N, "names and texts with bytes that are not UTF-8, shown as U+FFFD")   \
    X(TOO_NESTED, "too-nested", W,                                                                 \
      "events and values nested deeper than 10000 levels: the deeper ones are shown as null")      \
    X(UNKNOWN_PHASE, "unknown-phase", E,                                                           \
      "events whose ph is missing or not a phase of the format, left out")                         \
    X(BAD_TIMESTAMP, "bad-timestamp", E,                                                           \
      "events whose ts is missing, not a number or out of range, left out")                        \
    X(PID_MISSING, "pid-missing", N, "events without a pid: assigned to process 0")                \
    X(TID_MISSING, "tid-missing", N,                                                               \
      "events without a tid: assigned to the thread with the number of their pid")                 \
    X(NAME_MISSING, "name-missing", W, "events without a name: shown as [No name]")                \
    X(ARGS_HIDDEN, "args-hidden", N,                                                               \
      "ends whose arguments differ in value from those of the beginning: the end's count, "        \
      "both are shown")                                                                            \
    X(BAD_DURATION, "bad-duration", E,                                                             \
      "durations that are null (taken as 0), not numbers (taken as missing) or too long "          \
      "(cut)")                                                                                     \
    X(NEGATIVE_DURATION, "negative-duration", E, "negative durations, taken as 0")                 \
    X(TIME_SATURATED, "time-saturated", E,                                                         \
      "times or weights, or sums of them, that are too large: they stop at 292 years (times of "   \
      "profiles at 73 years, weights of collapsed stacks at 2^60 ns)")                             \
    X(BAD_SCOPE, "bad-scope", E, "instants whose s is not t, p or g, left out")                    \
    X(BAD_COLOUR, "bad-colour", N,                                                                 \
      "cnames that are not a reserved colour: coloured by the name of the event")                  \
    X(BAD_COUNTER, "bad-counter", E,                                                               \
      "counter events without values, or with values that are not numbers: these are left "        \
      "out")                                                                                       \
    X(MANY_SERIES, "many-series", E,                                                               \
      "series of counters that hardly any event has a value for, beyond those that are kept")      \
    X(TRACING_OVERHEAD, "tracing-overhead", N,                                                     \
      "slices of the tracing itself (trace_event_overhead), left out")                             \
    X(METADATA_UNKNOWN, "metadata-unknown", N,                                                     \
      "metadata events with unknown names: listed as metadata")                                    \
    X(METADATA_BAD, "metadata-bad", W,                                                             \
      "metadata events whose argument is missing or invalid, left out")                            \
    X(BAD_UNIT, "bad-unit", W, "displayTimeUnit is not ms, us or ns: taken as ms")                 \
    X(ODD_UNIT, "odd-unit", N,                                                                     \
      "displayTimeUnit is us, which the format does not have: used anyway")                        \
    X(SUBTRACE_UNREAD, "subtrace-unread", E,                                                       \
      "traces inside the file in an unknown format, not read: listed as metadata")                 \
    X(ID_MISSING, "id-missing", E, "events that need an id and have none, left out")               \
    X(ID_AMBIGUOUS, "id-ambiguous", E,                                                             \
      "events with both id and id2, or an id2 that is not one of global and local, left out")      \
    X(ASYNC_NAMELESS, "async-nameless", E, "async events without a name, left out")                \
    X(ASYNC_NO_CATEGORY, "async-no-category", N,                                                   \
      "async events without a category: the empty one was taken")                                  \
    X(ASYNC_UNMATCHED_END, "async-unmatched-end", W,                                               \
      "async ends without a beginning: drawn from the first event of their id")                    \
    X(ASYNC_OPEN, "async-open", W,                                                                 \
      "async slices without an end: drawn to the last event of their id (S: of their thread)")     \
    X(ASYNC_BEGUN_TWICE, "async-begun-twice", E,                                                   \
      "async beginnings (S) of an id that is open already, left out")                              \
    X(ASYNC_STRAY_STEP, "async-stray-step", W,                                                     \
      "async steps and ends (T, p, F) without a beginning, left out")                              \
    X(ASYNC_MIXED_STEPS, "async-mixed-steps", E,                                                   \
      "async steps of another kind (T, p) than those before, left out")                            \
    X(STATE_OVERLAP, "state-overlap", E,                                                           \
      "states of a thread, or runs of a processor, that overlap: the earlier is cut short")        \
    X(JOINED_TO_ITSELF, "joined-to-itself", W,                                                     \
      "= events that join an id to itself: nothing is joined")                                     \
    X(JOINED_AGAIN, "joined-again", W,                                                             \
      "= events that join ids which are joined already: nothing changes")                          \
    X(FLOW_NO_START, "flow-no-start", W,                                                           \
      "flow steps and ends without a start before them, left out")                                 \
    X(FLOW_BEGUN_TWICE, "flow-begun-twice", W,                                                     \
      "flow starts of an id whose flow has not arrived yet, left out")                             \
    X(FLOW_NO_SLICE, "flow-no-slice", W, "flow events with no slice or instant at them, left out") \
    X(FLOW_BAD_BINDING, "flow-bad-binding", W, "flow ends whose binding point is not e, left out") \
    X(FLOW_NO_DIRECTION, "flow-no-direction", W,                                                   \
      "slices with a bind_id but neither flow_in nor flow_out: no flow, the slice is kept")        \
    X(OBJECT_CREATED_TWICE, "object-created-twice", W,                                             \
      "creations (N) of objects that are alive already, left out")                                 \
    X(OBJECT_MISMATCH, "object-mismatch", W,                                                       \
      "object events of another type or category than their object: kept, it keeps its own")       \
    X(SNAPSHOT_MISSING, "snapshot-missing", E,                                                     \
      "object snapshots (O) without args.snapshot, left out")                                      \
    X(SNAPSHOT_TWICE, "snapshot-twice", E,                                                         \
      "snapshots at the time of another of the same object, left out")                             \
    X(STACK_UNKNOWN, "stack-unknown", W,                                                           \
      "stack frames that are in no table: the event is kept without its stack")                    \
    X(STACK_TWICE, "stack-twice", W,                                                               \
      "events with both sf and stack, or esf and estack: neither counts")                          \
    X(STACK_NO_PARENT, "stack-no-parent", W,                                                       \
      "stack frames whose parent is not in the table: taken as roots")                             \
    X(STACK_CIRCLE, "stack-circle", W,                                                             \
      "stack frames and spans that are their own callers: taken as roots")                         \
    X(SAMPLE_NO_THREAD, "sample-no-thread", W,                                                     \
      "samples without a thread, or of one that no event has: a thread was made for each id")      \
    X(SAMPLE_NO_TIME, "sample-no-time", E,                                                         \
      "samples that cannot be read or have no time, left out")                                     \
    X(SAMPLE_NO_WEIGHT, "sample-no-weight", E, "samples without a weight: taken as 1")             \
    X(WEIGHT_ROUNDED, "weight-rounded", W,                                                         \
      "weights with more than three decimal places, rounded down to thousandths")                  \
    X(SAMPLES_SORTED, "samples-sorted", N,                                                         \
      "threads whose samples are not in the order of their times: sorted")                         \
    X(NEWER_VERSION, "newer-version", W,                                                           \
      "files of a newer version than is known: the known parts were read")                         \
    X(PROFILE_BAD, "profile-bad", E,                                                               \
      "parts of V8 profiles that belong to no profile, node or time, left out")                    \
    X(MEMBER_MISSING, "member-missing", E,                                                         \
      "parts of a profile without a member that they need, such as stackTable or selfSize: what "  \
      "it held is missing")                                                                        \
    X(BAD_REFERENCE, "bad-reference", W,                                                           \
      "references of a profile to something that it does not contain: shown as [unknown]")         \
    X(DUPLICATE_ID, "duplicate-id", W,                                                             \
      "ids of a profile that name two things of a kind: the last one counts")                      \
    X(VALUE_COUNT, "value-count", E,                                                               \
      "samples with fewer or more values than the profile has value types: the first ones count")  \
    X(SIGNAL_FRAME, "signal-frame", N,                                                             \
      "samples that were taken in a signal handler, whose frame is left out")                      \
    X(ESTIMATED_PATHS, "estimated-paths", N,                                                       \
      "inputs with calls but no stacks: the tree is an estimate, the figures of functions are "    \
      "exact")                                                                                     \
    X(PATHS_CUT, "paths-cut", W,                                                                   \
      "estimated trees of more than a million paths: deeper figures stay with their caller")       \
    X(MANY_TYPES, "many-types", E, "value types beyond the 64th, left out")                        \
    X(MEMORY_DUMP_EMPTY, "memory-dump-empty", W,                                                   \
      "memory dump events without args.dumps: the dump has no figures of them")                    \
    X(MEMORY_DUMP_BAD, "memory-dump-bad", W,                                                       \
      "memory dump events with a wrong level of detail, a number that cannot be read, or a "       \
      "bad path: the rest is kept")                                                                \
    X(MEMORY_NO_GUID, "memory-no-guid", N,                                                         \
      "memory allocators without a guid: kept, but nothing can own them")                          \
    X(MEMORY_LINK, "memory-link", N,                                                               \
      "ownerships between allocators that are unknown or taken: ignored")                          \
    X(CONTEXT_UNMATCHED, "context-unmatched", W,                                                   \
      "contexts that are left but were not the last entered, ignored")                             \
    X(CLOCK_NO_ID, "clock-no-id", W,                                                               \
      "clock sync markers without a sync_id, or whose two parts differ, left out")                 \
    X(EVENTS_LOST, "events-lost", E, "places where the tracer lost events: its buffer was full")   \
    X(OVERWRITTEN, "overwritten", W,                                                               \
      "the tracer's ring buffer was full: the oldest events were overwritten")                     \
    X(CLOCK_UNITLESS, "clock-unitless", E,                                                         \
      "times of a clock of unknown unit, taken as nanoseconds")                                    \
    X(SWITCH_MISSED, "switch-missed", N,                                                           \
      "processors that left another task than the one that they had switched to")                  \
    X(CLOCK_EXTRA, "clock-extra", W,                                                               \
      "clock sync markers of an id that two clocks have already, left out")                        \
    X(UNFINISHED_CHUNK, "unfinished-chunk", W,                                                     \
      "chunks of a recording that was still running: all events that were written are read")       \
    X(BAD_CHUNK, "bad-chunk", E, "chunks whose event types cannot be read, left out")              \
    X(BAD_CONSTANTS, "bad-constants", E,                                                           \
      "lists of constants that are damaged: names and stacks after the damage are missing")        \
    X(UNRESOLVED_CONSTANT, "unresolved-constant", W,                                               \
      "names, threads and stacks that are in no list of constants: the event is kept "             \
      "without them")                                                                              \
    X(UNKNOWN_EVENT, "unknown-event", E,                                                           \
      "events of types that the file does not describe, left "                                     \
      "out")                                                                                       \
    X(STACK_CUT, "stack-cut", N,                                                                   \
      "samples whose stack was deeper than the recorder keeps: the frames at the root are "        \
      "missing")                                                                                   \
    X(FIELD_UNKNOWN, "field-unknown", W, "fields of the trace that are no packets, skipped")       \
    X(PACKET_UNKNOWN, "packet-unknown", W, "packets with unknown content, skipped")                \
    X(PACKET_UNREAD, "packet-unread", N,                                                           \
      "packets of known types that are counted and shown by dump, but not drawn")                  \
    X(PACKETS_COMPRESSED, "packets-compressed", E, "compressed packets that were not unpacked")    \
    X(PACKETS_LOST, "packets-lost", E,                                                             \
      "places where a writer's packets were lost before they reached the file")                    \
    X(STATE_MISSING, "state-missing", E,                                                           \
      "packets that need names sent earlier, which were lost: skipped")                            \
    X(INTERNED_MISSING, "interned-missing", W,                                                     \
      "names, frames or stacks that packets refer to but nothing defines")                         \
    X(INTERNED_TWICE, "interned-twice", W,                                                         \
      "names, frames or stacks that are defined twice differently: the first counts")              \
    X(CLOCK_NO_PATH, "clock-no-path", E,                                                           \
      "events with a time on a clock that cannot be converted to that of the trace, left "         \
      "out")                                                                                       \
    X(TRACK_UNKNOWN, "track-unknown", W,                                                           \
      "events and descriptors of tracks that nothing describes, or whose parents form a loop")     \
    X(TRACK_CONFLICT, "track-conflict", W,                                                         \
      "descriptors that contradict an earlier one of their track: the first counts")               \
    X(COUNTER_TRACK, "counter-track", E,                                                           \
      "counter values on tracks that are not counters, left out")                                  \
    X(COMPACT_MISMATCH, "compact-mismatch", E,                                                     \
      "columns of compact scheduling data that do not fit together: complete rows are kept")       \
    X(EVENT_UNKNOWN, "event-unknown", W,                                                           \
      "kernel events of unknown types: instants named by their number")                            \
    X(EVENT_RAW, "event-raw", N,                                                                   \
      "track events of kinds without a meaning here: shown as instants, or only in dump")          \
    X(LOG_OUTSIDE, "log-outside", N, "log lines from before or after the trace: only in dump")     \
    X(CLOCK_UNTIED, "clock-untied", W,                                                             \
      "inputs whose clock no marker links to that of another: aligned at their beginnings")        \
    X(RECORDS_PACKED, "records-packed", E,                                                         \
      "records that perf compressed (perf record -z), which a page cannot unpack: open the file "  \
      "with the program")                                                                          \
    X(STACK_COPIED, "stack-copied", W,                                                             \
      "samples with a copy of their stack (perf record --call-graph dwarf), which is not "         \
      "unwound: of their own code they have only the top frame; open the output of perf script, "  \
      "or record with --call-graph fp or lbr")                                                     \
    X(STACK_BROKEN, "stack-broken", W, "stacks that the recorder could not follow to their root")  \
    X(MAPS_LEFT_OUT, "maps-left-out", W,                                                           \
      "mappings of processes beyond the number that is kept: addresses in them have no names")     \
    X(GROUP_UNREAD, "group-unread", W,                                                             \
      "counts of groups of events (perf record -e '{a,b}:S') that name no event of the file: "     \
      "left out; samples with such counts alone have their period")                                \
    X(GROUP_PARTIAL, "group-partial", W,                                                           \
      "samples of groups of events that had the processor's counters for a part of the time: "     \
      "their counts are those of this part, not scaled up, as perf shows them")                    \
    X(BAD_XML, "bad-xml", E,                                                                       \
      "elements of an XML file that are damaged, nested too deep or hold no number: left out")     \
    X(TABLE_UNREAD, "table-unread", N, "tables of an export that hold no samples: not read")       \
    X(TASK_STATE_ORDER, "task-state-order", W,                                                     \
      "states of threads that cannot follow the one before, kept as they are")                     \
    X(TIME_OVERFLOW, "time-overflow", E,                                                           \
      "track events with a time beyond what 64 bits of nanoseconds hold, left out")                \
    X(COUNTER_NO_TIME, "counter-no-time", E,                                                       \
      "packets with values of GPU counters, but without a time, left out")

enum tv_diagnostic_kind {
#define TV_DIAGNOSTIC_ENUM(id, name, severity, text) TV_DIAGNOSTIC_##id,
    TV_DIAGNOSTIC_KINDS(TV_DIAGNOSTIC_ENUM)
#undef TV_DIAGNOSTIC_ENUM
        TV_DIAGNOSTIC_COUNT
};

#define TV_DIAGNOSTIC_OFFSETS 100

struct tv_diagnostic_places {
    uint64_t offsets[TV_DIAGNOSTIC_OFFSETS]; /* smallest offsets, ascending within each input */
    uint32_t inputs[TV_DIAGNOSTIC_OFFSETS];  /* input of each offset */
};

struct tv_diagnostic {
    uint64_t count;
    uint32_t offset_count;
    struct tv_diagnostic_places *places; /* NULL without an offset; most kinds never occur */
};

/* Phase letters are ASCII; a phase that is not a letter counts under 0. */
#define TV_DIAGNOSTIC_LETTERS 128

/* Starts as zeros and owns the offsets of its kinds. */
struct tv_diagnostics {
    struct tv_diagnostic kinds[TV_DIAGNOSTIC_COUNT];
    uint64_t phases[TV_DIAGNOSTIC_LETTERS]; /* unknown-phase: count per letter */
    int64_t quiet;  /* open-until-silence: last end, ns from the start of its input */
    uint32_t input; /* input of everything added from now on */
};

/* Forget all counts; `input` stays. */
void tv_diagnostics_clear(struct tv_diagnostics *all);
void tv_diagnostics_clear_kind(struct tv_diagnostics *all, enum tv_diagnostic_kind kind);

/* Return the name, as "unmatched-exit", or the sentence of a kind. */
const char *tv_diagnostic_name(enum tv_diagnostic_kind kind);
const char *tv_diagnostic_text(enum tv_diagnostic_kind kind);
enum tv_severity tv_diagnostic_severity(enum tv_diagnostic_kind kind);
/* Return "note", "warning" or "error". */
const char *tv_diagnostic_severity_name(enum tv_diagnostic_kind kind);

/* Write the sentence of a kind with its details: "..., left out: 2 Z, 1 without a letter". */
void tv_diagnostics_write_text(struct tv_out *out, const struct tv_diagnostics *all,
                               enum tv_diagnostic_kind kind);
/* Write the same as a JSON string. */
void tv_diagnostics_write_json(struct tv_out *out, const struct tv_diagnostics *all,
                               enum tv_diagnostic_kind kind);

/* Count a diagnostic; `offset` may be TV_NO_OFFSET. */
void tv_diagnostics_add(struct tv_diagnostics *all, enum tv_diagnostic_kind kind, uint64_t offset);

/* Add the counts of `from`, as belonging to the current input of `to`. */
void tv_diagnostics_merge(struct tv_diagnostics *to, const struct tv_diagnostics *from);
void tv_diagnostics_merge_kind(struct tv_diagnostics *to, enum tv_diagnostic_kind kind,
                               const struct tv_diagnostic *from);

#endif
