// SPDX-License-Identifier: Apache-2.0
// The table of traces. On narrow screens the name cell contains what the other columns would show.
//
// The list is polled, so the same lines come again and again. A row is made anew only if the JSON of
// its line differs from the one that it was made of: focus, text selection and an open confirmation
// survive a poll.

import { breakable, fill, h, icon, iconButton, setAttribute, type Child } from '../base/dom';
import { formatCount, plural } from '../base/format';
import { effect, untracked } from '../base/signal';
import { makeVisible } from '../base/visible';
import type { TraceLine } from './api';
import type { Context } from './context';
import { confirmInPlace, filterChip, internalLink, timeElement } from './controls';
import {
  countWords,
  formatWords,
  lengthWords,
  processNames,
  singleLine,
  sizeWords,
  stateWords,
} from './facts';
import { querySortedBy, type ListQuery, type Sort } from './listQuery';
import type { ListStore } from './listStore';
import { traceAddress } from './route';
import { whenText } from './when';

interface TraceColumn {
  name: string;
  words: string;
  sort?: Sort;
  number?: boolean;
}

const COLUMNS: readonly TraceColumn[] = [
  { name: 'name', words: 'Name', sort: 'name' },
  { name: 'state', words: 'State' },
  { name: 'format', words: 'Format' },
  { name: 'length', words: 'Length', sort: 'length', number: true },
  { name: 'count', words: 'Calls or events', number: true },
  { name: 'size', words: 'Size', sort: 'bytes', number: true },
  { name: 'uploaded', words: 'Uploaded', sort: 'uploaded' },
  { name: 'process', words: 'Process' },
  { name: 'labels', words: 'Labels' },
];

/** Name at most this many processes of a trace. */
const FEW = 2;

export interface TableActions {
  ask: (query: ListQuery) => void;
  pin: (line: TraceLine) => void;
  remove: (line: TraceLine) => void;
}

/** The table of traces. */
export class ListTable {
  readonly element: HTMLElement;
  private readonly body = h('tbody', { on: { keydown: (e) => this.key(e) } });
  /** The rows by the id of their trace, with the JSON that each was made of. */
  private readonly rows = new Map<string, { text: string; row: HTMLTableRowElement }>();
  /** The trace whose deletion is being confirmed. */
  private asked: string | null = null;

  constructor(
    private readonly ctx: Context,
    private readonly store: ListStore,
    private readonly act: TableActions,
  ) {
    const head = COLUMNS.map((column) => this.head(column));
    const last = h('th', { class: 'actions' }, h('span', { class: 'sr-only' }, 'Actions'));
    this.element = h(
      'table',
      { class: 'traces' },
      h('caption', { class: 'sr-only' }, 'Traces'),
      h('thead', null, h('tr', null, ...head, last)),
      this.body,
    );
    effect(() => {
      const listed = store.listed.get();
      const may = ctx.hub.get()?.may.change === true;
      untracked(() => this.show(listed?.traces ?? [], may));
    });
  }

  /**
   * Create the head of a column. A column by which the list can be sorted is a button that asks the
   * server again: the page has one part of the list only.
   */
  private head({ name, words, sort, number }: TraceColumn): HTMLElement {
    const attrs = { scope: 'col' };
    const className = `${name}${number ? ' number' : ''}`;
    if (!sort) return h('th', { class: className, attrs }, words);
    const mark = h('span', { class: 'mark', attrs: { 'aria-hidden': true } });
    const click = (): void => this.act.ask(querySortedBy(this.store.query.peek(), sort));
    const cell = h(
      'th',
      { class: className, attrs },
      h('button', { attrs: { type: 'button' }, on: { click } }, words, mark),
    );
    effect(() => {
      const query = this.store.query.get();
      const own = query.sort === sort;
      setAttribute(cell, 'aria-sort', own ? (query.down ? 'descending' : 'ascending') : null);
      fill(mark, own ? (query.down ? '▾' : '▴') : '');
    });
    return cell;
  }

