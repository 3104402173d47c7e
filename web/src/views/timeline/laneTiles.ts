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

/** The lanes of the last frame. */
export class LaneTiles {
  private readonly boxOf = new Map<string, TrackBox>();

  /** Return the lanes of the tracks on the screen, and remember whose they are. */
  lanes(boxes: readonly TrackBox[], { theme, statesOf }: Scene, part: NeededPart): TileLane[] {
    const found: TileLane[] = [];
    this.boxOf.clear();
    for (const box of boxes) {
      const first = found.length;
      const { top, bottom, pinned } = part;
      const [from, to] = box.top < pinned ? [0, pinned] : [top, bottom];
      for (const { lane } of lanesOf(box, theme.heights, from, to)) found.push(lane);
      if (box.track.waits > 0) found.push({ kind: 'w', row: box.track.track });
      const states = box.expanded ? statesOf.get(box.track.thread) : undefined;
      if (states !== undefined) found.push({ kind: 'r', row: states });
      for (const { kind, row } of found.slice(first)) this.boxOf.set(`${kind}${row}`, box);
    }
    return found;
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
