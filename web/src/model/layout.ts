// SPDX-License-Identifier: Apache-2.0
// Where each track and each of its lanes stands: heights in CSS pixels, from the top of the list.

import { moved, processKey, UNARRANGED, type Arrangement } from './arrangement';
import type { TileLane, Track, TraceFacts } from './engine';
import { matcher, processName, trackName } from './names';
import { FIRST_LANES, foldRows, foldTracks, rowName, type Row } from './rows';
import { CPUS } from './states';
import { listAt, NO_PLACES, unitsOf, type Unit } from './units';

export interface Heights {
  /** A row of calls and the bar in it. */
  row: number;
  bar: number;
  /** The lane for brackets under the rows. */
  foot: number;
  collapsed: number;
  /** The strip of a thread's states. */
  state: number;
  /** The line of a process, and the area of a counter. */
  group: number;
  counter: number;
}

export interface TrackBox {
  track: Track;
  expanded: boolean;
  /** Levels that have a row; the deeper ones wait until somebody asks for them. */
  shown: number;
  top: number;
  height: number;
}

export const TRACK_PADDING = 3;
/** A collapsed track's bar keeps this distance from its neighbours. */
export const COLLAPSED_PADDING = 3;

/** A deep thread shows so many levels at first, so that the others are in view as well. */
export const FIRST_LEVELS = 14;

/** For one or two levels more nobody should have to ask. */
function shownLevels(track: Track, all: boolean): number {
  return all || track.rows <= FIRST_LEVELS + 2 ? track.rows : FIRST_LEVELS;
}

function expandedHeight(levels: number, h: Heights): number {
  return TRACK_PADDING + levels * h.row + h.foot + 3;
}

/** Under and over a thin strip of states. */
const STATE_PADDING = 4;

/** Tracks of one row, which does not open. */
export function isSingle(track: Track): boolean {
  return track.kind === 'cpu' || track.kind === 'states';
}

function isUnder(states: Track, above: Track | undefined): boolean {
  return above?.kind === 'thread' && above.thread === states.thread;
}

/** States under the slices of their thread need no name. */
export function isThin(box: TrackBox, h: Heights): boolean {
  return box.track.kind === 'states' && box.height < h.collapsed;
}

/** Of the expanded tracks, those in `whole` show every level. */
export function layoutTracks(
  tracks: readonly Track[],
  expanded: ReadonlySet<number>,
  h: Heights,
  whole: ReadonlySet<number> = new Set(),
): TrackBox[] {
  let top = 0;
  return tracks.map((track, i) => {
    const open = expanded.has(track.track) && !isSingle(track);
    const shown = shownLevels(track, whole.has(track.track));
    const thin = track.kind === 'states' && isUnder(track, tracks[i - 1]);
    const height = thin ? h.state + STATE_PADDING : open ? expandedHeight(shown, h) : h.collapsed;
    const box = { track, expanded: open, shown, top, height };
    top += height;
    return box;
  });
}

/** The line of a process over what belongs to it. */
export interface GroupBox {
  /** Index; -1: of no process. */
  process: number;
  open: boolean;
  top: number;
  height: number;
  /** Where the last of what belongs to it ends. */
  bottom: number;
}

export interface RowBox<T extends Row = Row> {
  row: T;
  top: number;
  height: number;
}

/** Where a unit stands. */
export interface UnitBox {
  key: string;
  /** Index of its process; null: there are no lines of processes. */
  process: number | null;
  top: number;
  height: number;
}

export interface Placed {
  tracks: TrackBox[];
  /** What is no track, from the top down. */
  rows: RowBox[];
  groups: GroupBox[];
  /** Where a thread stands, by its index. */
  threads: Map<number, { top: number; height: number }>;
  units: UnitBox[];
  height: number;
  /** Height of what is pinned: it stands first and does not scroll. */
  pinned: number;
  /** Units and processes that are hidden. */
  hidden: number;
}

