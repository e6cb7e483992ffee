import { openLevelEngine } from '../../src/engine/level/engine.ts'
import { type OpenStore, openLevelStore } from '../../src/engine/level/store.ts'

/** Opens a store of an older format, and kills itself after so many commits. */
const [directory = '', commits = '0'] = process.argv.slice(2)
let left = Number(commits)

const openStore: OpenStore = async (path) => {
  const store = await openLevelStore(path)
  return {
    ...store,
    async write(operations, sync) {
      if (left-- === 0) process.kill(process.pid, 'SIGKILL')
      await store.write(operations, sync)
    },
  }
}

await (await openLevelEngine({ directory, openStore })).close()
process.stdout.write('upgraded')
