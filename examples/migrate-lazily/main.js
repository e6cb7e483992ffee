// Runs the application with a sample document next to a Weft server.
import { once } from 'node:events'
import { readClientOptions } from 'weft-server'
import { createClient } from 'weft-server/client'
import { createApp, openDatabase } from './app.js'
import { configure } from './setup.js'

const weft = createClient(await readClientOptions({ dataDir: '../../data' }))
const port = Number(process.env.EXAMPLE_PORT ?? 8089)
const database = openDatabase(process.env.EXAMPLE_DATABASE ?? 'app.sqlite')
database.run("INSERT OR IGNORE INTO documents VALUES ('welcome', '# Welcome', NULL)")
database.run("INSERT OR IGNORE INTO members VALUES ('welcome', 'ada', 'editor')")
let secret = ''
const server = createApp(database, () => secret).listen(port, '127.0.0.1')
await once(server, 'listening')
secret = await configure(weft, `http://127.0.0.1:${port}/weft`)
console.log(`The application listens on http://localhost:${port}/documents/welcome.`)
console.log('User ada can open the document welcome of any organization, editor main, in Weft.')
process.once('SIGINT', () => {
  server.close()
  database.close()
})
