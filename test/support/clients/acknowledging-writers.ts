import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import type { Random } from '../data/random-doc.ts'
import type { ServerProcess } from '../servers/process.ts'
import { type Editor, eventually, openEditor } from './clients.ts'

const [messageSync, messageSaved] = [0, 111]

/** Maximum pause in ms of a writer between two changes. */
const pauseMsMax = 25

/** A writer that numbers its changes from 1. */
export interface NumberedWriter {
  readonly name: string
  /** Number of the last change that it has sent, or tried to send. */
  readonly sent: number
  /** Number of the last change that the server has confirmed as stored, together with all earlier ones. */
  readonly acknowledged: number
}

const pause = (random: Random): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, random.below(pauseMsMax)))

/**
 * A user with a stock y-websocket client, who appends words such as `ann7 ` to a document. The client counts the
 * acknowledgments that the server sends because of `saved=1`. It keeps its document while the server is away.
 */
export class Typist implements NumberedWriter {
  readonly name: string
  readonly editor: Editor
  sent = 0
  acknowledged = 0
  /** Number of the last change in each message that is not acknowledged yet, by the number of the message. */
  #messages: { readonly message: number; readonly change: number }[] = []
  #messagesSent = 0

  private constructor(name: string, editor: Editor) {
    this.name = name
    this.editor = editor
    const { doc, provider } = editor
    doc.on('update', (_update: Uint8Array, origin: unknown) => {
      if (origin !== provider && provider.wsconnected) this.#noteMessage()
    })
    const { messageHandlers } = provider
    const readSync = messageHandlers[messageSync]
    messageHandlers[messageSync] = (encoder, ...rest) => {
      const before = encoding.length(encoder)
      readSync?.(encoder, ...rest)
      // More than the message type is a reply to the server, with all changes that it lacks.
      if (encoding.length(encoder) > before + 1) this.#noteMessage()
    }
    messageHandlers[messageSaved] = (_encoder, decoder) => {
      const count = decoding.readVarUint(decoder)
      for (const { change } of this.#messages.filter(({ message }) => message <= count))
        this.acknowledged = Math.max(this.acknowledged, change)
      this.#messages = this.#messages.filter(({ message }) => message > count)
    }
    provider.on('status', ({ status }) => {
      if (status !== 'connected') return
      // Both sides count the messages of each connection from zero.
      this.#messages = []
      this.#messagesSent = 0
    })
  }

  /** Opens a document of the organization `acme`. */
  static async open(server: ServerProcess, documentId: string, name: string): Promise<Typist> {
    const path = `acme/${documentId}/main`
    const editor = openEditor(server.wsUrl, path, await server.token(), { parameters: { saved: '1' } })
    // It must count from the first message of the connection.
    const typist = new Typist(name, editor)
    await eventually(() => editor.provider.synced)
    return typist
  }

  type(): void {
    const { text } = this.editor
    this.sent += 1
    text.insert(text.length, `${this.name}${this.sent} `)
  }

  /** Types until the signal. */
  async write(random: Random, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.type()
      await pause(random)
    }
  }

  disconnect(): void {
    this.editor.provider.disconnect()
  }

  /** Connects to another server, with the document that the client has. */
  async reconnect(server: ServerProcess): Promise<void> {
    const { provider } = this.editor
    const params = { ...provider.params, token: await server.token() }
    Object.assign(provider, { serverUrl: `${server.wsUrl}/sync`, params })
    provider.connect()
  }

  close(): void {
    this.editor.close()
  }

  #noteMessage(): void {
    this.#messagesSent += 1
    this.#messages.push({ message: this.#messagesSent, change: this.sent })
  }
}

/** Number of documents that a `Caller` changes in turn. */
const documentsOfCaller = 4

/**
 * A program that writes the number of its change into one of its documents by REST, each after the response to the
 * one before. So the documents of a caller show whether they are from one moment.
 */
export class Caller implements NumberedWriter {
  readonly name: string
  sent = 0
  acknowledged = 0

  constructor(name: string) {
    this.name = name
  }

  /** Writes until the signal or the end of the server. */
  async write(server: ServerProcess, random: Random, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.sent += 1
      const call = server.post('/v2/crdt/update', {
        ...this.#address(this.sent),
        type: 'text',
        data: String(this.sent),
        upsert: true,
      })
      const answer = await call.catch(() => null)
      if (answer === null) return
      if (answer.status !== 200) throw new Error(`${this.name}${this.sent}: status ${answer.status}`)
      this.acknowledged = this.sent
      await pause(random)
    }
  }

  /**
   * Returns the number of the last change that a server has. @throws Error if its documents are not those of one
   * moment
   */
  async lastOn(server: ServerProcess): Promise<number> {
    const found: number[] = []
    for (let change = 0; change < documentsOfCaller; change += 1)
      found.push(Number((await textOn(server, this.#address(change))) ?? 0))
    const last = Math.max(...found)
    const expected = found.map((_, at) =>
      Math.max(0, last - ((last - at + documentsOfCaller) % documentsOfCaller)),
    )
    if (String(found) !== String(expected))
      throw new Error(`the documents of ${this.name} are not from one moment: ${found.join(', ')}`)
    return last
  }

  #address(change: number) {
    return {
      organizationId: 'acme',
      documentId: `${this.name}-${change % documentsOfCaller}`,
      editorId: 'main',
    }
  }
}

/** Returns the text of a document; null if it does not exist. */
async function textOn(server: ServerProcess, address: object): Promise<string | null> {
  const { status, data } = await server.post('/v2/crdt/get', address)
  return status === 200 ? (data as [{ data: string }])[0].data : null
}

/**
 * Returns the number of the last word of each typist in a document. @throws Error if an earlier word is missing
 */
export async function lastWordsOn(
  server: ServerProcess,
  documentId: string,
): Promise<ReadonlyMap<string, number>> {
  const text = (await textOn(server, { organizationId: 'acme', documentId, editorId: 'main' })) ?? ''
  const last = new Map<string, number>()
  for (const [, name = '', number] of text.matchAll(/([a-z]+)(\d+) /g)) {
    if (Number(number) !== (last.get(name) ?? 0) + 1)
      throw new Error(`${documentId} has ${name}${number} after ${name}${last.get(name) ?? 0}`)
    last.set(name, Number(number))
  }
  return last
}
