// SPDX-License-Identifier: Apache-2.0
// Explains how to upload files: drop them, choose them, or use a command line.

import { fill, h, icon } from '../base/dom';
import { formatBytes } from '../base/format';
import { effect } from '../base/signal';
import { screenButton } from '../views/screens';
import type { Hub } from './api';
import type { Context } from './context';
import { copyButton, internalLink } from './controls';
import { curlLine, traceAddress } from './route';
import { retentionText } from './when';

/** Return how long traces are stored and how large they may be. */
function limitWords({ limits }: Hub): string {
  return [
    limits.upload_bytes !== null ? `Files up to ${formatBytes(limits.upload_bytes)}.` : '',
    limits.keep_seconds !== null
      ? `Traces are kept for ${retentionText(limits.keep_seconds)}, pinned ones for good.`
      : '',
  ]
    .filter(Boolean)
    .join(' ');
}

function dropZone(hub: Hub, choose: () => void): HTMLElement {
  return h(
    'div',
    { class: 'drop-zone' },
    icon('open'),
    h(
      'p',
      { class: 'main' },
      h('span', { class: 'drop-words' }, h('b', null, 'Drop traces anywhere on this page'), ' or'),
      screenButton('Choose files…', 'primary', choose),
    ),
    h('p', { class: 'second' }, limitWords(hub)),
  );
}

function commandLine(ctx: Context, hub: Hub): HTMLElement {
  const command = curlLine(location.origin, ctx.base, hub.login);
  return h(
    'div',
    { class: 'command' },
    h('h2', null, 'From a terminal'),
    h(
      'div',
      { class: 'line' },
      h(
        'code',
        {
          tabIndex: 0,
          attrs: { role: 'textbox', 'aria-readonly': 'true', 'aria-label': 'Command' },
        },
        command,
      ),
      copyButton(ctx, 'Copy', () => command),
    ),
    h('p', { class: 'second' }, 'It answers with the address of the trace.'),
  );
}

/** The introduction and the ways to upload. */
export class SendView {
  readonly element = h('section', { class: 'send', attrs: { 'aria-labelledby': 'what' } });

  constructor(ctx: Context, choose: () => void) {
    const ways = h('div', { class: 'ways' });
    const sample = h('p', { class: 'sample', hidden: true });
    this.element.append(
      h('h1', { id: 'what', tabIndex: -1 }, 'Send a trace, get a picture, share it'),
      h(
        'p',
        { class: 'about' },
        'Every trace gets a page of its own, with a flame graph of each thread and the full viewer, at an ' +
          'address you can pass on. It reads Android method traces, Trace Event JSON (Chrome, Node, Bazel, ' +
          'PyTorch, …), ftrace and systrace, Perfetto, Java Flight Recorder, and profiles of many tools; packed ' +
          'ones as well.',
      ),
      sample,
      ways,
    );
    effect(() => {
      const hub = ctx.hub.get();
      ways.hidden = !hub?.may.upload;
      if (!hub) return;
      fill(ways, dropZone(hub, choose), commandLine(ctx, hub));
      sample.hidden = hub.sample === null;
      if (hub.sample !== null) {
        const address = traceAddress(ctx.base, hub.sample);
        fill(sample, internalLink(address, 'link', 'Look at a sample trace'));
      }
    });
  }
}
