// SPDX-License-Identifier: Apache-2.0
// The Health tab: what the reader repaired, moved or skipped, each with its places; from a place to
// the event that stands there, and to the bytes.

import { fill, h } from '../../base/dom';
import { fileName, formatCount, plural } from '../../base/format';
import { effect, signal, untracked } from '../../base/signal';
import { brief, visible } from '../../base/visible';
import type { Diagnostic, TraceFacts } from '../../model/engine';
import type { EventRow, Health, HealthPlace } from '../../model/found';
import { EVENT_WORDS } from '../../model/found';
import { healthSheet, type HealthKind } from '../../model/healthSheet';
import { matcher } from '../../model/names';
import { inWords, wordsFor } from '../../model/words';
import { BytesView } from '../details/bytesView';
import { eventName, goToEvent } from './events';
import type { Exported } from './exportMenu';
import type { Findable } from './findBox';
import { linkKeys } from './linkKeys';
import type { Views } from '../context';

/** So many places of a kind are shown at first. */
const FEW = 8;

type Place = HealthPlace;
type Kind = HealthKind;

const OVERFLOW: Kind = {
  kind: 'overflow',
  text: 'the recording buffer was full; calls after that are missing',
  severity: 'warning',
  count: 1,
  places: [],
};

/** What the trace's facts say, until the places are there. */
function withoutPlaces(d: Diagnostic): Kind {
  const places = d.offsets.map((offset) => ({ offset, line: null, excerpt: '' }));
  return { kind: d.kind, text: d.text, severity: d.severity, count: d.count, places };
}

export class HealthView {
  readonly element: HTMLElement;
  private readonly bytes: BytesView;
  private readonly list = h('div', {
    class: 'health scroller',
    id: 'health',
    tabIndex: 0,
    attrs: { role: 'region', 'aria-label': 'What the reader found' },
  });
  private readonly whole = new Set<string>();
  private readonly answer = signal<Health | null>(null);
  private asked = false;

