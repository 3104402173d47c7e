// SPDX-License-Identifier: Apache-2.0
// Layout of the timeline: the vertical position of every track, row and lane, in CSS pixels from
// the top of the list.
//
//   unit    items that move together: a thread, its states, its counters (units.ts)
//   track   one box of slices or states; a row is any other box (counter, objects, ...)
//   lane    one line of slices inside an expanded track
//   group   the heading of a process, above the units of that process

import { applyMoves, processKey, UNARRANGED, type Arrangement } from './arrangement';
import type { TileLane } from './engine';
import type { Track, TraceFacts } from './traceFacts';
import { substringMatcher, processName, trackName } from './names';
import {
  FIRST_LANES,
  foldedKinds,
  foldProcessors,
  foldRows,
  foldTracks,
  rowName,
  type Row,
} from './rows';
import { CPUS } from './states';
import { listAt, NO_PLACES, unitsOf, type TimelineUnit } from './units';

/** Heights of the parts of the timeline. */
export interface Heights {
  /** A row of calls, and the bar inside it. */
  row: number;
  bar: number;
  /** The lane for brackets under the rows. */
  foot: number;
  collapsed: number;
  /** The thin row of a thread's states. */
  state: number;
  /** The heading of a process, and the area of a counter. */
  group: number;
  counter: number;
}

/** A track with its position. */
export interface TrackBox {
  track: Track;
  expanded: boolean;
  /** Number of visible levels; deeper ones wait until the user asks for them. */
  shown: number;
  top: number;
  height: number;
}

export const TRACK_PADDING = 3;
/** Distance of a collapsed track's bar to the neighbours. */
export const COLLAPSED_PADDING = 3;

/** A deep thread first shows this many levels, so that other threads are in view as well. */
export const FIRST_LEVELS = 14;

/** Show one or two hidden levels at once instead of a link. */
function shownLevels(track: Track, all: boolean): number {
  return all || track.rows <= FIRST_LEVELS + 2 ? track.rows : FIRST_LEVELS;
}

function expandedHeight(levels: number, h: Heights): number {
  return TRACK_PADDING + levels * h.row + h.foot + 3;
}

/** Space above and below a thin row of states. */
const STATE_PADDING = 4;

/** Tell whether a track has only one row and cannot be expanded. */
export function isSingle(track: Track): boolean {
  return track.kind === 'cpu' || track.kind === 'states';
}

function isUnderSlices(states: Track, above: Track | undefined): boolean {
  return above?.kind === 'thread' && above.thread === states.thread;
}

/**
 * Tell whether a track of states is below the slices of its thread, which makes a name
 * needless.
 */
export function isThin(box: TrackBox, h: Heights): boolean {
  return box.track.kind === 'states' && box.height < h.collapsed;
}

/** Lay out tracks from the top down. Expanded tracks in `whole` show every level. */
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
    const thin = track.kind === 'states' && isUnderSlices(track, tracks[i - 1]);
    const height = thin ? h.state + STATE_PADDING : open ? expandedHeight(shown, h) : h.collapsed;
    const box = { track, expanded: open, shown, top, height };
    top += height;
    return box;
  });
}

/** The heading of a process, above everything that belongs to the process. */
export interface GroupBox {
  /** Index of the process; -1: no process. */
  process: number;
  open: boolean;
  top: number;
  height: number;
  /** Lower edge of the last item of the process. */
  bottom: number;
}

/** A row with its position. */
export interface RowBox<T extends Row = Row> {
  row: T;
  top: number;
  height: number;
}

/** A unit with its position. */
export interface UnitBox {
  key: string;
  /** Index of the process; null: the timeline has no process headings. */
  process: number | null;
  top: number;
  height: number;
}

/** The finished layout. */
export interface TimelineLayout {
  tracks: TrackBox[];
  /** Items that are not tracks, from the top down. */
  rows: RowBox[];
  groups: GroupBox[];
  /** Position of each thread, by index. */
  threads: Map<number, { top: number; height: number }>;
  units: UnitBox[];
  height: number;
  /** Height of the pinned units, which come first and do not scroll. */
  pinned: number;
  /** Number of hidden units and processes. */
  hidden: number;
}

