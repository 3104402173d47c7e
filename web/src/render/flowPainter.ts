// SPDX-License-Identifier: Apache-2.0
// Flows: arrows from one call or instant to another. If the track of an end shows no rows, the
// arrow ends at the line of the track, or at the line of its collapsed process. If an end lies
// outside the visible time, the arrow is dashed and stops at the edge of the view.
//
// Each arrow is one cubic Bezier curve with horizontal tangents at both ends:
//
//    call A ---.              x: x0, x0 + bend, x3 - bend, x3
//              |              y: y0, y0, y3, y3
//              '---> call B   (an arrow along one row rises by RISE)
//
// Hit testing approximates the curve by CURVE_SEGMENTS line segments.

import type { Flow, FlowEnd } from '../model/flowAnswers';
import {
  TRACK_PADDING,
  type GroupBox,
  type Heights,
  type TimelineLayout,
  type TrackBox,
} from '../model/layout';
import type { Surface } from './surface';
import type { Theme } from './theme';
import type { TimeScale } from './timeScale';

const HEAD = 7;
const SMALL_HEAD = 5;
const DOT = 2;
/** The minimum and maximum distance for which a curve keeps its initial direction. */
const LEAST_BEND = 16;
const MOST_BEND = 80;
/** The height of an arrow whose two ends are on one row. */
const RISE = 16;
const CURVE_SEGMENTS = 24;
/** The middle of an instant's mark lies this far below the top of its thread. */
const INSTANT_MIDDLE = 4;

/** The state from which flows are painted. */
export interface FlowScene {
  theme: Theme;
  scale: TimeScale;
  placed: TimelineLayout;
  /** The scroll offset of the tracks that are not pinned. */
  scroll: number;
  /** Return the index of the process of an end. */
  processOf: (end: FlowEnd) => number;
}

/**
 * The four control points of a Bezier curve. x counts in canvas pixels, y from the top of the
 * scrolled list.
 */
export interface Curve {
  x: readonly [number, number, number, number];
  y: readonly [number, number, number, number];
  /** -1 if the end is before the visible time, 1 if it is after it, else 0. */
  cutFrom: -1 | 0 | 1;
  cutTo: -1 | 0 | 1;
}

interface Places {
  tracks: ReadonlyMap<number, TrackBox>;
  groups: ReadonlyMap<number, GroupBox>;
}

const known = new WeakMap<TimelineLayout, Places>();

/** Index the boxes by track and process: there may be as many arrows as tracks. */
function flowPlacesOf(placed: TimelineLayout): Places {
  let places = known.get(placed);
  if (!places) {
    const tracks = new Map(placed.tracks.map((box) => [box.track.track, box]));
    places = { tracks, groups: new Map(placed.groups.map((g) => [g.process, g])) };
    known.set(placed, places);
  }
  return places;
}

/** Return the y of the line on which an end stands, or null if there is none. */
export function flowLineOf(
  placed: TimelineLayout,
  heights: Heights,
  end: FlowEnd,
  processOf: (end: FlowEnd) => number,
): number | null {
  const thread = end.thread === undefined ? undefined : placed.threads.get(end.thread);
  if (thread) return thread.top + INSTANT_MIDDLE;
  const { tracks, groups } = flowPlacesOf(placed);
  const box = tracks.get(end.track);
  if (!box) {
    const group = groups.get(processOf(end));
    return group ? group.top + group.height / 2 : null;
  }
  if (!box.expanded) return box.top + box.height / 2;
  const depth = end.row - box.track.first_row;
  const first = box.top + TRACK_PADDING;
  if (depth >= box.shown) return first + box.shown * heights.row;
  return first + depth * heights.row + heights.bar / 2;
}

function sideOfView(x: number, width: number): -1 | 0 | 1 {
  return x < 0 ? -1 : x > width ? 1 : 0;
}

/**
 * Return the y of an end in the scrolled list. A pinned track does not scroll, so add the scroll
 * offset.
 */
function flowEndY(s: FlowScene, end: FlowEnd): number | null {
  const line = flowLineOf(s.placed, s.theme.heights, end, s.processOf);
  return line !== null && line < s.placed.pinned ? line + s.scroll : line;
}

/** Return the curve of a flow, or null if nothing of it is visible. */
export function flowCurveOf(s: FlowScene, flow: Flow): Curve | null {
  const y0 = flowEndY(s, flow.from);
  const y3 = flowEndY(s, flow.to);
  if (y0 === null || y3 === null) return null;
  const { width } = s.scale;
  const from = s.scale.x(flow.from.time);
  const to = s.scale.x(flow.to.time);
  const cutFrom = sideOfView(from, width);
  const cutTo = sideOfView(to, width);
  if (cutFrom !== 0 && cutFrom === cutTo) return null;
  const x0 = Math.max(0, Math.min(width, from));
  const x3 = Math.max(0, Math.min(width, to));
  const across = Math.abs(x3 - x0);
  // Both ends fall on one point, so there is nothing to see.
  if (across < 3 && Math.abs(y3 - y0) < 3) return null;
  const bend = Math.max(LEAST_BEND, Math.min(MOST_BEND, across / 2));
  const rise = y0 === y3 ? Math.min(RISE, across / 2) : 0;
  return {
    x: [x0, x0 + bend, x3 - bend, x3],
    y: [y0, y0 - rise, y3 - rise, y3],
    cutFrom,
    cutTo,
  };
}

