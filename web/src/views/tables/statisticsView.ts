// SPDX-License-Identifier: Apache-2.0
// Statistics of slice durations in the selection: a table by name, and above it the histogram and
// the slowest slices of the selected name.

import { fill, h, setAttribute, type Child } from '../../base/dom';
import { fixedUnit, formatCount, formatTimeUnit, unitHead, unitLabel } from '../../base/format';
import { effect, signal, untracked } from '../../base/signal';
import { shortened } from '../../base/visible';
import { finderOf, trackPlace } from '../../model/names';
import {
  STATISTICS_HEADS,
  statisticsColumns,
  statisticsHead,
  statisticsText,
  type Durations,
  type StatisticsColumn,
  type StatisticsRow,
  statisticsSheet,
} from '../../model/statistics';
import { figureWidth, fittingColumns } from '../../model/columnFit';
import type { Clock } from '../../model/traceFacts';
import type { StatisticsStore } from '../../model/statisticsStore';
import { countSlices, inTermsOf, wordsFor, type Words } from '../../model/words';
import { goToCall, type Views } from '../context';
import { frameHead } from '../details/detailsParts';
import { durationHistogram } from './durationHistogram';
import type { Exported } from './exportMenu';
import type { Findable } from './findBox';
import { Grid, nextSort, type GridColumn } from './grid';
import { pathText } from './pathText';
import { swatch } from '../swatch';
import { followLook, markedText, showPending } from './tableTab';

/** The narrowest column of figures, in CSS pixels. */
const LEAST = 56;
/** The sums of each clock; all other times are in the chosen one. */
const STATISTICS_CLOCKS: Partial<Record<StatisticsColumn, Clock>> = { total: 'real', cpu: 'cpu' };

/** The view of slice durations. */
export class StatisticsView {
  readonly element: HTMLElement;
  private readonly grid: Grid;
  private readonly one = h('section', { class: 'durations', hidden: true });
  private readonly words: Words;
  /** The width of the lines in CSS pixels; 0 before the table is shown. */
  private readonly width = signal(0);

  constructor(
    private readonly v: Views,
    private readonly store: StatisticsStore,
  ) {
    const { viewer } = v;
    this.words = wordsFor(viewer.facts);
    this.grid = new Grid(
      'Table by name',
      {
        activate: (line) => this.choose(line),
        sort: (column) => this.sortBy(column as StatisticsColumn),
        selected: (line) => this.row(line)?.[0] === viewer.frame.peek(),
        resized: (width) => this.width.set(width),
      },
      v,
    );
    this.element = h('div', { class: 'with-bar statistics' }, this.one, this.grid.element);
    effect(() => setAttribute(this.element, 'data-clock', viewer.clock.get()));
    effect(() => this.showColumns());
    effect(() => this.show());
    effect(() => this.showOne());
    effect(() => {
      viewer.frame.get();
      untracked(() => this.grid.refresh());
    });
    showPending(this.element, store.pending);
  }

  private row(line: number): StatisticsRow | undefined {
    return this.store.rows.peek()[line];
  }

  /** Select the name of a line everywhere; a second time, no name. */
  private choose(line: number): void {
    const frame = this.row(line)?.[0];
    if (frame === undefined) return;
    const { viewer } = this.v;
    viewer.selectFrame(viewer.frame.peek() === frame ? null : frame);
  }

  private sortBy(column: StatisticsColumn): void {
    const { by } = this.v.viewer;
    by.set(nextSort(by.peek(), column));
    this.grid.reset();
  }

  /** Make each column as wide as its longest number, so that digits are never cut off. */
  private showColumns(): void {
    const { viewer } = this.v;
    const unit = viewer.unit.get();
    const rows = this.store.rows.get();
    const meter = this.v.meters.get(this.v.settings.theme.get().bodyFont);
    const measure = (text: string): number => meter.width(text);
    const texts = (column: StatisticsColumn): string[] =>
      rows.map((row) => statisticsText(row, column, unit));
    const columns = statisticsColumns(viewer.facts).map(
      (id): GridColumn & { clock: Clock | null } => {
        const time = id !== 'name' && id !== 'count';
        const head = statisticsHead(id, viewer.facts);
        const text = time ? unitHead(head, unit) : head;
        return {
          id,
          clock: STATISTICS_CLOCKS[id] ?? null,
          head: text,
          title: inTermsOf(this.words, STATISTICS_HEADS[id][1]),
          width: id === 'name' ? 0 : figureWidth(measure, text, texts(id), LEAST),
          ...(id === 'name' && { least: 160 }),
          number: id !== 'name',
          sorts: true,
          cell: (line) => this.cell(line, id),
        };
      },
    );
    const sort = viewer.by.get();
    const fitting = fittingColumns(columns, this.width.get(), viewer.clock.get(), sort.column);
    this.grid.setColumns(fitting, sort);
    untracked(() => this.grid.refresh());
  }

