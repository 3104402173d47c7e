// SPDX-License-Identifier: Apache-2.0
// The display's beat, as counters of Android tell it (VSYNC, VSYNC-app, VSYNC-sf, HW_VSYNC): they
// turn with each beat, so that bands of two kinds follow one another.

import { Latest, debounce } from '../base/latest';
import { effect, signal, type ReadSignal } from '../base/signal';
import type { CounterFacts, CounterValues } from './engine';
import { length, type Span } from './span';
import type { Viewer } from './viewer';

const PIXELS = 4096;

/** What applications draw by comes first, the hardware's own last. */
const NAMES = [/^VSYNC-app/, /^VSYNC$/, /^VSYNC/, /VSYNC/];

export function vsyncCounter(counters: readonly CounterFacts[]): CounterFacts | null {
  for (const name of NAMES) {
    const found = counters.find((counter) => name.test(counter.name) && counter.samples > 1);
    if (found) return found;
  }
  return null;
}

/** From where to where the counter is not 0; none where beats are too dense to be told apart. */
export function vsyncBands(values: CounterValues, end: number): Span[] {
  if (values.merged) return [];
  const bands: Span[] = [];
  values.time.forEach((from, i) => {
    if ((values.series[0]?.last[i] ?? 0) > 0) bands.push({ from, to: values.time[i + 1] ?? end });
  });
  return bands;
}

export class VsyncStore {
  readonly bands = signal<readonly Span[]>([]);
  private covers: Span | null = null;
  private counter: CounterFacts | null = null;
  private readonly asking: Latest;

  constructor(
    private readonly viewer: Viewer,
    counters: ReadSignal<readonly CounterFacts[]>,
    private readonly on: ReadSignal<boolean>,
  ) {
    this.asking = new Latest(viewer.failed);
    const load = debounce(40, () => this.ask());
    effect(() => {
      this.counter = vsyncCounter(counters.get());
      viewer.view.get();
      if (on.get()) load();
      else this.bands.set([]);
      if (!on.peek()) this.covers = null;
    });
  }

  private ask(): void {
    const { counter, covers } = this;
    const view = this.viewer.view.peek();
    if (!counter || !this.on.peek()) return;
    const near = covers && length(covers) < 4 * length(view);
    if (near && covers.from <= view.from && covers.to >= view.to) return;
    const from = Math.floor(view.from - length(view));
    const to = Math.ceil(view.to + length(view));
    this.asking.run(
      (signal) => this.viewer.engine.counterValues([counter.counter], { from, to }, PIXELS, signal),
      ([values]) => {
        this.covers = { from, to };
        this.bands.set(values ? vsyncBands(values, this.viewer.bounds.to) : []);
      },
    );
  }
}
