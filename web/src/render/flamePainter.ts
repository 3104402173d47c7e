// SPDX-License-Identifier: Apache-2.0
// Paints a flame graph that grows downwards, like the call chart above it.
//
// The engine has laid the graph out: start, width and depth of each frame, in the order of a walk
// from the root. The painter turns them into pixels. It goes over all frames, because the engine
// sends only those that the page is wide enough to show.
//
// Frames that are too narrow become stubs: neighbours in a row grow into one grey bar, so that a
// thousand of them cost one rectangle and look like what they are, a crowd.
//
// The selected method may be called by itself. Only its outermost frames get a ring; frames within
// them get a thin outline, because their time is part of the ring already.

import { formatPercent } from '../base/format';
import type { FlameGraph } from '../model/engine';
import type { FlameNames } from '../model/flameNames';
import { drawBar, CLOSED, drawKernelMark, drawRing, drawThinOutline } from './shapes';
import type { Box, Surface } from './surface';
import type { TextMeter } from './text';
import type { Theme } from './theme';

/** Look of frames, where it is not by their names. */
export interface FlameLook {
  /**
   * Draw the bar of frame `i`. Return the colour of its text, and that of the ground that the text
   * needs on a hatched bar.
   */
  draw: (g: Surface, theme: Theme, i: number, b: Box) => { ink: string; ground: string };
  /** Return the name of frame `i`. */
  name: (i: number) => string;
  /** Return the figure that follows the name. */
  figure: (i: number) => string;
}

/** The state from which a flame graph is painted. */
export interface FlameScene {
  theme: Theme;
  names: Pick<FlameNames, 'short' | 'method' | 'colour' | 'isKernel'>;
  look?: FlameLook;
  meter: TextMeter;
  graph: FlameGraph;
  width: number;
  height: number;
  scroll: number;
  frame: number | null;
  hovered: number;
  matches: Uint8Array | null;
  dimmed: boolean;
  /** The text over the graph, for example "All threads  762.058 ms". */
  title: string;
}

/** Frames narrower than this, in pixels, are merged into grey stubs. */
const LEAST = 2;
const LEAST_LABEL = 22;

/** Return the rectangle of frame `i`. */
export function flameBox(
  s: Pick<FlameScene, 'graph' | 'width' | 'scroll' | 'theme'>,
  i: number,
): Box {
  const { row, bar: high } = flameHeights(s.theme);
  const perUnit = s.width / Math.max(1, s.graph.total);
  return {
    x: (s.graph.start[i] ?? 0) * perUnit,
    y: ((s.graph.depth[i] ?? 0) + 1) * row - s.scroll,
    w: (s.graph.width[i] ?? 0) * perUnit,
    h: high,
  };
}

/** Return the height of a row, and of the bar in it. */
export function flameHeights(theme: Theme): { row: number; bar: number } {
  return { row: theme.heights.frame, bar: theme.heights.frame - 1 };
}

/** Return the number of levels of the graph. */
export function flameDepth(graph: FlameGraph): number {
  let deepest = -1;
  for (const depth of graph.depth) if (depth > deepest) deepest = depth;
  return deepest + 1;
}

/** Return the index of the frame at a point, or -1. */
export function flameAt(
  s: Pick<FlameScene, 'graph' | 'width' | 'scroll' | 'theme'>,
  x: number,
  y: number,
): number {
  const { row } = flameHeights(s.theme);
  const depth = Math.floor((y + s.scroll) / row) - 1;
  const t = (x / s.width) * s.graph.total;
  for (let i = 0; i < s.graph.depth.length; i++) {
    if (s.graph.depth[i] !== depth) continue;
    const start = s.graph.start[i] ?? 0;
    if (t >= start && t < start + (s.graph.width[i] ?? 0)) return i;
  }
  return -1;
}

/**
 * Paint the title, the frames, the stubs of narrow frames, and the marks of selection and hover.
 */
export function paintFlame(g: Surface, s: FlameScene): void {
  g.fillStyle = s.theme.colour.bg;
  g.fillRect(0, 0, s.width, s.height);
  g.font = s.theme.barFont;
  g.textBaseline = 'middle';
  paintFlameTitle(g, s);
  const stubs = new Map<number, { from: number; to: number }>();
  for (let i = 0; i < s.graph.depth.length; i++) {
    const b = flameBox(s, i);
    if (b.y > s.height || b.y + b.h < 0) continue;
    if (b.w >= LEAST) paintFlameFrame(g, s, i, b);
    else paintFlameStub(g, s, b, stubs);
  }
  for (const [y, stub] of stubs) flushFlameStub(g, s, y, stub);
  paintFlameMarks(g, s);
}

