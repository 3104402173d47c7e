// SPDX-License-Identifier: Apache-2.0
// Counters as areas. The series are stacked, overlaid or shown one at a time. Each value holds
// until the next one.

import { eventColour, hashedColour } from '../model/colours';
import { boundsOf, numericSeries, sampleAt, valueAt, type CounterView } from '../model/counters';
import type { CounterFacts, CounterValues } from '../model/engine';
import type { CounterBox } from '../model/rows';
import { formatValue } from '../base/format';
import type { Surface } from './surface';
import type { TextMeter } from './text';
import type { Theme } from './theme';
import type { TimeScale } from './timeScale';

export interface CounterScene {
  theme: Theme;
  scale: TimeScale;
  meter: TextMeter;
  values: ReadonlyMap<number, CounterValues>;
  /** The time under the pointer, and the counter under it. */
  pointer: number | null;
  hovered: number | null;
  /** The counter and the time that are selected. */
  selected: { counter: number; at: number } | null;
  /** The view of each counter that is not stacked. */
  views: ReadonlyMap<number, CounterView>;
}

const PADDING = 4;
/** Up to this many series are named at the pointer. With more, only the tooltip names them. */
const NAMED = 3;

/** Return the colour of a series. */
export function seriesColour(theme: Theme, counter: CounterFacts, series: number): string {
  const name = `${counter.name}.${counter.series[series] ?? ''}`;
  // With forced colours, a colour from the trace may equal the background.
  const named = theme.outlined ? 0 : counter.colour;
  return theme.bars[eventColour(named, hashedColour(name))] ?? '';
}

