// SPDX-License-Identifier: Apache-2.0
// Shift and arrows: one end of the range goes to the left or the right, as in a text.  The first
// step begins a range at the selected call, at the pointer, or in the middle of what is seen.

import { spanLength, orderedSpan, revealingView, sameSpan, type Span } from '../../model/span';
import { sameCall } from '../../model/viewer';
import { spanOf, type Views } from '../context';

/** Of what is seen. */
const STEP = 0.01;

export class RangeKeys {
  /** The range these keys made last, by the end that stands and the one that moves. */
  private made: { range: Span; fixed: number } | null = null;

  constructor(private readonly v: Views) {}

  /** Whole steps; the end stays in view. */
  move(direction: 1 | -1): void {
    const { viewer, mover } = this.v;
    const step = Math.max(1, Math.round(spanLength(mover.goal) * STEP)) * direction;
    const { fixed, moving } = this.ends();
    const { from, to } = viewer.bounds;
    const end = Math.max(from, Math.min(to, moving + step));
    const range = orderedSpan(fixed, end);
    this.made = { range, fixed };
    viewer.setRange(range);
    const edge = { from: end - Math.abs(step), to: end + Math.abs(step) };
    mover.glide(revealingView(mover.goal, edge, viewer.bounds));
  }

  private ends(): { fixed: number; moving: number } {
    const range = this.v.viewer.range.peek();
    // Back at its start a range is none, but its end has not moved.
    if (this.made && (range === null ? spanLength(this.made.range) === 0 : this.isMade(range))) {
      const { fixed } = this.made;
      const { from, to } = this.made.range;
      return { fixed, moving: fixed === from ? to : from };
    }
    if (range) return { fixed: range.from, moving: range.to };
    const at = Math.round(this.start());
    return { fixed: at, moving: at };
  }

  private isMade(range: Span): boolean {
    return this.made !== null && sameSpan(range, this.made.range);
  }

  private start(): number {
    const { viewer, selection, mover } = this.v;
    const { from, to } = mover.goal;
    const call = selection.details.peek();
    const { from: first, to: last } = viewer.bounds;
    const inTrace = (t: number): number => Math.max(first, Math.min(last, t));
    if (call && sameCall(viewer.call.peek(), call)) {
      const start = spanOf(call).from;
      if (start >= from && start <= to) return start;
    }
    return inTrace(viewer.pointer.peek() ?? (from + to) / 2);
  }
}
