// SPDX-License-Identifier: Apache-2.0
// Events that are not slices, counters or instants: objects with snapshots, samples and memory
// dumps. The interfaces follow the answers of docs/view-protocol.md, hence the JSON names.

import type { DisplayMark } from './displayFrames';
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

/** A thread that has samples. */
export interface SampledThread {
  /** Index of the thread; -1: samples without a thread. */
  thread: number;
  process: number;
  samples: number;
  /** Levels of the stacks over time; absent: the samples have no stacks, or no times. */
  levels?: number;
}

/** A thread without a track, but with instants or samples. */
export interface LoneThread {
  thread: number;
  thread_id: number;
  key?: string;
  name: string;
  process: number;
  instants: number;
}

/** A process that has memory dumps. */
export interface DumpedProcess {
  process: number;
  dumps: number;
}

/** A process that has display frames. */
export interface DisplayedProcess {
  process: number;
  frames: number;
  late: number;
}

/** Every row that non-slice events need in the timeline. */
export interface NonSliceRows {
  objects: ObjectType[];
  samples: SampledThread[];
  memory_dumps: DumpedProcess[];
  display_frames: DisplayedProcess[];
  threads: LoneThread[];
}

export const OBJECT_FLAG = { created: 1, deleted: 2 } as const;

/** An object, or the first of `count` objects that share a pixel. */
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

/** A snapshot, or the first of `count` snapshots that share a pixel. */
export interface SnapshotMark {
  snapshot: number;
  time: number;
  object: number;
  row: number;
  lane: number;
  count: number;
}

/** Objects and snapshots in the visible range. */
export interface ObjectsInView {
  objects: ObjectBar[];
  snapshots: SnapshotMark[];
  leftOut: number;
}

/** Everything about one object; the answer to `object`. */
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
  /** Number, type and id of the objects that are identical to this one. */
  joined: [number, string, string][];
  joins?: Joins;
}

/** Everything about one snapshot; the answer to `snapshot`. */
export interface SnapshotDetails extends EventAnswer {
  snapshot: number;
  time_ns: number;
  until_ns: number;
  nth: number;
  inner: boolean;
  of: ObjectDetails;
}

/** The first of `count` samples of a thread that share a pixel. */
export interface Sample {
  sample: number;
  time: number;
  /** Innermost frame of the stack; -1: the sample has no stack. */
  frame: number;
  thread: number;
  count: number;
}

/** A run of neighbouring samples of a thread that share a frame and all frames below it. */
export interface SampleBox {
  thread: number;
  depth: number;
  start: number;
  length: number;
  frame: number;
  samples: number;
  /** The first sample of the run. */
  sample: number;
}

/** Everything about one sample; the answer to `sample`. */
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

/** A memory dump, or the first of `count` dumps of a process that share a pixel. */
export interface MemoryDump {
  dump: number;
  time: number;
  process: number;
  count: number;
  level: string;
}

/** Path of the allocator, name, unit, value. */
export type MemoryFigure = [string, string, string, number | null];

/** Everything about one memory dump; the answer to `memoryDump`. */
export interface MemoryDumpDetails {
  dump: number;
  time_ns: number;
  process: number;
  id: string;
  level: string;
  offset?: number;
  figures: MemoryFigure[];
  /** The dumps of all processes that belong to this one, with totals and allocators. */
  together: { dump: number; process: number; figures: MemoryFigure[] }[];
}

export const SAMPLE_MEASURES = ['count', 'weight', 'time'] as const;
export type SampleMeasure = (typeof SAMPLE_MEASURES)[number];

/** A flame graph of samples. */
export interface SampleFlameQuestion extends FlameLayout {
  measure: SampleMeasure;
  /** Number of the value type, from 1; 0: the one that is shown first. */
  value: number;
}

/** A range of time in nanoseconds. */
export interface Range {
  from: number;
  to: number;
}

/** A list that the engine cut to its limit. */
export interface Listed<T> {
  list: T[];
  /** Number of entries that were cut off. */
  leftOut: number;
}

/** The questions about events that are not slices. */
export interface NonSliceEngine {
  rows(): Promise<NonSliceRows>;
  objects(
    rows: readonly number[],
    range: Range,
    pixels: number,
    signal?: AbortSignal,
  ): Promise<ObjectsInView>;
  object(object: number, signal?: AbortSignal): Promise<ObjectDetails>;
  snapshot(snapshot: number, signal?: AbortSignal): Promise<SnapshotDetails>;
  /**
   * Resolve an id to a snapshot number, at the time of the given snapshot and in its process or the
   * named one; -1: no object has that id.
   */
  reference(
    snapshot: number,
    id: string,
    named: { scope?: string; pid?: string },
    signal?: AbortSignal,
  ): Promise<number>;
  samples(range: Range, pixels: number, signal?: AbortSignal): Promise<Listed<Sample>>;
  /** Return the stacks of at most 64 threads over time, of a value type as in SampleFlameQuestion. */
  sampleChart(
    threads: readonly number[],
    value: number,
    range: Range,
    pixels: number,
    signal?: AbortSignal,
  ): Promise<Listed<SampleBox>>;
  sample(sample: number, signal?: AbortSignal): Promise<SampleDetails>;
  sampleFlame(question: SampleFlameQuestion, signal?: AbortSignal): Promise<FlameGraph>;
  memoryDumps(range: Range, pixels: number, signal?: AbortSignal): Promise<Listed<MemoryDump>>;
  memoryDump(dump: number, signal?: AbortSignal): Promise<MemoryDumpDetails>;
  displayMarks(range: Range, pixels: number, signal?: AbortSignal): Promise<Listed<DisplayMark>>;
}
