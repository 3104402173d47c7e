// SPDX-License-Identifier: Apache-2.0
// Details of the selection: the selected call, the extents of the selected method in view, and the
// call under the pointer.

import { Latest, debounce } from '../base/latest';
import { effect, signal } from '../base/signal';
import type { Call, CallDetails } from './engine';
import { spanLength, type Span } from './span';
import { sameCall, type Viewer } from './viewer';

/** Number of cached details: moving the pointer back shows them at once. */
const HOVERED_KEPT = 400;

/** Ranges of time in which the selected method runs. */
export interface ExtentsOfFrame {
  frame: number;
  covers: Span;
  nsPerPixel: number;
  /** By track: start, end, start, end ... */
  tracks: ReadonlyMap<number, readonly number[]>;
}

/** Holds the details of the selection. */
export class SelectionStore {
  readonly details = signal<CallDetails | null>(null);
  readonly extents = signal<ExtentsOfFrame | null>(null);
  readonly hovered = signal<CallDetails | null>(null);
  private readonly askingDetails: Latest;
  private readonly askingExtents: Latest;
  private readonly askingHover: Latest;
  private readonly seen = new Map<string, CallDetails>();
  private width = 1000;

  constructor(private readonly viewer: Viewer) {
    this.askingDetails = new Latest((error) => {
      // A call from an old link may not exist.
      viewer.call.set(null);
      viewer.failed(error);
    });
    this.askingExtents = new Latest(viewer.failed);
    this.askingHover = new Latest(viewer.failed);
    effect(() => this.loadDetails(viewer.call.get()));
    const loadHover = debounce(30, () => this.loadHover());
    effect(() => {
      const call = viewer.hover.get()?.hit.call ?? null;
      this.hovered.set(call ? (this.seen.get(`${call.row}.${call.index}`) ?? null) : null);
      loadHover();
    });
    const loadExtents = debounce(40, () => this.loadExtents());
    effect(() => {
      const frame = viewer.frame.get();
      viewer.view.get();
      if (this.extents.peek()?.frame !== frame) this.extents.set(null);
      loadExtents();
    });
  }

  /** Set the width of the timeline in pixels, which determines the resolution of extents. */
  setWidth(pixels: number): void {
    this.width = Math.max(100, pixels);
  }

  private loadDetails(call: Call | null): void {
    this.askingDetails.cancel();
    if (!call) return this.details.set(null);
    if (sameCall(this.details.peek(), call)) return;
    this.askingDetails.run(
      (signal) => this.viewer.engine.slice(call, signal),
      (details) => {
        this.remember(details);
        this.details.set(details);
        if (this.viewer.frame.peek() !== details.frame) this.viewer.frame.set(details.frame);
      },
    );
  }

  private loadHover(): void {
    const call = this.viewer.hover.peek()?.hit.call;
    if (!call || this.hovered.peek()) return;
    this.askingHover.run(
      (signal) => this.viewer.engine.slice(call, signal),
      (details) => {
        this.remember(details);
        if (sameCall(this.viewer.hover.peek()?.hit.call ?? null, details))
          this.hovered.set(details);
      },
    );
  }

  private remember(details: CallDetails): void {
    this.seen.set(`${details.row}.${details.index}`, details);
    for (const key of this.seen.keys()) {
      if (this.seen.size <= HOVERED_KEPT) break;
      this.seen.delete(key);
    }
  }

  /**
   * Ask where the selected method runs in the view, unless an earlier answer covers it at about
   * this zoom.
   */
  private loadExtents(): void {
    const frame = this.viewer.frame.peek();
    if (frame === null || this.viewer.frames.isPackage(frame)) return;
    const view = this.viewer.view.peek();
    const nsPerPixel = spanLength(view) / this.width;
    const old = this.extents.peek();
    if (
      old &&
      old.frame === frame &&
      old.covers.from <= view.from &&
      old.covers.to >= view.to &&
      old.nsPerPixel < nsPerPixel * 2 &&
      old.nsPerPixel > nsPerPixel / 2
    )
      return;
    // Ask for a screen more on both sides, so that panning finds brackets at once.
    const covers = { from: view.from - spanLength(view), to: view.to + spanLength(view) };
    const from = Math.max(this.viewer.bounds.from, Math.floor(covers.from));
    const to = Math.min(this.viewer.bounds.to, Math.ceil(covers.to));
    if (to <= from) return;
    const pixels = Math.max(16, Math.round((to - from) / nsPerPixel));
    this.askingExtents.run(
      (signal) => this.viewer.engine.extents(frame, { from, to }, pixels, signal),
      (answer) => this.extents.set({ frame, covers, nsPerPixel, tracks: new Map(answer.tracks) }),
    );
  }
}
