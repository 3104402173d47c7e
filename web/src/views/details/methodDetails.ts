// SPDX-License-Identifier: Apache-2.0
// The details of a method: its totals in the selection.

import { h } from '../../base/dom';
import { formatCount, formatPercent, plural } from '../../base/format';
import { makeVisible } from '../../base/visible';
import { compensationWords } from '../../model/compensation';
import { figureWithUnit } from '../../model/measure';
import { profileTotal, type Figures } from '../../model/profileColumns';
import { countsCalls, inTermsOf, countSlices, wordsFor } from '../../model/words';
import type { Views } from '../context';
import {
  factRow,
  factTable,
  frameHead,
  linkButton,
  stepToCall,
  timesTable,
  type TimesRow,
} from './detailsParts';

/** Return the totals of a function in the samples. */
function sampleDetails(v: Views, frame: number, f: Figures, scoped: string): HTMLElement[] {
  const { profile } = v;
  const { of, name } = profile.measure;
  const scale = profile.scale();
  const total = profileTotal(profile.answer.get(), 'real');
  const row = (what: string, figure: number | null): HTMLElement =>
    factRow(what, `${figureWithUnit(scale, figure ?? 0)}, ${formatPercent(figure ?? 0, total)} %`);
  const value = of === 'weight' && name !== '' ? [factRow('Value', makeVisible(name))] : [];
  return [
    ...frameHead(v, frame),
    factTable(...value, row('Total', f.incl_real), row('Self', f.excl_real)),
    h('p', { class: 'second' }, `${plural(f.calls, 'sample')} ${scoped}.`),
  ];
}

/** Return the details of a method in the selection; `f` is null where it has no calls. */
export function methodDetails(v: Views, frame: number, f: Figures | null): HTMLElement[] {
  const { viewer } = v;
  const words = wordsFor(viewer.facts);
  const ofSamples = v.profile.measure.of !== 'calls';
  const scoped =
    viewer.range.get() || viewer.tracks.get().length > 0
      ? 'in the selection'
      : 'in the whole trace';
  if (!f)
    return [
      ...frameHead(v, frame),
      h(
        'p',
        { class: 'second' },
        ofSamples
          ? `No sample of it ${scoped}.`
          : words.events
            ? `No slice of it ${scoped}.`
            : `Not called ${scoped}.`,
      ),
    ];
  if (ofSamples) return sampleDetails(v, frame, f, scoped);
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
