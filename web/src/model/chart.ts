// SPDX-License-Identifier: Apache-2.0
// Charts as data: lines, bars and histograms, and the words that say to screen readers what a
// chart shows. views/chart.ts draws them.

import { formatCount, formatValue, plural } from '../base/format';
import { shortened } from '../base/visible';

/** An axis: its name, and the text of a place on it. */
export interface ChartAxis {
  name: string;
  /** `formatValue` if missing. */
  text?: (value: number) => string;
  /** The texts are names, such as versions, and no numbers. */
  named?: boolean;
}

/** Values at the places of the x axis; null: none there. */
export interface ChartSeries {
  name: string;
  values: readonly (number | null)[];
}

/** A vertical line with a label. */
export interface ChartMark {
  at: number;
  label: string;
}

/** Several series over one x axis, whose places ascend. */
export interface LineChart {
  kind: 'lines';
  title: string;
  x: ChartAxis;
  y: ChartAxis;
  places: readonly number[];
  series: readonly ChartSeries[];
  /** The numbers of the series that bound a band, the lower one first; they have no lines. */
  band?: readonly [low: number, high: number];
  marks?: readonly ChartMark[];
  /** Lines go on over places without a value. */
  joined?: boolean;
}

/** A bar for each name, from the top down. */
export interface BarChart {
  kind: 'bars';
  title: string;
  y: ChartAxis;
  names: readonly string[];
  values: readonly (number | null)[];
}

/** Counts of values: bar i stands for those from bounds[i] up to bounds[i + 1]. */
export interface HistogramChart {
  kind: 'histogram';
  title: string;
  x: ChartAxis;
  y: ChartAxis;
  bounds: readonly number[];
  counts: readonly number[];
}

export type Chart = LineChart | BarChart | HistogramChart;

/** A point of a chart: the number of its series and of its place. */
export interface ChartPoint {
  series: number;
  index: number;
}

/** Format a value as its axis says. */
export function axisText(axis: ChartAxis, value: number): string {
  return (axis.text ?? formatValue)(value);
}

/** Text before, decimals and unit of a number that has decimals. */
const DECIMALS = /^(.*\d)\.(\d+)(.*)$/s;

/**
 * The texts of the marks of an axis: in each unit, all with as many decimals as one of them needs.
 */
export function markTexts(axis: ChartAxis, places: readonly number[]): string[] {
  const texts = places.map((place) => axisText(axis, place));
  if (axis.named) return texts;
  const needed = new Map<string, number>();
  for (const text of texts) {
    const [, , decimals = '', unit = ''] = DECIMALS.exec(text) ?? [];
    const own = decimals.replace(/0+$/, '').length;
    needed.set(unit, Math.max(own, needed.get(unit) ?? 0));
  }
  return texts.map((text) =>
    text.replace(DECIMALS, (_, before: string, decimals: string, unit: string) => {
      const count = needed.get(unit) ?? 0;
      const point = count > 0 ? '.' : '';
      return `${before}${point}${decimals.slice(0, count).padEnd(count, '0')}${unit}`;
    }),
  );
}

/** Return the least and the greatest of the values; null: there are none. */
export function extremes(values: readonly (number | null)[]): [number, number] | null {
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) {
    if (value === null || !Number.isFinite(value)) continue;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return least <= most ? [least, most] : null;
}

/** The series and bars that the words name one by one. */
const MOST_TOLD = 8;

function seriesWords({ name, values }: ChartSeries, y: ChartAxis): string {
  const ends = extremes(values);
  const range = ends ? `${axisText(y, ends[0])} to ${axisText(y, ends[1])}` : 'no values';
  return `${shortened(name, 80)}: ${range}`;
}

function lineWords({ x, y, places, series, marks = [] }: LineChart): string[] {
  const ends = extremes(places);
  const range = ends ? ` from ${axisText(x, ends[0])} to ${axisText(x, ends[1])}` : '';
  const told = marks.slice(0, MOST_TOLD).map(({ at, label }) => `${label} at ${axisText(x, at)}`);
  return [
    `${plural(places.length, 'place')} of ${x.name}${range}`,
    ...series.slice(0, MOST_TOLD).map((one) => seriesWords(one, y)),
    ...(series.length > MOST_TOLD ? [`${series.length - MOST_TOLD} more series`] : []),
    ...(told.length > 0 ? [`marks: ${told.join(', ')}`] : []),
    ...(marks.length > told.length ? [`${marks.length - told.length} more marks`] : []),
  ];
}

function barWords({ y, names, values }: BarChart): string[] {
  const bars = names.slice(0, MOST_TOLD).map((name, i) => {
    const value = values[i] ?? null;
    return `${shortened(name, 80)}: ${value === null ? 'none' : axisText(y, value)}`;
  });
  return [
    `${plural(names.length, 'bar')} of ${y.name}`,
    ...bars,
    ...(names.length > bars.length ? [`${names.length - bars.length} more`] : []),
  ];
}

