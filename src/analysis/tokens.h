/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tokens.h - goes over one value of strict JSON without white space, as tv_describe writes it.
 */
#ifndef TV_ANALYSIS_TOKENS_H
#define TV_ANALYSIS_TOKENS_H

#include "base/types.h"

enum tv_token_kind {
    TV_TOKEN_KEY,
    TV_TOKEN_STRING,
    TV_TOKEN_WORD, /* numbers, true, false, null */
    TV_TOKEN_OPEN,
    TV_TOKEN_CLOSE,
};

struct tv_token {
    enum tv_token_kind kind;
    struct tv_bytes text; /* of strings what stands between the quotes */
};

struct tv_tokens {
    const uint8_t *at, *end;
    size_t depth;
    bool over;
};

/* The arguments in what tv_describe wrote; false: there are none. */
bool tv_tokens_of_arguments(struct tv_tokens *tokens, struct tv_bytes described);

/* Where these are over: those of a slice's beginning that its end hides, which stand behind them;
 * false: there are none (left). */
bool tv_tokens_of_hidden(struct tv_tokens *tokens);

/* The next one; false: the value is over. */
bool tv_tokens_next(struct tv_tokens *tokens, struct tv_token *token);

#endif
