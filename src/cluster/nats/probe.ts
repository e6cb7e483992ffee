import { connectToAny, type NatsSettings } from './settings.ts'

/** Properties of a NATS server that are checked before the server is used. */
export interface NatsProbe {
  /** Version that the server reports, such as `2.9.10`. */
  readonly version: string
  /** Duration of an empty request, in ms. */
  readonly roundTripMs: number
  /** Maximum size of a message, in bytes. */
  readonly bytesMax: number
}

/**
 * Returns the properties of the first server that accepts a connection.
 * @throws the reason why no server accepts a connection
 */
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
