// SPDX-License-Identifier: Apache-2.0
// Repaints a list after it was scrolled: the lines that stay in view are moved as pixels, and only
// those that came into view are painted. Painting a screen of tracks takes most of a frame, and one
// turn of the wheel shows a few lines.
//
//      before        after scrolling down by 40
//    +--------+     +--------+
//    | a      |     | b      |  moved
//    | b      |     | c      |
//    | c      |     |////////|  painted, with the lines around it, clipped to these 40
//    +--------+     +--------+

import { canvasOf, type Surface } from '../../render/surface';
import type { Canvas } from '../canvas';

/** A part of the canvas, in pixels from its top. */
export interface Strip {
  from: number;
  to: number;
}

interface Shown {
  /** What the list holds: another object after every change. */
  list: object;
  scroll: number;
}

/** Lines reach into their neighbours by less than this: outlines, brackets, marks of instants. */
const AROUND = 32;

/** Return true if a length is a whole number of canvas pixels. */
const isWhole = (length: number, ratio: number): boolean => Number.isInteger(length * ratio);

/** Remembers what a canvas shows of a scrolled list. */
export class ScrolledPart {
  private before: Shown | null = null;

  /**
   * Move what stays in view below `top`, and return the part that remains to be painted; null:
   * everything, because more changed than the scroll position, or less than a pixel of it.
   */
  move(g: Surface, canvas: Canvas, list: object, scroll: number, top: number): Strip | null {
    const { before } = this;
    this.before = { list, scroll };
    const { width, height, ratio } = canvas;
    const by = before ? scroll - before.scroll : 0;
    const stays = height - top - Math.abs(by);
    const context = canvasOf(g);
    if (canvas.whole || !context || before?.list !== list || stays <= 0) return null;
    if (![by, top, height].every((length) => isWhole(length, ratio))) return null;
    if (by === 0) return { from: top, to: top };
    const [from, to] = [top + Math.max(0, by), top + Math.max(0, -by)];
    const [w, h] = [Math.round(width * ratio), stays * ratio];
    context.save();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(canvas.element, 0, from * ratio, w, h, 0, to * ratio, w, h);
    context.restore();
    return by > 0 ? { from: height - by, to: height } : { from: top, to: top - by };
  }
}

/** Paint a strip: `draw` paints the list from `above` pixels below its scroll position on. */
export function paintStrip(
  g: Surface,
  { from, to }: Strip,
  width: number,
  draw: (above: number, height: number) => void,
): void {
  if (from === to) return;
  const above = Math.max(0, from - AROUND);
  g.save();
  g.beginPath();
  g.rect(0, from, width, to - from);
  g.clip();
  canvasOf(g)?.translate(0, above);
  draw(above, to + AROUND - above);
  g.restore();
}
