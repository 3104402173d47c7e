// SPDX-License-Identifier: Apache-2.0
// The Health tab: everything the reader repaired, moved or skipped, with the places. Each place
// leads to its event and to the bytes of the file.

import { fill, h, icon, type Child } from '../../base/dom';
import { fileName, formatCount } from '../../base/format';
import { computed, effect, flushEffects, signal, untracked } from '../../base/signal';
import { shortened, makeVisible } from '../../base/visible';
import type { EventRow, Health, HealthPlace } from '../../model/eventAnswers';
import { EVENT_WORDS } from '../../model/eventAnswers';
import { isEmpty } from '../../model/firstScreen';
import { healthGroups, healthKinds, healthSheet, type HealthItem } from '../../model/healthTable';
import { SEVERITIES } from '../../model/severity';
import { inTermsOf, wordsFor } from '../../model/words';
import { BytesView } from '../details/bytesView';
import { eventName, goToEvent } from './events';
import type { Exported } from './exportMenu';
import type { Findable } from './findBox';
import { GroupTable, type GroupColumn } from './groupTable';
import type { Views } from '../context';

/** Advice for a file of which nothing was read. A click on a place shows its bytes here, too. */
const NOTHING_SHOWN =
  'Nothing of this file can be shown. Compare its size with the original, copy it again, or record it again.';

/** The view of repaired, moved and skipped events. */
export class HealthView {
  readonly element: HTMLElement;
  readonly findable: Findable;
  private readonly table: GroupTable<HealthItem>;
  private readonly bytes: BytesView;
  /** A text that names the event at the last place visited. */
  private readonly there = h('span', { class: 'about', attrs: { 'aria-live': 'polite' } });
  private readonly answer = signal<Health | null>(null);
  private asked = false;

  constructor(
    private readonly v: Views,
    shown: () => boolean,
  ) {
    const { viewer } = v;
    this.bytes = new BytesView(v);
    this.table = new GroupTable<HealthItem>(v, {
      label: 'What the reader found',
      state: viewer.health,
      groups: computed(() => healthGroups(healthKinds(viewer.facts, this.answer.get()))),
      columns: computed(() => this.columns()),
      words: ({ kind, place }) =>
        place ? `${place.file ?? ''} ${place.excerpt}` : `${kind.kind} ${this.said(kind.text)}`,
      shown,
      go: ({ place }) => place && void this.goTo(place),
      whenEmpty: () => this.emptyText(),
      sheet: (items) => healthSheet(items, (text) => this.said(text)),
    });
    this.table.grid.scroller.id = 'health';
    this.findable = this.table.findable(() => this.answer.get() !== null);
    const bar = h('div', { class: 'pane-bar' }, this.there);
    const list = h('div', { class: 'with-bar health' }, bar, this.table.grid.element);
    this.element = h('div', { class: 'two-panes' }, list, this.bytes.element);
    effect(() => {
      this.answer.get();
      untracked(() => fill(this.there, this.hint()));
    });
    effect(() => {
      if (!shown() || this.asked) return;
      this.asked = true;
      untracked(() => this.load());
    });
  }

  private load(): void {
    const { viewer } = this.v;
    viewer.engine
      .health()
      .then((answer) => {
        this.answer.set(answer);
      })
      .catch(viewer.failed);
  }

  private said(text: string): string {
    return inTermsOf(wordsFor(this.v.viewer.facts), text);
  }

  private hint(): string {
    const kinds = healthKinds(this.v.viewer.facts, this.answer.peek());
    if (kinds.every(({ places }) => places.length === 0)) return '';
    if (isEmpty(this.v.viewer.facts)) return NOTHING_SHOWN;
    return 'Click a place to see its bytes and go to its event.';
  }

  private emptyText(): string {
    const { viewer } = this.v;
    return healthKinds(viewer.facts, this.answer.peek()).length === 0
      ? 'The file was read without anything to repair or to skip.'
      : 'Nothing here contains the search text.';
  }

