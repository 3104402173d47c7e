// SPDX-License-Identifier: Apache-2.0
// Units of the timeline: items that are together and move as one. A unit is a thread with its
// states, overflow and samples; or the lanes of equally named async slices; or a processor with its
// counters; or a counter; or the objects of one type.

import type { Track } from './traceFacts';
import type { TrackBox } from './layout';
import { isLaneOf, type FoldRow, type Row } from './rows';

/** A part of a unit: a track or a row. */
export type UnitItem = { box: TrackBox } | { row: Row };

/** Items of the timeline that move together. */
export interface TimelineUnit {
  /** "t5": thread 5; "n3": begins with track 3, which has no thread; "c2": counter 2. */
  key: string;
  items: UnitItem[];
}

/** Async slices do not belong to the thread that began them. */
function isOfThread(track: Track): boolean {
  return track.thread >= 0 && track.kind !== 'async';
}

/** Return the key of a track's unit: that of its thread, or that of the first track of the unit. */
export function unitKey(track: Track): string {
  return isOfThread(track) ? `t${track.thread}` : `n${track.track}`;
}

/** Tell whether a track belongs to the same unit as the first track. */
function belongsToUnit(track: Track, first: Track | undefined): boolean {
  if (first === undefined) return false;
  return isOfThread(track) ? track.thread === first.thread : isLaneOf(track, first);
}

/** No order of threads is known. */
export const NO_PLACES: ReadonlyMap<number, number> = new Map();

/** Return the list of a key; create it if it is missing. */
export function listAt<K, T>(lists: Map<K, T[]>, key: K): T[] {
  const known = lists.get(key);
  if (known) return known;
  const list: T[] = [];
  lists.set(key, list);
  return list;
}

/** Group the rows of threads by thread. */
function rowsByThread(rows: readonly Row[]): Map<number, Row[]> {
  const found = new Map<number, Row[]>();
  for (const row of rows) if (row.thread >= 0) listAt(found, row.thread).push(row);
  return found;
}

/** Return the thread of a unit; of a process's own units, Infinity below its threads, -1 above. */
function threadOfUnit({ items: [first] }: TimelineUnit): number {
  if (!first || ('row' in first && first.row.kind === 'display')) return -1;
  if ('row' in first) return first.row.thread < 0 ? Infinity : first.row.thread;
  return isOfThread(first.box.track) ? first.box.track.thread : Infinity;
}

/** Return the running maximum of positions, which a binary search can use. */
function highestPlaces(
  units: readonly TimelineUnit[],
  placeOf: (thread: number) => number,
): number[] {
  let highest = -Infinity;
  return units.map((unit) => (highest = Math.max(highest, placeOf(threadOfUnit(unit)))));
}

/** Return the first index with a greater value in a non-decreasing list. */
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

/** Insert threads without tracks among the other units, in the order of `places`. */
function insertThreads(
  units: readonly TimelineUnit[],
  threads: ReadonlyMap<number, readonly Row[]>,
  places: ReadonlyMap<number, number>,
): TimelineUnit[] {
  if (threads.size === 0) return [...units];
  const placeOf = (thread: number): number =>
    thread < 0 ? -1 : thread === Infinity ? Infinity : (places.get(thread) ?? places.size);
  const highest = highestPlaces(units, placeOf);
  const before = new Map<number, { place: number; unit: TimelineUnit }[]>();
  for (const [thread, own] of threads) {
    const place = placeOf(thread);
    const unit = { key: `t${thread}`, items: own.map((row) => ({ row })) };
    listAt(before, firstHigher(highest, place)).push({ place, unit });
  }
  const standing = (at: number): TimelineUnit[] =>
    (before.get(at) ?? []).sort((a, b) => a.place - b.place).map(({ unit }) => unit);
  return [...units.flatMap((unit, at) => [...standing(at), unit]), ...standing(units.length)];
}

/**
 * Build the units of a process, whose async tracks must follow those of its threads. Its frames come
 * above its tracks, its other rows below; rows of a thread come below the thread's tracks, except a
 * row with its name, which comes above. `places` orders the threads.
 */
export function unitsOf(
  boxes: readonly TrackBox[],
  rows: readonly Row[],
  folds: ReadonlyMap<number, FoldRow>,
  places: ReadonlyMap<number, number> = NO_PLACES,
): TimelineUnit[] {
  const units: TimelineUnit[] = [];
  const ofThreads = rowsByThread(rows);
  const there = new Set(boxes.map((box) => box.track.track));
  const under = (row: Row): number | undefined =>
    row.kind === 'counter' && there.has(row.under ?? -1) ? row.under : undefined;
  const begin = (key: string): TimelineUnit => {
    const unit: TimelineUnit = { key, items: [] };
    units.push(unit);
    return unit;
  };
  const put = (unit: TimelineUnit, own: readonly (Row | undefined)[]): void => {
    for (const row of own) if (row) unit.items.push({ row });
  };
  const below = new Map<number, Row[]>();
  for (const row of rows) {
    const track = under(row);
    if (track !== undefined) listAt(below, track).push(row);
  }
  for (const row of rows) if (row.kind === 'display') put(begin(row.key), [row]);
  let first: Track | undefined;
  let unit: TimelineUnit = { key: '', items: [] };
  boxes.forEach((box, i) => {
    const { thread, track } = box.track;
    const own = ofThreads.get(thread) ?? [];
    if (!belongsToUnit(box.track, first)) {
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
  for (const row of rows)
    if (row.thread < 0 && row.kind !== 'display' && under(row) === undefined)
      put(begin(row.key), [row]);
  return insertThreads(units, ofThreads, places);
}
