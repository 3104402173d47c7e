// SPDX-License-Identifier: Apache-2.0
// Rows of the timeline other than tracks of slices: counters, objects, memory dumps, samples. Also
// folding: many rows of a kind fold into one line.
//
//     process                  always shown
//       CPU 0, CPU 1           the first two processors, then a line that shows the others
//         CPU 0 Clock          counter of a processor: with it
//       main                   tracks of threads
//       async Load  1 2 3      the first three lanes, then a line
//       > 12 counters          one line if all processes together have more than six
//       > 8 types of objects   the same
//
// A fold line has a key of its kind and process (or first track); the address lists the keys of
// those that are open. Folding hides one or two lanes never: the line would be as high as they are.

import type { NonSliceRows, LoneThread, ObjectType } from './nonSliceEvents';
import type { CounterFacts } from './engine';
import type { IdleThread, Track } from './traceFacts';
import type { RowBox } from './layout';
import { CPUS } from './states';

/** The owner of a row. */
interface RowOwner {
  /** Key of its unit (units.ts), also of its label. */
  key: string;
  /** Index of the process; -1: no process. */
  process: number;
  /** Index of the thread that the row belongs to; -1: the row is below all threads. */
  thread: number;
}

export interface CounterRow extends RowOwner {
  kind: 'counter';
  counter: CounterFacts;
  /** Track of the processor that the counter describes; the row is below that track. */
  under?: number;
}

/** A row of the objects of one type. */
export interface ObjectsRow extends RowOwner {
  kind: 'objects';
  type: ObjectType;
  /** Number of visible lanes. */
  shown: number;
}

/** A row of the memory dumps of a process. */
export interface MemoryRow extends RowOwner {
  kind: 'memory';
  dumps: number;
}

/** A row of the display frames of a process. */
export interface DisplayRow extends RowOwner {
  kind: 'display';
  frames: number;
  late: number;
}

/** A row of the samples of a thread. */
export interface SamplesRow extends RowOwner {
  kind: 'samples';
  name: string;
  id: string;
  samples: number;
  /** Levels of the stacks over time; 0: there are none. */
  levels: number;
  /** The stacks are shown. */
  open: boolean;
}

/** The name of a thread without a track, which has instants or async slices. */
export interface ThreadRow extends RowOwner {
  kind: 'thread';
  of: LoneThread;
}

/** A line that stands for many rows of a kind and opens or closes them. */
export interface FoldRow extends RowOwner {
  kind: 'fold';
  what: 'counter' | 'objects' | 'async' | 'cpu';
  /** Number of rows; of lanes and processors, those that are hidden when the line is closed. */
  count: number;
  open: boolean;
}

export type Row =
  CounterRow | ObjectsRow | MemoryRow | DisplayRow | SamplesRow | ThreadRow | FoldRow;

/** Return the name by which a row is found. */
export function rowName(row: Row): string {
  switch (row.kind) {
    case 'counter':
      return row.counter.name;
    case 'objects':
      return row.type.type;
    case 'memory':
      return 'Memory dumps';
    case 'display':
      return 'Frames';
    case 'samples':
      return `[${row.id}] ${row.name}`;
    case 'thread':
      return `[${threadIdText(row.of)}] ${row.of.name}`;
    case 'fold':
      return '';
  }
}

/** Number of lanes that are visible at first if there are many. */
export const FIRST_LANES = 3;
/** Number of processors that are visible at first if there are many. */
const FIRST_PROCESSORS = 2;

/** Number of rows of a kind that the timeline shows without folding. */
export const UNFOLDED_ROWS = 6;

/**
 * Return the row of a counter. "CPU 3 Clock Frequency" is below the track of that processor.
 */
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

/** Return the tracks of processors by name. */
export function cpuTracksByName(tracks: readonly Track[]): Map<string, Track> {
  return new Map(tracks.filter((t) => t.kind === 'cpu').map((t) => [t.name, t]));
}

/** Return the thread id as text. */
function threadIdText(thread: { thread_id: number; key?: string }): string {
  return thread.key ?? String(thread.thread_id);
}

/** Return the key under which the stacks of a thread's samples are open, as a fold line is. */
export function chartKey(thread: number): string {
  return `samples.${thread}`;
}

