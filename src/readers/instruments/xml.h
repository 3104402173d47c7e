/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xml.h - a pull parser for the XML that tools write: elements, attributes and text.
 *
 *     <row><weight id="9">5</weight></row>
 *     OPEN  OPEN          TEXT CLOSE CLOSE
 *
 * Comments, processing instructions and document types are skipped.  Entities that a document type
 * declares do not exist here, so no text grows by more than its own length.  The parser keeps no
 * state besides its place in the text: nesting is the caller's.
 */
#ifndef TV_READERS_INSTRUMENTS_XML_H
#define TV_READERS_INSTRUMENTS_XML_H

#include "base/bytes.h"
#include "base/out.h"

enum tv_xml_kind {
    TV_XML_OPEN,
    TV_XML_CLOSE,
    TV_XML_TEXT,
    TV_XML_END, /* of the document */
    TV_XML_CUT, /* the document ends within markup */
};

struct tv_xml_token {
    enum tv_xml_kind kind;
    struct tv_bytes name;       /* name of an element; of text the text, with its entities */
    struct tv_bytes attributes; /* attributes of an element, as in the file */
    bool empty;                 /* <name/>: no CLOSE follows */
    bool literal;               /* CDATA: '&' begins no entity */
    uint64_t offset;
};

/* Return the next token.  After TV_XML_END and TV_XML_CUT come only these. */
struct tv_xml_token tv_xml_next(struct tv_cursor *cursor);

/* Return the value of an attribute as in the file, with its entities; empty when there is none. */
struct tv_bytes tv_xml_attribute(struct tv_bytes attributes, struct tv_bytes name);

/* Return a text with its entities replaced, in `scratch` if there are any.  Unknown entities stay
 * as they are. */
struct tv_bytes tv_xml_decode(struct tv_bytes text, struct tv_out *scratch);

#endif