/** The choices of the user that the layout depends on. */
export interface LayoutOptions {
  expanded: ReadonlySet<number>;
  whole: ReadonlySet<number>;
  /** Processes that show only their heading. */
  closed: ReadonlySet<number>;
  /** Fold lines that show their rows (rows.ts). */
  folds?: ReadonlySet<string>;
  arrangement?: Arrangement;
  /** Show only items whose name contains this text. */
  only?: string;
}

/** Return the processes with their tracks, including processes that only own `others`. */
export function processesOf(
  tracks: readonly Track[],
  others: readonly { process: number }[] = [],
): Map<number, Track[]> {
  const found = new Map<number, Track[]>();
  for (const track of tracks) listAt(found, track.process).push(track);
  for (const { process } of others) if (!found.has(process)) found.set(process, []);
  return found;
}

/** Space for the link to the hidden lanes, below the visible ones. */
const MORE_LINE = 4;

function rowHeight(row: Row, h: Heights): number {
  if (row.kind === 'counter') return row.under === undefined ? h.counter : h.collapsed + 4;
  if (row.kind === 'objects') {
    const more = row.type.lanes > FIRST_LANES + 2 ? h.foot + MORE_LINE : 0;
    return 2 * TRACK_PADDING + Math.max(1, row.shown) * h.row + more;
  }
  if (row.kind === 'samples' && row.open) return h.collapsed + row.levels * h.row + h.foot;
  return h.collapsed;
}

/** A process with its units; null: all units of the trace. */
interface ProcessGroup {
  process: number | null;
  units: TimelineUnit[];
}

function rowsByProcess(rows: readonly Row[]): Map<number, Row[]> {
  const found = new Map<number, Row[]>();
  for (const row of rows) listAt(found, row.process).push(row);
  return found;
}

/** Places units below one another and collects their boxes. */
class LayoutStack {
  readonly placed: TimelineLayout = {
    ...{ tracks: [], rows: [], groups: [], threads: new Map(), units: [] },
    ...{ height: 0, pinned: 0, hidden: 0 },
  };

  constructor(private readonly h: Heights) {}

  /** Remember the position of a thread: that of its slices, or else of its first other item. */
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

