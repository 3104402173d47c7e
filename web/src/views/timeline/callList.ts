// SPDX-License-Identifier: Apache-2.0
// The accessible twin of the time line: the visible calls of a track, or the visible values of a
// counter, objects, samples or memory dumps, as a grid. It opens when it gets the keyboard focus,
// and follows the canvas in tab order.

import { fill, h, setAttribute } from '../../base/dom';
import { formatTime, unitHead } from '../../base/format';
import { debounce } from '../../base/latest';
import { effect } from '../../base/signal';
import type { Track } from '../../model/traceFacts';
import { sameMark } from '../../model/marks';
import { trackName } from '../../model/names';
import { rowName, type Row } from '../../model/rows';
import { namedTracks } from '../../model/states';
import { inTermsOf, wordsFor } from '../../model/words';
import { goToCall, type Views } from '../context';
import { rowEntries, trackEntries, type Entry } from './listEntries';
import type { TimelineView } from './timelineView';

const REST = 250;
const PAGE = 10;

/** A line of the time line that has entries. */
interface EntryLine {
  key: string;
  name: string;
  top: number;
  height: number;
  of: { track: Track } | { row: Row };
}

/** The grid of visible entries. */
export class CallList {
  readonly element: HTMLElement;
  private readonly title = h('h2', null);
  private readonly grid: HTMLElement;
  private entries: Entry[] = [];
  private at = 0;
  /** The line chosen with the arrow keys; null means the line of the selected call. */
  private chosen: string | null = null;
  private readonly again = debounce(REST, () => {
    if (document.activeElement === this.grid) this.show();
  });

  constructor(
    private readonly v: Views,
    private readonly line: TimelineView,
  ) {
    this.grid = h('div', {
      class: 'scroller',
      tabIndex: 0,
      attrs: { role: 'grid', 'aria-label': this.said('Visible calls') },
    });
    // A heading must have text even while it is hidden.
    this.title.textContent = this.said('Visible calls');
    this.element = h('div', { class: 'call-list' }, this.title, this.grid);
    this.grid.addEventListener('focus', () => this.show());
    this.grid.addEventListener('keydown', (e) => this.key(e));
    this.grid.addEventListener('click', (e) => {
      const row = (e.target as Element).closest<HTMLElement>('[role=row]');
      if (row) this.choose(Number(row.dataset['at']));
    });
    effect(() => {
      v.viewer.view.get();
      v.viewer.expanded.get();
      v.instants.list.get();
      v.counters.values.get();
      for (const asked of [v.beside.objects, v.beside.samples, v.beside.dumps]) asked.answer.get();
      this.again();
    });
    effect(() => {
      if (v.selection.details.get()) this.chosen = null;
    });
  }

  private said(text: string): string {
    return inTermsOf(wordsFor(this.v.viewer.facts), text);
  }

  /** Return the chosen line, else the line of the selected call, else the first expanded one. */
  private current(): EntryLine | undefined {
    const { expanded } = this.v.viewer;
    const call = this.v.selection.details.peek();
    const wanted = this.chosen ?? (call ? `t${call.track}` : null);
    const lines = this.lines();
    const open = ({ of }: EntryLine): boolean =>
      'track' in of && expanded.peek().has(of.track.track);
    return lines.find((l) => l.key === wanted) ?? lines.find(open) ?? lines[0];
  }

  /** Return the lines of the time line from top to bottom. */
  private lines(): EntryLine[] {
    const { tracks, rows } = this.line.placed.peek();
    const view = this.v.viewer.view.peek();
    const named = new Set(namedTracks(tracks.map((box) => box.track)));
    const ofTracks = tracks
      .filter(({ track }) => named.has(track))
      .map(({ track, top, height }) => {
        const [key, name] = [`t${track.track}`, trackName(track)];
        return { key, name, top, height, of: { track } };
      });
    const ofRows = rows
      .filter(({ row }) => rowEntries(this.v, row, view) !== null)
      .map(({ row, top, height }) => {
        return { key: row.key, name: rowName(row), top, height, of: { row } };
      });
    return [...ofTracks, ...ofRows].sort((a, b) => a.top - b.top);
  }

