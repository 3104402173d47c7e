// SPDX-License-Identifier: Apache-2.0
// Draws the tracks that are in view: bars, strips, waits, the marks of selection and search.

import type { Call, CallDetails, Tile } from '../model/engine';
import { eventColour } from '../model/colours';
import { cpuShare, FLAG, reservedColour } from '../model/engine';
import {
  boxesIn,
  isThin,
  lanesOf,
  type GroupBox,
  type LaneBox,
  type TrackBox,
} from '../model/layout';
import type { Frames } from '../model/names';
import type { ExtentsOfFrame } from '../model/selectionStore';
import { tickStep, type Span } from '../model/span';
import type { TileCache } from '../model/tileCache';
import {
  piecesOf,
  visitInnermost,
  visitRow,
  visitStrips,
  type Piece,
  type VisitSlice,
} from './lanes';
import { paintState } from './statePainter';
import { isNarrow, LEAST_LABEL, type NarrowBars } from './narrowBars';
import { paintExtents, paintSelectedCall } from './selectionPainter';
import { bar, CLOSED, LEAST_OPEN, thinOutline, wait } from './shapes';
import type { Box, Surface } from './surface';
import type { StripImages } from './strips';
import { takenByStrips, takenFrom } from './taken';
import type { TextMeter } from './text';
import type { Theme } from './theme';
import { PAST, snap, type TimeScale } from './timeScale';

export interface Scene {
  theme: Theme;
  frames: Frames;
  meter: TextMeter;
  strips: StripImages;
  narrow: NarrowBars;
  cache: TileCache;
  scale: TimeScale;
  res: number;
  ratio: number;
  bounds: Span;
  range: Span | null;
  /** Ranges that are kept: their ends are seen. */
  notes: readonly Span[];
  /** The display's beat, behind everything. */
  bands: readonly Span[];
  pointer: number | null;
  frame: number | null;
  call: CallDetails | null;
  extents: ExtentsOfFrame | null;
  hovered: Call | null;
  /** Matches of the search; everything else is dimmed while `dimmed`. */
  matches: Uint8Array | null;
  dimmed: boolean;
  hit: Call | null;
}

/** From so wide on the CPU's share of a slice is seen. */
const LEAST_SHARE = 4;
const DIAMOND = 4;
/** How much of its colour an asynchronous slice has. */
const ASYNC = 0.5;

interface Lane extends LaneBox {
  y: number;
  /** Of an asynchronous track: its slices are no work of a thread, and look like that. */
  async: boolean;
  /** Of a strip of states. */
  states: boolean;
}

/** A wait in one row: from x0 to x1. */
type Waits = Map<number, [number, number][]>;

export function paintTracks(
  g: Surface,
  s: Scene,
  boxes: readonly TrackBox[],
  scroll: number,
  height: number,
): void {
  paintGround(g, s, height);
  for (const box of boxesIn(boxes, scroll, scroll + height)) paintTrack(g, s, box, scroll, height);
  paintRange(g, s, height);
  if (s.pointer !== null) {
    g.fillStyle = s.theme.colour.cursor;
    g.fillRect(snap(s, s.scale.x(s.pointer)), 0, 1, height);
  }
}

/** The lines of processes. */
export function paintGroups(
  g: Surface,
  s: Scene,
  groups: readonly GroupBox[],
  scroll: number,
  height: number,
): void {
  for (const group of boxesIn(groups, scroll, scroll + height)) {
    const y = group.top - scroll;
    g.fillStyle = s.theme.colour.chrome;
    g.fillRect(0, y, s.scale.width, group.height);
    g.fillStyle = s.theme.colour.line;
    g.fillRect(0, y, s.scale.width, 1);
    g.fillRect(0, y + group.height - 1, s.scale.width, 1);
  }
}

function paintGround(g: Surface, s: Scene, height: number): void {
  const { scale, theme } = s;
  g.fillStyle = theme.colour.bg;
  g.fillRect(0, 0, scale.width, height);
  paintBands(g, s, height);
  g.fillStyle = theme.colour.grid;
  const step = tickStep(scale.nsPerPixel, 110);
  for (let t = Math.ceil(scale.view.from / step) * step; t <= scale.view.to; t += step) {
    g.fillRect(snap(s, scale.x(t)), 0, 1, height);
  }
  beyond(g, s, 0, scale.x(s.bounds.from), height);
  beyond(g, s, scale.x(s.bounds.to), scale.width, height);
  g.fillStyle = theme.colour['range-tint'];
  for (const { from, to } of s.notes)
    for (const t of [from, to]) g.fillRect(snap(s, scale.x(t)), 0, 2, height);
  if (s.range) {
    const x = scale.x(s.range.from);
    g.fillStyle = theme.colour['range-tint'];
    g.fillRect(x, 0, scale.x(s.range.to) - x, height);
  }
}

