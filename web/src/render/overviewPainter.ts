// SPDX-License-Identifier: Apache-2.0
// The overview: the activity of every thread over the whole trace in grey, where colour would be
// noise, and a window that marks the span shown by the time line.

import type { Activity } from '../model/engine';
import type { Span } from '../model/span';
import type { Surface } from './surface';
import type { Theme } from './theme';
import type { TimeScale } from './timeScale';

/** The background of the overview, which does not change while the user pans or zooms. */
export interface OverviewGround {
  theme: Theme;
  /** Spans the whole trace. */
  scale: TimeScale;
  height: number;
  activity: Activity | null;
}

export interface OverviewScene extends OverviewGround {
  view: Span;
  range: Span | null;
  ticks: readonly number[];
  hit: number | null;
}

const TOP = 4;
/** The ticks of search hits are below the lanes. */
const FOOT = 8;
const HIT_HEIGHT = 5;

/** Paint the activity lanes. */
export function paintOverviewGround(g: Surface, s: OverviewGround): void {
  g.fillStyle = s.theme.colour.bg;
  g.fillRect(0, 0, s.scale.width, s.height);
  if (s.activity) paintActivityLanes(g, s, s.activity);
}

/** Paint the range, the window and the search hits over the background. */
export function paintOverview(g: Surface, s: OverviewScene): void {
  if (s.range) paintOverviewRange(g, s, s.range);
  paintOverviewWindow(g, s);
  paintOverviewHits(g, s);
}

function paintActivityLanes(g: Surface, s: OverviewGround, activity: Activity): void {
  const n = activity.lanes.length;
  if (n === 0) return;
  const lane = (s.height - TOP - FOOT) / n;
  const width = Math.ceil(s.scale.width);
  for (let k = 0; k < n; k++) {
    const heights = activity.lanes[k]?.height;
    if (!heights) continue;
    const bottom = TOP + (k + 1) * lane;
    if (lane >= 4) {
      g.fillStyle = s.theme.colour.grid;
      g.fillRect(0, Math.round(bottom) - 1, s.scale.width, 1);
    }
    g.fillStyle = s.theme.colour.activity;
    paintActivityLane(g, heights, width, bottom - (lane >= 4 ? 1 : 0), Math.max(1, lane - 1));
  }
}

/** Paint one lane of activity. Neighbouring pixels of one height become one rectangle. */
function paintActivityLane(
  g: Surface,
  heights: Uint8Array,
  width: number,
  bottom: number,
  room: number,
): void {
  let from = 0;
  let old = 0;
  for (let x = 0; x <= width; x++) {
    const now = x < width ? highestActivity(heights, x, width) : 0;
    if (now === old) continue;
    if (old > 0) {
      const high = Math.max(1, (old / 255) * room);
      g.fillRect(from, bottom - high, x - from, high);
    }
    from = x;
    old = now;
  }
}

function highestActivity(heights: Uint8Array, x: number, width: number): number {
  const first = Math.floor((x * heights.length) / width);
  const last = Math.max(first + 1, Math.floor(((x + 1) * heights.length) / width));
  let most = 0;
  for (let i = first; i < last; i++) most = Math.max(most, heights[i] ?? 0);
  return most;
}

function paintOverviewRange(g: Surface, s: OverviewScene, range: Span): void {
  const a = s.scale.x(range.from);
  const w = Math.max(2, s.scale.x(range.to) - a);
  g.fillStyle = s.theme.colour.range;
  g.globalAlpha = 0.22;
  g.fillRect(a, 0, w, s.height);
  g.globalAlpha = 1;
  g.fillRect(a, s.height - 2, w, 2);
}

function paintOverviewWindow(g: Surface, s: OverviewScene): void {
  const a = Math.max(0, s.scale.x(s.view.from));
  const b = Math.min(s.scale.width, Math.max(s.scale.x(s.view.to), a + 2));
  g.fillStyle = s.theme.colour.bg;
  g.globalAlpha = 0.62;
  g.fillRect(0, 0, a, s.height);
  g.fillRect(b, 0, s.scale.width - b, s.height);
  g.globalAlpha = 1;
  g.strokeStyle = s.theme.colour.text;
  g.lineWidth = 1;
  g.strokeRect(a + 0.5, 0.5, Math.max(1, b - a - 1), s.height - 1);
  for (const x of [a, b - 4]) {
    g.fillStyle = s.theme.colour.text;
    g.fillRect(x, s.height / 2 - 10, 4, 20);
    g.fillStyle = s.theme.colour.bg;
    g.fillRect(x + 1.5, s.height / 2 - 5, 1, 10);
  }
}

function paintOverviewHits(g: Surface, s: OverviewScene): void {
  g.fillStyle = s.theme.colour.hit;
  let drawn = -2;
  for (let i = 0; i < s.ticks.length; i += 2) {
    const x = s.scale.x(s.ticks[i] ?? 0);
    if (Math.abs(x - drawn) < 1) continue;
    drawn = x;
    g.fillRect(x - 0.5, s.height - HIT_HEIGHT, 1.5, HIT_HEIGHT);
  }
  if (s.hit === null) return;
  const x = s.scale.x(s.hit);
  g.beginPath();
  g.moveTo(x - 4, s.height - 10);
  g.lineTo(x + 4, s.height - 10);
  g.lineTo(x, s.height - 3);
  g.closePath();
  g.fill();
}
