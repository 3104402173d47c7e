// SPDX-License-Identifier: Apache-2.0
// Tables of two levels: a group (a finding, a kind of problem) and, when it is open, its places.
// This module filters and sorts the groups, and reads and writes their state in the address.

export type GroupValue = string | number | null;

/** Sort order of such a table, by the name of one of its columns. null: the order of the answer. */
export interface GroupSort {
  column: string;
  descending: boolean;
}

/** Sort order of a table and its open groups, as the address holds them. */
export interface GroupState {
  sort: GroupSort | null;
  /** Ids of the open groups; null: the default. */
  open: readonly string[] | null;
}

export const USUAL_GROUPS: GroupState = { sort: null, open: null };

/** A group: a head with places below it. */
export interface Group<T> {
  /** Small letters, digits and hyphens. */
  id: string;
  head: T;
  places: readonly T[];
  /** Keep this group below all others in every sort order. */
  last?: boolean;
}

/** One line of the table. */
export interface GroupLine<T> {
  group: Group<T>;
  item: T;
  /** 0: the head of a group; 1: a place. */
  level: 0 | 1;
  /** null: the line has nothing below it. */
  isOpen: boolean | null;
}

/** About as many lines as fit on the screen; groups beyond them start closed. */
const USUAL_LINES = 20;

/**
 * Keep the groups that match. If a head matches, all its places stay; otherwise only matching
 * places.
 */
export function groupsWith<T>(
  groups: readonly Group<T>[],
  has: (item: T) => boolean,
): readonly Group<T>[] {
  return groups.flatMap((group) => {
    if (has(group.head)) return [group];
    const places = group.places.filter(has);
    return places.length > 0 ? [{ ...group, places }] : [];
  });
}

/** Missing values sort last in both directions. */
function compareGroupValues(a: GroupValue, b: GroupValue, sign: number): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return a < b ? -sign : a > b ? sign : 0;
}

/** Sort groups, and places within each group. The sort is stable. */
export function sortedGroups<T>(
  groups: readonly Group<T>[],
  sort: GroupSort | null,
  value: (item: T, column: string) => GroupValue,
): readonly Group<T>[] {
  if (!sort) return groups;
  const sign = sort.descending ? -1 : 1;
  const order = (a: T, b: T): number =>
    compareGroupValues(value(a, sort.column), value(b, sort.column), sign);
  const inOrder = (some: readonly Group<T>[]): Group<T>[] =>
    [...some].sort((a, b) => order(a.head, b.head));
  return [
    ...inOrder(groups.filter((group) => !group.last)),
    ...groups.filter((group) => group.last),
  ].map((group) => ({ ...group, places: [...group.places].sort(order) }));
}

/** Return the ids of the groups that are open by default: as many as fit, and at least one. */
export function usuallyOpen<T>(groups: readonly Group<T>[]): string[] {
  const open: string[] = [];
  let lines = groups.length;
  for (const { id, places } of groups) {
    if (places.length === 0) continue;
    lines += places.length;
    if (open.length > 0 && lines > USUAL_LINES) break;
    open.push(id);
  }
  return open;
}

/** Flatten groups to lines, with the places of open groups below their head. */
export function groupLines<T>(
  groups: readonly Group<T>[],
  open: readonly string[],
): GroupLine<T>[] {
  return groups.flatMap((group): GroupLine<T>[] => {
    const isOpen = group.places.length > 0 ? open.includes(group.id) : null;
    const head: GroupLine<T> = { group, item: group.head, level: 0, isOpen };
    if (!isOpen) return [head];
    const below = group.places.map((item) => ({ group, item, level: 1 as const, isOpen: null }));
    return [head, ...below];
  });
}

/**
 * Format the state for the address: the sort order (which contains a point), then the open groups;
 * null: the default state.
 */
export function writeGroups({ sort, open }: GroupState): string | null {
  const order = sort ? [`${sort.column}.${sort.descending ? 'down' : 'up'}`] : [];
  const opened = open === null ? [] : open.length > 0 ? open : ['none'];
  return [...order, ...opened].join(',') || null;
}

/** Parse the output of writeGroups. */
export function readGroups(text: string | null): GroupState {
  const words = (text ?? '').split(',');
  const [, column = '', direction] =
    words.map((word) => /^([a-z]+)\.(down|up)$/.exec(word)).find((found) => found) ?? [];
  const open = words.filter((word) => /^[a-z0-9-]+$/.test(word));
  return {
    sort: column === '' ? null : { column, descending: direction === 'down' },
    open: open.length === 0 ? null : open.filter((word) => word !== 'none'),
  };
}
