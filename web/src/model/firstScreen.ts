// SPDX-License-Identifier: Apache-2.0
// The first screen: defaults of the page's state that depend on the trace. The address leaves a
// state out that is the default.

import type { Unit } from '../base/format';
import type { Tab } from './address';
import type { TraceFacts } from './traceFacts';
import { otherEventsHint } from './otherEventsHint';
import { framingView, wholeView, type Span } from './span';

/** Choices of the reader that hold for the next trace, too; null: none was made. */
export interface Preferred {
  unit: Unit | null;
}

export const NOTHING_PREFERRED: Preferred = { unit: null };

/** Return the first visible range: the whole trace, or the part that holds nearly all events. */
export function firstView({ dense }: TraceFacts, bounds: Span): Span {
  if (!dense) return wholeView(bounds);
  return framingView({ from: dense.from_ns, to: dense.to_ns }, bounds);
}

/** Stacks without calls open as a flame graph; a table of methods would be empty or mislead. */
export function firstTab(facts: TraceFacts): Tab {
  const onlySamples = facts.calls === 0 && otherEventsHint(facts).tab === 'flame';
  return facts.timeless || onlySamples ? 'flame' : 'profile';
}
