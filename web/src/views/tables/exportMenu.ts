// SPDX-License-Identifier: Apache-2.0
// Saves a table as a file, or copies it.

import { download, h, listen } from '../../base/dom';
import { fileName } from '../../base/format';
import { sheetChunks, type ExportFormat, type Sheet } from '../../model/sheet';
import type { Views } from '../context';

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
      attrs: { type: 'button', 'aria-haspopup': 'menu', 'aria-expanded': false },
    },
    'Export',
  );
  const menu = h(
    'div',
    { class: 'menu', attrs: { role: 'menu', 'aria-label': 'Export the table' }, hidden: true },
    ...FORMATS.map(([format, name, ending, type]) =>
      h(
        'button',
        {
          attrs: { type: 'button', role: 'menuitem' },
          on: {
            click: () => {
              const table = shown();
              const sheet = table?.sheet();
              const to = `${fileName(v.viewer.facts.name)}.${table?.name}.${ending}`;
              if (sheet)
                void sheetTextInChunks(sheet, format).then((pieces) =>
                  download(to, new Blob(pieces, { type: `${type};charset=utf-8` })),
                );
              show(false);
              button.focus();
            },
          },
        },
        name,
      ),
    ),
  );
  const show = (open: boolean): void => {
    menu.hidden = !open;
    button.setAttribute('aria-expanded', String(open));
    if (!open) return;
    (document.querySelector('main') ?? document.body).append(menu);
    const box = button.getBoundingClientRect();
    menu.style.right = `${innerWidth - box.right}px`;
    menu.style.top = `${box.bottom + 4}px`;
    menu.querySelector('button')?.focus();
  };
  button.addEventListener('click', () => show(menu.hidden !== false));
  menu.addEventListener('keydown', (e) => {
    const items = [...menu.querySelectorAll('button')];
    const at = items.indexOf(document.activeElement as HTMLButtonElement);
    if (e.key === 'Escape') {
      show(false);
      button.focus();
    } else if (e.key === 'ArrowDown') items[(at + 1) % items.length]?.focus();
    else if (e.key === 'ArrowUp') items[(at - 1 + items.length) % items.length]?.focus();
    else if (e.key === 'Home') items[0]?.focus();
    else if (e.key === 'End') items.at(-1)?.focus();
    else if (e.key === 'Tab') show(false);
    e.stopPropagation();
  });
  listen<PointerEvent>(document, 'pointerdown', (e) => {
    if (!menu.hidden && !menu.contains(e.target as Node) && !button.contains(e.target as Node))
      show(false);
  });
  return button;
}
