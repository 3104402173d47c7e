// SPDX-License-Identifier: Apache-2.0
// The menu that chooses which flows are drawn: the flows of the selected call, or all of some
// categories.

import { fill, h } from '../../base/dom';
import { formatCount, plural } from '../../base/format';
import { effect } from '../../base/signal';
import { shortened } from '../../base/visible';
import { inTermsOf, wordsFor } from '../../model/words';
import type { Views } from '../context';
import { PopupMenu } from '../popupMenu';

class FlowMenu {
  readonly button: HTMLButtonElement;
  private readonly menu: PopupMenu;

  constructor(private readonly v: Views) {
    const number = h('b', null);
    this.button = h(
      'button',
      {
        class: 'text-button',
        title: 'Which flows are drawn as arrows',
        attrs: { type: 'button' },
        on: { click: () => this.toggle() },
      },
      'Flows',
      number,
    );
    effect(() => {
      const { selection, categories } = v.viewer.flows.get();
      number.textContent =
        categories.length > 0 ? formatCount(categories.length) : selection ? '' : 'none';
    });
    this.menu = new PopupMenu('Flows drawn as arrows', 'scroller flow-menu', this.button);
    effect(() => this.show());
  }

  private toggle(): void {
    if (this.menu.isOpen) return this.menu.close(false);
    this.v.flows.needCategories();
    this.menu.openBelow(this.button);
  }

  private item(key: string, words: string, on: boolean | null, act: () => void): HTMLElement {
    return h(
      'button',
      {
        attrs: {
          type: 'button',
          role: on === null ? 'menuitem' : 'menuitemcheckbox',
          'aria-checked': on,
          'data-key': key,
        },
        on: { click: act },
      },
      h('span', { class: 'check', attrs: { 'aria-hidden': 'true' } }, on ? '✓' : ''),
      words,
    );
  }

  private show(): void {
    const { viewer, flows } = this.v;
    const { selection, categories } = viewer.flows.get();
    const list = flows.categories.get();
    const focused = document.activeElement?.getAttribute('data-key');
    const { element } = this.menu;
    const within = element.contains(document.activeElement);
    // Sort by count. The numbers stay those of the list.
    const order = list.map((c, number) => ({ ...c, number })).filter((c) => c.count > 0);
    order.sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
    fill(
      element,
      this.item('own', inTermsOf(wordsFor(viewer.facts), 'Of the selected call'), selection, () =>
        viewer.flows.set({ selection: !selection, categories }),
      ),
      this.item('none', 'None', null, () => viewer.flows.set({ selection: false, categories: [] })),
      h('div', { class: 'head', attrs: { role: 'presentation' } }, 'All of a category'),
      ...order.map((category) => {
        const item = this.item(
          `c${category.number}`,
          category.name === '' ? '(no category)' : shortened(category.name, 80),
          categories.includes(category.number),
          () => flows.toggleCategory(category.number),
        );
        item.append(h('span', { class: 'number dim' }, formatCount(category.count)));
        return item;
      }),
      ...this.notes(),
    );
    // The items are new elements: restore the keyboard focus.
    if (within && focused)
      element.querySelector<HTMLElement>(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }

  /** Return notes on flows that are not drawn, and on flow events without an arrow. */
  private notes(): HTMLElement[] {
    const { viewer, flows } = this.v;
    const arrows = flows.arrows.get();
    const notes: string[] = [];
    if (arrows) {
      const { list, leftOut } = arrows;
      const drawn = list.length < arrows.flows ? `, drawn as ${formatCount(list.length)}` : '';
      const out = leftOut > 0 ? `; ${formatCount(leftOut)} left out: zoom in` : '';
      notes.push(`${plural(arrows.flows, 'arrow')} in view and beside it${drawn}${out}`);
    }
    const without = viewer.facts.diagnostics
      .filter((d) => d.kind.startsWith('flow-') && d.severity === 'warning')
      .reduce((sum, d) => sum + d.count, 0);
    if (without > 0) notes.push(`${plural(without, 'flow event')} without an arrow: see Health`);
    return notes.map((text) => h('p', { class: 'second' }, text));
  }
}

/** Return the menu button, or null if the trace has no flows and no flow events. */
export function flowButton(v: Views): HTMLElement | null {
  const { facts } = v.viewer;
  const any = facts.flows > 0 || facts.diagnostics.some((d) => d.kind.startsWith('flow-'));
  return any ? new FlowMenu(v).button : null;
}
