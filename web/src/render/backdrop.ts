// SPDX-License-Identifier: Apache-2.0
// A cached background: drawn once, then copied in every frame while the foreground changes.

import { canvasOf, type Surface } from './surface';

export interface Size {
  width: number;
  height: number;
  /** Device pixels per CSS pixel. */
  ratio: number;
}

/** A cached drawing on a canvas of its own. */
export class Backdrop {
  private of: readonly unknown[] = [];

  constructor(private readonly canvas: HTMLCanvasElement) {}

  /**
   * Copy the cached drawing to `g`, and draw it again first if the size or any value of `of` has
   * changed.
   */
  paint(g: Surface, size: Size, of: readonly unknown[], draw: (g: Surface) => void): void {
    const onto = canvasOf(g);
    if (!onto) return draw(g);
    const width = Math.round(size.width * size.ratio);
    const height = Math.round(size.height * size.ratio);
    const all = [width, height, ...of];
    if (all.length !== this.of.length || all.some((value, i) => value !== this.of[i])) {
      const c = this.canvas.getContext('2d');
      if (!c) return draw(g);
      this.of = all;
      this.canvas.width = width;
      this.canvas.height = height;
      c.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
      draw(c);
    }
    onto.drawImage(this.canvas, 0, 0, size.width, size.height);
  }
}
