// SPDX-License-Identifier: Apache-2.0
// Statistics of slice durations by name: columns, sort order, texts and the exported sheet.

import { formatCount, formatTime, type FixedUnit, type Unit } from '../base/format';
import type { TraceFacts } from './traceFacts';
import { substringMatcher, type Frames } from './names';
import type { Sheet } from './sheet';

/**
 * All times from `self` on are in the chosen clock, except `cpu`; null: no slice has such a time.
 */
export type StatisticsRow = [
  frame: number,
  count: number,
  total: number,
  self: number | null,
  cpu: number | null,
  min: number | null,
  average: number | null,
  median: number | null,
  p95: number | null,
  max: number | null,
  /** Number of slices that reach beyond the range. */
  cut: number,
];

/**
 * Durations of one name: its row, a histogram (`bounds` has one entry more than `counts`), and the
 * slowest slices.
 */
export interface Durations {
  row: StatisticsRow;
  bounds: number[];
  counts: number[];
  /** Row, index, start, length, track. */
  slowest: [number, number, number, number, number][];
}

export const STATISTICS_COLUMNS = [
  'name',
  'count',
  'total',
  'self',
  'cpu',
  'min',
  'average',
  'median',
  'p95',
  'max',
] as const;
export type StatisticsColumn = (typeof STATISTICS_COLUMNS)[number];

export interface StatisticsSort {
  column: StatisticsColumn;
  descending: boolean;
}

export function isStatisticsColumn(id: string): id is StatisticsColumn {
  return STATISTICS_COLUMNS.some((column) => column === id);
}

/** Heads and explanations of the columns; inTermsOf gives these the words of the trace. */
export const STATISTICS_HEADS: Record<StatisticsColumn, [head: string, title: string]> = {
  name: ['Name', 'Name'],
  count: ['Count', 'Number of calls that overlap the selection; only the parts in it are measured'],
  total: ['Real', 'Sum of their lengths'],
  self: ['Self', 'Sum in the chosen clock, without the calls inside'],
  cpu: ['CPU', 'Sum of the CPU times; calls without one are left out'],
  min: ['Min', 'The shortest, in the chosen clock'],
  average: ['Average', 'Sum / count'],
  median: ['Median', 'Half of them are shorter, half longer'],
  p95: ['95 %', '95th percentile: 95 of 100 are not longer'],
  max: ['Max', 'The longest'],
};

/** Return the columns of a trace; CPU time needs both clocks. */
export function statisticsColumns(facts: TraceFacts): StatisticsColumn[] {
  const both = facts.clocks.length > 1;
  return STATISTICS_COLUMNS.filter((column) => column !== 'cpu' || both);
}

export function statisticsHead(column: StatisticsColumn, facts: TraceFacts): string {
  if (column === 'total' && facts.axis === 'weight') return 'Total';
  return column === 'total' && facts.axis === 'cpu' ? 'CPU' : STATISTICS_HEADS[column][0];
}

/** Return a number by column; rows and columns have the same order. */
export function statisticsValue(row: StatisticsRow, column: StatisticsColumn): number | null {
  return row[STATISTICS_COLUMNS.indexOf(column)] ?? null;
}

/** Format a cell. */
export function statisticsText(row: StatisticsRow, column: StatisticsColumn, unit: Unit): string {
  const value = statisticsValue(row, column);
  if (value === null) return '';
  return column === 'count' ? formatCount(value) : formatTime(value, unit);
}

/** Return how many slices reach beyond the range. */
export function cutSlices(rows: readonly StatisticsRow[]): number {
  return rows.reduce((sum, row) => sum + row[10], 0);
}

/**
 * Return the indexes of the bounds that are powers of ten and are at least `apart` bars from each
 * other and from both ends.
 */
export function powerTicks(bounds: readonly number[], apart: number): number[] {
  const last = bounds.length - 1;
  const ticks: number[] = [];
  bounds.forEach((bound, i) => {
    const isPower = /^10*$/.test(String(bound));
    if (isPower && i - (ticks.at(-1) ?? 0) >= apart && last - i >= apart) ticks.push(i);
  });
  return ticks;
}

/** Filter by name, sort, and break ties by name. */
export function statisticsRows(
  rows: readonly StatisticsRow[],
  sort: StatisticsSort,
  find: string,
  frames: Frames,
): StatisticsRow[] {
  const test = substringMatcher(find);
  const sign = sort.descending ? -1 : 1;
  const byName = (a: StatisticsRow, b: StatisticsRow): number => {
    const [x, y] = [frames.full(a[0]), frames.full(b[0])];
    return x < y ? -1 : x > y ? 1 : 0;
  };
  return rows
    .filter((row) => find === '' || test(frames.searchText(row[0])))
    .sort((a, b) => {
      if (sort.column === 'name') return sign * byName(a, b);
      const [x, y] = [statisticsValue(a, sort.column) ?? -1, statisticsValue(b, sort.column) ?? -1];
      return sign * (x - y) || byName(a, b);
    });
}

/** Return the sheet to export. Its times are in the one unit that the heads name. */
export function statisticsSheet(
  rows: readonly StatisticsRow[],
  facts: TraceFacts,
  frames: Frames,
  unit: FixedUnit,
): Sheet {
  const columns = statisticsColumns(facts);
  const isTime = (column: string): boolean => column !== 'name' && column !== 'count';
  const row = (line: number): StatisticsRow => rows[line] as StatisticsRow;
  const name = (line: number): string => frames.full(row(line)[0]);
  return {
    heads: columns.map((column) => {
      const head = statisticsHead(column, facts);
      return { text: isTime(column) ? `${head} ${unit}` : head, number: column !== 'name' };
    }),
    keys: columns.map((c) => (isTime(c) ? `${c}_ns` : c)),
    count: rows.length,
    shown: (line) =>
      columns.map((c) => (c === 'name' ? name(line) : statisticsText(row(line), c, unit))),
    exact: (line) =>
      columns.map((c) => (c === 'name' ? name(line) : statisticsValue(row(line), c))),
  };
}
