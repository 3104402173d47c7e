// SPDX-License-Identifier: Apache-2.0
// A tree table: top-down from callers to callees, or bottom-up from callees to callers.
//
// Two kinds of numbers name a line. The store and the tree count `line`s in the order in which they
// were loaded, so a number stays valid while more lines arrive. The grid counts `place`s from the
// top, among the lines that are visible now; opening a line changes the places below it. line() and
// placeOf() convert.

import { h, icon, setAttribute, type Child } from '../../base/dom';
import { fixedUnit, formatCount } from '../../base/format';
import { effect, signal, untracked } from '../../base/signal';
import { nameOfTable } from '../../model/compensation';
import { fittingColumns } from '../../model/columnFit';
import type { Scale } from '../../model/measure';
import type { ColumnId } from '../../model/profileColumns';
import { otherEventsHint } from '../../model/otherEventsHint';
import { finderOf } from '../../model/names';
import {
  treeHead,
  treeTotal,
  treeColumns,
  treeText,
  widestTreeText,
  type TreeColumn,
} from '../../model/treeColumns';
import type { TreeLines } from '../../model/treeLines';
import { treeSheet } from '../../model/treeSheet';
import type { TreeStore } from '../../model/treeStore';
import { inTermsOf, wordsFor } from '../../model/words';
import type { Exported } from './exportMenu';
import type { Findable } from './findBox';
import { measureBar } from './flameSwitches';
import { Grid, type GridColumn } from './grid';
import { pathText } from './pathText';
import { swatch } from '../swatch';
import { markedText, showPending } from './tableTab';
import type { Views } from '../context';

/** The padding on both sides, and the line between groups. */
const PADDING = 18;
const NAME_LEAST = 240;
const INDENT = 12;
/** Deeper lines are not indented further. */
const DEEPEST = 40;

type GridTreeColumn = GridColumn & Pick<TreeColumn, 'id' | 'clock'>;

/** The tree table. */
export class TreeView {
  readonly element: HTMLElement;
  private readonly grid: Grid;
  /** The width of the lines in CSS pixels; 0 before the table is shown. */
  private readonly width = signal(0);
  /** The match of the find box under the cursor. */
  private readonly match = signal(-1);
  /** The frame that was scrolled to, or clicked on: it is not scrolled to again. */
  private shownFrame: number | null = null;
  /** The lines shown before, in which the cursor of the grid counts. */
  private before: { tree: TreeLines | null; shown: readonly number[] } = { tree: null, shown: [] };

  constructor(
    private readonly v: Views,
    private readonly store: TreeStore,
    label: string,
  ) {
    const { viewer } = v;
    const frameAt = (place: number): number => this.tree?.frame[this.line(place)] ?? -1;
    this.grid = new Grid(
      label,
      {
        activate: (place, target) => this.activate(place, target),
        sort: (column) => this.sortBy(column as ColumnId),
        selected: (place) => frameAt(place) === viewer.frame.peek(),
        menu: (place, at) => v.menu(frameAt(place), at),
        resized: (width) => this.width.set(width),
        tree: {
          level: (place) => this.tree?.level[this.line(place)] ?? 0,
          isOpen: (place) => store.isOpen(this.line(place)),
          setOpen: (place, open) => this.setOpen(place, open),
          openBelow: (place) => store.openBelow(this.line(place)),
          parent: (place) => this.placeOf(this.tree?.parent[this.line(place)] ?? -1),
        },
      },
      v,
    );
    const bar = measureBar(viewer, `Figure of the tree ${label}`);
    const about = store.bottomUp
      ? 'from the methods that took the time up to their callers'
      : 'from the outermost calls down to the calls inside';
    this.grid.scroller.title = inTermsOf(wordsFor(viewer.facts), `${label}: ${about}`);
    this.element = h('div', { class: bar ? 'tree with-bar' : 'tree' }, bar, this.grid.element);
    effect(() => this.showColumns());
    effect(() => this.showLines());
    effect(() => this.follow());
    showPending(this.element, store.pending);
    effect(() => setAttribute(this.element, 'data-clock', viewer.clock.get()));
  }

