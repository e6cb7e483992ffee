import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { headers, type ServerProcess, startProcess } from '../../support/servers/process.ts'
import { peakBytes } from '../../support/servers/process-memory.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'

const MB = 1_048_576
const editor = { organizationId: 'acme', documentId: 'large' }

/** Text in `stretches` parts under one large formatting value. */
function stretched(text: Y.Text, value: unknown, key: string, stretches: number): void {
  text.applyDelta([{ insert: 'ab'.repeat(stretches), attributes: { [key]: value } }])
  for (let at = 0; at < stretches; at += 1) text.format(at * 2, 1, { b: {} })
}

/** Makes a document of `valueLength` bytes and a little, whose text repeats the value in each stretch. */
const shapes: Readonly<Record<string, (doc: Y.Doc, value: string, stretches: number) => void>> = {
  delta: (doc, value, stretches) => stretched(doc.getText('content'), value, 'z', stretches),
  xml: (doc, value, stretches) => {
    const text = new Y.XmlText()
    const paragraph = new Y.XmlElement('paragraph')
    doc.getXmlFragment('content').insert(0, [paragraph])
    paragraph.insert(0, [text])
    stretched(text, { value }, 'z', stretches)
  },
  xmltext: (doc, value, stretches) => {
    const text = new Y.XmlText()
    doc.get('content', Y.XmlText).insertEmbed(0, text)
    text.setAttribute('type', 'paragraph')
    stretched(text, value, 'z', stretches)
  },
  /** XML inside the values of a map. */
  map: (doc, value, stretches) => {
    const [text, fragment] = [new Y.XmlText(), new Y.XmlFragment()]
    doc.getMap('content').set('field', fragment)
    fragment.insert(0, [text])
    stretched(text, { value }, 'z', stretches)
  },
  array: (doc, value, stretches) => {
    const [text, fragment] = [new Y.XmlText(), new Y.XmlFragment()]
    doc.getArray('content').insert(0, [fragment])
    fragment.insert(0, [text])
    stretched(text, { value }, 'z', stretches)
  },
  /** A shared text as the attribute of an element: XML contains its JSON. */
  'xml attribute': (doc, value, stretches) => {
    const paragraph = new Y.XmlElement('paragraph')
    doc.getXmlFragment('content').insert(0, [paragraph])
    const text = new Y.XmlText()
    paragraph.setAttribute('text', text as never)
    stretched(text, { value }, 'z', stretches)
  },
}
const formatOf = (shape: string): string => (shape === 'xml attribute' ? 'xml' : shape)

const updateOf = (shape: string, valueLength: number, stretches: number): string => {
  const doc = new Y.Doc()
  doc.transact(() => shapes[shape]?.(doc, 'x'.repeat(valueLength), stretches))
  return Buffer.from(Y.encodeStateAsUpdate(doc)).toString('base64')
}

