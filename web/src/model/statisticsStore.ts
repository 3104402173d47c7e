// SPDX-License-Identifier: Apache-2.0
// Statistics of the selected range and tracks in the chosen clock, loaded while visible.

import { Latest } from '../base/latest';
import { computed, effect, signal, type ReadSignal } from '../base/signal';
import { ScopeAnswer } from './scopeAnswer';
import { statisticsRows, type Durations, type StatisticsRow } from './statistics';
import type { Viewer } from './viewer';

/** Holds the statistics and the durations of the selected name. */
export class StatisticsStore extends ScopeAnswer<readonly StatisticsRow[]> {
  /** Durations of the selected name. */
  readonly durations = signal<Durations | null>(null);
  /** Sorted and filtered lines of the table. */
  readonly rows: ReadSignal<readonly StatisticsRow[]>;

  constructor(viewer: Viewer, shown: () => boolean) {
    super(
      viewer,
      shown,
      (scope, signal) => viewer.engine.statistics(scope, viewer.clock.peek(), signal),
      () => viewer.clock.get(),
    );
    const askingOne = new Latest(viewer.failed);
    effect(() => {
      const frame = viewer.frame.get();
      const wanted = viewer.scope();
      const clock = viewer.clock.get();
      if (!shown()) return;
      if (this.durations.peek()?.row[0] !== frame) this.durations.set(null);
      askingOne.cancel();
      if (frame === null || viewer.frames.isPackage(frame)) return;
      askingOne.run(
        (signal) => viewer.engine.durations(frame, wanted, clock, signal),
        (answer) => this.durations.set(answer),
      );
    });
    this.rows = computed(() =>
      statisticsRows(
        this.answer.get() ?? [],
        viewer.by.get(),
        shown() ? viewer.find.get() : '',
        viewer.frames,
      ),
    );
  }
}
