// SPDX-License-Identifier: Apache-2.0
// The engine's interface: each question of docs/view-protocol.md as a function, with the type of
// its answer. The rest of the page knows only this interface, not whether an answer comes from a
// server or from a worker. Members in snake_case are JSON keys of the protocol. Times are in
// nanoseconds from the begin of the trace unless a name says otherwise.

import type { CallsQuestion } from './comparedCalls';
import type { ComparedRow, CompareQuestion, Comparison } from './comparison';
import type { InsideAnswer } from './callPair';
import type { CounterFigures, CounterPoint, CounterStop } from './counterFigures';
import type { DisplayFrames } from './displayFrames';
import type { Findings } from './findings';
import type { EventAt, FileBytes, Health, SearchQuestion, SearchStep } from './eventAnswers';
import type { Durations, StatisticsRow } from './statistics';
import type { Measure } from './measure';
import type { Arrows, FlowCategory, FlowDetails, FlowsOfCall } from './flowAnswers';
import type { NonSliceEngine, SampleMeasure } from './nonSliceEvents';
import type { ErrorKind, OpeningEngine, LoadingStatus } from './opening';
import type { SqlEngine } from './sql';
import type { TreeAnswer, TreeQuestion } from './treeAnswer';
import type { StateAnswer, StatesAnswer } from './states';
import type { Clock, Redaction, SavedKind, TraceFacts } from './traceFacts';

/**
 * Class, method, signature, file, line, rank; category, reserved colour, library and kind if
 * present.
 */
export type FrameRow = [
  ...[string, string, string, string, number, number],
  ...[string?, number?, string?, number?],
];

/** The part of the trace that a question is about; absent members: all of it. */
export interface Scope {
  from?: number;
  to?: number;
  tracks?: readonly number[];
  /** Subtract the overhead of recording from times of calls. */
  compensate?: boolean;
  /** Changes to the stacks first (transforms.ts). */
  transforms?: string;
}

/** A question for a profile: of calls, or of samples by a measure. */
export interface ProfileQuestion extends Scope {
  /** Calls if it is absent. */
  of?: 'calls' | SampleMeasure;
  /** Number of the value type, as in SampleFlameQuestion. */
  value?: number;
}

/** Frame, calls, recursive calls, inclusive real, exclusive real, inclusive CPU, exclusive CPU. */
export type ProfileRow = [
  number,
  number,
  number,
  number | null,
  number | null,
  number | null,
  number | null,
];

/** The profile of a scope. */
export interface ProfileAnswer {
  total_real_ns: number | null;
  total_cpu_ns: number | null;
  /** Subtracted overhead, if compensation was asked for: per reading of the clock, and in total. */
  compensated?: { cost_ns: number; real_ns: number | null; cpu_ns: number | null };
  /** Number of calls that reach beyond the range. Absent: none. */
  cut?: number;
  rows: ProfileRow[];
  waits: { calls: number; real_ns: number } | null;
  /** Kind of the figures; those of samples are in place of real times. Absent: calls. */
  measure?: Measure;
}

/** Frame (-1: no caller), calls along this edge, all calls of the child, real, CPU. */
export type RelationRow = [number, number, number, number | null, number | null];
/** Real and CPU time; null: not recorded. */
export type Times = [number | null, number | null];

/** Callers and callees of a method. */
export interface Relations {
  parents: RelationRow[];
  children: RelationRow[];
  recursive_parents: RelationRow[];
  recursive_children: RelationRow[];
  self: Times;
  recursive_self: Times;
}

/** Names a call: its row (track and depth) and its index in that row. */
export interface Call {
  row: number;
  index: number;
}

