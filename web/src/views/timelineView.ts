// SPDX-License-Identifier: Apache-2.0
// The tracks and the ruler over them: keeps the tiles asked for, draws them, and knows what lies
// under a point.  How hands move it stands in timelineGestures.ts.

import { fill, h, icon, setAttribute } from '../base/dom';
import { formatCount, formatSeconds, plural } from '../base/format';
import { computed, effect, flushEffects, signal, type ReadSignal } from '../base/signal';
import type { CounterFacts, Instant, TileLane } from '../model/engine';
import { hitLane, type Hit } from '../model/hit';
import {
  boxAt,
  laneAt,
  lanesOf,
  layoutPage,
  processesOf,
  type CounterBox,
  type GroupBox,
  type LaneBox,
  type Placed,
  type TrackBox,
} from '../model/layout';
import { idOf, trackName } from '../model/names';
import type { Span } from '../model/span';
import { resolutionFor, TileCache, tileRange } from '../model/tileCache';
import { paintCounters, type CounterScene } from '../render/counterPainter';
import { instantAt, paintInstants } from '../render/instantPainter';
import { paintRuler } from '../render/rulerPainter';
import type { Context } from '../render/shapes';
import { StripImages } from '../render/strips';
import { TimeScale } from '../render/timeScale';
import { paintGroups, paintTracks, type Scene } from '../render/trackPainter';
import { Canvas } from './canvas';
import type { Views } from './context';
import { busyTime, kindOf, processWords } from './trackWords';

/** Rows a little outside the screen are asked for as well, so that scrolling finds them. */
const AHEAD = 120;

export interface Under {
  box: TrackBox;
  lane: LaneBox | null;
  hit: Hit | null;
}

export class TimelineView {
  readonly ruler: HTMLElement;
  readonly tracks: HTMLElement;
  readonly lanes: HTMLElement;
  readonly rulerPlace: HTMLElement;
  /** A span being dragged on the ruler, to zoom to. */
  readonly zooming = signal<Span | null>(null);
  /** The counter under the pointer. */
  readonly overCounter = signal<CounterFacts | null>(null);
  readonly placed: ReadSignal<Placed>;
  readonly cache: TileCache;
  readonly canvas: Canvas;
  private readonly rulerCanvas: Canvas;
  private readonly strips = new StripImages();
  private readonly body: HTMLElement;
  private readonly labels: HTMLElement;

  constructor(private readonly v: Views) {
    const { viewer, settings } = v;
    this.cache = new TileCache(
      viewer.engine,
      viewer.bounds,
      () => this.canvas.invalidate(),
      viewer.failed,
    );
    this.placed = computed(() =>
      layoutPage(
        viewer.facts,
        {
          expanded: viewer.expanded.get(),
          whole: viewer.whole.get(),
          closed: viewer.closed.get(),
        },
        settings.theme.get().heights,
        v.counters.list.get(),
      ),
    );
    this.labels = h('div', { class: 'labels' });
    this.lanes = h('div', { class: 'lanes' });
    this.body = h('div', { class: 'body' }, this.labels, this.lanes);
    this.tracks = h(
      'section',
      {
        class: 'tracks',
        id: 'tracks',
        attrs: { 'aria-label': 'Time line' },
        on: { scroll: () => this.canvas.invalidate() },
      },
      this.body,
    );
    this.canvas = new Canvas(
      this.lanes,
      this.tracks,
      'Calls of each thread over time',
      (g) => this.drawTracks(g),
      () => {
        this.v.selection.setWidth(this.canvas.width);
        this.v.counters.setWidth(this.canvas.width);
        this.v.instants.setWidth(this.canvas.width);
      },
    );
    this.canvas.element.tabIndex = 0;
    this.lanes.append(this.canvas.element);

    this.rulerPlace = h('div', { class: 'canvas' });
    this.rulerCanvas = new Canvas(this.rulerPlace, this.rulerPlace, 'Ruler', (g) =>
      this.drawRuler(g),
    );
    this.rulerPlace.append(this.rulerCanvas.element);
    this.ruler = h(
      'section',
      { class: 'strip ruler', attrs: { 'aria-label': 'Ruler' } },
      this.rulerKey(),
      this.rulerPlace,
    );
    effect(() => this.layLabels());
    effect(() => this.watch());
    effect(() => {
      viewer.unit.get();
      this.zooming.get();
      this.watchShared();
      this.rulerCanvas.invalidate();
    });
  }

