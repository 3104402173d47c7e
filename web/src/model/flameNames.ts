// SPDX-License-Identifier: Apache-2.0
// What stands on the frames of a flame graph: names of methods, and of threads where they stand
// side by side.

import { THREAD_FRAME, type TraceFacts } from './engine';
import { idOf, type Frames } from './names';

export class FlameNames {
  private readonly threads = new Map<number, string>();

  constructor(
    private readonly frames: Frames,
    facts: Pick<TraceFacts, 'tracks' | 'idle_threads'>,
  ) {
    for (const owner of [...facts.idle_threads, ...facts.tracks])
      if (owner.thread >= 0 && !('kind' in owner && owner.kind !== 'thread'))
        this.threads.set(owner.thread, `[${idOf(owner)}] ${owner.name}`);
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

  /** Of the theme's bars; -1: a grey one. */
  colour(frame: number): number {
    return FlameNames.isThread(frame) ? -1 : this.frames.colour(frame);
  }
}
