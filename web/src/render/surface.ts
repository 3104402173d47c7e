// SPDX-License-Identifier: Apache-2.0
// The drawing surface of the painters: the few members of a canvas context that they use. A real
// canvas context satisfies the interface as it is, so drawing a frame costs nothing extra. svg.ts
// implements it by writing the same calls as vector shapes, and the tests record the calls as text.
//
// A canvas copies two things as pixels, because there are thousands of them: hatching, and density
// rows (the calls too short for a bar). Any other surface implements `shapes` to draw them.

type CanvasContext = CanvasRenderingContext2D;

/** A rectangle in CSS pixels. */
export interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
}

/** Rows of pixels (ABGR, 0 is transparent). The `count` columns from `first` are drawn. */
export interface Pixels {
  data: Uint32Array;
  stride: number;
  rows: number;
  first: number;
  count: number;
}

/** The operations that a surface must implement if it is not a canvas. */
export interface Shapes {
  /** Draw lines at 45 degrees over a bar. */
  hatch(b: Box, colour: string): void;
  /** Draw pixels stretched over a box. */
  strip(pixels: Pixels, b: Box): void;
}

/** The subset of CanvasRenderingContext2D that painters use. */
export interface Surface {
  fillStyle: CanvasContext['fillStyle'];
  strokeStyle: CanvasContext['strokeStyle'];
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
  /** Draws whole circles only. */
  arc(x: number, y: number, r: number, from: number, to: number): void;
  rect(x: number, y: number, w: number, h: number): void;
  /** The radii start at the upper left corner and go clockwise. */
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

/** Return the canvas context of a surface, or null if the surface draws its own shapes. */
export function canvasOf(g: Surface): CanvasContext | null {
  return g.shapes ? null : (g as CanvasContext);
}
