// SPDX-License-Identifier: Apache-2.0
// Events around the view, which the page asks for again when the view has come to rest. The
// question covers a screen more on both sides, so that small movements need no new question.

import { Latest, debounce } from '../base/latest';
import { effect, signal, type Signal } from '../base/signal';
import { spanLength, type Span } from './span';
import type { Viewer } from './viewer';

const MOST_PIXELS = 8192;
const REST = 40;

/** A question about a range of time; `pixels` is the resolution of the answer. */
export type RangeQuestion<T> = (range: Span, pixels: number, signal: AbortSignal) => Promise<T>;

/** Holds the answer for the current view. Construct it, then call start. */
export class InView<T> {
  readonly answer: Signal<T>;
  private covers: (Span & { nsPerPixel: number }) | null = null;
  private width = 1000;
  private readonly asking: Latest;
  private readonly load = debounce(REST, () => this.run());

  constructor(
    private readonly viewer: Viewer,
    private readonly ask: RangeQuestion<T>,
    empty: T,
  ) {
    this.answer = signal(empty);
    this.asking = new Latest(viewer.failed);
  }

  /** Follow the view from now on. */
  start(): void {
    effect(() => {
      this.viewer.view.get();
      this.load();
    });
  }

  /** Ask again, because the question itself has changed. */
  again(): void {
    this.covers = null;
    this.load();
  }

  setWidth(pixels: number): void {
    this.width = Math.max(100, pixels);
  }

  private run(): void {
    const view = this.viewer.view.peek();
    const nsPerPixel = spanLength(view) / this.width;
    const old = this.covers;
    const near = old && Math.abs(Math.log(old.nsPerPixel / nsPerPixel)) < Math.log(1.5);
    if (near && old.from <= view.from && old.to >= view.to) return;
    const from = Math.floor(view.from - spanLength(view));
    const to = Math.ceil(view.to + spanLength(view));
    const pixels = Math.min(MOST_PIXELS, 3 * Math.round(this.width));
    this.asking.run(
      (signal) => this.ask({ from, to }, pixels, signal),
      (answer) => {
        this.covers = { from, to, nsPerPixel };
        this.answer.set(answer);
      },
    );
  }
}
