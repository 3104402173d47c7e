// SPDX-License-Identifier: Apache-2.0
// A preview of a trace while it loads: an activity row for each track.

import { h, setText } from '../../base/dom';
import type { Sketch } from '../../model/opening';

/** The height of a row in pixels; the page stretches it. */
const HEIGHT = 16;

interface ActivityRow {
  name: HTMLElement;
  canvas: HTMLCanvasElement;
}

/** The preview of all tracks. */
export class SketchView {
  readonly element = h('div', {
    class: 'sketch',
    attrs: { role: 'img', 'aria-label': 'Activity of the tracks so far' },
  });
  private readonly rows: ActivityRow[] = [];

  show(sketch: Sketch): void {
    sketch.tracks.forEach((track, index) => {
      const row = this.rows[index] ?? this.add();
      setText(row.name, track.name);
      drawActivity(row.canvas, track.heights);
    });
  }

  private add(): ActivityRow {
    const row = { name: h('span', null), canvas: document.createElement('canvas') };
    row.canvas.height = HEIGHT;
    this.element.append(row.name, row.canvas);
    this.rows.push(row);
    return row;
  }
}

function drawActivity(canvas: HTMLCanvasElement, heights: readonly number[]): void {
  canvas.width = heights.length; // Setting the width also clears the canvas.
  const context = canvas.getContext('2d');
  if (!context) return;
  context.fillStyle = getComputedStyle(canvas).color;
  heights.forEach((height, x) => {
    const rows = height > 0 ? Math.max(1, Math.round((height * HEIGHT) / 255)) : 0;
    context.fillRect(x, HEIGHT - rows, 1, rows);
  });
}
