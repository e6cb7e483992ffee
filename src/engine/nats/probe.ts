import { connectToAny, type NatsSettings } from './settings.ts'

/** Properties of a server, which are checked before it is used. */
export interface NatsProbe {
  /** Version as the server states it, such as `2.9.10`. */
  readonly version: string
  /** Duration of an empty request, in ms. */
  readonly roundTripMs: number
  /** Maximum size of a message, in bytes. */
  readonly bytesMax: number
}

/** Probes the server that answers first. @throws the reason why no server can be used */
export async function probeNats(settings: NatsSettings): Promise<NatsProbe> {
  const connection = await connectToAny(settings)
  try {
    const startedAt = performance.now()
    await connection.flush()
    const roundTripMs = performance.now() - startedAt
    const { version = '', max_payload: bytesMax = 0 } = connection.info ?? {}
    return { version, roundTripMs, bytesMax }
  } finally {
    await connection.close()
  }
}
