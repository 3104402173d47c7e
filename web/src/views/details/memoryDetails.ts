// SPDX-License-Identifier: Apache-2.0
// The details of a memory dump: a table of the processes dumped together, and a tree of all
// allocators of this process.

import { h } from '../../base/dom';
import { formatCount, formatMemory, formatTimeUnit, formatValue, plural } from '../../base/format';
import { shortened } from '../../base/visible';
import type { MemoryDumpDetails, MemoryFigure } from '../../model/nonSliceEvents';
import { memoryColumns, memoryTree, type MemoryNode } from '../../model/memoryTree';
import { ownerId } from '../../model/names';
import type { Views } from '../context';
import { factRow, factTable, linkButton, detailsSection } from './detailsParts';

/** The other columns are in the tooltips of the lines. */
const COLUMNS_SHOWN = 4;
const LINES_SHOWN = 600;

function memoryProcessName(v: Views, process: number): string {
  const found = v.viewer.facts.processes[process];
  return found ? `${ownerId(found)} ${found.name}`.trim() : 'all processes (global)';
}

function memoryValueText(units: string, value: number | null): string {
  if (value === null) return '';
  if (units === 'bytes') return formatMemory(value);
  return Number.isInteger(value) ? formatCount(value) : formatValue(value);
}

/** "resident_set_bytes" repeats its unit, so remove the unit from the name. */
function columnName(name: string): string {
  return name.replace(/_bytes$/, '').replaceAll('_', ' ');
}

function memoryCells(columns: readonly string[], node: MemoryNode): HTMLElement[] {
  return columns.map((column) => {
    const figure = node.figures.get(column);
    const text = figure ? memoryValueText(figure.units, figure.value) : '';
    const exact =
      figure?.value === undefined || figure.value === null ? '' : formatCount(figure.value);
    return h('td', { class: 'number', title: exact && `${exact} ${figure?.units ?? ''}` }, text);
  });
}

function otherFigures(columns: readonly string[], node: MemoryNode): string {
  const others = [...node.figures].filter(([name]) => !columns.includes(name));
  return others
    .map(([name, { units, value }]) => `${columnName(name)}: ${memoryValueText(units, value)}`)
    .join('\n');
}

function memoryTableHead(first: string, columns: readonly string[]): HTMLElement {
  return h(
    'thead',
    null,
    h(
      'tr',
      null,
      h('th', null, first),
      ...columns.map((column) => h('th', { class: 'number' }, columnName(column))),
    ),
  );
}

/**
 * Create a table that scrolls by itself, also with the keyboard, if it is wider than the details.
 */
function wideTable(columns: readonly string[], rows: readonly HTMLElement[]): HTMLElement {
  return h(
    'div',
    { class: 'wide', tabIndex: 0, attrs: { role: 'region', 'aria-label': 'Figures' } },
    h('table', { class: 'memory' }, memoryTableHead('', columns), h('tbody', null, ...rows)),
  );
}

/** Flatten a tree, each node before its children. */
function flattenMemoryTree(roots: readonly MemoryNode[]): [MemoryNode, number][] {
  const lines: [MemoryNode, number][] = [];
  const rest: [MemoryNode, number][] = [...roots].reverse().map((node) => [node, 0]);
  for (let next = rest.pop(); next; next = rest.pop()) {
    const [node, depth] = next;
    lines.push(next);
    for (const child of [...node.children].reverse()) rest.push([child, depth + 1]);
  }
  return lines;
}

function treeTable(figures: readonly MemoryFigure[], title: string): HTMLElement[] {
  if (figures.length === 0) return [];
  const columns = memoryColumns(figures).slice(0, COLUMNS_SHOWN);
  const lines = flattenMemoryTree(memoryTree(figures));
  const rows = lines
    .slice(0, LINES_SHOWN)
    .map(([node, depth]) =>
      h(
        'tr',
        { title: [node.path, otherFigures(columns, node)].filter((text) => text).join('\n') },
        h(
          'td',
          { style: { 'padding-left': `${Math.min(depth, 12) * 12}px` } },
          shortened(node.name || '(no name)', 80),
        ),
        ...memoryCells(columns, node),
      ),
    );
  const more = lines.length - LINES_SHOWN;
  return [
    detailsSection(
      title,
      wideTable(columns, rows),
      more > 0 ? h('p', { class: 'dim' }, plural(more, 'more line')) : null,
    ),
  ];
}

/** Create one line per process: its totals, or the totals of its allocators. */
function processTable(v: Views, dump: MemoryDumpDetails): HTMLElement[] {
  if (dump.together.length < 2) return [];
  const totals = (figures: readonly MemoryFigure[]): MemoryFigure[] =>
    figures.filter(([of]) => of === 'totals');
  const all = dump.together.flatMap(({ figures }) => totals(figures));
  const columns = memoryColumns(all).slice(0, COLUMNS_SHOWN);
  const rows = dump.together.map((other) => {
    const node: MemoryNode = { name: '', path: '', figures: new Map(), children: [] };
    for (const [, name, units, value] of totals(other.figures))
      node.figures.set(name, { units, value });
    const name = shortened(memoryProcessName(v, other.process), 60);
    const chosen = other.dump === dump.dump;
    const select = (): void => v.viewer.selectMark({ kind: 'memory', number: other.dump });
    return h(
      'tr',
      { attrs: { 'aria-current': chosen ? 'true' : null } },
      h('td', null, chosen ? h('b', null, name) : linkButton(name, select)),
      ...memoryCells(columns, node),
    );
  });
  return [detailsSection('Processes of this dump', wideTable(columns, rows))];
}

export function memoryDetails(v: Views, dump: MemoryDumpDetails): HTMLElement[] {
  const unit = v.viewer.unit.peek();
  const totals = dump.figures.filter(([of]) => of === 'totals');
  const others = dump.figures.filter(([of]) => of !== 'totals');
  return [
    h('h2', null, 'Memory dump'),
    factTable(
      factRow('Process', memoryProcessName(v, dump.process)),
      factRow('Time', formatTimeUnit(dump.time_ns, unit)),
      dump.level ? factRow('Level of detail', dump.level) : null,
      factRow('Dump', shortened(dump.id, 80)),
      dump.offset === undefined ? null : factRow('In the file', `byte ${formatCount(dump.offset)}`),
      ...totals.map(([, name, units, value]) =>
        factRow(columnName(name), memoryValueText(units, value)),
      ),
    ),
    ...processTable(v, dump),
    ...treeTable(others, 'Allocators'),
  ];
}
