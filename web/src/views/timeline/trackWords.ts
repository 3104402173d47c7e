// SPDX-License-Identifier: Apache-2.0
// The texts next to the name of a track.

import { h } from '../../base/dom';
import { formatCount, plural } from '../../base/format';
import type { IdleThread, TraceFacts, Track } from '../../model/traceFacts';
import { ownerId } from '../../model/names';
import type { FoldRow, ObjectsRow } from '../../model/rows';
import type { Viewer } from '../../model/viewer';

/**
 * Return the busy time of a track. Async slices have no CPU time, whatever clocks the trace has.
 */
export function busyTime(track: Track): number | null {
  if (track.kind === 'states') return null;
  return track.kind === 'async' || track.kind === 'cpu'
    ? track.real_ns
    : (track.cpu_ns ?? track.real_ns);
}

type ThreadOwner = Track | IdleThread;
const owners = new WeakMap<TraceFacts, ReadonlyMap<number, ThreadOwner>>();

/** Index the threads of a trace. A thread with a track is represented by the track. */
function threadOwners(facts: TraceFacts): ReadonlyMap<number, ThreadOwner> {
  let found = owners.get(facts);
  if (!found) {
    const threads = facts.tracks.filter((t) => t.kind === 'thread').reverse();
    const all: ThreadOwner[] = [...[...facts.idle_threads].reverse(), ...threads];
    found = new Map(all.map((t) => [t.thread, t]));
    owners.set(facts, found);
  }
  return found;
}

/** Return the kind of a track, unless it is a plain thread. */
export function trackKind(
  track: Track,
  facts: TraceFacts,
): { title: string; mark: HTMLElement | null } {
  const mark = (text: string): HTMLElement =>
    h('span', { class: 'kind', attrs: { 'aria-hidden': 'true' } }, text);
  if (track.beside)
    return { title: 'data of this thread from another trace in the file', mark: mark('beside') };
  if (track.kind === 'overflow')
    return {
      title: 'slices of this thread that overlap its others without nesting',
      mark: mark('overlap'),
    };
  if (track.kind === 'cpu') return { title: 'what this processor ran', mark: null };
  if (track.kind === 'states') return { title: 'states of this thread', mark: mark('states') };
  if (track.kind !== 'async') return { title: '', mark: null };
  const owner = threadOwners(facts).get(track.thread);
  const of =
    track.thread >= 0 && owner ? `begun by [${ownerId(owner)}] ${owner.name}` : 'of the process';
  return { title: `async slices ${of}`, mark: mark('async') };
}

/** Return the name of the file that all tracks are from; null: there are several. */
export function fileOf(tracks: readonly Track[], { files }: TraceFacts): string | null {
  const file = tracks[0]?.file;
  if (file === undefined || tracks.some((track) => track.file !== file)) return null;
  return files[file]?.replace(/^.*\//, '') ?? null;
}

/** Return the process and the file of a track, as the end of a title. */
export function processWords(track: Track, facts: TraceFacts): string {
  const { processes } = facts;
  const process = processes.length > 1 ? processes[track.process] : undefined;
  const file = fileOf([track], facts);
  return `${process ? `, process ${ownerId(process)} ${process.name}` : ''}${file ? `, in ${file}` : ''}`;
}

export function foldWords({ what, count, open }: FoldRow): string {
  if (what === 'counter') return plural(count, 'counter');
  if (what === 'objects') return plural(count, 'type of objects', 'types of objects');
  if (what === 'cpu') return open ? 'Fewer processors' : `${formatCount(count)} more processors`;
  return open ? 'Fewer lanes' : `${formatCount(count)} more lanes`;
}

export function objectWords({ type }: ObjectsRow): string {
  const objects = plural(type.objects, 'object');
  const snapshots = plural(type.snapshots, 'snapshot');
  return `Objects of type ${type.type}: ${objects}, ${snapshots}`;
}

/** Return the mark of a track that the other one of two time lines does not have. */
export function partnerMark(viewer: Viewer, { track }: Track): HTMLElement | null {
  if (!viewer.paired.alone.peek()?.has(track)) return null;
  const title = 'The other trace has no such thread';
  return h('span', { class: 'side alone', title }, 'no partner');
}
