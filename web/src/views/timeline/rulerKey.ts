// SPDX-License-Identifier: Apache-2.0
// The corner next to the ruler: the number of threads, and the buttons that fold, find and filter
// them.

import { fill, h, icon, setAttribute } from '../../base/dom';
import { plural } from '../../base/format';
import { effect, type ReadSignal } from '../../base/signal';
import type { TimelineLayout } from '../../model/layout';
import { allThreads, CPUS, threadsIn } from '../../model/states';
import { inTermsOf, wordsFor } from '../../model/words';
import type { Views } from '../context';
import { rowOrderInWords, rowOrderMenu } from './rowOrderMenu';
import { hiddenButton, trackFilter } from './trackFilter';

/** Return the element in the corner. */
export function rulerKey(v: Views, placed: ReadSignal<TimelineLayout>): HTMLElement {
  const { viewer } = v;
  const { tracks, order } = viewer.facts;
  const busy = threadsIn(tracks);
  const all = allThreads(viewer.facts);
  const words = h('span', { class: 'about' });
  effect(() => {
    // A thread with no slices but other content is not idle.
    const lone = v.beside.rows.get().threads.filter((t) => !busy.has(t.thread)).length;
    const shown = busy.size + lone;
    const processes = plural(
      placed.get().groups.filter((group) => group.process !== CPUS).length,
      'process',
      'processes',
    );
    // A filter leaves out threads that are not counted here.
    const left = viewer.facts.filtered !== undefined;
    const threads = left ? plural(shown, 'thread') : `${shown} of ${plural(all, 'thread')}`;
    const chosen = rowOrderInWords(viewer);
    const usual = order === 'owner' ? processes : 'busiest first';
    const more = left ? 'filtered' : chosen || usual;
    const where =
      order === 'owner'
        ? [`in ${processes}`, chosen].filter((text) => text).join(', ')
        : chosen || usual;
    words.title = `${threads} with events${left ? ' that match the filter' : ''}, ${where}`;
    fill(words, h('span', null, threads), h('span', { class: 'dim' }, more));
  });
  const toggle = h('button', { class: 'icon-button', attrs: { type: 'button' } });
  toggle.addEventListener('click', () => viewer.expandAll(viewer.expanded.peek().size === 0));
  effect(() => {
    const open = viewer.expanded.get().size > 0;
    const label = inTermsOf(
      wordsFor(viewer.facts),
      open
        ? 'Collapse all threads to the innermost call'
        : 'Expand all threads to every level of their calls',
    );
    toggle.title = label;
    setAttribute(toggle, 'aria-label', label);
    fill(toggle, icon(open ? 'down' : 'right'));
  });
  return h(
    'div',
    { class: 'key' },
    toggle,
    words,
    hiddenButton(viewer, placed),
    rowOrderMenu(viewer),
    ...trackFilter(viewer, words),
  );
}
