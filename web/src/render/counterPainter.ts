// SPDX-License-Identifier: Apache-2.0
// Counters as areas. The series are stacked, overlaid or shown one at a time. Each value holds
// until the next one.
//
//     stack      series on top of each other, one edge along the sum
//     areas      all from 0, pale, an edge each, so that none hides another
//     lines      of the counter that is drawn over another: edges, joined by upright pieces
//
// Zoomed out, the engine merges the samples of a pixel into its highest and its last value. The pixel
// shows the highest, so a peak of one sample stays visible at any zoom; after it the last one holds.
//
// Two counters may share a row. Each has a scale of its own, so both ends are written with the name
// and the colour of their counter.

import { eventColour, HASHED_COLOURS, hashedColour } from '../model/colours';
import { boundsOf, numericSeries, sampleAt, valueAt, type CounterView } from '../model/counters';
import type { CounterFacts, CounterValues } from '../model/engine';
import type { CounterBox } from '../model/rows';
import { formatValue } from '../base/format';
import { shortened } from '../base/visible';
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
/** Longest name of a counter beside its values, in characters. */
const LONGEST_NAME = 24;

/** Return the colour of a series. */
export function seriesColour(theme: Theme, counter: CounterFacts, series: number): string {
  const name = `${counter.name}.${counter.series[series] ?? ''}`;
  // With forced colours, a colour from the trace may equal the background.
  const named = theme.outlined ? 0 : counter.colour;
  return theme.bars[eventColour(named, hashedColour(name))] ?? '';
}

/**
 * Return the colour of a series of a counter that is drawn over `base`: its own one, but none that
 * `base` has.
 */
export function overlayColour(
  theme: Theme,
  base: CounterFacts,
  over: CounterFacts,
  series: number,
): string {
  const taken = numericSeries(base).map((k) => seriesColour(theme, base, k));
  let colour = seriesColour(theme, over, series);
  // A base with many series may have all colours.
  for (let k = 1; k < 2 * HASHED_COLOURS && taken.includes(colour); k++)
    colour = theme.bars[eventColour(0, hashedColour(`${over.name}.${series}.${k}`))] ?? colour;
  return colour;
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
    const looks = counterLooks(s, box, y);
    for (const look of looks) paintCounter(g, s, box, look);
    if (looks.length > 0) paintCounterValues(g, s, box, y, looks);
  }
}

/** Drawing of a counter in a box. */
interface Look {
  counter: CounterFacts;
  values: CounterValues;
  view: CounterView;
  /** Indices of series. */
  shown: readonly number[];
  /** Map a value to y. */
  place: (value: number) => number;
  colour: (series: number) => string;
  /** Series are stacked; as pale areas from 0 on; or are lines only. */
  style: 'stack' | 'areas' | 'lines';
  /** Height of each series at the step before; for lines. */
  before: Map<number, number>;
}

/**
 * Return the function that maps a value to y. The extremes of the whole trace are the ends of the
 * box.
 */
function counterScale(
  box: CounterBox,
  y: number,
  [low, high]: [number, number],
): (value: number) => number {
  const room = box.height - 2 * PADDING;
  const range = high - low || 1;
  return (value) => y + PADDING + room - ((value - low) / range) * room;
}

/** Return the counter of a box, and the one that is drawn over it, as far as values have arrived. */
function counterLooks(s: CounterScene, box: CounterBox, y: number): Look[] {
  const look = (counter: CounterFacts, over: boolean): Look[] => {
    const values = s.values.get(counter.counter);
    if (!values) return [];
    const chosen = s.views.get(counter.counter) ?? 'stack';
    const view = over && chosen === 'stack' ? 'overlap' : chosen;
    const shown = typeof view === 'number' ? [view] : numericSeries(counter);
    const colours = shown.map((series) =>
      over
        ? overlayColour(s.theme, box.counter, counter, series)
        : seriesColour(s.theme, counter, series),
    );
    const colourOf = new Map(shown.map((series, k) => [series, colours[k] ?? '']));
    return [
      {
        ...{ counter, values, view, shown },
        colour: (series) => colourOf.get(series) ?? '',
        place: counterScale(box, y, boundsOf(counter, view)),
        before: new Map(),
        style: over ? 'lines' : view === 'stack' ? 'stack' : 'areas',
      },
    ];
  };
  return [...look(box.counter, false), ...(box.over ? look(box.over, true) : [])];
}

/**
 * The columns drawn for one sample, or for the samples of one pixel: their x and width, and whether
 * they show the last or the highest value.
 */
interface StepPiece {
  at: number;
  x: number;
  width: number;
  what: 'last' | 'highest';
}

function* counterSteps(
  s: CounterScene,
  values: CounterValues,
  until: number,
): Generator<StepPiece> {
  const n = values.time.length;
  const first = Math.max(0, sampleAt(values, s.scale.view.from));
  for (let at = first; at < n; at++) {
    // Round to whole pixels, so that no seams show between areas that touch.
    const x = Math.max(-1, Math.round(s.scale.x(values.time[at] ?? 0)));
    if (x > s.scale.width) return;
    const end = Math.round(s.scale.x(at + 1 < n ? (values.time[at + 1] ?? 0) : until));
    if (values.merged && end > x + 1) {
      yield { at, x, width: 1, what: 'highest' };
      yield { at, x: x + 1, width: end - x - 1, what: 'last' };
    } else yield { at, x, width: Math.max(1, end - x), what: values.merged ? 'highest' : 'last' };
  }
}