  /** Go to the next line and bring it into view. A track expands. */
  private step(direction: 1 | -1): void {
    const { viewer } = this.v;
    const lines = this.lines();
    const now = this.current();
    const next = lines[lines.findIndex((l) => l.key === now?.key) + direction];
    if (!next) return;
    this.chosen = next.key;
    if ('track' in next.of) {
      const { track } = next.of.track;
      if (!viewer.expanded.peek().has(track)) viewer.toggleExpanded(track);
      this.line.showRow(track, 0);
    } else this.line.showBetween(next.top, next.top + next.height);
    this.v.announce(next.name);
    this.at = 0;
    this.show();
  }

  private entriesOf({ of }: EntryLine): Entry[] {
    const view = this.v.viewer.view.peek();
    if ('track' in of) return trackEntries(this.v, this.line, of.track, view);
    return rowEntries(this.v, of.row, view) ?? [];
  }

  private isSelected({ what }: Entry): boolean {
    const { call, mark } = this.v.viewer;
    if (!what) return false;
    if ('mark' in what) return sameMark(what.mark, mark.peek());
    const selected = call.peek();
    return what.call.row === selected?.row && what.call.index === selected.index;
  }

  private show(): void {
    const { viewer } = this.v;
    // Missing tiles arrive soon, so update again.
    if (!this.line.cache.complete) this.again();
    // Place the grid over the tracks, wherever the page is scrolled to.
    this.element.style.top = `${this.line.tracks.getBoundingClientRect().top + 8}px`;
    const line = this.current();
    const unit = viewer.unit.peek();
    this.entries = line ? this.entriesOf(line) : [];
    const found = this.entries.findIndex((entry) => this.isSelected(entry));
    this.at = found >= 0 ? found : Math.max(0, Math.min(this.at, this.entries.length - 1));
    const what = line && 'row' in line.of ? 'Visible marks' : this.said('Visible calls');
    this.title.textContent = line ? `${what} of ${line.name}` : 'No thread is shown';
    const heads = [
      this.said('Method'),
      'Depth',
      unitHead('Start', unit),
      unitHead('Length', unit),
      'Remarks',
    ];
    fill(
      this.grid,
      h(
        'div',
        { attrs: { role: 'row' } },
        ...heads.map((t) => h('span', { attrs: { role: 'columnheader' } }, t)),
      ),
      ...this.entries.map((entry, i) => this.row(entry, i)),
    );
    this.mark();
  }

  private row(entry: Entry, at: number): HTMLElement {
    const unit = this.v.viewer.unit.peek();
    const length = entry.length === null ? '' : formatTime(entry.length, unit);
    const cells = [entry.name, entry.depth, formatTime(entry.time, unit), length, entry.remark];
    return h(
      'div',
      { id: `call-${at}`, attrs: { role: 'row', 'data-at': at } },
      ...cells.map((text) => h('span', { attrs: { role: 'gridcell' } }, text)),
    );
  }

  private mark(): void {
    this.grid.querySelector('[aria-selected=true]')?.removeAttribute('aria-selected');
    const row = this.grid.querySelector<HTMLElement>(`#call-${this.at}`);
    setAttribute(this.grid, 'aria-activedescendant', row ? row.id : null);
    row?.setAttribute('aria-selected', 'true');
    row?.scrollIntoView({ block: 'nearest' });
  }

  private choose(at: number): void {
    const entry = this.entries[at];
    if (!entry) return;
    this.at = at;
    this.mark();
    const { what } = entry;
    if (!what) return;
    if ('call' in what) void goToCall(this.v, what.call);
    else {
      this.chosen = this.current()?.key ?? null;
      this.v.viewer.selectMark(what.mark);
    }
  }

  /** Move through the calls in the view; Enter selects one. */
  private key(e: KeyboardEvent): void {
    const to = {
      ArrowDown: this.at + 1,
      ArrowUp: this.at - 1,
      Home: 0,
      PageDown: this.at + PAGE,
      PageUp: this.at - PAGE,
      End: this.entries.length - 1,
    }[e.key];
    if (e.ctrlKey || e.metaKey || e.altKey || e.shiftKey) return;
    if (e.key === 'Enter' || e.key === ' ') this.choose(this.at);
    else if (e.key === 'ArrowRight' || e.key === 'ArrowLeft')
      this.step(e.key === 'ArrowRight' ? 1 : -1);
    else if (to !== undefined) {
      this.at = Math.max(0, Math.min(this.entries.length - 1, to));
      this.mark();
    } else return;
    e.preventDefault();
    e.stopPropagation();
  }
}
