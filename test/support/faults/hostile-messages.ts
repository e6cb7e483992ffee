import * as encoding from 'lib0/encoding'
import { id, list, writeId } from '../data/update-builder.ts'

/**
 * Functions that create messages and texts of a given size. Processing them costs more than their length
 * suggests.
 */

/** State vectors by the name of their shape. */
export const hostileVectors = {
  clients: (n) => pairs(n, (i) => [i + 1, 1]),
  oneClient: (n) => pairs(n, () => [1, 1]),
} as const satisfies Record<string, (n: number) => Uint8Array>

function pairs(n: number, at: (index: number) => readonly [number, number]): Uint8Array {
  const encoder = encoding.createEncoder()
  encoding.writeVarUint(encoder, n)
  for (let index = 0; index < n; index++) for (const each of at(index)) encoding.writeVarUint(encoder, each)
  return encoding.toUint8Array(encoder)
}

/** Awareness messages by the name of their shape. */
export const hostileAwareness = {
  clients: (n) => states(n, (i) => [i + 1, 1, '{}']),
  removals: (n) => states(n, (i) => [i + 1, 1, 'null']),
  clocks: (n) => states(n, (i) => [1, i + 1, '{}']),
  oneState: (n) => states(1, () => [1, 1, JSON.stringify({ user: 'x'.repeat(n) })]),
  keys: (n) => states(1, () => [1, 1, JSON.stringify(Object.fromEntries(list(n, (i) => [`k${i}`, i])))]),
  deepState: (n) => states(1, () => [1, 1, `${'['.repeat(n)}${']'.repeat(n)}`]),
} as const satisfies Record<string, (n: number) => Uint8Array>

function states(
  n: number,
  at: (index: number) => readonly [client: number, clock: number, state: string],
): Uint8Array {
  const encoder = encoding.createEncoder()
  encoding.writeVarUint(encoder, n)
  for (let index = 0; index < n; index++) {
    const [client, clock, state] = at(index)
    writeId(encoder, id(client, clock))
    encoding.writeVarString(encoder, state)
  }
  return encoding.toUint8Array(encoder)
}

/**
 * A text on which a slow regular expression tries every position. It consists of `prefix`, `pump` n times,
 * and `suffix`.
 */
export interface TextShape {
  readonly prefix: string
  readonly pump: string
  readonly suffix: string
}

/** Returns the text with a length of at least `n` characters. */
export const textOf = ({ prefix, pump, suffix }: TextShape, n: number): string =>
  prefix + pump.repeat(Math.ceil(n / pump.length)) + suffix

const pumps = [
  ' ',
  '=',
  '\t',
  'a',
  '0',
  '.',
  '-',
  ',',
  ';',
  '/',
  '\\',
  '"',
  '\\"',
  '%',
  '%2',
  '%20',
  '{',
  '[',
  '[{',
  '<',
  '<a>',
  '&',
  '&amp;',
  ':',
  '@',
  '+',
  '\n',
  '=a',
  'a=',
  'a,',
  'a;',
  '; q',
  'q=1,',
  '😀',
  '\u0301',
]
const ends = ['', 'a', ' ', '!', '\0', '"', '=', '>']

export const hostileTexts: readonly TextShape[] = pumps.flatMap((pump) =>
  ends.flatMap((suffix) => [
    { prefix: '', pump, suffix },
    { prefix: 'a', pump, suffix },
  ]),
)
