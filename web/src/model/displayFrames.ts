// SPDX-License-Identifier: Apache-2.0
// Frames of a display: figures and late frames of the selected range and tracks, as the engine
// answers them. (`Frames` elsewhere are those of stacks.)

import { ScopeAnswer } from './scopeAnswer';
import type { Viewer } from './viewer';

/** Frames, late ones, unfinished ones; median, 95th and 99th percentile and maximum of their lengths. */
export type DisplayFigures = [
  frames: number,
  late: number,
  unfinished: number,
  p50: number,
  p95: number,
  p99: number,
  max: number,
];

/** A late frame, and the slice that stands for it. */
export type LateFrame = [
  row: number,
  index: number,
  start: number,
  length: number,
  /** Counted from the start; null: the trace itself says which frames are late. */
  deadline: number | null,
  process: number,
  track: number,
  frame: number,
  /** Time of the main and the render thread; 0: unknown. */
  main: number,
  render: number,
  /** The frame (of stacks) with most time of its own, -1: unknown; and that time. */
  cause: number,
  causeTime: number,
  unfinished: boolean,
  /** Why it was late, as the trace says; or empty. */
  reason: string,
];

/** The answer to `display_frames`. */
export interface DisplayFrames {
  all: DisplayFigures;
  /** By process, most late frames first. */
  processes: [process: number, ...DisplayFigures][];
  /** The sources of the deadlines, in sentences. */
  deadlines: string[];
  late: LateFrame[];
  left_out: number;
}

/** A frame in the time line, or the first of `count` frames of a process that share a pixel. */
export interface DisplayMark {
  process: number;
  start: number;
  end: number;
  deadline: number | null;
  row: number;
  index: number;
  count: number;
  late: boolean;
}

/** Holds the display frames of the current scope. */
export class DisplayFramesStore extends ScopeAnswer<DisplayFrames> {
  constructor(viewer: Viewer, shown: () => boolean) {
    super(viewer, shown, (scope, signal) => viewer.engine.displayFrames(scope, signal));
  }
}

/** Return how late a frame was; null: it has no deadline. */
export function lateBy([, , , length, deadline]: LateFrame): number | null {
  return deadline === null ? null : length - deadline;
}
