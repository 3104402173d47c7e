// SPDX-License-Identifier: Apache-2.0
// Brings the row of a counter into view, after opening what hides it.

import { flushEffects } from '../../base/signal';
import type { RowBox } from '../../model/layout';
import type { Row } from '../../model/rows';
import { unhideUnit } from '../../model/unhide';
import type { Viewer } from '../../model/viewer';
import type { TimelineView } from './timelineView';

/** Open the fold line that holds the counters of a process. */
function openFold(viewer: Viewer, line: TimelineView, process: number): void {
  for (const { row } of line.placed.peek().rows)
    if (row.kind === 'fold' && row.what === 'counter' && row.process === process && !row.open)
      viewer.toggleFold(row.key);
}

/** Show a counter, and scroll as little as possible. */
export function showCounter(viewer: Viewer, line: TimelineView, counter: number): void {
  const isIts = (row: Row): boolean => row.kind === 'counter' && row.counter.counter === counter;
  const find = (): RowBox | undefined => {
    flushEffects();
    return line.placed.peek().rows.find((box) => isIts(box.row));
  };
  const row = line.rows.peek().find(isIts);
  if (!row) return;
  if (!find() && viewer.closed.peek().has(row.process)) viewer.toggleProcess(row.process);
  if (!find()) openFold(viewer, line, row.process);
  if (!find()) unhideUnit(viewer, row.key, row.process);
  const box = find();
  if (box) line.showBetween(box.top, box.top + box.height);
}
