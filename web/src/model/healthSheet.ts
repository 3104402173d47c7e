// SPDX-License-Identifier: Apache-2.0
// Export the problems that the reader found: one line for each stored place, or one line for a kind
// without places.

import { formatCount } from '../base/format';
import type { HealthItem } from './healthTable';
import type { Sheet } from './sheet';

/** `said` adapts a text to the words of the trace. */
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
