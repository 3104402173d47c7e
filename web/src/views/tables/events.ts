// SPDX-License-Identifier: Apache-2.0
// Where an event that was found lies, in words, and the way to it.

import { EVENT, type EventRow, type SearchRow } from '../../model/eventAnswers';
import type { Mark, MarkKind } from '../../model/marks';
import { ownerId, trackPlace } from '../../model/names';
import { revealingView } from '../../model/span';
import { goToCall, type Views } from '../context';

type Found = EventRow | SearchRow;

export function eventName(v: Views, event: Found): string {
  const [, , , , , , , frame, name] = event;
  return name ?? (frame >= 0 ? v.viewer.frames.full(frame) : '');
}

/** Its thread, else its process. */
export function eventPlace(v: Views, event: Found): string {
  const [, , , , , number, process] = event;
  const { facts } = v.viewer;
  const track = number >= 0 ? facts.tracks.find((t) => t.track === number) : undefined;
  if (track) return trackPlace(track, facts.processes);
  const owner = facts.processes[process];
  return owner ? `process ${ownerId(owner)} ${owner.name}`.trim() : '';
}

/** Kinds that can be selected by their number. */
const MARKS: Record<number, MarkKind> = {
  [EVENT.instant]: 'instant',
  [EVENT.snapshot]: 'snapshot',
  [EVENT.sample]: 'sample',
  [EVENT.memoryDump]: 'memory',
  [EVENT.object]: 'object',
};

/** What an event is when it is selected, beside slices. */
export function markOf(event: Found): Mark | null {
  const kind = MARKS[event[0]];
  return kind ? { kind, number: event[1] } : null;
}

/** A thread is its track, a process the first of its tracks. */
function showOwner(v: Views, event: Found): void {
  const [, , , , , number, process] = event;
  const { tracks } = v.viewer.facts;
  const track = tracks.find((t) => t.track === number) ?? tracks.find((t) => t.process === process);
  if (track) v.showTrack(track);
  v.announce(eventName(v, event));
}

/** Selects it where it can be selected, and brings it into view. */
export async function goToEvent(v: Views, event: Found): Promise<void> {
  const [kind, a, b, time, length, track] = event;
  if (kind === EVENT.slice) {
    v.viewer.openProcessOf(track);
    if (!v.viewer.expanded.peek().has(track)) v.viewer.toggleExpanded(track);
    return goToCall(v, { row: a, index: b });
  }
  if (kind === EVENT.metadata) return v.viewer.tab.set('info');
  if (kind === EVENT.process || kind === EVENT.thread) return showOwner(v, event);
  const mark = markOf(event);
  if (mark) v.viewer.selectMark(mark);
  const span = { from: time, to: time + Math.max(1, length) };
  v.mover.glide(revealingView(v.mover.goal, span, v.viewer.bounds));
  v.announce(eventName(v, event));
}
