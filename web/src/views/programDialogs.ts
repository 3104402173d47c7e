// SPDX-License-Identifier: Apache-2.0
// Messages about the program behind the page: a bar when it does not answer, and a question before
// it ends.

import { fill, h } from '../base/dom';
import { screenButton } from './screens';

const SILENT = 'traceview does not answer. What is shown stays; the page goes on when it answers.';
const OTHER =
  'Another traceview answers here. What is shown stays; to go on, open the address that it printed.';

/** The bar at the foot of a page whose program does not answer. */
export class SilenceBar {
  readonly element = h('div', { class: 'silence', attrs: { role: 'alert' } });

  constructor(private readonly again: () => void) {
    fill(this.element, SILENT, screenButton('Try again', '', this.again));
  }

  /** Say that the address belongs to another program now. */
  sayOther(): void {
    fill(this.element, OTHER);
  }
}

/** Ask whether the program shall end. */
export function askToQuit(): Promise<boolean> {
  return new Promise((answer) => {
    const dialog = h('dialog', { class: 'quit', attrs: { 'aria-label': 'Quit traceview?' } });
    const close = (quits: boolean) => () => {
      dialog.close();
      dialog.remove();
      answer(quits);
    };
    dialog.addEventListener('cancel', close(false));
    fill(
      dialog,
      h('h2', null, 'Quit traceview?'),
      h(
        'p',
        null,
        'The program ends. Open pages keep what they show, but cannot load anything new.',
      ),
      h(
        'div',
        { class: 'actions' },
        screenButton('Quit', 'primary', close(true)),
        screenButton('Cancel', '', close(false)),
      ),
    );
    document.body.append(dialog);
    dialog.showModal();
  });
}
