// SPDX-License-Identifier: Apache-2.0
// Rows of a query that have ts and dur as bars of the time line, in lanes: bars of a lane do not
// overlap.

import { makeVisible } from '../base/visible';
import type { Span } from './span';
import type { SqlAnswer, SqlValue } from './sql';

/** A row as a bar. */
export interface QueryBar extends Span {
  name: string;
  /** The row, for the names and numbers of its columns. */
  row: readonly SqlValue[];
}

/** The rows of a query as a track. */
export interface QueryTrack {
  /** The query. */
  of: string;
  columns: SqlAnswer['columns'];
  /** Bars by lane and time. */
  lanes: readonly (readonly QueryBar[])[];
  bars: number;
  /** Number of rows that are not drawn: outside of the trace, without a time, or too deep. */
  leftOut: number;
}

/** Rows that overlap more than this many others are left out. */
export const MOST_LANES = 6;

function columnNamed(columns: SqlAnswer['columns'], name: string): number {
  return columns.findIndex(
    ([own, type]) => own.toLowerCase() === name && (type === 'integer' || type === 'real'),
  );
}

/** Tell whether rows can be a track. */
export function hasTrack(columns: SqlAnswer['columns']): boolean {
  return columnNamed(columns, 'ts') >= 0 && columnNamed(columns, 'dur') >= 0;
}

/** Return the column that names the bars. */
function nameColumn(columns: SqlAnswer['columns']): number {
  const named = columns.findIndex(([name]) => name.toLowerCase() === 'name');
  return named >= 0 ? named : columns.findIndex(([, type]) => type === 'text');
}

/** Return the rows as bars, clipped to the trace; a negative length is not over at its end. */
function barsOf(answer: SqlAnswer, bounds: Span): QueryBar[] {
  const { columns, rows } = answer;
  const [ts, dur, name] = [
    columnNamed(columns, 'ts'),
    columnNamed(columns, 'dur'),
    nameColumn(columns),
  ];
  return rows.flatMap((row): QueryBar[] => {
    const [from, length] = [row[ts] ?? null, row[dur] ?? null].map((value) =>
      value === null || value === '' ? NaN : Number(value),
    ) as [number, number];
    const to = length < 0 ? bounds.to : from + length;
    if (!(from <= bounds.to && to >= bounds.from)) return [];
    const span = { from: Math.max(from, bounds.from), to: Math.min(to, bounds.to) };
    const text = row[name] ?? null;
    return [{ ...span, name: text === null ? '' : makeVisible(String(text)), row }];
  });
}

/** Return the rows of an answer as a track. */
export function queryTrack(of: string, answer: SqlAnswer, bounds: Span): QueryTrack {
  const bars = barsOf(answer, bounds).sort((a, b) => a.from - b.from || b.to - a.to);
  const lanes: QueryBar[][] = [];
  let drawn = 0;
  for (const bar of bars) {
    const lane = lanes.find((own) => {
      const last = own[own.length - 1];
      return !last || (last.to <= bar.from && last.from < bar.from);
    });
    if (lane) lane.push(bar);
    else if (lanes.length < MOST_LANES) lanes.push([bar]);
    else continue;
    drawn++;
  }
  const leftOut = answer.rows.length - drawn;
  return { of, columns: answer.columns, lanes, bars: drawn, leftOut };
}

/** Return the number of the first bar of a lane that ends after a time. */
export function firstBar(lane: readonly QueryBar[], time: number): number {
  let [low, high] = [0, lane.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((lane[middle]?.to ?? 0) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Return the bar of a lane at a time; `reach` is how far from it a bar may be, in ns. */
export function barAt(
  lane: readonly QueryBar[] | undefined,
  time: number,
  reach: number,
): QueryBar | null {
  if (!lane) return null;
  let found: QueryBar | null = null;
  let least = reach;
  for (let i = firstBar(lane, time - reach); i < lane.length; i++) {
    const bar = lane[i];
    if (!bar || bar.from > time + reach) break;
    const apart = Math.max(bar.from - time, time - bar.to, 0);
    if (apart < least || found === null) [least, found] = [apart, bar];
    if (apart === 0) break;
  }
  return found;
}
