// SPDX-License-Identifier: Apache-2.0
// The dialog that sends the files of the trace to the user's upload server. Address and token of the
// server are known to `traceview push` alone; the page sees the addresses of the sent traces.

import { fill, h } from '../../base/dom';
import { isAbort } from '../../model/engine';
import type { Views } from '../context';
import { screenButton } from '../screens';

const WHAT =
  'Sends the original files of this trace, whole and unchanged, to the server that is set up for ' +
  'traceview push. Everybody who can read that server can read them.';
const setUp = (path: string): string =>
  `To set up a server, write the lines below into ${path}, and let nobody else read that file: chmod 600 ${path}`;
/** The message of `push` when it has no server. */
const NO_SERVER = /or a line "to = URL" in (.+)/;
const LINES = 'to = ADDRESS OF THE SERVER\ntoken = YOUR TOKEN';

/** Return a link to a trace on the server. */
function linkTo(address: string): HTMLElement {
  const attrs = { href: address, target: '_blank', rel: 'noreferrer' };
  return h('p', null, h('a', { attrs }, address));
}

/** Ask whether to send the trace, send it, and show where it is. */
export function openSendDialog(v: Views): void {
  const dialog = h('dialog', {
    class: 'send-dialog',
    attrs: { 'aria-label': 'Send to server' },
  });
  const body = h('div', { attrs: { role: 'status' } }, h('p', null, WHAT));
  const abort = new AbortController();
  const close = screenButton('Close', '', () => dialog.close());
  const send = screenButton('Send', 'primary', () => void start());

  async function start(): Promise<void> {
    send.disabled = true;
    close.focus();
    fill(body, h('p', null, 'Sending… This goes on when the dialog is closed.'));
    try {
      const text = await v.viewer.engine.sendFiles(abort.signal);
      const addresses = text.split('\n').filter((line) => /^https?:\/\//.test(line));
      fill(body, h('p', null, 'Sent. The server has the trace at:'), ...addresses.map(linkTo));
    } catch (error) {
      if (isAbort(error)) return;
      const message = error instanceof Error ? error.message : String(error);
      const path = NO_SERVER.exec(message)?.[1];
      fill(
        body,
        h('p', null, path ? 'No server is set up.' : 'The trace was not sent:'),
        path ? h('p', null, setUp(path)) : false,
        h('pre', null, path ? LINES : message),
      );
      send.disabled = false;
    }
  }

  dialog.addEventListener('close', () => {
    abort.abort();
    dialog.remove();
  });
  fill(dialog, h('h2', null, 'Send to server'), body, h('div', { class: 'actions' }, send, close));
  document.body.append(dialog);
  dialog.showModal();
  send.focus();
}
