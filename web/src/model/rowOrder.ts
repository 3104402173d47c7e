// SPDX-License-Identifier: Apache-2.0
// The order of processes and threads that the user chose, and the choice to see only active rows.
//
//   usual     as the engine answers: the first screen (view/order.c)
//   file      by sort index, then by first appearance in the file, which is how owners are numbered
//   busiest   by calls, then by time on a processor, then by samples
//   name      by name, numbers by value
//
// An order that leaves something open keeps the usual order there.

import type { Activity } from './engine';
import type { TrackOrder } from './layout';
import { processName } from './names';
import type { Row } from './rows';
import type { Span } from './span';
import type { IdleThread, Track, TraceFacts } from './traceFacts';

export const ROW_ORDERS = ['usual', 'file', 'busiest', 'name'] as const;
/** The names of the orders, as they are in the address. */
export type RowOrder = (typeof ROW_ORDERS)[number];

/** The user's choice of rows. */
export interface RowChoice {
  order: RowOrder;
  /** Show only active rows. */
  active: boolean;
}

export const USUAL_ROWS: RowChoice = { order: 'usual', active: false };

const ACTIVE = 'active';

/** Format a choice for the address: "busiest,active"; empty: the usual one. */
export function writeRowChoice({ order, active }: RowChoice): string {
  return [...(order === 'usual' ? [] : [order]), ...(active ? [ACTIVE] : [])].join(',');
}

/** Parse the output of writeRowChoice. */
export function readRowChoice(text: string): RowChoice {
  const words = text.split(',');
  return {
    order: ROW_ORDERS.find((order) => words.includes(order)) ?? 'usual',
    active: words.includes(ACTIVE),
  };
}

/** The parts of the trace info that an order needs. */
type OrderFacts = TrackOrder & Partial<Pick<TraceFacts, 'idle_threads'>>;

/** Time in calls in ns, time on a processor in ns, and number of samples. */
type Work = [calls: number, running: number, samples: number];

/** A process or thread. */
interface OrderedOwner {
  index: number;
  name: string;
  sortIndex: number;
  work: Work;
}

const collator = new Intl.Collator('en', { numeric: true });

const COMPARE: Record<Exclude<RowOrder, 'usual'>, (a: OrderedOwner, b: OrderedOwner) => number> = {
  file: (a, b) => a.sortIndex - b.sortIndex || a.index - b.index,
  busiest: ({ work: a }, { work: b }) => b[0] - a[0] || b[1] - a[1] || b[2] - a[2],
  name: (a, b) => collator.compare(a.name, b.name),
};

function addWork(sum: Work, more: Work): void {
  more.forEach((part, i) => (sum[i] = (sum[i] ?? 0) + part));
}

function workOf(track: Track): Work {
  if (track.kind === 'states') return [0, track.real_ns ?? 0, 0];
  return [track.kind === 'thread' ? (track.cpu_ns ?? track.real_ns ?? 0) : 0, 0, 0];
}

/** Return the threads of a trace in usual order, with their work. */
function threadOwners(facts: OrderFacts, rows: readonly Row[]): Map<number, OrderedOwner> {
  const owners = new Map<number, OrderedOwner>();
  const add = (index: number, of?: Track | IdleThread): OrderedOwner => {
    const known = owners.get(index);
    if (known) return known;
    const owner: OrderedOwner = {
      ...{ index, name: of?.name ?? '', sortIndex: of?.sort_index ?? 0 },
      work: [0, 0, 0],
    };
    owners.set(index, owner);
    return owner;
  };
  for (const track of facts.tracks)
    if (track.thread >= 0 && track.kind !== 'async')
      addWork(add(track.thread, track).work, workOf(track));
  for (const idle of facts.idle_threads ?? []) add(idle.thread, idle);
  for (const row of rows)
    if (row.kind === 'samples') addWork(add(row.thread).work, [0, 0, row.samples]);
  return owners;
}

