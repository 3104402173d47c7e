// SPDX-License-Identifier: Apache-2.0
// Keeps the arrangement of the time line for the next trace of the same kind: in the browser, by
// names.  An address that tells an arrangement of its own is taken as it is.

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
import { store, stored } from '../settings';

/** The arrangement of an address, of which nothing is to be kept until somebody changes it. */
function isTold(viewer: Viewer): boolean {
  return isArranged(viewer.arrangement.peek()) || viewer.closed.peek().size > 0;
}

/** `before`: what another page of the same trace remembered.  Returns what this one does. */
export function rememberTracks(
  viewer: Viewer,
  rows: ReadSignal<readonly Row[]>,
  before: StoredArrangement | null = null,
): () => StoredArrangement {
  const place = `tracks.${viewer.facts.format}`;
  let kept: StoredArrangement = before ?? readStoredArrangement(stored(place));
  /** What was recalled: changed as soon as somebody arranges anything. */
  let arrangement = viewer.arrangement.peek();
  let closed = viewer.closed.peek();
  const untouched = (): boolean =>
    viewer.arrangement.peek() === arrangement && viewer.closed.peek() === closed;
  const told = isTold(viewer);
  // Rows come later than tracks: each time what is remembered of them finds its place.
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
      store(place, JSON.stringify(kept));
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
