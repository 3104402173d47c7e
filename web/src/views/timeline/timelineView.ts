// SPDX-License-Identifier: Apache-2.0
// The tracks and the ruler above them. This view requests the tiles of the visible rows, paints
// them, and finds what is under a point. timelineGestures.ts handles mouse, wheel and touch.

import { h } from '../../base/dom';
import { computed, effect, flushEffects, signal, type ReadSignal } from '../../base/signal';
import type { CounterFacts, Instant } from '../../model/engine';
import type { Flow } from '../../model/flowAnswers';
import { hitLane, type Hit } from '../../model/hit';
import {
  boxAt,
  boxesIn,
  laneAt,
  layoutTimeline,
  type LaneBox,
  type TimelineLayout,
  type RowBox,
  type TrackBox,
} from '../../model/layout';
import { counterBoxes, timelineRows, type CounterBox, type Row } from '../../model/rows';
import type { Span } from '../../model/span';
import { statesOfThreads } from '../../model/states';
import { resolutionFor, TileCache, tileRange } from '../../model/tileCache';
import { openProcessOf, unhide } from '../../model/unhide';
import { paintCounters, type CounterScene } from '../../render/counterPainter';
import { instantAt, paintInstants } from '../../render/instantPainter';
import { NarrowBars } from '../../render/narrowBars';
import { paintRuler } from '../../render/rulerPainter';
import type { Surface } from '../../render/surface';
import { IMAGES_PER_FRAME, DensityImages } from '../../render/densityRows';
import { inTermsOf, wordsFor } from '../../model/words';
import { TimeScale } from '../../render/timeScale';
import { paintGroups, paintTracks, type Scene } from '../../render/trackPainter';
import { NonSliceLayer, sayLeftOut, type MarkHit } from './nonSliceLayer';
import { Canvas } from '../canvas';
import type { Views } from '../context';
import { FlowLayer } from './flowLayer';
import { LaneTiles } from './laneTiles';
import { labelEdge } from './labelEdge';
import { chosenRows } from './rowOrderMenu';
import { rulerKey } from './rulerKey';
import { rulerScene } from './rulerScene';
import { paintStrip, ScrolledPart } from './scrolledPart';
import { TimelineLabels } from './timelineLabels';

/** Rows this far outside the view, in pixels, are requested before the user scrolls to them. */
const AHEAD = 120;

/** The hit under a point of the canvas. */
export interface Under {
  box: TrackBox;
  lane: LaneBox | null;
  hit: Hit | null;
}

/**
 * A part of the list that is painted: from `top` to `bottom` of the canvas, scrolled by `scroll`.
 */
interface Part {
  placed: TimelineLayout;
  scroll: number;
  top: number;
  bottom: number;
}

/** The view of ruler and tracks. */
export class TimelineView {
  readonly ruler: HTMLElement;
  readonly tracks: HTMLElement;
  readonly lanes: HTMLElement;
  readonly rulerPlace: HTMLElement;
  /** The span being dragged on the ruler, to zoom to. */
  readonly zooming = signal<Span | null>(null);
  /** The counter under the pointer. */
  readonly overCounter = signal<CounterFacts | null>(null);
  readonly placed: ReadSignal<TimelineLayout>;
  readonly marks: NonSliceLayer;
  readonly rows: ReadSignal<readonly Row[]>;
  readonly cache: TileCache;
  readonly flows: FlowLayer;
  readonly canvas: Canvas;
  private readonly rulerCanvas: Canvas;
  private readonly narrow = new NarrowBars();
  private readonly shownPart = new ScrolledPart();
  private readonly densityImages = new DensityImages(IMAGES_PER_FRAME);
  private readonly statesOf: ReadonlyMap<number, number>;
  private readonly laneTiles = new LaneTiles();
  private readonly body: HTMLElement;
  readonly labels: TimelineLabels;
  /** Called after the tracks were painted. */
  whenDrawn: () => void = () => undefined;

