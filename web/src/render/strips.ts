// SPDX-License-Identifier: Apache-2.0
// Strips: what is too short for a bar, one column a pixel of the tile, as high as its covered share
// and in the colour of its longest call.  Each is made into an image once and then only copied.

import { TILE_PIXELS } from '../model/decode';
import type { Tile } from '../model/engine';
import type { Frames } from '../model/names';
import { stateHeight } from './statePainter';
import { canvasOf, type Box, type Surface } from './surface';
import type { Theme } from './theme';

/** 512 x 17 pixels are 35 kB: at the worst 40 MB. */
const KEEP = 1200;
const LOWEST = 2;

export interface StripLook {
  height: number;
  /** Device pixels for a CSS pixel. */
  ratio: number;
  /** Matches of the search while everything else is dimmed. */
  only: Uint8Array | null;
  /** The one lane of a collapsed track has no darker tops: it is low. */
  flat: boolean;
  /** States have heights of their own, and no share of a pixel. */
  states?: boolean;
}

/** The strip as pixels, row by row from the top; exported for its test. */
export function stripPixels(
  tile: Tile,
  rows: number,
  theme: Theme,
  frames: Frames,
  look: StripLook,
): Uint32Array {
  const pixels = new Uint32Array(TILE_PIXELS * rows);
  const strip = tile.strip;
  if (!strip) return pixels;
  const edge = Math.max(1, Math.round(look.ratio));
  for (let x = 0; x < TILE_PIXELS; x++) {
    const share = strip.height[x] ?? 0;
    if (share === 0) continue;
    const frame = strip.frame[x] ?? 0;
    const colour = frames.colour(frame);
    const dim = look.only !== null && !look.only[frame];
    const fill = dim ? theme.dimPixel : (theme.pixels[colour] ?? 0);
    const top = look.flat || dim ? fill : (theme.edgePixels[colour] ?? 0);
    const covered = Math.max(Math.round(LOWEST * look.ratio), Math.round((share / 255) * rows));
    const high = Math.min(rows, look.states ? stateHeight(colour, rows, look.ratio) : covered);
    for (let y = rows - high; y < rows; y++)
      pixels[y * TILE_PIXELS + x] = y < rows - high + edge ? top : fill;
  }
  return pixels;
}

interface Kept {
  image: OffscreenCanvas;
  generation: number;
  rows: number;
  only: Uint8Array | null;
}

/** Columns of a tile's strip. */
export interface StripPart {
  tile: Tile;
  first: number;
  count: number;
}

export class StripImages {
  private readonly kept = new Map<Tile, Kept>();

  paint(
    g: Surface,
    { tile, first, count }: StripPart,
    b: Box,
    theme: Theme,
    frames: Frames,
    look: StripLook,
  ): void {
    const rows = Math.max(1, Math.round(look.height * look.ratio));
    if (g.shapes) {
      const data = stripPixels(tile, rows, theme, frames, look);
      return g.shapes.strip({ data, stride: TILE_PIXELS, rows, first, count }, b);
    }
    const image = this.image(tile, rows, theme, frames, look);
    if (image) canvasOf(g)?.drawImage(image, first, 0, count, rows, b.x, b.y, b.w, b.h);
  }

  private image(
    tile: Tile,
    rows: number,
    theme: Theme,
    frames: Frames,
    look: StripLook,
  ): CanvasImageSource | null {
    if (!tile.strip || typeof OffscreenCanvas === 'undefined') return null;
    const old = this.kept.get(tile);
    if (old && old.generation === theme.generation && old.rows === rows && old.only === look.only) {
      this.kept.delete(tile);
      this.kept.set(tile, old);
      return old.image;
    }
    const image = old?.rows === rows ? old.image : new OffscreenCanvas(TILE_PIXELS, rows);
    const g = image.getContext('2d');
    if (!g) return null;
    const pixels = stripPixels(tile, rows, theme, frames, look);
    g.putImageData(
      new ImageData(new Uint8ClampedArray(pixels.buffer as ArrayBuffer), TILE_PIXELS, rows),
      0,
      0,
    );
    this.kept.delete(tile);
    this.kept.set(tile, { image, generation: theme.generation, rows, only: look.only });
    for (const key of this.kept.keys()) {
      if (this.kept.size <= KEEP) break;
      this.kept.delete(key);
    }
    return image;
  }
}
