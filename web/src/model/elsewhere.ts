// SPDX-License-Identifier: Apache-2.0
// Where to look in a trace whose threads have no slices: what else it holds, and the tab of that.

import type { Tab } from './address';
import type { TraceFacts } from './engine';
import { hasStates } from './states';
import { wordsFor } from './words';

export interface Elsewhere {
  /** A sentence for where the slices of threads would be. */
  text: string;
  /** What there is, beside a length; null: nothing. */
  brief: string | null;
  /** The way there; without a tab: to all that the filter takes away. */
  way: string;
  tab: Tab | null;
}

type Facts = Pick<TraceFacts, 'order' | 'tracks' | 'samples' | 'filtered'>;

export function elsewhere(facts: Facts): Elsewhere {
  const { slice } = wordsFor(facts);
  if (facts.filtered?.slices === 0 && facts.filtered.of > 0)
    return {
      text: `The filter leaves no ${slice}.`,
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
      text: 'The trace holds no slice; it tells what processors and threads did.',
      brief: 'states of threads',
      way: 'States of threads',
      tab: 'states',
    };
  if (facts.samples > 0)
    return {
      text: 'The trace holds no slice, but samples.',
      brief: 'samples',
      way: 'Flame graph of samples',
      tab: 'flame',
    };
  return {
    text: `The trace holds no ${slice}.`,
    brief: null,
    way: 'What the reader found',
    tab: 'health',
  };
}