  private cell(line: number, id: StatisticsColumn): Child | Child[] {
    const row = this.row(line);
    if (!row) return null;
    const { viewer, settings } = this.v;
    if (id !== 'name') return statisticsText(row, id, viewer.unit.peek());
    const category = viewer.frames.category(row[0]);
    return [
      swatch(viewer.frames, row[0], settings.theme.peek()),
      pathText(viewer.frames, row[0], finderOf(viewer.find.peek())),
      category !== '' && h('span', { class: 'text second category' }, ` ${shortened(category)}`),
    ];
  }

  private show(): void {
    const rows = this.store.rows.get();
    const answer = this.store.answer.get();
    followLook(this.v);
    const what = this.words.slice;
    const empty =
      answer === null
        ? ''
        : answer.length === 0
          ? `No ${what} overlaps the selection.`
          : 'No name contains the search text.';
    untracked(() => this.grid.show(rows.length, empty));
  }

  /** Show histogram and slowest slices, unless the answer is about an earlier name. */
  private showOne(): void {
    const { viewer, settings } = this.v;
    const durations = this.store.durations.get();
    const frame = viewer.frame.get();
    viewer.unit.get();
    settings.theme.get();
    this.one.hidden = frame === null || durations?.row[0] !== frame;
    if (durations && !this.one.hidden) fill(this.one, ...this.oneName(durations));
  }

  /** Create the part above the table for one name. */
  private oneName(d: Durations): HTMLElement[] {
    const { viewer } = this.v;
    const [frame, count] = d.row;
    const time = (at: 'median' | 'p95' | 'max'): string =>
      `${statisticsHead(at, viewer.facts).toLowerCase()} ${statisticsText(d.row, at, viewer.unit.peek())}`;
    const measured = d.slowest.length > 0;
    const figures =
      count === 0
        ? `No ${this.words.slice} of it overlaps the selection.`
        : !measured
          ? `${countSlices(this.words, count)} without a CPU time.`
          : `${countSlices(this.words, count)}${this.byClock}, ${time('median')}, ${time('p95')}, ` +
            `${time('max')} ${unitLabel(viewer.unit.peek())}`;
    const head = h(
      'div',
      { class: 'one-name' },
      ...frameHead(this.v, frame),
      h('p', { class: 'second' }, figures),
    );
    return measured ? [head, durationHistogram(this.v, d), this.slowest(d)] : [head];
  }

  /** The clock of the numbers, if the trace has two. */
  private get byClock(): string {
    const { facts, clock } = this.v.viewer;
    return facts.clocks.length < 2 ? '' : clock.peek() === 'cpu' ? ', CPU time' : ', real time';
  }

  private slowest(d: Durations): HTMLElement {
    const { viewer } = this.v;
    const unit = viewer.unit.peek();
    const isWeight = viewer.facts.axis === 'weight';
    const line = ([
      row,
      index,
      start,
      length,
      track,
    ]: Durations['slowest'][number]): HTMLElement => {
      const found = viewer.facts.tracks.find((t) => t.track === track);
      return h(
        'li',
        null,
        h(
          'button',
          {
            class: 'link',
            attrs: { type: 'button' },
            on: { click: () => void goToCall(this.v, { row, index }) },
          },
          formatTimeUnit(length, unit),
        ),
        h(
          'span',
          { class: 'second text' },
          ` at ${formatTimeUnit(start, unit)}${found ? `, ${trackPlace(found, viewer.facts.processes)}` : ''}`,
        ),
      );
    };
    return h(
      'div',
      { class: 'slowest' },
      h('h3', null, `${isWeight ? 'Longest' : 'Slowest'} ${this.words.slices}${this.byClock}`),
      h('ol', null, ...d.slowest.map(line)),
    );
  }

  /** Move the cursor to the next name. The table holds only names that contain the text to find. */
  private step(direction: 1 | -1): void {
    this.grid.moveTo(this.grid.cursor + direction);
    const row = this.row(this.grid.cursor);
    if (row) this.v.viewer.selectFrame(row[0]);
  }

  exported(): Exported {
    const { viewer } = this.v;
    const unit = fixedUnit(viewer.unit.peek());
    return {
      name: 'statistics',
      sheet: () => statisticsSheet(this.store.rows.peek(), viewer.facts, viewer.frames, unit),
    };
  }

  copyText(): string | null {
    return markedText(this.grid, this.exported());
  }

  readonly findable: Findable = {
    text: () => this.foundText(),
    miss: () => this.store.rows.get().length === 0 && this.store.answer.get() !== null,
    typed: () => undefined,
    step: (direction) => this.step(direction),
    focus: () => this.grid.scroller.focus(),
  };

  private foundText(): string {
    const answer = this.store.answer.get();
    if (this.v.viewer.find.get() === '' || answer === null) return '';
    return `${formatCount(this.store.rows.get().length)} of ${formatCount(answer.length)}`;
  }
}
