// SPDX-License-Identifier: Apache-2.0
// Queries in SQL: the answer, how its rows are sorted and exported, and which cells are links into
// the time line.

import type { Call } from './engine';
import type { Sheet } from './sheet';

export type SqlType = 'text' | 'integer' | 'real' | 'boolean';
/** Numbers that are not exact in JavaScript are texts. */
export type SqlValue = string | number | boolean | null;

/** A part of the rows of a query. */
export interface SqlAnswer {
  columns: [name: string, type: SqlType][];
  rows: SqlValue[][];
  offset: number;
  /** More rows follow these. */
  more: boolean;
  /** Number of texts that were cut off. */
  cut: number;
  /** Names in double quotes that are no columns, so taken as texts. */
  quoted?: string;
  /** Columns without a group, of which the value of one row was taken. */
  ungrouped?: string;
}

export interface SqlQuestion {
  text: string;
  offset: number;
  limit: number;
}

/** The row of the model that an id of the table `slice` names. */
export type SqlRowPlace = Call | { instant: number };

/** Questions in SQL, which an engine without DuckDB refuses. */
export interface SqlEngine {
  /** Run statements; `signal` cancels them. */
  ask(question: SqlQuestion, signal?: AbortSignal): Promise<SqlAnswer>;
  /** Return what an id of the table `slice` names; null: nothing that the filter shows. */
  place(id: number): Promise<SqlRowPlace | null>;
}

/** The target of a link in a cell. */
export type SqlLink =
  | { to: 'slice'; id: number }
  | { to: 'thread'; thread: number }
  | { to: 'track'; track: number }
  | { to: 'time'; from: number; length: number };

/** A column that sorts the rows, by its number. */
export interface SqlSort {
  column: number;
  descending: boolean;
}

