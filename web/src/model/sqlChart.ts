// SPDX-License-Identifier: Apache-2.0
// Rows of a query as a chart: bars for names and numbers, lines for times and numbers, a histogram
// for the values of one column.

import { formatShort, formatValue } from '../base/format';
import { makeVisible, nameOrPlaceholder } from '../base/visible';
import {
  histogramOf,
  logHistogramOf,
  type Chart,
  type ChartAxis,
  type ChartPoint,
  type ChartSeries,
} from './chart';
import type { SqlAnswer, SqlValue } from './sql';

export type SqlChartKind = 'bars' | 'lines' | 'histogram';

/** The kind of a chart, and the number of the column that it draws. */
export interface SqlChartChoice {
  kind: SqlChartKind;
  column: number;
}

/** A chart of rows. */
export interface SqlChart {
  chart: Chart;
  /** Return the row of a point; null: it stands for several. */
  rowOf: (point: ChartPoint) => number | null;
}

type Columns = SqlAnswer['columns'];
type Rows = readonly (readonly SqlValue[])[];

/** More bars would not be read. */
export const MOST_BARS = 200;
/** A column of texts with more values than this does not make a series of each. */
const MOST_SERIES = 12;

const isNumber = ([, type]: Columns[number]): boolean => type === 'integer' || type === 'real';
/** Numbers that only name something. */
const isId = ([name]: Columns[number]): boolean =>
  /(^|_)(id|utid|upid|tid|pid|slice_in|slice_out)$/i.test(name);
const isPlace = ([name]: Columns[number]): boolean =>
  /^(ts|ts_in|ts_out|time|t|second|seconds|ms)$/i.test(name);
/** Columns of nanoseconds. */
const isTime = ([name]: Columns[number]): boolean =>
  /(^|[_(.])(ts|dur)\)?$|^ts_(in|out)$/i.test(name);

function numberOf(value: SqlValue | undefined): number | null {
  if (value === null || value === undefined || typeof value === 'boolean') return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}

function textOf(value: SqlValue | undefined): string {
  return value === null || value === undefined
    ? 'NULL'
    : nameOrPlaceholder(makeVisible(String(value)));
}

function axisOf(column: Columns[number] | undefined): ChartAxis {
  const name = makeVisible(column?.[0] ?? '');
  return column && isTime(column) ? { name, text: formatShort } : { name, text: formatValue };
}

/** Return the column of the x axis of lines; -1: none. */
function placeColumn(columns: Columns): number {
  const numbers = columns.flatMap((column, at) => (isNumber(column) ? [at] : []));
  const named = numbers.find((at) => isPlace(columns[at] ?? ['', 'text']));
  if (numbers.length < 2) return -1;
  return named ?? (columns.every(isNumber) ? (numbers[0] ?? -1) : -1);
}

/** Return the numbers of the columns that a chart of a kind can draw; the likeliest one is first. */
export function chartColumns(columns: Columns, kind: SqlChartKind): number[] {
  const place = placeColumn(columns);
  if (kind === 'lines' && place < 0) return [];
  if (kind === 'bars' && !columns.some(([, type]) => type === 'text')) return [];
  const numbers = columns.flatMap((column, at) =>
    isNumber(column) && !(kind === 'lines' && at === place) ? [at] : [],
  );
  const rank = (at: number): number => {
    const column = columns[at] ?? ['', 'text'];
    return isId(column) ? 2 : Number(isPlace(column));
  };
  return numbers.sort((a, b) => rank(a) - rank(b) || a - b);
}

function barsOf(columns: Columns, rows: Rows, value: number): SqlChart {
  const name = columns.findIndex(([, type]) => type === 'text');
  const y = axisOf(columns[value]);
  const shown = rows.slice(0, MOST_BARS);
  const first = rows.length > MOST_BARS ? `, the first ${MOST_BARS} rows` : '';
  return {
    chart: {
      ...{
        kind: 'bars',
        y,
        title: `${y.name} by ${makeVisible(columns[name]?.[0] ?? '')}${first}`,
      },
      names: shown.map((row) => textOf(row[name])),
      values: shown.map((row) => numberOf(row[value])),
    },
    rowOf: ({ index }) => (index < shown.length ? index : null),
  };
}

/** Return the series: one for each value of the first column of texts if there are few. */
function seriesOf(columns: Columns, rows: Rows, value: number): ChartSeries[] {
  const text = columns.findIndex(([, type]) => type === 'text');
  const names = new Set(text < 0 ? [] : rows.map((row) => textOf(row[text])));
  const all = rows.map((row) => numberOf(row[value]));
  if (names.size < 2 || names.size > MOST_SERIES)
    return [{ name: axisOf(columns[value]).name, values: all }];
  return [...names].map((name) => ({
    name,
    values: rows.map((row, i) => (textOf(row[text]) === name ? (all[i] ?? null) : null)),
  }));
}

function linesOf(columns: Columns, rows: Rows, value: number): SqlChart {
  const place = placeColumn(columns);
  const order = rows
    .map((row, line) => ({ line, at: numberOf(row[place]) }))
    .flatMap(({ line, at }) => (at === null ? [] : [{ line, at }]))
    .sort((a, b) => a.at - b.at);
  const sorted = order.map(({ line }) => rows[line] ?? []);
  const [x, y] = [axisOf(columns[place]), axisOf(columns[value])];
  return {
    chart: {
      ...{ kind: 'lines', title: `${y.name} over ${x.name}`, x, y, joined: true },
      places: order.map(({ at }) => at),
      series: seriesOf(columns, sorted, value),
    },
    rowOf: ({ index }) => order[index]?.line ?? null,
  };
}

/** Return the chart of rows; null: there are none, or they have no column for it. */
export function sqlChart(columns: Columns, rows: Rows, choice: SqlChartChoice): SqlChart | null {
  const { kind, column } = choice;
  if (rows.length === 0 || !chartColumns(columns, kind).includes(column)) return null;
  if (kind === 'bars') return barsOf(columns, rows, column);
  if (kind === 'lines') return linesOf(columns, rows, column);
  const x = axisOf(columns[column]);
  const values = rows.map((row) => numberOf(row[column]));
  const log = logHistogramOf(values);
  const title = `rows by ${x.name}${log ? ', logarithmic scale' : ''}`;
  const chart: Chart = { kind, title, x, y: { name: 'rows' }, ...(log ?? histogramOf(values)) };
  return { chart, rowOf: () => null };
}
