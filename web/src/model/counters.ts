// SPDX-License-Identifier: Apache-2.0
// Values of the counters in view: asked for when the view rests, a screen more on both sides.

import { Latest, debounce } from '../base/latest';
import { effect, signal } from '../base/signal';
import type { CounterFacts, CounterValues } from './engine';
import { length, type Span } from './span';
import type { Viewer } from './viewer';

/** The engine answers for so many counters at once. */
const MOST = 200;
const MOST_PIXELS = 8192;

/** How the series of a counter stand: one upon the other, one before the other, or one alone. */
export type CounterView = 'stack' | 'overlap' | number;

/** The ends of what is shown, 0 between them. */
export function boundsOf(counter: CounterFacts, view: CounterView): [number, number] {
  if (view === 'stack') return [counter.low, counter.high];
  const shown = view === 'overlap' ? counter.bounds : [counter.bounds[view] ?? null];
  const known = shown.filter((bounds) => bounds !== null);
  return [Math.min(0, ...known.map(([low]) => low)), Math.max(0, ...known.map(([, high]) => high))];
}

/** The series that have a number anywhere: what is text in all events is no line to be seen. */
export function numericSeries(counter: CounterFacts): number[] {
  return counter.series.flatMap((_, k) => (counter.bounds[k] ? [k] : []));
}

/** "3.overlap", "4.1": counters that are not stacked, in the address. */
export function writeViews(views: ReadonlyMap<number, CounterView>): string {
  return [...views].map(([counter, view]) => `${counter}.${view}`).join(',');
}

export function readViews(text: string): Map<number, CounterView> {
  const found = text.split(',').map((word) => /^(\d+)\.(overlap|\d+)$/.exec(word));
  return new Map(
    found.flatMap((f): [number, CounterView][] =>
      f ? [[Number(f[1]), f[2] === 'overlap' ? 'overlap' : Number(f[2])]] : [],
    ),
  );
}

/** What a series has at a time; the last sample up to there tells. */
export function valueAt(values: CounterValues, series: number, at: number): number | null {
  const value = values.series[series]?.last[at];
  return value === undefined || Number.isNaN(value) ? null : value;
}

/** The last sample up to a time, -1 when all are later. */
export function sampleAt(values: CounterValues, time: number): number {
  let low = 0;
  let high = values.time.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values.time[middle] ?? 0) <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

export class CounterStore {
  readonly list = signal<readonly CounterFacts[]>([]);
  readonly values = signal<ReadonlyMap<number, CounterValues>>(new Map());
  /** The counters on the screen. */
  private wanted: readonly number[] = [];
  private covers: (Span & { nsPerPixel: number }) | null = null;
  private width = 1000;
  private readonly asking: Latest;
  private readonly load = debounce(40, () => this.ask());

  constructor(private readonly viewer: Viewer) {
    this.asking = new Latest(viewer.failed);
    if (viewer.facts.counters === 0) return;
    viewer.engine
      .counters()
      .then((list) => this.list.set(list))
      .catch(viewer.failed);
    effect(() => {
      viewer.view.get();
      this.load();
    });
  }

  setWidth(pixels: number): void {
    this.width = Math.max(100, pixels);
  }

  show(counters: readonly number[]): void {
    if (counters.every((counter) => this.wanted.includes(counter))) return;
    this.wanted = counters.slice(0, MOST);
    this.covers = null;
    this.load();
  }

  private ask(): void {
    if (this.wanted.length === 0) return;
    const view = this.viewer.view.peek();
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
    this.asking.run(
      (signal) => this.viewer.engine.counterValues(this.wanted, { from, to }, pixels, signal),
      (answer) => {
        this.covers = { from, to, nsPerPixel };
        this.values.set(new Map(answer.map((values) => [values.counter, values])));
      },
    );
  }
}
