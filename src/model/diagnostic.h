/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnostic.h - what was repaired, moved, skipped or is merely worth knowing about an input.
 *
 * Nothing is dropped in silence: every such event counts under its kind, and the first hundred
 * keep their byte offset.  The names are a contract (info --format json); texts may change.
 */
#ifndef TV_MODEL_DIAGNOSTIC_H
#define TV_MODEL_DIAGNOSTIC_H

#include "base/types.h"

/* X(enumerator, name, severity, text): severity N a note, W a warning (something is lost or
 * guessed). */
#define TV_DIAGNOSTIC_KINDS(X)                                                                     \
    X(UNMATCHED_EXIT, "unmatched-exit", N,                                                         \
      "exits without an entry: the call began before the trace")                                   \
    X(OPEN_CALL, "open-call", N, "calls still open at the end")                                    \
    X(MISSING_EXIT, "missing-exit", W,                                                             \
      "calls closed by the exit of a caller: their own exit is missing")                           \
    X(IGNORED_EXIT, "ignored-exit", W, "exits of a method that is not on the stack, ignored")      \
    X(TITLE_MISMATCH, "title-mismatch", W, "ends of another name than the call that they end")     \
    X(OVERLAP, "overlap", N,                                                                       \
      "slices that overlap others of their thread without nesting: in rows of their own")          \
    X(TIME_BACKWARDS, "time-backwards", W,                                                         \
      "times earlier than the thread's previous one, set to it")                                   \
    X(WRAPPED_CLOCK, "wrapped-clock", N,                                                           \
      "clock values that wrapped around 2^32 and were put right")                                  \
    X(TRUNCATED, "truncated", W, "the file ends in the middle of a record or packet")              \
    X(NO_SUMMARY, "no-summary", W,                                                                 \
      "the summary at the end is missing: clock and threads were inferred")                        \
    X(CLOCK_UNKNOWN, "clock-unknown", W, "no known clock named: taken as thread CPU time")         \
    X(OVERFLOW, "overflow", W, "the buffer was full: what came later was not recorded")            \
    X(UNLISTED_THREAD, "unlisted-thread", N, "records of threads that are not in the thread list") \
    X(UNLISTED_METHOD, "unlisted-method", N, "records of methods that are not in the method list") \
    X(PROXY_METHOD, "proxy-method", N,                                                             \
      "method ids named by the line of their proxy's interface method")                            \
    X(BAD_ACTION, "bad-action", W, "records with the undefined action 3, skipped")                 \
    X(BAD_LINE, "bad-line", W, "malformed lines in the header text")                               \
    X(DUPLICATE_THREAD, "duplicate-thread", N,                                                     \
      "thread ids listed more than once: the last name stands")                                    \
    X(DUPLICATE_METHOD, "duplicate-method", N,                                                     \
      "method ids listed more than once: the last line stands")                                    \
    X(BAD_PACKET, "bad-packet", W, "packets that could not be decoded, skipped")                   \
    X(RECODED_TEXT, "recoded-text", W,                                                             \
      "the binary part was re-encoded as text: its records are lost")                              \
    X(PADDED_RECORDS, "padded-records", N,                                                         \
      "records longer than the header says (14 bytes, not 10)")                                    \
    X(COUNT_MISMATCH, "count-mismatch", N, "the header announces another number of records")       \
    X(TOO_DEEP, "too-deep", W, "calls nested deeper than 65536 levels, left out")                  \
    X(TRAILING_BYTES, "trailing-bytes", W, "bytes behind the last packet, skipped")                \
    X(MANY_IDS, "many-ids", W,                                                                     \
      "records of more distinct unlisted threads or methods than are kept apart")

enum tv_diagnostic_kind {
#define TV_DIAGNOSTIC_ENUM(id, name, severity, text) TV_DIAGNOSTIC_##id,
    TV_DIAGNOSTIC_KINDS(TV_DIAGNOSTIC_ENUM)
#undef TV_DIAGNOSTIC_ENUM
        TV_DIAGNOSTIC_COUNT
};

#define TV_DIAGNOSTIC_OFFSETS 100

struct tv_diagnostic {
    uint64_t count;
    uint32_t offset_count;
    uint64_t offsets[TV_DIAGNOSTIC_OFFSETS]; /* bytes in the input, ascending within one part */
};

struct tv_diagnostics {
    struct tv_diagnostic kinds[TV_DIAGNOSTIC_COUNT];
};

/* "unmatched-exit"; a sentence; whether it is a warning. */
const char *tv_diagnostic_name(enum tv_diagnostic_kind kind);
const char *tv_diagnostic_text(enum tv_diagnostic_kind kind);
bool tv_diagnostic_is_warning(enum tv_diagnostic_kind kind);

/* Counts one more; `offset` may be TV_NO_OFFSET. */
void tv_diagnostics_add(struct tv_diagnostics *all, enum tv_diagnostic_kind kind, uint64_t offset);

/* Adds what `from` counted, behind what `to` has. */
void tv_diagnostics_merge(struct tv_diagnostics *to, const struct tv_diagnostics *from);

#endif