/** Paint the counters that are in view. */
export function paintCounters(
  g: Surface,
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

/**
 * Return the function that maps a value to y. The extremes of the whole trace are the ends of the
 * box.
 */
function counterScale(box: CounterBox, y: number, view: CounterView): (value: number) => number {
  const [low, high] = boundsOf(box.counter, view);
  const room = box.height - 2 * PADDING;
  const range = high - low || 1;
  return (value) => y + PADDING + room - ((value - low) / range) * room;
}

/**
 * The columns drawn for one sample, or for the samples of one pixel: their x and width, and whether
 * they show the last or the highest value.
 */
interface CounterStep {
  at: number;
  x: number;
  width: number;
  what: 'last' | 'highest';
}

function* counterSteps(
  s: CounterScene,
  box: CounterBox,
  values: CounterValues,
): Generator<CounterStep> {
  const n = values.time.length;
  const first = Math.max(0, sampleAt(values, s.scale.view.from));
  for (let at = first; at < n; at++) {
    // Round to whole pixels, so that no seams show between areas that touch.
    const x = Math.max(-1, Math.round(s.scale.x(values.time[at] ?? 0)));
    if (x > s.scale.width) return;
    const end = Math.round(s.scale.x(at + 1 < n ? (values.time[at + 1] ?? 0) : box.end));
    if (values.merged && end > x + 1) {
      yield { at, x, width: 1, what: 'highest' };
      yield { at, x: x + 1, width: end - x - 1, what: 'last' };
    } else yield { at, x, width: Math.max(1, end - x), what: values.merged ? 'highest' : 'last' };
  }
}

function paintCounter(
  g: Surface,
  s: CounterScene,
  box: CounterBox,
  y: number,
  values: CounterValues,
): void {
  const view = s.views.get(box.counter.counter) ?? 'stack';
  const place = counterScale(box, y, view);
  const shown = shownSeries(s, box.counter);
  const look = { g, s, counter: box.counter, values, shown, place, stacked: view === 'stack' };
  for (const piece of counterSteps(s, box, values)) paintCounterStep(look, piece);
  paintCounterValues(g, s, box, y, values, place);
}

/** Return the series that are shown. */
function shownSeries(s: CounterScene, counter: CounterFacts): number[] {
  const view = s.views.get(counter.counter);
  return typeof view === 'number' ? [view] : numericSeries(counter);
}

interface Look {
  g: Surface;
  s: CounterScene;
  counter: CounterFacts;
  values: CounterValues;
  /** Indices of series. */
  shown: readonly number[];
  place: (value: number) => number;
  stacked: boolean;
}

/**
 * Paint the values of one step. Stacked series lie on each other under one edge. Overlaid series
 * start at 0, and are pale with an edge each, so that none hides another.
 */
function paintCounterStep(
  { g, s, counter, values, shown, place, stacked }: Look,
  piece: CounterStep,
): void {
  const { x } = piece;
  const width = Math.min(x + piece.width, s.scale.width) - x;
  let foot = 0;
  let known = false;
  for (const series of shown) {
    const value = values.series[series]?.[piece.what][piece.at] ?? NaN;
    if (!Number.isFinite(value)) continue;
    known = true;
    const [a, b] = [place(foot), place(foot + value)];
    if (stacked) foot += value;
    const high = Math.abs(a - b);
    g.fillStyle = seriesColour(s.theme, counter, series);
    g.globalAlpha = stacked ? 1 : 0.45;
    if (value !== 0) g.fillRect(x, Math.min(a, b), width, stacked ? Math.max(0.5, high) : high);
    g.globalAlpha = 1;
    if (!stacked) g.fillRect(x, b - 1, width, 2);
    if (!s.theme.outlined) continue;
    g.fillStyle = s.theme.colour.text;
    g.fillRect(x, b - 0.5, width, 1);
  }
  if (!stacked || !known) return;
  g.fillStyle = s.theme.colour['text-2'];
  g.fillRect(x, place(foot) - 0.5, width, 1);
}

/**
 * The label of a sample: the values at which dots are drawn, and a text that names each series if
 * there are few.
 */
interface Said {
  dots: number[];
  text: string;
}

function counterValueText(
  s: CounterScene,
  box: CounterBox,
  values: CounterValues,
  at: number,
): Said {
  const stacked = !s.views.has(box.counter.counter);
  const shown = shownSeries(s, box.counter);
  const known = shown.flatMap((k) => {
    const value = valueAt(values, k, at);
    return value === null ? [] : [{ name: box.counter.series[k] ?? '', value }];
  });
  const sum = known.reduce((all, { value }) => all + value, 0);
  const dots = stacked ? (known.length > 0 ? [sum] : []) : known.map(({ value }) => value);
  if (known.length === 0) return { dots, text: 'not told' };
  if (shown.length > NAMED) return { dots, text: stacked ? formatValue(sum) : '' };
  const single = numericSeries(box.counter).length === 1;
  const text = known.map(({ name, value }) => (single ? '' : `${name} `) + formatValue(value));
  return { dots, text: text.join('   ') };
}

/** Write the highest value at the right, and the values under the pointer with dots. */
function paintCounterValues(
  g: Surface,
  s: CounterScene,
  box: CounterBox,
  y: number,
  values: CounterValues,
  place: (value: number) => number,
): void {
  g.font = s.theme.font;
  g.textBaseline = 'middle';
  if (numericSeries(box.counter).length === 0) {
    const none = 'no event has a number';
    return paintCounterText(g, s, none, s.scale.width - s.meter.width(none) - 8, y + 9, 'text-3');
  }
  const [low, high] = boundsOf(box.counter, s.views.get(box.counter.counter) ?? 'stack');
  const least = low < 0 ? `min ${formatValue(low)}   ` : '';
  const most = `${least}max ${formatValue(high)}`;
  paintCounterText(g, s, most, s.scale.width - s.meter.width(most) - 8, y + 9, 'text-3');
  const { counter } = box.counter;
  if (s.selected?.counter === counter) {
    const x = s.scale.x(s.selected.at);
    g.fillStyle = s.theme.colour.select;
    g.fillRect(Math.round(x), y, 1, box.height);
    paintCounterPoint(g, s, box, y, values, place, s.selected.at);
  }
  if (s.hovered === counter && s.pointer !== null)
    paintCounterPoint(g, s, box, y, values, place, s.pointer);
}

/** Write the values at a time, with dots. */
function paintCounterPoint(
  g: Surface,
  s: CounterScene,
  box: CounterBox,
  y: number,
  values: CounterValues,
  place: (value: number) => number,
  time: number,
): void {
  const at = sampleAt(values, time);
  if (at < 0) return;
  if (time > box.end && at === values.time.length - 1) return;
  const { dots, text } = counterValueText(s, box, values, at);
  const x = s.scale.x(time);
  g.fillStyle = s.theme.colour.text;
  for (const value of dots) {
    g.beginPath();
    g.arc(x, place(value), 3, 0, 2 * Math.PI);
    g.fill();
  }
  if (text === '') return;
  const width = s.meter.width(text);
  const left = x + 8 + width > s.scale.width ? x - 8 - width : x + 8;
  paintCounterText(
    g,
    s,
    text,
    left,
    Math.max(y + 9, Math.min(y + box.height - 9, place(dots[0] ?? 0))),
    'text',
  );
}

function paintCounterText(
  g: Surface,
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
