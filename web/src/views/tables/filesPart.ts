// SPDX-License-Identifier: Apache-2.0
// The files of the trace in the Info tab. Each file can be shifted in time.

import { fill, h, setAttribute, setText } from '../../base/dom';
import { fileName } from '../../base/format';
import { offsetText, parseOffset, type OpenedInput } from '../../model/opening';
import type { TraceFiles } from '../context';

const HINT = 'Expected a time such as 12 ms, -1.5 s or 300 µs';

/**
 * Create the row of one file with its time offset. Enter, or leaving the box, applies the offset.
 */
function fileRow(input: OpenedInput, moved: (offset: bigint) => void): HTMLElement {
  const name = fileName(input.name);
  const wrong = h('span', { class: 'wrong', attrs: { role: 'alert' } });
  const box = h('input', {
    class: 'offset',
    title:
      'Added to all times of this file, in ms unless a unit is given. Esc restores the old value',
    attrs: {
      type: 'text',
      'aria-label': `Offset of ${name}`,
      spellcheck: false,
      autocomplete: 'off',
    },
  });
  const show = (): void => {
    box.value = offsetText(input.offset);
    tell(true);
  };
  const tell = (right: boolean): void => {
    setAttribute(box, 'aria-invalid', right ? null : true);
    setText(wrong, right ? '' : HINT);
  };
  const take = (): void => {
    const offset = parseOffset(box.value);
    tell(offset !== null);
    if (offset !== null && offset !== input.offset) moved(offset);
    else if (offset !== null) show();
  };
  box.addEventListener('change', take);
  box.addEventListener('keydown', (e) => {
    if (e.key === 'Escape') show();
    e.stopPropagation();
  });
  show();
  return h(
    'tr',
    null,
    h('td', { title: input.name }, name),
    h('td', null, box),
    h('td', null, wrong),
  );
}

/** Return the list of files. */
export function filesPart({ inputs, choose, move }: TraceFiles): HTMLElement {
  const element = h('div', { class: 'files' });
  const several = inputs.length > 1;
  const moved =
    (at: number) =>
    (offset: bigint): void =>
      move(inputs.map((input, i) => (i === at ? { ...input, offset } : input)));
  const add = h(
    'button',
    { class: 'link', attrs: { type: 'button' }, on: { click: choose } },
    'Open or add files…',
  );
  fill(
    element,
    h('h2', null, 'Files'),
    several &&
      h(
        'table',
        null,
        h(
          'thead',
          null,
          h('tr', null, h('th', null, 'File'), h('th', null, 'Moved by'), h('td', null)),
        ),
        h('tbody', null, ...inputs.map((input, at) => fileRow(input, moved(at)))),
      ),
    several &&
      h(
        'p',
        null,
        'Files whose clocks are the same, or linked by marks, are aligned already. ' +
          'Files that are shifted are read again.',
      ),
    !several && h('p', null, ...inputs.map((input) => h('span', null, input.name))),
    h('p', null, add),
  );
  return element;
}
