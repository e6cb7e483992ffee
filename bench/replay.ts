/**
 * Types a recorded session into a document through one websocket while a second one reads, then kills the server,
 * starts it again and lets a stock provider read. A bare relay does the same in the same run, for comparison.
 *
 *   node --import tsx bench/replay.ts [--smoke]
 */
import { once } from 'node:events'
import { WebSocket } from 'ws'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'
import { fsyncMs } from './support/disk.ts'
import { median, progress, quantile, round, table, thousands } from './support/report.ts'
import { startScript, startWeft, temporaryDirectory } from './support/server.ts'
import { readTrace, updateMessage, updatesOf } from './support/trace.ts'

const smoke = process.argv.includes('--smoke')
const rounds = smoke ? 1 : 3
/** Keystrokes sent that the reader has not seen yet: enough to keep everyone busy, few enough to mean something. */
const windowSize = 1_024
const document = 'bench/replay/main'

const trace = readTrace(smoke ? 3_000 : 300_000)
const frames = updatesOf(trace.patches).map(updateMessage)

interface Typed {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly updates: Uint8Array[]
}

const isUpdate = (message: Uint8Array): boolean => message[0] === 0 && message[1] === 2

async function connect(url: string): Promise<WebSocket> {
  const socket = new WebSocket(url, { perMessageDeflate: false })
  await once(socket, 'open')
  return socket
}

/** Types everything at `url`; resolves when the reader has it all. Messages are parsed after the clock has stopped. */
async function type(url: string, label: string): Promise<Typed> {
  const [writer, reader] = [await connect(url), await connect(url)]
  const bar = progress(label)
  const sentAt = new Float64Array(frames.length)
  const latencies = new Float64Array(frames.length)
  const received: Uint8Array[] = []
  const seen = { sent: 0, received: 0 }
  const send = (): void => {
    while (seen.sent < frames.length && seen.sent - seen.received < windowSize) {
      sentAt[seen.sent] = performance.now()
      writer.send(frames[seen.sent++] as Uint8Array)
    }
  }
  await new Promise((resolve) => setTimeout(resolve, 200))
  const start = performance.now()
  await new Promise<void>((resolve) => {
    reader.on('message', (message: Buffer) => {
      if (!isUpdate(message)) return
      received.push(Buffer.from(message))
      latencies[seen.received] = performance.now() - (sentAt[seen.received] as number)
      seen.received += 1
      if (seen.sent - seen.received <= windowSize / 2) send()
      if (seen.received % 1_000 === 0) bar.at(seen.received / frames.length)
      if (seen.received === frames.length) resolve()
    })
    send()
  })
  const seconds = (performance.now() - start) / 1000
  bar.end()
  writer.terminate()
  reader.terminate()
  return {
    perSecond: frames.length / seconds,
    p50Ms: quantile([...latencies], 0.5),
    p99Ms: quantile([...latencies], 0.99),
    updates: received.map((message) => message.subarray((message[2] as number) > 127 ? 4 : 3)),
  }
}

function assertEqual(what: string, actual: string): void {
  if (actual !== trace.endContent) throw new Error(`${what} reads ${actual.length} other characters`)
}

/** What the reader saw, put together. */
function contentOf(updates: readonly Uint8Array[]): string {
  const doc = new Y.Doc()
  doc.transact(() => {
    for (const update of updates) Y.applyUpdate(doc, update)
  })
  return doc.getText('content').toJSON()
}

/** A stock provider reads the document. */
async function readByProvider(syncUrl: string, token: string): Promise<string> {
  const doc = new Y.Doc()
  const options = { params: { token }, WebSocketPolyfill: WebSocket as never, disableBc: true }
  const provider = new WebsocketProvider(syncUrl.replace(/\/$/, ''), document, doc, options)
  await new Promise<void>((resolve) => provider.on('sync', (synced: boolean) => synced && resolve()))
  const text = doc.getText('content').toJSON()
  provider.destroy()
  doc.destroy()
  return text
}

async function relayRound(): Promise<Typed> {
  const relay = await startScript('relay.ts')
  const typed = await type(`ws://127.0.0.1:${relay.port}/${document}`, 'relay')
  await relay.kill()
  return typed
}

async function weftRound(): Promise<Typed & { reopenMs: number }> {
  const data = temporaryDirectory()
  const first = await startWeft(data)
  const typed = await type(`${first.syncUrl}${document}?token=${await first.token()}`, 'weft')
  await first.kill()
  assertEqual('the second client', contentOf(typed.updates))
  const second = await startWeft(data)
  const token = await second.token()
  const start = performance.now()
  assertEqual('the third client, after SIGKILL and restart,', await readByProvider(second.syncUrl, token))
  const reopenMs = performance.now() - start
  await second.kill()
  return { ...typed, reopenMs }
}

const relay: Typed[] = []
const weft: (Typed & { reopenMs: number })[] = []
for (let index = 0; index < rounds; index++) {
  relay.push(await relayRound())
  weft.push(await weftRound())
}

const of = (runs: readonly Typed[], pick: (run: Typed) => number): number => median(runs.map(pick))
const row = (name: string, runs: readonly Typed[]): string[] => [
  name,
  thousands(of(runs, (run) => run.perSecond)),
  round(of(runs, (run) => run.perSecond) / of(relay, (run) => run.perSecond)),
  round(of(runs, (run) => run.p50Ms)),
  round(of(runs, (run) => run.p99Ms)),
]
const disk = fsyncMs()
console.log(`${trace.source}: ${thousands(frames.length)} keystrokes, ${rounds} rounds, medians`)
table(
  ['', 'keystrokes/s', 'of relay', 'p50 ms', 'p99 ms'],
  [row('bare relay', relay), row('weft, fsync before visible', weft)],
)
console.log(`fsync on this machine: p50 ${round(disk.p50)} ms, p99 ${round(disk.p99)} ms`)
console.log(
  `after SIGKILL and restart a third client read the identical ${thousands(trace.endContent.length)} characters ` +
    `within ${round(median(weft.map((run) => run.reopenMs)), 0)} ms of connecting`,
)
process.exit(0)