function samplesRows(
  rows: NonSliceRows,
  tracks: readonly Track[],
  idle: readonly IdleThread[],
): SamplesRow[] {
  const known = new Map<number, { name: string; thread_id: number; key?: string }>();
  for (const thread of [...idle, ...rows.threads]) known.set(thread.thread, thread);
  for (const track of tracks) if (track.kind === 'thread') known.set(track.thread, track);
  return rows.samples.map(({ thread, process, samples, levels = 0 }) => {
    const found = known.get(thread);
    const name = found?.name ?? 'of no thread';
    const id = found ? threadIdText(found) : '';
    const key = `s${thread}`;
    return { kind: 'samples', key, process, thread, name, id, samples, levels, open: false };
  });
}

/**
 * Return threads whose only tracks hold async slices: these tracks do not show the thread's name.
 */
function unnamedThreads(tracks: readonly Track[], idle: readonly IdleThread[]): LoneThread[] {
  const named = new Set(tracks.filter((t) => t.kind !== 'async').map((t) => t.thread));
  const first = new Map<number, Track>();
  for (const track of tracks)
    if (!named.has(track.thread) && !first.has(track.thread)) first.set(track.thread, track);
  return idle.flatMap((thread) => {
    const process = first.get(thread.thread)?.process;
    return process === undefined ? [] : [{ ...thread, process, instants: 0 }];
  });
}

/** Return all rows other than tracks, grouped by kind as the layout expects them. */
export function timelineRows(
  rows: NonSliceRows,
  counters: readonly CounterFacts[],
  tracks: readonly Track[],
  idle: readonly IdleThread[] = [],
): Row[] {
  const shown = new Set(tracks.filter((t) => t.kind === 'states').map((t) => t.thread));
  const cpus = cpuTracksByName(tracks);
  return [
    ...rows.display_frames.map(({ process, frames, late }): DisplayRow => {
      return { kind: 'display', key: `v${process}`, process, thread: -1, frames, late };
    }),
    ...counters.map((counter) => counterRow(counter, cpus)),
    ...rows.memory_dumps.map(({ process, dumps }): MemoryRow => {
      return { kind: 'memory', key: `d${process}`, process, thread: -1, dumps };
    }),
    ...rows.objects.map((type): ObjectsRow => {
      const { row, process, lanes } = type;
      return { kind: 'objects', key: `lanes.${row}`, process, thread: -1, type, shown: lanes };
    }),
    ...[...unnamedThreads(tracks, idle), ...rows.threads.filter((of) => of.instants > 0)]
      .filter((of) => !shown.has(of.thread))
      .map((of): ThreadRow => {
        const { thread, process } = of;
        return { kind: 'thread', key: `u${thread}`, process, thread, of };
      }),
    ...samplesRows(rows, tracks, idle),
  ];
}

/** Return the key of a fold line. `of`: the process, or the first of several async tracks. */
export function foldKey(what: FoldRow['what'], of: number): string {
  return `${what}.${of}`;
}

/** Show one or two hidden lanes at once instead of a link. */
function lanesShown(row: ObjectsRow, opened: ReadonlySet<string>): number {
  const { lanes } = row.type;
  return lanes <= FIRST_LANES + 2 || opened.has(row.key) ? lanes : FIRST_LANES;
}

