// SPDX-License-Identifier: Apache-2.0
// The hint for a trace whose threads have no slices: which other events the trace holds, and the
// tab that shows them.

import { plural } from '../base/format';
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

type HintFacts = Pick<
  TraceFacts,
  'order' | 'tracks' | 'samples' | 'counters' | 'value_types' | 'filtered'
>;

type SampleFacts = Pick<TraceFacts, 'tracks' | 'samples' | 'value_types'>;

/**
 * Tell whether the samples of a trace without slices of threads are its main data. Samples of
 * scheduler events are not: the states of threads were made of them.
 */
export function samplesLead({ tracks, samples, value_types: types = [] }: SampleFacts): boolean {
  const ofScheduler = types.length > 0 && types.every(({ name }) => name.startsWith('sched:'));
  return samples > 0 && !(ofScheduler && hasStates({ tracks }));
}

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
  if (samplesLead(facts))
    return {
      text: 'The trace has samples, but no slices of threads.',
      brief: 'samples',
      way: 'Flame graph of samples',
      tab: 'flame',
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
  if (facts.counters > 0)
    return {
      text: 'The trace has counters, but no slices.',
      brief: plural(facts.counters, 'counter'),
      way: 'Table of counters',
      tab: 'counters',
    };
  return {
    text: `The trace has no ${slice}.`,
    brief: null,
    way: 'What the reader found',
    tab: 'health',
  };
}
