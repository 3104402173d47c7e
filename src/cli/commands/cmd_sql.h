/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_sql.h - the conversation of `sql` without a query (cmd_sql_prompt.c), and notes on queries.
 */
#ifndef TV_CLI_COMMANDS_CMD_SQL_H
#define TV_CLI_COMMANDS_CMD_SQL_H

#include "base/out.h"
#include "cli/command.h"

struct tv_sql;
struct tv_sql_output;

/* Answer statements as they come, each up to a ';' at the end of a line.  *failed is set by one
 * that fails; the next ones are answered.  At a terminal, Ctrl-C cancels the statement that runs,
 * for which the database must be cancellable. */
void tv_sql_prompt_converse(const struct tv_command *command, struct tv_sql *sql,
                            struct tv_sql_output *how, struct tv_out *out, bool *failed);

/* Tell which names were taken as SQLite takes them by what ran last, unless `quiet`.
 * (cmd_sql.c) */
void tv_sql_tell_names(const struct tv_sql_output *how, bool quiet);

/* Show the picture of an error: the line of the query and a mark under the place. (cmd_sql.c) */
void tv_sql_tell_picture(const char *picture);

/* List the words that the line editor completes; they need not be freed. */
void tv_sql_prompt_list_words(struct tv_words *words);

#endif
