// SPDX-License-Identifier: Apache-2.0
// Changing the filter: translate the state of the page to the newly filtered trace, which numbers
// its tracks, rows and events anew.

import type { PageState } from './address';
import type { Call } from './engine';
import type { TraceFacts, Track } from './traceFacts';
import { UNARRANGED } from './arrangement';
import { foldKey } from './rows';

type RefilterFacts = Pick<
  TraceFacts,
  'tracks' | 'counters' | 'instants' | 'objects' | 'samples' | 'memory_dumps' | 'flows'
>;

/** Return a name for each track that is independent of its number; equal names are numbered. */
function trackIdentities(tracks: readonly Track[]): Map<number, string> {
  const seen = new Map<string, number>();
  const found = new Map<number, string>();
  for (const track of [...tracks].sort((a, b) => a.track - b.track)) {
    const what = [track.kind, track.process, track.thread, track.name].join('/');
    const nth = seen.get(what) ?? 0;
    seen.set(what, nth + 1);
    found.set(track.track, `${what}/${nth}`);
  }
  return found;
}

/** Map old track numbers to new ones; tracks that the filter removed are missing. */
export function sameTracks(from: RefilterFacts, to: RefilterFacts): Map<number, number> {
  const now = new Map([...trackIdentities(to.tracks)].map(([track, what]) => [what, track]));
  const found = new Map<number, number>();
  for (const [track, what] of trackIdentities(from.tracks)) {
    const other = now.get(what);
    if (other !== undefined) found.set(track, other);
  }
  return found;
}

/** Remembers which tracks are expanded, including tracks that a filter removed. */
export class OpenTracks {
  private readonly known = new Map<string, boolean>();

  /** Record the expanded tracks under the old filter, and return those under the new one. */
  move(open: readonly number[] | null, from: RefilterFacts, to: RefilterFacts): number[] {
    for (const [track, what] of trackIdentities(from.tracks))
      this.known.set(what, open?.includes(track) ?? false);
    return [...trackIdentities(to.tracks)]
      .flatMap(([track, what]) => (this.known.get(what) ? [track] : []))
      .sort((a, b) => a - b);
  }
}

const MARK_COUNTS = {
  instant: 'instants',
  object: 'objects',
  snapshot: 'objects',
  sample: 'samples',
  memory: 'memory_dumps',
  counter: 'counters',
} as const;

/** State that is needed in addition to the old place. */
export interface RefilterState {
  /** The selected call, translated to the new filter. */
  call: Call | null;
  openTracks: OpenTracks;
}

/** Translate a place to another filter, as far as possible without asking the engine. */
export function refilter(
  place: PageState,
  from: RefilterFacts,
  to: RefilterFacts,
  filter: string,
  { call, openTracks }: RefilterState,
): PageState {
  const tracks = sameTracks(from, to);
  const move = (numbers: readonly number[]): number[] =>
    numbers.flatMap((number) => tracks.get(number) ?? []).sort((a, b) => a - b);
  // The numbers are unchanged if the filter removed no events of this kind.
  const same = (table: Exclude<keyof RefilterFacts, 'tracks'>): boolean =>
    from[table] === to[table];
  /** Translate the key of a fold line (rows.ts). */
  const fold = (key: string): string[] => {
    const [what, number] = key.split('.');
    if (what === 'async') return move([Number(number)]).map((track) => foldKey(what, track));
    return what === 'lanes' && !same('objects') ? [] : [key];
  };
  return {
    ...place,
    filter,
    tracks: move(place.tracks),
    expanded: openTracks.move(place.expanded, from, to),
    folds: place.folds.flatMap(fold),
    call,
    pinned: null,
    pairing: place.pairing && { ...place.pairing, at: null },
    mark: place.mark && same(MARK_COUNTS[place.mark.kind]) ? place.mark : null,
    closed: [],
    arrangement: UNARRANGED,
    flows: same('flows') ? place.flows : { ...place.flows, categories: [] },
    counters: same('counters') ? place.counters : new Map(),
    overlays: same('counters') ? place.overlays : new Map(),
  };
}
