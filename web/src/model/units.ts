// SPDX-License-Identifier: Apache-2.0
// What stands together in the time line and moves as one: a thread with its states, its overflow
// and its samples; lanes of async slices of one name; a processor with its counters; a counter; a type of objects.

import type { Track } from './engine';
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

/** Rows of threads by thread, in their order. */
function byThread(rows: readonly Row[]): Map<number, Row[]> {
  const found = new Map<number, Row[]>();
  for (const row of rows)
    if (row.thread >= 0) found.set(row.thread, [...(found.get(row.thread) ?? []), row]);
  return found;
}

/** The thread whose unit it is; Infinity: of the process, behind its threads; -1: before them. */
function ownerOf({ items: [first] }: Unit): number {
  if (!first) return -1;
  if ('row' in first) return first.row.thread;
  return first.box.track.thread < 0 ? Infinity : first.box.track.thread;
}

/** Threads without tracks among those that have some, each before the first that stands behind. */
function insertThreads(
  units: Unit[],
  threads: ReadonlyMap<number, readonly Row[]>,
  order: readonly number[],
): void {
  const places = new Map(order.map((thread, place) => [thread, place]));
  const placeOf = (thread: number): number =>
    thread < 0 ? -1 : (places.get(thread) ?? places.size);
  for (const [thread, own] of threads) {
    const place = placeOf(thread);
    const at = units.findIndex((unit) => placeOf(ownerOf(unit)) > place);
    const items = own.map((row) => ({ row }));
    units.splice(at < 0 ? units.length : at, 0, { key: `t${thread}`, items });
  }
}

/**
 * The rows of a process over its tracks, those of a thread under the thread's own; what names a
 * thread stands over all of it.  `order`: how threads stand.
 */
export function unitsOf(
  boxes: readonly TrackBox[],
  rows: readonly Row[],
  folds: ReadonlyMap<number, FoldRow>,
  order: readonly number[] = [],
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
  for (const row of rows)
    if (row.thread < 0 && under(row) === undefined) put(begin(row.key), [row]);
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
    put(
      unit,
      rows.filter((row) => under(row) === track),
    );
    put(unit, [folds.get(track)]);
    const next = boxes[i + 1]?.track;
    if (next?.thread === thread && next.kind !== 'async') return;
    put(
      unit,
      own.filter((row) => row.kind !== 'thread'),
    );
    ofThreads.delete(thread);
  });
  insertThreads(units, ofThreads, order);
  return units;
}
