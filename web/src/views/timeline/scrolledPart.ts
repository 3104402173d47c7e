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
//
// Rows whose data have arrived meanwhile are painted in the same way, each clipped to its height.

import { canvasOf, type Surface } from '../../render/surface';
import type { Canvas } from '../canvas';

/** A part of the canvas, in pixels from its top. */
export interface Strip {
  from: number;
  to: number;
}

type Context = CanvasRenderingContext2D;

interface Shown {
  /** The contents of the list: another object after every change. */
  list: object;
  scroll: number;
}

/** Lines reach into their neighbours by less than this: outlines, brackets, marks of instants. */
const AROUND = 32;

/** Return true if a length is a whole number of canvas pixels. */
const isWhole = (length: number, ratio: number): boolean => Number.isInteger(length * ratio);

/** Return the strips from the top down, with those joined that nearly touch. */
function joined(strips: readonly Strip[]): Strip[] {
  const found: Strip[] = [];
  for (const { from, to } of [...strips].sort((a, b) => a.from - b.from)) {
    const last = found.at(-1);
    if (last && from - last.to < AROUND) last.to = Math.max(last.to, to);
    else found.push({ from, to });
  }
  return found;
}

/** Remembers what a canvas shows of a scrolled list. */
export class ScrolledPart {
  private before: Shown | null = null;
  private stale: Strip[] = [];

  /** Paint a part of the list again in the next frame; heights count from the top of the list. */
  paintAgain(strip: Strip): void {
    this.stale.push(strip);
  }

  /**
   * Move what stays in view below `top`, and return the parts that remain to be painted; null:
   * everything, because more changed than the scroll position, or less than a pixel of it.
   */
  move(g: Surface, canvas: Canvas, list: object, scroll: number, top: number): Strip[] | null {
    const { before, stale } = this;
    this.before = { list, scroll };
    this.stale = [];
    const { height, ratio } = canvas;
    const by = before ? scroll - before.scroll : 0;
    const stays = height - top - Math.abs(by);
    const context = canvasOf(g);
    if (canvas.whole || !context || before?.list !== list || stays <= 0) return null;
    if (![by, top, height].every((length) => isWhole(length, ratio))) return null;
    const strips = stale.map(({ from, to }) => ({
      from: Math.max(top, Math.floor(from - scroll)),
      to: Math.min(height, Math.ceil(to - scroll)),
    }));
    if (by !== 0) strips.push(this.shift(context, canvas, top, by));
    return joined(strips.filter(({ from, to }) => from < to));
  }

  /** Move the pixels below `top` by a distance, and return the part that came into view. */
  private shift(context: Context, canvas: Canvas, top: number, by: number): Strip {
    const { width, height, ratio } = canvas;
    const stays = height - top - Math.abs(by);
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
  const above = Math.max(0, from - AROUND);
  g.save();
  g.beginPath();
  g.rect(0, from, width, to - from);
  g.clip();
  canvasOf(g)?.translate(0, above);
  draw(above, to + AROUND - above);
  g.restore();
}