  private columns(): GroupColumn<HealthItem>[] {
    const kinds = healthKinds(this.v.viewer.facts, this.answer.get());
    const places = kinds.flatMap((kind) => kind.places);
    const column = (
      id: string,
      head: string,
      title: string,
      text: (item: HealthItem) => string,
    ): GroupColumn<HealthItem> => ({ id, head, title, number: false, value: text, text });
    const numbers = (
      id: string,
      head: string,
      title: string,
      value: (item: HealthItem) => number | null,
    ): GroupColumn<HealthItem> => {
      const text = (item: HealthItem): string => {
        const n = value(item);
        return n === null ? '' : formatCount(n);
      };
      return { id, head, title, number: true, value, text };
    };
    const name = ({ kind, place }: HealthItem): string =>
      place ? this.placeText(place) : this.said(kind.text);
    const file = ({ place }: HealthItem): string => makeVisible(fileName(place?.file ?? ''));
    const head = (of: (item: HealthItem) => string) => (item: HealthItem) =>
      item.place ? '' : of(item);
    return [
      {
        ...column('name', 'What was found', 'What was found, and the text at that place', name),
        ...{ width: 0, least: 320, cell: (item) => this.nameCell(item) },
      },
      column(
        'severity',
        'Severity',
        'Errors: data was lost or invented. Warnings: something else was lost or guessed',
        head(({ kind }) => SEVERITIES[kind.severity]),
      ),
      column(
        'kind',
        'Kind',
        'As the commands name it',
        head(({ kind }) => kind.kind),
      ),
      numbers('count', 'Count', 'How often', ({ kind, place }) => (place ? null : kind.count)),
      ...(places.some((place) => place.file)
        ? [{ ...column('file', 'File', 'In which file', file), width: 150 }]
        : []),
      ...(places.some((place) => place.line !== null)
        ? [numbers('line', 'Line', 'The line of the file', ({ place }) => place?.line ?? null)]
        : []),
      numbers('byte', 'Byte', 'Where in the file', ({ place }) => place?.offset ?? null),
    ];
  }

  private placeText(place: HealthPlace): string {
    return place.excerpt === '' ? `byte ${formatCount(place.offset)}` : place.excerpt;
  }

  private nameCell({ kind, place }: HealthItem): Child[] {
    if (place) {
      const text = this.placeText(place);
      const link = this.isReadable(place) ? 'text link' : 'text';
      const style = place.excerpt === '' ? link : `${link} code`;
      return [h('span', { class: style, title: text }, text)];
    }
    const text = this.said(kind.text);
    const kept = kind.places.length;
    const some =
      kept > 0 && kept < kind.count && `, the first ${formatCount(kept)} places are kept`;
    return [
      icon(kind.severity, `severity ${kind.severity}`),
      h('span', { class: 'text', title: text }, text, some && h('span', { class: 'second' }, some)),
    ];
  }

  private isReadable({ input = 0 }: HealthPlace): boolean {
    return this.answer.peek()?.readable[input] ?? false;
  }

  /** Open a kind and focus it. */
  leadTo(kind: string): void {
    this.v.viewer.tab.set('health');
    // The tab must be visible before it can take the focus.
    flushEffects();
    this.table.leadTo(kind);
  }

  /**
   * Go to a place. A skipped event cannot be selected, so show its bytes and name its neighbour.
   */
  private async goTo(place: HealthPlace): Promise<void> {
    const { viewer } = this.v;
    const at = `Byte ${formatCount(place.offset)}`;
    if (!this.isReadable(place)) return fill(this.there, `${at} of the file.`);
    this.bytes.show(place.offset, place.input ?? 0, place.file ?? '');
    try {
      const { exact, event } = await viewer.engine.eventAt(place.offset, place.input ?? 0);
      if (exact && event) {
        fill(this.there, `${at}: the ${this.name(event)}`);
        return await goToEvent(this.v, event);
      }
      fill(
        this.there,
        `${at}: left out: the trace has no event from there`,
        event && '; the nearest in the file is ',
        event && this.neighbour(event),
      );
    } catch (error) {
      viewer.failed(error);
    }
  }

  private neighbour(event: EventRow): HTMLElement {
    const title = 'Go to the event beside it';
    const click = (): void => void goToEvent(this.v, event);
    return h(
      'button',
      { class: 'link', title, attrs: { type: 'button' }, on: { click } },
      `the ${this.name(event)}`,
    );
  }

  private name(event: EventRow): string {
    return `${EVENT_WORDS[event[0]] ?? ''} ${shortened(eventName(this.v, event), 80)}`;
  }

  exported(): Exported {
    return { name: 'health', sheet: () => this.table.sheet() };
  }

  copyText(): string | null {
    return this.table.copyText();
  }
}
