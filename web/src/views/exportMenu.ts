// SPDX-License-Identifier: Apache-2.0
// The table as a file, or on the clipboard.

import { download, h, listen } from '../base/dom';
import { fileName, fixedUnit } from '../base/format';
import { toCsv, toJson, toMarkdown, toTsv, type ExportFormat } from '../model/exportTable';
import type { ProfileTable } from './profileTable';
import type { Views } from './context';

const FORMATS: readonly [ExportFormat, string, string, string][] = [
  ['csv', 'CSV', 'csv', 'text/csv'],
  ['tsv', 'TSV', 'tsv', 'text/tab-separated-values'],
  ['json', 'JSON', 'json', 'application/json'],
  ['markdown', 'Markdown', 'md', 'text/markdown'],
];

/** A table that can be saved: its text, and the word for it in the file's name. */
export interface Exported {
  name: string;
  text: (format: ExportFormat) => string | null;
}

export function profileExport(v: Views, table: ProfileTable): Exported {
  const text = (format: ExportFormat): string | null => {
    const answer = v.profile.answer.peek();
    const methods = v.profile.sorted.peek();
    const { frames } = v.viewer;
    if (!answer) return null;
    const unit = fixedUnit(v.viewer.unit.peek());
    if (format === 'csv') return toCsv(methods, frames);
    if (format === 'json') return toJson(methods, frames);
    if (format === 'tsv') return toTsv(methods, table.shownColumns, answer, frames, unit);
    return toMarkdown(methods, table.shownColumns, answer, frames, unit);
  };
  return { name: 'profile', text };
}

export function exportButton(v: Views, shown: () => Exported): HTMLElement {
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
              const text = table.text(format);
              const file = new Blob([text ?? ''], { type: `${type};charset=utf-8` });
              if (text !== null)
                download(`${fileName(v.viewer.facts.name)}.${table.name}.${ending}`, file);
              show(false);
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
    document.body.append(menu);
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
    e.stopPropagation();
  });
  listen<PointerEvent>(document, 'pointerdown', (e) => {
    if (!menu.hidden && !menu.contains(e.target as Node) && !button.contains(e.target as Node))
      show(false);
  });
  return button;
}
