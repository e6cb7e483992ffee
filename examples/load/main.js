// Measures a deployment with clients that type, and others on the same documents that receive the edits. See
// README.md.
import { readClientOptions } from 'weft-server'
import { createClient } from 'weft-server/client'
import { readOptions, usage } from './options.js'
import { report } from './report.js'
import { run } from './run.js'

function optionsOf(args) {
  try {
    return readOptions(args)
  } catch (error) {
    console.error(error.message)
    return process.exit(2)
  }
}

const options = optionsOf(process.argv.slice(2))
if (options.help) {
  console.log(usage)
  process.exit(0)
}
const interrupt = new AbortController()
process.once('SIGINT', () => interrupt.abort())

function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
}

try {
  const { apiKey, authToken } = await readClientOptions({ dataDir: options['data-dir'] })
  const weft = createClient({ url: options.url, apiKey, authToken, retries: 0 })
  const found = await run(options, weft, progress, interrupt.signal)
  progress('')
  console.log(options.json ? JSON.stringify({ options: shown(options), ...found }) : report(options, found))
  const isClean = found.neverSeen === 0 && [found.closes, found.restErrors].every(isEmpty)
  process.exit(isClean ? 0 : 1)
} catch (error) {
  progress('')
  const hint = error.hint ? `; ${error.hint}` : ''
  console.error(`${options.url} could not be measured: ${error.message}${hint}`)
  process.exit(1)
}

function isEmpty(counts) {
  return Object.keys(counts).length === 0
}

function shown({ url, documents, clients, seconds, rate }) {
  return { url, documents, clients, seconds, rate }
}
