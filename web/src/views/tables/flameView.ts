// SPDX-License-Identifier: Apache-2.0
// The flame graph of the selected range and threads, in the chosen clock.
//
//   FlameStore (asks the engine) --> graph: arrays, one entry for each frame --> flamePainter
//                                      ^ index i: hovered, selected, clicked
//
// Frames have no elements: the canvas is painted, and a position is turned back into an index
// (flameAt). For the keyboard and screen readers the arrow keys move `hovered`, and each step is
// announced. A zoom asks the engine for a graph that begins at the frame, because the whole graph
// leaves out what is too narrow to draw.

import { fill, h } from '../../base/dom';
import { formatPercent, plural } from '../../base/format';
import { effect, signal, untracked, type ReadSignal } from '../../base/signal';
import { shortened } from '../../base/visible';
import { KINDS } from '../../model/colours';
import { compensationWords } from '../../model/compensation';
import type { FlameGraph, ProfileRow } from '../../model/engine';
import { figureWithUnit, scaleOf } from '../../model/measure';
import { FlameNames } from '../../model/flameNames';
import { NO_SELF } from '../../model/flameSides';
import { FlameStore } from '../../model/flameStore';
import { nextFlameFrame, widestFlameFrame } from '../../model/flameWalk';
import { countsCalls, inTermsOf, countSlices, wordsFor } from '../../model/words';
import { flameAt, flameDepth, flameHeights, paintFlame } from '../../render/flamePainter';
import type { Surface } from '../../render/surface';
import { Canvas } from '../canvas';
import type { Views } from '../context';
import { isMenuKey } from '../popupMenu';
import { showCrumbs } from './flameCrumbs';
import {
  flameToggles,
  flameContentSwitch,
  kindLegend,
  kindSwitch,
  orderName,
  orderSwitch,
  valueTypeSwitch,
} from './flameSwitches';

const MEASURES = {
  count: 'the number of samples',
  weight: 'the weight that samples have in the file',
  time: 'the time until the next sample',
} as const;

/** The view of the flame graph. */
export class FlameView {
  readonly element: HTMLElement;
  private readonly place = h('div', { class: 'canvas scroller', tabIndex: 0 });
  private readonly inner = h('div', null);
  private readonly crumbs = h('div', { class: 'crumbs' });
  private readonly about = h('span', { class: 'about' });
  private readonly none = h('div', { class: 'nothing', hidden: true });
  private readonly canvas: Canvas;
  private readonly hovered = signal(-1);
  private readonly store: FlameStore;
  private readonly names: FlameNames;

  constructor(
    private readonly v: Views,
    active: () => boolean,
  ) {
    const { viewer } = v;
    this.store = new FlameStore(viewer, v.profile, active);
    this.names = new FlameNames(viewer.frames, viewer.facts);
    this.canvas = new Canvas(this.inner, this.place, 'Flame graph', (g) => this.draw(g));
    this.inner.append(this.canvas.element);
    this.canvas.element.style.top = '0';
    this.place.append(this.none, this.inner);
    const switches = [
      flameContentSwitch(viewer, 'Figure of the flame graph'),
      valueTypeSwitch(viewer),
      orderSwitch(viewer),
      ...flameToggles(viewer),
      kindSwitch(viewer, v.settings),
    ];
    this.element = h(
      'div',
      { class: 'flame' },
      h(
        'div',
        null,
        h('div', { class: 'bar' }, ...switches, this.crumbs, this.about),
        kindLegend(viewer, v.settings),
      ),
      this.place,
    );
    this.listen();
    effect(() => this.showText());
    effect(() => this.showNone());
    effect(() => {
      this.graph.get();
      untracked(() => this.hovered.set(-1));
    });
    effect(() => {
      const graph = this.graph.get();
      viewer.frame.get();
      v.search.hits.get();
      v.search.focused.get();
      this.hovered.get();
      const theme = v.settings.theme.get();
      viewer.unit.get();
      this.inner.style.height = graph
        ? `${(flameDepth(graph) + 2) * flameHeights(theme).row}px`
        : '100%';
      this.canvas.invalidate();
    });
  }

  private get graph(): ReadSignal<FlameGraph | null> {
    return this.store.graph;
  }

