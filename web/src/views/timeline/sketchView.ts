// SPDX-License-Identifier: Apache-2.0
// A preview of a trace while it loads: an activity row for each track.

import { h, setText } from '../../base/dom';
import type { Sketch } from '../../model/opening';

/** The height of a row in pixels; the page stretches it. */
const HEIGHT = 16;

interface Strip {
  name: HTMLElement;
  canvas: HTMLCanvasElement;
}

/** The preview of all tracks. */
export class SketchView {
  readonly element = h('div', {
    class: 'sketch',
    attrs: { role: 'img', 'aria-label': 'Activity of the tracks so far' },
  });
  private readonly strips: Strip[] = [];

  show(sketch: Sketch): void {
    sketch.tracks.forEach((track, index) => {
      const strip = this.strips[index] ?? this.add();
      setText(strip.name, track.name);
      drawActivity(strip.canvas, track.heights);
    });
  }

  private add(): Strip {
    const strip = { name: h('span', null), canvas: document.createElement('canvas') };
    strip.canvas.height = HEIGHT;
    this.element.append(strip.name, strip.canvas);
    this.strips.push(strip);
    return strip;
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
