// SPDX-License-Identifier: Apache-2.0
// On a narrow page the details have no room next to the tables. One line below the tables names the
// selection and leads to its tab.

import { fill, h } from '../../base/dom';
import { effect } from '../../base/signal';
import { shortened } from '../../base/visible';
import type { MarkKind } from '../../model/marks';
import type { Views } from '../context';
import { swatch } from '../swatch';

const MARK_WORDS: Record<MarkKind, string> = {
  instant: 'An instant is selected',
  object: 'An object is selected',
  snapshot: 'A snapshot is selected',
  sample: 'A sample is selected',
  memory: 'A memory dump is selected',
  counter: 'A counter is selected',
};

export function detailsHint(v: Views, open: () => void): HTMLElement {
  const { viewer } = v;
  const what = h('span', { class: 'text' });
  const element = h(
    'button',
    {
      class: 'details-hint',
      title: 'Show the details of the selection',
      attrs: { type: 'button' },
      on: { click: open },
    },
    what,
    h('span', { class: 'more' }, 'Details ›'),
  );
  effect(() => {
    const frame = viewer.frame.get();
    const mark = viewer.mark.get();
    element.hidden = frame === null && mark === null;
    if (mark) fill(what, MARK_WORDS[mark.kind]);
    else if (frame !== null)
      fill(
        what,
        swatch(viewer.frames, frame, v.settings.theme.get()),
        shortened(viewer.frames.short(frame)),
      );
  });
  return element;
}
