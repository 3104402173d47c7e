// SPDX-License-Identifier: Apache-2.0
// Names and colours of the frames of a flame graph: methods, and threads if each is drawn on its
// own.

import { THREAD_FRAME } from './engine';
import type { TraceFacts } from './traceFacts';
import { ownerId, type Frames } from './names';

/** Names of the frames of one trace, with threads. */
export class FlameNames {
  private readonly threads = new Map<number, string>();

  constructor(
    private readonly frames: Frames,
    facts: Pick<TraceFacts, 'tracks' | 'idle_threads'>,
  ) {
    for (const owner of [...facts.idle_threads, ...facts.tracks])
      if (owner.thread >= 0 && !('kind' in owner && owner.kind !== 'thread'))
        this.threads.set(owner.thread, `[${ownerId(owner)}] ${owner.name}`);
  }

  static isThread(frame: number): boolean {
    return frame >= THREAD_FRAME;
  }

  short(frame: number): string {
    if (!FlameNames.isThread(frame)) return this.frames.short(frame);
    return this.threads.get(frame - THREAD_FRAME) ?? 'thread';
  }

  method(frame: number): string {
    return FlameNames.isThread(frame) ? this.short(frame) : this.frames.method(frame);
  }

  isKernel(frame: number): boolean {
    return !FlameNames.isThread(frame) && this.frames.isKernel(frame);
  }

  /** Return a colour number of the theme; -1: grey. */
  colour(frame: number): number {
    return FlameNames.isThread(frame) ? -1 : this.frames.colour(frame);
  }
}
