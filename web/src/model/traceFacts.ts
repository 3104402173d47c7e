// SPDX-License-Identifier: Apache-2.0
// Facts about a trace: its clocks, processes, tracks and counts of events, and the formats in which
// an excerpt of it can be saved.

import type { Diagnostic } from './severity';

export type Clock = 'real' | 'cpu';

/** A track of the timeline: a thread, or a group of async slices, processors or states. */
export interface Track {
  track: number;
  kind: 'thread' | 'overflow' | 'async' | 'cpu' | 'states';
  thread_id: number;
  /** The thread's id as text where it is no plain number. */
  key?: string;
  /** Index of the thread; -1: the track belongs to the whole process. */
  thread: number;
  /** The track is a line of the kernel, not a thread; another trace in the file declares it. */
  line?: true;
  beside?: true;
  name: string;
  /** The longest of the first outermost slices; only for a thread without a name. */
  holds?: string;
  /** Sort index of the thread in the file; absent: none, or 0. */
  sort_index?: number;
  process: number;
  /** Index in the files of the trace; absent: there is only one. */
  file?: number;
  first_row: number;
  rows: number;
  calls: number;
  start_ns: number;
  end_ns: number;
  real_ns: number | null;
  cpu_ns: number | null;
  waits: number;
}

/** A process of the trace. */
export interface Process {
  id: number;
  name: string;
  key?: string;
  labels?: string;
  /** Uptime that the process itself reported. */
  uptime_ns?: number;
  sort_index?: number;
}

/** A thread without slices of its own. */
export interface IdleThread {
  /** Index of the thread, as in the tracks. */
  thread: number;
  thread_id: number;
  key?: string;
  line?: true;
  name: string;
  sort_index?: number;
}

/** Trace info: everything that the page knows about the trace before it asks for events. */
export interface TraceFacts {
  protocol: number;
  name: string;
  format: string;
  version: string;
  clocks: Clock[];
  /** Clock of the axis; weight: the file has no times, and stacks lie one after another. */
  axis: Clock | 'weight';
  /** Unit of the weights on the axis, as in the file; empty: several, or unknown. */
  axis_unit?: string;
  /** Order of the tracks: busiest first, or by process and thread. */
  order: 'busiest' | 'owner';
  /** Automatic colours: by the rank of a method, or by the hash of a name. */
  colours: 'rank' | 'name';
  start_ns: number;
  end_ns: number;
  /** The part of at most a quarter of the trace in which 99 % of the events begin, if there is one. */
  dense?: { from_ns: number; to_ns: number; before: number; after: number };
  recorded: string | null;
  records: number;
  calls: number;
  max_depth: number;
  overflow: boolean;
  /** The trace consists of sampled stacks; inferred: the file does not say so. */
  sampled: { interval_ns: number; inferred?: boolean } | null;
  /** Cost of reading the clock once, which compensation needs; absent: unknown. */
  clock_cost_ns?: number;
  metadata: [string, string][];
  files: string[];
  processes: Process[];
  standing?: { processes: readonly number[]; threads: readonly number[] }; // with tracks or not
  tracks: Track[];
  /** Threads without slices of their own; they may have async slices or states. */
  idle_threads: IdleThread[];
  diagnostics: Diagnostic[];
  /** Number of slices that match the filter; absent: there is no filter. */
  filtered?: { slices: number; of: number };
  /** Number of events of each kind. */
  counters: number;
  instants: number;
  flows: number;
  objects: number;
  samples: number;
  /** Value types of the samples, numbered from 1 as in the parameter `value`. */
  value_types?: readonly { name: string; unit: string; first: boolean }[];
  memory_dumps: number;
  /** Frames of a display. */
  display_frames: number;
  /** Other numbers that `info` prints, if there are any. */
  facts: [string, number][];
  frames: number;
  /** Formats in which the trace can be saved. */
  saves?: SavedKind[];
  /** Names can be replaced by hashes when saving. */
  hashes?: boolean;
  /** The program can compare this trace with others. */
  compares?: boolean;
  /** The program can send the files of this trace to the user's server. */
  sends?: boolean;
  /** Queries in SQL can be asked; a text says why not, and what to do. Absent: there is no tab. */
  sql?: true | string;
  /** Notes by the producer of the page, such as that this trace is an excerpt. */
  notes?: readonly string[];
}

/** Formats of a saved excerpt. */
export type SavedKind = 'trace' | 'json' | 'html';

/** Data to remove from a saved excerpt. */
export interface Redaction {
  /** Replace all names and texts by hashes. */
  names: boolean;
  /** Remove arguments. */
  args: boolean;
}
