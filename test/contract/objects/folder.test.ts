import { join } from 'node:path'
import { FolderStore } from '../../../src/capabilities/backups/folder-store.ts'
import { type Clock, systemClock } from '../../../src/core/base/clock.ts'
import { openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { overObjects } from '../../support/stores/object-engine.ts'
import { type TemporaryDirectory, temporaryDirectory } from '../level/store-tools.ts'
import { engineContract, type OpenedEngine } from '../suite/suite.ts'

async function openIn(directory: TemporaryDirectory, clock: Clock): Promise<OpenedEngine> {
  // The folder makes the objects durable. The test needs no durable store, because no power is lost.
  const inner = await openLevelEngine({ directory: directory.path, durability: 'process', clock })
  const store = new FolderStore(join(directory.path, 'objects'), systemClock)
  const { engine } = overObjects(inner, store, clock)
  return {
    engine,
    reopen: () => engine.close().then(() => openIn(directory, clock)),
    dispose: () => engine.close().then(() => directory.remove()),
  }
}

engineContract('level with objects in a folder', {
  keeps: true,
  open: async (clock) => openIn(await temporaryDirectory(), clock),
})
