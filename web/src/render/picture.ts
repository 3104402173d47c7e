// SPDX-License-Identifier: Apache-2.0
// A picture to save: the current content of a view below a heading that names the trace and the
// range, so that the picture explains itself in a report.

import type { Box, Surface } from './surface';
import { SvgSurface, type MeasureText } from './svg';
import type { TextMeter } from './text';
import type { Theme } from './theme';

export interface Picture {
  width: number;
  height: number;
  /** The heading in one line, for readers who cannot see the picture. */
  title: string;
  /** The font family of all text. */
  family: string;
  parts: readonly PicturePart[];
}

export interface PicturePart {
  box: Box;
  draw: (g: Surface) => void;
}

/** Return the picture as an SVG file. */
export function svgOf(picture: Picture, measure: MeasureText): string {
  const g = new SvgSurface(measure);
  for (const { box, draw } of picture.parts) g.place(box, draw);
  return g.file(picture.width, picture.height, picture.title, picture.family);
}

/** Draw the picture on a canvas, with `ratio` canvas pixels per picture pixel. */
export function drawPicture(g: CanvasRenderingContext2D, picture: Picture, ratio: number): void {
  for (const { box, draw } of picture.parts) {
    g.save();
    g.setTransform(ratio, 0, 0, ratio, box.x * ratio, box.y * ratio);
    g.beginPath();
    g.rect(0, 0, box.w, box.h);
    g.clip();
    draw(g);
    g.restore();
  }
}

export const HEADING_HEIGHT = 46;
const MARGIN = 10;
/** Bold letters are wider by this factor. */
export const BOLD = 1.1;

export interface Heading {
  theme: Theme;
  meter: TextMeter;
  width: number;
  title: string;
  lines: readonly string[];
}

/** Draw the heading. Its lines follow each other in one line of text, cut with an ellipsis. */
export function paintHeading(g: Surface, s: Heading): void {
  const { colour } = s.theme;
  g.fillStyle = colour.chrome;
  g.fillRect(0, 0, s.width, HEADING_HEIGHT);
  g.fillStyle = colour.line;
  g.fillRect(0, HEADING_HEIGHT - 1, s.width, 1);
  g.textBaseline = 'middle';
  const room = s.width - 2 * MARGIN;
  g.fillStyle = colour.text;
  g.font = `600 ${s.theme.bodyFont}`;
  g.fillText(s.meter.fit(s.title, room / BOLD), MARGIN, 15);
  g.font = s.theme.bodyFont;
  g.fillStyle = colour['text-2'];
  g.fillText(s.meter.fit(s.lines.join('   '), room), MARGIN, 32);
}
