// SPDX-License-Identifier: Apache-2.0
// Selection of events other than calls and methods, and of counters, and their details.

import { Latest } from '../base/latest';
import { effect, signal } from '../base/signal';
import type {
  MemoryDumpDetails,
  ObjectDetails,
  SampleDetails,
  SnapshotDetails,
} from './nonSliceEvents';
import type { CounterFigures } from './counterFigures';
import type { Engine, InstantDetails } from './engine';
import type { Span } from './span';
import type { Viewer } from './viewer';

/** Kinds of events that can be selected; the names are in the address. */
export const EVENT_KINDS = ['instant', 'object', 'snapshot', 'sample', 'memory'] as const;
export type EventKind = (typeof EVENT_KINDS)[number];
export type MarkKind = EventKind | 'counter';

/** An event of one kind, by its number in the trace. */
export interface EventMark {
  kind: EventKind;
  number: number;
}

/** A series of a counter, by the number of the counter, and a time at which to look at it. */
export interface CounterMark {
  kind: 'counter';
  number: number;
  series: number;
  at: number;
}

export type Mark = EventMark | CounterMark;

/** Format a mark for the address: "instant.7", "counter.3.0.2500000". */
export function writeMark(mark: Mark): string {
  const more = mark.kind === 'counter' ? `.${mark.series}.${Math.round(mark.at)}` : '';
  return `${mark.kind}.${mark.number}${more}`;
}

/** Parse the output of writeMark. */
export function readMark(text: string | null): Mark | null {
  const found = /^([a-z]+)\.(\d+)(?:\.(\d+)\.(-?\d+))?$/.exec(text ?? '');
  if (!found) return null;
  const number = Number(found[2]);
  if (found[3] !== undefined)
    return found[1] === 'counter'
      ? { kind: 'counter', number, series: Number(found[3]), at: Number(found[4]) }
      : null;
  const kind = EVENT_KINDS.find((known) => known === found[1]);
  return kind ? { kind, number } : null;
}

export function sameMark(a: Mark | null, b: Mark | null): boolean {
  return a === b || (a !== null && b !== null && writeMark(a) === writeMark(b));
}

/** The answer of the engine about a mark. */
export type MarkDetails =
  | { kind: 'instant'; instant: InstantDetails }
  | { kind: 'object'; object: ObjectDetails }
  | { kind: 'snapshot'; snapshot: SnapshotDetails }
  | { kind: 'sample'; sample: SampleDetails }
  | { kind: 'memory'; dump: MemoryDumpDetails }
  | { kind: 'counter'; mark: CounterMark; figures: CounterFigures };

async function askAboutMark(
  engine: Engine,
  mark: Mark,
  range: Span | null,
  signal: AbortSignal,
): Promise<MarkDetails> {
  if (mark.kind === 'counter') {
    const of = { counter: mark.number, at: mark.at, signal };
    return { kind: 'counter', mark, figures: await engine.counterFigures(range ?? {}, of) };
  }
  const { kind, number } = mark;
  switch (kind) {
    case 'instant':
      return { kind, instant: await engine.instant(number, signal) };
    case 'object':
      return { kind, object: await engine.nonSlice.object(number, signal) };
    case 'snapshot':
      return { kind, snapshot: await engine.nonSlice.snapshot(number, signal) };
    case 'sample':
      return { kind, sample: await engine.nonSlice.sample(number, signal) };
    case 'memory':
      return { kind, dump: await engine.nonSlice.memoryDump(number, signal) };
  }
}

/** Holds the details of the selected mark. */
export class MarkStore {
  readonly details = signal<MarkDetails | null>(null);

  constructor(viewer: Viewer) {
    // Selecting a call or a method deselects the mark.
    effect(() => {
      if (viewer.frame.get() !== null || viewer.call.get() !== null) viewer.mark.set(null);
    });
    const asking = new Latest(viewer.failed);
    effect(() => {
      const mark = viewer.mark.get();
      const range = mark?.kind === 'counter' ? viewer.range.get() : null;
      const old = this.details.peek();
      asking.cancel();
      // The figures of a counter stay until those of another time or range arrive.
      if (old?.kind !== 'counter' || old.mark.number !== mark?.number) this.details.set(null);
      if (mark === null) return this.details.set(null);
      asking.run(
        (signal) => askAboutMark(viewer.engine, mark, range, signal),
        (answer) => this.details.set(answer),
      );
    });
  }
}