/** Bands that are hardly a pixel would be one grey. */
const LEAST_BAND = 2;

function paintBands(g: Surface, s: Scene, height: number): void {
  g.fillStyle = s.theme.colour.well;
  for (const { from, to } of s.bands) {
    const x = Math.max(0, snap(s, s.scale.x(from)));
    const right = Math.min(s.scale.width, snap(s, s.scale.x(to)));
    if (right - x >= LEAST_BAND) g.fillRect(x, 0, right - x, height);
  }
}

/** Time outside the trace never looks like time without data. */
function beyond(g: Surface, s: Scene, from: number, to: number, height: number): void {
  const a = Math.max(0, from);
  const b = Math.min(s.scale.width, to);
  if (b <= a) return;
  g.fillStyle = s.theme.colour.beyond;
  g.fillRect(a, 0, b - a, height);
  g.fillStyle = s.theme.colour['line-strong'];
  g.fillRect(from > 0 ? a : b - 1, 0, 1, height);
}

function paintRange(g: Surface, s: Scene, height: number): void {
  if (!s.range) return;
  g.fillStyle = s.theme.colour.range;
  g.fillRect(snap(s, s.scale.x(s.range.from)) - 1, 0, 1, height);
  g.fillRect(snap(s, s.scale.x(s.range.to)), 0, 1, height);
}

function paintTrack(g: Surface, s: Scene, box: TrackBox, scroll: number, height: number): void {
  if (box.top > 0 && !isThin(box, s.theme.heights)) {
    g.fillStyle = s.theme.colour.line;
    g.fillRect(0, box.top - scroll, s.scale.width, 1);
  }
  const waits = waitsOf(s, box);
  for (const lane of lanesOf(box, s.theme.heights, scroll, scroll + height)) {
    const async = box.track.kind === 'async';
    const states = box.track.kind === 'states';
    paintLane(g, s, box, { ...lane, y: lane.top - scroll, async, states }, waits);
  }
  paintExtents(g, s, box, scroll);
  paintSelectedCall(g, s, box, scroll);
}

function waitsOf(s: Scene, box: TrackBox): Waits {
  const waits: Waits = new Map();
  if (box.track.waits === 0) return waits;
  const pieces = piecesOf(s.cache, { kind: 'w', row: box.track.track }, s.res, s.scale);
  visitRow(pieces, s.scale, (tile, i, x0, x1) => {
    const row = tile.rows[i] ?? 0;
    const list = waits.get(row);
    if (list) list.push([x0, x1]);
    else waits.set(row, [[x0, x1]]);
  });
  return waits;
}

function paintLane(g: Surface, s: Scene, box: TrackBox, lane: Lane, waits: Waits): void {
  const pieces = piecesOf(s.cache, lane.lane, s.res, s.scale, s.strips.ready);
  g.font = lane.async ? `italic ${s.theme.barFont}` : s.theme.barFont;
  g.textBaseline = 'middle';
  const own: LaneWork = {
    lane,
    waits:
      lane.depth < 0
        ? [...waits.values()].flat()
        : (waits.get(box.track.first_row + lane.depth) ?? []),
    narrow: !lane.states && !lane.async && s.narrow.begin(g, s.theme, s.scale.width, s.ratio),
    marked: [],
    // In the rows of an open track strips stand beside the bars.
    taken: lane.depth < 0 || lane.async ? takenByStrips(pieces, s.scale, lane.async) : [],
  };
  const paint: VisitSlice = (tile, i, x0, x1) => paintSlice(g, s, own, tile, i, x0, x1);
  if (lane.depth < 0) visitInnermost(pieces, s.scale, paint);
  else {
    paintStrips(g, s, lane, pieces);
    visitRow(pieces, s.scale, paint);
  }
  if (own.narrow) s.narrow.draw(g, lane.y, lane.height);
  if (lane.depth < 0) paintStrips(g, s, lane, pieces);
  for (const mark of own.marked) markSlice(g, s, lane, mark);
  paintWaits(g, s, own);
}