function paintFlameTitle(g: Surface, s: FlameScene): void {
  const { bar: high } = flameHeights(s.theme);
  if (s.scroll > high) return;
  g.fillStyle = s.theme.colour.well;
  g.fillRect(0, -s.scroll, s.width, high);
  g.fillStyle = s.theme.colour.text;
  g.fillText(s.title, 4, high / 2 + 0.5 - s.scroll);
}

/** Draw a bar in the colour of its name, or dimmed if that is -1. */
function drawNamedBar(
  g: Surface,
  theme: Theme,
  b: Box,
  number: number,
): { ink: string; ground: string } {
  drawBar(g, theme, b, number, CLOSED);
  return {
    ink: number < 0 ? theme.colour['bar-dim-text'] : (theme.barTexts[number] ?? ''),
    ground: number >= 0 && theme.hatched[number] ? (theme.bars[number] ?? '') : '',
  };
}

function paintFlameFrame(g: Surface, s: FlameScene, i: number, b: Box): void {
  const frame = s.graph.frame[i] ?? 0;
  const dim = s.dimmed && s.matches !== null && !s.matches[frame];
  const bar = { ...b, w: Math.max(1, b.w - 0.5) };
  const { ink, ground } =
    s.look && !dim
      ? s.look.draw(g, s.theme, i, bar)
      : drawNamedBar(g, s.theme, bar, dim ? -1 : s.names.colour(frame));
  if (s.names.isKernel(frame)) drawKernelMark(g, s.theme, b);
  if (s.dimmed && !dim && s.matches) {
    g.fillStyle = s.theme.colour.hit;
    g.fillRect(b.x, b.y, b.w, 2);
  }
  if (b.w < LEAST_LABEL) return;
  const share = s.look
    ? s.look.figure(i)
    : `${formatPercent(s.graph.width[i] ?? 0, s.graph.total)} %`;
  const name = s.look ? s.look.name(i) : s.names.short(frame);
  const room = b.w - 8;
  const whole = `${name}  ${share}`;
  const text =
    s.meter.width(whole) <= room
      ? whole
      : s.meter.label(name, s.look ? name : s.names.method(frame), room);
  if (text === '') return;
  if (ground !== '') {
    g.fillStyle = ground;
    g.fillRect(b.x + 2, b.y + 1, s.meter.width(text) + 4, b.h - 2);
  }
  g.fillStyle = ink;
  g.fillText(text, b.x + 4, b.y + b.h / 2 + 0.5);
}

/** Extend the grey stub of the row, or start a new one if there is a gap. */
function paintFlameStub(
  g: Surface,
  s: FlameScene,
  b: Box,
  stubs: Map<number, { from: number; to: number }>,
): void {
  const open = stubs.get(b.y);
  if (open && b.x <= open.to + 1) {
    open.to = Math.max(open.to, b.x + b.w);
    return;
  }
  if (open) flushFlameStub(g, s, b.y, open);
  stubs.set(b.y, { from: b.x, to: b.x + b.w });
}

function flushFlameStub(
  g: Surface,
  s: FlameScene,
  y: number,
  stub: { from: number; to: number },
): void {
  g.fillStyle = s.theme.colour['line-strong'];
  g.fillRect(stub.from, y, Math.max(1, stub.to - stub.from - 0.5), flameHeights(s.theme).bar);
}

/**
 * Draw a ring around the outermost frames of the selected method, and a thin outline around frames
 * inside them.
 */
function paintFlameMarks(g: Surface, s: FlameScene): void {
  const insideUntil: number[] = [];
  for (let i = 0; i < s.graph.depth.length; i++) {
    if (s.graph.frame[i] !== s.frame) continue;
    const start = s.graph.start[i] ?? 0;
    const inside = insideUntil.some(
      (end, k) => k % 2 === 1 && start >= (insideUntil[k - 1] ?? 0) && start < end,
    );
    const b = flameBox(s, i);
    if (!inside) insideUntil.push(start, start + (s.graph.width[i] ?? 0));
    if (b.y > s.height || b.y + b.h < 0) continue;
    if (inside || b.w < 6) drawThinOutline(g, s.theme.colour.select, b);
    else drawRing(g, s.theme, { ...b, x: b.x + 1, w: b.w - 2.5 });
  }
  if (s.hovered >= 0 && s.hovered < s.graph.depth.length)
    drawThinOutline(g, s.theme.colour.text, flameBox(s, s.hovered));
}
