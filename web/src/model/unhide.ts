// SPDX-License-Identifier: Apache-2.0
// Brings a track back to the time line, whatever keeps it away.

import { processKey } from './arrangement';
import { firstLane, foldOfTrack } from './rows';
import { unitKey } from './units';
import type { Viewer } from './viewer';

/** Open the process and the fold line that hide a track. */
export function openProcessOf(viewer: Viewer, number: number): void {
  const { order, tracks } = viewer.facts;
  const fold = order === 'owner' ? foldOfTrack(tracks, number) : null;
  if (fold !== null && !viewer.folds.peek().has(fold)) viewer.toggleFold(fold);
  const track = tracks.find((t) => t.track === number);
  if (track && viewer.closed.peek().has(track.process)) viewer.toggleProcess(track.process);
}

/** Show a unit of the timeline that is hidden, filtered out by name or not active. */
export function unhideUnit(viewer: Viewer, key: string, process: number): void {
  const keys = [key, processKey(process)];
  viewer.arrangement.update((a) => ({ ...a, hidden: a.hidden.filter((k) => !keys.includes(k)) }));
  viewer.only.set('');
  viewer.rows.update((rows) => ({ ...rows, active: false }));
}

/** Show the unit of a track. */
export function unhide(viewer: Viewer, number: number): void {
  const { tracks } = viewer.facts;
  const track = tracks.find((t) => t.track === number);
  if (track) unhideUnit(viewer, unitKey(firstLane(tracks, track)), track.process);
}
