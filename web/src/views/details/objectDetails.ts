// SPDX-License-Identifier: Apache-2.0
// The details of an object and of a snapshot of it.

import { h } from '../../base/dom';
import { formatCount, formatTimeUnit } from '../../base/format';
import { brief, visible } from '../../base/visible';
import type { ObjectDetails, SnapshotDetails } from '../../model/beside';
import { idOf } from '../../model/names';
import { objectColour } from '../../render/objectPainter';
import type { Views } from '../context';
import { eventFacts, eventParts, fact, factTable, link, section } from './detailsParts';
import { joinParts } from './joinDetails';
import { followFrom, goToObject, goToSnapshot } from './references';
import { screenshot } from './screenshot';
import { valueTree } from './valueTree';

function title(v: Views, { type, id }: ObjectDetails): HTMLElement {
  const theme = v.settings.theme.peek();
  const colour = theme.bars[objectColour(type)] ?? '';
  return h(
    'h2',
    null,
    h('i', {
      class: 'swatch',
      style: { 'background-color': colour },
      attrs: { 'aria-hidden': 'true' },
    }),
    h('span', null, `${brief(type, 120)} `, h('span', { class: 'dim' }, brief(id, 120))),
  );
}

function time(v: Views, ns: number): string {
  const unit = v.viewer.unit.peek();
  return formatTimeUnit(ns, unit);
}

function processOf(v: Views, { process }: ObjectDetails): string {
  const found = v.viewer.facts.processes[process];
  return found ? `${idOf(found)} ${found.name}` : 'of no process';
}

function facts(v: Views, object: ObjectDetails): (HTMLElement | null)[] {
  return [
    object.base_type ? fact('Base type', object.base_type) : null,
    object.category ? fact('Category', object.category) : null,
    object.scope !== 'ptr' ? fact('Scope', object.scope) : null,
    fact('Process', processOf(v, object)),
    fact(
      'Created',
      `${time(v, object.created_ns)}${object.created ? '' : ', when first seen: no event says it'}`,
    ),
    fact('Deleted', object.deleted ? time(v, object.deleted_ns) : 'not while it was traced'),
    fact('Lived', formatTimeUnit(object.deleted_ns - object.created_ns, v.viewer.unit.peek())),
  ];
}

function joined(v: Views, object: ObjectDetails): HTMLElement[] {
  if (object.joined.length === 0) return [];
  const lines = object.joined.map(([number, type, id]) =>
    h(
      'li',
      null,
      link(brief(`${type} ${id}`, 120), () => goToObject(v, 'object', number)),
    ),
  );
  return [section('The same as', h('ul', null, ...lines))];
}

/** Return the joined ids. The objects among them are listed above. */
function joinsOf(v: Views, { joins }: ObjectDetails): HTMLElement[] {
  return joins ? joinParts(v, { ...joins, objects: [] }) : [];
}

export function objectDetails(v: Views, object: ObjectDetails): HTMLElement[] {
  const { first_snapshot: first, snapshots: count } = object;
  return [
    title(v, object),
    factTable(...facts(v, object), fact('Snapshots', count === 0 ? 'none' : formatCount(count))),
    h(
      'div',
      { class: 'actions' },
      count > 0 && link('First snapshot', () => void goToSnapshot(v, first)),
      count > 1 && link('Last snapshot', () => void goToSnapshot(v, first + count - 1)),
      link('Use as range', () => {
        v.viewer.setRange({ from: object.created_ns, to: object.deleted_ns });
      }),
    ),
    ...joined(v, object),
    ...joinsOf(v, object),
  ];
}

/** Return the snapshot, and the arguments of its event if they hold anything else. */
function contents(
  v: Views,
  { of, snapshot: number }: SnapshotDetails,
  args: unknown,
): HTMLElement[] {
  if (typeof args !== 'object' || args === null || !('snapshot' in args)) return [];
  const { snapshot, ...others } = args;
  const follow = (holder: Record<string, unknown>): void => void followFrom(v, number, holder);
  const picture = screenshot(of.type, snapshot);
  const parts = [section('Snapshot', picture ?? valueTree(snapshot, follow))];
  if (Object.keys(others).length > 0) parts.push(section('Arguments', valueTree(others)));
  return parts;
}

export function snapshotDetails(v: Views, snapshot: SnapshotDetails): HTMLElement[] {
  const { of: object, snapshot: number, nth } = snapshot;
  const { event, ...place } = snapshot;
  const own = event ? contents(v, snapshot, event.args) : [];
  const rest = event && own.length > 0 ? { ...event, args: undefined } : event;
  return [
    title(v, object),
    factTable(
      fact('Snapshot', `${formatCount(nth)} of ${formatCount(object.snapshots)}`),
      fact(
        '',
        h(
          'div',
          { class: 'actions' },
          nth > 1 && link('‹ previous', () => void goToSnapshot(v, number - 1)),
          nth < object.snapshots && link('next ›', () => void goToSnapshot(v, number + 1)),
          link('the object', () => goToObject(v, 'object', object.object)),
        ),
      ),
      fact('Taken', time(v, snapshot.time_ns)),
      fact('Holds until', time(v, snapshot.until_ns)),
      snapshot.inner ? fact('Found', 'inside the snapshot of another object') : null,
      object.base_type ? fact('Base type', object.base_type) : null,
      object.category ? fact('Category', visible(object.category)) : null,
      fact('Process', processOf(v, object)),
      ...eventFacts(place),
    ),
    ...own,
    ...eventParts(v, rest === undefined ? snapshot : { ...snapshot, event: rest }),
    ...joinParts(v, object.joins),
  ];
}
