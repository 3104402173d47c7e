// SPDX-License-Identifier: Apache-2.0
// The answers of the server about its fleet, and the chart of a trend.

import { formatCount, formatShort, formatValue } from '../base/format';
import type { ChartMark, LineChart } from '../model/chart';

export const FIGURES = [
  ...['excl', 'incl', 'excl_cpu', 'incl_cpu', 'calls', 'max', 'p50', 'p95', 'p99'],
] as const;

/** Words for the figures of the flame graph: paths have no other ones. */
export const GRAPH_WORDS: Readonly<Record<string, string>> = {
  excl: 'Own time',
  incl: 'Inclusive time',
  excl_cpu: 'Own CPU time',
  incl_cpu: 'Inclusive CPU time',
  calls: 'Calls',
};

/** Return a label as questions take it: in quotes if the value would end too early or lose blanks. */
export function labelOf(key: string, value: string): string {
  const ambiguous = /^["\s]|\s$|[ \t\r][^\s="]+=/u.test(value);
  return `${key}=${ambiguous ? `"${value}"` : value}`;
}

/** Return the figure that the flame graph shows for a figure. */
export function graphFigure(figure: string): string {
  return figure in GRAPH_WORDS ? figure : 'excl';
}

/** Traces of one version, device and scenario. */
export interface VersionRow {
  version: string | null;
  device: string | null;
  scenario: string | null;
  traces: number;
}

/** A program, host or unit of the fleet, and its number of traces. */
export interface LabelRow {
  label: string;
  value: string;
  traces: number;
}

/** A version of a trend. */
export interface TrendRow {
  version: string | null;
  traces: number;
  low: number;
  median: number;
  high: number;
}

/** A method in the comparison of two versions. */
export interface MethodRow {
  key: string;
  base: number | null;
  new: number | null;
  change: number | null;
  low: number | null;
  high: number | null;
  p: number | null;
}

/** A trace of a point; `uri` is its id on this server if it was uploaded here. */
export interface TraceRow {
  uri: string;
  label: string | null;
  figure: number;
  deviations: number | null;
  /** The `id` of its longest call of the method; null: it has only samples. */
  slice: number | null;
}

/** A method in the answer to `trends`: medians of the latest versions with commas between them. */
export interface TrendsRow {
  method: string;
  medians: string;
}

export interface ChangePoint {
  method: string;
  version: string;
  change: number;
}

/** Format a figure. All but calls are in the unit, and times of calls in ns. */
export function figureText(figure: string, value: number, unit: string): string {
  if (figure === 'calls') return formatCount(value);
  return unit === 'ns' ? formatShort(value) : `${formatValue(value)} ${unit}`;
}

/** Format a relative change, which is 0.05 for 5 % more; one that rounds to nothing has no sign. */
export function changeText(change: number | null): string {
  if (change === null) return '–';
  if (change >= 9.995) return `× ${(1 + change).toFixed(1)}`;
  const text = `${Math.abs(100 * change).toFixed(1)} %`;
  return text === '0.0 %' ? text : `${change < 0 ? '−' : '+'}${text}`;
}

/** A change with a larger p may be chance: the same limit as that of `fleet regressions`. */
const MAX_CHANCE = 0.01;

/** Sort methods for the table of what changed most: changes that are hardly chance come first. */
export function sortChanged(rows: readonly MethodRow[]): MethodRow[] {
  const size = (row: MethodRow): number => Math.abs((row.new ?? 0) - (row.base ?? 0));
  const isSure = (row: MethodRow): number => Number(row.p !== null && row.p <= MAX_CHANCE);
  return [...rows].sort((a, b) => isSure(b) - isSure(a) || size(b) - size(a));
}

/** Format how far a trace is from the median, in deviations. */
export function deviationText(deviations: number | null): string {
  if (deviations === null) return '–';
  const text = Math.abs(deviations).toFixed(1);
  return deviations < 0 && text !== '0.0' ? `−${text}` : text;
}

/** Return the versions in their order, each once. */
export function versionsOf(rows: readonly VersionRow[]): string[] {
  return [...new Set(rows.flatMap(({ version }) => (version === null ? [] : [version])))];
}

/** Return the values of a label, sorted. */
export function valuesOf(rows: readonly VersionRow[], label: 'device' | 'scenario'): string[] {
  return [...new Set(rows.flatMap((row) => row[label] ?? []))].sort();
}

/** Return the values of a label that the server counted, in its order. */
export function labelValues(rows: readonly LabelRow[], label: string): string[] {
  return rows.filter((row) => row.label === label).map(({ value }) => value);
}

