/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler_names.c - what the words of a stack stand for: methods by hand have their own texts,
 * addresses those of modules.h.
 *
 * Where names are made in this process, a function has one place, whatever the address within it:
 * it has no lines, and two places of the same text would be two stacks that nobody can tell apart.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/homes.h"
#include "recorder/native/code.h"
#include "recorder/native/modules.h"
#include "recorder/native/sampler.h"
#include "recorder/state.h"

#define FIELDS 5

/* Cuts a line at its tabs; missing fields are empty. */
static void split(char *line, char **fields)
{
    static char none[] = "";
    for (size_t i = 0; i < FIELDS; i++) {
        char *tab = line ? strchr(line, '\t') : NULL;
        fields[i] = line ? line : none;
        line = tab ? tab + 1 : NULL;
        if (tab)
            *tab = '\0';
    }
}

static uint32_t add_method(struct tvrec_sampler *sampler, uint64_t word)
{
    sigset_t before;
    char line[TV_METHOD_LINE + 1], *fields[FIELDS];
    size_t length = 0;
    uint64_t number = word >> 2;
    tv_recorder_lock(&before);
    if (number > 0 && number <= tv_recorder.methods.count) {
        const char *text = tv_method_table_line(&tv_recorder.methods, (uint32_t)number, &length);
        memcpy(line, text, length);
    }
    tv_recorder_unlock(&before);
    line[length] = '\0';
    split(line, fields);
    static char no_class[] = "native";
    struct tv_sample_element element = {
        .method = word,
        .line = fields[4][0] ? (int32_t)strtol(fields[4], NULL, 10) : TV_SAMPLES_NO_LINE,
        .class_name = fields[0][0] ? fields[0] : no_class,
        .name = fields[1],
        .file = fields[3][0] ? fields[3] : NULL,
    };
    uint32_t known = tv_samples_find_element(&sampler->samples, word, element.line);
    return known != 0 ? known : tv_samples_add_element(&sampler->samples, &element);
}

static uint32_t add_address(struct tvrec_sampler *sampler, uint64_t word)
{
    char room[TV_METHOD_LINE], texts[3][TV_METHOD_LINE];
    struct tv_recording_method method = {.class_name = "unknown", .name = room};
    uint64_t address = word << 1 >> 3, start = tv_code_function_start(address);
    if (start != 0 && !tv_modules_has_address_names())
        address = start;
    uint64_t place = tv_modules_key(address, TV_MODULE_TIME_NOW), key = TV_WORD_ADDRESS | place << 2;
    uint32_t known = tv_samples_find_element(&sampler->samples, key, TV_SAMPLES_NO_LINE);
    if (known != 0)
        return known;
    tv_modules_name(place, &method, room, sizeof room);
    const char *from[] = {method.class_name, method.name, method.file ? method.file : ""};
    for (size_t i = 0; i < 3; i++) {
        size_t length = strnlen(from[i], sizeof texts[i] - 1);
        memcpy(texts[i], from[i], length);
        texts[i][length] = '\0';
    }
    struct tv_sample_element element = {key, TV_SAMPLES_NO_LINE, texts[0], texts[1],
                                        texts[2][0] ? texts[2] : NULL};
    return tv_samples_add_element(&sampler->samples, &element);
}

uint32_t tv_sampler_find_element(struct tvrec_sampler *sampler, uint64_t word)
{
    size_t at = (size_t)(word * UINT64_C(0x9E3779B97F4A7C15) >> 52) % TV_SAMPLER_CACHE_SIZE;
    if (sampler->places[at].element != 0 && sampler->places[at].word == word)
        return sampler->places[at].element;
    uint32_t element =
        word & TV_WORD_ADDRESS ? add_address(sampler, word) : add_method(sampler, word);
    sampler->places[at].word = word;
    sampler->places[at].element = element;
    return element;
}
