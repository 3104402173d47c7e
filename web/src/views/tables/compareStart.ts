// SPDX-License-Identifier: Apache-2.0
// The Compare tab without a base: the choice of what the trace is compared with.

import { fill, h } from '../../base/dom';
import { fileName, plural } from '../../base/format';
import { effect } from '../../base/signal';
import { shortened } from '../../base/visible';
import type { Views } from '../context';
import { screenButton } from '../screens';

/** Create the panel, which hides once there is a base. */
export function compareStart(v: Views, shown: () => boolean): HTMLElement {
  const start = h('div', { class: 'compare-start scroller', hidden: true });
  effect(() => {
    const none = v.viewer.base.get().length === 0;
    const more = v.viewer.more.get().length;
    start.hidden = !none;
    if (none && shown()) void offerFiles(v, start, more);
  });
  return start;
}

/** List the files that the trace, and `more` runs of its version, can be compared with. */
async function offerFiles(v: Views, start: HTMLElement, more: number): Promise<void> {
  const { viewer, files } = v;
  const own = new Set(files.inputs.map(({ input }) => input));
  const known = await viewer.engine.status().then(
    (status) => status.files.filter(({ input }) => !own.has(input)),
    (error: unknown) => {
      viewer.failed(error);
      return [];
    },
  );
  const compareWith = (input: number): void => viewer.base.set([[{ input, offset: 0n }]]);
  fill(
    start,
    h('h2', null, 'Compare this trace with a base'),
    h(
      'p',
      null,
      more > 0
        ? `The trace of this page and ${plural(more, 'more run')} are the new version. `
        : 'The trace of this page is the new version. ',
      'Open the old version, one run or several:',
    ),
    h(
      'div',
      { class: 'actions' },
      screenButton('Choose the base…', 'primary', () => files.compare('base')),
      screenButton('Add new runs…', '', () => files.compare('more')),
    ),
    ...(known.length > 0 ? [h('p', null, 'or one that is open, or was open before:')] : []),
    h(
      'ul',
      { class: 'compare-known' },
      ...known.map(({ input, name }) =>
        h(
          'li',
          null,
          screenButton(shortened(fileName(name), 80), '', () => compareWith(input)),
        ),
      ),
    ),
    h(
      'p',
      { class: 'second' },
      'One run of each side gives figures only; five tell noise from change. In a terminal: ',
      h('code', null, 'traceview diff --open --base FILE... --new FILE...'),
    ),
  );
}
