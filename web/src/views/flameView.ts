// SPDX-License-Identifier: Apache-2.0
// The flame graph of the selected range and threads, in the chosen clock.

import { fill, h } from '../base/dom';
import { formatCount, formatPercent, formatTimeUnit, plural } from '../base/format';
import { Latest } from '../base/latest';
import { brief } from '../base/visible';
import { effect, signal } from '../base/signal';
import { totalOf } from '../model/columns';
import type { FlameGraph } from '../model/engine';
import { neighbour, widestOf } from '../model/flameWalk';
import { flameAt, flameDepth, flameHeights, paintFlame } from '../render/flamePainter';
import { slicesOf, wordsFor } from '../model/words';
import type { Context } from '../render/shapes';
import { Canvas } from './canvas';
import { ofSwitch, orderSwitch } from './flameSwitches';
import type { Views } from './context';

/** Narrower than that of the whole a frame is not asked for: less than half a pixel. */
const LEAST = 0.0003;

interface Crumb {
  path: number;
  frame: number;
}

const MEASURES = {
  count: 'the number of samples',
  weight: 'the weight that samples have in the file',
  time: 'the time until the next sample',
} as const;

export class FlameView {
  readonly element: HTMLElement;
  private readonly place = h('div', { class: 'canvas scroller', tabIndex: 0 });
  private readonly inner = h('div', null);
  private readonly crumbs = h('div', { class: 'crumbs' });
  private readonly about = h('span', { class: 'about' });
  private readonly canvas: Canvas;
  private readonly graph = signal<FlameGraph | null>(null);
  private readonly root = signal<readonly Crumb[]>([]);
  private readonly hovered = signal(-1);
  private readonly asking: Latest;
  /** The width of the graph without a root, known once it was shown. */
  private all = 0;

