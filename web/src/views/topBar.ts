// SPDX-License-Identifier: Apache-2.0
// The top bar: file, clock, search, notes on the trace, and appearance.

import { fill, h, icon, iconButton, setAttribute, setText } from '../base/dom';
import {
  fileName,
  formatCount,
  formatTimeUnit,
  plural,
  versionWords,
  type Unit,
} from '../base/format';
import { effect } from '../base/signal';
import type { Clock, TraceFacts } from '../model/traceFacts';
import { hasTwoClocks } from '../model/firstScreen';
import { highestSeverity } from '../model/severity';
import { allThreads } from '../model/states';
import type { CurrentHit } from '../model/searchStore';
import { countNames, countSlices, wordsFor } from '../model/words';
import type { Views } from './context';
import { flowButton } from './timeline/flowMenu';
import type { SaveMenu } from './files/saveMenu';
import type { Settings } from './settings';

/** Return the most important facts in a few words; the Info tab has all of them. */
export function factWords(facts: TraceFacts, unit: Unit): string[] {
  const clocks =
    facts.axis === 'weight'
      ? 'weights, no times'
      : facts.clocks.length === 2
        ? 'two clocks'
        : facts.clocks[0] === 'cpu'
          ? 'CPU clock only'
          : 'real clock only';
  const threads = allThreads(facts);
  return [
    [facts.format.replace(/^Android /, ''), versionWords(facts.version), clocks]
      .filter((words) => words)
      .join(', '),
    ...(facts.end_ns > facts.start_ns ? [formatTimeUnit(facts.end_ns - facts.start_ns, unit)] : []),
    plural(threads, 'thread'),
    ...thingWords(facts),
  ];
}

/** The facts for a trace whose threads have no slices, the most telling first. */
const THINGS: readonly [fact: string, one: string, many?: string][] = [
  ['Async slices', 'async slice'],
  ['Slices of processors', 'CPU slice'],
  ['Samples', 'sample'],
  ['Counters', 'counter'],
  ['Instants of threads', 'instant'],
  ['Other instants', 'instant of no thread', 'instants of no thread'],
  ['Objects', 'object'],
  ['Memory dumps', 'memory dump'],
];
const MOST_THINGS = 2;

/**
 * Count the slices; in a trace of other events alone, the two most telling kinds instead of "0
 * slices".
 */
function thingWords(facts: TraceFacts): string[] {
  const counts = new Map(facts.facts);
  const things = THINGS.flatMap(([fact, one, many]) => {
    const count = counts.get(fact) ?? 0;
    return count > 0 ? [plural(count, one, many)] : [];
  });
  return facts.calls > 0 || things.length === 0
    ? [countSlices(wordsFor(facts), facts.calls)]
    : things.slice(0, MOST_THINGS);
}

/** Say that times are estimates from samples, and how far apart these are; null: they are not. */
export function sampledWords(facts: TraceFacts, unit: Unit): string | null {
  if (!facts.sampled) return null;
  if (facts.sampled.interval_ns === 0) return 'sampled';
  const interval = formatTimeUnit(facts.sampled.interval_ns, unit);
  return facts.sampled.inferred === false
    ? `sampled every ${interval}`
    : `sampled (inferred), interval ≤ ${interval}`;
}

/**
 * Create the buttons for theme, palette, row height and help, also used on screens without a trace.
 */
export function lookButtons(settings: Settings, help: () => void): HTMLElement {
  const safe = iconButton('eye', 'Colour-blind-safe palette', () => settings.togglePalette());
  const rows = iconButton('rows', 'Compact rows', () => settings.toggleDensity());
  const shade = iconButton('contrast', 'Light or dark', () => settings.toggleShade());
  shade.classList.add('shade');
  effect(() => {
    setAttribute(safe, 'aria-pressed', settings.palette.get() === 'safe');
    setAttribute(rows, 'aria-pressed', settings.density.get() === 'compact');
  });
  const question = h(
    'button',
    {
      class: 'icon-button',
      title: 'Keys and help (?)',
      attrs: { type: 'button', 'aria-label': 'Keys and help' },
      on: { click: help },
    },
    h('b', null, '?'),
  );
  return h('div', { class: 'tools' }, safe, rows, shade, question);
}

export interface TopActions {
  help: () => void;
  /** Null if there is no program to end. */
  quit: (() => void) | null;
  open: () => void;
  /** Show what changed since another recording; null if the page cannot compare. */
  compare: (() => void) | null;
  health: () => void;
  /** On an upload server, the address of the trace page. Then the bar can neither open nor quit. */
  home: string | null;
}

