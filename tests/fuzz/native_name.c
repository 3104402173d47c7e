/* SPDX-License-Identifier: Apache-2.0 */
/* A name as a linker would use it, from anywhere: decoded the same in any room that holds it. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/native_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[TV_NATIVE_NAME_ROOM], exact[TV_NATIVE_NAME_ROOM];
    struct tv_bytes mangled = {data, size};
    if (!tv_native_name(mangled, text, sizeof text))
        return 0;
    size_t room = strlen(text) + 1;
    for (size_t i = 0; text[i]; i++)
        if ((unsigned char)text[i] < ' ')
            abort();
    if (!tv_is_mangled(mangled) || !tv_native_name(mangled, exact, room) ||
        strcmp(text, exact) != 0 || tv_native_name(mangled, exact, room - 1))
        abort();
    return 0;
}