/** Everything about one call; the answer to `slice`. */
export interface CallDetails extends Call, EventAnswer {
  track: number;
  depth: number;
  frame: number;
  start_ns: number;
  length_ns: number;
  cpu_start_ns: number | null;
  cpu_length_ns: number | null;
  excl_real_ns: number | null;
  excl_cpu_ns: number | null;
  wait_ns: number | null;
  children: number;
  unrolled: boolean;
  entered_before: boolean;
  open_at_end: boolean;
  missing_exit: boolean;
  recursion: number;
  path: [number, number, number][];
  first_child: [number, number] | null;
  previous: [number, number] | null;
  next: [number, number] | null;
  nth: number;
  of: number;
  /**
   * Contexts that the thread was in: type, id, start, end, file offset, and the snapshot of the
   * object that the id refers to (-1: none).
   */
  contexts?: [string, string, number, number, number, number][];
  joins?: Joins;
  /** Reserved colour, if the call has one. */
  colour?: number;
}

/** Further data of an event beyond those that every call has: arguments, stacks, ids. */
export interface EventDetails {
  args: unknown;
  start_stack?: string[];
  end_stack?: string[];
  [member: string]: unknown;
}

/** A group of ids that "=" events joined (docs/view-protocol.md). */
export interface Joins {
  ids: string[];
  more_ids: boolean;
  events: (EventAnswer & { id: string; linked_id: string })[];
  more_events: number;
  /** Number, type and id of each object. */
  objects: [number, string, string][];
}

/** The original event of a call, instant or snapshot. */
export interface EventAnswer {
  category?: string;
  offset?: number;
  event?: EventDetails | null;
  event_error?: string;
}

/** "r": one row of a track; "i": the innermost calls of a track; "w": its waits. */
export type TileKind = 'r' | 'i' | 'w';

/** Flags of a slice, in the lowest byte. */
export const FLAG = {
  unrolled: 1,
  enteredBefore: 2,
  openAtEnd: 4,
  missingExit: 8,
  hasChildren: 16,
} as const;

/** Return the reserved colour from the second byte of a slice's flags, from 1; 0: automatic. */
export function reservedColour(flags: number): number {
  return (flags >>> 8) & 255;
}

/**
 * Return the share of a slice spent on a CPU, 0 to 1, from the third byte of its flags; null:
 * unknown.
 */
export function cpuShare(flags: number): number | null {
  const share = (flags >>> 16) & 255;
  return share === 0 ? null : (share - 1) / 254;
}

/**
 * Slices of one lane in one range of time (see tileCache.ts). Columns have one entry per slice;
 * slices narrower than a pixel are drawn by the density row `strip` instead.
 */
export interface Tile {
  kind: TileKind;
  row: number;
  res: number;
  number: number;
  start: Float64Array;
  length: Float64Array;
  rows: Uint32Array;
  index: Uint32Array;
  frame: Uint32Array;
  flags: Uint32Array;
  density: { frame: Uint32Array; height: Uint8Array } | null;
}

/** The source of a row of tiles. */
export interface TileLane {
  kind: TileKind;
  row: number;
}

/** Parameters that flame graphs of calls and of samples share. */
export interface FlameLayout extends Scope {
  order: 'left-heavy' | 'by-name' | 'time';
  inverted: boolean;
  /** Draw direct recursion as one frame. */
  fold: boolean;
  /** Show one side of a method: its callees or its callers. */
  frame?: number;
  side?: 'callees' | 'callers';
  root?: number;
  min?: number;
}

/** A flame graph of calls. */
export interface FlameQuestion extends FlameLayout {
  clock: Clock;
  /** Draw each thread on its own. */
  apart: boolean;
}

/** Frame numbers from here on stand for threads. */
export const THREAD_FRAME = 0x80000000;

/** A flame graph in columns: one entry per frame, in depth-first order. */
export interface FlameGraph {
  /** Kind of the widths. Absent: times of calls. */
  measure?: Measure;
  total: number;
  leftOut: number;
  start: Float64Array;
  width: Float64Array;
  self: Float64Array;
  depth: Uint32Array;
  frame: Uint32Array;
  path: Uint32Array;
  calls: Uint32Array;
}

/** Load of each track in each bucket of time, 0 to 255. */
export interface Activity {
  buckets: number;
  from: number;
  to: number;
  lanes: { track: number; height: Uint8Array }[];
}

