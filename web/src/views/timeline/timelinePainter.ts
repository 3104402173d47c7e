// SPDX-License-Identifier: Apache-2.0
// Paints parts of the list of tracks and rows: onto the sheets of the page (listCanvas.ts), onto the
// canvas of the pinned tracks, and as a picture to save.

import type { ReadSignal } from '../../base/signal';
import type { CounterFacts } from '../../model/engine';
import { boxesIn, type RowBox, type TimelineLayout } from '../../model/layout';
import { counterBoxes, type CounterBox } from '../../model/rows';
import { statesOfThreads } from '../../model/states';
import { resolutionFor, type TileCache } from '../../model/tileCache';
import { paintCounters, type CounterScene } from '../../render/counterPainter';
import { DensityImages, IMAGES_PER_FRAME } from '../../render/densityRows';
import { paintInstants } from '../../render/instantPainter';
import { NarrowBars } from '../../render/narrowBars';
import type { Surface } from '../../render/surface';
import { TimeScale } from '../../render/timeScale';
import { paintGroups, paintTracks, type Scene } from '../../render/trackPainter';
import type { Views } from '../context';
import type { FlowLayer } from './flowLayer';
import type { ListCanvas, ListPart, PaintJob } from './listCanvas';
import type { NonSliceLayer } from './nonSliceLayer';

/** Lines reach into their neighbours by less than this: outlines, brackets, marks of instants. */
const AROUND = 8;

/** The parts of the time line that are painted. */
interface PaintedLine {
  readonly placed: ReadSignal<TimelineLayout>;
  readonly cache: TileCache;
  readonly marks: NonSliceLayer;
  readonly flows: FlowLayer;
  readonly overCounter: ReadSignal<CounterFacts | null>;
  readonly canvas: ListCanvas;
  /** The element that scrolls the list. */
  readonly tracks: HTMLElement;
}

/**
 * A part of the list that is painted: from `top` to `bottom` of the surface, scrolled by `scroll`.
 */
interface ScrolledPart {
  scroll: number;
  top: number;
  bottom: number;
}

/** Paints the list of a time line. */
export class TimelinePainter {
  private readonly narrow = new NarrowBars();
  private readonly densityImages = new DensityImages(IMAGES_PER_FRAME);
  private readonly statesOf: ReadonlyMap<number, number>;

  constructor(
    private readonly v: Views,
    private readonly line: PaintedLine,
  ) {
    this.statesOf = statesOfThreads(v.viewer.facts.tracks);
  }

  get scale(): TimeScale {
    return new TimeScale(this.v.viewer.view.peek(), this.line.canvas.width);
  }

