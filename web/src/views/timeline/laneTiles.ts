// SPDX-License-Identifier: Apache-2.0
// The lanes whose tiles the screen shows, and the track that each of them belongs to: when tiles
// arrive, only these tracks are painted again.

import type { Tile, TileLane } from '../../model/engine';
import { lanesOf, type TrackBox } from '../../model/layout';
import type { Span } from '../../model/span';
import { tileRange } from '../../model/tileCache';
import type { Scene } from '../../render/trackPainter';

/** Heights of the list between which rows are needed; pinned rows do not scroll. */
interface NeededPart {
  top: number;
  bottom: number;
  pinned: number;
}

/** Return the lanes of a track that lie in a part of the list. */
export function lanesIn(box: TrackBox, { theme, statesOf }: Scene, part: NeededPart): TileLane[] {
  const { top, bottom, pinned } = part;
  const [from, to] = box.top < pinned ? [0, pinned] : [top, bottom];
  const found = lanesOf(box, theme.heights, from, to).map(({ lane }) => lane);
  if (box.track.waits > 0) found.push({ kind: 'w', row: box.track.track });
  const states = box.expanded ? statesOf.get(box.track.thread) : undefined;
  if (states !== undefined) found.push({ kind: 'r', row: states });
  return found;
}

/** The lanes of the last frame. */
export class LaneTiles {
  private readonly boxOf = new Map<string, TrackBox>();

  /** Return the lanes of the tracks on the screen, and remember whose they are. */
  lanes(boxes: readonly TrackBox[], scene: Scene, part: NeededPart): TileLane[] {
    this.boxOf.clear();
    return boxes.flatMap((box) => {
      const found = lanesIn(box, scene, part);
      for (const { kind, row } of found) this.boxOf.set(`${kind}${row}`, box);
      return found;
    });
  }

  /**
   * Return the tracks that look different with these tiles. Tiles of the same resolution beside the
   * view, and those of rows outside the screen, are in no picture.
   */
  changed(tiles: readonly Tile[], resolution: number, view: Span): TrackBox[] {
    const { first, last } = tileRange(view, resolution);
    const boxes = tiles.flatMap(({ kind, row, res, number }) => {
      const box = this.boxOf.get(`${kind}${row}`);
      return box && (res !== resolution || (number >= first && number <= last)) ? [box] : [];
    });
    return [...new Set(boxes)];
  }
}
