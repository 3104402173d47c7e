/* SPDX-License-Identifier: Apache-2.0 */
#include "view/asked.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "unit.h"

int asked_tear_down(void **state)
{
    struct asked *asked = *state;
    tv_view_free(asked->view);
    fixture_free(&asked->fixture);
    tv_source_free(asked->source);
    tv_free(asked);
    return 0;
}

enum tv_status ask_view(const struct tv_view *view, const char *question, struct tv_out *out,
                        struct tv_error *error)
{
    struct tv_view_parameter parameters[8];
    struct tv_bytes rest = tv_bytes_of(question), pair;
    struct tv_view_question q = {.parameters = parameters};
    tv_bytes_split(&rest, '?', &q.name);
    while (rest.length > 0) {
        assert_true(q.count < TV_COUNT(parameters));
        tv_bytes_split(&rest, '&', &pair);
        tv_bytes_split(&pair, '=', &parameters[q.count].name);
        parameters[q.count++].value = pair;
    }
    tv_out_init_memory(out);
    return tv_view_answer(view, &q, out, error);
}

enum tv_status ask(struct asked *asked, const char *question)
{
    return ask_view(asked->view, question, &asked->out, &asked->error);
}

void assert_answer(struct asked *asked, const char *question, const char *expected)
{
    assert_int_equal(ask(asked, question), TV_OK);
    tv_out_char(&asked->out, 0);
    assert_string_equal((const char *)asked->out.buffer, expected);
    tv_out_release(&asked->out);
}