/** A counter of the trace. */
export interface CounterFacts {
  counter: number;
  name: string;
  category: string;
  process: number;
  series: string[];
  samples: number;
  /** Lowest and highest value of the stacked series in the whole trace, extended to include 0. */
  low: number;
  high: number;
  /** Lowest and highest value of each series; null: it never has a number. */
  bounds: ([low: number, high: number] | null)[];
  last_ns: number;
  /** Reserved colour; 0: automatic. */
  colour: number;
}

/** Values of a counter in a range of time. */
export interface CounterValues {
  counter: number;
  /** Samples that share a pixel were merged: only then do the four columns of a series differ. */
  merged: boolean;
  time: Float64Array;
  series: {
    first: Float64Array;
    last: Float64Array;
    lowest: Float64Array;
    highest: Float64Array;
  }[];
}

/** A step along a series: its begin, and what it looks for. */
export interface CounterStep {
  counter: number;
  series: number;
  time: number;
  direction: 1 | -1;
  to: CounterStop;
}

/** The first of `count` instants of one owner that share a pixel. */
export interface Instant {
  instant: number;
  time: number;
  frame: number;
  /** 0: thread, 1: process, 2: global, 3: track of a processor. */
  scope: number;
  /** Index of the thread, process or track; -1: the whole trace. */
  of: number;
  count: number;
  /** Reserved colour; 0: automatic. */
  colour: number;
}

export interface InstantsInView {
  list: Instant[];
  /** Number of instants that the list left out. */
  leftOut: number;
}

/** Everything about one instant; the answer to `instant`. */
export interface InstantDetails extends EventAnswer {
  instant: number;
  time_ns: number;
  frame: number;
  scope: number;
  of: number;
  /** Reserved colour, if the instant has one. */
  colour?: number;
}

/** Ranges of time in which a method runs, by track. */
export type Extents = { tracks: [number, number[]][] };

/** A step through the calls whose names match, in the order of their starts. */
export interface NextHit {
  text: string;
  matchCase: boolean;
  regex: boolean;
  direction: 1 | -1;
  /** Begin after (before) this time; with `after`, at this call, which starts then. */
  time: number;
  after?: Call;
}

/** The call found, its number among all matching calls, and whether the step passed an end. */
export interface NextHitAnswer {
  call: Call | null;
  nth: number;
  of: number;
  wrapped: boolean;
}

