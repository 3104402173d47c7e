// SPDX-License-Identifier: Apache-2.0
// Paints the tracks that are in view: bars, density rows, waits, and the marks of selection and
// search.
//
// A frame is painted from back to front:
//
//    background   grid lines, vsync bands, time outside the trace, note edges, range tint
//    tracks       one after the other, each made of lanes (one lane per row if expanded)
//    range edges and the pointer line
//
// A lane is painted from tiles (lanes.ts). Wide slices are drawn as shapes with names. Narrow
// slices are collected as pixels (narrowBars.ts), and calls shorter than a pixel come as density
// rows (densityRows.ts). In a collapsed track the density rows lie over the bars, otherwise below them.
// Marks and waits come last.

import type { Unit } from '../base/format';
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
  tileExcerptsOf,
  visitInnermost,
  visitSliceRow,
  visitDensityRows,
  type TileExcerpt,
  type VisitSlice,
} from './lanes';
import { paintState } from './statePainter';
import { isNarrow, LEAST_LABEL, type NarrowBars } from './narrowBars';
import { partOffShare, partsOffCpu, partsWithin, type XInterval } from './offCpu';
import { paintExtents, paintPinnedCall, paintSelectedCall } from './selectionPainter';
import { drawBar, CLOSED, LEAST_OPEN, drawThinOutline, drawWait } from './shapes';
import type { Box, Surface } from './surface';
import type { DensityImages } from './densityRows';
import { columnsTakenByDensity, firstTakenFrom } from './taken';
import type { TextMeter } from './text';
import type { Theme } from './theme';
import { PAST, snapToPixel, type TimeScale } from './timeScale';

/** The state from which tracks are painted. */
export interface Scene {
  theme: Theme;
  frames: Frames;
  meter: TextMeter;
  densityImages: DensityImages;
  narrow: NarrowBars;
  cache: TileCache;
  /** The row of states of each thread that has one. */
  statesOf: ReadonlyMap<number, number>;
  scale: TimeScale;
  res: number;
  ratio: number;
  /** Unit of the ruler. */
  unit: Unit;
  bounds: Span;
  range: Span | null;
  /** The saved ranges, whose edges are shown. */
  notes: readonly Span[];
  /** The vsync bands of the display, behind everything. */
  bands: readonly Span[];
  pointer: number | null;
  frame: number | null;
  call: CallDetails | null;
  pinned: CallDetails | null;
  extents: ExtentsOfFrame | null;
  hovered: Call | null;
  /** The frames that match the search. All others are dimmed while `dimmed` is set. */
  matches: Uint8Array | null;
  dimmed: boolean;
  hit: Call | null;
}

/** Slices at least this wide, in pixels, show when they had no CPU. */
const LEAST_PALE = 4;
const DIAMOND = 4;
/** The opacity of an asynchronous slice. */
const ASYNC = 0.5;

interface Lane extends LaneBox {
  y: number;
  /** True for an asynchronous track. No thread ran its slices, so they are pale and italic. */
  async: boolean;
  /** True for a state track. */
  states: boolean;
  /** When the thread was not on a processor; null: only the shares of its slices are known. */
  off: readonly XInterval[] | null;
}

/** The waits of each row, as pairs of x. */
type Waits = Map<number, [number, number][]>;

/** Paint all visible tracks, the range and the pointer line. */
export function paintTracks(
  g: Surface,
  s: Scene,
  boxes: readonly TrackBox[],
  scroll: number,
  height: number,
): void {
  paintTrackBackground(g, s, height);
  for (const box of boxesIn(boxes, scroll, scroll + height)) paintTrack(g, s, box, scroll, height);
  paintRangeEdges(g, s, height);
  if (s.pointer !== null) {
    g.fillStyle = s.theme.colour.cursor;
    g.fillRect(snapToPixel(s, s.scale.x(s.pointer)), 0, 1, height);
  }
}

/** Paint the header lines of processes. */
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

