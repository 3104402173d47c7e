// SPDX-License-Identifier: Apache-2.0
// The same calls as on a canvas, written down as SVG.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { paintLabels, paintNotes, type Label } from '../src/render/labelPainter';
import { paintHeading, svgOf } from '../src/render/picture';
import { drawBar, CLOSED } from '../src/render/shapes';
import type { Surface } from '../src/render/surface';
import { escapeXml, SvgSurface } from '../src/render/svg';
import { TextMeter } from '../src/render/text';
import { TimeScale } from '../src/render/timeScale';
import { DrawLog } from './drawLog';
import { theme } from './fixtures';

const THEME = theme();
const meter = new TextMeter((text) => text.length * 6);

/** What stands in the picture, without its frame. */
function draw(what: (g: Surface) => void): string[] {
  const g = new SvgSurface((_, text) => text.length * 6);
  what(g);
  return g.file(100, 50, 'a title', 'sans-serif').split('\n').slice(4, -2);
}

test('rectangles have colours with separate alpha', () => {
  const lines = draw((g) => {
    g.fillStyle = '#1d5fd180';
    g.fillRect(1.23456, 2, 3, 4);
    g.globalAlpha = 0.5;
    g.fillStyle = '#abc';
    g.fillRect(0, 0, 1, 1);
    g.globalAlpha = 1;
    g.strokeStyle = 'Highlight';
    g.lineWidth = 2;
    g.strokeRect(0.5, 0.5, 9, 9);
    g.fillRect(0, 0, 0, 5);
  });
  assert.deepEqual(lines, [
    '<rect x="1.23" y="2" width="3" height="4" fill="#1d5fd1" fill-opacity="0.5"/>',
    '<rect x="0" y="0" width="1" height="1" fill="#aabbcc" fill-opacity="0.5"/>',
    '<rect x="0.5" y="0.5" width="9" height="9" fill="none" stroke="Highlight" stroke-width="2"/>',
  ]);
});

test('a path begins with its first line and can be filled and stroked', () => {
  const lines = draw((g) => {
    g.beginPath();
    g.lineTo(1, 2);
    g.lineTo(3, 4);
    g.closePath();
    g.fillStyle = '#000000';
    g.fill();
    g.strokeStyle = '#ffffff';
    g.setLineDash([5, 3]);
    g.stroke();
  });
  assert.deepEqual(lines, [
    '<path d="M1 2L3 4Z" fill="#000000"/>',
    '<path d="M1 2L3 4Z" fill="none" stroke="#ffffff" stroke-dasharray="5 3"/>',
  ]);
});

test('a clip is a group that ends when the state is restored', () => {
  const lines = draw((g) => {
    g.save();
    g.beginPath();
    g.rect(0, 0, 5, 5);
    g.clip();
    g.save();
    g.beginPath();
    g.rect(1, 1, 2, 2);
    g.clip();
    g.fillStyle = '#000000';
    g.fillRect(0, 0, 9, 9);
    g.restore();
    g.restore();
    g.fillRect(0, 0, 1, 1);
  });
  assert.deepEqual(
    lines.filter((line) => !/clipPath|defs/.test(line)),
    [
      '<g clip-path="url(#c1)">',
      '<g clip-path="url(#c2)">',
      '<rect x="0" y="0" width="9" height="9" fill="#000000"/>',
      '</g>',
      '</g>',
      '<rect x="0" y="0" width="1" height="1" fill="#000000"/>',
    ],
  );
  assert(lines.includes('<clipPath id="c2"><path d="M1 1h2v2h-2Z"/></clipPath>'));
});

test('texts keep their font and their measured width', () => {
  const lines = draw((g) => {
    g.font = 'italic 600 11px sans-serif';
    g.textBaseline = 'middle';
    g.textAlign = 'center';
    g.fillStyle = '#000000';
    g.fillText('a & b', 50, 20);
  });
  assert.deepEqual(lines, [
    '<text x="50" y="23" font-size="11" font-weight="600" font-style="italic" text-anchor="middle" ' +
      'textLength="30" lengthAdjust="spacingAndGlyphs" fill="#000000">a &amp; b</text>',
  ]);
});

test('hostile names stay text, and characters that XML forbids are replaced', () => {
  assert.equal(escapeXml('</text><script>"\'&'), '&lt;/text&gt;&lt;script&gt;&quot;&#39;&amp;');
  assert.equal(escapeXml('a\0b\x1bc\ufffed\ud800e\udc00'), 'a\ufffdb\ufffdc\ufffdd\ufffde\ufffd');
  assert.equal(escapeXml('\ud83d\ude00\t'), '\ud83d\ude00\t', 'a pair of halves is one letter');
  const g = new SvgSurface(() => 1);
  const file = g.file(1, 1, '</title><script>', '"x"</style><script>');
  assert(!file.includes('<script>'), file);
});

