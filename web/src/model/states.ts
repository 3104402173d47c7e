// SPDX-License-Identifier: Apache-2.0
// Scheduler states: types of the engine's answers, and counts of threads and tracks.

import type { TraceFacts, Track } from './traceFacts';

/** Pseudo process number of the processors, which the page shows like a process. */
export const CPUS = -2;

/** In the order of the engine's answers. */
export const STATES = [
  'running',
  'runnable',
  'preempted',
  'sleeping',
  'uninterruptible',
  'io',
  'other',
] as const;
export type SchedulerState = (typeof STATES)[number];

/** Names and explanations of the states. */
export const STATE_WORDS: Record<SchedulerState, [head: string, title: string]> = {
  running: ['Running', 'on a processor'],
  runnable: ['Runnable', 'woken, waits for a processor'],
  preempted: ['Preempted', 'could go on, but another task took the processor'],
  sleeping: ['Sleeping', 'waits for something, can be interrupted'],
  uninterruptible: ['Uninterruptible', 'waits in the kernel, cannot be interrupted'],
  io: ['I/O wait', 'waits in the kernel for input or output'],
  other: ['Other', 'stopped, traced, dead or unknown'],
};

/** Reserved colours of the states (colours.ts), from 1. */
export const STATE_COLOUR: Record<SchedulerState, number> = {
  running: 3,
  runnable: 4,
  preempted: 4,
  sleeping: 5,
  uninterruptible: 1,
  io: 2,
  other: 6,
};

/**
 * Thread (-1: only its name is known), id, name, process, time in each state, number of wake-ups,
 * longest wait, row and index of that wait (-1: none), index and time of each processor.
 */
export type StatesRow = [
  number,
  number,
  string,
  number,
  number[],
  number,
  number,
  number,
  number,
  [number, number][],
];

/** The answer to `states`. */
export interface StatesAnswer {
  from_ns: number;
  to_ns: number;
  /** Track, number, busy time, unknown time. */
  cpus: [number, number, number, number][];
  threads: StatesRow[];
}

/** Names a slice. */
type SliceId = [row: number, index: number];
/** Row, index, frame and time. */
export type StatePart = [number, number, number, number];

/** The wake-up that ended a state. */
export interface Wakeup {
  time_ns: number;
  /** Index of the waking thread; -1: unknown, or the idle task. */
  by: number;
  name: string;
  slice: SliceId | null;
  cpu: number;
  run: SliceId | null;
  latency_ns: number;
}

/** A state of a thread. `instead` has the slices of others that ran on the processor meanwhile. */
export interface ThreadState {
  kind: 'state';
  state: SchedulerState;
  thread: number;
  cpu: number;
  cpu_slice: SliceId | null;
  wakeup: Wakeup | null;
  blocked: { caller: string; io: boolean } | null;
  instead_cpu: number;
  instead: StatePart[];
  instead_left_out: number;
  then: StatePart | null;
}

/** A slice of a processor. */
export interface CpuSlice {
  kind: 'cpu';
  cpu: number;
  thread: number;
  running: SliceId | null;
  then: StatePart | null;
}

/** For a slice of a thread: time in each state. */
export interface StatesInside {
  kind: 'slice' | 'none';
  times: number[];
}

export type StateAnswer = ThreadState | CpuSlice | StatesInside;

/** Tell whether the trace contains scheduler data. */
export function hasStates(facts: Pick<TraceFacts, 'tracks'>): boolean {
  return facts.tracks.some((t) => t.kind === 'states' || t.kind === 'cpu');
}

/** Return the row of states of each thread that has one. */
export function statesOfThreads(tracks: readonly Track[]): Map<number, number> {
  return new Map(tracks.filter((t) => t.kind === 'states').map((t) => [t.thread, t.first_row]));
}

/** Count the threads that appear in the timeline: with slices, async slices or states. */
export function threadsOf(tracks: readonly Track[]): number {
  return threadsIn(tracks).size;
}

/** Return the threads that own these tracks; lines of the kernel do not count. */
export function threadsIn(owners: readonly Pick<Track, 'thread' | 'line'>[]): Set<number> {
  return new Set(owners.filter((t) => t.thread >= 0 && !t.line).map((t) => t.thread));
}

/** Count the tracks of threads. */
export function activeThreads(tracks: readonly Track[]): number {
  return tracks.filter((t) => t.kind === 'thread' && !t.line).length;
}

/** Count all threads of the trace, with and without slices. */
export function allThreads({
  tracks,
  idle_threads,
}: Pick<TraceFacts, 'tracks' | 'idle_threads'>): number {
  return threadsIn([...tracks, ...idle_threads]).size;
}

/** Count the tracks of slices, which tables are computed for. */
export function tracksOfSlices(tracks: readonly Track[]): number {
  return tracks.filter((t) => t.kind !== 'states' && t.kind !== 'cpu').length;
}

/**
 * Return the tracks with a name in the timeline; states below the slices of their thread have none.
 */
export function namedTracks(tracks: readonly Track[]): Track[] {
  const own = new Set(tracks.filter((t) => t.kind === 'thread').map((t) => t.thread));
  return tracks.filter((t) => t.kind !== 'states' || !own.has(t.thread));
}
