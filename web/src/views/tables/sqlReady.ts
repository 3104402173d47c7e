// SPDX-License-Identifier: Apache-2.0
// The ready queries of the SQL tab: those of docs/sql.md, by the formats that they are for.

import { h } from '../../base/dom';
import type { ReadyQuery } from '../../model/sql';

/** The queries of docs/sql.md, as [group, title, query] in JSON. */
declare const SQL_QUERIES: string;

/** A group of queries with one heading. */
export interface QueryGroup {
  name: string;
  queries: readonly ReadyQuery[];
}

/** Return the queries in the order of the document. */
export function readyGroups(): QueryGroup[] {
  const groups = new Map<string, ReadyQuery[]>();
  for (const [group, title, text] of JSON.parse(SQL_QUERIES) as [string, string, string][])
    groups.set(group, [
      ...(groups.get(group) ?? []),
      { group, title, text: `-- ${title}\n${text}` },
    ]);
  return [...groups].map(([name, queries]) => ({ name, queries }));
}

/** Return a list of all of them, each a button that takes its query. */
export function readyList(take: (query: ReadyQuery) => void): HTMLElement {
  const item = (query: ReadyQuery): HTMLElement =>
    h(
      'li',
      null,
      h(
        'button',
        {
          class: 'link',
          attrs: { type: 'button' },
          on: { click: () => take(query) },
        },
        query.title.replaceAll('`', ''),
      ),
    );
  return h(
    'div',
    { class: 'sql-ready', attrs: { role: 'region', 'aria-label': 'Queries to begin with' } },
    ...readyGroups().map(({ name, queries }) =>
      h('section', null, h('h3', null, name), h('ul', null, ...queries.map(item))),
    ),
  );
}
