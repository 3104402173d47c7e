// SPDX-License-Identifier: Apache-2.0
// Export findings as a sheet: one line for each place, or one line for a finding without places.

import { formatCount, formatTime, type FixedUnit } from '../base/format';
import { callOfFinding, ruleOfFinding, type FindingItem } from './findingsTable';
import type { Sheet, SheetValue } from './sheet';

/** How to name frames and tracks, and how to adapt texts to the words of the trace. */
export interface FindingWords {
  name: (frame: number) => string;
  track: (number: number) => string;
  said: (text: string) => string;
}

const NO_CALL = [null, null, null, null] as const;
const NO_FIGURE = [null, null, null] as const;
const NO_RULE: readonly SheetValue[] = ['', '', ''];

/** Return rule, severity, title, text, count and total time. */
function findingCells(item: FindingItem, { said }: FindingWords): readonly SheetValue[] {
  const rule = ruleOfFinding(item);
  const of = rule ? [rule.name, rule.severity, said(rule.title)] : NO_RULE;
  switch (item.is) {
    case 'rules':
      return [...of, item.title, item.count, null];
    case 'rule':
      return [...of, said(item.rule.looks_at), 0, null];
    default:
      return [...of, item.finding.text, item.finding.count, item.finding.total];
  }
}

function findingNames(item: FindingItem, words: FindingWords): [string, string] {
  if (item.is === 'kind') return [words.said(item.kind[2]), ''];
  return item.is === 'place' ? [words.name(item.place[4]), words.track(item.place[5])] : ['', ''];
}

function findingCall(item: FindingItem): readonly SheetValue[] {
  const place = callOfFinding(item);
  return place ? [place[2], place[3], place[0], place[1]] : NO_CALL;
}

/** Return the meaning of the figure, its value and its count. */
function findingFigure(item: FindingItem): readonly SheetValue[] {
  if (item.is === 'rule' || item.is === 'rules') return NO_FIGURE;
  const what = item.finding.figure || null;
  if (item.is === 'kind') return [what, null, item.kind[1]];
  return item.is === 'place' ? [what, item.place[6], item.place[7]] : [what, null, null];
}

/** Return the findings as a sheet for copying and export. */
export function findingsSheet(
  items: readonly FindingItem[],
  words: FindingWords,
  unit: FixedUnit,
): Sheet {
  const at = (line: number): FindingItem => items[line] as FindingItem;
  const time = (value: SheetValue | undefined): string =>
    typeof value === 'number' ? formatTime(value, unit) : '';
  return {
    heads: [
      ...['Severity', 'Finding', 'Text'].map((text) => ({ text, number: false })),
      { text: 'Count', number: true },
      ...['Name', 'Track'].map((text) => ({ text, number: false })),
      ...[`Start ${unit}`, `Length ${unit}`].map((text) => ({ text, number: true })),
    ],
    keys: [
      ...['rule', 'severity', 'title', 'text', 'count', 'total_ns', 'name', 'track'],
      ...['start_ns', 'length_ns', 'row', 'index', 'figure', 'value', 'times'],
    ],
    count: items.length,
    shown: (line) => {
      const item = at(line);
      const [, severity, title, text, count] = findingCells(item, words);
      const [start, length] = findingCall(item);
      return [
        ...[severity, title, text].map(String),
        formatCount(Number(count)),
        ...[...findingNames(item, words), time(start), time(length)],
      ];
    },
    exact: (line) => {
      const item = at(line);
      return [
        ...findingCells(item, words),
        ...findingNames(item, words),
        ...findingCall(item),
        ...findingFigure(item),
      ];
    },
  };
}