/** Return the kinds of notes in a word or two. A click shows them in full. */
function noteWords(notes: readonly string[]): string {
  if (notes.some((note) => note.startsWith('This is a part'))) return 'A part of the trace';
  return notes.some((note) => note.startsWith('Hashes stand')) ? 'Names are hashes' : 'Notes';
}

/** The top bar. */
export class TopBar {
  readonly element: HTMLElement;
  readonly searchInput: HTMLInputElement;

  constructor(
    private readonly v: Views,
    save: SaveMenu,
    actions: TopActions,
  ) {
    const { viewer } = v;
    const words = wordsFor(viewer.facts).events
      ? 'Search names and arguments'
      : 'Search method names';
    this.searchInput = h('input', {
      attrs: {
        type: 'text',
        'aria-label': words,
        placeholder: words,
        spellcheck: false,
        autocomplete: 'off',
      },
    });
    const facts = h('span', { class: 'facts' });
    effect(() => {
      const words = factWords(viewer.facts, viewer.unit.get());
      const sampled = sampledWords(viewer.facts, viewer.unit.get());
      const all = sampled ? [sampled, ...words] : words;
      facts.title = [all.join(', '), ...(viewer.facts.notes ?? [])].join('\n');
      // Facts that tell how to take the figures come first: those at the end may have no room.
      fill(
        facts,
        sampled && h('span', { class: 'sampled' }, sampled),
        ...words.map((word) => h('span', null, word)),
      );
    });
    const tools = lookButtons(v.settings, actions.help);
    if (actions.home === null && actions.quit) {
      const quit = iconButton('power', 'Quit traceview', actions.quit);
      quit.classList.add('apart');
      tools.append(quit);
    }
    this.element = h(
      'header',
      { class: 'top' },
      h('h1', { class: 'file', title: viewer.facts.files.join(', ') }, this.name()),
      actions.home !== null &&
        h('a', { class: 'home link', attrs: { href: actions.home } }, 'About this trace'),
      this.notes(),
      facts,
      h('span', { class: 'grow' }),
      this.clockSwitch(),
      this.searchBox(),
      h('span', { class: 'grow' }),
      flowButton(v),
      this.vsync(),
      this.health(actions.health),
      actions.home === null &&
        h(
          'button',
          {
            class: 'text-button',
            title: 'Open files instead of this trace, or add them to it (Ctrl+O, or drop them)',
            attrs: { type: 'button' },
            on: { click: actions.open },
          },
          'Open',
        ),
      actions.compare &&
        h(
          'button',
          {
            class: 'text-button',
            title: 'What changed since one or several other recordings',
            attrs: { type: 'button' },
            on: { click: actions.compare },
          },
          'Compare',
        ),
      save.button,
      tools,
    );
  }

  private name(): string {
    const more = this.v.files.inputs.length - 1;
    const name = fileName(this.v.viewer.facts.name);
    return more > 0 ? `${name} and ${more} more` : name;
  }

  /** Show at every width that the trace is incomplete or modified. */
  private notes(): HTMLElement | null {
    const { viewer } = this.v;
    const { notes = [] } = viewer.facts;
    if (notes.length === 0) return null;
    const words = noteWords(notes);
    return h(
      'button',
      {
        class: 'text-button warning about-notes',
        title: notes.join('\n'),
        attrs: { type: 'button', 'aria-label': words },
        on: { click: () => viewer.say(notes.join(' ')) },
      },
      icon('warning'),
      h('span', null, words),
    );
  }

  /** Create the switch of clocks. The choice is remembered only for traces that offer both. */
  private clockSwitch(): HTMLElement | null {
    const { viewer } = this.v;
    if (viewer.facts.clocks.length < 2) return null;
    const choose = (clock: Clock): void => {
      viewer.setClock(clock);
      if (hasTwoClocks(viewer.facts)) this.v.settings.setClock(clock);
    };
    const button = (clock: Clock, text: string, title: string): HTMLButtonElement => {
      const made = h(
        'button',
        { title, attrs: { type: 'button' }, on: { click: () => choose(clock) } },
        text,
      );
      effect(() => setAttribute(made, 'aria-pressed', viewer.clock.get() === clock));
      return made;
    };
    return h(
      'div',
      { class: 'segments', attrs: { role: 'group', 'aria-label': 'Clock' } },
      button('real', 'Real', 'Wall time, with all waiting'),
      button('cpu', 'CPU', 'Time the thread was running'),
    );
  }

