// SPDX-License-Identifier: Apache-2.0
// Instants in view: asked for when the view rests, a screen more on both sides.

import { Latest, debounce } from '../base/latest';
import { effect, signal } from '../base/signal';
import type { Instant } from './engine';
import { length, type Span } from './span';
import type { Viewer } from './viewer';

const MOST_PIXELS = 8192;

export class InstantStore {
  readonly list = signal<readonly Instant[]>([]);
  private covers: (Span & { nsPerPixel: number }) | null = null;
  private width = 1000;

  constructor(viewer: Viewer) {
    if (viewer.facts.instants === 0) return;
    const asking = new Latest(viewer.failed);
    const load = debounce(40, () => this.ask(viewer, asking));
    effect(() => {
      viewer.view.get();
      load();
    });
  }

  setWidth(pixels: number): void {
    this.width = Math.max(100, pixels);
  }

  private ask(viewer: Viewer, asking: Latest): void {
    const view = viewer.view.peek();
    const nsPerPixel = length(view) / this.width;
    const old = this.covers;
    if (
      old &&
      old.from <= view.from &&
      old.to >= view.to &&
      old.nsPerPixel < nsPerPixel * 1.5 &&
      old.nsPerPixel > nsPerPixel / 1.5
    )
      return;
    const from = Math.floor(view.from - length(view));
    const to = Math.ceil(view.to + length(view));
    const pixels = Math.min(MOST_PIXELS, 3 * Math.round(this.width));
    asking.run(
      (signal) => viewer.engine.instants({ from, to }, pixels, signal),
      (answer) => {
        this.covers = { from, to, nsPerPixel };
        this.list.set(answer);
      },
    );
  }
}