test('density is blocks of colours, where equal neighbours are one', () => {
  // Two columns of red under a darker top, one column of nothing, one of green, half as high.
  const [red, dark, green] = [0xff0000ff, 0xff000080, 0xff00ff00];
  const data = Uint32Array.from([
    ...[dark, dark, 0, 0],
    ...[red, red, 0, 0],
    ...[red, red, 0, green],
    ...[red, red, 0, green],
  ]);
  const lines = draw((g) =>
    g.shapes?.strip(
      { data, stride: 4, rows: 4, first: 0, count: 4 },
      { x: 10, y: 20, w: 8, h: 16 },
    ),
  );
  assert.deepEqual(lines, [
    '<path class="strip" fill="#800000" d="M10 20h4v4h-4Z"/>',
    '<path class="strip" fill="#ff0000" d="M10 24h4v12h-4Z"/>',
    '<path class="strip" fill="#00ff00" d="M16 28h2v8h-2Z"/>',
  ]);
});

test('a hatched bar uses one pattern for all', () => {
  const safe = { ...THEME, hatched: [true, true], bars: ['#111111', '#222222'] };
  const lines = draw((g) => {
    drawBar(g, safe, { x: 0, y: 0, w: 10, h: 5 }, 0, CLOSED);
    drawBar(g, safe, { x: 20, y: 0, w: 10, h: 5 }, 1, CLOSED);
  });
  assert.equal(lines.filter((line) => line.startsWith('<pattern')).length, 1);
  assert.equal(lines.filter((line) => line.includes('fill="url(#h1)"')).length, 2);
});

test('a picture puts its parts beside each other, each clipped to its edges', () => {
  const part = (x: number) => ({
    box: { x, y: 5, w: 10, h: 20 },
    draw: (g: Surface) => {
      g.fillStyle = '#000000';
      g.globalAlpha = 0.5;
      g.fillRect(-5, 0, 30, 5);
    },
  });
  const picture = { width: 20, height: 25, title: 'app.trace. 1 ms to 2 ms', family: 'x' };
  const file = svgOf({ ...picture, parts: [part(0), part(10)] }, () => 1);
  assert.deepEqual(file.split('\n').slice(0, 2), [
    '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="25" viewBox="0 0 20 25" role="img">',
    '<title>app.trace. 1 ms to 2 ms</title>',
  ]);
  assert(file.includes('<svg x="10" y="5" width="10" height="20">\n<rect x="-5" y="0"'));
});

test('the heading names the trace, as far as there is room', () => {
  const g = new DrawLog();
  const lines = ['Time line, 1 ms to 2 ms', 'Filter: dur>1ms'];
  paintHeading(g, { theme: THEME, meter, width: 200, title: 'app.trace', lines });
  const texts = g.of('fillText').map((d) => d.text);
  assert.equal(texts[0], 'app.trace');
  assert.match(texts[1] ?? '', /^Time line, 1 ms to 2 ms.*…$/);
});

const LABEL: Label = {
  ...{ top: 0, height: 22, group: false, chosen: false },
  ...{ id: '[7]', name: 'main', side: '5.0 ms', second: '' },
};

test('a track has its name beside it, alone where room is short', () => {
  const texts = (width: number, label: Partial<Label> = {}, scroll = 0): string[] => {
    const g = new DrawLog();
    const scene = { theme: THEME, meter, width, height: 100, scroll, pinned: 0 };
    paintLabels(g, scene, [{ ...LABEL, ...label }]);
    for (const d of g.of('fillText'))
      assert(d.box.x >= 0 && d.box.x + d.text.length * 6 <= width, `${d.text} in ${width}`);
    return g.of('fillText').map((d) => d.text);
  };
  assert.deepEqual(texts(200).sort(), ['5.0 ms', '[7]', 'main']);
  assert.deepEqual(texts(90).sort(), ['[7]', 'main']);
  assert.deepEqual(texts(60), ['main']);
  assert.deepEqual(texts(60, { name: 'main thread' }), ['mai…']);
  assert.deepEqual(texts(200, { second: '3 more levels', height: 60 }).at(-1), '3 more levels');
  assert.deepEqual(texts(200, {}, 50), [], 'scrolled away');
});

test('pinned tracks do not scroll and are above those that do', () => {
  const g = new DrawLog();
  const scene = { theme: THEME, meter, width: 200, height: 100, scroll: 30, pinned: 22 };
  const below = { ...LABEL, name: 'below', top: 44 };
  paintLabels(g, scene, [LABEL, below]);
  const at = (name: string) => g.of('fillText').find((d) => d.text === name);
  assert.equal(at('main')?.box.y, 11.5);
  assert.equal(at('below')?.box.y, 44 - 30 + 11.5);
  assert.deepEqual(at('below')?.clip, { x: 0, y: 22, w: 200, h: 78 });
});

test('the text of a note ends before the next note', () => {
  const g = new DrawLog();
  const scale = new TimeScale({ from: 0, to: 1000 }, 100);
  paintNotes(g, { theme: THEME, meter, scale }, [
    { from: 0, to: 100, text: 'begins here' },
    { from: 600, to: 700, text: 'ends' },
    { from: 2000, to: 2100, text: 'elsewhere' },
  ]);
  assert.deepEqual(
    g.of('fillText').map((d) => [d.text, d.box.x]),
    [
      ['begins …', 6],
      ['ends', 66],
    ],
  );
});
