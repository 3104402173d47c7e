// SPDX-License-Identifier: Apache-2.0
// Lists of links: Up, Down, Home and End go from link to link, as Tab does.

export function linkKeys(list: HTMLElement): void {
  list.addEventListener('keydown', (e) => {
    const links = [...list.querySelectorAll<HTMLElement>('button')];
    const at = links.indexOf(document.activeElement as HTMLElement);
    const steps: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: links.length - 1,
    };
    const next = links[steps[e.key] ?? -1];
    if (!next || e.altKey || e.ctrlKey || e.metaKey) return;
    next.focus();
    e.preventDefault();
    e.stopPropagation();
  });
}
