// SPDX-License-Identifier: Apache-2.0
// A surface that notes what is drawn on it: as lines of text, and as things with the style, the
// place and the clip that they were drawn with.

import type { Box, Pixels, Shapes, Surface } from '../src/render/surface';

export interface Drawn {
  what: 'fillRect' | 'strokeRect' | 'fillText' | 'fill' | 'stroke' | 'hatch' | 'strip';
  /** The place; of a path all its points are within, a text begins at x and has its middle at y. */
  box: Box;
  style: string;
  alpha: number;
  text: string;
  /** The points of a path, in order. */
  points: readonly Point[];
  dashed: boolean;
  lineWidth: number;
  font: string;
  clip: Box | null;
  pixels: Pixels | null;
}

type Point = readonly [x: number, y: number];

const short = (value: number | string): string =>
  typeof value === 'number' ? String(Math.round(value * 100) / 100) : value;

function around(points: readonly Point[]): Box {
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return { x, y, w: Math.max(...xs) - x, h: Math.max(...ys) - y };
}

function common(a: Box | null, b: Box): Box {
  if (!a) return b;
  const [x, y] = [Math.max(a.x, b.x), Math.max(a.y, b.y)];
  const right = Math.min(a.x + a.w, b.x + b.w);
  const foot = Math.min(a.y + a.h, b.y + b.h);
  return { x, y, w: Math.max(0, right - x), h: Math.max(0, foot - y) };
}

class State {
  fillStyle: Surface['fillStyle'] = '';
  strokeStyle: Surface['strokeStyle'] = '';
  lineWidth = 1;
  globalAlpha = 1;
  font = '';
  textAlign: CanvasTextAlign = 'left';
  textBaseline: CanvasTextBaseline = 'alphabetic';
  dashes: number[] = [];
  clipped: Box | null = null;
}

export class DrawLog extends State implements Surface {
  /** Each call as text: "fillRect 0 0 10 17 --m-0". */
  readonly log: string[] = [];
  readonly drawn: Drawn[] = [];
  readonly shapes: Shapes = {
    hatch: (b, colour) => this.note('hatch', b, colour),
    strip: (pixels, b) => this.note('strip', b, '', { pixels }),
  };
  private readonly kept: State[] = [];
  private points: Point[] = [];

  /** Things of one kind, of a colour where one is named. */
  of(what: Drawn['what'], style?: string): Drawn[] {
    return this.drawn.filter((d) => d.what === what && (style === undefined || d.style === style));
  }

  fillRect(x: number, y: number, w: number, h: number): void {
    this.note('fillRect', { x, y, w, h }, this.fillStyle);
  }
  strokeRect(x: number, y: number, w: number, h: number): void {
    this.note('strokeRect', { x, y, w, h }, this.strokeStyle);
  }
  fillText(text: string, x: number, y: number): void {
    this.line('fillText', [text, x, y, String(this.fillStyle)]);
    this.put('fillText', { x, y, w: 0, h: 0 }, this.fillStyle, { text });
  }

  beginPath(): void {
    this.points = [];
  }
  moveTo(x: number, y: number): void {
    this.line('moveTo', [x, y]);
    this.points.push([x, y]);
  }
  lineTo(x: number, y: number): void {
    this.line('lineTo', [x, y]);
    this.points.push([x, y]);
  }
  bezierCurveTo(x1: number, y1: number, x2: number, y2: number, x: number, y: number): void {
    this.points.push([x1, y1], [x2, y2], [x, y]);
  }
  arc(x: number, y: number, r: number): void {
    this.points.push([x - r, y - r], [x + r, y + r]);
  }
  rect(x: number, y: number, w: number, h: number): void {
    this.points.push([x, y], [x + w, y + h]);
  }
  roundRect(x: number, y: number, w: number, h: number): void {
    this.rect(x, y, w, h);
  }
  closePath(): void {
    // The points say it all.
  }
  fill(): void {
    this.path('fill', this.fillStyle);
  }
  stroke(): void {
    this.path('stroke', this.strokeStyle);
  }
  setLineDash(lengths: number[]): void {
    this.dashes = lengths;
  }

  clip(): void {
    this.clipped = common(this.clipped, around(this.points));
  }
  save(): void {
    this.kept.push(Object.assign(new State(), this.state()));
  }
  restore(): void {
    Object.assign(this, this.kept.pop());
  }

  private state(): State {
    const { fillStyle, strokeStyle, lineWidth, globalAlpha, font } = this;
    const { textAlign, textBaseline, dashes, clipped } = this;
    return {
      ...{ fillStyle, strokeStyle, lineWidth, globalAlpha, font },
      ...{ textAlign, textBaseline, dashes, clipped },
    };
  }

  private line(what: string, words: (number | string)[]): void {
    this.log.push(`${what} ${words.map(short).join(' ')}`.replace('  ', ' ').trim());
  }

  private path(what: 'fill' | 'stroke', style: Surface['fillStyle']): void {
    this.line(what, [String(style)]);
    this.put(what, around(this.points), style);
  }

  private note(
    what: Drawn['what'],
    b: Box,
    style: Surface['fillStyle'],
    more: Partial<Drawn> = {},
  ): void {
    this.line(what, [b.x, b.y, b.w, b.h, String(style)]);
    this.put(what, b, style, more);
  }

  private put(
    what: Drawn['what'],
    box: Box,
    style: Surface['fillStyle'],
    more: Partial<Drawn> = {},
  ): void {
    this.drawn.push({
      ...{ what, box, style: String(style), alpha: this.globalAlpha, text: '', font: this.font },
      ...{ points: this.points, dashed: this.dashes.length > 0, lineWidth: this.lineWidth },
      ...{ clip: this.clipped, pixels: null },
      ...more,
    });
  }
}
