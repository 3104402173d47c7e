// SPDX-License-Identifier: Apache-2.0
// Two traces one above the other: which threads belong together, how far the times of one are
// shifted, and the call that both are aligned at.
//
//   time in the base = time in the trace of the page + shift

import type { Call, CallDetails, Engine } from './engine';
import type { Frames } from './names';
import { signal } from '../base/signal';
import { clampView, type Span } from './span';
import type { TraceFacts, Track } from './traceFacts';

/** Settings of the time line of the base below that of the page. */
export interface Pairing {
  /** Added to a time of the page's trace, it is the time of the base that is below. */
  shift: number;
  /** The call of the page's trace that chose the shift; null: the traces begin together. */
  at: Call | null;
  /** Index of the base's run that is shown; absent: the first. */
  run?: number;
}

export function samePairing(a: Pairing | null, b: Pairing | null): boolean {
  return writePairing(a) === writePairing(b);
}

/**
 * Format a pairing for the address, as in "-1500,3.17", with ",r2" for the third run of the base;
 * empty: there is none.
 */
export function writePairing(pairing: Pairing | null): string {
  if (!pairing) return '';
  const { shift, at, run = 0 } = pairing;
  const call = at ? `,${at.row}.${at.index}` : '';
  return `${shift}${call}${run > 0 ? `,r${run}` : ''}`;
}

/** Parse the output of writePairing; null for other texts. */
export function readPairing(text: string): Pairing | null {
  const found = /^(-?\d{1,15})(?:,(\d{1,10})\.(\d{1,10}))?(?:,r(\d{1,3}))?$/.exec(text);
  if (!found) return null;
  const at = found[2] === undefined ? null : { row: Number(found[2]), index: Number(found[3]) };
  const run = Number(found[4] ?? 0);
  return { shift: Number(found[1]), at, ...(run > 0 ? { run } : {}) };
}

/** The state of a time line that is above or below another one. */
export class PairedLines {
  /** Null: the base is not shown. */
  readonly pairing = signal<Pairing | null>(null, samePairing);
  /** Tracks without a partner in the other time line; null: there is none. */
  readonly alone = signal<ReadonlySet<number> | null>(null);
  /** The time that can be moved to: that of the trace, and that of the other one beside it. */
  reach: Span;

  constructor(bounds: Span) {
    this.reach = bounds;
  }

  /** Limit a view to the reach, which is not known before the base is open. */
  clamp(view: Span): Span {
    return this.pairing.peek() ? view : clampView(view, this.reach);
  }
}

export function shiftedSpan({ from, to }: Span, by: number): Span {
  return { from: from + by, to: to + by };
}

