// SPDX-License-Identifier: Apache-2.0
// The hint for a trace whose threads have no slices: which other events the trace holds, and the
// tab that shows them.

import type { Tab } from './address';
import type { TraceFacts } from './traceFacts';
import { hasStates } from './states';
import { wordsFor } from './words';

/** A hint in place of the missing slices, and a link to the tab that shows other events. */
export interface OtherEventsHint {
  /** A sentence in place of the slices of threads. */
  text: string;
  /** Other events of the trace in short, shown next to its length; null: there are none. */
  brief: string | null;
  /** Text of the link. Without a tab, the link clears the filter. */
  way: string;
  tab: Tab | null;
}

type HintFacts = Pick<TraceFacts, 'order' | 'tracks' | 'samples' | 'filtered'>;

/** Return the hint for a trace without slices of threads. */
export function otherEventsHint(facts: HintFacts): OtherEventsHint {
  const { slice } = wordsFor(facts);
  if (facts.filtered?.slices === 0 && facts.filtered.of > 0)
    return {
      text: `No ${slice} matches the filter.`,
      brief: `no ${slice} left`,
      way: 'Clear the filter',
      tab: null,
    };
  if (facts.tracks.some((track) => track.kind === 'async'))
    return {
      text: 'No thread has slices of its own: those of the trace are async.',
      brief: 'async slices',
      way: 'Statistics of async slices',
      tab: 'selection',
    };
  if (hasStates(facts))
    return {
      text: 'The trace has no slices; it shows what processors and threads did.',
      brief: 'states of threads',
      way: 'States of threads',
      tab: 'states',
    };
  if (facts.samples > 0)
    return {
      text: 'The trace has no slices, only samples.',
      brief: 'samples',
      way: 'Flame graph of samples',
      tab: 'flame',
    };
  return {
    text: `The trace has no ${slice}.`,
    brief: null,
    way: 'What the reader found',
    tab: 'health',
  };
}