  private get tree(): TreeLines | null {
    return this.store.lines.peek()?.tree ?? null;
  }

  private line(place: number): number {
    return this.store.shown.peek()[place] ?? -1;
  }

  private placeOf(line: number): number {
    return line < 0 ? -1 : this.store.shown.peek().indexOf(line);
  }

  private setOpen(place: number, open: boolean): void {
    if (open) this.store.open(this.line(place));
    else this.store.close(this.line(place));
  }

  /**
   * A click on a name selects it everywhere. A click on the mark before it opens or closes the
   * line.
   */
  private activate(place: number, target?: Element): void {
    const line = this.line(place);
    const frame = this.tree?.frame[line];
    if (frame === undefined) return;
    const open = this.store.isOpen(line);
    const again = this.v.viewer.frame.peek() === frame;
    if (target?.closest('.twist') || (!target && again)) {
      if (open !== null) this.setOpen(place, !open);
      return;
    }
    this.shownFrame = frame; // The line is where the user clicked, so do not scroll.
    this.v.viewer.selectFrame(frame);
  }

  private sortBy(column: ColumnId): void {
    const { treeSort } = this.v.viewer;
    const old = untracked(() => this.store.sort);
    const descending = old.column === column ? !old.descending : column !== 'name';
    treeSort.set({ column, descending });
  }

  private showColumns(): void {
    const { viewer } = this.v;
    const tree = this.store.lines.get()?.tree ?? null;
    const scale = this.store.scale();
    const { sort, measure, bottomUp } = this.store;
    const columns = treeColumns(viewer.facts, measure.of, bottomUp);
    const made = columns.map((column) => this.gridColumn(column, tree, scale));
    const { width } = this;
    this.grid.setColumns(fittingColumns(made, width.get(), viewer.clock.get(), sort.column), sort);
    untracked(() => this.grid.refresh());
  }

  /** Return a column as wide as its longest number, so that digits are never cut off. */
  private gridColumn(column: TreeColumn, tree: TreeLines | null, scale: Scale): GridTreeColumn {
    const meter = this.v.meters.get(this.v.settings.theme.get().bodyFont);
    const head = treeHead(column, scale);
    const widest = tree ? widestTreeText(tree, column, scale) : '';
    const number = column.kind !== 'name';
    const text = (place: number): string =>
      this.tree ? treeText(this.tree, this.line(place), column, scale) : '';
    return {
      ...{ id: column.id, clock: column.clock, head, title: column.title, number, sorts: true },
      begins: column.begins,
      width: number
        ? Math.ceil(Math.max(meter.width(widest), meter.width(`▾ ${head}`))) + PADDING
        : 0,
      least: NAME_LEAST,
      cell: number ? (place) => [h('span', null, text(place))] : (place) => this.nameCell(place),
      ...(column.kind === 'percent' ? { share: (place) => this.share(place, column) } : {}),
    };
  }

  private share(place: number, column: TreeColumn): number {
    if (!this.tree) return 0;
    const value = this.tree.figure(this.line(place), column.id) ?? 0;
    return (100 * value) / Math.max(1, treeTotal(this.tree, column));
  }

  private nameCell(place: number): Child[] {
    const line = this.line(place);
    if (!this.tree || line < 0) return [];
    const { viewer, settings } = this.v;
    const { frames } = viewer;
    const frame = this.tree.frame[line] ?? 0;
    const open = this.store.isOpen(line);
    const find = finderOf(viewer.find.peek());
    const twist = h(
      'span',
      { class: 'twist' },
      open === null ? null : icon(open ? 'down' : 'right'),
    );
    twist.style.marginLeft = `${Math.min(DEEPEST, this.tree.level[line] ?? 0) * INDENT}px`;
    const title = `${frames.full(frame)} ${frames.signature(frame)} ${frames.source(frame)}`.trim();
    return [
      twist,
      swatch(frames, frame, settings.theme.peek()),
      pathText(frames, frame, find, title),
    ];
  }

