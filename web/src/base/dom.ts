// SPDX-License-Identifier: Apache-2.0
// Creation of elements. Text is only set as text: nothing here reaches the HTML parser, so a name
// in a trace cannot become markup.

import { flushEffects, onEnd } from './signal';
import { shortened } from './visible';

/** A child of an element; null, false and undefined are skipped. */
export type Child = Node | string | null | false | undefined;

/** Properties of a new element. */
export interface Attributes {
  class?: string;
  title?: string;
  id?: string;
  tabIndex?: number;
  hidden?: boolean;
  /** aria-*, role and other plain attributes; null omits one. */
  attrs?: Record<string, string | number | boolean | null>;
  /** Styles, set through the object model, as the content security policy requires. */
  style?: Record<string, string>;
  on?: { [E in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[E]) => void };
}

/**
 * Tell whether the attribute is written out as "false"; other boolean attributes are removed
 * instead.
 */
function isWord(name: string): boolean {
  return /^(aria-|data-)/.test(name) || name === 'spellcheck';
}

export function setAttribute(
  element: Pick<Element, 'setAttribute' | 'removeAttribute'>,
  name: string,
  value: string | number | boolean | null,
): void {
  if (value === null || (value === false && !isWord(name))) element.removeAttribute(name);
  else element.setAttribute(name, String(value));
}

/** Set properties, attributes, styles and listeners of an element. */
function applyAttributes(element: HTMLElement, a: Attributes): void {
  if (a.class) element.className = a.class;
  if (a.title !== undefined) element.title = a.title;
  if (a.id) element.id = a.id;
  if (a.tabIndex !== undefined) element.tabIndex = a.tabIndex;
  if (a.hidden !== undefined) element.hidden = a.hidden;
  for (const [name, value] of Object.entries(a.attrs ?? {})) setAttribute(element, name, value);
  for (const [name, value] of Object.entries(a.style ?? {})) element.style.setProperty(name, value);
  for (const [name, listener] of Object.entries(a.on ?? {})) {
    element.addEventListener(name, listener as EventListener);
  }
}

/** Create an element. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes | null,
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (attributes) applyAttributes(element, attributes);
  appendChildren(element, children);
  return element;
}

/** Append children, skipping those that are null, false or undefined. */
export function appendChildren(parent: Element, children: Child[]): void {
  for (const child of children) {
    if (child !== null && child !== false && child !== undefined) parent.append(child);
  }
}

/** Allow line breaks after the points of a long name, and cut it after `most` characters. */
export function breakable(name: string, most = 400): Child[] {
  return shortened(name, most)
    .split(/(?<=[.$])/)
    .flatMap((part, i) => (i === 0 ? [part] : [document.createElement('wbr'), part]));
}

/** Replace all children. */
export function fill(parent: Element, ...children: Child[]): void {
  parent.replaceChildren();
  appendChildren(parent, children);
}

/** Add a listener to the window or document that is removed with the current owner (signal.ts). */
export function listen<E extends Event>(
  target: Pick<EventTarget, 'addEventListener' | 'removeEventListener'>,
  type: string,
  listener: (event: E) => void,
): void {
  const handler = listener as (event: Event) => void;
  target.addEventListener(type, handler);
  onEnd(() => target.removeEventListener(type, handler));
}

/** Set text only if it differs, to avoid needless layout and announcements of screen readers. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Save a file through the browser. */
export function download(name: string, file: Blob): void {
  const address = URL.createObjectURL(file);
  h('a', { attrs: { href: address, download: name } }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

const SVG = 'http://www.w3.org/2000/svg';

const ICONS = {
  warning: 'M8 2.5L14.5 13.5H1.5zM8 6.5v3.2M8 11.6v.2',
  error: 'M5.2 1.5h5.6l3.7 3.7v5.6l-3.7 3.7H5.2l-3.7-3.7V5.2zM8 4.8v4M8 10.9v.2',
  note: 'M14 8a6 6 0 1 1-12 0 6 6 0 1 1 12 0M8 7.2v4M8 4.6v.2',
  close: 'M4 4l8 8M12 4l-8 8',
  up: 'M4 10l4-4 4 4',
  down: 'M4 6l4 4 4-4',
  right: 'M6 4l4 4-4 4',
  order: 'M2.5 4h6M2.5 8h4.5M2.5 12h3M11.5 3v10M9 10.5l2.5 2.5 2.5-2.5',
  lens: 'M11.2 7a4.2 4.2 0 1 1-8.4 0 4.2 4.2 0 1 1 8.4 0M10.2 10.2L14 14',
  eye: 'M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM10 8a2 2 0 1 1-4 0 2 2 0 1 1 4 0',
  funnel: 'M2 3h12L9.5 8.5V13l-3-1.5v-3z',
  pin: 'M5.5 2.5h5M6.3 2.5v4L4.5 9h7L9.7 6.5v-4M8 9v4.5',
  hide: 'M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM3 13.5l10-11',
  contrast: 'M13.5 8a5.5 5.5 0 1 1-11 0 5.5 5.5 0 1 1 11 0M8 2.5v11M9.8 3.4v9.2M11.6 4.6v6.8',
  rows: 'M2.5 3.5h11M2.5 6.5h11M2.5 9.5h11M2.5 12.5h11',
  save: 'M8 2.5v7.5M4.8 7.2L8 10.4l3.2-3.2M2.5 13.5h11',
  open: 'M1.8 12.8V3.5h4l1.5 2h6.9v7.3zM1.8 12.8l2-5h12l-1.6 5z',
  bin: 'M2.5 4h11M6 4V2.2h4V4M4 4l.7 9.8h6.6L12 4M6.6 6.5v5M9.4 6.5v5',
  power: 'M8 1.8v6M4.7 3.6a5.5 5.5 0 1 0 6.6 0',
} as const;

export type IconName = keyof typeof ICONS;

/** Create an icon; it is hidden from screen readers. */
export function icon(name: IconName, className = ''): SVGSVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('class', `icon ${className}`.trim());
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', ICONS[name]);
  svg.append(path);
  return svg;
}

/** Create a button with an icon, and a label for screen readers. */
export function iconButton(name: IconName, label: string, click: () => void): HTMLButtonElement {
  return h(
    'button',
    {
      class: 'icon-button',
      title: label,
      attrs: { type: 'button', 'aria-label': label },
      on: { click },
    },
    icon(name),
  );
}

/**
 * Take the focus off a dialog as soon as it closes. If nothing had the focus before, the browser
 * leaves it on the hidden dialog until the next frame, which would swallow a key pressed meanwhile.
 */
export function blurWhenClosed(dialog: HTMLDialogElement): void {
  const look = () => {
    const { activeElement } = document;
    if (!dialog.open && activeElement instanceof HTMLElement && dialog.contains(activeElement))
      activeElement.blur();
  };
  new MutationObserver(look).observe(dialog, { attributeFilter: ['open'] });
}

/**
 * Run work that replaces the page. The box with the same label continues the box in which the user
 * types: with its selection and focus. Its text is that of the new page's state.
 */
export function keepTyping(work: () => void): void {
  const before = document.activeElement;
  if (!(before instanceof HTMLInputElement)) return work();
  const { selectionStart, selectionEnd } = before;
  const label = before.getAttribute('aria-label');
  work();
  flushEffects(); // a text that is set later would move the caret
  const boxes = [...document.querySelectorAll('input')];
  const after = boxes.find((box) => box.getAttribute('aria-label') === label);
  if (!after) return;
  after.focus();
  // Null for kinds of input without a selection.
  if (selectionStart !== null) after.setSelectionRange(selectionStart, selectionEnd);
}
