// SPDX-License-Identifier: Apache-2.0
// Rows of marks. Samples are ticks whose height grows with the number of samples in a pixel; memory
// dumps are diamonds.

import type { MemoryDump, Sample } from '../model/nonSliceEvents';
import { eventColour } from '../model/colours';
import type { RowBox } from '../model/layout';
import type { Mark } from '../model/marks';
import type { Frames } from '../model/names';
import type { MemoryRow, SamplesRow } from '../model/rows';
import type { Surface } from './surface';
import type { Theme } from './theme';
import type { TimeScale } from './timeScale';

export interface MarkScene {
  theme: Theme;
  scale: TimeScale;
  frames: Frames;
  selected: Mark | null;
}

const REACH = 4;
const MARGIN = 3;
const DIAMOND = 5;

function paintMarkRowLine(g: Surface, s: MarkScene, y: number): void {
  g.fillStyle = s.theme.colour.line;
  g.fillRect(0, y, s.scale.width, 1);
}

/** Group samples by thread. */
function samplesByThread(samples: readonly Sample[]): Map<number, Sample[]> {
  const found = new Map<number, Sample[]>();
  for (const sample of samples) {
    const own = found.get(sample.thread);
    if (own) own.push(sample);
    else found.set(sample.thread, [sample]);
  }
  return found;
}

/** Paint the sample rows. The tallest tick of a row is the pixel with the most samples. */
export function paintSamples(
  g: Surface,
  s: MarkScene,
  boxes: readonly RowBox<SamplesRow>[],
  samples: readonly Sample[],
  scroll: number,
): void {
  if (boxes.length === 0) return;
  const lists = samplesByThread(samples);
  for (const box of boxes) {
    paintMarkRowLine(g, s, box.top - scroll);
    const own = lists.get(box.row.thread) ?? [];
    const most = own.reduce((a, sample) => Math.max(a, sample.count), 1);
    const height = Math.min(box.height, s.theme.heights.collapsed); // stacks may be below
    const room = height - 2 * MARGIN;
    const foot = box.top - scroll + height - MARGIN;
    for (const sample of own) {
      const x = Math.round(s.scale.x(sample.time));
      if (x < -2 || x > s.scale.width + 2) continue;
      const h = Math.max(5, Math.round((room * (1 + sample.count)) / (1 + most)));
      const chosen = s.selected?.kind === 'sample' && s.selected.number === sample.sample;
      g.fillStyle = s.theme.bars[s.frames.colour(sample.frame)] ?? s.theme.colour['text-3'];
      g.fillRect(x, foot - h, 1, h);
      if (!chosen) continue;
      g.fillStyle = s.theme.colour.select;
      g.fillRect(x - 1, foot - room - 1, 3, room + 2);
    }
  }
}

/** Return the sample of a thread that is nearest to x, within reach. */
export function sampleMarkAt(
  s: Pick<MarkScene, 'scale'>,
  thread: number,
  samples: readonly Sample[],
  x: number,
): Sample | null {
  return nearestMark(
    s,
    samples.filter((sample) => sample.thread === thread),
    x,
  );
}

function nearestMark<T extends { time: number }>(
  s: Pick<MarkScene, 'scale'>,
  marks: readonly T[],
  x: number,
): T | null {
  let best: T | null = null;
  let least = REACH + 1;
  for (const mark of marks) {
    const distance = Math.abs(s.scale.x(mark.time) - x);
    if (distance >= least) continue;
    best = mark;
    least = distance;
  }
  return best;
}

/**
 * The levels of memory dumps, as indices of the reserved colours (background_memory_dump and the
 * two after it).
 */
const LEVELS = new Map([
  ['background', 7],
  ['light', 8],
  ['detailed', 9],
]);

/** Paint the memory dump rows. */
export function paintDumps(
  g: Surface,
  s: MarkScene,
  boxes: readonly RowBox<MemoryRow>[],
  dumps: readonly MemoryDump[],
  scroll: number,
): void {
  for (const box of boxes) {
    paintMarkRowLine(g, s, box.top - scroll);
    const y = box.top - scroll + box.height / 2;
    for (const dump of dumps) {
      if (dump.process !== box.row.process) continue;
      const x = Math.round(s.scale.x(dump.time));
      if (x < -DIAMOND || x > s.scale.width + DIAMOND) continue;
      const chosen = s.selected?.kind === 'memory' && s.selected.number === dump.dump;
      const colour = eventColour(LEVELS.get(dump.level) ?? 0, -1);
      const size = chosen ? DIAMOND + 2 : DIAMOND;
      g.beginPath();
      g.moveTo(x - size, y);
      g.lineTo(x, y - size);
      g.lineTo(x + size, y);
      g.lineTo(x, y + size);
      g.closePath();
      g.fillStyle = s.theme.bars[colour] ?? s.theme.colour.hit;
      g.fill();
      g.strokeStyle = chosen ? s.theme.colour.select : s.theme.colour['text-2'];
      g.lineWidth = chosen ? 2 : 1;
      g.stroke();
    }
  }
}

/** Return the memory dump of a process that is nearest to x, within reach. */
export function dumpAt(
  s: Pick<MarkScene, 'scale'>,
  process: number,
  dumps: readonly MemoryDump[],
  x: number,
): MemoryDump | null {
  return nearestMark(
    s,
    dumps.filter((dump) => dump.process === process),
    x,
  );
}
