import { LoadSocket } from '../bench/load-socket.ts'
import type { TargetServer } from './target-server.ts'

/** Maximum number of connections that are being opened at the same time. */
const atOnce = 32
const patienceMs = 15_000

/**
 * Opens `count` connections, up to `atOnce` of them at the same time. Opens no more connections after
 * `untilMs`, which is a time of `performance.now()`. If a connection fails, closes all others, because open
 * connections would keep the process alive.
 * @throws the first error
 */
export async function connectAll(
  count: number,
  open: (index: number) => Promise<LoadSocket>,
  untilMs = Number.POSITIVE_INFINITY,
): Promise<readonly LoadSocket[]> {
  const sockets: LoadSocket[] = []
  let next = 0
  const opener = async (): Promise<void> => {
    while (next < count && performance.now() < untilMs) {
      const index = next++
      sockets[index] = await open(index)
    }
  }
  const openers = Array.from({ length: Math.min(atOnce, count) }, () =>
    opener().catch((error: unknown) => {
      // Makes the other openers stop.
      next = count
      throw error
    }),
  )
  try {
    await Promise.all(openers)
  } catch (error) {
    await Promise.allSettled(openers)
    endAll(sockets)
    throw error
  }
  return sockets
}

/**
 * Connects, and waits until the content of the document has arrived.
 * @throws Error if the server rejects the connection
 */
export async function connectOne(target: TargetServer, documentId: string): Promise<LoadSocket> {
  const socket = await LoadSocket.open(target.socketUrl(documentId))
  const { dialect } = target
  let late: NodeJS.Timeout | undefined
  try {
    await new Promise<void>((resolve, reject) => {
      late = setTimeout(() => reject(new Error('the server does not answer')), patienceMs)
      socket.onClose = () => reject(new Error(refusal(socket)))
      socket.onMessage = (payload) => {
        if (dialect.read(payload)?.kind === 'offer') resolve()
      }
      socket.send(dialect.ask(documentId))
      socket.send(dialect.offerNothing(documentId))
    })
  } catch (error) {
    socket.end()
    throw error
  } finally {
    clearTimeout(late)
    socket.onClose = () => undefined
  }
  return socket
}

const refusal = ({ closeCode }: LoadSocket): string =>
  closeCode === 1013
    ? 'the server refuses connections (1013): one of its limits acts, see its log'
    : `the server closes a connection (${closeCode ?? 'without saying why'})`

/**
 * Checks that all connections are open. If the server has closed one, closes all others.
 * @throws Error if a connection was closed
 */
export function expectOpen(sockets: readonly LoadSocket[]): void {
  const closed = sockets.find(({ closeCode }) => closeCode !== null)
  if (closed === undefined) return
  endAll(sockets)
  throw new Error(refusal(closed))
}

export function endAll(sockets: readonly LoadSocket[]): void {
  // The array has empty slots if some connections failed.
  for (const socket of sockets) socket?.end()
}
