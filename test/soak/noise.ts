import { fork } from 'node:child_process'
import { once } from 'node:events'
import { endWithThis } from '../../bench/support/ending.ts'
import { headers } from '../support/process.ts'
import type { NoiseOrder } from './support/noise-maker.ts'
import { startInspected } from './support/server.ts'
import { neighbours, type Typed } from './support/typing.ts'

export interface NoiseOptions {
  /** Of the large document. */
  readonly bytes: number
  /** Of each kind of noise. */
  readonly seconds: number
}

/** What people who type in a document notice of others. */
export interface Noise {
  readonly quiet: Typed
  /** The large document is opened over and over, each time from the disk. */
  readonly loading: Typed
  /** It is replaced over and over by contents that differ everywhere. */
  readonly replacing: Typed
  /** One room gets as much as a client can send. */
  readonly flooding: Typed
  /** How often each was done meanwhile. */
  readonly loads: number
  readonly replacements: number
  readonly floodUpdates: number
}

const lineCharacters = 90
const linesOf = (bytes: number, letter: string): string =>
  Array.from({ length: bytes / lineCharacters }, (_, index) =>
    `${index} `.padEnd(lineCharacters - 1, letter),
  ).join('\n')

const script = new URL('support/noise-maker.ts', import.meta.url).pathname

/** How it goes for those who type while another process does something over and over; and how often that did it. */
async function during(order: NoiseOrder, type: () => Promise<Typed>): Promise<readonly [Typed, number]> {
  const child = fork(script, { execArgv: ['--import', 'tsx'] })
  endWithThis(child)
  child.send(order)
  await once(child, 'message')
  const typed = await type()
  const counts: unknown[] = []
  child.on('message', (message) => counts.push(message))
  child.send('stop')
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`${order.kind} failed`)
  return [typed, Number(counts.at(-1))]
}

export async function noise({ bytes, seconds }: NoiseOptions): Promise<Noise> {
  const server = await startInspected({ WEFT_IDLE_UNLOAD_SECONDS: '0' })
  try {
    const token = await server.token()
    const order = (kind: NoiseOrder['kind'], documentId: string): NoiseOrder => {
      const address = { organizationId: 'acme', documentId, editorId: 'main', upsert: true, type: 'text' }
      return {
        kind,
        socketUrl: `${server.wsUrl}/sync/acme/${documentId}/main?token=${token}`,
        restUrl: `${server.url}/v2/crdt/update`,
        headers,
        bodies: ['a', 'b'].map((letter) =>
          JSON.stringify({ data: { ...address, data: linesOf(bytes, letter) } }),
        ),
      }
    }
    const type = await neighbours(server, seconds, 5)
    await type()
    const quiet = await type()
    const [replacing, replacements] = await during(order('replacing', 'large'), type)
    const [loading, loads] = await during(order('loading', 'large'), type)
    const [flooding, floodUpdates] = await during(order('flooding', 'flood'), type)
    return { quiet, loading, replacing, flooding, loads, replacements, floodUpdates }
  } finally {
    await server.stop()
  }
}
