/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/iso_time.h"

#include <time.h>

#include "base/bytes.h"

const char *tv_iso_time(int64_t seconds, char text[TV_ISO_TIME])
{
    struct tm parts;
    time_t time = (time_t)seconds;
    if (gmtime_r(&time, &parts) == NULL ||
        strftime(text, TV_ISO_TIME, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        text[0] = '\0';
    return text;
}

/* Takes so many digits and the character behind them, if one is wanted. */
static bool take_number(struct tv_bytes *text, size_t digits, char behind, int *number)
{
    uint64_t value;
    size_t length = digits + (behind != '\0');
    if (text->length < length || !tv_parse_u64((struct tv_bytes){text->data, digits}, &value) ||
        (behind != '\0' && text->data[digits] != (uint8_t)behind))
        return false;
    *number = (int)value;
    text->data += length;
    text->length -= length;
    return true;
}

static bool take_time(struct tv_bytes *text, struct tm *parts)
{
    return take_number(text, 2, ':', &parts->tm_hour) &&
           take_number(text, 2, ':', &parts->tm_min) && take_number(text, 2, 'Z', &parts->tm_sec);
}

static bool is_within(int value, int least, int most)
{
    return value >= least && value <= most;
}

bool tv_iso_parse(struct tv_bytes text, int64_t *seconds)
{
    struct tm parts = {0};
    if (!take_number(&text, 4, '-', &parts.tm_year) || !take_number(&text, 2, '-', &parts.tm_mon))
        return false;
    bool day_alone = text.length == 2;
    if (!take_number(&text, 2, day_alone ? '\0' : 'T', &parts.tm_mday) ||
        (!day_alone && !take_time(&text, &parts)) || text.length > 0)
        return false;
    if (!is_within(parts.tm_mon, 1, 12) || !is_within(parts.tm_mday, 1, 31) ||
        !is_within(parts.tm_hour, 0, 23) || !is_within(parts.tm_min, 0, 59) ||
        !is_within(parts.tm_sec, 0, 60))
        return false;
    parts.tm_year -= 1900;
    parts.tm_mon -= 1;
    *seconds = (int64_t)timegm(&parts);
    return true;
}
