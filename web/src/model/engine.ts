// SPDX-License-Identifier: Apache-2.0
// What the page asks and what it gets: the questions of docs/view-protocol.md as functions.  The
// rest of the page knows this interface only, not how an answer travels.

import type { Findings } from './findings';
import type { EventAt, FileBytes, Health, SearchQuestion, SearchStep } from './found';
import type { Durations, StatisticsRow } from './statistics';
import type { BesideEngine } from './beside';
import type { ErrorKind, OpeningEngine, Status } from './opening';
import type { Diagnostic } from './severity';
import type { TreeAnswer, TreeQuestion } from './treeAnswer';
import type { StateAnswer, StatesAnswer } from './states';
import type { Disguise, SavedKind } from './saved';

export type Clock = 'real' | 'cpu';

export interface Track {
  track: number;
  kind: 'thread' | 'overflow' | 'async' | 'cpu' | 'states';
  thread_id: number;
  /** The thread's id as text where it is no plain number. */
  key?: string;
  /** Index of the thread; -1: the track belongs to the whole process. */
  thread: number;
  /** It is no thread but a line of the kernel's own; another trace of the file tells it. */
  line?: true;
  beside?: true;
  name: string;
  process: number;
  first_row: number;
  rows: number;
  calls: number;
  start_ns: number;
  end_ns: number;
  real_ns: number | null;
  cpu_ns: number | null;
  waits: number;
}

export interface Process {
  id: number;
  name: string;
  key?: string;
  labels?: string;
  /** As it says itself. */
  uptime_ns?: number;
}

/** A thread without slices of its own. */
export interface IdleThread {
  /** Index, as in the tracks. */
  thread: number;
  thread_id: number;
  key?: string;
  line?: true;
  name: string;
}

export interface TraceFacts {
  protocol: number;
  name: string;
  format: string;
  version: string;
  clocks: Clock[];
  axis: Clock;
  /** Busiest track first, or by process and thread. */
  order: 'busiest' | 'owner';
  /** Automatic colours by the rank of a method, or by the hash of a name. */
  colours: 'rank' | 'name';
  /** In which the file wants its times shown. */
  unit: 'ns' | 'us' | 'ms' | null;
  start_ns: number;
  end_ns: number;
  recorded: string | null;
  records: number;
  calls: number;
  max_depth: number;
  overflow: boolean;
  /** Stacks laid one behind the other: with counts of samples, each 1 µs of the axis, or with times. */
  timeless?: 'counts' | 'times';
  /** Stacks of single moments; inferred: the file does not say so. */
  sampled: { interval_ns: number; inferred?: boolean } | null;
  /** What a reading of the clock cost, of which calls can be compensated; absent: not known. */
  clock_cost_ns?: number;
  metadata: [string, string][];
  files: string[];
  processes: Process[];
  standing?: { processes: readonly number[]; threads: readonly number[] }; // with tracks or not
  tracks: Track[];
  /** Those without slices of their own; they may have async slices or states. */
  idle_threads: IdleThread[];
  diagnostics: Diagnostic[];
  /** Slices that the filter leaves; only where there is one. */
  filtered?: { slices: number; of: number };
  /** How many there are to ask for. */
  counters: number;
  instants: number;
  flows: number;
  objects: number;
  samples: number;
  memory_dumps: number;
  /** What `info` counts beside slices, where there is any. */
  facts: [string, number][];
  frames: number;
  /** What it can be saved as. */
  saves?: SavedKind[];
  /** Names can be hashed in what is saved. */
  hashes?: boolean;
  /** What whoever made the page tells of it: that it is a part, and which. */
  notes?: readonly string[];
}

/** class, method, signature, file, line, rank; category and reserved colour, where there are some */
export type FrameRow = [string, string, string, string, number, number, string?, number?];

export interface Scope {
  from?: number;
  to?: number;
  tracks?: readonly number[];
  /** Profile, trees and flame graphs of calls: without what recording cost. */
  compensate?: boolean;
}

