// SPDX-License-Identifier: Apache-2.0
// The ids that "=" events joined, the data of those events, and the objects among the ids.

import { h } from '../../base/dom';
import { shortened, makeVisible } from '../../base/visible';
import type { Joins } from '../../model/engine';
import type { Views } from '../context';
import { factRow, factTable, linkButton, detailsSection } from './detailsParts';
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
      linkButton(shortened(makeVisible(`${type} ${id}`), 120), () =>
        goToObject(v, 'object', number),
      ),
    ),
  );
  return [
    detailsSection(
      'Joined ids',
      factTable(factRow('Ids', idList(joins))),
      h('ul', null, ...events),
      joins.more_events > 0 ? h('p', { class: 'dim' }, `${joins.more_events} more`) : null,
    ),
    ...(objects.length > 0
      ? [detailsSection('Objects of these ids', h('ul', null, ...objects))]
      : []),
  ];
}
