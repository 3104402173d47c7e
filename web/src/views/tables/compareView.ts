// SPDX-License-Identifier: Apache-2.0
// The Compare tab: what changed between the base and the trace of this page.
//
//   choice (view, rows, figure, width)  --> CompareStore --> api/diff --> answer
//     table   method, class, ...                             lines: filtered, sorted --> Grid
//     flame   always by path                                 ChangeFlame
//   chosen method                       --> ComparedCallsStore --> its calls, above the table
//
// Table and flame graph have a store each, because they ask different questions; only the one that
// is shown asks. A method is named by a text here, not by a frame: one of the base alone has no
// frame in this trace.

import { fill, h, setAttribute, type Child } from '../../base/dom';
import { fileName, fixedUnit, formatCount, formatPercent, plural } from '../../base/format';
import { computed, effect, signal, untracked, type ReadSignal } from '../../base/signal';
import { shortened } from '../../base/visible';
import {
  COMPARED_BY,
  COMPARED_FIGURES,
  COMPARED_VIEWS,
  COMPARED_WIDTHS,
  CompareStore,
  type CompareChoice,
  type CompareColumn,
  type ComparedFrame,
  type Comparison,
  type ComparedRow,
  type Run,
} from '../../model/comparison';
import {
  compareColumns,
  compareHead,
  compareLines,
  compareMark,
  compareSheet,
  compareText,
  isCertain,
} from '../../model/compareTable';
import { ComparedCallsStore, type ComparedMethod } from '../../model/comparedCalls';
import { pathRows } from '../../model/changeGraph';
import { comparedParts, substringMatcher } from '../../model/names';
import { writeFiles } from '../../model/opening';
import { inTermsOf, wordsFor } from '../../model/words';
import type { Views } from '../context';
import { ChangeFlame } from './changeFlame';
import { comparedCallsParts } from './comparedCallsView';
import { compareStart } from './compareStart';
import type { Exported } from './exportMenu';
import type { Findable } from './findBox';
import { Grid, type GridColumn } from './grid';
import { filteredLines, followLook, markedText } from './tableTab';

/** The padding of a cell, and the narrowest column of figures, in CSS pixels. */
const PADDING = 18;
const LEAST = 62;

const VIEW_WORDS = {
  table: 'Table',
  flame: 'Flame graph',
};
const WIDTH_WORDS = {
  larger: 'Width: the larger side',
  base: 'Width: base',
  new: 'Width: new',
};
const BY_WORDS = {
  method: 'By method',
  class: 'By class',
  package: 'By package',
  thread: 'By thread',
};
const FIGURE_WORDS = {
  excl: 'Own time',
  incl: 'Inclusive time',
  calls: 'Calls',
  mean: 'Time per call',
};

/** The table or the flame graph of a comparison; without a base, the choice of one. */
export class CompareView {
  readonly element: HTMLElement;
  private readonly store: CompareStore<ComparedRow>;
  private readonly frameStore: CompareStore<ComparedFrame>;
  private flame: ChangeFlame | null = null;
  private readonly calls: ComparedCallsStore;
  /** The method whose calls are shown; it can be one of the base alone. */
  private readonly chosen = signal<string | null>(null);
  private readonly one = h('section', { class: 'compared-calls', hidden: true });
  private readonly lines: ReadSignal<readonly ComparedRow[]>;
  private readonly grid: Grid;
  readonly findable: Findable;
  private readonly note = h('span', { class: 'about second', attrs: { 'aria-live': 'polite' } });

  /** Frames by the full name that the answer has for them. */
  private frames: Map<string, number> | null = null;

