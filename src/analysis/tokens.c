/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/tokens.h"

#include "base/bytes.h"

bool tv_tokens_of_arguments(struct tv_tokens *tokens, struct tv_bytes described)
{
    const struct tv_bytes prefix = TV_BYTES("{\"args\":");
    if (!tv_bytes_starts_with(described, prefix))
        return false;
    *tokens = (struct tv_tokens){described.data + prefix.length, described.data + described.length,
                                 0, false};
    return true;
}

bool tv_tokens_of_hidden(struct tv_tokens *tokens)
{
    const struct tv_bytes prefixes[] = {
        TV_BYTES(",\"overwritten\":"),
        TV_BYTES(",\"overwritten_params\":"),
    };
    struct tv_bytes rest = {tokens->at, (size_t)(tokens->end - tokens->at)};
    for (size_t i = 0; i < TV_COUNT(prefixes); i++) {
        if (!tv_bytes_starts_with(rest, prefixes[i]))
            continue;
        *tokens = (struct tv_tokens){tokens->at + prefixes[i].length, tokens->end, 0, false};
        return true;
    }
    return false;
}

static void take_string(struct tv_tokens *tokens, struct tv_token *token)
{
    const uint8_t *start = ++tokens->at;
    while (tokens->at < tokens->end && *tokens->at != '"')
        tokens->at += *tokens->at == '\\' && tokens->end - tokens->at > 1 ? 2 : 1;
    token->text = (struct tv_bytes){start, (size_t)(tokens->at - start)};
    tokens->at += tokens->at < tokens->end;
    bool key = tokens->at < tokens->end && *tokens->at == ':';
    token->kind = key ? TV_TOKEN_KEY : TV_TOKEN_STRING;
}

static bool ends_word(uint8_t c)
{
    return c == ',' || c == ']' || c == '}';
}

static void take_word(struct tv_tokens *tokens, struct tv_token *token)
{
    const uint8_t *start = tokens->at;
    while (tokens->at < tokens->end && !ends_word(*tokens->at))
        tokens->at++;
    *token = (struct tv_token){TV_TOKEN_WORD, {start, (size_t)(tokens->at - start)}};
}

bool tv_tokens_next(struct tv_tokens *tokens, struct tv_token *token)
{
    if (tokens->over)
        return false;
    while (tokens->at < tokens->end && (*tokens->at == ',' || *tokens->at == ':'))
        tokens->at++;
    if (tokens->at == tokens->end)
        return false;
    uint8_t c = *tokens->at;
    if (c == '"') {
        take_string(tokens, token);
    } else if (c == '{' || c == '[') {
        *token = (struct tv_token){TV_TOKEN_OPEN, {tokens->at++, 1}};
        tokens->depth++;
    } else if (c == '}' || c == ']') {
        *token = (struct tv_token){TV_TOKEN_CLOSE, {tokens->at++, 1}};
        tokens->depth -= tokens->depth > 0;
    } else {
        take_word(tokens, token);
    }
    tokens->over = tokens->depth == 0 && token->kind != TV_TOKEN_KEY;
    return true;
}
