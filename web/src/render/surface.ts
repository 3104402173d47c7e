// SPDX-License-Identifier: Apache-2.0
// What painters draw on: the few members of a canvas context that they use.  A canvas context has
// them as they are, so a frame costs nothing more; svg.ts writes the same calls down as a picture of
// shapes, and tests note them as text.
//
// Two things are copied as pixels on a canvas, because there are thousands of them: hatching, and
// strips of what is too short for a bar.  Any other surface says in `shapes` how it draws them.

type Context = CanvasRenderingContext2D;

export interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
}

/** Rows of pixels (ABGR, 0 is nothing), of which the columns from `first` on are drawn. */
export interface Pixels {
  data: Uint32Array;
  stride: number;
  rows: number;
  first: number;
  count: number;
}

export interface Shapes {
  /** Lines at 45 degrees over a bar. */
  hatch(b: Box, colour: string): void;
  /** Pixels stretched over a box. */
  strip(pixels: Pixels, b: Box): void;
}

export interface Surface {
  fillStyle: Context['fillStyle'];
  strokeStyle: Context['strokeStyle'];
  lineWidth: number;
  globalAlpha: number;
  font: string;
  textAlign: CanvasTextAlign;
  textBaseline: CanvasTextBaseline;

  fillRect(x: number, y: number, w: number, h: number): void;
  strokeRect(x: number, y: number, w: number, h: number): void;
  fillText(text: string, x: number, y: number): void;

  beginPath(): void;
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
  bezierCurveTo(x1: number, y1: number, x2: number, y2: number, x: number, y: number): void;
  /** Whole circles only. */
  arc(x: number, y: number, r: number, from: number, to: number): void;
  rect(x: number, y: number, w: number, h: number): void;
  /** Radii from the upper left on, clockwise. */
  roundRect(x: number, y: number, w: number, h: number, radii: number[]): void;
  closePath(): void;
  fill(): void;
  stroke(): void;
  setLineDash(lengths: number[]): void;

  clip(): void;
  save(): void;
  restore(): void;

  readonly shapes?: Shapes;
}

/** The canvas behind a surface that has no shapes of its own. */
export function canvasOf(g: Surface): Context | null {
  return g.shapes ? null : (g as Context);
}
