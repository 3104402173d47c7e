// SPDX-License-Identifier: Apache-2.0
// The differential flame graph of the Compare tab: the call paths of both sides in one graph.

import { h } from '../../base/dom';
import { computed, effect, signal, untracked, type ReadSignal } from '../../base/signal';
import { shortened, visibleTexts } from '../../base/visible';
import {
  callerOf,
  changeGraph,
  changeLines,
  changeMark,
  changeName,
  sidesText,
  type ChangeGraph,
} from '../../model/changeGraph';
import type { ComparedFrame, Comparison } from '../../model/comparison';
import { compareText, signedPercent } from '../../model/compareTable';
import { substringMatcher } from '../../model/names';
import type { Viewer } from '../../model/viewer';
import { nextFlameFrame } from '../../model/flameWalk';
import { drawChange } from '../../render/changeLook';
import { flameAt, flameBox, flameDepth, flameHeights, paintFlame } from '../../render/flamePainter';
import type { FlameLook, FlameScene } from '../../render/flamePainter';
import type { Surface } from '../../render/surface';
import { Canvas } from '../canvas';
import type { Meters } from '../context';
import type { Settings } from '../settings';
import { Tip } from '../tip';

/** Methods of the page's trace, by the names of the comparison. */
export interface ComparedMethods {
  select: (key: string) => void;
  /** The name of the selected method; null: none. */
  selected: () => string | null;
  /** Words for the figure, in the terms of the trace. */
  figure: () => string;
  /** Put a text into these terms. */
  term: (text: string) => string;
}

/** The part of the state of a page that the graph needs; a page without a trace has it, too. */
export interface ChangeContext {
  viewer: Pick<Viewer, 'frames' | 'compare' | 'find' | 'unit' | 'frame'>;
  settings: Settings;
  meters: Meters;
  announce: (text: string) => void;
}

type ChangeAnswer = Comparison<ComparedFrame>;

/** Colours of the legend, and what they mean. */
const LEGEND = [
  ['more', 'more'],
  ['less', 'less'],
  ['unsure', 'not sure, or equal'],
  ['appeared', '+ only in new runs'],
  ['vanished', '− only in base runs'],
] as const;

/** The graph with its legend. */
export class ChangeFlame {
  readonly element: HTMLElement;
  private readonly place = h('div', { class: 'canvas scroller', tabIndex: 0 });
  private readonly inner = h('div', null);
  private readonly canvas: Canvas;
  private readonly tip: Tip;
  private readonly hovered = signal(-1);
  /** The row that the graph begins with, of one answer. */
  private readonly zoom = signal<{ of: ChangeAnswer | null; row: number | null }>({
    of: null,
    row: null,
  });
  private readonly graph: ReadSignal<ChangeGraph | null>;

  constructor(
    private readonly v: ChangeContext,
    private readonly answer: ReadSignal<ChangeAnswer | null>,
    private readonly methods: ComparedMethods,
  ) {
    const { viewer, settings } = v;
    this.tip = new Tip(viewer.frames, settings);
    this.graph = computed(() => {
      const found = answer.get();
      return found && changeGraph(found, viewer.compare.get().changed, this.root(found));
    });
    this.canvas = new Canvas(this.inner, this.place, 'Differential flame graph', (g) =>
      this.draw(g),
    );
    this.canvas.element.style.top = '0';
    this.inner.append(this.canvas.element);
    this.place.append(this.inner);
    this.element = h(
      'div',
      { class: 'flame change-flame' },
      h('div', { class: 'bar' }, this.legend()),
      this.place,
      this.tip.element,
    );
    this.listen();
    effect(() => {
      const graph = this.graph.get();
      for (const source of [viewer.frame, viewer.find, viewer.unit, this.hovered]) source.get();
      const { row } = flameHeights(settings.theme.get());
      this.inner.style.height = graph ? `${(flameDepth(graph) + 2) * row}px` : '100%';
      this.canvas.invalidate();
    });
    effect(() => {
      this.graph.get();
      untracked(() => {
        this.hovered.set(-1);
        this.tip.hide();
      });
    });
  }

  private legend(): HTMLElement {
    const entries = LEGEND.map(([kind, words]) =>
      h('span', null, h('i', { class: `swatch change-${kind}` }), ` ${words}`),
    );
    return h('span', { class: 'change-legend' }, ...entries);
  }

  private root(answer: ChangeAnswer): number | null {
    const { of, row } = this.zoom.get();
    return of === answer ? row : null;
  }

  private rowAt(i: number): ComparedFrame | undefined {
    const row = this.graph.peek()?.path[i];
    return row === undefined ? undefined : this.answer.peek()?.rows[row];
  }

  /**
   * Return the text of the bar that stands for everything: what colours mean, the totals, and the
   * way zoomed.
   */
  private title(answer: ChangeAnswer): string {
    const total = sidesText(answer, answer.total, this.v.viewer.unit.peek());
    const { change } = answer.total;
    const percent = change === null ? '' : ` (${signedPercent(change)})`;
    const figure = answer.figure === 'calls' ? '' : `   All threads ${total}${percent}`;
    const way: string[] = [];
    for (let at = this.root(answer) ?? -1; at >= 0; at = callerOf(answer.rows, at))
      way.unshift(shortened(changeName(answer.rows[at]?.key ?? ''), 40));
    const zoomed = way.length > 0 ? `   › ${way.slice(-3).join(' › ')}` : '';
    return `Colour: ${this.methods.figure().toLowerCase()}${figure}${zoomed}`;
  }

