// SPDX-License-Identifier: Apache-2.0
// The query of the trace list, in the address of the page and in the request to the server.

export type Sort = 'uploaded' | 'name' | 'bytes' | 'length';
export const SORTS: readonly Sort[] = ['uploaded', 'name', 'bytes', 'length'];

export interface ListQuery {
  q: string;
  label: string;
  process: string;
  /** Days of the user's calendar, such as "2026-11-21". Both days are included. */
  since: string;
  until: string;
  sort: Sort;
  down: boolean;
}

export const WHOLE_LIST: ListQuery = {
  ...{ q: '', label: '', process: '', since: '', until: '' },
  ...{ sort: 'uploaded', down: true },
};

const TEXTS = ['q', 'label', 'process', 'since', 'until'] as const;
const DAY = /^(\d{4})-(\d\d)-(\d\d)$/;

/** Texts sort from A by default, numbers and times from the largest. */
function beginsDown(sort: Sort): boolean {
  return sort !== 'name';
}

export function parseListQuery(search: string): ListQuery {
  const given = new URLSearchParams(search);
  const query = { ...WHOLE_LIST };
  for (const name of TEXTS) query[name] = given.get(name) ?? '';
  if (!DAY.test(query.since)) query.since = '';
  if (!DAY.test(query.until)) query.until = '';
  query.sort = SORTS.find((sort) => sort === given.get('sort')) ?? 'uploaded';
  const order = given.get('order');
  query.down = order === null ? beginsDown(query.sort) : order === 'desc';
  return query;
}

/** Return the query for the page address: with a leading "?", or empty for the whole list. */
export function formatListQuery(query: ListQuery): string {
  const out = new URLSearchParams();
  for (const name of TEXTS) if (query[name]) out.set(name, query[name]);
  if (query.sort !== 'uploaded') out.set('sort', query.sort);
  if (query.down !== beginsDown(query.sort)) out.set('order', query.down ? 'desc' : 'asc');
  const text = out.toString();
  return text && `?${text}`;
}

/** Return the start of a local day, `later` days later, as a point in time. */
export function dayStart(day: string, later = 0): string | null {
  const [, year, month, date] = DAY.exec(day) ?? [];
  if (!year) return null;
  const start = new Date(Number(year), Number(month) - 1, Number(date) + later);
  return start.toISOString().replace(/\.\d+Z$/, 'Z');
}

export function serverQuery(query: ListQuery, limit: number, after: string | null): string {
  const out = new URLSearchParams();
  for (const name of ['q', 'label', 'process'] as const) {
    const text = query[name].trim();
    if (text) out.set(name, text);
  }
  const since = dayStart(query.since);
  const until = dayStart(query.until, 1);
  if (since) out.set('since', since);
  if (until) out.set('until', until);
  out.set('sort', query.sort);
  out.set('order', query.down ? 'desc' : 'asc');
  out.set('limit', String(limit));
  if (after !== null) out.set('after', after);
  return out.toString();
}

/** Return the query after a click on a column head: a second click reverses the order. */
export function querySortedBy(query: ListQuery, sort: Sort): ListQuery {
  return { ...query, sort, down: query.sort === sort ? !query.down : beginsDown(sort) };
}

/** Return true if the query filters traces. */
export function isFiltered(query: ListQuery): boolean {
  return TEXTS.some((name) => query[name].trim() !== '');
}