/** Return the length of a generated number at `at`; 0: there is none (run_names_generated). */
function generatedNumber(name: string, at: number): number {
  const rest = name.slice(at);
  const before = name.slice(0, at);
  const digits = /^\d*/.exec(rest)?.[0].length ?? 0;
  const hex = /^[0-9a-f]*/.exec(rest)?.[0] ?? '';
  if (digits > 0 && /[$#]$/.test(before)) return digits;
  if (hex.length > 1 && before.endsWith('0x')) return hex.length;
  if (digits > 0 && digits === rest.length && /\$[^$.]*$/.test(before)) return digits;
  if (/[0-9a-f]$/.test(before)) return 0;
  return hex.length >= 6 && /\d/.test(hex) ? hex.length : digits >= 2 ? digits : 0;
}

/**
 * Return the form of a name in which generated numbers are "#", as the comparison by thread has it
 * (tv_run_names_normal).
 */
export function threadForm(name: string): string {
  const cut = name
    .replace(/(?<=.)\.(?:(?:constprop|part|isra|llvm)\.|cold).*$/s, '')
    .replace(/(?<=.)::h[0-9a-f]{16}$/, '');
  let form = '';
  for (let at = 0; at < cut.length;) {
    const number = generatedNumber(cut, at);
    form += number > 0 ? '#' : cut.charAt(at);
    at += Math.max(1, number);
  }
  return form;
}

/** Names of a track and of its process, in one of the forms that are compared. */
type NamesOf = (track: Track, facts: TraceFacts) => string;

const nameOfProcess = (track: Track, facts: TraceFacts): string =>
  facts.processes[track.process]?.name ?? '';

/** From the strictest to the least strict. Tracks that the first one pairs are not looked at again. */
const FORMS: readonly NamesOf[] = [
  (track, facts) => JSON.stringify([track.kind, nameOfProcess(track, facts), track.name]),
  (track, facts) =>
    JSON.stringify([
      ...[track.kind, threadForm(nameOfProcess(track, facts)), threadForm(track.name)],
    ]),
];

/** Used as well if neither trace has several processes, whose names then say nothing. */
const THREAD_ALONE: NamesOf = (track) => JSON.stringify([track.kind, threadForm(track.name)]);

/** Return the number of the base's track for each track that has a partner. */
export function pairTracks(own: TraceFacts, base: TraceFacts): ReadonlyMap<number, number> {
  const partners = new Map<number, number>();
  const taken = new Set<number>();
  const lone = own.processes.length <= 1 && base.processes.length <= 1;
  for (const namesOf of lone ? [...FORMS, THREAD_ALONE] : FORMS) {
    const waiting = new Map<string, Track[]>();
    for (const track of base.tracks) {
      if (taken.has(track.track)) continue;
      const key = namesOf(track, base);
      waiting.set(key, [...(waiting.get(key) ?? []), track]);
    }
    for (const track of own.tracks) {
      if (partners.has(track.track)) continue;
      // The first of several tracks with one name belongs to the first of the other trace.
      const partner = waiting.get(namesOf(track, own))?.shift();
      if (!partner) continue;
      partners.set(track.track, partner.track);
      taken.add(partner.track);
    }
  }
  return partners;
}

/** Invert the pairs. */
export function inverted(partners: ReadonlyMap<number, number>): ReadonlyMap<number, number> {
  return new Map([...partners].map(([own, base]) => [base, own]));
}

/** Return the smallest place of each key. */
function leastPlaces(entries: Iterable<readonly [number, number]>): Map<number, number> {
  const places = new Map<number, number>();
  for (const [key, place] of entries) places.set(key, Math.min(place, places.get(key) ?? Infinity));
  return places;
}

function sortedByPlace<T>(items: readonly T[], placeOf: (item: T) => number | undefined): T[] {
  const place = (item: T): number => placeOf(item) ?? Infinity;
  const order = (a: number, b: number): number => (a === b ? 0 : a - b);
  return [...items].sort((a, b) => order(place(a), place(b)));
}

/**
 * Return the facts of the base with its tracks, processes and threads in the order of their
 * partners. Those without a partner come last.
 */
export function standLike(
  own: TraceFacts,
  base: TraceFacts,
  partners: ReadonlyMap<number, number>,
): TraceFacts {
  const partnerOf = inverted(partners);
  const ownPlace = new Map(own.tracks.map(({ track }, place) => [track, place]));
  const ownTracks = new Map(own.tracks.map((track) => [track.track, track]));
  // Other tracks of a thread stay with it.
  const unit = ({ thread, kind, track }: Track): number =>
    thread >= 0 && kind !== 'async' ? thread : -1 - track;
  const pairs = base.tracks.flatMap((track): [Track, Track][] => {
    const partner = ownTracks.get(partnerOf.get(track.track) ?? -1);
    return partner ? [[track, partner]] : [];
  });
  const units = leastPlaces(
    pairs.map(([track, partner]) => [unit(track), ownPlace.get(partner.track) ?? Infinity]),
  );
  const tracks = sortedByPlace(base.tracks, (track) => units.get(unit(track)));
  if (!own.standing || !base.standing) return { ...base, tracks };
  const standing = (of: 'processes' | 'threads', index: (track: Track) => number): number[] => {
    const place = new Map(own.standing?.[of].map((item, at) => [item, at]));
    const places = leastPlaces(
      pairs.map(([track, partner]) => [index(track), place.get(index(partner)) ?? Infinity]),
    );
    return sortedByPlace(base.standing?.[of] ?? [], (item) => places.get(item));
  };
  return {
    ...{ ...base, tracks },
    standing: {
      processes: standing('processes', ({ process }) => process),
      threads: standing('threads', ({ thread }) => thread),
    },
  };
}

/** Frames of one trace by the names that a comparison has for them, in the other trace. */
export function framesByName(from: Frames, to: Frames): (frame: number) => number | null {
  const names = new Map<string, number>();
  for (let frame = to.count - 1; frame >= 0; frame--) names.set(to.comparedName(frame), frame);
  return (frame) => (frame < from.count ? (names.get(from.comparedName(frame)) ?? null) : null);
}

/** Most questions for one call: each halves the time in which it is looked for, or interpolates. */
const MOST_STEPS = 160;

/**
 * Return the n-th call of a method in a track; null: there are fewer. It is found by its time, in a
 * few steps if the calls are about evenly spread.
 */
export async function nthCall(
  engine: Engine,
  frame: number,
  { track, end_ns: end }: Track,
  nth: number,
  signal?: AbortSignal,
): Promise<CallDetails | null> {
  // The call begins in (low, high], and `before` calls begin at `low` or earlier.
  let [low, high, before, upTo] = [-1, end, 0, 0];
  let lower: CallDetails | null = null;
  for (let step = 0; step < MOST_STEPS && low < high; step++) {
    const even = low + ((high - low) * (nth - 0.5 - before)) / Math.max(1, upTo - before);
    const half = (low + high) / 2;
    const at = step === 0 ? low : step % 2 === 1 ? even : half;
    const time = Math.min(high - 1, Math.max(low, Math.floor(at)));
    const found = await engine.step(frame, time, 1, [track], signal);
    const call = found && (await engine.slice(found, signal));
    if (call?.nth === nth) return call;
    if (step === 0) {
      if (!call || call.of < nth) return null;
      upTo = call.of;
    }
    if (call && call.nth < nth) [lower, low, before] = [call, call.start_ns, call.nth];
    else [high, upTo] = [time, call ? call.nth - 1 : upTo];
  }
  // Several calls may begin at that time; this is the first of them.
  return lower;
}
