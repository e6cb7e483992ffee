import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { type OpenStore, openLevelStore } from '../../../src/core/store/level/store/store.ts'
import { bytesOf, docKey } from '../suite/sample-data.ts'

/**
 * Writes to a data directory until it is killed. Prints, in this order, the number of synced bytes of each
 * log of the store (`synced NAME BYTES`), and the acknowledgments after that (`ack DOCUMENT NUMBER`).
 */
const [directory = '', durability = 'disk'] = process.argv.slice(2)
const say = (...words: (string | number)[]) => process.stdout.write(`${words.join(' ')}\n`)

const syncMs = 5

/** Large enough that LevelDB begins a new log every few hundred appends. */
const padding = bytesOf(' '.repeat(60_000))

const openStore: OpenStore = async (path) => {
  const store = await openLevelStore(path)
  return {
    ...store,
    async write(operations, sync) {
      await store.write(operations, sync)
      if (!sync) return
      // Simulates a slower disk, so that most kills happen during a write.
      await setTimeout(syncMs)
      // The process makes one write at a time: the newest log has only synced bytes now.
      const logs = readdirSync(path).filter((name) => name.endsWith('.log'))
      for (const name of logs) {
        const size = statSync(join(path, name), { throwIfNoEntry: false })?.size
        if (size !== undefined) say('synced', name, size)
      }
    },
  }
}

const engine = await openLevelEngine({
  directory,
  openStore,
  durability: durability === 'disk' ? 'disk' : 'process',
})

async function write(name: string): Promise<void> {
  const loaded = await engine.log.load(docKey(name))
  for (let seq = loaded.state === 'live' ? loaded.head + 1 : 1; ; seq++) {
    const update = { bytes: Buffer.concat([bytesOf(`${seq}`), padding]), by: '' }
    await engine.log.append(docKey(name), seq === 1 ? 'create' : 1, [update])
    say('ack', name, seq)
  }
}

await Promise.all(['a', 'b', 'c'].map(write))
