// Receives and prints the webhooks of the API key. Creates missing keys, and configures Weft by REST; Ctrl-C
// disables the webhooks again. RECEIVER_URL is the address for Weft if that is not this machine.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { readClientOptions } from 'weft-server'
import { createClient } from 'weft-server/client'
import { readKeys } from './keys.js'
import { lineOf } from './line.js'
import { receiver } from './receiver.js'
import { configure, conflicts, disable, tryOut } from './setup.js'

const options = await readClientOptions({ dataDir: '../../data' })
const weft = createClient(options)
const folder = process.env.RECEIVER_KEYS ?? fileURLToPath(new URL('keys', import.meta.url))
const keys = await readKeys(pathToFileURL(`${folder}/`))
const server = createServer().listen(Number(process.env.EXAMPLE_PORT ?? 8087), '127.0.0.1')
await once(server, 'listening')
const url = process.env.RECEIVER_URL ?? `http://127.0.0.1:${server.address().port}`

function end(message) {
  console.error(message)
  process.exit(1)
}

async function start() {
  const found = await conflicts(weft, url, keys.publicKey)
  if (found.length > 0 && !process.argv.includes('--replace'))
    end(`${found.join(' ')} To replace these settings, run: npm start -- --replace`)
  const secret = await configure(weft, url, keys)
  server.on(
    'request',
    receiver({
      ...keys,
      secret,
      onEvent: (received) => console.log(lineOf(received)),
      onRefused: ({ message }) => console.error(`rejected: ${message}`),
    }),
  )
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void stop())
  const problem = await tryOut(weft)
  if (problem !== null) await refused(problem)
  console.log(
    `Receiving webhooks of ${options.url} at ${url}. Edit or comment on a document. Ctrl-C ends it.`,
  )
}

async function refused(problem) {
  await disable(weft)
  const { hostname } = new URL(url)
  end(
    `Weft could not reach this receiver: ${problem}\n` +
      'Weft sends to private addresses only if they are allowed. Restart it at the top of the repository with\n' +
      `  npm start -- --webhook-allowlist ${hostname}`,
  )
}

async function stop() {
  await disable(weft).catch(({ message }) => end(`Weft continues to send webhooks: ${message}`))
  process.exit(0)
}

await start().catch(({ message }) => end(`Weft could not be configured at ${options.url}: ${message}`))
