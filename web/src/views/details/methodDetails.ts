// SPDX-License-Identifier: Apache-2.0
// The details of a method: its totals in the selection.

import { h } from '../../base/dom';
import { formatCount } from '../../base/format';
import { compensationWords } from '../../model/compensation';
import type { Figures } from '../../model/profileColumns';
import { countsCalls, inTermsOf, countSlices, wordsFor } from '../../model/words';
import type { Views } from '../context';
import { frameHead, linkButton, stepToCall, timesTable, type TimesRow } from './detailsParts';

export function methodDetails(v: Views, frame: number, f: Figures | null): HTMLElement[] {
  const { viewer } = v;
  const words = wordsFor(viewer.facts);
  const scoped =
    viewer.range.get() || viewer.tracks.get().length > 0
      ? 'in what is selected'
      : 'in the whole trace';
  if (!f)
    return [
      ...frameHead(v, frame),
      h(
        'p',
        { class: 'second' },
        words.events ? `No slice of it ${scoped}.` : `Not called ${scoped}.`,
      ),
    ];
  const answer = v.profile.answer.get();
  const less = answer && compensationWords(answer, viewer.unit.get());
  const n = f.calls + f.recursive;
  const per = (ns: number | null): number | null => (ns === null || n === 0 ? null : ns / n);
  const perCall: TimesRow[] = countsCalls(viewer.facts)
    ? [[inTermsOf(words, 'Per call'), per(f.incl_real), per(f.incl_cpu)]]
    : [];
  return [
    ...frameHead(v, frame),
    timesTable(
      v,
      [['Inclusive', f.incl_real, f.incl_cpu], ['Exclusive', f.excl_real, f.excl_cpu], ...perCall],
      [],
    ),
    h(
      'p',
      { class: 'second' },
      `${countSlices(words, f.calls)}${f.recursive ? ` and ${formatCount(f.recursive)} recursive` : ''} ${scoped}.`,
    ),
    ...(less ? [h('p', { class: 'second' }, `${less}.`)] : []),
    h(
      'div',
      { class: 'actions' },
      linkButton(
        inTermsOf(words, 'First call'),
        () => void stepToCall(v, frame, viewer.bounds.from - 1, 1),
      ),
      linkButton(
        inTermsOf(words, 'Last call'),
        () => void stepToCall(v, frame, viewer.bounds.to + 1, -1),
      ),
    ),
  ];
}
