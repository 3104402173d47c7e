// SPDX-License-Identifier: Apache-2.0
// Sets as values: a change makes a new one.

/** Return the set without the value, or with it if it was not in the set. */
export function toggled<T>(set: ReadonlySet<T>, value: T): ReadonlySet<T> {
  const next = new Set(set);
  if (!next.delete(value)) next.add(value);
  return next;
}
