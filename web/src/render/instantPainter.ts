// SPDX-License-Identifier: Apache-2.0
// Instants: a tick above the slices of a thread or processor, or a line through a process or
// through the whole trace.
//
//     scope of an instant     mark                           line
//     thread, processor       above its slices               none
//     process                 at the foot of its heading     through the rows of the process
//     trace                   in each heading                through everything
//
// One of several instants in a pixel is painted, the selected one if it is among them. Lines that
// would be closer than 32 pixels on average are left out: they would hide what they run through.

import { eventColour } from '../model/colours';
import type { Instant } from '../model/engine';
import type { GroupBox, TimelineLayout } from '../model/layout';
import type { Frames } from '../model/names';
import type { Surface } from './surface';
import type { TextMeter } from './text';
import type { Theme } from './theme';
import type { TimeScale } from './timeScale';

/** A click within this distance above or beside a mark, in pixels, still means the mark. */
const REACH = 4;
const MARK = 6;
const LEAST_NAME = 30;
/** Lines that are closer than this on average would hide what they run through. */
const LEAST_BETWEEN_LINES = 32;

/** The state from which instants are painted. */
export interface InstantScene {
  theme: Theme;
  scale: TimeScale;
  meter: TextMeter;
  frames: Frames;
  selected: number | null;
  /** The layout, which places the line of each process. */
  placed: TimelineLayout;
}

/** Instants that share a place: the marks of one row, or the lines through a process or the trace. */
interface InstantPlace {
  /** The upper edge of the marks. */
  top: number;
  /** The lower end of the lines; less than `top` if there are none. */
  bottom: number;
  /** True for lines without marks. */
  bare?: boolean;
  /** True if only the line of the selected instant is painted. */
  crowded?: boolean;
  instants: readonly Instant[];
}

/** Instants by what they belong to, each list in the order of time. */
interface ByOwner {
  threads: Map<number, Instant[]>;
  processes: Map<number, Instant[]>;
  tracks: Map<number, Instant[]>;
  everywhere: Instant[];
}

/** An answer of the engine is grouped once, and painted in hundreds of frames. */
const grouped = new WeakMap<readonly Instant[], ByOwner>();

function byOwner(instants: readonly Instant[]): ByOwner {
  const known = grouped.get(instants);
  if (known) return known;
  const found: ByOwner = {
    ...{ threads: new Map(), processes: new Map(), tracks: new Map(), everywhere: [] },
  };
  const owners = [found.threads, found.processes, null, found.tracks];
  for (const instant of [...instants].sort((a, b) => a.time - b.time)) {
    const owner = owners[instant.scope];
    const list = owner ? owner.get(instant.of) : found.everywhere;
    if (list) list.push(instant);
    else owner?.set(instant.of, [instant]);
  }
  grouped.set(instants, found);
  return found;
}

/** Return the places whose marks or lines are between two heights of the list: lines first. */
function placesIn(
  placed: TimelineLayout,
  instants: readonly Instant[],
  top: number,
  bottom: number,
): InstantPlace[] {
  const of = byOwner(instants);
  const groups = placed.groups.filter((g) => g.top < bottom && g.bottom > top);
  const places: InstantPlace[] = [];
  if (of.everywhere.length > 0) {
    places.push({ top: 0, bottom: placed.height, bare: true, instants: of.everywhere });
    for (const group of groups)
      if (group.top + group.height > top)
        places.push({ top: markTop(group), bottom: 0, instants: of.everywhere });
  }
  for (const group of groups) {
    const own = of.processes.get(group.process);
    if (own) places.push({ top: markTop(group), bottom: group.bottom, instants: own });
  }
  const add = (box: { top: number }, own: readonly Instant[] | undefined): void => {
    const seen = box.top + 1 + MARK >= top && box.top + 1 <= bottom;
    if (seen && own) places.push({ top: box.top + 1, bottom: 0, instants: own });
  };
  for (const [thread, own] of of.threads) {
    const box = placed.threads.get(thread);
    if (box) add(box, own);
  }
  if (of.tracks.size > 0)
    for (const box of placed.tracks)
      if (box.track.kind === 'cpu') add(box, of.tracks.get(box.track.track));
  return places;
}

const markTop = (group: GroupBox): number => group.top + group.height - MARK - 2;

/**
 * Paint the marks and lines of all instants in view. Of those in one pixel of a row only one is
 * painted: the selected one, else the last.
 */
