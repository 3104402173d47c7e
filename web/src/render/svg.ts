// SPDX-License-Identifier: Apache-2.0
// A surface that writes its drawing as a self-contained SVG file: no script, no page style, no
// image and no external address. Names in a trace are untrusted; they only ever become escaped
// text.

import { parseColour } from './theme';
import type { Box, Pixels, Shapes, Surface } from './surface';

/** Return the width of a text in a font. */
export type MeasureText = (font: string, text: string) => number;

/** The characters that XML 1.0 forbids even when they are escaped. */
const FORBIDDEN =
  /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escape text for XML, and replace the characters that XML forbids. */
export function escapeXml(text: string): string {
  return text.replace(FORBIDDEN, '\ufffd').replace(/[&<>"']/g, (c) => ESCAPES[c] ?? c);
}

/** Format a coordinate. Two decimals are a hundredth of a pixel. */
function coord(value: number): string {
  return String(Math.round(value * 100) / 100);
}

function svgAttributes(all: Record<string, string | number | null>): string {
  return Object.entries(all)
    .filter(([, value]) => value !== null)
    .map(
      ([name, value]) =>
        ` ${name}="${typeof value === 'number' ? coord(value) : escapeXml(value ?? '')}"`,
    )
    .join('');
}

/** Split a font such as "italic 600 11px family" into its parts. */
function fontParts(font: string): { size: number; weight: string | null; style: string | null } {
  const size = /(\d+(?:\.\d+)?)px/.exec(font);
  return {
    size: parseFloat(size?.[1] ?? '11'),
    weight: /(?:^|\s)([1-9]00|bold)\s/.exec(font.slice(0, size?.index))?.[1] ?? null,
    style: /^italic\s/.test(font) ? 'italic' : null,
  };
}

/** The distance from the baseline of a line of text to its middle, as a share of the font size. */
const MIDDLE = 0.3;
const HATCH = 7;
const HATCH_ALPHA = 0.45;

class SvgState {
  fillStyle: Surface['fillStyle'] = '#000000';
  strokeStyle: Surface['strokeStyle'] = '#000000';
  lineWidth = 1;
  globalAlpha = 1;
  font = '10px sans-serif';
  textAlign: CanvasTextAlign = 'left';
  textBaseline: CanvasTextBaseline = 'alphabetic';
  dashes: readonly number[] = [];
}

interface SavedState {
  state: SvgState;
  open: number;
}

/** The SVG implementation of Surface. */
export class SvgSurface extends SvgState implements Surface {
  readonly shapes: Shapes = {
    hatch: (b, colour) => this.hatch(b, colour),
    strip: (pixels, b) => this.strip(pixels, b),
  };
  private readonly body: string[] = [];
  private readonly defs: string[] = [];
  private readonly hatches = new Map<string, string>();
  private readonly saved: SavedState[] = [];
  /** The number of groups opened since the last save(). */
  private open = 0;
  private path = '';
  private clips = 0;

  constructor(private readonly measure: MeasureText) {
    super();
  }

  /** Draw into a box of the picture, and clip to that box. */
  place(b: Box, draw: (g: Surface) => void): void {
    const { x, y, w, h } = b;
    this.body.push(`<svg${svgAttributes({ x, y, width: w, height: h })}>`);
    this.save();
    Object.assign(this, new SvgState());
    draw(this);
    this.restore();
    this.body.push('</svg>');
  }

  /** Return the whole file. A screen reader announces the title first. */
  file(width: number, height: number, title: string, family: string): string {
    const size = { width, height, viewBox: `0 0 ${coord(width)} ${coord(height)}` };
    return [
      `<svg xmlns="http://www.w3.org/2000/svg"${svgAttributes(size)} role="img">`,
      `<title>${escapeXml(title)}</title>`,
      `<style>text{font-family:${escapeXml(family)};white-space:pre}`,
      'rect,.strip{shape-rendering:crispEdges}</style>',
      ...(this.defs.length > 0 ? ['<defs>', ...this.defs, '</defs>'] : []),
      ...this.body,
      '</svg>\n',
    ].join('\n');
  }

  fillRect(x: number, y: number, w: number, h: number): void {
    if (w <= 0 || h <= 0) return;
    this.body.push(
      `<rect${svgAttributes({ x, y, width: w, height: h, ...this.paint('fill', this.fillStyle) })}/>`,
    );
  }

  strokeRect(x: number, y: number, w: number, h: number): void {
    const at = { x, y, width: Math.max(0, w), height: Math.max(0, h), fill: 'none' };
    this.body.push(`<rect${svgAttributes({ ...at, ...this.pen() })}/>`);
  }

  fillText(text: string, x: number, y: number): void {
    const { size, weight, style } = fontParts(this.font);
    const all = {
      x,
      // Like a canvas, place the text on a whole pixel: letters stay sharp and keep their distance
      // from what is below.
      y: this.textBaseline === 'middle' ? Math.floor(y + MIDDLE * size) : y,
      'font-size': size,
      'font-weight': weight,
      'font-style': style,
      'text-anchor':
        { center: 'middle', right: 'end', end: 'end' }[this.textAlign as string] ?? null,
      // Another program may use another font. Force the text to the width that was measured for it.
      textLength: Math.max(1, this.measure(this.font, text)),
      lengthAdjust: 'spacingAndGlyphs',
      ...this.paint('fill', this.fillStyle),
    };
    this.body.push(`<text${svgAttributes(all)}>${escapeXml(text)}</text>`);
  }

  beginPath(): void {
    this.path = '';
  }
  moveTo(x: number, y: number): void {
    this.path += `M${coord(x)} ${coord(y)}`;
  }
  lineTo(x: number, y: number): void {
    this.path += `${this.path === '' ? 'M' : 'L'}${coord(x)} ${coord(y)}`;
  }
  bezierCurveTo(x1: number, y1: number, x2: number, y2: number, x: number, y: number): void {
    this.path += `C${[x1, y1, x2, y2, x, y].map(coord).join(' ')}`;
  }
  arc(x: number, y: number, r: number): void {
    const half = (dx: number): string => `a${coord(r)} ${coord(r)} 0 1 0 ${coord(dx)} 0`;
    this.path += `M${coord(x - r)} ${coord(y)}${half(2 * r)}${half(-2 * r)}Z`;
  }
  rect(x: number, y: number, w: number, h: number): void {
    this.path += `M${coord(x)} ${coord(y)}h${coord(w)}v${coord(h)}h${coord(-w)}Z`;
  }
  roundRect(x: number, y: number, w: number, h: number, radii: number[]): void {
    const [a = 0, b = 0, c = 0, d = 0] = radii;
    const corner = (r: number, dx: number, dy: number): string =>
      r > 0 ? `a${coord(r)} ${coord(r)} 0 0 1 ${coord(dx)} ${coord(dy)}` : '';
    this.path +=
      `M${coord(x + a)} ${coord(y)}H${coord(x + w - b)}${corner(b, b, b)}` +
      `V${coord(y + h - c)}${corner(c, -c, c)}` +
      `H${coord(x + d)}${corner(d, -d, -d)}V${coord(y + a)}${corner(a, a, -a)}Z`;
  }
  closePath(): void {
    if (this.path !== '') this.path += 'Z';
  }
  fill(): void {
    if (this.path === '') return;
    this.body.push(
      `<path${svgAttributes({ d: this.path, ...this.paint('fill', this.fillStyle) })}/>`,
    );
  }
  stroke(): void {
    if (this.path === '') return;
    this.body.push(`<path${svgAttributes({ d: this.path, fill: 'none', ...this.pen() })}/>`);
  }
  setLineDash(lengths: number[]): void {
    this.dashes = lengths;
  }

  clip(): void {
    const id = `c${++this.clips}`;
    this.defs.push(`<clipPath id="${id}"><path${svgAttributes({ d: this.path })}/></clipPath>`);
    this.body.push(`<g clip-path="url(#${id})">`);
    this.open++;
  }
  save(): void {
    this.saved.push({ state: { ...this.state() }, open: this.open });
    this.open = 0;
  }
  restore(): void {
    const saved = this.saved.pop();
    if (!saved) return;
    for (; this.open > 0; this.open--) this.body.push('</g>');
    this.open = saved.open;
    Object.assign(this, saved.state);
  }

  private state(): SvgState {
    const { fillStyle, strokeStyle, lineWidth, globalAlpha, font } = this;
    const { textAlign, textBaseline, dashes } = this;
    return {
      ...{ fillStyle, strokeStyle, lineWidth, globalAlpha, font },
      ...{ textAlign, textBaseline, dashes },
    };
  }

  /**
   * Return a colour and its opacity as separate attributes, because not every program reads an
   * alpha in the colour.
   */
  private paint(
    what: 'fill' | 'stroke',
    style: Surface['fillStyle'],
  ): Record<string, string | number | null> {
    const colour = typeof style === 'string' ? style.trim() : 'none';
    const hex = /^#[0-9a-f]{3,8}$/i.test(colour);
    const [r, g, b, own] = hex ? parseColour(colour) : [0, 0, 0, 1];
    const plain = `#${((1 << 24) | (r << 16) | (g << 8) | b).toString(16).slice(1)}`;
    const alpha = own * this.globalAlpha;
    return { [what]: hex ? plain : colour, [`${what}-opacity`]: alpha < 1 ? alpha : null };
  }

  private pen(): Record<string, string | number | null> {
    return {
      ...this.paint('stroke', this.strokeStyle),
      'stroke-width': this.lineWidth === 1 ? null : this.lineWidth,
      'stroke-dasharray': this.dashes.length > 0 ? this.dashes.map(coord).join(' ') : null,
    };
  }

  private hatch(b: Box, colour: string): void {
    let id = this.hatches.get(colour);
    if (id === undefined) {
      id = `h${this.hatches.size + 1}`;
      this.hatches.set(colour, id);
      const lines = [-HATCH, 0, HATCH].map((i) => `M${i - 1} ${HATCH + 1}L${i + HATCH + 1} -1`);
      const pen = { stroke: colour, 'stroke-opacity': HATCH_ALPHA, 'stroke-width': 1.5 };
      this.defs.push(
        `<pattern id="${id}" width="${HATCH}" height="${HATCH}" patternUnits="userSpaceOnUse">` +
          `<path${svgAttributes({ d: lines.join(''), ...pen })}/></pattern>`,
      );
    }
    const { x, y, w, h } = b;
    this.body.push(`<rect${svgAttributes({ x, y, width: w, height: h, fill: `url(#${id})` })}/>`);
  }

  /**
   * Draw neighbouring columns of the same colour, height and place as one block, and all blocks of
   * one colour as one path.
   */
  private strip(pixels: Pixels, b: Box): void {
    const paths = new Map<number, string>();
    const [across, down] = [b.w / pixels.count, b.h / pixels.rows];
    for (const { colour, x, y, w, h } of pixelBlocksOf(pixels)) {
      const block =
        `M${coord(b.x + x * across)} ${coord(b.y + y * down)}` +
        `h${coord(w * across)}v${coord(h * down)}h${coord(-w * across)}Z`;
      paths.set(colour, (paths.get(colour) ?? '') + block);
    }
    for (const [colour, d] of paths) {
      const [red, green, blue] = [colour & 255, (colour >> 8) & 255, (colour >> 16) & 255];
      const fill = `#${((1 << 24) | (red << 16) | (green << 8) | blue).toString(16).slice(1)}`;
      this.body.push(`<path${svgAttributes({ class: 'strip', fill, d })}/>`);
    }
  }
}

interface Block extends Box {
  colour: number;
}

/** Return the runs of one colour in a column of pixels. */
function pixelRunsOf({ data, stride, rows }: Pixels, column: number): Omit<Block, 'x' | 'w'>[] {
  const runs: Omit<Block, 'x' | 'w'>[] = [];
  for (let y = 0; y < rows; y++) {
    const colour = data[y * stride + column] ?? 0;
    const last = runs[runs.length - 1];
    if (last && last.colour === colour && last.y + last.h === y) last.h++;
    else if (colour !== 0) runs.push({ colour, y, h: 1 });
  }
  return runs;
}

function pixelBlocksOf(pixels: Pixels): Block[] {
  const done: Block[] = [];
  let growing: Block[] = [];
  for (let x = 0; x < pixels.count; x++) {
    const next = pixelRunsOf(pixels, pixels.first + x).map((run) => {
      const old = growing.find((b) => b.colour === run.colour && b.y === run.y && b.h === run.h);
      if (old) old.w++;
      return old ?? { ...run, x, w: 1 };
    });
    done.push(...next.filter((b) => b.w === 1));
    growing = next;
  }
  return done;
}
