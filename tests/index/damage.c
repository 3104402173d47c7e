/* SPDX-License-Identifier: Apache-2.0 */
#include "damage.h"

#include <string.h>

#include "base/memory.h"

enum what {
    CHANGE_BYTE,  /* another value */
    CHANGE_WORD,  /* 32 bits: near 0, or near TV_NONE */
    CHANGE_LONG,  /* 64 bits, the same */
    COPY_ELEMENT, /* from another place in the section */
    CUT,          /* the section has fewer elements */
    REPEAT,       /* some elements appear twice */
    DROP,         /* the section is missing */
    SWAP,         /* the section has the contents of the next one */
    WHATS,
};

struct piece {
    struct tv_section section;
    uint8_t *bytes; /* with room for twice the size */
    bool dropped;
};

static void change(struct piece *piece, const struct damage *d)
{
    size_t size = piece->section.element_size, count = (size_t)piece->section.count;
    uint8_t *element = piece->bytes + d->element % count * size;
    uint64_t value = d->value < 0x8000 ? d->value : d->value - (uint64_t)0x10000;
    switch (d->what % WHATS) {
    case CHANGE_BYTE:
        element[d->byte % size] = (uint8_t)d->value;
        break;
    case CHANGE_WORD:
        memcpy(element + d->byte % size / 4 * 4, &value, size < 4 ? size : 4);
        break;
    case CHANGE_LONG:
        if (size >= 8)
            memcpy(element + d->byte % (size - 7) / 4 * 4, &value, 8);
        break;
    case COPY_ELEMENT:
        memmove(element, piece->bytes + d->value % count * size, size);
        break;
    case CUT:
        piece->section.count = d->value % (count + 1);
        break;
    case REPEAT:
        memcpy(piece->bytes + count * size, piece->bytes, d->value % (count + 1) * size);
        piece->section.count += d->value % (count + 1);
        break;
    default:
        break;
    }
}

static struct piece copy_piece(const struct tv_sections *sections, size_t index)
{
    struct piece piece = {.section = tv_sections_at(sections, index)};
    size_t size = piece.section.element_size * (size_t)piece.section.count;
    piece.bytes = tv_alloc(size, 1);
    if (size > 0)
        memcpy(piece.bytes, piece.section.elements, size);
    return piece;
}

/* Repetitions need room that most sections never use. */
static void damage_piece(struct piece *piece, const struct damage *d)
{
    if (piece->section.count == 0)
        return;
    piece->bytes =
        tv_realloc(piece->bytes, (size_t)piece->section.count * 2, piece->section.element_size);
    change(piece, d);
}

void damage_write(const struct tv_sections *sections, const struct tv_sections_id *id,
                  const struct damage *damages, size_t count, struct tv_out *out)
{
    size_t all = tv_sections_count(sections);
    struct piece *pieces = tv_alloc(all, sizeof *pieces);
    struct tv_sections_writer writer;
    for (size_t i = 0; i < all; i++)
        pieces[i] = copy_piece(sections, i);
    for (size_t i = 0; i < count; i++) {
        size_t at = damages[i].section % all;
        struct piece *piece = &pieces[at], *next = &pieces[(at + 1) % all];
        unsigned what = damages[i].what % WHATS;
        if (what == DROP) {
            piece->dropped = true;
        } else if (what == SWAP) {
            uint32_t tag = piece->section.tag;
            piece->section.tag = next->section.tag;
            next->section.tag = tag;
        } else {
            damage_piece(piece, &damages[i]);
        }
    }
    tv_sections_begin(&writer, id, out);
    for (size_t i = 0; i < all; i++) {
        const struct tv_section *s = &pieces[i].section;
        if (!pieces[i].dropped)
            tv_sections_add(&writer, s->tag, s->number, s->element_size, s->count, pieces[i].bytes);
        tv_free(pieces[i].bytes);
    }
    tv_sections_end(&writer);
    tv_free(pieces);
}
