// SPDX-License-Identifier: Apache-2.0
// Lines of the table of problems that the reader found: kinds of problems with their places.

import { formatCount } from '../base/format';
import type { Group } from './groups';
import type { TraceFacts } from './traceFacts';
import type { Health, HealthPlace } from './eventAnswers';
import { sortBySeverity, type Diagnostic } from './severity';
import type { Sheet } from './sheet';

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

/**
 * Return the sheet to export: one line for each stored place, or one line for a kind without places.
 * `said` adapts a text to the words of the trace.
 */
export function healthSheet(items: readonly HealthItem[], said: (text: string) => string): Sheet {
  const at = (line: number): HealthItem => items[line] as HealthItem;
  const count = (n: number | null | undefined): string => (n == null ? '' : formatCount(n));
  return {
    heads: [
      ...['Severity', 'Kind', 'What'].map((text) => ({ text, number: false })),
      { text: 'Count', number: true },
      { text: 'File', number: false },
      ...['Byte', 'Line'].map((text) => ({ text, number: true })),
      { text: 'Text there', number: false },
    ],
    keys: ['severity', 'kind', 'text', 'count', 'file', 'offset', 'line', 'excerpt'],
    count: items.length,
    shown: (line) => {
      const { kind, place } = at(line);
      const where = [place?.file ?? '', count(place?.offset), count(place?.line)];
      const what = [kind.severity, kind.kind, said(kind.text), formatCount(kind.count)];
      return [...what, ...where, place?.excerpt ?? ''];
    },
    exact: (line) => {
      const { kind, place } = at(line);
      const where = [place?.file ?? '', place?.offset ?? null, place?.line ?? null];
      const what = [kind.severity, kind.kind, said(kind.text), kind.count];
      return [...what, ...where, place?.excerpt ?? ''];
    },
  };
}
