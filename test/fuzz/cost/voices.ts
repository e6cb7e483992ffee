import { message, RawClient } from '../../support/clients/clients.ts'
import { frame, isAbout, tokenFrame } from '../../support/clients/hocuspocus-frames.ts'
import type { TestServer } from '../../support/servers/server.ts'

/** A client of one protocol on one document. */
export interface Voice {
  /** Sends a message: its type, and sometimes a second type, before its body. */
  send(types: readonly number[], body: Uint8Array): void
  /** Resolves when the server has handled all of it, or has closed the connection. */
  handled(): Promise<void>
  end(): void
}

export interface VoiceKind {
  readonly name: string
  /** Types of the messages that a client may send. */
  readonly types: Readonly<Record<'vector' | 'offer' | 'update' | 'awareness', readonly number[]>>
  readonly otherTypes: readonly (readonly number[])[]
  open(server: TestServer, token: string, documentId: string): Promise<Voice>
}

const sync = { vector: [0, 0], offer: [0, 1], update: [0, 2], awareness: [1] } as const

/** A server that takes longer has certainly done too much work. */
const patienceMs = 60_000

/** Polls rarely, because each check costs measured CPU time. */
async function until(holds: () => boolean): Promise<void> {
  const deadline = performance.now() + patienceMs
  while (!holds() && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 2))
}

const yWebsocketUrl = ({ wsUrl }: TestServer, token: string, documentId: string): string =>
  `${wsUrl}/sync/acme/${documentId}/main?token=${token}`

interface Language {
  readonly encode: (types: readonly number[], body: Uint8Array) => Uint8Array
  readonly isAnswer: (bytes: Uint8Array) => boolean
  /** Returns whether the server has closed the document but not the connection. */
  readonly isEnd: (bytes: Uint8Array) => boolean
}

function voiceOf(client: RawClient, { encode, isAnswer, isEnd }: Language): Voice {
  let answers = 0
  let isClosed = false
  const closed = (): void => {
    isClosed = true
  }
  client.closed.then(closed, closed)
  client.socket.on('message', (data: Buffer) => {
    // Kept messages would count as memory of the server.
    client.received.length = 0
    if (isAnswer(data)) answers += 1
    if (isEnd(data)) isClosed = true
  })
  return {
    send: (types, body) => client.send(encode(types, body)),
    handled: async () => {
      const before = answers
      client.send(encode(sync.vector, Uint8Array.of(0)))
      await until(() => answers > before || isClosed)
    },
    end: () => client.end(),
  }
}

const yWebsocket: VoiceKind = {
  name: 'y-websocket',
  types: sync,
  otherTypes: [[2], [3], [4], [110], [127]],
  async open(server, token, documentId) {
    const client = await RawClient.connect(yWebsocketUrl(server, token, documentId))
    const isAnswer = (bytes: Uint8Array): boolean => bytes[0] === 0 && bytes[1] === 1
    return voiceOf(client, { encode: message, isAnswer, isEnd: () => false })
  },
}

/** The messages of y-websocket and its own echo. */
const ySweet: VoiceKind = { ...yWebsocket, name: 'Y-Sweet', otherTypes: [[102]] }

const hocuspocus: VoiceKind = {
  name: 'hocuspocus',
  types: sync,
  otherTypes: [[2, 0], [2, 1], [3], [4, 0], [4, 1], [5], [8], [9], [10]],
  async open(server, token, documentId) {
    const name = `acme/${documentId}/main`
    const client = await RawClient.connect(`${server.wsUrl}/hocuspocus`)
    const opened = (): boolean => client.received.some((bytes) => isAbout(bytes, name, 2, 2))
    client.send(tokenFrame(name, token))
    await until(opened)
    const encode = (types: readonly number[], body: Uint8Array): Uint8Array =>
      Buffer.concat([frame(name), message(types, body)])
    return voiceOf(client, {
      encode,
      isAnswer: (bytes) => isAbout(bytes, name, 0, 1) || isAbout(bytes, name, 4, 1),
      // The last one answers a message about a document that is not open.
      isEnd: (bytes) => isAbout(bytes, name, 7) || isAbout(bytes, name, 2, 1) || isAbout(bytes, ''),
    })
  },
}

export const voices: readonly VoiceKind[] = [yWebsocket, ySweet, hocuspocus]
