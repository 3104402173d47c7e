// SPDX-License-Identifier: Apache-2.0
// Types of the engine's search results, of the event at a file offset, and of the reader's
// diagnostics.

import type { Scope } from './engine';
import type { Severity } from './severity';

/** Kinds of events, as the engine numbers them. */
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

/** Names of the kinds of events. */
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

/**
 * An event: kind, two numbers that identify it, time, length, track, process, frame (-1: none),
 * name.
 */
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

/**
 * A search result: the event, the fields that matched (bits of FIELD), and the text around the
 * match.
 */
export type SearchRow = [...EventRow, fields: number, excerpt: string | null];

/** Fields to search in, as bits. */
export const FIELD = { names: 1, categories: 2, args: 4 } as const;
export type SearchField = keyof typeof FIELD;
export const SEARCH_FIELDS: readonly SearchField[] = ['names', 'categories', 'args'];

export const HIT_COLUMNS = ['time', 'length', 'name', 'kind', 'track'] as const;
export type HitColumn = (typeof HIT_COLUMNS)[number];
/** Sort order of search results. */
export interface HitSort {
  column: HitColumn;
  descending: boolean;
}
export const USUAL_HIT_SORT: HitSort = { column: 'time', descending: false };

/** A search. */
export interface SearchQuestion extends Scope {
  text: string;
  fields: readonly SearchField[];
  matchCase: boolean;
  regex: boolean;
  /** Only count the hits. */
  countOnly: boolean;
  limit: number;
  /** `next` of the previous step. */
  after?: string;
}

/** Answer to one step of a search. `done` of `of` events have been searched. */
export interface SearchStep {
  hits: SearchRow[];
  /** Continue here; null: the search is complete. */
  next: string | null;
  /** Number of hits in this step. */
  count: number;
  done: number;
  of: number;
}

/** The event at an offset of the file. */
export interface EventAt {
  /** True: the event begins at the offset. False: it is the next event after the offset. */
  exact: boolean;
  event: EventRow | null;
  offset?: number;
}

/** A place in the file where the reader found a problem. */
export interface HealthPlace {
  offset: number;
  line: number | null;
  excerpt: string;
  /** Index of the file, if there are several. */
  input?: number;
  file?: string;
}

/** Diagnostics of the reader; the answer to `health`. */
export interface Health {
  /** For each input, whether its bytes can be read. */
  readable: boolean[];
  diagnostics: {
    kind: string;
    text: string;
    severity: Severity;
    count: number;
    places: HealthPlace[];
  }[];
}

/** An excerpt of a file's bytes. */
export interface FileBytes {
  offset: number;
  /** Size of the whole file in bytes. */
  size: number;
  hex: string;
}
