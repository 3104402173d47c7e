// SPDX-License-Identifier: Apache-2.0
// The display's beat, as counters of Android tell it (VSYNC, VSYNC-app, VSYNC-sf, HW_VSYNC), which
// turn with each beat, or else slices of such a name (Chrome's "VSync"), of which each begins with
// one: so that bands of two kinds follow one another.

import { Latest, debounce } from '../base/latest';
import { computed, effect, signal, type ReadSignal } from '../base/signal';
import type { CounterFacts, CounterValues } from './engine';
import type { Frames } from './names';
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

/** Slices that begin with the beat; what only has to do with it has a longer name. */
const SLICES = [/^vsync-app$/i, /^vsync$/i, /^vsync-sf$/i, /^hw_vsync(_\w+)?$/i];

/** Of such slices, -1: there are none. */
export function vsyncFrame(frames: Frames): number {
  for (const name of SLICES)
    for (let frame = 0; frame < frames.count; frame++)
      if (frames.rank(frame) > 0 && name.test(frames.method(frame))) return frame;
  return -1;
}

/** From every other beat to the next one. */
export function bandsOfBeats(beats: readonly number[], end: number): Span[] {
  const sorted = [...beats].sort((a, b) => a - b);
  return sorted.flatMap((from, i) => (i % 2 === 0 ? [{ from, to: sorted[i + 1] ?? end }] : []));
}

/** Beats nearer than that share of the trace are one. */
const MOST_BEATS = 65536;

export class VsyncStore {
  /** Whether the trace tells the beat. */
  readonly known: ReadSignal<boolean>;

  readonly bands = signal<readonly Span[]>([]);
  private covers: Span | null = null;
  private counter: CounterFacts | null = null;
  private readonly frame: number;
  private readonly asking: Latest;

  constructor(
    private readonly viewer: Viewer,
    counters: ReadSignal<readonly CounterFacts[]>,
    private readonly on: ReadSignal<boolean>,
  ) {
    this.asking = new Latest(viewer.failed);
    const load = debounce(40, () => this.ask());
    this.frame = vsyncFrame(viewer.frames);
    this.known = computed(() => vsyncCounter(counters.get()) !== null || this.frame >= 0);
    effect(() => {
      const counter = vsyncCounter(counters.get());
      if (counter !== this.counter) this.covers = null;
      this.counter = counter;
      viewer.view.get();
      if (on.get()) load();
      else this.bands.set([]);
      if (!on.peek()) this.covers = null;
    });
  }

  private ask(): void {
    const { counter, covers } = this;
    const view = this.viewer.view.peek();
    if (!this.on.peek()) return;
    if (!counter) return this.askBeats();
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

  /** All at once: which bands are dark must not change with what is in view. */
  private askBeats(): void {
    const { engine, bounds } = this.viewer;
    if (this.frame < 0 || this.covers) return;
    this.asking.run(
      (signal) => engine.extents(this.frame, {}, MOST_BEATS, signal),
      ({ tracks }) => {
        const beats = tracks.flatMap(([, times]) => times.filter((_, i) => i % 2 === 0));
        this.covers = { ...bounds };
        this.bands.set(bandsOfBeats(beats, bounds.to));
      },
    );
  }
}
