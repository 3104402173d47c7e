// SPDX-License-Identifier: Apache-2.0
// Paints the stacks of sampled threads over time, below the ticks of their samples. They look like
// slices with a dotted upper edge, because nobody knows what ran between two samples.

import type { RowBox } from '../model/layout';
import type { SampleBox } from '../model/nonSliceEvents';
import type { SamplesRow } from '../model/rows';
import { LEAST_LABEL } from './narrowBars';
import { CLOSED, drawBar, drawKernelMark, drawThinOutline } from './shapes';
import type { Box, Surface } from './surface';
import { snapToPixel, type TimeScale } from './timeScale';
import { paintSliceLabel, type Scene } from './trackPainter';

export interface SampleChartScene extends Pick<
  Scene,
  'theme' | 'frames' | 'meter' | 'scale' | 'ratio' | 'frame' | 'matches' | 'dimmed'
> {
  boxes: readonly SampleBox[];
}

const DOT = 3;

type SampleScale = Pick<Scene, 'theme'> & { scale: TimeScale };

/** Return the rectangle of a sample box in an open row; `top` is that of the row. */
function sampleBoxPlace(s: SampleScale & { ratio: number }, top: number, box: SampleBox): Box {
  const { heights } = s.theme;
  const x = snapToPixel(s, Math.max(-9, s.scale.x(box.start)));
  const right = snapToPixel(s, Math.min(s.scale.width + 9, s.scale.x(box.start + box.length)));
  const y = top + heights.collapsed + box.depth * heights.row;
  return { x, y, w: Math.max(1, right - x), h: heights.bar };
}

function isShown(s: SampleScale, box: SampleBox): boolean {
  const to = s.scale.x(box.start + box.length);
  return to >= -1 && s.scale.x(box.start) <= s.scale.width + 1;
}

function paintDottedEdge(g: Surface, s: SampleChartScene, b: Box): void {
  if (b.w < 3 * DOT) return;
  g.fillStyle = s.theme.colour.bg;
  for (let x = Math.max(0, b.x) + DOT; x < Math.min(b.x + b.w, s.scale.width); x += 2 * DOT)
    g.fillRect(x, b.y, Math.min(DOT, b.x + b.w - x), 1);
}

function paintSampleBox(g: Surface, s: SampleChartScene, top: number, box: SampleBox): void {
  const b = sampleBoxPlace(s, top, box);
  const dim = s.dimmed && s.matches !== null && s.matches[box.frame] !== 1;
  const number = dim ? -1 : s.frames.colour(box.frame);
  drawBar(g, s.theme, b, number, CLOSED);
  paintDottedEdge(g, s, b);
  if (s.frames.isKernel(box.frame)) drawKernelMark(g, s.theme, b);
  if (b.w >= LEAST_LABEL)
    paintSliceLabel(g, s, box.frame, b, { left: 0, right: 0, lift: 0, number });
  if (box.frame === s.frame && b.w > 3) drawThinOutline(g, s.theme.colour.select, b);
}

/** Paint the stacks of the open rows. */
export function paintSampleCharts(
  g: Surface,
  s: SampleChartScene,
  rows: readonly RowBox<SamplesRow>[],
  scroll: number,
): void {
  const tops = new Map(
    rows.filter(({ row }) => row.open).map(({ row, top }) => [row.thread, top - scroll]),
  );
  if (tops.size === 0) return;
  g.font = s.theme.barFont;
  g.textBaseline = 'middle';
  for (const box of s.boxes) {
    const top = tops.get(box.thread);
    if (top !== undefined && isShown(s, box)) paintSampleBox(g, s, top, box);
  }
}

/** Return the box of an open row at a point, or null; y counts from the row's top. */
export function sampleBoxAt(
  s: SampleScale,
  boxes: readonly SampleBox[],
  thread: number,
  x: number,
  y: number,
): SampleBox | null {
  const { heights } = s.theme;
  const depth = Math.floor((y - heights.collapsed) / heights.row);
  const under = boxes.filter((box) => {
    if (box.thread !== thread || box.depth !== depth) return false;
    const from = s.scale.x(box.start);
    return x >= from && x < Math.max(from + 1, s.scale.x(box.start + box.length));
  });
  return under[0] ?? null;
}