function paintCounter(g: Surface, s: CounterScene, box: CounterBox, look: Look): void {
  const until = box.end(look.counter);
  for (const piece of counterSteps(s, look.values, until)) paintCounterStep(g, s, look, piece);
}

/**
 * Paint the values of one step. Stacked series have one edge, on top. Overlaid series
 * start at 0, and are pale with an edge each, so that none hides another. Lines are edges alone.
 */
function paintCounterStep(g: Surface, s: CounterScene, look: Look, piece: StepPiece): void {
  const { values, shown, place, style } = look;
  const stacked = style === 'stack';
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
    g.fillStyle = look.colour(series);
    g.globalAlpha = stacked ? 1 : 0.45;
    if (value !== 0 && style !== 'lines')
      g.fillRect(x, Math.min(a, b), width, stacked ? Math.max(0.5, high) : high);
    g.globalAlpha = 1;
    if (!stacked) g.fillRect(x, b - 1, width, 2);
    if (style === 'lines') {
      const last = look.before.get(series) ?? b;
      if (last !== b) g.fillRect(x, Math.min(last, b), 1, Math.abs(last - b));
      look.before.set(series, b);
    }
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

/** Return the values of a counter at a sample; `named`: with the name of the counter. */
function counterValueText(look: Look, at: number, named: boolean): Said {
  const { counter, values, shown } = look;
  const stacked = look.style === 'stack';
  const known = shown.flatMap((k) => {
    const value = valueAt(values, k, at);
    return value === null ? [] : [{ name: counter.series[k] ?? '', value }];
  });
  const sum = known.reduce((all, { value }) => all + value, 0);
  const dots = stacked ? (known.length > 0 ? [sum] : []) : known.map(({ value }) => value);
  const of = named ? `${shortened(counter.name, LONGEST_NAME)} ` : '';
  if (known.length === 0) return { dots, text: `${of}no value` };
  if (shown.length > NAMED) return { dots, text: stacked ? of + formatValue(sum) : '' };
  const single = numericSeries(counter).length === 1;
  const text = known.map(({ name, value }) => (single ? '' : `${name} `) + formatValue(value));
  return { dots, text: of + text.join('   ') };
}

/**
 * Write the ends of the scales at the right, of two counters with their names and colours, and the
 * values under the pointer with dots.
 */
function paintCounterValues(
  g: Surface,
  s: CounterScene,
  box: CounterBox,
  y: number,
  looks: readonly Look[],
): void {
  g.font = s.theme.font;
  g.textBaseline = 'middle';
  let right = s.scale.width - 8;
  for (const look of [...looks].reverse()) {
    const [text, colour] = [scaleText(look, looks.length > 1), look.colour(look.shown[0] ?? 0)];
    right -= s.meter.width(text);
    paintCounterText(g, s, text, right, y + 9, 'text-3');
    if (looks.length === 1) break;
    right -= 15;
    g.fillStyle = s.theme.colour.bg;
    g.fillRect(right - 2, y + 2, 14, 14);
    g.fillStyle = colour;
    g.fillRect(right, y + 4, 10, 10);
    right -= 12;
  }
  const { counter } = box.counter;
  if (s.selected?.counter === counter) {
    const x = s.scale.x(s.selected.at);
    g.fillStyle = s.theme.colour.select;
    g.fillRect(Math.round(x), y, 1, box.height);
    paintCounterPoint(g, s, box, y, looks, s.selected.at);
  }
  if (s.hovered === counter && s.pointer !== null)
    paintCounterPoint(g, s, box, y, looks, s.pointer);
}

/** Return the ends of the scale of a counter; `named`: with its name. */
function scaleText({ counter, view }: Look, named: boolean): string {
  const name = named ? `${shortened(counter.name, LONGEST_NAME)} ` : '';
  if (numericSeries(counter).length === 0) return `${name}no event has a number`;
  const [low, high] = boundsOf(counter, view);
  const least = low < 0 ? `min ${formatValue(low)}   ` : '';
  return `${name}${least}max ${formatValue(high)}`;
}

/** Write the values at a time, with dots. */
function paintCounterPoint(
  g: Surface,
  s: CounterScene,
  box: CounterBox,
  y: number,
  looks: readonly Look[],
  time: number,
): void {
  const x = s.scale.x(time);
  const texts: string[] = [];
  let height: number | null = null;
  for (const look of looks) {
    const { values, counter, place } = look;
    const at = sampleAt(values, time);
    if (numericSeries(counter).length === 0 || at < 0) continue;
    if (time > box.end(counter) && at === values.time.length - 1) continue;
    const { dots, text } = counterValueText(look, at, looks.length > 1);
    g.fillStyle = s.theme.colour.text;
    for (const value of dots) {
      g.beginPath();
      g.arc(x, place(value), 3, 0, 2 * Math.PI);
      g.fill();
    }
    height ??= place(dots[0] ?? 0);
    if (text !== '') texts.push(text);
  }
  if (texts.length === 0 || height === null) return;
  const text = texts.join('   ');
  const width = s.meter.width(text);
  const left = x + 8 + width > s.scale.width ? x - 8 - width : x + 8;
  const middle = Math.max(y + 9, Math.min(y + box.height - 9, height));
  paintCounterText(g, s, text, left, middle, 'text');
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
