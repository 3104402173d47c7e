// SPDX-License-Identifier: Apache-2.0
// Instants: a tick above the slices of a thread, a line through a process or through everything.

import type { Instant } from '../model/engine';
import type { GroupBox, Placed } from '../model/layout';
import type { Frames } from '../model/names';
import type { Context } from './shapes';
import type { TextMeter } from './text';
import type { Theme } from './theme';
import type { TimeScale } from './timeScale';

/** So far above and beside a mark it is still meant. */
const REACH = 4;
const MARK = 6;
const LEAST_NAME = 30;

export interface InstantScene {
  theme: Theme;
  scale: TimeScale;
  meter: TextMeter;
  frames: Frames;
  selected: number | null;
  /** The index of a process -> the line under which things of it stand. */
  placed: Placed;
}

/** Where the mark of an instant stands, and down to where its line goes. */
interface Place {
  top: number;
  bottom: number;
}

function places(s: Pick<InstantScene, 'placed'>, instant: Instant): Place[] {
  const { groups, threads, height } = s.placed;
  const line = (group: GroupBox, bottom: number): Place => ({
    top: group.top + group.height - MARK - 2,
    bottom,
  });
  if (instant.scope === 2) return groups.map((group, i) => line(group, i === 0 ? height : 0));
  if (instant.scope === 1)
    return groups.filter((g) => g.process === instant.of).map((g) => line(g, g.bottom));
  const box = threads.get(instant.of);
  return box ? [{ top: box.top + 1, bottom: 0 }] : [];
}

export function paintInstants(
  g: Context,
  s: InstantScene,
  instants: readonly Instant[],
  scroll: number,
  height: number,
): void {
  for (const instant of instants) {
    const x = Math.round(s.scale.x(instant.time));
    if (x < -MARK || x > s.scale.width + MARK) continue;
    const chosen = instant.instant === s.selected;
    g.fillStyle = chosen ? s.theme.colour.select : s.theme.colour.hit;
    for (const { top, bottom } of places(s, instant)) {
      const from = Math.max(0, top - scroll);
      const to = Math.min(height, bottom - scroll);
      if (to > from) g.fillRect(x, from, 1, to - from);
      const y = top - scroll;
      if (y + MARK < 0 || y > height) continue;
      g.beginPath();
      g.moveTo(x - 3.5, y);
      g.lineTo(x + 4.5, y);
      g.lineTo(x + 0.5, y + MARK);
      g.closePath();
      g.fill();
      if (chosen) g.fillRect(x - 4, y, 9, 2);
    }
  }
  paintNames(g, s, instants, scroll, height);
}

/**
 * Names stand in the lines of processes and in rows of threads without slices, where nothing else
 * does: each up to the next one's mark.
 */
function paintNames(
  g: Context,
  s: InstantScene,
  instants: readonly Instant[],
  scroll: number,
  height: number,
): void {
  const bare = new Set(s.placed.rows.flatMap((b) => (b.row.kind === 'thread' ? [b.top + 1] : [])));
  const ends = new Map<number, number>();
  g.font = s.theme.font;
  g.textBaseline = 'middle';
  g.fillStyle = s.theme.colour['text-2'];
  for (const instant of [...instants].sort((a, b) => b.time - a.time)) {
    const x = Math.round(s.scale.x(instant.time));
    if (x < 0 || x > s.scale.width) continue;
    for (const { top } of places(s, instant)) {
      if (top - scroll < -MARK || top - scroll > height) continue;
      if (instant.scope === 0 && !bare.has(top)) continue;
      const end = ends.get(top) ?? s.scale.width;
      ends.set(top, x - MARK);
      const room = end - x - MARK - 4;
      const text = room < LEAST_NAME ? '' : s.meter.fit(s.frames.short(instant.frame), room);
      const y = instant.scope === 0 ? top + 10 : top - 4;
      if (text !== '') g.fillText(text, x + MARK + 1, y - scroll);
    }
  }
}

/** The nearest instant whose mark is under a point; y from the top of the list. */
export function instantAt(
  s: Pick<InstantScene, 'placed' | 'scale'>,
  instants: readonly Instant[],
  x: number,
  y: number,
): Instant | null {
  let best: Instant | null = null;
  let nearest = REACH + 1;
  for (const instant of instants) {
    const distance = Math.abs(s.scale.x(instant.time) - x);
    if (distance >= nearest) continue;
    if (!places(s, instant).some((p) => y >= p.top - 1 && y <= p.top + MARK + 1)) continue;
    best = instant;
    nearest = distance;
  }
  return best;
}
