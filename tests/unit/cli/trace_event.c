/* SPDX-License-Identifier: Apache-2.0 */
/* Trace Event JSON made of the model of such a file. */
#include "unit.h"

#include <string.h>

#include "readers/te_made.h"
#include "writers/trace/trace_event.h"

static bool has(const struct tv_out *out, const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i + length <= out->length; i++)
        if (memcmp(out->buffer + i, text, length) == 0)
            return true;
    return false;
}

/* "bp":"e" means what is around the time: without it the next is meant (trace-event.md 3.7). */
static void keeps_binding_points(void **context)
{
    static const char *const files[] = {
        "'ph':'X','ts':0,'dur':10,'tid':1,'name':'a'\n"
        "'ph':'X','ts':20,'dur':10,'tid':2,'name':'b'\n"
        "'ph':'i','ts':20,'tid':3,'s':'t','name':'mark'\n"
        "'ph':'s','ts':5,'tid':1,'name':'later','id':1\n"
        "'ph':'f','ts':15,'tid':2,'name':'later','id':1\n"
        "'ph':'s','ts':6,'tid':1,'name':'mark','id':2\n"
        "'ph':'f','ts':16,'tid':3,'name':'mark','id':2\n"
        "'ph':'s','ts':7,'tid':1,'name':'around','id':3\n"
        "'ph':'f','ts':25,'tid':2,'name':'around','id':3,'bp':'e'\n",
        NULL};
    struct te_made *made = te_made_new(files);
    struct tv_subset keep = {.processes = NULL};
    struct tv_trace_event_losses losses;
    struct tv_out out;
    (void)context;
    tv_out_init_memory(&out);
    tv_trace_event_write(&out, te_made_trace(made), &keep, &losses);
    assert_true(has(&out, "{\"ph\":\"f\",\"id\":\"arrow 0\",\"name\":\"later\""));
    assert_true(has(&out, "{\"ph\":\"f\",\"id\":\"arrow 1\",\"name\":\"mark\""));
    assert_true(has(&out, "{\"ph\":\"f\",\"id\":\"arrow 2\",\"bp\":\"e\",\"name\":\"around\""));
    tv_out_release(&out);
    te_made_free(made);
}

UNIT_TESTS(trace_event, cmocka_unit_test(keeps_binding_points));
