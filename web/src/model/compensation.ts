// SPDX-License-Identifier: Apache-2.0
// Compensation subtracts the overhead of recording from the times of calls: when it applies, and
// how the page describes it.

import { formatCount, formatTimeUnit, type Unit } from '../base/format';
import { untracked } from '../base/signal';
import type { ProfileAnswer } from './engine';
import type { TraceFacts } from './traceFacts';
import type { Viewer } from './viewer';
import { wordsFor } from './words';

/** Tabs whose tables show calls. */
const COMPENSATED_TABS: readonly string[] = ['profile', 'flame', 'top-down', 'bottom-up'];

/** Tell whether calls were traced one by one: only then does each of them have an overhead. */
export function wasTraced(facts: TraceFacts): boolean {
  return !wordsFor(facts).events && !facts.sampled && facts.calls > 0;
}

/** Tell whether the current tab shows times that can be compensated. */
export function compensationApplies(viewer: Viewer): boolean {
  const tab = viewer.tab.get();
  if (!COMPENSATED_TABS.includes(tab) || !wasTraced(viewer.facts)) return false;
  return viewer.flameOf.get() === 'calls';
}

/** Tell whether the current tab shows calls as recorded: the flame graph in order of time does. */
export function showsRecordedTimes(viewer: Viewer): boolean {
  return viewer.tab.get() === 'flame' && viewer.flameOrder.get() === 'time';
}

/** Return the file name for exporting a table: with the value of samples, or if compensated. */
export function nameOfTable(viewer: Viewer, name: string): string {
  const { of, name: value } = untracked(() => viewer.measure());
  if (of === 'weight' && value !== '') return `${name}-${value}`;
  return viewer.compensate.peek() && of === 'calls' ? `${name}-compensated` : name;
}

/**
 * Describe the compensation: "Compensated: 431 ns subtracted from each call and as much from its
 * caller, 12.3 ms CPU, 12.4 ms real in total".
 */
export function compensationWords(answer: ProfileAnswer, unit: Unit): string | null {
  const { compensated } = answer;
  if (!compensated) return null;
  const cost = `${formatCount(compensated.cost_ns)} ns`;
  const part = (ns: number | null, clock: string): string[] =>
    ns === null ? [] : [`${formatTimeUnit(ns, unit)} ${clock}`];
  const all = [...part(compensated.real_ns, 'real'), ...part(compensated.cpu_ns, 'CPU')];
  const total = `${all.join(', ')} in total`;
  return `Compensated: ${cost} subtracted from each call and as much from its caller, ${total}`;
}
