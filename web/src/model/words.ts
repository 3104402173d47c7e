// SPDX-License-Identifier: Apache-2.0
// Terms of a trace: a method trace has calls of methods, an event trace has slices with names.

import { plural } from '../base/format';
import { axisUnits } from './measure';
import type { TraceFacts } from './traceFacts';

/** The terms of one kind of trace. */
export interface Words {
  /** One bar of the timeline. */
  slice: string;
  slices: string;
  /** The property that several slices share. */
  name: string;
  names: string;
  /** The line that slices are on. */
  track: string;
  events: boolean;
}

const CALLS: Words = {
  slice: 'call',
  slices: 'calls',
  name: 'method',
  names: 'methods',
  track: 'thread',
  events: false,
};

const SLICES: Words = {
  slice: 'slice',
  slices: 'slices',
  name: 'name',
  names: 'names',
  track: 'track',
  events: true,
};

/**
 * For sampled traces, where calls were not counted: consecutive samples of a method form a stretch.
 */
const STRETCHES: Words = { ...CALLS, slice: 'stretch', slices: 'stretches' };

type CallFacts = Partial<Pick<TraceFacts, 'sampled'>>;

/** Tell whether every call was recorded, so that numbers of calls and times per call are known. */
export function countsCalls(facts: CallFacts): boolean {
  return !facts.sampled;
}

/** Return the terms of a trace. */
export function wordsFor(facts: Pick<TraceFacts, 'order'> & CallFacts): Words {
  if (facts.order === 'owner') return SLICES;
  return countsCalls(facts) ? CALLS : STRETCHES;
}

/** Replace the words "call" and "method" in a sentence by the terms of the trace. */
export function inTermsOf(words: Words, sentence: string): string {
  if (words === CALLS) return sentence;
  if (words === STRETCHES)
    return sentence
      .replace(/(?<!\b(it|method) )\b([Cc])alls\b/g, (_, __, c) =>
        c === 'C' ? 'Stretches' : 'stretches',
      )
      .replace(/\b([Cc])all\b/g, (_, c) => (c === 'C' ? 'Stretch' : 'stretch'));
  return sentence
    .replace(/\ban entry\b/g, 'a beginning')
    .replace(/\bexits\b/g, 'ends')
    .replace(/\bexit\b/g, 'end')
    .replace(/\bcalled by\b/g, 'children of')
    .replace(/\b([Cc])aller(s?)\b/g, (_, c, s) => (c === 'C' ? 'Parent' : 'parent') + s)
    .replace(/\b([Cc])alls\b/g, (_, c) => (c === 'C' ? 'Slices' : 'slices'))
    .replace(/\b([Cc])all\b/g, (_, c) => (c === 'C' ? 'Slice' : 'slice'))
    .replace(/\b([Mm])ethods\b/g, (_, c) => (c === 'M' ? 'Names' : 'names'))
    .replace(/\b([Mm])ethod\b/g, (_, c) => (c === 'M' ? 'Name' : 'name'));
}

/** Count slices, as in "3 slices" or "1 call". */
export function countSlices(words: Words, n: number): string {
  return plural(n, words.slice, words.slices);
}

/** Count names, as in "3 names" or "1 method". */
export function countNames(words: Words, n: number): string {
  return plural(n, words.name, words.names);
}

/** The words of the page about the axis of a trace without times. */
export const WEIGHT_AXIS = 'weight, not time';

/** Return what the marks of the ruler are, unless they are times. */
export function axisWords(facts: Pick<TraceFacts, 'axis' | 'axis_unit'>): string {
  if (facts.axis !== 'weight') return '';
  // Other marks name their unit themselves.
  if (axisUnits(facts)[0] !== 'weight') return WEIGHT_AXIS;
  const unit = facts.axis_unit ?? '';
  return unit === '' ? 'weights of several units, not time' : `weight (${unit}), not time`;
}
