// SPDX-License-Identifier: Apache-2.0
// The ruler: time ticks, the selected range with its handles and its length, and the time under the
// pointer.

import { formatFine, formatTick, formatTimeUnit, type Unit } from '../base/format';
import { tickStep, type Span } from '../model/span';
import type { Surface } from './surface';
import type { TextMeter } from './text';
import type { Theme } from './theme';
import type { TimeScale } from './timeScale';

/** The state from which the ruler is painted. */
export interface RulerScene {
  theme: Theme;
  meter: TextMeter;
  scale: TimeScale;
  height: number;
  bounds: Span;
  range: Span | null;
  /** The span that the user is dragging out to zoom to. */
  zoom: Span | null;
  pointer: number | null;
  unit: Unit;
  /** Words about the axis, at the right end; empty: it is time. */
  axis: string;
}

export const HANDLE_WIDTH = 9;
const HANDLE_HEIGHT = 17;
const PIXELS_PER_TICK = 110;

/** Occupied x intervals. Tick labels do not overlap them. */
type Taken = [number, number][];

/** Paint the ruler. */
export function paintRuler(g: Surface, s: RulerScene): void {
  g.fillStyle = s.theme.colour.bg;
  g.fillRect(0, 0, s.scale.width, s.height);
  g.textBaseline = 'middle';
  g.font = s.theme.font;
  const taken: Taken = [];
  const pill = placePill(s, taken);
  if (s.axis !== '') paintAxisWords(g, s, taken, pill);
  if (s.range) paintRulerRange(g, s, s.range, taken, pill);
  if (s.zoom) paintRulerZoom(g, s, s.zoom, taken, pill);
  if (pill) paintPill(g, s, pill);
  paintRulerTicks(g, s, taken);
}

/** Write what the axis is, unless the pointer or the range is there. */
function paintAxisWords(g: Surface, s: RulerScene, taken: Taken, pill: Pill | null): void {
  const right = s.scale.width - 6;
  const left = right - s.meter.width(s.axis);
  if (left < 0 || (pill && pill.left + pill.width > left - 6)) return;
  if (s.range && s.scale.x(s.range.to) > left - HANDLE_WIDTH) return;
  taken.push([left - 12, s.scale.width]);
  g.fillStyle = s.theme.colour.text;
  g.fillText(s.axis, left, s.height / 2 - 2);
}

interface Pill {
  x: number;
  left: number;
  width: number;
  text: string;
}

/** Place the time of the pointer right of its line, or left of it near the right edge. */
function placePill(s: RulerScene, taken: Taken): Pill | null {
  if (s.pointer === null) return null;
  const text = formatFine(Math.round(s.pointer), s.scale.nsPerPixel, s.unit);
  const width = s.meter.width(text) + 12;
  const x = Math.round(s.scale.x(s.pointer));
  const left = x + width > s.scale.width ? x - width : x;
  taken.push([left - 6, left + width + 6]);
  return { x, left, width, text };
}

function paintPill(g: Surface, s: RulerScene, pill: Pill): void {
  const flipped = pill.left < pill.x;
  g.fillStyle = s.theme.colour.tip;
  g.beginPath();
  g.roundRect(pill.left, 3, pill.width, 17, flipped ? [3, 0, 0, 3] : [0, 3, 3, 0]);
  g.fill();
  g.fillStyle = s.theme.colour['tip-text'];
  g.fillText(pill.text, pill.left + 6, 12);
  g.fillStyle = s.theme.colour.cursor;
  g.fillRect(pill.x, 0, 1, s.height);
}

function paintRulerRange(
  g: Surface,
  s: RulerScene,
  range: Span,
  taken: Taken,
  pill: Pill | null,
): void {
  const a = s.scale.x(range.from);
  const b = s.scale.x(range.to);
  const bottom = s.height;
  g.fillStyle = s.theme.colour['range-tint'];
  g.fillRect(a, 0, b - a, bottom);
  g.fillStyle = s.theme.colour.range;
  g.fillRect(a, bottom - 3, b - a, 3);
  for (const [x, side] of [
    [a, -1],
    [b, 1],
  ] as const) {
    g.fillStyle = s.theme.colour.range;
    g.beginPath();
    g.roundRect(
      side < 0 ? x - HANDLE_WIDTH : x,
      bottom - HANDLE_HEIGHT,
      HANDLE_WIDTH,
      HANDLE_HEIGHT,
      side < 0 ? [3, 0, 0, 3] : [0, 3, 3, 0],
    );
    g.fill();
    g.fillStyle = s.theme.colour['on-accent'];
    const grip = x + side * 4.5;
    g.fillRect(grip - 1.5, bottom - 12, 1, 7);
    g.fillRect(grip + 0.5, bottom - 12, 1, 7);
  }
  taken.push([a - 12, a + 4], [b - 4, b + 12]);
  // While the user drags out a zoom span, its length is shown instead.
  if (!s.zoom) paintRangeLength(g, s, range, taken, pill);
}

