// SPDX-License-Identifier: Apache-2.0
// The marks of the selected call and of all calls of the selected method: a ring and brackets.

import { isSingle, lanesOf, TRACK_PADDING, type TrackBox } from '../model/layout';
import { drawBracket, drawRing } from './shapes';
import type { Surface } from './surface';
import { PAST, snapToPixel } from './timeScale';
import type { Scene } from './trackPainter';

/**
 * Paint a bracket for every call of the selected method, in the lane below the rows of the track.
 */
export function paintExtents(g: Surface, s: Scene, box: TrackBox, scroll: number): void {
  const times = s.extents?.tracks.get(box.track.track);
  if (!times || s.frame === null || box.track.kind === 'states') return;
  const y = rowsFootOf(s, box) - scroll;
  let drawn = -10;
  for (let i = 0; i + 1 < times.length; i += 2) {
    const from = snapToPixel(s, s.scale.x(times[i] ?? 0));
    const to = snapToPixel(s, s.scale.x(times[i + 1] ?? 0));
    // Merge brackets that would be within one pixel of each other.
    if (to < drawn + 1 || to < 0 || from > s.scale.width) continue;
    drawn = to;
    if (box.expanded)
      drawBracket(g, s.theme.colour['text-2'], from, Math.max(to, from + 2), y, s.scale.width, 1);
    else {
      g.fillStyle = s.theme.colour['text-2'];
      g.fillRect(from, y, Math.max(2, to - from), 1);
    }
  }
}

function rowsFootOf(s: Scene, box: TrackBox): number {
  const h = s.theme.heights;
  return box.expanded ? box.top + TRACK_PADDING + box.shown * h.row + 1 : box.top + box.height - 2;
}

/**
 * Draw the ring of a processor slice or a state: as high as its lane, with no foot for brackets.
 */
function ringSingle(
  g: Surface,
  s: Scene,
  box: TrackBox,
  scroll: number,
  from: number,
  to: number,
): void {
  const x = Math.max(-PAST, from);
  // A state track is low, so the ring goes around the state and leaves it visible.
  const around = box.track.kind === 'states' ? 2 : 0;
  for (const lane of lanesOf(box, s.theme.heights, 0, 0))
    drawRing(g, s.theme, {
      x,
      y: lane.top - scroll - around,
      w: Math.max(3, Math.min(s.scale.width + PAST, to) - x),
      h: lane.height + 2 * around,
    });
}

/** Paint the ring of the pinned call, as high as its bar. */
export function paintPinnedCall(g: Surface, s: Scene, box: TrackBox, scroll: number): void {
  const call = s.pinned;
  if (!call || call.track !== box.track.track) return;
  if (box.expanded && call.depth >= box.shown) return;
  const from = s.scale.x(call.start_ns);
  const to = Math.max(s.scale.x(call.start_ns + call.length_ns), from + 2);
  if (isSingle(box.track)) return ringSingle(g, s, box, scroll, from, to);
  const { bar, row } = s.theme.heights;
  const level = box.expanded ? call.depth : 0;
  const x = Math.max(-PAST, from);
  const y = box.top + TRACK_PADDING + level * row - scroll;
  drawRing(g, s.theme, { x, y, w: Math.min(s.scale.width + PAST, to) - x, h: bar });
}

/** Paint the ring of the selected call. */
export function paintSelectedCall(g: Surface, s: Scene, box: TrackBox, scroll: number): void {
  const call = s.call;
  if (!call || call.track !== box.track.track) return;
  const from = s.scale.x(call.start_ns);
  const to = Math.max(s.scale.x(call.start_ns + call.length_ns), from + 2);
  const foot = rowsFootOf(s, box) - scroll;
  if (isSingle(box.track)) return ringSingle(g, s, box, scroll, from, to);
  if (!box.expanded)
    return drawBracket(g, s.theme.colour.select, from, to, foot - 4, s.scale.width, 2);
  const h = s.theme.heights;
  const y = box.top + TRACK_PADDING + call.depth * h.row - scroll;
  g.save();
  g.strokeStyle = s.theme.colour.select;
  g.globalAlpha = 0.55;
  g.setLineDash([1, 2]);
  g.lineWidth = 1;
  g.beginPath();
  for (const x of [Math.round(from) + 0.5, Math.round(to) - 0.5]) {
    if (x < 0 || x > s.scale.width) continue;
    g.moveTo(x, y + h.bar + 2);
    g.lineTo(x, foot);
  }
  g.stroke();
  g.restore();
  drawBracket(
    g,
    s.theme.colour.select,
    snapToPixel(s, from),
    snapToPixel(s, to),
    foot - 1,
    s.scale.width,
    2,
  );
  const x = Math.max(-PAST, from);
  drawRing(g, s.theme, { x, y, w: Math.min(s.scale.width + PAST, to) - x, h: h.bar });
}
