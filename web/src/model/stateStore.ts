// SPDX-License-Identifier: Apache-2.0
// Scheduler states of the selected slice, and state tables of the selected range; both are loaded
// while visible.

import { Latest } from '../base/latest';
import { effect, signal } from '../base/signal';
import type { Call } from './engine';
import { ScopeAnswer } from './scopeAnswer';
import { hasStates, type StateAnswer, type StatesAnswer } from './states';
import { sameCall, type Viewer } from './viewer';

/** Holds the scheduler states of the selected slice. */
export class StateOfCall {
  readonly answer = signal<{ of: Call; state: StateAnswer } | null>(null);

  constructor(viewer: Viewer) {
    if (!hasStates(viewer.facts)) return;
    const asking = new Latest(viewer.failed);
    effect(() => {
      const call = viewer.call.get();
      asking.cancel();
      if (!sameCall(this.answer.peek()?.of ?? null, call)) this.answer.set(null);
      if (!call || this.answer.peek()) return;
      asking.run(
        (signal) => viewer.engine.state(call, signal),
        (state) => this.answer.set({ of: call, state }),
      );
    });
  }

  /** Return the answer about a call if it has arrived. */
  get(call: Call): StateAnswer | null {
    const answer = this.answer.get();
    return answer && sameCall(answer.of, call) ? answer.state : null;
  }
}

/** Holds the state table of the selected range and tracks. */
export class StatesStore extends ScopeAnswer<StatesAnswer> {
  constructor(viewer: Viewer, shown: () => boolean) {
    super(viewer, shown, (scope, signal) => viewer.engine.states(scope, signal));
  }
}
