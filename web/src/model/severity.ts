// SPDX-License-Identifier: Apache-2.0
// Severity of diagnostics and findings; the icons have the same names.

export type Severity = 'note' | 'warning' | 'error';

/** A problem that the reader found, with the file offsets of its first occurrences. */
export interface Diagnostic {
  kind: string;
  text: string;
  severity: Severity;
  count: number;
  offsets: number[];
}

/** Names of severities in tables and lists. */
export const SEVERITIES: Record<Severity, string> = {
  error: 'Error',
  warning: 'Warning',
  note: 'Note',
};

const SEVERITY_RANK: Record<Severity, number> = { error: 2, warning: 1, note: 0 };

/** Sort by severity, the most severe first; the sort is stable. */
export function sortBySeverity<T extends { severity: Severity }>(items: readonly T[]): T[] {
  return [...items].sort((a, b) => SEVERITY_RANK[b.severity] - SEVERITY_RANK[a.severity]);
}

/** Return the highest severity; null: the list is empty. */
export function highestSeverity(items: readonly { severity: Severity }[]): Severity | null {
  return sortBySeverity(items)[0]?.severity ?? null;
}
