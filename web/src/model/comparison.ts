// SPDX-License-Identifier: Apache-2.0
// Comparison of the trace with others, the base: what is compared, how that is in the address,
// and the answer. `traceview diff --format json` has the same numbers.
//
//     new     the files of the page, and further runs of the same version
//     base    runs of the version before
//     run     one recording, which may be several files: "1/2,3" are two runs
//
// The engine computes: pairing of names, intervals, p. The page chooses rows and figure, sorts and
// draws. A comparison stays in the address as numbers of files, so a reload shows it again as long
// as the program that serves the files runs.

import { EngineError } from './engine';
import { readFiles, writeFiles, type ChosenFile } from './opening';
import { ScopeAnswer } from './scopeAnswer';
import type { Viewer } from './viewer';

/** The files of a run, which are a trace. */
export type Run = readonly ChosenFile[];

export const COMPARED_BY = ['method', 'class', 'package', 'thread'] as const;
export type ComparedBy = (typeof COMPARED_BY)[number];
export const COMPARED_FIGURES = ['excl', 'incl', 'calls', 'mean'] as const;
export type ComparedFigure = (typeof COMPARED_FIGURES)[number];

export const COMPARED_VIEWS = ['table', 'flame'] as const;
export type ComparedView = (typeof COMPARED_VIEWS)[number];
/** The side that widths of the flame graph are of. */
export const COMPARED_WIDTHS = ['larger', 'base', 'new'] as const;
export type ComparedWidth = (typeof COMPARED_WIDTHS)[number];

export const COMPARE_COLUMNS = [
  'key',
  'base',
  'new',
  'effect',
  'change',
  'interval',
  'p',
  'calls',
] as const;
export type CompareColumn = (typeof COMPARE_COLUMNS)[number];

export interface CompareSort {
  column: CompareColumn;
  descending: boolean;
}

/** The compared rows and figure, the order of the table, and the widths of the flame graph. */
export interface CompareChoice {
  view: ComparedView;
  width: ComparedWidth;
  by: ComparedBy;
  figure: ComparedFigure;
  /** Show only rows that changed. */
  changed: boolean;
  /** Null: what is certain first, then the largest differences. */
  sort: CompareSort | null;
}

export const USUAL_COMPARE: CompareChoice = {
  view: 'table',
  width: 'larger',
  by: 'method',
  figure: 'excl',
  changed: false,
  sort: null,
};

/** Format a choice for the address, as in "class,incl,changed,p.up"; empty: the usual one. */
export function writeCompare(choice: CompareChoice): string {
  const { view, width, by, figure, changed, sort } = choice;
  const words = [
    view === USUAL_COMPARE.view ? '' : view,
    width === USUAL_COMPARE.width ? '' : `width.${width}`,
    by === USUAL_COMPARE.by ? '' : by,
    figure === USUAL_COMPARE.figure ? '' : figure,
    changed ? 'changed' : '',
    sort ? `${sort.column}.${sort.descending ? 'down' : 'up'}` : '',
  ];
  return words.filter((word) => word !== '').join(',');
}

/** Parse the output of writeCompare; other words are ignored. */
export function readCompare(text: string): CompareChoice {
  const words = text.split(',');
  const sorts = words.flatMap((word): CompareSort[] => {
    const [name, direction] = word.split('.');
    const column = COMPARE_COLUMNS.find((known) => known === name);
    return column && direction !== undefined ? [{ column, descending: direction === 'down' }] : [];
  });
  return {
    view: COMPARED_VIEWS.find((view) => words.includes(view)) ?? USUAL_COMPARE.view,
    width: COMPARED_WIDTHS.find((width) => words.includes(`width.${width}`)) ?? USUAL_COMPARE.width,
    by: COMPARED_BY.find((by) => words.includes(by)) ?? USUAL_COMPARE.by,
    figure: COMPARED_FIGURES.find((figure) => words.includes(figure)) ?? USUAL_COMPARE.figure,
    changed: words.includes('changed'),
    sort: sorts[0] ?? null,
  };
}

/** Format runs for the address, as in "1/2,3": the second run has two files. */
export function writeRuns(runs: readonly Run[]): string {
  return runs.map(writeFiles).join('/');
}

export function sameRuns(a: readonly Run[], b: readonly Run[]): boolean {
  return writeRuns(a) === writeRuns(b);
}

/** Parse the output of writeRuns; a malformed run is left out. */
export function readRuns(text: string): readonly Run[] {
  return text === '' ? [] : text.split('/').flatMap((word) => [readFiles(word) ?? []].filter(some));
}

function some(run: Run): boolean {
  return run.length > 0;
}

/** A run of one side. */
export interface ComparedRun {
  file: string;
  total_ns: number;
  /** Common factor that was taken off. */
  factor?: number;
}