  /** Return what the painter needs. Hit tests pass the same scene, so that both agree on places. */
  private scene(graph: FlameGraph): Parameters<typeof paintFlame>[1] {
    const { viewer, settings, search, meters } = this.v;
    const theme = settings.theme.peek();
    return {
      theme,
      names: this.names,
      meter: meters.get(theme.barFont),
      graph,
      width: this.canvas.width,
      height: this.canvas.height,
      scroll: this.place.scrollTop,
      frame: viewer.frame.peek(),
      hovered: this.hovered.peek(),
      matches: search.hits.peek()?.matches ?? null,
      dimmed: search.focused.peek() && search.hits.peek() !== null,
      title: this.title(graph),
    };
  }

  /** Return the text of the bar at the bottom, which stands for everything that is shown. */
  private title(graph: FlameGraph): string {
    const { viewer } = this.v;
    const frame = viewer.frame.peek();
    const whole = this.store.whole(graph);
    const what =
      viewer.flameOrder.peek() === 'sandwich' && frame !== null
        ? inTermsOf(
            wordsFor(viewer.facts),
            `Callers above ${this.names.short(frame)}, below what it calls`,
          )
        : this.store.isPart
          ? 'Zoomed in'
          : 'All threads';
    const of = this.store.isPart ? ' of all' : '';
    return [
      what,
      this.amount(graph.total, graph),
      `${formatPercent(graph.total, whole)} %${of}`,
    ].join('   ');
  }

  /** Format a width in the unit that the whole graph has, as in the tables. */
  private amount(width: number, graph: FlameGraph): string {
    const { viewer } = this.v;
    const measure = graph.measure ?? untracked(() => viewer.measure());
    const scale = scaleOf(measure, viewer.unit.peek(), this.store.whole(graph));
    return figureWithUnit(scale, width);
  }

  /** The size of the whole graph for a saved picture. The height is 0 while there is no graph. */
  get size(): { width: number; height: number } {
    const graph = this.graph.peek();
    const { row } = flameHeights(this.v.settings.theme.peek());
    const height = graph && this.none.hidden ? (flameDepth(graph) + 1) * row + 1 : 0;
    return { width: this.canvas.width, height };
  }

  get orderWords(): string {
    const { viewer, profile } = this.v;
    const order = viewer.flameOrder.peek();
    const less = viewer.flameOf.peek() === 'calls' && order !== 'time' && profile.answer.peek();
    const words = less && compensationWords(less, viewer.unit.peek());
    return [orderName(order).toLowerCase(), ...(words ? [words] : [])].join(', ');
  }

  /** Paint the whole graph for a saved picture, without scrolling and pointer. */
  drawPicture(g: Surface): void {
    const graph = this.graph.peek();
    const { height } = this.size;
    if (graph) paintFlame(g, { ...this.scene(graph), height, scroll: 0, hovered: -1 });
  }

  private draw(g: Surface): void {
    const graph = this.graph.peek();
    const theme = this.v.settings.theme.peek();
    if (graph) return paintFlame(g, this.scene(graph));
    g.fillStyle = theme.colour.bg;
    g.fillRect(0, 0, this.canvas.width, this.canvas.height);
  }

  /** Return the index of the frame at the pointer; -1: there is none. */
  private at(e: MouseEvent): number {
    const graph = this.graph.peek();
    const box = this.canvas.element.getBoundingClientRect();
    return graph ? flameAt(this.scene(graph), e.clientX - box.left, e.clientY - box.top) : -1;
  }

  private listen(): void {
    const canvas = this.canvas.element;
    this.place.addEventListener('scroll', this.canvas.invalidate);
    canvas.addEventListener('pointermove', (e) => this.hovered.set(this.at(e)));
    canvas.addEventListener('pointerleave', () => this.hovered.set(-1));
    canvas.addEventListener('click', (e) => {
      // Ignore the second click of a double click: the graph has changed below it.
      if (e.detail <= 1) this.click(this.at(e), e.ctrlKey || e.metaKey);
    });
    canvas.addEventListener('contextmenu', (e) => {
      e.preventDefault();
      const frame = this.graph.peek()?.frame[this.at(e)];
      if (frame !== undefined) this.v.menu(frame, { x: e.clientX, y: e.clientY });
    });
    this.place.addEventListener('keydown', (e) => this.key(e));
  }

