// SPDX-License-Identifier: Apache-2.0
// The profile table: heads that sort, lines of which only the visible ones are elements, a cursor
// for the keyboard.

import { fill, h, setAttribute } from '../base/dom';
import { effect, untracked } from '../base/signal';
import { fixedUnit } from '../base/format';
import { elsewhere } from '../model/elsewhere';
import { columnsFor, type Column } from '../model/columns';
import { toTsv } from '../model/exportTable';
import type { Line, Method } from '../model/profileRows';
import { wordsFor } from '../model/words';
import { ProfileHead } from './profileHead';
import { lineKey, rowElement, type CellContext } from './profileCells';
import type { Views } from './context';

const HEAD = 36;
/** Lines rendered above and below what is visible. */
const AHEAD = 8;

export class ProfileTable {
  readonly element: HTMLElement;
  readonly scroller: HTMLElement;
  private readonly rows = h('div', { class: 'rows', attrs: { role: 'rowgroup' } });
  private readonly empty = h('div', { class: 'empty', hidden: true });
  private readonly columns: readonly Column[];
  private lines: readonly Line[] = [];
  private readonly rendered = new Map<number, HTMLElement>();
  private cursor: string | null = null;
  /** Where a marked block of lines began; the cursor is its other end. */
  private anchor: string | null = null;
  private shown: number | null = null;
  private pendingScroll = false;

  constructor(private readonly v: Views) {
    this.columns = columnsFor(v.viewer.facts.clocks, wordsFor(v.viewer.facts));
    this.scroller = h(
      'div',
      {
        class: 'scroller',
        tabIndex: 0,
        attrs: { role: 'treegrid', 'aria-label': 'Profile', 'aria-multiselectable': true },
      },
      this.rows,
      this.empty,
    );
    this.element = h('div', { class: 'profile' }, this.scroller);
    const head = new ProfileHead(v, this.columns, this.element, () => {
      this.scroller.scrollTop = 0;
    });
    this.scroller.prepend(head.element);
    this.scroller.addEventListener('scroll', () => this.renderVisible());
    new ResizeObserver(() => {
      this.renderVisible();
      untracked(() => this.follow());
    }).observe(this.scroller);
    this.scroller.addEventListener('keydown', (e) => this.key(e));
    this.scroller.addEventListener('focus', () => v.viewer.inTable.set(true));
    this.scroller.addEventListener('blur', () => v.viewer.inTable.set(false));
    this.rows.addEventListener('click', (e) => this.click(e));
    this.rows.addEventListener('mousedown', (e) => {
      if (e.shiftKey) e.preventDefault();
    });
    effect(() => this.showLines());
    effect(() => {
      this.element.classList.toggle('pending', v.profile.pending.get());
    });
    if (v.viewer.facts.clocks.length > 1)
      effect(() => setAttribute(this.element, 'data-clock', v.viewer.clock.get()));
    effect(() => this.follow());
  }

  private get rowHeight(): number {
    return this.v.settings.density.peek() === 'compact'
      ? 18
      : matchMedia('(pointer: coarse)').matches
        ? 28
        : 20;
  }

  private showLines(): void {
    const { viewer, profile, settings } = this.v;
    const under = this.lines[this.cursorAt()];
    this.lines = profile.lines.get();
    if (under) this.keepCursor(under);
    viewer.unit.get();
    viewer.find.get();
    viewer.frame.get();
    settings.theme.get();
    this.rows.style.height = `${this.lines.length * this.rowHeight}px`;
    this.scroller.setAttribute('aria-rowcount', String(this.lines.length + 1));
    this.showEmpty();
    untracked(() => this.renderAll());
  }

  /** Where the cursor's line is gone it goes to what came in its place, else to the method. */
  private keepCursor(under: Line): void {
    if (under.kind === 'method' || this.cursorAt() >= 0) return;
    const owner = this.indexOf(`m${under.owner}`);
    const instead = this.lines[under.kind === 'pending' ? owner + 1 : owner];
    const marked = this.anchor !== this.cursor;
    this.cursor = owner >= 0 && instead ? lineKey(instead) : null;
    if (!marked) this.anchor = this.cursor;
  }

