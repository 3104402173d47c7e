// SPDX-License-Identifier: Apache-2.0
// Figures of counters in a range: the table of all series, its columns, sort order, texts and
// export. `traceview counters` prints the same figures.

import { formatCount, formatTime, formatValue, type FixedUnit, type Unit } from '../base/format';
import type { CounterFacts } from './engine';
import { processName, substringMatcher } from './names';
import { ScopeAnswer } from './scopeAnswer';
import type { Sheet, SheetValue } from './sheet';
import type { Process } from './traceFacts';
import type { Viewer } from './viewer';

/** Figures of one series of a counter; null: unknown. Times are in nanoseconds. */
export interface SeriesFigures {
  counter: number;
  series: number;
  /** Number of values in the range, and the time in which the series has a value. */
  samples: number;
  known_ns: number;
  first: number | null;
  last: number | null;
  change: number | null;
  rate_per_s: number | null;
  /** Weighted by time. */
  mean: number | null;
  min: number | null;
  min_at_ns: number | null;
  max: number | null;
  max_at_ns: number | null;
  /** The value at the time that the question names. */
  value?: number | null;
}

/** The figures of a range. */
export interface CounterFigures {
  from_ns: number;
  to_ns: number;
  rows: SeriesFigures[];
}

/** A value of a series, and when it begins. */
export interface CounterPoint {
  time_ns: number;
  value: number;
}

/** The end of a step along a counter. */
export type CounterStop = 'change' | 'peak' | 'trough';

/** Columns of the table; all but the name are figures. */
export const FIGURE_COLUMNS = [
  'name',
  'samples',
  'mean',
  'min',
  'max',
  'first',
  'last',
  'change',
  'rate_per_s',
] as const;
export type FigureColumn = (typeof FIGURE_COLUMNS)[number];
export type Figure = Exclude<FigureColumn, 'name'>;

export const FIGURES: readonly Figure[] = FIGURE_COLUMNS.filter((column) => column !== 'name');

/** Heads and explanations. */
export const FIGURE_HEADS: Record<FigureColumn, [head: string, title: string]> = {
  name: ['Counter', 'Counter, and its series if it has several'],
  samples: ['Values', 'Number of values in the range'],
  mean: ['Mean', 'Mean over time: each value is weighted by how long it holds'],
  min: ['Min', 'Smallest value'],
  max: ['Max', 'Largest value'],
  first: ['First', 'First value in the range'],
  last: ['Last', 'Last value in the range'],
  change: ['Change', 'Last minus first value'],
  rate_per_s: ['Per s', 'Change per second, over the time in which the counter has a value'],
};

export interface FigureSort {
  column: FigureColumn;
  descending: boolean;
}

/** Sort order at first: by name. */
export const USUAL_FIGURE_SORT: FigureSort = { column: 'name', descending: false };

/** Return the constant for an order that equals the default, which the address omits. */
export function usualFigureSort(sort: FigureSort): FigureSort {
  const usual = USUAL_FIGURE_SORT;
  return sort.column === usual.column && sort.descending === usual.descending ? usual : sort;
}

export function writeFigureSort({ column, descending }: FigureSort): string {
  return `${column}.${descending ? 'down' : 'up'}`;
}

/** Parse the output of writeFigureSort. */
export function readFigureSort(text: string | null): FigureSort | null {
  const [word, direction] = (text ?? '').split('.');
  const column = FIGURE_COLUMNS.find((known) => known === word);
  return column ? usualFigureSort({ column, descending: direction !== 'up' }) : null;
}

/** A line of the table: a series with its names. */
export interface FigureLine {
  figures: SeriesFigures;
  /** Counter, "counter: series" if it has several. */
  name: string;
  process: string;
  counter: CounterFacts;
}

/** Return the name of a series of a counter. */
export function seriesTitle(counter: CounterFacts, series: number): string {
  return counter.series.length > 1
    ? `${counter.name}: ${counter.series[series] ?? ''}`
    : counter.name;
}

/** Return the lines with the text in their names, in sort order; unknown figures come last. */
export function figureLines(
  answer: CounterFigures,
  counters: readonly CounterFacts[],
  processes: readonly { name: string }[],
  sort: FigureSort,
  find: string,
): FigureLine[] {
  const test = substringMatcher(find);
  const sign = sort.descending ? -1 : 1;
  const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
  const compare = (a: FigureLine, b: FigureLine): number => {
    const names = compareTexts(a.name, b.name) || compareTexts(a.process, b.process);
    if (sort.column === 'name') return sign * names;
    const [x, y] = [a.figures[sort.column], b.figures[sort.column]];
    if (x === null || y === null) return Number(x === null) - Number(y === null) || names;
    return (x === y ? 0 : sign * (x < y ? -1 : 1)) || names;
  };
  return answer.rows
    .flatMap((figures): FigureLine[] => {
      const counter = counters[figures.counter];
      if (!counter) return [];
      const process = processes[counter.process]?.name ?? '';
      return [{ figures, name: seriesTitle(counter, figures.series), process, counter }];
    })
    .filter((line) => find === '' || test(line.name) || test(line.process))
    .sort(compare);
}

/** Return the process of a counter; one without a name has its number where there are several. */
export function processText(
  processes: readonly Process[],
  { counter, process }: FigureLine,
): string {
  const unnamed = process === '' && processes.length > 1 && processes[counter.process];
  return unnamed ? processName(processes, counter.process) : process;
}

/** Format a figure; empty if it is unknown. */
export function figureText(figures: SeriesFigures, figure: Figure): string {
  const value = figures[figure];
  if (value === null) return '';
  return figure === 'samples' ? formatCount(value) : formatValue(value);
}

/** Return the table as a sheet, with the keys of `traceview counters --format csv`. */
export function figuresSheet(lines: readonly FigureLine[], unit: FixedUnit): Sheet {
  const at = (k: number): FigureLine => lines[k] as FigureLine;
  const time = (ns: number | null, in_: Unit): string => (ns === null ? '' : formatTime(ns, in_));
  return {
    heads: [
      { text: 'Process', number: false },
      ...FIGURE_COLUMNS.map((c) => ({ text: FIGURE_HEADS[c][0], number: c !== 'name' })),
      { text: `Min at ${unit}`, number: true },
      { text: `Max at ${unit}`, number: true },
    ],
    keys: [
      ...['process', 'counter', 'category', 'series', 'samples', 'known_ns'],
      ...['first', 'last', 'change', 'rate_per_s', 'mean'],
      ...['min', 'min_at_ns', 'max', 'max_at_ns'],
    ],
    count: lines.length,
    shown: (k) => {
      const { figures, name, process } = at(k);
      return [
        process,
        ...FIGURE_COLUMNS.map((c) => (c === 'name' ? name : figureText(figures, c))),
        time(figures.min_at_ns, unit),
        time(figures.max_at_ns, unit),
      ];
    },
    exact: (k): SheetValue[] => {
      const { figures: f, counter, process } = at(k);
      return [
        ...[process, counter.name, counter.category, counter.series[f.series] ?? ''],
        ...[f.samples, f.known_ns, f.first, f.last, f.change, f.rate_per_s, f.mean],
        ...[f.min, f.min_at_ns, f.max, f.max_at_ns],
      ];
    },
  };
}

/** Holds the figures of all counters in the selected range. */
export class CounterFiguresStore extends ScopeAnswer<CounterFigures> {
  constructor(viewer: Viewer, shown: () => boolean) {
    super(viewer, shown, (scope, signal) =>
      viewer.engine.counterFigures(scope, { signal: signal }),
    );
  }
}