function paintStrips(g: Surface, s: Scene, lane: Lane, pieces: readonly Piece[]): void {
  const look = {
    height: lane.height,
    ratio: s.ratio,
    only: s.dimmed ? s.matches : null,
    flat: lane.depth < 0 || lane.states,
    states: lane.states,
  };
  visitStrips(pieces, s.scale, (tile, first, pixels, x, width) => {
    if (lane.async) paintLone(g, s, lane, tile, { first, pixels, x, width });
    const onto = { x, y: lane.y, w: width, h: lane.height };
    s.strips.paint(g, { tile, first, count: pixels }, onto, s.theme, s.frames, look);
  });
}

interface StripPart {
  first: number;
  pixels: number;
  x: number;
  width: number;
}

/** Of asynchronous slices what is short and by itself, as instants are, is a diamond. */
function paintLone(g: Surface, s: Scene, lane: Lane, tile: Tile, part: StripPart): void {
  const heights = tile.density?.height;
  if (!heights || s.dimmed) return;
  const step = part.width / part.pixels;
  const y = lane.y + lane.height / 2;
  for (let i = part.first; i < part.first + part.pixels; i++) {
    if (!heights[i]) continue;
    const near = heights.subarray(Math.max(0, i - DIAMOND), i + DIAMOND + 1);
    if (near.reduce((count, height) => count + (height > 0 ? 1 : 0), 0) > 1) continue;
    const x = part.x + (i - part.first + 0.5) * step;
    g.beginPath();
    g.moveTo(x - DIAMOND, y);
    g.lineTo(x, y - DIAMOND);
    g.lineTo(x + DIAMOND, y);
    g.lineTo(x, y + DIAMOND);
    g.closePath();
    g.fillStyle = s.theme.colour['text-2'];
    g.fill();
  }
}

function paintWaits(g: Surface, s: Scene, { lane, waits, narrow }: LaneWork): void {
  for (const [x0, x1] of waits) {
    const x = snap(s, Math.max(-PAST, x0));
    const w = snap(s, Math.min(s.scale.width + PAST, x1)) - x;
    const b = { x, y: lane.y, w, h: lane.height };
    if (narrow) s.narrow.putWait(s.theme, b);
    else wait(g, s.theme, b);
  }
  if (narrow) s.narrow.drawWaits(g, lane.y + lane.height);
}

function edgesOf(flags: number): typeof CLOSED {
  const open = FLAG.unrolled | FLAG.enteredBefore | FLAG.openAtEnd | FLAG.missingExit;
  if ((flags & open) === 0) return CLOSED;
  return {
    openLeft: (flags & FLAG.enteredBefore) !== 0,
    openRight: (flags & (FLAG.openAtEnd | FLAG.missingExit)) !== 0,
    unrolled: (flags & FLAG.unrolled) !== 0,
  };
}

/** What is known while a lane is painted. */
interface LaneWork {
  lane: Lane;
  /** They lift names off the foot of bars. */
  waits: readonly [number, number][];
  /** Narrow bars become pixels. */
  narrow: boolean;
  /** What is marked among those, once they are drawn. */
  marked: Marked[];
  /** Columns of strips that names must not run into. */
  taken: readonly number[];
}

interface Marked {
  call: Call;
  frame: number;
  b: Box;
  hit: boolean;
}

