// SPDX-License-Identifier: Apache-2.0
// Small things that several tests need: an engine that notes its questions, tiles, and a theme.

import type { CallDetails, Engine, FrameRow, Tile, TileLane } from '../src/model/engine';
import type { Track } from '../src/model/traceFacts';
import { readTheme, type Palette, type Theme } from '../src/render/theme';

export function track(number: number, changes: Partial<Track> = {}): Track {
  return {
    track: number,
    kind: 'thread',
    thread_id: 10 + number,
    thread: number,
    name: `thread ${number}`,
    process: 0,
    first_row: number * 100,
    rows: 3,
    calls: 5,
    start_ns: 0,
    end_ns: 1000,
    real_ns: 1000,
    cpu_ns: 900,
    waits: 0,
    ...changes,
  };
}

/** A call of which only this is worth telling. */
export function call(changes: Partial<CallDetails>): CallDetails {
  return {
    row: 0,
    index: 0,
    track: 0,
    depth: 0,
    frame: 0,
    start_ns: 0,
    length_ns: 0,
    cpu_start_ns: 0,
    cpu_length_ns: 0,
    excl_real_ns: 0,
    excl_cpu_ns: 0,
    wait_ns: 0,
    children: 0,
    unrolled: false,
    entered_before: false,
    open_at_end: false,
    missing_exit: false,
    recursion: 0,
    path: [],
    first_child: null,
    previous: null,
    next: null,
    nth: 1,
    of: 1,
    ...changes,
  };
}

export const FRAMES: FrameRow[] = [
  ['com.acme.Main', 'main', '([Ljava/lang/String;)V', 'Main.java', 3, 1],
  ['com.acme.Work', 'run', '()V', 'Work.java', 8, 2],
  ['java.util.HashMap', 'get', '(Ljava/lang/Object;)Ljava/lang/Object;', 'HashMap.java', 90, 3],
  ['com.acme.Work', 'idle', '()V', '', 0, 4],
];

/** start, length, index, frame, flags */
export type SliceRow = [number, number, number, number, number?];

export function tile(
  lane: TileLane,
  res: number,
  number: number,
  slices: SliceRow[],
  strip: Tile['density'] = null,
): Tile {
  return {
    kind: lane.kind,
    row: lane.row,
    res,
    number,
    start: Float64Array.from(slices, (s) => s[0]),
    length: Float64Array.from(slices, (s) => s[1]),
    rows: Uint32Array.from(slices, () => lane.row),
    index: Uint32Array.from(slices, (s) => s[2]),
    frame: Uint32Array.from(slices, (s) => s[3]),
    flags: Uint32Array.from(slices, (s) => s[4] ?? 0),
    density: strip,
  };
}

export interface TileQuestion {
  res: number;
  from: number;
  to: number;
  lanes: string;
  answer: (tiles: Tile[]) => void;
  signal: AbortSignal | undefined;
}

const refuse = (): Promise<never> => Promise.reject(new Error('not asked for in this test'));

/** Tiles are answered by the test; everything else refuses. */
export function tileEngine(questions: TileQuestion[]): Engine {
  return {
    status: refuse,
    trace: refuse,
    frames: refuse,
    same: refuse,
    profile: refuse,
    relations: refuse,
    slice: refuse,
    sliceOf: refuse,
    inside: refuse,
    step: refuse,
    extents: refuse,
    flame: refuse,
    tree: refuse,
    activity: refuse,
    counters: refuse,
    flowCategories: refuse,
    flow: refuse,
    flowsOf: refuse,
    arrows: refuse,
    instants: refuse,
    instant: refuse,
    counterValues: refuse,
    counterFigures: refuse,
    counterStep: refuse,
    nonSlice: {
      rows: refuse,
      objects: refuse,
      object: refuse,
      snapshot: refuse,
      reference: refuse,
      samples: refuse,
      sampleChart: refuse,
      sample: refuse,
      sampleFlame: refuse,
      memoryDumps: refuse,
      memoryDump: refuse,
      displayMarks: refuse,
    },
    opening: { take: refuse, drop: refuse, open: refuse, cancel: refuse },
    search: refuse,
    save: refuse,
    searchStep: refuse,
    searchFrames: refuse,
    statistics: refuse,
    durations: refuse,
    sendFiles: refuse,
    findings: refuse,
    diff: refuse,
    besides: refuse,
    callsIn: refuse,
    sql: { ask: refuse, place: refuse },
    displayFrames: refuse,
    idle: () => new Promise(() => undefined),
    states: refuse,
    state: refuse,
    health: refuse,
    eventAt: refuse,
    bytes: refuse,
    quit: refuse,
    tiles: (res, from, to, lanes, signal) =>
      new Promise((answer, fail) => {
        const names = lanes.map((l) => l.kind + l.row).join(',');
        signal?.addEventListener('abort', () => fail(new DOMException('gone', 'AbortError')));
        questions.push({ res, from, to, lanes: names, answer, signal });
      }),
  };
}

/** Names of the colours are their values, so that a drawing says which one it used. */
export function theme(palette: Palette = 'methods', outlined = false): Theme {
  const sizes: Record<string, string> = {
    '--h-row': '18px',
    '--h-bar': '17px',
    '--h-foot': '8px',
    '--h-collapsed': '22px',
    '--h-state': '8px',
    '--h-group': '22px',
    '--h-counter': '36px',
    '--h-frame': '18px',
    '--hit-slop': '3px',
    '--t-bar': '11px',
    '--font': 'sans-serif',
  };
  return readTheme((name) => sizes[name] ?? name, palette, outlined);
}

export async function settle(): Promise<void> {
  for (let i = 0; i < 10; i++) await Promise.resolve();
}

/** Numbers from 0 to 1, the same each time (mulberry32). */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
