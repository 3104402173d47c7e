// SPDX-License-Identifier: Apache-2.0
// The frame that the flame graph is zoomed to. Path numbers are valid in one graph only, so the
// zoom belongs to a graph and is forgotten when another one is shown.

import { signal } from '../base/signal';
import type { FlameFrame } from './address';

/** The path of frames from the root of a flame graph to the zoomed frame. */
export class FlameZoom {
  private readonly state = signal<{ of: string; way: readonly FlameFrame[] }>({ of: '', way: [] });

  /** `graph` returns a text that identifies the shown graph. */
  constructor(private readonly graph: () => string) {}

  /** Return the path to the zoomed frame; empty: the whole graph is shown. */
  way(): readonly FlameFrame[] {
    const { of, way } = this.state.get();
    return of === this.graph() ? way : [];
  }

  set(way: readonly FlameFrame[]): void {
    this.state.set({ of: this.graph(), way });
  }

  /** Zoom to the frame that an address names, along the known path if the frame is on it. */
  goTo(frame: FlameFrame | null): void {
    const { way } = this.state.peek();
    const at = way.findIndex((known) => known.path === frame?.path);
    this.set(frame === null ? [] : at >= 0 ? way.slice(0, at + 1) : [frame]);
  }
}
