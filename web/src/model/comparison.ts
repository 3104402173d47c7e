// SPDX-License-Identifier: Apache-2.0
// Comparison of the trace with others, the base: what is compared, how that stands in the address,
// and the answer. `traceview diff --format json` has the same numbers.

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

/** The compared rows and figure, and the order of the table. */
export interface CompareChoice {
  by: ComparedBy;
  figure: ComparedFigure;
  /** Show only rows that changed. */
  changed: boolean;
  /** Null: what is certain first, then the largest differences. */
  sort: CompareSort | null;
}

export const USUAL_COMPARE: CompareChoice = {
  by: 'method',
  figure: 'excl',
  changed: false,
  sort: null,
};

/** Format a choice for the address, as in "class,incl,changed,p.up"; empty: the usual one. */
export function writeCompare(choice: CompareChoice): string {
  const { by, figure, changed, sort } = choice;
  const words = [
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
}

/** The answer to `diff`. */
export interface Comparison {
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
  /** Number of rows that the answer omits: the smallest. */
  left_out: number;
  rows: ComparedRow[];
}

/** The question `diff`: numbers of open traces. The trace of the page is a new run as well. */
export interface CompareQuestion {
  base: readonly number[];
  more: readonly number[];
  by: ComparedBy;
  figure: ComparedFigure;
}

/** Time between two questions about a trace that loads, in ms. */
const POLL = 100;

/**
 * Comparisons whose traces the program cannot keep open together. Opening them again would close
 * the trace of this page, which then opens itself again, without end.
 */
const tooLarge = new Set<string>();

/** Holds the comparison with the base that the viewer names. */
export class CompareStore extends ScopeAnswer<Comparison | null> {
  constructor(viewer: Viewer, shown: () => boolean) {
    super(
      viewer,
      shown,
      (_, signal) => compare(viewer, signal),
      () => {
        const { by, figure } = viewer.compare.get();
        return [writeRuns(viewer.base.get()), writeRuns(viewer.more.get()), by, figure].join(' ');
      },
    );
  }
}

async function compare(viewer: Viewer, signal: AbortSignal): Promise<Comparison | null> {
  const [base, more] = [viewer.base.peek(), viewer.more.peek()];
  const { by, figure } = viewer.compare.peek();
  if (base.length === 0) return null;
  const key = `${writeRuns(base)} ${writeRuns(more)}`;
  if (!tooLarge.has(key)) {
    const question = {
      ...{ by, figure },
      base: await openRuns(viewer, base, signal),
      more: await openRuns(viewer, more, signal),
    };
    const answer = await viewer.engine.diff(question, signal);
    if (answer) return answer;
    tooLarge.add(key);
  }
  const why = 'the traces do not fit into memory together: compare them with "traceview diff"';
  throw new EngineError(why, false, null, 'memory');
}

/** Open runs one after the other, and return the numbers of their traces. */
async function openRuns(
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
