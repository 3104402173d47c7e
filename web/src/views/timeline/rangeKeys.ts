// SPDX-License-Identifier: Apache-2.0
// Shift and arrow keys move one end of the range, as in a text editor. The first step starts a
// range at the selected call, at the pointer, or in the middle of the view.

import { spanLength, orderedSpan, revealingView, sameSpan, type Span } from '../../model/span';
import { sameCall } from '../../model/viewer';
import { callSpan, type Views } from '../context';

/** A step as a share of the visible span. */
const STEP = 0.01;

/** Extends the range with the keyboard. */
export class RangeKeys {
  /** The last range these keys made, and its fixed end. */
  private made: { range: Span; fixed: number } | null = null;

  constructor(private readonly v: Views) {}

  /** Move the end by one step, and keep it in view. */
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
    // An empty range counts as none, but its moving end is still there.
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
      const start = callSpan(call).from;
      if (start >= from && start <= to) return start;
    }
    return inTrace(viewer.pointer.peek() ?? (from + to) / 2);
  }
}
