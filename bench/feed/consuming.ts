import { type BenchServer, done, headers } from '../support/server.ts'

/** A page of the feed. */
interface Page {
  readonly events: readonly object[]
  readonly cursor: string
  readonly isEnd: boolean
}

/** Reads a page of the feed. @throws Error if the status is not 200 */
export async function readPage(server: BenchServer, query: object): Promise<Page> {
  const { status, body } = await server.post('/v2/feed/get', query)
  if (status !== 200) throw new Error(`/v2/feed/get: ${JSON.stringify(body.error)}`)
  return body.result?.data as Page
}

let written = 0

const sentence = 'The quick brown fox jumps over the lazy dog.'

/** Creates documents with content. Each has two events. @param callers number of calls at the same time */
export async function writeDocuments(
  server: BenchServer,
  count: number,
  callers: number,
  { organizationId = 'acme', data = sentence } = {},
): Promise<void> {
  const last = written + count
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (written < last) {
        const ids = { organizationId, documentId: `d${written++}`, editorId: 'main' }
        await done(server, '/v2/crdt/update', { ...ids, type: 'text', data, upsert: true })
      }
    }),
  )
}

/** Reads the feed from its start to its end. Returns the number of events. */
export async function readAll(server: BenchServer, query: object): Promise<number> {
  let [count, cursor]: [number, string | undefined] = [0, undefined]
  for (let isEnd = false; !isEnd; ) {
    const given = cursor === undefined ? {} : { cursor }
    const page = await readPage(server, { ...query, ...given })
    count += page.events.length
    cursor = page.cursor
    isEnd = page.isEnd
  }
  return count
}

/** A stream of new events, which is read at once. */
export class FeedStream {
  readonly #abort = new AbortController()
  #arrived = 0
  #taken = 0
  #ring: () => void = () => {}

  private constructor() {}

  static async open(server: BenchServer, types: readonly string[]): Promise<FeedStream> {
    const stream = new FeedStream()
    const query = types.map((type) => `&types=${type}`).join('')
    const response = await fetch(`${server.url}/v2/feed/stream?from=now${query}`, {
      headers,
      signal: stream.#abort.signal,
    })
    void stream.#read(response.body as ReadableStream<Uint8Array>).catch(() => {})
    return stream
  }

  /** Resolves when the next event has arrived. */
  async next(): Promise<void> {
    this.#taken += 1
    while (this.#arrived < this.#taken)
      await new Promise<void>((resolve) => {
        this.#ring = resolve
      })
  }

  close(): void {
    this.#abort.abort()
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder()
    for await (const chunk of body) {
      this.#arrived += decoder.decode(chunk).split('data: ').length - 1
      this.#ring()
    }
  }
}