export interface Opened {
  expanded: ReadonlySet<number>;
  whole: ReadonlySet<number>;
  /** Processes of which only their line is shown. */
  closed: ReadonlySet<number>;
  /** Lines of many rows that show these (rows.ts). */
  folds?: ReadonlySet<string>;
  arrangement?: Arrangement;
  /** Only what has this text in its name. */
  only?: string;
}

/** The processes with their tracks; they may have other things, with tracks and without. */
export function processesOf(
  tracks: readonly Track[],
  others: readonly { process: number }[] = [],
): Map<number, Track[]> {
  const found = new Map<number, Track[]>();
  for (const track of tracks) listAt(found, track.process).push(track);
  for (const { process } of others) if (!found.has(process)) found.set(process, []);
  return found;
}

/** For the way to all lanes, under those that are shown. */
const MORE_LINE = 4;

function rowHeight(row: Row, h: Heights): number {
  if (row.kind === 'counter') return row.under === undefined ? h.counter : h.collapsed + 4;
  if (row.kind === 'objects') {
    const more = row.type.lanes > FIRST_LANES + 2 ? h.foot + MORE_LINE : 0;
    return 2 * TRACK_PADDING + Math.max(1, row.shown) * h.row + more;
  }
  return h.collapsed;
}

/** A process and what belongs to it; null: everything. */
interface Group {
  process: number | null;
  units: Unit[];
}

function byProcess(rows: readonly Row[]): Map<number, Row[]> {
  const found = new Map<number, Row[]>();
  for (const row of rows) listAt(found, row.process).push(row);
  return found;
}

/** Puts what belongs to a process below each other. */
class Stack {
  readonly placed: Placed = {
    ...{ tracks: [], rows: [], groups: [], threads: new Map(), units: [] },
    ...{ height: 0, pinned: 0, hidden: 0 },
  };

  constructor(private readonly h: Heights) {}

  /** A thread stands where its slices are, else where the first of its other things is. */
  private note(thread: number, own: boolean, box: { top: number; height: number }): void {
    if (thread >= 0 && (own || !this.placed.threads.has(thread)))
      this.placed.threads.set(thread, box);
  }

  group(process: number, open: boolean): GroupBox {
    const group = { process, open, top: this.placed.height, height: this.h.group, bottom: 0 };
    this.placed.groups.push(group);
    this.placed.height += group.height;
    return group;
  }

  unit(unit: Unit, process: number | null): void {
    const top = this.placed.height;
    for (const item of unit.items)
      if ('row' in item) this.row(item.row);
      else this.track(item.box);
    this.placed.units.push({ key: unit.key, process, top, height: this.placed.height - top });
  }

  private row(row: Row): void {
    const box = { row, top: this.placed.height, height: rowHeight(row, this.h) };
    this.placed.rows.push(box);
    this.note(row.thread, false, box);
    this.placed.height += box.height;
  }

  private track(laid: TrackBox): void {
    const box = { ...laid, top: this.placed.height };
    this.placed.tracks.push(box);
    this.note(box.track.thread, box.track.kind === 'thread', box);
    this.placed.height += box.height;
  }
}

/** The place of each in an order. */
function placesOf(order: readonly number[] | undefined): ReadonlyMap<number, number> {
  return order ? new Map(order.map((of, place) => [of, place])) : NO_PLACES;
}

/** Processors stand before all processes, what is of none behind. */
function processPlaces(places: ReadonlyMap<number, number>): (process: number) => number {
  return (process) => (process === CPUS ? -1 : (places.get(process) ?? places.size));
}

/** What of a process has the text in its name; all of it when the process has. */
function ofName<T>(
  items: readonly T[],
  nameOf: (item: T) => string,
  process: string,
  only: string,
): readonly T[] {
  const matches = matcher(only);
  return only === '' || matches(process) ? items : items.filter((item) => matches(nameOf(item)));
}

