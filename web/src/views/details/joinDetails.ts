// SPDX-License-Identifier: Apache-2.0
// Ids that "=" events made one: which they are, what those events say, and the objects among them.

import { h } from '../../base/dom';
import { shortened, makeVisible } from '../../base/visible';
import type { Joins } from '../../model/engine';
import type { Views } from '../context';
import { fact, factTable, link, section } from './detailsParts';
import { goToObject } from './references';
import { valueTree } from './valueTree';

function idList({ ids, more_ids }: Joins): string {
  return ids.map((id) => shortened(makeVisible(id), 120)).join(', ') + (more_ids ? ', …' : '');
}

export function joinParts(v: Views, joins: Joins | undefined): HTMLElement[] {
  if (!joins) return [];
  const events = joins.events.map(({ id, linked_id, event }) =>
    h(
      'li',
      null,
      `${shortened(makeVisible(id), 120)} = ${shortened(makeVisible(linked_id), 120)}`,
      event?.args ? valueTree(event.args) : null,
    ),
  );
  const objects = joins.objects.map(([number, type, id]) =>
    h(
      'li',
      null,
      link(shortened(makeVisible(`${type} ${id}`), 120), () => goToObject(v, 'object', number)),
    ),
  );
  return [
    section(
      'Joined ids',
      factTable(fact('Ids', idList(joins))),
      h('ul', null, ...events),
      joins.more_events > 0 ? h('p', { class: 'dim' }, `${joins.more_events} more`) : null,
    ),
    ...(objects.length > 0 ? [section('Objects of these ids', h('ul', null, ...objects))] : []),
  ];
}
