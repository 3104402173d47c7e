// SPDX-License-Identifier: Apache-2.0
// States of threads and what processors ran: the questions about them, and the table of a range.

import type { TraceFacts, Track } from './engine';

/** The processors stand together, as a process of their own would. */
export const CPUS = -2;

/** In the order of the answers. */
export const STATES = [
  'running',
  'runnable',
  'preempted',
  'sleeping',
  'uninterruptible',
  'io',
  'other',
] as const;
export type State = (typeof STATES)[number];

export const STATE_WORDS: Record<State, [head: string, title: string]> = {
  running: ['Running', 'on a processor'],
  runnable: ['Runnable', 'woken, waits for a processor'],
  preempted: ['Preempted', 'could go on, but another task took the processor'],
  sleeping: ['Sleeping', 'waits for something, can be interrupted'],
  uninterruptible: ['Uninterruptible', 'waits in the kernel, cannot be interrupted'],
  io: ['I/O wait', 'waits in the kernel for input or output'],
  other: ['Other', 'stopped, traced, dead or unknown'],
};

/** The reserved colours of these states (colours.ts), from 1. */
export const STATE_COLOUR: Record<State, number> = {
  running: 3,
  runnable: 4,
  preempted: 4,
  sleeping: 5,
  uninterruptible: 1,
  io: 2,
  other: 1,
};

/** thread (-1: only its name is known), id, name, process, a time for each state, wake-ups, longest
 * wait, row and index of that (-1: none), place and time of each processor that it ran on */
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

export interface StatesAnswer {
  from_ns: number;
  to_ns: number;
  /** Track, number, busy time, time of which nothing is known. */
  cpus: [number, number, number, number][];
  threads: StatesRow[];
}

type Place = [row: number, index: number];
/** Row, index, frame and time. */
export type StatePart = [number, number, number, number];

export interface Wakeup {
  time_ns: number;
  /** Index of the thread; -1: unknown, or the idle task. */
  by: number;
  name: string;
  slice: Place | null;
  cpu: number;
  run: Place | null;
  latency_ns: number;
}

export interface ThreadState {
  kind: 'state';
  state: State;
  thread: number;
  cpu: number;
  cpu_slice: Place | null;
  wakeup: Wakeup | null;
  blocked: { caller: string; io: boolean } | null;
  instead_cpu: number;
  instead: StatePart[];
  instead_left_out: number;
  then: StatePart | null;
}

export interface CpuSlice {
  kind: 'cpu';
  cpu: number;
  thread: number;
  running: Place | null;
  then: StatePart | null;
}

/** Of a thread's slice: how long the thread was in which state. */
export interface StatesInside {
  kind: 'slice' | 'none';
  times: number[];
}

export type StateAnswer = ThreadState | CpuSlice | StatesInside;

/** Whether the trace tells of the scheduler. */
export function hasStates(facts: Pick<TraceFacts, 'tracks'>): boolean {
  return facts.tracks.some((t) => t.kind === 'states' || t.kind === 'cpu');
}

/** Threads that have something in the time line: slices, async ones, or states. */
export function threadsOf(tracks: readonly Track[]): number {
  return threadsIn(tracks).size;
}

/** The threads that own any of these; lines of the kernel are none. */
export function threadsIn(owners: readonly Pick<Track, 'thread' | 'line'>[]): Set<number> {
  return new Set(owners.filter((t) => t.thread >= 0 && !t.line).map((t) => t.thread));
}

/** How many tracks are of threads. */
export function activeThreads(tracks: readonly Track[]): number {
  return tracks.filter((t) => t.kind === 'thread' && !t.line).length;
}

/** Every thread of the trace; one without slices of its own may have a track all the same. */
export function allThreads({
  tracks,
  idle_threads,
}: Pick<TraceFacts, 'tracks' | 'idle_threads'>): number {
  return threadsIn([...tracks, ...idle_threads]).size;
}

/** Tracks that tables are computed for: processors and states are no tracks of slices. */
export function tracksOfSlices(tracks: readonly Track[]): number {
  return tracks.filter((t) => t.kind !== 'states' && t.kind !== 'cpu').length;
}

/** Those that have a name in the time line: states under the slices of their thread have none. */
export function namedTracks(tracks: readonly Track[]): Track[] {
  const own = new Set(tracks.filter((t) => t.kind === 'thread').map((t) => t.thread));
  return tracks.filter((t) => t.kind !== 'states' || !own.has(t.thread));
}
