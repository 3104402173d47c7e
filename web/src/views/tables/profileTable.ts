// SPDX-License-Identifier: Apache-2.0
// The profile table: methods, and below an opened method its callers and callees.
//
// The store (profileStore.ts) holds sorted lines, the grid (grid.ts) draws those on the screen and
// knows the keys of a tree. This file tells the grid what each line is, and follows the selection:
// a method that is selected elsewhere is scrolled to, once its line is there.
//
// Columns depend on the clocks of the trace and on the width. The sorted column and the name always
// stay; others disappear by their importance.

import { h, setAttribute, type Child } from '../../base/dom';
import { computed, effect, signal, untracked, type ReadSignal } from '../../base/signal';
import { fixedUnit } from '../../base/format';
import { nameOfTable } from '../../model/compensation';
import { otherEventsHint } from '../../model/otherEventsHint';
import { fittingColumns } from '../../model/columnFit';
import { measureColumns, type Column } from '../../model/profileColumns';
import type { ProfileLine, RankedMethod } from '../../model/profileRows';
import { profileSheet } from '../../model/profileSheet';
import { sheetText, type Sheet } from '../../model/sheet';
import { wordsFor } from '../../model/words';
import { measureBar } from './flameSwitches';
import { Grid } from './grid';
import { ProfileHead, widenedColumns } from './profileHead';
import { lineKey, rowElement, type CellContext } from './profileCells';
import type { Exported } from './exportMenu';
import { showPending } from './tableTab';
import type { Views } from '../context';
import type { MenuPlace } from '../popupMenu';

/** The table of methods. */
export class ProfileTable {
  readonly element: HTMLElement;
  private readonly grid: Grid;
  /** Every column that the table can have, with its width; and the shown ones of them. */
  private readonly all: ReadSignal<readonly Column[]>;
  private readonly columns: ReadSignal<readonly Column[]>;
  /** The width of the lines in CSS pixels; 0 before the table is shown. */
  private readonly width = signal(0);
  private lines: readonly ProfileLine[] = [];
  private shown: number | null = null;
  private pendingScroll = false;

  constructor(private readonly v: Views) {
    const { facts } = v.viewer;
    const measured = computed(() => measureColumns(v.profile.measure.of, facts, wordsFor(facts)));
    this.all = computed(() => widenedColumns(v, measured.get()));
    this.columns = computed(() => {
      const { sort } = v.profile;
      return fittingColumns(this.all.get(), this.width.get(), v.viewer.clock.get(), sort.column);
    });
    const bar = measureBar(v.viewer, 'Figure of the profile');
    this.element = h('div', { class: bar ? 'profile with-bar' : 'profile' }, bar);
    const head = new ProfileHead(v, this.columns, this.element, () => this.grid.reset());
    this.grid = new Grid(
      'Profile',
      {
        head: head.element,
        row: (at) => this.row(at),
        activate: (at, target) => this.activate(at, target),
        menu: (at, place) => this.menu(at, place),
        resized: (width) => {
          this.width.set(width);
          untracked(() => this.follow());
        },
        tree: {
          level: (at) => ({ method: 0, group: 1, pending: 1 })[this.kind(at)] ?? 2,
          isOpen: (at) => this.isOpen(at),
          setOpen: (at, open) => this.setOpen(at, open),
          openBelow: (at) => this.setOpen(at, true),
          parent: (at) => this.ownerOf(at),
        },
      },
      v,
    );
    this.element.append(this.grid.element);
    effect(() => this.showLines());
    showPending(this.element, v.profile.pending);
    if (v.viewer.facts.clocks.length > 1)
      effect(() => setAttribute(this.element, 'data-clock', v.viewer.clock.get()));
    effect(() => this.follow());
  }

  private kind(at: number): string {
    return this.lines[at]?.kind ?? '';
  }

  private isOpen(at: number): boolean | null {
    const line = this.lines[at];
    return line?.kind === 'method' && line.frame >= 0 ? line.opened : null;
  }

  private setOpen(at: number, open: boolean): void {
    const line = this.lines[at];
    if (line?.kind !== 'method') return;
    if (open) this.v.profile.open(line.frame);
    else this.v.profile.close(line.frame);
  }

  private ownerOf(at: number): number {
    const line = this.lines[at];
    return !line || line.kind === 'method' ? -1 : this.indexOf(`m${line.owner}`);
  }

  private row(at: number): HTMLElement {
    const { viewer, settings, profile } = this.v;
    const line = this.lines[at];
    const answer = profile.answer.peek();
    if (!line || !answer) return h('div', null);
    const context: CellContext = {
      frames: viewer.frames,
      theme: settings.theme.peek(),
      columns: this.columns.peek(),
      answer,
      scale: untracked(() => profile.scale()),
      find: viewer.find.peek(),
      words: wordsFor(viewer.facts),
      selected: viewer.frame.peek(),
    };
    return rowElement(line, context);
  }