  constructor(private readonly v: Views) {
    const { viewer, settings } = v;
    this.statesOf = statesOfThreads(viewer.facts.tracks);
    this.flows = new FlowLayer(v);
    this.marks = new NonSliceLayer(v);
    this.cache = new TileCache(
      viewer.engine,
      viewer.bounds,
      (tiles) =>
        this.paintAgain(this.laneTiles.changed(tiles, this.resolution, viewer.view.peek())),
      viewer.failed,
    );
    this.rows = computed(() =>
      timelineRows(
        v.beside.rows.get(),
        v.counters.list.get(),
        viewer.facts.tracks,
        viewer.facts.idle_threads,
      ),
    );
    const ordered = chosenRows(viewer, this.rows);
    this.placed = computed(() =>
      layoutTimeline(
        ordered.get().facts,
        {
          expanded: viewer.expanded.get(),
          whole: viewer.whole.get(),
          closed: viewer.closed.get(),
          folds: viewer.folds.get(),
          arrangement: viewer.arrangement.get(),
          only: viewer.only.get(),
        },
        settings.theme.get().heights,
        ordered.get().rows,
      ),
    );
    this.labels = new TimelineLabels(
      v,
      () => this.tracks,
      () => this.placed.peek(),
    );
    this.lanes = h('div', { class: 'lanes' });
    this.body = h('div', { class: 'body' }, this.labels.element, this.lanes);
    this.tracks = h(
      'section',
      {
        class: 'tracks',
        id: 'tracks',
        attrs: { 'aria-label': 'Time line' },
        on: { scroll: this.scrolled },
      },
      this.body,
    );
    this.canvas = new Canvas(
      this.lanes,
      this.tracks,
      inTermsOf(wordsFor(viewer.facts), 'Calls of each thread over time'),
      (g) => this.drawTracks(g),
      () => {
        this.v.selection.setWidth(this.canvas.width);
        this.v.counters.setWidth(this.canvas.width);
        this.v.instants.setWidth(this.canvas.width);
        this.v.beside.setWidth(this.canvas.width);
        this.v.flows.setWidth(this.canvas.width);
        this.scrolled();
      },
    );
    this.canvas.element.tabIndex = 0;
    this.lanes.append(this.canvas.element);

    this.rulerPlace = h('div', { class: 'canvas' });
    this.rulerCanvas = new Canvas(this.rulerPlace, this.rulerPlace, 'Ruler', (g) =>
      this.drawRuler(g, viewer.pointer.peek()),
    );
    this.rulerPlace.append(this.rulerCanvas.element);
    this.ruler = h(
      'section',
      { class: 'strip ruler', attrs: { 'aria-label': 'Ruler' } },
      rulerKey(v, this.placed),
      this.rulerPlace,
      labelEdge(settings, this.labels.element, 'separator'),
    );
    this.body.append(labelEdge(settings, this.labels.element, null));
    effect(() => this.layLabels());
    effect(() => this.watch());
    effect(() => sayLeftOut(v));
    this.watchRows(v.counters.values, 'counter');
    for (const [answer, kind] of this.marks.scrolledAnswers) this.watchRows(answer, kind);
    effect(() => {
      viewer.unit.get();
      this.zooming.get();
      this.watchShared();
      this.rulerCanvas.invalidate();
    });
  }

  private watchShared(): void {
    const { viewer, settings } = this.v;
    viewer.view.get();
    viewer.range.get();
    viewer.pointer.get();
    settings.theme.get();
  }

  private watch(): void {
    const { viewer, selection, search } = this.v;
    this.watchShared();
    this.placed.get();
    viewer.notes.get();
    viewer.frame.get();
    viewer.hover.get();
    viewer.call.get();
    selection.details.get();
    this.v.pair.pinned.get();
    selection.extents.get();
    search.hits.get();
    search.focused.get();
    search.current.get();
    this.v.vsync.bands.get();
    viewer.counterViews.get();
    viewer.overlays.get();
    viewer.hold.get();
    this.v.instants.list.get();
    viewer.mark.get();
    this.flows.watch();
    this.marks.watch();
    this.overCounter.get();
    this.canvas.invalidate();
  }

