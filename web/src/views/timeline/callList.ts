// SPDX-License-Identifier: Apache-2.0
// The time line's twin in words: the visible calls of a thread as a grid that opens when the
// keyboard comes to it, behind the canvas in the order of Tab.

import { fill, h, setAttribute } from '../../base/dom';
import { formatTime, unitHead } from '../../base/format';
import { debounce } from '../../base/latest';
import { effect } from '../../base/signal';
import type { Instant, Track } from '../../model/engine';
import { trackName } from '../../model/names';
import { namedTracks } from '../../model/states';
import { inWords, wordsFor } from '../../model/words';
import { flagWords, visibleCalls, type VisibleCall } from '../../model/visibleCalls';
import { goToCall, type Views } from '../context';
import type { TimelineView } from './timelineView';

const MOST = 200;
const REST = 250;
const PAGE = 10;

/** What the list goes through: calls, and the instants between them. */
type Entry = { call: VisibleCall } | { instant: Instant };

function timeOf(entry: Entry): number {
  return 'call' in entry ? entry.call.start : entry.instant.time;
}

export class CallList {
  readonly element: HTMLElement;
  private readonly title = h('h2', null);
  private readonly grid: HTMLElement;
  private entries: Entry[] = [];
  private at = 0;
  /** The track that arrows went to; null: that of the selected call. */
  private chosen: number | null = null;
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
    // A heading must not be empty, shown or not.
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
      this.again();
    });
    effect(() => {
      if (v.selection.details.get()) this.chosen = null;
    });
  }

  private said(text: string): string {
    return inWords(wordsFor(this.v.viewer.facts), text);
  }

  /** Where the arrows went, or the selected call is, else the first that shows its levels. */
  private track(): Track | undefined {
    const { expanded } = this.v.viewer;
    const wanted = this.chosen ?? this.v.selection.details.peek()?.track;
    const tracks = this.tracks();
    const open = (t: Track): boolean => expanded.peek().has(t.track);
    return tracks.find((t) => t.track === wanted) ?? tracks.find(open) ?? tracks[0];
  }

  /** Those in the time line, from the top down. */
  private tracks(): Track[] {
    return namedTracks(this.line.placed.peek().tracks.map((box) => box.track));
  }

  /** The next track comes into view and shows its levels. */
  private step(direction: 1 | -1): void {
    const { viewer } = this.v;
    const tracks = this.tracks();
    const now = this.track();
    const next = tracks[tracks.findIndex((t) => t.track === now?.track) + direction];
    if (!next) return;
    this.chosen = next.track;
    if (!viewer.expanded.peek().has(next.track)) viewer.toggleExpanded(next.track);
    this.line.showRow(next.track, 0);
    this.v.announce(trackName(next));
    this.at = 0;
    this.show();
  }

  private entriesOf(track: Track): Entry[] {
    const { viewer, instants } = this.v;
    const view = viewer.view.peek();
    const calls = visibleCalls(this.line.cache, track, this.line.resolution, view, MOST);
    const isOwn = (i: Instant): boolean =>
      i.scope === 0 && i.of === track.thread && i.time >= view.from && i.time <= view.to;
    const own = track.kind === 'thread' ? instants.list.peek().filter(isOwn) : [];
    return [
      ...calls.map((call): Entry => ({ call })),
      ...own.slice(0, MOST).map((instant): Entry => ({ instant })),
    ].sort((a, b) => timeOf(a) - timeOf(b));
  }

  private show(): void {
    const { viewer } = this.v;
    // What is not there yet comes soon.
    if (!this.line.cache.complete) this.again();
    // Over the tracks wherever they are scrolled to.
    this.element.style.top = `${this.line.tracks.getBoundingClientRect().top + 8}px`;
    const track = this.track();
    const unit = viewer.unit.peek();
    this.entries = track ? this.entriesOf(track) : [];
    const selected = viewer.call.peek();
    const found = this.entries.findIndex(
      (e) => 'call' in e && e.call.row === selected?.row && e.call.index === selected.index,
    );
    this.at = found >= 0 ? found : Math.max(0, Math.min(this.at, this.entries.length - 1));
    this.title.textContent = track
      ? `${this.said('Visible calls')} of ${trackName(track)}`
      : 'No thread is shown';
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
    const { viewer } = this.v;
    const unit = viewer.unit.peek();
    const cells =
      'call' in entry
        ? [
            viewer.frames.short(entry.call.frame),
            String(entry.call.depth),
            formatTime(entry.call.start, unit),
            formatTime(entry.call.length, unit),
            flagWords(entry.call.flags, wordsFor(viewer.facts)),
          ]
        : [
            viewer.frames.short(entry.instant.frame),
            '',
            formatTime(entry.instant.time, unit),
            '',
            entry.instant.count > 1 ? `${entry.instant.count} instants` : 'instant',
          ];
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
    if ('call' in entry) void goToCall(this.v, entry.call);
    else {
      this.chosen = this.track()?.track ?? null;
      this.v.viewer.selectMark({ kind: 'instant', number: entry.instant.instant });
    }
  }

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
