// SPDX-License-Identifier: Apache-2.0
// How fast bytes go, over the last few seconds, and how long the rest will take.

const WINDOW_MS = 5000;
/** Over less than that a rate says nothing. */
const LEAST_MS = 400;

export class Rate {
  private points: { at: number; bytes: number }[] = [];

  /** `bytes` were there at the time `at`, all together. */
  add(at: number, bytes: number): void {
    const last = this.points.at(-1);
    // An upload that begins again somewhere else has another rate.
    if (last && bytes < last.bytes) this.points = [];
    const cut = at - WINDOW_MS;
    // The newest of the old ones stays: where nothing came for a while the rate falls.
    while (this.points.length > 1 && (this.points[1]?.at ?? at) <= cut) this.points.shift();
    this.points.push({ at, bytes });
  }

  reset(): void {
    this.points = [];
  }

  /** Bytes a second; null: not known yet. */
  perSecond(): number | null {
    const [first, last] = [this.points[0], this.points.at(-1)];
    if (!first || !last || last.at - first.at < LEAST_MS) return null;
    return ((last.bytes - first.bytes) * 1000) / (last.at - first.at);
  }
}

/** "about 20 s left", coarser the longer it is. */
export function timeLeft(bytes: number, perSecond: number | null): string {
  if (perSecond === null || perSecond <= 0) return '';
  const seconds = bytes / perSecond;
  if (seconds < 10) return `about ${Math.max(1, Math.ceil(seconds))} s left`;
  if (seconds < 90) return `about ${Math.ceil(seconds / 5) * 5} s left`;
  if (seconds < 5400) return `about ${Math.ceil(seconds / 60)} min left`;
  if (seconds < 360000) return `about ${Math.ceil(seconds / 3600)} h left`;
  return '';
}
