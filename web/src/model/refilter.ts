// SPDX-License-Identifier: Apache-2.0
// From the state of the page with one filter to the same with another: tracks, rows and numbers of
// rows of tables are those of another trace then.

import type { Place } from './address';
import type { Call, TraceFacts, Track } from './engine';
import { UNARRANGED } from './arrangement';

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

const TABLES = {
  instant: 'instants',
  object: 'objects',
  snapshot: 'objects',
  sample: 'samples',
  memory: 'memory_dumps',
} as const;

/** The place with what can be said without asking; `call` is the selected call there. */
export function refilter(
  place: Place,
  from: Facts,
  to: Facts,
  filter: string,
  call: Call | null,
): Place {
  const tracks = sameTracks(from, to);
  const move = (numbers: readonly number[]): number[] =>
    numbers.flatMap((number) => tracks.get(number) ?? []).sort((a, b) => a - b);
  // Numbers of a table that lost nothing are the same.
  const same = (table: Exclude<keyof Facts, 'tracks'>): boolean => from[table] === to[table];
  return {
    ...place,
    filter,
    tracks: move(place.tracks),
    expanded: place.expanded && move(place.expanded),
    call,
    mark: place.mark && same(TABLES[place.mark.kind]) ? place.mark : null,
    closed: [],
    arrangement: UNARRANGED,
    flows: same('flows') ? place.flows : { ...place.flows, categories: [] },
    counters: same('counters') ? place.counters : new Map(),
  };
}
