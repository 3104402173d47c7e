// SPDX-License-Identifier: Apache-2.0
// The editable parts of a trace: name, labels, note, pin and deletion.

import { fill, h, iconButton, setAttribute, type Child } from '../base/dom';
import { effect, signal, untracked, type ReadSignal } from '../base/signal';
import { makeVisible } from '../base/visible';
import { screenButton } from '../views/screens';
import type { Change, Trace } from './api';
import type { Context } from './context';
import { confirmInPlace, timeElement } from './controls';
import { cleanLabel, singleLine } from './facts';
import { labelLinks } from './traceParts';

/** The maximum lengths of texts that the server accepts. */
const MOST_NAME = 200;
const MOST_LABEL = 60;
const MOST_NOTE = 10_000;

export interface Edited {
  ctx: Context;
  trace: ReadSignal<Trace>;
  may: ReadSignal<boolean>;
  /** Save a change. Resolves to true if it succeeded. */
  change: (change: Change, said: string) => Promise<boolean>;
  remove: () => Promise<boolean>;
}

/** Run `show` when a value of `read` changes, not at every answer of the server. */
function showOnChange(read: () => unknown, show: () => void): void {
  let last: string | null = null;
  effect(() => {
    const text = JSON.stringify(read());
    if (text === last) return;
    last = text;
    untracked(show);
  });
}

/** Create the title of the page, which turns into a text box. */
export function nameView(e: Edited): HTMLElement {
  const element = h('div', { class: 'name-view' });
  const editing = signal(false);
  const title = (): HTMLElement[] => {
    const { name } = e.trace.peek();
    const heading = h('h1', { tabIndex: -1 }, singleLine(name, 300));
    const rename = screenButton('Rename', 'small', () => editing.set(true));
    return e.may.peek() ? [heading, rename] : [heading];
  };
  const leave = (): void => {
    editing.set(false);
    queueMicrotask(() => element.querySelector('button')?.focus());
  };
  const box = (): HTMLElement => {
    const input = h('input', {
      class: 'field',
      attrs: { 'aria-label': 'Name', maxlength: MOST_NAME, required: true, spellcheck: false },
    });
    input.value = e.trace.peek().name;
    const save = async (): Promise<void> => {
      const name = input.value.trim();
      if (name === '') return input.focus();
      if (name === e.trace.peek().name || (await e.change({ name }, 'The name is saved.'))) leave();
    };
    return h(
      'form',
      {
        on: {
          submit: (event) => {
            event.preventDefault();
            void save();
          },
          keydown: ({ key }) => {
            if (key === 'Escape') leave();
          },
        },
      },
      input,
      h('button', { class: 'button primary', attrs: { type: 'submit' } }, 'Save'),
      screenButton('Cancel', '', leave),
    );
  };
  showOnChange(
    () => [editing.get(), editing.get() ? '' : e.trace.get().name, e.may.get()],
    () => {
      const heading = h('h1', { class: 'sr-only' }, singleLine(e.trace.peek().name, 300));
      fill(element, ...(editing.peek() ? [heading, box()] : title()));
      element.querySelector('input')?.select();
    },
  );
  return element;
}

function labelsView(e: Edited): HTMLElement {
  const list = h('div', { class: 'labels' });
  const input = h('input', {
    class: 'field',
    attrs: { 'aria-label': 'Add a label', placeholder: 'Add a label', maxlength: MOST_LABEL },
  });
  const add = async (): Promise<void> => {
    const label = cleanLabel(input.value);
    const { labels } = e.trace.peek();
    if (label === '') return;
    const done =
      labels.includes(label) ||
      (await e.change({ labels: [...labels, label] }, `The label ${label} was added.`));
    if (done) input.value = '';
  };
  const form = h(
    'form',
    {
      on: {
        submit: (event) => {
          event.preventDefault();
          void add();
        },
      },
    },
    input,
    h('button', { class: 'button', attrs: { type: 'submit' } }, 'Add'),
  );
  const drop = async (label: string): Promise<void> => {
    const labels = e.trace.peek().labels.filter((one) => one !== label);
    if (await e.change({ labels }, `The label ${label} was removed.`)) input.focus();
  };
  const own = (label: string): HTMLElement =>
    h(
      'span',
      { class: 'chip' },
      ...labelLinks([label], e.ctx.base, e.ctx.go),
      iconButton('close', `Remove the label ${singleLine(label, 40)}`, () => void drop(label)),
    );
  showOnChange(
    () => [e.trace.get().labels, e.may.get()],
    () => {
      const { labels } = e.trace.peek();
      const parts: Child[] = e.may.peek()
        ? labels.map(own)
        : labelLinks(labels, e.ctx.base, e.ctx.go);
      fill(list, ...parts);
      form.hidden = !e.may.peek();
    },
  );
  return h('div', null, list, form);
}

