// SPDX-License-Identifier: Apache-2.0
// The flame graphs as pictures: all threads together, then each thread.

import { fill, h, setText, type Child } from '../base/dom';
import { formatCount, plural } from '../base/format';
import { makeVisible } from '../base/visible';
import { screenButton } from '../views/screens';
import type { Thread, Trace } from './api';
import { singleLine, sliceWord } from './facts';
import { sendHubRequest, messageOf } from './http';

/** The number of threads shown before the user asks for more. */
const FEW = 24;

function hubThreadName({ name, id }: Thread): string {
  return id === null ? singleLine(name) : `[${id}] ${singleLine(name)}`;
}

function hubProcessName({ processes }: Trace, { process }: Thread): string {
  return processes.length > 1 && process !== null ? (processes[process] ?? '') : '';
}

/** Return the number of calls, or of samples, that a thread's picture shows. */
function eventCount({ calls, samples = 0 }: Thread): number {
  return calls > 0 ? calls : samples;
}

function eventWords(trace: Trace, thread: Thread): string {
  return plural(eventCount(thread), thread.calls > 0 ? sliceWord(trace) : 'sample');
}

/** Create a picture that the server renders when it becomes visible. */
function serverPicture(address: string, words: string, className: string): HTMLElement {
  const note = h('span', { class: 'note' }, 'Drawing…');
  const image = h('img', {
    attrs: { alt: words, loading: 'lazy', decoding: 'async', src: address },
  });
  const link = h(
    'a',
    { class: `picture ${className}`, title: `${words}: open it`, attrs: { href: address } },
    image,
    note,
  );
  const again = screenButton('Try again', '', () => {
    fill(failed, '');
    failed.hidden = true;
    link.hidden = false;
    image.src = `${address}${address.includes('?') ? '&' : '?'}try=${Date.now()}`;
  });
  const failed = h('p', { class: 'not-drawn', hidden: true, attrs: { role: 'status' } });
  image.addEventListener('load', () => {
    link.classList.add('there');
    const { naturalWidth, naturalHeight, clientWidth, clientHeight } = image;
    const cut = naturalHeight * clientWidth > (clientHeight + 1) * naturalWidth;
    note.hidden = !cut || className === 'cut';
    setText(note, 'The deepest levels are cut off here. Open the picture to see all of it.');
  });
  image.addEventListener('error', () => {
    link.hidden = true;
    failed.hidden = false;
    fill(failed, 'The picture could not be drawn. ', again);
    // An image reports no reason for a failure, so request the address again as text.
    void sendHubRequest(address).catch((error: unknown) => {
      if (!failed.hidden) fill(failed, `${makeVisible(messageOf(error))} `, again);
    });
  });
  return h('div', { class: 'frame' }, link, failed);
}

function threadFigure(base: string, trace: Trace, thread: Thread): HTMLElement {
  const name = hubThreadName(thread);
  const process = hubProcessName(trace, thread);
  const address = `${base}flamegraph.svg?thread=${thread.index}`;
  return h(
    'figure',
    { class: 'thread' },
    h(
      'figcaption',
      null,
      h('a', { class: 'link', attrs: { href: address } }, name),
      process !== '' && h('span', { class: 'second' }, singleLine(process, 80)),
      h('span', { class: 'dim push' }, eventWords(trace, thread)),
    ),
    serverPicture(address, `Flame graph of ${name}`, 'cut'),
  );
}

/** Threads without calls have no picture. List their names in one line. */
function idleLine(idle: readonly Thread[], what: string): HTMLElement | null {
  if (idle.length === 0) return null;
  const names = idle.slice(0, FEW).map(hubThreadName).join(', ');
  const rest = idle.length > FEW ? ` and ${formatCount(idle.length - FEW)} more` : '';
  return h('p', { class: 'second' }, `Without ${what}s: ${names}${rest}.`);
}

function flameSection(id: string, title: string, ...children: Child[]): HTMLElement {
  return h(
    'section',
    { class: 'flames', attrs: { 'aria-labelledby': id } },
    h('h2', { id }, title),
    ...children,
  );
}

/** Return the threads that have a picture. */
export function busyThreads({ threads }: Trace): Thread[] {
  return threads.filter((thread) => eventCount(thread) > 0);
}

/** Create the section of flame graphs. `base` is the address of the trace. */
export function flamesView(base: string, trace: Trace): HTMLElement[] {
  const busy = busyThreads(trace).sort(
    (a, b) => eventCount(b) - eventCount(a) || a.index - b.index,
  );
  const what = busy[0]?.calls === 0 ? 'sample' : sliceWord(trace);
  const idle = idleLine(
    trace.threads.filter((thread) => eventCount(thread) === 0),
    what,
  );
  if (busy.length === 0) {
    const words = `No thread has ${what}s, so there is nothing to draw here. The viewer shows the rest.`;
    return [flameSection('all-threads', 'Flame graph', h('p', { class: 'second' }, words), idle)];
  }
  const title = busy.length === 1 ? 'Flame graph' : 'Flame graph of all threads';
  const all = flameSection(
    'all-threads',
    title,
    serverPicture(`${base}flamegraph.svg`, 'Flame graph of all threads', 'whole'),
  );
  if (busy.length === 1) return idle ? [all, idle] : [all];
  const list = h('div', { class: 'threads' });
  const rest = h('p', { class: 'more' });
  const show = (some: readonly Thread[]): void => {
    list.append(...some.map((thread) => threadFigure(base, trace, thread)));
  };
  show(busy.slice(0, FEW));
  if (busy.length > FEW) {
    const left = busy.length - FEW;
    const words = `Show the other ${left === 1 ? 'thread' : plural(left, 'thread')}`;
    const more = screenButton(words, '', () => {
      show(busy.slice(FEW));
      rest.remove();
      list.querySelectorAll<HTMLElement>('figcaption a')[FEW]?.focus();
    });
    rest.append(more);
  }
  const each = `Each of the ${formatCount(busy.length)} threads with ${what}s`;
  return [all, flameSection('each-thread', each, list, rest, idle)];
}
