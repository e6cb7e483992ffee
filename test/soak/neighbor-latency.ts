import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { endWithThis } from '../../src/cli/bench/ending.ts'
import { headers } from '../support/servers/process.ts'
import type { NoiseOrder } from './support/load-process.ts'
import { type SoakServer, startInspected } from './support/server.ts'
import { neighbors, type Typed } from './support/typing.ts'

export interface NoiseOptions {
  /** Size of the large document. */
  readonly bytes: number
  /** Duration of each kind of noise. */
  readonly seconds: number
}

/** Latencies of users during a noise. */
export interface Noticed {
  /** The noise is on another server of the same machine, so these show how busy the machine is. */
  readonly elsewhere: Typed
  /** The noise is on their own server. */
  readonly here: Typed
  /** Repetitions of the noise on their own server. */
  readonly times: number
}

export interface Noise {
  readonly quiet: Typed
  /** A large document is replaced repeatedly by content that differs everywhere. */
  readonly replacing: Noticed
  /** The document is opened repeatedly, each time from disk. */
  readonly loading: Noticed
  /** One room gets as many updates as a client can send. */
  readonly flooding: Noticed
}

const lineCharacters = 90
const linesOf = (bytes: number, letter: string): string =>
  Array.from({ length: bytes / lineCharacters }, (_, index) =>
    `${index} `.padEnd(lineCharacters - 1, letter),
  ).join('\n')

const script = fileURLToPath(new URL('support/load-process.ts', import.meta.url))

/** Measures users while another process repeats the noise. Also returns the number of repetitions. */
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

async function orders(server: SoakServer, bytes: number): Promise<(kind: NoiseOrder['kind']) => NoiseOrder> {
  const token = await server.token()
  return (kind) => {
    const documentId = kind === 'flooding' ? 'flood' : 'large'
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
}

export async function noise({ bytes, seconds }: NoiseOptions): Promise<Noise> {
  const start = () => startInspected({ WEFT_IDLE_UNLOAD_SECONDS: '0' })
  const [server, another] = await Promise.all([start(), start()])
  try {
    const [here, elsewhere] = await Promise.all([orders(server, bytes), orders(another, bytes)])
    const type = await neighbors(server, seconds, 8)
    await type()
    const quiet = await type()
    const noticed = async (kind: NoiseOrder['kind']): Promise<Noticed> => {
      const [control] = await during(elsewhere(kind), type)
      const [typed, times] = await during(here(kind), type)
      return { elsewhere: control, here: typed, times }
    }
    const replacing = await noticed('replacing')
    const loading = await noticed('loading')
    return { quiet, replacing, loading, flooding: await noticed('flooding') }
  } finally {
    await Promise.all([server.stop(), another.stop()])
  }
}
