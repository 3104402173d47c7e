// SPDX-License-Identifier: Apache-2.0
// The Health tab: what the reader repaired, moved or skipped, each with its places; from a place to
// the event that stands there, and to the bytes.

import { fill, h } from '../base/dom';
import { fileName, formatCount, plural } from '../base/format';
import { effect, untracked } from '../base/signal';
import { brief, visible } from '../base/visible';
import type { Diagnostic, TraceFacts } from '../model/engine';
import type { EventRow, Health, HealthPlace } from '../model/found';
import { EVENT_WORDS } from '../model/found';
import { inWords, wordsFor } from '../model/words';
import { BytesView } from './bytesView';
import { eventName, goToEvent } from './events';
import type { Views } from './context';

/** So many places of a kind are shown at first. */
const FEW = 8;

type Place = HealthPlace;
type Kind = Health['diagnostics'][number];

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
  private answer: Health | null = null;
  private asked = false;

  constructor(
    private readonly v: Views,
    shown: () => boolean,
  ) {
    this.bytes = new BytesView(v);
    this.element = h('div', { class: 'health-pane' }, this.list, this.bytes.element);
    this.show();
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
        this.answer = answer;
        this.show();
      })
      .catch(viewer.failed);
  }

  private kinds(facts: TraceFacts): Kind[] {
    const kinds = this.answer?.diagnostics ?? facts.diagnostics.map(withoutPlaces);
    const known = kinds.some((kind) => kind.kind === 'overflow');
    return facts.overflow && !known ? [OVERFLOW, ...kinds] : kinds;
  }

  private show(): void {
    // Warnings first: something is lost or guessed.
    const kinds = this.kinds(this.v.viewer.facts);
    const sorted = [
      ...kinds.filter((kind) => kind.severity === 'warning'),
      ...kinds.filter((kind) => kind.severity !== 'warning'),
    ];
    if (sorted.length === 0) {
      const good = 'The file was read without anything to repair or to skip.';
      return fill(this.list, h('p', { class: 'nothing' }, good));
    }
    fill(this.list, ...sorted.map((kind) => this.kind(kind)));
  }

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
    const text = inWords(wordsFor(this.v.viewer.facts), kind.text);
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
    if (!this.answer?.readable[input]) return h('li', null, which, words);
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
