/**
 * Measures small edits by REST and prints tables. The first has the edits per second of 16 callers on one
 * document and on 1,000, compared with a bare server that parses the same bodies. The second has the time of one
 * edit by the size of its document, compared with the replacement of the whole content. The third has the bytes
 * of an edit, compared with a client that makes the same edit in a Y.Doc. The others have the time of large
 * Markdown, the delay of typing in another document meanwhile, and the characters that an agent reads and sends.
 *
 *   node --import tsx bench/edit.ts [--smoke]
 */

import * as Y from 'yjs'
import { fsyncMs } from '../src/cli/bench/measure.ts'
import { measureCharacters } from './edit/characters.ts'
import { measureMarkdown } from './edit/markdown.ts'
import { type Call, type CalledServer, callAll } from './load/calling.ts'
import { median, quantile, round, table, thousands } from './support/report.ts'
import {
  done,
  headers,
  startScript,
  startWeft,
  temporaryDirectory,
  unlimitedCalls,
} from './support/server.ts'

const smoke = process.argv.includes('--smoke')
const callers = 16
const manyDocuments = smoke ? 20 : 1_000
const window = { calls: smoke ? 32 : Number.POSITIVE_INFINITY, secondsMax: smoke ? 0.2 : 4 }
const sizes = smoke ? [10_000] : [10_000, 100_000, 1_000_000, 10_000_000]
/** Calls for each size. The first one loads the document and does not count. */
const callsBySize = smoke ? 2 : 15

const address = (documentId: string) => ({ organizationId: 'edits', documentId, editorId: 'main' })
const line = (index: number): string => `line ${index}: the quick brown fox jumps over the lazy dog\n`
const textOf = (bytes: number): string => {
  let text = ''
  for (let index = 0; text.length < bytes; index += 1) text += line(index)
  return text
}

const weft = await startWeft(temporaryDirectory(), unlimitedCalls)
const bare = await startScript('bare-http.ts')
const servers: readonly (CalledServer & { readonly name: string })[] = [
  { name: 'weft', ...weft.call, pid: weft.process.pid as number },
  { name: 'bare', url: `http://127.0.0.1:${bare.port}`, headers, pid: bare.pid },
]

const create = (documentId: string, data: string): Promise<unknown> =>
  done(weft, '/v2/crdt/update', { ...address(documentId), type: 'text', data, upsert: true })

let calls = 0
const editing =
  (documents: number): Call =>
  async (caller) => {
    calls += 1
    const edits = [{ text: { index: 0, delete: 1, insert: String(calls % 10) } }]
    const data = { ...address(`rate-${calls % documents}`), edits }
    const answer = await caller.post('/v2/crdt/edit', Buffer.from(JSON.stringify({ data })))
    if (answer.includes('"error"')) throw new Error(answer.toString())
  }

for (let index = 0; index < manyDocuments; index += 1) await create(`rate-${index}`, line(index))
const rates: (readonly string[])[] = []
for (const documents of [1, manyDocuments]) {
  const cells: string[] = []
  for (const server of servers) {
    await callAll(server, callers, { calls: 200, secondsMax: 1 }, editing(documents))
    const called = await callAll(server, callers, window, editing(documents))
    cells.push(
      thousands(called.perSecond),
      thousands(called.microseconds),
      round(median(called.times)),
      round(quantile(called.times, 0.99)),
    )
  }
  rates.push([`${thousands(documents)} documents`, ...cells])
}
console.log(`a character deleted and inserted, ${callers} callers:`)
table(
  [
    '',
    ...servers.flatMap(({ name }) => [
      `${name}: calls/s`,
      `${name}: CPU µs`,
      `${name}: p50 ms`,
      `${name}: p99 ms`,
    ]),
  ],
  rates,
)

/** Returns the time of a call in ms, and the bytes of the update. */
async function timed(path: string, data: object): Promise<{ ms: number; bytes: number }> {
  const since = performance.now()
  const { status, body } = await weft.post(path, data)
  if (status !== 200) throw new Error(`${path}: ${JSON.stringify(body.error)}`)
  const { bytes } = (body.result as { readonly data: { readonly bytes: number } }).data
  return { ms: performance.now() - since, bytes }
}

const bySize: (readonly string[])[] = []
for (const size of sizes) {
  const documentId = `size-${size}`
  let text = textOf(size)
  await create(documentId, text)
  const lines = text.split('\n').length - 1
  const edited: number[] = []
  const replaced: number[] = []
  let [editBytes, clientBytes] = [0, 0]
  const client = new Y.Doc()
  client.getText('content').insert(0, text)
  client.on('update', (update: Uint8Array) => {
    clientBytes += update.length
  })
  for (let call = 0; call < callsBySize; call += 1) {
    const quote = `line ${Math.floor((lines * (call + 1)) / (callsBySize + 2))}: the quick`
    const [find, replacement] = [`${quote} brown`, `${quote} small red`]
    const edit = await timed('/v2/crdt/edit', {
      ...address(documentId),
      edits: [{ replace: { find, with: replacement } }],
    })
    const at = text.indexOf(find) + quote.length + 1
    client.transact(() => {
      client.getText('content').delete(at, 'brown'.length)
      client.getText('content').insert(at, 'small red')
    })
    text = text.replace(find, replacement)
    const next = text.replace(`${replacement} fox`, `${replacement} dog`)
    const whole = await timed('/v2/crdt/update', { ...address(documentId), type: 'text', data: next })
    text = next
    if (call === 0) continue
    edited.push(edit.ms)
    replaced.push(whole.ms)
    editBytes += edit.bytes
  }
  bySize.push([
    thousands(size),
    round(median(edited)),
    round(quantile(edited, 0.99)),
    round(median(replaced)),
    thousands(editBytes / edited.length),
    thousands(clientBytes / callsBySize),
    round(editBytes / edited.length / (clientBytes / callsBySize)),
  ])
}
console.log('\nthree words of one line replaced, by the size of the document in bytes:')
table(
  [
    'size',
    'edit: p50 ms',
    'edit: p99 ms',
    'whole replacement: p50 ms',
    'edit: bytes',
    'client: bytes',
    'of client',
  ],
  bySize,
)
await measureMarkdown(weft, smoke)
measureCharacters(smoke)
console.log(`fsync on this machine: p50 ${round(fsyncMs().p50)} ms`)
await weft.kill()
await bare.kill()
process.exit(0)