  /** Show the lines. An unchanged line keeps its element, and so its focus. */
  private show(lines: readonly TraceLine[], may: boolean): void {
    const wanted = new Set(lines.map(({ id }) => id));
    for (const [id, { row }] of this.rows) {
      if (wanted.has(id)) continue;
      row.remove();
      this.rows.delete(id);
    }
    lines.forEach((line, i) => {
      const text = JSON.stringify([line, may, this.asked === line.id]);
      const old = this.rows.get(line.id);
      let row = old?.row;
      if (!row || old?.text !== text) {
        row = this.made(line, may, old?.row);
        this.rows.set(line.id, { text, row });
      }
      if (this.body.rows[i] !== row) this.body.insertBefore(row, this.body.rows[i] ?? null);
    });
  }

  /** Show the same lines again, after a change that the store does not know of. */
  private again(): void {
    this.show(this.store.listed.peek()?.traces ?? [], this.ctx.hub.peek()?.may.change === true);
  }

  /**
   * Create a row, in place of the old one of the same trace. A button of it that had the focus is
   * found again by its role; without it the keyboard would start from the top.
   */
  private made(
    line: TraceLine,
    may: boolean,
    old: HTMLTableRowElement | undefined,
  ): HTMLTableRowElement {
    const cells = this.cells(line);
    const row = h(
      'tr',
      { attrs: { 'data-id': line.id, 'data-state': line.state } },
      h('th', { class: 'name', attrs: { scope: 'row' } }, ...this.name(line, may)),
      ...COLUMNS.slice(1).map(({ name, number }) =>
        h('td', { class: `${name}${number ? ' number' : ''}` }, ...(cells[name] ?? [])),
      ),
      h('td', { class: 'actions' }, ...(may ? this.actions(line) : [])),
    );
    if (old) {
      const held = old.contains(document.activeElement) ? document.activeElement : null;
      const role = (held as HTMLElement | null)?.dataset['role'];
      old.replaceWith(row);
      if (held) row.querySelector<HTMLElement>(`[data-role="${role ?? 'open'}"]`)?.focus();
    }
    return row;
  }

  /**
   * Return the first cell. The short facts below the name stand for the columns that a narrow
   * window hides.
   */
  private name(line: TraceLine, may: boolean): Child[] {
    const address = traceAddress(this.ctx.base, line.id);
    const link = internalLink(address, 'link', ...breakable(singleLine(line.name)));
    link.dataset['role'] = 'open';
    const state = line.state === 'ready' ? '' : stateWords(line);
    const facts = [state, formatWords(line), lengthWords(line), sizeWords(line)];
    const brief = [...facts, whenText(line.uploaded)].filter(Boolean).join(' · ');
    return [
      link,
      // Users who may edit see the pin in the button.
      line.pinned && !may && pinnedIcon(),
      line.note !== '' &&
        h(
          'span',
          { class: 'note', title: makeVisible(line.note) },
          singleLine(line.note.replace(/\s+/g, ' '), 120),
        ),
      h('span', { class: 'brief' }, brief),
      h('span', { class: 'brief' }, ...this.labels(line)),
    ];
  }

  private cells(line: TraceLine): Record<string, Child[]> {
    return {
      state: stateCell(line),
      format: [h('span', { title: formatWords(line) }, makeVisible(line.format ?? ''))],
      length: [lengthWords(line)],
      count: [countWords(line)],
      size: [sizeWords(line)],
      uploaded: [timeElement(line.uploaded)],
      process: this.processes(line),
      labels: this.labels(line),
    };
  }

  private labels({ labels }: TraceLine): Child[] {
    return labels.map((label) =>
      filterChip(singleLine(label, 40), 'Only traces with this label', () =>
        this.act.ask({ ...this.store.query.peek(), label }),
      ),
    );
  }