/** Of the trace's facts what says how things stand. */
export type Order = Pick<TraceFacts, 'order' | 'tracks' | 'processes' | 'standing'>;

/** The processes with what belongs to them, each as it stands; one of all in the order of business. */
function groupsOf(facts: Order, opened: Opened, h: Heights, others: readonly Row[]): Group[] {
  const laid = (tracks: readonly Track[]): TrackBox[] =>
    layoutTracks(tracks, opened.expanded, h, opened.whole);
  const only = opened.only ?? '';
  if (facts.order === 'busiest') {
    const tracks = ofName(facts.tracks, trackName, '', only);
    return [{ process: null, units: unitsOf(laid(tracks), [], new Map()) }];
  }
  const folds = opened.folds ?? new Set<string>();
  const rows = byProcess(others);
  const place = processPlaces(placesOf(facts.standing?.processes));
  // Once for all processes: there may be as many of them as threads.
  const threads = placesOf(facts.standing?.threads);
  const processes = [...processesOf(facts.tracks, others)];
  processes.sort(([a], [b]) => place(a) - place(b));
  return processes.map(([process, own]) => {
    const name = processName(facts.processes, process);
    const shown = foldTracks(ofName(own, trackName, name, only), folds);
    const beside = foldRows(ofName(rows.get(process) ?? [], rowName, name, only), folds);
    const units = unitsOf(laid(shown.tracks), beside, shown.folds, threads);
    return { process, units };
  });
}

interface Taken {
  left: Group[];
  /** In the order of the keys. */
  taken: [Unit, number | null][];
}

/** Takes the units of these keys out of their groups. */
function takeUnits(groups: readonly Group[], keys: readonly string[]): Taken {
  if (keys.length === 0) return { left: [...groups], taken: [] };
  const wanted = new Set(keys);
  const found = new Map<string, [Unit, number | null]>();
  const isLeft = (unit: Unit, process: number | null): boolean => {
    if (!wanted.has(unit.key) || found.has(unit.key)) return true;
    found.set(unit.key, [unit, process]);
    return false;
  };
  const left = groups.map(({ process, units }) => {
    return { process, units: units.filter((unit) => isLeft(unit, process)) };
  });
  const taken = [...wanted].flatMap((key) => {
    const own = found.get(key);
    return own ? [own] : [];
  });
  return { left, taken };
}

/** Everything below each other: busiest tracks first, or each process with what belongs to it. */
export function layoutPage(
  facts: Order,
  opened: Opened,
  h: Heights,
  others: readonly Row[] = [],
): Placed {
  const stack = new Stack(h);
  const { placed } = stack;
  const arrangement = opened.arrangement ?? UNARRANGED;
  const all = groupsOf(facts, opened, h, others);
  const pinned = takeUnits(all, arrangement.pinned);
  for (const [unit, process] of pinned.taken) stack.unit(unit, process);
  placed.pinned = placed.height;
  const hidden = new Set(arrangement.hidden);
  const groups = pinned.left.filter(
    ({ process }) => process === null || !hidden.has(processKey(process)),
  );
  const { left, taken } = takeUnits(groups, arrangement.hidden);
  placed.hidden = all.length - groups.length + taken.length;
  const { moves } = arrangement;
  for (const { process, units } of moved(left, (g) => processKey(g.process ?? -1), moves)) {
    // A process of which nothing is left has no line.
    if (units.length === 0) continue;
    const open = process === null || !opened.closed.has(process) || Boolean(opened.only);
    const group = process === null ? null : stack.group(process, open);
    if (open) for (const unit of moved(units, (u) => u.key, moves)) stack.unit(unit, process);
    if (group) group.bottom = placed.height;
  }
  return placed;
}

export function totalHeight(boxes: readonly TrackBox[]): number {
  const last = boxes[boxes.length - 1];
  return last ? last.top + last.height : 0;
}

