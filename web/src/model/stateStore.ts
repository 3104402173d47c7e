// SPDX-License-Identifier: Apache-2.0
// What the selected slice has to do with the scheduler, and the tables of the selected range: asked
// for while somebody looks.

import { Latest } from '../base/latest';
import { effect, signal } from '../base/signal';
import type { Call } from './engine';
import { ScopeAnswer } from './scopeAnswer';
import { hasStates, type StateAnswer, type StatesAnswer } from './states';
import { sameCall, type Viewer } from './viewer';

/** Of one slice. */
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

  /** Of that call, when it is there. */
  get(call: Call): StateAnswer | null {
    const answer = this.answer.get();
    return answer && sameCall(answer.of, call) ? answer.state : null;
  }
}

/** Of the selected range and tracks. */
export class StatesStore extends ScopeAnswer<StatesAnswer> {
  constructor(viewer: Viewer, shown: () => boolean) {
    super(viewer, shown, (scope, signal) => viewer.engine.states(scope, signal));
  }
}
