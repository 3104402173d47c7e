// SPDX-License-Identifier: Apache-2.0
// The state in the address.  A move is written when it has come to rest, so that Back undoes moves
// and not their frames.

import { debounce } from '../base/latest';
import { effect } from '../base/signal';
import { readPlace, writePlace } from '../model/address';
import type { Viewer } from '../model/viewer';
import type { Mover } from '../views/mover';

const REST = 350;

interface Entry {
  traceview: number;
}

export class History {
  private at = 0;
  private last = 0;
  private written: string;

  constructor(
    private readonly viewer: Viewer,
    private readonly mover: Mover,
    /** What else is part of the first state, once the address was followed. */
    first: () => void,
  ) {
    this.written = location.hash.slice(1);
    if (this.written !== '') this.mover.jump(viewer.goTo(readPlace(this.written)));
    first();
    history.replaceState({ traceview: 0 } satisfies Entry, '');
    const write = debounce(REST, () => this.write());
    // The first state belongs to the entry that is there.
    let begun = false;
    effect(() => {
      const text = writePlace(viewer.place());
      if (!begun) this.written = text;
      begun = true;
      write();
    });
    addEventListener('popstate', (e) => this.arrived(e.state as Entry | null));
  }

  private write(): void {
    const text = writePlace(this.viewer.place());
    if (text === this.written) return;
    this.written = text;
    this.at++;
    this.last = this.at;
    history.pushState(
      { traceview: this.at } satisfies Entry,
      '',
      text === '' ? location.pathname : `#${text}`,
    );
  }

  private arrived(state: Entry | null): void {
    this.at = state?.traceview ?? this.at;
    this.written = location.hash.slice(1);
    this.mover.glide(this.viewer.goTo(readPlace(this.written)));
  }

  undo(): void {
    this.write();
    if (this.at > 0) history.back();
  }

  redo(): void {
    if (this.at < this.last) history.forward();
  }
}
