// SPDX-License-Identifier: Apache-2.0
// The Counters tab: figures of all counters in the selected range.

import { h, type Child } from '../../base/dom';
import { fixedUnit, formatCount } from '../../base/format';
import { computed, effect, signal, untracked, type ReadSignal } from '../../base/signal';
import { shortened } from '../../base/visible';
import {
  CounterFiguresStore,
  FIGURE_COLUMNS,
  FIGURE_HEADS,
  figureLines,
  figuresSheet,
  figureText,
  processText,
  usualFigureSort,
  type FigureColumn,
  type FigureLine,
} from '../../model/counterFigures';
import { figureWidth, givingWay } from '../../model/columnFit';
import { counterTime } from '../../model/counters';
import { seriesColour } from '../../render/counterPainter';
import type { Views } from '../context';
import { goToCounter } from '../timeline/counterSteps';
import type { Exported } from './exportMenu';
import type { Findable } from './findBox';
import { Grid, nextSort, type GridColumn } from './grid';
import { filteredLines, markedText, showPending } from './tableTab';

const LEAST = 56;
const NAME_LEAST = 160;
/** If the window is narrow, these are left out first: the details of a counter have them. */
const GIVING: readonly FigureColumn[] = ['samples', 'change'];

/** The table of counters. */
export class CountersView {
  readonly element: HTMLElement;
  private readonly store: CounterFiguresStore;
  private readonly lines: ReadSignal<readonly FigureLine[]>;
  private readonly grid: Grid;
  readonly findable: Findable;
  /** Width of the table in CSS pixels; 0: not known yet. */
  private readonly width = signal(0);

  constructor(
    private readonly v: Views,
    shown: () => boolean,
  ) {
    const { viewer } = v;
    this.store = new CounterFiguresStore(viewer, shown);
    this.lines = computed(() => {
      const answer = this.store.answer.get();
      const find = shown() ? viewer.find.get() : '';
      const { processes } = viewer.facts;
      return answer
        ? figureLines(answer, v.counters.list.get(), processes, viewer.figures.get(), find)
        : [];
    });
    this.grid = new Grid(
      'Counters',
      {
        activate: (line) => this.activate(line),
        sort: (column) => this.sortBy(column as FigureColumn),
        selected: (line) => this.isSelected(line),
        resized: (width) => this.width.set(width),
      },
      v,
    );
    this.findable = filteredLines(this.grid, () => this.foundText());
    this.element = h('div', { class: 'with-bar counters' }, this.grid.element);
    effect(() => this.showColumns());
    effect(() => this.show());
    effect(() => {
      viewer.mark.get();
      untracked(() => this.grid.refresh());
    });
    showPending(this.element, this.store.pending);
  }

  /** Tell whether the line is the series that is selected in the timeline. */
  private isSelected(at: number): boolean {
    const mark = this.v.viewer.mark.peek();
    const figures = this.lines.peek()[at]?.figures;
    if (mark?.kind !== 'counter' || !figures) return false;
    return mark.number === figures.counter && mark.series === figures.series;
  }

  /** Select the series at the selected time, else where it is largest. */
  private activate(at: number): void {
    const line = this.lines.peek()[at];
    if (!line) return;
    const { viewer } = this.v;
    const { series, max_at_ns: peak } = line.figures;
    const chosen = viewer.mark.peek()?.kind === 'counter';
    const time = chosen || peak === null ? counterTime(viewer) : peak;
    goToCounter(this.v, line.counter, time, series);
  }

  private sortBy(column: FigureColumn): void {
    const { figures } = this.v.viewer;
    figures.set(usualFigureSort(nextSort(figures.peek(), column)));
    this.grid.reset();
  }

  /** Make each column as wide as its longest number. */
  private showColumns(): void {
    const lines = this.lines.get();
    const meter = this.v.meters.get(this.v.settings.theme.get().bodyFont);
    const width = (text: string): number => meter.width(text);
    const columns = FIGURE_COLUMNS.map((id): GridColumn => {
      const [head, title] = FIGURE_HEADS[id];
      const text = (line: FigureLine): string =>
        id === 'name' ? '' : figureText(line.figures, id);
      return {
        id,
        head,
        title,
        width: id === 'name' ? 0 : figureWidth(width, head, lines.map(text), LEAST),
        ...(id === 'name' && { least: NAME_LEAST }),
        number: id !== 'name',
        sorts: true,
        cell: (line) => this.cell(line, id),
      };
    });
    const sort = this.v.viewer.figures.get();
    const giving = GIVING.filter((id) => id !== sort.column);
    this.grid.setColumns(givingWay(columns, this.width.get(), NAME_LEAST, giving), sort);
    untracked(() => this.grid.refresh());
  }

  /**
   * Return a cell; the name has the colour of its series, as in the timeline, and its process when
   * there are several.
   */
  private cell(at: number, id: FigureColumn): Child | Child[] {
    const line = this.lines.peek()[at];
    if (!line) return null;
    if (id !== 'name') return figureText(line.figures, id);
    const colour = seriesColour(this.v.settings.theme.peek(), line.counter, line.figures.series);
    const process = processText(this.v.viewer.facts.processes, line);
    return [
      h('i', {
        class: 'swatch',
        style: { 'background-color': colour },
        attrs: { 'aria-hidden': 'true' },
      }),
      h('span', { class: 'text', title: shortened(line.name) }, shortened(line.name)),
      process !== '' && h('span', { class: 'text second' }, `  ${shortened(process)}`),
    ];
  }

  /** Show the lines anew. Theme and density are read just to be called again when they change. */
  private show(): void {
    const lines = this.lines.get();
    const answer = this.store.answer.get();
    this.v.settings.theme.get();
    this.v.settings.density.get();
    const empty = answer === null ? '' : 'No counter contains the search text.';
    untracked(() => this.grid.show(lines.length, empty));
  }

  exported(): Exported {
    const unit = fixedUnit(this.v.viewer.unit.peek());
    return {
      name: 'counters',
      sheet: () => (this.store.answer.peek() ? figuresSheet(this.lines.peek(), unit) : null),
    };
  }

  copyText(): string | null {
    return markedText(this.grid, this.exported());
  }

  private foundText(): string {
    const answer = this.store.answer.get();
    if (this.v.viewer.find.get() === '' || answer === null) return '';
    return `${formatCount(this.lines.get().length)} of ${formatCount(answer.rows.length)}`;
  }
}
