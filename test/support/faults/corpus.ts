import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Messages of one client, and the expected end of its connection. */
export interface FrameCase {
  readonly name: string
  /** Frames in hexadecimal, in the order in which they are sent. */
  readonly frames: readonly string[]
  /** The close code, or null if the client stays connected. */
  readonly ends: number | null
}

/** The body of a call, and its expected response. */
export interface RestCase {
  readonly name: string
  readonly path: string
  /** The text of the body as pieces, each with its number of repetitions. */
  readonly body: readonly (readonly [piece: string, times: number])[]
  readonly code: number
}

/** Bytes of a connection, and the expected response. */
export interface HttpCase {
  readonly name: string
  /** One byte per character, as pieces with their number of repetitions. */
  readonly bytes: readonly (readonly [piece: string, times: number])[]
  /** The code of the first response; 0 if the server closes the connection without one. */
  readonly code: number
}

interface Corpus {
  readonly frames: readonly FrameCase[]
  readonly rest: readonly RestCase[]
  readonly http: readonly HttpCase[]
}

/** Returns the cases that once caused a fault or are at an edge. */
export const corpus = <Kind extends keyof Corpus>(kind: Kind): Corpus[Kind] =>
  JSON.parse(
    readFileSync(join(import.meta.dirname, '../..', 'fuzz', 'corpus', `${kind}.json`), 'utf8'),
  ) as Corpus[Kind]

export const joined = (pieces: readonly (readonly [piece: string, times: number])[]): string =>
  pieces.map(([piece, times]) => piece.repeat(times)).join('')

export const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** Formats a case as a line of the corpus, with the expected result. */
export const asCase = (found: FrameCase | RestCase | HttpCase): string =>
  `for test/fuzz/corpus: ${JSON.stringify(found)}`