function paintSlice(
  g: Surface,
  s: Scene,
  own: LaneWork,
  tile: Tile,
  i: number,
  x0: number,
  x1: number,
): void {
  const { lane } = own;
  const frame = tile.frame[i] ?? 0;
  const matches = s.matches !== null && s.matches[frame] === 1;
  const dim = s.dimmed && s.matches !== null && !matches;
  const x = snap(s, Math.max(-PAST, x0));
  const right = snap(s, Math.min(s.scale.width + PAST, x1));
  const b: Box = { x, y: lane.y, w: Math.max(1, right - x), h: lane.height };
  // The ends of a part of a call are not the call's.
  const edges = lane.depth < 0 ? CLOSED : edgesOf(tile.flags[i] ?? 0);
  const reserved = reservedColour(tile.flags[i] ?? 0);
  const number = dim ? -1 : eventColour(reserved, s.frames.colour(frame));
  const call = { row: tile.rows[i] ?? 0, index: tile.index[i] ?? 0 };
  const mark = { call, frame, b, hit: matches && s.dimmed };
  const share = lane.states || dim ? null : cpuShare(tile.flags[i] ?? 0);
  // Ends that are open or broken show from 10 px on, shares of the CPU from 4 px on.
  const plain = edges === CLOSED || b.w <= LEAST_OPEN;
  if (
    own.narrow &&
    plain &&
    (share === null || b.w < LEAST_SHARE) &&
    isNarrow(s.theme, b, number)
  ) {
    s.narrow.put(s.theme, b, number);
    if (mark.hit || isMarked(s, call, frame)) own.marked.push(mark);
    return;
  }
  const faint = lane.async && !dim;
  if (faint) g.globalAlpha = ASYNC;
  if (lane.states) paintState(g, s.theme, b, number);
  else bar(g, s.theme, b, number, edges);
  g.globalAlpha = 1;
  if (share !== null) paintOffCpu(g, s, b, x0 + (x1 - x0) * share);
  if (faint && b.w >= 3 && edges === CLOSED) thinOutline(g, s.theme.colour['line-strong'], b);
  if (b.w >= LEAST_LABEL && !lane.states) {
    const waiting = own.waits.some(([a, z]) => a < x1 && z > x0 && z - a > 3);
    const left = edges.openLeft ? 4 : 0;
    const free = takenFrom(own.taken, Math.max(b.x, 0) + left) - (lane.async ? DIAMOND : 0);
    paintLabel(g, s, frame, b, {
      left,
      right: Math.max(edges.openRight || edges.unrolled ? 6 : 0, b.x + b.w - free),
      lift: waiting ? 2 : 0,
      number,
      faint,
    });
  }
  markSlice(g, s, lane, mark);
}

function same(a: Call | null, b: Call): boolean {
  return a !== null && a.row === b.row && a.index === b.index;
}

function isMarked(s: Scene, call: Call, frame: number): boolean {
  return frame === s.frame || same(s.hit, call) || same(s.hovered, call);
}

/** So much of the ground lies over the part of a slice that had no CPU. */
const OFF_CPU = 0.45;

/** Only the sum is known: the CPU's share is at the left in full colour, the rest is pale. */
function paintOffCpu(g: Surface, s: Scene, b: Box, from: number): void {
  const x = Math.max(b.x + 1, snap(s, from));
  if (b.w < LEAST_SHARE || x >= b.x + b.w) return;
  g.globalAlpha = OFF_CPU;
  g.fillStyle = s.theme.colour.bg;
  g.fillRect(x, b.y, b.x + b.w - x, b.h);
  g.globalAlpha = 1;
}

interface LabelLook {
  left: number;
  right: number;
  lift: number;
  number: number;
  /** On a bar that lets the ground through. */
  faint?: boolean;
}

/** From the bar's visible left edge, so that it stays in view while panning. */
export function paintLabel(
  g: Surface,
  s: Pick<Scene, 'theme' | 'frames' | 'meter' | 'scale'>,
  frame: number,
  b: Box,
  look: LabelLook,
): void {
  const left = Math.max(b.x, 0) + look.left;
  const room = Math.min(b.x + b.w, s.scale.width + PAST) - left - look.right - 8;
  if (room < LEAST_LABEL - 8) return;
  const text = s.meter.label(s.frames.short(frame), s.frames.method(frame), room);
  if (text === '') return;
  if (look.number >= 0 && s.theme.hatched[look.number]) {
    g.fillStyle = s.theme.bars[look.number] ?? '';
    g.fillRect(left + 2, b.y + 1, s.meter.width(text) + 4, b.h - 2);
  }
  g.fillStyle =
    look.number < 0
      ? s.theme.colour['bar-dim-text']
      : look.faint
        ? s.theme.colour.text
        : (s.theme.barTexts[look.number] ?? '');
  g.fillText(text, left + 4, b.y + b.h / 2 + 0.5 - look.lift);
}

function markSlice(g: Surface, s: Scene, lane: Lane, { call, frame, b, hit }: Marked): void {
  if (hit) {
    g.fillStyle = s.theme.colour.hit;
    g.fillRect(b.x, b.y, b.w, 2);
  }
  if (s.dimmed && same(s.hit, call)) {
    g.strokeStyle = s.theme.colour.hit;
    g.lineWidth = 2;
    g.strokeRect(b.x, b.y, b.w, b.h);
  }
  if (frame === s.frame && b.w > 3 && lane.depth >= 0 && !lane.states)
    thinOutline(g, s.theme.colour.select, b);
  else if (same(s.hovered, call)) thinOutline(g, s.theme.colour.text, b);
}
