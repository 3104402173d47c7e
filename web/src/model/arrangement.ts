// SPDX-License-Identifier: Apache-2.0
// How somebody arranged the time line: what is pinned on top, hidden, and moved elsewhere.  Things
// are named by the keys of their units (units.ts), processes by "p" and their index.

export interface Move {
  what: string;
  /** Empty: behind all others. */
  before: string;
}

export interface Arrangement {
  /** From the top down; they do not scroll. */
  pinned: readonly string[];
  hidden: readonly string[];
  /** Made one after the other. */
  moves: readonly Move[];
}

export const UNARRANGED: Arrangement = { pinned: [], hidden: [], moves: [] };

/** An address must not grow without end: older moves are forgotten. */
const MOST_MOVES = 64;

export function isArranged(a: Arrangement): boolean {
  return a.pinned.length + a.hidden.length + a.moves.length > 0;
}

export function processKey(process: number): string {
  return `p${process}`;
}

function without(keys: readonly string[], key: string): string[] {
  return keys.filter((k) => k !== key);
}

/** Pinned, or no longer; what is pinned is not hidden. */
export function togglePin(a: Arrangement, key: string): Arrangement {
  const pinned = a.pinned.includes(key) ? without(a.pinned, key) : [...a.pinned, key];
  return { ...a, pinned, hidden: without(a.hidden, key) };
}

export function hide(a: Arrangement, key: string): Arrangement {
  return {
    ...a,
    pinned: without(a.pinned, key),
    hidden: [...without(a.hidden, key), key],
  };
}

/** Puts one before another, at the end when there is none; pinned ones among the pinned. */
export function move(a: Arrangement, what: string, before: string): Arrangement {
  if (what === before) return a;
  if (a.pinned.includes(what))
    return { ...a, pinned: moved(a.pinned, (key) => key, [{ what, before }]) };
  return { ...a, moves: [...a.moves, { what, before }].slice(-MOST_MOVES) };
}

/** The items after all moves; those of items that are not there change nothing. */
export function moved<T>(
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
