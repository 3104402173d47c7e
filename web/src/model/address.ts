// SPDX-License-Identifier: Apache-2.0
// The page's address holds the state of the view, so that Back, Forward, reload and a copied link
// work. A member that has its default value is left out of the address.

import { ALL_UNITS, type Unit } from '../base/format';
import { readKeys, readMoves, writeMoves, type Arrangement } from './arrangement';
import { SAMPLE_MEASURES, type SampleMeasure } from './nonSliceEvents';
import { isProfileColumn } from './profileColumns';
import { readFigureSort, writeFigureSort, type FigureSort } from './counterFigures';
import { readOverlays, readViews, writeOverlays, writeViews, type CounterView } from './counters';
import { readCompare, readRuns, writeCompare, writeRuns } from './comparison';
import type { CompareChoice, Run } from './comparison';
import type { Call } from './engine';
import type { Clock } from './traceFacts';
import { readGroups, writeGroups, type GroupState } from './groups';
import { HIT_COLUMNS, SEARCH_FIELDS, type HitSort, type SearchField } from './eventAnswers';
import { readMark, writeMark, type Mark } from './marks';
import { readFiles, writeFiles, type ChosenFile } from './opening';
import { readNotes, writeNote, type Note } from './notes';
import { readOpen, writeOpen } from './openLines';
import { readPairing, writePairing, type Pairing } from './pairing';
import { readRowChoice, writeRowChoice, type RowChoice } from './rowOrder';
import type { ProfileSort } from './profileRows';
import type { Span } from './span';
import { readSqlChart, writeSqlChart, type SqlPlace } from './sqlPlace';
import { readStates, writeStates, type StatesChoice } from './statesTable';
import { readTransforms, writeTransform, type Transform } from './transforms';
import { isStatisticsColumn, type StatisticsSort } from './statistics';

export const TABS = [
  'profile',
  'flame',
  'top-down',
  'bottom-up',
  'selection',
  'states',
  'counters',
  'frames',
  'compare',
  'search',
  'sql',
  'findings',
  'health',
  'info',
] as const;
/** The names of the tabs, as they are in the address. */
export type Tab = (typeof TABS)[number];
/** Source of tables and flame graph: calls, or one measure of the samples. */
export type FlameOf = 'calls' | SampleMeasure;
export type FlameOrder = 'time' | 'left-heavy' | 'by-name' | 'sandwich' | 'inverted';
const ORDERS: readonly FlameOrder[] = ['time', 'left-heavy', 'by-name', 'sandwich', 'inverted'];

/**
 * Everything that the address can hold. Indexes are those of the trace that `files` and `filter`
 * name.
 */
