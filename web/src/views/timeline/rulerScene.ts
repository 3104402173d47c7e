// SPDX-License-Identifier: Apache-2.0
// The state from which the ruler is painted.

import type { Span } from '../../model/span';
import { axisWords } from '../../model/words';
import type { RulerScene } from '../../render/rulerPainter';
import { TimeScale } from '../../render/timeScale';
import type { Canvas } from '../canvas';
import type { Views } from '../context';

/** Return the state of the ruler, with the span that is being dragged. */
export function rulerScene(
  { viewer, settings, meters }: Views,
  canvas: Canvas,
  zoom: Span | null,
  pointer: number | null,
): RulerScene {
  const theme = settings.theme.peek();
  return {
    theme,
    meter: meters.get(theme.font),
    scale: new TimeScale(viewer.view.peek(), canvas.width),
    height: canvas.height,
    bounds: viewer.bounds,
    range: viewer.range.peek(),
    zoom,
    pointer,
    unit: viewer.unit.peek(),
    axis: axisWords(viewer.facts),
  };
}
