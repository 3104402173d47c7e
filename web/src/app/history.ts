// SPDX-License-Identifier: Apache-2.0
// Stores the page state in the address. A move is written when it has come to rest, so that Back
// undoes whole moves, not single frames.

import { debounce } from '../base/latest';
import { effect } from '../base/signal';
import { readAddress, writeAddress, type PageState } from '../model/address';
import { sameFiles } from '../model/opening';
import type { Viewer } from '../model/viewer';
import type { Mover } from '../views/timeline/mover';

const REST = 350;

interface HistoryEntry {
  traceview: number;
  /** The index of the last entry when the page was at this one. A reloaded page needs it. */
  last: number;
}

function historyEntryOf(state: unknown): HistoryEntry | null {
  const { traceview, last } = (state ?? {}) as Partial<HistoryEntry>;
  return typeof traceview === 'number' && typeof last === 'number' ? { traceview, last } : null;
}

export class History {
  private at = 0;
  private last = 0;
  private written = '';
  /** True while other files or another filter load: the address belongs to them already. */
  private leaving = false;
  private viewer: Viewer | null = null;
  private mover: Mover | null = null;
  private readonly rest = debounce(REST, () => this.write());

  /** `elsewhere` shows a place that has another filter or other files. */
  constructor(private readonly elsewhere: (place: PageState, text: string) => void) {
    // A reloaded page continues at its entry.
    const entry = historyEntryOf(history.state);
    this.at = entry?.traceview ?? 0;
    this.last = entry?.last ?? 0;
    this.mark();
    addEventListener('popstate', (e) => this.arrived(historyEntryOf(e.state)));
  }

  /** Follow the state of a page. `move` is true if the page is a new history entry. */
  attach(viewer: Viewer, mover: Mover, move: boolean): void {
    this.viewer = viewer;
    this.mover = mover;
    this.leaving = false;
    // The first state belongs to the current entry.
    let begun = move;
    effect(() => {
      const text = writeAddress(viewer.place());
      if (!begun) this.written = text;
      begun = true;
      this.rest();
    });
  }

  /** Stop following the page, and drop the state that is not written yet. */
  detach(): void {
    this.viewer = null;
    this.mover = null;
  }

  /** Push an address that no page has shown yet. */
  push(text: string): void {
    this.at++;
    this.last = this.at;
    this.put('pushState', text);
  }

  /** Replace a wrong address with the address of the current page. */
  replace(text: string): void {
    this.put('replaceState', text);
  }

  /** The page stays: it could not lead elsewhere. */
  stay(): void {
    this.leaving = false;
  }

  private get entry(): HistoryEntry {
    return { traceview: this.at, last: this.last };
  }

  private mark(): void {
    history.replaceState(this.entry, '');
  }

  private put(how: 'pushState' | 'replaceState', text: string): void {
    this.written = text;
    this.leaving = false;
    const address = text === '' ? location.pathname : `#${text}`;
    history[how](this.entry, '', address);
  }

  private write(): void {
    if (!this.viewer || this.leaving) return;
    const text = writeAddress(this.viewer.place());
    if (text !== this.written) this.push(text);
  }

  /**
   * Follow the browser to another entry of the history. An entry of another trace or filter is
   * another page.
   */
  private arrived(state: HistoryEntry | null): void {
    // The user edited the address: a move like any other, with no entries after it.
    if (state) this.at = state.traceview;
    else this.last = ++this.at;
    this.mark();
    this.written = location.hash.slice(1);
    const place = readAddress(this.written);
    const { viewer } = this;
    const here =
      viewer !== null &&
      sameFiles(place.files ?? [], viewer.files ?? []) &&
      place.filter === viewer.filter;
    this.leaving = !here;
    if (here) this.mover?.glide(viewer.goTo(place));
    else this.elsewhere(place, this.written);
  }

  undo(): void {
    this.write();
    if (this.at > 0) history.back();
  }

  redo(): void {
    if (this.at < this.last) history.forward();
  }
}
