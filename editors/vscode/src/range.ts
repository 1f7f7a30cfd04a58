// Which part of a line a suggestion replaces. Pure.

const LAST_SURROGATE = /^[\s\S]*[\uD800-\uDFFF]/;

/**
 * How many characters at the beginning of a suggestion can be left out, since they stand in the
 * document already: `covered` is what stands there up to the cursor.
 *
 * VS Code (1.139) doesn't show a suggestion whose replaced text has a character of two units, an
 * emoji for example. All up to the last of these is left out where the suggestion repeats it.
 */
export function surplus(covered: string, text: string): number {
  const length = LAST_SURROGATE.exec(covered)?.[0].length ?? 0;
  return text.startsWith(covered.slice(0, length)) ? length : 0;
}
