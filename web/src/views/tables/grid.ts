// SPDX-License-Identifier: Apache-2.0
// A table that creates elements only for its visible lines, with heads that sort, a cursor for the
// keyboard, and marked lines that can be copied.
//
// The scroller holds a spacer as tall as all lines. Browsers cannot lay out more than some 16
// million pixels, so the spacer is at most TALLEST. For a longer table one pixel of the scroll bar
// means several lines ("in parts"), and `exact` holds the line at the top:
//
//    scroll bar 0 .. TALLEST   -->   line 0 .. count      (the bar picks a line, coarsely)
//    wheel and keys            -->   exact.line += n      (line by line, then the bar follows)

import { appendChildren, fill, h, setAttribute, type Child } from '../../base/dom';
import type { Views } from '../context';
import { isMenuKey, type MenuPlace } from '../popupMenu';
import type { Settings } from '../settings';

/** Browsers lay out some 16 million pixels. Beyond this height one pixel of the bar is several. */
const TALLEST = 8_000_000;
const AHEAD = 8;

export interface GridColumn {
  id: string;
  head: string;
  title: string;
  /** In pixels; 0 shares the remaining width. */
  width: number;
  /** If the window is narrow, the column shrinks to this width: of texts, which end with an ellipsis. */
  least?: number;
  number: boolean;
  sorts: boolean;
  /** A line at the left edge starts a new group of columns. */
  begins?: boolean;
  cell: (line: number) => Child | Child[];
  /** In percent: a bar in the background of the number shows the share. */
  share?: (line: number) => number;
}

export interface GridSort<Column = string> {
  column: Column;
  descending: boolean;
}

/** Return the order after a click on a head. Names begin with A, figures with the largest. */
export function nextSort<Column>(old: GridSort<Column>, column: Column): GridSort<Column> {
  return { column, descending: old.column === column ? !old.descending : column !== 'name' };
}

/** The marked lines, from `first` to `last`. */
export interface GridBlock {
  first: number;
  last: number;
}

export interface GridActions {
  /** `target` is the clicked element. It is missing if a key activates the line. */
  activate: (line: number, target?: Element) => void;
  /** Create a line in place of the columns. The grid adds the common attributes. */
  row?: (line: number) => HTMLElement;
  /** Replaces the head of the grid. */
  head?: HTMLElement;
  sort?: (column: string) => void;
  /** Return true if a line is the selected thing. */
  selected?: (line: number) => boolean;
  /** Lines that open make the grid a tree. */
  tree?: GridTree;
  /** Open the context menu of a line. */
  menu?: (line: number, at: MenuPlace) => void;
  /** The cursor moved to another line. */
  moved?: () => void;
  /** `width`: of the lines, in CSS pixels. Not called while the table is hidden. */
  resized?: (width: number) => void;
}

export interface GridTree {
  /** Counts from 0. */
  level: (line: number) => number;
  /** Null if there is nothing to open. */
  isOpen: (line: number) => boolean | null;
  setOpen: (line: number, open: boolean) => void;
  openBelow: (line: number) => void;
  /** -1 if there is no parent. */
  parent: (line: number) => number;
}

/** Return the height of a line, as --h-table in the style sheet. */
function lineHeight(settings: Settings): number {
  if (matchMedia('(pointer: coarse)').matches) return 28;
  return settings.density.peek() === 'compact' ? 18 : 20;
}

let grids = 0;

/** A virtual table. */
export class Grid {
  readonly element: HTMLElement;
  readonly scroller: HTMLElement;
  private readonly head: HTMLElement;
  private readonly rows = h('div', { class: 'grid-rows rows', attrs: { role: 'rowgroup' } });
  private readonly empty = h('p', { class: 'nothing empty', hidden: true });
  private readonly rendered = new Map<number, HTMLElement>();
  private readonly name = `grid${++grids}`;
  private columns: readonly GridColumn[] = [];
  private count = 0;
  private line = -1;
  /** The start of the marked lines; the cursor is their end. */
  private anchor = -1;
  /**
   * The exact line at the top if the scroll bar is too coarse, and the bar position that belongs to
   * it.
   */
  private exact: { bar: number; line: number } | null = null;

