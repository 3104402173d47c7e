// SPDX-License-Identifier: Apache-2.0
// What the reader found, for other programs: a line for each place that is kept, or one where none
// is.

import { formatCount } from '../base/format';
import type { Health, HealthPlace } from './found';
import type { Sheet } from './sheet';

export type HealthKind = Health['diagnostics'][number];

interface Line {
  kind: HealthKind;
  place: HealthPlace | null;
}

export function healthSheet(kinds: readonly HealthKind[]): Sheet {
  const lines = kinds.flatMap((kind): Line[] =>
    kind.places.length > 0
      ? kind.places.map((place) => ({ kind, place }))
      : [{ kind, place: null }],
  );
  const at = (line: number): Line => lines[line] as Line;
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
    count: lines.length,
    shown: (line) => {
      const { kind, place } = at(line);
      const where = [place?.file ?? '', count(place?.offset), count(place?.line)];
      const what = [kind.severity, kind.kind, kind.text, formatCount(kind.count)];
      return [...what, ...where, place?.excerpt ?? ''];
    },
    exact: (line) => {
      const { kind, place } = at(line);
      const where = [place?.file ?? '', place?.offset ?? null, place?.line ?? null];
      return [kind.severity, kind.kind, kind.text, kind.count, ...where, place?.excerpt ?? ''];
    },
  };
}
