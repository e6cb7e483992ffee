/** Process that replaces the content of a document until it is stopped. It uses two contents alternately. */
import type { BenchCall } from './server.ts'

export interface ReplacerOrder {
  readonly call: BenchCall
  readonly type: string
  readonly contents: readonly [string, string]
}

process.on('message', (message: ReplacerOrder | 'stop') => {
  if (message === 'stop') process.exit(0)
  void replaceForEver(message).catch((error: unknown) => {
    console.error(error)
    process.exit(1)
  })
})

async function replaceForEver({ call, type, contents }: ReplacerOrder): Promise<void> {
  const address = { organizationId: 'bench', documentId: 'heavy', editorId: type, upsert: true, type }
  const bodies = contents.map((data) => JSON.stringify({ data: { ...address, data } }))
  for (let index = 0; ; index++) {
    const start = performance.now()
    const { method, headers, url } = call
    const response = await fetch(`${url}/v2/crdt/update`, {
      method,
      headers,
      body: bodies[index % 2] as string,
    })
    if (!response.ok) throw new Error(await response.text())
    await response.arrayBuffer()
    process.send?.(performance.now() - start)
  }
}
