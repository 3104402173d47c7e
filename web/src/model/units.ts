// SPDX-License-Identifier: Apache-2.0
// What stands together in the time line and moves as one: a thread with its states, its overflow
// and its samples; lanes of async slices of one name; a processor with its counters; a counter; a type of objects.

import type { Track } from './traceFacts';
import type { TrackBox } from './layout';
import { isLaneOf, type FoldRow, type Row } from './rows';

export type Item = { box: TrackBox } | { row: Row };

export interface Unit {
  /** "t5" is thread 5, "n3" begins with track 3, which is of no thread, "c2" is counter 2. */
  key: string;
  items: Item[];
}

/** Async slices have names of their own, whichever thread began them. */
function isOfThread(track: Track): boolean {
  return track.thread >= 0 && track.kind !== 'async';
}

/** The unit that a track begins, or is part of when it is a thread's. */
export function unitKey(track: Track): string {
  return isOfThread(track) ? `t${track.thread}` : `n${track.track}`;
}

function belongs(track: Track, first: Track | undefined): boolean {
  if (first === undefined) return false;
  return isOfThread(track) ? track.thread === first.thread : isLaneOf(track, first);
}

/** Nothing says how the threads stand. */
export const NO_PLACES: ReadonlyMap<number, number> = new Map();

/** The list of a key, which a map of lists has from now on. */
export function listAt<K, T>(lists: Map<K, T[]>, key: K): T[] {
  const known = lists.get(key);
  if (known) return known;
  const list: T[] = [];
  lists.set(key, list);
  return list;
}

/** Rows of threads by thread, in their order. */
function byThread(rows: readonly Row[]): Map<number, Row[]> {
  const found = new Map<number, Row[]>();
  for (const row of rows) if (row.thread >= 0) listAt(found, row.thread).push(row);
  return found;
}

/** The thread whose unit it is; Infinity: of the process, behind its threads; -1: before them. */
function ownerOf({ items: [first] }: Unit): number {
  if (!first) return -1;
  if ('row' in first) return first.row.thread;
  return first.box.track.thread < 0 ? Infinity : first.box.track.thread;
}

/** For all units together: the highest place so far, so that the first behind a place is found at once. */
function highestPlaces(units: readonly Unit[], placeOf: (thread: number) => number): number[] {
  let highest = -Infinity;
  return units.map((unit) => (highest = Math.max(highest, placeOf(ownerOf(unit)))));
}

/** The first of these that do not fall that is higher. */
function firstHigher(highest: readonly number[], place: number): number {
  let low = 0;
  let high = highest.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((highest[middle] ?? 0) > place) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Threads without tracks among those that have some, each before the first that stands behind. */
function insertThreads(
  units: readonly Unit[],
  threads: ReadonlyMap<number, readonly Row[]>,
  places: ReadonlyMap<number, number>,
): Unit[] {
  if (threads.size === 0) return [...units];
  const placeOf = (thread: number): number =>
    thread < 0 ? -1 : (places.get(thread) ?? places.size);
  const highest = highestPlaces(units, placeOf);
  const before = new Map<number, { place: number; unit: Unit }[]>();
  for (const [thread, own] of threads) {
    const place = placeOf(thread);
    const unit = { key: `t${thread}`, items: own.map((row) => ({ row })) };
    listAt(before, firstHigher(highest, place)).push({ place, unit });
  }
  const standing = (at: number): Unit[] =>
    (before.get(at) ?? []).sort((a, b) => a.place - b.place).map(({ unit }) => unit);
  return [...units.flatMap((unit, at) => [...standing(at), unit]), ...standing(units.length)];
}

/**
 * The rows of a process over its tracks, those of a thread under the thread's own; what names a
 * thread stands over all of it.  `places`: those of threads among each other.
 */
export function unitsOf(
  boxes: readonly TrackBox[],
  rows: readonly Row[],
  folds: ReadonlyMap<number, FoldRow>,
  places: ReadonlyMap<number, number> = NO_PLACES,
): Unit[] {
  const units: Unit[] = [];
  const ofThreads = byThread(rows);
  const there = new Set(boxes.map((box) => box.track.track));
  const under = (row: Row): number | undefined =>
    row.kind === 'counter' && there.has(row.under ?? -1) ? row.under : undefined;
  const begin = (key: string): Unit => {
    const unit: Unit = { key, items: [] };
    units.push(unit);
    return unit;
  };
  const put = (unit: Unit, own: readonly (Row | undefined)[]): void => {
    for (const row of own) if (row) unit.items.push({ row });
  };
  const below = new Map<number, Row[]>();
  for (const row of rows) {
    const track = under(row);
    if (track !== undefined) listAt(below, track).push(row);
    else if (row.thread < 0) put(begin(row.key), [row]);
  }
  let first: Track | undefined;
  let unit: Unit = { key: '', items: [] };
  boxes.forEach((box, i) => {
    const { thread, track } = box.track;
    const own = ofThreads.get(thread) ?? [];
    if (!belongs(box.track, first)) {
      first = box.track;
      unit = begin(unitKey(first));
      put(
        unit,
        own.filter((row) => row.kind === 'thread'),
      );
    }
    unit.items.push({ box });
    put(unit, below.get(track) ?? []);
    put(unit, [folds.get(track)]);
    const next = boxes[i + 1]?.track;
    if (next?.thread === thread && next.kind !== 'async') return;
    put(
      unit,
      own.filter((row) => row.kind !== 'thread'),
    );
    ofThreads.delete(thread);
  });
  return insertThreads(units, ofThreads, places);
}