  constructor(
    label: string,
    private readonly actions: GridActions,
    private readonly v: Pick<Views, 'viewer' | 'settings'>,
  ) {
    this.head = actions.head ?? h('div', { class: 'grid-head', attrs: { role: 'rowgroup' } });
    this.scroller = h(
      'div',
      {
        class: 'scroller',
        tabIndex: 0,
        attrs: {
          role: actions.tree ? 'treegrid' : 'grid',
          'aria-label': label,
          'aria-multiselectable': true,
        },
      },
      this.head,
      this.rows,
      this.empty,
    );
    this.element = h('div', { class: 'grid' }, this.scroller);
    this.scroller.addEventListener('scroll', () => this.scrolled());
    this.scroller.addEventListener('wheel', (e) => this.wheel(e), { passive: false });
    this.scroller.addEventListener('keydown', (e) => this.key(e));
    this.rows.addEventListener('click', (e) => this.click(e));
    this.rows.addEventListener('contextmenu', (e) => this.rightClick(e));
    this.rows.addEventListener('mousedown', (e) => {
      if (e.shiftKey) e.preventDefault();
    });
    this.scroller.addEventListener('focus', () => v.viewer.inTable.set(true));
    this.scroller.addEventListener('blur', () => v.viewer.inTable.set(false));
    new ResizeObserver(() => {
      this.render();
      const width = this.scroller.clientWidth;
      if (width > 0) actions.resized?.(width);
    }).observe(this.scroller);
  }

  get cursor(): number {
    return this.line;
  }

  setColumns(columns: readonly GridColumn[], sort: GridSort | null): void {
    this.columns = columns;
    const width = (c: GridColumn): string =>
      c.width === 0
        ? `minmax(${c.least ?? 160}px, 1fr)`
        : c.least !== undefined && c.least < c.width
          ? `minmax(${c.least}px, ${c.width}px)`
          : `${c.width}px`;
    this.element.style.setProperty('--columns', columns.map(width).join(' '));
    const leastOf = (c: GridColumn): number =>
      c.width === 0 ? (c.least ?? 160) : Math.min(c.least ?? c.width, c.width);
    const least = columns.reduce((sum, c) => sum + leastOf(c), 0);
    this.element.style.setProperty('--table-width', `${least}px`);
    const { activeElement } = document;
    const focused = activeElement instanceof HTMLElement ? activeElement.dataset['column'] : null;
    const had = focused && this.head.contains(activeElement) ? focused : null;
    fill(
      this.head,
      h(
        'div',
        { class: 'grid-line', attrs: { role: 'row' } },
        ...columns.map((c) => this.headOf(c, sort)),
      ),
    );
    // The buttons are new elements: restore the keyboard focus.
    if (had) this.head.querySelector<HTMLElement>(`[data-column="${had}"]`)?.focus();
    setAttribute(this.scroller, 'aria-colcount', columns.length);
  }

  /** Create the head of a column; one that sorts is a button. */
  private headOf(c: GridColumn, sort: GridSort | null): HTMLElement {
    const on = sort?.column === c.id;
    const mark = on ? (sort.descending ? '▾ ' : '▴ ') : '';
    const direction = on ? (sort.descending ? 'descending' : 'ascending') : 'none';
    const words = [h('span', { attrs: { 'aria-hidden': true } }, mark), c.head];
    return h(
      'div',
      {
        class: [c.number && 'number', c.begins && 'begins'].filter(Boolean).join(' '),
        attrs: { role: 'columnheader', 'aria-sort': c.sorts ? direction : null },
      },
      c.sorts
        ? h(
            'button',
            {
              class: 'column',
              title: `${c.title}: sort`,
              attrs: { type: 'button', 'data-column': c.id, 'aria-label': `${c.head}: ${c.title}` },
              on: { click: () => this.actions.sort?.(c.id) },
            },
            ...words,
          )
        : h('span', { title: c.title }, c.head),
    );
  }

  /** The marked lines, at least one; null without a cursor. */
  get block(): GridBlock | null {
    if (this.line < 0) return null;
    const from = this.anchor < 0 ? this.line : this.anchor;
    return { first: Math.min(from, this.line), last: Math.max(from, this.line) };
  }

  /** Show `count` new lines. The cursor stays on its line number, or goes where `went` maps it. */
  show(count: number, whenEmpty: string | Child[], went?: (line: number) => number): void {
    if (count !== this.count) this.exact = null;
    this.count = count;
    const now = (line: number): number => {
      const to = line >= 0 && went ? went(line) : line;
      return Math.min(to, count - 1);
    };
    [this.line, this.anchor] = [now(this.line), now(this.anchor)];
    this.rows.style.height = `${Math.min(TALLEST, count * lineHeight(this.v.settings))}px`;
    setAttribute(this.scroller, 'aria-rowcount', count + 1);
    this.empty.hidden = count > 0 || whenEmpty === '';
    if (typeof whenEmpty === 'string') this.empty.textContent = whenEmpty;
    else fill(this.empty, ...whenEmpty);
    this.renderAll();
  }

