// SPDX-License-Identifier: Apache-2.0
// Saves a table as a file, or copies it.

import { download, fill, h } from '../../base/dom';
import { fileName } from '../../base/format';
import { sheetChunks, type ExportFormat, type Sheet } from '../../model/sheet';
import type { Views } from '../context';
import { PopupMenu } from '../popupMenu';

const FORMATS: readonly [ExportFormat, string, string, string][] = [
  ['csv', 'CSV', 'csv', 'text/csv'],
  ['tsv', 'TSV', 'tsv', 'text/tab-separated-values'],
  ['json', 'JSON', 'json', 'application/json'],
  ['markdown', 'Markdown', 'md', 'text/markdown'],
];

/** A table that can be saved: its lines, and the word for it in the file name. */
export interface Exported {
  name: string;
  /** Null if there is no content yet. */
  sheet: () => Sheet | null;
}

/** Format a sheet chunk by chunk, so that the page stays responsive. */
async function sheetTextInChunks(sheet: Sheet, format: ExportFormat): Promise<string[]> {
  const pieces: string[] = [];
  for (const piece of sheetChunks(sheet, format)) {
    pieces.push(piece);
    if (pieces.length % 8 === 0) await new Promise((done) => setTimeout(done));
  }
  return pieces;
}

/** Return the button with the export menu. */
export function exportButton(v: Views, shown: () => Exported | null): HTMLElement {
  const button = h(
    'button',
    {
      class: 'text-button',
      title: 'Save the table as CSV, TSV, JSON or Markdown',
      attrs: { type: 'button' },
    },
    'Export',
  );
  const menu = new PopupMenu('Export the table', '', button);
  const save = ([format, , ending, type]: (typeof FORMATS)[number]): void => {
    const table = shown();
    const sheet = table?.sheet();
    const to = `${fileName(v.viewer.facts.name)}.${table?.name}.${ending}`;
    menu.close(true);
    if (sheet)
      void sheetTextInChunks(sheet, format).then((pieces) =>
        download(to, new Blob(pieces, { type: `${type};charset=utf-8` })),
      );
  };
  const item = (entry: (typeof FORMATS)[number]): HTMLElement => {
    const attrs = { type: 'button', role: 'menuitem' };
    return h('button', { attrs, on: { click: () => save(entry) } }, entry[1]);
  };
  fill(menu.element, ...FORMATS.map(item));
  button.addEventListener('click', () => {
    if (menu.isOpen) menu.close(false);
    else menu.openBelow(button, document.querySelector('main') ?? document.body);
  });
  return button;
}