/** Return the processes of a trace, each with the work of its threads. */
function processOwners(
  facts: OrderFacts,
  threads: ReadonlyMap<number, OrderedOwner>,
  rows: readonly Row[],
): OrderedOwner[] {
  const owners = facts.processes.map((process, index): OrderedOwner => {
    const name = processName(facts.processes, index);
    return { index, name, sortIndex: process.sort_index ?? 0, work: [0, 0, 0] };
  });
  const processes = new Map([...rows, ...facts.tracks].map((of) => [of.thread, of.process]));
  for (const [thread, { work }] of threads) {
    const owner = owners[processes.get(thread) ?? -1];
    if (owner) addWork(owner.work, work);
  }
  return owners;
}

function sortedOwners(
  owners: Iterable<OrderedOwner>,
  usual: readonly number[] | undefined,
  compare: (a: OrderedOwner, b: OrderedOwner) => number,
): number[] {
  const place = new Map(usual?.map((index, at) => [index, at]));
  const placeOf = ({ index }: OrderedOwner): number => place.get(index) ?? place.size;
  return [...owners]
    .sort((a, b) => compare(a, b) || placeOf(a) - placeOf(b))
    .map(({ index }) => index);
}

/** Return the trace info with its processes and tracks in the chosen order. */
export function orderRows(facts: OrderFacts, order: RowOrder, rows: readonly Row[]): OrderFacts {
  if (order === 'usual') return facts;
  const compare = COMPARE[order];
  const owners = threadOwners(facts, rows);
  const threads = sortedOwners(owners.values(), facts.standing?.threads, compare);
  const processes = sortedOwners(
    processOwners(facts, owners, rows),
    facts.standing?.processes,
    compare,
  );
  const place = new Map(threads.map((index, at) => [index, at]));
  const placeOf = ({ thread }: Track): number => place.get(thread) ?? threads.length;
  const tracks = [...facts.tracks].sort((a, b) => placeOf(a) - placeOf(b));
  return { ...facts, tracks, standing: { processes, threads } };
}

/** Return the tracks with activity in a range, as exactly as the buckets are. */
export function tracksActiveIn({ buckets, from, to, lanes }: Activity, range: Span): Set<number> {
  const size = (to - from) / buckets;
  const first = Math.floor((range.from - from) / size);
  const last = Math.ceil((range.to - from) / size);
  const active = lanes.filter(({ height }) => height.slice(first, last).some((share) => share > 0));
  return new Set(active.map(({ track }) => track));
}

/** The rows that are left when only active ones are shown. */
export interface ActiveRows {
  tracks: Track[];
  rows: Row[];
}

/**
 * Keep threads with calls, or in traces without calls those that ran or have samples; async slices;
 * and the other rows of processes that have any of these. `within`: the tracks with activity in the
 * selected range; null: no range is selected.
 */
export function activeRows(
  facts: Pick<TraceFacts, 'tracks'>,
  rows: readonly Row[],
  within: ReadonlySet<number> | null,
): ActiveRows {
  const isIn = ({ track }: Track): boolean => within === null || within.has(track);
  const hasCalls = facts.tracks.some(({ kind }) => kind === 'thread' || kind === 'async');
  const works = (track: Track): boolean => {
    if (track.kind === 'states') return !hasCalls && (track.real_ns ?? 0) > 0;
    return track.calls > 0 && isIn(track);
  };
  const active = facts.tracks.filter(works);
  const threads = new Set(active.filter((t) => t.kind !== 'async').map((t) => t.thread));
  if (!hasCalls) for (const row of rows) if (row.kind === 'samples') threads.add(row.thread);
  threads.delete(-1);
  const processes = new Set(active.map((t) => t.process));
  for (const row of rows) if (threads.has(row.thread)) processes.add(row.process);
  const kept = new Set(active);
  return {
    tracks: facts.tracks.filter(
      (t) => kept.has(t) || (t.kind !== 'async' && threads.has(t.thread)),
    ),
    rows: rows.filter((row) =>
      row.thread < 0 ? processes.has(row.process) : threads.has(row.thread),
    ),
  };
}
