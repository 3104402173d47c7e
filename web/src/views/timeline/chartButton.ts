// SPDX-License-Identifier: Apache-2.0
// The button that shows or hides the stacks of a thread's samples over time.

import { h, icon } from '../../base/dom';
import { chartKey, type SamplesRow } from '../../model/rows';
import type { Viewer } from '../../model/viewer';

/** Create the button for the label of a row of samples. */
export function chartButton(viewer: Viewer, { key, name, open, thread }: SamplesRow): HTMLElement {
  const words = `${open ? 'Hide' : 'Show'} the stacks of the samples of ${name} over time`;
  return h(
    'button',
    {
      class: 'twist',
      title: words,
      attrs: { type: 'button', 'aria-expanded': open, 'aria-label': words, 'data-key': key },
      on: { click: () => viewer.toggleFold(chartKey(thread)) },
    },
    icon(open ? 'down' : 'right'),
  );
}
