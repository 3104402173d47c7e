// SPDX-License-Identifier: Apache-2.0
// Findings in the selected range and tracks. The store asks while the tab is visible, and once for
// the whole trace, so that the tab can show their number.

import { signal } from '../base/signal';
import type { Scope } from './engine';
import { ScopeAnswer } from './scopeAnswer';
import type { Severity } from './severity';
import type { Viewer } from './viewer';

/** Row and index (-1: no call), time, length, frame, track, figure, count. */
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

/** The result of a rule that found something. */
export interface Finding {
  count: number;
  /** Nanoseconds within the range. */
  total: number;
  text: string;
  /** Meaning of `figure` in the places; '': none. */
  figure: 'length' | 'wait' | 'clock' | 'levels' | '';
  places: FindingPlace[];
  /** Problems that the reader reported: kind, number of occurrences, text. */
  kinds: [kind: string, count: number, text: string][];
}

/** A rule of the findings, with its result. */
export interface Rule {
  name: string;
  title: string;
  severity: Severity;
  looks_at: string;
  threshold: string;
  reason: string;
  /** Data that the rule needs and the trace lacks; null: the rule ran. */
  missing: string | null;
  finding: Finding | null;
}

/** The answer to `findings`; `looked_at` counts the rules that ran. */
export interface Findings {
  looked_at: number;
  rules: Rule[];
}

/** Holds the findings of the current scope. */
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

  /** Return the number of rules with a finding in the current scope; null: not known yet. */
  count(): number | null {
    const answer = this.answer.get();
    const same = JSON.stringify(answer?.scope) === JSON.stringify(this.viewer.scope());
    return answer && same ? answer.findings.rules.filter((rule) => rule.finding).length : null;
  }
}

function isWhole(scope: Scope): boolean {
  return JSON.stringify(scope) === '{}';
}