// The threads of the server have a lower priority than other processes of the machine.
describe('a server with a heap of 512 MB', { timeout: 120_000 }, () => {
  let data: string
  let server: ServerProcess
  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'weft-large-'))
    server = await startProcess(data, { NODE_OPTIONS: '--max-old-space-size=512' })
  })
  afterAll(async () => {
    await server?.end('SIGTERM')
    await rm(data, { recursive: true, force: true, maxRetries: 20 })
  })

  it.each(Object.keys(shapes))(
    '[CRDT-37] when several clients read a document of 1 MB that becomes 314 MB as %s, stays alive, and states what to request instead',
    async (shape) => {
      const address = { ...editor, editorId: shape }
      for (const [valueLength, stretches] of [
        [1_000_000, 157],
        // The event loop can read this value.
        [60_000, 2_000],
      ] as const) {
        const update = updateOf(shape, valueLength, stretches)
        const applied = await server.post('/v2/crdt/delete', { ...editor, editorIds: [shape] })
        expect([200, 404]).toContain(applied.status)
        expect(await server.post('/v2/crdt/apply', { ...address, update, create: true })).toMatchObject({
          status: 200,
        })
        const format = formatOf(shape)
        const asked = format === 'map' || format === 'array' ? {} : { format }
        const { versionId } = (await server.post('/v2/crdt/versions/create', address)).data as {
          versionId: string
        }
        const calls = [
          ...Array.from({ length: 3 }, () => server.post('/v2/crdt/get', { ...address, ...asked })),
          server.post('/v2/crdt/versions/get', { ...address, versionId, ...asked }),
        ]
        const health = await fetch(`${server.url}/healthz`)
        expect(health.status).toBe(200)
        for (const answer of await Promise.all(calls))
          expect(answer).toMatchObject({
            status: 429,
            details: { limit: 'maxResponseBytes', value: 32 * MB, scope: 'call' },
          })
        const [read] = (await server.post('/v2/crdt/get', { ...address, format: 'update' })).data as [
          { data: string },
        ]
        const copy = new Y.Doc()
        Y.applyUpdate(copy, Buffer.from(read.data, 'base64'))
        expect(Buffer.from(Y.encodeStateAsUpdate(copy)).toString('base64') === update).toBe(true)
      }
      expect(server.child.exitCode).toBe(null)
      expect(peakBytes(server.child.pid)).toBeLessThan(600 * MB)
    },
  )

  it.each([
    ['map', { field: '<p>text</p>' }],
    ['array', ['<p>text</p>']],
  ])(
    '[CRDT-37] when a client replaces the %s of a document that becomes 314 MB as text, rejects the call, and stays alive',
    async (type, data) => {
      const address = { ...editor, editorId: `replaced ${type}` }
      const update = updateOf(type, 60_000, 5_000)
      expect(await server.post('/v2/crdt/apply', { ...address, update, create: true })).toMatchObject({
        status: 200,
      })
      const calls = Array.from({ length: 3 }, () =>
        server.post('/v2/crdt/update', { ...address, type, data }),
      )
      for (const answer of await Promise.all(calls))
        expect(answer).toMatchObject({
          status: 429,
          details: { limit: 'comparedCharacters', value: 16 * MB },
        })
      expect(server.child.exitCode).toBe(null)
      expect(peakBytes(server.child.pid)).toBeLessThan(600 * MB)
    },
  )

  it('[CRDT-37] limits the total size of the editors in one response', async () => {
    const documentId = 'several'
    for (const editorId of ['a', 'b', 'c'])
      await server.post('/v2/crdt/add', {
        ...editor,
        documentId,
        editorId,
        type: 'text',
        data: 'x'.repeat(12 * MB),
      })
    const all = await server.post('/v2/crdt/get', { ...editor, documentId })
    expect(all).toMatchObject({ status: 429, details: { limit: 'maxResponseBytes' } })
    const one = await server.post('/v2/crdt/get', { ...editor, documentId, editorId: 'b' })
    expect((one.data as [{ data: string }])[0].data.length).toBe(12 * MB)
  })

  it('[CRDT-38] when a client disconnects, frees the part of the response that it has not read', async () => {
    const address = { ...editor, editorId: 'left' }
    await server.post('/v2/crdt/add', { ...address, type: 'text', data: 'x'.repeat(8 * MB) })
    const body = JSON.stringify({ data: address })
    const leave = async (): Promise<void> => {
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1').on('error', () => {})
      const lines = Object.entries({ ...headers, host: 'x', 'content-length': body.length })
      socket.write(
        `POST /v2/crdt/get HTTP/1.1\r\n${lines.map((line) => line.join(': ')).join('\r\n')}\r\n\r\n${body}`,
      )
      await new Promise((resolve) => socket.once('data', resolve))
      socket.destroy()
    }
    for (let round = 0; round < 10; round += 1) await leave()
    const before = peakBytes(server.child.pid)
    for (let round = 0; round < 30; round += 1) await leave()
    expect(peakBytes(server.child.pid) - before).toBeLessThan(140 * MB)
    const read = await server.post('/v2/crdt/get', address)
    expect((read.data as [{ data: string }])[0].data.length).toBe(8 * MB)
  })
})