export interface PageState {
  /** The files of the trace; null: the default files of the engine. */
  files: readonly ChosenFile[] | null;
  /** Filter expression; every number on the page counts only the slices that match it. */
  filter: string;
  /** The runs that the trace is compared with, and further runs of its own side. */
  base: readonly Run[];
  more: readonly Run[];
  compare: CompareChoice;
  /** Settings of the time line of the base below; null: it is not shown. */
  pairing: Pairing | null;
  view: Span | null;
  range: Span | null;
  tracks: readonly number[];
  frame: number | null;
  call: Call | null;
  /** A call by its `id` in SQL and in a fleet. Only links have it: the page writes `call`. */
  slice: number | null;
  /** The call that is held beside the selected one. */
  pinned: Call | null;
  mark: Mark | null;
  /** Null: the one that suits the trace. */
  tab: Tab | null;
  clock: Clock | null;
  sort: ProfileSort | null;
  unit: Unit | null;
  find: string;
  onlyFound: boolean;
  /** Frames of the methods that are expanded in the profile; null: only the selected one. */
  openMethods: readonly number[] | null;
  /**
   * Expanded lines of the tree tables in the notation of openLines.ts; null: the path to the
   * selected method.
   */
  openDown: string | null;
  openUp: string | null;
  search: string;
  /** The query of the tab SQL that was run, and how its rows are drawn. */
  sql: SqlPlace;
  searchIn: readonly SearchField[];
  matchCase: boolean;
  /** The text to search for is a regular expression. */
  regex: boolean;
  /** Sort order of the hits. */
  hits: HitSort | null;
  /** Sort order of the table by name. */
  by: StatisticsSort | null;
  /** Columns and sort order of the table of states. */
  states: StatesChoice | null;
  /** Sort order of the table of counters. */
  figures: FigureSort | null;
  /** Sort order and open groups of these tables. */
  findings: GroupState;
  displayFrames: GroupState;
  health: GroupState;
  flame: FlameOrder;
  /** The frame that the flame graph is zoomed to. */
  zoom: FlameFrame | null;
  /** `fold`: direct recursion is drawn as one frame. `apart`: each thread is drawn on its own. */
  fold: boolean;
  apart: boolean;
  /** Subtract the overhead of recording from profile, trees and flame graph. */
  compensate: boolean;
  /** Changes to the stacks of profile, trees and flame graph, in order. */
  transforms: readonly Transform[];
  /** Sort order of the tree tables. */
  tree: ProfileSort | null;
  expanded: readonly number[] | null;
  closed: readonly number[];
  folds: readonly string[];
  arrangement: Arrangement;
  /** Show only tracks whose name contains this text. */
  only: string;
  /** Order of processes and threads, and whether only active ones are shown. */
  rows: RowChoice;
  notes: readonly Note[];
  flameOf: FlameOf | null;
  /** Name of the value type of samples; empty: the one that is shown first. */
  value: string;
  flows: FlowChoice;
  /** Drawing of the series of each counter that is not stacked. */
  counters: ReadonlyMap<number, CounterView>;
  /** The second counter in the row of a counter. */
  overlays: ReadonlyMap<number, number>;
  /** Extend the last value of each counter to the end of the trace. */
  hold: boolean;
}

/** The flows that are drawn: those of the selected call, and all flows of these categories. */
export interface FlowChoice {
  selection: boolean;
  categories: readonly number[];
}

/** A frame of a flame graph: the engine's path number, and the frame number of its method. */
export interface FlameFrame {
  path: number;
  frame: number;
}

function writeSpan(span: Span): string {
  return `${Math.round(span.from)}-${Math.round(span.to)}`;
}

