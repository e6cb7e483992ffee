import * as Y from 'yjs'

/** Updates of a new client that has written cells. */
interface Cells {
  readonly client: number
  readonly count: number
  readonly updates: readonly Uint8Array[]
}

/**
 * Writes cells with a key and 24 characters, the content of y/hub's published suite.
 * @param perUpdate number of cells of an update
 */
export function writeCells(count: number, perUpdate: number): Cells {
  const doc = new Y.Doc()
  const cells = doc.getMap('cells')
  const updates: Uint8Array[] = []
  doc.on('update', (update: Uint8Array) => updates.push(update))
  for (let from = 0; from < count; from += perUpdate)
    doc.transact(() => {
      for (let cell = from; cell < Math.min(count, from + perUpdate); cell++)
        // The id makes the keys of clients different, so that no cell replaces another one.
        cells.set(`${doc.clientID}:${cell}`, String(cell).padStart(24, 'x'))
    })
  return { client: doc.clientID, count, updates }
}