/** Write the length in the middle of the visible part of the range, away from the pointer. */
function paintRangeLength(
  g: Surface,
  s: RulerScene,
  range: Span,
  taken: Taken,
  pill: Pill | null,
): void {
  const text = formatTimeUnit(range.to - range.from, s.unit);
  const a = s.scale.x(range.from);
  const b = s.scale.x(range.to);
  const left = Math.max(a, 0);
  const right = Math.min(b, s.scale.width);
  if (right < 0 || left > s.scale.width) return;
  const half = s.meter.width(text) * 0.54;
  let middle = (left + right) / 2;
  if (right - left < 2 * half + 8) middle = right + HANDLE_WIDTH + half + 6;
  if (pill && pill.left + pill.width > middle - half - 8 && pill.left < middle + half + 8) {
    middle =
      pill.left - left > 2 * half + 24
        ? (left + pill.left) / 2
        : Math.max(pill.left + pill.width, right + HANDLE_WIDTH) + half + 8;
  }
  taken.push([middle - half - 12, middle + half + 12]);
  g.fillStyle = s.theme.colour.text;
  g.font = `600 ${s.theme.font}`;
  g.textAlign = 'center';
  g.fillText(text, middle, s.height / 2 - 1);
  g.textAlign = 'left';
  g.font = s.theme.font;
}

function paintRulerZoom(
  g: Surface,
  s: RulerScene,
  zoom: Span,
  taken: Taken,
  pill: Pill | null,
): void {
  const a = s.scale.x(zoom.from);
  g.fillStyle = s.theme.colour.cursor;
  g.globalAlpha = 0.25;
  g.fillRect(a, 0, s.scale.x(zoom.to) - a, s.height);
  g.globalAlpha = 1;
  paintRangeLength(g, s, zoom, taken, pill);
}

/** Return a tick distance that fits the longest label. */
function stepOfTicks(s: RulerScene): number {
  const step = tickStep(s.scale.nsPerPixel, PIXELS_PER_TICK, s.unit);
  const last = Math.floor(Math.min(s.scale.view.to, s.bounds.to) / step) * step;
  const width = s.meter.width(formatTick(last, step, s.unit)) + 16;
  return width <= PIXELS_PER_TICK ? step : tickStep(s.scale.nsPerPixel, width, s.unit);
}

/**
 * Paint ticks at round times, five small ones for each with a text; a text that would cover another
 * is left out.
 */
function paintRulerTicks(g: Surface, s: RulerScene, taken: Taken): void {
  const step = stepOfTicks(s);
  const small = step / 5;
  const first = Math.ceil(s.scale.view.from / small);
  const last = Math.floor(s.scale.view.to / small);
  for (let k = first; k <= last; k++) {
    const x = Math.round(s.scale.x(k * small));
    const major = k % 5 === 0;
    g.fillStyle = major ? s.theme.colour['strip-edge'] : s.theme.colour['line-strong'];
    g.fillRect(x, major ? s.height - 8 : s.height - 4, 1, 8);
    // Ticks run from the origin of the trace, which lies a little before its first event, to its
    // end.
    const t = k * small;
    if (!major || t < Math.min(0, s.bounds.from) || t > s.bounds.to) continue;
    const text = formatTick((k / 5) * step, step, s.unit);
    const from = x + 4;
    const to = from + s.meter.width(text);
    if (to > s.scale.width || taken.some(([a, b]) => from < b && to > a)) continue;
    g.fillStyle = s.theme.colour['text-2'];
    g.fillText(text, from, s.height / 2 - 2);
  }
}
