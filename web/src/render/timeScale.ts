// SPDX-License-Identifier: Apache-2.0
// Converts time to pixels and back, for one visible span and one width.

import type { Span } from '../model/span';

/** A linear mapping between trace time (ns) and x (CSS pixels). */
export class TimeScale {
  readonly nsPerPixel: number;

  constructor(
    readonly view: Span,
    readonly width: number,
  ) {
    this.nsPerPixel = (view.to - view.from) / Math.max(1, width);
  }

  x(t: number): number {
    return (t - this.view.from) / this.nsPerPixel;
  }

  t(x: number): number {
    return this.view.from + x * this.nsPerPixel;
  }
}

/** Bars are drawn this far past the edges of the view, so that no clipped bar shows a false end. */
export const PAST = 8;

/** Round x to a whole device pixel. */
export function snapToPixel({ ratio }: { ratio: number }, x: number): number {
  return Math.round(x * ratio) / ratio;
}