/** Return the query without comments and texts. */
function bareQuery(text: string): string {
  return text.replace(/--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'/g, ' ');
}

const SLICES =
  /^(slices?|slice_in|instant|(thread|process|thread_or_process)_slice|(ancestor|descendant)_slice)$/i;

/** Tell whether the first table of a query has slices, so that `id` is the id of one. */
export function asksForSlices(text: string): boolean {
  const statements = bareQuery(text)
    .split(';')
    .filter((one) => one.trim() !== '');
  const [, table = ''] = /\bfrom\s+(\w+)/i.exec(statements.at(-1) ?? '') ?? [];
  return SLICES.test(table);
}

/** Remove the function around a column: arg_max(s.id, dur) becomes id. */
function innerName(name: string): string {
  const [, inner = name] =
    /^(?:min|max|arg_min|arg_max|any_value|first|last)\((?:\w+\.)?"?(\w+)"?\b/i.exec(name) ?? [];
  return inner.toLowerCase();
}

/**
 * Return the link of each column, as a function of a row; null: the column has none. A name tells
 * what a number means: `utid`, `track_id`, `ts`, `slice_id`, and `id` where the query asks for
 * slices.
 */
export function linksOf(
  text: string,
  columns: SqlAnswer['columns'],
): readonly (((row: readonly SqlValue[]) => SqlLink | null) | null)[] {
  const slices = asksForSlices(text);
  const counters = /\b(counter|counter_track|process_counter_track|cpu_counter_track)\b/i;
  const tracks = !counters.test(bareQuery(text));
  const length = columns.findIndex(([name]) => name.toLowerCase() === 'dur');
  return columns.map(([name, type], at) => {
    if (type !== 'integer') return null;
    const number =
      (link: (value: number, row: readonly SqlValue[]) => SqlLink) =>
      (row: readonly SqlValue[]): SqlLink | null => {
        const value = row[at];
        return typeof value === 'number' && value >= 0 ? link(value, row) : null;
      };
    const inner = innerName(name);
    if (/^slice_(id|out|in)$/.test(inner) || (slices && /^(parent_)?id$/.test(inner)))
      return number((id) => ({ to: 'slice', id }));
    if (/^(waker_)?utid$/.test(inner)) return number((thread) => ({ to: 'thread', thread }));
    if (inner === 'track_id' && tracks) return number((track) => ({ to: 'track', track }));
    if (/^ts(_out|_in)?$/.test(inner))
      return number((from, row) => {
        const dur = name.toLowerCase() === 'ts' ? row[length] : 0;
        return { to: 'time', from, length: typeof dur === 'number' && dur > 0 ? dur : 0 };
      });
    return null;
  });
}

function compareValues(a: SqlValue, b: SqlValue, numbers: boolean): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  if (!numbers) return a < b ? -1 : Number(a > b);
  // NaN is after all numbers.
  const [x, y] = [Number(a), Number(b)];
  if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
  return x - y;
}

/** Return the rows in order; equal ones keep theirs, and NULL is last in either direction. */
export function sortedRows(answer: SqlAnswer, sort: SqlSort | null): readonly SqlValue[][] {
  const type = sort && answer.columns[sort.column]?.[1];
  if (!sort || !type) return answer.rows;
  const { column, descending } = sort;
  const numbers = type === 'integer' || type === 'real';
  return [...answer.rows].sort((one, other) => {
    const [a = null, b = null] = [one[column], other[column]];
    const order = compareValues(a, b, numbers);
    return descending && a !== null && b !== null ? -order : order;
  });
}

/** Append the next part of the rows. */
export function joinedAnswer(first: SqlAnswer, next: SqlAnswer): SqlAnswer {
  return {
    ...first,
    rows: [...first.rows, ...next.rows],
    more: next.more,
    cut: first.cut + next.cut,
  };
}

/** Format a value for a cell. */
export function sqlText(value: SqlValue): string {
  if (value === null) return 'NULL';
  if (typeof value !== 'number' || Number.isInteger(value)) return String(value);
  return Math.abs(value) >= 1e-3 && Math.abs(value) < 1e15
    ? String(Number(value.toFixed(3)))
    : value.toPrecision(6);
}

/** Return the rows as a sheet for copying and export. */
export function sqlSheet(answer: SqlAnswer, rows: readonly SqlValue[][]): Sheet {
  const taken = new Map<string, number>();
  // Columns of one name get numbers, because members of an object need different names.
  const keys = answer.columns.map(([name]) => {
    const count = taken.get(name) ?? 0;
    taken.set(name, count + 1);
    return count === 0 ? name : `${name}_${count}`;
  });
  const exact = (value: SqlValue): string | number | null =>
    typeof value === 'boolean' ? String(value) : value;
  return {
    keys,
    heads: answer.columns.map(([text, type]) => ({
      ...{ text, number: type === 'integer' || type === 'real' },
    })),
    count: rows.length,
    shown: (line) => (rows[line] ?? []).map((value) => (value === null ? '' : String(value))),
    exact: (line) => (rows[line] ?? []).map(exact),
  };
}

/** A name that the query box completes. */
export interface SqlName {
  name: string;
  kind: 'table' | 'column' | 'function';
}

/** The statement that lists the names; each row is a name and its kind. */
export const NAMES_QUERY =
  "select distinct view_name, 'table' from duckdb_views() where not internal " +
  "union select distinct column_name, 'column' from duckdb_columns() where not internal " +
  "union select distinct function_name, 'function' from duckdb_functions() " +
  "where not internal and function_name not like 'tv\\_%' escape '\\' order by 1";

/** Return the word before the caret. */
export function wordBefore(text: string, caret: number): string {
  return /[A-Za-z_]\w*$/.exec(text.slice(0, caret))?.[0] ?? '';
}

/** Return names that begin with the word before the caret, tables first after FROM and JOIN. */
export function completions(
  names: readonly SqlName[],
  text: string,
  caret: number,
  most = 12,
): SqlName[] {
  const word = wordBefore(text, caret).toLowerCase();
  if (word === '') return [];
  const before = text.slice(0, caret - word.length);
  const tables = /\b(from|join)\s+$/i.test(before);
  const fits = names.filter(
    ({ name, kind }) =>
      name.toLowerCase().startsWith(word) &&
      name.toLowerCase() !== word &&
      (!before.endsWith('.') || kind === 'column'),
  );
  const rank = ({ kind }: SqlName): number => Number((kind === 'table') !== tables);
  return fits.sort((a, b) => rank(a) - rank(b)).slice(0, most);
}

/** A query that is kept: by the program, by the user, or because it ran. */
export interface ReadyQuery {
  group: string;
  title: string;
  text: string;
}

/** Return a short title of a query: its first comment, or its beginning. */
export function titleOf(text: string): string {
  const comment = /^\s*--\s*(.+)/.exec(text)?.[1];
  const words = (comment ?? text).replace(/\s+/g, ' ').trim();
  return words.length > 70 ? `${words.slice(0, 69)}…` : words;
}

/** Put a query at the head of a list without doubles. */
export function withQuery(list: readonly string[], text: string, most: number): string[] {
  return [text, ...list.filter((other) => other !== text)].slice(0, most);
}

/** Read a list of texts that the browser stores; what is not one is left out. */
export function readQueries(stored: string | null): string[] {
  try {
    const list: unknown = JSON.parse(stored ?? '[]');
    return Array.isArray(list) ? list.filter((text) => typeof text === 'string') : [];
  } catch {
    return [];
  }
}
