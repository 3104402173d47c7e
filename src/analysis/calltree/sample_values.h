/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_values.h - the value types of a trace as users choose them: by name, over all inputs.
 *
 * Types of several inputs with one name are one value.  Values are never added together.
 */
#ifndef TV_ANALYSIS_CALLTREE_SAMPLE_VALUES_H
#define TV_ANALYSIS_CALLTREE_SAMPLE_VALUES_H

#include "base/error.h"
#include "model/trace.h"

/* Figure that is added up for each sample. */
enum tv_sample_measure {
    TV_SAMPLES_COUNT,  /* 1 per sample */
    TV_SAMPLES_WEIGHT, /* as the file says; 1 if it does not */
    TV_SAMPLES_TIME, /* until the thread's next sample; the last one lasts as long as the file says
                        (tv_trace_last_sample_length), or else as long as the one before it */
};

/* The samples that a question is about. */
struct tv_sample_question {
    enum tv_sample_measure measure;
    uint32_t value; /* string: the name of their type; TV_NONE: the trace's default */
    bool all;       /* count the input samples of all types, once however many values they have */
    bool lines;     /* split functions by their sampled lines */
};

/* Meaning of the figures of a tree or a profile of samples. */
struct tv_sample_figures {
    bool sampled; /* false: calls and their times; the rest is unused */
    enum tv_sample_measure measure;
    uint32_t name, unit; /* strings, of the value type */
    tv_ns interval;      /* between samples, according to all files; 0: unknown */
    uint64_t samples;    /* samples of the selection, also those without a stack */
    int64_t sum;         /* sum of the measures */
    int64_t total;       /* total of their absolute values, 100 %; both saturate */
};

/* A value type of all inputs. */
struct tv_sample_value {
    uint32_t name, unit; /* strings */
    uint64_t samples;
    int64_t total;
    bool preferred;
    bool counted;   /* the weights are numbers of samples */
    bool disagrees; /* another input has another unit for it */
};

struct tv_sample_values {
    struct tv_sample_value *list; /* in the order of the files */
    size_t count;
};

/* List the value types; free them with tv_sample_values_release. */
struct tv_sample_values tv_sample_values_of(const struct tv_trace *trace);
void tv_sample_values_release(struct tv_sample_values *values);

/* Return the value that is shown first, the preferred one or the first; NULL without any. */
const struct tv_sample_value *tv_sample_values_default(const struct tv_sample_values *values);

/* Return the unit of an axis that is weight, not time: that of all value types, or empty when they
 * differ. */
struct tv_bytes tv_weight_axis_unit(const struct tv_trace *trace);

/* Find a value by its name, or the default (NULL).  TV_ERR_USAGE when there is none; the message
 * lists the names.  *question receives its name. */
enum tv_status tv_sample_question_choose(const struct tv_trace *trace, const char *name,
                                         struct tv_sample_question *question,
                                         struct tv_error *err) TV_MUST_CHECK;

/* Return the name of the value that a question is about; TV_NONE if the trace has no samples. */
uint32_t tv_sample_question_value(const struct tv_trace *trace,
                                  const struct tv_sample_question *question);

/* Return the unit of the figures: of the type; "samples"; or "ns". */
struct tv_bytes tv_sample_figures_unit(const struct tv_trace_info *head,
                                       const struct tv_sample_figures *figures);

/* Return true for weights with fractions, which are kept in thousandths. */
bool tv_sample_figures_are_thousandths(const struct tv_trace_info *head,
                                       const struct tv_sample_figures *figures);

/* Return true when the figures are nanoseconds: of calls, or of samples. */
bool tv_sample_figures_are_times(const struct tv_trace_info *head,
                                 const struct tv_sample_figures *figures);

#endif