/** A row; null: unknown. Times are nanoseconds, or the unit of the samples. */
export interface ComparedRow {
  key: string;
  /** Name on the base side, if it differs. */
  base_key?: string;
  match: 'exact' | 'similar' | 'renamed';
  side: 'both' | 'base' | 'new';
  base: number;
  new: number;
  effect: number;
  /** Relative: 0.05 is +5 %; null for a new row. */
  change: number | null;
  low: number | null;
  high: number | null;
  p: number | null;
  base_calls: number;
  new_calls: number;
  /** The number of calls does not vary within either side, and differs. */
  calls_differ: boolean;
  /** Recording its calls makes up half or more of its time. */
  tiny?: boolean;
}

/** A frame of the differential flame graph: the row of a call path, whose key is its own name. */
export interface ComparedFrame extends ComparedRow {
  /** Place in the graph, in the unit of its total. */
  start: number;
  width: number;
  /** 0: called by nothing. A frame follows the one that calls it. */
  depth: number;
  /** Direction of the change, as far as it is certain. */
  verdict: 'unsure' | 'more' | 'less' | 'appeared' | 'vanished';
}

/** The answer to `diff`. */
export interface Comparison<Row extends ComparedRow = ComparedRow> {
  by: string;
  figure: ComparedFigure;
  clock: 'cpu' | 'wall';
  /** Value and unit of samples; absent for calls. */
  value?: string;
  unit?: string;
  /** The promise about p, or the reason why there is none. */
  note: string;
  sides: { base: ComparedRun[]; new: ComparedRun[] };
  total: Pick<ComparedRow, 'base' | 'new' | 'change' | 'low' | 'high' | 'p'>;
  /** Number of rows that the answer omits: the smallest. Not in a graph. */
  left_out?: number;
  /** Width of a graph, and the sum of the frames that it omits: the narrowest. */
  graph?: { total: number; left_out: number };
  rows: Row[];
}

/** The question `diff`: numbers of open traces. The trace of the page is a new run as well. */
export interface CompareQuestion {
  base: readonly number[];
  more: readonly number[];
  by: ComparedBy | 'path';
  figure: ComparedFigure;
  /** Ask for frames of the differential flame graph, by path. */
  graph?: ComparedWidth;
}

/** Time between two questions about a trace that loads, in ms. */
const POLL = 100;

/**
 * Comparisons whose traces the program cannot keep open together. Opening them again would close
 * the trace of this page, which then opens itself again, without end.
 */
const tooLarge = new Set<string>();

/** The part of the question that the page's choice determines. */
type ComparedChoice = Omit<CompareQuestion, 'base' | 'more'>;

/** Holds the comparison with the base that the viewer names: its table, or its flame graph. */
export class CompareStore<Row extends ComparedRow> extends ScopeAnswer<Comparison<Row> | null> {
  constructor(
    viewer: Viewer,
    shown: () => boolean,
    asked: (choice: CompareChoice) => ComparedChoice,
  ) {
    super(
      viewer,
      shown,
      (_, signal) => compare(viewer, asked(viewer.compare.peek()), signal),
      () =>
        JSON.stringify([
          ...[writeRuns(viewer.base.get()), writeRuns(viewer.more.get())],
          asked(viewer.compare.get()),
        ]),
    );
  }
}

async function compare<Row extends ComparedRow>(
  viewer: Viewer,
  asked: ComparedChoice,
  signal: AbortSignal,
): Promise<Comparison<Row> | null> {
  const [base, more] = [viewer.base.peek(), viewer.more.peek()];
  if (base.length === 0) return null;
  const key = `${writeRuns(base)} ${writeRuns(more)}`;
  if (!tooLarge.has(key)) {
    const question = {
      ...asked,
      base: await openRuns(viewer, base, signal),
      more: await openRuns(viewer, more, signal),
    };
    const answer = await viewer.engine.diff<Row>(question, signal);
    if (answer) return answer;
    tooLarge.add(key);
  }
  const why = 'the traces do not fit into memory together: compare them with "traceview diff"';
  throw new EngineError(why, false, null, 'memory');
}

/** Open runs, those of one side, one after the other, and return the numbers of their traces. */
export async function openRuns(
  { engine }: Viewer,
  runs: readonly Run[],
  signal: AbortSignal,
): Promise<number[]> {
  const numbers: number[] = [];
  for (const run of runs) {
    const number = await engine.opening.open(run);
    for (;;) {
      signal.throwIfAborted();
      const { state, error } = await engine.status(number);
      if (state === 'error') throw new EngineError(error?.message ?? 'it cannot be read', false);
      if (state !== 'loading') break;
      await new Promise((done) => setTimeout(done, POLL));
    }
    numbers.push(number);
  }
  return numbers;
}
