// SPDX-License-Identifier: Apache-2.0
// Keyboard navigation between the frames of a flame graph.

import type { FlameGraph } from './engine';

/** Return the entry of a method's widest frame; -1: it has none. */
export function widestFlameFrame(graph: FlameGraph, frame: number | null): number {
  let best = -1;
  for (let i = 0; i < graph.frame.length; i++) {
    if (graph.frame[i] !== frame) continue;
    if (best < 0 || (graph.width[i] ?? 0) > (graph.width[best] ?? 0)) best = i;
  }
  return best;
}

/**
 * Return the entry that an arrow key leads to: the widest callee, the caller, or the next frame of
 * the same level; -1: none.
 */
export function nextFlameFrame(graph: FlameGraph, from: number, key: string): number {
  const depth = graph.depth[from] ?? 0;
  const start = graph.start[from] ?? 0;
  const end = start + (graph.width[from] ?? 0);
  const wanted = depth + (key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0);
  let best = -1;
  for (let i = 0; i < graph.depth.length; i++) {
    if (graph.depth[i] !== wanted || i === from) continue;
    const a = graph.start[i] ?? 0;
    const b = a + (graph.width[i] ?? 0);
    // A caller or callee overlaps the frame horizontally.
    if (wanted !== depth && (b <= start + 1e-6 || a >= end - 1e-6)) continue;
    if (key === 'ArrowRight' && a < end - 1e-6) continue;
    if (key === 'ArrowLeft' && b > start + 1e-6) continue;
    const better =
      best < 0 ||
      (key === 'ArrowRight'
        ? a < (graph.start[best] ?? 0)
        : key === 'ArrowLeft'
          ? a > (graph.start[best] ?? 0)
          : (graph.width[i] ?? 0) > (graph.width[best] ?? 0));
    if (better) best = i;
  }
  return best;
}
