import { appendFileSync, readdirSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

/*
 * Loaded into a server before its own code: after each write that has waited for the disk, and before anybody hears of
 * it, notes in the file that `SYNCED_BYTES` names how much of each log of the store is on the disk whatever happens:
 * lines of a name and a number of bytes. One write at a time is under way: what is in the logs then has been synced.
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
