// SPDX-License-Identifier: Apache-2.0
// Values of the counters in view. The store asks for a screen more on both sides once the view has
// come to rest.

import { Latest, debounce } from '../base/latest';
import { effect, signal } from '../base/signal';
import type { CounterFacts, CounterValues } from './engine';
import { spanLength, type Span } from './span';
import type { Viewer } from './viewer';

/** Limit of the engine: counters in one question. */
const MOST = 200;
const MOST_PIXELS = 8192;

/** Drawing of the series of a counter: stacked, overlapping, or only one of them (its index). */
export type CounterView = 'stack' | 'overlap' | number;

/** Return the lowest and highest value of the drawn series, extended to include 0. */
export function boundsOf(counter: CounterFacts, view: CounterView): [number, number] {
  if (view === 'stack') return [counter.low, counter.high];
  const shown = view === 'overlap' ? counter.bounds : [counter.bounds[view] ?? null];
  const known = shown.filter((bounds) => bounds !== null);
  return [Math.min(0, ...known.map(([low]) => low)), Math.max(0, ...known.map(([, high]) => high))];
}

/**
 * Return the indexes of the series that have at least one number; the values of others are text.
 */
export function numericSeries(counter: CounterFacts): number[] {
  return counter.series.flatMap((_, k) => (counter.bounds[k] ? [k] : []));
}

/** Format the counters that are not stacked for the address: "3.overlap,4.1". */
export function writeViews(views: ReadonlyMap<number, CounterView>): string {
  return [...views].map(([counter, view]) => `${counter}.${view}`).join(',');
}

/** Parse the output of writeViews. */
export function readViews(text: string): Map<number, CounterView> {
  const found = text.split(',').map((word) => /^(\d+)\.(overlap|\d+)$/.exec(word));
  return new Map(
    found.flatMap((f): [number, CounterView][] =>
      f ? [[Number(f[1]), f[2] === 'overlap' ? 'overlap' : Number(f[2])]] : [],
    ),
  );
}

/** Format the counters over which another one is drawn for the address: "3.7,4.1". */
export function writeOverlays(overlays: ReadonlyMap<number, number>): string {
  return [...overlays].map(([counter, over]) => `${counter}.${over}`).join(',');
}

/** Parse the output of writeOverlays. */
export function readOverlays(text: string): Map<number, number> {
  const found = text.split(',').map((word) => /^(\d+)\.(\d+)$/.exec(word));
  const pairs = found.flatMap((f): [number, number][] => (f ? [[Number(f[1]), Number(f[2])]] : []));
  return new Map(pairs.filter(([counter, over]) => counter !== over));
}

/** Return the value of a series at sample number `at`; null: it has none. */
export function valueAt(values: CounterValues, series: number, at: number): number | null {
  const value = values.series[series]?.last[at];
  return value === undefined || Number.isNaN(value) ? null : value;
}

/** Return the number of the last sample at or before a time; -1: all samples are later. */
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

/** Return the time at which a counter is looked at that is selected without one. */
export function counterTime(viewer: Viewer): number {
  const mark = viewer.mark.peek();
  if (mark?.kind === 'counter') return mark.at;
  const { from, to } = viewer.range.peek() ?? viewer.view.peek();
  return Math.round((from + to) / 2);
}

/** Select a counter at a time; of its series, the one that is selected or drawn alone. */
export function selectCounter(
  viewer: Viewer,
  counter: CounterFacts,
  at: number,
  series?: number,
): void {
  const old = viewer.mark.peek();
  const kept = old?.kind === 'counter' && old.number === counter.counter ? old.series : undefined;
  const drawn = viewer.counterViews.peek().get(counter.counter);
  const alone = typeof drawn === 'number' ? drawn : numericSeries(counter)[0];
  viewer.selectMark({
    kind: 'counter',
    number: counter.counter,
    series: series ?? kept ?? alone ?? 0,
    at: Math.round(at),
  });
}

/** A counter on the screen, and the one that is drawn over it. */
export interface ShownCounter {
  counter: CounterFacts;
  over: CounterFacts | null;
}

function numbersOf(boxes: readonly ShownCounter[]): number[] {
  const shown = boxes.flatMap(({ counter, over }) => [counter, over ?? counter]);
  return [...new Set(shown.map(({ counter }) => counter))];
}

/** Holds the counters of the trace and their values around the view. */
export class CounterStore {
  readonly list = signal<readonly CounterFacts[]>([]);
  readonly values = signal<ReadonlyMap<number, CounterValues>>(new Map());
  /** Counters that are on the screen. */
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

  /** Return the counter that is drawn over this one. */
  overlayOf({ counter }: CounterFacts): CounterFacts | null {
    const over = this.viewer.overlays.peek().get(counter);
    return over === undefined ? null : (this.list.peek()[over] ?? null);
  }

  /**
   * Name the counters that are on the screen; if the values of one are missing, ask for them
   * together with those around the screen, so that scrolling needs few questions.
   */
  show(boxes: readonly ShownCounter[], around: () => readonly ShownCounter[]): void {
    const asked = new Set(this.wanted);
    const shown = numbersOf(boxes);
    if (shown.slice(0, MOST).every((counter) => asked.has(counter))) return;
    this.wanted = [...new Set([...shown, ...numbersOf(around())])].slice(0, MOST);
    this.covers = null;
    this.load();
  }

  private ask(): void {
    if (this.wanted.length === 0) return;
    const view = this.viewer.view.peek();
    const nsPerPixel = spanLength(view) / this.width;
    const old = this.covers;
    if (
      old &&
      old.from <= view.from &&
      old.to >= view.to &&
      old.nsPerPixel < nsPerPixel * 1.5 &&
      old.nsPerPixel > nsPerPixel / 1.5
    )
      return;
    const from = Math.floor(view.from - spanLength(view));
    const to = Math.ceil(view.to + spanLength(view));
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
