// SPDX-License-Identifier: Apache-2.0
// Saves the time line and the flame graph as pictures: as SVG, which other programs can edit, or as
// PNG with two pixels per screen pixel, for reports.

import { h } from '../../base/dom';
import { untracked } from '../../base/signal';
import { fileName, formatTimeUnit, plural } from '../../base/format';
import { shortened } from '../../base/visible';
import type { Span } from '../../model/span';
import { wordsFor } from '../../model/words';
import { NOTES_HEIGHT, paintLabels, paintNotes } from '../../render/labelPainter';
import {
  drawPicture,
  HEADING_HEIGHT,
  paintHeading,
  svgOf,
  type Picture,
  type PicturePart,
} from '../../render/picture';
import { TimeScale } from '../../render/timeScale';
import type { Views } from '../context';
import type { FlameView } from '../tables/flameView';
import type { SaveEntry } from './saveMenu';
import type { TimelineView } from '../timeline/timelineView';

const RATIO = 2;
/** The maximum canvas height in all browsers. */
const LONGEST = 16000;
/** The space below the last track, as in the page. */
const FOOT = 8;

/** Return "1.000 ms to 2.500 ms, 1.500 ms". */
function pictureSpanWords(v: Views, { from, to }: Span): string {
  const unit = v.viewer.unit.peek();
  const time = (ns: number): string => formatTimeUnit(Math.round(ns), unit);
  return `${time(from)} to ${time(to)}, ${time(to - from)}`;
}

/** Describe selection and filters, which the picture alone does not show. */
function scopeLines(v: Views): string[] {
  const { viewer, selection } = v;
  const range = viewer.range.peek();
  const tracks = viewer.tracks.peek();
  const call = selection.details.peek();
  const frame = viewer.frame.peek();
  const words = wordsFor(viewer.facts);
  const names = tracks.map((t) => viewer.facts.tracks.find((k) => k.track === t)?.name ?? '');
  const lines: string[] = [];
  if (range) lines.push(`Selected: ${pictureSpanWords(v, range)}`);
  if (tracks.length > 2) lines.push(`Of ${plural(tracks.length, words.track)}`);
  else if (tracks.length > 0) lines.push(`Of ${shortened(names.join(', '), 80)}`);
  if (call) {
    const length = formatTimeUnit(call.length_ns, viewer.unit.peek());
    lines.push(`${shortened(viewer.frames.short(call.frame), 80)}: ${length}`);
  } else if (frame !== null) lines.push(`Marked: ${shortened(viewer.frames.short(frame), 80)}`);
  if (viewer.filter !== '') lines.push(`Filter: ${shortened(viewer.filter, 120)}`);
  return lines;
}

/** Create a picture with `parts` below the heading. */
function pictureOf(
  v: Views,
  { w, h: high }: { w: number; h: number },
  lines: readonly string[],
  parts: readonly PicturePart[],
): Picture {
  const theme = v.settings.theme.peek();
  const title = shortened(fileName(v.viewer.facts.name), 200);
  const meter = v.meters.get(theme.bodyFont);
  const heading = { theme, meter, width: w, title, lines };
  return {
    width: w,
    height: HEADING_HEIGHT + high,
    title: [title, ...lines].join('. '),
    family: theme.bodyFont.replace(/^\S+ /, ''),
    parts: [
      {
        box: { x: 0, y: 0, w, h: HEADING_HEIGHT },
        draw: (g) => paintHeading(g, heading),
      },
      ...parts.map(({ box, draw }) => ({ box: { ...box, y: box.y + HEADING_HEIGHT }, draw })),
    ],
  };
}