function paintTrackBackground(g: Surface, s: Scene, height: number): void {
  const { scale, theme } = s;
  g.fillStyle = theme.colour.bg;
  g.fillRect(0, 0, scale.width, height);
  paintBands(g, s, height);
  g.fillStyle = theme.colour.grid;
  const step = tickStep(scale.nsPerPixel, 110, s.unit);
  for (let t = Math.ceil(scale.view.from / step) * step; t <= scale.view.to; t += step) {
    g.fillRect(snapToPixel(s, scale.x(t)), 0, 1, height);
  }
  paintOutsideTrace(g, s, 0, scale.x(s.bounds.from), height);
  paintOutsideTrace(g, s, scale.x(s.bounds.to), scale.width, height);
  g.fillStyle = theme.colour['range-tint'];
  for (const { from, to } of s.notes)
    for (const t of [from, to]) g.fillRect(snapToPixel(s, scale.x(t)), 0, 2, height);
  if (s.range) {
    const x = scale.x(s.range.from);
    g.fillStyle = theme.colour['range-tint'];
    g.fillRect(x, 0, scale.x(s.range.to) - x, height);
  }
}

/** Bands narrower than this, in pixels, would merge into one grey. */
const LEAST_BAND = 2;

function paintBands(g: Surface, s: Scene, height: number): void {
  g.fillStyle = s.theme.colour.well;
  for (const { from, to } of s.bands) {
    const x = Math.max(0, snapToPixel(s, s.scale.x(from)));
    const right = Math.min(s.scale.width, snapToPixel(s, s.scale.x(to)));
    if (right - x >= LEAST_BAND) g.fillRect(x, 0, right - x, height);
  }
}

/** Paint the time outside the trace, so that it never looks like time without events. */
function paintOutsideTrace(g: Surface, s: Scene, from: number, to: number, height: number): void {
  const a = Math.max(0, from);
  const b = Math.min(s.scale.width, to);
  if (b <= a) return;
  g.fillStyle = s.theme.colour.beyond;
  g.fillRect(a, 0, b - a, height);
  g.fillStyle = s.theme.colour['line-strong'];
  g.fillRect(from > 0 ? a : b - 1, 0, 1, height);
}

function paintRangeEdges(g: Surface, s: Scene, height: number): void {
  if (!s.range) return;
  g.fillStyle = s.theme.colour.range;
  g.fillRect(snapToPixel(s, s.scale.x(s.range.from)) - 1, 0, 1, height);
  g.fillRect(snapToPixel(s, s.scale.x(s.range.to)), 0, 1, height);
}

function paintTrack(g: Surface, s: Scene, box: TrackBox, scroll: number, height: number): void {
  if (box.top > 0 && !isThin(box, s.theme.heights)) {
    g.fillStyle = s.theme.colour.line;
    g.fillRect(0, box.top - scroll, s.scale.width, 1);
  }
  const waits = waitsOf(s, box);
  const off = offCpuOf(s, box);
  for (const lane of lanesOf(box, s.theme.heights, scroll, scroll + height)) {
    const async = box.track.kind === 'async';
    const states = box.track.kind === 'states';
    paintTrackLane(g, s, box, { ...lane, y: lane.top - scroll, async, states, off }, waits);
  }
  paintExtents(g, s, box, scroll);
  paintPinnedCall(g, s, box, scroll);
  paintSelectedCall(g, s, box, scroll);
}

/** Return when the thread of an expanded track did not run; null: the trace does not say it. */
function offCpuOf(s: Scene, { track, expanded }: TrackBox): XInterval[] | null {
  if (!expanded || (track.kind !== 'thread' && track.kind !== 'overflow')) return null;
  const row = s.statesOf.get(track.thread);
  return row === undefined ? null : partsOffCpu(s, row);
}

function waitsOf(s: Scene, box: TrackBox): Waits {
  const waits: Waits = new Map();
  if (box.track.waits === 0) return waits;
  const excerpts = tileExcerptsOf(s.cache, { kind: 'w', row: box.track.track }, s.res, s.scale);
  visitSliceRow(excerpts, s.scale, (tile, i, x0, x1) => {
    const row = tile.rows[i] ?? 0;
    const list = waits.get(row);
    if (list) list.push([x0, x1]);
    else waits.set(row, [[x0, x1]]);
  });
  return waits;
}

