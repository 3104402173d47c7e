// SPDX-License-Identifier: Apache-2.0
// Counters as areas, stacked, one before the other or one alone: each value holds until the next.

import { eventColour, hashedColour } from '../model/colours';
import { boundsOf, sampleAt, valueAt, type CounterView } from '../model/counters';
import type { CounterFacts, CounterValues } from '../model/engine';
import type { CounterBox } from '../model/rows';
import { formatValue } from '../base/format';
import type { Context } from './shapes';
import type { TextMeter } from './text';
import type { Theme } from './theme';
import type { TimeScale } from './timeScale';

export interface CounterScene {
  theme: Theme;
  scale: TimeScale;
  meter: TextMeter;
  values: ReadonlyMap<number, CounterValues>;
  /** Where the pointer is, and over which counter. */
  pointer: number | null;
  hovered: number | null;
  /** Those that are not stacked. */
  views: ReadonlyMap<number, CounterView>;
}

const PADDING = 4;
/** So many series are told by their names at the pointer; of more the tooltip tells. */
const NAMED = 3;

export function seriesColour(theme: Theme, counter: CounterFacts, series: number): string {
  const name = `${counter.name}.${counter.series[series] ?? ''}`;
  return theme.bars[eventColour(counter.colour, hashedColour(name))] ?? '';
}

export function paintCounters(
  g: Context,
  s: CounterScene,
  boxes: readonly CounterBox[],
  scroll: number,
  height: number,
): void {
  for (const box of boxes) {
    const y = box.top - scroll;
    if (y + box.height < 0 || y > height) continue;
    g.fillStyle = s.theme.colour.line;
    g.fillRect(0, y, s.scale.width, 1);
    const values = s.values.get(box.counter.counter);
    if (values) paintCounter(g, s, box, y, values);
  }
}

/** A value as a place in the box: the whole trace's extremes are its ends. */
function placer(box: CounterBox, y: number, view: CounterView): (value: number) => number {
  const [low, high] = boundsOf(box.counter, view);
  const room = box.height - 2 * PADDING;
  const range = high - low || 1;
  return (value) => y + PADDING + room - ((value - low) / range) * room;
}

function paintCounter(
  g: Context,
  s: CounterScene,
  box: CounterBox,
  y: number,
  values: CounterValues,
): void {
  const view = s.views.get(box.counter.counter) ?? 'stack';
  const place = placer(box, y, view);
  const paint = view === 'stack' ? paintStack : paintOverlap;
  const n = values.time.length;
  const first = Math.max(0, sampleAt(values, s.scale.view.from));
  for (let i = first; i < n; i++) {
    // On whole pixels: no seams between areas that touch.
    const x0 = Math.max(-1, Math.round(s.scale.x(values.time[i] ?? 0)));
    if (x0 > s.scale.width) break;
    const x1 = Math.round(s.scale.x(i + 1 < n ? (values.time[i + 1] ?? 0) : box.end));
    if (values.merged && x1 > x0 + 1) {
      paint(g, s, box, place, values, i, x0, 1, 'highest');
      paint(g, s, box, place, values, i, x0 + 1, x1 - x0 - 1, 'last');
    } else {
      const what = values.merged ? 'highest' : 'last';
      paint(g, s, box, place, values, i, x0, Math.max(1, x1 - x0), what);
    }
  }
  paintNumbers(g, s, box, y, values, place);
}

function paintStack(
  g: Context,
  s: CounterScene,
  box: CounterBox,
  place: (value: number) => number,
  values: CounterValues,
  i: number,
  x: number,
  width: number,
  what: 'last' | 'highest',
): void {
  const right = Math.min(x + width, s.scale.width);
  let sum = 0;
  values.series.forEach((series, k) => {
    const value = series[what][i] ?? 0;
    if (!Number.isFinite(value) || value === 0) return;
    const a = place(sum);
    sum += value;
    const b = place(sum);
    g.fillStyle = seriesColour(s.theme, box.counter, k);
    g.fillRect(x, Math.min(a, b), right - x, Math.max(0.5, Math.abs(a - b)));
  });
  g.fillStyle = s.theme.colour['text-2'];
  g.fillRect(x, place(sum) - 0.5, right - x, 1);
}

