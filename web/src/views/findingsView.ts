// SPDX-License-Identifier: Apache-2.0
// The Findings tab: what in the selected range and tracks is worth looking at first, each with links
// to the places; and what was looked for without finding anything.

import { fill, h, icon, setAttribute } from '../base/dom';
import { formatCount, formatTimeUnit, plural } from '../base/format';
import { effect, flushEffects, untracked } from '../base/signal';
import { brief } from '../base/visible';
import type { Finding, FindingPlace, FindingsStore, Rule } from '../model/findings';
import { EVENT } from '../model/found';
import { trackName } from '../model/names';
import { inWords, wordsFor } from '../model/words';
import { goToEvent } from './events';
import { swatch } from './swatch';
import type { Views } from './context';

/** So many places of a finding are shown at first. */
const FEW = 5;

const SEVERITIES = { warning: 'Warning', note: 'Note' } as const;

export class FindingsView {
  readonly element = h('div', {
    class: 'findings scroller',
    tabIndex: 0,
    attrs: { role: 'region', 'aria-label': 'Findings' },
  });
  private readonly status = h('p', { class: 'second', attrs: { 'aria-live': 'polite' } });
  private readonly list = h('div', null);
  /** Rules whose places are all shown. */
  private readonly whole = new Set<string>();

  constructor(
    private readonly v: Views,
    private readonly store: FindingsStore,
    shown: () => boolean,
  ) {
    this.element.append(this.status, this.list);
    this.element.addEventListener('keydown', (e) => this.key(e));
    effect(() => {
      if (!shown()) return;
      store.answer.get();
      v.viewer.unit.get();
      v.settings.theme.get();
      untracked(() => this.show());
    });
    effect(() => {
      v.viewer.call.get();
      if (shown()) untracked(() => this.mark());
    });
    effect(() => setAttribute(this.element, 'aria-busy', store.pending.get()));
  }

  private said(text: string): string {
    return inWords(wordsFor(this.v.viewer.facts), text);
  }

  private show(): void {
    const answer = this.store.answer.peek();
    if (!answer) {
      this.status.textContent = 'Looking ...';
      return fill(this.list);
    }
    const { rules } = answer.findings;
    const found = rules.filter((rule) => rule.finding);
    const what = Object.keys(answer.scope).length > 0 ? 'what is selected' : 'the trace';
    this.status.textContent =
      found.length > 0
        ? `${plural(found.length, 'finding')} in ${what}, the gravest first.`
        : `Nothing found in ${what}.`;
    const rest = rules.filter((rule) => !rule.finding);
    fill(
      this.list,
      ...found.map((rule) => this.rule(rule, rule.finding as Finding)),
      this.others(
        found.length > 0 ? 'Looked for as well, and not found' : 'Looked for',
        rest.filter((rule) => rule.missing === null),
        (rule) => `${this.said(rule.looks_at)}${limit(rule)}`,
      ),
      this.others(
        'Not looked for',
        rest.filter((rule) => rule.missing !== null),
        (rule) => `${what} does not have ${this.said(rule.missing ?? '')}`,
      ),
    );
    this.mark();
  }

  private rule(rule: Rule, finding: Finding): HTMLElement {
    const all = this.whole.has(rule.name) || finding.places.length <= FEW + 1;
    const places = all ? finding.places : finding.places.slice(0, FEW);
    const left = finding.count - finding.places.length;
    return h(
      'section',
      { class: `finding ${rule.severity}`, attrs: { 'data-rule': rule.name } },
      h(
        'h2',
        { title: `${rule.name}: ${this.said(rule.looks_at)}, ${rule.threshold}: ${rule.reason}` },
        icon(rule.severity === 'warning' ? 'warning' : 'note'),
        h('span', { class: 'severity' }, `${SEVERITIES[rule.severity]}:`),
        this.said(rule.title),
      ),
      h('p', null, finding.text),
      places.length > 0 && h('ul', null, ...places.map((place) => this.place(finding, place))),
      !all && this.more(rule, finding.places.length - FEW),
      all &&
        places.length > 0 &&
        left > 0 &&
        h('p', { class: 'second' }, `and ${formatCount(left)} more, which are shorter`),
      ...finding.kinds.map((kind) => this.kind(kind)),
    );
  }

