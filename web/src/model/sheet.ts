// SPDX-License-Identifier: Apache-2.0
// A table as text for other programs: what every table of the page is exported and copied through.
// TSV (the clipboard's too) and Markdown have what stands on the screen; CSV and JSON have exact
// values, times in whole nanoseconds.

export type ExportFormat = 'csv' | 'tsv' | 'json' | 'markdown';
export type SheetValue = string | number | null;

export interface Sheet {
  /** On the screen. */
  heads: readonly { text: string; number: boolean }[];
  shown: (line: number) => readonly string[];
  /** For programs. */
  keys: readonly string[];
  exact: (line: number) => readonly SheetValue[];
  count: number;
  /** Of lines that lie under each other: TSV has it as a column, Markdown as an indent. */
  level?: (line: number) => number;
}

/** So many lines are one piece of the text: a string has a greatest length. */
const PIECE = 10_000;
/** Deeper lines are not indented further. */
const DEEPEST = 40;

function oneLine(text: string): string {
  return text.replace(/[\t\n\r]+/g, ' ');
}

/**
 * A spreadsheet works a cell out that begins like a formula, and a name out of a trace can be made
 * to.  An apostrophe says that it is text.
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

function code(text: string): string {
  return text === '' ? '' : `\`${oneLine(text).replaceAll('|', '\\|').replaceAll('`', "'")}\``;
}

function markdownLine(sheet: Sheet, line: number): string {
  const indent = '&emsp;'.repeat(Math.min(DEEPEST, sheet.level?.(line) ?? 0));
  const cells = sheet.shown(line).map((text, i) => (sheet.heads[i]?.number ? text : code(text)));
  return `| ${indent}${cells.join(' | ')} |\n`;
}

function jsonLine(sheet: Sheet, line: number): string {
  const values = sheet.exact(line);
  const told = Object.fromEntries(sheet.keys.map((key, i) => [key, values[i] ?? null]));
  return (line > 0 ? ',\n' : '') + JSON.stringify(told);
}

const FORMS: Record<
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

/** The text piece by piece, so that who wants all of a long table can pause between them. */
export function* sheetPieces(sheet: Sheet, format: ExportFormat): Generator<string> {
  const form = FORMS[format];
  yield form.head(sheet);
  for (let first = 0; first < sheet.count; first += PIECE) {
    let text = '';
    const end = Math.min(sheet.count, first + PIECE);
    for (let line = first; line < end; line++) text += form.line(sheet, line);
    yield text;
  }
  yield form.end;
}

export function sheetText(sheet: Sheet, format: ExportFormat): string {
  return [...sheetPieces(sheet, format)].join('');
}

/** Some of its lines. */
export function sheetPart(sheet: Sheet, first: number, count: number): Sheet {
  const { level } = sheet;
  return {
    ...sheet,
    count,
    shown: (line) => sheet.shown(first + line),
    exact: (line) => sheet.exact(first + line),
    ...(level ? { level: (line) => level(first + line) } : {}),
  };
}
