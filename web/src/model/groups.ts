// SPDX-License-Identifier: Apache-2.0
// A table of two levels: what stands together (a finding, a kind of fault) and, below it once it is
// open, its places.  What has the text to find, in which order, and how the address says so.

export type GroupValue = string | number | null;

/** `column` is one that the table has; null: as it was told. */
export interface GroupSort {
  column: string;
  descending: boolean;
}

export interface GroupState {
  sort: GroupSort | null;
  /** What is open, by its id; null: what usually is. */
  open: readonly string[] | null;
}

export const USUAL_GROUPS: GroupState = { sort: null, open: null };

export interface Group<T> {
  /** Small letters, digits and hyphens. */
  id: string;
  head: T;
  places: readonly T[];
  /** It stands below the others in any order. */
  last?: boolean;
}

export interface GroupLine<T> {
  group: Group<T>;
  item: T;
  /** 0: the head of the group. */
  level: 0 | 1;
  /** null: there is nothing to open. */
  isOpen: boolean | null;
}

/** So many lines are open from the start: about what is seen at once. */
const USUAL_LINES = 20;

/** A group with all its places where its head has the text, else those of its places that have it. */
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

/** What has no value stands last in both directions. */
function compare(a: GroupValue, b: GroupValue, sign: number): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return a < b ? -sign : a > b ? sign : 0;
}

/** Groups in order, and places within each; equals stay as they were told. */
export function sortedGroups<T>(
  groups: readonly Group<T>[],
  sort: GroupSort | null,
  value: (item: T, column: string) => GroupValue,
): readonly Group<T>[] {
  if (!sort) return groups;
  const sign = sort.descending ? -1 : 1;
  const order = (a: T, b: T): number => compare(value(a, sort.column), value(b, sort.column), sign);
  const inOrder = (some: readonly Group<T>[]): Group<T>[] =>
    [...some].sort((a, b) => order(a.head, b.head));
  return [
    ...inOrder(groups.filter((group) => !group.last)),
    ...groups.filter((group) => group.last),
  ].map((group) => ({ ...group, places: [...group.places].sort(order) }));
}

/** The first ones, as many as there is room for, but one at least. */
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

/** For an address: the order with a point in it, then what is open; null: all is as usual. */
export function writeGroups({ sort, open }: GroupState): string | null {
  const order = sort ? [`${sort.column}.${sort.descending ? 'down' : 'up'}`] : [];
  const opened = open === null ? [] : open.length > 0 ? open : ['none'];
  return [...order, ...opened].join(',') || null;
}

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
