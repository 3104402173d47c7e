// SPDX-License-Identifier: Apache-2.0
// The state in the address.  A move is written when it has come to rest, so that Back undoes moves
// and not their frames.

import { debounce } from '../base/latest';
import { effect } from '../base/signal';
import { readAddress, writeAddress, type PageState } from '../model/address';
import { sameFiles } from '../model/opening';
import type { Viewer } from '../model/viewer';
import type { Mover } from '../views/timeline/mover';

const REST = 350;

interface Entry {
  traceview: number;
  /** The last one that there was when the page stood at this one: a reload must know it. */
  last: number;
}

function entryOf(state: unknown): Entry | null {
  const { traceview, last } = (state ?? {}) as Partial<Entry>;
  return typeof traceview === 'number' && typeof last === 'number' ? { traceview, last } : null;
}

export class History {
  private at = 0;
  private last = 0;
  private written = '';
  /** Other files are on their way: the address is theirs, whatever the page does until then. */
  private leaving = false;
  private viewer: Viewer | null = null;
  private mover: Mover | null = null;
  private readonly rest = debounce(REST, () => this.write());

  /** `elsewhere` shows a place of another filter, or of other files. */
  constructor(private readonly elsewhere: (place: PageState, text: string) => void) {
    // A page that is loaded again goes on where it was.
    const entry = entryOf(history.state);
    this.at = entry?.traceview ?? 0;
    this.last = entry?.last ?? 0;
    this.mark();
    addEventListener('popstate', (e) => this.arrived(entryOf(e.state)));
  }

  /** Follow the state of a page: it is a move from the one before, or what the address says. */
  attach(viewer: Viewer, mover: Mover, move: boolean): void {
    this.viewer = viewer;
    this.mover = mover;
    this.leaving = false;
    // The first state belongs to the entry that is there.
    let begun = move;
    effect(() => {
      const text = writeAddress(viewer.place());
      if (!begun) this.written = text;
      begun = true;
      this.rest();
    });
  }

  /** The page has ended; what it has not written is given up. */
  detach(): void {
    this.viewer = null;
    this.mover = null;
  }

  /** A move to where no page has been. */
  push(text: string): void {
    this.at++;
    this.last = this.at;
    this.put('pushState', text);
  }

  /** The address is wrong: this is where the page is. */
  replace(text: string): void {
    this.put('replaceState', text);
  }

  private get entry(): Entry {
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

  private arrived(state: Entry | null): void {
    // The address was changed by hand: that is a move as any other, behind which there is none.
    if (state) this.at = state.traceview;
    else this.last = ++this.at;
    this.mark();
    this.written = location.hash.slice(1);
    const place = readAddress(this.written);
    const { viewer } = this;
    const here = viewer && sameFiles(place.files ?? [], viewer.files ?? []);
    this.leaving = !here;
    if (!here || place.filter !== viewer.filter) this.elsewhere(place, this.written);
    else this.mover?.glide(viewer.goTo(place));
  }

  undo(): void {
    this.write();
    if (this.at > 0) history.back();
  }

  redo(): void {
    if (this.at < this.last) history.forward();
  }
}
