// SPDX-License-Identifier: Apache-2.0
// The line below the overview: name and times of the call under the pointer, else of the selected
// call. It has a fixed place, so it covers nothing.

import { fill, h, setText, type Child } from '../../base/dom';
import { formatTime, formatTimeUnit } from '../../base/format';
import { effect } from '../../base/signal';
import { shortened } from '../../base/visible';
import { otherEventsHint } from '../../model/otherEventsHint';
import { reservedColour, type CallDetails } from '../../model/engine';
import type { Hover } from '../../model/viewer';
import type { Views } from '../context';
import { inTermsOf, wordsFor } from '../../model/words';
import { swatch } from '../swatch';

/** A longer notice does not fit next to the other texts. */
const LONG = 100;

/** Keys are in brackets. */
const LINE_HINT = [
  'drag selects a range  ',
  '[W]',
  ' ',
  '[S]',
  ' zoom  ',
  '[A]',
  ' ',
  '[D]',
  ' pan',
];
const TABLE_HINT = ['type to find a method  ', '[←]', ' ', '[→]', ' close, open'];

function hintPart(text: string): Child {
  return text.startsWith('[') ? h('kbd', null, text.slice(1, -1)) : text;
}

/** The readout line. */
export class Readout {
  readonly element: HTMLElement;
  private readonly name = h('span', { class: 'name' });
  private readonly values = h('span', { class: 'value' });
  private readonly hint = h('span', { class: 'hint' });

  constructor(private readonly v: Views) {
    const words = wordsFor(v.viewer.facts);
    const notice = h('span', { class: 'notice', attrs: { role: 'status' } });
    this.element = h('div', { class: 'readout' }, this.name, this.values, notice, this.hint);
    effect(() => this.show());
    effect(() => {
      const inTable = v.viewer.inTable.get() && v.viewer.pointer.get() === null;
      fill(
        this.hint,
        ...(inTable ? TABLE_HINT : LINE_HINT).map((text) => hintPart(inTermsOf(words, text))),
      );
    });
    effect(() => {
      const { text = '', wrong = false } = v.viewer.notice.get() ?? {};
      setText(notice, text);
      // A long notice, and any notice of a report, may take as many lines as it needs.
      notice.title = text;
      const about = v.viewer.facts.notes?.join(' ') ?? '';
      this.element.classList.toggle('long', text.length > LONG || (text !== '' && text === about));
      notice.classList.toggle('wrong', wrong);
    });
  }

  /**
   * Describe the call under the pointer, or else the selected one. The name is known at once; times
   * follow when the engine has answered.
   */
  private show(): void {
    const { viewer, selection } = this.v;
    const hover = viewer.hover.get();
    const details = hover ? selection.hovered.get() : selection.details.get();
    const frame = hover?.hit.frame ?? details?.frame ?? viewer.frame.get();
    const unit = viewer.unit.get();
    if (frame === null) {
      const what = wordsFor(viewer.facts).slice;
      const words =
        viewer.facts.tracks.length > 0 ? `Point at a ${what}` : otherEventsHint(viewer.facts).text;
      fill(this.name, h('span', { class: 'dim' }, words));
      return fill(this.values);
    }
    const { frames } = viewer;
    fill(
      this.name,
      swatch(frames, frame, this.v.settings.theme.get(), this.colour(hover, details)),
      h(
        'span',
        null,
        shortened(frames.short(frame)),
        h('span', { class: 'dim' }, `  ${frames.packagePrefix(frame).replace(/\.$/, '')}`),
      ),
    );
    if (details) return fill(this.values, ...this.times(details));
    // The length of a bar is known at once; its other times are still loading. On a collapsed track
    // a bar is only a part of its call.
    const clock = { cpu: 'incl CPU', real: 'incl real', weight: 'inclusive' }[viewer.facts.axis];
    if (hover?.hit.call && viewer.expanded.get().has(hover.track.track))
      fill(this.values, `${clock}`, h('b', null, formatTimeUnit(hover.hit.length, unit)));
    else fill(this.values);
  }

  /** Return the colour of the slice that is described. */
  private colour(hover: Hover | null, details: CallDetails | null): number {
    return hover ? reservedColour(hover.hit.flags) : (details?.colour ?? 0);
  }

  private times(call: CallDetails): HTMLElement[] {
    const { viewer } = this.v;
    const unit = viewer.unit.get();
    const isWeight = viewer.facts.axis === 'weight';
    const inclReal = viewer.facts.axis !== 'cpu' ? call.length_ns : null;
    const values: [string, number | null][] = [
      ['excl CPU', call.excl_cpu_ns],
      ['incl CPU', call.cpu_length_ns],
      [isWeight ? 'exclusive' : 'excl real', call.excl_real_ns],
      [isWeight ? 'inclusive' : 'incl real', inclReal],
    ];
    const known = values.filter((pair): pair is [string, number] => pair[1] !== null);
    return known.map(([what, ns], i) =>
      h(
        'span',
        { class: 'value', style: { 'margin-right': '16px' } },
        what,
        h('b', null, i === known.length - 1 ? formatTimeUnit(ns, unit) : formatTime(ns, unit)),
      ),
    );
  }
}
