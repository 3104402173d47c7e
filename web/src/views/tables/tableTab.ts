// SPDX-License-Identifier: Apache-2.0
// The interface that every table of the lower panel offers in addition to its element.

import { effect, type ReadSignal } from '../../base/signal';
import { sheetExcerpt, sheetText } from '../../model/sheet';
import type { Views } from '../context';
import type { Exported } from './exportMenu';
import type { Findable } from './findBox';
import type { Grid } from './grid';

export interface TableTab {
  /** Null if the tab cannot be searched. */
  findable: Findable | null;
  exported: () => Exported;
  /** Return the marked lines for the clipboard, or null if none are marked. */
  copyText: () => string | null;
}

/** Return the marked lines of a grid whose lines are the lines of its sheet. */
export function markedText(grid: Grid, exported: Exported): string | null {
  const sheet = exported.sheet();
  const { block } = grid;
  if (!sheet || !block) return null;
  return sheetText(sheetExcerpt(sheet, block.first, block.last - block.first + 1), 'tsv');
}

/** Grey a table out while its next answer is awaited. */
export function showPending(element: HTMLElement, pending: ReadSignal<boolean>): void {
  effect(() => void element.classList.toggle('pending', pending.get()));
}

/**
 * Let the effect that runs now run again when the look of cells changes: cells are written with the
 * unit of times, the theme and the density.
 */
export function followLook({ viewer, settings }: Views): void {
  viewer.unit.get();
  settings.theme.get();
  settings.density.get();
}

/**
 * Return the interface of the find box for a grid whose lines are those that contain the text:
 * `found` tells how many, as "3 of 41".
 */
export function filteredLines(grid: Grid, found: () => string): Findable {
  return {
    text: found,
    miss: () => found().startsWith('0 '),
    typed: () => undefined,
    step: (direction) => grid.moveTo(grid.cursor + direction),
    focus: () => grid.scroller.focus(),
  };
}