  /** Show the lines. The cursor stays on its line when others open above it. */
  private showLines(): void {
    const { viewer, settings } = this.v;
    const shown = this.store.shown.get();
    for (const read of [viewer.unit, viewer.find, viewer.frame, settings.theme]) read.get();
    const text = this.emptyText(shown.length === 0);
    untracked(() => {
      const before = this.before;
      const same = before.tree === this.tree;
      this.before = { tree: this.tree, shown };
      this.grid.show(shown.length, text, (place) => {
        if (shown === before.shown || !same) return place;
        return this.placeOf(before.shown[place] ?? -1);
      });
    });
  }

  /** Say why the tree has no line. */
  private emptyText(none: boolean): string {
    const { viewer } = this.v;
    const scoped = viewer.range.get() !== null || viewer.tracks.get().length > 0;
    if (!none || this.store.lines.get() === null) return '';
    if (viewer.onlyFound.get() && viewer.find.get() !== '')
      return this.store.pending.get()
        ? 'Searching the whole tree ...'
        : this.tree?.isWhole === false
          ? `None of the first ${formatCount(this.tree.count)} lines contains the search text.`
          : 'No line of the tree contains the search text.';
    const { slice, track } = wordsFor(viewer.facts);
    const what = viewer.flameOf.get() === 'calls' ? slice : 'sample';
    return scoped
      ? `No ${what} lies in the selected range and ${track}s. Esc selects the whole trace again.`
      : otherEventsHint(viewer.facts).text;
  }

  /** Scroll to a method that was selected elsewhere. */
  private follow(): void {
    const frame = this.v.viewer.frame.get();
    const shown = this.store.shown.get();
    untracked(() => {
      const { tree } = this;
      if (frame === this.shownFrame || !tree) return;
      const at = shown.findIndex((line) => tree.frame[line] === frame);
      if (frame !== null && at < 0) return;
      this.shownFrame = frame;
      if (at >= 0) this.grid.moveTo(at);
    });
  }

  readonly findable: Findable = {
    jumps: true,
    text: () => this.foundText(),
    miss: () => this.store.found.get().length === 0 && this.store.lines.get() !== null,
    typed: () => void this.jump(0),
    step: (direction) => {
      const here = this.jump(0);
      const frame = here === this.v.viewer.frame.peek() ? this.jump(direction) : here;
      if (frame === null) return;
      this.shownFrame = frame;
      this.v.viewer.selectFrame(frame);
    },
    focus: () => this.grid.scroller.focus(),
  };

  /** Go to the match at or after the cursor (0), the next one (1) or the previous one (-1). */
  private jump(direction: 0 | 1 | -1): number | null {
    const found = this.store.found.peek();
    if (found.length === 0) return null;
    const { cursor } = this.grid;
    const on = found.includes(cursor);
    const after = found.findIndex((place) => place >= cursor + (on && direction === 1 ? 1 : 0));
    const next = direction === -1 ? (after < 0 ? found.length : after) - 1 : Math.max(0, after);
    const place = found.at(next % found.length) ?? 0;
    this.grid.moveTo(place);
    this.match.update((n) => n + 1);
    return this.tree?.frame[this.line(place)] ?? null;
  }

  private foundText(): string {
    const found = this.store.found.get();
    this.match.get();
    this.v.viewer.frame.get();
    if (found.length === 0) return '0 of 0';
    const at = found.indexOf(this.grid.cursor);
    // A tree too large to search completely may hold more matches.
    const more = this.v.viewer.onlyFound.get() && this.tree?.isWhole === false ? '+' : '';
    return `${at < 0 ? '–' : formatCount(at + 1)} of ${formatCount(found.length)}${more}`;
  }

  /** Return the shown lines. */
  exported(): Exported {
    const { viewer } = this.v;
    const { bottomUp, shown } = this.store;
    const { of } = untracked(() => this.store.measure);
    const columns = treeColumns(viewer.facts, of, bottomUp);
    const { frames } = viewer;
    const scale = untracked(() => this.store.scale(fixedUnit(viewer.unit.peek())));
    return {
      name: nameOfTable(viewer, bottomUp ? 'bottom-up' : 'top-down'),
      sheet: () =>
        this.tree && treeSheet({ tree: this.tree, lines: shown.peek(), columns, frames, scale }),
    };
  }

  copyText(): string | null {
    return markedText(this.grid, this.exported());
  }
}
