// SPDX-License-Identifier: Apache-2.0
// Vertical sync of the display, as alternating bands. Android records it as a counter that toggles
// with each sync (VSYNC, VSYNC-app, VSYNC-sf, HW_VSYNC); Chrome records a slice per sync ("VSync").

import { Latest, debounce } from '../base/latest';
import { computed, effect, signal, type ReadSignal } from '../base/signal';
import type { CounterFacts, CounterValues } from './engine';
import type { Frames } from './names';
import { spanLength, type Span } from './span';
import type { Viewer } from './viewer';

const VSYNC_PIXELS = 4096;

/** Counters by preference: the signal for applications first, that of the hardware last. */
const VSYNC_COUNTERS = [/^VSYNC-app/, /^VSYNC$/, /^VSYNC/, /VSYNC/];

/** Return the counter that records the vertical sync; null: none. */
export function vsyncCounter(counters: readonly CounterFacts[]): CounterFacts | null {
  for (const name of VSYNC_COUNTERS) {
    const found = counters.find((counter) => name.test(counter.name) && counter.samples > 1);
    if (found) return found;
  }
  return null;
}

/**
 * Return the ranges in which the counter is not 0; empty if samples are too dense to distinguish.
 */
export function vsyncBands(values: CounterValues, end: number): Span[] {
  if (values.merged) return [];
  const bands: Span[] = [];
  values.time.forEach((from, i) => {
    if ((values.series[0]?.last[i] ?? 0) > 0) bands.push({ from, to: values.time[i + 1] ?? end });
  });
  return bands;
}

/** Names of slices that begin with a sync; other slices about vsync have longer names. */
const VSYNC_SLICES = [/^vsync-app$/i, /^vsync$/i, /^vsync-sf$/i, /^hw_vsync(_\w+)?$/i];

/** Return the frame of such slices; -1: none. */
export function vsyncFrame(frames: Frames): number {
  for (const name of VSYNC_SLICES)
    for (let frame = 0; frame < frames.count; frame++)
      if (frames.rank(frame) > 0 && name.test(frames.method(frame))) return frame;
  return -1;
}

/** Return the bands from every other sync to the next one. */
export function bandsOfBeats(beats: readonly number[], end: number): Span[] {
  const sorted = [...beats].sort((a, b) => a - b);
  return sorted.flatMap((from, i) => (i % 2 === 0 ? [{ from, to: sorted[i + 1] ?? end }] : []));
}

/** Resolution: syncs closer than this share of the trace are merged. */
const MOST_BEATS = 65536;

/** Holds the bands in view while `on`. */
export class VsyncStore {
  /** True if the trace records the vertical sync. */
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

  /**
   * Ask for the beats of the display in the view and a view on both sides, unless they are there.
   */
  private ask(): void {
    const { counter, covers } = this;
    const view = this.viewer.view.peek();
    if (!this.on.peek()) return;
    if (!counter) return this.askBeats();
    const near = covers && spanLength(covers) < 4 * spanLength(view);
    if (near && covers.from <= view.from && covers.to >= view.to) return;
    const from = Math.floor(view.from - spanLength(view));
    const to = Math.ceil(view.to + spanLength(view));
    this.asking.run(
      (signal) =>
        this.viewer.engine.counterValues([counter.counter], { from, to }, VSYNC_PIXELS, signal),
      ([values]) => {
        this.covers = { from, to };
        this.bands.set(values ? vsyncBands(values, this.viewer.bounds.to) : []);
      },
    );
  }

  /** Load all syncs at once: the dark bands must not change when the view moves. */
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