/** The series that are shown. */
function shownSeries(s: CounterScene, counter: CounterFacts): number[] {
  const view = s.views.get(counter.counter);
  return typeof view === 'number' ? [view] : counter.series.map((_, k) => k);
}

/** Each series from 0 on, pale with an edge, so that none hides another. */
function paintOverlap(
  g: Context,
  s: CounterScene,
  box: CounterBox,
  place: (value: number) => number,
  values: CounterValues,
  i: number,
  x: number,
  width: number,
  what: 'last' | 'highest',
): void {
  const right = Math.min(x + width, s.scale.width);
  const base = place(0);
  for (const k of shownSeries(s, box.counter)) {
    const value = values.series[k]?.[what][i] ?? NaN;
    if (!Number.isFinite(value)) continue;
    const top = place(value);
    g.fillStyle = seriesColour(s.theme, box.counter, k);
    g.globalAlpha = 0.45;
    g.fillRect(x, Math.min(base, top), right - x, Math.abs(base - top));
    g.globalAlpha = 1;
    g.fillRect(x, top - 1, right - x, 2);
  }
}

/** What is told at a sample: a place for a dot and words, of few series each by its name. */
interface Said {
  dots: number[];
  text: string;
}

function sayValues(s: CounterScene, box: CounterBox, values: CounterValues, at: number): Said {
  const stacked = !s.views.has(box.counter.counter);
  const shown = shownSeries(s, box.counter);
  const told = shown.flatMap((k) => {
    const value = valueAt(values, k, at);
    return value === null ? [] : [{ name: box.counter.series[k] ?? '', value }];
  });
  const sum = told.reduce((all, { value }) => all + value, 0);
  const dots = stacked ? (told.length > 0 ? [sum] : []) : told.map(({ value }) => value);
  if (told.length === 0) return { dots, text: 'not told' };
  if (shown.length > NAMED) return { dots, text: stacked ? formatValue(sum) : '' };
  const single = box.counter.series.length === 1;
  const text = told.map(({ name, value }) => (single ? '' : `${name} `) + formatValue(value));
  return { dots, text: text.join('   ') };
}

/** The highest value at the right; those under the pointer, with dots. */
function paintNumbers(
  g: Context,
  s: CounterScene,
  box: CounterBox,
  y: number,
  values: CounterValues,
  place: (value: number) => number,
): void {
  g.font = s.theme.font;
  g.textBaseline = 'middle';
  const [low, high] = boundsOf(box.counter, s.views.get(box.counter.counter) ?? 'stack');
  const least = low < 0 ? `min ${formatValue(low)}   ` : '';
  const most = `${least}max ${formatValue(high)}`;
  label(g, s, most, s.scale.width - s.meter.width(most) - 8, y + 9, 'text-3');
  if (s.hovered !== box.counter.counter || s.pointer === null) return;
  const at = sampleAt(values, s.pointer);
  if (at < 0) return;
  if (s.pointer > box.end && at === values.time.length - 1) return;
  const { dots, text } = sayValues(s, box, values, at);
  const x = s.scale.x(s.pointer);
  g.fillStyle = s.theme.colour.text;
  for (const value of dots) {
    g.beginPath();
    g.arc(x, place(value), 3, 0, 2 * Math.PI);
    g.fill();
  }
  if (text === '') return;
  const width = s.meter.width(text);
  const left = x + 8 + width > s.scale.width ? x - 8 - width : x + 8;
  label(
    g,
    s,
    text,
    left,
    Math.max(y + 9, Math.min(y + box.height - 9, place(dots[0] ?? 0))),
    'text',
  );
}

function label(
  g: Context,
  s: CounterScene,
  text: string,
  x: number,
  y: number,
  colour: 'text' | 'text-3',
): void {
  g.globalAlpha = 0.8;
  g.fillStyle = s.theme.colour.bg;
  g.fillRect(x - 3, y - 7, s.meter.width(text) + 6, 14);
  g.globalAlpha = 1;
  g.fillStyle = s.theme.colour[colour];
  g.fillText(text, x, y + 0.5);
}
