/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terminal.h - the screen that standard output goes to, if any.
 */
#ifndef TV_CLI_TERMINAL_H
#define TV_CLI_TERMINAL_H

#include "cli/options.h"
#include "writers/text/layout.h"

struct tv_terminal {
    struct tv_layout layout; /* of text for people; of width 0 where it goes elsewhere */
    uint32_t rows;           /* lines that fit on the screen; 0: it goes elsewhere */
    bool dumb;               /* it understands no control sequences */
};

/* The terminal at a descriptor, with what the settings (--wide, --columns) and the environment
 * (COLUMNS, LINES, NO_COLOR, TERM, the locale) say. */
void tv_terminal_look(struct tv_terminal *terminal, int descriptor,
                      const struct tv_settings *settings);

#endif