/** Return the unit of most traces; empty: there is no trace. */
export function usualUnit(rows: readonly LabelRow[]): string {
  const units = rows.filter(({ label }) => label === 'unit');
  return units.reduce((a, b) => (b.traces > a.traces ? b : a), { value: '', traces: 0 }).value;
}

/** Return a row of the table for a method of one version, which is compared with nothing. */
export function methodAlone({ method, medians }: TrendsRow): MethodRow {
  const last = medians.split(',').at(-1) ?? '';
  const nothing = { base: null, change: null, low: null, high: null, p: null };
  return { key: method, new: last === '' ? null : Number(last), ...nothing };
}

/** Return the version of the last change point of a method, by its whole name; null: none. */
export function lastChange(
  points: readonly ChangePoint[],
  versions: readonly string[],
  method: string,
): ChangePoint | null {
  const own = points.filter((point) => point.method === method);
  const place = ({ version }: ChangePoint): number => versions.indexOf(version);
  return own.reduce<ChangePoint | null>((a, b) => (a && place(a) > place(b) ? a : b), null);
}

/**
 * The least range of medians that a line shows, as a share of the highest: a line that always filled
 * its box would make noise of 2 % look like a step of 25 %.
 */
const MIN_SPREAD = 0.25;

/** Return the path of a line through medians, in a box of this size; a gap ends a piece. */
export function sparkPath(medians: string, width: number, height: number): string {
  const values = medians.split(',').map((word) => (word === '' ? null : Number(word)));
  const known = values.filter((value) => value !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const step = width / Math.max(1, values.length - 1);
  const spread = Math.max(high - low, MIN_SPREAD * high);
  const y = (value: number): number =>
    spread > 0 ? height * (0.5 - (value - (low + high) / 2) / spread) : height / 2;
  return values
    .map((value, i) => {
      if (value === null) return '';
      const begins = i === 0 || values[i - 1] === null;
      return `${begins ? 'M' : 'L'}${(i * step).toFixed(1)} ${y(value).toFixed(1)}`;
    })
    .join('');
}

/** Return the address of the longest call of a method in the viewer of its trace. */
export function exemplarHash(row: TraceRow, method: string): string {
  const name =
    method
      .replace(/ [(_].*$/s, '')
      .split('.')
      .at(-1) ?? '';
  const sampled = row.slice === null || row.slice < 0;
  return new URLSearchParams(
    sampled ? { tab: 'profile', search: name } : { tab: 'profile', slice: String(row.slice) },
  ).toString();
}

/** Return the uploaded trace whose figure is closest to the median of all; null: there is none. */
export function typicalTrace(rows: readonly TraceRow[]): TraceRow | null {
  const sorted = [...rows].sort((a, b) => a.figure - b.figure);
  const middle = sorted[Math.floor((sorted.length - 1) / 2)]?.figure ?? 0;
  const far = (row: TraceRow): number => Math.abs(row.figure - middle);
  const here = rows.filter(({ uri }) => isUploaded(uri));
  return here.reduce<TraceRow | null>((a, b) => (a && far(a) <= far(b) ? a : b), null);
}

/** Tell whether the URI of a trace is its id on this server. */
export function isUploaded(uri: string): boolean {
  return /^[0-9a-f]{32}$/.test(uri);
}

/** A figure and its unit. */
export interface FigureUnit {
  figure: string;
  unit: string;
}

/** The median of a method by version with its band, and its change points as lines. */
export function trendChart(
  method: string,
  { figure, unit }: FigureUnit,
  rows: readonly TrendRow[],
  points: readonly ChangePoint[],
): LineChart {
  const names = rows.map(({ version }) => version ?? 'no version');
  const marks = points.flatMap(({ version, change }): ChartMark[] => {
    const at = names.indexOf(version);
    return at < 0 ? [] : [{ at, label: changeText(change) }];
  });
  return {
    kind: 'lines',
    title: `${figure} of ${method} by version`,
    x: { name: 'version', text: (place) => names[Math.round(place)] ?? '', named: true },
    y: { name: figure, text: (value) => figureText(figure, value, unit) },
    places: rows.map((_, i) => i),
    series: [
      { name: '10 % of the traces', values: rows.map(({ low }) => low) },
      { name: '90 % of the traces', values: rows.map(({ high }) => high) },
      // The last series is drawn over the band.
      { name: 'median', values: rows.map(({ median }) => median) },
    ],
    band: [0, 1],
    marks,
  };
}