  constructor(
    private readonly v: Views,
    private readonly shown: () => boolean,
  ) {
    const { viewer } = v;
    const is = (view: CompareChoice['view']): boolean =>
      shown() && viewer.compare.get().view === view;
    this.store = new CompareStore(
      viewer,
      () => is('table'),
      ({ by, figure }) => ({ by, figure }),
    );
    this.frameStore = new CompareStore(
      viewer,
      () => is('flame'),
      ({ figure, width }) => ({ by: 'path', figure, graph: width }),
    );
    this.calls = new ComparedCallsStore(
      viewer,
      () => shown() && this.comparison() !== null && this.method() !== null,
      () => this.method(),
      () => this.comparison(),
    );
    this.lines = computed(() => {
      const answer = this.store.answer.get();
      const find = shown() ? viewer.find.get() : '';
      return answer ? compareLines(answer, viewer.compare.get(), find) : [];
    });
    this.grid = new Grid(
      'Comparison',
      {
        activate: (line) => this.activate(line),
        sort: (column) => this.sortBy(column as CompareColumn),
        selected: (line) => this.isSelected(line),
      },
      v,
    );
    this.findable = filteredLines(this.grid, () => this.foundText());
    const bar = this.bar();
    this.element = h(
      'div',
      { class: 'with-bar compare' },
      h('div', null, bar, this.one),
      ...[this.grid.element, compareStart(v, shown)],
    );
    effect(() => {
      const none = viewer.base.get().length === 0;
      bar.hidden = none;
      this.grid.element.hidden = none || viewer.compare.get().view !== 'table';
      if (is('flame')) this.flame ??= untracked(() => this.createFlame());
      if (this.flame) this.flame.element.hidden = none || viewer.compare.get().view !== 'flame';
    });
    effect(() => this.showColumns());
    effect(() => this.show());
    effect(() => this.showNote());
    effect(() => this.showCalls());
    effect(() => {
      const frame = viewer.frame.get();
      if (frame !== null) this.chosen.set(viewer.frames.comparedName(frame));
    });
    effect(() => {
      viewer.frame.get();
      untracked(() => this.grid.refresh());
    });
    effect(() => {
      const pending = this.store.pending.get() || this.frameStore.pending.get();
      this.element.classList.toggle('pending', pending);
    });
  }

  /** Create the flame graph when it is first shown. */
  private createFlame(): ChangeFlame {
    const { viewer } = this.v;
    const flame = new ChangeFlame(this.v, this.frameStore.answer, {
      select: (key) => this.select(key),
      selected: () => {
        const frame = viewer.frame.peek();
        return frame === null ? null : viewer.frames.comparedName(frame);
      },
      figure: () => this.term(FIGURE_WORDS[viewer.compare.peek().figure]),
      term: (text) => this.term(text),
    });
    this.grid.element.after(flame.element);
    return flame;
  }

  /** Change a part of the choice; the list begins at its top again. */
  private choose(change: Partial<CompareChoice>): void {
    this.v.viewer.compare.update((old) => ({ ...old, ...change }));
    this.grid.reset();
  }

  /** Put a text into the terms of the trace: calls of methods, or slices with names. */
  private term(text: string): string {
    return inTermsOf(wordsFor(this.v.viewer.facts), text);
  }

  /** Create the control of one part of the choice, for one view or for both. */
  private control<K extends 'view' | 'width' | 'by' | 'figure'>(
    label: string,
    key: K,
    words: Record<CompareChoice[K], string>,
    choices: readonly CompareChoice[K][],
    view: CompareChoice['view'] | null = null,
  ): HTMLSelectElement {
    const options = choices.map((value) =>
      h('option', { attrs: { value } }, this.term(words[value])),
    );
    const select = h('select', { class: 'of', attrs: { 'aria-label': label } }, ...options);
    const choose = (value: CompareChoice[K]): void =>
      this.choose({ [key]: value } as Partial<CompareChoice>);
    select.addEventListener('change', () => choose(select.value as CompareChoice[K]));
    effect(() => {
      const choice = this.v.viewer.compare.get();
      select.value = choice[key];
      select.hidden = view !== null && choice.view !== view;
    });
    return select;
  }

  /** Create the bar above the table: the choice, the switches, and what the answer is about. */
  private bar(): HTMLElement {
    const { viewer } = this.v;
    const changed = h(
      'button',
      {
        class: 'toggle',
        title: 'Hide rows that did not change, or may have changed by chance',
        attrs: { type: 'button' },
        on: { click: () => this.choose({ changed: !viewer.compare.peek().changed }) },
      },
      'Only what changed',
    );
    effect(() => setAttribute(changed, 'aria-pressed', viewer.compare.get().changed));
    const { pairing } = viewer.paired;
    const both = h(
      'button',
      {
        class: 'toggle',
        title: 'Show the time line of the base below that of this trace',
        attrs: { type: 'button' },
        on: { click: () => pairing.set(pairing.peek() ? null : { shift: 0, at: null }) },
      },
      'Both time lines',
    );
    effect(() => setAttribute(both, 'aria-pressed', pairing.get() !== null));
    const end = (): void => {
      pairing.set(null);
      viewer.base.set([]);
      viewer.more.set([]);
    };
    return h(
      'div',
      { class: 'pane-bar' },
      this.control('View', 'view', VIEW_WORDS, COMPARED_VIEWS),
      this.control('Rows', 'by', BY_WORDS, COMPARED_BY, 'table'),
      this.control('Width', 'width', WIDTH_WORDS, COMPARED_WIDTHS, 'flame'),
      this.control('Figure', 'figure', FIGURE_WORDS, COMPARED_FIGURES),
      changed,
      both,
      h(
        'button',
        {
          class: 'text-button',
          title: 'Choose other files',
          attrs: { type: 'button' },
          on: { click: end },
        },
        'Compare with…',
      ),
      this.note,
    );
  }

