import { appendFileSync, readdirSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

/*
 * Loaded into a server before its own code. After each synced write, and before its acknowledgment, it stores
 * in the file `SYNCED_BYTES` how many bytes of each log of the store are certainly on disk, as lines of a
 * name and a number. Only one write is in progress at a time, so everything in the logs has been synced then.
 */
const require = createRequire(createRequire(import.meta.url).resolve('level'))
const { ChainedBatch } = require('classic-level/chained-batch.js')
const notes = process.env.SYNCED_BYTES
const write = ChainedBatch.prototype._write

ChainedBatch.prototype._write = async function (options) {
  await write.call(this, options)
  if (options.sync !== true) return
  const store = this.db.location
  const logs = readdirSync(store).filter((name) => name.endsWith('.log'))
  const sizes = logs.map((name) => [name, statSync(join(store, name), { throwIfNoEntry: false })?.size ?? 0])
  appendFileSync(notes, sizes.map((line) => `${line.join(' ')}\n`).join(''))
}