function bezierAt(p: readonly [number, number, number, number], t: number): number {
  const u = 1 - t;
  return u * u * u * p[0] + 3 * u * u * t * p[1] + 3 * u * t * t * p[2] + t * t * t * p[3];
}

function strokeFlowCurve(g: Surface, c: Curve, above: number): void {
  g.beginPath();
  g.moveTo(c.x[0], c.y[0] - above);
  g.bezierCurveTo(
    ...([c.x[1], c.y[1] - above] as const),
    ...([c.x[2], c.y[2] - above] as const),
    ...([c.x[3], c.y[3] - above] as const),
  );
  g.stroke();
}

/**
 * Draw the arrow head along the last direction of the curve, or pointing out of the view if the end
 * is outside.
 */
function fillArrowHead(g: Surface, c: Curve, above: number, size: number): void {
  const along =
    c.cutTo !== 0
      ? Math.atan2(0, c.cutTo)
      : Math.atan2(c.y[3] - bezierAt(c.y, 0.9), c.x[3] - bezierAt(c.x, 0.9));
  const point = (back: number, aside: number): [number, number] => [
    c.x[3] - back * Math.cos(along) - aside * Math.sin(along),
    c.y[3] - above - back * Math.sin(along) + aside * Math.cos(along),
  ];
  g.beginPath();
  g.moveTo(...point(0, 0));
  g.lineTo(...point(size, size * 0.55));
  g.lineTo(...point(size, -size * 0.55));
  g.closePath();
  g.fill();
}

export type FlowLook = 'selected' | 'other' | 'hovered';

function paintFlow(g: Surface, s: FlowScene, c: Curve, look: FlowLook, above: number): void {
  const { colour } = s.theme;
  const strong = look !== 'other';
  const ink = look === 'hovered' ? colour.select : strong ? colour['text-2'] : colour['text-3'];
  g.setLineDash([]);
  if (strong) {
    g.strokeStyle = colour.bg;
    g.lineWidth = look === 'hovered' ? 5 : 4;
    strokeFlowCurve(g, c, above);
  }
  if (c.cutFrom !== 0 || c.cutTo !== 0) g.setLineDash([5, 3]);
  g.strokeStyle = ink;
  g.fillStyle = ink;
  g.lineWidth = look === 'hovered' ? 2 : strong ? 1.5 : 1;
  strokeFlowCurve(g, c, above);
  g.setLineDash([]);
  fillArrowHead(g, c, above, strong ? HEAD : SMALL_HEAD);
  if (!strong || c.cutFrom !== 0) return;
  g.beginPath();
  g.arc(c.x[0], c.y[0] - above, DOT, 0, 2 * Math.PI);
  g.fill();
}

function isCurveOutside(c: Curve, top: number, bottom: number): boolean {
  return Math.max(...c.y) < top - HEAD || Math.min(...c.y) > bottom + HEAD;
}

/**
 * Return the opacity for a number of arrows. With many arrows each one hides less, and crossings
 * appear darker.
 */
function flowAlpha(count: number): number {
  return count > 600 ? 0.35 : count > 100 ? 0.6 : 0.85;
}

/** Paint the flows that cross a part of the list, whose top is at the top of the surface. */
export function paintFlows(
  g: Surface,
  s: FlowScene,
  flows: readonly Flow[],
  look: FlowLook,
  { from, to }: { from: number; to: number },
): void {
  if (flows.length === 0) return;
  g.save();
  if (look === 'other') g.globalAlpha = flowAlpha(flows.length);
  for (const flow of flows) {
    const curve = flowCurveOf(s, flow);
    if (!curve || isCurveOutside(curve, from, to)) continue;
    paintFlow(g, s, curve, look, from);
  }
  g.restore();
}

/** Return the distance from a point to a line segment. */
function distanceToSegment(x: number, y: number, a: [number, number], b: [number, number]): number {
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  const along = dx * dx + dy * dy;
  const t = along > 0 ? ((x - a[0]) * dx + (y - a[1]) * dy) / along : 0;
  const near = Math.max(0, Math.min(1, t));
  return Math.hypot(a[0] + near * dx - x, a[1] + near * dy - y);
}

/** Return the distance from a point to a curve. */
export function distanceToCurve(c: Curve, x: number, y: number): number {
  let best = Infinity;
  let before: [number, number] = [c.x[0], c.y[0]];
  for (let i = 1; i <= CURVE_SEGMENTS; i++) {
    const next: [number, number] = [
      bezierAt(c.x, i / CURVE_SEGMENTS),
      bezierAt(c.y, i / CURVE_SEGMENTS),
    ];
    best = Math.min(best, distanceToSegment(x, y, before, next));
    before = next;
  }
  return best;
}

/** Return the nearest arrow within reach of a point; y counts from the top of the scrolled list. */
export function flowAt(
  s: FlowScene,
  flows: readonly Flow[],
  x: number,
  y: number,
  reach: number,
): Flow | null {
  let best: Flow | null = null;
  let nearest = reach;
  for (const flow of flows) {
    const curve = flowCurveOf(s, flow);
    if (!curve) continue;
    if (Math.min(...curve.x) > x + reach || Math.max(...curve.x) < x - reach) continue;
    if (Math.min(...curve.y) > y + reach || Math.max(...curve.y) < y - reach) continue;
    const far = distanceToCurve(curve, x, y);
    if (far > nearest) continue;
    best = flow;
    nearest = far;
  }
  return best;
}
