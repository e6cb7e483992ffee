/**
 * Writes a LevelDB in the same way as the server of y-websocket 1. It runs in a separate process, because it
 * needs another copy of Yjs.
 */
import { createRequire } from 'node:module'

const server = createRequire(import.meta.url).resolve('y-websocket-1/package.json')
const { LeveldbPersistence } = createRequire(server)('y-leveldb')

const [directory, lines] = process.argv.slice(2)
const store = new LeveldbPersistence(directory)
for (const [name, update] of JSON.parse(lines)) await store.storeUpdate(name, Buffer.from(update, 'base64'))
await store.destroy()
