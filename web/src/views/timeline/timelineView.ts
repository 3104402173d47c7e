// SPDX-License-Identifier: Apache-2.0
// The tracks and the ruler above them. This view requests the tiles of the visible rows, paints
// them, and finds what is under a point. timelineGestures.ts handles mouse, wheel and touch.
//
//   facts, rows, arrangement --> layoutTimeline --> placed: boxes by height in the list
//   placed + scroll + view   --> want(): tiles of the lanes in view  --> TileCache --> engine
//                            --> TimelinePainter: boxes in view      --> ListCanvas
//   point                    --> listY, boxAt, laneAt, hitLane       --> track, lane, slice
//
// Two coordinates: y of the canvas, and y of the list, which scrolls below it. Pinned tracks are at
// the top of both and are painted on a canvas of their own (listY).
//
// Three ways to paint, from the dearest to the cheapest: paintAll after a signal that concerns
// everything (watch), watchRows for an answer about one kind of row, and paintAgain for the lanes
// of tiles that have arrived. Each only marks what is to be painted; it happens once a frame.

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
import { timelineRows, type CounterBox, type Row } from '../../model/rows';
import type { Span } from '../../model/span';
import { resolutionFor, TileCache, tileRange } from '../../model/tileCache';
import { openProcessOf, unhide } from '../../model/unhide';
import { instantAt } from '../../render/instantPainter';
import { paintRuler } from '../../render/rulerPainter';
import type { Surface } from '../../render/surface';
import { inTermsOf, wordsFor } from '../../model/words';
import type { TimeScale } from '../../render/timeScale';
import type { Scene } from '../../render/trackPainter';
import { NonSliceLayer, sayLeftOut, type MarkHit } from './nonSliceLayer';
import { Canvas } from '../canvas';
import type { Views } from '../context';
import { FlowLayer } from './flowLayer';
import { lanesIn, LaneTiles } from './laneTiles';
import { labelEdge } from './labelEdge';
import { AHEAD, ListCanvas, type PaintJob } from './listCanvas';
import { chosenRows } from './rowOrderMenu';
import { rulerKey } from './rulerKey';
import { rulerScene } from './rulerScene';
import { TimelineLabels } from './timelineLabels';
import { TimelinePainter } from './timelinePainter';

/** The hit under a point of the canvas. */
export interface Under {
  box: TrackBox;
  lane: LaneBox | null;
  hit: Hit | null;
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
  readonly canvas: ListCanvas;
  private readonly pinnedPlace: HTMLElement;
  private readonly pinnedCanvas: Canvas;
  private readonly rulerCanvas: Canvas;
  readonly painter: TimelinePainter;
  private readonly laneTiles = new LaneTiles();
  private readonly body: HTMLElement;
  readonly labels: TimelineLabels;
  /** Called after the tracks were painted. */
  whenDrawn: () => void = () => undefined;

  constructor(private readonly v: Views) {
    const { viewer, settings } = v;
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
    this.canvas = new ListCanvas(
      this.lanes,
      this.tracks,
      inTermsOf(wordsFor(viewer.facts), 'Calls of each thread over time'),
      (jobs) => this.drawTracks(jobs),
      () => {
        this.v.selection.setWidth(this.canvas.width);
        this.v.counters.setWidth(this.canvas.width);
        this.v.instants.setWidth(this.canvas.width);
        this.v.beside.setWidth(this.canvas.width);
        this.v.flows.setWidth(this.canvas.width);
        this.scrolled();
      },
    );
    this.pinnedPlace = h('div', { class: 'pinned-lanes' });
    this.pinnedCanvas = new Canvas(this.pinnedPlace, this.pinnedPlace, '', (g) => {
      if (this.painter.paintPinned(g)) this.pinnedCanvas.invalidate();
    });
    // The name of the time line is that of its pinned tracks, too.
    this.pinnedCanvas.element.setAttribute('aria-hidden', 'true');
    this.pinnedPlace.append(this.pinnedCanvas.element);
    this.canvas.element.append(this.pinnedPlace);
    this.painter = new TimelinePainter(v, this);

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

  /** Read what tracks and ruler have in common, so that the calling effect runs again with it. */
  private watchShared(): void {
    const { viewer, settings } = this.v;
    viewer.view.get();
    viewer.range.get();
    viewer.pointer.get();
    settings.theme.get();
  }

  /** Read every signal that any track depends on, and paint all. */
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
    this.paintAll();
  }

  private paintAll(): void {
    this.canvas.invalidate();
    this.pinnedCanvas.invalidate();
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
    const { pinned } = this.placed.peek();
    if (boxes.some(({ top }) => top < pinned)) this.pinnedCanvas.invalidate();
    for (const { top, height } of boxes) this.canvas.paintAgain({ from: top, to: top + height });
  }

  /** Give list and labels the heights of a new layout. */
  private layLabels(): void {
    const placed = this.placed.get();
    this.canvas.listHeight = placed.height + 8;
    this.body.style.height = `${placed.height + 8}px`;
    this.pinnedPlace.style.height = `${placed.pinned}px`;
    this.pinnedPlace.hidden = placed.pinned === 0;
    this.labels.lay(placed, this.tracks.scrollTop, this.tracks.scrollTop + this.canvas.height);
  }

  private readonly scrolled = (): void => {
    this.labels.show(this.tracks.scrollTop, this.tracks.scrollTop + this.canvas.height);
    // Arrows to pinned tracks, which do not scroll, have other shapes now.
    if (this.placed.peek().pinned > 0 && this.flows.any) this.paintAll();
    else this.canvas.scrolled();
  };

  get scale(): TimeScale {
    return this.painter.scale;
  }

  /**
   * Paint parts of the list. What is needed for them is asked first, so that answers come while the
   * rest is painted; rows near the view are asked in advance, for scrolling.
   */
  private drawTracks(jobs: readonly PaintJob[]): void {
    const placed = this.placed.peek();
    const scroll = this.tracks.scrollTop;
    const scene = this.painter.scene();
    this.want(placed, scroll, scene);
    const { height } = this.canvas;
    const near = this.seen(placed.rows, scroll - AHEAD, scroll + height + AHEAD);
    const around = (): RowBox[] => this.seen(placed.rows, scroll - height, scroll + 2 * height);
    const counters = (of: RowBox[]): CounterBox[] => this.painter.counterBoxes(of);
    this.v.counters.show(counters(near), () => counters(around()));
    this.marks.show(near, around);
    this.painter.paintJobs(jobs, scene);
    this.whenDrawn();
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

  /** Name the tiles of the rows that are painted, and those to prefetch for scrolling. */
  private want({ tracks, pinned }: TimelineLayout, scroll: number, scene: Scene): void {
    const { height } = this.canvas;
    const part = (by: number) => ({ top: scroll - by, bottom: scroll + height + by, pinned });
    const near = part(AHEAD);
    const far = part(height);
    this.cache.show({
      lanes: this.laneTiles.lanes(this.seen(tracks, near.top, near.bottom), scene, near),
      around: () => boxesIn(tracks, far.top, far.bottom).flatMap((box) => lanesIn(box, scene, far)),
      res: scene.res,
      ...tileRange(scene.scale.view, scene.res),
    });
  }

  /** Paint the ruler, also of a saved picture, which has no pointer. */
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
