// SPDX-License-Identifier: Apache-2.0
// Export of tables. Every table of the page describes itself as a Sheet, and this module turns the
// sheet into text for a file or the clipboard:
//
//   table -> Sheet -> CSV, JSON         exact values, times in whole nanoseconds
//                  -> TSV, Markdown     the texts on the screen
//
// Lines are formatted on demand, since a sheet may have a million of them. Cells that begin like a
// formula are escaped in CSV and TSV, because names in a trace are not trusted.

export type ExportFormat = 'csv' | 'tsv' | 'json' | 'markdown';
export type SheetValue = string | number | null;

/** A table in exportable form. */
export interface Sheet {
  /** Columns as on the screen. */
  heads: readonly { text: string; number: boolean }[];
  shown: (line: number) => readonly string[];
  /** Columns for programs: names of values, and the values. */
  keys: readonly string[];
  exact: (line: number) => readonly SheetValue[];
  count: number;
  /** Indentation level of a line in a tree: a column in TSV, an indent in Markdown. */
  level?: (line: number) => number;
}

/** Number of lines in one chunk of text; one string has a maximum length. */
const LINES_PER_CHUNK = 10_000;
/** Limit of the indent. */
const DEEPEST = 40;

function oneLine(text: string): string {
  return text.replace(/[\t\n\r]+/g, ' ');
}

/**
 * Escape a text that a spreadsheet would evaluate as a formula. A leading apostrophe marks it as
 * text.
 */
function noFormula(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

function csvCell(value: SheetValue): string {
  const text = typeof value === 'string' ? noFormula(value) : value === null ? '' : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csvLine(cells: readonly SheetValue[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function tsvLine(sheet: Sheet, line: number): string {
  const cells = sheet
    .shown(line)
    .map((text, i) =>
      sheet.heads[i]?.number ? text.replaceAll(',', '') : noFormula(oneLine(text)),
    );
  return `${[...(sheet.level ? [sheet.level(line)] : []), ...cells].join('\t')}\n`;
}

/** Format a text as Markdown code. */
function markdownCode(text: string): string {
  return text === '' ? '' : `\`${oneLine(text).replaceAll('|', '\\|').replaceAll('`', "'")}\``;
}

function markdownLine(sheet: Sheet, line: number): string {
  const indent = '&emsp;'.repeat(Math.min(DEEPEST, sheet.level?.(line) ?? 0));
  const cells = sheet
    .shown(line)
    .map((text, i) => (sheet.heads[i]?.number ? text : markdownCode(text)));
  return `| ${indent}${cells.join(' | ')} |\n`;
}

function jsonLine(sheet: Sheet, line: number): string {
  const values = sheet.exact(line);
  const told = Object.fromEntries(sheet.keys.map((key, i) => [key, values[i] ?? null]));
  return (line > 0 ? ',\n' : '') + JSON.stringify(told);
}

const WRITERS: Record<
  ExportFormat,
  {
    head: (sheet: Sheet) => string;
    line: (sheet: Sheet, line: number) => string;
    end: string;
  }
> = {
  csv: {
    head: (sheet) => csvLine(sheet.keys),
    line: (sheet, line) => csvLine(sheet.exact(line)),
    end: '',
  },
  tsv: {
    head: (sheet) =>
      `${[...(sheet.level ? ['Level'] : []), ...sheet.heads.map((h) => h.text)].join('\t')}\n`,
    line: tsvLine,
    end: '',
  },
  json: { head: () => '[\n', line: jsonLine, end: '\n]\n' },
  markdown: {
    head: (sheet) =>
      `| ${sheet.heads.map((h) => h.text).join(' | ')} |\n` +
      `| ${sheet.heads.map((h) => (h.number ? '---:' : '---')).join(' | ')} |\n`,
    line: markdownLine,
    end: '',
  },
};

/** Generate the text in chunks, so that the caller can pause while exporting a long table. */
export function* sheetChunks(sheet: Sheet, format: ExportFormat): Generator<string> {
  const form = WRITERS[format];
  yield form.head(sheet);
  for (let first = 0; first < sheet.count; first += LINES_PER_CHUNK) {
    let text = '';
    const end = Math.min(sheet.count, first + LINES_PER_CHUNK);
    for (let line = first; line < end; line++) text += form.line(sheet, line);
    yield text;
  }
  yield form.end;
}

/** Return the whole sheet as one text. */
export function sheetText(sheet: Sheet, format: ExportFormat): string {
  return [...sheetChunks(sheet, format)].join('');
}

/** Return a sheet of some lines of another one. */
export function sheetExcerpt(sheet: Sheet, first: number, count: number): Sheet {
  const { level } = sheet;
  return {
    ...sheet,
    count,
    shown: (line) => sheet.shown(first + line),
    exact: (line) => sheet.exact(first + line),
    ...(level ? { level: (line) => level(first + line) } : {}),
  };
}
