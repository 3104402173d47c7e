// SPDX-License-Identifier: Apache-2.0
// Export the visible search results.

import { formatTime, type FixedUnit } from '../base/format';
import { EVENT, EVENT_WORDS, FIELD, type SearchRow } from './eventAnswers';
import type { Frames } from './names';
import type { SearchList } from './searchList';
import type { Sheet } from './sheet';

const NO_HIT: SearchRow = [0, 0, 0, 0, 0, -1, -1, -1, null, 0, null];

function matchedFields(hit: SearchRow): string {
  const words = [
    hit[9] & FIELD.names && 'name',
    hit[9] & FIELD.categories && 'category',
    hit[9] & FIELD.args && 'arguments',
  ];
  return words.filter(Boolean).join(' ');
}

/** Return the length of a hit; null: the event is a point in time. */
function hitLength(hit: SearchRow): number | null {
  return hit[0] === EVENT.slice || hit[0] === EVENT.object ? hit[4] : null;
}

/** Return the results as a sheet. `placeOf` names the thread or process of a hit. */
export function searchSheet(
  list: Pick<SearchList, 'order' | 'at'>,
  frames: Frames,
  placeOf: (hit: SearchRow) => string,
  unit: FixedUnit,
  /** Word for a slice on the screen. */
  slice = 'slice',
): Sheet {
  const at = (line: number): SearchRow => list.at(line) ?? NO_HIT;
  const nameOf = (hit: SearchRow): string => hit[8] ?? (hit[7] >= 0 ? frames.full(hit[7]) : '');
  const kindOf = (hit: SearchRow): string => EVENT_WORDS[hit[0]] ?? '';
  const time = (ns: number | null): string => (ns === null ? '' : formatTime(ns, unit));
  return {
    heads: [
      ...['Name', 'Found in', 'Text', 'Kind'].map((text) => ({ text, number: false })),
      ...[`Start ${unit}`, `Length ${unit}`].map((text) => ({ text, number: true })),
      { text: 'Track', number: false },
    ],
    keys: [
      ...['name', 'found_in', 'text', 'kind', 'start_ns', 'length_ns', 'track'],
      ...['number', 'index'],
    ],
    count: list.order.length,
    shown: (line) => {
      const hit = at(line);
      const kind = hit[0] === EVENT.slice ? slice : kindOf(hit);
      const found = [nameOf(hit), matchedFields(hit), hit[10] ?? '', kind];
      return [...found, time(hit[3]), time(hitLength(hit)), placeOf(hit)];
    },
    exact: (line) => {
      const hit = at(line);
      const found = [nameOf(hit), matchedFields(hit), hit[10] ?? '', kindOf(hit)];
      const index = hit[0] === EVENT.slice ? hit[2] : null;
      return [...found, hit[3], hitLength(hit), placeOf(hit), hit[1], index];
    },
  };
}
