// SPDX-License-Identifier: Apache-2.0
// Find in the profile table: typing goes to the first match; Enter selects it and goes on.

import { formatCount } from '../../base/format';
import { signal } from '../../base/signal';
import type { Views } from '../context';
import type { Findable } from './findBox';
import type { ProfileTable } from './profileTable';

/** Return the find box interface of the profile table. */
export function profileFind(v: Views, table: ProfileTable): Findable {
  const { viewer, profile } = v;
  /** The match under the cursor. It is a signal because the cursor of the table is not. */
  const moved = signal(0);

  /** Go to the match at or after the cursor (0), the next one (1) or the previous one (-1). */
  const jump = (direction: 0 | 1 | -1): number | null => {
    const found = profile.found.peek();
    if (found.length === 0) return null;
    const order = profile.sorted.peek().map((m) => m.frame);
    const cursor = order.indexOf(table.cursorMethod ?? -1);
    const at = found.indexOf(order[cursor] ?? NaN);
    let next: number;
    if (at >= 0) next = (at + direction + found.length) % found.length;
    else {
      const after = found.findIndex((frame) => order.indexOf(frame) > cursor);
      next = direction === -1 ? (after <= 0 ? found.length : after) - 1 : Math.max(0, after);
    }
    const frame = found[next] ?? null;
    if (frame !== null) table.showMethod(frame);
    moved.update((n) => n + 1);
    return frame;
  };

  return {
    jumps: true,
    text() {
      const found = profile.found.get();
      viewer.frame.get();
      moved.get();
      if (found.length === 0) return '0 of 0';
      const at = found.indexOf(table.cursorMethod ?? -1);
      return `${at < 0 ? '–' : formatCount(at + 1)} of ${formatCount(found.length)}`;
    },
    miss: () => profile.found.get().length === 0 && profile.answer.get() !== null,
    typed: () => void jump(0),
    step(direction) {
      const here = jump(0);
      const frame = here !== null && here === viewer.frame.peek() ? jump(direction) : here;
      if (frame !== null && frame >= 0) viewer.selectFrame(frame);
    },
    focus: () => table.focus(),
  };
}
