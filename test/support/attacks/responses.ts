import * as Y from 'yjs'
import { hostileUpdates } from '../faults/hostile-shapes.ts'
import {
  type Attack,
  editorOf,
  openSocket,
  post,
  rawConnection,
  sleep,
  store,
  syncUrl,
  type Target,
  together,
} from './attack.ts'

/** Time in ms for which a client does not read. */
const stoppedMs = 2_000

/** Creates a document with `parts` texts of 4 MB each. */
async function makeLarge(target: Target, documentId: string, parts: number): Promise<void> {
  for (let part = 0; part < parts; part += 1) {
    const doc = new Y.Doc()
    doc.getText(`part ${part}`).insert(0, `${part} ${Math.random()} `.padEnd(4_000_000, 'large '))
    await store(target, documentId, Y.encodeStateAsUpdate(doc))
  }
}

/** Reads a document that is small in its encoded form, but very large as a delta. */
const largeDelta: Attack = {
  finding: 3,
  documents: ['delta'],
  prepare: async (target) => {
    const [update] = hostileUpdates.attributeOverStretches(15_000)
    if (update !== undefined) await store(target, 'delta', update)
    return () =>
      together(4, () =>
        post(target, '/v2/crdt/get', { ...editorOf('delta'), contentKey: 'content', format: 'delta' }),
      )
  },
}

/** Opens clients that request a large document, but do not read the response. */
const stoppedSockets: Attack = {
  finding: 5,
  documents: ['unread'],
  prepare: async (target) => {
    await makeLarge(target, 'unread', 10)
    // The document changes before each request, so that the server must encode a new response each time.
    const editor = await openSocket(syncUrl(target, 'unread'))
    let clock = 0
    const doc = new Y.Doc()
    doc.on('update', (update: Uint8Array) => editor?.send(Buffer.concat([updateHead(update), update])))
    return async () => {
      const sockets = await together(8, async () => {
        doc.getMap('typed').set('count', ++clock)
        const socket = await openSocket(syncUrl(target, 'unread'))
        socket?.pause()
        socket?.send(Uint8Array.of(0, 0, 1, 0))
        return socket
      })
      await sleep(stoppedMs)
      for (const socket of sockets) socket?.terminate()
    }
  },
}

function updateHead(update: Uint8Array): Uint8Array {
  const bytes = [0, 2]
  let rest = update.length
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  return Uint8Array.from([...bytes, rest])
}

/** Makes calls that read a large document, but does not read the responses. */
const stoppedCalls: Attack = {
  finding: 5,
  documents: ['unread-calls'],
  prepare: async (target) => {
    await makeLarge(target, 'unread-calls', 5)
    const body = JSON.stringify({
      data: { ...editorOf('unread-calls'), contentKey: 'part 0', format: 'update' },
    })
    const head = ['POST /v2/crdt/get HTTP/1.1', 'host: weft', 'content-type: application/json']
    const own = Object.entries(target.headers).map(([name, value]) => `${name}: ${value}`)
    const request = [...head, ...own, `content-length: ${Buffer.byteLength(body)}`, '', body].join('\r\n')
    return () => unread(target, 30, request)
  },
}

/** Requests pages of the documentation on many connections, but does not read them. */
const stoppedPages: Attack = {
  finding: 5,
  documents: [],
  prepare: async (target) => {
    const request = 'GET /docs/reference HTTP/1.1\r\nhost: weft\r\n\r\n'
    return () => unread(target, 300, request)
  },
}

/** Sends a request on each of several connections, and does not read the responses for a while. */
async function unread(target: Target, count: number, request: string): Promise<void> {
  const connections = Array.from({ length: count }, () => {
    const connection = rawConnection(target)
    connection.pause()
    connection.write(request)
    return connection
  })
  await sleep(stoppedMs)
  for (const connection of connections) connection.destroy()
}

export const responseAttacks = { largeDelta, stoppedSockets, stoppedCalls, stoppedPages }