  /** Select the method everywhere, and zoom to the frame. A click outside the frames zooms out. */
  private click(i: number, selectOnly: boolean): void {
    const frame = this.graph.peek()?.frame[i];
    if (frame === undefined) {
      if (this.v.viewer.flameZoom.way().length > 0) this.zoomOut();
      else this.v.viewer.selectFrame(null);
      return;
    }
    if (!FlameNames.isThread(frame)) this.v.viewer.selectFrame(frame);
    if (!selectOnly) this.zoomTo(i);
  }

  /** Zoom to a frame. The sandwich is not zoomed: it is already a part of the graph. */
  private zoomTo(i: number): void {
    const graph = this.graph.peek();
    const { viewer } = this.v;
    if (!graph || i < 0 || this.store.isSandwich) return;
    const way = this.store.wayTo(graph, i);
    if (way && way.at(-1)?.path !== viewer.flameZoom.way().at(-1)?.path) viewer.flameZoom.set(way);
  }

  /** Zoom out to the frame that was zoomed to before. */
  private zoomOut(): void {
    const { viewer } = this.v;
    const way = viewer.flameZoom.way();
    if (way.length > 0) viewer.flameZoom.set(way.slice(0, -1));
  }

  /** Open the menu of the frame that the keyboard or the pointer is on. */
  private openMenu(): void {
    const graph = this.graph.peek();
    const i = this.hovered.peek() >= 0 ? this.hovered.peek() : this.selected();
    const frame = graph?.frame[i];
    if (!graph || frame === undefined) return;
    const box = this.canvas.element.getBoundingClientRect();
    const { row } = flameHeights(this.v.settings.theme.peek());
    const share = (graph.start[i] ?? 0) / Math.max(1, graph.total);
    const y = ((graph.depth[i] ?? 0) + 2) * row - this.place.scrollTop;
    this.v.menu(frame, {
      x: box.left + Math.max(0, share) * box.width,
      y: box.top + Math.max(0, Math.min(y, box.height)),
    });
  }

  private selected(): number {
    const graph = this.graph.peek();
    return graph ? widestFlameFrame(graph, this.v.viewer.frame.peek()) : -1;
  }

  private key(e: KeyboardEvent): void {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const page = this.place.clientHeight / 3;
    if (isMenuKey(e)) this.openMenu();
    else if (e.key === '+' || e.key === '=' || e.key === 'Enter') this.zoomTo(this.selected());
    else if (e.key === '-' || e.key === 'Backspace') this.zoomOut();
    else if (e.key === '0') this.v.viewer.flameZoom.set([]);
    else if (e.code === 'KeyW' || e.key === 'PageUp') this.place.scrollTop -= page;
    else if (e.code === 'KeyS' || e.key === 'PageDown') this.place.scrollTop += page;
    else if (!this.walk(e.key)) return;
    e.preventDefault();
    e.stopPropagation();
  }

  /**
   * Move to a neighbour: down to the widest callee, up to the caller, left and right along the row.
   */
  private walk(key: string): boolean {
    const graph = this.graph.peek();
    if (!graph || !key.startsWith('Arrow')) return false;
    const shown = this.hovered.peek() >= 0;
    const from = shown ? this.hovered.peek() : this.selected();
    const beside = from < 0 ? 0 : nextFlameFrame(graph, from, key);
    // At an edge the frame stays, but show its details if they are not shown yet.
    const next = beside < 0 && !shown ? from : beside;
    if (next >= 0 && next < graph.frame.length) {
      this.hovered.set(next);
      const frame = graph.frame[next] ?? null;
      if (frame !== null && !FlameNames.isThread(frame)) this.v.viewer.selectFrame(frame);
      this.v.announce(this.words(graph, next));
    }
    return true;
  }

