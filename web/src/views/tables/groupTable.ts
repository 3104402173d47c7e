// SPDX-License-Identifier: Apache-2.0
// A table of groups and their places (model/groups.ts), as in the tabs Findings and Health.

import { h, icon, type Child } from '../../base/dom';
import { formatCount } from '../../base/format';
import {
  computed,
  effect,
  signal,
  untracked,
  type ReadSignal,
  type Signal,
} from '../../base/signal';
import {
  groupLines,
  groupsWith,
  sortedGroups,
  usuallyOpen,
  type Group,
  type GroupLine,
  type GroupState,
  type GroupValue,
} from '../../model/groups';
import { substringMatcher } from '../../model/names';
import { sheetText, type Sheet } from '../../model/sheet';
import type { Views } from '../context';
import type { Findable } from './findBox';
import { Grid, type GridColumn } from './grid';

/** The padding on both sides. */
const PADDING = 18;
const LEAST = 56;

export interface GroupColumn<T> {
  id: string;
  head: string;
  title: string;
  number: boolean;
  /**
   * In pixels, and the text may be cut off. If missing, as wide as the widest text; 0 takes the
   * rest.
   */
  width?: number;
  least?: number;
  value: (item: T) => GroupValue;
  text: (item: T) => string;
  /** Replaces the text. */
  cell?: (item: T) => Child[];
}

export interface GroupTableParts<T> {
  label: string;
  state: Signal<GroupState>;
  groups: ReadSignal<readonly Group<T>[]>;
  /** The first column has the names. */
  columns: ReadSignal<readonly GroupColumn<T>[]>;
  /** The text that the find box searches. */
  words: (item: T) => string;
  shown: () => boolean;
  /** Go to a place, by a click or Enter. A head opens instead. */
  go: (item: T) => void;
  selected?: (item: T) => boolean;
  /** The line under the cursor changed; the first line if there is no cursor. */
  moved?: (item: T | null) => void;
  whenEmpty: () => string;
  sheet: (items: readonly T[]) => Sheet;
}

/** A table of groups that open. */
export class GroupTable<T> {
  readonly grid: Grid;
  /** The groups that contain the text to find. */
  readonly found: ReadSignal<readonly Group<T>[]>;
  private readonly lines: ReadSignal<readonly GroupLine<T>[]>;
  /** The groups opened among the results; null means the default. */
  private readonly openFound = signal<readonly string[] | null>(null);
  private before: readonly GroupLine<T>[] = [];

  constructor(
    private readonly v: Views,
    private readonly parts: GroupTableParts<T>,
  ) {
    const { viewer } = v;
    this.grid = new Grid(
      parts.label,
      {
        activate: (line, target) => this.activate(line, target),
        sort: (column) => this.sortBy(column),
        selected: (line) => {
          const item = this.lines.peek()[line]?.item;
          return item !== undefined && (parts.selected?.(item) ?? false);
        },
        moved: () => this.moved(),
        tree: {
          level: (line) => this.lines.peek()[line]?.level ?? 0,
          isOpen: (line) => this.lines.peek()[line]?.isOpen ?? null,
          setOpen: (line, open) => this.setOpen(line, open),
          openBelow: (line) => this.setOpen(line, true),
          parent: (line) => this.headOf(line),
        },
      },
      v,
    );
    this.found = computed(() => {
      const find = parts.shown() ? viewer.find.get() : '';
      const matches = substringMatcher(find);
      const all = parts.groups.get();
      return find === '' ? all : groupsWith(all, (item) => matches(parts.words(item)));
    });
    this.lines = computed(() => groupLines(this.sorted(), this.openNow()));
    effect(() => {
      viewer.find.get();
      untracked(() => this.openFound.set(null));
    });
    effect(() => this.showColumns());
    effect(() => this.show());
  }

  private sorted(): readonly Group<T>[] {
    const columns = new Map(this.parts.columns.get().map((column) => [column.id, column]));
    const { sort } = this.parts.state.get();
    const known = sort && columns.has(sort.column) ? sort : null;
    return sortedGroups(
      this.found.get(),
      known,
      (item, column) => columns.get(column)?.value(item) ?? null,
    );
  }

  private openNow(): readonly string[] {
    const finding = this.v.viewer.find.get() !== '';
    const named = finding ? this.openFound.get() : this.parts.state.get().open;
    return named ?? usuallyOpen(this.found.get());
  }

  private setOpen(line: number, open: boolean): void {
    const id = this.lines.peek()[line]?.group.id;
    if (id === undefined) return;
    const others = untracked(() => this.openNow()).filter((other) => other !== id);
    const now = open ? [...others, id] : others;
    if (this.v.viewer.find.peek() !== '') this.openFound.set(now);
    else this.parts.state.update((state) => ({ ...state, open: now }));
  }

  /** Open the group with this id and move the cursor there. */
  leadTo(id: string): void {
    const open = untracked(() => this.openNow());
    if (!open.includes(id)) this.parts.state.update((state) => ({ ...state, open: [...open, id] }));
    this.show();
    const line = this.lines.peek().findIndex(({ group }) => group.id === id);
    if (line >= 0) this.grid.leadTo(line);
    this.grid.scroller.focus({ preventScroll: true });
  }

