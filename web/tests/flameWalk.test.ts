// SPDX-License-Identifier: Apache-2.0
// From frame to frame of a flame graph with the arrow keys.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import type { FlameGraph } from '../src/model/engine';
import { nextFlameFrame, widestFlameFrame } from '../src/model/flameWalk';

/** main (0 to 10) calls a (0 to 4) and b (4 to 10); a calls b (1 to 3). */
const GRAPH: FlameGraph = {
  total: 10,
  leftOut: 0,
  start: Float64Array.from([0, 0, 4, 1]),
  width: Float64Array.from([10, 4, 6, 2]),
  self: Float64Array.from([0, 2, 6, 2]),
  depth: Uint32Array.from([0, 1, 1, 2]),
  frame: Uint32Array.from([7, 8, 9, 9]),
  path: Uint32Array.from([1, 2, 3, 4]),
  calls: Uint32Array.from([1, 1, 1, 1]),
};

test('the walk begins at the widest frame of a method', () => {
  assert.equal(widestFlameFrame(GRAPH, 9), 2);
  assert.equal(widestFlameFrame(GRAPH, 8), 1);
  assert.equal(widestFlameFrame(GRAPH, 5), -1);
  assert.equal(widestFlameFrame(GRAPH, null), -1);
});

test('arrows lead to the widest callee, to the caller and along the row', () => {
  assert.equal(nextFlameFrame(GRAPH, 0, 'ArrowDown'), 2);
  assert.equal(nextFlameFrame(GRAPH, 1, 'ArrowDown'), 3);
  assert.equal(nextFlameFrame(GRAPH, 3, 'ArrowUp'), 1);
  assert.equal(nextFlameFrame(GRAPH, 1, 'ArrowRight'), 2);
  assert.equal(nextFlameFrame(GRAPH, 2, 'ArrowLeft'), 1);
  assert.equal(nextFlameFrame(GRAPH, 2, 'ArrowRight'), -1);
  assert.equal(nextFlameFrame(GRAPH, 2, 'ArrowDown'), -1);
});
