import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Messages that one client sends, with the expected end of its connection. */
export interface FrameCase {
  readonly name: string
  /** Frames in hexadecimal, in the order in which the client sends them. */
  readonly frames: readonly string[]
  /** Expected close code; null if the client must stay connected. */
  readonly ends: number | null
}

/** Body of a call, with the expected response. */
export interface RestCase {
  readonly name: string
  readonly path: string
  /** Text of the body. It consists of pieces, each with the number of its repetitions. */
  readonly body: readonly (readonly [piece: string, times: number])[]
  readonly code: number
}

/** Bytes that are sent on a connection, with the expected response. */
export interface HttpCase {
  readonly name: string
  /**
   * Bytes to send, one character for each byte. They consist of pieces, each with the number of its
   * repetitions.
   */
  readonly bytes: readonly (readonly [piece: string, times: number])[]
  /** HTTP status of the first response; 0 if the server closes the connection without a response. */
  readonly code: number
}

interface Corpus {
  readonly frames: readonly FrameCase[]
  readonly rest: readonly RestCase[]
  readonly http: readonly HttpCase[]
}

/** Returns the cases that have caused a fault earlier, or that are at an edge. */
export const corpus = <Kind extends keyof Corpus>(kind: Kind): Corpus[Kind] =>
  JSON.parse(
    readFileSync(join(import.meta.dirname, '../..', 'fuzz', 'corpus', `${kind}.json`), 'utf8'),
  ) as Corpus[Kind]

export const joined = (pieces: readonly (readonly [piece: string, times: number])[]): string =>
  pieces.map(([piece, times]) => piece.repeat(times)).join('')

export const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** Formats a case as a line for the corpus. The line contains the expected result. */
export const asCase = (found: FrameCase | RestCase | HttpCase): string =>
  `for test/fuzz/corpus: ${JSON.stringify(found)}`
