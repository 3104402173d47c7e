// SPDX-License-Identifier: Apache-2.0
// Describes the range and threads of the lower panel, with chips that return to the whole trace.

import { fill, h, iconButton, setText } from '../../base/dom';
import { formatTime, formatTimeUnit, plural, unitLabel, type Unit } from '../../base/format';
import { effect } from '../../base/signal';
import { tracksOfSlices } from '../../model/states';
import type { Viewer } from '../../model/viewer';
import { countSlices, wordsFor } from '../../model/words';
import type { Views } from '../context';

function scopeChip(text: string, label: string, clear: () => void): HTMLElement {
  return h('span', { class: 'chip' }, h('span', null, text), iconButton('close', label, clear));
}

/** Say what the tables were computed for, with a chip for each part that can be taken back. */
function showScope(viewer: Viewer, words: HTMLElement, chips: HTMLElement): void {
  const range = viewer.range.get();
  const tracks = viewer.tracks.get();
  const unit = viewer.unit.get();
  const { track } = wordsFor(viewer.facts);
  const time = (ns: number): string => formatTime(ns, unit);
  const count = tracks.length || tracksOfSlices(viewer.facts.tracks);
  const threads = count > 0 ? `, ${plural(count, track)}` : ''; // a trace of samples has none
  // A narrow page has the short words, so the tooltip has all of them.
  const say = (what: string, short: string): void => {
    const text = `Computed for ${what}${threads}`;
    const brief = h('span', { class: 'short', attrs: { 'data-words': short } });
    fill(words, h('span', { class: 'long' }, text), brief);
    words.title = `${text}. Type the range (R)`;
  };
  if (!range && tracks.length === 0) {
    say('the whole trace', 'Whole trace');
    return fill(chips);
  }
  const what = range
    ? `${time(range.from)} to ${formatTimeUnit(range.to, unit)}`
    : 'the whole trace';
  say(what, range ? 'Range' : 'Some threads');
  const names = tracks
    .map((t) => viewer.facts.tracks.find((k) => k.track === t)?.name ?? '')
    .join(', ');
  fill(
    chips,
    range &&
      scopeChip(formatTimeUnit(range.to - range.from, unit), 'Clear the range (Esc)', () =>
        viewer.setRange(null),
      ),
    tracks.length > 0 &&
      scopeChip(
        tracks.length > 2 ? plural(tracks.length, track) : names,
        `All ${track}s again`,
        () => viewer.tracks.set([]),
      ),
  );
}

/** Return the text and the chips. They are hidden in tabs that do not depend on a selection. */
export function scopeWords(
  viewer: Viewer,
  applies: () => boolean,
  askForRange: () => void,
): HTMLElement[] {
  const words = h('button', {
    class: 'wide scope-words',
    attrs: { type: 'button' },
    on: { click: askForRange },
  });
  const chips = h('span', { class: 'chips' });
  effect(() => {
    for (const element of [words, chips]) element.hidden = !applies();
  });
  effect(() => showScope(viewer, words, chips));
  return [words, chips];
}

/**
 * Return the text that tells how many calls reach beyond the range. `count` reads their number; 0
 * hides the text.
 */
export function clipWords(viewer: Viewer, count: () => number): HTMLElement {
  const element = h('span', { class: 'clip-words' });
  const words = wordsFor(viewer.facts);
  effect(() => {
    const cut = count();
    element.hidden = cut === 0;
    setText(element, `${countSlices(words, cut)} clipped`);
    const [reaches, counts] = cut === 1 ? ['reaches', 'counts'] : ['reach', 'count'];
    element.title =
      `${countSlices(words, cut)} ${reaches} beyond the range, and ` +
      `${counts} with the part inside it only`;
  });
  return element;
}

/** Return the menu of units; null: the numbers of the trace have only one. */
export function unitSelect({ viewer, settings }: Views): HTMLElement | null {
  if (viewer.units.length < 2) return null;
  const title = viewer.facts.axis === 'weight' ? 'Unit of weights' : 'Unit of times';
  const unit = h(
    'select',
    { class: 'small-select', title, attrs: { 'aria-label': title } },
    ...viewer.units.map((name) => h('option', { attrs: { value: name } }, unitLabel(name) || name)),
  );
  unit.addEventListener('change', () => {
    viewer.unit.set(unit.value as Unit);
    settings.setUnit(unit.value as Unit);
  });
  effect(() => {
    unit.value = viewer.unit.get();
  });
  return unit;
}
