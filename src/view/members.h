/* SPDX-License-Identifier: Apache-2.0 */
/*
 * members.h - members of JSON objects that are being written; a key comes with what stands around
 * it: ",\"count\":".
 */
#ifndef TV_VIEW_MEMBERS_H
#define TV_VIEW_MEMBERS_H

#include "base/out.h"
#include "model/trace_info.h"

static inline void tv_member_number(struct tv_out *out, const char *key, int64_t value)
{
    tv_out_text(out, key);
    tv_out_i64(out, value);
}

/* An index; TV_NONE is -1. */
static inline void tv_member_index(struct tv_out *out, const char *key, uint32_t value)
{
    tv_member_number(out, key, value == TV_NONE ? -1 : (int64_t)value);
}

static inline void tv_member_flag(struct tv_out *out, const char *key, bool value)
{
    tv_out_text(out, key);
    tv_out_text(out, value ? "true" : "false");
}

/* A string of the head. */
static inline void tv_member_text(struct tv_out *out, const char *key, const struct tv_trace_info *head,
                                  uint32_t string)
{
    tv_out_text(out, key);
    tv_out_json(out, tv_trace_info_text(head, string));
}

#endif
