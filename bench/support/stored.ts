import * as Y from 'yjs'
import { openLevelEngine } from '../../src/engine/level/engine.ts'
import { progress } from './report.ts'

/** Documents in a commit. */
const batch = 500

/** Puts a text into the log of each of so many documents, without a server. @param data of a server that is stopped */
export async function storeTexts(
  data: string,
  organizationId: string,
  count: number,
  idOf: (index: number) => string,
  characters: number,
): Promise<void> {
  const doc = new Y.Doc()
  doc.getText('content').insert(0, 'lorem ipsum '.repeat(characters).slice(0, characters))
  const bytes = Y.encodeStateAsUpdate(doc)
  const engine = await openLevelEngine({ directory: data })
  const bar = progress('documents')
  for (let from = 0; from < count; from += batch) {
    const indexes = Array.from({ length: Math.min(batch, count - from) }, (_, index) => from + index)
    await Promise.all(
      indexes.map((index) =>
        engine.log.append(['bench', 'bench-key', organizationId, idOf(index), 'main'], 'create', [
          { bytes, by: 'bench' },
        ]),
      ),
    )
    bar.at(from / count)
  }
  bar.end()
  await engine.close()
}