function paintTrackLane(g: Surface, s: Scene, box: TrackBox, lane: Lane, waits: Waits): void {
  const excerpts = tileExcerptsOf(s.cache, lane.lane, s.res, s.scale, s.densityImages.ready);
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
    // In the rows of an expanded track, density rows are beside the bars and hide no name.
    taken: lane.depth < 0 || lane.async ? columnsTakenByDensity(excerpts, s.scale, lane.async) : [],
  };
  const paint: VisitSlice = (tile, i, x0, x1) => paintSlice(g, s, own, tile, i, x0, x1);
  if (lane.depth < 0) visitInnermost(excerpts, s.scale, paint);
  else {
    paintDensityRows(g, s, lane, excerpts);
    visitSliceRow(excerpts, s.scale, paint);
  }
  if (own.narrow) s.narrow.draw(g, lane.y, lane.height);
  if (lane.depth < 0) paintDensityRows(g, s, lane, excerpts);
  for (const mark of own.marked) markSlice(g, s, lane, mark);
  paintWaits(g, s, own);
}

function paintDensityRows(
  g: Surface,
  s: Scene,
  lane: Lane,
  excerpts: readonly TileExcerpt[],
): void {
  const look = {
    height: lane.height,
    ratio: s.ratio,
    only: s.dimmed ? s.matches : null,
    flat: lane.depth < 0 || lane.states,
    states: lane.states,
  };
  visitDensityRows(excerpts, s.scale, (tile, first, pixels, x, width) => {
    if (lane.async) paintLoneAsync(g, s, lane, tile, { first, pixels, x, width });
    const onto = { x, y: lane.y, w: width, h: lane.height };
    s.densityImages.paint(g, { tile, first, count: pixels }, onto, s.theme, s.frames, look);
  });
}

interface LoneDensity {
  first: number;
  pixels: number;
  x: number;
  width: number;
}

/** Draw a diamond for each short asynchronous slice with no neighbours, as for an instant. */
function paintLoneAsync(g: Surface, s: Scene, lane: Lane, tile: Tile, part: LoneDensity): void {
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
    const x = snapToPixel(s, Math.max(-PAST, x0));
    const w = snapToPixel(s, Math.min(s.scale.width + PAST, x1)) - x;
    const b = { x, y: lane.y, w, h: lane.height };
    if (narrow) s.narrow.putWait(s.theme, b);
    else drawWait(g, s.theme, b);
  }
  if (narrow) s.narrow.drawWaits(g, lane.y + lane.height);
}

function sliceEdges(flags: number): typeof CLOSED {
  const open = FLAG.unrolled | FLAG.enteredBefore | FLAG.openAtEnd | FLAG.missingExit;
  if ((flags & open) === 0) return CLOSED;
  return {
    openLeft: (flags & FLAG.enteredBefore) !== 0,
    openRight: (flags & (FLAG.openAtEnd | FLAG.missingExit)) !== 0,
    unrolled: (flags & FLAG.unrolled) !== 0,
  };
}

/** State shared by the steps that paint one lane. */
interface LaneWork {
  lane: Lane;
  /** Names move up from the foot of a bar that holds a wait. */
  waits: readonly [number, number][];
  /** Narrow bars of this lane are drawn as pixels. */
  narrow: boolean;
  /** Narrow slices to mark after the pixels are drawn. */
  marked: Marked[];
  /** The columns of density rows, which names must not overlap. */
  taken: readonly number[];
}

interface Marked {
  call: Call;
  frame: number;
  b: Box;
  hit: boolean;
}

