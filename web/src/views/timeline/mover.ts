// SPDX-License-Identifier: Apache-2.0
// Moves the visible range: immediately for drags and wheel, in 160 ms for keys and jumps. A new
// move starts from the current picture and replaces the old one; moves never queue.

import type { Signal } from '../../base/signal';
import { interpolateSpan, pannedView, sameSpan, zoomedView, type Span } from '../../model/span';

const DURATION = 160;

/** Approximate cubic-bezier(.2, 0, 0, 1): a fast start and a slow end. */
function easeMove(share: number): number {
  return 1 - (1 - share) ** 4;
}

/** Animates the visible range. */
export class Mover {
  private target: Span;
  private from: Span;
  private began = 0;
  private frame = 0;

  constructor(
    private readonly view: Signal<Span>,
    private readonly bounds: () => Span,
  ) {
    this.target = view.peek();
    this.from = this.target;
  }

  /** The range at the end of the current move. */
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
    const span = zoomedView(this.goal, factor, at, this.bounds());
    if (glide) this.glide(span);
    else this.jump(span);
  }

  pan(ns: number, glide: boolean): void {
    const span = pannedView(this.goal, ns, this.bounds());
    if (glide) this.glide(span);
    else this.jump(span);
  }

  private readonly tick = (now: number): void => {
    const share = Math.min(1, Math.max(0, (now - this.began) / DURATION));
    this.frame = share < 1 ? requestAnimationFrame(this.tick) : 0;
    this.view.set(
      share < 1 ? interpolateSpan(this.from, this.target, easeMove(share)) : this.target,
    );
  };
}
