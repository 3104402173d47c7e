// SPDX-License-Identifier: Apache-2.0
// Density rows: the calls that are too short for a bar. Each column is one pixel of a tile. Its
// height is the share of the pixel's time that calls cover, and its colour is that of the longest
// call.
//
//    height[x]/255   #        #
//                    #  # #   #       one column per pixel, TILE_PIXELS per tile
//                   ##  ####  ##
//
// A call alone in its surroundings is an event of its own and no density: it is at least half a bar
// high and has the colour of an edge, so that a call of length 0 is visible.
//
// Each row is rendered into an image once (DensityImages) and then only copied. The cache holds MOST_CACHED
// images and reuses the least recently drawn one.

import { TILE_PIXELS } from '../model/decode';
import type { Tile } from '../model/engine';
import type { Frames } from '../model/names';
import { stateHeight } from './statePainter';
import { canvasOf, type Box, type Surface } from './surface';
import type { Theme } from './theme';

/** An image of 512 x 17 pixels takes 35 kB, so the cache takes at most 40 MB. */
const MOST_CACHED = 1200;
const LOWEST = 2;

/** Rendering of a density row. */
export interface DensityLook {
  height: number;
  /** Device pixels per CSS pixel. */
  ratio: number;
  /** The frames that match the search, while everything else is dimmed. */
  only: Uint8Array | null;
  /** True for the single lane of a collapsed track: it is too low for darker top edges. */
  flat: boolean;
  /** True for states, whose height depends on the state and not on a share. */
  states?: boolean;
}

/** Render a density row as pixels, row by row from the top. Exported for its test. */
export function densityRowPixels(
  tile: Tile,
  rows: number,
  theme: Theme,
  frames: Frames,
  look: DensityLook,
  pixels: Uint32Array = new Uint32Array(TILE_PIXELS * rows),
): Uint32Array {
  const strip = tile.density;
  if (!strip) return pixels;
  const edge = Math.max(1, Math.round(look.ratio));
  for (let x = 0; x < TILE_PIXELS; x++) {
    const share = strip.height[x] ?? 0;
    if (share === 0) continue;
    const frame = strip.frame[x] ?? 0;
    const colour = frames.colour(frame);
    const dim = look.only !== null && !look.only[frame];
    const fill = dim ? theme.dimPixel : (theme.pixels[colour] ?? 0);
    const alone = !look.states && !strip.height[x - 1] && !strip.height[x + 1];
    const top = dim || (look.flat && !alone) ? fill : (theme.edgePixels[colour] ?? 0);
    const lowest = alone ? Math.ceil(rows / 2) : Math.round(LOWEST * look.ratio);
    const covered = Math.max(lowest, Math.round((share / 255) * rows));
    const high = Math.min(rows, look.states ? stateHeight(colour, rows, look.ratio) : covered);
    for (let y = rows - high; y < rows; y++)
      pixels[y * TILE_PIXELS + x] = alone || y < rows - high + edge ? top : fill;
  }
  return pixels;
}

interface CachedImage {
  image: OffscreenCanvas;
  context: OffscreenCanvasRenderingContext2D;
  generation: number;
  rows: number;
  only: Uint8Array | null;
}

/** A range of columns of a tile's density row. */
export interface DensityPart {
  tile: Tile;
  first: number;
  count: number;
}

/**
 * The limit of new images per frame. After a zoom the rows of a whole screen arrive at once, and
 * rendering all of them in one frame would be visible as a stall.
 */
export const IMAGES_PER_FRAME = 24;

/** Reusable pixel buffers, one for each height. */
class Scratch {
  private readonly byRows = new Map<number, { pixels: Uint32Array; data: ImageData }>();

  of(rows: number): { pixels: Uint32Array; data: ImageData } {
    let block = this.byRows.get(rows);
    if (!block) {
      const data = new ImageData(TILE_PIXELS, rows);
      block = { data, pixels: new Uint32Array(data.data.buffer) };
      this.byRows.set(rows, block);
    }
    block.pixels.fill(0);
    return block;
  }
}

/** The cache of rendered density rows. */
export class DensityImages {
  private readonly cached = new Map<Tile, CachedImage>();
  private readonly scratch = new Scratch();
  private made = 0;
  private isLate = false;

  /** `most` limits the new images per frame, where the painter can draw another tile instead. */
  constructor(private readonly most = Infinity) {}

  /** Begin a frame. */
  begin(): void {
    this.made = 0;
    this.isLate = false;
  }

  /** True if the limit deferred an image to another frame. */
  get late(): boolean {
    return this.isLate;
  }

  readonly ready = (tile: Tile): boolean => {
    if (!tile.density || this.made < this.most || this.cached.has(tile)) return true;
    this.isLate = true;
    return false;
  };

  paint(
    g: Surface,
    { tile, first, count }: DensityPart,
    b: Box,
    theme: Theme,
    frames: Frames,
    look: DensityLook,
  ): void {
    const rows = Math.max(1, Math.round(look.height * look.ratio));
    if (g.shapes) {
      const data = densityRowPixels(tile, rows, theme, frames, look);
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
    look: DensityLook,
  ): CanvasImageSource | null {
    if (!tile.density || typeof OffscreenCanvas === 'undefined') return null;
    const old = this.cached.get(tile);
    this.cached.delete(tile);
    if (old && old.generation === theme.generation && old.rows === rows && old.only === look.only) {
      this.cached.set(tile, old);
      return old.image;
    }
    this.made++;
    const image = old?.rows === rows ? old : (this.unused(rows) ?? newDensityImage(rows));
    if (!image) return null;
    const { pixels, data } = this.scratch.of(rows);
    densityRowPixels(tile, rows, theme, frames, look, pixels);
    image.context.putImageData(data, 0, 0);
    const { generation } = theme;
    this.cached.set(tile, { ...image, generation, rows, only: look.only });
    return image.image;
  }

  /**
   * Take the least recently drawn image out of a full cache, to be reused; null if the cache is not
   * full.
   */
  private unused(rows: number): Pick<CachedImage, 'image' | 'context'> | null {
    if (this.cached.size < MOST_CACHED) return null;
    for (const [tile, cached] of this.cached) {
      this.cached.delete(tile);
      if (cached.rows === rows) return cached;
      if (this.cached.size < MOST_CACHED) break;
    }
    return null;
  }
}

function newDensityImage(rows: number): Pick<CachedImage, 'image' | 'context'> | null {
  const image = new OffscreenCanvas(TILE_PIXELS, rows);
  const context = image.getContext('2d');
  return context && { image, context };
}
