// SPDX-License-Identifier: Apache-2.0
// Lines of the table of problems that the reader found: kinds of problems with their places.

import type { Group } from './groups';
import type { TraceFacts } from './traceFacts';
import type { Health, HealthPlace } from './eventAnswers';
import { sortBySeverity, type Diagnostic } from './severity';

export type HealthKind = Health['diagnostics'][number];

/** A line of the health table. */
export interface HealthItem {
  kind: HealthKind;
  /** null: the line is the kind itself. */
  place: HealthPlace | null;
}

const OVERFLOW: HealthKind = {
  kind: 'overflow',
  text: 'the recording buffer was full; calls after that are missing',
  severity: 'error',
  count: 1,
  places: [],
};

/** Use the diagnostic of the trace info until the answer with the places has arrived. */
function withoutPlaces(d: Diagnostic): HealthKind {
  const places = d.offsets.map((offset) => ({ offset, line: null, excerpt: '' }));
  return { kind: d.kind, text: d.text, severity: d.severity, count: d.count, places };
}

/** Return the kinds of problems, errors first: they mean that data were lost or invented. */
export function healthKinds(facts: TraceFacts, answer: Health | null): HealthKind[] {
  const told = answer?.diagnostics ?? facts.diagnostics.map(withoutPlaces);
  const known = told.some((kind) => kind.kind === 'overflow');
  const kinds = facts.overflow && !known ? [OVERFLOW, ...told] : told;
  return sortBySeverity(kinds);
}

/** Group the places of each kind under its line. */
export function healthGroups(kinds: readonly HealthKind[]): Group<HealthItem>[] {
  return kinds.map((kind) => ({
    id: kind.kind,
    head: { kind, place: null },
    places: kind.places.map((place) => ({ kind, place })),
  }));
}
