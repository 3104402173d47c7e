// SPDX-License-Identifier: Apache-2.0
// How much a diagnostic or a finding matters; icons are named alike.

export type Severity = 'note' | 'warning' | 'error';

export interface Diagnostic {
  kind: string;
  text: string;
  severity: Severity;
  count: number;
  offsets: number[];
}

/** Severities in the words of tables and lists. */
export const SEVERITIES: Record<Severity, string> = {
  error: 'Error',
  warning: 'Warning',
  note: 'Note',
};

const GRAVITY: Record<Severity, number> = { error: 2, warning: 1, note: 0 };

/** The gravest first, equal ones in their order. */
export function gravestFirst<T extends { severity: Severity }>(items: readonly T[]): T[] {
  return [...items].sort((a, b) => GRAVITY[b.severity] - GRAVITY[a.severity]);
}

/** The gravest of them; null: there are none. */
export function gravest(items: readonly { severity: Severity }[]): Severity | null {
  return gravestFirst(items)[0]?.severity ?? null;
}
