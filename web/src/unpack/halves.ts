// SPDX-License-Identifier: Apache-2.0
// Split traces: x.key and x.data belong together.

function areHalves(key: string, data: string): boolean {
  return key.endsWith('.key') && data.endsWith('.data') && key.slice(0, -3) === data.slice(0, -4);
}

/** Join the two halves of each split trace, in place of the key file. */
export function joinHalves<T extends { name: string }>(
  parts: T[],
  join: (key: T, data: T) => T,
): T[] {
  const second = new Set<T>();
  const joined = parts.map((part) => {
    const data = parts.find(({ name }) => areHalves(part.name, name));
    if (data) second.add(data);
    return data ? { of: part, part: join(part, data) } : { of: part, part };
  });
  return joined.filter(({ of }) => !second.has(of)).map(({ part }) => part);
}
