// SPDX-License-Identifier: Apache-2.0
// Two calls side by side: the pinned one and the selected one. What is between them, the calls
// that they made, and the arguments that differ.

import { Latest } from '../base/latest';
import { effect, signal } from '../base/signal';
import type { Call, CallDetails } from './engine';
import type { Span } from './span';
import { hasStates, STATES, type StateAnswer } from './states';
import { sameCall, type Viewer } from './viewer';

/** Calls of one name directly inside another call: frame, calls, real time, CPU time. */
export type InsideRow = [frame: number, calls: number, real: number, cpu: number | null];

/** The calls that a call made, by name. */
export interface InsideAnswer {
  rows: InsideRow[];
  /** Number of names that the list left out. */
  left_out: number;
}

/** Everything about one of the two calls. */
export interface PairSide {
  call: CallDetails;
  inside: InsideAnswer;
  /** Time by state, in the order of STATES; null: not recorded. */
  states: readonly number[] | null;
}

export interface CallPair {
  selected: PairSide;
  pinned: PairSide;
}

/** Times between two calls, from the one that begins first to the other; and of both together. */
export interface Distances {
  startToStart: number;
  /** From the end of the first to the start of the second; negative: they overlap. */
  gap: number;
  endToEnd: number;
  union: number;
}

export function distancesOf(a: Span, b: Span): Distances {
  const [first, second] = a.from <= b.from ? [a, b] : [b, a];
  return {
    startToStart: second.from - first.from,
    gap: second.from - first.to,
    endToEnd: second.to - first.to,
    union: Math.max(first.to, second.to) - first.from,
  };
}

/** The calls of one name inside both: number and real time in each. */
export interface InsideBoth {
  frame: number;
  selected: { calls: number; real: number };
  pinned: { calls: number; real: number };
}

/** Join the names inside both calls; the one whose time differs most comes first. */
export function insideBoth(selected: InsideAnswer, pinned: InsideAnswer): InsideBoth[] {
  const found = new Map<number, InsideBoth>();
  const none = { calls: 0, real: 0 };
  for (const side of ['selected', 'pinned'] as const)
    for (const [frame, calls, real] of (side === 'selected' ? selected : pinned).rows) {
      const line = found.get(frame) ?? { frame, selected: none, pinned: none };
      found.set(frame, { ...line, [side]: { calls, real } });
    }
  const off = (line: InsideBoth): number => Math.abs(line.selected.real - line.pinned.real);
  return [...found.values()].sort((a, b) => off(b) - off(a) || a.frame - b.frame);
}

/** Add the arguments below a value as texts, by path. */
function flatten(value: unknown, path: string, into: Map<string, string>): void {
  if (typeof value === 'object' && value !== null && Object.keys(value).length > 0)
    for (const [key, inner] of Object.entries(value))
      flatten(inner, path === '' ? key : `${path}.${key}`, into);
  else into.set(path, typeof value === 'string' ? value : JSON.stringify(value));
}

function argumentsOf({ event }: CallDetails): Map<string, string> {
  const found = new Map<string, string>();
  if (event?.args !== undefined && event.args !== null) flatten(event.args, '', found);
  return found;
}

/** Return the arguments that differ: path, and the text of each; null: it has no such argument. */
export function differingArguments(
  a: CallDetails,
  b: CallDetails,
): [path: string, a: string | null, b: string | null][] {
  const [ofA, ofB] = [argumentsOf(a), argumentsOf(b)];
  return [...new Set([...ofA.keys(), ...ofB.keys()])].sort().flatMap((path) => {
    const [x, y] = [ofA.get(path) ?? null, ofB.get(path) ?? null];
    return x === y ? [] : [[path, x, y] as [string, string | null, string | null]];
  });
}

function statesOf(answer: StateAnswer | null): readonly number[] | null {
  return answer?.kind === 'slice' && answer.times.length === STATES.length ? answer.times : null;
}

/** Holds the pinned call, and both calls while another one is selected. */
export class CallPairStore {
  readonly pinned = signal<PairSide | null>(null);
  readonly pair = signal<CallPair | null>(null);

  constructor(private readonly viewer: Viewer) {
    const askingPinned = new Latest((error) => {
      // A call from an old link may not exist.
      viewer.pinnedCall.set(null);
      viewer.failed(error);
    });
    effect(() => {
      const pinned = viewer.pinnedCall.get();
      askingPinned.cancel();
      this.pinned.set(null);
      if (!pinned) return;
      askingPinned.run(
        (signal) => this.side(pinned, signal),
        (side) => this.pinned.set(side),
      );
    });
    const asking = new Latest(viewer.failed);
    effect(() => {
      const [pinned, selected] = [this.pinned.get(), viewer.call.get()];
      asking.cancel();
      if (!pinned || !selected || sameCall(pinned.call, selected)) return this.pair.set(null);
      asking.run(
        (signal) => this.side(selected, signal),
        (side) => this.pair.set({ selected: side, pinned }),
      );
    });
  }

  private async side(call: Call, signal: AbortSignal): Promise<PairSide> {
    const { engine, facts } = this.viewer;
    const [details, inside, state] = await Promise.all([
      engine.slice(call, signal),
      engine.inside(call, signal),
      hasStates(facts) ? engine.state(call, signal) : null,
    ]);
    return { call: details, inside, states: statesOf(state) };
  }
}
