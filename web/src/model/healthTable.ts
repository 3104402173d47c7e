// SPDX-License-Identifier: Apache-2.0
// The lines of the table of what the reader found: kinds of faults with their places.

import type { Group } from './groups';
import type { TraceFacts } from './engine';
import type { Health, HealthPlace } from './found';
import { gravestFirst, type Diagnostic } from './severity';

export type HealthKind = Health['diagnostics'][number];

export interface HealthItem {
  kind: HealthKind;
  /** null: the kind itself. */
  place: HealthPlace | null;
}

const OVERFLOW: HealthKind = {
  kind: 'overflow',
  text: 'the recording buffer was full; calls after that are missing',
  severity: 'error',
  count: 1,
  places: [],
};

/** What the trace's facts say, until the places are there. */
function withoutPlaces(d: Diagnostic): HealthKind {
  const places = d.offsets.map((offset) => ({ offset, line: null, excerpt: '' }));
  return { kind: d.kind, text: d.text, severity: d.severity, count: d.count, places };
}

/** Errors first: data are lost or invented. */
export function healthKinds(facts: TraceFacts, answer: Health | null): HealthKind[] {
  const told = answer?.diagnostics ?? facts.diagnostics.map(withoutPlaces);
  const known = told.some((kind) => kind.kind === 'overflow');
  const kinds = facts.overflow && !known ? [OVERFLOW, ...told] : told;
  return gravestFirst(kinds);
}

export function healthGroups(kinds: readonly HealthKind[]): Group<HealthItem>[] {
  return kinds.map((kind) => ({
    id: kind.kind,
    head: { kind, place: null },
    places: kind.places.map((place) => ({ kind, place })),
  }));
}