/** Of those that stand below each other the ones that touch [top, bottom]. */
export function boxesIn<T extends { top: number; height: number }>(
  boxes: readonly T[],
  top: number,
  bottom: number,
): T[] {
  let low = 0;
  let high = boxes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const box = boxes[middle];
    if (box && box.top + box.height < top) low = middle + 1;
    else high = middle;
  }
  const first = low;
  while (low < boxes.length && (boxes[low]?.top ?? Infinity) <= bottom) low++;
  return boxes.slice(first, low);
}

/** Which of those that stand below each other is there. */
export function boxAt<T extends { top: number; height: number }>(
  boxes: readonly T[],
  y: number,
): T | null {
  let low = 0;
  let high = boxes.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const box = boxes[middle];
    if (!box) break;
    if (y < box.top) high = middle - 1;
    else if (y >= box.top + box.height) low = middle + 1;
    else return box;
  }
  return null;
}

export interface LaneBox {
  lane: TileLane;
  top: number;
  height: number;
  /** Row of the call chart, -1 for the one lane of a collapsed track. */
  depth: number;
}

/** What a processor ran is as high as a collapsed track, states are low. */
function singleLane(box: TrackBox, h: Heights): LaneBox {
  const lane: TileLane = { kind: 'r', row: box.track.first_row };
  const height = box.track.kind === 'states' ? h.state : box.height - 2 * COLLAPSED_PADDING;
  return { lane, top: box.top + Math.round((box.height - height) / 2), height, depth: 0 };
}

/** The lanes of a track that touch [top, bottom). */
export function lanesOf(box: TrackBox, h: Heights, top: number, bottom: number): LaneBox[] {
  if (isSingle(box.track)) return [singleLane(box, h)];
  if (!box.expanded) {
    const lane: TileLane = { kind: 'i', row: box.track.track };
    return [
      {
        lane,
        top: box.top + COLLAPSED_PADDING,
        height: box.height - 2 * COLLAPSED_PADDING,
        depth: -1,
      },
    ];
  }
  const first = Math.max(0, Math.floor((top - box.top - TRACK_PADDING) / h.row));
  const last = Math.min(box.shown - 1, Math.floor((bottom - box.top - TRACK_PADDING) / h.row));
  const lanes: LaneBox[] = [];
  for (let depth = first; depth <= last; depth++) {
    lanes.push({
      lane: { kind: 'r', row: box.track.first_row + depth },
      top: box.top + TRACK_PADDING + depth * h.row,
      height: h.bar,
      depth,
    });
  }
  return lanes;
}

export function laneAt(box: TrackBox, h: Heights, y: number): LaneBox | null {
  const lanes = lanesOf(box, h, y, y);
  return lanes.find((lane) => y >= lane.top && y < lane.top + lane.height + 1) ?? null;
}

/** Expand busiest tracks first while they fit; the first one always. */
export function firstExpanded(tracks: readonly Track[], h: Heights, room: number): Set<number> {
  const open = new Set<number>();
  let left = room - tracks.length * h.collapsed;
  for (const track of tracks) {
    if (isSingle(track)) continue;
    const more = expandedHeight(shownLevels(track, false), h) - h.collapsed;
    if (open.size > 0 && more > left) break;
    open.add(track.track);
    left -= more;
  }
  return open;
}

/** Of the expanded tracks those that show every level, busiest first, where there is room for all. */
export function firstWhole(
  tracks: readonly Track[],
  expanded: ReadonlySet<number>,
  h: Heights,
  room: number,
): Set<number> {
  const whole = new Set<number>();
  let left = room - totalHeight(layoutTracks(tracks, expanded, h));
  for (const track of tracks) {
    const more = (track.rows - shownLevels(track, false)) * h.row;
    if (!expanded.has(track.track) || more === 0 || more > left) continue;
    whole.add(track.track);
    left -= more;
  }
  return whole;
}