/** The questions that a page can ask. Promises reject with EngineError, or AbortError on abort. */
export interface Engine {
  /** Resolve when no question is pending and the page has drawn the last answer. */
  idle(): Promise<void>;
  status(trace?: number): Promise<LoadingStatus>;
  trace(): Promise<TraceFacts>;
  frames(): Promise<FrameRow[]>;
  /**
   * Return the slice that `call` named under the filter `was`; null: the current filter removed it.
   */
  same(call: Call, was: string): Promise<Call | null>;
  profile(question: ProfileQuestion, signal?: AbortSignal): Promise<ProfileAnswer>;
  relations(frame: number, question: ProfileQuestion, signal?: AbortSignal): Promise<Relations>;
  slice(call: Call, signal?: AbortSignal): Promise<CallDetails>;
  /** Return the call with this `id` in SQL and in a fleet; only for a trace without a filter. */
  sliceOf(id: number): Promise<CallDetails>;
  /** Return the calls that a call made, by name. */
  inside(call: Call, signal?: AbortSignal): Promise<InsideAnswer>;
  step(
    frame: number,
    time: number,
    direction: 1 | -1,
    tracks: readonly number[] | undefined,
    signal?: AbortSignal,
  ): Promise<Call | null>;
  extents(frame: number, scope: Scope, pixels: number, signal?: AbortSignal): Promise<Extents>;
  tiles(
    res: number,
    from: number,
    to: number,
    lanes: readonly TileLane[],
    signal?: AbortSignal,
  ): Promise<Tile[]>;
  flame(question: FlameQuestion, signal?: AbortSignal): Promise<FlameGraph>;
  tree(question: TreeQuestion, signal?: AbortSignal): Promise<TreeAnswer>;
  activity(buckets: number): Promise<Activity>;
  instants(
    range: { from: number; to: number },
    pixels: number,
    signal?: AbortSignal,
  ): Promise<InstantsInView>;
  instant(instant: number, signal?: AbortSignal): Promise<InstantDetails>;
  flowCategories(): Promise<FlowCategory[]>;
  flow(flow: number, signal?: AbortSignal): Promise<FlowDetails>;
  flowsOf(call: Call, signal?: AbortSignal): Promise<FlowsOfCall>;
  arrows(
    scope: Scope,
    pixels: number,
    categories: readonly number[],
    signal?: AbortSignal,
  ): Promise<Arrows>;
  counters(): Promise<CounterFacts[]>;
  counterValues(
    counters: readonly number[],
    range: { from: number; to: number },
    pixels: number,
    signal?: AbortSignal,
  ): Promise<CounterValues[]>;
  /** Return figures of a range: of one counter, with its values at a time, or of all counters. */
  counterFigures(
    range: { from?: number; to?: number },
    of: { counter?: number; at?: number; signal?: AbortSignal },
  ): Promise<CounterFigures>;
  /** Return the next point of that kind; null: there is none. */
  counterStep(step: CounterStep, signal?: AbortSignal): Promise<CounterPoint | null>;
  search(question: SearchQuestion, signal?: AbortSignal): Promise<SearchStep>;
  /** Return the next call whose name matches a text. */
  searchStep(step: NextHit, signal?: AbortSignal): Promise<NextHitAnswer>;
  /** Return the frames whose names a regular expression matches. */
  searchFrames(pattern: string, matchCase: boolean, signal?: AbortSignal): Promise<number[]>;
  statistics(scope: Scope, clock: Clock, signal?: AbortSignal): Promise<StatisticsRow[]>;
  durations(frame: number, scope: Scope, clock: Clock, signal?: AbortSignal): Promise<Durations>;
  states(scope: Scope, signal?: AbortSignal): Promise<StatesAnswer>;
  state(call: Call, signal?: AbortSignal): Promise<StateAnswer>;
  findings(scope: Scope, signal?: AbortSignal): Promise<Findings>;
  /** Compare open traces with this one; null: one of them was closed. */
  diff<Row extends ComparedRow>(
    question: CompareQuestion,
    signal?: AbortSignal,
  ): Promise<Comparison<Row> | null>;
  /**
   * Return the engine of another open trace, with the same filter; null: this one was closed when
   * the other was opened, as both do not fit. `closed` is called when the other one is closed.
   */
  besides(trace: number, closed: () => void): Promise<Engine | null>;
  /** Return the lengths of a method's calls; null: the trace has no such method. */
  callsIn(question: CallsQuestion, signal?: AbortSignal): Promise<Durations | null>;
  displayFrames(scope: Scope, signal?: AbortSignal): Promise<DisplayFrames>;
  health(): Promise<Health>;
  eventAt(offset: number, input: number): Promise<EventAt>;
  bytes(offset: number, length: number, input: number): Promise<FileBytes>;
  /** Return the scope as a trace of its own. */
  save(kind: SavedKind, scope: Scope, redaction: Redaction, signal?: AbortSignal): Promise<Blob>;
  readonly nonSlice: NonSliceEngine;
  readonly sql: SqlEngine;
  readonly opening: OpeningEngine;
  /**
   * Send the files of the trace to the user's server. Return the address of each trace there, one on
   * a line; an error says why it failed. The signal only stops the waiting.
   */
  sendFiles(signal: AbortSignal): Promise<string>;
  quit(): Promise<void>;
}

/** The engine rejected a question. `gone`: the engine itself cannot be reached any more. */
export class EngineError extends Error {
  constructor(
    message: string,
    readonly gone: boolean,
    /** Column of a syntax error in a filter, from 1. */
    readonly column: number | null = null,
    readonly kind: ErrorKind = 'other',
    /** The line of a query that the error is about, with a mark below the place. */
    readonly picture = '',
  ) {
    super(message);
    this.name = 'EngineError';
  }
}

/** Tell whether an error only means that a question was cancelled. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}
