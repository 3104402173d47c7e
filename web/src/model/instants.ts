// SPDX-License-Identifier: Apache-2.0
// Instants in view: asked for when the view rests, a screen more on both sides; and all about the
// selected one.

import { Latest, debounce } from '../base/latest';
import { effect, signal } from '../base/signal';
import type { Instant, InstantDetails } from './engine';
import { length, type Span } from './span';
import type { Viewer } from './viewer';

const MOST_PIXELS = 8192;

export class InstantStore {
  readonly list = signal<readonly Instant[]>([]);
  readonly details = signal<InstantDetails | null>(null);
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
    // Whatever selects a call or a method, it takes the instant's place.
    effect(() => {
      if (viewer.frame.get() !== null || viewer.call.get() !== null) viewer.instant.set(null);
    });
    const askingDetails = new Latest(viewer.failed);
    effect(() => {
      const instant = viewer.instant.get();
      askingDetails.cancel();
      this.details.set(null);
      if (instant === null) return;
      askingDetails.run(
        (signal) => viewer.engine.instant(instant, signal),
        (answer) => this.details.set(answer),
      );
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
