/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/te_rewrite.h"

#include "base/memory.h"
#include "readers/json.h"
#include "readers/te_container.h"
#include "readers/te_describe.h"

bool tv_te_is_input(const struct tv_input *input)
{
    return input->describe == tv_te_describe;
}

static enum tv_status write_member(const struct tv_te_top_member *member, struct tv_source *source,
                                   struct tv_out *out, struct tv_error *err)
{
    size_t length = (size_t)member->value.length, got = 0;
    uint8_t *text = tv_alloc(length, 1);
    enum tv_status status = tv_source_read(source, member->value.offset, text, length, &got, err);
    if (status == TV_OK) {
        tv_out_text(out, ",\n");
        tv_json_normalise((struct tv_bytes){(const uint8_t *)member->key, member->key_length}, out,
                          NULL);
        tv_out_char(out, ':');
        tv_json_normalise((struct tv_bytes){text, got}, out, NULL);
    }
    tv_free(text);
    return status;
}

enum tv_status tv_te_rewrite(struct tv_source *source, const struct tv_te_rewrite_choice *choice,
                             struct tv_out *out, struct tv_error *err)
{
    struct tv_te_container container;
    struct tv_te_copy copy = {.out = out};
    if (choice) {
        copy.wanted = choice->wanted;
        copy.context = choice->context;
    }
    tv_out_text(out, "{\"traceEvents\":[\n");
    enum tv_status status = tv_te_container_copy(&container, source, &copy, err);
    if (status == TV_OK && choice && choice->add)
        status = choice->add(choice->context, out, copy.count > 0, err);
    tv_out_text(out, "\n]");
    for (size_t i = 0; i < container.member_count && status == TV_OK; i++)
        status = write_member(&container.members[i], source, out, err);
    tv_out_text(out, "}\n");
    tv_te_container_release(&container);
    return status;
}
