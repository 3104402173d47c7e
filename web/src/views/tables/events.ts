// SPDX-License-Identifier: Apache-2.0
// Describes where an event lies, and goes there.

import { EVENT, type EventRow, type SearchRow } from '../../model/eventAnswers';
import type { EventKind, Mark } from '../../model/marks';
import { ownerId, trackPlace } from '../../model/names';
import { revealingView } from '../../model/span';
import { goToCallOn, type Views } from '../context';

type Found = EventRow | SearchRow;

/** Return the name of an event. */
export function eventName(v: Views, event: Found): string {
  const [, , , , , , , frame, name] = event;
  return name ?? (frame >= 0 ? v.viewer.frames.full(frame) : '');
}

/** Return the name of the event's thread, else of its process. */
export function eventPlace(v: Views, event: Found): string {
  const [, , , , , number, process] = event;
  const { facts } = v.viewer;
  const track = number >= 0 ? facts.tracks.find((t) => t.track === number) : undefined;
  if (track) return trackPlace(track, facts.processes);
  const owner = facts.processes[process];
  return owner ? `process ${ownerId(owner)} ${owner.name}`.trim() : '';
}

/** The event kinds that can be selected by number. */
const MARKS: Record<number, EventKind> = {
  [EVENT.instant]: 'instant',
  [EVENT.snapshot]: 'snapshot',
  [EVENT.sample]: 'sample',
  [EVENT.memoryDump]: 'memory',
  [EVENT.object]: 'object',
};

/** Return the mark that selects an event, if it is not a slice. */
export function markOfEvent(event: Found): Mark | null {
  const kind = MARKS[event[0]];
  if (event[0] === EVENT.counter)
    return { kind: 'counter', number: event[1], series: 0, at: event[3] };
  return kind ? { kind, number: event[1] } : null;
}

/** Show the owner of an event: the track of a thread, or the first track of a process. */
function showEventOwner(v: Views, event: Found): void {
  const [, , , , , number, process] = event;
  const { tracks } = v.viewer.facts;
  const track = tracks.find((t) => t.track === number) ?? tracks.find((t) => t.process === process);
  if (track) v.showTrack(track);
  v.announce(eventName(v, event));
}

/** Select an event if possible, and bring it into view. */
export async function goToEvent(v: Views, event: Found): Promise<void> {
  const [kind, a, b, time, length] = event;
  if (kind === EVENT.slice) return goToCallOn(v, { row: a, index: b });
  if (kind === EVENT.metadata) return v.viewer.tab.set('info');
  if (kind === EVENT.process || kind === EVENT.thread) return showEventOwner(v, event);
  const mark = markOfEvent(event);
  if (mark?.kind === 'counter') v.showCounter(mark.number);
  if (mark) v.viewer.selectMark(mark);
  const span = { from: time, to: time + Math.max(1, length) };
  v.mover.glide(revealingView(v.mover.goal, span, v.viewer.bounds));
  v.announce(eventName(v, event));
}
