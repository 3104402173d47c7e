// SPDX-License-Identifier: Apache-2.0
// Findings for other programs: a line for each place, or one where there is none.

import { formatCount, formatTime, type FixedUnit } from '../base/format';
import type { Finding, FindingPlace, Rule } from './findings';
import type { Sheet, SheetValue } from './sheet';

export interface FoundRule {
  rule: Rule;
  finding: Finding;
  places: readonly FindingPlace[];
}

interface Line {
  rule: Rule;
  finding: Finding;
  place: FindingPlace | null;
}

const NO_CALL = [null, null, null, null] as const;

/** `nameOf`: of a frame; `placeOf`: of a track, in words. */
export function findingsSheet(
  found: readonly FoundRule[],
  nameOf: (frame: number) => string,
  placeOf: (track: number) => string,
  unit: FixedUnit,
): Sheet {
  const lines = found.flatMap(({ rule, finding, places }): Line[] =>
    places.length > 0
      ? places.map((place) => ({ rule, finding, place }))
      : [{ rule, finding, place: null }],
  );
  const at = (line: number): Line => lines[line] as Line;
  const names = ({ place }: Line): [string, string] =>
    place ? [nameOf(place[4]), placeOf(place[5])] : ['', ''];
  const call = ({ place }: Line): readonly SheetValue[] =>
    !place || place[0] < 0 ? NO_CALL : [place[2], place[3], place[0], place[1]];
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
    count: lines.length,
    shown: (line) => {
      const told = at(line);
      const { rule, finding } = told;
      const [start, length] = call(told);
      return [
        ...[rule.severity, rule.title, finding.text, formatCount(finding.count)],
        ...[...names(told), time(start), time(length)],
      ];
    },
    exact: (line) => {
      const told = at(line);
      const { rule, finding, place } = told;
      return [
        ...[rule.name, rule.severity, rule.title, finding.text, finding.count, finding.total],
        ...[...names(told), ...call(told), finding.figure || null],
        ...[place?.[6] ?? null, place?.[7] ?? null],
      ];
    },
  };
}
