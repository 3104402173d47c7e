// SPDX-License-Identifier: Apache-2.0
// Comparisons and changes of the values that the page's state consists of. A change makes a new
// value, because signals compare by identity.

import type { FlowChoice } from './address';

export function sameNumbers(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((n, i) => n === b[i]);
}

/** Tell whether both lists are equal, or both are null. */
export function sameOpened(a: readonly number[] | null, b: readonly number[] | null): boolean {
  return a === b || (a !== null && b !== null && sameNumbers(a, b));
}

export function sameFlows(a: FlowChoice, b: FlowChoice): boolean {
  return a.selection === b.selection && sameNumbers(a.categories, b.categories);
}

/** Tell whether two orders of a table are equal. */
export function sameSort(
  a: { column: string; descending: boolean },
  b: { column: string; descending: boolean },
): boolean {
  return a.column === b.column && a.descending === b.descending;
}

/** Return the set without the value, or with it if it was not in the set. */
export function toggled<T>(set: ReadonlySet<T>, value: T): ReadonlySet<T> {
  const next = new Set(set);
  if (!next.delete(value)) next.add(value);
  return next;
}
