// SPDX-License-Identifier: Apache-2.0
// Selection of events other than calls and methods, and their details.

import { Latest } from '../base/latest';
import { effect, signal } from '../base/signal';
import type {
  MemoryDumpDetails,
  ObjectDetails,
  SampleDetails,
  SnapshotDetails,
} from './nonSliceEvents';
import type { Engine, InstantDetails } from './engine';
import type { Viewer } from './viewer';

/** Kinds of events that can be selected; the names stand in the address. */
export const MARK_KINDS = ['instant', 'object', 'snapshot', 'sample', 'memory'] as const;
export type MarkKind = (typeof MARK_KINDS)[number];

/** An event of one kind, by its number in the trace. */
export interface Mark {
  kind: MarkKind;
  number: number;
}

export function sameMark(a: Mark | null, b: Mark | null): boolean {
  return a === b || (a !== null && b !== null && a.kind === b.kind && a.number === b.number);
}

/** The answer of the engine about a mark. */
export type MarkDetails =
  | { kind: 'instant'; instant: InstantDetails }
  | { kind: 'object'; object: ObjectDetails }
  | { kind: 'snapshot'; snapshot: SnapshotDetails }
  | { kind: 'sample'; sample: SampleDetails }
  | { kind: 'memory'; dump: MemoryDumpDetails };

async function askAboutMark(engine: Engine, mark: Mark, signal: AbortSignal): Promise<MarkDetails> {
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
      asking.cancel();
      this.details.set(null);
      if (mark === null) return;
      asking.run(
        (signal) => askAboutMark(viewer.engine, mark, signal),
        (answer) => this.details.set(answer),
      );
    });
  }
}
