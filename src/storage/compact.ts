import { CorruptRecord, type Engine, type Key } from '../engine/engine.ts'
import { compactWhole } from '../rooms/log-form.ts'
import type { Progress } from './problem.ts'
import { compactFiles, openStopped, storedBytes } from './stopped.ts'

export interface Compacted {
  readonly documents: number
  /** Sentences about documents that could not be read: they are left as they are. */
  readonly damaged: readonly string[]
  readonly bytesBefore: number
  readonly bytesAfter: number
}

const keysPerPage = 1_000

/**
 * Puts one snapshot in the place of the log of each document of a stopped server, then rewrites the files without
 * what is gone. Older versions of documents go.
 * @throws StorageError, EngineOpenError, also where files are damaged, StoreUnavailable
 */
export async function compactAll(directory: string, onProgress: Progress): Promise<Compacted> {
  const engine = await openStopped(directory, 'refuse')
  const bytesBefore = await storedBytes(directory)
  const damaged: string[] = []
  let documents = 0
  try {
    const keys = await liveDocuments(engine)
    for (const doc of keys) {
      onProgress('documents', documents / keys.length)
      const problem = await compactDocument(engine, doc)
      if (problem === null) documents += 1
      else damaged.push(problem)
    }
  } finally {
    await engine.close()
  }
  onProgress('files', 0)
  await compactFiles(directory)
  return { documents, damaged, bytesBefore, bytesAfter: await storedBytes(directory) }
}

async function liveDocuments({ log }: Engine): Promise<readonly Key[]> {
  const found: Key[] = []
  for (;;) {
    const after = found.at(-1)
    const page = await log.list([], { ...(after && { after }), limit: keysPerPage })
    found.push(...page)
    if (page.length < keysPerPage) return found
  }
}

/** Null when it is compact. */
async function compactDocument({ log }: Engine, doc: Key): Promise<string | null> {
  try {
    await compactWhole(log, doc)
    return null
  } catch (error) {
    if (error instanceof CorruptRecord) return error.message
    throw error
  }
}
