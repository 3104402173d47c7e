// SPDX-License-Identifier: Apache-2.0
// What the engine says of events that it has found: a search in steps, the event at a place of the
// file.

import type { Scope } from './engine';
import type { Severity } from './severity';

/** As the engine numbers them. */
export const EVENT = {
  slice: 1,
  instant: 2,
  counter: 3,
  snapshot: 4,
  sample: 5,
  flow: 6,
  memoryDump: 7,
  object: 8,
  process: 9,
  thread: 10,
  metadata: 11,
} as const;

export const EVENT_WORDS: Record<number, string> = {
  [EVENT.slice]: 'slice',
  [EVENT.instant]: 'instant',
  [EVENT.counter]: 'counter',
  [EVENT.snapshot]: 'snapshot',
  [EVENT.sample]: 'sample',
  [EVENT.flow]: 'flow',
  [EVENT.memoryDump]: 'memory dump',
  [EVENT.object]: 'object',
  [EVENT.process]: 'process',
  [EVENT.thread]: 'thread',
  [EVENT.metadata]: 'metadata',
};

/** An event: kind, two numbers that name it, time, length, track, process, frame (-1: none), name. */
export type EventRow = [
  kind: number,
  a: number,
  b: number,
  time: number,
  length: number,
  track: number,
  process: number,
  frame: number,
  name: string | null,
];

/** And where the text was found, with what stands around it there. */
export type SearchRow = [...EventRow, fields: number, excerpt: string | null];

export const FIELD = { names: 1, categories: 2, args: 4 } as const;
export type SearchField = keyof typeof FIELD;
export const SEARCH_FIELDS: readonly SearchField[] = ['names', 'categories', 'args'];

export const HIT_COLUMNS = ['time', 'length', 'name', 'kind', 'track'] as const;
export type HitColumn = (typeof HIT_COLUMNS)[number];
export interface HitSort {
  column: HitColumn;
  descending: boolean;
}
export const USUAL_HIT_SORT: HitSort = { column: 'time', descending: false };

export interface SearchQuestion extends Scope {
  text: string;
  fields: readonly SearchField[];
  matchCase: boolean;
  regex: boolean;
  /** Hits are only counted. */
  countOnly: boolean;
  limit: number;
  /** `next` of the step before. */
  after?: string;
}

export interface SearchStep {
  hits: SearchRow[];
  /** null: there is no more. */
  next: string | null;
  /** How many there are in this step. */
  count: number;
  done: number;
  of: number;
}

export interface EventAt {
  /** The event begins there; else it is the nearest one behind the place. */
  exact: boolean;
  event: EventRow | null;
  offset?: number;
}

export interface HealthPlace {
  offset: number;
  line: number | null;
  excerpt: string;
  /** Where there are several: in which one it is. */
  input?: number;
  file?: string;
}

export interface Health {
  /** Of which inputs the bytes can be asked for. */
  readable: boolean[];
  diagnostics: {
    kind: string;
    text: string;
    severity: Severity;
    count: number;
    places: HealthPlace[];
  }[];
}

export interface FileBytes {
  offset: number;
  /** Of the whole file. */
  size: number;
  hex: string;
}
