// SPDX-License-Identifier: Apache-2.0
// Instants around the view.

import type { Instant, InstantsInView } from './engine';
import { InView } from './inView';
import type { Viewer } from './viewer';

/** Holds the instants around the view. */
export class InstantStore {
  readonly inView: InView<InstantsInView>;

  constructor(viewer: Viewer) {
    const { engine } = viewer;
    this.inView = new InView<InstantsInView>(
      viewer,
      (range, pixels, signal) => engine.instants(range, pixels, signal),
      { list: [], leftOut: 0 },
    );
    if (viewer.facts.instants > 0) this.inView.start();
  }

  get list(): { get(): readonly Instant[]; peek(): readonly Instant[] } {
    const { answer } = this.inView;
    return { get: () => answer.get().list, peek: () => answer.peek().list };
  }

  setWidth(pixels: number): void {
    this.inView.setWidth(pixels);
  }
}
