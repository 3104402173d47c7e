// SPDX-License-Identifier: Apache-2.0
// The transfer rate over the last few seconds, and the remaining time.

const WINDOW_MS = 5000;
/** A rate over a shorter time is unreliable. */
const LEAST_MS = 400;

/** Measures a transfer rate. */
export class Rate {
  private points: { at: number; bytes: number }[] = [];

  /** Record that `bytes` had been transferred in total at time `at`. */
  add(at: number, bytes: number): void {
    const last = this.points.at(-1);
    // The upload restarted at an earlier offset, so the old rate is void.
    if (last && bytes < last.bytes) this.points = [];
    const cut = at - WINDOW_MS;
    // Keep the newest of the old points, so that the rate falls while nothing arrives.
    while (this.points.length > 1 && (this.points[1]?.at ?? at) <= cut) this.points.shift();
    this.points.push({ at, bytes });
  }

  reset(): void {
    this.points = [];
  }

  /** Bytes per second; null if it is not known yet. */
  perSecond(): number | null {
    const [first, last] = [this.points[0], this.points.at(-1)];
    if (!first || !last || last.at - first.at < LEAST_MS) return null;
    return ((last.bytes - first.bytes) * 1000) / (last.at - first.at);
  }
}

/** Return "about 20 s left", rounded more coarsely the longer it is. */
export function timeLeft(bytes: number, perSecond: number | null): string {
  if (perSecond === null || perSecond <= 0) return '';
  const seconds = bytes / perSecond;
  if (seconds < 10) return `about ${Math.max(1, Math.ceil(seconds))} s left`;
  if (seconds < 90) return `about ${Math.ceil(seconds / 5) * 5} s left`;
  if (seconds < 5400) return `about ${Math.ceil(seconds / 60)} min left`;
  if (seconds < 360000) return `about ${Math.ceil(seconds / 3600)} h left`;
  return '';
}