  private headOf(line: number): number {
    const lines = this.lines.peek();
    const at = lines[line];
    return at?.level === 1 ? lines.findIndex(({ group }) => group === at.group) : -1;
  }

  private activate(line: number, target?: Element): void {
    const at = this.lines.peek()[line];
    if (!at) return;
    if (at.level === 0) {
      // A button in the line handles its own click.
      if (at.isOpen !== null && !target?.closest('button')) this.setOpen(line, !at.isOpen);
    } else this.parts.go(at.item);
  }

  /** Sort ascending, then descending, then in the original order. */
  private sortBy(column: string): void {
    const number = this.parts.columns.peek().find(({ id }) => id === column)?.number ?? false;
    this.parts.state.update((state) => {
      const { sort } = state;
      if (sort?.column !== column) return { ...state, sort: { column, descending: number } };
      const again = sort.descending === number;
      return { ...state, sort: again ? { column, descending: !number } : null };
    });
    this.grid.reset();
  }

  /** Make each column as wide as its widest text, so that digits are never cut off. */
  private showColumns(): void {
    const { v } = this;
    const meter = v.meters.get(v.settings.theme.get().bodyFont);
    const groups = this.parts.groups.get();
    const width = (column: GroupColumn<T>): number => {
      if (column.width !== undefined) return column.width;
      let widest = meter.width(`▾ ${column.head}`);
      for (const { head, places } of groups)
        for (const item of [head, ...places])
          widest = Math.max(widest, meter.width(column.text(item)));
      return Math.ceil(Math.max(LEAST, widest)) + PADDING;
    };
    const columns = this.parts.columns.get().map((column, i): GridColumn => ({
      id: column.id,
      head: column.head,
      title: column.title,
      number: column.number,
      width: width(column),
      ...(column.least !== undefined && { least: column.least }),
      sorts: true,
      cell: (line) => this.cell(line, column, i === 0),
    }));
    this.grid.setColumns(columns, this.parts.state.get().sort);
  }

  /** Create a cell; the first one of a line has the sign that opens it. */
  private cell(line: number, column: GroupColumn<T>, first: boolean): Child | Child[] {
    const at = this.lines.peek()[line];
    if (!at) return null;
    const text = column.text(at.item);
    const content = column.cell?.(at.item) ?? [
      column.number ? text : h('span', { class: 'text', title: text }, text),
    ];
    if (!first) return content;
    const sign = at.isOpen === null ? null : icon(at.isOpen ? 'down' : 'right');
    const twist = h('span', { class: at.level === 0 ? 'twist' : 'twist below' }, sign);
    return [twist, ...content];
  }

  private show(): void {
    const { viewer, settings } = this.v;
    const lines = this.lines.get();
    for (const read of [viewer.unit, viewer.call, viewer.mark]) read.get();
    for (const read of [settings.theme, settings.density]) read.get();
    untracked(() => {
      const { before } = this;
      this.before = lines;
      const went = (line: number): number => {
        const old = before[line];
        if (lines === before || !old) return line;
        const same = lines.findIndex(({ item }) => item === old.item);
        return same >= 0 ? same : lines.findIndex(({ group }) => group.id === old.group.id);
      };
      this.grid.show(lines.length, lines.length > 0 ? '' : this.parts.whenEmpty(), went);
      this.moved();
    });
  }

  private moved(): void {
    const lines = this.lines.peek();
    this.parts.moved?.(lines[Math.max(0, this.grid.cursor)]?.item ?? null);
  }

  /** Return the sheet of all results, opened or not. A head with no places is a line too. */
  sheet(): Sheet {
    const groups = untracked(() => this.sorted()).filter((group) => !group.last);
    return this.parts.sheet(
      groups.flatMap(({ head, places }) => (places.length > 0 ? places : [head])),
    );
  }

  /** Return the marked lines as text. */
  copyText(): string | null {
    const { block } = this.grid;
    if (!block) return null;
    const items = this.lines.peek().slice(block.first, block.last + 1);
    return sheetText(this.parts.sheet(items.map(({ item }) => item)), 'tsv');
  }

  /** Return the interface of the find box. `ready` returns true if there is an answer to search. */
  findable(ready: () => boolean): Findable {
    const count = (groups: readonly Group<T>[]): number => groups.filter((g) => !g.last).length;
    return {
      text: () =>
        `${formatCount(count(this.found.get()))} of ${formatCount(count(this.parts.groups.get()))}`,
      miss: () => ready() && this.found.get().length === 0,
      typed: () => this.grid.reset(),
      step: (direction) => {
        this.grid.moveTo(this.grid.cursor + direction);
        const at = this.lines.peek()[this.grid.cursor];
        if (at?.level === 1) this.parts.go(at.item);
      },
      focus: () => this.grid.scroller.focus(),
    };
  }
}
