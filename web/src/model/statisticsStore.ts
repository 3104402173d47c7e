// SPDX-License-Identifier: Apache-2.0
// How long slices take in the selected range and tracks: asked for while somebody looks.

import { Latest } from '../base/latest';
import { computed, effect, signal, type ReadSignal } from '../base/signal';
import { statisticsRows, type Durations, type StatisticsRow } from './statistics';
import type { Viewer } from './viewer';

export class StatisticsStore {
  /** null until the first answer; the old one stays until the next. */
  readonly answer = signal<readonly StatisticsRow[] | null>(null);
  readonly pending = signal(false);
  /** Of the selected name. */
  readonly durations = signal<Durations | null>(null);
  /** Sorted and filtered, as the table shows them. */
  readonly rows: ReadSignal<readonly StatisticsRow[]>;

  constructor(viewer: Viewer, shown: () => boolean) {
    const failed = (error: unknown): void => {
      this.pending.set(false);
      viewer.failed(error);
    };
    const asking = new Latest(failed);
    const askingOne = new Latest(failed);
    let scope = '';
    effect(() => {
      const wanted = viewer.scope();
      if (!shown() || scope === JSON.stringify(wanted)) return;
      scope = JSON.stringify(wanted);
      this.pending.set(true);
      asking.run(
        (signal) => viewer.engine.statistics(wanted, signal),
        (rows) => {
          this.answer.set(rows);
          this.pending.set(false);
        },
      );
    });
    effect(() => {
      const frame = viewer.frame.get();
      const wanted = viewer.scope();
      if (!shown()) return;
      if (this.durations.peek()?.row[0] !== frame) this.durations.set(null);
      askingOne.cancel();
      if (frame === null) return;
      askingOne.run(
        (signal) => viewer.engine.durations(frame, wanted, signal),
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