  /** Scroll to the first line and remove the cursor. */
  reset(): void {
    this.line = -1;
    this.anchor = -1;
    this.exact = null;
    this.scroller.scrollTop = 0;
  }

  get room(): number {
    return Math.max(0, this.scroller.clientHeight - this.head.offsetHeight);
  }

  /** True if a pixel of the scroll bar is more than one pixel of lines. */
  private get inParts(): boolean {
    return this.count * lineHeight(this.v.settings) > TALLEST;
  }

  /** Return the line at the top of the view, with its fraction. */
  private top(): number {
    const high = lineHeight(this.v.settings);
    const bar = this.scroller.scrollTop;
    if (!this.inParts) return bar / high;
    if (this.exact?.bar === bar) return this.exact.line;
    const share = bar / Math.max(1, TALLEST - this.room);
    return Math.min(1, share) * (this.count - this.room / high);
  }

  private scrollToTop(line: number): void {
    const high = lineHeight(this.v.settings);
    if (!this.inParts) {
      this.scroller.scrollTop = line * high;
      return;
    }
    const last = this.count - this.room / high;
    const top = Math.max(0, Math.min(last, line));
    this.scroller.scrollTop = (top / Math.max(1, last)) * (TALLEST - this.room);
    this.exact = { bar: this.scroller.scrollTop, line: top };
  }

  private scrolled(): void {
    // In parts, lines have no fixed place below the bar, so render all of them again.
    if (this.inParts) this.renderAll();
    else this.render();
  }

  /** Scroll by the wheel. In parts, the browser would skip several lines for each one. */
  private wheel(e: WheelEvent): void {
    if (!this.inParts || e.ctrlKey || e.shiftKey || e.deltaY === 0) return;
    const line = lineHeight(this.v.settings);
    const step = { 0: 1, 1: line, 2: this.room }[e.deltaMode] ?? 1;
    const before = this.top();
    this.scrollToTop(before + (e.deltaY * step) / line);
    if (this.top() === before) return; // At the end, the page may scroll instead.
    this.renderAll();
    e.preventDefault();
  }

  private renderAll(): void {
    for (const element of this.rendered.values()) element.remove();
    this.rendered.clear();
    this.render();
  }

  refresh(): void {
    this.renderAll();
  }

  /**
   * Create the rows in and near the view and remove all others. A table that is higher than an
   * element can be is shown in parts: its rows are placed relative to the scroll position.
   */
  private render(): void {
    const high = lineHeight(this.v.settings);
    const top = this.top();
    const first = Math.max(0, Math.floor(top) - AHEAD);
    const last = Math.min(this.count - 1, Math.ceil(top + this.room / high) + AHEAD);
    for (const [line, element] of this.rendered) {
      if (line >= first && line <= last) continue;
      element.remove();
      this.rendered.delete(line);
    }
    const block = this.block;
    const { inParts } = this;
    for (let line = first; line <= last; line++) {
      if (this.rendered.has(line)) continue;
      const element = this.rowOf(line, block);
      const y = inParts ? this.scroller.scrollTop + (line - top) * high : line * high;
      element.style.top = `${y}px`;
      this.rendered.set(line, element);
      this.rows.append(element);
    }
    setAttribute(
      this.scroller,
      'aria-activedescendant',
      this.rendered.has(this.line) ? `${this.name}-${this.line}` : null,
    );
  }

  /**
   * Create the row of a line, with what assistive technology needs to know of a table of which only
   * a part exists.
   */
  private rowOf(line: number, block: GridBlock | null): HTMLElement {
    const row = this.actions.row?.(line) ?? this.plainRow(line);
    row.id = `${this.name}-${line}`;
    row.dataset['line'] = String(line);
    setAttribute(row, 'aria-rowindex', line + 2);
    row.classList.toggle('cursor', line === this.line);
    const several = block !== null && block.first < block.last;
    const marked = several && line >= block.first && line <= block.last;
    row.classList.toggle('marked', marked);
    if (marked) setAttribute(row, 'aria-selected', true);
    return row;
  }

  private plainRow(line: number): HTMLElement {
    const chosen = this.actions.selected?.(line) ?? false;
    const row = h('div', {
      class: chosen ? 'grid-row selected' : 'grid-row',
      attrs: { role: 'row', 'aria-selected': chosen, ...this.treeAttributes(line) },
    });
    for (const column of this.columns) row.append(this.cellOf(line, column));
    return row;
  }

  private treeAttributes(line: number): Record<string, number | boolean | null> {
    const { tree } = this.actions;
    return tree ? { 'aria-level': tree.level(line) + 1, 'aria-expanded': tree.isOpen(line) } : {};
  }

