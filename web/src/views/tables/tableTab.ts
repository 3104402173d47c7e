// SPDX-License-Identifier: Apache-2.0
// What every table of the lower panel can do beside showing itself.

import { sheetExcerpt, sheetText } from '../../model/sheet';
import type { Exported } from './exportMenu';
import type { Findable } from './findBox';
import type { Grid } from './grid';

export interface TableTab {
  /** null: the tab has nothing to be found in. */
  findable: Findable | null;
  exported: () => Exported;
  /** The marked lines for the clipboard; null: none are. */
  copyText: () => string | null;
}

/** The lines that are marked in a grid whose lines are those of its sheet. */
export function markedText(grid: Grid, exported: Exported): string | null {
  const sheet = exported.sheet();
  const { block } = grid;
  if (!sheet || !block) return null;
  return sheetText(sheetExcerpt(sheet, block.first, block.last - block.first + 1), 'tsv');
}
