/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/ftrace/said.h"

#include "base/bytes.h"
#include "readers/ftrace/args.h"

static struct tv_bytes without_blanks(struct tv_bytes text)
{
    while (text.length > 0 && text.data[0] == ' ') {
        text.data++;
        text.length--;
    }
    return text;
}

/* "word: more"; false: there is no such word in front. */
static bool take_word(struct tv_bytes *text, struct tv_bytes *word)
{
    struct tv_bytes rest = without_blanks(*text);
    return tv_bytes_split(&rest, ':', word) && word->length > 0 &&
           (*text = without_blanks(rest), true);
}

/* A touchpad's gestures: one line for all. */
static bool parse_gesture(struct tv_bytes title, struct tv_bytes text, struct tv_ft_said *said)
{
    struct tv_bytes step;
    bool log = tv_bytes_equal(title, TV_BYTES("log"));
    if (!take_word(&text, &step))
        return false;
    *said = (struct tv_ft_said){
        .begins = tv_bytes_equal(step, TV_BYTES("start")),
        .line = TV_BYTES("gesture"),
        .title = log ? TV_BYTES("GestureLog") : title,
        .category = "touchpad_gesture",
        .key = log ? "name" : "interpreter",
        .value = text,
    };
    return said->begins || tv_bytes_equal(step, TV_BYTES("end"));
}

/* "gles2_texturep_upload(): args": the name, and what follows stays in *text. */
static struct tv_bytes take_function(struct tv_bytes *text)
{
    size_t length = 0;
    while (length < text->length && text->data[length] != ' ' && text->data[length] != '(' &&
           text->data[length] != ':')
        length++;
    struct tv_bytes name = {text->data, length};
    while (length < text->length && (text->data[length] == '(' || text->data[length] == ')' ||
                                     text->data[length] == ':' || text->data[length] == ' '))
        length++;
    *text = (struct tv_bytes){text->data + length, text->length - length};
    return name;
}

/* The line is that of the thread in "()", or one for all in the old form without it. */
static bool parse_mali(struct tv_bytes text, struct tv_ft_said *said)
{
    struct tv_bytes thread = TV_BYTES("mali"), step;
    if (text.length > 0 && text.data[0] == '(') {
        text.data++;
        text.length--;
        if (!tv_bytes_split(&text, ')', &thread) || thread.length == 0)
            return false;
    }
    if (!take_word(&text, &step))
        return false;
    *said = (struct tv_ft_said){
        .begins = tv_bytes_equal(step, TV_BYTES("cros_trace_print_enter")),
        .line = thread,
        .category = "gpu-driver",
        .key = "blockinfo",
    };
    if (!said->begins)
        return tv_bytes_equal(step, TV_BYTES("cros_trace_print_exit"));
    if (!take_word(&text, &said->value))
        return false;
    said->title = take_function(&text);
    said->args = text;
    return said->title.length > 0;
}

bool tv_ft_said_parse(struct tv_bytes text, struct tv_ft_said *said)
{
    static const char *const gestures[] = {"log", "SyncInterpret", "HandleTimer"};
    struct tv_bytes word;
    if (!take_word(&text, &word))
        return false;
    if (tv_bytes_equal(word, TV_BYTES("mali_driver")))
        return parse_mali(text, said);
    for (size_t i = 0; i < TV_COUNT(gestures); i++)
        if (tv_bytes_equal(word, tv_bytes_of(gestures[i])))
            return parse_gesture(word, text, said);
    return false;
}

bool tv_ft_said_take(struct tv_ft_part *part, const struct tv_ft_at *at, struct tv_bytes text)
{
    struct tv_ft_said said;
    if (!tv_ft_said_parse(text, &said))
        return false;
    uint32_t line = tv_ft_kernel_line(part, said.line, TV_NONE);
    uint32_t frame = said.title.length > 0 ? tv_ft_frame(part, said.title, said.category) : TV_NONE;
    if (said.begins)
        tv_ft_kernel_begin(part, at, line, frame);
    else
        tv_ft_kernel_end(part, at, line, frame);
    return true;
}
