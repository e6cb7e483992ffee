import type { Clock } from '../../../src/core/base/clock.ts'
import { openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { engineContract, type OpenedEngine } from '../suite/suite.ts'
import { type TemporaryDirectory, temporaryDirectory } from './store-tools.ts'

async function openIn(directory: TemporaryDirectory, clock: Clock): Promise<OpenedEngine> {
  const engine = await openLevelEngine({ directory: directory.path, clock })
  return {
    engine,
    reopen: () => engine.close().then(() => openIn(directory, clock)),
    dispose: () => engine.close().then(() => directory.remove()),
  }
}

engineContract('level', { keeps: true, open: async (clock) => openIn(await temporaryDirectory(), clock) })
