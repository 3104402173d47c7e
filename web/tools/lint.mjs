// SPDX-License-Identifier: Apache-2.0
// What the compiler does not forbid and this code does without.  Patterns find most of it; the
// compiler's own program finds the words "any" and "!" and promises that nobody waits for.
// Prints file:line and ends with 1 if there is any.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { API } from 'typescript/unstable/sync';
import { SyntaxKind } from 'typescript/unstable/ast';
import {
  isCallExpression,
  isExpressionStatement,
  isNonNullExpression,
  isPropertyAccessExpression,
} from 'typescript/unstable/ast/is';

const web = fileURLToPath(new URL('..', import.meta.url));
const LONGEST_LINE = 120; // Prettier wraps code at 100; a text it cannot break may be longer.
const LONGEST_FILE = 500;

const RULES = [
  [/@ts-(ignore|expect-error|nocheck)/, 'no silencing of the compiler'],
  [
    /\b(innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment)\b/,
    'text of a trace is only ever set as text',
  ],
  [/\beval\(|new Function\(/, 'no code out of text'],
  [/\bconsole\.\w+\(/, 'no messages to the console: tell the user'],
  [/\b(TODO|FIXME|XXX)\b/, 'no unfinished work'],
  [/https?:\/\/(?!www\.w3\.org\/2000\/svg)/, 'the page loads nothing from elsewhere'],
  [/\bas unknown as\b/, 'no cast through unknown'],
  [/\bexport default\b/, 'names, not defaults'],
  [/\s+$/, 'no blanks at the end of a line'],
  [/\t/, 'no tabs'],
];

const troubles = [];
const TYPE = /^(?:export )?(?:abstract )?(?:class|interface|type|enum) (\w+)/;
/** The file that has each type of src: one name has one meaning, as tags of C have. */
const typesOf = new Map();

function* files(folder) {
  for (const entry of readdirSync(web + folder, { withFileTypes: true })) {
    if (entry.isDirectory()) yield* files(`${folder}/${entry.name}`);
    else if (entry.name.endsWith('.ts')) yield `${folder}/${entry.name}`;
  }
}

function checkText(file) {
  const lines = readFileSync(web + file, 'utf8').split('\n');
  if (!lines[0].startsWith('// SPDX-License-Identifier:') || !lines[1]?.startsWith('// ')) {
    troubles.push(`${file}:1: begins with its licence and a sentence of purpose`);
  }
  if (lines.length > LONGEST_FILE)
    troubles.push(`${file}: ${lines.length} lines, the limit is ${LONGEST_FILE}`);
  lines.forEach((line, i) => {
    const at = `${file}:${i + 1}`;
    if (line.length > LONGEST_LINE)
      troubles.push(`${at}: ${line.length} columns, the limit is ${LONGEST_LINE}`);
    for (const [pattern, why] of RULES) if (pattern.test(line)) troubles.push(`${at}: ${why}`);
    const type = file.startsWith('src/') ? TYPE.exec(line)?.[1] : undefined;
    const first = type && typesOf.get(type);
    if (type && !first) typesOf.set(type, file);
    else if (type && first !== file) troubles.push(`${at}: ${first} has another type ${type}`);
  });
}

/** A promise as a statement is left alone, unless its failure is looked after at the end. */
function lonelyPromise(node, checker) {
  if (!isExpressionStatement(node) || !isCallExpression(node.expression)) return null;
  const called = node.expression.expression;
  if (isPropertyAccessExpression(called) && called.name.text === 'catch') return null;
  const type = checker.typeToString(checker.getTypeAtLocation(node.expression));
  return type.startsWith('Promise<') ? `a ${type} is left alone: await it, or say void` : null;
}

function checkTypes(project) {
  for (const file of project.program.getSourceFileNames()) {
    if (!file.startsWith(web) || file.includes('/node_modules/') || file.endsWith('.d.ts'))
      continue;
    const source = project.program.getSourceFile(file);
    const visit = (node) => {
      const why =
        lonelyPromise(node, project.checker) ??
        (isNonNullExpression(node)
          ? 'no "!": handle the missing value'
          : node.kind === anyKeyword
            ? 'no any: say what it is, or unknown'
            : null);
      if (why)
        troubles.push(
          `${file.slice(web.length)}:${source.text.slice(0, node.end).split('\n').length}: ${why}`,
        );
      node.forEachChild(visit);
    };
    visit(source);
  }
}

const anyKeyword = SyntaxKind.AnyKeyword;
const names = [...files('src'), ...files('tests')];
names.forEach(checkText);
const api = new API();
const snapshot = api.updateSnapshot({ openProject: web + 'tsconfig.json' });
snapshot.getProjects().forEach(checkTypes);
api.close();
console.log(
  troubles.length > 0 ? troubles.join('\n') : `lint: ${names.length} files, nothing to mend`,
);
process.exitCode = troubles.length > 0 ? 1 : 0;
