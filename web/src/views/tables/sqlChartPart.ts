// SPDX-License-Identifier: Apache-2.0
// The chart beside the rows of a query, and the two lists that choose it.

import { fill, h } from '../../base/dom';
import { effect, onEnd, untracked, type ReadSignal } from '../../base/signal';
import { shortened } from '../../base/visible';
import type { SqlAnswer, SqlValue } from '../../model/sql';
import {
  chartColumns,
  sqlChart,
  type SqlChart,
  type SqlChartChoice,
  type SqlChartKind,
} from '../../model/sqlChart';
import { ChartView } from '../chart';

const KINDS: [SqlChartKind | '', string][] = [
  ['', 'No chart'],
  ['bars', 'Bars'],
  ['lines', 'Lines'],
  ['histogram', 'Histogram'],
];

/** The rows that are shown. */
export interface ShownRows {
  answer: ReadSignal<{ of: string; rows: SqlAnswer } | null>;
  sorted: ReadSignal<readonly SqlValue[][]>;
}

/** The chart. */
export class SqlChartPart {
  readonly element: HTMLElement;
  readonly kinds = h('select', { class: 'of', attrs: { 'aria-label': 'Chart' } });
  readonly columns = h('select', { class: 'of', attrs: { 'aria-label': 'Column of the chart' } });
  private readonly view: ChartView;
  private drawn: SqlChart | null = null;

  /** `choose` takes another choice; `follow` leads to a row. */
  constructor(
    private readonly rows: ShownRows,
    private readonly choice: ReadSignal<SqlChartChoice | null>,
    private readonly choose: (choice: SqlChartChoice | null) => void,
    follow: (line: number) => void,
  ) {
    this.view = new ChartView({
      click: (point) => {
        const line = this.drawn?.rowOf(point) ?? null;
        if (line !== null) follow(line);
      },
    });
    this.element = this.view.element;
    this.kinds.addEventListener('change', () => this.chooseKind(this.kinds.value));
    this.columns.addEventListener('change', () => {
      const choice = this.choice.peek();
      if (choice) this.choose({ ...choice, column: Number(this.columns.value) });
    });
    effect(() => this.offer());
    effect(() => this.show());
    onEnd(() => this.view.end());
  }

  private chooseKind(kind: string): void {
    const columns = this.rows.answer.peek()?.rows.columns ?? [];
    const found = KINDS.find(([own]) => own === kind)?.[0] ?? '';
    const [column] = found === '' ? [] : chartColumns(columns, found);
    this.choose(found === '' || column === undefined ? null : { kind: found, column });
  }

  /** List the charts that the columns allow, and the columns that the chart can draw. */
  private offer(): void {
    const answer = this.rows.answer.get()?.rows;
    const columns = answer && answer.rows.length > 0 ? answer.columns : [];
    const choice = this.choice.get();
    const fits = (kind: SqlChartKind): number[] => chartColumns(columns, kind);
    this.kinds.hidden = !KINDS.some(([kind]) => kind !== '' && fits(kind).length > 0);
    const chosen = choice && fits(choice.kind).includes(choice.column) ? choice : null;
    fill(
      this.kinds,
      ...KINDS.filter(([kind]) => kind === '' || fits(kind).length > 0).map(([kind, text]) =>
        h('option', { attrs: { value: kind, selected: kind === (chosen?.kind ?? '') } }, text),
      ),
    );
    const drawable = chosen ? fits(chosen.kind) : [];
    this.columns.hidden = drawable.length < 2;
    fill(
      this.columns,
      ...drawable.map((at) =>
        h(
          'option',
          { attrs: { value: at, selected: at === chosen?.column } },
          shortened(columns[at]?.[0] ?? '', 40),
        ),
      ),
    );
  }

  private show(): void {
    const answer = this.rows.answer.get()?.rows;
    const choice = this.choice.get();
    const rows = this.rows.sorted.get();
    this.drawn = answer && choice ? sqlChart(answer.columns, rows, choice) : null;
    this.element.hidden = this.drawn === null;
    untracked(() => this.view.show(this.drawn?.chart ?? null));
  }
}
