import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EditRequest } from '../../src/core/content/edit/check-edits.ts'

/** A comment that a user has made, and the answer of the agent. */
export interface TaskComment {
  /** Text at which the comment is anchored. */
  readonly quote: string
  readonly question: string
  readonly answer: string
}

/** Returns the index of the block whose text starts with `start`. @param occurrence number of the block, from 1 */
export type BlockIndex = (start: string, occurrence?: number) => number

/** Positions of the anchor of the comment, as `commentannotations/get` returns them. */
export interface AnchorPositions {
  readonly position: string
  readonly positionEnd: string
}

/** A change that an agent makes. */
export interface AgentTask {
  readonly name: string
  /** Name of a file in `documents`, without its ending. */
  readonly document: string
  readonly comment?: TaskComment
  /** Returns the Markdown that the document must have. It is the expected result of all ways. */
  change(markdown: string): string
  /** Returns the edits with which an agent makes the same change. */
  edits(block: BlockIndex, anchor: AnchorPositions): readonly EditRequest[]
}

export const readDocument = (name: string): string =>
  readFileSync(join(import.meta.dirname, 'documents', `${name}.md`), 'utf8')

/**
 * Replaces a text that occurs once.
 * @throws Error if it does not occur, or occurs several times
 */
export function replaceOnce(text: string, from: string, to: string): string {
  const parts = text.split(from)
  if (parts.length !== 2) throw new Error(`the document contains ${parts.length - 1} times: ${from}`)
  return parts.join(to)
}

/** Replaces several texts, each of which occurs once. */
export const replaceEach = (text: string, pairs: readonly (readonly [from: string, to: string])[]): string =>
  pairs.reduce((changed, [from, to]) => replaceOnce(changed, from, to), text)

/** Returns the part of a text from the only `start` to the next `end`, which does not belong to it. */
export function partOf(text: string, start: string, end: string): string {
  replaceOnce(text, start, '')
  const at = text.indexOf(start)
  const to = text.indexOf(end, at + start.length)
  if (to === -1) throw new Error(`the document does not contain after ${start}: ${end}`)
  return text.slice(at, to)
}
