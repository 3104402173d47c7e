// SPDX-License-Identifier: Apache-2.0
// Counters as stacked areas: each value holds until the next one.

import { eventColour, hashedColour } from '../model/colours';
import { sampleAt, valueAt } from '../model/counters';
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
}

const PADDING = 4;

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
function placer(box: CounterBox, y: number): (value: number) => number {
  const { low, high } = box.counter;
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
  const place = placer(box, y);
  const n = values.time.length;
  const first = Math.max(0, sampleAt(values, s.scale.view.from));
  for (let i = first; i < n; i++) {
    // On whole pixels: no seams between areas that touch.
    const x0 = Math.max(-1, Math.round(s.scale.x(values.time[i] ?? 0)));
    if (x0 > s.scale.width) break;
    const x1 = Math.round(s.scale.x(i + 1 < n ? (values.time[i + 1] ?? 0) : box.end));
    if (values.merged && x1 > x0 + 1) {
      paintStack(g, s, box, place, values, i, x0, 1, 'highest');
      paintStack(g, s, box, place, values, i, x0 + 1, x1 - x0 - 1, 'last');
    } else {
      const what = values.merged ? 'highest' : 'last';
      paintStack(g, s, box, place, values, i, x0, Math.max(1, x1 - x0), what);
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

/** The highest value at the right; the one under the pointer, with a dot. */
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
  const most = `max ${formatValue(box.counter.high)}`;
  label(g, s, most, s.scale.width - s.meter.width(most) - 8, y + 9, 'text-3');
  if (s.hovered !== box.counter.counter || s.pointer === null) return;
  const at = sampleAt(values, s.pointer);
  if (at < 0) return;
  const sum = values.series.reduce((all, _, k) => all + (valueAt(values, k, at) ?? 0), 0);
  const x = s.scale.x(s.pointer);
  g.fillStyle = s.theme.colour.text;
  g.beginPath();
  g.arc(x, place(sum), 3, 0, 2 * Math.PI);
  g.fill();
  const text = formatValue(sum);
  const width = s.meter.width(text);
  const left = x + 8 + width > s.scale.width ? x - 8 - width : x + 8;
  label(g, s, text, left, Math.max(y + 9, Math.min(y + box.height - 9, place(sum))), 'text');
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
