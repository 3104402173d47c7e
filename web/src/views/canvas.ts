// SPDX-License-Identifier: Apache-2.0
// A canvas whose size follows its container in device pixels, painted at most once per frame.

import { h } from '../base/dom';
import type { Surface } from '../render/surface';

/** A canvas element with its paint callback. */
export class Canvas {
  readonly element: HTMLCanvasElement;
  width = 0;
  height = 0;
  ratio = 1;
  private readonly context: CanvasRenderingContext2D;
  private waiting = 0;

  /**
   * The canvas is as wide as `place`, and as high as `frame`, which differs if `place` scrolls
   * inside it.
   */
  constructor(
    place: HTMLElement,
    frame: HTMLElement,
    label: string,
    private readonly draw: (g: Surface) => void,
    resized?: () => void,
  ) {
    this.element = h('canvas', { attrs: { role: 'img', 'aria-label': label } });
    const context = this.element.getContext('2d');
    if (!context) throw new Error('this browser cannot draw on a canvas');
    this.context = context;
    const observer = new ResizeObserver(() => {
      if (this.width === place.clientWidth && this.height === frame.clientHeight) return;
      this.width = place.clientWidth;
      this.height = frame.clientHeight;
      resized?.();
      // Paint now, not in the next frame: a resized canvas is blank until it is painted.
      this.paint();
    });
    for (const element of new Set([place, frame])) observer.observe(element);
  }

  readonly invalidate = (): void => {
    if (this.waiting === 0) this.waiting = requestAnimationFrame(() => this.paint());
  };

  private paint(): void {
    cancelAnimationFrame(this.waiting);
    this.waiting = 0;
    if (this.width === 0 || this.height === 0) return;
    this.ratio = window.devicePixelRatio || 1;
    const width = Math.round(this.width * this.ratio);
    const height = Math.round(this.height * this.ratio);
    if (this.element.width !== width || this.element.height !== height) {
      this.element.width = width;
      this.element.height = height;
      this.element.style.width = `${this.width}px`;
      this.element.style.height = `${this.height}px`;
    }
    this.context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.draw(this.context);
  }
}