  constructor(
    private readonly v: Views,
    shown: () => boolean,
  ) {
    this.bytes = new BytesView(v);
    this.element = h('div', { class: 'health-pane' }, this.list, this.bytes.element);
    linkKeys(this.list);
    effect(() => {
      v.viewer.find.get();
      this.answer.get();
      untracked(() => this.show());
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

  private kinds(facts: TraceFacts): Kind[] {
    const kinds = this.answer.peek()?.diagnostics ?? facts.diagnostics.map(withoutPlaces);
    const known = kinds.some((kind) => kind.kind === 'overflow');
    return facts.overflow && !known ? [OVERFLOW, ...kinds] : kinds;
  }

  /** Warnings first: something is lost or guessed. */
  private sorted(): Kind[] {
    const kinds = this.kinds(this.v.viewer.facts);
    return [
      ...kinds.filter((kind) => kind.severity === 'warning'),
      ...kinds.filter((kind) => kind.severity !== 'warning'),
    ];
  }

  private said(text: string): string {
    return inWords(wordsFor(this.v.viewer.facts), text);
  }

  /** What has the text to find: a kind with all its places, or those of its places that have it. */
  private found(): Kind[] {
    const find = this.v.viewer.find.peek();
    const matches = matcher(find);
    return this.sorted().flatMap((kind): Kind[] => {
      if (find === '' || matches(`${kind.kind} ${this.said(kind.text)}`)) return [kind];
      const places = kind.places.filter(({ file = '', excerpt }) => matches(`${file} ${excerpt}`));
      return places.length > 0 ? [{ ...kind, places }] : [];
    });
  }

  private show(): void {
    const found = this.found();
    if (found.length > 0) return fill(this.list, ...found.map((kind) => this.kind(kind)));
    const good = 'The file was read without anything to repair or to skip.';
    const text = this.sorted().length === 0 ? good : 'Nothing here holds the text to find.';
    fill(this.list, h('p', { class: 'nothing' }, text));
  }

  exported(): Exported {
    const told = (kind: Kind): Kind => ({ ...kind, text: this.said(kind.text) });
    return { name: 'health', sheet: () => healthSheet(this.found().map(told)) };
  }

  copyText(): string | null {
    return null;
  }

  readonly findable: Findable = {
    text: () => {
      this.answer.get();
      return `${formatCount(this.found().length)} of ${formatCount(this.sorted().length)}`;
    },
    miss: () => this.answer.get() !== null && this.found().length === 0,
    typed: () => undefined,
    step: () => this.list.querySelector('button')?.focus(),
    focus: () => this.list.focus(),
  };

  private kind(kind: Kind): HTMLElement {
    const { places } = kind;
    const all = this.whole.has(kind.kind) || places.length <= FEW + 1;
    const shown = all ? places : places.slice(0, FEW);
    const more = h(
      'button',
      {
        class: 'link',
        attrs: { type: 'button' },
        on: {
          click: () => {
            this.whole.add(kind.kind);
            this.show();
          },
        },
      },
      `${formatCount(places.length - shown.length)} more places`,
    );
    const text = this.said(kind.text);
    const unkept = kind.count - places.length;
    return h(
      'section',
      { class: `diagnostic ${kind.severity}` },
      h(
        'h2',
        null,
        `${kind.severity === 'warning' ? 'Warning' : 'Note'}: ${formatCount(kind.count)} × ${text} `,
        h('span', { class: 'second' }, kind.kind),
      ),
      shown.length > 0 && h('ul', null, ...shown.map((place) => this.place(place))),
      !all && more,
      all &&
        unkept > 0 &&
        places.length > 0 &&
        this.v.viewer.find.peek() === '' &&
        h('p', { class: 'second' }, `and ${plural(unkept, 'more place', 'more places')} not kept`),
    );
  }

  /** Without the file's bytes at hand a place is a number, no more. */
  private place(place: Place): HTMLElement {
    const words = `byte ${formatCount(place.offset)}`;
    const line = place.line === null ? '' : `line ${formatCount(place.line)}`;
    const { input = 0, file = '' } = place;
    const which =
      file !== '' && h('span', { class: 'second', title: visible(file) }, visible(fileName(file)));
    if (!this.answer.peek()?.readable[input]) return h('li', null, which, words);
    const note = h('span', { class: 'note', attrs: { 'aria-live': 'polite' } });
    return h(
      'li',
      null,
      which,
      this.link(words, 'Show the bytes there', () => this.showBytes(place)),
      line !== '' && h('span', { class: 'second' }, line),
      this.link('event', 'Go to the event there', () => void this.goTo(place, note)),
      note,
      h('code', { title: place.excerpt }, place.excerpt),
    );
  }

  private link(text: string, title: string, click: () => void): HTMLElement {
    return h('button', { class: 'link', title, attrs: { type: 'button' }, on: { click } }, text);
  }

  private showBytes({ offset, input = 0, file = '' }: Place): void {
    this.bytes.show(offset, input, file);
  }

  /** What was left out is no event: nothing is selected, its bytes are shown and its neighbour told. */
  private async goTo(place: Place, note: HTMLElement): Promise<void> {
    const { viewer } = this.v;
    try {
      const { exact, event } = await viewer.engine.eventAt(place.offset, place.input ?? 0);
      if (exact && event) {
        fill(note, `the ${this.name(event)}`);
        return await goToEvent(this.v, event);
      }
      this.showBytes(place);
      const go = (): void => void goToEvent(this.v, event as EventRow);
      fill(
        note,
        'left out: the trace has no event from there',
        event && '; the nearest in the file is ',
        event && this.link(`the ${this.name(event)}`, 'Go to the event beside it', go),
      );
    } catch (error) {
      viewer.failed(error);
    }
  }

  private name(event: EventRow): string {
    return `${EVENT_WORDS[event[0]] ?? ''} ${brief(eventName(this.v, event), 80)}`;
  }
}