  private showEmpty(): void {
    const { viewer, profile } = this.v;
    const answer = profile.answer.get();
    const none = answer !== null && answer.rows.length === 0;
    this.empty.hidden = !none;
    if (!none) return;
    const scoped = viewer.range.get() !== null || viewer.tracks.get().length > 0;
    const { slice: what, track } = wordsFor(viewer.facts);
    const other = elsewhere(viewer.facts);
    const text = scoped ? `No ${what} runs in the selected range and ${track}s.` : other.text;
    const way = scoped ? 'Compute for the whole trace' : other.way;
    const go = (): void => {
      viewer.setRange(null);
      viewer.tracks.set([]);
      if (!scoped) viewer.tab.set(other.tab);
    };
    fill(
      this.empty,
      text,
      h('button', { class: 'button', attrs: { type: 'button' }, on: { click: go } }, way),
    );
  }

  private renderAll(): void {
    for (const element of this.rendered.values()) element.remove();
    this.rendered.clear();
    this.renderVisible();
  }

  private renderVisible(): void {
    const answer = this.v.profile.answer.peek();
    if (!answer) return;
    const high = this.rowHeight;
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / high) - AHEAD);
    const last = Math.min(
      this.lines.length - 1,
      Math.ceil((this.scroller.scrollTop + this.scroller.clientHeight) / high) + AHEAD,
    );
    for (const [at, element] of this.rendered) {
      if (at >= first && at <= last) continue;
      element.remove();
      this.rendered.delete(at);
    }
    const { viewer, settings } = this.v;
    const context: CellContext = {
      frames: viewer.frames,
      theme: settings.theme.peek(),
      columns: this.columns,
      answer,
      unit: viewer.unit.peek(),
      find: viewer.find.peek(),
      words: wordsFor(viewer.facts),
      selected: viewer.frame.peek(),
    };
    const marked = this.markedBlock();
    for (let at = first; at <= last; at++) {
      const line = this.lines[at];
      if (!line || this.rendered.has(at)) continue;
      const element = rowElement(line, context);
      element.style.top = `${at * high}px`;
      element.id = `row-${at}`;
      element.dataset['line'] = String(at);
      element.setAttribute('aria-rowindex', String(at + 2));
      element.classList.toggle('cursor', lineKey(line) === this.cursor);
      element.classList.toggle('marked', marked !== null && at >= marked[0] && at <= marked[1]);
      this.rendered.set(at, element);
      this.rows.append(element);
    }
    setAttribute(
      this.scroller,
      'aria-activedescendant',
      this.cursorAt() < 0 ? null : `row-${this.cursorAt()}`,
    );
  }

  private indexOf(key: string | null): number {
    return key === null ? -1 : this.lines.findIndex((line) => lineKey(line) === key);
  }

  private cursorAt(): number {
    return this.indexOf(this.cursor);
  }

  private markedBlock(): [number, number] | null {
    const a = this.indexOf(this.anchor);
    const b = this.cursorAt();
    return a < 0 || b < 0 || a === b ? null : [Math.min(a, b), Math.max(a, b)];
  }

  /** When a method is selected elsewhere its line comes into view. */
  private follow(): void {
    const frame = this.v.viewer.frame.get();
    const lines = this.v.profile.lines.get();
    untracked(() => {
      if (frame !== this.shown) this.pendingScroll = frame !== null;
      this.shown = frame;
      // Without a height nothing can be scrolled: the observer of the size comes back here.
      if (!this.pendingScroll || frame === null || this.scroller.clientHeight === 0) return;
      const at = lines.findIndex((line) => line.kind === 'method' && line.frame === frame);
      if (at < 0) return;
      this.pendingScroll = false;
      this.cursor = `m${frame}`;
      this.anchor = this.cursor;
      this.lines = lines;
      this.rows.style.height = `${lines.length * this.rowHeight}px`;
      this.scrollTo(at);
      this.renderAll();
    });
  }

  private scrollTo(at: number): void {
    const high = this.rowHeight;
    const top = at * high;
    const room = this.scroller.clientHeight - HEAD;
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    // With some lines of what is opened under it.
    else if (top + high * 3 > this.scroller.scrollTop + room)
      this.scroller.scrollTop = Math.max(0, top - room / 3);
  }

  private moveCursor(at: number, extend: boolean): void {
    const line = this.lines[Math.max(0, Math.min(this.lines.length - 1, at))];
    if (!line) return;
    this.cursor = lineKey(line);
    if (!extend) this.anchor = this.cursor;
    const high = this.rowHeight;
    const index = this.cursorAt();
    const room = this.scroller.clientHeight - HEAD;
    if (index * high < this.scroller.scrollTop) this.scroller.scrollTop = index * high;
    else if ((index + 1) * high > this.scroller.scrollTop + room)
      this.scroller.scrollTop = (index + 1) * high - room;
    this.renderAll();
  }

  private click(e: MouseEvent): void {
    const row = (e.target as Element).closest<HTMLElement>('.row');
    const at = Number(row?.dataset['line'] ?? -1);
    const line = this.lines[at];
    if (!row || !line) return;
    this.scroller.focus({ preventScroll: true });
    if (e.shiftKey) return this.moveCursor(at, true);
    this.cursor = lineKey(line);
    this.anchor = this.cursor;
    const onTwist = (e.target as Element).closest('.twist') !== null;
    this.activate(line, onTwist);
    this.renderAll();
  }

  /** A click selects a method everywhere and opens it; another one closes it again. */
  private activate(line: Line, toggleOnly: boolean): void {
    const { viewer, profile } = this.v;
    if (line.kind === 'group' || line.kind === 'pending' || line.frame < 0) return;
    if (line.kind !== 'method') {
      viewer.selectFrame(line.kind === 'self' ? line.owner : line.frame);
      return;
    }
    if (toggleOnly || viewer.frame.peek() === line.frame) {
      if (profile.isOpen(line.frame)) profile.close(line.frame);
      else profile.open(line.frame);
      return;
    }
    this.shown = line.frame; // It is where it was clicked: nothing needs to scroll.
    viewer.selectFrame(line.frame);
  }

  private key(e: KeyboardEvent): void {
    if (e.target !== this.scroller || e.altKey) return;
    const at = this.cursorAt();
    const page = Math.max(1, Math.floor((this.scroller.clientHeight - HEAD) / this.rowHeight) - 1);
    const steps: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: at + page,
      PageUp: at - page,
      Home: 0,
      End: this.lines.length - 1,
    };
    const to = steps[e.key];
    if (e.ctrlKey || e.metaKey) {
      if (e.key !== 'a') return;
      this.anchor = this.lines[0] ? lineKey(this.lines[0]) : null;
      this.moveCursor(this.lines.length - 1, true);
    } else if (to !== undefined) this.moveCursor(to, e.shiftKey);
    else if (!this.treeKey(e.key, at)) return;
    e.preventDefault();
    e.stopPropagation();
  }

  private treeKey(key: string, at: number): boolean {
    const line = this.lines[at];
    if (!line) return false;
    if (key === 'Enter' || key === ' ') {
      this.activate(line, false);
      return true;
    }
    const { profile } = this.v;
    if (key === 'ArrowRight') {
      if (line.kind === 'method' && !line.opened) profile.open(line.frame);
      else this.moveCursor(at + 1, false);
      return true;
    }
    if (key !== 'ArrowLeft') return false;
    if (line.kind === 'method') profile.close(line.frame);
    else this.moveCursor(this.indexOf(`m${line.owner}`), false);
    return true;
  }

  /** Put the cursor on a method without selecting it: what the find box does while one types. */
  showMethod(frame: number): void {
    this.cursor = `m${frame}`;
    this.anchor = this.cursor;
    const at = this.cursorAt();
    if (at >= 0) this.scrollTo(at);
    this.renderAll();
  }

  /** The method the cursor is on or under. */
  get cursorMethod(): number | null {
    const line = this.lines[this.cursorAt()];
    return line ? (line.kind === 'method' ? line.frame : line.owner) : null;
  }

  /** The marked methods, or the one under the cursor, as lines of text. */
  copyText(): string | null {
    const answer = this.v.profile.answer.peek();
    const block = this.markedBlock() ?? [this.cursorAt(), this.cursorAt()];
    if (!answer || block[0] < 0) return null;
    const wanted = new Set<number>();
    for (const line of this.lines.slice(block[0], block[1] + 1)) {
      if (line.kind === 'method') wanted.add(line.frame);
      else if (block[0] === block[1]) wanted.add(line.owner);
    }
    const methods: Method[] = this.v.profile.sorted.peek().filter((m) => wanted.has(m.frame));
    const { viewer } = this.v;
    return toTsv(methods, this.columns, answer, viewer.frames, fixedUnit(viewer.unit.peek()));
  }

  get shownColumns(): readonly Column[] {
    return this.columns;
  }
}
