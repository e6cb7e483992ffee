import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Messages of one client, and what becomes of it. */
export interface FrameCase {
  readonly name: string
  /** Hexadecimal, in the order in which they are sent. */
  readonly frames: readonly string[]
  /** The code that it is ended with; null: it stays. */
  readonly ends: number | null
}

/** The body of a call, and what it is answered with. */
export interface RestCase {
  readonly name: string
  readonly path: string
  /** The text of the body: pieces, each so many times. */
  readonly body: readonly (readonly [piece: string, times: number])[]
  readonly code: number
}

/** Bytes of a connection, and what they are answered with. */
export interface HttpCase {
  readonly name: string
  /** One byte a character: pieces, each so many times. */
  readonly bytes: readonly (readonly [piece: string, times: number])[]
  /** Of the first answer; 0: it is hung up on. */
  readonly code: number
}

interface Corpus {
  readonly frames: readonly FrameCase[]
  readonly rest: readonly RestCase[]
  readonly http: readonly HttpCase[]
}

/** What once broke something, or sits at an edge. */
export const corpus = <Kind extends keyof Corpus>(kind: Kind): Corpus[Kind] =>
  JSON.parse(
    readFileSync(join(import.meta.dirname, '../..', 'fuzz', 'corpus', `${kind}.json`), 'utf8'),
  ) as Corpus[Kind]

export const joined = (pieces: readonly (readonly [piece: string, times: number])[]): string =>
  pieces.map(([piece, times]) => piece.repeat(times)).join('')

export const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** A case as a line for the corpus, which says what was expected. */
export const asCase = (found: FrameCase | RestCase | HttpCase): string =>
  `for test/fuzz/corpus: ${JSON.stringify(found)}`