describe('a response', { timeout: 120_000 }, () => {
  let [inline, threaded]: TestServer[] = []
  beforeAll(async () => {
    // Without threads, the event loop reads every document.
    ;[inline, threaded] = await Promise.all([
      startTestServer({ computeThreads: 0 }),
      startTestServer({ computeThreads: 1 }),
    ])
  })
  afterAll(() => Promise.all([inline?.stop(), threaded?.stop()]))

  const contents: Readonly<Record<string, unknown>> = {
    'small text': 'Grüße 😀 "quoted" \\ \u0001 & <b>',
    'large text': 'Grüße 😀 "quoted" \\ \u0001\n'.repeat(60_000),
    'large map': Object.fromEntries(
      Array.from({ length: 30_000 }, (_, at) => [`key ${at}`, { at, text: `"${at}"`, list: [at, null] }]),
    ),
    'large array': Array.from({ length: 30_000 }, (_, at) => [at, at / 3, `${at}`, true]),
  }

  it.each(Object.entries(contents))(
    '[CRDT-36] sends the same bytes from a thread as from the event loop, for a document with %s',
    async (name, data) => {
      const type = typeof data === 'string' ? 'text' : Array.isArray(data) ? 'array' : 'map'
      const texts: string[] = []
      for (const server of [inline, threaded]) {
        const address = { ...editor, editorId: name.replaceAll(' ', '-') }
        const added = await server?.post('/v2/crdt/add', { ...address, type, data })
        expect(added?.status).toBe(200)
        for (const format of ['json', type === 'text' ? 'delta' : 'json', 'update']) {
          const response = await fetch(`${server?.url}/v2/crdt/get`, {
            method: 'POST',
            headers: {
              ...headers,
              'x-service-api-key': server?.credentials.apiKey ?? '',
              'x-service-auth-token': server?.credentials.authToken ?? '',
            },
            body: JSON.stringify({ data: { ...address, format } }),
          })
          const text = await response.text()
          const body = JSON.parse(text) as { result: { data: [{ data: unknown }] } }
          expect(JSON.stringify(body) === text).toBe(true)
          if (format === 'json') {
            expect(body.result.data[0].data).toEqual(data)
            texts.push(JSON.stringify(body.result.data[0].data))
          }
          const length = response.headers.get('content-length')
          const bytes = Buffer.byteLength(text)
          if (length === null) {
            expect(response.headers.get('transfer-encoding')).toBe('chunked')
            expect(bytes).toBeGreaterThan(262_144)
          } else expect(Number(length)).toBe(bytes)
        }
      }
      expect(new Set(texts).size).toBe(1)
    },
  )

  it('[CRDT-38] waits for a slow reader, and sends the complete response', async () => {
    const address = { ...editor, editorId: 'slow' }
    const data = 'slow '.repeat(2_000_000)
    expect((await threaded?.post('/v2/crdt/add', { ...address, type: 'text', data }))?.status).toBe(200)
    const body = JSON.stringify({ data: address })
    const socket = connect(threaded?.port ?? 0, '127.0.0.1')
    const { apiKey, authToken } = threaded?.credentials ?? {}
    socket.write(
      `POST /v2/crdt/get HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\n` +
        `x-service-api-key: ${apiKey}\r\nx-service-auth-token: ${authToken}\r\n` +
        `content-length: ${body.length}\r\n\r\n${body}`,
    )
    let bytes = 0
    let tail = ''
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      bytes += chunk.length
      tail = (tail + chunk.toString('latin1')).slice(-7)
      if (bytes % 7 === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    }
    expect(bytes).toBeGreaterThan(data.length)
    expect(tail).toBe('\r\n0\r\n\r\n')
  })
})