  private processes(line: TraceLine): Child[] {
    const processes = processNames(line);
    const few = processes.slice(0, FEW).flatMap((process, i): Child[] => [
      i > 0 ? ', ' : null,
      h(
        'button',
        {
          class: 'link',
          title: 'Only traces of this process',
          attrs: { type: 'button' },
          on: { click: () => this.act.ask({ ...this.store.query.peek(), process }) },
        },
        singleLine(process, 60),
      ),
    ]);
    const rest = processes.length - FEW;
    return rest > 0 ? [...few, ` and ${formatCount(rest)} more`] : few;
  }

  /**
   * Return the buttons of a row; while deletion is being confirmed, the question stands in their
   * place. After deleting, the focus goes to the next row.
   */
  private actions(line: TraceLine): Child[] {
    const name = singleLine(line.name, 60);
    if (this.asked === line.id) {
      const back = (): void => {
        this.asked = null;
        this.again();
        this.focusIn(line.id, 'delete');
      };
      const remove = (): void => {
        this.asked = null;
        this.step(line.id, 1);
        this.act.remove(line);
      };
      return [confirmInPlace(`Delete ${name}?`, 'Delete', remove, back)];
    }
    const pin = iconButton('pin', `${line.pinned ? 'Unpin' : 'Pin'} ${name}`, () =>
      this.act.pin(line),
    );
    pin.title = line.pinned ? 'Unpin' : 'Pin: keep it whatever its age';
    setAttribute(pin, 'aria-pressed', line.pinned);
    pin.dataset['role'] = 'pin';
    const remove = iconButton('bin', `Delete ${name}…`, () => {
      this.asked = line.id;
      this.again();
      this.rows.get(line.id)?.row.querySelector<HTMLElement>('.asking button')?.focus();
    });
    remove.title = 'Delete…';
    remove.dataset['role'] = 'delete';
    return [pin, remove];
  }

  private focusIn(id: string, role: string): void {
    this.rows.get(id)?.row.querySelector<HTMLElement>(`[data-role="${role}"]`)?.focus();
  }

  /** Up and Down move between names. */
  private key(e: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    const id = (e.target as HTMLElement).closest<HTMLElement>('tr')?.dataset['id'];
    if (!step || !id || e.altKey || e.ctrlKey || e.metaKey) return;
    if (this.step(id, step)) e.preventDefault();
  }

  /** Move the focus to the name some rows further; false: there is none. */
  private step(id: string, step: number): boolean {
    const rows = [...this.body.rows];
    const next = rows[rows.findIndex((row) => row.dataset['id'] === id) + step];
    next?.querySelector<HTMLElement>('[data-role="open"]')?.focus();
    return next !== undefined;
  }
}

function pinnedIcon(): HTMLElement {
  const mark = icon('pin', 'pinned');
  return h(
    'span',
    { title: 'Pinned: it is kept whatever its age' },
    mark,
    h('span', { class: 'sr-only' }, 'pinned'),
  );
}

/** Return the state. Of a trace that is ready, what it warns of is of interest instead. */
function stateCell(line: TraceLine): Child[] {
  if (line.state === 'failed') return [h('span', { class: 'failed' }, icon('error'), 'failed')];
  if (line.state !== 'ready') return [h('span', { class: 'busy' }, stateWords(line))];
  const { warnings = 0, finding_count: findings = 0 } = line;
  return [
    'ready',
    warnings > 0 && countBadge('warning', warnings, 'warning'),
    findings > 0 && countBadge('note', findings, 'finding'),
  ];
}

/** Create an icon with a number, and its meaning as tooltip and label. */
function countBadge(sign: 'warning' | 'note', count: number, what: string): HTMLElement {
  const words = plural(count, what);
  return h(
    'span',
    { class: `counted ${sign}`, title: words },
    icon(sign),
    h('span', { attrs: { 'aria-hidden': true } }, formatCount(count)),
    h('span', { class: 'sr-only' }, words),
  );
}
