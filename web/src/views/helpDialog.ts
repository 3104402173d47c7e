// SPDX-License-Identifier: Apache-2.0
// The dialog that lists keys and gestures.

import { h, iconButton, blurWhenClosed } from '../base/dom';
import { effect } from '../base/signal';
import type { TraceFacts } from '../model/traceFacts';
import { inTermsOf, wordsFor, type Words } from '../model/words';
import type { Settings } from './settings';

type Section = [string, [string, string][]];

const SECTIONS: readonly Section[] = [
  [
    'Moving',
    [
      ['W S, + −', 'zoom in, out at the pointer; Ctrl+wheel, pinch and Alt+wheel too'],
      [
        'A D',
        'pan; Left and Right too when nothing is selected; Shift+wheel, Shift+drag, Space+drag, right drag',
      ],
      ['Shift', 'with W A S D: faster'],
      ['wheel', 'scrolls; it never zooms, unless that is switched on above'],
      ['drag on the ruler', 'zooms to that range; middle drag on the tracks too'],
      ['0', 'whole trace; double click on the ruler too'],
      ['F', 'zoom to the selected call or range; double click on a call too'],
      ['Ctrl+Z, Shift+Ctrl+Z', 'undo, redo a move; Back and Forward of the browser too'],
    ],
  ],
  [
    'Selecting',
    [
      [
        'click',
        "selects a call; on a thread's name the thread; Ctrl+click all calls of that method, or adds a thread",
      ],
      [
        'drag on the tracks',
        'selects a range; its ends can be dragged. With Alt, ends do not snap to calls',
      ],
      ['M', 'range from the selection'],
      ['R', 'types the range: 1.5 .. 20 ms, 1.5 + 3 ms, ..20'],
      ['Shift+Left, Shift+Right', 'begins a range, moves its end'],
      [
        'Shift+M',
        'keeps the range, or the selected call, as a note; F2 edits, Delete removes it there',
      ],
      ['Shift+click', 'range from the selected call, or the range, to this call: measures between'],
      ['Right Left, . ,', 'next, previous call or state in the row'],
      ['Down Up', 'first call inside, caller'],
      ['C', 'pins the selected call, to compare it with the next selection'],
      ['] [', 'along the flow, and back; again from the same call: its next flow'],
      ['click on an arrow', 'goes to its other end'],
      [
        'click on a counter',
        'selects it at that time; Left, Right: its changes; Down, Up: its series',
      ],
      ['X N', 'next peak, trough of the selected counter; with Shift the previous one'],
      ['O', 'draws another counter over the selected one; Shift+O draws it alone again'],
      ['Ctrl+P', 'find a thread'],
      [
        'Tab from the time line',
        'its visible calls as a list; Up, Down and Enter there, Left and Right to another line',
      ],
      ['Esc', 'clears the range, then the selection; cancels reading a file'],
    ],
  ],
  [
    'Arranging tracks',
    [
      ['Up Down', 'on a name that Tab led to: the one above, below; Home and End the first, last'],
      ['P', 'on a name: pins the track to the top, or takes it back'],
      ['H', 'on a name: hides the track or process; "n hidden" over the names shows all again'],
      ['Alt+Up Alt+Down', 'on a name: moves it; dragging the name does as well'],
      [
        'drag beside the names',
        'changes their width, Left and Right as well; a double click resets it',
      ],
      ['lens over the names', 'shows only tracks that have a text in their names'],
    ],
  ],
  [
    'Searching',
    [
      ['/, Ctrl+F', 'search; Enter, Shift+Enter go to the next, previous hit in time'],
      ['Shift+Ctrl+F', 'filter: only events that match, in all views; Esc clears it'],
      [
        'typing in the table',
        'finds in the table; Enter, Down and Up go from match to match. Over the time line, keys move it instead',
      ],
    ],
  ],
  [
    'Table',
    [
      ['arrows', 'move, open, close; Home, End, Page Up, Page Down too; Enter or Space selects'],
      ['Shift+arrows, Ctrl+A', 'mark lines'],
      ['Ctrl+C', 'copies the lines; elsewhere the selected name'],
    ],
  ],
  [
    'Stacks',
    [
      [
        'right click, Shift+F10, menu key',
        'on a method anywhere: focus, callers, merge, collapse its package, drop, copy, search',
      ],
      ['× on a chip', 'undoes that change of the stacks; Ctrl+Z too'],
    ],
  ],
  [
    'Panels',
    [
      ['Q', 'opens and closes the lower panel'],
      ['V', 'bands for each vsync of the display, if the trace has a counter or slices VSYNC'],
      ['1 2 3 4', 'flame graph: in time order, left heavy, sandwich of a method, inverted'],
      [
        'click in the flame graph',
        'zooms to the frame and selects its method; Ctrl+click only selects; a click beside goes back',
      ],
      [
        'in the flame graph',
        'W S, Page Up, Page Down scroll, + − zoom, 0 shows all, arrows move, Enter zooms, Backspace goes back',
      ],
      [
        'in a tree',
        'Right opens, Left closes or goes to the parent, * opens all below, Enter selects',
      ],
      ['Ctrl+Enter', 'in SQL: runs the query; Tab takes a name, Esc cancels'],
      ['Ctrl+O', 'opens files, or adds them to the trace; dropping them on the page does as well'],
      ['Ctrl+S', 'saves the selection or everything as a trace, or the view as a picture'],
      ['?', 'this help'],
    ],
  ],
];

const ABOUT = [
  'Time of a call is inclusive with, exclusive without the calls inside it. Real is time on the',
  'wall; CPU is time the thread was running. A line at the foot of a bar: the thread waited there.',
  "Teeth at a bar's end: the call began before the trace or had not ended with it.",
].join(' ');

function sectionElement([title, rows]: Section, words: Words): HTMLElement {
  const lines = rows.map(([keys, what]) =>
    h('tr', null, h('td', null, keys), h('td', null, inTermsOf(words, what))),
  );
  return h('section', null, h('h2', null, title), h('table', null, h('tbody', null, ...lines)));
}

function wheelSwitch(settings: Settings): HTMLElement {
  const box = h('input', { attrs: { type: 'checkbox' } });
  box.addEventListener('change', () => settings.setWheelZooms(box.checked));
  effect(() => {
    box.checked = settings.wheelZooms.get();
  });
  return h('label', { class: 'switch' }, box, 'The plain wheel zooms the time line');
}

/** The help dialog. */
export class HelpDialog {
  readonly element: HTMLDialogElement;

  constructor(settings: Settings, facts: Pick<TraceFacts, 'order'> = { order: 'busiest' }) {
    const words = wordsFor(facts);
    this.element = h('dialog', { attrs: { 'aria-label': 'Keys and help' } });
    const close = iconButton('close', 'Close (Esc)', () => this.element.close());
    close.classList.add('push');
    const sections = h(
      'div',
      { class: 'columns' },
      ...SECTIONS.map((s) => sectionElement(s, words)),
    );
    const exception = words.events ? '' : ' A slanted end: the call was left by an exception.';
    const about = h('p', { class: 'second' }, inTermsOf(words, ABOUT + exception));
    this.element.append(
      h(
        'div',
        { class: 'help' },
        h('h1', null, 'Keys and gestures', close),
        wheelSwitch(settings),
        sections,
        about,
      ),
    );
    this.element.addEventListener('click', (e) => {
      if (e.target === this.element) this.element.close();
    });
    blurWhenClosed(this.element);
    this.element.addEventListener('keydown', (e) => e.stopPropagation());
  }

  toggle(): void {
    if (this.element.open) this.element.close();
    else this.element.showModal();
  }
}