  private rulerKey(): HTMLElement {
    const { viewer } = this.v;
    const { tracks, idle_threads, order } = viewer.facts;
    const busy = tracks.filter((t) => t.kind === 'thread').length;
    const threads = `${busy} of ${plural(busy + idle_threads.length, 'thread')}`;
    const processes = processesOf(tracks).size;
    const text =
      order === 'owner' ? `${plural(processes, 'process', 'processes')}, ${threads}` : threads;
    const toggle = h('button', { class: 'icon-button', attrs: { type: 'button' } });
    toggle.addEventListener('click', () => viewer.expandAll(viewer.expanded.peek().size === 0));
    effect(() => {
      const open = viewer.expanded.get().size > 0;
      const label = open
        ? 'Collapse all threads to the innermost call'
        : 'Expand all threads to their call charts';
      toggle.title = label;
      setAttribute(toggle, 'aria-label', label);
      fill(toggle, icon(open ? 'down' : 'right'));
    });
    return h(
      'div',
      { class: 'key' },
      toggle,
      h('span', { title: text }, text),
      order === 'busiest' && h('span', { class: 'dim push' }, 'busiest first'),
    );
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
    viewer.frame.get();
    viewer.hover.get();
    viewer.call.get();
    selection.details.get();
    selection.extents.get();
    search.hits.get();
    search.focused.get();
    search.current.get();
    this.v.counters.values.get();
    this.v.instants.list.get();
    viewer.instant.get();
    this.overCounter.get();
    this.canvas.invalidate();
  }

