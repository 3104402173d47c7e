// SPDX-License-Identifier: Apache-2.0
// The shapes that the time line and the flame graph are made of.
//
//     |=====|    closed       >=====<    open at both ends: teeth
//     |====/     unrolled: the call lost its exit, a thick red slant
//     |__===|    wait: a line at the foot, the thread did not run
//
// An end is drawn as open or broken only in a bar that has room for it. The same shapes go to a
// canvas and into a picture file; a hatching is a pattern on the canvas and lines in the file
// (surface.ts).

import { canvasOf, type Box, type Surface } from './surface';
import type { Theme } from './theme';

const TOOTH = 4;
const TEETH = 4;
const SLANT = 8;
/** Only bars wider than this show an open or broken end. */
export const LEAST_OPEN = 10;

/** Drawing of the ends of a bar. */
export interface BarEdges {
  openLeft: boolean;
  openRight: boolean;
  unrolled: boolean;
}

export const CLOSED: BarEdges = { openLeft: false, openRight: false, unrolled: false };

let hatchPattern: { of: number; pattern: CanvasPattern | null } = { of: -1, pattern: null };

/** Return the pattern of 45 degree lines, 7 px apart. It is drawn once per theme. */
function createHatchPattern(g: CanvasRenderingContext2D, theme: Theme): CanvasPattern | null {
  if (hatchPattern.of === theme.generation) return hatchPattern.pattern;
  let pattern: CanvasPattern | null = null;
  if (typeof OffscreenCanvas !== 'undefined') {
    const tile = new OffscreenCanvas(14, 14);
    const c = tile.getContext('2d');
    if (c) {
      c.scale(2, 2);
      c.strokeStyle = theme.colour.hatch;
      c.globalAlpha = 0.45;
      c.lineWidth = 1.5;
      c.beginPath();
      for (let i = -7; i <= 7; i += 7) {
        c.moveTo(i - 1, 8);
        c.lineTo(i + 8, -1);
      }
      c.stroke();
      pattern = g.createPattern(tile, 'repeat');
      pattern?.setTransform(new DOMMatrix([0.5, 0, 0, 0.5, 0, 0]));
    }
  }
  hatchPattern = { of: theme.generation, pattern };
  return pattern;
}

/** Draw 45 degree lines over a bar. */
export function drawHatching(g: Surface, theme: Theme, b: Box): void {
  const canvas = canvasOf(g);
  if (!canvas) return g.shapes?.hatch(b, theme.colour.hatch);
  const pattern = createHatchPattern(canvas, theme);
  if (!pattern) return;
  g.fillStyle = pattern;
  g.fillRect(b.x, b.y, b.w, b.h);
}

function traceTeeth(g: Surface, x: number, y: number, h: number, inward: number): void {
  for (let i = 0; i <= TEETH; i++) g.lineTo(x + (i % 2 ? inward * TOOTH : 0), y + (h * i) / TEETH);
}

function traceBarOutline(g: Surface, b: Box, edges: BarEdges): void {
  g.beginPath();
  if (edges.openLeft) traceTeeth(g, b.x, b.y, b.h, 1);
  else {
    g.moveTo(b.x, b.y);
    g.lineTo(b.x, b.y + b.h);
  }
  const right = b.x + b.w;
  if (edges.openRight) {
    for (let i = TEETH; i >= 0; i--) g.lineTo(right - (i % 2 ? TOOTH : 0), b.y + (b.h * i) / TEETH);
  } else {
    g.lineTo(right - (edges.unrolled ? SLANT : 0), b.y + b.h);
    g.lineTo(right, b.y);
  }
  g.closePath();
}

/**
 * Draw a bar with an open or broken end. An open end has teeth and a line; an unrolled call ends in
 * a slant with a thick line.
 */
function drawBrokenBar(g: Surface, theme: Theme, b: Box, colour: string, edges: BarEdges): void {
  g.save();
  traceBarOutline(g, b, edges);
  g.fillStyle = colour;
  g.fill();
  g.clip();
  if (edges.unrolled) {
    g.strokeStyle = theme.colour.error;
    g.lineWidth = 5;
    g.beginPath();
    g.moveTo(b.x + b.w - SLANT, b.y + b.h);
    g.lineTo(b.x + b.w, b.y);
    g.stroke();
  }
  g.strokeStyle = theme.colour['strip-edge'];
  g.lineWidth = 2;
  for (const [open, x, inward] of [
    [edges.openLeft, b.x, 1],
    [edges.openRight, b.x + b.w, -1],
  ] as const) {
    if (!open) continue;
    g.beginPath();
    traceTeeth(g, x, b.y, b.h, inward);
    g.stroke();
  }
  g.restore();
}

