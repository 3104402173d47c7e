// SPDX-License-Identifier: Apache-2.0
// Lines of the findings table: each finding with its places, then the rules that found nothing.

import type { Finding, FindingPlace, Rule } from './findings';
import type { Group } from './groups';

/** A line of the findings table. */
export type FindingItem =
  | { is: 'finding'; rule: Rule; finding: Finding }
  | { is: 'place'; rule: Rule; finding: Finding; place: FindingPlace }
  | { is: 'kind'; rule: Rule; finding: Finding; kind: Finding['kinds'][number] }
  /** A rule that found nothing or could not run. */
  | { is: 'rule'; rule: Rule }
  | { is: 'rules'; title: string; count: number };

/** Return the group of rules without findings, or nothing if there are none. */
function rulesWithoutFinding(
  id: string,
  title: string,
  rules: readonly Rule[],
): Group<FindingItem>[] {
  if (rules.length === 0) return [];
  const head: FindingItem = { is: 'rules', title, count: rules.length };
  return [{ id, head, places: rules.map((rule) => ({ is: 'rule', rule })), last: true }];
}

/** Group rules into findings, rules that found nothing, and rules that could not run. */
export function findingGroups(rules: readonly Rule[]): Group<FindingItem>[] {
  const found = rules.flatMap((rule): Group<FindingItem>[] => {
    const { finding } = rule;
    if (!finding) return [];
    const places = finding.places.map((place): FindingItem => ({
      ...{ is: 'place', rule, finding, place },
    }));
    const kinds = finding.kinds.map((kind): FindingItem => ({
      ...{ is: 'kind', rule, finding, kind },
    }));
    return [
      { id: rule.name, head: { is: 'finding', rule, finding }, places: [...places, ...kinds] },
    ];
  });
  const without = rules.filter((rule) => !rule.finding);
  return [
    ...found,
    ...rulesWithoutFinding(
      'looked-for',
      found.length > 0 ? 'Also checked, and not found' : 'Checked, and not found',
      without.filter((rule) => rule.missing === null),
    ),
    ...rulesWithoutFinding(
      'not-looked-for',
      'Not checked',
      without.filter((rule) => rule.missing !== null),
    ),
  ];
}

/** Return the rule of a line; null: the line is a heading. */
export function ruleOfFinding(item: FindingItem): Rule | null {
  return item.is === 'rules' ? null : item.rule;
}

/** Return the place of a line if it is a call; null: it is none. */
export function callOfFinding(item: FindingItem): FindingPlace | null {
  return item.is === 'place' && item.place[0] >= 0 ? item.place : null;
}

/**
 * Return the count of a line: occurrences of a finding or problem, or calls or levels of a figure.
 */
export function countOfFinding(item: FindingItem): number | null {
  switch (item.is) {
    case 'finding':
      return item.finding.count;
    case 'kind':
      return item.kind[1];
    case 'place':
      return ['levels', 'clock'].includes(item.finding.figure) ? item.place[7] : null;
    case 'rule':
      return null;
    case 'rules':
      return item.count;
  }
}

/**
 * Return the time of a line in nanoseconds: the total of a finding, or the figure of a place; null:
 * not a time.
 */
export function timeOfFinding(item: FindingItem): number | null {
  if (item.is === 'finding')
    return item.finding.figure === '' ? null : totalOfFinding(item.finding);
  if (item.is !== 'place') return null;
  const { figure } = item.finding;
  return figure === '' || figure === 'levels' ? null : item.place[6];
}

function totalOfFinding(finding: Finding): number | null {
  return finding.figure === 'levels' ? null : finding.total;
}

/** Return the start of a line; for a finding, of its earliest place. */
export function startOfFinding(item: FindingItem): number | null {
  if (item.is === 'place') return callOfFinding(item)?.[2] ?? null;
  if (item.is !== 'finding') return null;
  const starts = item.finding.places.flatMap((p) => (p[0] >= 0 ? [p[2]] : []));
  return starts.length > 0 ? Math.min(...starts) : null;
}
