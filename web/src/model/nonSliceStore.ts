// SPDX-License-Identifier: Apache-2.0
// Rows of objects, samples, memory dumps and display frames, and the events of these rows in the visible range.

import { effect, signal } from '../base/signal';
import type { DisplayMark } from './displayFrames';
import type {
  NonSliceRows,
  Listed,
  MemoryDump,
  ObjectsInView,
  Sample,
  SampleBox,
} from './nonSliceEvents';
import { InView } from './inView';
import type { Viewer } from './viewer';

/** Limit of the engine: rows of objects, or threads, in one question. */
const MOST_ROWS = 64;

/** Holds the non-slice events of the trace. A store lives as long as its viewer. */
export class NonSliceStore {
  readonly rows = signal<NonSliceRows>({
    ...{ objects: [], samples: [], memory_dumps: [], display_frames: [], threads: [] },
  });
  readonly objects: InView<ObjectsInView>;
  readonly samples: InView<Listed<Sample>>;
  readonly dumps: InView<Listed<MemoryDump>>;
  readonly display: InView<Listed<DisplayMark>>;
  /** The stacks over time of the threads whose row of samples is open. */
  readonly charts: InView<Listed<SampleBox>>;
  /** Rows of objects that are on the screen. */
  private wanted: readonly number[] = [];
  /** Threads with an open row of samples on the screen. */
  private charted: readonly number[] = [];

  constructor(viewer: Viewer) {
    const { nonSlice: beside } = viewer.engine;
    const { facts } = viewer;
    const none: ObjectsInView = { objects: [], snapshots: [], leftOut: 0 };
    this.objects = new InView<ObjectsInView>(
      viewer,
      (range, pixels, signal) =>
        this.wanted.length > 0
          ? beside.objects(this.wanted, range, pixels, signal)
          : Promise.resolve(none),
      none,
    );
    this.samples = new InView<Listed<Sample>>(
      viewer,
      (range, pixels, signal) => beside.samples(range, pixels, signal),
      { list: [], leftOut: 0 },
    );
    this.charts = new InView<Listed<SampleBox>>(
      viewer,
      (range, pixels, signal) =>
        this.charted.length > 0
          ? beside.sampleChart(this.charted, viewer.valueType.peek(), range, pixels, signal)
          : Promise.resolve({ list: [], leftOut: 0 }),
      { list: [], leftOut: 0 },
    );
    this.dumps = new InView<Listed<MemoryDump>>(
      viewer,
      (range, pixels, signal) => beside.memoryDumps(range, pixels, signal),
      { list: [], leftOut: 0 },
    );
    this.display = new InView<Listed<DisplayMark>>(
      viewer,
      (range, pixels, signal) => beside.displayMarks(range, pixels, signal),
      { list: [], leftOut: 0 },
    );
    const dumpsAndFrames = facts.memory_dumps + facts.display_frames;
    if (facts.objects + facts.samples + dumpsAndFrames + facts.instants === 0) return;
    beside
      .rows()
      .then((rows) => this.rows.set(rows))
      .catch(viewer.failed);
    if (facts.objects > 0) this.objects.start();
    if (facts.samples > 0) {
      this.samples.start();
      this.charts.start();
      effect(() => {
        viewer.valueType.get();
        this.charts.again();
      });
    }
    if (facts.memory_dumps > 0) this.dumps.start();
    if (facts.display_frames > 0) this.display.start();
  }

  setWidth(pixels: number): void {
    for (const asked of [this.objects, this.samples, this.charts, this.dumps, this.display])
      asked.setWidth(pixels);
  }

  /**
   * Name the rows of objects that are on the screen; if one is new, ask for them together with
   * those around the screen, so that scrolling needs few questions.
   */
  showObjects(rows: readonly number[], around: () => readonly number[]): void {
    const asked = new Set(this.wanted);
    if (rows.slice(0, MOST_ROWS).every((row) => asked.has(row))) return;
    this.wanted = [...new Set([...rows, ...around()])].slice(0, MOST_ROWS);
    this.objects.again();
  }

  /** Ask likewise for the threads whose samples are shown over time. */
  showCharts(threads: readonly number[], around: () => readonly number[]): void {
    const asked = new Set(this.charted);
    if (threads.slice(0, MOST_ROWS).every((thread) => asked.has(thread))) return;
    this.charted = [...new Set([...threads, ...around()])].slice(0, MOST_ROWS);
    this.charts.again();
  }

  /** Number of events in view that the answers left out. */
  leftOut(): number {
    return (
      this.objects.answer.get().leftOut +
      this.samples.answer.get().leftOut +
      this.charts.answer.get().leftOut +
      this.dumps.answer.get().leftOut +
      this.display.answer.get().leftOut
    );
  }
}
