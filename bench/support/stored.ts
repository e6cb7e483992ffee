import * as Y from 'yjs'
import type { Appended, Engine, Key } from '../../src/core/store/engine.ts'
import { openLevelEngine } from '../../src/core/store/level/engine.ts'
import { progress } from './report.ts'

/** Number of documents in one commit, or number of concurrent commits of one document. */
const batch = 500

/** Returns the key of a document's log. The workspace and the API key are those of the bench servers. */
export const keyOf = (organizationId: string, documentId: string): Key => [
  'bench',
  'bench-key',
  organizationId,
  documentId,
  'main',
]

/**
 * Writes a text into the logs of `count` documents, without a server.
 * @param data data directory of a stopped server
 */
export async function storeTexts(
  data: string,
  organizationId: string,
  count: number,
  idOf: (index: number) => string,
  characters: number,
): Promise<void> {
  const engine = await openLevelEngine({ directory: data })
  await storeTextsIn(engine, organizationId, count, idOf, characters)
  await engine.close()
}

/** Writes a text into the logs of `count` documents of an open engine. */
export async function storeTextsIn(
  engine: Engine,
  organizationId: string,
  count: number,
  idOf: (index: number) => string,
  characters: number,
): Promise<void> {
  const doc = new Y.Doc()
  doc.getText('content').insert(0, 'lorem ipsum '.repeat(characters).slice(0, characters))
  const bytes = Y.encodeStateAsUpdate(doc)
  const bar = progress('documents')
  for (let from = 0; from < count; from += batch) {
    const indexes = Array.from({ length: Math.min(batch, count - from) }, (_, index) => from + index)
    await Promise.all(
      indexes.map((index) =>
        engine.log.append(keyOf(organizationId, idOf(index)), 'create', [{ bytes, by: 'bench' }]),
      ),
    )
    bar.at(from / count)
  }
  bar.end()
}

/**
 * Writes commits into the log of a document, without a snapshot.
 * @param data data directory of a stopped server
 */
export async function storeLog(
  data: string,
  doc: Key,
  commits: Iterable<readonly Uint8Array[]>,
): Promise<void> {
  const engine = await openLevelEngine({ directory: data })
  let to: 'create' | number = 'create'
  let underWay: Promise<Appended>[] = []
  for (const commit of commits) {
    underWay.push(
      engine.log.append(
        doc,
        to,
        commit.map((bytes) => ({ bytes, by: 'bench' })),
      ),
    )
    if (to === 'create' || underWay.length === batch) {
      to = (await Promise.all(underWay))[0]?.epoch ?? to
      underWay = []
    }
  }
  await Promise.all(underWay)
  await engine.close()
}
