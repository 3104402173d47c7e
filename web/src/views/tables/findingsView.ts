// SPDX-License-Identifier: Apache-2.0
// The Findings tab: conspicuous things in the selected range and tracks, each with its places. Next
// to the table stands the explanation of the rule under the cursor, and below it the rules that
// found nothing.

import { fill, h, icon, setAttribute, type Child } from '../../base/dom';
import { fixedUnit, formatCount, formatTime, plural, unitHead } from '../../base/format';
import { computed, effect, untracked } from '../../base/signal';
import { shortened } from '../../base/visible';
import type { FindingPlace, FindingsStore, Rule } from '../../model/findings';
import { findingsSheet, type FindingWords } from '../../model/findingsSheet';
import {
  callOfFinding,
  findingGroups,
  ruleOfFinding,
  startOfFinding,
  timeOfFinding,
  countOfFinding,
  type FindingItem,
} from '../../model/findingsTable';
import { EVENT } from '../../model/eventAnswers';
import { finderOf, trackPlace } from '../../model/names';
import { SEVERITIES } from '../../model/severity';
import { inTermsOf, wordsFor } from '../../model/words';
import { goToEvent } from './events';
import type { Exported } from './exportMenu';
import type { Findable } from './findBox';
import { GroupTable, type GroupColumn } from './groupTable';
import { pathText } from './pathText';
import { swatch } from '../swatch';
import type { Views } from '../context';

/** The view of findings. */
export class FindingsView {
  readonly element: HTMLElement;
  readonly findable: Findable;
  private readonly table: GroupTable<FindingItem>;
  private readonly status = h('span', { class: 'about', attrs: { 'aria-live': 'polite' } });
  private readonly about = h('div', {
    class: 'about-line scroller',
    tabIndex: 0,
    attrs: { role: 'region', 'aria-label': 'About the finding' },
  });
  private readonly words: FindingWords;

  /** `toHealth` shows a kind of fault in the Health tab. */
  constructor(
    private readonly v: Views,
    private readonly store: FindingsStore,
    shown: () => boolean,
    private readonly toHealth: (kind: string) => void,
  ) {
    const { viewer } = v;
    const { frames } = viewer;
    this.words = {
      name: (frame) => (frame < 0 ? '' : frames.full(frame)),
      track: (number) => this.trackOf(number),
      said: (text) => inTermsOf(wordsFor(viewer.facts), text),
    };
    this.table = new GroupTable<FindingItem>(v, {
      label: 'Findings',
      state: viewer.findings,
      groups: computed(() => findingGroups(store.answer.get()?.findings.rules ?? [])),
      columns: computed(() => this.columns()),
      words: (item) => this.searched(item),
      shown,
      go: (item) => this.go(item),
      selected: (item) => this.isSelected(item),
      moved: (item) => this.explain(item),
      whenEmpty: () => this.emptyText(),
      sheet: (items) => findingsSheet(items, this.words, fixedUnit(viewer.unit.peek())),
    });
    this.findable = this.table.findable(() => store.answer.get() !== null);
    const bar = h('div', { class: 'pane-bar' }, this.status);
    const list = h('div', { class: 'with-bar findings' }, bar, this.table.grid.element);
    this.element = h('div', { class: 'two-panes' }, list, this.about);
    effect(() => this.showStatus());
    effect(() => {
      const pending = store.pending.get();
      list.classList.toggle('pending', pending);
      setAttribute(this.table.grid.scroller, 'aria-busy', pending);
    });
  }

  private trackOf(number: number): string {
    const track = this.v.viewer.facts.tracks.find((t) => t.track === number);
    return track ? trackPlace(track, this.v.viewer.facts.processes) : '';
  }

  /**
   * Return the text in which the search looks: what the user reads in the line, in the words of
   * this trace. A heading has none, so it is shown just with what is below it.
   */
  private searched(item: FindingItem): string {
    const { said } = this.words;
    switch (item.is) {
      case 'finding':
        return `${said(item.rule.title)} ${item.finding.text}`;
      case 'place':
        return `${this.words.name(item.place[4])} ${this.trackOf(item.place[5])}`;
      case 'kind':
        return `${item.kind[0]} ${said(item.kind[2])}`;
      case 'rule':
        return `${said(item.rule.title)} ${said(item.rule.looks_at)}`;
      case 'rules':
        return '';
    }
  }

  private columns(): GroupColumn<FindingItem>[] {
    const unit = this.v.viewer.unit.get();
    const time = (ns: number | null): string => (ns === null ? '' : formatTime(ns, unit));
    const track = (item: FindingItem): string =>
      item.is === 'place' ? this.trackOf(item.place[5]) : '';
    const severity = (item: FindingItem): string =>
      item.is === 'finding' ? SEVERITIES[item.rule.severity] : '';
    const times = (item: FindingItem): string => {
      const count = countOfFinding(item);
      return count === null ? '' : formatCount(count);
    };
    return [
      {
        ...{ id: 'name', head: 'Finding', title: 'What was found, and where' },
        ...{ number: false, width: 0, least: 320 },
        value: (item) => this.title(item),
        text: (item) => this.title(item),
        cell: (item) => this.nameCell(item),
      },
      {
        ...{ id: 'severity', head: 'Severity', title: 'Warnings are more serious than notes' },
        ...{ number: false, value: severity, text: severity },
      },
      {
        ...{
          id: 'count',
          head: 'Count',
          title: 'Number of places; for one place, its own count or its depth',
        },
        ...{ number: true, value: countOfFinding, text: times },
      },
      {
        id: 'time',
        head: unitHead('Time', unit),
        title: 'Total in the range; for one place, its duration, its wait or the cost of the clock',
        ...{ number: true, value: timeOfFinding, text: (item) => time(timeOfFinding(item)) },
      },
      {
        ...{ id: 'start', head: unitHead('Start', unit), title: 'Start of the first place' },
        ...{ number: true, value: startOfFinding },
        text: (item) => (item.is === 'place' ? time(startOfFinding(item)) : ''),
      },
      {
        ...{ id: 'track', head: 'Track', title: 'Where it lies', number: false, width: 190 },
        ...{ value: track, text: track },
      },
    ];
  }