  private showLines(): void {
    const { viewer, profile, settings } = this.v;
    const before = this.lines;
    this.lines = profile.lines.get();
    for (const read of [viewer.unit, viewer.find, viewer.frame]) read.get();
    for (const read of [settings.theme, settings.density, this.columns]) read.get();
    const empty = this.whyEmpty();
    untracked(() => this.grid.show(this.lines.length, empty, (at) => this.wentTo(before[at], at)));
  }

  /**
   * Return where the cursor goes if its line disappears: to the line in its place, else to the
   * method.
   */
  private wentTo(line: ProfileLine | undefined, at: number): number {
    if (!line || this.lines[at] === line) return at;
    const same = this.indexOf(lineKey(line));
    if (same >= 0 || line.kind === 'method') return same;
    const owner = this.indexOf(`m${line.owner}`);
    return owner >= 0 && line.kind === 'pending' ? owner + 1 : owner;
  }

  /** Say why there is no row, and offer the way to some. */
  private whyEmpty(): string | Child[] {
    const { viewer, profile } = this.v;
    const answer = profile.answer.get();
    if (answer === null) return '';
    if (answer.rows.length > 0) return 'No name contains the search text.';
    const scoped = viewer.range.get() !== null || viewer.tracks.get().length > 0;
    const { slice: what, track } = wordsFor(viewer.facts);
    const { of } = profile.measure;
    const other = otherEventsHint(viewer.facts);
    const text = scoped
      ? `No ${of === 'calls' ? what : 'sample'} lies in the selected range and ${track}s.`
      : other.text;
    const way = scoped ? 'Compute for the whole trace' : other.way;
    const go = (): void => {
      viewer.setRange(null);
      viewer.tracks.set([]);
      if (!scoped && other.tab) viewer.tab.set(other.tab);
      else if (!scoped) this.v.unfilter();
    };
    return [
      text,
      h('button', { class: 'button', attrs: { type: 'button' }, on: { click: go } }, way),
    ];
  }

  private indexOf(key: string): number {
    return this.lines.findIndex((line) => lineKey(line) === key);
  }

  /** Scroll to a method that was selected elsewhere. */
  private follow(): void {
    const frame = this.v.viewer.frame.get();
    this.v.profile.lines.get();
    untracked(() => {
      if (frame !== this.shown) this.pendingScroll = frame !== null;
      this.shown = frame;
      // A grid without height cannot scroll. Its resize handler comes back when it has one.
      if (!this.pendingScroll || frame === null || this.grid.room === 0) return;
      const at = this.indexOf(`m${frame}`);
      if (at < 0) return;
      this.pendingScroll = false;
      this.grid.leadTo(at);
    });
  }

  /** Select the clicked method everywhere and open it; a second click closes it. */
  private activate(at: number, target?: Element): void {
    const { viewer } = this.v;
    const line = this.lines[at];
    if (!line || line.kind === 'group' || line.kind === 'pending' || line.frame < 0) return;
    if (line.kind !== 'method') {
      viewer.selectFrame(line.kind === 'self' ? line.owner : line.frame);
      return;
    }
    if (target?.closest('.twist') || viewer.frame.peek() === line.frame)
      return this.setOpen(at, !line.opened);
    this.shown = line.frame; // The line is where the user clicked, so do not scroll.
    viewer.selectFrame(line.frame);
  }

  private menu(at: number, place: MenuPlace): void {
    const line = this.lines[at];
    if (!line || line.kind === 'group' || line.kind === 'pending') return;
    this.v.menu(line.kind === 'self' ? line.owner : line.frame, place);
  }

  /** Move the cursor to a method without selecting it, while the user types in the find box. */
  showMethod(frame: number): void {
    const at = this.indexOf(`m${frame}`);
    if (at >= 0) this.grid.leadTo(at);
  }

  /** The method of the line under the cursor. */
  get cursorMethod(): number | null {
    const line = this.lines[this.grid.cursor];
    return line ? (line.kind === 'method' ? line.frame : line.owner) : null;
  }

  focus(): void {
    this.grid.scroller.focus();
  }

  private sheetOf(methods: readonly RankedMethod[]): Sheet | null {
    const { viewer, profile } = this.v;
    const answer = profile.answer.peek();
    const scale = untracked(() => profile.scale(fixedUnit(viewer.unit.peek())));
    return answer && profileSheet(methods, this.all.peek(), answer, viewer.frames, scale);
  }

  exported(): Exported {
    const name = nameOfTable(this.v.viewer, 'profile');
    return { name, sheet: () => this.sheetOf(this.v.profile.sorted.peek()) };
  }

  /** Return the marked methods, or the one under the cursor, as text. */
  copyText(): string | null {
    const { block } = this.grid;
    if (!block) return null;
    const wanted = new Set<number>();
    for (const line of this.lines.slice(block.first, block.last + 1)) {
      if (line.kind === 'method') wanted.add(line.frame);
      else if (block.first === block.last) wanted.add(line.owner);
    }
    const sheet = this.sheetOf(this.v.profile.sorted.peek().filter((m) => wanted.has(m.frame)));
    return sheet && sheetText(sheet, 'tsv');
  }
}