  private cellOf(line: number, column: GridColumn): HTMLElement {
    const share = column.share?.(line);
    const classes = [
      'grid-cell',
      column.number && 'number',
      column.begins && 'begins',
      share !== undefined && 'percent',
    ];
    const cell = h('div', {
      class: classes.filter(Boolean).join(' '),
      attrs: { role: 'gridcell', 'data-column': column.id },
    });
    const content = column.cell(line);
    appendChildren(cell, Array.isArray(content) ? content : [content]);
    if (share !== undefined) cell.style.setProperty('--share', `${Math.min(100, share)}%`);
    return cell;
  }

  /** Move the cursor to a line and scroll it into view. With `marking`, mark the lines between. */
  moveTo(line: number, marking = false): void {
    if (this.count === 0) return;
    if (marking && this.anchor < 0) this.anchor = Math.max(0, this.line);
    this.line = Math.max(0, Math.min(this.count - 1, line));
    if (!marking) this.anchor = this.line;
    const top = this.top();
    const visible = this.room / lineHeight(this.v.settings);
    if (this.line < top) this.scrollToTop(this.line);
    else if (this.line + 1 > top + visible) this.scrollToTop(this.line + 1 - visible);
    this.renderAll();
    this.actions.moved?.();
  }

  /** Move the cursor to a line on behalf of another view, and show some of the lines below it. */
  leadTo(line: number): void {
    const top = this.top();
    const visible = this.room / lineHeight(this.v.settings);
    if (line + 3 > top + visible) this.scrollToTop(Math.max(0, line - visible / 3));
    this.moveTo(line);
  }

  private click(e: MouseEvent): void {
    const row = (e.target as Element).closest<HTMLElement>('[data-line]');
    if (!row) return;
    this.scroller.focus({ preventScroll: true });
    const line = Number(row.dataset['line']);
    this.moveTo(line, e.shiftKey);
    if (!e.shiftKey) this.actions.activate(line, e.target as Element);
  }

  private rightClick(e: MouseEvent): void {
    const row = (e.target as Element).closest<HTMLElement>('[data-line]');
    if (!row || !this.actions.menu) return;
    e.preventDefault();
    this.scroller.focus({ preventScroll: true });
    this.moveTo(Number(row.dataset['line']));
    this.actions.menu(this.line, { x: e.clientX, y: e.clientY });
  }

  /** Open the menu of the line under the cursor, below it. */
  private openMenu(): void {
    if (this.line < 0 || !this.actions.menu) return;
    const box = this.rendered.get(this.line)?.getBoundingClientRect();
    const { left, top } = this.scroller.getBoundingClientRect();
    this.actions.menu(this.line, { x: left + 60, y: box?.bottom ?? top });
  }

  private key(e: KeyboardEvent): void {
    if (e.target !== this.scroller || e.altKey) return;
    const page = Math.max(1, Math.floor(this.room / lineHeight(this.v.settings)) - 1);
    const steps: Record<string, number> = {
      ArrowDown: this.line + 1,
      ArrowUp: this.line - 1,
      PageDown: this.line + page,
      PageUp: this.line - page,
      Home: 0,
      End: this.count - 1,
    };
    const to = steps[e.key];
    if (e.ctrlKey || e.metaKey) {
      if (e.key !== 'a') return;
      this.anchor = 0;
      this.line = this.count - 1;
      this.renderAll();
    } else if (isMenuKey(e)) this.openMenu();
    else if (to !== undefined) this.moveTo(to, e.shiftKey);
    else if ((e.key === 'Enter' || e.key === ' ') && this.line >= 0)
      this.actions.activate(this.line);
    else if (!this.treeKey(e.key)) return;
    e.preventDefault();
    e.stopPropagation();
  }

  /** Return true if the children of an opened line are loaded. */
  private hasChild(tree: GridTree, line: number): boolean {
    return line + 1 < this.count && tree.level(line + 1) > tree.level(line);
  }

  /** Right opens a line, then goes to its first child. Left closes it, then goes to its parent. */
  private treeKey(key: string): boolean {
    const { tree } = this.actions;
    const { line } = this;
    if (!tree || line < 0) return false;
    const open = tree.isOpen(line);
    if (key === '*') tree.openBelow(line);
    else if (key === 'ArrowRight') {
      if (open === false) tree.setOpen(line, true);
      else if (open && this.hasChild(tree, line)) this.moveTo(line + 1);
    } else if (key === 'ArrowLeft') {
      if (open) tree.setOpen(line, false);
      else if (tree.parent(line) >= 0) this.moveTo(tree.parent(line));
    } else return false;
    return true;
  }
}