/** frame, calls, recursive calls, inclusive real, exclusive real, inclusive CPU, exclusive CPU */
export type ProfileRow = [
  number,
  number,
  number,
  number | null,
  number | null,
  number | null,
  number | null,
];

export interface ProfileAnswer {
  total_real_ns: number | null;
  total_cpu_ns: number | null;
  /** What was taken off, where that was asked for: for a reading of the clock, and in all. */
  compensated?: { cost_ns: number; real_ns: number | null; cpu_ns: number | null };
  rows: ProfileRow[];
  waits: { calls: number; real_ns: number } | null;
}

/** frame (-1: called from nowhere), calls along this edge, all calls of the child, real, CPU */
export type RelationRow = [number, number, number, number | null, number | null];
export type Times = [number | null, number | null];

export interface Relations {
  parents: RelationRow[];
  children: RelationRow[];
  recursive_parents: RelationRow[];
  recursive_children: RelationRow[];
  self: Times;
  recursive_self: Times;
}

export interface Call {
  row: number;
  index: number;
}

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
   * Type, id, start, end and place in the file of those that the thread was in, and the snapshot of
   * an object that the id means; -1: of none.
   */
  contexts?: [string, string, number, number, number, number][];
  joins?: Joins;
  /** Reserved colour, where it has one. */
  colour?: number;
}

/** What an event says beside what every call has: arguments, stacks, ids. */
export interface EventDetails {
  args: unknown;
  start_stack?: string[];
  end_stack?: string[];
  [member: string]: unknown;
}

/** What is told of the event behind something. */
/** What "=" events say of a group of ids (docs/view-protocol.md). */
export interface Joins {
  ids: string[];
  more_ids: boolean;
  events: (EventAnswer & { id: string; linked_id: string })[];
  more_events: number;
  /** Object, type and id. */
  objects: [number, string, string][];
}

export interface EventAnswer {
  category?: string;
  offset?: number;
  event?: EventDetails | null;
  event_error?: string;
}

export type TileKind = 'r' | 'i' | 'w';

export const FLAG = {
  unrolled: 1,
  enteredBefore: 2,
  openAtEnd: 4,
  missingExit: 8,
  hasChildren: 16,
} as const;

/** Above the flags of a slice stands its reserved colour, from 1; 0: automatic. */
export function reservedColour(flags: number): number {
  return (flags >>> 8) & 255;
}

/** Above that the share of it on a CPU, 0 to 1; null: not known. */
export function cpuShare(flags: number): number | null {
  const share = (flags >>> 16) & 255;
  return share === 0 ? null : (share - 1) / 254;
}

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
  strip: { frame: Uint32Array; height: Uint8Array } | null;
}

export interface TileLane {
  kind: TileKind;
  row: number;
}

/** What flame graphs of calls and of samples share. */
export interface FlameLayout extends Scope {
  order: 'left-heavy' | 'by-name' | 'time';
  inverted: boolean;
  /** Direct recursion is one frame. */
  fold: boolean;
  /** One side of a method: what it calls, or who calls it. */
  frame?: number;
  side?: 'callees' | 'callers';
  root?: number;
  min?: number;
}

export interface FlameQuestion extends FlameLayout {
  clock: Clock;
  /** Threads stand side by side. */
  apart: boolean;
}

/** Above the numbers of methods stand those of threads. */
export const THREAD_FRAME = 0x80000000;

