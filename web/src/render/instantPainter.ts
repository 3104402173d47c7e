// SPDX-License-Identifier: Apache-2.0
// Instants: a tick above the slices of a thread or processor, or a line through a process or
// through the whole trace.

import { eventColour } from '../model/colours';
import type { Instant } from '../model/engine';
import type { GroupBox, TimelineLayout, TrackBox } from '../model/layout';
import type { Frames } from '../model/names';
import type { Surface } from './surface';
import type { TextMeter } from './text';
import type { Theme } from './theme';
import type { TimeScale } from './timeScale';

/** A click within this distance above or beside a mark, in pixels, still means the mark. */
const REACH = 4;
const MARK = 6;
const LEAST_NAME = 30;

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

/** The position of an instant's mark, and the y to which its line extends. */
interface Place {
  top: number;
  bottom: number;
  /** True for a line without a mark. */
  bare?: boolean;
}

/** Finds the positions of instants. There may be thousands of instants and of tracks in view. */
class Places {
  private readonly groups: readonly GroupBox[];
  private readonly byProcess: Map<number, GroupBox>;
  private readonly byTrack: Map<number, TrackBox>;

  constructor(
    private readonly placed: TimelineLayout,
    top: number,
    bottom: number,
  ) {
    const seen = placed.groups.filter((g) => g.top < bottom && g.bottom > top);
    this.byProcess = new Map(seen.map((g) => [g.process, g]));
    this.groups = seen.filter((g) => g.top + g.height > top);
    const cpus = placed.tracks.filter((box) => box.track.kind === 'cpu');
    this.byTrack = new Map(cpus.map((box) => [box.track.track, box]));
  }

  private line(group: GroupBox, bottom: number): Place {
    return { top: group.top + group.height - MARK - 2, bottom };
  }

  of(instant: Instant): Place[] {
    if (instant.scope === 2) {
      const whole = { top: 0, bottom: this.placed.height, bare: true };
      return [whole, ...this.groups.map((group) => this.line(group, 0))];
    }
    if (instant.scope === 1) {
      const group = this.byProcess.get(instant.of);
      return group ? [this.line(group, group.bottom)] : [];
    }
    const { threads } = this.placed;
    const box = instant.scope === 3 ? this.byTrack.get(instant.of) : threads.get(instant.of);
    return box ? [{ top: box.top + 1, bottom: 0 }] : [];
  }
}

/** Paint the marks and lines of all instants in view. */
export function paintInstants(
  g: Surface,
  s: InstantScene,
  instants: readonly Instant[],
  scroll: number,
  height: number,
): void {
  const places = new Places(s.placed, scroll, scroll + height);
  for (const instant of instants) {
    const x = Math.round(s.scale.x(instant.time));
    if (x < -MARK || x > s.scale.width + MARK) continue;
    const chosen = instant.instant === s.selected;
    const number = eventColour(instant.colour, s.frames.colour(instant.frame));
    const colour = chosen ? s.theme.colour.select : (s.theme.bars[number] ?? '');
    g.strokeStyle = chosen ? colour : s.theme.colour['text-2'];
    g.lineWidth = 1;
    for (const { top, bottom, bare } of places.of(instant)) {
      const from = Math.max(0, top - scroll);
      const to = Math.min(height, bottom - scroll);
      g.fillStyle = chosen ? colour : s.theme.colour['text-3'];
      if (to > from) g.fillRect(x, from, 1, to - from);
      const y = top - scroll;
      if (bare || y + MARK < 0 || y > height) continue;
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
  }
  paintInstantNames(g, s, instants, places, { scroll, height });
}

/**
 * Write the names of instants in the lines of processes and in rows of threads without slices,
 * where nothing else stands. Each name may extend to the next mark.
 */
function paintInstantNames(
  g: Surface,
  s: InstantScene,
  instants: readonly Instant[],
  places: Places,
  view: { scroll: number; height: number },
): void {
  const { scroll, height } = view;
  const free = new Set(
    s.placed.rows.flatMap((b) => {
      const seen = b.top < scroll + height && b.top + b.height > scroll;
      return seen && b.row.kind === 'thread' ? [b.top + 1] : [];
    }),
  );
  const ends = new Map<number, number>();
  g.font = s.theme.font;
  g.textBaseline = 'middle';
  g.fillStyle = s.theme.colour['text-2'];
  const seen = instants.filter(({ scope, of }) => {
    const box = scope === 0 ? s.placed.threads.get(of) : undefined;
    return scope === 1 || scope === 2 || (box !== undefined && free.has(box.top + 1));
  });
  for (const instant of seen.sort((a, b) => b.time - a.time)) {
    const x = Math.round(s.scale.x(instant.time));
    if (x < 0 || x > s.scale.width) continue;
    for (const { top, bare } of places.of(instant)) {
      if (bare || top - scroll < -MARK || top - scroll > height) continue;
      const end = ends.get(top) ?? s.scale.width;
      ends.set(top, x - MARK);
      const room = end - x - MARK - 4;
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
  const places = new Places(s.placed, y - MARK, y + MARK);
  for (const instant of instants) {
    const distance = Math.abs(s.scale.x(instant.time) - x);
    if (distance >= nearest) continue;
    const marks = places.of(instant).filter((p) => p.bare !== true);
    if (!marks.some((p) => y >= p.top - 1 && y <= p.top + MARK + 1)) continue;
    best = instant;
    nearest = distance;
  }
  return best;
}
