// SPDX-License-Identifier: Apache-2.0
// Objects as bars from creation to deletion. The bar is pale before the first snapshot. Each
// snapshot is a block that reaches to the next snapshot, with a line at its time.

import {
  OBJECT_FLAG,
  type ObjectBar,
  type ObjectsInView,
  type ObjectType,
  type SnapshotMark,
} from '../model/nonSliceEvents';
import { hashedColour } from '../model/colours';
import { TRACK_PADDING, type RowBox } from '../model/layout';
import type { Mark } from '../model/marks';
import type { ObjectsRow } from '../model/rows';
import { drawBar, drawRing, drawThinOutline } from './shapes';
import type { Box, Surface } from './surface';
import type { TextMeter } from './text';
import type { Theme } from './theme';
import type { TimeScale } from './timeScale';

/** The state from which object rows are painted. */
export interface ObjectScene {
  theme: Theme;
  scale: TimeScale;
  meter: TextMeter;
  boxes: readonly RowBox<ObjectsRow>[];
  inView: ObjectsInView;
  selected: Mark | null;
  hovered: Mark | null;
}

/** The opacity of a bar where the object has no snapshot yet. */
const PALE = 0.32;
const LEAST_LABEL = 22;
const LABEL_MARGIN = 7;
/** A click within this distance of a line, in pixels, still means the line. */
const REACH = 3;
const PAST = 4;

function isObjectMark(mark: Mark | null, kind: Mark['kind'], number: number): boolean {
  return mark !== null && mark.kind === kind && mark.number === number;
}

type Where = Pick<ObjectScene, 'theme' | 'scale'>;

function objectBox(s: Where, row: RowBox, bar: ObjectBar): Box {
  const x0 = Math.max(-PAST, Math.round(s.scale.x(bar.start)));
  const x1 = Math.min(s.scale.width + PAST, Math.round(s.scale.x(bar.end)));
  const { heights } = s.theme;
  const y = row.top + TRACK_PADDING + bar.lane * heights.row;
  return { x: x0, y, w: Math.max(bar.count > 1 ? 2 : 1, x1 - x0), h: heights.bar };
}

/** Group snapshots by object, in the order of time. */
function snapshotsByObject(inView: ObjectsInView): Map<number, SnapshotMark[]> {
  const found = new Map<number, SnapshotMark[]>();
  for (const mark of inView.snapshots) {
    const own = found.get(mark.object);
    if (own) own.push(mark);
    else found.set(mark.object, [mark]);
  }
  return found;
}

/** Return the colour number of an object type. */
export function objectColour(type: string): number {
  return hashedColour(type);
}

/** Paint the object rows that are in view. */
export function paintObjects(g: Surface, s: ObjectScene, scroll: number, height: number): void {
  const rows = new Map(s.boxes.map((box) => [box.row.type.row, box]));
  const blocks = snapshotsByObject(s.inView);
  for (const box of s.boxes) {
    g.fillStyle = s.theme.colour.line;
    g.fillRect(0, box.top - scroll, s.scale.width, 1);
  }
  g.font = s.theme.barFont;
  g.textBaseline = 'middle';
  for (const object of s.inView.objects) {
    const row = rows.get(object.row);
    if (
      !row ||
      object.lane >= row.row.shown ||
      object.end < s.scale.view.from ||
      object.start > s.scale.view.to
    )
      continue;
    const b = objectBox(s, row, object);
    b.y -= scroll;
    if (b.y + b.h < 0 || b.y > height) continue;
    paintObject(g, s, row.row.type, object, b, blocks.get(object.object) ?? []);
  }
}

function paintObject(
  g: Surface,
  s: ObjectScene,
  type: ObjectType,
  object: ObjectBar,
  b: Box,
  blocks: readonly SnapshotMark[],
): void {
  const colour = objectColour(type.type);
  const one = object.count === 1;
  g.globalAlpha = one ? PALE : 1;
  drawBar(g, s.theme, b, colour, {
    openLeft: one && (object.flags & OBJECT_FLAG.created) === 0 && blocks.length === 0,
    openRight: one && (object.flags & OBJECT_FLAG.deleted) === 0,
    unrolled: false,
  });
  g.globalAlpha = 1;
  if (one) drawThinOutline(g, s.theme.colour['line-strong'], b);
  blocks.forEach((block, i) => paintSnapshotBlock(g, s, colour, b, block, blocks[i + 1]));
  if (one) paintObjectLabel(g, s, `${type.type} ${object.id}`, object.id, b, blocks);
  if (isObjectMark(s.selected, 'object', object.object)) drawRing(g, s.theme, b);
  else if (isObjectMark(s.hovered, 'object', object.object))
    drawThinOutline(g, s.theme.colour.text, b);
}

