// SPDX-License-Identifier: Apache-2.0
// The Compare tab: what changed between the base and the trace of this page.

import { fill, h, setAttribute, type Child } from '../../base/dom';
import { fileName, fixedUnit, formatCount, plural } from '../../base/format';
import { computed, effect, untracked, type ReadSignal } from '../../base/signal';
import { shortened } from '../../base/visible';
import {
  COMPARED_BY,
  COMPARED_FIGURES,
  CompareStore,
  type CompareChoice,
  type CompareColumn,
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
import { writeFiles } from '../../model/opening';
import { inTermsOf, wordsFor } from '../../model/words';
import type { Views } from '../context';
import { screenButton } from '../screens';
import type { Exported } from './exportMenu';
import type { Findable } from './findBox';
import { Grid, lineHeight, type GridColumn } from './grid';
import { markedText } from './tableTab';

const PADDING = 18;
const LEAST = 62;

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

/** The table of a comparison; without a base, the choice of one. */
export class CompareView {
  readonly element: HTMLElement;
  private readonly store: CompareStore;
  private readonly lines: ReadSignal<readonly ComparedRow[]>;
  private readonly grid: Grid;
  private readonly start = h('div', { class: 'compare-start scroller', hidden: true });
  private readonly note = h('span', { class: 'about second', attrs: { 'aria-live': 'polite' } });

  /** Frames by the full name that the answer has for them. */
  private frames: Map<string, number> | null = null;

  constructor(
    private readonly v: Views,
    private readonly shown: () => boolean,
  ) {
    const { viewer } = v;
    this.store = new CompareStore(viewer, shown);
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
        focused: (on) => viewer.inTable.set(on),
      },
      () => lineHeight(v.settings),
    );
    const bar = this.bar();
    this.element = h('div', { class: 'with-bar compare' }, bar, this.grid.element, this.start);
    effect(() => {
      const none = viewer.base.get().length === 0;
      bar.hidden = none;
      this.grid.element.hidden = none;
      this.start.hidden = !none;
      if (none && shown()) void this.offer();
    });
    effect(() => this.showColumns());
    effect(() => this.show());
    effect(() => this.showNote());
    effect(() => {
      viewer.frame.get();
      untracked(() => this.grid.refresh());
    });
    effect(() => {
      this.element.classList.toggle('pending', this.store.pending.get());
    });
  }

  private choose(change: Partial<CompareChoice>): void {
    this.v.viewer.compare.update((old) => ({ ...old, ...change }));
    this.grid.reset();
  }

  /** Put a text into the terms of the trace: calls of methods, or slices with names. */
  private term(text: string): string {
    return inTermsOf(wordsFor(this.v.viewer.facts), text);
  }

  private select<T extends string>(
    label: string,
    words: Record<T, string>,
    choices: readonly T[],
    of: (choice: CompareChoice) => T,
    choose: (value: T) => void,
  ): HTMLSelectElement {
    const options = choices.map((value) =>
      h('option', { attrs: { value } }, this.term(words[value])),
    );
    const select = h('select', { class: 'of', attrs: { 'aria-label': label } }, ...options);
    select.addEventListener('change', () => choose(select.value as T));
    effect(() => {
      select.value = of(this.v.viewer.compare.get());
    });
    return select;
  }

  private bar(): HTMLElement {
    const { viewer } = this.v;
    const changed = h(
      'button',
      {
        class: 'toggle',
        title: 'Leave out rows that did not change, or may have changed by chance',
        attrs: { type: 'button' },
        on: { click: () => this.choose({ changed: !viewer.compare.peek().changed }) },
      },
      'Only what changed',
    );
    effect(() => setAttribute(changed, 'aria-pressed', viewer.compare.get().changed));
    const end = (): void => {
      viewer.base.set([]);
      viewer.more.set([]);
    };
    return h(
      'div',
      { class: 'pane-bar' },
      this.select(
        'Rows',
        BY_WORDS,
        COMPARED_BY,
        ({ by }) => by,
        (by) => this.choose({ by }),
      ),
      this.select(
        'Figure',
        FIGURE_WORDS,
        COMPARED_FIGURES,
        ({ figure }) => figure,
        (figure) => this.choose({ figure }),
      ),
      changed,

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

  /** List the files that the trace can be compared with. */
  private async offer(): Promise<void> {
    const { viewer, files } = this.v;
    const own = new Set(files.inputs.map(({ input }) => input));
    const known = await viewer.engine.status().then(
      (status) => status.files.filter(({ input }) => !own.has(input)),
      (error: unknown) => {
        viewer.failed(error);
        return [];
      },
    );
    const compareWith = (input: number): void => viewer.base.set([[{ input, offset: 0n }]]);
    fill(
      this.start,
      h('h2', null, 'Compare this trace with a base'),
      h('p', null, 'The trace of this page is the new version. Open what it was before:'),
      screenButton('Choose a file…', 'primary', files.compare),
      ...(known.length > 0 ? [h('p', null, 'or one that is open, or was open before:')] : []),
      h(
        'ul',
        { class: 'compare-known' },
        ...known.map(({ input, name }) =>
          h(
            'li',
            null,
            screenButton(shortened(fileName(name), 80), '', () => compareWith(input)),
          ),
        ),
      ),
      h(
        'p',
        { class: 'second' },
        'One run of each side gives figures only. Groups of runs tell noise from change: ',
        h('code', null, 'traceview diff --open --base FILE... --new FILE...'),
      ),
    );
  }

  /** Return the frame of a row that is a method of this trace. */
  private frameOf(row: ComparedRow): number | null {
    const { frames } = this.v.viewer;
    if (this.store.answer.peek()?.by !== 'method') return null;
    if (!this.frames) {
      this.frames = new Map();
      for (let frame = 0; frame < frames.count; frame++)
        this.frames.set(frames.comparedName(frame), frame);
    }
    return this.frames.get(row.key) ?? null;
  }

  private isSelected(at: number): boolean {
    const row = this.lines.peek()[at];
    const { frame } = this.v.viewer;
    return row !== undefined && frame.peek() !== null && this.frameOf(row) === frame.peek();
  }

  /** Select the method, which the time line then shows. */
  private activate(at: number): void {
    const row = this.lines.peek()[at];
    const frame = row ? this.frameOf(row) : null;
    if (frame !== null) this.v.viewer.selectFrame(frame);
  }

  private sortBy(column: CompareColumn): void {
    const old = this.v.viewer.compare.peek().sort;
    const down = column !== 'key' && column !== 'p';
    const back = old?.column === column && old.descending !== down;
    const descending = old?.column === column ? !old.descending : down;
    this.choose({ sort: back ? null : { column, descending } });
  }

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
    return [
      h('b', { class: 'compare-mark', title }, mark),
      h('span', { class: 'text', title: shortened(text) }, shortened(text)),
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
    const { viewer, settings } = this.v;
    viewer.unit.get();
    settings.theme.get();
    settings.density.get();
    const empty = answer ? 'Nothing in the comparison holds the text to find.' : '';
    untracked(() => this.grid.show(lines.length, empty));
  }

  private showNote(): void {
    const answer = this.store.answer.get();
    if (!answer) {
      this.note.textContent = this.store.pending.get() ? 'Reading the base…' : '';
      return;
    }
    const { base, new: fresh } = answer.sides;
    const kind = answer.value ?? `${answer.clock === 'cpu' ? 'CPU' : 'Real'} time`;
    const runs = (list: readonly { file: string }[]): string =>
      list.length === 1 ? shortened(fileName(list[0]?.file ?? ''), 40) : plural(list.length, 'run');
    const left = answer.left_out > 0 ? `; ${formatCount(answer.left_out)} rows left out` : '';
    this.note.textContent = `${kind}, ${runs(base)} → ${runs(fresh)}: ${answer.note}${left}`;
  }

  exported(): Exported {
    const unit = fixedUnit(this.v.viewer.unit.peek());
    return {
      name: 'comparison',
      sheet: () => {
        const answer = this.store.answer.peek();
        return answer && compareSheet(answer, this.lines.peek(), unit);
      },
    };
  }

  copyText(): string | null {
    return markedText(this.grid, this.exported());
  }

  readonly findable: Findable = {
    text: () => this.foundText(),
    miss: () => this.foundText().startsWith('0 '),
    typed: () => undefined,
    step: () => undefined,
    focus: () => this.grid.scroller.focus(),
  };

  private foundText(): string {
    const answer = this.shown() ? this.store.answer.get() : null;
    if (this.v.viewer.find.get() === '' || !answer) return '';
    return `${formatCount(this.lines.get().length)} of ${formatCount(answer.rows.length)}`;
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