  /** Return the state from which everything is painted now. */
  scene(): Scene {
    const { viewer, selection, search, settings, meters } = this.v;
    const theme = settings.theme.peek();
    const { scale } = this;
    return {
      theme,
      frames: viewer.frames,
      meter: meters.get(theme.barFont),
      densityImages: this.densityImages,
      narrow: this.narrow,
      cache: this.line.cache,
      statesOf: this.statesOf,
      scale,
      res: resolutionFor(scale.nsPerPixel),
      ratio: this.line.canvas.ratio,
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

  /** Paint parts of the list; those whose images are made in the next frame are painted again. */
  paintJobs(jobs: readonly PaintJob[], scene: Scene): void {
    this.densityImages.begin();
    for (const job of jobs) this.paintJob(job, scene);
    if (this.densityImages.late) for (const job of jobs) this.line.canvas.paintAgain(job);
  }

  /** Paint a part of the list with the lines around it, clipped to the part. */
  private paintJob({ g, from, to }: PaintJob, scene: Scene): void {
    const around = { from: Math.max(0, from - AROUND), to: to + AROUND };
    g.save();
    g.beginPath();
    g.rect(0, from, scene.scale.width, to - from);
    g.clip();
    g.translate(0, around.from);
    this.paintPart(g, scene, { scroll: around.from, top: 0, bottom: around.to - around.from });
    this.paintFlows(g, scene, around);
    g.restore();
  }

  /**
   * Paint the pinned tracks, which do not scroll, with the arrows over them. Returns true if they
   * are to be painted again, because some images are made in the next frame.
   */
  paintPinned(g: Surface): boolean {
    const scene = this.scene();
    this.densityImages.begin();
    this.paintPinnedPart(g, scene);
    const from = this.line.tracks.scrollTop;
    this.paintFlows(g, scene, { from, to: from + this.line.placed.peek().pinned });
    return this.densityImages.late;
  }

  /** Paint the visible part as a picture to save, without the marks of the pointer. */
  paintPicture(g: Surface, ratio: number): void {
    const densityImages = new DensityImages();
    const scene = { ...this.scene(), densityImages, ratio, pointer: null, hovered: null };
    const { pinned } = this.line.placed.peek();
    const from = this.line.tracks.scrollTop;
    const bottom = this.line.canvas.height;
    this.paintPart(g, scene, { scroll: from, top: pinned, bottom });
    if (pinned > 0) this.paintPinnedPart(g, scene);
    this.paintFlows(g, scene, { from, to: from + bottom });
  }

  private paintPinnedPart(g: Surface, scene: Scene): void {
    const { pinned } = this.line.placed.peek();
    this.paintPart(g, scene, { scroll: 0, top: 0, bottom: pinned });
    g.fillStyle = scene.theme.colour['line-strong'];
    g.fillRect(0, pinned - 1, scene.scale.width, 1);
  }

  private paintFlows(g: Surface, { theme, scale }: Scene, part: ListPart): void {
    const { flows, placed, tracks } = this.line;
    flows.paint(g, { theme, scale, placed: placed.peek(), scroll: tracks.scrollTop }, part);
  }

  /** Paint everything except flows, for the pinned part or for the scrolled part. */
  private paintPart(g: Surface, scene: Scene, part: ScrolledPart): void {
    const { scroll, top, bottom } = part;
    const placed = this.line.placed.peek();
    g.save();
    g.beginPath();
    g.rect(0, top, scene.scale.width, bottom - top);
    g.clip();
    paintTracks(g, scene, placed.tracks, scroll, bottom);
    this.paintCounters(g, scene, part);
    this.line.marks.paint(g, scene, placed.rows, scroll, bottom);
    paintGroups(g, scene, placed.groups, scroll, bottom);
    const mark = this.v.viewer.mark.peek();
    const selected = mark?.kind === 'instant' ? mark.number : null;
    const list = this.v.instants.list.peek();
    const { theme, scale, frames } = scene;
    const meter = this.v.meters.get(theme.font);
    paintInstants(g, { theme, scale, placed, frames, meter, selected }, list, scroll, bottom);
    g.restore();
  }

  /** Return the counters of rows, with what lies over each. */
  counterBoxes(rows: readonly RowBox[]): CounterBox[] {
    const end = this.v.viewer.hold.peek() ? this.v.viewer.facts.end_ns : null;
    return counterBoxes(rows, end, (counter) => this.v.counters.overlayOf(counter));
  }

  private paintCounters(g: Surface, scene: Scene, { scroll, bottom }: ScrolledPart): void {
    const { rows } = this.line.placed.peek();
    const mark = this.v.viewer.mark.peek();
    const counters: CounterScene = {
      theme: scene.theme,
      scale: scene.scale,
      meter: this.v.meters.get(scene.theme.font),
      values: this.v.counters.values.peek(),
      pointer: scene.pointer,
      hovered: this.line.overCounter.peek()?.counter ?? null,
      selected: mark?.kind === 'counter' ? { counter: mark.number, at: mark.at } : null,
      views: this.v.viewer.counterViews.peek(),
    };
    const seen = this.counterBoxes(boxesIn(rows, scroll, scroll + bottom));
    paintCounters(g, counters, seen, scroll, bottom);
  }
}
