// SPDX-License-Identifier: Apache-2.0
// The lengths of one method's calls in both sides of a comparison: counts in common buckets,
// percentiles, and the slowest calls.

import { openRuns, type Comparison, type Run } from './comparison';
import { ScopeAnswer } from './scopeAnswer';
import type { Durations } from './statistics';
import type { Clock } from './traceFacts';
import type { Viewer } from './viewer';

/** The question for the calls of a method. */
export interface CallsQuestion {
  /** Number of an open trace; null: that of the page. */
  trace: number | null;
  /** As the comparison has it: with class and signature. */
  name: string;
  clock: Clock;
}

/** A call, and the run that it is in; null: the trace of the page. */
export interface SlowCall {
  run: Run | null;
  row: number;
  index: number;
  start: number;
  length: number;
}

/** The calls of one side. Percentiles are medians over the runs, as `traceview diff` has them. */
export interface SideCalls {
  calls: number;
  /** Calls in each bucket. */
  counts: number[];
  median: number | null;
  p95: number | null;
  max: number | null;
  slowest: SlowCall[];
}

/** The calls of both sides. Bucket i is [bounds[i], bounds[i + 1]). */
export interface ComparedCalls {
  name: string;
  clock: Clock;
  bounds: number[];
  base: SideCalls;
  new: SideCalls;
}

/** The method that is looked at, and its name in the base. */
export interface ComparedMethod {
  name: string;
  baseName: string;
}

const SLOWEST = 10;

/** A run with the lengths of its calls; null: it has none of the method. */
type RunCalls = readonly [run: Run | null, durations: Durations | null];

/** Bounds of the buckets below 10, and in each further power of ten (tv_duration_bound). */
const FIRST_STEPS = [0, 1, 2, 3, 4, 5, 6, 8];
const STEPS = [10, 13, 16, 20, 25, 32, 40, 50, 63, 79];

/** Return the bounds of all buckets from the first call to the last one of any run. */
function commonBounds(runs: readonly RunCalls[]): number[] {
  const bounds = new Set(runs.flatMap(([, durations]) => durations?.bounds ?? []));
  const [low, high] = [Math.min(...bounds), Math.max(...bounds)];
  const fill = (steps: readonly number[], scale: number): void =>
    steps
      .map((step) => step * scale)
      .filter((bound) => bound > low && bound < high)
      .forEach((bound) => bounds.add(bound));
  fill(FIRST_STEPS, 1);
  for (let scale = 1; bounds.size > 0 && 10 * scale < high; scale *= 10) fill(STEPS, scale);
  return [...bounds].sort((x, y) => x - y);
}

function middle(values: readonly (number | null)[]): number | null {
  const known = values.filter((value): value is number => value !== null).sort((a, b) => a - b);
  const half = known.length >> 1;
  const [low, high] = [known[half - 1], known[half]];
  if (high === undefined) return null;
  return known.length % 2 === 1 || low === undefined ? high : (low + high) / 2;
}

function sideCalls(runs: readonly RunCalls[], bounds: readonly number[]): SideCalls {
  const at = new Map(bounds.map((bound, i) => [bound, i]));
  const counts = new Array<number>(Math.max(0, bounds.length - 1)).fill(0);
  const slowest: SlowCall[] = [];
  const rows: Durations['row'][] = [];
  for (const [run, durations] of runs) {
    if (!durations || durations.row[1] === 0) continue;
    rows.push(durations.row);
    durations.counts.forEach((count, i) => {
      const bucket = at.get(durations.bounds[i] ?? NaN) ?? -1;
      if (bucket >= 0) counts[bucket] = (counts[bucket] ?? 0) + count;
    });
    for (const [row, index, start, length] of durations.slowest)
      slowest.push({ run, row, index, start, length });
  }
  slowest.sort((a, b) => b.length - a.length);
  return {
    calls: rows.reduce((sum, row) => sum + row[1], 0),
    counts,
    median: middle(rows.map((row) => row[7])),
    p95: middle(rows.map((row) => row[8])),
    max: middle(rows.map((row) => row[9])),
    slowest: slowest.slice(0, SLOWEST),
  };
}

/** Join the lengths of all runs. */
export function joinCalls(
  name: string,
  clock: Clock,
  base: readonly RunCalls[],
  fresh: readonly RunCalls[],
): ComparedCalls {
  const bounds = commonBounds([...base, ...fresh]);
  return { name, clock, bounds, base: sideCalls(base, bounds), new: sideCalls(fresh, bounds) };
}

/** Holds the calls of the method that `method` names, on the clock of the comparison. */
export class ComparedCallsStore extends ScopeAnswer<ComparedCalls | null> {
  constructor(
    viewer: Viewer,
    shown: () => boolean,
    method: () => ComparedMethod | null,
    comparison: () => Comparison | null,
  ) {
    super(
      viewer,
      shown,
      (_, signal) => askCalls(viewer, method(), comparison(), signal),
      () =>
        JSON.stringify([method(), comparison()?.clock, viewer.base.get(), viewer.more.get()], big),
    );
  }
}

/** Offsets of files are big numbers, which JSON does not know. */
function big(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

/**
 * Ask for the lengths of the calls of a method in every run of both sides; null: samples have no
 * calls.
 */
async function askCalls(
  viewer: Viewer,
  method: ComparedMethod | null,
  comparison: Comparison | null,
  signal: AbortSignal,
): Promise<ComparedCalls | null> {
  if (!method || !comparison || comparison.unit !== undefined) return null;
  const clock: Clock = comparison.clock === 'cpu' ? 'cpu' : 'real';
  const side = async (runs: readonly Run[], name: string): Promise<RunCalls[]> => {
    const numbers = await openRuns(viewer, runs, signal);
    const calls: RunCalls[] = [];
    for (const [i, run] of runs.entries()) {
      const question = { trace: numbers[i] ?? null, name, clock };
      calls.push([run, await viewer.engine.callsIn(question, signal)]);
    }
    return calls;
  };
  const base = await side(viewer.base.peek(), method.baseName);
  const own = await viewer.engine.callsIn({ trace: null, name: method.name, clock }, signal);
  const more = await side(viewer.more.peek(), method.name);
  return joinCalls(method.name, clock, base, [[null, own], ...more]);
}