  private figure(finding: Finding, [, , , , , , figure, count]: FindingPlace): string {
    const time = formatTimeUnit(figure, this.v.viewer.unit.peek());
    switch (finding.figure) {
      case 'levels':
        return `${formatCount(count)} levels`;
      case 'clock':
        return `${time} in ${formatCount(count)}`;
      default:
        return time;
    }
  }

  private place(finding: Finding, place: FindingPlace): HTMLElement {
    const { viewer, settings } = this.v;
    const [row, index, time, , frame, number] = place;
    const track = viewer.facts.tracks.find((t) => t.track === number);
    const name = brief(viewer.frames.full(frame), 300);
    const words = [h('span', { class: 'name' }, name)];
    if (row < 0)
      return h('li', null, swatch(viewer.frames, frame, settings.theme.peek()), ...words);
    return h(
      'li',
      null,
      h('span', { class: 'number' }, this.figure(finding, place)),
      swatch(viewer.frames, frame, settings.theme.peek()),
      h(
        'button',
        {
          class: 'link',
          title: name,
          attrs: { type: 'button', 'data-call': `${row}/${index}` },
          on: { click: () => this.go(place) },
        },
        ...words,
      ),
      h('span', { class: 'second' }, `at ${formatTimeUnit(time, viewer.unit.peek())}`),
      h('span', { class: 'second track' }, track ? trackName(track) : ''),
    );
  }

  private kind([kind, count, text]: Finding['kinds'][number]): HTMLElement {
    const open = (): void => {
      this.v.viewer.tab.set('health');
      // It takes the keyboard when it is shown.
      flushEffects();
      document.getElementById('health')?.focus({ preventScroll: true });
    };
    return h(
      'p',
      { class: 'kind' },
      h(
        'button',
        {
          class: 'link',
          title: 'Show them in Health',
          attrs: { type: 'button' },
          on: { click: open },
        },
        `${formatCount(count)} × ${kind}`,
      ),
      h('span', { class: 'second' }, this.said(text)),
    );
  }

  private more(rule: Rule, left: number): HTMLElement {
    const click = (): void => {
      this.whole.add(rule.name);
      this.show();
      // The keyboard goes on where the button was.
      const links = this.element.querySelectorAll<HTMLElement>(
        `[data-rule="${rule.name}"] [data-call]`,
      );
      links[FEW]?.focus();
    };
    return h(
      'button',
      { class: 'link', attrs: { type: 'button' }, on: { click } },
      `${formatCount(left)} more places`,
    );
  }

  private others(title: string, rules: Rule[], words: (rule: Rule) => string): HTMLElement | false {
    if (rules.length === 0) return false;
    return h(
      'section',
      { class: 'others' },
      h('h2', null, title),
      h(
        'ul',
        null,
        ...rules.map((rule) =>
          h(
            'li',
            { title: rule.reason },
            h('span', null, this.said(rule.title)),
            h('span', { class: 'second' }, words(rule)),
          ),
        ),
      ),
    );
  }

  private go([row, index, time, length, frame, track]: FindingPlace): void {
    void goToEvent(this.v, [EVENT.slice, row, index, time, length, track, -1, frame, null]);
  }

  /** The call that is selected is marked among the places. */
  private mark(): void {
    const call = this.v.viewer.call.peek();
    const name = call ? `${call.row}/${call.index}` : '';
    for (const link of this.element.querySelectorAll<HTMLElement>('[data-call]'))
      setAttribute(link, 'aria-current', link.dataset['call'] === name ? 'true' : null);
  }

  /** Up and Down go from link to link, as Tab does. */
  private key(e: KeyboardEvent): void {
    if (e.key !== 'ArrowDown' && e.key !== 'ArrowUp') return;
    const links = [...this.element.querySelectorAll<HTMLElement>('button')];
    const at = links.indexOf(document.activeElement as HTMLElement);
    const next = links[e.key === 'ArrowDown' ? at + 1 : at - 1];
    if (!next || (at < 0 && e.key === 'ArrowUp')) return;
    next.focus();
    e.preventDefault();
    e.stopPropagation();
  }
}

function limit(rule: Rule): string {
  return rule.threshold === 'any' ? '' : `, ${rule.threshold}`;
}
