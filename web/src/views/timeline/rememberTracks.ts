// SPDX-License-Identifier: Apache-2.0
// Stores the arrangement of the time line, by names, in the browser for the next trace of the same
// kind. An arrangement in the page address takes precedence.

import { effect, untracked, type ReadSignal } from '../../base/signal';
import { isArranged } from '../../model/arrangement';
import {
  arrangeableNames,
  readStoredArrangement,
  applyStoredArrangement,
  updateStoredArrangement,
  type StoredArrangement,
} from '../../model/storedArrangement';
import type { Row } from '../../model/rows';
import type { Viewer } from '../../model/viewer';
import { writeSetting, readSetting } from '../settings';

/**
 * Return true if the arrangement came from an address. It is not stored until the user changes it.
 */
function hasArrangementInAddress(viewer: Viewer): boolean {
  return isArranged(viewer.arrangement.peek()) || viewer.closed.peek().size > 0;
}

/**
 * Restore and then store the arrangement. `before` is what another page of the same trace
 * remembered. Return what this page remembers.
 */
export function rememberTracks(
  viewer: Viewer,
  rows: ReadSignal<readonly Row[]>,
  before: StoredArrangement | null = null,
): () => StoredArrangement {
  const place = `tracks.${viewer.facts.format}`;
  let kept: StoredArrangement = before ?? readStoredArrangement(readSetting(place));
  /** The restored arrangement, to detect changes by the user. */
  let arrangement = viewer.arrangement.peek();
  let closed = viewer.closed.peek();
  const untouched = (): boolean =>
    viewer.arrangement.peek() === arrangement && viewer.closed.peek() === closed;
  const told = hasArrangementInAddress(viewer);
  // Rows load later than tracks, so match the stored names again each time.
  effect(() => {
    const names = arrangeableNames(viewer.facts, rows.get());
    if (told || !untracked(untouched)) return;
    const found = applyStoredArrangement(kept, names);
    if (isArranged(found.arrangement)) viewer.arrangement.set(found.arrangement);
    if (found.closed.length > 0) viewer.closed.set(new Set(found.closed));
    arrangement = viewer.arrangement.peek();
    closed = viewer.closed.peek();
  });
  effect(() => {
    const now = viewer.arrangement.get();
    const shut = viewer.closed.get();
    untracked(() => {
      if (untouched()) return;
      kept = updateStoredArrangement(kept, now, shut, arrangeableNames(viewer.facts, rows.peek()));
      writeSetting(place, JSON.stringify(kept));
    });
  });
  return () =>
    updateStoredArrangement(
      kept,
      viewer.arrangement.peek(),
      viewer.closed.peek(),
      arrangeableNames(viewer.facts, rows.peek()),
    );
}