  /** Paint the rows of one kind again after an answer about them. */
  private watchRows(answer: { get(): unknown }, kind: Row['kind']): void {
    effect(() => {
      answer.get();
      this.paintAgain(this.placed.peek().rows.filter((box) => box.row.kind === kind));
    });
  }

  /** Paint boxes of the list again in the next frame, and nothing else. */
  private paintAgain(boxes: readonly { top: number; height: number }[]): void {
    if (boxes.some(({ top }) => top < this.placed.peek().pinned)) this.canvas.whole = true;
    for (const { top, height } of boxes) this.shownPart.paintAgain({ from: top, to: top + height });
    this.canvas.scrolled();
  }

  private layLabels(): void {
    const placed = this.placed.get();
    this.body.style.height = `${placed.height + 8}px`;
    this.labels.lay(placed, this.tracks.scrollTop, this.tracks.scrollTop + this.canvas.height);
  }

  private readonly scrolled = (): void => {
    this.labels.show(this.tracks.scrollTop, this.tracks.scrollTop + this.canvas.height);
    this.canvas.scrolled();
  };

  get scale(): TimeScale {
    return new TimeScale(this.v.viewer.view.peek(), this.canvas.width);
  }

  private scene(scale: TimeScale): Scene {
    const { viewer, selection, search, settings, meters } = this.v;
    const theme = settings.theme.peek();
    return {
      theme,
      frames: viewer.frames,
      meter: meters.get(theme.barFont),
      densityImages: this.densityImages,
      narrow: this.narrow,
      cache: this.cache,
      statesOf: this.statesOf,
      scale,
      res: resolutionFor(scale.nsPerPixel),
      ratio: this.canvas.ratio,
      unit: viewer.unit.peek(),
      bounds: viewer.bounds,
      range: viewer.range.peek(),
      notes: viewer.notes.peek(),
      bands: this.v.vsync.bands.peek(),
      pointer: viewer.pointer.peek(),
      frame: viewer.frame.peek(),
      call: selection.details.peek(),
      pinned: this.v.pair.pinned.peek()?.call ?? null,
      extents: selection.extents.peek(),
      hovered: viewer.hover.peek()?.hit.call ?? null,
      matches: search.hits.peek()?.matches ?? null,
      dimmed: search.focused.peek() && (search.hits.peek()?.frames.length ?? 0) > 0,
      hit: search.current.peek()?.call ?? null,
    };
  }

  private drawTracks(g: Surface): void {
    const placed = this.placed.peek();
    const scroll = this.tracks.scrollTop;
    const scene = this.scene(this.scale);
    this.want(placed, scroll, scene);
    const { height, width } = this.canvas;
    const near = this.seen(placed.rows, scroll - AHEAD, scroll + height + AHEAD);
    const around = (): RowBox[] => this.seen(placed.rows, scroll - height, scroll + 2 * height);
    this.v.counters.show(this.counterBoxes(near), () => this.counterBoxes(around()));
    this.marks.show(near, around);
    this.densityImages.begin();
    const moved = this.shownPart.move(g, this.canvas, placed, scroll, placed.pinned);
    const strips = this.flows.any ? null : moved;
    if (!strips) this.drawScene(g, scene);
    for (const strip of strips ?? [])
      paintStrip(g, strip, width, (above, bottom) =>
        this.drawPart(g, scene, { placed, scroll: scroll + above, top: 0, bottom }),
      );
    if (this.densityImages.late) {
      if (!strips) this.canvas.invalidate();
      else
        this.paintAgain(strips.map(({ from, to }) => ({ top: from + scroll, height: to - from })));
    }
    this.whenDrawn();
  }