  /** Return the first cell's text. Words like "call" become those of the trace's kind (`said`). */
  private title(item: FindingItem): string {
    switch (item.is) {
      case 'place':
        return shortened(this.words.name(item.place[4]), 300);
      case 'kind':
        return this.words.said(item.kind[2]);
      case 'rules':
        return item.title;
      default:
        return this.words.said(item.rule.title);
    }
  }

  private nameCell(item: FindingItem): Child[] {
    const { viewer, settings } = this.v;
    const title = this.title(item);
    const text = (style: string, ...content: Child[]): HTMLElement =>
      h('span', { class: `text ${style}`, title }, ...content);
    switch (item.is) {
      case 'finding': {
        const { severity } = item.rule;
        const sentence = h('span', { class: 'second' }, ` ${item.finding.text}`);
        const whole = `${title}: ${item.finding.text}`;
        return [
          icon(severity, `severity ${severity}`),
          h('span', { class: 'text', title: whole }, h('b', null, title), sentence),
        ];
      }
      case 'place': {
        const frame = item.place[4];
        const path = pathText(viewer.frames, frame, finderOf(viewer.find.peek()));
        path.classList.toggle('link', callOfFinding(item) !== null);
        return [swatch(viewer.frames, frame, settings.theme.peek()), path];
      }
      case 'kind':
        return [text('link', title)];
      case 'rules':
        return [h('b', { class: 'text' }, title)];
      case 'rule':
        return [text('', title, h('span', { class: 'second' }, ` ${this.lookedFor(item.rule)}`))];
    }
  }

  /**
   * Return what a rule looked for and its threshold, or why it could not look at all: "nothing
   * found" and "not checked" must not look alike.
   */
  private lookedFor(rule: Rule): string {
    const { said } = this.words;
    if (rule.missing !== null) return `the trace does not have ${said(rule.missing)}`;
    return said(rule.looks_at) + (rule.threshold === 'any' ? '' : `, ${rule.threshold}`);
  }

  /**
   * Say how many findings there are, in what, and in which order; the order is told only while it
   * is the tab's own.
   */
  private showStatus(): void {
    const answer = this.store.answer.get();
    const { sort } = this.v.viewer.findings.get();
    const found = this.table.found.get().filter((group) => !group.last).length;
    if (!answer) {
      this.status.textContent = 'Looking ...';
      return;
    }
    const all = answer.findings.rules.filter((rule) => rule.finding).length;
    const what = Object.keys(answer.scope).length > 0 ? 'the selection' : 'the trace';
    const some = found < all ? `${formatCount(found)} of ` : '';
    const order = sort || found < 2 ? '.' : ', the gravest first.';
    this.status.textContent =
      all > 0 ? `${some}${plural(all, 'finding')} in ${what}${order}` : `Nothing found in ${what}.`;
  }

  private emptyText(): string {
    return this.store.answer.peek() ? 'Nothing here contains the search text.' : '';
  }

  /** Explain the line under the cursor in whole sentences. */
  private explain(item: FindingItem | null): void {
    const rule = item && ruleOfFinding(item);
    if (!rule) {
      const hint = item
        ? 'These rules found nothing, or the trace does not have what they need.'
        : '';
      return fill(this.about, hint !== '' && h('p', { class: 'second' }, hint));
    }
    const { said } = this.words;
    const { finding, severity } = rule;
    const left = finding ? finding.count - finding.places.length : 0;
    fill(
      this.about,
      h('h2', { class: severity }, icon(severity), h('span', null, said(rule.title))),
      finding && h('p', null, finding.text),
      finding !== null &&
        finding.places.length > 0 &&
        left > 0 &&
        h('p', { class: 'second' }, `The worst are listed, ${formatCount(left)} more are not.`),
      h('p', { class: 'second' }, `${SEVERITIES[severity]}. Examined: ${said(rule.looks_at)}.`),
      rule.missing !== null && h('p', null, `Not checked: ${this.lookedFor(rule)}.`),
      rule.threshold !== 'any' && h('p', { class: 'second' }, `Reported when: ${rule.threshold}.`),
      h('p', { class: 'second' }, `Why: ${said(rule.reason)}.`),
      h('p', { class: 'second' }, 'Rule: ', h('code', null, rule.name)),
    );
  }

  /**
   * Go to a place. A kind of fault has no place in time, so it leads to its bytes in the Health
   * tab.
   */
  private go(item: FindingItem): void {
    if (item.is === 'kind') return this.toHealth(item.kind[0]);
    const place = callOfFinding(item);
    if (place) this.goTo(place);
  }

  private goTo([row, index, time, length, frame, track]: FindingPlace): void {
    void goToEvent(this.v, [EVENT.slice, row, index, time, length, track, -1, frame, null]);
  }

  /** Return true for the place of the selected call. */
  private isSelected(item: FindingItem): boolean {
    const call = this.v.viewer.call.peek();
    const place = callOfFinding(item);
    return place !== null && call?.row === place[0] && call.index === place[1];
  }

  exported(): Exported {
    return {
      name: 'findings',
      sheet: () => untracked(() => this.store.answer.peek() && this.table.sheet()),
    };
  }

  copyText(): string | null {
    return this.table.copyText();
  }
}
