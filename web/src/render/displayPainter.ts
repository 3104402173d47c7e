// SPDX-License-Identifier: Apache-2.0
// Rows of display frames: a bar for each frame, low and green if it was in time, high and red if it
// was late; a line at its deadline, and what was left until then below it.
//
//      late            in time
//     ████|████                  |
//     ████|████       ███████    |
//     ████|████       ███████____|

import { eventColour } from '../model/colours';
import type { DisplayMark } from '../model/displayFrames';
import type { Call } from '../model/engine';
import type { RowBox } from '../model/layout';
import type { DisplayRow } from '../model/rows';
import type { Surface } from './surface';
import type { Theme } from './theme';
import type { TimeScale } from './timeScale';

export interface DisplayScene {
  theme: Theme;
  scale: TimeScale;
  /** The selected call. */
  selected: Call | null;
}

/** The reserved colours "good" and "terrible". */
const IN_TIME = 12;
const LATE = 14;
const MARGIN = 3;
const REACH = 2;
/** A deadline nearer to the start than this is not drawn. */
const LEAST = 8;

/** Group marks by process; late ones come last, so that they are painted above the others. */
export function marksByProcess(marks: readonly DisplayMark[]): Map<number, DisplayMark[]> {
  const found = new Map<number, DisplayMark[]>();
  for (const mark of marks) {
    const own = found.get(mark.process);
    if (own) own.push(mark);
    else found.set(mark.process, [mark]);
  }
  for (const own of found.values()) own.sort((a, b) => Number(a.late) - Number(b.late));
  return found;
}

/** Return the colour of late frames, or of others. */
export function displayColour(theme: Theme, late: boolean): string {
  return theme.bars[eventColour(late ? LATE : IN_TIME, -1)] ?? theme.colour.hit;
}

function paintDeadline(
  g: Surface,
  s: DisplayScene,
  mark: DisplayMark,
  top: number,
  foot: number,
): void {
  if (mark.deadline === null || mark.count > 1) return;
  const [start, end, at] = [mark.start, mark.end, mark.start + mark.deadline].map((t) =>
    Math.round(s.scale.x(t)),
  ) as [number, number, number];
  if (at - start < LEAST) return;
  g.fillStyle = s.theme.colour[mark.late ? 'bg' : 'text-2'];
  g.fillRect(at, top, 1, foot - top);
  if (at > end) g.fillRect(end, foot - 1, at - end, 1);
}

/** Paint a frame of the display: late ones are higher, and all have their deadline marked. */
function paintFrame(
  g: Surface,
  s: DisplayScene,
  mark: DisplayMark,
  top: number,
  foot: number,
): void {
  const x0 = Math.round(s.scale.x(mark.start));
  const x1 = Math.round(s.scale.x(mark.end));
  if (x1 < -2 || x0 > s.scale.width + 2) return;
  const width = Math.max(1, x1 - x0 - (x1 - x0 > 3 ? 1 : 0));
  const high = mark.late ? foot - top : Math.round((foot - top) * 0.6);
  g.fillStyle = displayColour(s.theme, mark.late);
  g.fillRect(x0, foot - high, width, high);
  paintDeadline(g, s, mark, top, foot);
  if (s.selected?.row !== mark.row || s.selected.index !== mark.index) return;
  g.strokeStyle = s.theme.colour.select;
  g.lineWidth = 2;
  g.strokeRect(x0 - 1, foot - high - 1, width + 2, high + 2);
}

/** Paint the rows of display frames. */
export function paintDisplayFrames(
  g: Surface,
  s: DisplayScene,
  boxes: readonly RowBox<DisplayRow>[],
  marks: readonly DisplayMark[],
  scroll: number,
): void {
  if (boxes.length === 0) return;
  const lists = marksByProcess(marks);
  for (const box of boxes) {
    const y = box.top - scroll;
    g.fillStyle = s.theme.colour.line;
    g.fillRect(0, y, s.scale.width, 1);
    for (const mark of lists.get(box.row.process) ?? [])
      paintFrame(g, s, mark, y + MARGIN, y + box.height - MARGIN);
  }
}

/** Return the frame of a process at x: a late one first, of several the shortest. */
export function displayMarkAt(
  { scale }: Pick<DisplayScene, 'scale'>,
  process: number,
  marks: readonly DisplayMark[],
  x: number,
): DisplayMark | null {
  const hit = marks.filter(
    (mark) =>
      mark.process === process &&
      scale.x(mark.start) - REACH <= x &&
      scale.x(mark.end) + REACH >= x,
  );
  const order = (a: DisplayMark, b: DisplayMark): number =>
    Number(b.late) - Number(a.late) || a.end - a.start - (b.end - b.start);
  return hit.sort(order)[0] ?? null;
}
