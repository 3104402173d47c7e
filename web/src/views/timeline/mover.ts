// SPDX-License-Identifier: Apache-2.0
// Moves the visible range: at once under the hand, in 160 ms for keys and jumps.  A new move starts
// from what is on the screen and replaces the old one; moves never queue.

import type { Signal } from '../../base/signal';
import { interpolateSpan, pannedView, sameSpan, zoomedView, type Span } from '../../model/span';

const DURATION = 160;

/** cubic-bezier(.2, 0, 0, 1), near enough: fast at once, long in coming to rest. */
function ease(share: number): number {
  return 1 - (1 - share) ** 4;
}

export class Mover {
  private target: Span;
  private from: Span;
  private began = 0;
  private frame = 0;

  constructor(
    private readonly view: Signal<Span>,
    private readonly bounds: Span,
  ) {
    this.target = view.peek();
    this.from = this.target;
  }

  /** Where the range is going, which is where it is unless it is moving. */
  get goal(): Span {
    return this.frame === 0 ? this.view.peek() : this.target;
  }

  jump(span: Span): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.view.set(span);
  }

  glide(span: Span): void {
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return this.jump(span);
    if (sameSpan(span, this.goal)) return;
    this.from = this.view.peek();
    this.target = span;
    this.began = performance.now();
    if (this.frame === 0) this.frame = requestAnimationFrame(this.tick);
  }

  zoom(factor: number, at: number, glide: boolean): void {
    const span = zoomedView(this.goal, factor, at, this.bounds);
    if (glide) this.glide(span);
    else this.jump(span);
  }

  pan(ns: number, glide: boolean): void {
    const span = pannedView(this.goal, ns, this.bounds);
    if (glide) this.glide(span);
    else this.jump(span);
  }

  private readonly tick = (now: number): void => {
    const share = Math.min(1, Math.max(0, (now - this.began) / DURATION));
    this.frame = share < 1 ? requestAnimationFrame(this.tick) : 0;
    this.view.set(share < 1 ? interpolateSpan(this.from, this.target, ease(share)) : this.target);
  };
}
