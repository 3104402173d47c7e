// SPDX-License-Identifier: Apache-2.0
// Bars too narrow for a name, and waits. A view may hold ten thousand of them, and drawn as
// rectangles they would cost more than everything else. So each lane writes its narrow bars into
// one row of pixels, which is then drawn once, stretched to the height of the lane.
//
//    bars of a lane   | ||| || |     ->  one PixelRow  ->  one drawImage(height of the lane)

import { canvasOf, type Box, type Surface } from './surface';
import type { Theme } from './theme';

/** Bars at least this wide, in pixels, have room for a name. */
export const LEAST_LABEL = 22;
/** Bars at least this wide, in pixels, have an edge of their own. */
const LEAST_EDGE = 3;

/** One row of pixels (ABGR), and the interval of them that is in use. */
export class PixelRow {
  pixels = new Uint32Array(0);
  from = Infinity;
  to = 0;

  begin(width: number): void {
    if (this.pixels.length !== width) this.pixels = new Uint32Array(width);
    else if (this.to > this.from) this.pixels.fill(0, this.from, this.to);
    this.from = Infinity;
    this.to = 0;
  }

  /** Fill pixels. Later bars overwrite earlier ones. */
  put(from: number, to: number, colour: number): void {
    const a = Math.max(0, from);
    const b = Math.min(this.pixels.length, to);
    if (b <= a) return;
    this.pixels.fill(colour, a, b);
    this.from = Math.min(this.from, a);
    this.to = Math.max(this.to, b);
  }
}

/** A PixelRow backed by an image. */
class RowImage {
  readonly row = new PixelRow();
  private data: ImageData | null = null;
  private context: OffscreenCanvasRenderingContext2D | null = null;

  begin(width: number): boolean {
    this.row.begin(width);
    if (this.context?.canvas.width !== width) {
      this.context = new OffscreenCanvas(width, 1).getContext('2d');
      this.data = this.context?.createImageData(width, 1) ?? null;
    }
    return this.data !== null;
  }

  draw(g: CanvasRenderingContext2D, y: number, height: number, ratio: number): void {
    const { from, to, pixels } = this.row;
    if (to <= from || !this.data || !this.context) return;
    const n = to - from;
    new Uint32Array(this.data.data.buffer).set(pixels.subarray(from, to), from);
    this.context.putImageData(this.data, 0, 0, from, 0, n, 1);
    g.drawImage(this.context.canvas, from, 0, n, 1, from / ratio, y, n / ratio, height);
  }
}

/** Collects the narrow bars and waits of one lane at a time. */
export class NarrowBars {
  private readonly bars = new RowImage();
  /**
   * `foot` holds the line of waits; the row above it holds their ends and the background between.
   */
  private readonly foot = new RowImage();
  private readonly ends = new RowImage();
  private ratio = 1;

  /** Begin a lane. Return false if the surface must draw bars as shapes. */
  begin(g: Surface, theme: Theme, width: number, ratio: number): boolean {
    if (g.shapes || theme.outlined || typeof OffscreenCanvas === 'undefined') return false;
    this.ratio = ratio;
    const size = Math.max(1, Math.ceil(width * ratio));
    return [this.bars, this.foot, this.ends].every((image) => image.begin(size));
  }

  /** Add a bar; `number` is a colour number as for bar(). */
  put(theme: Theme, b: Box, number: number): void {
    putBar(this.bars.row, theme, b, number, this.ratio);
  }

  /** Add a wait, as wait() draws one. */
  putWait(theme: Theme, b: Box): void {
    putWait(this.foot.row, this.ends.row, theme, b, this.ratio);
  }

  /** Draw the bars of the lane. */
  draw(g: Surface, y: number, height: number): void {
    const canvas = canvasOf(g);
    if (canvas) this.bars.draw(canvas, y, height, this.ratio);
  }

  drawWaits(g: Surface, foot: number): void {
    const canvas = canvasOf(g);
    if (!canvas) return;
    this.ends.draw(canvas, foot - 4, 2, this.ratio);
    this.foot.draw(canvas, foot - 2, 2, this.ratio);
  }
}

/** Write the pixels that bar() would draw for a narrow bar. Exported for its test. */
export function putBar(row: PixelRow, theme: Theme, b: Box, number: number, ratio: number): void {
  const from = Math.round(b.x * ratio);
  const colour = number < 0 ? theme.dimPixel : (theme.pixels[number] ?? theme.dimPixel);
  row.put(from, Math.round((b.x + b.w) * ratio), colour);
  if (b.w < LEAST_EDGE) return;
  const edge = number < 0 ? theme.dimEdgePixel : (theme.edgePixels[number] ?? colour);
  row.put(from, from + Math.round(ratio), edge);
}

/** Write the pixels that wait() would draw, in its lower and its upper half. */
export function putWait(foot: PixelRow, ends: PixelRow, theme: Theme, b: Box, ratio: number): void {
  if (b.w < 2) return;
  const from = Math.round(b.x * ratio);
  const to = Math.round((b.x + b.w) * ratio);
  const end = Math.round(ratio);
  foot.put(from, to, theme.waitPixel);
  ends.put(from, to, theme.waitPixel);
  if (b.w > 2) ends.put(from + end, to - end, theme.groundPixel);
}

/** Return true if a bar is a plain rectangle, with no name and nothing but its colour and edge. */
export function isNarrow(theme: Theme, b: Box, number: number): boolean {
  return b.w < LEAST_LABEL && !(theme.hatched[number] && b.w >= LEAST_EDGE);
}
