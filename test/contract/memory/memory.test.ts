import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { engineContract } from '../suite/suite.ts'

engineContract('memory', {
  keeps: false,
  async open(clock) {
    const engine = await openMemoryEngine({ clock })
    return { engine, reopen: null, dispose: () => engine.close() }
  },
})