function paintSnapshotBlock(
  g: Surface,
  s: ObjectScene,
  colour: number,
  b: Box,
  block: SnapshotMark,
  next: SnapshotMark | undefined,
): void {
  const x0 = Math.max(b.x, Math.round(s.scale.x(block.time)));
  const x1 = next ? Math.min(b.x + b.w, Math.round(s.scale.x(next.time))) : b.x + b.w;
  const own = { x: x0, y: b.y, w: Math.max(1, x1 - x0), h: b.h };
  if (x1 < 0 || x0 > s.scale.width) return;
  g.fillStyle = s.theme.bars[colour] ?? '';
  g.fillRect(own.x, own.y, own.w, own.h);
  g.fillStyle = s.theme.colour['text-2'];
  g.fillRect(Math.round(s.scale.x(block.time)), b.y, own.w > 6 ? 2 : 1, b.h);
  if (isObjectMark(s.selected, 'snapshot', block.snapshot)) drawRing(g, s.theme, own);
  else if (isObjectMark(s.hovered, 'snapshot', block.snapshot))
    drawThinOutline(g, s.theme.colour.text, own);
}

/**
 * Write the label into the first gap between two snapshot lines that holds all of it, else into the
 * widest gap.
 */
function paintObjectLabel(
  g: Surface,
  s: ObjectScene,
  name: string,
  id: string,
  b: Box,
  blocks: readonly SnapshotMark[],
): void {
  const right = Math.min(b.x + b.w, s.scale.width);
  const lines = blocks.map((block) => s.scale.x(block.time)).filter((x) => x > 0 && x < right);
  const starts = [Math.max(b.x, 0), ...lines];
  const wanted = s.meter.width(name);
  let best = { left: 0, room: 0 };
  for (const [i, start] of starts.entries()) {
    const room = (starts[i + 1] ?? right) - start - LABEL_MARGIN;
    if (room > best.room) best = { left: start + LABEL_MARGIN - 2, room };
    if (best.room >= wanted) break;
  }
  const text = best.room < LEAST_LABEL ? '' : s.meter.label(name, id, best.room);
  if (text === '') return;
  g.fillStyle = s.theme.colour['bar-text'];
  g.fillText(text, best.left, b.y + b.h / 2 + 0.5);
}

/** The object or snapshot under the pointer. */
export interface ObjectHit {
  mark: Mark;
  object: ObjectBar;
  /** The snapshot whose line is under the pointer or whose block is. */
  snapshot: SnapshotMark | null;
  row: ObjectsRow;
}

/**
 * Return the last snapshot at or before x. A snapshot whose line is just right of x, within reach,
 * counts.
 */
function snapshotAt(s: Where, blocks: readonly SnapshotMark[], x: number): SnapshotMark | null {
  let found: SnapshotMark | null = null;
  for (const block of blocks) {
    if (s.scale.x(block.time) > x + REACH) break;
    found = block;
  }
  return found;
}

/** Return the object or snapshot at a point; y counts from the top of the list. */
export function objectAt(s: ObjectScene, x: number, y: number): ObjectHit | null {
  const row = s.boxes.find((box) => y >= box.top && y < box.top + box.height);
  if (!row) return null;
  let best: { object: ObjectBar; distance: number } | null = null;
  for (const object of s.inView.objects) {
    if (object.row !== row.row.type.row || object.lane >= row.row.shown) continue;
    const b = objectBox(s, row, object);
    if (y < b.y || y > b.y + b.h) continue;
    const distance = x < b.x ? b.x - x : Math.max(0, x - b.x - b.w);
    if (distance <= REACH && (!best || distance < best.distance)) best = { object, distance };
  }
  if (!best) return null;
  const { object } = best;
  const blocks = s.inView.snapshots.filter((mark) => mark.object === object.object);
  const snapshot = snapshotAt(s, blocks, x);
  const mark: Mark = snapshot
    ? { kind: 'snapshot', number: snapshot.snapshot }
    : { kind: 'object', number: object.object };
  return { mark, object, snapshot, row: row.row };
}
