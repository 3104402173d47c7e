// SPDX-License-Identifier: Apache-2.0
// What the address holds of the tab SQL: the query that was run, its chart, and whether its rows
// are drawn above the tracks.

import type { SqlChartChoice, SqlChartKind } from './sqlChart';

export interface SqlPlace {
  /** The query; empty: none was run. */
  text: string;
  chart: SqlChartChoice | null;
  /** The rows of the query are a track. */
  track: boolean;
}

export const NO_SQL: SqlPlace = { text: '', chart: null, track: false };

const KINDS: readonly SqlChartKind[] = ['bars', 'lines', 'histogram'];

/** Format a chart: its kind, and the number of its column. */
export function writeSqlChart(choice: SqlChartChoice): string {
  return `${choice.kind}.${choice.column}`;
}

export function readSqlChart(text: string | null): SqlChartChoice | null {
  const found = /^([a-z]+)\.(\d{1,3})$/.exec(text ?? '');
  const kind = KINDS.find((known) => known === found?.[1]);
  return found && kind ? { kind, column: Number(found[2]) } : null;
}

export function sameSql(a: SqlPlace, b: SqlPlace): boolean {
  return (
    a.text === b.text &&
    a.track === b.track &&
    a.chart?.kind === b.chart?.kind &&
    a.chart?.column === b.chart?.column
  );
}