function histogramWords({ x, bounds, counts }: HistogramChart): string[] {
  const most = counts.reduce((n, count) => Math.max(n, count), 0);
  const all = counts.reduce((n, count) => n + count, 0);
  const bound = (i: number): string => axisText(x, bounds[i] ?? 0);
  const top = counts.indexOf(most);
  if (most === 0) return [`no values of ${x.name}`];
  return [
    `${plural(all, 'value')} of ${x.name} from ${bound(0)} to ${bound(counts.length)}`,
    `most of them, ${formatCount(most)}, between ${bound(top)} and ${bound(top + 1)}`,
  ];
}

/** Say in a sentence what a chart shows. */
export function chartWords(chart: Chart): string {
  const words =
    chart.kind === 'lines'
      ? lineWords(chart)
      : chart.kind === 'bars'
        ? barWords(chart)
        : histogramWords(chart);
  const kind = { lines: 'Line chart', bars: 'Bar chart', histogram: 'Histogram' }[chart.kind];
  return `${kind}, ${chart.title}: ${words.join('; ')}`;
}

/** Return 1, 2 or 5 times a power of ten that is not less than `step`. */
function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  return (
    [1, 2, 5].map((factor) => factor * power).find((round) => round >= step * (1 - 1e-9)) ??
    10 * power
  );
}

/**
 * Count values in at most `most` bars of equal, round widths; values that are not finite are left
 * out.
 */
export function histogramOf(
  values: readonly (number | null)[],
  most = 40,
): Pick<HistogramChart, 'bounds' | 'counts'> {
  const ends = extremes(values);
  if (!ends) return { bounds: [], counts: [] };
  const [least, greatest] = ends;
  const whole = values.every((value) => value === null || Number.isInteger(value));
  // One bar more may be needed, because the first bound is rounded down.
  const exact = greatest / Math.max(1, most - 1) - least / Math.max(1, most - 1);
  const smallest = Math.max(Math.abs(greatest), Math.abs(least)) * 1e-12;
  const step = Math.max(whole ? 1 : 0, roundStep(Math.max(exact, smallest, 1e-300)));
  const first = Math.floor(least / step);
  const bars = Math.min(most, Math.floor(greatest / step) - first + 1);
  const counts = new Array<number>(bars).fill(0);
  for (const value of values) {
    if (value === null || !Number.isFinite(value)) continue;
    const at = Math.min(bars - 1, Math.max(0, Math.floor(value / step) - first));
    counts[at] = (counts[at] ?? 0) + 1;
  }
  const bounds = Array.from({ length: bars + 1 }, (_, i) => {
    const bound = Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, (first + i) * step));
    return Math.abs(bound) < 1e15 ? Number(bound.toPrecision(12)) : bound;
  });
  return { bounds, counts };
}

/** A histogram with more bars than this in all has fewer of them for each power of ten. */
const MOST_LOG_BARS = 40;
/** The bounds of bars within a power of ten, from many to few. */
const LOG_BOUNDS = [[1, 1.5, 2, 3, 5, 7], [1, 2, 5], [1]] as const;
/** The share of values in one bar, and the ratio of values, from which a logarithmic scale is due. */
const CROWDED = 0.8;
const WIDE = 1000;

/** Return the bounds of bars on a logarithmic scale, around positive values. */
function logBounds(least: number, greatest: number): number[] {
  const [from, to] = [Math.floor(Math.log10(least)), Math.ceil(Math.log10(greatest))];
  for (const factors of LOG_BOUNDS) {
    const all: number[] = [];
    for (let power = from; power <= to; power++)
      for (const factor of factors) all.push(Number((factor * 10 ** power).toPrecision(3)));
    const first = all.filter((bound) => bound <= least).length - 1;
    const last = all.findIndex((bound) => bound > greatest);
    const bounds = all.slice(Math.max(0, first), last < 0 ? all.length : last + 1);
    if (last < 0) bounds.push(10 ** (to + 1));
    if (bounds.length <= MOST_LOG_BARS + 1 || factors.length === 1) return bounds;
  }
  return [];
}

/**
 * Count values in bars of a logarithmic scale; null where equal widths serve: unless nearly all
 * values would be in one bar, and the greatest is many times the least. Values that are not
 * positive have a bar of their own, the first.
 */
export function logHistogramOf(
  values: readonly (number | null)[],
): Pick<HistogramChart, 'bounds' | 'counts'> | null {
  const finite = values.filter((value): value is number => Number.isFinite(value));
  const positive = extremes(finite.filter((value) => value > 0));
  const all = extremes(finite);
  if (!all || !positive || positive[1] < WIDE * positive[0] || positive[1] > 1e300) return null;
  const linear = histogramOf(finite).counts;
  if (linear.reduce((n, count) => Math.max(n, count), 0) < CROWDED * finite.length) return null;
  const bounds = logBounds(positive[0], positive[1]);
  if (all[0] <= 0) bounds.unshift(all[0]);
  const counts = new Array<number>(bounds.length - 1).fill(0);
  for (const value of finite) {
    const after = value <= 0 ? 1 : bounds.findIndex((bound) => bound > value);
    counts[after - 1] = (counts[after - 1] ?? 0) + 1;
  }
  return { bounds, counts };
}
