import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import * as Y from 'yjs'
import { DocumentProvider } from '../../../src/client/provider/index.ts'
import { message } from '../../support/clients/clients.ts'

/** The document of the server. */
const served = new Y.Doc()
served.getText('content').insert(0, 'text')
const vector = message([0, 0], Y.encodeStateVector(served))

/** The websockets of a provider. The test is their server. */
let sockets: FakeSocket[] = []

class FakeSocket extends EventTarget {
  binaryType = ''
  isClosed = false

  constructor() {
    super()
    sockets.push(this)
    queueMicrotask(() => this.dispatchEvent(new Event('open')))
  }

  send(): void {}

  close(): void {
    this.isClosed = true
  }

  receive(bytes: Uint8Array): void {
    this.dispatchEvent(Object.assign(new Event('message'), { data: Uint8Array.from(bytes).buffer }))
  }

  /** Sends the messages of a handshake, with the content of the server. */
  answer(): void {
    this.receive(vector)
    this.receive(message([0, 1], Y.encodeStateAsUpdate(served)))
  }

  lose(): void {
    this.isClosed = true
    this.dispatchEvent(Object.assign(new Event('close'), { code: 1006, reason: '' }))
  }
}

const openSockets = (): number => sockets.filter(({ isClosed }) => !isClosed).length

let ada: DocumentProvider
beforeEach(async () => {
  vi.useFakeTimers()
  ada = new DocumentProvider({
    url: 'http://timing.test',
    organizationId: 'acme',
    documentId: 'plan',
    getToken: () => 'token',
    WebSocket: FakeSocket as never,
  })
  await vi.advanceTimersByTimeAsync(0)
})
afterEach(() => {
  ada.destroy()
  sockets = []
  vi.useRealTimers()
})

it.each(['status', 'synced', 'users'] as const)(
  '[PROV-10] does what a listener of `%s` calls when the connection is lost',
  async (event) => {
    for (const [action, expected] of [
      ['connect', 1],
      ['disconnect', 0],
      ['destroy', 0],
    ] as const) {
      ada.connect()
      await vi.advanceTimersByTimeAsync(0)
      sockets.at(-1)?.answer()
      expect([ada.status, ada.synced, openSockets()]).toEqual(['connected', true, 1])
      // Another user, who is not shown without a connection.
      ada.awareness.states.set(1, {})
      ada.once(event, () => ada[action]())
      sockets.at(-1)?.lose()
      await vi.advanceTimersByTimeAsync(1_000)
      expect([action, openSockets()]).toEqual([action, expected])
      expect([ada.status === 'closed', ada.synced]).toEqual([expected === 0, false])
    }
  },
)

it('[PROV-10] stays closed if it is closed while the first content arrives', async () => {
  const endings = [
    () => ada.doc.once('update', () => ada.disconnect()),
    () => ada.once('status', () => ada.disconnect()),
  ]
  for (const prepare of endings) {
    ada.connect()
    await vi.advanceTimersByTimeAsync(0)
    prepare()
    sockets.at(-1)?.answer()
    await vi.advanceTimersByTimeAsync(1_000)
    expect([ada.status, ada.synced, openSockets()]).toEqual(['closed', false, 0])
  }
})

it('[PROV-10] stays destroyed if a listener connects when the provider is closed', async () => {
  ada.on('status', (status) => {
    if (status === 'closed') ada.connect()
  })
  ada.destroy()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(openSockets()).toBe(0)
})

it('[PROV-21] gives a document more time to arrive after each failure', async () => {
  for (const seconds of [30, 60, 90]) {
    while (openSockets() === 0) await vi.advanceTimersByTimeAsync(100)
    sockets.at(-1)?.receive(vector)
    await vi.advanceTimersByTimeAsync(seconds * 1_000 - 1)
    expect([seconds, openSockets()]).toEqual([seconds, 1])
    await vi.advanceTimersByTimeAsync(1)
    expect([seconds, openSockets()]).toEqual([seconds, 0])
  }
  while (openSockets() === 0) await vi.advanceTimersByTimeAsync(100)
  sockets.at(-1)?.answer()
  await vi.advanceTimersByTimeAsync(29_999)
  expect([ada.status, openSockets()]).toEqual(['connected', 1])
  await vi.advanceTimersByTimeAsync(1)
  expect([ada.status, openSockets()]).toEqual(['connecting', 0])
})

it('[PROV-20] sends its changes if the user gets the right to write while the document arrives', async () => {
  const roleOf = (canWrite: number, role: string): Uint8Array =>
    message([112, canWrite], new TextEncoder().encode(role))
  ada.doc.getText('content').insert(0, 'own ')
  for (const bytes of [roleOf(0, 'viewer'), vector, roleOf(1, 'editor')]) sockets.at(-1)?.receive(bytes)
  await vi.advanceTimersByTimeAsync(0)
  expect([sockets.length, openSockets(), ada.saved]).toEqual([2, 1, false])
})
