// SPDX-License-Identifier: Apache-2.0
// The head of the profile table: two lines, buttons that sort, and the width of every column.

import { fill, h } from '../../base/dom';
import { effect, untracked, type ReadSignal } from '../../base/signal';
import { widestProfileText, type Column } from '../../model/profileColumns';
import { compensationWords } from '../../model/compensation';
import { scaleLabel, type Scale } from '../../model/measure';
import type { ProfileSort } from '../../model/profileRows';
import { countNames, wordsFor } from '../../model/words';
import type { Views } from '../context';

/** The width below which the table is scrolled sideways instead of making the names narrower. */
const NAME_LEAST = 200;
/** The padding on both sides and the line between groups. */
const PADDING = 18;
const HINT =
  'Tracing slows every call, short ones most: compare these times with each other, ' +
  'do not take them as absolute.';

/** Make each column as wide as its longest number, so that digits are never cut off. */
export function widenedColumns(v: Views, columns: readonly Column[]): readonly Column[] {
  const meter = v.meters.get(v.settings.theme.get().bodyFont);
  const answer = v.profile.answer.get();
  const scale = v.profile.scale();
  return columns.map((column) => {
    if (column.kind === 'name') return column;
    const text = answer ? widestProfileText(answer, column, scale) : '';
    return { ...column, width: Math.max(column.width, Math.ceil(meter.width(text)) + PADDING) };
  });
}

/** The head of the profile table. */
export class ProfileHead {
  readonly element = h('div', { class: 'head', attrs: { role: 'rowgroup' } });

  constructor(
    private readonly v: Views,
    private readonly columns: ReadSignal<readonly Column[]>,
    private readonly table: HTMLElement,
    private readonly sorted: () => void,
  ) {
    effect(() => this.show());
    effect(() => this.setWidths(this.columns.get()));
  }

  private setWidths(columns: readonly Column[]): void {
    const widths = columns.slice(1).map(({ width }) => width);
    const total = NAME_LEAST + widths.reduce((a, b) => a + b, 0);
    const tracks = widths.map((w) => `${w}px`).join(' ');
    this.table.style.setProperty('--columns', `minmax(${NAME_LEAST}px, 1fr) ${tracks}`);
    this.table.style.setProperty('--table-width', `${total}px`);
  }

  private show(): void {
    const { profile } = this.v;
    const { sort } = profile;
    const scale = profile.scale();
    const methods = profile.answer.get()?.rows.length ?? 0;
    const { activeElement } = document;
    const focused = activeElement instanceof HTMLElement ? activeElement.dataset['column'] : null;
    const heads = this.columns.get().map((column) => this.columnHead(column, sort, scale));
    fill(
      this.element,
      h('div', { class: 'line', attrs: { 'aria-hidden': true } }, ...this.groupHeads(methods)),
      h('div', { class: 'line', attrs: { role: 'row' } }, ...heads),
    );
    // The buttons are new elements: restore the keyboard focus.
    if (focused) this.element.querySelector<HTMLElement>(`[data-column="${focused}"]`)?.focus();
  }

  /** Create the upper line of heads, which joins the columns of one figure. */
  private groupHeads(methods: number): HTMLElement[] {
    const { facts } = this.v.viewer;
    const words = wordsFor(facts);
    const { of } = this.v.profile.measure;
    const traced = of === 'calls' && !words.events && !facts.sampled;
    const answer = this.v.profile.answer.get();
    const less = answer && compensationWords(answer, this.v.viewer.unit.get());
    const hint = h('span', null, ` · ${less ?? 'times are distorted by tracing: compare them'}`);
    const heads = [
      h(
        'span',
        { class: 'name dim', title: traced ? (less ?? HINT) : '' },
        countNames(words, methods),
        traced && hint,
      ),
    ];
    for (const column of this.columns.get().slice(1)) {
      const begins = column.begins ? ' begins' : '';
      const clock = column.clock ? ` ${column.clock}` : '';
      const attributes = { class: `group${begins}${clock}`, title: column.title };
      if (column.kind === 'percent') attributes.class += ' wide';
      // A share and its time are below one head.
      else if (column.head === '') continue;
      heads.push(h('span', attributes, column.group));
    }
    return heads;
  }

  private columnHead(column: Column, sort: ProfileSort, scale: Scale): HTMLElement {
    const on = column.id === sort.column;
    const text = column.kind === 'name' ? 'Name' : column.head || scaleLabel(scale) || 'time';
    const mark = on ? (sort.descending ? '▾ ' : '▴ ') : '';
    const label = column.title === text ? text : `${column.title}, ${text}`;
    const button = h(
      'button',
      {
        class: `column${column.kind === 'name' ? ' name' : ''}`,
        title: `${column.title}: sort`,
        attrs: { type: 'button', 'aria-label': label, 'data-column': column.id },
        on: { click: () => this.sortBy(column) },
      },
      h('span', { attrs: { 'aria-hidden': true } }, mark),
      text,
    );
    const direction = on ? (sort.descending ? 'descending' : 'ascending') : 'none';
    const place = column.begins ? 'begins' : column.kind === 'name' ? 'name-head' : '';
    return h(
      'div',
      { class: place, attrs: { role: 'columnheader', 'aria-sort': direction } },
      button,
    );
  }

  /** Sort numbers from the largest, names from the first. A second click reverses the order. */
  private sortBy(column: Column): void {
    const { sort } = this.v.viewer;
    const old = untracked(() => this.v.profile.sort);
    const descending = old.column === column.id ? !old.descending : column.kind !== 'name';
    sort.set({ column: column.id, descending });
    this.sorted();
  }
}