/** Format a place as the text after "#" of an address. */
export function writeAddress(place: PageState): string {
  const words: string[] = [];
  const put = (name: string, value: string | null): void => {
    if (value !== null && value !== '')
      words.push(`${name}=${encodeURIComponent(value).replaceAll('%2C', ',')}`);
  };
  put('files', place.files && writeFiles(place.files));
  put('filter', place.filter);
  put('base', writeRuns(place.base));
  put('new', writeRuns(place.more));
  put('compare', writeCompare(place.compare));
  put('pair', writePairing(place.pairing));
  put('view', place.view && writeSpan(place.view));
  put('range', place.range && writeSpan(place.range));
  put('threads', place.tracks.join(','));
  put('method', place.frame === null ? null : String(place.frame));
  put('call', place.call && `${place.call.row}.${place.call.index}`);
  put('pinned', place.pinned && `${place.pinned.row}.${place.pinned.index}`);
  put('mark', place.mark && writeMark(place.mark));
  put('tab', place.tab);
  put('clock', place.clock);
  put('sort', place.sort && `${place.sort.column}.${place.sort.descending ? 'down' : 'up'}`);
  put('unit', place.unit);
  put('find', place.find);
  put('found', place.onlyFound ? '1' : null);
  put(
    'opened',
    place.openMethods && (place.openMethods.map((frame) => frame.toString(36)).join(',') || 'none'),
  );
  put('down', place.openDown === '' ? 'none' : place.openDown);
  put('up', place.openUp === '' ? 'none' : place.openUp);
  put('search', place.search);
  put('sql', place.sql.text);
  put('chart', place.sql.chart && writeSqlChart(place.sql.chart));
  put('as-track', place.sql.track ? '1' : null);
  put('in', place.searchIn.length === SEARCH_FIELDS.length ? null : place.searchIn.join(','));
  put('case', place.matchCase ? '1' : null);
  put('re', place.regex ? '1' : null);
  put('hits', place.hits && `${place.hits.column}.${place.hits.descending ? 'down' : 'up'}`);
  put('by', place.by && `${place.by.column}.${place.by.descending ? 'down' : 'up'}`);
  put('states', place.states && writeStates(place.states));
  put('figures', place.figures && writeFigureSort(place.figures));
  put('findings', writeGroups(place.findings));
  put('display', writeGroups(place.displayFrames));
  put('health', writeGroups(place.health));
  put('flame', place.flame === 'left-heavy' ? null : place.flame);
  put('zoom', place.zoom && `${place.zoom.path}.${place.zoom.frame}`);
  put('fold', place.fold ? '1' : null);
  put('apart', place.apart ? '1' : null);
  put('compensate', place.compensate ? '1' : null);
  for (const transform of place.transforms) put('transform', writeTransform(transform));
  put('tree', place.tree && `${place.tree.column}.${place.tree.descending ? 'down' : 'up'}`);
  put('open', place.expanded && (place.expanded.join(',') || 'none'));
  put('closed', place.closed.join(','));
  put('rows', place.folds.join(','));
  put('pin', place.arrangement.pinned.join(','));
  put('hide', place.arrangement.hidden.join(','));
  put('order', writeMoves(place.arrangement.moves));
  put('only', place.only);
  put('sorted', writeRowChoice(place.rows));
  for (const note of place.notes) put('note', writeNote(note));
  put('samples', place.flameOf);
  put('value', place.value);
  put('flows', [...(place.flows.selection ? [] : ['none']), ...place.flows.categories].join(','));
  put('counters', writeViews(place.counters));
  put('overlay', writeOverlays(place.overlays));
  put('hold', place.hold ? null : '0');
  return words.join('&');
}

function readSpan(text: string | null): Span | null {
  const found = /^(-?\d+)-(-?\d+)$/.exec(text ?? '');
  if (!found) return null;
  const span = { from: Number(found[1]), to: Number(found[2]) };
  return span.to > span.from ? span : null;
}

function readNumbers(text: string | null): number[] {
  return (text ?? '')
    .split(',')
    .filter((word) => /^\d+$/.test(word))
    .map(Number);
}

function oneOf<T extends string>(text: string | null, words: readonly T[], otherwise: T): T {
  return words.find((word) => word === text) ?? otherwise;
}

function readMethods(text: string | null): number[] | null {
  if (text === null) return null;
  const words = text.split(',').filter((word) => /^[0-9a-z]{1,7}$/.test(word));
  return text === 'none' ? [] : words.map((word) => parseInt(word, 36)).sort((a, b) => a - b);
}

function readOpened(text: string | null): string | null {
  return text === null ? null : text === 'none' ? '' : writeOpen(readOpen(text));
}

function readSort(text: string | null): ProfileSort | null {
  const [column = '', direction] = (text ?? '').split('.');
  return isProfileColumn(column) ? { column, descending: direction !== 'up' } : null;
}

function readBy(text: string | null): StatisticsSort | null {
  const [column = '', direction] = (text ?? '').split('.');
  return isStatisticsColumn(column) ? { column, descending: direction !== 'up' } : null;
}

function readHits(text: string | null): HitSort | null {
  const [word, direction] = (text ?? '').split('.');
  const column = HIT_COLUMNS.find((known) => known === word);
  return column ? { column, descending: direction === 'down' } : null;
}

/** Return the fields that the text names, or all fields if it names none. */
function readFields(text: string | null): readonly SearchField[] {
  const words = (text ?? '').split(',');
  const fields = SEARCH_FIELDS.filter((field) => words.includes(field));
  return fields.length > 0 ? fields : SEARCH_FIELDS;
}

function readCall(text: string | null): Call | null {
  const found = /^(\d+)\.(\d+)$/.exec(text ?? '');
  return found && { row: Number(found[1]), index: Number(found[2]) };
}