  constructor(
    private readonly v: Views,
    active: () => boolean,
  ) {
    const { viewer } = v;
    this.asking = new Latest(viewer.failed);
    this.canvas = new Canvas(this.inner, this.place, 'Flame graph', (g) => this.draw(g));
    this.inner.append(this.canvas.element);
    this.canvas.element.style.top = '0';
    this.place.append(this.inner);
    this.element = h(
      'div',
      { class: 'flame' },
      h('div', { class: 'bar' }, ofSwitch(viewer), orderSwitch(viewer), this.crumbs, this.about),
      this.place,
    );
    this.listen();
    // A root names a node of one graph only.
    effect(() => {
      viewer.range.get();
      viewer.tracks.get();
      viewer.flameOrder.get();
      viewer.clock.get();
      viewer.flameOf.get();
      this.root.set([]);
    });
    effect(() => {
      if (active()) this.ask();
    });
    effect(() => this.showText());
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

  private ask(): void {
    const { viewer } = this.v;
    const order = viewer.flameOrder.get();
    const root = this.root.get().at(-1);
    const of = viewer.flameOf.get();
    const layout = {
      ...viewer.scope(),
      order: order === 'by-name' ? ('by-name' as const) : ('left-heavy' as const),
      inverted: order === 'inverted',
      min: LEAST,
      fold: viewer.flameFold.get(),
      ...(root ? { root: root.path } : {}),
    };
    const clock = viewer.clock.get();
    const { engine } = viewer;
    this.asking.run(
      (signal) =>
        of === 'calls'
          ? engine.flame({ ...layout, clock, apart: viewer.flameApart.peek() }, signal)
          : engine.beside.sampleFlame({ ...layout, measure: of }, signal),
      (graph) => {
        this.hovered.set(-1);
        if (!root) this.all = graph.total;
        this.graph.set(graph);
      },
    );
  }

  private scene(graph: FlameGraph): Parameters<typeof paintFlame>[1] {
    const { viewer, settings, search, meters } = this.v;
    const theme = settings.theme.peek();
    const rooted = this.root.peek().length > 0;
    return {
      theme,
      frames: viewer.frames,
      meter: meters.get(theme.barFont),
      graph,
      width: this.canvas.width,
      height: this.canvas.height,
      scroll: this.place.scrollTop,
      frame: viewer.frame.peek(),
      hovered: this.hovered.peek(),
      matches: search.hits.peek()?.matches ?? null,
      dimmed: search.focused.peek() && search.hits.peek() !== null,
      title: [
        rooted ? 'Zoomed in' : 'All threads',
        this.amount(graph.total),
        `${formatPercent(graph.total, this.whole(graph))} %${rooted ? ' of all' : ''}`,
      ].join('   '),
    };
  }

  /** A width in words: a time, or samples. */
  private amount(width: number): string {
    const of = this.v.viewer.flameOf.peek();
    if (of === 'count') return plural(width, 'sample');
    if (of === 'weight') return `${formatCount(width)} of weight`;
    const unit = this.v.viewer.unit.peek();
    return formatTimeUnit(width, unit);
  }

  /** The time of the range and threads, of which a zoomed graph is a part. */
  private whole(graph: FlameGraph): number {
    if (this.v.viewer.flameOf.peek() !== 'calls') return this.all || graph.total;
    const answer = this.root.peek().length > 0 ? this.v.profile.answer.peek() : null;
    return (answer && totalOf(answer, this.v.viewer.clock.peek())) || graph.total;
  }

  private draw(g: Context): void {
    const graph = this.graph.peek();
    const theme = this.v.settings.theme.peek();
    if (graph) return paintFlame(g, this.scene(graph));
    g.fillStyle = theme.colour.bg;
    g.fillRect(0, 0, this.canvas.width, this.canvas.height);
  }

  private at(e: MouseEvent): number {
    const graph = this.graph.peek();
    const box = this.canvas.element.getBoundingClientRect();
    return graph ? flameAt(this.scene(graph), e.clientX - box.left, e.clientY - box.top) : -1;
  }

  private listen(): void {
    const { viewer } = this.v;
    const canvas = this.canvas.element;
    this.place.addEventListener('scroll', this.canvas.invalidate);
    canvas.addEventListener('pointermove', (e) => this.hovered.set(this.at(e)));
    canvas.addEventListener('pointerleave', () => this.hovered.set(-1));
    canvas.addEventListener('click', (e) => {
      const i = this.at(e);
      viewer.selectFrame(i < 0 ? null : (this.graph.peek()?.frame[i] ?? null));
    });
    canvas.addEventListener('dblclick', (e) => this.zoomTo(this.at(e)));
    this.place.addEventListener('keydown', (e) => this.key(e));
  }

  private zoomTo(i: number): void {
    const graph = this.graph.peek();
    if (!graph) return;
    const path = graph.path[i];
    const frame = graph.frame[i];
    if (path === undefined || frame === undefined)
      return this.root.update((crumbs) => crumbs.slice(0, -1));
    if (this.root.peek().at(-1)?.path !== path)
      this.root.update((crumbs) => [...crumbs, { path, frame }]);
  }

  private selected(): number {
    const graph = this.graph.peek();
    return graph ? widestOf(graph, this.v.viewer.frame.peek()) : -1;
  }

  private key(e: KeyboardEvent): void {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const page = this.place.clientHeight / 3;
    if (e.key === '+' || e.key === '=' || e.key === 'Enter') this.zoomTo(this.selected());
    else if (e.key === '-' || e.key === 'Backspace')
      this.root.update((crumbs) => crumbs.slice(0, -1));
    else if (e.key === '0') this.root.set([]);
    else if (e.code === 'KeyW' || e.key === 'PageUp') this.place.scrollTop -= page;
    else if (e.code === 'KeyS' || e.key === 'PageDown') this.place.scrollTop += page;
    else if (!this.walk(e.key)) return;
    e.preventDefault();
    e.stopPropagation();
  }

  /** Arrows go from frame to frame: down to the widest callee, up to the caller, along the row. */
  private walk(key: string): boolean {
    const graph = this.graph.peek();
    if (!graph || !key.startsWith('Arrow')) return false;
    const shown = this.hovered.peek() >= 0;
    const from = shown ? this.hovered.peek() : this.selected();
    const beside = from < 0 ? 0 : neighbour(graph, from, key);
    // At the edge there is nowhere to go, but what is selected is told when it was not yet.
    const next = beside < 0 && !shown ? from : beside;
    if (next >= 0 && next < graph.frame.length) {
      this.hovered.set(next);
      this.v.viewer.selectFrame(graph.frame[next] ?? null);
      this.v.announce(this.words(graph, next));
    }
    return true;
  }

  private words(graph: FlameGraph, i: number): string {
    const { viewer } = this.v;
    const width = graph.width[i] ?? 0;
    return [
      `${brief(viewer.frames.short(graph.frame[i] ?? 0))} inclusive ${this.amount(width)}`,
      `${formatPercent(width, this.whole(graph))} %${this.root.peek().length > 0 ? ' of all' : ''}`,
      `exclusive ${this.amount(graph.self[i] ?? 0)}`,
      viewer.flameOf.peek() === 'calls'
        ? slicesOf(wordsFor(viewer.facts), graph.calls[i] ?? 0)
        : plural(graph.calls[i] ?? 0, 'sample'),
    ].join(', ');
  }

  private showText(): void {
    const { viewer } = this.v;
    const graph = this.graph.get();
    const i = this.hovered.get();
    const clock = viewer.clock.get() === 'cpu' ? 'CPU' : 'real';
    viewer.unit.get();
    const crumbs = this.root.get();
    const which = viewer.flameOrder.get() === 'inverted' ? 'exclusive' : 'inclusive';
    const of = viewer.flameOf.get();
    const measure = of === 'calls' ? `${which} ${clock} time` : MEASURES[of];
    fill(
      this.crumbs,
      ...(crumbs.length === 0
        ? [h('span', null, `width is ${measure}; double click zooms`)]
        : [
            h(
              'button',
              { class: 'link', attrs: { type: 'button' }, on: { click: () => this.root.set([]) } },
              'All threads',
            ),
            ...crumbs.flatMap((crumb, k) => [
              h('span', null, '›'),
              h(
                'button',
                {
                  class: 'link',
                  attrs: { type: 'button' },
                  on: { click: () => this.root.set(crumbs.slice(0, k + 1)) },
                },
                brief(viewer.frames.short(crumb.frame), 80),
              ),
            ]),
          ]),
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
    const name = brief(viewer.frames.short(graph.frame[i] ?? 0));
    fill(this.about, h('b', null, name), text.slice(name.length));
  }
}
