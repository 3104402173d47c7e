// SPDX-License-Identifier: Apache-2.0
// Notes: ranges of time that the user marked and named. They live in the address.

import type { Span } from './span';

/** A marked range of time. */
export interface Note extends Span {
  /** Empty: the page shows the length instead. */
  readonly text: string;
}

/** Limits that keep the address short. */
export const MOST_NOTES = 50;
export const LONGEST_NOTE = 120;

/** Format a note for the address: "from-to~text". */
export function writeNote({ from, to, text }: Note): string {
  return `${Math.round(from)}-${Math.round(to)}${text === '' ? '' : `~${text}`}`;
}

/** Parse the notes of an address; malformed ones are dropped. */
export function readNotes(texts: readonly string[]): Note[] {
  return texts.slice(0, MOST_NOTES).flatMap((word) => {
    const found = /^(-?\d+)-(-?\d+)(?:~(.*))?$/s.exec(word);
    const [from, to] = [Number(found?.[1]), Number(found?.[2])];
    return to > from ? [{ from, to, text: (found?.[3] ?? '').slice(0, LONGEST_NOTE) }] : [];
  });
}

/** Add a note in order of time; it replaces a note of the same range. */
export function withNote(notes: readonly Note[], note: Note): Note[] {
  return [...notes.filter((n) => n.from !== note.from || n.to !== note.to), note]
    .sort((a, b) => a.from - b.from || b.to - a.to)
    .slice(-MOST_NOTES);
}

/** Limit of lanes: further notes at the same time overlap. */
export const MOST_LANES = 4;

/**
 * Assign a lane to each note; notes must be sorted by time. Each note occupies at least `least` ns.
 */
export function lanesOfNotes(notes: readonly Note[], least: number): number[] {
  const ends: number[] = [];
  return notes.map(({ from, to }) => {
    const free = ends.findIndex((end) => end <= from);
    const first = free < 0 && ends.length < MOST_LANES ? ends.length : free;
    const lane = first < 0 ? ends.indexOf(Math.min(...ends)) : first;
    ends[lane] = Math.max(ends[lane] ?? 0, to, from + least);
    return lane;
  });
}
