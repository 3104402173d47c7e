// SPDX-License-Identifier: Apache-2.0
// Creates the element of one line of the profile table.

import { appendChildren, h, icon, type Child } from '../../base/dom';
import { formatCount, formatPercent } from '../../base/format';
import {
  profileCellText,
  columnValue,
  profileTotal,
  type Column,
} from '../../model/profileColumns';
import type { ProfileAnswer } from '../../model/engine';
import type { Scale } from '../../model/measure';
import { finderOf, indexOfMatch, type Frames } from '../../model/names';
import {
  TOP_LEVEL_NAME,
  WAITS,
  WAITS_NAME,
  type RelationGroup,
  type ProfileLine,
  type MethodLine,
  type RelationLine,
} from '../../model/profileRows';
import { inTermsOf, type Words } from '../../model/words';
import type { Theme } from '../../render/theme';
import { swatch } from '../swatch';
import { foundSignature } from './pathText';

export interface CellContext {
  frames: Frames;
  theme: Theme;
  columns: readonly Column[];
  answer: ProfileAnswer;
  scale: Scale;
  find: string;
  words: Words;
  selected: number | null;
}

const GROUP_WORDS: Record<RelationGroup, [string, string]> = {
  parents: ['▴ Parents', 'callers of the outermost calls'],
  children: ['▾ Children', 'called by the outermost calls'],
  recursive_parents: ['↻▴ Parents while recursive', 'callers of the recursive calls'],
  recursive_children: ['↻▾ Children while recursive', 'called by the recursive calls'],
};

/** Return the name of a line, which it has again in the next answer: the cursor stays on it. */
export function lineKey(line: ProfileLine): string {
  switch (line.kind) {
    case 'method':
      return `m${line.frame}`;
    case 'group':
      return `g${line.owner}.${line.group}`;
    case 'pending':
      return `p${line.owner}`;
    default:
      return `${line.kind}${line.owner}.${line.group}.${line.frame}`;
  }
}

/** Create the element of a line. */
export function rowElement(line: ProfileLine, c: CellContext): HTMLElement {
  switch (line.kind) {
    case 'method':
      return methodRow(line, c);
    case 'group':
      return groupRow(line.group, line.exceeds, c.words);
    case 'pending':
      return h(
        'div',
        { class: 'row pending', attrs: { role: 'row', 'aria-level': 2 } },
        h('div', { class: 'cell name', attrs: { role: 'gridcell' } }, 'Parents and children …'),
      );
    default:
      return relationRow(line, c);
  }
}

function groupRow(group: RelationGroup, exceeds: boolean, words: Words): HTMLElement {
  const [title, text] = GROUP_WORDS[group];
  const how = inTermsOf(words, text);
  const about = exceeds ? `${how}; they can be nested, so the sum can exceed 100 %` : how;
  return h(
    'div',
    { class: `row group tinted ${group}`, attrs: { role: 'row', 'aria-level': 2 } },
    h('div', { class: 'cell name', attrs: { role: 'gridcell' } }, title, h('em', null, about)),
  );
}

/** Return the part [from, to) of a name, with the match of the find box underlined. */
function markedNamePart(
  name: string,
  from: number,
  to: number,
  found: readonly [number, number],
): Child[] {
  const a = Math.min(to, Math.max(from, found[0]));
  const b = Math.max(a, Math.min(to, found[1]));
  const match = name.slice(a, b);
  return [
    name.slice(from, a),
    match !== '' && h('span', { class: 'found' }, match),
    name.slice(b, to),
  ];
}

/**
 * Return package in grey, Class.method in ink and signature in grey. If space is short, the
 * signature is cut first, then the package; what alone tells frames apart keeps its first letters.
 * Without signatures, only names that several frames have are followed by what tells these apart.
 */
function nameParts(frame: number, c: CellContext, withSignature: boolean): HTMLElement[] {
  const { frames } = c;
  const prefix = frames.packagePrefix(frame);
  const name = prefix + frames.short(frame);
  const at = withSignature ? indexOfMatch(name, c.find) : -1;
  const found: [number, number] = at < 0 ? [0, 0] : [at, at + c.find.length];
  const own = h(
    'span',
    { class: 'own' },
    ...markedNamePart(name, prefix.length, name.length, found),
  );
  const before =
    prefix !== '' &&
    h('span', { class: 'package' }, ...markedNamePart(name, 0, prefix.length, found));
  const parts = [h('span', { class: 'path' }, before, own)];
  const distinction = frames.distinction(frame);
  if (!withSignature && distinction === '') return parts;
  const text = (withSignature && frames.signature(frame)) || distinction;
  const match = withSignature ? foundSignature(frames, frame, finderOf(c.find)) : null;
  parts.push(
    h('span', { class: distinction ? 'signature apart' : 'signature' }, match ?? ` ${text}`),
  );
  return parts;
}

