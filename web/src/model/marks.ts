// SPDX-License-Identifier: Apache-2.0
// What can be selected beside calls and methods, and all about it.

import { Latest } from '../base/latest';
import { effect, signal } from '../base/signal';
import type { Engine, InstantDetails } from './engine';
import type { Viewer } from './viewer';

export const MARK_KINDS = ['instant'] as const;
export type MarkKind = (typeof MARK_KINDS)[number];

/** One of the things of a kind that a trace has, by its number. */
export interface Mark {
  kind: MarkKind;
  number: number;
}

export function sameMark(a: Mark | null, b: Mark | null): boolean {
  return a === b || (a !== null && b !== null && a.kind === b.kind && a.number === b.number);
}

export interface MarkDetails {
  kind: 'instant';
  instant: InstantDetails;
}

async function ask(engine: Engine, mark: Mark, signal: AbortSignal): Promise<MarkDetails> {
  return { kind: mark.kind, instant: await engine.instant(mark.number, signal) };
}

export class MarkStore {
  readonly details = signal<MarkDetails | null>(null);

  constructor(viewer: Viewer) {
    // Whatever selects a call or a method, it takes the mark's place.
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
        (signal) => ask(viewer.engine, mark, signal),
        (answer) => this.details.set(answer),
      );
    });
  }
}
