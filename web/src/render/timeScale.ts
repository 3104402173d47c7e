// SPDX-License-Identifier: Apache-2.0
// Time to pixels and back, for one visible span and one width.

import type { Span } from '../model/span';

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

/** Bars are drawn a little past the edges, so that no edge shows that is none. */
export const PAST = 8;

/** To the next whole pixel of the screen. */
export function snap({ ratio }: { ratio: number }, x: number): number {
  return Math.round(x * ratio) / ratio;
}
