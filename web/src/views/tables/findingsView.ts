// SPDX-License-Identifier: Apache-2.0
// The Findings tab: what in the selected range and tracks is worth looking at first, each with links
// to the places; and what was looked for without finding anything.

import { fill, h, icon, setAttribute } from '../../base/dom';
import { fixedUnit, formatCount, formatTimeUnit, plural } from '../../base/format';
import { effect, flushEffects, untracked } from '../../base/signal';
import { brief } from '../../base/visible';
import type { Finding, FindingPlace, FindingsStore, Rule } from '../../model/findings';
import { findingsSheet, type FoundRule } from '../../model/findingsSheet';
import { EVENT } from '../../model/found';
import { matcher, trackPlace } from '../../model/names';
import { inWords, wordsFor } from '../../model/words';
import { goToEvent } from './events';
import type { Exported } from './exportMenu';
import type { Findable } from './findBox';
import { linkKeys } from './linkKeys';
import { swatch } from '../swatch';
import type { Views } from '../context';

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
    linkKeys(this.element);
    effect(() => {
      if (!shown()) return;
      store.answer.get();
      for (const read of [v.viewer.unit, v.viewer.find, v.settings.theme]) read.get();
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
    const all = rules.filter((rule) => rule.finding);
    const found = this.found();
    const what = Object.keys(answer.scope).length > 0 ? 'what is selected' : 'the trace';
    const some = found.length < all.length ? `${formatCount(found.length)} of ` : '';
    this.status.textContent =
      all.length > 0
        ? `${some}${plural(all.length, 'finding')} in ${what}, the gravest first.`
        : `Nothing found in ${what}.`;
    const rest = rules.filter((rule) => !rule.finding);
    fill(
      this.list,
      ...found.map((one) => this.rule(one)),
      this.others(
        all.length > 0 ? 'Looked for as well, and not found' : 'Looked for',
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

  /** What has the text to find: a rule with all its places, or those of its places that have it. */
  private found(): FoundRule[] {
    const find = this.v.viewer.find.peek();
    const matches = matcher(find);
    const { frames } = this.v.viewer;
    const rules = this.store.answer.peek()?.findings.rules ?? [];
    return rules.flatMap((rule): FoundRule[] => {
      const { finding } = rule;
      if (!finding) return [];
      const { places } = finding;
      if (find === '' || matches(`${this.said(rule.title)} ${finding.text}`))
        return [{ rule, finding, places }];
      const some = places.filter(([, , , , frame, track]) =>
        matches(`${frame < 0 ? '' : frames.full(frame)} ${this.trackOf(track)}`),
      );
      return some.length > 0 ? [{ rule, finding, places: some }] : [];
    });
  }

  private trackOf(number: number): string {
    const track = this.v.viewer.facts.tracks.find((t) => t.track === number);
    return track ? trackPlace(track, this.v.viewer.facts.processes) : '';
  }

  exported(): Exported {
    const { viewer } = this.v;
    const name = (frame: number): string => (frame < 0 ? '' : viewer.frames.full(frame));
    const unit = fixedUnit(viewer.unit.peek());
    return {
      name: 'findings',
      sheet: () =>
        this.store.answer.peek() &&
        findingsSheet(this.found(), name, (track) => this.trackOf(track), unit),
    };
  }

  copyText(): string | null {
    return null;
  }

  readonly findable: Findable = {
    text: () => {
      const all = this.store.answer.get()?.findings.rules.filter((rule) => rule.finding) ?? [];
      return `${formatCount(this.found().length)} of ${formatCount(all.length)}`;
    },
    miss: () => this.store.answer.get() !== null && this.found().length === 0,
    typed: () => undefined,
    step: () => this.element.querySelector('button')?.focus(),
    focus: () => this.element.focus(),
  };

  private rule({ rule, finding, places: there }: FoundRule): HTMLElement {
    const all = this.whole.has(rule.name) || there.length <= FEW + 1;
    const places = all ? there : there.slice(0, FEW);
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
      !all && this.more(rule, there.length - FEW),
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
      h('span', { class: 'second track' }, this.trackOf(number)),
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
}

function limit(rule: Rule): string {
  return rule.threshold === 'any' ? '' : `, ${rule.threshold}`;
}