/** Draw a bar in colour `number`, or dimmed if it is -1. */
export function drawBar(g: Surface, theme: Theme, b: Box, number: number, edges: BarEdges): void {
  const colour =
    number < 0 ? theme.colour['bar-dim'] : (theme.bars[number] ?? theme.colour['bar-dim']);
  const wide = b.w > LEAST_OPEN;
  if (wide && (edges.openLeft || edges.openRight || edges.unrolled)) {
    drawBrokenBar(g, theme, b, colour, edges);
  } else {
    g.fillStyle = colour;
    g.fillRect(b.x, b.y, b.w, b.h);
  }
  if (number >= 0 && theme.hatched[number] && b.w >= 3) drawHatching(g, theme, b);
  if (b.w >= 3 && !(wide && edges.openLeft)) {
    g.fillStyle = theme.colour['bar-edge'];
    g.fillRect(b.x, b.y, 1, b.h);
  }
  if (theme.outlined && b.w >= 3) {
    g.strokeStyle = theme.colour.text;
    g.lineWidth = 1;
    g.strokeRect(b.x + 0.5, b.y + 0.5, b.w - 1, b.h - 1);
  }
}

/** Draw the line at the foot of a bar that marks code of the kernel, in every palette. */
export function drawKernelMark(g: Surface, theme: Theme, b: Box): void {
  g.fillStyle = theme.colour['bar-text'];
  g.fillRect(b.x, b.y + b.h - 2, Math.max(1, b.w - 0.5), 2);
}

/**
 * Cut the foot of the bar out to the background and draw the wait line there: the thread did not
 * run.
 */
export function drawWait(g: Surface, theme: Theme, b: Box): void {
  if (b.w < 2) return;
  const foot = b.y + b.h;
  // Draw the line and its two end marks as two rectangles, because there may be thousands of waits.
  g.fillStyle = theme.colour.wait;
  g.fillRect(b.x, foot - 4, b.w, 4);
  if (b.w <= 2) return;
  g.fillStyle = theme.colour.bg;
  g.fillRect(b.x + 1, foot - 4, b.w - 2, 2);
}

/**
 * Draw the ring of the selected call: dark, with an inner line of the background colour, so that it
 * is visible on any hue.
 */
export function drawRing(g: Surface, theme: Theme, b: Box): void {
  g.lineWidth = 1;
  g.strokeStyle = theme.colour['select-halo'];
  if (b.w > 5) g.strokeRect(b.x + 1.5, b.y + 1.5, b.w - 3, b.h - 3);
  g.lineWidth = 2;
  g.strokeStyle = theme.colour.select;
  g.strokeRect(b.x, b.y, Math.max(2, b.w), b.h);
}

/** Draw a one pixel outline inside a box. */
export function drawThinOutline(g: Surface, colour: string, b: Box): void {
  g.strokeStyle = colour;
  g.lineWidth = 1;
  g.strokeRect(b.x + 0.5, b.y + 0.5, Math.max(1, b.w - 1), b.h - 1);
}

/**
 * Draw a bracket below calls, open upwards. An arrow head marks an end that is outside the view.
 */
export function drawBracket(
  g: Surface,
  colour: string,
  from: number,
  to: number,
  y: number,
  width: number,
  thick: 1 | 2,
): void {
  if (to < 0 || from > width) return;
  const a = Math.max(0, from);
  const b = Math.min(width, Math.max(to, from + 2));
  const rise = thick === 2 ? 5 : 4;
  const base = y + rise - thick;
  g.fillStyle = colour;
  g.fillRect(a, base, b - a, thick);
  if (from >= 0) g.fillRect(a, y, thick, rise);
  else if (thick === 2) drawArrowHead(g, 0, base + 1, 1);
  if (to <= width) g.fillRect(b - thick, y, thick, rise);
  else if (thick === 2) drawArrowHead(g, width, base + 1, -1);
}

function drawArrowHead(g: Surface, x: number, y: number, direction: 1 | -1): void {
  g.beginPath();
  g.moveTo(x, y);
  g.lineTo(x + direction * 7, y - 4.5);
  g.lineTo(x + direction * 7, y + 4.5);
  g.closePath();
  g.fill();
}
