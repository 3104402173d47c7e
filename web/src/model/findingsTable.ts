// SPDX-License-Identifier: Apache-2.0
// The lines of the table of findings: what a rule found with its places, and, below all these, what
// was looked for without finding anything.

import type { Finding, FindingPlace, Rule } from './findings';
import type { Group } from './groups';

export type FindingItem =
  | { is: 'finding'; rule: Rule; finding: Finding }
  | { is: 'place'; rule: Rule; finding: Finding; place: FindingPlace }
  | { is: 'kind'; rule: Rule; finding: Finding; kind: Finding['kinds'][number] }
  /** Found nothing, or could not be asked. */
  | { is: 'rule'; rule: Rule }
  | { is: 'rules'; title: string; count: number };

function rest(id: string, title: string, rules: readonly Rule[]): Group<FindingItem>[] {
  if (rules.length === 0) return [];
  const head: FindingItem = { is: 'rules', title, count: rules.length };
  return [{ id, head, places: rules.map((rule) => ({ is: 'rule', rule })), last: true }];
}

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
    ...rest(
      'looked-for',
      found.length > 0 ? 'Looked for as well, and not found' : 'Looked for, and not found',
      without.filter((rule) => rule.missing === null),
    ),
    ...rest(
      'not-looked-for',
      'Not looked for',
      without.filter((rule) => rule.missing !== null),
    ),
  ];
}

/** null: a head of rules. */
export function ruleOf(item: FindingItem): Rule | null {
  return item.is === 'rules' ? null : item.rule;
}

/** The call that a place is; null: it is none. */
export function callOf(item: FindingItem): FindingPlace | null {
  return item.is === 'place' && item.place[0] >= 0 ? item.place : null;
}

/** How often: what was found, a kind of fault, calls or levels behind a figure. */
export function timesOf(item: FindingItem): number | null {
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

/** Of a finding what lies in the range, of a place its figure; null: that is no time. */
export function timeOf(item: FindingItem): number | null {
  if (item.is === 'finding') return item.finding.figure === '' ? null : timeOfAll(item.finding);
  if (item.is !== 'place') return null;
  const { figure } = item.finding;
  return figure === '' || figure === 'levels' ? null : item.place[6];
}

function timeOfAll(finding: Finding): number | null {
  return finding.figure === 'levels' ? null : finding.total;
}

/** Of a finding that of its first place. */
export function startOf(item: FindingItem): number | null {
  if (item.is === 'place') return callOf(item)?.[2] ?? null;
  if (item.is !== 'finding') return null;
  const starts = item.finding.places.flatMap((p) => (p[0] >= 0 ? [p[2]] : []));
  return starts.length > 0 ? Math.min(...starts) : null;
}
