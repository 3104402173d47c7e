// SPDX-License-Identifier: Apache-2.0
// Whether figures can be, and are, without what recording cost; and how that is said.

import { formatCount, formatTimeUnit, type Unit } from '../base/format';
import type { ProfileAnswer, TraceFacts } from './engine';
import type { Viewer } from './viewer';
import { wordsFor } from './words';

/** Tables of these tabs are of calls. */
const TABS: readonly string[] = ['profile', 'flame', 'top-down', 'bottom-up'];

/** Only calls that were traced one by one cost something each. */
export function wasTraced(facts: TraceFacts): boolean {
  return !wordsFor(facts).events && !facts.timeless && !facts.sampled && facts.calls > 0;
}

/** Whether the tab shows figures that can be compensated. */
export function applies(viewer: Viewer): boolean {
  const tab = viewer.tab.get();
  if (!TABS.includes(tab) || !wasTraced(viewer.facts)) return false;
  return tab === 'profile' || viewer.flameOf.get() === 'calls';
}

/** In the order of time calls stand as they were recorded. */
export function asRecorded(viewer: Viewer): boolean {
  return viewer.tab.get() === 'flame' && viewer.flameOrder.get() === 'time';
}

/** "Compensated: 431 ns off each call and as much off its caller, 12.3 ms CPU, 12.4 ms real in all" */
export function compensationWords(answer: ProfileAnswer, unit: Unit): string | null {
  const { compensated } = answer;
  if (!compensated) return null;
  const cost = `${formatCount(compensated.cost_ns)} ns`;
  const part = (ns: number | null, clock: string): string[] =>
    ns === null ? [] : [`${formatTimeUnit(ns, unit)} ${clock}`];
  const all = [...part(compensated.real_ns, 'real'), ...part(compensated.cpu_ns, 'CPU')];
  return `Compensated: ${cost} off each call and as much off its caller, ${all.join(', ')} in all`;
}
