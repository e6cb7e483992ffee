// Runs the application with two sample documents next to a Weft server.
import { createApp, openDatabase } from './app.js'
import { configure, weftCalls } from './setup.js'

const url = process.env.WEFT_URL ?? 'http://localhost:8787'
const { WEFT_API_KEY: apiKey, WEFT_AUTH_TOKEN: authToken } = process.env
if (!apiKey || !authToken) {
  console.error('Set WEFT_API_KEY and WEFT_AUTH_TOKEN to the credentials of an API key.')
  process.exit(1)
}
const port = Number(process.env.EXAMPLE_PORT ?? 8089)
const database = openDatabase(process.env.EXAMPLE_DATABASE ?? 'app.sqlite')
database.run("INSERT OR IGNORE INTO documents VALUES ('welcome', '# Welcome', NULL)")
database.run("INSERT OR IGNORE INTO members VALUES ('welcome', 'ada', 'editor')")
let secret = ''
const server = createApp(database, () => secret).listen(port, '127.0.0.1', async (error) => {
  if (error) throw error
  secret = await configure(weftCalls({ url, apiKey, authToken }), `http://127.0.0.1:${port}/weft`)
  console.log(`The application listens on http://localhost:${port}/documents/welcome.`)
  console.log('User ada can open the document welcome of any organization, editor main, in Weft.')
})
process.once('SIGINT', () => {
  server.close()
  database.close()
})
