import { forDeletions } from './deletions.ts'
import { readOutline } from './outline.ts'

/** Numbers that describe the size and history of a document. */
export interface Statistics {
  /**
   * Number of structs. A struct is content that was inserted or deleted as one part and has not been split
   * since.
   */
  readonly structs: number
  /**
   * Amount of deleted content in clocks. Each UTF-16 code unit of text counts one; each value, shared type,
   * embed and formatting mark also counts one.
   */
  readonly tombstones: number
  /** Number of clients with structs, including clients whose content is deleted. */
  readonly clients: number
}

/**
 * Reads the statistics of a whole state (V1) that Yjs has written. Such a state has no gaps and no repeated
 * deletions.
 * @throws MalformedUpdateError
 */
export function readStatistics(bytes: Uint8Array): Statistics {
  const outline = readOutline(bytes)
  const { clients } = outline
  const structs = clients.reduce((sum, block) => sum + block.structs, 0)
  let tombstones = 0
  forDeletions(bytes, outline, (_client, _clock, length) => {
    tombstones += length
  })
  return { structs, tombstones, clients: clients.length }
}
