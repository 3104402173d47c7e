// SPDX-License-Identifier: Apache-2.0
// What stands in the time line beside tracks of slices: one row each, of a process or a thread.

import type { BesideRows, LoneThread, ObjectType } from './beside';
import type { CounterFacts, IdleThread, Track } from './engine';
import type { RowBox } from './layout';
import { CPUS } from './states';

interface Owned {
  /** Of its label, for the keyboard. */
  key: string;
  /** Index; -1: of no process. */
  process: number;
  /** Index of the thread under whose tracks it stands; -1: over all threads. */
  thread: number;
}

export interface CounterRow extends Owned {
  kind: 'counter';
  counter: CounterFacts;
  /** The track of the processor that it tells of, under which it stands. */
  under?: number;
}

export interface ObjectsRow extends Owned {
  kind: 'objects';
  type: ObjectType;
  /** Lanes that are shown. */
  shown: number;
}

export interface MemoryRow extends Owned {
  kind: 'memory';
  dumps: number;
}

export interface SamplesRow extends Owned {
  kind: 'samples';
  name: string;
  id: string;
  samples: number;
}

/** A thread that has no track to name it: it has instants, or async slices that stand below. */
export interface ThreadRow extends Owned {
  kind: 'thread';
  of: LoneThread;
}

/** The line that stands for many rows of a kind, and opens and closes them. */
export interface FoldRow extends Owned {
  kind: 'fold';
  what: 'counter' | 'objects' | 'async';
  /** Rows, or of async tracks those that are hidden when it is closed. */
  count: number;
  open: boolean;
}

export type Row = CounterRow | ObjectsRow | MemoryRow | SamplesRow | ThreadRow | FoldRow;

/** What a row is found by. */
export function rowName(row: Row): string {
  switch (row.kind) {
    case 'counter':
      return row.counter.name;
    case 'objects':
      return row.type.type;
    case 'memory':
      return 'Memory dumps';
    case 'samples':
      return `[${row.id}] ${row.name}`;
    case 'thread':
      return `[${idOf(row.of)}] ${row.of.name}`;
    case 'fold':
      return '';
  }
}

/** Of many lanes so many are shown at first. */
export const FIRST_LANES = 3;

/** So many rows of a kind stand in a process without being folded. */
export const FEW = 6;

/** "CPU 3 Clock Frequency" stands under that processor's track, where there is one. */
export function counterRow(
  counter: CounterFacts,
  cpus: ReadonlyMap<string, Track> = new Map(),
): CounterRow {
  const { process } = counter;
  const track = cpus.get(/^(CPU \d+) /.exec(counter.name)?.[1] ?? '');
  if (track) {
    const key = `c${counter.counter}`;
    return { kind: 'counter', key, process: CPUS, thread: -1, counter, under: track.track };
  }
  return { kind: 'counter', key: `c${counter.counter}`, process, thread: -1, counter };
}

/** The tracks of processors by their names. */
export function cpusOf(tracks: readonly Track[]): Map<string, Track> {
  return new Map(tracks.filter((t) => t.kind === 'cpu').map((t) => [t.name, t]));
}

/** "7", or the id that is no number. */
function idOf(thread: { thread_id: number; key?: string }): string {
  return thread.key ?? String(thread.thread_id);
}

function samplesRows(
  rows: BesideRows,
  tracks: readonly Track[],
  idle: readonly IdleThread[],
): SamplesRow[] {
  const known = new Map<number, { name: string; thread_id: number; key?: string }>();
  for (const thread of [...idle, ...rows.threads]) known.set(thread.thread, thread);
  for (const track of tracks) if (track.kind === 'thread') known.set(track.thread, track);
  return rows.samples.map(({ thread, process, samples }) => {
    const found = known.get(thread);
    const name = found?.name ?? 'of no thread';
    const id = found ? idOf(found) : '';
    return { kind: 'samples', key: `s${thread}`, process, thread, name, id, samples };
  });
}

/** Threads whose only tracks are of async slices, which have names of their own. */
function nameless(tracks: readonly Track[], idle: readonly IdleThread[]): LoneThread[] {
  const named = new Set(tracks.filter((t) => t.kind !== 'async').map((t) => t.thread));
  const first = new Map<number, Track>();
  for (const track of tracks)
    if (!named.has(track.thread) && !first.has(track.thread)) first.set(track.thread, track);
  return idle.flatMap((thread) => {
    const process = first.get(thread.thread)?.process;
    return process === undefined ? [] : [{ ...thread, process, instants: 0 }];
  });
}