export function paintInstants(
  g: Surface,
  s: InstantScene,
  instants: readonly Instant[],
  scroll: number,
  height: number,
): void {
  const places = placesIn(s.placed, instants, scroll, scroll + height);
  g.lineWidth = 1;
  for (const place of places) {
    if (place.bottom > place.top) place.crowded = areCrowded(s.scale, place.instants);
    let waiting: Instant | null = null;
    let at = 0;
    for (const instant of place.instants) {
      const x = Math.round(s.scale.x(instant.time));
      if (x < -MARK) continue;
      if (x > s.scale.width + MARK) break;
      if (waiting && x !== at) paintInstant(g, s, waiting, at, { place, scroll, height });
      if (!waiting || x !== at || waiting.instant !== s.selected) waiting = instant;
      at = x;
    }
    if (waiting) paintInstant(g, s, waiting, at, { place, scroll, height });
  }
  paintInstantNames(g, s, places, { scroll, height });
}

function areCrowded(scale: TimeScale, instants: readonly Instant[]): boolean {
  const { from, to } = scale.view;
  let columns = 0;
  let at = -1;
  for (const { time } of instants) {
    if (time < from || time > to) continue;
    const x = Math.round(scale.x(time));
    if (x !== at) columns++;
    at = x;
  }
  return columns * LEAST_BETWEEN_LINES > scale.width;
}

/** Paint the line and the mark of one instant. */
function paintInstant(
  g: Surface,
  s: InstantScene,
  instant: Instant,
  x: number,
  { place, scroll, height }: { place: InstantPlace; scroll: number; height: number },
): void {
  const chosen = instant.instant === s.selected;
  const number = eventColour(instant.colour, s.frames.colour(instant.frame));
  const colour = chosen ? s.theme.colour.select : (s.theme.bars[number] ?? '');
  const from = Math.max(0, place.top - scroll);
  const to = Math.min(height, place.bottom - scroll);
  g.fillStyle = chosen ? colour : s.theme.colour['text-3'];
  if (to > from && (chosen || !place.crowded)) g.fillRect(x, from, 1, to - from);
  const y = place.top - scroll;
  if (place.bare || y + MARK < 0 || y > height) return;
  g.strokeStyle = chosen ? colour : s.theme.colour['text-2'];
  g.beginPath();
  g.moveTo(x - 3.5, y);
  g.lineTo(x + 4.5, y);
  g.lineTo(x + 0.5, y + MARK);
  g.closePath();
  g.fillStyle = colour;
  g.fill();
  // The outline makes light colours visible on the background and on slices.
  g.stroke();
  if (chosen) g.fillRect(x - 4, y, 9, 2);
}

/**
 * Write the names of instants in the lines of processes and in rows of threads without slices,
 * where nothing else stands. Each name may extend to the next mark.
 */
function paintInstantNames(
  g: Surface,
  s: InstantScene,
  places: readonly InstantPlace[],
  view: { scroll: number; height: number },
): void {
  const { scroll, height } = view;
  const free = new Set(
    s.placed.rows.flatMap((b) => {
      const seen = b.top < scroll + height && b.top + b.height > scroll;
      return seen && b.row.kind === 'thread' ? [b.top + 1] : [];
    }),
  );
  const rows = new Map<number, Instant[]>();
  for (const { top, bare, instants } of places) {
    const [first] = instants;
    const named = first?.scope === 1 || first?.scope === 2 || (first?.scope === 0 && free.has(top));
    if (bare || !named || top - scroll < -MARK || top - scroll > height) continue;
    rows.set(top, [...(rows.get(top) ?? []), ...instants]);
  }
  g.font = s.theme.font;
  g.textBaseline = 'middle';
  g.fillStyle = s.theme.colour['text-2'];
  for (const [top, instants] of rows) {
    let end = s.scale.width;
    for (const instant of instants.sort((a, b) => b.time - a.time)) {
      const x = Math.round(s.scale.x(instant.time));
      if (x > s.scale.width) continue;
      if (x < 0) break;
      const room = end - x - MARK - 4;
      end = x - MARK;
      const text = room < LEAST_NAME ? '' : s.meter.fit(s.frames.short(instant.frame), room);
      const y = instant.scope === 0 ? top + 10 : top - 4;
      if (text !== '') g.fillText(text, x + MARK + 1, y - scroll);
    }
  }
}

/** Return the nearest instant whose mark is under a point; y counts from the top of the list. */
export function instantAt(
  s: Pick<InstantScene, 'placed' | 'scale'>,
  instants: readonly Instant[],
  x: number,
  y: number,
): Instant | null {
  let best: Instant | null = null;
  let nearest = REACH + 1;
  for (const place of placesIn(s.placed, instants, y - MARK, y + MARK)) {
    if (place.bare || y < place.top - 1 || y > place.top + MARK + 1) continue;
    for (const instant of place.instants) {
      const distance = Math.abs(s.scale.x(instant.time) - x);
      if (distance >= nearest) continue;
      best = instant;
      nearest = distance;
    }
  }
  return best;
}
