import { parseArgs } from 'node:util'

/** Integers: their defaults and limits. */
const numbers = {
  documents: { usual: 50, min: 1, max: 5000, what: 'documents that are edited' },
  clients: { usual: 200, min: 2, max: 5000, what: 'connections, spread over the documents' },
  seconds: { usual: 30, min: 1, max: 600, what: 'how long they edit' },
  rate: { usual: 5, min: 1, max: 50, what: 'edits a second, of each client' },
}
/** Maximum edits per second of all clients: one process can hardly do more, and would measure itself. */
const editsMax = 20_000

const numberLines = Object.entries(numbers).map(([name, { usual, max, what }]) =>
  [`  --${name} ${usual}`.padEnd(23), `${what}; at most ${max}`].join(' '),
)

export const usage = `npm start -- [flags]

  --url http://127.0.0.1:8787
${numberLines.join('\n')}
  --data-dir ../../data directory with the credentials; WEFT_API_KEY and WEFT_AUTH_TOKEN replace them
  --json                one line of JSON instead of the table
  --allow-remote        load a server that is not on this machine
`

const flags = {
  url: { type: 'string', default: process.env.WEFT_URL ?? 'http://127.0.0.1:8787' },
  'data-dir': { type: 'string', default: '../../data' },
  json: { type: 'boolean', default: false },
  'allow-remote': { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
  ...Object.fromEntries(
    Object.entries(numbers).map(([name, { usual }]) => [name, { type: 'string', default: String(usual) }]),
  ),
}

const isLoopback = ({ hostname }) => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)

function numberOf(name, text) {
  const { min, max } = numbers[name]
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < min || value > max)
    throw new Error(`--${name} must be a whole number from ${min} to ${max}`)
  return value
}

/**
 * Reads the options.
 * @throws Error with a sentence
 */
export function readOptions(args) {
  const { values } = parseArgs({ args, options: flags })
  if (values.help) return { help: true }
  if (!URL.canParse(values.url) || !/^https?:/.test(values.url))
    throw new Error('--url must be an http(s) URL')
  const given = Object.keys(numbers).map((name) => [name, numberOf(name, values[name])])
  const options = { ...values, ...Object.fromEntries(given), url: values.url.replace(/\/+$/, '') }
  const { documents, clients, rate } = options
  if (clients < 2 * documents)
    throw new Error(
      '--clients must be at least twice --documents: each document needs a client that receives the edits',
    )
  if (clients * rate > editsMax) throw new Error(`--clients times --rate must be at most ${editsMax}`)
  if (!isLoopback(new URL(options.url)) && !values['allow-remote'])
    throw new Error(
      `${options.url} is not this machine. The test loads the server: run it with --allow-remote against your own ` +
        'server, at a time without users',
    )
  return options
}
