// SPDX-License-Identifier: Apache-2.0
// The user's arrangement of the timeline: pinned, hidden and moved units. The key of a unit comes
// from units.ts; the key of a process is "p" and its index.

/** One drag of a unit or process to another place. */
export interface Move {
  what: string;
  /** Key of the item to insert before; empty: move to the end. */
  before: string;
}

/** All pinned, hidden and moved items of the timeline, by key. */
export interface Arrangement {
  /** From the top down; pinned units do not scroll. */
  pinned: readonly string[];
  hidden: readonly string[];
  /** In the order in which the user made them. */
  moves: readonly Move[];
}

export const UNARRANGED: Arrangement = { pinned: [], hidden: [], moves: [] };

/** Older moves are dropped, so that the length of an address stays bounded. */
const MOST_MOVES = 64;

export function isArranged(a: Arrangement): boolean {
  return a.pinned.length + a.hidden.length + a.moves.length > 0;
}

export function processKey(process: number): string {
  return `p${process}`;
}

function withoutKey(keys: readonly string[], key: string): string[] {
  return keys.filter((k) => k !== key);
}

/** Pin a unit, or unpin it if it is pinned. A pinned unit is never hidden. */
export function togglePin(a: Arrangement, key: string): Arrangement {
  const pinned = a.pinned.includes(key) ? withoutKey(a.pinned, key) : [...a.pinned, key];
  return { ...a, pinned, hidden: withoutKey(a.hidden, key) };
}

/** Hide a unit, which also unpins it. */
export function hideUnit(a: Arrangement, key: string): Arrangement {
  return {
    ...a,
    pinned: withoutKey(a.pinned, key),
    hidden: [...withoutKey(a.hidden, key), key],
  };
}

/**
 * Move one item before another, or to the end if `before` is empty. A pinned unit moves among the
 * pinned ones.
 */
export function moveUnit(a: Arrangement, what: string, before: string): Arrangement {
  if (what === before) return a;
  if (a.pinned.includes(what))
    return { ...a, pinned: applyMoves(a.pinned, (key) => key, [{ what, before }]) };
  return { ...a, moves: [...a.moves, { what, before }].slice(-MOST_MOVES) };
}

/** Return the items after all moves. Moves of unknown items change nothing. */
export function applyMoves<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  moves: readonly Move[],
): T[] {
  const list = [...items];
  for (const { what, before } of moves) {
    const from = list.findIndex((item) => keyOf(item) === what);
    const known = before === '' || list.some((item) => keyOf(item) === before);
    const [item] = from >= 0 && known ? list.splice(from, 1) : [];
    if (item === undefined) continue;
    const to = list.findIndex((other) => keyOf(other) === before);
    list.splice(to < 0 ? list.length : to, 0, item);
  }
  return list;
}

/** A key of a unit or process, such as "t12", "p3" or "lanes.4". */
const KEY = /^[a-z]+\.?-?\d+$/;

export function writeMoves(moves: readonly Move[]): string {
  return moves.map(({ what, before }) => `${what}~${before}`).join(',');
}

export function readMoves(text: string): Move[] {
  return text.split(',').flatMap((word) => {
    const [what = '', before = ''] = word.split('~');
    return KEY.test(what) && (before === '' || KEY.test(before)) ? [{ what, before }] : [];
  });
}

export function readKeys(text: string): string[] {
  return [...new Set(text.split(',').filter((word) => KEY.test(word)))];
}