export interface FlameGraph {
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

export interface Activity {
  buckets: number;
  from: number;
  to: number;
  lanes: { track: number; height: Uint8Array }[];
}

export interface CounterFacts {
  counter: number;
  name: string;
  category: string;
  process: number;
  series: string[];
  samples: number;
  /** The ends of the stacked series in the whole trace, 0 between them. */
  low: number;
  high: number;
  /** The ends of each series; null: it never has a number. */
  bounds: ([low: number, high: number] | null)[];
  last_ns: number;
  /** Reserved colour; 0: automatic. */
  colour: number;
}

export interface CounterValues {
  counter: number;
  /** Samples of one pixel are one: then the series differ in `last` and `highest`. */
  merged: boolean;
  time: Float64Array;
  series: {
    first: Float64Array;
    last: Float64Array;
    lowest: Float64Array;
    highest: Float64Array;
  }[];
}

/** The first of those of one owner in one pixel; `count` of them. */
export interface Instant {
  instant: number;
  time: number;
  frame: number;
  /** 0 thread, 1 process, 2 global, 3 track of a processor */
  scope: number;
  /** Index of the thread, process or track; -1: of the trace. */
  of: number;
  count: number;
  /** Reserved colour; 0: automatic. */
  colour: number;
}

export interface InstantsInView {
  list: Instant[];
  /** How many had no place in the list. */
  leftOut: number;
}

export interface InstantDetails extends EventAnswer {
  instant: number;
  time_ns: number;
  frame: number;
  scope: number;
  of: number;
  /** Reserved colour, where it has one. */
  colour?: number;
}

/** The call at one end of an arrow, and when the arrow touches it; of an instant the row is -1. */
export interface FlowEnd extends Call {
  time: number;
  track: number;
  frame: number;
  /** Of an instant, which has no track. */
  thread?: number;
}

export interface Flow {
  flow: number;
  frame: number;
  id: string;
  from: FlowEnd;
  to: FlowEnd;
  /** How many fall together on the screen, of which this is the first. */
  count: number;
}

/** What its two events say. */
export interface FlowDetails extends EventAnswer {
  flow: number;
}

/** The lists are cut at some hundred; the counts are of all. */
export interface FlowsOfCall {
  in: Flow[];
  out: Flow[];
  inCount: number;
  outCount: number;
}

export interface Arrows {
  list: Flow[];
  /** How many stand behind the list, and how many have no place in it. */
  flows: number;
  leftOut: number;
}

export interface FlowCategory {
  name: string;
  count: number;
}

export type Extents = { tracks: [number, number[]][] };

export interface Engine {
  /** Resolves when no question waits for its answer and the page has drawn the last one. */
  idle(): Promise<void>;
  status(signal?: AbortSignal): Promise<Status>;
  trace(): Promise<TraceFacts>;
  frames(): Promise<FrameRow[]>;
  /** Which slice is that of the trace that the filter `was` leaves. */
  same(call: Call, was: string): Promise<Call | null>;
  profile(scope: Scope, signal?: AbortSignal): Promise<ProfileAnswer>;
  relations(frame: number, scope: Scope, signal?: AbortSignal): Promise<Relations>;
  slice(call: Call, signal?: AbortSignal): Promise<CallDetails>;
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
  search(question: SearchQuestion, signal?: AbortSignal): Promise<SearchStep>;
  /** The frames whose names a regular expression matches. */
  searchFrames(pattern: string, matchCase: boolean, signal?: AbortSignal): Promise<number[]>;
  statistics(scope: Scope, clock: Clock, signal?: AbortSignal): Promise<StatisticsRow[]>;
  durations(frame: number, scope: Scope, clock: Clock, signal?: AbortSignal): Promise<Durations>;
  states(scope: Scope, signal?: AbortSignal): Promise<StatesAnswer>;
  state(call: Call, signal?: AbortSignal): Promise<StateAnswer>;
  findings(scope: Scope, signal?: AbortSignal): Promise<Findings>;
  health(): Promise<Health>;
  eventAt(offset: number, input: number): Promise<EventAt>;
  bytes(offset: number, length: number, input: number): Promise<FileBytes>;
  /** That part as a trace of its own. */
  save(kind: SavedKind, scope: Scope, disguise: Disguise, signal?: AbortSignal): Promise<Blob>;
  readonly beside: BesideEngine;
  readonly opening: OpeningEngine;
  quit(): Promise<void>;
}

/** Thrown for an answer that says no (a wrong question); `gone` when there is nobody to answer. */
export class EngineError extends Error {
  constructor(
    message: string,
    readonly gone: boolean,
    /** Where in a filter that is wrong, from 1. */
    readonly column: number | null = null,
    readonly kind: ErrorKind = 'other',
  ) {
    super(message);
    this.name = 'EngineError';
  }
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}
