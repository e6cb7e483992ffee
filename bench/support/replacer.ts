/**
 * Process that replaces the content of a document until it is stopped. It uses two contents alternately. It
 * sends the time of each round.
 */
import type { BenchCall } from './server.ts'

export interface ReplacerOrder {
  readonly call: BenchCall
  readonly type: string
  readonly contents: readonly [string, string]
  /** Whether the process reads the content after each replacement, in the format of the same name. */
  readonly isRead?: boolean
}

/** Times of the calls of one round in ms. */
export interface ReplacerRound {
  readonly write: number
  /** Null if the process does not read. */
  readonly read: number | null
}

process.on('message', (message: ReplacerOrder | 'stop') => {
  if (message === 'stop') process.exit(0)
  void replaceForEver(message).catch((error: unknown) => {
    console.error(error)
    process.exit(1)
  })
})

async function replaceForEver({ call, type, contents, isRead }: ReplacerOrder): Promise<void> {
  const address = { organizationId: 'bench', documentId: 'heavy', editorId: type }
  const writes = contents.map((data) => JSON.stringify({ data: { ...address, upsert: true, type, data } }))
  const read = JSON.stringify({ data: { ...address, format: type } })
  for (let index = 0; ; index++) {
    const round: ReplacerRound = {
      write: await timed(call, 'update', writes[index % 2] as string),
      read: isRead === true ? await timed(call, 'get', read) : null,
    }
    process.send?.(round)
  }
}

/** Calls an operation. Returns its time in ms. */
async function timed({ method, headers, url }: BenchCall, operation: string, body: string): Promise<number> {
  const start = performance.now()
  const response = await fetch(`${url}/v2/crdt/${operation}`, { method, headers, body })
  if (!response.ok) throw new Error(await response.text())
  await response.arrayBuffer()
  return performance.now() - start
}
