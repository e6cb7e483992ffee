import { randomBytes } from 'node:crypto'
import { message } from './clients.ts'

/** A server-sent event, as a client reads it. */
export interface ReceivedEvent {
  readonly event: string
  /** Null if the event has no id. */
  readonly id: number | null
  readonly data: string
}

/** The response to a POST. */
export interface PostAnswer {
  readonly status: number
  readonly body: { readonly received?: number; readonly error?: { readonly details: object } }
}

type Query = Readonly<Record<string, string | number>>

export interface HttpSessionOptions {
  /** Parameters of every request. */
  readonly query?: Query
  readonly headers?: Readonly<Record<string, string>>
  /** Default: a random id. */
  readonly id?: string
}

export const randomSessionId = (): string => randomBytes(16).toString('hex')

/** A response with events that are read as they arrive. */
export class EventStream {
  readonly events: ReceivedEvent[] = []
  /** Resolves when the response has ended. */
  readonly ended: Promise<void>
  readonly response: Response
  /** Number of received comments. */
  comments = 0
  readonly #abort: AbortController

  constructor(response: Response, abort: AbortController) {
    this.response = response
    this.#abort = abort
    this.ended = this.#read().catch(() => {})
  }

  /** Returns the messages with their numbers. */
  messages(): { readonly id: number; readonly bytes: Buffer }[] {
    return this.events.flatMap(({ id, data }) =>
      id === null ? [] : [{ id, bytes: Buffer.from(data, 'base64') }],
    )
  }

  /** Returns the reason of the close; undefined if there is none. */
  closed(): unknown {
    const found = this.events.find(({ event }) => event === 'close')
    return found === undefined ? undefined : JSON.parse(found.data)
  }

  /** Closes the connection, as a proxy does that cuts a stream. */
  cut(): void {
    this.#abort.abort()
  }

  async #read(): Promise<void> {
    let rest = ''
    const decoder = new TextDecoder()
    for await (const chunk of this.response.body ?? []) {
      rest += decoder.decode(chunk, { stream: true })
      const parts = rest.split('\n\n')
      rest = parts.pop() ?? ''
      for (const part of parts) this.#take(part)
    }
  }

  #take(text: string): void {
    if (text === ':') {
      this.comments += 1
      return
    }
    const fields = new Map(
      text.split('\n').map((line): [string, string] => {
        const at = line.indexOf(': ')
        return [line.slice(0, at), line.slice(at + 2)]
      }),
    )
    const id = fields.get('id')
    this.events.push({
      event: fields.get('event') ?? 'message',
      id: id === undefined ? null : Number(id),
      data: fields.get('data') ?? '',
    })
  }
}

/** A session over HTTP whose requests a test makes one by one. */
export class HttpSession {
  readonly id: string
  readonly #url: string
  readonly #options: HttpSessionOptions
  /** Number of the next message. */
  next = 1

  /** @param url URL of the document, without parameters */
  constructor(url: string, token: string | null, options: HttpSessionOptions = {}) {
    this.id = options.id ?? randomSessionId()
    this.#url = url
    const authorization = token === null ? {} : { authorization: `Bearer ${token}` }
    this.#options = { ...options, headers: { ...authorization, ...options.headers } }
  }

  /** Requests a stream, and resolves when its headers have arrived. */
  async stream(query: Query = {}): Promise<EventStream> {
    const abort = new AbortController()
    const { headers = {} } = this.#options
    const response = await fetch(this.#address(query), { headers, signal: abort.signal })
    return new EventStream(response, abort)
  }

  /** Requests a long poll, and resolves when it has ended. */
  async poll(position: number, wait = 20): Promise<EventStream> {
    const stream = await this.stream({ position, wait })
    await stream.ended
    return stream
  }

  /** Sends messages with their numbers. */
  async post(messages: readonly Uint8Array[], query: Query = {}): Promise<PostAnswer> {
    const number = Number(query.number ?? this.next)
    const answer = await this.postBody(Buffer.concat(messages.map((each) => message([], each))), {
      number,
      ...query,
    })
    if (answer.status === 200) this.next = number + messages.length
    return answer
  }

  async postBody(body: BodyInit, query: Query = {}, init: RequestInit = {}): Promise<PostAnswer> {
    const response = await fetch(this.#address(query), {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream', ...this.#options.headers },
      body,
      ...init,
    })
    return { status: response.status, body: (await response.json()) as PostAnswer['body'] }
  }

  #address(query: Query): URL {
    const url = new URL(this.#url)
    const parameters: Query = { session: this.id, ...this.#options.query, ...query }
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, String(value))
    return url
  }
}
