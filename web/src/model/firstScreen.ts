// SPDX-License-Identifier: Apache-2.0
// The first screen: defaults of the page's state that depend on the trace. The address leaves a
// state out that is the default.

import type { Unit } from '../base/format';
import type { Tab } from './address';
import type { ProfileSort } from './profileRows';
import type { StatisticsSort } from './statistics';
import type { Clock, TraceFacts } from './traceFacts';
import { otherEventsHint } from './otherEventsHint';
import { samplesFirst } from './valueTypes';
import { framingView, wholeView, type Span } from './span';

/** Choices of the reader that hold for the next trace, too; null: none was made. */
export interface Preferred {
  unit: Unit | null;
  /** For method traces with two clocks. */
  clock: Clock | null;
}

export const NOTHING_PREFERRED: Preferred = { unit: null, clock: null };

/** Return the first visible range: the whole trace, or the part that holds nearly all events. */
export function firstView({ dense }: TraceFacts, bounds: Span): Span {
  if (!dense) return wholeView(bounds);
  return framingView({ from: dense.from_ns, to: dense.to_ns }, bounds);
}

/**
 * Return the first tab. Samples open as a flame graph; a trace without slices opens on what it has
 * instead of an empty table, and one without anything on what the reader found.
 */
export function firstTab(facts: TraceFacts): Tab {
  if (facts.filtered?.slices === 0) return 'profile';
  if (samplesFirst(facts)) return 'flame';
  if (facts.calls > 0) return 'profile';
  const { tab } = otherEventsHint(facts);
  if (tab !== null && tab !== 'health') return tab;
  return isEmpty(facts) && facts.diagnostics.length > 0 ? 'health' : 'info';
}

/** Tell whether there is nothing to draw, as the file is damaged or holds other things. */
export function isEmpty({ start_ns: start, end_ns: end, instants }: TraceFacts): boolean {
  return end <= start && instants === 0;
}

/** Tell whether the page has a choice of clocks that suits any method trace. */
export function hasTwoClocks(facts: Pick<TraceFacts, 'clocks' | 'order'>): boolean {
  return facts.clocks.length > 1 && facts.order === 'busiest';
}

/**
 * Return the first clock. In method traces it is CPU time, as threads that wait lead by real time.
 * Event traces have CPU times of some slices only.
 */
export function firstClock(facts: TraceFacts, preferred: Clock | null): Clock {
  if (hasTwoClocks(facts)) return preferred ?? 'cpu';
  return facts.clocks.includes('real') ? 'real' : 'cpu';
}

/** Return the first order of profile and trees: by the time of a clock, the longest first. */
export function firstSort(clock: Clock, time: 'incl' | 'excl' = 'incl'): ProfileSort {
  return { column: `${time}_${clock}`, descending: true };
}

/** Return the first order of the table by name: by the sum of the chosen clock. */
export function firstStatisticsSort(facts: TraceFacts, clock: Clock): StatisticsSort {
  return { column: facts.clocks.length > 1 && clock === 'cpu' ? 'cpu' : 'total', descending: true };
}