  /** Return the frame of a method of this trace. */
  private frameNamed(key: string): number | null {
    const { frames } = this.v.viewer;
    if (!this.frames) {
      this.frames = new Map();
      for (let frame = 0; frame < frames.count; frame++)
        this.frames.set(frames.comparedName(frame), frame);
    }
    return this.frames.get(key) ?? null;
  }

  private frameOf(row: ComparedRow): number | null {
    return this.store.answer.peek()?.by === 'method' ? this.frameNamed(row.key) : null;
  }

  /** Select a method, if this trace has it. */
  private select(key: string): void {
    const frame = this.frameNamed(key);
    this.chosen.set(key);
    if (frame !== null) this.v.viewer.selectFrame(frame);
  }

  /** The answer that is shown. */
  private comparison(): Comparison | null {
    const flame = this.v.viewer.compare.get().view === 'flame';
    return flame ? this.frameStore.answer.get() : this.store.answer.get();
  }

  /** The method whose calls are shown, with its name in the base. */
  private method(): ComparedMethod | null {
    const name = this.chosen.get();
    const answer = this.comparison();
    if (name === null || (answer?.by !== 'method' && answer?.by !== 'path')) return null;
    const row = answer.rows.find(({ key }) => key === name);
    return row ? { name, baseName: row.base_key ?? name } : null;
  }

  /** Show the calls of the chosen method, unless the answer is about an earlier one. */
  private showCalls(): void {
    const calls = this.calls.answer.get();
    const method = this.method();
    this.v.viewer.unit.get();
    this.one.hidden = calls === null || calls.name !== method?.name;
    if (calls && !this.one.hidden) fill(this.one, ...comparedCallsParts(this.v, calls));
  }

  private isSelected(at: number): boolean {
    const row = this.lines.peek()[at];
    const { frame } = this.v.viewer;
    return row !== undefined && frame.peek() !== null && this.frameOf(row) === frame.peek();
  }

  /** Select the method, which the time line then shows. */
  private activate(at: number): void {
    const row = this.lines.peek()[at];
    if (row && this.store.answer.peek()?.by === 'method') this.select(row.key);
  }

  /**
   * Sort by a column; figures first from the largest, names and p from the smallest. The third
   * click on a column goes back to the order of the answer, the most certain change first.
   */
  private sortBy(column: CompareColumn): void {
    const old = this.v.viewer.compare.peek().sort;
    const down = column !== 'key' && column !== 'p';
    const back = old?.column === column && old.descending !== down;
    const descending = old?.column === column ? !old.descending : down;
    this.choose({ sort: back ? null : { column, descending } });
  }

  /** Make each column as wide as its longest text; the names get the rest. */
  private showColumns(): void {
    const answer = this.store.answer.get();
    const unit = this.v.viewer.unit.get();
    const lines = this.lines.get();
    const meter = this.v.meters.get(this.v.settings.theme.get().bodyFont);
    if (!answer) return;
    const columns = compareColumns(answer).map((id): GridColumn => {
      const [head = '', title = ''] = compareHead(answer, id, unit).map((text) => this.term(text));
      const widest =
        id === 'key'
          ? 0
          : lines.reduce((n, row) => Math.max(n, compareText(answer, row, id, unit).length), 0);
      const width = Math.max(LEAST, widest * meter.width('0'), meter.width(`▾ ${head}`)) + PADDING;
      return {
        ...{ id, head, title, sorts: true, least: 200 },
        width: id === 'key' ? 0 : Math.ceil(width),
        number: id !== 'key',
        cell: (line) => this.cell(line, id),
      };
    });
    this.grid.setColumns(columns, this.v.viewer.compare.get().sort ?? NO_SORT);
  }