/**
 * Paint a slice. Most are narrow and plain: they only get a place in `narrow`, which paints all of
 * one colour together; marks, labels and open ends are for the wider ones.
 */
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
  const x = snapToPixel(s, Math.max(-PAST, x0));
  const right = snapToPixel(s, Math.min(s.scale.width + PAST, x1));
  const b: Box = { x, y: lane.y, w: Math.max(1, right - x), h: lane.height };
  // A collapsed lane shows parts of calls. The end of a part is not an end of the call.
  const edges = lane.depth < 0 ? CLOSED : sliceEdges(tile.flags[i] ?? 0);
  const reserved = reservedColour(tile.flags[i] ?? 0);
  const number = dim ? -1 : eventColour(reserved, s.frames.colour(frame));
  const call = { row: tile.rows[i] ?? 0, index: tile.index[i] ?? 0 };
  const mark = { call, frame, b, hit: matches && s.dimmed };
  const pale = dim ? [] : paleParts(lane, tile.flags[i] ?? 0, x0, x1);
  // Open and broken ends are visible from 10 px, pale parts from 4 px.
  const plain = edges === CLOSED || b.w <= LEAST_OPEN;
  if (
    own.narrow &&
    plain &&
    (pale.length === 0 || b.w < LEAST_PALE) &&
    isNarrow(s.theme, b, number)
  ) {
    s.narrow.put(s.theme, b, number);
    if (mark.hit || isMarkedSlice(s, call, frame)) own.marked.push(mark);
    return;
  }
  const faint = lane.async && !dim;
  if (faint) g.globalAlpha = ASYNC;
  if (lane.states) paintState(g, s.theme, b, number);
  else drawBar(g, s.theme, b, number, edges);
  g.globalAlpha = 1;
  if (b.w >= LEAST_PALE) for (const part of pale) paintOffCpu(g, s, b, part);
  if (faint && b.w >= 3 && edges === CLOSED) drawThinOutline(g, s.theme.colour['line-strong'], b);
  if (b.w >= LEAST_LABEL && !lane.states) {
    const waiting = own.waits.some(([a, z]) => a < x1 && z > x0 && z - a > 3);
    const left = edges.openLeft ? 4 : 0;
    const free = firstTakenFrom(own.taken, Math.max(b.x, 0) + left) - (lane.async ? DIAMOND : 0);
    paintSliceLabel(g, s, frame, b, {
      left,
      right: Math.max(edges.openRight || edges.unrolled ? 6 : 0, b.x + b.w - free),
      lift: waiting ? 2 : 0,
      number,
      faint,
    });
  }
  markSlice(g, s, lane, mark);
}

function isSameCall(a: Call | null, b: Call): boolean {
  return a !== null && a.row === b.row && a.index === b.index;
}

function isMarkedSlice(s: Scene, call: Call, frame: number): boolean {
  return frame === s.frame || isSameCall(s.hit, call) || isSameCall(s.hovered, call);
}

/** The opacity of the background over the part of a slice without CPU. */
const OFF_CPU = 0.45;

/** Return the parts of a slice without CPU: by its thread's states, else by its share. */
function paleParts(lane: Lane, flags: number, x0: number, x1: number): XInterval[] {
  if (lane.states || lane.depth < 0) return [];
  if (lane.off) return partsWithin(lane.off, x0, x1);
  const share = cpuShare(flags);
  return share === null ? [] : partOffShare(share, x0, x1);
}

/** Make one part of a bar pale. The left edge of the bar keeps its colour. */
function paintOffCpu(g: Surface, s: Scene, b: Box, [from, to]: XInterval): void {
  const x = Math.max(b.x + 1, snapToPixel(s, from));
  const right = Math.min(b.x + b.w, snapToPixel(s, to));
  if (x >= right) return;
  g.globalAlpha = OFF_CPU;
  g.fillStyle = s.theme.colour.bg;
  g.fillRect(x, b.y, right - x, b.h);
  g.globalAlpha = 1;
}

interface LabelLook {
  left: number;
  right: number;
  lift: number;
  number: number;
  /** True on a bar that lets the background through. */
  faint?: boolean;
}

/**
 * Write the name of a slice at the visible left edge of its bar, so that it stays in view while the
 * user pans.
 */
export function paintSliceLabel(
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
  if (s.dimmed && isSameCall(s.hit, call)) {
    g.strokeStyle = s.theme.colour.hit;
    g.lineWidth = 2;
    g.strokeRect(b.x, b.y, b.w, b.h);
  }
  if (frame === s.frame && b.w > 3 && lane.depth >= 0 && !lane.states)
    drawThinOutline(g, s.theme.colour.select, b);
  else if (isSameCall(s.hovered, call)) drawThinOutline(g, s.theme.colour.text, b);
}
