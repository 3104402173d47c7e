// SPDX-License-Identifier: Apache-2.0
// The words for what a trace holds: a method trace has calls of methods, a file of events slices of
// names.

import { plural } from '../base/format';
import type { TraceFacts } from './traceFacts';

export interface Words {
  /** One thing on a time line. */
  slice: string;
  slices: string;
  /** What several of them have in common. */
  name: string;
  names: string;
  /** Where they lie. */
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

/** Calls were not counted: a method that several samples in a row have is one stretch. */
const STRETCHES: Words = { ...CALLS, slice: 'stretch', slices: 'stretches' };

type Figures = Partial<Pick<TraceFacts, 'timeless' | 'sampled'>>;

/** True when each call was recorded, so that numbers of calls and times per call are known. */
export function countsCalls(facts: Figures): boolean {
  return !facts.timeless && !facts.sampled;
}

export function wordsFor(facts: Pick<TraceFacts, 'order'> & Figures): Words {
  if (facts.order === 'owner') return SLICES;
  return countsCalls(facts) ? CALLS : STRETCHES;
}

/** A sentence written for calls and methods, in the words of the trace. */
export function inWords(words: Words, sentence: string): string {
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
    .replace(/\bcallers of\b/g, 'slices around')
    .replace(/\bcalled by\b/g, 'slices directly inside')
    .replace(/\bwho called it\b/g, 'what it lies in')
    .replace(/\bcaller\b/g, 'slice around it')
    .replace(/\b([Cc])alls\b/g, (_, c) => (c === 'C' ? 'Slices' : 'slices'))
    .replace(/\b([Cc])all\b/g, (_, c) => (c === 'C' ? 'Slice' : 'slice'))
    .replace(/\b([Mm])ethods\b/g, (_, c) => (c === 'M' ? 'Names' : 'names'))
    .replace(/\b([Mm])ethod\b/g, (_, c) => (c === 'M' ? 'Name' : 'name'));
}

/** "3 slices", "1 call". */
export function slicesOf(words: Words, n: number): string {
  return plural(n, words.slice, words.slices);
}

export function namesOf(words: Words, n: number): string {
  return plural(n, words.name, words.names);
}
