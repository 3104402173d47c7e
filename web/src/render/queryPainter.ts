// SPDX-License-Identifier: Apache-2.0
// The rows of a query above the tracks: a bar for each row, in the colour of its name.

import { hashedColour } from '../model/colours';
import { firstBar, type QueryBar, type QueryTrack } from '../model/queryTrack';
import type { Surface } from './surface';
import type { TextMeter } from './text';
import type { Theme } from './theme';
import type { TimeScale } from './timeScale';

export interface QueryScene {
  theme: Theme;
  meter: TextMeter;
  scale: TimeScale;
  height: number;
}

/** The left and right edge of a bar, and its top. */
type BarEnds = readonly [x0: number, x1: number, y: number];

/** A bar narrower than this has no name. */
const LEAST_NAMED = 24;
const PADDING = 4;

/** Paint a bar of a query, with its name if there is room for it. */
function paintBar(g: Surface, s: QueryScene, bar: QueryBar, [x0, x1, y]: BarEnds): void {
  const { theme } = s;
  const colour = hashedColour(bar.name);
  const width = Math.max(1, x1 - x0 - (x1 - x0 > 3 ? 1 : 0));
  g.fillStyle = theme.bars[colour] ?? theme.colour.activity;
  g.fillRect(x0, y, width, theme.heights.bar);
  const [left, right] = [Math.max(0, x0), Math.min(s.scale.width, x0 + width)];
  if (right - left < LEAST_NAMED) return;
  const text = s.meter.fit(bar.name, right - left - 2 * PADDING);
  if (text === '') return;
  g.fillStyle = theme.barTexts[colour] ?? theme.colour['bar-text'];
  g.fillText(text, left + PADDING, y + theme.heights.bar / 2 + 0.5);
}

/** Paint a lane: bars that end in the pixel of the last one are not drawn again. */
function paintLane(g: Surface, s: QueryScene, lane: readonly QueryBar[], y: number): void {
  let drawn = -Infinity;
  for (let i = firstBar(lane, s.scale.view.from); i < lane.length; i++) {
    const bar = lane[i];
    if (!bar || bar.from > s.scale.view.to) break;
    const [x0, x1] = [Math.round(s.scale.x(bar.from)), Math.round(s.scale.x(bar.to))];
    if (x1 <= drawn && x0 < drawn) continue;
    const right = Math.min(s.scale.width + PADDING, Math.max(x1, x0 + 1));
    paintBar(g, s, bar, [Math.max(-PADDING, x0), right, y]);
    drawn = Math.max(x1, x0 + 1);
  }
}

/** Paint the rows of a query. */
export function paintQueryTrack(g: Surface, s: QueryScene, track: QueryTrack): void {
  const { theme } = s;
  g.fillStyle = theme.colour.bg;
  g.fillRect(0, 0, s.scale.width, s.height);
  g.font = theme.barFont;
  g.textBaseline = 'middle';
  track.lanes.forEach((lane, i) => paintLane(g, s, lane, i * theme.heights.row + 1));
}