  /** Paint the visible part as a picture to save, without the marks of the pointer. */
  drawPicture(g: Surface, ratio: number): void {
    const densityImages = new DensityImages();
    this.drawScene(g, {
      ...this.scene(this.scale),
      densityImages,
      ratio,
      pointer: null,
      hovered: null,
    });
  }

  private drawScene(g: Surface, scene: Scene): void {
    const placed = this.placed.peek();
    const scroll = this.tracks.scrollTop;
    this.drawPart(g, scene, { placed, scroll, top: placed.pinned, bottom: this.canvas.height });
    if (placed.pinned > 0) {
      this.drawPart(g, scene, { placed, scroll: 0, top: 0, bottom: placed.pinned });
      g.fillStyle = scene.theme.colour['line-strong'];
      g.fillRect(0, placed.pinned - 1, this.canvas.width, 1);
    }
    const { theme, scale } = scene;
    this.flows.paint(g, { theme, scale, placed, scroll }, this.canvas.height);
  }

  /** Paint everything except flows, for the pinned part or for the scrolled part. */
  private drawPart(g: Surface, scene: Scene, { placed, scroll, top, bottom }: Part): void {
    g.save();
    g.beginPath();
    g.rect(0, top, this.canvas.width, bottom - top);
    g.clip();
    paintTracks(g, scene, placed.tracks, scroll, bottom);
    this.drawCounters(g, scene, { placed, scroll, top, bottom });
    this.marks.paint(g, scene, placed.rows, scroll, bottom);
    paintGroups(g, scene, placed.groups, scroll, bottom);
    const mark = this.v.viewer.mark.peek();
    const selected = mark?.kind === 'instant' ? mark.number : null;
    const list = this.v.instants.list.peek();
    const { theme, scale, frames } = scene;
    const meter = this.v.meters.get(theme.font);
    paintInstants(g, { theme, scale, placed, frames, meter, selected }, list, scroll, bottom);
    g.restore();
  }

  private counterBoxes(rows: readonly RowBox[]): CounterBox[] {
    const end = this.v.viewer.hold.peek() ? this.v.viewer.facts.end_ns : null;
    return counterBoxes(rows, end, (counter) => this.v.counters.overlayOf(counter));
  }

  /** Return the pinned boxes, and the boxes visible between two heights of the list. */
  private seen<T extends { top: number; height: number }>(
    boxes: readonly T[],
    top: number,
    bottom: number,
  ): T[] {
    const { pinned } = this.placed.peek();
    const fixed = pinned > 0 ? boxesIn(boxes, 0, Math.min(pinned, this.canvas.height)) : [];
    return [...new Set([...fixed, ...boxesIn(boxes, top, bottom)])];
  }

  private drawCounters(g: Surface, scene: Scene, { placed, scroll, bottom }: Part): void {
    const seen = this.counterBoxes(boxesIn(placed.rows, scroll, scroll + bottom));
    const mark = this.v.viewer.mark.peek();
    const counters: CounterScene = {
      theme: scene.theme,
      scale: scene.scale,
      meter: this.v.meters.get(scene.theme.font),
      values: this.v.counters.values.peek(),
      pointer: scene.pointer,
      hovered: this.overCounter.peek()?.counter ?? null,
      selected: mark?.kind === 'counter' ? { counter: mark.number, at: mark.at } : null,
      views: this.v.viewer.counterViews.peek(),
    };
    paintCounters(g, counters, seen, scroll, bottom);
  }

  /** Convert y of the canvas to y of the list. Pinned tracks do not scroll. */
  private listY(y: number): number {
    return y < this.placed.peek().pinned ? y : y + this.tracks.scrollTop;
  }

  /** Return the arrow at a point of the canvas. */
  flowAt(x: number, y: number): Flow | null {
    const theme = this.v.settings.theme.peek();
    const scroll = this.tracks.scrollTop;
    const scene = { theme, placed: this.placed.peek(), scale: this.scale, scroll };
    return this.flows.at(scene, x, y + scroll);
  }