  private layLabels(): void {
    const { tracks: boxes, groups, counters, height } = this.placed.get();
    const { viewer, selection } = this.v;
    const chosen = viewer.tracks.get();
    const holds = selection.details.get()?.track;
    this.body.style.height = `${height + 8}px`;
    const focused = document.activeElement?.getAttribute('data-key');
    const lines = [
      ...groups.map((group) => ({ top: group.top, label: this.groupLabel(group) })),
      ...counters.map((box) => ({ top: box.top, label: this.counterLabel(box) })),
      ...boxes.map((box) => ({ top: box.top, label: this.trackLabel(box, chosen, holds) })),
    ];
    // The keyboard and a screen reader go through them as they stand.
    fill(this.labels, ...lines.sort((a, b) => a.top - b.top).map((line) => line.label));
    // The labels are new elements: the keyboard's place must not be lost with the old ones.
    if (focused)
      this.labels.querySelector<HTMLElement>(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }

  /** The line of a process: name, id, labels; a click closes or opens it. */
  private groupLabel(group: GroupBox): HTMLElement {
    const { viewer } = this.v;
    const process = viewer.facts.processes[group.process];
    const own = viewer.facts.tracks.filter((t) => t.process === group.process);
    const threads = plural(own.filter((t) => t.kind === 'thread').length, 'thread');
    const id = process ? idOf(process) : '';
    const name = process ? process.name || `Process ${id}` : 'No process';
    const labels = process?.labels ?? '';
    const title = [name, id && `process ${id}`, labels, threads].filter((word) => word).join(', ');
    return h(
      'button',
      {
        class: 'group',
        title: `${title}. A click ${group.open ? 'hides' : 'shows'} what belongs to it.`,
        style: { top: `${group.top}px`, height: `${group.height}px` },
        attrs: { type: 'button', 'aria-expanded': group.open, 'data-key': `p${group.process}` },
        on: { click: () => viewer.toggleProcess(group.process) },
      },
      icon(group.open ? 'down' : 'right'),
      h('b', null, name),
      process?.name ? h('span', { class: 'tid' }, `pid ${id}`) : null,
      labels ? h('span', { class: 'tid' }, labels) : null,
    );
  }

  private counterLabel(box: CounterBox): HTMLElement {
    const { counter } = box;
    const series = counter.series.join(', ');
    return h(
      'div',
      {
        class: 'label counter',
        title: `Counter ${counter.name}${series ? `: ${series}` : ''}, ${plural(counter.samples, 'sample')}`,
        style: { top: `${box.top}px`, height: `${box.height}px` },
      },
      h('div', { class: 'line' }, h('span', { class: 'name' }, counter.name)),
      counter.series.length > 1 || series !== counter.name
        ? h('div', { class: 'line second' }, series)
        : null,
    );
  }

  private trackLabel(
    box: TrackBox,
    all: readonly number[],
    holding: number | undefined,
  ): HTMLElement {
    const chosen = all.includes(box.track.track);
    const holds = box.track.track === holding;
    const busy = busyTime(box.track);
    const { viewer } = this.v;
    const { track } = box;
    const name = trackName(track);
    const kind = kindOf(track, viewer.facts);
    const process = processWords(track, viewer.facts);
    const title =
      `${name}${kind.title && `, ${kind.title}`}${process}: ${plural(track.calls, 'call')}, ` +
      `${plural(track.rows, 'level')}. A click computes the tables for this thread, Ctrl+click adds it.`;
    const twist = h(
      'button',
      {
        class: 'twist',
        title: box.expanded ? 'Show the innermost call only' : 'Show every level',
        attrs: {
          type: 'button',
          'aria-expanded': box.expanded,
          'aria-label': `Levels of ${name}`,
          'data-key': `t${track.track}`,
        },
        on: { click: () => viewer.toggleExpanded(track.track) },
      },
      icon(box.expanded ? 'down' : 'right'),
    );
    const pick = h(
      'button',
      {
        class: 'pick',
        title,
        attrs: { type: 'button', 'aria-pressed': chosen, 'data-key': `n${track.track}` },
        on: { click: (e) => viewer.toggleTrack(track.track, e.ctrlKey || e.metaKey || e.shiftKey) },
      },
      track.kind === 'async' ? null : h('span', { class: 'tid' }, `[${idOf(track)}] `),
      h('span', { class: 'name' }, track.name),
    );
    return h(
      'div',
      {
        class: `label${chosen ? ' selected' : ''}${holds ? ' holds' : ''}`,
        style: { top: `${box.top}px`, height: `${box.height}px` },
        on: { dblclick: () => viewer.toggleExpanded(track.track) },
      },
      h(
        'div',
        { class: 'line' },
        twist,
        pick,
        kind.mark,
        busy === null
          ? null
          : h(
              'span',
              { class: 'side', title: 'busy time: CPU, or real where there is no CPU clock' },
              formatSeconds(busy),
            ),
      ),
      this.levels(box),
    );
  }

  /** Under the name of a deep thread: the way to all its levels, and back. */
  private levels(box: TrackBox): HTMLElement | null {
    const { viewer } = this.v;
    const { track } = box;
    const more = track.rows - box.shown;
    if (!box.expanded || (more === 0 && !viewer.whole.get().has(track.track))) return null;
    return h(
      'button',
      {
        class: 'levels',
        title: more > 0 ? `Show all ${plural(track.rows, 'level')}` : 'Show the outer levels only',
        attrs: { type: 'button', 'data-key': `l${track.track}` },
        on: { click: () => viewer.toggleWhole(track.track) },
      },
      icon(more > 0 ? 'down' : 'up'),
      more > 0 ? `${formatCount(more)} more ${more === 1 ? 'level' : 'levels'}` : 'Fewer levels',
    );
  }

  get scale(): TimeScale {
    return new TimeScale(this.v.viewer.view.peek(), this.canvas.width);
  }

  private get res(): number {
    return resolutionFor(this.scale.nsPerPixel);
  }

  private scene(scale: TimeScale): Scene {
    const { viewer, selection, search, settings, meters } = this.v;
    const theme = settings.theme.peek();
    return {
      theme,
      frames: viewer.frames,
      meter: meters.get(theme.barFont),
      strips: this.strips,
      cache: this.cache,
      scale,
      res: resolutionFor(scale.nsPerPixel),
      ratio: this.canvas.ratio,
      bounds: viewer.bounds,
      range: viewer.range.peek(),
      pointer: viewer.pointer.peek(),
      frame: viewer.frame.peek(),
      call: selection.details.peek(),
      extents: selection.extents.peek(),
      hovered: viewer.hover.peek()?.hit.call ?? null,
      matches: search.hits.peek()?.matches ?? null,
      dimmed: search.focused.peek() && search.hits.peek() !== null,
      hit: search.current.peek()?.call ?? null,
    };
  }

  private drawTracks(g: Context): void {
    const placed = this.placed.peek();
    const boxes = placed.tracks;
    const scroll = this.tracks.scrollTop;
    const scene = this.scene(this.scale);
    this.want(boxes, scroll, scene);
    paintTracks(g, scene, boxes, scroll, this.canvas.height);
    this.drawCounters(g, placed, scroll, scene);
    paintGroups(g, scene, placed.groups, scroll, this.canvas.height);
    const marks = { theme: scene.theme, scale: scene.scale, placed };
    const selected = this.v.viewer.instant.peek();
    const list = this.v.instants.list.peek();
    paintInstants(g, { ...marks, selected }, list, scroll, this.canvas.height);
  }

  private drawCounters(g: Context, placed: Placed, scroll: number, scene: Scene): void {
    const bottom = scroll + this.canvas.height;
    const seen = placed.counters.filter((b) => b.top < bottom && b.top + b.height > scroll);
    this.v.counters.show(seen.map((box) => box.counter.counter));
    const counters: CounterScene = {
      theme: scene.theme,
      scale: scene.scale,
      meter: this.v.meters.get(scene.theme.font),
      values: this.v.counters.values.peek(),
      pointer: scene.pointer,
      hovered: this.overCounter.peek()?.counter ?? null,
    };
    paintCounters(g, counters, seen, scroll, this.canvas.height);
  }

  /** The instant whose mark is under a point of the canvas. */
  instantAt(x: number, y: number): Instant | null {
    const where = { placed: this.placed.peek(), scale: this.scale };
    return instantAt(where, this.v.instants.list.peek(), x, y + this.tracks.scrollTop);
  }

  /** The counter under a point of the canvas. */
  counterAt(y: number): CounterFacts | null {
    const at = y + this.tracks.scrollTop;
    const found = this.placed.peek().counters.find((b) => at >= b.top && at < b.top + b.height);
    return found?.counter ?? null;
  }

  private want(boxes: readonly TrackBox[], scroll: number, scene: Scene): void {
    const top = scroll - AHEAD;
    const bottom = scroll + this.canvas.height + AHEAD;
    const lanes: TileLane[] = [];
    for (const box of boxes) {
      if (box.top + box.height < top || box.top > bottom) continue;
      for (const lane of lanesOf(box, scene.theme.heights, top, bottom)) lanes.push(lane.lane);
      if (box.track.waits > 0) lanes.push({ kind: 'w', row: box.track.track });
    }
    this.cache.show({ lanes, res: scene.res, ...tileRange(scene.scale.view, scene.res) });
  }

  private drawRuler(g: Context): void {
    const { viewer, settings, meters } = this.v;
    const theme = settings.theme.peek();
    paintRuler(g, {
      theme,
      meter: meters.get(theme.font),
      scale: new TimeScale(viewer.view.peek(), this.rulerCanvas.width),
      height: this.rulerCanvas.height,
      bounds: viewer.bounds,
      range: viewer.range.peek(),
      zoom: this.zooming.peek(),
      pointer: viewer.pointer.peek(),
      unit: viewer.unit.peek(),
    });
  }

  /** What lies under a point of the canvas. */
  under(x: number, y: number): Under | null {
    const at = y + this.tracks.scrollTop;
    const box = boxAt(this.placed.peek().tracks, at);
    if (!box) return null;
    const lane = laneAt(box, this.v.settings.theme.peek().heights, at);
    return { box, lane, hit: lane && hitLane(this.cache, lane.lane, this.res, this.scale.t(x)) };
  }

  get resolution(): number {
    return this.res;
  }

  /** Scroll a track to the top, and put the keyboard on its name. */
  showTrack(track: number): void {
    this.v.viewer.openProcessOf(track);
    flushEffects();
    const box = this.placed.peek().tracks.find((b) => b.track.track === track);
    if (!box) return;
    this.tracks.scrollTop = box.top;
    this.labels
      .querySelector<HTMLElement>(`[data-key="n${track}"]`)
      ?.focus({ preventScroll: true });
  }

  /** Scroll as little as shows a row. */
  showRow(track: number, depth: number): void {
    this.v.viewer.openProcessOf(track);
    flushEffects();
    let box = this.placed.peek().tracks.find((b) => b.track.track === track);
    if (box?.expanded && depth >= box.shown) {
      this.v.viewer.toggleWhole(track);
      flushEffects();
      box = this.placed.peek().tracks.find((b) => b.track.track === track);
    }
    if (!box) return;
    const { row } = this.v.settings.theme.peek().heights;
    const top = box.expanded ? box.top + depth * row : box.top;
    const bottom = top + 3 * row;
    const { scrollTop, clientHeight } = this.tracks;
    if (top < scrollTop) this.tracks.scrollTop = Math.max(0, top - row);
    else if (bottom > scrollTop + clientHeight) this.tracks.scrollTop = bottom - clientHeight;
  }
}
