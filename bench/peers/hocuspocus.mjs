// Hocuspocus as its documentation configures it, with an SQLite file. The schema and the statements are those
// of its SQLite extension. The SQLite of Node runs them, because the binding of the extension does not have a
// binary for every Node.
import { DatabaseSync } from 'node:sqlite'
import { Database } from '@hocuspocus/extension-database'
import { Server } from '@hocuspocus/server'

const [port, directory] = process.argv.slice(2)
const file = new DatabaseSync(`${directory}/hocuspocus.sqlite`)
file.exec(
  'CREATE TABLE IF NOT EXISTS "documents" ("name" varchar(255) NOT NULL, "data" blob NOT NULL, UNIQUE(name))',
)
const select = file.prepare('SELECT data FROM "documents" WHERE name = ? ORDER BY rowid DESC')
const upsert = file.prepare(
  'INSERT INTO "documents" ("name", "data") VALUES (?, ?) ON CONFLICT(name) DO UPDATE SET data = excluded.data',
)
const database = new Database({
  fetch: async ({ documentName }) => select.get(documentName)?.data ?? null,
  store: async ({ documentName, state }) => void upsert.run(documentName, state),
})
const websocketOptions = { maxPayload: 64 * 1024 * 1024 }
const server = new Server({
  port: Number(port),
  address: '127.0.0.1',
  quiet: true,
  extensions: [database],
  websocketOptions,
})
await server.listen()
