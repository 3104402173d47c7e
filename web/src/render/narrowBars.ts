// SPDX-License-Identifier: Apache-2.0
// Bars too narrow for a name, and waits: there may be ten thousand of them in view, and as rectangles
// they would cost more than all else together.  All of a lane's are put into a row of pixels, which is
// drawn once, as high as they are.

import { canvasOf, type Box, type Surface } from './surface';
import type { Theme } from './theme';

/** From so wide on there is room for a name. */
export const LEAST_LABEL = 22;
/** From so wide on a bar has an edge of its own. */
const LEAST_EDGE = 3;

/** One row of pixels (ABGR), and which of them are in use. */
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

  /** Later ones lie over earlier ones. */
  put(from: number, to: number, colour: number): void {
    const a = Math.max(0, from);
    const b = Math.min(this.pixels.length, to);
    if (b <= a) return;
    this.pixels.fill(colour, a, b);
    this.from = Math.min(this.from, a);
    this.to = Math.max(this.to, b);
  }
}

/** The same as an image. */
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

export class NarrowBars {
  private readonly bars = new RowImage();
  /** The line at the foot of waits, and over it their ends with the ground between. */
  private readonly foot = new RowImage();
  private readonly ends = new RowImage();
  private ratio = 1;

  /** Begin a lane; false where bars must be drawn as shapes. */
  begin(g: Surface, theme: Theme, width: number, ratio: number): boolean {
    if (g.shapes || theme.outlined || typeof OffscreenCanvas === 'undefined') return false;
    this.ratio = ratio;
    const size = Math.max(1, Math.ceil(width * ratio));
    return [this.bars, this.foot, this.ends].every((image) => image.begin(size));
  }

  /** `number` as for bar(). */
  put(theme: Theme, b: Box, number: number): void {
    putBar(this.bars.row, theme, b, number, this.ratio);
  }

  /** As wait() draws one. */
  putWait(theme: Theme, b: Box): void {
    putWait(this.foot.row, this.ends.row, theme, b, this.ratio);
  }

  /** Draws the lane's bars. */
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

/** Exported for its test: what bar() draws of a narrow bar, as pixels of the screen. */
export function putBar(row: PixelRow, theme: Theme, b: Box, number: number, ratio: number): void {
  const from = Math.round(b.x * ratio);
  const colour = number < 0 ? theme.dimPixel : (theme.pixels[number] ?? theme.dimPixel);
  row.put(from, Math.round((b.x + b.w) * ratio), colour);
  if (b.w < LEAST_EDGE) return;
  const edge = number < 0 ? theme.dimEdgePixel : (theme.edgePixels[number] ?? colour);
  row.put(from, from + Math.round(ratio), edge);
}

/** What wait() draws, in its lower and its upper half. */
export function putWait(foot: PixelRow, ends: PixelRow, theme: Theme, b: Box, ratio: number): void {
  if (b.w < 2) return;
  const from = Math.round(b.x * ratio);
  const to = Math.round((b.x + b.w) * ratio);
  const end = Math.round(ratio);
  foot.put(from, to, theme.waitPixel);
  ends.put(from, to, theme.waitPixel);
  if (b.w > 2) ends.put(from + end, to - end, theme.groundPixel);
}

/** It is a plain rectangle, without a name and without anything beside its colour and edge. */
export function isNarrow(theme: Theme, b: Box, number: number): boolean {
  return b.w < LEAST_LABEL && !(theme.hatched[number] && b.w >= LEAST_EDGE);
}
