import { connectToAny, type NatsSettings } from './settings.ts'

/** What is to be known of a server before it is used. */
export interface NatsProbe {
  /** As it says it, such as `2.9.10`. */
  readonly version: string
  /** Of an empty question, in ms. */
  readonly roundTripMs: number
  /** Largest message that it takes. */
  readonly bytesMax: number
}

/** Of whichever answers first. @throws what keeps all of them from being used */
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
