/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/symbols.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/number.h"
#include "symbols/elf.h"

struct files {
    struct tv_namer namer; /* first: it is what the head knows */
    struct tv_lock lock;
    struct tv_elf **elfs;
    size_t count;
};

static bool find(struct tv_namer *namer, uint64_t address, struct tv_address_place *place)
{
    struct files *files = (struct files *)namer;
    struct tv_elf_place found;
    bool known = false;
    tv_lock_enter(&files->lock);
    for (size_t i = 0; i < files->count && !known; i++)
        known = tv_elf_find(files->elfs[i], address, &found);
    tv_lock_leave(&files->lock);
    if (known)
        *place = (struct tv_address_place){found.function, found.file, found.line};
    return known;
}

static void release(struct tv_namer *namer)
{
    struct files *files = (struct files *)namer;
    for (size_t i = 0; i < files->count; i++)
        tv_elf_free(files->elfs[i]);
    tv_lock_release(&files->lock);
    tv_free(files->elfs);
    tv_free(files);
}

/* What is behind the last '@' is the base, unless it is no number: then it belongs to the name. */
static enum tv_status open_word(const char *word, struct tv_elf **elf, struct tv_error *err)
{
    const char *at = strrchr(word, '@');
    uint64_t base = TV_ELF_UNMOVED;
    char path[4096];
    bool based = at && tv_parse_hex(tv_bytes_of(at + 1), &base);
    size_t length = based ? (size_t)(at - word) : strlen(word);
    if (length == 0 || length >= sizeof path)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--symbols: expected ELF or ELF@BASE, found '%.100s'", word);
    memcpy(path, word, length);
    path[length] = '\0';
    return tv_elf_read(path, based ? base : TV_ELF_UNMOVED, elf, err);
}

enum tv_status tv_symbols_open(const struct tv_words *words, struct tv_namer **namer,
                               struct tv_error *err)
{
    *namer = NULL;
    if (words->count == 0)
        return TV_OK;
    struct files *files = tv_alloc(1, sizeof *files);
    enum tv_status status = TV_OK;
    files->namer = (struct tv_namer){find, release};
    files->elfs = tv_alloc(words->count, sizeof(struct tv_elf *));
    tv_lock_init(&files->lock);
    while (files->count < words->count && status == TV_OK) {
        status = open_word(words->items[files->count], &files->elfs[files->count], err);
        files->count += status == TV_OK;
    }
    if (status == TV_OK)
        *namer = &files->namer;
    else
        release(&files->namer);
    return status;
}