  unit(unit: TimelineUnit, process: number | null): void {
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

/** Invert an order: map each item to its position. */
function orderPositions(order: readonly number[] | undefined): ReadonlyMap<number, number> {
  return order ? new Map(order.map((of, place) => [of, place])) : NO_PLACES;
}

/** Sort processors before all processes, and items without a process after them. */
function processPlaces(places: ReadonlyMap<number, number>): (process: number) => number {
  return (process) => (process === CPUS ? -1 : (places.get(process) ?? places.size));
}

/** Filter items by name. All items stay if the name of their process matches. */
function filterByName<T>(
  items: readonly T[],
  nameOf: (item: T) => string,
  process: string,
  only: string,
): readonly T[] {
  const matches = substringMatcher(only);
  return only === '' || matches(process) ? items : items.filter((item) => matches(nameOf(item)));
}

/** Put async slices below the threads of a process: some programs have a track for each name. */
function threadsFirst(tracks: readonly Track[]): Track[] {
  const isAsync = ({ kind }: Track): boolean => kind === 'async';
  return [...tracks.filter((track) => !isAsync(track)), ...tracks.filter(isAsync)];
}

/** The parts of the trace info that determine the order of the timeline. */
export type TrackOrder = Pick<TraceFacts, 'order' | 'tracks' | 'processes' | 'standing'>;

/**
 * Return the processes with their units in order; one group with all tracks if the busiest come
 * first.
 */
function processGroups(
  facts: TrackOrder,
  opened: LayoutOptions,
  h: Heights,
  others: readonly Row[],
): ProcessGroup[] {
  const laid = (tracks: readonly Track[]): TrackBox[] =>
    layoutTracks(tracks, opened.expanded, h, opened.whole);
  const only = opened.only ?? '';
  if (facts.order === 'busiest') {
    const tracks = filterByName(facts.tracks, trackName, '', only);
    return [{ process: null, units: unitsOf(laid(tracks), [], new Map()) }];
  }
  const folds = opened.folds ?? new Set<string>();
  const rows = rowsByProcess(others);
  const place = processPlaces(orderPositions(facts.standing?.processes));
  // Computed once for all processes: there may be as many processes as threads.
  const threads = orderPositions(facts.standing?.threads);
  const processes = [...processesOf(facts.tracks, others)].map(([process, own]) => {
    const name = processName(facts.processes, process);
    return {
      process,
      tracks: threadsFirst(filterByName(own, trackName, name, only)),
      rows: filterByName(rows.get(process) ?? [], rowName, name, only),
    };
  });
  processes.sort((a, b) => place(a.process) - place(b.process));
  const folded = foldedKinds(processes, facts.tracks.length > 0);
  return processes.map(({ process, tracks, rows: own }) => {
    const processors = foldProcessors(tracks, folds);
    const shown = foldTracks(processors.tracks, folds);
    const beside = [...processors.line, ...foldRows(processors.visible(own), folds, folded)];
    return { process, units: unitsOf(laid(shown.tracks), beside, shown.folds, threads) };
  });
}

/** The units that were taken out, and the groups without them. */
interface TakenUnits {
  left: ProcessGroup[];
  /** Unit and process, in the order of the keys. */
  taken: [TimelineUnit, number | null][];
}

/** Take the units with these keys out of their groups. */
function takeUnits(groups: readonly ProcessGroup[], keys: readonly string[]): TakenUnits {
  if (keys.length === 0) return { left: [...groups], taken: [] };
  const wanted = new Set(keys);
  const found = new Map<string, [TimelineUnit, number | null]>();
  const isLeft = (unit: TimelineUnit, process: number | null): boolean => {
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

/** Lay out the timeline: the busiest tracks first, or each process with its units. */
export function layoutTimeline(
  facts: TrackOrder,
  opened: LayoutOptions,
  h: Heights,
  others: readonly Row[] = [],
): TimelineLayout {
  const stack = new LayoutStack(h);
  const { placed } = stack;
  const arrangement = opened.arrangement ?? UNARRANGED;
  const all = processGroups(facts, opened, h, others);
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
  for (const { process, units } of applyMoves(left, (g) => processKey(g.process ?? -1), moves)) {
    // A process without visible units has no heading.
    if (units.length === 0) continue;
    const open = process === null || !opened.closed.has(process) || Boolean(opened.only);
    const group = process === null ? null : stack.group(process, open);
    if (open) for (const unit of applyMoves(units, (u) => u.key, moves)) stack.unit(unit, process);
    if (group) group.bottom = placed.height;
  }
  return placed;
}

/** Return the lower edge of the last box. */
export function totalHeight(boxes: readonly TrackBox[]): number {
  const last = boxes[boxes.length - 1];
  return last ? last.top + last.height : 0;
}

/** Return the boxes that touch [top, bottom]; the boxes must be sorted from the top down. */
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

/** Return the box at height y; the boxes must be sorted from the top down. */
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

/** A lane with its position. */
export interface LaneBox {
  lane: TileLane;
  top: number;
  height: number;
  /** Level of the call stack; -1: the only lane of a collapsed track. */
  depth: number;
}

/** Return the only lane of a processor or states track. States are thinner. */
function singleLane(box: TrackBox, h: Heights): LaneBox {
  const lane: TileLane = { kind: 'r', row: box.track.first_row };
  const height = box.track.kind === 'states' ? h.state : box.height - 2 * COLLAPSED_PADDING;
  return { lane, top: box.top + Math.round((box.height - height) / 2), height, depth: 0 };
}

/** Return the lanes of a track that touch [top, bottom). */
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

/** Return the lane at height y. */
export function laneAt(box: TrackBox, h: Heights, y: number): LaneBox | null {
  const lanes = lanesOf(box, h, y, y);
  return lanes.find((lane) => y >= lane.top && y < lane.top + lane.height + 1) ?? null;
}

/**
 * Choose the tracks to expand at first: the busiest ones, as long as they fit, and at least one.
 */
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

/** Choose the expanded tracks that show every level: the busiest ones, as long as they fit. */
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