function methodRow(line: MethodLine, c: CellContext): HTMLElement {
  const isWaits = line.frame === WAITS;
  const chosen = c.selected === line.frame;
  const row = h('div', {
    class: `row method${chosen ? ' selected' : ''}`,
    attrs: {
      role: 'row',
      'aria-level': 1,
      'aria-selected': chosen,
      'aria-expanded': isWaits ? null : line.opened,
      'data-frame': line.frame,
    },
  });
  const name = h('div', { class: 'cell name', attrs: { role: 'rowheader' } });
  appendChildren(name, [
    h('span', { class: 'rank' }, isWaits ? '' : formatCount(line.rank)),
    h('span', { class: 'twist' }, isWaits ? null : icon(line.opened ? 'down' : 'right')),
  ]);
  if (isWaits) {
    name.title = 'Threads entered a call but did not run: real time minus CPU time';
    appendChildren(name, [swatch(c.frames, -1, c.theme), WAITS_NAME]);
  } else {
    name.title =
      `${c.frames.full(line.frame)} ${c.frames.signature(line.frame)} ${c.frames.source(line.frame)}`.trim();
    appendChildren(name, [
      swatch(c.frames, line.frame, c.theme),
      ...nameParts(line.frame, c, true),
    ]);
  }
  appendChildren(row, [name, ...c.columns.slice(1).map((column) => figureCell(line, column, c))]);
  return row;
}

function emptyCell(column: Column): HTMLElement {
  return h('div', { class: `cell${column.begins ? ' begins' : ''}`, attrs: { role: 'gridcell' } });
}

function percentCell(column: Column, part: number, whole: number): HTMLElement {
  const text = formatPercent(part, whole);
  const cell = emptyCell(column);
  cell.classList.add('percent');
  cell.style.setProperty('--share', `${Math.min(100, Number(text))}%`);
  appendChildren(cell, [h('span', null, text)]);
  // In a recursive group each level counts, so inclusive shares may add up to more than 100.
  if (Number(text) > 100) cell.title = 'More than 100 %: what is recursive counts more than once';
  return cell;
}

function figureCell(line: MethodLine, column: Column, c: CellContext): HTMLElement {
  let cell: HTMLElement;
  if (column.kind === 'percent') {
    cell = percentCell(
      column,
      columnValue(line.figures, column.id) ?? 0,
      profileTotal(c.answer, column.clock),
    );
  } else {
    cell = emptyCell(column);
    cell.textContent = profileCellText(line.figures, column, c.answer, c.scale);
  }
  cell.dataset['column'] = column.id;
  return cell;
}

function relationRow(line: RelationLine, c: CellContext): HTMLElement {
  const row = h('div', {
    class: `row relation tinted ${line.group}`,
    attrs: {
      role: 'row',
      'aria-level': 3,
      'data-frame': line.kind === 'self' ? 'self' : line.frame,
      'data-group': line.group,
    },
  });
  const name = h('div', { class: 'cell name', attrs: { role: 'rowheader' } });
  if (line.kind === 'self') appendChildren(name, [swatch(c.frames, -1, c.theme), 'self']);
  else if (line.frame < 0) appendChildren(name, [swatch(c.frames, -1, c.theme), TOP_LEVEL_NAME]);
  else {
    name.title = `${c.frames.full(line.frame)} ${c.frames.signature(line.frame)}`;
    appendChildren(name, [
      swatch(c.frames, line.frame, c.theme),
      ...nameParts(line.frame, c, false),
    ]);
  }
  appendChildren(row, [
    name,
    ...c.columns.slice(1).map((column) => relationCell(line, column, c.scale)),
  ]);
  return row;
}

/**
 * Inclusive columns show the share of the opened method, so the shares of a group add up to its
 * own; exclusive columns say nothing about a pair of methods and stay empty.
 */
function relationCell(line: RelationLine, column: Column, scale: Scale): HTMLElement {
  const time = column.clock === 'cpu' ? line.cpu : line.real;
  let cell = emptyCell(column);
  if (column.id === 'calls' && line.kind === 'relation') {
    cell.textContent = `${formatCount(line.calls)}/${formatCount(line.total)}`;
  } else if (column.kind === 'samples' && line.kind === 'relation') {
    cell.textContent = formatCount(line.calls);
  } else if (column.id.startsWith('incl_') && time !== null) {
    const whole = columnValue(line.ownerFigures, column.id) ?? 0;
    if (column.kind === 'percent') cell = percentCell(column, time, whole);
    else cell.textContent = scale.text(time);
  }
  cell.dataset['column'] = column.id;
  return cell;
}