function countKinds(rows: readonly Row[]): Map<Row['kind'], number> {
  const counts = new Map<Row['kind'], number>();
  for (const { kind } of rows) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

/**
 * Return the kinds with so many rows, in all processes together, that they would push threads off
 * the screen. Counters alone, without any track, stay unfolded.
 */
export function foldedKinds(
  processes: readonly { rows: readonly Row[] }[],
  hasTracks = true,
): ReadonlySet<Row['kind']> {
  const rows = processes.flatMap((own) => own.rows);
  if (!hasTracks && rows.every(({ kind }) => kind === 'counter')) return new Set();
  const kinds = [...countKinds(rows)].filter(
    ([kind, count]) => (kind === 'counter' || kind === 'objects') && count > UNFOLDED_ROWS,
  );
  return new Set(kinds.map(([kind]) => kind));
}

/**
 * Put several rows of a folded kind under a fold line; they are visible if that line is open. All
 * rows belong to one process.
 */
export function foldRows(
  rows: readonly Row[],
  opened: ReadonlySet<string>,
  folded = foldedKinds([{ rows }]),
): Row[] {
  const counts = countKinds(rows);
  const told = new Set<string>();
  return rows.flatMap((row): Row[] => {
    const { kind, process } = row;
    if (row.kind === 'objects') row = { ...row, shown: lanesShown(row, opened) };
    if (row.kind === 'samples')
      row = { ...row, open: row.levels > 0 && opened.has(chartKey(row.thread)) };
    const count = counts.get(kind) ?? 0;
    if ((kind !== 'counter' && kind !== 'objects') || !folded.has(kind) || count < 2) return [row];
    const key = foldKey(kind, process);
    const open = opened.has(key);
    const line: FoldRow = { kind: 'fold', key, process, thread: -1, what: kind, count, open };
    const first = !told.has(kind);
    told.add(kind);
    return [...(first ? [line] : []), ...(open ? [row] : [])];
  });
}

/** Async tracks with one name and owner: their slices overlap in time. */
interface AsyncLanes {
  first: Track;
  count: number;
}

/** Tell whether both tracks hold the same async slices. */
export function isLaneOf(track: Track, first: Track | undefined): boolean {
  return (
    first?.kind === 'async' &&
    track.kind === 'async' &&
    track.name === first.name &&
    track.thread === first.thread &&
    track.process === first.process
  );
}

/** Group neighbouring tracks that hold the same async slices. */
function lanesTogether(tracks: readonly Track[]): AsyncLanes[] {
  const found: AsyncLanes[] = [];
  for (const track of tracks) {
    const last = found[found.length - 1];
    if (last && isLaneOf(track, last.first)) last.count++;
    else found.push({ first: track, count: 1 });
  }
  return found;
}

/** Return the first track with the same async slices, or the track itself. */
export function firstLane(tracks: readonly Track[], track: Track): Track {
  return tracks.find((first) => isLaneOf(track, first)) ?? track;
}

function isFolded({ count }: AsyncLanes): boolean {
  return count > FIRST_LANES + 2;
}

/** Visible tracks, and fold lines below them. */
export interface ShownTracks {
  tracks: Track[];
  /** Fold lines by the number of the track above. */
  folds: Map<number, FoldRow>;
}

/** Hide all but the first lanes of async slices under a fold line. */
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

/** The visible processors, and the fold line below them, which is missing if there are few. */
interface ShownProcessors {
  tracks: readonly Track[];
  line: readonly FoldRow[];
  /** Numbers of the hidden tracks. */
  hidden: ReadonlySet<number>;
  /** Leave out the counters of hidden processors. */
  visible: (rows: readonly Row[]) => readonly Row[];
}

/**
 * Hide all but the first processors under a fold line, as they are above the threads. `tracks`
 * belong to one process.
 */
export function foldProcessors(
  tracks: readonly Track[],
  opened: ReadonlySet<string>,
): ShownProcessors {
  const [first] = tracks;
  const folded = first?.kind === 'cpu' && tracks.length > FIRST_PROCESSORS + 1;
  if (!folded) return { tracks, line: [], hidden: new Set(), visible: (rows) => rows };
  const { process } = first;
  const key = foldKey('cpu', process);
  const open = opened.has(key);
  const rest = tracks.slice(FIRST_PROCESSORS);
  const hidden = new Set(open ? [] : rest.map(({ track }) => track));
  return {
    tracks: open ? tracks : tracks.slice(0, FIRST_PROCESSORS),
    line: [{ kind: 'fold', key, process, thread: -1, what: 'cpu', count: rest.length, open }],
    hidden,
    visible: (rows) => rows.filter((row) => row.kind !== 'counter' || !hidden.has(row.under ?? -1)),
  };
}

/** Return the fold line that must be open to show a track; null: none. */
export function foldOfTrack(tracks: readonly Track[], number: number): string | null {
  const processors = foldProcessors(
    tracks.filter(({ kind }) => kind === 'cpu'),
    new Set(),
  );
  const [line] = processors.line;
  if (line && processors.hidden.has(number)) return line.key;
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

/** A counter with its position. */
export interface CounterBox {
  counter: CounterFacts;
  /** The counter that is drawn over it. */
  over: CounterFacts | null;
  top: number;
  height: number;
  /** Tell until when the last value of a counter is drawn. */
  end: (counter: CounterFacts) => number;
}

/**
 * Return the boxes of the counters, with those that are drawn over them. Their last value is drawn
 * until `end`; null: not extended.
 */
export function counterBoxes(
  rows: readonly RowBox[],
  end: number | null,
  over: (counter: CounterFacts) => CounterFacts | null = () => null,
): CounterBox[] {
  const until = (counter: CounterFacts): number => end ?? counter.last_ns;
  return rows.flatMap(({ row, top, height }) =>
    row.kind === 'counter'
      ? [{ counter: row.counter, over: over(row.counter), top, height, end: until }]
      : [],
  );
}
