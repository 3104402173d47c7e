/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdicts.c - results of checks for the tools that run them: JUnit XML and SARIF (verdicts.h).
 *
 * Both formats put totals or tables in front of the results, so results are collected in memory
 * and written at the end:
 *
 *   JUnit   <testsuite tests= failures= errors=>, then the cases   (Jenkins, GitLab, ...)
 *   SARIF   the rules that results refer to, then the results      (code scanning: GitHub)
 *
 * Names and texts come from traces: they are escaped for XML, JSON or as part of a URI.
 */
#include "writers/text/verdicts.h"

#include <assert.h>
#include <inttypes.h>
#include <time.h>

#include "base/bytes.h"

#define SARIF_RESULTS 5000u

/* Years have four digits until then. */
#define MAX_JUNIT_SECONDS INT64_C(253402300800)

/* Return the text that was collected so far. */
static struct tv_bytes verdicts_text(const struct tv_out *out)
{
    return (struct tv_bytes){out->buffer, out->length};
}

/* ---- JUnit ---- */

void tv_junit_init(struct tv_junit *junit, const char *command)
{
    *junit = (struct tv_junit){.command = command};
    tv_out_init_memory(&junit->cases);
}

void tv_junit_add(struct tv_junit *junit, const struct tv_junit_case *test)
{
    struct tv_out *out = &junit->cases;
    bool error = test->error.length > 0, failure = !error && test->failure.length > 0;
    junit->tests++;
    junit->errors += error;
    junit->failures += failure;
    tv_out_format(out, "<testcase classname=\"traceview.%s\" name=\"", junit->command);
    tv_out_xml(out, test->name);
    tv_out_text(out, "\" time=\"0\">");
    if (error) {
        tv_out_text(out, "<error type=\"cannot be judged\" message=\"");
        tv_out_xml(out, test->error);
        tv_out_text(out, "\"/>");
    } else if (failure) {
        tv_out_text(out, "<failure type=\"fired\" message=\"");
        tv_out_xml(out, test->failure);
        tv_out_text(out, "\">");
        tv_out_xml(out, test->details);
        tv_out_text(out, "</failure>");
    }
    tv_out_text(out, "</testcase>\n");
}

/* The schema of Ant and that of Jenkins differ; documents like this fit both.  Ant's needs a time
 * and a host; equal files must give equal documents, so they are not those of this run. */
void tv_junit_finish(struct tv_junit *junit, struct tv_out *out)
{
    char moment[32] = "1970-01-01T00:00:00";
    time_t seconds = (time_t)junit->seconds;
    struct tm calendar;
    if (junit->seconds > 0 && junit->seconds < MAX_JUNIT_SECONDS && gmtime_r(&seconds, &calendar))
        strftime(moment, sizeof moment, "%Y-%m-%dT%H:%M:%S", &calendar);
    tv_out_format(out,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite id=\"0\" "
                  "package=\"traceview\" name=\"traceview %s\" tests=\"%u\" failures=\"%u\" "
                  "errors=\"%u\" time=\"0\" timestamp=\"%s\" hostname=\"localhost\">\n"
                  "<properties><property name=\"program\" value=\"traceview\"/></properties>\n",
                  junit->command, junit->tests, junit->failures, junit->errors, moment);
    tv_out_bytes(out, verdicts_text(&junit->cases));
    tv_out_text(out, "<system-out></system-out>\n<system-err></system-err>\n</testsuite>\n"
                     "</testsuites>\n");
    tv_out_release(&junit->cases);
}

/* ---- SARIF ---- */

void tv_sarif_init(struct tv_sarif *sarif)
{
    *sarif = (struct tv_sarif){.ids = tv_interner_new()};
    tv_out_init_memory(&sarif->rules);
    tv_out_init_memory(&sarif->results);
    tv_out_init_memory(&sarif->notes);
}

void tv_sarif_add_rule(struct tv_sarif *sarif, struct tv_bytes id, struct tv_bytes description)
{
    struct tv_out *out = &sarif->rules;
    if (tv_interner_find(sarif->ids, id) != TV_NONE)
        return;
    tv_interner_add(sarif->ids, id);
    tv_out_text(out, out->length > 0 ? ", {\"id\": " : "{\"id\": ");
    tv_out_json(out, id);
    tv_out_text(out, ", \"shortDescription\": {\"text\": ");
    tv_out_json(out, description);
    tv_out_text(out, "}}");
}

