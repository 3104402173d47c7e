// SPDX-License-Identifier: Apache-2.0
// From the state of the page with one filter to the same with another: tracks, rows and numbers of
// rows of tables are those of another trace then.

import type { Place } from './address';
import type { Call, TraceFacts, Track } from './engine';
import { UNARRANGED } from './arrangement';
import { foldKey } from './rows';

type Facts = Pick<
  TraceFacts,
  'tracks' | 'counters' | 'instants' | 'objects' | 'samples' | 'memory_dumps' | 'flows'
>;

/** What a track is whatever else there is; the n-th of several. */
function identities(tracks: readonly Track[]): Map<number, string> {
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

/** The new numbers of tracks; those that are gone are left out. */
export function sameTracks(from: Facts, to: Facts): Map<number, number> {
  const now = new Map([...identities(to.tracks)].map(([track, what]) => [what, track]));
  const found = new Map<number, number>();
  for (const [track, what] of identities(from.tracks)) {
    const other = now.get(what);
    if (other !== undefined) found.set(track, other);
  }
  return found;
}

/** Which tracks are open, also of those that a filter has taken away. */
export class OpenTracks {
  private readonly known = new Map<string, boolean>();

  /** What is open of one filter's tracks; returns what then is of another's. */
  move(open: readonly number[] | null, from: Facts, to: Facts): number[] {
    for (const [track, what] of identities(from.tracks))
      this.known.set(what, open?.includes(track) ?? false);
    return [...identities(to.tracks)]
      .flatMap(([track, what]) => (this.known.get(what) ? [track] : []))
      .sort((a, b) => a - b);
  }
}

const TABLES = {
  instant: 'instants',
  object: 'objects',
  snapshot: 'objects',
  sample: 'samples',
  memory: 'memory_dumps',
} as const;

/** What of the place there is not said by the place here. */
export interface There {
  /** The selected call. */
  call: Call | null;
  openTracks: OpenTracks;
}

/** The place with what can be said without asking. */
export function refilter(
  place: Place,
  from: Facts,
  to: Facts,
  filter: string,
  { call, openTracks }: There,
): Place {
  const tracks = sameTracks(from, to);
  const move = (numbers: readonly number[]): number[] =>
    numbers.flatMap((number) => tracks.get(number) ?? []).sort((a, b) => a - b);
  // Numbers of a table that lost nothing are the same.
  const same = (table: Exclude<keyof Facts, 'tracks'>): boolean => from[table] === to[table];
  /** The lines of many rows (rows.ts) that show them, by what they are of. */
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
    mark: place.mark && same(TABLES[place.mark.kind]) ? place.mark : null,
    closed: [],
    arrangement: UNARRANGED,
    flows: same('flows') ? place.flows : { ...place.flows, categories: [] },
    counters: same('counters') ? place.counters : new Map(),
  };
}
