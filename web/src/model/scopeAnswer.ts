// SPDX-License-Identifier: Apache-2.0
// An answer about the selected range and tracks, updated while its panel is visible.

import { Latest } from '../base/latest';
import { effect, signal } from '../base/signal';
import type { Scope } from './engine';
import type { Viewer } from './viewer';

/** Base class of the stores of the lower panels. */
export class ScopeAnswer<T> {
  /** null until the first answer; an old answer stays until the next. */
  readonly answer = signal<T | null>(null);
  readonly pending = signal(false);

  constructor(
    viewer: Viewer,
    shown: () => boolean,
    ask: (scope: Scope, signal: AbortSignal) => Promise<T>,
    /** Further input that the answer depends on. */
    by: () => string = () => '',
  ) {
    const asking = new Latest((error) => {
      this.pending.set(false);
      viewer.failed(error);
    });
    let asked = '';
    effect(() => {
      const scope = viewer.scope();
      const key = JSON.stringify(scope) + by();
      if (!shown() || asked === key) return;
      asked = key;
      this.pending.set(true);
      asking.run(
        (signal) => ask(scope, signal),
        (answer) => {
          this.answer.set(answer);
          this.pending.set(false);
        },
      );
    });
  }
}