/* Write a file name as a reference of a URI, in quotes. */
static void sarif_put_uri(struct tv_out *out, struct tv_bytes file)
{
    tv_out_char(out, '"');
    for (size_t i = 0; i < file.length; i++) {
        uint8_t c = file.data[i];
        bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                     c == '/' || c == '-' || c == '.' || c == '_' || c == '~';
        if (plain)
            tv_out_char(out, (char)c);
        else
            tv_out_format(out, "%%%02X", c);
    }
    tv_out_char(out, '"');
}

/* Write where a result is: the file, with a line or an offset, and the method when there is one. */
static void sarif_put_place(struct tv_out *out, const struct tv_sarif_result *result)
{
    tv_out_text(out, "{\"physicalLocation\": {\"artifactLocation\": {\"uri\": ");
    sarif_put_uri(out, result->file);
    tv_out_char(out, '}');
    if (result->line > 0)
        tv_out_format(out, ", \"region\": {\"startLine\": %" PRIu64 "}", result->line);
    else if (result->at_offset)
        tv_out_format(out, ", \"region\": {\"byteOffset\": %" PRIu64 "}", result->offset);
    tv_out_char(out, '}');
    if (result->name.length > 0) {
        tv_out_text(out, ", \"logicalLocations\": [{\"fullyQualifiedName\": ");
        tv_out_json(out, result->name);
        tv_out_text(out, "}]");
    }
    tv_out_char(out, '}');
}

void tv_sarif_add(struct tv_sarif *sarif, const struct tv_sarif_result *result)
{
    struct tv_out *out = &sarif->results;
    assert(tv_interner_find(sarif->ids, result->rule) != TV_NONE);
    if (sarif->result_count == SARIF_RESULTS)
        return;
    tv_out_text(out, sarif->result_count++ > 0 ? ",\n{\"ruleId\": " : "\n{\"ruleId\": ");
    tv_out_json(out, result->rule);
    tv_out_format(out, ", \"level\": \"%s\", \"message\": {\"text\": ", result->level);
    tv_out_json(out, result->message);
    tv_out_char(out, '}');
    if (result->count > 0)
        tv_out_format(out, ", \"occurrenceCount\": %" PRIu64, result->count);
    tv_out_text(out, ", \"locations\": [");
    sarif_put_place(out, result);
    tv_out_char(out, ']');
    if (result->fingerprint.length > 0) {
        tv_out_text(out, ", \"partialFingerprints\": {\"method/v1\": ");
        tv_out_json(out, result->fingerprint);
        tv_out_char(out, '}');
    }
    tv_out_char(out, '}');
}

void tv_sarif_add_failure(struct tv_sarif *sarif, struct tv_bytes text)
{
    struct tv_out *out = &sarif->notes;
    tv_out_text(out, out->length > 0 ? ", " : "");
    tv_out_text(out, "{\"level\": \"error\", \"message\": {\"text\": ");
    tv_out_json(out, text);
    tv_out_text(out, "}}");
}

void tv_sarif_finish(struct tv_sarif *sarif, struct tv_out *out)
{
    tv_out_text(out, "{\"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\", "
                     "\"version\": \"2.1.0\", \"runs\": [{\"tool\": {\"driver\": {\"name\": "
                     "\"traceview\", \"rules\": [");
    tv_out_bytes(out, verdicts_text(&sarif->rules));
    tv_out_text(out, "]}}, ");
    if (sarif->notes.length > 0) {
        tv_out_text(out, "\"invocations\": [{\"executionSuccessful\": false, "
                         "\"toolExecutionNotifications\": [");
        tv_out_bytes(out, verdicts_text(&sarif->notes));
        tv_out_text(out, "]}], ");
    }
    tv_out_text(out, "\"results\": [");
    tv_out_bytes(out, verdicts_text(&sarif->results));
    tv_out_text(out, "]}]}\n");
    tv_interner_free(sarif->ids);
    tv_out_release(&sarif->rules);
    tv_out_release(&sarif->results);
    tv_out_release(&sarif->notes);
}
