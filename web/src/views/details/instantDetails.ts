// SPDX-License-Identifier: Apache-2.0
// The details of an instant.

import { formatTimeUnit } from '../../base/format';
import type { InstantDetails } from '../../model/engine';
import { ownerId, trackPlace } from '../../model/names';
import type { Views } from '../context';
import { eventFacts, eventParts, factRow, factTable, frameHead } from './detailsParts';

function instantOwner(v: Views, { scope, of }: InstantDetails): string {
  const { facts } = v.viewer;
  if (scope === 2) return 'the whole trace';
  if (scope === 1) {
    const process = facts.processes[of];
    return `process ${process ? `${ownerId(process)} ${process.name}` : ''}`;
  }
  if (scope === 3) return facts.tracks.find((t) => t.track === of)?.name ?? 'a processor';
  const track = facts.tracks.find((t) => t.thread === of && t.kind === 'thread');
  if (track) return `thread ${trackPlace(track, facts.processes)}`;
  const lone = v.beside.rows.get().threads.find((t) => t.thread === of);
  return lone ? `thread [${lone.key ?? lone.thread_id}] ${lone.name}` : 'a thread';
}

export function instantDetails(
  v: Views,
  instant: InstantDetails,
  flows: HTMLElement,
): HTMLElement[] {
  const unit = v.viewer.unit.peek();
  return [
    ...frameHead(v, instant.frame, instant.colour),
    factTable(
      factRow('Time', formatTimeUnit(instant.time_ns, unit)),
      factRow('Scope', instantOwner(v, instant)),
      ...eventFacts(instant),
    ),
    flows,
    ...eventParts(v, instant),
  ];
}