function readZoom(text: string | null): FlameFrame | null {
  const found = /^(\d+)\.(\d+)$/.exec(text ?? '');
  return found && { path: Number(found[1]), frame: Number(found[2]) };
}

function readFlame(text: string | null): FlameOf | null {
  return text === 'calls' ? text : (SAMPLE_MEASURES.find((word) => word === text) ?? null);
}

/**
 * Parse the text after "#" of an address. A missing or malformed value becomes the default: a link
 * is never an error.
 */
export function readAddress(text: string): PageState {
  const q = new URLSearchParams(text);
  const clock = q.get('clock');
  const open = q.get('open');
  const method = q.get('method');
  const slice = q.get('slice') ?? '';
  return {
    files: readFiles(q.get('files') ?? ''),
    filter: q.get('filter') ?? '',
    base: readRuns(q.get('base') ?? ''),
    more: readRuns(q.get('new') ?? ''),
    compare: readCompare(q.get('compare') ?? ''),
    pairing: readPairing(q.get('pair') ?? ''),
    view: readSpan(q.get('view')),
    range: readSpan(q.get('range')),
    tracks: readNumbers(q.get('threads')),
    frame: method !== null && /^\d+$/.test(method) ? Number(method) : null,
    call: readCall(q.get('call')),
    slice: /^\d{1,15}$/.test(slice) ? Number(slice) : null,
    pinned: readCall(q.get('pinned')),
    mark: readMark(q.get('mark')),
    tab: TABS.find((tab) => tab === q.get('tab')) ?? null,
    clock: clock === 'real' || clock === 'cpu' ? clock : null,
    sort: readSort(q.get('sort')),
    unit: ALL_UNITS.find((unit) => unit === q.get('unit')) ?? null,
    find: q.get('find') ?? '',
    onlyFound: q.get('found') === '1',
    openMethods: readMethods(q.get('opened')),
    openDown: readOpened(q.get('down')),
    openUp: readOpened(q.get('up')),
    search: q.get('search') ?? '',
    sql: {
      text: q.get('sql') ?? '',
      chart: readSqlChart(q.get('chart')),
      track: q.get('as-track') === '1',
    },
    searchIn: readFields(q.get('in')),
    matchCase: q.get('case') === '1',
    regex: q.get('re') === '1',
    hits: readHits(q.get('hits')),
    by: readBy(q.get('by')),
    states: readStates(q.get('states')),
    figures: readFigureSort(q.get('figures')),
    findings: readGroups(q.get('findings')),
    displayFrames: readGroups(q.get('display')),
    health: readGroups(q.get('health')),
    flame: oneOf(q.get('flame'), ORDERS, 'left-heavy'),
    zoom: readZoom(q.get('zoom')),
    fold: q.get('fold') === '1',
    apart: q.get('apart') === '1',
    compensate: q.get('compensate') === '1',
    transforms: readTransforms(q.getAll('transform')),
    tree: readSort(q.get('tree')),
    expanded: open === null ? null : readNumbers(open),
    closed: readNumbers(q.get('closed')),
    folds: (q.get('rows') ?? '').split(',').filter((word) => /^[a-z]+\.-?\d+$/.test(word)),
    arrangement: {
      pinned: readKeys(q.get('pin') ?? ''),
      hidden: readKeys(q.get('hide') ?? ''),
      moves: readMoves(q.get('order') ?? ''),
    },
    only: q.get('only') ?? '',
    rows: readRowChoice(q.get('sorted') ?? ''),
    notes: readNotes(q.getAll('note')),
    flameOf: readFlame(q.get('samples')),
    value: q.get('value') ?? '',
    flows: {
      selection: !(q.get('flows') ?? '').split(',').includes('none'),
      categories: readNumbers(q.get('flows')),
    },
    counters: readViews(q.get('counters') ?? ''),
    overlays: readOverlays(q.get('overlay') ?? ''),
    hold: q.get('hold') !== '0',
  };
}