/** Return the visible part of the time line, with ruler and names. */
function timelinePicture(v: Views, line: TimelineView, ratio: number): Picture {
  const { viewer, settings, meters } = v;
  const theme = settings.theme.peek();
  const view = viewer.view.peek();
  const { width } = line.canvas;
  const placed = line.placed.peek();
  const scroll = line.tracks.scrollTop;
  // Leave no empty space below the last track.
  const height = Math.min(line.canvas.height, Math.max(1, placed.height - scroll + FOOT));
  const names = line.tracks.clientWidth - width;
  const ruler = line.ruler.clientHeight;
  const notes = viewer.notes.peek();
  const top = ruler + (notes.length > 0 ? NOTES_HEIGHT : 0);
  const unit = viewer.unit.peek();
  const noteWords = notes.map((note) => ({
    ...note,
    text: note.text || formatTimeUnit(note.to - note.from, unit),
  }));
  const meter = meters.get(theme.font);
  const labels = {
    ...{ theme, width: names, height, scroll },
    ...{ meter: meters.get(theme.bodyFont), pinned: placed.pinned },
  };
  const paintEdge: PicturePart['draw'] = (g) => {
    g.fillStyle = theme.colour.chrome;
    g.fillRect(0, 0, names, top);
    g.fillStyle = theme.colour.line;
    g.fillRect(names - 1, 0, 1, top);
  };
  return pictureOf(
    v,
    { w: names + width, h: top + height },
    [`Time line, ${pictureSpanWords(v, view)}`, ...scopeLines(v)],
    [
      { box: { x: 0, y: 0, w: names, h: top }, draw: paintEdge },
      { box: { x: names, y: 0, w: width, h: ruler }, draw: (g) => line.drawRuler(g, null) },
      ...(notes.length > 0
        ? [
            {
              box: { x: names, y: ruler, w: width, h: NOTES_HEIGHT },
              draw: (g: Parameters<PicturePart['draw']>[0]) =>
                paintNotes(g, { theme, meter, scale: new TimeScale(view, width) }, noteWords),
            },
          ]
        : []),
      {
        box: { x: 0, y: top, w: names, h: height },
        draw: (g) => paintLabels(g, labels, line.labels.shown()),
      },
      {
        box: { x: names, y: top, w: width, h: height },
        draw: (g) => line.painter.paintPicture(g, ratio),
      },
    ],
  );
}

/** Return the whole flame graph, including what is scrolled out of view. */
function flamePicture(v: Views, flame: FlameView): Picture {
  const { viewer } = v;
  const { width, height } = flame.size;
  const clock = viewer.clock.peek() === 'cpu' ? 'CPU time' : 'real time';
  const { of: what, name } = untracked(() => viewer.measure());
  const of = what === 'calls' ? [clock] : what === 'weight' && name !== '' ? [shortened(name)] : [];
  return pictureOf(
    v,
    { w: width, h: height },
    [`Flame graph, ${flame.orderWords}`, ...of, ...scopeLines(v)],
    [{ box: { x: 0, y: 0, w: width, h: height }, draw: (g) => flame.drawPicture(g) }],
  );
}

async function pngBlob(v: Views, picture: (ratio: number) => Picture): Promise<Blob> {
  const { width, height } = picture(1);
  const ratio = Math.min(RATIO, LONGEST / Math.max(width, height));
  const canvas = h('canvas', null);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const g = canvas.getContext('2d');
  if (!g) throw new Error('this browser cannot draw on a canvas');
  g.fillStyle = v.settings.theme.peek().colour.bg;
  g.fillRect(0, 0, canvas.width, canvas.height);
  drawPicture(g, picture(ratio), ratio);
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, 'image/png'));
  if (!blob) throw new Error('the browser could not make a picture of that size');
  return blob;
}

function svgBlob(v: Views, picture: Picture): Blob {
  const text = svgOf(picture, (font, words) => v.meters.measure(font, words));
  return new Blob([text], { type: 'image/svg+xml' });
}

export function pictureEntries(v: Views, line: TimelineView, flame: FlameView): SaveEntry[] {
  const ofLine = (ratio: number): Picture => timelinePicture(v, line, ratio);
  const ofFlame = (): Picture => flamePicture(v, flame);
  const shown = (): boolean => v.viewer.tab.peek() === 'flame' && flame.size.height > 0;
  const asShapes = 'A vector image of the current view: sharp at any size, can be edited';
  const asPixels = 'An image of the current view, for reports';
  const entry = (name: string, title: string, ending: string): Omit<SaveEntry, 'make'> => ({
    ...{ name, title, ending },
  });
  return [
    {
      ...entry('Time line, shapes', asShapes, 'svg'),
      make: () => Promise.resolve(svgBlob(v, ofLine(1))),
    },
    { ...entry('Time line, pixels', asPixels, 'png'), make: () => pngBlob(v, ofLine) },
    {
      ...entry('Flame graph, shapes', asShapes, 'flame.svg'),
      shown,
      make: () => Promise.resolve(svgBlob(v, ofFlame())),
    },
    {
      ...entry('Flame graph, pixels', asPixels, 'flame.png'),
      shown,
      make: () => pngBlob(v, ofFlame),
    },
  ];
}