/** Everything that has a row of its own, by owner as the layout takes it. */
export function rowsOf(
  rows: BesideRows,
  counters: readonly CounterFacts[],
  tracks: readonly Track[],
  idle: readonly IdleThread[] = [],
): Row[] {
  const shown = new Set(tracks.filter((t) => t.kind === 'states').map((t) => t.thread));
  const cpus = cpusOf(tracks);
  return [
    ...counters.map((counter) => counterRow(counter, cpus)),
    ...rows.memory_dumps.map(({ process, dumps }): MemoryRow => {
      return { kind: 'memory', key: `d${process}`, process, thread: -1, dumps };
    }),
    ...rows.objects.map((type): ObjectsRow => {
      const { row, process, lanes } = type;
      return { kind: 'objects', key: `lanes.${row}`, process, thread: -1, type, shown: lanes };
    }),
    ...[...nameless(tracks, idle), ...rows.threads.filter((of) => of.instants > 0)]
      .filter((of) => !shown.has(of.thread))
      .map((of): ThreadRow => {
        const { thread, process } = of;
        return { kind: 'thread', key: `u${thread}`, process, thread, of };
      }),
    ...samplesRows(rows, tracks, idle),
  ];
}

/** `of`: the process, or the first of async tracks. */
export function foldKey(what: FoldRow['what'], of: number): string {
  return `${what}.${of}`;
}

/** For one or two lanes more nobody should have to ask. */
function lanesShown(row: ObjectsRow, opened: ReadonlySet<string>): number {
  const { lanes } = row.type;
  return lanes <= FIRST_LANES + 2 || opened.has(row.key) ? lanes : FIRST_LANES;
}

/** The rows of one process with many of a kind under a line, and hidden unless that is open. */
export function foldRows(rows: readonly Row[], opened: ReadonlySet<string>): Row[] {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(row.kind, (counts.get(row.kind) ?? 0) + 1);
  const told = new Set<string>();
  return rows.flatMap((row): Row[] => {
    const { kind, process } = row;
    if (row.kind === 'objects') row = { ...row, shown: lanesShown(row, opened) };
    const count = counts.get(kind) ?? 0;
    if ((kind !== 'counter' && kind !== 'objects') || count <= FEW) return [row];
    const key = foldKey(kind, process);
    const open = opened.has(key);
    const line: FoldRow = { kind: 'fold', key, process, thread: -1, what: kind, count, open };
    const first = !told.has(kind);
    told.add(kind);
    return [...(first ? [line] : []), ...(open ? [row] : [])];
  });
}

/** Async tracks of one name and owner: lanes of what overlaps. */
interface Lanes {
  first: Track;
  count: number;
}

/** Of the same async slices. */
export function isLaneOf(track: Track, first: Track | undefined): boolean {
  return (
    first?.kind === 'async' &&
    track.kind === 'async' &&
    track.name === first.name &&
    track.thread === first.thread &&
    track.process === first.process
  );
}

/** Tracks as they stand, those that are lanes of the same together. */
function lanesTogether(tracks: readonly Track[]): Lanes[] {
  const found: Lanes[] = [];
  for (const track of tracks) {
    const last = found[found.length - 1];
    if (last && isLaneOf(track, last.first)) last.count++;
    else found.push({ first: track, count: 1 });
  }
  return found;
}

/** The first of the lanes that a track is one of; of others the track itself. */
export function firstLane(tracks: readonly Track[], track: Track): Track {
  return tracks.find((first) => isLaneOf(track, first)) ?? track;
}

function isFolded({ count }: Lanes): boolean {
  return count > FIRST_LANES + 2;
}

export interface ShownTracks {
  tracks: Track[];
  /** The line under a track, by the track's number. */
  folds: Map<number, FoldRow>;
}

/** Of async tracks with many lanes the first ones, and a line that shows the others. */
export function foldTracks(tracks: readonly Track[], opened: ReadonlySet<string>): ShownTracks {
  const shown: ShownTracks = { tracks: [], folds: new Map() };
  let at = 0;
  for (const lanes of lanesTogether(tracks)) {
    const all = tracks.slice(at, at + lanes.count);
    at += lanes.count;
    if (!isFolded(lanes)) {
      shown.tracks.push(...all);
      continue;
    }
    const { track, process } = lanes.first;
    const key = foldKey('async', track);
    const open = opened.has(key);
    const own = open ? all : all.slice(0, FIRST_LANES);
    const count = lanes.count - FIRST_LANES;
    shown.tracks.push(...own);
    shown.folds.set(own[own.length - 1]?.track ?? -1, {
      ...{ kind: 'fold', key, process, thread: -1, what: 'async', count, open },
    });
  }
  return shown;
}

/** What must be open so that a track is seen; null: nothing. */
export function foldOfTrack(tracks: readonly Track[], number: number): string | null {
  const place = tracks.findIndex((t) => t.track === number);
  let at = 0;
  for (const lanes of lanesTogether(tracks)) {
    if (place < at + lanes.count)
      return isFolded(lanes) && place >= at + FIRST_LANES
        ? foldKey('async', lanes.first.track)
        : null;
    at += lanes.count;
  }
  return null;
}

export interface CounterBox {
  counter: CounterFacts;
  top: number;
  height: number;
  /** Until when the last value holds. */
  end: number;
}

/** Of these rows the counters; their last values hold until `end`, null: they do not hold. */
export function counterBoxes(rows: readonly RowBox[], end: number | null): CounterBox[] {
  return rows.flatMap(({ row, top, height }) =>
    row.kind === 'counter'
      ? [{ counter: row.counter, top, height, end: end ?? row.counter.last_ns }]
      : [],
  );
}
