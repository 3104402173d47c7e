// SPDX-License-Identifier: Apache-2.0
// The names of tracks and notes. In the page they are DOM elements; in a saved picture they are
// drawn.

import { BOLD } from './picture';
import type { Surface } from './surface';
import type { TextMeter } from './text';
import type { Theme } from './theme';
import type { TimeScale } from './timeScale';

export interface Label {
  top: number;
  height: number;
  /** True for a process. */
  group: boolean;
  /** The user selected the track for the tables. */
  chosen: boolean;
  id: string;
  name: string;
  /** The text at the right: how long the track was busy, or its kind. */
  side: string;
  /** The text below the name. */
  second: string;
}

export interface LabelScene {
  theme: Theme;
  meter: TextMeter;
  width: number;
  height: number;
  scroll: number;
  /** The height of the pinned tracks at the top of the list, which do not scroll. */
  pinned: number;
}

const LEFT = 10;
const INDENT = 24;
const GAP = 8;
const LINE = 16;

/** Paint the labels that are in view. */
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
  for (const label of scrolled) paintTrackLabel(g, s, label, label.top - s.scroll);
  g.restore();
  for (const label of labels.filter(isPinned)) paintTrackLabel(g, s, label, label.top);
  g.fillStyle = colour.line;
  g.fillRect(s.width - 1, 0, 1, s.height);
}

function paintTrackLabel(g: Surface, s: LabelScene, label: Label, y: number): void {
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

/**
 * Choose the texts that fit. The name has priority over the id, and the id over the text at the
 * right.
 */
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

/** Paint the notes below the ruler. Each text may extend to the next note. */
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