  /** Return the instant whose mark is at a point of the canvas. */
  instantAt(x: number, y: number): Instant | null {
    const where = { placed: this.placed.peek(), scale: this.scale };
    return instantAt(where, this.v.instants.list.peek(), x, this.listY(y));
  }

  /** Return the row that is not a track at y of the canvas. */
  rowAt(y: number): RowBox | null {
    return boxAt(this.placed.peek().rows, this.listY(y));
  }

  /** Return the object, snapshot, sample or memory dump at a point of the canvas. */
  markAt(x: number, y: number): MarkHit | null {
    const box = this.rowAt(y);
    const theme = this.v.settings.theme.peek();
    const scene = { theme, scale: this.scale };
    return box && this.marks.at(scene, box, x, this.listY(y));
  }

  /** Return the counter at y of the canvas. */
  counterAt(y: number): CounterFacts | null {
    const row = this.rowAt(y)?.row;
    return row?.kind === 'counter' ? row.counter : null;
  }

  private want(placed: TimelineLayout, scroll: number, scene: Scene): void {
    const top = scroll - AHEAD;
    const bottom = scroll + this.canvas.height + AHEAD;
    const part = { top, bottom, pinned: placed.pinned };
    const lanes = this.laneTiles.lanes(this.seen(placed.tracks, top, bottom), scene, part);
    this.cache.show({ lanes, res: scene.res, ...tileRange(scene.scale.view, scene.res) });
  }

  drawRuler(g: Surface, pointer: number | null): void {
    paintRuler(g, rulerScene(this.v, this.rulerCanvas, this.zooming.peek(), pointer));
  }

  /** Return the track, lane and slice at a point of the canvas. */
  under(x: number, y: number): Under | null {
    const at = this.listY(y);
    const box = boxAt(this.placed.peek().tracks, at);
    if (!box) return null;
    const lane = laneAt(box, this.v.settings.theme.peek().heights, at);
    return {
      box,
      lane,
      hit: lane && hitLane(this.cache, lane.lane, this.resolution, this.scale.t(x)),
    };
  }

  get resolution(): number {
    return resolutionFor(this.scale.nsPerPixel);
  }

  /** Return the box of a track, after showing it if it is hidden or folded. */
  private boxOf(track: number): TrackBox | undefined {
    const find = (): TrackBox | undefined => {
      flushEffects();
      return this.placed.peek().tracks.find((b) => b.track.track === track);
    };
    openProcessOf(this.v.viewer, track);
    const box = find();
    if (box) return box;
    unhide(this.v.viewer, track);
    return find();
  }

  /** Scroll a track to the top, and focus its name. */
  showTrack(track: number): void {
    const box = this.boxOf(track);
    if (!box) return;
    const { pinned } = this.placed.peek();
    if (box.top >= pinned) this.tracks.scrollTop = box.top - pinned;
    this.scrolled();
    this.labels.focus(`n${track}`);
  }

  /** Scroll as little as possible to show a row. */
  showRow(track: number, depth: number): void {
    let box = this.boxOf(track);
    if (box?.expanded && depth >= box.shown) {
      this.v.viewer.toggleWhole(track);
      box = this.boxOf(track);
    }
    const { pinned } = this.placed.peek();
    if (!box || box.top < pinned) return;
    const { row } = this.v.settings.theme.peek().heights;
    const top = box.expanded ? box.top + depth * row : box.top;
    this.showBetween(top, top + 3 * row);
  }

  /** Scroll as little as possible to show an interval of the list, in pixels. */
  showBetween(top: number, bottom: number): void {
    const { pinned } = this.placed.peek();
    const { row } = this.v.settings.theme.peek().heights;
    const { scrollTop, clientHeight } = this.tracks;
    if (top < pinned) return;
    if (top < scrollTop + pinned) this.tracks.scrollTop = Math.max(0, top - row - pinned);
    else if (bottom > scrollTop + clientHeight) this.tracks.scrollTop = bottom - clientHeight;
  }
}
