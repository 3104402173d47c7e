// SPDX-License-Identifier: Apache-2.0
// Arrangements by name instead of number. The page stores them in the browser and applies them to
// the next trace, whose threads have the same names but other ids.

import type { Arrangement } from './arrangement';
import { processKey } from './arrangement';
import type { TraceFacts, Track } from './traceFacts';
import { processName } from './names';
import { isLaneOf, rowName, type Row } from './rows';
import { listAt, unitKey } from './units';

/** A stored arrangement; the JSON keys must not change. */
export interface StoredArrangement {
  pinned: readonly string[];
  hidden: readonly string[];
  moves: readonly (readonly [what: string, before: string])[];
  closed: readonly string[];
}

export const NO_STORED_ARRANGEMENT: StoredArrangement = {
  pinned: [],
  hidden: [],
  moves: [],
  closed: [],
};

/** Limit of stored names of each kind. */
const MOST_STORED_NAMES = 100;

type ArrangeableFacts = Pick<TraceFacts, 'tracks' | 'processes'>;

/** Return key and name of everything that can be arranged; names need not be unique. */
export function arrangeableNames(
  facts: ArrangeableFacts,
  rows: readonly Row[],
): Map<string, string> {
  const { tracks, processes } = facts;
  const names = new Map<string, string>();
  const add = (key: string, process: number, name: string): void => {
    if (!names.has(key)) names.set(key, `${processName(processes, process)} / ${name}`);
  };
  let first: Track | undefined;
  for (const track of tracks) {
    if (isLaneOf(track, first)) continue;
    first = track;
    names.set(processKey(track.process), processName(processes, track.process));
    add(unitKey(track), track.process, track.name);
  }
  for (const row of rows) {
    names.set(processKey(row.process), processName(processes, row.process));
    if (row.thread < 0) add(row.key, row.process, rowName(row));
  }
  return names;
}

function keysByName(names: ReadonlyMap<string, string>): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [key, name] of names) listAt(found, name).push(key);
  return found;
}

/** Return the part of a stored arrangement that applies to this trace. */
export function applyStoredArrangement(
  remembered: StoredArrangement,
  names: ReadonlyMap<string, string>,
): { arrangement: Arrangement; closed: number[] } {
  const keys = keysByName(names);
  const all = (wanted: readonly string[]): string[] =>
    wanted.flatMap((name) => keys.get(name) ?? []);
  const moves = remembered.moves.flatMap(([what, before]) => {
    const to = before === '' ? '' : keys.get(before)?.[0];
    return to === undefined ? [] : (keys.get(what) ?? []).map((key) => ({ what: key, before: to }));
  });
  return {
    arrangement: { pinned: all(remembered.pinned), hidden: all(remembered.hidden), moves },
    closed: all(remembered.closed).map((key) => Number(key.slice(1))),
  };
}

/** Update a stored arrangement. Names that this trace does not contain stay as they were. */
export function updateStoredArrangement(
  old: StoredArrangement,
  { pinned, hidden, moves }: Arrangement,
  closed: Iterable<number>,
  names: ReadonlyMap<string, string>,
): StoredArrangement {
  const known = new Set(names.values());
  const named = (keys: readonly string[], before: readonly string[]): string[] =>
    [
      ...new Set([
        ...keys.flatMap((key) => names.get(key) ?? []),
        ...before.filter((name) => !known.has(name)),
      ]),
    ].slice(0, MOST_STORED_NAMES);
  const told = moves.flatMap(({ what, before }): [string, string][] => {
    const [name, to] = [names.get(what), before === '' ? '' : names.get(before)];
    return name === undefined || to === undefined ? [] : [[name, to]];
  });
  return {
    pinned: named(pinned, old.pinned),
    hidden: named(hidden, old.hidden),
    moves: [...told, ...old.moves.filter(([what]) => !known.has(what))].slice(0, MOST_STORED_NAMES),
    closed: named([...closed].map(processKey), old.closed),
  };
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : [];
}

/** Parse a stored arrangement; malformed parts are dropped. */
export function readStoredArrangement(text: string | null): StoredArrangement {
  try {
    const value = JSON.parse(text ?? '{}') as Record<string, unknown> | null;
    const moves = Array.isArray(value?.['moves']) ? (value['moves'] as unknown[]) : [];
    return {
      pinned: textsIn(value?.['pinned']),
      hidden: textsIn(value?.['hidden']),
      moves: moves
        .map(textsIn)
        .flatMap(([a, b]) => (a && b !== undefined ? [[a, b] as const] : [])),
      closed: textsIn(value?.['closed']),
    };
  } catch {
    return NO_STORED_ARRANGEMENT;
  }
}
