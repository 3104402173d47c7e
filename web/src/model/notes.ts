// SPDX-License-Identifier: Apache-2.0
// Ranges that somebody keeps, with a word about each.

import type { Span } from './span';

export interface Note extends Span {
  /** Empty: its length says enough. */
  readonly text: string;
}

/** An address must not grow without end. */
export const MOST_NOTES = 50;
export const LONGEST_NOTE = 120;

export function writeNote({ from, to, text }: Note): string {
  return `${Math.round(from)}-${Math.round(to)}${text === '' ? '' : `~${text}`}`;
}

export function readNotes(texts: readonly string[]): Note[] {
  return texts.slice(0, MOST_NOTES).flatMap((word) => {
    const found = /^(-?\d+)-(-?\d+)(?:~(.*))?$/s.exec(word);
    const [from, to] = [Number(found?.[1]), Number(found?.[2])];
    return to > from ? [{ from, to, text: (found?.[3] ?? '').slice(0, LONGEST_NOTE) }] : [];
  });
}

/** The notes with one more, in the order of time; one of the same range gives way. */
export function withNote(notes: readonly Note[], note: Note): Note[] {
  return [...notes.filter((n) => n.from !== note.from || n.to !== note.to), note]
    .sort((a, b) => a.from - b.from || b.to - a.to)
    .slice(-MOST_NOTES);
}

/** More notes at one time than this lie on each other. */
export const MOST_LANES = 4;

/** For each of the notes, in the order of time, a lane that is free for it, if only so long. */
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
