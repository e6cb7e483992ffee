import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import type { Reachable } from '../servers/server.ts'

/** A line of the response of a stream. */
export interface StreamAnswer {
  readonly opened?: {
    readonly streamId: string
    readonly received: number
    readonly place: Readonly<Record<string, unknown>>
    readonly version: string
  }
  readonly version?: string
  readonly bytes?: number
  readonly received?: number
  readonly done?: {
    readonly outcome: string
    readonly version: string
    readonly received: number
    readonly bytes: number
    readonly deletions: number
  }
  readonly error?: {
    readonly status: string
    readonly message: string
    readonly details: Readonly<Record<string, unknown>>
  }
}

/** Headers of a request; '' removes a header. */
type Headers = Readonly<Record<string, string>>

/** A connection to `/v2/crdt/stream`, whose lines the test sends and reads one by one. */
export class ContentStream {
  /** The lines that were received so far. */
  readonly lines: StreamAnswer[] = []
  /** HTTP code of the response; null until its headers have arrived. */
  status: number | null = null
  /** Resolves when the connection has ended. */
  readonly closed: Promise<void>
  readonly #request: ClientRequest
  #isClosed = false
  #changed = (): void => {}

  private constructor({ url, credentials: { apiKey, authToken } }: Reachable, headers: Headers) {
    const all = {
      'content-type': 'application/x-ndjson',
      'x-service-api-key': apiKey,
      'x-service-auth-token': authToken,
      ...headers,
    }
    this.#request = request(`${url}/v2/crdt/stream`, {
      method: 'POST',
      headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== '')),
    })
    this.closed = new Promise((resolve) => {
      this.#request.once('close', () => {
        this.#isClosed = true
        resolve()
        this.#changed()
      })
    })
    this.#request.on('error', () => {})
    this.#request.on('response', (response: IncomingMessage) => {
      this.status = response.statusCode ?? 0
      let rest = ''
      response.setEncoding('utf8')
      response.on('error', () => {})
      response.on('data', (chunk: string) => {
        const lines = (rest + chunk).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) if (line !== '') this.lines.push(JSON.parse(line) as StreamAnswer)
        this.#changed()
      })
      response.on('end', () => {
        if (rest !== '') this.lines.push(JSON.parse(rest) as StreamAnswer)
        this.#changed()
      })
    })
  }

  /** Opens a stream, without waiting for an answer. */
  static send(server: Reachable, opening: object, headers: Headers = {}): ContentStream {
    const stream = new ContentStream(server, headers)
    return stream.line(opening)
  }

  /** Begins a request with these bytes. */
  static raw(server: Reachable, bytes: string | Uint8Array): ContentStream {
    return new ContentStream(server, {}).raw(bytes)
  }

  /** Opens a stream. Resolves when the server has accepted it. @throws Error if it is rejected */
  static async open(server: Reachable, opening: object, headers: Headers = {}): Promise<ContentStream> {
    const stream = ContentStream.send(server, opening, headers)
    await stream.until(({ opened }) => opened !== undefined)
    return stream
  }

  /** Port of this end of the connection. */
  get localPort(): number | undefined {
    return this.#request.socket?.localPort
  }

  /** Number of bytes that wait in this process, because the server does not read them. */
  get unsentBytes(): number {
    return this.#request.socket?.writableLength ?? 0
  }

  get opened(): NonNullable<StreamAnswer['opened']> {
    const [first] = this.lines
    if (first?.opened === undefined) throw new Error(`not opened: ${JSON.stringify(this.lines)}`)
    return first.opened
  }

  /** Sends a line. */
  line(value: object): this {
    return this.raw(`${JSON.stringify(value)}\n`)
  }

  raw(bytes: string | Uint8Array): this {
    this.#request.write(bytes)
    return this
  }

  text(text: string, at?: number): this {
    return this.line(at === undefined ? { text } : { text, at })
  }

  /** Resolves when a line of the response matches. @throws Error if the response ends before */
  async until(matches: (line: StreamAnswer) => boolean): Promise<StreamAnswer> {
    for (;;) {
      const found = this.lines.find(matches)
      if (found !== undefined) return found
      if (this.#isClosed)
        throw new Error(`the stream has ended: ${this.status} ${JSON.stringify(this.lines)}`)
      await new Promise<void>((resolve) => {
        this.#changed = resolve
      })
    }
  }

  /** Resolves when this number of units is durable. */
  async received(units: number): Promise<void> {
    await this.until(({ received = 0 }) => received >= units)
  }

  /** Sends the end of the stream. Resolves with the result. */
  async end(): Promise<NonNullable<StreamAnswer['done']>> {
    this.line({ end: true })
    this.#request.end()
    return this.#done()
  }

  async withdraw(): Promise<NonNullable<StreamAnswer['done']>> {
    this.line({ withdraw: true })
    this.#request.end()
    return this.#done()
  }

  async #done(): Promise<NonNullable<StreamAnswer['done']>> {
    const { done, error } = await this.until((line) => line.done !== undefined || line.error !== undefined)
    if (done === undefined) throw new Error(`the stream has failed: ${JSON.stringify(error)}`)
    return done
  }

  /** Ends the body. */
  endBody(): this {
    this.#request.end()
    return this
  }

  /** Resolves with the error of the response. */
  async error(): Promise<NonNullable<StreamAnswer['error']>> {
    const { error } = await this.until((line) => line.error !== undefined)
    if (error === undefined) throw new Error('no error')
    return error
  }

  /** Breaks the connection. */
  destroy(): void {
    this.#request.destroy()
  }
}
