// SPDX-License-Identifier: Apache-2.0
// The States tab: threads by state or by processor, for the selected range and tracks.

import { h, setAttribute, type Child } from '../../base/dom';
import { fixedUnit, formatCount, unitHead } from '../../base/format';
import { computed, effect, signal, untracked, type ReadSignal } from '../../base/signal';
import { shortened } from '../../base/visible';
import { figureWidth } from '../../model/columnFit';
import { substringMatcher } from '../../model/names';
import { StatesStore } from '../../model/stateStore';
import type { StatesAnswer } from '../../model/states';
import {
  statesSheet,
  statesColumns,
  statesLines,
  statesShare,
  statesText,
  type StatesBy,
  type StatesColumn,
  type StatesLine,
  usualStates,
} from '../../model/statesTable';
import { goToCall, type Views } from '../context';
import type { Exported } from './exportMenu';
import type { Findable } from './findBox';
import { Grid, nextSort, type GridColumn } from './grid';
import { filteredLines, followLook, markedText, showPending } from './tableTab';

const LEAST = 56;
const NAME_LEAST = 160;

/** The view of thread states. */
export class StatesView {
  readonly element: HTMLElement;
  private readonly store: StatesStore;
  private readonly lines: ReadSignal<readonly StatesLine[]>;
  private readonly grid: Grid;
  readonly findable: Findable;
  /** Width of the table in CSS pixels; 0: not known yet. */
  private readonly width = signal(0);

  constructor(
    private readonly v: Views,
    shown: () => boolean,
  ) {
    const { viewer } = v;
    this.store = new StatesStore(viewer, shown);
    this.lines = computed(() => {
      const answer = this.store.answer.get();
      const find = shown() ? viewer.find.get() : '';
      const choice = viewer.states.get();
      return answer ? statesLines(answer, choice.by, choice, substringMatcher(find)) : [];
    });
    this.grid = new Grid(
      'States of threads',
      {
        activate: (line) => this.activate(line),
        sort: (column) => this.sortBy(column),
        resized: (width) => this.width.set(width),
      },
      v,
    );
    this.findable = filteredLines(this.grid, () => this.foundText());
    this.element = h('div', { class: 'with-bar states' }, this.bar(), this.grid.element);
    effect(() => this.showColumns());
    effect(() => this.show());
    showPending(this.element, this.store.pending);
  }

  private bar(): HTMLElement {
    const button = (by: StatesBy, text: string, title: string): HTMLButtonElement => {
      const made = h(
        'button',
        { title, attrs: { type: 'button' }, on: { click: () => this.choose(by) } },
        text,
      );
      effect(() => setAttribute(made, 'aria-pressed', this.v.viewer.states.get().by === by));
      return made;
    };
    return h(
      'div',
      { class: 'states-bar' },
      h(
        'div',
        { class: 'segments', attrs: { role: 'group', 'aria-label': 'Columns' } },
        button('state', 'By state', 'How long each thread ran, waited, slept and was blocked'),
        button('cpu', 'By CPU', 'How long each thread ran on which processor'),
      ),
      h('span', { class: 'second' }, 'Click to go to the longest wait of the thread for a CPU'),
    );
  }

  /**
   * Change between states and processors. Columns of one mean nothing to the other, so sorting
   * begins anew.
   */
  private choose(by: StatesBy): void {
    this.v.viewer.states.set(usualStates(by));
    this.grid.reset();
  }

  /** Go to where the thread waited longest for a CPU. The total of all threads has no such place. */
  private activate(line: number): void {
    const thread = this.lines.peek()[line]?.thread;
    if (thread && thread[7] >= 0) void goToCall(this.v, { row: thread[7], index: thread[8] });
  }

  private sortBy(column: string): void {
    const { states } = this.v.viewer;
    states.set({ ...states.peek(), ...nextSort(states.peek(), column) });
    this.grid.reset();
  }

  /** Make columns with shares, or without them if there is no room for both. */
  private showColumns(): void {
    const answer = this.store.answer.get();
    const unit = this.v.viewer.unit.get();
    const choice = this.v.viewer.states.get();
    const lines = this.lines.get();
    const meter = this.v.meters.get(this.v.settings.theme.get().bodyFont);
    if (!answer) return;
    const measure = (text: string): number => meter.width(text);
    const columnOf = (column: StatesColumn, withShares: boolean): GridColumn => {
      const head = column.kind === 'time' ? unitHead(column.head, unit) : column.head;
      const text = (line: StatesLine): string =>
        withShares
          ? `${statesText(line, column, unit)}  ${statesShare(line, column)}`
          : statesText(line, column, unit);
      return {
        id: column.id,
        head,
        title: column.title,
        width: column.kind === 'name' ? 0 : figureWidth(measure, head, lines.map(text), LEAST),
        ...(column.kind === 'name' && { least: NAME_LEAST }),
        number: column.kind !== 'name',
        sorts: true,
        cell: (line) => this.cell(line, column),
      };
    };
    const columnsOf = (withShares: boolean): GridColumn[] =>
      statesColumns(answer, choice.by).map((column) => columnOf(column, withShares));
    const whole = columnsOf(true);
    const needed = whole.reduce((sum, { width }) => sum + (width || NAME_LEAST), 0);
    const room = this.width.get();
    const narrow = room > 0 && needed > room;
    this.element.classList.toggle('without-shares', narrow);
    this.grid.setColumns(narrow ? columnsOf(false) : whole, choice);
  }

  /**
   * Return a cell with a figure and its share; the class without-shares hides the share where there
   * is no room.
   */
  private cell(at: number, column: StatesColumn): Child | Child[] {
    const line = this.lines.peek()[at];
    if (!line) return null;
    const text = statesText(line, column, this.v.viewer.unit.peek());
    if (column.kind === 'name')
      return h(
        'span',
        { class: line.thread ? 'text' : 'text second', title: shortened(text) },
        shortened(text),
      );
    const share = statesShare(line, column);
    return [text, share !== '' && h('span', { class: 'second' }, `  ${share}`)];
  }

  private show(): void {
    const lines = this.lines.get();
    const answer = this.store.answer.get();
    followLook(this.v);
    const empty = answer === null ? '' : this.whyEmpty(answer);
    untracked(() => this.grid.show(lines.length, empty));
  }

  /** Return the text that stands instead of lines: an empty table must say why it is empty. */
  private whyEmpty({ threads }: StatesAnswer): string {
    return threads.length === 0
      ? 'No thread has a state in the selection.'
      : 'No thread contains the search text.';
  }

  exported(): Exported {
    const { by } = this.v.viewer.states.peek();
    return {
      name: by === 'state' ? 'states' : 'cpus',
      sheet: () => {
        const answer = this.store.answer.peek();
        const unit = fixedUnit(this.v.viewer.unit.peek());
        return answer && statesSheet(answer, by, this.lines.peek(), unit);
      },
    };
  }

  copyText(): string | null {
    return markedText(this.grid, this.exported());
  }

  /** Return how many threads have the search text. The line of the total is no thread. */
  private foundText(): string {
    const answer = this.store.answer.get();
    if (this.v.viewer.find.get() === '' || answer === null) return '';
    const found = this.lines.get().filter((line) => line.thread).length;
    return `${formatCount(found)} of ${formatCount(answer.threads.length)}`;
  }
}
