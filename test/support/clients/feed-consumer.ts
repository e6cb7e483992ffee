import { dataOf, type TestServer } from '../servers/server.ts'

/** An event of a feed, as a response contains it. */
export interface ReceivedEvent {
  readonly id: string
  readonly cursor: string
  readonly type: string
  readonly at: string
  readonly organizationId: string
  readonly documentId: string | null
  readonly actionUser: { readonly userId: string }
  readonly data: Readonly<Record<string, unknown>>
  readonly content?: {
    readonly version: string
    readonly data?: unknown
    readonly updates?: readonly string[]
  } | null
  readonly contentOmitted?: string
}

export interface ReceivedPage {
  readonly events: readonly ReceivedEvent[]
  readonly cursor: string
  readonly isEnd: boolean
}

/** Follows the feed of a server with `/v2/feed/get`. */
export class FeedConsumer {
  readonly events: ReceivedEvent[] = []
  cursor: string | undefined
  readonly #server: Pick<TestServer, 'post'>
  readonly #query: object

  /** @param query members of all its requests, such as filters */
  constructor(server: Pick<TestServer, 'post'>, query: object = {}, cursor?: string) {
    this.#server = server
    this.#query = query
    this.cursor = cursor
  }

  /** Reads one page without continuing. */
  async read(query: object): Promise<ReceivedPage> {
    return dataOf(await this.#server.post('/v2/feed/get', { ...this.#query, ...query })) as ReceivedPage
  }

  /** Reads the next page, and continues after it. */
  async next(query: object = {}): Promise<ReceivedPage> {
    const page = await this.read({ ...(this.cursor !== undefined && { cursor: this.cursor }), ...query })
    this.events.push(...page.events)
    this.cursor = page.cursor
    return page
  }

  /** Reads pages until the feed has no more events now. */
  async toEnd(): Promise<void> {
    while (!(await this.next()).isEnd);
  }

  /** Reads pages until an event matches. @throws Error after 20 s */
  async until(matches: (event: ReceivedEvent) => boolean): Promise<void> {
    const end = Date.now() + 20_000
    while (!this.events.some(matches)) {
      if (Date.now() > end) throw new Error(`no such event among ${[...this.types()].join(', ')}`)
      await this.next({ waitSeconds: 5 })
    }
  }

  types(): ReadonlySet<string> {
    return new Set(this.events.map(({ type }) => type))
  }
}

/** A message of the stream of a feed. */
export interface StreamMessage {
  readonly id: string | undefined
  readonly event: string | undefined
  readonly data: string | undefined
}

/** Parses the messages of a stream of server-sent events. Leaves out comments. */
export async function* readStream(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamMessage> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true })
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const block = text.slice(0, end).split('\n')
      text = text.slice(end + 2)
      const member = (name: string) =>
        block.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
      if (block.every((line) => line.startsWith(':'))) continue
      yield { id: member('id'), event: member('event'), data: member('data') }
    }
  }
}
