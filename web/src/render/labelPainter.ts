// SPDX-License-Identifier: Apache-2.0
// The names beside the tracks and of the notes: in the page they are elements, in a picture that is
// kept they are drawn.

import { BOLD } from './picture';
import type { Surface } from './surface';
import type { TextMeter } from './text';
import type { Theme } from './theme';
import type { TimeScale } from './timeScale';

export interface Label {
  top: number;
  height: number;
  /** Of a process. */
  group: boolean;
  /** Its track is chosen for the tables. */
  chosen: boolean;
  id: string;
  name: string;
  /** At the right: how long it was busy, or what it is. */
  side: string;
  /** Under the name. */
  second: string;
}

export interface LabelScene {
  theme: Theme;
  meter: TextMeter;
  width: number;
  height: number;
  scroll: number;
  /** What stands above this, from the top of the list, does not scroll. */
  pinned: number;
}

const LEFT = 10;
const INDENT = 24;
const GAP = 8;
const LINE = 16;

export function paintLabels(g: Surface, s: LabelScene, labels: readonly Label[]): void {
  const { colour } = s.theme;
  g.fillStyle = colour.chrome;
  g.fillRect(0, 0, s.width, s.height);
  g.textBaseline = 'middle';
  const isPinned = (label: Label): boolean => label.top < s.pinned;
  const scrolled = labels.filter((label) => !isPinned(label));
  g.save();
  g.beginPath();
  g.rect(0, s.pinned, s.width, s.height - s.pinned);
  g.clip();
  for (const label of scrolled) paintLabel(g, s, label, label.top - s.scroll);
  g.restore();
  for (const label of labels.filter(isPinned)) paintLabel(g, s, label, label.top);
  g.fillStyle = colour.line;
  g.fillRect(s.width - 1, 0, 1, s.height);
}

function paintLabel(g: Surface, s: LabelScene, label: Label, y: number): void {
  const { colour } = s.theme;
  if (y + label.height < 0 || y > s.height) return;
  if (label.chosen) {
    g.fillStyle = colour['range-tint'];
    g.fillRect(0, y, s.width, label.height);
  }
  g.fillStyle = colour.line;
  g.fillRect(0, y, s.width, 1);
  const middle = y + Math.min(label.height, 22) / 2 + 0.5;
  const left = label.group ? LEFT : INDENT;
  const { id, side } = wordsThatFit(s, label, s.width - left - GAP);
  g.font = s.theme.bodyFont;
  g.fillStyle = colour['text-3'];
  const right = s.width - GAP - s.meter.width(side);
  if (side !== '') g.fillText(side, right, middle);
  const x = id === '' || label.group ? left : left + s.meter.width(`${id} `);
  const own = s.meter.width(label.name) * BOLD + GAP;
  if (id !== '') g.fillText(id, label.group ? left + own : left, middle);
  const room = (side === '' ? right : right - GAP) - x;
  const name = s.meter.fit(label.name, label.group ? room / BOLD : room);
  g.fillStyle = colour.text;
  if (label.group) g.font = `600 ${s.theme.bodyFont}`;
  if (name !== '') g.fillText(name, x, middle);
  g.font = s.theme.bodyFont;
  if (label.second === '' || label.height < 2 * LINE) return;
  g.fillStyle = colour['text-3'];
  g.fillText(s.meter.fit(label.second, s.width - left - GAP), left, y + label.height - LINE / 2);
}

/** The name goes before the number, and that before what stands at the right. */
function wordsThatFit(s: LabelScene, label: Label, room: number): { id: string; side: string } {
  const { group, name } = label;
  const { id } = label;
  const own = s.meter.width(name) * (group ? BOLD : 1);
  const withId = own + (id === '' ? 0 : s.meter.width(`${id} `));
  if (withId + (label.side === '' ? 0 : GAP + s.meter.width(label.side)) <= room)
    return { id, side: label.side };
  return { id: withId <= room ? id : '', side: '' };
}

export const NOTES_HEIGHT = 22;

export interface NamedSpan {
  from: number;
  to: number;
  text: string;
}

/** Notes under the ruler, each with its text as far as the next one leaves room. */
export function paintNotes(
  g: Surface,
  s: { theme: Theme; meter: TextMeter; scale: TimeScale },
  notes: readonly NamedSpan[],
): void {
  const { colour } = s.theme;
  g.fillStyle = colour.bg;
  g.fillRect(0, 0, s.scale.width, NOTES_HEIGHT);
  g.font = s.theme.font;
  g.textBaseline = 'middle';
  notes.forEach((note, i) => {
    const x = Math.max(0, s.scale.x(note.from));
    const right = Math.min(s.scale.width, s.scale.x(note.to));
    if (right < 0 || x > s.scale.width) return;
    const next = notes[i + 1];
    const end = next ? Math.min(s.scale.width, s.scale.x(next.from)) : s.scale.width;
    g.fillStyle = colour['range-tint'];
    g.fillRect(x, 3, Math.max(2, right - x), NOTES_HEIGHT - 6);
    g.fillStyle = colour.range;
    g.fillRect(x, 3, 2, NOTES_HEIGHT - 6);
    g.fillStyle = colour.text;
    const text = s.meter.fit(note.text, end - x - 12);
    if (text !== '') g.fillText(text, x + 6, NOTES_HEIGHT / 2 + 0.5);
  });
  g.fillStyle = colour.line;
  g.fillRect(0, NOTES_HEIGHT - 1, s.scale.width, 1);
}
