// SPDX-License-Identifier: Apache-2.0
// Ctrl+P: type a part of a thread name; Enter goes there.

import { fill, h, setAttribute, blurWhenClosed } from '../../base/dom';
import { plural } from '../../base/format';
import type { Track } from '../../model/traceFacts';
import { namedTracks } from '../../model/states';
import { ownerId, substringMatcher, hasOwnName, trackName } from '../../model/names';
import type { Viewer } from '../../model/viewer';

/** This many names before and after the chosen one are elements. */
const AROUND = 100;

/** The dialog that finds a thread by name. */
export class ThreadFinder {
  readonly element: HTMLDialogElement;
  private readonly input: HTMLInputElement;
  private readonly list = h('div', {
    class: 'options scroller',
    id: 'threads',
    attrs: { role: 'listbox', 'aria-label': 'Threads' },
  });
  private found: readonly Track[] = [];
  private at = 0;
  private readonly named: readonly Track[];

  constructor(
    viewer: Viewer,
    private readonly go: (track: Track) => void,
  ) {
    this.named = namedTracks(viewer.facts.tracks);
    this.input = h('input', {
      attrs: {
        ...{ type: 'text', role: 'combobox', 'aria-label': 'Find a thread', spellcheck: false },
        ...{
          placeholder: 'Name or id of a thread',
          'aria-controls': 'threads',
          'aria-expanded': true,
        },
      },
    });
    this.element = h(
      'dialog',
      { class: 'finder', attrs: { 'aria-label': 'Find a thread' } },
      this.input,
      this.list,
    );
    this.input.addEventListener('input', () => this.show(0));
    blurWhenClosed(this.element);
    this.element.addEventListener('keydown', (e) => this.key(e));
    this.element.addEventListener('click', (e) => {
      const option = (e.target as Element).closest<HTMLElement>('[role=option]');
      if (option) this.choose(Number(option.dataset['at']));
      else if (e.target === this.element) this.element.close();
    });
  }

  open(): void {
    this.input.value = '';
    this.element.showModal();
    this.show(0);
  }

  private show(at: number): void {
    const matches = substringMatcher(this.input.value);
    this.found = this.named.filter((t) => matches(trackName(t)));
    this.at = Math.max(0, Math.min(at, this.found.length - 1));
    const first = Math.max(0, this.at - AROUND);
    const shown = this.found.slice(first, this.at + AROUND);
    const left = this.found.length - first - shown.length;
    fill(
      this.list,
      ...shown.map((track, i) => this.option(track, first + i)),
      left > 0 && h('p', { class: 'second' }, `and ${plural(left, 'thread')} more`),
      this.found.length === 0 && h('p', { class: 'second' }, 'No thread has such a name.'),
    );
    const active = this.list.querySelector(`#thread-${this.at}`);
    setAttribute(this.input, 'aria-activedescendant', active ? active.id : null);
    active?.scrollIntoView({ block: 'nearest' });
  }

  private option(track: Track, at: number): HTMLElement {
    return h(
      'div',
      {
        id: `thread-${at}`,
        attrs: {
          ...{ role: 'option', 'aria-selected': at === this.at, 'data-at': at },
          ...{ 'aria-posinset': at + 1, 'aria-setsize': this.found.length },
        },
      },
      hasOwnName(track) ? null : h('span', { class: 'dim' }, `[${ownerId(track)}] `),
      track.name,
    );
  }

  private choose(at: number): void {
    const track = this.found[at];
    this.element.close();
    if (track) this.go(track);
  }

  private key(e: KeyboardEvent): void {
    e.stopPropagation();
    if (e.key === 'Enter') this.choose(this.at);
    else if (e.key === 'ArrowDown') this.show(this.at + 1);
    else if (e.key === 'ArrowUp') this.show(this.at - 1);
    else return;
    e.preventDefault();
  }
}
