// SPDX-License-Identifier: Apache-2.0
// What the rules of findings say of the selected range and tracks: asked for while somebody looks,
// and once for the whole trace, so that the tab can tell how many there are.

import { signal } from '../base/signal';
import type { Scope } from './engine';
import { ScopeAnswer } from './scopeAnswer';
import type { Severity } from './severity';
import type { Viewer } from './viewer';

/** row and index (-1: no call), time, length, frame, track, figure, count. */
export type FindingPlace = [
  row: number,
  index: number,
  time: number,
  length: number,
  frame: number,
  track: number,
  figure: number,
  count: number,
];

export interface Finding {
  count: number;
  /** Nanoseconds within the range. */
  total: number;
  text: string;
  /** What the figures of the places are; '': there is none. */
  figure: 'length' | 'wait' | 'clock' | 'levels' | '';
  places: FindingPlace[];
  /** What the reader found: kind, how often, in words. */
  kinds: [kind: string, count: number, text: string][];
}

export interface Rule {
  name: string;
  title: string;
  severity: Severity;
  looks_at: string;
  threshold: string;
  reason: string;
  /** What the trace lacks for the rule; null: it was asked. */
  missing: string | null;
  finding: Finding | null;
}

export interface Findings {
  looked_at: number;
  rules: Rule[];
}

export class FindingsStore extends ScopeAnswer<{ scope: Scope; findings: Findings }> {
  constructor(
    private readonly viewer: Viewer,
    shown: () => boolean,
  ) {
    const settled = signal(false);
    let asked = false;
    void viewer.engine.idle().then(() => settled.set(true));
    super(
      viewer,
      () => shown() || (settled.get() && !asked && isWhole(viewer.scope())),
      async (scope, signal) => {
        asked = true;
        return { scope, findings: await viewer.engine.findings(scope, signal) };
      },
    );
  }

  /** How many rules found something in what is selected now; null: that is not known. */
  count(): number | null {
    const answer = this.answer.get();
    const same = JSON.stringify(answer?.scope) === JSON.stringify(this.viewer.scope());
    return answer && same ? answer.findings.rules.filter((rule) => rule.finding).length : null;
  }
}

function isWhole(scope: Scope): boolean {
  return JSON.stringify(scope) === '{}';
}