  private scene(graph: ChangeGraph, answer: ChangeAnswer): FlameScene {
    const { viewer, settings, meters } = this.v;
    const theme = settings.theme.peek();
    const find = viewer.find.peek();
    const test = substringMatcher(find);
    const unit = viewer.unit.peek();
    const selected = this.methods.selected();
    const nameOf = (frame: number): string => changeName(graph.names[frame] ?? '');
    const look: FlameLook = {
      draw: (g, _, i, b) => drawChange(g, theme, this.rowAt(i) as ComparedFrame, b),
      name: (i) => changeMark(this.rowAt(i) as ComparedFrame) + nameOf(graph.frame[i] ?? 0),
      figure: (i) => compareText(answer, this.rowAt(i) as ComparedFrame, 'change', unit),
    };
    return {
      ...{ theme, graph, look, title: this.title(answer) },
      names: { short: nameOf, method: nameOf, colour: () => -1, isKernel: () => false },
      meter: meters.get(theme.barFont),
      ...{ width: this.canvas.width, height: this.canvas.height, scroll: this.place.scrollTop },
      frame: selected === null ? null : graph.names.indexOf(selected),
      hovered: this.hovered.peek(),
      matches: Uint8Array.from(graph.names, (name) => Number(test(name))),
      dimmed: find !== '',
    };
  }

  private draw(g: Surface): void {
    const [graph, answer] = [this.graph.peek(), this.answer.peek()];
    if (graph && answer) return paintFlame(g, this.scene(graph, answer));
    g.fillStyle = this.v.settings.theme.peek().colour.bg;
    g.fillRect(0, 0, this.canvas.width, this.canvas.height);
  }

  private at(e: MouseEvent): number {
    const [graph, answer] = [this.graph.peek(), this.answer.peek()];
    if (!graph || !answer) return -1;
    const box = this.canvas.element.getBoundingClientRect();
    return flameAt(this.scene(graph, answer), e.clientX - box.left, e.clientY - box.top);
  }

  private listen(): void {
    const canvas = this.canvas.element;
    this.place.addEventListener('scroll', () => {
      this.tip.hide();
      this.canvas.invalidate();
    });
    canvas.addEventListener('pointermove', (e) => {
      const i = this.at(e);
      this.hovered.set(i);
      this.showTip(i, e.clientX, e.clientY);
    });
    canvas.addEventListener('pointerleave', () => {
      this.hovered.set(-1);
      this.tip.hide();
    });
    canvas.addEventListener('click', (e) => {
      // Ignore the second click of a double click: the graph has changed below it.
      if (e.detail <= 1) this.click(this.at(e), e.ctrlKey || e.metaKey);
    });
    this.place.addEventListener('keydown', (e) => this.key(e));
  }

  /** Select the method, and zoom to the frame. A click outside the frames zooms out. */
  private click(i: number, selectOnly: boolean): void {
    const row = this.rowAt(i);
    if (!row) return this.zoomOut();
    this.methods.select(row.key);
    if (!selectOnly) this.zoomTo(i);
  }

  private zoomTo(i: number): void {
    const row = this.graph.peek()?.path[i];
    if (row !== undefined) this.zoom.set({ of: this.answer.peek(), row });
  }

  private zoomOut(): void {
    const answer = this.answer.peek();
    const root = answer && this.root(answer);
    if (!answer || root === null) return;
    const caller = callerOf(answer.rows, root);
    this.zoom.set({ of: answer, row: caller < 0 ? null : caller });
  }

  /** Zoom and walk as in the flame graph. */
  private key(e: KeyboardEvent): void {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const i = this.hovered.peek();
    if (e.key === '+' || e.key === '=' || e.key === 'Enter') this.zoomTo(i);
    else if (e.key === '-' || e.key === 'Backspace') this.zoomOut();
    else if (e.key === '0') this.zoom.set({ of: null, row: null });
    else if (!this.walk(e.key)) return;
    e.preventDefault();
    e.stopPropagation();
  }

  /** Move to a neighbour, and say its figures. */
  private walk(key: string): boolean {
    const [graph, answer] = [this.graph.peek(), this.answer.peek()];
    if (!graph || !answer || !key.startsWith('Arrow')) return false;
    const from = this.hovered.peek();
    const next = from < 0 ? 0 : nextFlameFrame(graph, from, key);
    const row = this.rowAt(next);
    if (!row) return true;
    this.hovered.set(next);
    this.methods.select(row.key);
    this.v.announce(this.words(answer, row).join(', '));
    const box = this.canvas.element.getBoundingClientRect();
    const { x, y, h: high } = flameBox(this.scene(graph, answer), next);
    this.showTip(next, box.left + Math.max(0, x), box.top + y + high);
    return true;
  }

  private words(answer: ChangeAnswer, row: ComparedFrame): string[] {
    const { viewer } = this.v;
    const name = visibleTexts(shortened(changeMark(row) + changeName(row.key), 200));
    const lines = changeLines(answer, row, this.methods.figure(), viewer.unit.peek());
    return [name, ...lines.map(this.methods.term)];
  }

  private showTip(i: number, x: number, y: number): void {
    const [row, answer] = [this.rowAt(i), this.answer.peek()];
    if (!row || !answer) return this.tip.hide();
    const [title = '', ...lines] = this.words(answer, row);
    this.tip.lines(x, y, title, lines);
  }
}
