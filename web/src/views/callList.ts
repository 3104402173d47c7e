// SPDX-License-Identifier: Apache-2.0
// The time line's twin in words: the visible calls of a thread as a grid that opens when the
// keyboard comes to it, behind the canvas in the order of Tab.

import { fill, h, setAttribute } from '../base/dom';
import { formatTime, unitHead } from '../base/format';
import { debounce } from '../base/latest';
import { effect } from '../base/signal';
import type { Track } from '../model/engine';
import { trackName } from '../model/names';
import { inWords, wordsFor } from '../model/words';
import { flagWords, visibleCalls, type VisibleCall } from '../model/visibleCalls';
import { goToCall, type Views } from './context';
import type { TimelineView } from './timelineView';

const MOST = 200;

export class CallList {
  readonly element: HTMLElement;
  private readonly title = h('h2', null);
  private readonly grid: HTMLElement;
  private calls: VisibleCall[] = [];
  private at = 0;

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
    const again = debounce(250, () => {
      if (document.activeElement === this.grid) this.show();
    });
    effect(() => {
      v.viewer.view.get();
      v.viewer.expanded.get();
      again();
    });
  }

  private said(text: string): string {
    return inWords(wordsFor(this.v.viewer.facts), text);
  }

  /** The thread of the selected call, else the first one that shows its levels. */
  private track(): Track | undefined {
    const { facts, expanded } = this.v.viewer;
    const selected = this.v.selection.details.peek()?.track;
    const open = facts.tracks.filter((t) => expanded.peek().has(t.track));
    return open.find((t) => t.track === selected) ?? open[0];
  }

  private show(): void {
    const { viewer } = this.v;
    // Over the tracks wherever they are scrolled to.
    this.element.style.top = `${this.line.tracks.getBoundingClientRect().top + 8}px`;
    const track = this.track();
    const unit = viewer.unit.peek();
    const view = viewer.view.peek();
    this.calls = track
      ? visibleCalls(this.line.cache, track, this.line.resolution, view, MOST)
      : [];
    const selected = viewer.call.peek();
    const found = this.calls.findIndex(
      (c) => c.row === selected?.row && c.index === selected.index,
    );
    this.at = Math.max(0, found);
    this.title.textContent = track
      ? `${this.said('Visible calls')} of ${trackName(track)}`
      : 'No thread shows its levels';
    const heads = [
      this.said('Method'),
      'Depth',
      unitHead('Start', unit),
      unitHead('Length', unit),
      '',
    ];
    fill(
      this.grid,
      h(
        'div',
        { attrs: { role: 'row' } },
        ...heads.map((t) => h('span', { attrs: { role: 'columnheader' } }, t)),
      ),
      ...this.calls.map((call, i) => this.row(call, i)),
    );
    this.mark();
  }

  private row(call: VisibleCall, at: number): HTMLElement {
    const { viewer } = this.v;
    const unit = viewer.unit.peek();
    const cells = [
      viewer.frames.short(call.frame),
      String(call.depth),
      formatTime(call.start, unit),
      formatTime(call.length, unit),
      flagWords(call.flags, wordsFor(viewer.facts)),
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
    const call = this.calls[at];
    if (!call) return;
    this.at = at;
    this.mark();
    void goToCall(this.v, call);
  }

  private key(e: KeyboardEvent): void {
    const to = {
      ArrowDown: this.at + 1,
      ArrowUp: this.at - 1,
      Home: 0,
      End: this.calls.length - 1,
    }[e.key];
    if (e.key === 'Enter' || e.key === ' ') this.choose(this.at);
    else if (to !== undefined) {
      this.at = Math.max(0, Math.min(this.calls.length - 1, to));
      this.mark();
    } else return;
    e.preventDefault();
    e.stopPropagation();
  }
}