/** Show the note about the trace to every visitor of the page. */
export function noteLine(e: Edited): HTMLElement {
  const element = h('p', { class: 'note-text' });
  showOnChange(
    () => e.trace.get().note,
    () => {
      const { note } = e.trace.peek();
      element.hidden = note.trim() === '';
      fill(element, note.split('\n').map(makeVisible).join('\n'));
    },
  );
  return element;
}

function noteView(e: Edited): HTMLElement {
  const area = h('textarea', {
    class: 'field',
    attrs: {
      'aria-label': 'Note',
      rows: 4,
      maxlength: MOST_NOTE,
      placeholder: 'What is to be seen here?',
    },
  });
  const save = screenButton('Save the note', '', () => void keep());
  const changed = (): void => {
    save.hidden = area.value === e.trace.peek().note;
  };
  const keep = async (): Promise<void> => {
    if (save.hidden) return;
    area.focus();
    if (await e.change({ note: area.value }, 'The note is saved.')) changed();
  };
  area.addEventListener('input', changed);
  area.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void keep();
  });
  let known = '';
  showOnChange(
    () => e.trace.get().note,
    () => {
      const { note } = e.trace.peek();
      // The text being typed is newer than the server's.
      if (area.value === known) area.value = note;
      known = note;
      changed();
    },
  );
  return h('div', { class: 'note-form' }, area, save);
}

/**
 * Create the line that says how long the trace stays, with the buttons that change it. Deleting
 * asks once more in the same place.
 */
function retentionView(e: Edited): HTMLElement {
  const words = h('p', null);
  const pin = screenButton('Pin', '', () => {
    const pinned = !e.trace.peek().pinned;
    void e.change({ pinned }, pinned ? 'It is pinned.' : 'It is not pinned any more.');
  });
  const actions = h('div', { class: 'actions' });
  const asked = signal(false);
  const remove = screenButton('Delete…', '', () => asked.set(true));
  showOnChange(
    () => [e.trace.get().pinned, e.trace.get().expires, e.may.get(), asked.get()],
    () => {
      const { pinned, expires, name } = e.trace.peek();
      if (pinned) fill(words, 'Pinned: kept whatever its age, and when room is made.');
      else if (expires !== null) fill(words, 'Kept until ', timeElement(expires), '.');
      else fill(words, 'Kept until somebody deletes it, or until newer traces need the space.');
      fill(pin, pinned ? 'Unpin' : 'Pin');
      setAttribute(pin, 'aria-pressed', pinned);
      const held = actions.contains(document.activeElement);
      const back = (): void => asked.set(false);
      const sure = (): void => void e.remove().then((gone) => gone || back());
      fill(
        actions,
        ...(asked.peek()
          ? [confirmInPlace(`Delete ${singleLine(name, 60)}?`, 'Delete', sure, back)]
          : [pin, remove]),
      );
      actions.hidden = !e.may.peek();
      if (!held) return;
      const next = asked.peek()
        ? actions.querySelector('button')
        : actions.contains(remove)
          ? remove
          : null;
      (document.activeElement === pin ? null : next)?.focus();
    },
  );
  return h('div', null, words, actions);
}

/** Create the editors of labels, note and retention, each below its heading. */
export function editViews(e: Edited): HTMLElement[] {
  const part = (id: string, title: string, content: HTMLElement): HTMLElement =>
    h('section', { attrs: { 'aria-labelledby': id } }, h('h2', { id }, title), content);
  const labels = part('labels', 'Labels', labelsView(e));
  const note = part('note', 'Note', noteView(e));
  showOnChange(
    () => [e.may.get(), e.trace.get().labels.length],
    () => {
      labels.hidden = !e.may.peek() && e.trace.peek().labels.length === 0;
      note.hidden = !e.may.peek();
    },
  );
  return [labels, note, part('keeping', 'How long it stays', retentionView(e))];
}
