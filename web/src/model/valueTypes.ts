// SPDX-License-Identifier: Apache-2.0
// The value types of samples: a number from 1 as in the protocol, 0 for the one that is shown
// first, and a name in the address.

import type { FlameOf } from './address';
import { samplesLead } from './otherEventsHint';
import type { TraceFacts } from './traceFacts';

type ValueFacts = Pick<TraceFacts, 'calls' | 'samples' | 'value_types'>;
type UsualFacts = ValueFacts & Pick<TraceFacts, 'format' | 'tracks'>;

/**
 * Profilers that write slices beside their samples: pauses of the garbage collector, threads that
 * wait, and markers.
 */
const PROFILERS_WITH_SLICES = ['Java Flight Recorder', 'Firefox Profiler'];

/** Return the name and the unit of a value type. */
export function valueTypeOf(facts: ValueFacts, number: number): { name: string; unit: string } {
  const types = facts.value_types ?? [];
  const type = number > 0 ? types[number - 1] : types.find(({ first }) => first);
  return { name: type?.name ?? '', unit: type?.unit ?? '' };
}

/** Return the number of the value type of a name; 0 if there is none. */
export function valueNumberOf(facts: ValueFacts, name: string): number {
  const types = facts.value_types ?? [];
  const at = types.findIndex((type) => type.name === name);
  return at < 0 || types[at]?.first ? 0 : at + 1;
}

/**
 * Tell whether the samples are what the trace was recorded for. Samples measured in time are of
 * threads that wait, which are slices, too.
 */
export function samplesFirst(facts: UsualFacts): boolean {
  if (facts.samples === 0) return false;
  if (facts.calls > 0) {
    const profiler = PROFILERS_WITH_SLICES.includes(facts.format);
    return profiler && valueTypeOf(facts, 0).unit !== 'nanoseconds';
  }
  return samplesLead(facts);
}

/** Return what is shown first: calls, or the values of samples; samples without a unit count. */
export function usualMeasure(facts: UsualFacts): FlameOf {
  if (facts.calls > 0 ? !samplesFirst(facts) : facts.samples === 0) return 'calls';
  const several = (facts.value_types ?? []).length > 1;
  return several || valueTypeOf(facts, 0).unit !== '' ? 'weight' : 'count';
}