  private cell(at: number, id: CompareColumn): Child | Child[] {
    const row = this.lines.peek()[at];
    const answer = this.store.answer.peek();
    if (!row || !answer) return null;
    const text = compareText(answer, row, id, this.v.viewer.unit.peek());
    if (id === 'change' || id === 'effect') return h('span', { class: changeClass(row) }, text);
    if (id !== 'key') return text;
    const [mark, title = ''] = compareMark(row).map((part) => this.term(part));
    const parts = comparedParts(text);
    return [
      h('b', { class: 'compare-mark', title }, mark),
      h(
        'span',
        { class: 'text', title: shortened(text) },
        parts.package !== '' && h('span', { class: 'second' }, shortened(parts.package)),
        shortened(parts.own),
        parts.signature !== '' && h('span', { class: 'second' }, ` ${shortened(parts.signature)}`),
      ),
      this.baseLink(row),
    ];
  }

  /** Return a link to the method in the time line of the first base run. */
  private baseLink(row: ComparedRow): HTMLElement | false {
    const [run] = this.v.viewer.base.peek();
    if (!run || row.side === 'new' || this.v.viewer.compare.peek().by !== 'method') return false;
    if (row.key.startsWith('(total')) return false;
    const name = row.base_key ?? row.key;
    return h(
      'a',
      {
        class: 'compare-base',
        title: 'The method in the base, in another tab of the browser',
        attrs: { href: `#${runAddress(run, name)}`, target: '_blank' },
        on: { click: (e) => e.stopPropagation() },
      },
      'base',
    );
  }

  private show(): void {
    const lines = this.lines.get();
    const answer = this.store.answer.get();
    followLook(this.v);
    const empty = answer ? 'Nothing in the comparison contains the search text.' : '';
    untracked(() => this.grid.show(lines.length, empty));
  }

  private showNote(): void {
    const flame = this.v.viewer.compare.get().view === 'flame';
    const store = flame ? this.frameStore : this.store;
    const answer = store.answer.get();
    if (!answer) {
      this.note.textContent = store.pending.get() ? 'Reading the base…' : '';
      this.note.title = '';
      return;
    }
    const { base, new: fresh } = answer.sides;
    const kind = answer.value ?? `${answer.clock === 'cpu' ? 'CPU' : 'Real'} time`;
    const runs = (list: readonly { file: string }[]): string =>
      list.length === 1 ? shortened(fileName(list[0]?.file ?? ''), 40) : plural(list.length, 'run');
    const { left_out = 0, graph } = answer;
    const narrow = graph && graph.left_out >= graph.total * 0.0005;
    const left = narrow
      ? `; ${formatPercent(graph.left_out, graph.total)} % in frames too narrow to draw`
      : left_out > 0
        ? `; ${formatCount(left_out)} rows left out`
        : '';
    const text = `${kind}, ${runs(base)} → ${runs(fresh)}: ${answer.note}${left}`;
    this.note.textContent = this.note.title = text;
  }

  exported(): Exported {
    const unit = fixedUnit(this.v.viewer.unit.peek());
    return {
      name: 'comparison',
      sheet: () => {
        const flame = this.v.viewer.compare.peek().view === 'flame';
        const answer = (flame ? this.frameStore : this.store).answer.peek();
        const lines = flame ? pathRows(this.frameStore.answer.peek()?.rows ?? []) : null;
        return answer && compareSheet(answer, lines ?? this.lines.peek(), unit);
      },
    };
  }

  copyText(): string | null {
    return markedText(this.grid, this.exported());
  }

  private foundText(): string {
    const { viewer } = this.v;
    const flame = viewer.compare.get().view === 'flame';
    const store: CompareStore<ComparedRow> = flame ? this.frameStore : this.store;
    const answer = this.shown() ? store.answer.get() : null;
    const find = viewer.find.get();
    if (find === '' || !answer) return '';
    const test = substringMatcher(find);
    const found = flame ? answer.rows.filter(({ key }) => test(key)) : this.lines.get();
    return `${formatCount(found.length)} of ${formatCount(answer.rows.length)}`;
  }
}

const NO_SORT = { column: '', descending: false };

/** Return the class of a change: more, less, or not certain. */
function changeClass(row: ComparedRow): string {
  if (row.effect === 0 || (row.p !== null && !isCertain(row))) return 'second';
  return row.effect > 0 ? 'more' : 'less';
}

/** Return the address of a run's profile, in which only this method is shown. */
function runAddress(run: Run, name: string): string {
  const [short = name] = name.split(' (');
  return `files=${writeFiles(run)}&tab=profile&find=${encodeURIComponent(short)}&found=1`;
}