  /** Create the vsync switch. It is hidden if the trace has no vsync events. */
  private vsync(): HTMLElement {
    const { settings, vsync } = this.v;
    const button = h(
      'button',
      {
        class: 'text-button',
        title:
          "Bands for each beat of the display, as the trace's VSYNC counter or slices tell it (V)",
        attrs: { type: 'button' },
        on: { click: () => settings.toggleVsync() },
      },
      'VSync',
    );
    effect(() => {
      button.hidden = !vsync.known.get();
      setAttribute(button, 'aria-pressed', settings.vsync.get());
    });
    return button;
  }

  /** Create the search box; its count says which hit is shown, or how many names match. */
  private searchBox(): HTMLElement {
    const { viewer, search } = this.v;
    const input = this.searchInput;
    const count = h('span', { class: 'count', attrs: { 'aria-live': 'polite' } });
    const previous = iconButton('up', 'Previous match (Shift+Enter)', () => search.step(-1));
    const next = iconButton('down', 'Next match (Enter)', () => search.step(1));
    const key = h('kbd', null, '/');
    const box = h('label', { class: 'search' }, icon('lens'), input, count, previous, next, key);
    input.addEventListener('input', () => viewer.search.set(input.value));
    input.addEventListener('focus', () => search.focused.set(true));
    input.addEventListener('blur', () => search.focused.set(false));
    input.addEventListener('keydown', (e) => this.searchKey(e));
    effect(() => {
      const query = viewer.search.get();
      const hits = search.hits.get();
      const current = search.current.get();
      const total = search.total.get();
      if (input.value !== query) input.value = query;
      for (const element of [count, previous, next]) element.hidden = query === '';
      key.hidden = query !== '';
      const missed = hits !== null && hits.frames.length === 0;
      box.classList.toggle('miss', missed && !this.hasMoreToSearch);
      setText(count, hits === null ? '' : this.countText(hits.frames.length, current, total));
    });
    return box;
  }

  /**
   * Return the text of the count: the position among all hits, their total until a hit is chosen,
   * or why there is none. Names that do not match are no miss while arguments can still be
   * searched.
   */
  private countText(methods: number, current: CurrentHit | null, total: number | null): string {
    if (methods === 0) return this.hasMoreToSearch ? 'no name, Enter lists all' : '0 of 0';
    if (total === null) return '…';
    if (!current)
      return `${formatCount(total)} in ${countNames(wordsFor(this.v.viewer.facts), methods)}`;
    const passed = { '1': ', again from the start', '-1': ', again from the end', '0': '' };
    return `${formatCount(current.position)} of ${formatCount(total)}${passed[current.wrapped]}`;
  }

  /** True if the list can also search categories and arguments of events. */
  private get hasMoreToSearch(): boolean {
    return this.v.viewer.facts.order === 'owner';
  }

  /** Step through the hits; the first Escape empties the box, the second leaves it. */
  private searchKey(e: KeyboardEvent): void {
    const { viewer, search } = this.v;
    if (e.key === 'Enter' && this.hasMoreToSearch && search.hits.peek()?.frames.length === 0)
      viewer.tab.set('search');
    else if (e.key === 'Enter') search.step(e.shiftKey ? -1 : 1);
    else if (e.key === 'ArrowDown') search.step(1);
    else if (e.key === 'ArrowUp') search.step(-1);
    else if (e.key === 'Escape') {
      if (this.searchInput.value === '') this.searchInput.blur();
      viewer.search.set('');
    } else return;
    e.preventDefault();
    e.stopPropagation();
  }

  /** Create the button that counts what was repaired, with the sign of the gravest. */
  private health(open: () => void): HTMLElement {
    const { facts } = this.v.viewer;
    const n = facts.diagnostics.reduce((sum, d) => sum + d.count, 0) + (facts.overflow ? 1 : 0);
    const severity = facts.overflow ? 'error' : highestSeverity(facts.diagnostics);
    const sign = severity !== 'note' && severity;
    const button = h('button', {
      class: `text-button${sign ? ` ${sign}` : ''}`,
      title:
        n === 0
          ? 'The file was read without anything to repair'
          : 'What the reader repaired, moved or skipped',
      attrs: { type: 'button' },
      on: { click: open },
    });
    fill(
      button,
      sign && icon(sign),
      h('span', null, 'Health'),
      h('b', null, n === 0 ? 'good' : formatCount(n)),
    );
    return button;
  }
}
