// Runs one user who only reads, in a process of its own, so that the work of other editors does not delay what it
// measures.

import * as Y from 'yjs'
import { until } from '../agents/editor-client.ts'
import { machineMs } from './machine-time.ts'
import type { Observed, ObserverOrder } from './observing.ts'
import { OpenEditor } from './open-editor.ts'

let open: OpenEditor | null = null
let observed: Observed[] = []

process.on('message', (order: ObserverOrder) => void carryOut(order))

async function carryOut(order: ObserverOrder): Promise<void> {
  if (order.is === 'open') {
    open?.close()
    const opened = new OpenEditor(order, order.document, order.token)
    open = opened
    await until(() => opened.isSynced, 'sync of the observer')
    observed = []
    opened.editor.on('afterTransaction', ({ beforeState, afterState }: Y.Transaction) => {
      const at = machineMs()
      const changed = [...afterState].filter(([client, clock]) => beforeState.get(client) !== clock)
      if (changed.length > 0) observed.push({ at, changed })
    })
    process.send?.([])
    return
  }
  const { editor } = open as OpenEditor
  await until(
    () => order.clocks.every(([client, clock]) => Y.getState(editor.store, client) >= clock),
    'all updates at the observer',
  )
  process.send?.(observed)
  observed = []
}
