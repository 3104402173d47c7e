// SPDX-License-Identifier: Apache-2.0
// What a trace has beside calls, counters and instants: objects with snapshots, samples, memory
// dumps.  The questions of docs/view-protocol.md about them.

import type { EventAnswer, FlameGraph, FlameLayout, Joins } from './engine';

/** Objects of one type in one process. */
export interface ObjectType {
  row: number;
  type: string;
  process: number;
  objects: number;
  snapshots: number;
  lanes: number;
}

export interface SampledThread {
  /** Index; -1: samples of no thread. */
  thread: number;
  process: number;
  samples: number;
}

/** A thread that has no track, but instants or samples. */
export interface LoneThread {
  thread: number;
  thread_id: number;
  key?: string;
  name: string;
  process: number;
  instants: number;
}

export interface DumpedProcess {
  process: number;
  dumps: number;
}

export interface BesideRows {
  objects: ObjectType[];
  samples: SampledThread[];
  memory_dumps: DumpedProcess[];
  threads: LoneThread[];
}

export const OBJECT_FLAG = { created: 1, deleted: 2 } as const;

/** An object, or the first of `count` that one pixel holds. */
export interface ObjectBar {
  object: number;
  start: number;
  end: number;
  row: number;
  lane: number;
  count: number;
  flags: number;
  id: string;
}

export interface SnapshotMark {
  snapshot: number;
  time: number;
  object: number;
  row: number;
  lane: number;
  count: number;
}

export interface ObjectsInView {
  objects: ObjectBar[];
  snapshots: SnapshotMark[];
  leftOut: number;
}

export interface ObjectDetails {
  object: number;
  type: string;
  base_type: string;
  category: string;
  id: string;
  scope: string;
  process: number;
  created_ns: number;
  deleted_ns: number;
  created: boolean;
  deleted: boolean;
  first_snapshot: number;
  snapshots: number;
  /** Object, type and id of those that are one with it. */
  joined: [number, string, string][];
  joins?: Joins;
}

export interface SnapshotDetails extends EventAnswer {
  snapshot: number;
  time_ns: number;
  until_ns: number;
  nth: number;
  inner: boolean;
  of: ObjectDetails;
}

/** The first of `count` samples of a thread in a pixel. */
export interface Sample {
  sample: number;
  time: number;
  /** The innermost of its stack; -1: it has none. */
  frame: number;
  thread: number;
  count: number;
}

export interface SampleDetails {
  sample: number;
  time_ns: number;
  weight: number;
  thread: number;
  cpu: number;
  title: string;
  stack: number[];
  previous: number;
  next: number;
  offset?: number;
}

export interface MemoryDump {
  dump: number;
  time: number;
  process: number;
  count: number;
  level: string;
}

/** Of what, name, units, value. */
export type MemoryFigure = [string, string, string, number | null];

export interface MemoryDumpDetails {
  dump: number;
  time_ns: number;
  process: number;
  id: string;
  level: string;
  offset?: number;
  figures: MemoryFigure[];
  /** The same dump of every process, with figures of the whole and of allocators. */
  together: { dump: number; process: number; figures: MemoryFigure[] }[];
}

export const SAMPLE_MEASURES = ['count', 'weight', 'time'] as const;
export type SampleMeasure = (typeof SAMPLE_MEASURES)[number];

export interface SampleFlameQuestion extends FlameLayout {
  measure: SampleMeasure;
}

export interface Range {
  from: number;
  to: number;
}

export interface Listed<T> {
  list: T[];
  /** How many had no place in the list. */
  leftOut: number;
}

export interface BesideEngine {
  rows(): Promise<BesideRows>;
  objects(
    rows: readonly number[],
    range: Range,
    pixels: number,
    signal?: AbortSignal,
  ): Promise<ObjectsInView>;
  object(object: number, signal?: AbortSignal): Promise<ObjectDetails>;
  snapshot(snapshot: number, signal?: AbortSignal): Promise<SnapshotDetails>;
  /** What an id means at the time of a snapshot, in its process or the one named; -1: nothing. */
  reference(
    snapshot: number,
    id: string,
    named: { scope?: string; pid?: string },
    signal?: AbortSignal,
  ): Promise<number>;
  samples(range: Range, pixels: number, signal?: AbortSignal): Promise<Listed<Sample>>;
  sample(sample: number, signal?: AbortSignal): Promise<SampleDetails>;
  sampleFlame(question: SampleFlameQuestion, signal?: AbortSignal): Promise<FlameGraph>;
  memoryDumps(range: Range, pixels: number, signal?: AbortSignal): Promise<Listed<MemoryDump>>;
  memoryDump(dump: number, signal?: AbortSignal): Promise<MemoryDumpDetails>;
}