  /** Describe a frame, for the bar and for screen readers. */
  private words(graph: FlameGraph, i: number): string {
    const { viewer } = this.v;
    const width = graph.width[i] ?? 0;
    const self = graph.self[i] ?? 0;
    const words = [
      `${shortened(this.names.short(graph.frame[i] ?? 0))} inclusive ${this.amount(width, graph)}`,
      `${formatPercent(width, this.store.whole(graph))} %${this.store.isPart ? ' of all' : ''}`,
    ];
    if (self !== NO_SELF) words.push(`exclusive ${this.amount(self, graph)}`);
    const calls = graph.calls[i] ?? 0;
    if (viewer.flameOf.peek() !== 'calls') words.push(plural(calls, 'sample'));
    else if (calls > 0 && countsCalls(viewer.facts))
      words.push(countSlices(wordsFor(viewer.facts), calls));
    return words.join(', ');
  }

  /** Ask the user to select a method, which a sandwich view needs. */
  private showNone(): void {
    const { viewer, profile } = this.v;
    const frame = viewer.frame.get();
    const graph = this.graph.get();
    const asksFor = this.store.isSandwich && frame === null;
    const empty = this.store.isSandwich && graph !== null && graph.frame.length === 0;
    this.none.hidden = !asksFor && !empty;
    this.inner.hidden = !this.none.hidden;
    if (this.none.hidden) return;
    const words = wordsFor(viewer.facts);
    if (!asksFor) {
      const name = shortened(this.names.short(frame ?? 0));
      return fill(
        this.none,
        `${name} has no ${words.slice} in the selected range and ${words.track}s.`,
      );
    }
    const text =
      'Select a method to see its callers above it and its callees below. Largest self times:';
    const clock = viewer.clock.get();
    const rows = [...(profile.answer.get()?.rows ?? [])];
    const self = (row: ProfileRow): number => row[clock === 'cpu' ? 6 : 4] ?? 0;
    rows.sort((a, b) => self(b) - self(a));
    const link = (row: ProfileRow): HTMLElement =>
      h(
        'button',
        {
          class: 'link',
          attrs: { type: 'button' },
          on: { click: () => viewer.selectFrame(row[0]) },
        },
        shortened(this.names.short(row[0]), 80),
      );
    fill(
      this.none,
      h('p', null, inTermsOf(words, text)),
      ...rows.slice(0, 8).map((row) => h('div', null, link(row))),
    );
  }

  /** Say what the width of a frame means now; it depends on clock, order and content. */
  private hint(): string {
    const { viewer } = this.v;
    const clock = viewer.clock.get() === 'cpu' ? 'CPU' : 'real';
    const order = viewer.flameOrder.get();
    const of = viewer.flameOf.get();
    const which = order === 'inverted' ? 'exclusive' : 'inclusive';
    const { name } = viewer.measure();
    const ofCalls = viewer.facts.axis === 'weight' ? MEASURES.weight : `${which} ${clock} time`;
    const counts = viewer.units[0] === 'samples' || (of === 'weight' && name === 'samples');
    const value = of === 'weight' && name !== '' ? `${shortened(name)} of samples` : null;
    const measure = counts ? MEASURES.count : of === 'calls' ? ofCalls : (value ?? MEASURES[of]);
    return `width is ${measure}; a click ${order === 'sandwich' ? 'selects' : 'zooms'}`;
  }

  /** Show the frame under the pointer in words, or how much is too narrow to draw. */
  private showText(): void {
    const { viewer } = this.v;
    const graph = this.graph.get();
    const i = this.hovered.get();
    viewer.unit.get();
    showCrumbs(this.crumbs, viewer.flameZoom.way(), this.names, this.hint(), (way) =>
      viewer.flameZoom.set(way),
    );
    if (!graph || i < 0 || i >= graph.frame.length) {
      return fill(
        this.about,
        graph && graph.leftOut >= graph.total * 0.0005
          ? `${formatPercent(graph.leftOut, graph.total)} % in frames too narrow to draw`
          : '',
      );
    }
    const text = this.words(graph, i);
    const frame = graph.frame[i] ?? 0;
    const name = shortened(this.names.short(frame));
    const kind = FlameNames.isThread(frame) ? 0 : viewer.frames.kind(frame);
    const code = kind > 0 ? `, ${KINDS[kind] ?? ''}` : '';
    fill(this.about, h('b', null, name), text.slice(name.length), code);
  }
}
