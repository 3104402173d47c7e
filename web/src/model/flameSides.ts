// SPDX-License-Identifier: Apache-2.0
// Sandwich view: the callers of a method above it, its callees below. The engine answers with one
// graph for each side, both rooted at the method. This module joins them into one graph whose
// depths count from the top:
//
//     caller | caller      depth 0        graph of callers, upside down
//         method           depth 1        root of both graphs
//     callee | callee      depth 2        graph of callees

import type { FlameGraph } from './engine';

/** Marks callers in the `self` column: their exclusive time has no meaning here. */
export const NO_SELF = -1;

/** Return one column: the kept entries of the graph above, then all entries of the graph below. */
function joinColumn<T extends Float64Array | Uint32Array>(
  make: (n: number) => T,
  above: T,
  kept: readonly number[],
  below: T,
): T {
  const made = make(kept.length + below.length);
  kept.forEach((i, k) => {
    made[k] = above[i] ?? 0;
  });
  made.set(below, kept.length);
  return made;
}

/**
 * Join the graph of callers and the graph of callees; the method itself is taken from the latter.
 */
export function joinSides(callers: FlameGraph, callees: FlameGraph): FlameGraph {
  const kept: number[] = [];
  let levels = 0;
  callers.depth.forEach((depth, i) => {
    if (depth > 0) kept.push(i);
    if (depth > levels) levels = depth;
  });
  const times = (n: number): Float64Array<ArrayBuffer> => new Float64Array(n);
  const numbers = (n: number): Uint32Array<ArrayBuffer> => new Uint32Array(n);
  const joined = {
    total: callees.total,
    leftOut: callers.leftOut + callees.leftOut,
    start: joinColumn(times, callers.start, kept, callees.start),
    width: joinColumn(times, callers.width, kept, callees.width),
    self: joinColumn(times, callers.self, kept, callees.self).fill(NO_SELF, 0, kept.length),
    frame: joinColumn(numbers, callers.frame, kept, callees.frame),
    path: joinColumn(numbers, callers.path, kept, callees.path),
    calls: joinColumn(numbers, callers.calls, kept, callees.calls),
    depth: joinColumn(numbers, callers.depth, kept, callees.depth),
  };
  for (let k = 0; k < joined.depth.length; k++) {
    const depth = joined.depth[k] ?? 0;
    joined.depth[k] = k < kept.length ? levels - depth : levels + depth;
  }
  return joined;
}
