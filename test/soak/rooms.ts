import { eventually, RawClient, typed } from '../support/clients/clients.ts'
import { type SoakServer, startInspected } from './support/server.ts'

/** Remaining memory per room that was opened and closed, in bytes. */
export interface KeptOfRooms {
  readonly heapBytes: number
  readonly bufferBytes: number
  /** The value of the whole process, including the caches of the store. */
  readonly residentBytes: number
}

/** Number of rooms that are open at the same time. */
const atOnce = 50

/**
 * Opens rooms of new documents, edits and closes each. The first ones do not count, because they compile code
 * and fill caches.
 */
export async function openAndClose(rooms: number, say: (line: string) => void): Promise<KeptOfRooms> {
  const server = await startInspected({ WEFT_IDLE_UNLOAD_SECONDS: '0' })
  try {
    await visit(server, 'warm', rooms / 10)
    const before = await memoryOf(server)
    await visit(server, 'room', rooms)
    const after = await memoryOf(server)
    say(`${rooms} rooms: heap ${before.heapBytes} to ${after.heapBytes} bytes`)
    return {
      heapBytes: (after.heapBytes - before.heapBytes) / rooms,
      bufferBytes: (after.bufferBytes - before.bufferBytes) / rooms,
      residentBytes: (after.residentBytes - before.residentBytes) / rooms,
    }
  } finally {
    await server.stop()
  }
}

async function visit(server: SoakServer, name: string, count: number): Promise<void> {
  const token = await server.token()
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < count) {
      const url = `${server.wsUrl}/sync/acme/${name}-${next++}/main?token=${token}`
      const client = await RawClient.connect(url)
      client.sendUpdate(typed('something to keep', 1))
      await client.roundTrip()
      client.socket.close()
      await client.closed
    }
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
  await eventually(async () => (await server.metric('weft_rooms_open')) === 0)
}

async function memoryOf(server: SoakServer): Promise<KeptOfRooms> {
  const { usedBytes, bufferBytes } = await server.inspector.heap()
  return { heapBytes: usedBytes, bufferBytes, residentBytes: server.residentBytes() }
}
